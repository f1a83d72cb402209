//! Loops over arrays and choices between them: loop-carried and chosen values are of any type made of arrays and scalars, each array a
//! leaf of it, and each scalar a leaf of rank 0.

use super::layout::{columns, from_terms};
use super::value::{Array, Host, Scalar, Value};
use super::whole::Whole;
use super::{Evaluator, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_array::{Acc, Described, acond_at, awhile_at, iterate_at};
use pumice_scalar::{Constant, Exp, Op};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

type Leaves = Vec<Arc<Described>>;

impl Evaluator {
    /// Returns the arrays of a value.
    pub(super) fn leaves(self: &Rc<Self>, value: &Value, ty: &Type, span: Span) -> Outcome<Leaves> {
        if !self.has_leaves(ty) {
            let message = format!("a value of type `{ty}` is no state of arrays");
            let help =
                "it consists of numbers, of arrays of what can be stored, and of tuples and records of these";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        let mut leaves = Vec::new();
        self.results(value, ty, span, &mut leaves)?;
        Ok(leaves)
    }

    /// Creates the value of these arrays.
    pub(super) fn of_leaves(
        &self,
        ty: &Type,
        leaves: &mut dyn Iterator<Item = Arc<Described>>,
        span: Span,
    ) -> Outcome<Value> {
        let missing = || self.wrong(span, "an array is missing here");
        Ok(match ty {
            Type::Array { element, .. } => {
                let described = self.alive(leaves.next().ok_or_else(missing)?);
                Value::Array(Array::Host(Rc::new(Host::given((**element).clone(), described))))
            }
            Type::Tuple(parts) => Value::Tuple(
                parts.iter().map(|part| self.of_leaves(part, leaves, span)).collect::<Outcome<_>>()?,
            ),
            Type::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| Ok((name.clone(), self.of_leaves(field, leaves, span)?)));
                Value::Record(fields.collect::<Outcome<_>>()?)
            }
            other => {
                let terms = self.alive(leaves.next().ok_or_else(missing)?).element(&[], None);
                from_terms(other, self.sums(), true, &mut terms.into_iter()).ok_or_else(missing)?
            }
        })
    }

    /// Whether values of a type consist of arrays and scalars alone.
    fn has_leaves(&self, ty: &Type) -> bool {
        match ty {
            Type::Array { element, level, .. } => level.is_none() && columns(element, self.sums()).is_some(),
            Type::Tuple(parts) => parts.iter().all(|part| self.has_leaves(part)),
            Type::Record(fields) => fields.iter().all(|(_, field)| self.has_leaves(field)),
            other => columns(other, self.sums()).is_some(),
        }
    }

    /// Adds placeholders for the arrays of a value that could not be built; the program is rejected anyway.
    fn mistaken(&self, ty: &Type, span: Span, leaves: &mut Leaves) {
        let (rank, types) = match ty {
            Type::Array { element, sizes, .. } => (sizes.len(), columns(element, self.sums())),
            Type::Tuple(parts) => return parts.iter().for_each(|part| self.mistaken(part, span, leaves)),
            Type::Record(fields) => {
                return fields.iter().for_each(|(_, field)| self.mistaken(field, span, leaves));
            }
            other => (0, columns(other, self.sums())),
        };
        let (types, place) = (types.unwrap_or_default(), self.place("value", span));
        leaves.push(Described::mistaken("this could not be built", rank, types, place));
    }

    /// Chooses one of two values with arrays in them, and computes only that one; `None` if the type has no arrays, or parts that cannot be stored.
    pub(super) fn choose_arrays(
        self: &Rc<Self>,
        condition: Scalar,
        ty: &Type,
        yes: &dyn Fn() -> Outcome<Value>,
        no: &dyn Fn() -> Outcome<Value>,
        span: Span,
    ) -> Outcome<Option<Value>> {
        if columns(ty, self.sums()).is_some() || !self.has_leaves(ty) {
            return Ok(None);
        }
        let failure = Failure::default();
        let side = |side: &dyn Fn() -> Outcome<Value>| {
            let leaves = side().and_then(|value| self.leaves(&value, ty, span));
            failure.or(leaves, || {
                let mut leaves = Vec::new();
                self.mistaken(ty, span, &mut leaves);
                leaves
            })
        };
        let condition = Acc::from_described(self.unit(&[condition.term], span));
        let chosen = acond_at(self.place("if", span), condition, || side(yes), || side(no));
        failure.told()?;
        self.of_leaves(ty, &mut chosen.into_iter(), span).map(Some)
    }
}

