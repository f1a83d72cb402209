//! Hoists reductions that an expression computes for every row: each becomes an array of its results, computed before the expression, so
//! that a device divides long ones among many threads.
//!
//! An expression is evaluated once per such reduction, and once more. Each time, the results that are known are given as columns of
//! the row, and evaluation ends at the first that is not. Reductions in the elements of such a reduction are hoisted in the same way, where
//! these elements are rows of an array of their own (`staged.rs`). A reduction that is computed only sometimes (in a branch or a loop)
//! stays where it is, as a loop: elsewhere it might fail, or take time in vain.

use super::super::local::FEW;
use super::super::scalars::whole;
use super::super::value::{Array, Scalar, Value};
use super::super::{Evaluator, Outcome};
use crate::source::Span;
use crate::types::Type;
use pumice_array::untyped::Combination;
use pumice_scalar::{Constant, FailureKind, Function, Place, ScalarType, Site, Term};
use std::rc::Rc;

/// The state of hoisting while a row's expression is evaluated.
pub(in super::super) struct Hoisting {
    /// What is known of the row's reductions, of those of an element of the next of these, and so on.
    levels: Vec<Level>,
    /// The number of levels around what is evaluated now.
    depth: usize,
    /// What ended the evaluation: the reduction that was looked for, or nothing if the innermost level has no more.
    found: Option<Option<Found>>,
    /// Whether an element of the innermost level has reductions of its own.
    nests: bool,
}

/// The reductions of a row, or of an element of a reduction.
pub(super) struct Level {
    /// The results of those that were found before, in the order in which they are met.
    pub known: Vec<Value>,
    /// How many of them were met.
    pub met: usize,
    /// The number of an element of the next one; without it none is looked for.
    pub number: Option<Term>,
}

/// A reduction that was found: all terms are of the row.
pub(super) struct Found {
    /// Number of its elements, then the scalars of one element.
    pub terms: Vec<Term>,
    pub combination: Combination,
    /// The type of its result: with a flag before it, if there may be no result.
    pub ty: Type,
    pub place: Place,
    /// Whether its elements have reductions of their own.
    pub nests: bool,
}

impl Hoisting {
    pub(super) fn new(levels: Vec<Level>) -> Hoisting {
        Hoisting { levels, depth: 0, found: None, nests: false }
    }

    /// The reduction that was found; `None` if evaluation did not end at one.
    pub(super) fn found(self) -> Option<Option<Found>> {
        self.found
    }
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

impl Evaluator {
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
        match &mut *self.hoisting.borrow_mut() {
            Some(hoisting) if many && hoisting.depth < hoisting.levels.len() => {}
            Some(hoisting) if many => {
                hoisting.nests = true;
                return Ok(None);
            }
            _ => return Ok(None),
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
        let number = {
            let mut hoisting = self.hoisting.borrow_mut();
            let Some(Hoisting { levels, depth, .. }) = &mut *hoisting else { return Ok(None) };
            let Some(level) = levels.get_mut(*depth) else { return Ok(None) };
            level.met += 1;
            if let Some(known) = level.known.get(level.met - 1) {
                return Ok(Some(known.clone()));
            }
            let Some(number) = level.number else { return Ok(None) };
            *depth += 1;
            number
        };
        let element = part(number, carried.value.clone());
        if let Some(hoisting) = &mut *self.hoisting.borrow_mut() {
            hoisting.depth -= 1;
        }
        let element = element?;
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
        if let Some(hoisting) = &mut *self.hoisting.borrow_mut() {
            let nests = hoisting.nests;
            let found = Found { terms, combination, ty: carried.ty.clone(), place, nests };
            // One of another level is not what was looked for.
            let inner = hoisting.levels.get(hoisting.depth + 1);
            let is_wanted = inner.is_none_or(|inner| inner.number.is_none());
            hoisting.found = Some(is_wanted.then_some(found));
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
