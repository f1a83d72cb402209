//! Operations on whole arrays, outside of kernels and of functions on elements: their common parts, folds, scans, and products.

use super::builtins::Call;
use super::layout::{columns, from_terms};
use super::value::{Array, Host, Value};
use super::{Evaluator, Mode, Outcome};
use crate::source::Span;
use crate::types::Type;
use pumice_array::operations::{Compute, Concat, Filter, Fold, Gives, Product, Scan, Trace};
use pumice_array::{Described, Operation};
use pumice_scalar::{Function, Op, Place, ScalarType, Term};
use std::rc::Rc;
use std::sync::Arc;

/// An operation of the array language with all its arguments.
pub(super) struct Whole<'a> {
    pub evaluator: &'a Rc<Evaluator>,
    pub call: &'a Call,
    /// The element type of its result.
    pub element: Type,
    /// The number of dimensions of its result.
    pub rank: usize,
}

impl Evaluator {
    /// Builds the operator of a fold or scan.
    pub(super) fn operator(
        self: &Rc<Self>,
        ty: &Type,
        span: Span,
        operator: &dyn Fn(Value, Value) -> Outcome<Value>,
    ) -> Outcome<Function> {
        let types = columns(ty, self.sums()).ok_or_else(|| self.not_stored(ty, span))?;
        let both = [types.clone(), types].concat();
        self.element_function(&both, span, |terms| {
            let mut terms = terms.iter().copied();
            let mut next = || {
                from_terms(ty, self.sums(), false, &mut terms)
                    .ok_or_else(|| self.wrong(span, "an element of no type"))
            };
            let (a, b) = (next()?, next()?);
            operator(a, b)
        })
    }

    /// Folds rows: the result has so many dimensions.
    pub(super) fn fold(
        self: &Rc<Self>,
        name: &str,
        array: &Array,
        initial: Option<&Value>,
        ty: &Type,
        (rank, span): (usize, Span),
        operator: &dyn Fn(Value, Value) -> Outcome<Value>,
    ) -> Outcome<Array> {
        let operator = self.operator(ty, span, operator)?;
        let initial = initial.map(|initial| self.stored(initial, span)).transpose()?;
        let initial = initial.map(|terms| self.constant_function(terms));
        let input = self.described(array, span)?;
        match self.operation(name, Fold { operator, initial }, vec![input], (ty, rank), span)? {
            Value::Array(array) => Ok(array),
            _ => Err(self.wrong(span, "a fold of nothing")),
        }
    }

    /// Returns the scalars of a value, or an error if it cannot be stored.
    pub(super) fn stored(&self, value: &Value, span: Span) -> Outcome<Vec<Term>> {
        value.terms().ok_or_else(|| self.wrong(span, "this cannot be stored in an array"))
    }
}

