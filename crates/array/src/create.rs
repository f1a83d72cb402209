//! Arrays that are made of nothing but numbers and functions, and arrays that exist.

use crate::acc::{Acc, lifted, nullary};
use crate::data::{Array, Matrix, Scalar, Vector};
use crate::operations::{Concat, Generate, Use};
use crate::shape::{All, Dim0, Dim1, IntoShape, Larger, Shape};
use pumice_scalar::{Elt, Exp, IntoExp, Lift, Number, Place};

/// An array that exists, as an input of a program.
///
/// ```
/// use pumice::*;
/// let xs: Vector<f32> = vec![1.0, 2.0].into();
/// let doubled = use_(&xs).map(|x| x + x);
/// ```
#[track_caller]
pub fn use_<D: Shape, T: Elt>(array: impl IntoArray<D, T>) -> Acc<Array<D, T>> {
    let place = Place::caller("use_");
    Acc::<Array<D, T>>::new(Use(array.into_array().data().clone()), Vec::new(), place)
}

/// A value that can be used as an array in a program.
///
/// ```
/// use pumice::prelude::*;
/// use pumice::{IntoArray, run};
/// fn total<const N: usize>(arrays: [impl IntoArray<pumice::Dim1, i32>; N]) -> pumice::Result<i32> {
///     let sums = arrays.map(|array| use_(array).sum().the());
///     Ok(run(unit(sums.into_iter().fold(Exp::<i32>::from(0), |a, b| a + b)))?.to_value()?)
/// }
/// assert_eq!(total([vec![1, 2], vec![3]])?, 6);
/// assert_eq!(total([&[4, 5], &[6, 7]])?, 22);
/// # Ok::<(), pumice::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as an array of shape `{D}` with elements `{T}`",
    note = "slices, vectors and arrays are vectors, arrays of arrays are matrices; an `Array` and (with the feature `ndarray`) an \
            `ndarray` array keep their shape"
)]
pub trait IntoArray<D: Shape, T: Elt> {
    /// The array.
    fn into_array(self) -> Array<D, T>;
}

impl<D: Shape, T: Elt> IntoArray<D, T> for &Array<D, T> {
    fn into_array(self) -> Array<D, T> {
        self.clone()
    }
}

impl<D: Shape, T: Elt> IntoArray<D, T> for Array<D, T> {
    fn into_array(self) -> Array<D, T> {
        self
    }
}

impl<T: Elt> IntoArray<Dim1, T> for &[T] {
    fn into_array(self) -> Vector<T> {
        Vector::from(self)
    }
}

impl<T: Elt> IntoArray<Dim1, T> for &Vec<T> {
    fn into_array(self) -> Vector<T> {
        Vector::from(self.as_slice())
    }
}

impl<T: Elt> IntoArray<Dim1, T> for Vec<T> {
    fn into_array(self) -> Vector<T> {
        Vector::from(self)
    }
}

impl<T: Elt, const N: usize> IntoArray<Dim1, T> for &[T; N] {
    fn into_array(self) -> Vector<T> {
        Vector::from(self.as_slice())
    }
}

impl<T: Elt, const N: usize> IntoArray<Dim1, T> for [T; N] {
    fn into_array(self) -> Vector<T> {
        Vector::from(self.as_slice())
    }
}

/// A single value as an array without dimensions.
///
/// ```
/// use pumice::*;
/// let answer: Acc<Scalar<i32>> = unit(42);
/// ```
#[track_caller]
pub fn unit<T: Elt>(value: impl IntoExp<T>) -> Acc<Scalar<T>> {
    unit_at(Place::caller("unit"), value)
}

/// Like [`unit`], for an operation that is written at a place.
pub(crate) fn unit_at<T: Elt>(place: Place, value: impl IntoExp<T>) -> Acc<Scalar<T>> {
    let value = value.into_exp();
    let element = nullary(|| value.terms());
    let operation = Generate { shape: nullary(Vec::new), element };
    Acc::<Array<Dim0, T>>::new(operation, Vec::new(), place)
}

