//! Array programs as users write them: a thin typed layer over [`Described`]. Functions that make arrays are in [`crate::create`];
//! methods are in files by subject.

use crate::data::{Array, Vector};
use crate::described::{Described, building};
use crate::operation::Operation;
use crate::operations::{Argument, KernelCall};
use crate::program::ArrayProgram;
use crate::shape::Shape;
use pumice_kernel::{BuildError, Definition};
use pumice_scalar::{Elt, Exp, Function, Lift, Place, Primitive, Term, Variable, function};
use std::marker::PhantomData;
use std::sync::Arc;

/// An array that a program computes: `Acc<Vector<f32>>`, `Acc<Matrix<(f32, i32)>>`, `Acc<Scalar<f64>>`.
///
/// Operations only describe the program; `pumice::run` or `pumice::compile` execute it. Cloning is free, and an array
/// that is used twice is still one array.
///
/// ```
/// use pumice::prelude::*;
/// let squares: Acc<Vector<i64>> = generate(4, |i| i * i);
/// // Nothing is computed yet; both uses are of one array.
/// let (all, sum) = pumice::run((squares.clone(), squares.sum()))?;
/// assert_eq!((all.to_vec()?, sum.to_value()?), (vec![0, 1, 4, 9], 14));
/// # Ok::<(), pumice::Error>(())
/// ```
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
        // The program may go on: this is not its end.
        write!(f, "{}", ArrayProgram::within(std::slice::from_ref(&self.described), |_| None))
    }
}

/// A function of lifted values.
pub(crate) fn lifted<A: Lift, L: Lift>(f: impl FnOnce(A) -> L) -> Function {
    building(|| function(&A::Elt::types(), |terms| f(A::from_terms(&mut terms.iter().copied())).terms()))
}

/// A function without parameters.
pub(crate) fn nullary(f: impl FnOnce() -> Vec<Term>) -> Function {
    building(|| function(&[], |_| f()))
}

impl<A> Acc<A> {
    /// The description of the array.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let doubled = use_(&[1, 2]).map(|x| x + x);
    /// assert_eq!(doubled.described().place().operation(), "map");
    /// ```
    pub fn described(&self) -> &Arc<Described> {
        &self.described
    }
}

impl<D: Shape, T: Elt> Acc<Array<D, T>> {
    /// The array of this description. If it is of another rank or element type, the program is refused when it is
    /// compiled.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// use pumice::run;
    /// let xs = use_(&[1, 2]);
    /// let same: Acc<Vector<i32>> = Acc::from_described(xs.described().clone());
    /// assert_eq!(run(same)?.to_vec()?, [1, 2]);
    /// // What is no vector of `f32` is refused when it is compiled.
    /// assert!(run(Acc::<Vector<f32>>::from_described(xs.described().clone())).is_err());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn from_described(described: Arc<Described>) -> Self {
        Acc { described, of: PhantomData }
    }

    pub(crate) fn new(operation: impl Operation, inputs: Vec<Arc<Described>>, place: Place) -> Self {
        Self::from_described(Described::new(operation, inputs, D::RANK, T::types(), place))
    }

    /// The array that is given as argument `number` when the program is run.
    ///
    /// ```
    /// use pumice::layers::array::ArrayProgram;
    /// use pumice::prelude::*;
    /// let sum = Acc::<Vector<i64>>::argument(0).sum();
    /// let program = ArrayProgram::of(&[sum.described().clone()]);
    /// assert!(program.to_string().starts_with("a0: [_] (i64) = argument 0"));
    /// ```
    #[track_caller]
    pub fn argument(number: u32) -> Self {
        Self::argument_at(number, Place::caller("argument"))
    }

    /// Like [`Acc::argument`], for a program that is written at this place.
    ///
    /// ```
    /// use pumice::Place;
    /// use pumice::prelude::*;
    /// let place = Place::new("parameter", "prices.pum", 3, 7);
    /// assert_eq!(Acc::<Vector<f32>>::argument_at(0, place).described().place(), place);
    /// ```
    pub fn argument_at(number: u32, place: Place) -> Self {
        Self::new(Argument(number), Vec::new(), place)
    }

    /// The extents, as an expression: use it inside functions on elements and for other arrays' shapes.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let m = fill((2, 3), 1);
    /// let (rows, columns) = m.shape();
    /// assert_eq!(pumice::run(generate(rows, |i| i * columns))?.to_vec()?, [0, 3]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn shape(&self) -> D::Index {
        // A known extent is a constant: it belongs to no scope, and no graph grows by it.
        let extent = |dimension: usize| match self.described.known_extents() {
            Some(extents) => Exp::from(extents[dimension]).term(),
            None => self.extent(dimension).term(),
        };
        D::Index::from_terms(&mut (0..D::RANK).map(extent))
    }

    /// The number of elements, as an expression.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let average = |xs: Acc<Vector<f64>>| {
    ///     let count = xs.size().cast::<f64>();
    ///     xs.sum().map(|sum| sum / count)
    /// };
    /// assert_eq!(pumice::run(average(use_(&[1.0, 2.0, 6.0])))?.to_value()?, 3.0);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn size(&self) -> Exp<i64> {
        let extents = self.shape().terms().into_iter();
        extents.fold(Exp::from(1), |product, extent| product * Exp::<i64>::from_term(extent))
    }

    /// An extent by name, so that extents which must be equal are seen to be.
    pub(crate) fn extent(&self, dimension: usize) -> Exp<i64> {
        Exp::from_term(self.described.extent(dimension))
    }
}

/// Argument of a kernel inside an array program.
pub enum KernelInput {
    /// An array.
    Array(Arc<Described>),
    /// A scalar.
    Scalar(Term),
}

/// The vector that a kernel gives for these inputs; `pumice::kernel::apply` is the typed way to it. An argument that does not fit is an
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
