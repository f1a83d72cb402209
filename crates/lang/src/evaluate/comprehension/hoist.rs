//! Hoists reductions that an expression computes for every row: each becomes an array of its results, computed before the expression, so
//! that a device divides long ones among many threads.
//!
//! An expression is evaluated once per such reduction, and once more. Each time, the results that are known are given as columns of
//! the row, and evaluation ends at the first that is not. A reduction that is computed only sometimes (in a branch or a loop) stays where
//! it is, as a loop: elsewhere it might fail, or take time in vain.

use super::super::environment::Environment;
use super::super::layout::{columns, from_terms};
use super::super::local::FEW;
use super::super::scalars::whole;
use super::super::value::{Array, Scalar, Value};
use super::super::{Evaluator, Mode, Outcome};
use super::rows::Rows;
use crate::ast::Expr;
use crate::source::Span;
use crate::types::Type;
use pumice_array::Described;
use pumice_array::untyped::{self, Combination};
use pumice_scalar::{Constant, FailureKind, Function, Node, Place, ScalarType, Site, Term, Variable};
use std::rc::Rc;
use std::sync::Arc;

/// The state of hoisting while a row's expression is evaluated.
pub(in super::super) struct Hoisting {
    /// The results of reductions that were found before, in the order in which they are met.
    known: Vec<Value>,
    next: usize,
    /// The number of an element of the reduction to be found; without it none is looked for.
    number: Option<Term>,
    found: Option<Found>,
}

/// A reduction that was found: all terms are of the row.
struct Found {
    /// Number of its elements, then the scalars of one element.
    terms: Vec<Term>,
    combination: Combination,
    /// The type of its result: with a flag before it, if there may be no result.
    ty: Type,
    place: Place,
}

/// A reduction.
pub(in super::super) struct Reduction<'a> {
    /// Its name in the source.
    pub name: &'a str,
    /// Its source span.
    pub span: Span,
    /// The type of its result.
    pub ty: Type,
    /// Combines the accumulator with an element.
    pub step: &'a dyn Fn(Value, Value) -> Outcome<Value>,
    /// Combines two results; associative.
    pub combine: &'a dyn Fn(Value, Value) -> Outcome<Value>,
    /// The initial value.
    pub initial: Initial,
}

/// The initial value of a reduction.
pub(in super::super) enum Initial {
    /// A neutral value: it changes nothing, however often it is combined.
    Neutral(Value),
    /// A value that is combined once, before the elements.
    First(Value),
    /// None: there must be an element.
    Nothing,
}

/// Rows with the results of hoisted reductions, and the expressions that these were in.
pub(super) struct Staged<'a> {
    evaluator: Rc<Evaluator>,
    rows: Rows,
    results: Vec<Type>,
    expressions: Vec<&'a Expr>,
    /// The rows, and an array for each reduction.
    pub arrays: Vec<Arc<Described>>,
    /// Number of scalars of a row, with those of inner comprehensions that are arrays of their own.
    row: usize,
    /// Number of scalars of a row without those.
    pub own: usize,
    /// Source span of the expressions.
    pub span: Span,
}

