//! Pulls in the form that the current mode needs, their extents and elements, and loops of one thread.

use super::layout::from_terms;
use super::scalars::whole;
use super::value::{Array, InKernel, Local, Made, Scalar, Value};
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_kernel as kernel;
use pumice_scalar::{Constant, Exp, FailureKind, Op, ScalarType, Site, Term, branch, repeat};
use std::rc::Rc;

/// A loop with so few rounds is written out.
pub(super) const FEW: i64 = 16;

impl Evaluator {
    /// Creates a pull array of these elements: of the kernel language where a kernel is built.
    pub(super) fn pull(self: &Rc<Self>, local: Local, span: Span) -> Outcome<Value> {
        let local = Rc::new(local);
        let in_kernel = self.mode.get() == Mode::Kernel && self.is_item(&local.element);
        if !in_kernel {
            return Ok(Value::Array(Array::Local(local)));
        }
        let length =
            local.extents.iter().copied().reduce(|all, one| all.binary(Op::Mul, one)).unwrap_or(whole(1));
        let (this, from) = (self.clone(), local.clone());
        let pull = kernel::Pull::<kernel::Any, _>::new(as_length(length), move |i| {
            let element = this.within(Mode::Kernel, || (from.get)(&unflattened(i.term(), &from.extents)));
            this.item(element, &from.element, span)
        });
        let (element, extents) = (local.element.clone(), local.extents.clone());
        Ok(Value::Array(Array::Kernel(Rc::new(InKernel { element, extents, pull }))))
    }

    /// Returns the extents of an array.
    pub(super) fn extents(self: &Rc<Self>, array: &Array, span: Span) -> Outcome<Vec<Scalar>> {
        let inner = |extents: &[Term]| {
            let scalar = |term: &Term| Scalar { term: *term, outside: term.constant().is_some() };
            extents.iter().map(scalar).collect()
        };
        Ok(match array {
            Array::Local(local) => inner(&local.extents),
            Array::Kernel(array) => inner(&array.extents),
            Array::Host(host) => self.host_extents(host, span)?,
            Array::Stream(_) => return Err(self.only_folded(span)),
        })
    }

    /// Returns the element at an index. If `checked` has the name of the operation, an index that is out of bounds is a failure.
    pub(super) fn get(
        self: &Rc<Self>,
        array: &Array,
        index: &[Term],
        checked: Option<&str>,
        span: Span,
    ) -> Outcome<Value> {
        match array {
            Array::Host(host) => self.host_element(host, index, checked, span),
            Array::Local(local) => match checked {
                None => (local.get)(index),
                Some(operation) => self.local_element(local, index, operation, span),
            },
            Array::Kernel(array) => Ok(self.kernel_element(array, index, checked.unwrap_or("index"), span)),
            Array::Stream(_) => Err(self.only_folded(span)),
        }
    }

    pub(super) fn only_folded(&self, span: Span) -> Box<Diagnostic> {
        let message =
            "the elements of an inner comprehension with conditions, or that draws twice, are not numbered";
        let help = "fold them (`sum`, `reduce`, `length`), or draw from them in the outer comprehension";
        Box::new(Diagnostic::new(span, message).help(help))
    }

    fn local_element(
        self: &Rc<Self>,
        local: &Local,
        index: &[Term],
        operation: &str,
        span: Span,
    ) -> Outcome<Value> {
        let site = Site { place: self.place(operation, span), kind: FailureKind::OutOfBounds };
        let mut all: Option<Term> = None;
        for (index, extent) in index.iter().zip(&local.extents) {
            let within = whole(0).compare(Op::Le, *index).binary(Op::And, index.compare(Op::Lt, *extent));
            if within.constant() != Some(Constant::from(true)) {
                let within = within.check(site, *index, *extent);
                all = Some(all.map_or(within, |all| all.binary(Op::And, within)));
            }
        }
        let element = (local.get)(index)?;
        match (all, element.terms()) {
            (Some(within), Some(terms)) => {
                let zeros: Vec<Term> = terms.iter().map(|term| Constant::zero(term.ty()).into()).collect();
                let chosen = branch(within, &terms, &zeros);
                from_terms(&local.element, self.sums(), false, &mut chosen.into_iter())
                    .ok_or_else(|| self.wrong(span, "an element of no type"))
            }
            // The rows of a matrix are checked where their elements are used.
            _ => Ok(element),
        }
    }

