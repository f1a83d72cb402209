//! The methods of [`Acc`] that give elements other indices. None of them moves an element: an array that is viewed is a function
//! of the index, and its consumer reads where the elements are.

use crate::acc::{Acc, lifted, nullary};
use crate::data::{Array, Matrix, Vector};
use crate::operations::{Backpermute, Concat, Generate, Reshape, View};
use crate::shape::{All, IntoExtent, IntoShape, Larger, Pattern, Shape};
use pumice_scalar::{Elt, Exp, IntoExp, Lift, Place, ScalarType, Term, function};

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// The same elements, row by row, in another shape of the same size.
    ///
    /// ```
    /// use pumice::*;
    /// fn rows_of_four(xs: Acc<Vector<i32>>) -> Acc<Matrix<i32>> {
    ///     let n = xs.size();
    ///     xs.reshape((n / 4, 4))
    /// }
    /// ```
    #[track_caller]
    pub fn reshape<S: IntoShape>(self, shape: S) -> Acc<Array<S::Dim, T>> {
        let shape = nullary(|| shape.into_terms());
        Acc::<Array<S::Dim, T>>::new(
            Reshape { shape },
            vec![self.described().clone()],
            Place::caller("reshape"),
        )
    }

    /// The elements in one dimension, row by row.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(fill((2, 3), 1).flatten())?.to_vec()?, [1; 6]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn flatten(self) -> Acc<Vector<T>> {
        let place = Place::caller("flatten");
        let size = self.size();
        let shape = nullary(|| vec![size.term()]);
        Acc::<Vector<T>>::new(Reshape { shape }, vec![self.described().clone()], place)
    }

    /// For every index of a new shape, the element at the index that `f` gives. An index outside the array is an error
    /// that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// fn reverse(xs: Acc<Vector<f64>>) -> Acc<Vector<f64>> {
    ///     let n = xs.size();
    ///     xs.backpermute(n, |i| n - 1 - i)
    /// }
    /// ```
    #[track_caller]
    pub fn backpermute<S: IntoShape>(
        self,
        shape: S,
        f: impl FnOnce(<S::Dim as Shape>::Index) -> D::Index,
    ) -> Acc<Array<S::Dim, T>> {
        let place = Place::caller("backpermute");
        let shape = nullary(|| shape.into_terms());
        let operation = Backpermute { shape, index: lifted(f) };
        Acc::<Array<S::Dim, T>>::new(operation, vec![self.described().clone()], place)
    }

    /// The view of these extents, that begins at an index and goes these steps.
    pub(crate) fn viewed<E: Shape>(
        self,
        shape: Vec<Exp<i64>>,
        starts: Vec<Exp<i64>>,
        steps: Vec<Vec<i64>>,
        place: Place,
    ) -> Acc<Array<E, T>> {
        let terms = |numbers: Vec<Exp<i64>>| nullary(|| numbers.iter().map(|number| number.term()).collect());
        let view = View { shape: terms(shape), starts: terms(starts), steps };
        Acc::<Array<E, T>>::new(view, vec![self.described().clone()], place)
    }

    fn extents(&self) -> Vec<Exp<i64>> {
        (0..D::RANK).map(|dimension| self.extent(dimension)).collect()
    }

    /// The dimensions in another order: dimension `k` of the result is dimension `order[k]` of this array.
    ///
    /// ```
    /// use pumice::*;
    /// let cube = generate((2, 3, 4), |(i, j, k)| i * 100 + j * 10 + k);
    /// assert_eq!(run(cube.rearrange([2, 0, 1]).slice((3, 1, All)))?.to_vec()?, [103, 113, 123]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn rearrange(self, order: D::Extents) -> Self {
        self.rearranged(order.as_ref(), Place::caller("rearrange"))
    }

    pub(crate) fn rearranged(self, order: &[usize], place: Place) -> Self {
        let extents = self.extents();
        let is_permutation =
            order.len() == D::RANK && (0..D::RANK).all(|dimension| order.contains(&dimension));
        let shape = (0..D::RANK).map(|place| match order.get(place).and_then(|from| extents.get(*from)) {
            Some(extent) if is_permutation => *extent,
            _ => {
                let message = format!("an order {order:?} of an array of {} dimensions", D::RANK);
                Exp::from_term(Term::invalid(ScalarType::I64, message))
            }
        });
        let row =
            |from: usize| (0..D::RANK).map(|place| i64::from(order.get(place) == Some(&from))).collect();
        let (shape, steps) = (shape.collect(), (0..D::RANK).map(row).collect());
        self.viewed(shape, vec![Exp::from(0); D::RANK], steps, place)
    }

    /// Some dimensions at one index, and all of the others: a row, a column, a plane. An index that the array does not have is
    /// an error that names this place.
    ///
    /// ```
    /// use pumice::*;
    /// let m = generate((2, 3), |(i, j)| i * 10 + j);
    /// assert_eq!(run(m.clone().slice((1, All)))?.to_vec()?, [10, 11, 12]);
    /// assert_eq!(run(m.slice((All, 2)))?.to_vec()?, [2, 12]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn slice<P: Pattern<Whole = D>>(self, pattern: P) -> Acc<Array<P::Kept, T>> {
        let place = Place::caller("slice");
        let numbers = pattern.numbers();
        let kept: Vec<usize> = (0..D::RANK).filter(|dimension| numbers[*dimension].is_none()).collect();
        let row = |dimension: usize| kept.iter().map(|kept| i64::from(*kept == dimension)).collect();
        let shape = kept.iter().map(|dimension| self.extent(*dimension)).collect();
        let starts = numbers.iter().map(|number| number.unwrap_or(Exp::from(0))).collect();
        self.viewed(shape, starts, (0..D::RANK).map(row).collect(), place)
    }

    /// The array again and again, along new dimensions: `All` stands for each of its own, a number for how often.
    ///
    /// ```
    /// use pumice::*;
    /// let v = use_(&[1, 2]);
    /// assert_eq!(run(v.clone().replicate((2, All)))?.to_vec()?, [1, 2, 1, 2]);
    /// assert_eq!(run(v.replicate((All, 2)))?.to_vec()?, [1, 1, 2, 2]);
    /// assert_eq!(run(unit(5).replicate(3))?.to_vec()?, [5, 5, 5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn replicate<P: Pattern<Kept = D>>(self, pattern: P) -> Acc<Array<P::Whole, T>> {
        self.replicated(pattern, Place::caller("replicate"))
    }

    /// Like [`Acc::replicate`], for a method that is called at a place.
    pub(crate) fn replicated<P: Pattern<Kept = D>>(
        self,
        pattern: P,
        place: Place,
    ) -> Acc<Array<P::Whole, T>> {
        let numbers = pattern.numbers();
        let own: Vec<usize> = (0..numbers.len()).filter(|place| numbers[*place].is_none()).collect();
        let mut extents = self.extents().into_iter();
        let shape = numbers.iter().map(|number| number.or_else(|| extents.next()).unwrap_or(Exp::from(1)));
        let row = |own: &usize| (0..numbers.len()).map(|place| i64::from(place == *own)).collect();
        let (shape, steps) = (shape.collect(), own.iter().map(row).collect());
        self.viewed(shape, vec![Exp::from(0); D::RANK], steps, place)
    }
}

