//! Comprehensions inside of something else: pulls if they only draw once, and otherwise streams, whose elements are not numbered.

use super::super::environment::Environment;
use super::super::scalars::whole;
use super::super::value::{Array, Local, Scalar, Stream, Value};
use super::super::{Evaluator, Outcome};
use super::draw::Drawing;
use crate::ast::{Drawn, Expr, Pattern, Qualifier};
use crate::source::Span;
use crate::types::Type;
use pumice_scalar::{Constant, ScalarType, Term};
use std::rc::Rc;

/// Combines the accumulator with an element.
type Step<'a> = &'a dyn Fn(Value, Value) -> Outcome<Value>;

impl Evaluator {
    /// Evaluates a comprehension inside of something else, to a stream.
    pub(super) fn stream(
        self: &Rc<Self>,
        element: &Expr,
        qualifiers: &[Qualifier],
        ty: &Type,
        environment: &Environment,
        span: Span,
    ) -> Outcome<Value> {
        let element = self.body(element);
        if let [Qualifier::Draw(draws)] = qualifiers {
            let drawn = self.drawn(draws, environment, span)?;
            let length = self.in_step(&drawn);
            let (this, environment, draws) = (self.clone(), environment.clone(), draws.clone());
            let get = Rc::new(move |index: &[Term]| {
                let number = index.first().copied().unwrap_or(whole(0));
                let inner = this.bound(&draws, &drawn, number, environment.clone())?;
                this.evaluate(&element, &inner)
            });
            return self.pull(Local { element: ty.clone(), extents: vec![length], get, most: None }, span);
        }
        // Conditions and names before the first variable; what that is drawn from is divided.
        let (mut environment, mut conditions) = (environment.clone(), Vec::new());
        let mut rest = qualifiers;
        while let Some((qualifier, behind)) = rest.split_first() {
            match qualifier {
                Qualifier::Guard(condition) => {
                    let holds = self.evaluate(condition, &environment)?;
                    conditions.push((self.scalar(&holds, condition.span)?, condition.span));
                }
                Qualifier::Let(pattern, value) => {
                    let value = self.evaluate(value, &environment)?;
                    environment = self.matched(pattern, &value, environment)?;
                }
                _ => break,
            }
            rest = behind;
        }
        let (drawn, draws, rest) = match rest.split_first() {
            Some((Qualifier::Draw(draws), rest)) => {
                (Some(self.drawn(draws, &environment, span)?), draws.clone(), rest)
            }
            _ => (None, Vec::new(), rest),
        };
        let all = drawn.as_ref().map_or(whole(1), |drawn| self.in_step(drawn));
        let int = Type::Scalar(ScalarType::I64);
        let mut size = Scalar { term: all, outside: false };
        for (condition, at) in conditions.into_iter().rev() {
            let (yes, no) = (|| Ok(Value::Scalar(size)), || Ok(Value::scalar(whole(0), true)));
            size = self.scalar(&self.choose(condition, &int, &yes, &no, at)?, at)?;
        }
        let (this, qualifiers): (_, Rc<[Qualifier]>) = (self.clone(), rest.into());
        let part = Rc::new(move |number: Term, so_far: Value, of: &Type, step: Step<'_>| {
            let environment = match &drawn {
                Some(drawn) => this.bound(&draws, drawn, number, environment.clone())?,
                None => environment.clone(),
            };
            let loops = Loops { element: &element, span, ty: of, step };
            this.looped(&loops, &qualifiers, &environment, so_far)
        });
        Ok(Value::Array(Array::Stream(Rc::new(Stream { element: ty.clone(), size: size.term, part }))))
    }

    fn bound(
        self: &Rc<Self>,
        draws: &[(Pattern, Drawn)],
        drawn: &[(Scalar, Drawing)],
        number: Term,
        environment: Environment,
    ) -> Outcome<Environment> {
        draws.iter().zip(drawn).try_fold(environment, |environment, ((pattern, _), (_, drawing))| {
            self.matched(pattern, &self.element_of(drawing, number)?, environment)
        })
    }

    /// Evaluates the loops of a comprehension, with the accumulator that they carry.
    fn looped(
        self: &Rc<Self>,
        loops: &Loops<'_>,
        qualifiers: &[Qualifier],
        environment: &Environment,
        carried: Value,
    ) -> Outcome<Value> {
        let Some((qualifier, rest)) = qualifiers.split_first() else {
            return (loops.step)(carried, self.evaluate(loops.element, environment)?);
        };
        match qualifier {
            Qualifier::Draw(draws) => {
                let drawn = self.drawn(draws, environment, loops.span)?;
                self.loop_times(self.in_step(&drawn), carried, loops.ty, loops.span, &|number, carried| {
                    let inner = self.bound(draws, &drawn, number, environment.clone())?;
                    self.looped(loops, rest, &inner, carried)
                })
            }
            Qualifier::Guard(condition) => {
                let holds = self.evaluate(condition, environment)?;
                let holds = self.scalar(&holds, condition.span)?;
                let yes = || self.looped(loops, rest, environment, carried.clone());
                self.choose(holds, loops.ty, &yes, &|| Ok(carried.clone()), loops.span)
            }
            Qualifier::Let(pattern, value) => {
                let value = self.evaluate(value, environment)?;
                let inner = self.matched(pattern, &value, environment.clone())?;
                self.looped(loops, rest, &inner, carried)
            }
            Qualifier::OrderBy(_) | Qualifier::GroupBy(_) | Qualifier::Take(_) | Qualifier::Distinct(_) => {
                let message = "an inner comprehension can draw, test and name; sorting and the like need the whole array";
                Err(self.wrong(loops.span, message))
            }
        }
    }

    /// Returns the number of parts of an array's elements.
    pub(super) fn part_count(self: &Rc<Self>, array: &Array, span: Span) -> Outcome<Term> {
        match array {
            Array::Stream(stream) => Ok(stream.size),
            other => Ok(self.extents(other, span)?.first().map_or(whole(1), |extent| extent.term)),
        }
    }

    /// Combines the elements of a part of an array, in order, with the accumulator.
    pub(super) fn part(
        self: &Rc<Self>,
        array: &Array,
        number: Term,
        so_far: Value,
        ty: &Type,
        step: Step<'_>,
        span: Span,
    ) -> Outcome<Value> {
        match array {
            Array::Stream(stream) => (stream.part)(number, so_far, ty, step),
            other => step(so_far, self.get(other, &[number], None, span)?),
        }
    }

    /// Applies a function to each element of a stream.
    pub(in super::super) fn map_stream(
        self: &Rc<Self>,
        stream: &Rc<Stream>,
        function: &Value,
        element: Type,
        span: Span,
    ) -> Value {
        let (this, stream, function, size) = (self.clone(), stream.clone(), function.clone(), stream.size);
        let part = Rc::new(move |number: Term, so_far: Value, of: &Type, step: Step<'_>| {
            let mapped = |so_far: Value, element: Value| step(so_far, this.apply(&function, element, span)?);
            (stream.part)(number, so_far, of, &mapped)
        });
        Value::Array(Array::Stream(Rc::new(Stream { element, size, part })))
    }

    /// Counts the elements of a stream.
    pub(in super::super) fn count(self: &Rc<Self>, array: &Array, span: Span) -> Outcome<Value> {
        use super::hoist::{Initial, Reduction};
        let add = |a: Value, b: Value| {
            let (a, b) = (self.scalar(&a, span)?, self.scalar(&b, span)?);
            Ok(self.operate(pumice_scalar::Op::Add, ScalarType::I64, &[a, b]))
        };
        let one = || Value::scalar(Constant::from(1i64).into(), true);
        let reduction = Reduction {
            name: "length",
            span,
            ty: Type::Scalar(ScalarType::I64),
            step: &|count, _| add(count, one()),
            combine: &add,
            initial: Initial::Neutral(Value::scalar(whole(0), true)),
        };
        self.reduce_inner(array, &reduction)
    }
}

/// The body of the loops of a comprehension.
struct Loops<'a> {
    element: &'a Expr,
    span: Span,
    /// The type of the accumulator.
    ty: &'a Type,
    step: Step<'a>,
}