impl Staged<'_> {
    /// Whether rows have more scalars than before.
    pub fn has_more(&self) -> bool {
        !self.results.is_empty() || self.row > self.own
    }

    /// Returns the rows with all results.
    pub fn array(&self, place: Place) -> Arc<Described> {
        let inputs: Vec<&Arc<Described>> = self.arrays.iter().collect();
        match inputs[..] {
            [only] => only.clone(),
            _ => {
                let types = inputs.iter().flat_map(|array| array.types().to_vec()).collect();
                let array = untyped::zipped(&inputs, <[Term]>::to_vec, types, place);
                self.evaluator.alive(array)
            }
        }
    }

    /// Computes the expressions from the scalars of a row and of its results. An error is recorded.
    pub fn values(&self, terms: &[Term]) -> Vec<Term> {
        let evaluator = &self.evaluator;
        let outcome = self.evaluated(terms, None).map(|(values, _)| values);
        evaluator.keep(outcome, Vec::new)
    }

    fn evaluated(&self, terms: &[Term], number: Option<Term>) -> Outcome<(Vec<Term>, Option<Found>)> {
        let evaluator = &self.evaluator;
        evaluator.within(Mode::Element, || {
            let (row, results) = terms.split_at(self.row.min(terms.len()));
            let mut results = results.iter().copied();
            let result = |ty: &Type| {
                from_terms(ty, evaluator.sums(), false, &mut results)
                    .ok_or_else(|| evaluator.wrong(self.span, "a result of no type"))
            };
            let known = self.results.iter().map(result).collect::<Outcome<Vec<Value>>>()?;
            let environment = evaluator.row(&self.rows, row, self.span)?;
            let hoisting = Hoisting { known, next: 0, number, found: None };
            evaluator.hoisting.replace(Some(hoisting));
            let values = evaluator.all_terms(&self.expressions, &environment);
            let hoisting = evaluator.hoisting.take();
            match hoisting.and_then(|hoisting| hoisting.found) {
                Some(found) => Ok((found.terms.clone(), Some(found))),
                None => Ok((values?, None)),
            }
        })
    }

    /// Finds the next reduction, and makes an array of its results.
    fn reduce_next(&mut self) -> Outcome<bool> {
        let evaluator = self.evaluator.clone();
        let mut types = evaluator.row_types(&self.rows, self.span)?;
        for ty in &self.results {
            types.extend(columns(ty, evaluator.sums()).unwrap_or_default());
        }
        let with_number = [&types[..], &[ScalarType::I64]].concat();
        let mut found = None;
        let function = evaluator.function_of(&with_number, |terms| {
            let (number, terms) = terms.split_last().map_or((whole(0), terms), |(n, terms)| (*n, terms));
            let (values, reduction) = self.evaluated(terms, Some(number))?;
            found = reduction;
            Ok(values)
        })?;
        let Some(Found { combination, ty, place, .. }) = found else { return Ok(false) };
        let source = match self.uses_results(&function, types.len()) {
            true => self.array(place),
            false => self.arrays[0].clone(),
        };
        let of = |source: &[Term], number: Term| {
            let missing = types.iter().skip(source.len()).map(|ty| Constant::zero(*ty).into());
            let arguments: Vec<Term> = source.iter().copied().chain(missing).chain([number]).collect();
            applied(&function, &arguments)
        };
        let result_types = columns(&ty, evaluator.sums()).unwrap_or_default();
        let reduced = untyped::reduced(
            &source,
            |source| of(source, whole(0)).first().copied().unwrap_or(whole(0)),
            |source, number| of(source, number).into_iter().skip(1).collect(),
            combination,
            result_types,
            place,
        );
        self.arrays.push(evaluator.alive(reduced));
        self.results.push(ty);
        Ok(true)
    }

    /// Whether a function of a row uses results that were found before.
    fn uses_results(&self, function: &Function, end: usize) -> bool {
        let results = self.row as u32..end as u32;
        function.nodes().iter().any(|node| match node {
            Node::Variable(Variable::Parameter(number), _) => results.contains(number),
            _ => false,
        })
    }
}

