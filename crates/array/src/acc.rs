//! Array programs as users write them: a thin typed layer over [`Described`].

use crate::data::{Array, Matrix, Scalar, Vector};
use crate::described::{Described, remember};
use crate::operation::Operation;
use crate::operations::{
    Argument, Axis, Backpermute, Fold, Generate, KernelCall, Reshape, Use, View, ZipWith,
};
use crate::program::ArrayProgram;
use crate::shape::{Dim0, Dim1, IntoExtent, IntoShape, Larger, Shape};
use pumice_kernel::{BuildError, Definition};
use pumice_scalar::{
    Elt, Exp, Function, IntoExp, Lift, Number, Place, Primitive, ScalarType, Term, Variable, function,
};
use std::marker::PhantomData;
use std::sync::Arc;

/// An array that a program computes: `Acc<Vector<f32>>`, `Acc<Matrix<(f32, i32)>>`, `Acc<Scalar<f64>>`.
///
/// Operations only describe the program; `pumice::run` or `pumice::compile` execute it. Cloning is free, and an array
/// that is used twice is still one array.
pub struct Acc<A> {
    described: Arc<Described>,
    of: PhantomData<fn() -> A>,
}

impl<A> Clone for Acc<A> {
    fn clone(&self) -> Self {
        Acc { described: self.described.clone(), of: PhantomData }
    }
}

impl<A> std::fmt::Debug for Acc<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", ArrayProgram::of(std::slice::from_ref(&self.described)))
    }
}

/// A function of lifted values.
pub(crate) fn lifted<A: Lift, L: Lift>(f: impl FnOnce(A) -> L) -> Function {
    function(&A::Elt::types(), |terms| f(A::from_terms(&mut terms.iter().copied())).terms())
}

/// A function without parameters.
pub(crate) fn nullary(f: impl FnOnce() -> Vec<Term>) -> Function {
    function(&[], |_| f())
}

