//! The methods of [`Acc`] that reduce the innermost dimension. [`Acc::along`] makes another dimension the innermost, and
//! [`Acc::flatten`] all of them one.

use crate::acc::{Acc, lifted, nullary};
use crate::data::{Array, Scalar};
use crate::operations::{Fold, ZipWith};
use crate::shape::{Larger, Shape};
use pumice_scalar::{Constant, Elt, Exp, Float, IntoExp, Lift, Number, Place, Primitive};

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// Reduces the innermost dimension with an associative operator, which need not commute.
    ///
    /// `initial` stands before the elements of every row, once; a row without elements gives just that. It need not be
    /// neutral, though one that is seen to be costs nothing. Which elements are combined first is the device's choice, so
    /// an operator that is associative but for rounding gives slightly different sums on different devices; on the same
    /// device the same bits come out every time.
    ///
    /// ```
    /// use pumice::*;
    /// fn row_maxima(m: Acc<Matrix<f32>>) -> Acc<Vector<f32>> {
    ///     m.fold(f32::NEG_INFINITY, |a, b| a.max(b))
    /// }
    /// let balance = run(use_(&[5, -3]).fold(100, |a, b| a + b))?;
    /// assert_eq!(balance.to_value()?, 102);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn fold<S: Shape>(
        self,
        initial: impl IntoExp<T>,
        f: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
    ) -> Acc<Array<S, T>>
    where
        // A parameter of its own, because rustc then shows `Larger`'s message and not that the method does not exist.
        D: Larger<Smaller = S>,
    {
        self.folded(Some(initial.into_exp()), f, Place::caller("fold"))
    }

    pub(crate) fn folded<S: Shape>(
        self,
        initial: Option<T::Exp>,
        f: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
        place: Place,
    ) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        let operator = lifted(|(a, b): (T::Exp, T::Exp)| f(a, b));
        let initial = initial.map(|initial| nullary(|| initial.terms()));
        Acc::<Array<S, T>>::new(Fold { operator, initial }, vec![self.described().clone()], place)
    }

    /// Like [`Acc::fold`], without an initial value: a row without elements is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// let largest = run(use_(&[3, 9, 4]).fold1(|a, b| a.max(b)))?;
    /// assert_eq!(largest.to_value()?, 9);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn fold1<S: Shape>(self, f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        self.folded(None, f, Place::caller("fold1"))
    }

    /// Counts the elements of each row that fulfil a condition.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[3, -1, 4, -1]).count(|x| x.lt(0)))?.to_value()?, 2);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn count<S: Shape>(self, f: impl FnOnce(T::Exp) -> Exp<bool>) -> Acc<Array<S, i64>>
    where
        D: Larger<Smaller = S>,
    {
        let place = Place::caller("count");
        let ones = self.mapped(|x| f(x).select(Exp::<i64>::from(1), Exp::from(0)), place);
        ones.folded(Some(Exp::from(0)), |a, b| a + b, place)
    }

    /// Whether any element of each row fulfils a condition.
    ///
    /// ```
    /// use pumice::*;
    /// assert!(run(use_(&[3, -1]).any(|x| x.lt(0)))?.to_value()?);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn any<S: Shape>(self, f: impl FnOnce(T::Exp) -> Exp<bool>) -> Acc<Array<S, bool>>
    where
        D: Larger<Smaller = S>,
    {
        let place = Place::caller("any");
        self.mapped(f, place).folded(Some(Exp::from(false)), |a, b| a | b, place)
    }

    /// Whether all elements of each row fulfil a condition.
    ///
    /// ```
    /// use pumice::*;
    /// assert!(!run(use_(&[3, -1]).all(|x| x.lt(0)))?.to_value()?);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn all<S: Shape>(self, f: impl FnOnce(T::Exp) -> Exp<bool>) -> Acc<Array<S, bool>>
    where
        D: Larger<Smaller = S>,
    {
        let place = Place::caller("all");
        self.mapped(f, place).folded(Some(Exp::from(true)), |a, b| a & b, place)
    }
}