impl Evaluator {
    /// Rows for expressions, with the results of reductions that these compute for each of them.
    pub(super) fn staged<'a>(
        self: &Rc<Self>,
        rows: &Rows,
        span: Span,
        expressions: Vec<&'a Expr>,
    ) -> Outcome<Staged<'a>> {
        let own = self.row_types(rows, span)?.len();
        let (evaluator, mut rows) = (self.clone(), rows.clone());
        for expr in &expressions {
            self.materialise_inner(&mut rows, expr)?;
        }
        let row = self.row_types(&rows, span)?.len();
        let arrays = rows.array.iter().cloned().collect();
        let mut staged = Staged { evaluator, rows, results: Vec::new(), expressions, arrays, row, own, span };
        while staged.reduce_next()? {}
        Ok(staged)
    }

    /// Returns the scalars of expressions, one after the other.
    pub(super) fn all_terms(
        self: &Rc<Self>,
        expressions: &[&Expr],
        environment: &Environment,
    ) -> Outcome<Vec<Term>> {
        let mut terms = Vec::new();
        for expr in expressions {
            terms.extend(self.stored_value(&self.evaluate(expr, environment)?, expr.span)?);
        }
        Ok(terms)
    }

    /// Reduces an array inside of a function on elements or a kernel.
    pub(in super::super) fn reduce_inner(
        self: &Rc<Self>,
        array: &Array,
        reduction: &Reduction<'_>,
    ) -> Outcome<Value> {
        let Reduction { name, span, ty, step, .. } = reduction;
        let operator = self.shared_operator(array, reduction)?;
        let neutral = operator.as_ref().and_then(Function::neutral).map(|neutral| {
            let terms: Vec<Term> = neutral.into_iter().map(Term::from).collect();
            self.of_type(ty, &terms, *span)
        });
        let carried = match (&reduction.initial, neutral.transpose()?) {
            (Initial::Neutral(value), _) => Carried { value: value.clone(), ty: ty.clone(), optional: false },
            (Initial::First(_), Some(value)) => Carried { value, ty: ty.clone(), optional: false },
            (Initial::First(value), None) if operator.is_none() => {
                Carried { value: value.clone(), ty: ty.clone(), optional: false }
            }
            _ => {
                let flag = Type::Scalar(ScalarType::Bool);
                let value = Value::Tuple([self.flag(false), self.zero(ty)].into());
                Carried { value, ty: Type::Tuple(vec![flag, ty.clone()]), optional: true }
            }
        };
        let optional_step =
            |so_far: Value, element: Value| self.with_option(so_far, element, ty, *step, *span);
        let step: &dyn Fn(Value, Value) -> Outcome<Value> =
            if carried.optional { &optional_step } else { *step };
        let size = self.part_count(array, *span)?;
        let part = |number: Term, so_far: Value| self.part(array, number, so_far, &carried.ty, step, *span);
        let hoisted = match &operator {
            Some(operator) => {
                // What the operator makes of its neutral element and an element is the element.
                let constants = |value: &Value| -> Outcome<Option<Vec<Constant>>> {
                    Ok(self.stored_value(value, *span)?.into_iter().map(Term::constant).collect())
                };
                let start = match *name {
                    "sum" | "product" => constants(&carried.value)?,
                    _ => None,
                };
                let step =
                    |so_far: Value, element: Value| match start.is_some() && constants(&so_far)? == start {
                        true => Ok(element),
                        false => step(so_far, element),
                    };
                let part =
                    |number: Term, so_far: Value| self.part(array, number, so_far, &carried.ty, &step, *span);
                self.hoisted(array, operator, &part, &carried, reduction)?
            }
            None => None,
        };
        let reduced = match hoisted {
            Some(reduced) => reduced,
            None => self.loop_times(size, carried.value.clone(), &carried.ty, *span, &part)?,
        };
        if let (Initial::First(first), false, Some(_)) = (&reduction.initial, carried.optional, &operator) {
            return (reduction.combine)(first.clone(), reduced);
        }
        let (true, Value::Tuple(parts)) = (carried.optional, &reduced) else { return Ok(reduced) };
        let [flag, value] = &parts[..] else { return Ok(reduced) };
        let flag = self.scalar(flag, *span)?;
        match &reduction.initial {
            Initial::First(first) => {
                let combined = || (reduction.combine)(first.clone(), value.clone());
                self.choose(flag, ty, &combined, &|| Ok(first.clone()), *span)
            }
            _ => {
                let site = Site { place: self.place(name, *span), kind: FailureKind::NoElement };
                let term = flag.term.check(site, whole(0), whole(0));
                let present = Scalar { term, outside: flag.outside };
                self.choose(present, ty, &|| Ok(value.clone()), &|| Ok(self.zero(ty)), *span)
            }
        }
    }

    fn flag(&self, flag: bool) -> Value {
        Value::scalar(Constant::from(flag).into(), true)
    }

    /// Combines an optional accumulator with one more element.
    fn with_option(
        self: &Rc<Self>,
        so_far: Value,
        element: Value,
        ty: &Type,
        step: &dyn Fn(Value, Value) -> Outcome<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let parts = match &so_far {
            Value::Tuple(parts) if parts.len() == 2 => parts.clone(),
            _ => return Err(self.wrong(span, "a reduction of nothing")),
        };
        let flag = self.scalar(&parts[0], span)?;
        let both = || step(parts[1].clone(), element.clone());
        let value = self.choose(flag, ty, &both, &|| Ok(element.clone()), span)?;
        Ok(Value::Tuple([self.flag(true), value].into()))
    }

    /// Builds the operator of a reduction that is computed for every row, if it is the same for all of them.
    fn shared_operator(
        self: &Rc<Self>,
        array: &Array,
        reduction: &Reduction<'_>,
    ) -> Outcome<Option<Function>> {
        let size = match array {
            Array::Local(local) => local.extents.first().copied(),
            Array::Stream(stream) => Some(stream.size),
            Array::Host(_) | Array::Kernel(_) => None,
        };
        // A reduction of few elements stays in a thread.
        let many = size.is_some_and(|size| size.integer().is_none_or(|size| size > FEW));
        if !many || self.hoisting.borrow().is_none() {
            return Ok(None);
        }
        let operator = self.operator(&reduction.ty, reduction.span, reduction.combine)?;
        Ok(operator.mistake().is_none().then_some(operator))
    }

    /// Returns the result of a reduction that is computed for every row: a column of the row, or an error that ends this evaluation.
    fn hoisted(
        self: &Rc<Self>,
        array: &Array,
        operator: &Function,
        part: &dyn Fn(Term, Value) -> Outcome<Value>,
        carried: &Carried,
        reduction: &Reduction<'_>,
    ) -> Outcome<Option<Value>> {
        let number = match &mut *self.hoisting.borrow_mut() {
            Some(hoisting) => {
                hoisting.next += 1;
                if let Some(known) = hoisting.known.get(hoisting.next - 1) {
                    return Ok(Some(known.clone()));
                }
                hoisting.number
            }
            None => None,
        };
        let Some(number) = number else { return Ok(None) };
        let element = self.within(Mode::Element, || part(number, carried.value.clone()))?;
        let size = self.part_count(array, reduction.span)?;
        let most = match array {
            Array::Local(local) => local.most,
            _ => None,
        };
        let terms = [vec![size], self.stored_value(&element, reduction.span)?].concat();
        let initial = match carried.optional {
            true => None,
            false => Some(self.constant_function(self.stored_value(&carried.value, reduction.span)?)),
        };
        let place = self.place(reduction.name, reduction.span);
        let most = most.map(|most| self.constant_function(vec![most]));
        let combination = Combination { operator: operator.clone(), initial, most };
        let found = Found { terms, combination, ty: carried.ty.clone(), place };
        if let Some(hoisting) = &mut *self.hoisting.borrow_mut() {
            hoisting.found = Some(found);
        }
        // This error is never reported: the caller looks at `found` first.
        Err(self.wrong(reduction.span, "a reduction that is computed for every row"))
    }
}

/// The accumulator of a reduction.
struct Carried {
    value: Value,
    ty: Type,
    /// Whether it begins with a flag that says whether there is a value.
    optional: bool,
}

/// Applies a function, which may read elements of arrays of this program, to these arguments.
fn applied(function: &Function, arguments: &[Term]) -> Vec<Term> {
    function.instantiate(
        &mut |variable, ty| match variable {
            Variable::Parameter(number) => {
                arguments.get(number as usize).copied().unwrap_or_else(|| Constant::zero(ty).into())
            }
            other => Term::variable(other, ty),
        },
        &mut |_, ty, _, _| Constant::zero(ty).into(),
        &mut Term::element,
    )
}