impl Whole<'_> {
    /// `iterate`, of the number of rounds, the step, and the state; `iterateNumbered` gives the step the number of the round.
    pub fn iterate(&self) -> Outcome<Value> {
        let (ty, span, evaluator) = (self.evaluator.result_type(self.call)?, self.call.span, self.evaluator);
        let rounds = Exp::<i64>::from_term(self.scalar(0)?);
        let numbered = self.call.name == "iterateNumbered";
        let mut state = evaluator.leaves(self.argument(2)?, &ty, span)?;
        if numbered {
            state.insert(0, evaluator.unit(&[super::scalars::whole(0)], span));
        }
        let failure = Failure::default();
        let next = |state: Leaves| {
            let next = || {
                let round = numbered.then(|| evaluator.alive(state[0].clone()).element(&[], None)[0]);
                let own = state[usize::from(numbered)..].to_vec();
                let own = evaluator.of_leaves(&ty, &mut own.into_iter(), span)?;
                let round_value = round.map(|round| Value::scalar(round, true));
                let arguments: Vec<Value> = round_value.into_iter().chain([own]).collect();
                let next = evaluator.apply_all(self.argument(1)?, &arguments, span)?;
                let mut next = evaluator.leaves(&next, &ty, span)?;
                if let Some(round) = round {
                    let more = round.binary(Op::Add, super::scalars::whole(1));
                    next.insert(0, evaluator.unit(&[more], span));
                }
                Ok(next)
            };
            failure.or(next(), || state.clone())
        };
        let last = iterate_at(self.place(), rounds, state, next);
        failure.told()?;
        evaluator.of_leaves(&ty, &mut last.into_iter().skip(usize::from(numbered)), span)
    }

    /// `iterateWhile`, of a condition, the step, and the state.
    pub fn iterate_while(&self) -> Outcome<Value> {
        let (ty, span, evaluator) = (self.evaluator.result_type(self.call)?, self.call.span, self.evaluator);
        let state = evaluator.leaves(self.argument(2)?, &ty, span)?;
        let failure = Failure::default();
        let applied = |number: usize, state: &Leaves| {
            let value = evaluator.of_leaves(&ty, &mut state.iter().cloned(), span)?;
            evaluator.apply(self.argument(number)?, value, span)
        };
        let condition = |state: Leaves| {
            let holds = applied(0, &state).and_then(|holds| evaluator.scalar(&holds, span));
            let holds = failure.or(holds.map(|holds| holds.term), || Constant::from(false).into());
            Acc::from_described(evaluator.unit(&[holds], span))
        };
        let next = |state: Leaves| {
            let next = applied(1, &state).and_then(|next| evaluator.leaves(&next, &ty, span));
            failure.or(next, || state.clone())
        };
        let last = awhile_at(self.place(), state, condition, next);
        failure.told()?;
        evaluator.of_leaves(&ty, &mut last.into_iter(), span)
    }
}

/// The first thing that is wrong inside Rust functions that cannot say so.
#[derive(Default)]
struct Failure(RefCell<Option<Box<Diagnostic>>>);

impl Failure {
    fn or<T>(&self, outcome: Outcome<T>, otherwise: impl FnOnce() -> T) -> T {
        outcome.unwrap_or_else(|diagnostic| {
            self.0.borrow_mut().get_or_insert(diagnostic);
            otherwise()
        })
    }

    fn told(self) -> Outcome<()> {
        self.0.into_inner().map_or(Ok(()), Err)
    }
}