impl<'a> Whole<'a> {
    /// Prepares the operation of a complete call.
    pub fn of(evaluator: &'a Rc<Evaluator>, call: &'a Call) -> Outcome<Whole<'a>> {
        let (element, rank) = evaluator.element_type(call)?;
        Ok(Whole { evaluator, call, element, rank })
    }

    /// Returns an argument.
    pub fn argument(&self, number: usize) -> Outcome<&'a Value> {
        let argument = self.call.arguments.get(number);
        argument.ok_or_else(|| self.evaluator.wrong(self.call.span, "an argument is missing"))
    }

    /// Returns an argument that is an array.
    pub fn array(&self, number: usize) -> Outcome<&'a Array> {
        self.evaluator.array(self.argument(number)?, self.call.span)
    }

    /// Returns an argument as an array of the array language.
    pub fn described(&self, number: usize) -> Outcome<Arc<Described>> {
        self.evaluator.described(self.array(number)?, self.call.span)
    }

    /// Returns an argument that is a scalar.
    pub fn scalar(&self, number: usize) -> Outcome<Term> {
        Ok(self.evaluator.scalar(self.argument(number)?, self.call.span)?.term)
    }

    /// Returns the scalar types of an element of a type.
    pub fn types(&self, ty: &Type) -> Outcome<Vec<ScalarType>> {
        columns(ty, self.evaluator.sums()).ok_or_else(|| self.evaluator.not_stored(ty, self.call.span))
    }

    /// Takes the scalars of the next value of a type and returns that value.
    pub fn value(&self, ty: &Type, terms: &mut dyn Iterator<Item = Term>) -> Outcome<Value> {
        from_terms(ty, self.evaluator.sums(), false, terms)
            .ok_or_else(|| self.evaluator.wrong(self.call.span, "an element of no type"))
    }

    /// Builds the function of an argument, on elements of these types.
    pub fn function(&self, number: usize, from: &[&Type]) -> Outcome<Function> {
        let types = from.iter().map(|ty| self.types(ty)).collect::<Outcome<Vec<_>>>()?.concat();
        self.evaluator.function_of(&types, |terms| self.applied(number, from, terms))
    }

    /// Applies an argument to values of these types, inside a function of the array language, and returns the scalars of the result.
    pub fn applied(&self, number: usize, from: &[&Type], terms: &[Term]) -> Outcome<Vec<Term>> {
        let mut terms = terms.iter().copied();
        let values = from.iter().map(|ty| self.value(ty, &mut terms)).collect::<Outcome<Vec<_>>>()?;
        let span = self.call.span;
        let given = self.evaluator.apply_all(self.argument(number)?, &values, span)?;
        given.terms().ok_or_else(|| {
            self.evaluator.wrong(span, "what this function gives cannot be stored in an array")
        })
    }

    /// Applies an argument to the scalars of elements, in functions that are built while an array is described. [`Whole::given`] reports
    /// an error.
    pub fn of_element(&self, number: usize, from: &[&Type], terms: &[Term]) -> Vec<Term> {
        let applied = self.evaluator.within(Mode::Element, || self.applied(number, from, terms));
        self.evaluator.keep(applied, Vec::new)
    }

    /// Returns the array that the operation gives, or the error of a function that was built for it.
    pub fn given(&self, described: Arc<Described>) -> Outcome<Value> {
        let described = self.evaluator.alive(self.evaluator.kept(described)?);
        Ok(Value::Array(Array::Host(Rc::new(Host::given(self.element.clone(), described)))))
    }

    /// Returns the place in the user's source.
    pub fn place(&self) -> Place {
        self.evaluator.place(self.call.name, self.call.span)
    }

    /// Builds the function of an argument that is an operator on elements of the result.
    pub fn operator(&self, number: usize) -> Outcome<Function> {
        self.function(number, &[&self.element, &self.element])
    }

    /// Builds an operator on numbers.
    pub fn arithmetic(&self, op: Op) -> Outcome<Function> {
        let (evaluator, span) = (self.evaluator, self.call.span);
        evaluator.operator(&self.element, span, &|a, b| {
            let (a, b) = (evaluator.scalar(&a, span)?, evaluator.scalar(&b, span)?);
            Ok(evaluator.operate(op, a.term.ty(), &[a, b]))
        })
    }

    /// Builds the initial value of a fold from an argument that is an element of the result.
    pub fn initial(&self, number: usize) -> Outcome<Function> {
        let terms = self.evaluator.stored(self.argument(number)?, self.call.span)?;
        Ok(self.evaluator.constant_function(terms))
    }

    /// Applies an operation to arrays.
    pub fn give(&self, operation: impl Operation, inputs: Vec<Arc<Described>>) -> Outcome<Value> {
        let of = (&self.element, self.rank);
        self.evaluator.operation(self.call.name, operation, inputs, of, self.call.span)
    }

    /// `reduceRows` and its like, of the operator, an initial value if `has_initial`, and the array.
    pub fn fold_rows(&self, has_initial: bool) -> Outcome<Value> {
        let operator = self.operator(0)?;
        let initial = has_initial.then(|| self.initial(1)).transpose()?;
        self.give(Fold { operator, initial }, vec![self.described(1 + usize::from(has_initial))?])
    }

    /// Scans from an initial value.
    pub fn scan(&self, gives: Gives, from_right: bool) -> Outcome<Value> {
        let (operator, initial) = (self.operator(0)?, Some(self.initial(1)?));
        let scanned = self.give(Scan { operator, initial, gives, from_right }, vec![self.described(2)?])?;
        match &scanned {
            Value::Array(total) if gives == Gives::Total => {
                self.evaluator.get(total, &[], None, self.call.span)
            }
            _ => Ok(scanned),
        }
    }

    /// Scans from the first element.
    pub fn scan1(&self, from_right: bool) -> Outcome<Value> {
        let scan = Scan { operator: self.operator(0)?, initial: None, gives: Gives::Inclusive, from_right };
        self.give(scan, vec![self.described(1)?])
    }

    /// `filter`.
    pub fn filter(&self) -> Outcome<Value> {
        self.give(Filter { keep: self.function(0, &[&self.element])? }, vec![self.described(1)?])
    }

    /// Appends two arrays along a dimension.
    pub fn append(&self, dimension: usize) -> Outcome<Value> {
        self.give(Concat { dimension }, vec![self.described(0)?, self.described(1)?])
    }

    /// `matmul`, also of several pairs.
    pub fn matmul(&self) -> Outcome<Value> {
        let zero = self.evaluator.stored(&self.evaluator.zero(&self.element), self.call.span)?;
        let initial = self.evaluator.constant_function(zero);
        let product =
            Product { multiply: self.arithmetic(Op::Mul)?, add: self.arithmetic(Op::Add)?, initial };
        self.give(product, vec![self.described(0)?, self.described(1)?])
    }

    /// `productBy`, also of several pairs, of the multiplication, the addition, the initial value, and both arrays.
    pub fn product_by(&self) -> Outcome<Value> {
        let multiply = self.function(0, &[self.array(3)?.element(), self.array(4)?.element()])?;
        let product = Product { multiply, add: self.operator(1)?, initial: self.initial(2)? };
        self.give(product, vec![self.described(3)?, self.described(4)?])
    }

    /// `compute`: each array of a value is written to memory.
    pub fn compute(&self) -> Outcome<Value> {
        self.each_array(Compute)
    }

    /// `trace`: each array of a value is printed.
    pub fn trace(&self) -> Outcome<Value> {
        self.each_array(Trace)
    }

    fn each_array(&self, operation: impl Operation + Clone) -> Outcome<Value> {
        let ty = self.evaluator.result_type(self.call)?;
        let arrays = self.evaluator.leaves(self.argument(0)?, &ty, self.call.span)?;
        let place = self.place();
        let after = arrays.iter().map(|array| {
            let (rank, types) = (array.rank(), array.types().to_vec());
            Described::new(operation.clone(), vec![array.clone()], rank, types, place)
        });
        self.evaluator.of_leaves(&ty, &mut after.collect::<Vec<_>>().into_iter(), self.call.span)
    }
}