/// Operations on rows, of which a single value has none.
impl<D: Larger, T: Elt> Acc<Array<D, T>> {
    /// So many elements of each row, from one on, with this distance.
    pub(crate) fn stretch(self, start: Exp<i64>, step: i64, count: Exp<i64>, place: Place) -> Self {
        let mut shape = self.extents();
        let mut starts = vec![Exp::from(0); D::RANK];
        let mut steps = identity(D::RANK);
        let last = D::RANK - 1;
        (shape[last], starts[last], steps[last][last]) = (count, start, step);
        self.viewed(shape, starts, steps, place)
    }

    /// The array of the same shape that has everywhere the first element of the row.
    pub(crate) fn first_of_rows(&self, place: Place) -> Self {
        let mut steps = identity(D::RANK);
        steps[D::RANK - 1].fill(0);
        self.clone().viewed(self.extents(), vec![Exp::from(0); D::RANK], steps, place)
    }

    /// The innermost extent.
    pub(crate) fn columns(&self) -> Exp<i64> {
        self.extent(D::RANK - 1)
    }

    /// Part of each row: `count` elements from the one with index `start` on. A row that has fewer is an error that names this
    /// place. [`Acc::in_dimension`] does this, and all that is done to rows, along another dimension.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3, 4, 5]).slit(1, 3))?.to_vec()?, [2, 3, 4]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn slit(self, start: impl IntoExtent, count: impl IntoExtent) -> Self {
        self.stretch(start.into_extent(), 1, count.into_extent(), Place::caller("slit"))
    }

    /// The first elements of each row.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3]).take(2))?.to_vec()?, [1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn take(self, count: impl IntoExtent) -> Self {
        self.stretch(Exp::from(0), 1, count.into_extent(), Place::caller("take"))
    }

    /// Each row without its first elements.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3]).drop(2))?.to_vec()?, [3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn drop(self, count: impl IntoExtent) -> Self {
        let (columns, count) = (self.columns(), count.into_extent());
        self.stretch(count, 1, columns - count, Place::caller("drop"))
    }

    /// Each row without its last element.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3]).init())?.to_vec()?, [1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn init(self) -> Self {
        let columns = self.columns();
        self.stretch(Exp::from(0), 1, columns - 1, Place::caller("init"))
    }

    /// Each row without its first element.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3]).tail())?.to_vec()?, [2, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn tail(self) -> Self {
        let columns = self.columns();
        self.stretch(Exp::from(1), 1, columns - 1, Place::caller("tail"))
    }

    /// The first `count` elements of each row, and the others.
    ///
    /// ```
    /// use pumice::*;
    /// let (low, high) = use_(&[1, 2, 3, 4]).split_at(1);
    /// assert_eq!(run(low)?.to_vec()?, [1]);
    /// assert_eq!(run(high)?.to_vec()?, [2, 3, 4]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn split_at(self, count: impl IntoExtent) -> (Self, Self) {
        let place = Place::caller("split_at");
        let (columns, count) = (self.columns(), count.into_extent());
        let low = self.clone().stretch(Exp::from(0), 1, count, place);
        (low, self.stretch(count, 1, columns - count, place))
    }

    /// Each row from its last element to its first.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3]).reverse())?.to_vec()?, [3, 2, 1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn reverse(self) -> Self {
        let columns = self.columns();
        self.stretch(columns - 1, -1, columns, Place::caller("reverse"))
    }

    /// Every `step`-th element of each row, from its first on.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3, 4, 5]).every(2))?.to_vec()?, [1, 3, 5]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn every(self, step: usize) -> Self {
        let columns = self.columns();
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        let count = match step {
            0 => Exp::from_term(Term::invalid(ScalarType::I64, "every 0th element")),
            step => (columns + (step - 1)) / step,
        };
        self.stretch(Exp::from(0), step, count, Place::caller("every"))
    }

    /// Each row rotated to the left: its first `distance` elements come last. The distance may be negative, or larger than a
    /// row.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2, 3, 4]).rotate(1))?.to_vec()?, [2, 3, 4, 1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn rotate(self, distance: impl Into<Exp<i64>>) -> Self {
        let columns = self.columns();
        // Brought within a row before any element is looked at.
        let distance = distance.into() % columns.max(1);
        let distance = distance.lt(0).select(distance + columns, distance);
        let there = move |column: Exp<i64>| {
            let there = column + distance;
            there.ge(columns).select(there - columns, there)
        };
        self.around(columns, there, Place::caller("rotate"))
    }

    /// Each row `times` times, one after the other.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2]).tile(3))?.to_vec()?, [1, 2, 1, 2, 1, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn tile(self, times: impl IntoExtent) -> Self {
        let columns = self.columns();
        let all = columns * times.into_extent();
        self.around(all, move |column| column % columns.max(1), Place::caller("tile"))
    }

    /// Rows of so many elements, each from a column that a function gives.
    fn around(self, count: Exp<i64>, f: impl FnOnce(Exp<i64>) -> Exp<i64>, place: Place) -> Self {
        let mut shape = self.extents();
        shape.pop();
        shape.push(count);
        let index = pumice_scalar::function(&vec![ScalarType::I64; D::RANK], |index| {
            let mut there = index.to_vec();
            if let Some(column) = there.pop() {
                there.push(f(Exp::from_term(column)).term());
            }
            there
        });
        let shape = nullary(|| shape.iter().map(|extent| extent.term()).collect());
        Self::new(Backpermute { shape, index }, vec![self.described().clone()], place)
    }

    /// Every window of `width` neighbours of each row, as a row of its own.
    ///
    /// ```
    /// use pumice::*;
    /// let sums = run(use_(&[1, 2, 3, 4]).windows(3).sum())?;
    /// assert_eq!(sums.to_vec()?, [6, 9]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn windows(self, width: impl IntoExtent) -> Acc<Array<D::Bigger, T>> {
        let place = Place::caller("windows");
        let (columns, width) = (self.columns(), width.into_extent());
        let mut shape = self.extents();
        shape.pop();
        shape.extend([columns - width + 1, width]);
        let mut steps = identity(D::RANK);
        for (dimension, steps) in steps.iter_mut().enumerate() {
            steps.push(i64::from(dimension == D::RANK - 1));
        }
        self.viewed(shape, vec![Exp::from(0); D::RANK], steps, place)
    }

    /// The rows of this array, each with the row of another one behind it; [`concat`](crate::concat) does so along any
    /// dimension.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2]).append(use_(&[3])))?.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn append(self, other: Self) -> Self {
        self.joined(vec![other], Place::caller("append"))
    }

    /// The rows of this array with others' behind them.
    pub(crate) fn joined(self, others: Vec<Self>, place: Place) -> Self {
        let arrays = std::iter::once(self).chain(others);
        let inputs = arrays.map(|array| array.described().clone()).collect();
        Self::new(Concat { dimension: D::RANK - 1 }, inputs, place)
    }

    /// Each row with so many values before and after it.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2]).pad(1, 2, 0))?.to_vec()?, [0, 1, 2, 0, 0]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn pad(
        self,
        before: impl Into<Exp<i64>>,
        after: impl Into<Exp<i64>>,
        value: impl IntoExp<T>,
    ) -> Self {
        let place = Place::caller("pad");
        let value = value.into_exp();
        let extents = self.extents();
        let border = |count: Exp<i64>| {
            let mut extents = extents.clone();
            extents[D::RANK - 1] = count;
            let shape = nullary(|| extents.iter().map(|extent| extent.term()).collect());
            let element = function(&vec![ScalarType::I64; D::RANK], |_| value.terms());
            Self::new(Generate { shape, element }, Vec::new(), place)
        };
        let after = border(after.into());
        border(before.into()).joined(vec![self, after], place)
    }

    /// The array with one of its dimensions, counted from the outermost, as the innermost, and the others in their order: operations
    /// on rows after this go along that dimension.
    ///
    /// ```
    /// use pumice::*;
    /// let m = generate((2, 3), |(i, j)| i * 10 + j);
    /// assert_eq!(run(m.along(0).sum())?.to_vec()?, [10, 12, 14]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn along(self, dimension: usize) -> Self {
        self.rearranged(&innermost_last(D::RANK, dimension), Place::caller("along"))
    }

    /// Does something along a dimension, counted from the outermost: it becomes the innermost ([`Acc::along`]), and goes back
    /// after.
    ///
    /// ```
    /// use pumice::*;
    /// let m = generate((3, 2), |(i, j)| i * 10 + j);
    /// let upwards = m.in_dimension(0, |columns| columns.reverse());
    /// assert_eq!(run(upwards)?.to_vec()?, [20, 21, 10, 11, 0, 1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn in_dimension<U: Elt>(
        self,
        dimension: usize,
        f: impl FnOnce(Self) -> Acc<Array<D, U>>,
    ) -> Acc<Array<D, U>> {
        let place = Place::caller("in_dimension");
        let there = innermost_last(D::RANK, dimension);
        let mut back: Vec<usize> = (0..D::RANK - 1).collect();
        back.insert(dimension.min(back.len()), D::RANK - 1);
        f(self.rearranged(&there, place)).rearranged(&back, place)
    }
}