    /// Does a step so many times, in one thread.
    pub(super) fn loop_times(
        self: &Rc<Self>,
        times: Term,
        initial: Value,
        ty: &Type,
        span: Span,
        step: &dyn Fn(Term, Value) -> Outcome<Value>,
    ) -> Outcome<Value> {
        if let Some(times) = times.integer()
            && times <= FEW
        {
            return (0..times).try_fold(initial, |value, round| step(whole(round), value));
        }
        let terms = initial
            .terms()
            .ok_or_else(|| self.wrong(span, "a loop carries numbers, and tuples and records of them"))?;
        let value = |terms: &[Term]| {
            from_terms(ty, self.sums(), false, &mut terms.iter().copied()).unwrap_or_else(|| self.zero(ty))
        };
        let next = |round: Term, carried: &[Term]| {
            let next = self.sometimes(|| step(round, value(carried))).and_then(|next| {
                next.terms()
                    .ok_or_else(|| self.wrong(span, "a loop carries numbers, and tuples and records of them"))
            });
            self.keep(next, || carried.to_vec())
        };
        let found = match self.mode.get() {
            Mode::Kernel => {
                let place = self.place("loop", span);
                let last = kernel::written_at(place, || {
                    kernel::seq_for::<kernel::Dynamic>(
                        Exp::from_term(times),
                        1,
                        kernel::Scalars(terms),
                        |carried, round| kernel::Scalars(next(round.term(), &carried.0)),
                    )
                });
                last.0
            }
            _ => {
                let initial: Vec<Term> = [whole(0)].into_iter().chain(terms).collect();
                let last = repeat(
                    &initial,
                    |carried| carried[0].compare(Op::Lt, times),
                    |carried| {
                        let mut all = next(carried[0], &carried[1..]);
                        all.insert(0, carried[0].binary(Op::Add, whole(1)));
                        all
                    },
                );
                last[1..].to_vec()
            }
        };
        self.kept(value(&found))
    }

    /// Does a step as long as a condition holds, in one thread.
    pub(super) fn loop_while(
        self: &Rc<Self>,
        initial: Value,
        ty: &Type,
        span: Span,
        condition: &dyn Fn(Value) -> Outcome<Value>,
        step: &dyn Fn(Value) -> Outcome<Value>,
    ) -> Outcome<Value> {
        let carries = || self.wrong(span, "a loop carries numbers, and tuples and records of them");
        let terms = initial.terms().ok_or_else(carries)?;
        let value = |terms: &[Term]| {
            from_terms(ty, self.sums(), false, &mut terms.iter().copied()).unwrap_or_else(|| self.zero(ty))
        };
        let holds = |carried: &[Term]| {
            let holds =
                self.sometimes(|| condition(value(carried))).and_then(|holds| self.scalar(&holds, span));
            self.keep(holds.map(|holds| holds.term), || Constant::from(false).into())
        };
        let next = |carried: &[Term]| {
            let next =
                self.sometimes(|| step(value(carried))).and_then(|next| next.terms().ok_or_else(carries));
            self.keep(next, || carried.to_vec())
        };
        let found = match self.mode.get() {
            Mode::Kernel => {
                let not = |holds: Term| Exp::from_term(Term::apply(Op::Not, ScalarType::Bool, &[holds]));
                let place = self.place("loop", span);
                let last = kernel::written_at(place, || {
                    kernel::seq_until::<kernel::Dynamic>(
                        kernel::Scalars(terms),
                        |carried| not(holds(&carried.0)),
                        |carried| kernel::Scalars(next(&carried.0)),
                    )
                });
                last.0
            }
            _ => repeat(&terms, holds, next),
        };
        self.kept(value(&found))
    }

    /// Creates a pull from a built-in function: outside it keeps its definition, elsewhere its elements are computed.
    pub(super) fn make(self: &Rc<Self>, made: Made, element: Type, rank: usize) -> Outcome<Value> {
        if self.mode.get() == Mode::Host {
            return Ok(Value::Array(Array::Host(Rc::new(super::value::Host {
                element,
                rank,
                made: Some(made),
                described: std::cell::OnceCell::new(),
            }))));
        }
        let span = made.span;
        if let ("map" | "mapPull", [function, Value::Array(Array::Stream(stream))]) =
            (made.name, &made.arguments[..])
        {
            return Ok(self.map_stream(stream, function, element, span));
        }
        if self.mode.get() == Mode::Kernel
            && let Some(array) = self.kernel_pull(&made, &element)?
        {
            return Ok(Value::Array(array));
        }
        let extents = self.made_extents(&made)?.into_iter().map(|extent| extent.term).collect();
        let this = self.clone();
        let get = Rc::new(move |index: &[Term]| this.made_element(&made, index));
        self.pull(Local { element, extents, get, most: None }, span)
    }
}

/// Converts a length to one of the kernel language.
pub(super) fn as_length(term: Term) -> kernel::Length {
    match term.integer().and_then(|length| usize::try_from(length).ok()) {
        Some(length) => kernel::Length::Known(length),
        None => kernel::Length::Device(Exp::from_term(term)),
    }
}

/// Returns the index in each dimension of an element by its number.
pub(super) fn unflattened(number: Term, extents: &[Term]) -> Vec<Term> {
    let mut index = Vec::new();
    let mut rest = number;
    for extent in extents.iter().skip(1).rev() {
        index.push(rest.binary(Op::Rem, *extent));
        rest = rest.binary(Op::Div, *extent);
    }
    index.push(rest);
    index.reverse();
    if extents.is_empty() { Vec::new() } else { index }
}