/// The array with the element `f(index)` at every index.
///
/// ```
/// use pumice::*;
/// let odd = generate(100, |i| 2 * i + 1);
/// fn table(n: Exp<i64>) -> Acc<Matrix<i64>> {
///     generate((n, n), |(i, j)| i * j)
/// }
/// # use pumice::Exp;
/// ```
#[track_caller]
pub fn generate<S: IntoShape, L: Lift>(
    shape: S,
    f: impl FnOnce(<S::Dim as Shape>::Index) -> L,
) -> Acc<Array<S::Dim, L::Elt>> {
    let shape = nullary(|| shape.into_terms());
    let operation = Generate { shape, element: lifted(f) };
    Acc::<Array<S::Dim, L::Elt>>::new(operation, Vec::new(), Place::caller("generate"))
}

/// The array of a shape that has one value everywhere.
///
/// ```
/// use pumice::*;
/// let zeros = run(fill((2, 2), 0.5f32))?;
/// assert_eq!(zeros.to_vec()?, [0.5; 4]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn fill<S: IntoShape, T: Elt>(shape: S, value: impl IntoExp<T>) -> Acc<Array<S::Dim, T>> {
    let value = value.into_exp();
    let shape = nullary(|| shape.into_terms());
    let element = lifted(|_: <S::Dim as Shape>::Index| value);
    Acc::<Array<S::Dim, T>>::new(Generate { shape, element }, Vec::new(), Place::caller("fill"))
}

/// The numbers `start`, `start + step` and so on, row by row, in an array of any shape.
///
/// ```
/// use pumice::*;
/// assert_eq!(run(enum_from(4, 10, -3))?.to_vec()?, [10, 7, 4, 1]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn enum_from<S: IntoShape, T: Number>(
    shape: S,
    start: impl Into<Exp<T>>,
    step: impl Into<Exp<T>>,
) -> Acc<Array<S::Dim, T>> {
    let (start, step) = (start.into(), step.into());
    numbered(shape, |number| start + step * number.cast::<T>(), Place::caller("enum_from"))
}

/// Two matrices with a row for each element of `ys` and a column for each of `xs`: of the elements of `xs`, and of those of `ys`.
///
/// ```
/// use pumice::*;
/// let (x, y) = meshgrid(use_(&[1, 2, 3]), use_(&[10, 20]));
/// assert_eq!(run(x.zip_with(y, |x, y| x + y))?.to_vec()?, [11, 12, 13, 21, 22, 23]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn meshgrid<T: Elt, U: Elt>(xs: Acc<Vector<T>>, ys: Acc<Vector<U>>) -> (Acc<Matrix<T>>, Acc<Matrix<U>>) {
    let (columns, rows) = (xs.shape(), ys.shape());
    let place = Place::caller("meshgrid");
    (xs.replicated((rows, All), place), ys.replicated((All, columns), place))
}

/// Arrays one after the other along a dimension, counted from the outermost; their other extents are the same. Each writes
/// its elements behind those of the arrays before it. An array that is a function of others is computed where it is written.
///
/// ```
/// use pumice::*;
/// let tables = [fill((1, 2), 1), fill((2, 2), 2)];
/// let stacked = run(concat(0, tables))?;
/// assert_eq!((stacked.extents(), stacked.to_vec()?), ([3, 2], vec![1, 1, 2, 2, 2, 2]));
/// # Ok::<(), pumice::Error>(())
/// ```
#[track_caller]
pub fn concat<D: Larger, T: Elt>(
    dimension: usize,
    arrays: impl IntoIterator<Item = Acc<Array<D, T>>>,
) -> Acc<Array<D, T>> {
    let inputs = arrays.into_iter().map(|array| array.described().clone()).collect();
    Acc::<Array<D, T>>::new(Concat { dimension }, inputs, Place::caller("concat"))
}

/// The array of a function of each element's number, row by row.
pub(crate) fn numbered<S: IntoShape, L: Lift>(
    shape: S,
    f: impl FnOnce(Exp<i64>) -> L,
    place: Place,
) -> Acc<Array<S::Dim, L::Elt>> {
    let extents = shape.into_terms();
    let element = lifted(|index: <S::Dim as Shape>::Index| {
        let parts = index.terms().into_iter().zip(&extents);
        f(parts.fold(Exp::from(0), |number, (part, extent)| {
            number * Exp::from_term(*extent) + Exp::<i64>::from_term(part)
        }))
    });
    let shape = nullary(|| extents);
    Acc::<Array<S::Dim, L::Elt>>::new(Generate { shape, element }, Vec::new(), place)
}