impl<D: Shape, T: Number> Acc<Array<D, T>> {
    /// The sum along the innermost dimension.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3]).sum())?.to_value()?, 6);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sum<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        self.folded(Some(number(0)), |a, b| a + b, Place::caller("sum"))
    }

    /// The sum along the innermost dimension in another type: elements are converted before they are added. So bytes are summed
    /// without wrapping, and read as the bytes that they are.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[200u8, 100]).sum())?.to_value()?, 44);
    /// assert_eq!(run(use_(&[200u8, 100]).sum_as::<u32, _>())?.to_value()?, 300);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn sum_as<U: Number, S: Shape>(self) -> Acc<Array<S, U>>
    where
        D: Larger<Smaller = S>,
    {
        let place = Place::caller("sum_as");
        self.mapped(|x| x.cast::<U>(), place).folded(Some(number(0)), |a, b| a + b, place)
    }

    /// The product along the innermost dimension.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[2, 3, 4]).product())?.to_value()?, 24);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn product<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        self.folded(Some(number(1)), |a, b| a * b, Place::caller("product"))
    }

    /// The smallest element of each row, as [`Exp::min`] says; a row without elements is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[2, -3, 4]).min())?.to_value()?, -3);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn min<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        self.folded(None, |a, b| a.min(b), Place::caller("min"))
    }

    /// The largest element of each row, as [`Exp::max`] says; a row without elements is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[2, -3, 4]).max())?.to_value()?, 4);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn max<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        self.folded(None, |a, b| a.max(b), Place::caller("max"))
    }

    /// The index in its row of the smallest element; of several the first. A NaN counts as smaller than all numbers, so that it
    /// is not overlooked. A row without elements is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[2, -3, 4, -3]).argmin())?.to_value()?, 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn argmin<S: Shape>(self) -> Acc<Array<S, i64>>
    where
        D: Larger<Smaller = S>,
    {
        self.arg(|a, b| a.lt(b), Place::caller("argmin"))
    }

    /// The index in its row of the largest element; of several the first. A NaN counts as larger than all numbers. A row without
    /// elements is an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[2.0, f64::NAN, 4.0]).argmax())?.to_value()?, 1);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn argmax<S: Shape>(self) -> Acc<Array<S, i64>>
    where
        D: Larger<Smaller = S>,
    {
        self.arg(|a, b| a.gt(b), Place::caller("argmax"))
    }

    /// The index in its row of the element that is better than all others.
    fn arg<S: Shape>(
        self,
        better: impl FnOnce(Exp<T>, Exp<T>) -> Exp<bool>,
        place: Place,
    ) -> Acc<Array<S, i64>>
    where
        D: Larger<Smaller = S>,
    {
        let with_columns = self.with_index(
            |index, x| {
                let column = index.terms().pop().map_or(Exp::from(0), Exp::from_term);
                (x, column)
            },
            place,
        );
        let best = with_columns.folded(None, |a, b| better_of(a, b, better), place);
        best.mapped(|(_, column): (Exp<T>, Exp<i64>)| column, place)
    }

    /// Whether two arrays of the same shape have the same elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert!(run(use_(&[1, 2]).equal(use_(&[1, 2])))?.to_value()?);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn equal(self, other: Acc<Array<D, T>>) -> Acc<Scalar<bool>> {
        let place = Place::caller("equal");
        let function = lifted(|(x, y): (Exp<T>, Exp<T>)| x.eq(y));
        let inputs = vec![self.described().clone(), other.described().clone()];
        let same = Acc::<Array<D, bool>>::new(ZipWith { function }, inputs, place);
        same.flatten().folded(Some(Exp::from(true)), |a, b| a & b, place)
    }
}

impl<D: Shape, T: Float> Acc<Array<D, T>> {
    /// The mean of each row; NaN for a row without elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1.0, 2.0, 6.0]).mean())?.to_value()?, 3.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn mean<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        let place = Place::caller("mean");
        let count = self.columns().cast::<T>();
        self.folded(Some(number(0)), |a, b| a + b, place).mapped(|sum| sum / count, place)
    }

    /// The variance of each row: the mean of the squares of the distances from the mean. In one pass: elements are taken relative
    /// to the first of their row, so that little is lost where they are far from zero. NaN for a row without elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1001.0, 1003.0, 1005.0, 1007.0]).variance())?.to_value()?, 5.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn variance<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        let place = Place::caller("variance");
        let count = self.columns().cast::<T>();
        let first = self.first_of_rows(place);
        let function = lifted(|(x, first): (Exp<T>, Exp<T>)| {
            let distance = x - first;
            (distance, distance * distance)
        });
        let inputs = vec![self.described().clone(), first.described().clone()];
        let powers = Acc::<Array<D, (T, T)>>::new(ZipWith { function }, inputs, place);
        type Pair<T> = (Exp<T>, Exp<T>);
        let sums = powers.folded(
            Some((number(0), number(0))),
            |(a, b): Pair<T>, (c, d): Pair<T>| (a + c, b + d),
            place,
        );
        sums.mapped(|(sum, squares): Pair<T>| (squares - sum * sum / count) / count, place)
    }

    /// The length of each row as a vector: the root of the sum of the squares.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[3.0, 4.0]).norm())?.to_value()?, 5.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn norm<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        let place = Place::caller("norm");
        let squares = self.mapped(|x| x * x, place);
        squares.folded(Some(number(0)), |a, b| a + b, place).mapped(|sum| sum.sqrt(), place)
    }
}

/// Returns the better of two numbers with their indices, or the first of equals. A NaN is better than all others.
pub(crate) fn better_of<T: Number>(
    (x, i): (Exp<T>, Exp<i64>),
    (y, j): (Exp<T>, Exp<i64>),
    better: impl FnOnce(Exp<T>, Exp<T>) -> Exp<bool>,
) -> (Exp<T>, Exp<i64>) {
    let (x_is_nan, y_is_nan) = (x.ne(x), y.ne(y));
    let same = x.eq(y) | (x_is_nan & y_is_nan);
    // No number is better than a NaN: comparisons with one do not hold.
    let first = better(x, y) | (x_is_nan & !y_is_nan) | (same & i.lt(j));
    (first.select(x, y), first.select(i, j))
}

/// A small number as an expression of any type.
pub(crate) fn number<T: Primitive>(number: i128) -> Exp<T> {
    Exp::from_term(Constant::from_integer(T::TYPE, number).into())
}