/// The dimensions in order, but for one that comes last.
fn innermost_last(rank: usize, dimension: usize) -> Vec<usize> {
    (0..rank).filter(|other| *other != dimension).chain([dimension]).collect()
}

/// Steps that leave every dimension as it is.
fn identity(rank: usize) -> Vec<Vec<i64>> {
    (0..rank).map(|from| (0..rank).map(|dimension| i64::from(from == dimension)).collect()).collect()
}

impl<T: Elt> Acc<Matrix<T>> {
    /// Rows for columns.
    ///
    /// ```
    /// use pumice::*;
    /// fn column_sums(m: Acc<Matrix<f32>>) -> Acc<Vector<f32>> {
    ///     m.transpose().sum()
    /// }
    /// ```
    #[track_caller]
    pub fn transpose(self) -> Acc<Matrix<T>> {
        self.rearranged(&[1, 0], Place::caller("transpose"))
    }
}

impl<T: Elt> Acc<Vector<T>> {
    /// The matrix that has this vector as each of its `rows` rows.
    ///
    /// ```
    /// use pumice::*;
    /// fn matrix_times_vector(m: Acc<Matrix<f32>>, v: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    ///     let (rows, _) = m.shape();
    ///     m.zip_with(v.replicate_rows(rows), |a, x| a * x).sum()
    /// }
    /// ```
    #[track_caller]
    pub fn replicate_rows(self, rows: impl IntoExtent) -> Acc<Matrix<T>> {
        self.replicated((rows.into_extent(), All), Place::caller("replicate_rows"))
    }

    /// The matrix that has this vector as each of its `columns` columns.
    ///
    /// ```
    /// use pumice::*;
    /// assert_eq!(run(use_(&[1, 2]).replicate_columns(2))?.to_vec()?, [1, 1, 2, 2]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    #[track_caller]
    pub fn replicate_columns(self, columns: impl IntoExtent) -> Acc<Matrix<T>> {
        self.replicated((All, columns.into_extent()), Place::caller("replicate_columns"))
    }
}