impl<A> Acc<A> {
    /// The description of the array.
    pub fn described(&self) -> &Arc<Described> {
        &self.described
    }
}

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// The array of this description. If it is of another rank or element type, the program is refused when it is
    /// compiled.
    pub fn from_described(described: Arc<Described>) -> Self {
        Acc { described, of: PhantomData }
    }

    pub(crate) fn new(operation: impl Operation, inputs: Vec<Arc<Described>>, place: Place) -> Self {
        Self::from_described(Described::new(operation, inputs, D::RANK, T::types(), place))
    }

    /// The array that is given as argument `number` when the program is run.
    #[track_caller]
    pub fn argument(number: u32) -> Self {
        Self::argument_at(number, Place::caller("argument"))
    }

    /// As [`Acc::argument`], for a program that is written at this place.
    pub fn argument_at(number: u32, place: Place) -> Self {
        Self::new(Argument(number), Vec::new(), place)
    }

    /// The extents, as an expression: use it inside functions on elements and for other arrays' shapes.
    pub fn shape(&self) -> D::Index {
        // What is known is a constant: it belongs to no scope, and no graph grows by it.
        let extent = |dimension: usize| match self.described.known_extents() {
            Some(extents) => Exp::from(extents[dimension]).term(),
            None => self.extent(dimension).term(),
        };
        D::Index::from_terms(&mut (0..D::RANK).map(extent))
    }

    /// The number of elements, as an expression.
    pub fn size(&self) -> Exp<i64> {
        let extents = self.shape().terms().into_iter();
        extents.fold(Exp::from(1), |product, extent| product * Exp::<i64>::from_term(extent))
    }

    /// An extent by name, so that extents which must be equal are seen to be.
    fn extent(&self, dimension: usize) -> Exp<i64> {
        remember(&self.described);
        let variable = Variable::Extent { array: self.described.id(), dimension: dimension as u32 };
        Exp::from_term(Term::variable(variable, ScalarType::I64))
    }

    /// A function of every element.
    ///
    /// ```
    /// use pumice::*;
    /// fn halves(xs: Acc<Vector<f32>>) -> Acc<Vector<(f32, bool)>> {
    ///     xs.map(|x| (x * 0.5, x.gt(1.0)))
    /// }
    /// ```
    #[track_caller]
    pub fn map<L: Lift>(self, f: impl FnOnce(T::Exp) -> L) -> Acc<Array<D, L::Elt>> {
        let operation = ZipWith { function: lifted(f) };
        Acc::<Array<D, L::Elt>>::new(operation, vec![self.described], Place::caller("map"))
    }

    /// A function of the elements of two arrays of the same shape.
    ///
    /// ```
    /// use pumice::*;
    /// fn saxpy(a: Exp<f32>, xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    ///     xs.zip_with(ys, |x, y| a * x + y)
    /// }
    /// # use pumice::Exp;
    /// ```
    #[track_caller]
    pub fn zip_with<U: Elt, L: Lift>(
        self,
        other: Acc<Array<D, U>>,
        f: impl FnOnce(T::Exp, U::Exp) -> L,
    ) -> Acc<Array<D, L::Elt>> {
        let function = lifted(|(x, y): (T::Exp, U::Exp)| f(x, y));
        let inputs = vec![self.described, other.described];
        Acc::<Array<D, L::Elt>>::new(ZipWith { function }, inputs, Place::caller("zip_with"))
    }

    /// A function of the elements of three arrays of the same shape.
    #[track_caller]
    pub fn zip_with3<U: Elt, V: Elt, L: Lift>(
        self,
        second: Acc<Array<D, U>>,
        third: Acc<Array<D, V>>,
        f: impl FnOnce(T::Exp, U::Exp, V::Exp) -> L,
    ) -> Acc<Array<D, L::Elt>> {
        let function = lifted(|(x, y, z): (T::Exp, U::Exp, V::Exp)| f(x, y, z));
        let inputs = vec![self.described, second.described, third.described];
        Acc::<Array<D, L::Elt>>::new(ZipWith { function }, inputs, Place::caller("zip_with3"))
    }

    /// A function of the elements of four arrays of the same shape.
    #[track_caller]
    pub fn zip_with4<U: Elt, V: Elt, W: Elt, L: Lift>(
        self,
        second: Acc<Array<D, U>>,
        third: Acc<Array<D, V>>,
        fourth: Acc<Array<D, W>>,
        f: impl FnOnce(T::Exp, U::Exp, V::Exp, W::Exp) -> L,
    ) -> Acc<Array<D, L::Elt>> {
        let function = lifted(|(x, y, z, w): (T::Exp, U::Exp, V::Exp, W::Exp)| f(x, y, z, w));
        let inputs = vec![self.described, second.described, third.described, fourth.described];
        Acc::<Array<D, L::Elt>>::new(ZipWith { function }, inputs, Place::caller("zip_with4"))
    }

    /// The pairs of the elements of two arrays of the same shape.
    #[track_caller]
    pub fn zip<U: Elt>(self, other: Acc<Array<D, U>>) -> Acc<Array<D, (T, U)>> {
        let place = Place::caller("zip");
        let function = lifted(|pair: (T::Exp, U::Exp)| pair);
        let inputs = vec![self.described, other.described];
        Acc::<Array<D, (T, U)>>::new(ZipWith { function }, inputs, place)
    }

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
        Acc::<Array<S::Dim, T>>::new(Reshape { shape }, vec![self.described], Place::caller("reshape"))
    }

    /// The elements in one dimension, row by row.
    #[track_caller]
    pub fn flatten(self) -> Acc<Vector<T>> {
        let place = Place::caller("flatten");
        let size = self.size();
        let shape = nullary(|| vec![size.term()]);
        Acc::<Vector<T>>::new(Reshape { shape }, vec![self.described], place)
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
        Acc::<Array<S::Dim, T>>::new(operation, vec![self.described], place)
    }

    /// The same elements with other dimensions: for each dimension of this array which one of the result's it is.
    fn viewed<S: IntoShape>(self, shape: S, axes: &[Axis], place: Place) -> Acc<Array<S::Dim, T>> {
        let shape = nullary(|| shape.into_terms());
        let starts = nullary(|| axes.iter().map(|_| Exp::<i64>::from(0).term()).collect());
        let view = View { shape, starts, axes: axes.to_vec() };
        Acc::<Array<S::Dim, T>>::new(view, vec![self.described], place)
    }

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
        self.folded(initial.into_exp(), f, Place::caller("fold"))
    }

    fn folded<S: Shape>(
        self,
        initial: T::Exp,
        f: impl FnOnce(T::Exp, T::Exp) -> T::Exp,
        place: Place,
    ) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
    {
        let operator = lifted(|(a, b): (T::Exp, T::Exp)| f(a, b));
        let initial = nullary(|| initial.terms());
        Acc::<Array<S, T>>::new(Fold { operator, initial }, vec![self.described], place)
    }

    /// The sum along the innermost dimension.
    #[track_caller]
    pub fn sum<S: Shape>(self) -> Acc<Array<S, T>>
    where
        D: Larger<Smaller = S>,
        T: Number,
    {
        let zero = Exp::from_term(pumice_scalar::Constant::zero(T::TYPE).into());
        self.folded(zero, |a, b| a + b, Place::caller("sum"))
    }
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
        let place = Place::caller("transpose");
        let shape = (self.extent(1), self.extent(0));
        self.viewed(shape, &[Axis::Of(1), Axis::Of(0)], place)
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
        let place = Place::caller("replicate_rows");
        let shape = (rows.into_extent(), self.extent(0));
        self.viewed(shape, &[Axis::Of(1)], place)
    }

    /// The matrix that has this vector as each of its `columns` columns.
    #[track_caller]
    pub fn replicate_columns(self, columns: impl IntoExtent) -> Acc<Matrix<T>> {
        let place = Place::caller("replicate_columns");
        let shape = (self.extent(0), columns.into_extent());
        self.viewed(shape, &[Axis::Of(0)], place)
    }
}

impl<T: Elt> Acc<Scalar<T>> {
    /// The array of any shape that has this value everywhere.
    #[track_caller]
    pub fn replicate<S: IntoShape>(self, shape: S) -> Acc<Array<S::Dim, T>> {
        let place = Place::caller("replicate");
        self.viewed(shape, &[], place)
    }
}

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

/// What can be used as an array in a program.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as an array of shape `{D}` with elements `{T}`",
    note = "slices, vectors and arrays are vectors; an `Array` and (with the feature `ndarray`) an `ndarray` array \
            keep their shape"
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
    let value = value.into_exp();
    let element = nullary(|| value.terms());
    let operation = Generate { shape: nullary(Vec::new), element };
    Acc::<Array<Dim0, T>>::new(operation, Vec::new(), Place::caller("unit"))
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

/// What a kernel inside an array program is given for one of its parameters.
pub enum KernelInput {
    /// An array.
    Array(Arc<Described>),
    /// A scalar.
    Scalar(Term),
}

/// The vector that a kernel gives for these inputs; `pumice::kernel::apply` is the typed way to it. What does not fit is an
/// error when the program is compiled.
#[track_caller]
pub fn kernel<T: Elt>(
    definition: Result<Definition, BuildError>,
    given: impl IntoIterator<Item = KernelInput>,
) -> Acc<Vector<T>> {
    let place = Place::caller("kernel");
    let (mut scalars, mut inputs) = (Vec::new(), Vec::new());
    for given in given {
        match given {
            KernelInput::Array(described) => inputs.push(described),
            KernelInput::Scalar(term) => scalars.push(nullary(|| vec![term])),
        }
    }
    let operation = KernelCall { definition: definition.map(Arc::new), scalars };
    Acc::<Vector<T>>::new(operation, inputs, place)
}

/// A scalar that is given as argument `number` when the program is run.
pub fn scalar_argument<T: Primitive>(number: u32) -> Exp<T> {
    Exp::from_term(Term::variable(Variable::Argument(number), T::TYPE))
}
