//! Pull arrays: the rules that make one of another one are administrative (36, 48 to 55), and an element is evaluated each time that it
//! is asked for. Elements in memory are read instead (58).

use super::costs::CostCounts;
use super::value::{Call, Elements, Pull, Push, PushKind, Shape, Value};
use super::{Evaluator, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use pumice_scalar::Constant;
use std::rc::Rc;

/// A whole number.
pub(super) fn whole<'p>(value: usize) -> Value<'p> {
    Value::Scalar(Constant::from(value as i64))
}

impl<'p> Evaluator<'p> {
    /// A pull array that is wanted.
    pub(super) fn pull(&self, value: &Value<'p>, span: Span) -> Outcome<Rc<Pull<'p>>> {
        match value {
            Value::Pull(pull) => Ok(pull.clone()),
            _ => Err(self.fault(span, "a pull array is wanted here")),
        }
    }

    /// A pull array that refers to values of this depth.
    pub(super) fn made(
        &self,
        shape: Shape,
        elements: Elements<'p>,
        depth: u32,
        span: Span,
    ) -> Outcome<Value<'p>> {
        if shape.count() == usize::MAX {
            return Err(self.wrong(span, "an array of more elements than can be counted"));
        }
        let depth = self.bounded(depth + 1, span)?;
        Ok(Value::Pull(Rc::new(Pull { shape, elements, span, depth })))
    }

    /// An extent that is given as a number.
    pub(super) fn extent(&self, value: &Value<'p>, what: &str, span: Span) -> Outcome<usize> {
        let extent = self.integer(value, span)?;
        usize::try_from(extent).map_err(|_| {
            let message = format!("`{what}` of {extent} elements");
            let help = "an array has no fewer elements than none: `max 0 n`";
            Box::new(Diagnostic::new(span, message).help(help))
        })
    }

    /// The functions that make pull arrays, with all their arguments.
    pub(super) fn pull_made(&self, call: &Call<'p>) -> Outcome<Option<Value<'p>>> {
        let (name, span, arguments) = (&*call.name, call.span, &call.arguments[..]);
        let depth = arguments.iter().map(Value::depth).max().unwrap_or(0);
        let extents = |values: &[Value<'p>]| {
            values.iter().map(|value| self.extent(value, name, span)).collect::<Outcome<Vec<_>>>()
        };
        let (shape, elements) = match (name, arguments) {
            ("generate" | "generate2" | "generate3", [sizes @ .., f]) => {
                (Shape::of(&extents(sizes)?), Elements::Generated(f.clone()))
            }
            ("map" | "mapPull" | "map2", [f, of]) => {
                let of = self.pull(of, span)?;
                (of.shape, Elements::Mapped(f.clone(), of))
            }
            ("zipWith", [f, first, second]) => {
                let (first, second) = (self.pull(first, span)?, self.pull(second, span)?);
                if first.shape != second.shape {
                    let (a, b) = (first.shape.count(), second.shape.count());
                    let message = format!("`zipWith` of arrays of {a} and of {b} elements");
                    let help = "make them of one length with `takeFirst`";
                    return Err(Box::new(Diagnostic::new(span, message).help(help)));
                }
                (first.shape, Elements::Zipped(f.clone(), first, second))
            }
            ("rows", [of]) => {
                let of = self.pull(of, span)?;
                (Shape::vector(of.shape.extents[0]), Elements::Rows(of))
            }
            ("transpose2", [of]) => {
                let of = self.pull(of, span)?;
                let [rows, columns, _] = of.shape.extents;
                (Shape::of(&[columns, rows]), Elements::Transposed(of))
            }
            ("reshape2", [rows, columns, of]) => {
                let of = self.pull(of, span)?;
                let shape = Shape::of(&extents(&[rows.clone(), columns.clone()])?);
                if shape.count() != of.shape.count() {
                    let (count, [rows, columns, _]) = (of.shape.count(), shape.extents);
                    let message = format!("`reshape2` of {count} elements to {rows} rows of {columns}");
                    return Err(self.wrong(span, message));
                }
                (shape, Elements::Reshaped(of))
            }
            ("flatten2", [of]) => {
                let of = self.pull(of, span)?;
                (Shape::vector(of.shape.count()), Elements::Reshaped(of))
            }
            _ => return Ok(None),
        };
        self.made(shape, elements, depth, span).map(Some)
    }

    /// `index`, `index2` and `index3` (rule 50).
    pub(super) fn indexed(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let Some((array, indices)) = call.arguments.split_first() else {
            return Err(self.fault(span, "an array is wanted here"));
        };
        let pull = self.pull(array, span)?;
        let mut index = [0; 3];
        for ((index, value), extent) in index.iter_mut().zip(indices).zip(pull.shape.extents) {
            let wanted = self.integer(value, span)?;
            *index = usize::try_from(wanted).ok().filter(|index| *index < extent).ok_or_else(|| {
                let message = format!("index {wanted} is out of bounds of {extent} elements");
                Box::new(Diagnostic::new(span, message).help("indices begin at 0"))
            })?;
        }
        self.element(&pull, pull.shape.number(index), span)
    }

    /// The element of this number, evaluated for whom that asks at `span`.
    pub(super) fn element(&self, pull: &Rc<Pull<'p>>, number: usize, span: Span) -> Outcome<Value<'p>> {
        self.nested(span, || self.element_of(pull, number, span))
    }

    fn element_of(&self, pull: &Rc<Pull<'p>>, number: usize, span: Span) -> Outcome<Value<'p>> {
        let own = pull.span;
        let missing = || self.fault(span, "an element that is not there");
        match &pull.elements {
            Elements::List(elements, environment) => {
                self.evaluate(elements.get(number).ok_or_else(missing)?, environment)
            }
            Elements::Generated(f) => {
                let index = pull.shape.index(number);
                self.apply_all(f, index.into_iter().take(pull.shape.rank).map(whole), own)
            }
            Elements::Mapped(f, of) => self.apply(f, self.element(of, number, own)?, own),
            Elements::Zipped(f, first, second) => {
                let (a, b) = (self.element(first, number, own)?, self.element(second, number, own)?);
                self.apply_all(f, [a, b], own)
            }
            Elements::Transposed(of) => {
                let [column, row, _] = pull.shape.index(number);
                self.element(of, of.shape.number([row, column, 0]), span)
            }
            Elements::Reshaped(of) => self.element(of, number, span),
            Elements::Rows(of) => {
                let columns = of.shape.extents[1];
                self.made(Shape::vector(columns), Elements::Row(of.clone(), number), of.depth, own)
            }
            Elements::Row(of, row) => self.element(of, of.shape.number([*row, number, 0]), span),
            Elements::MappedPushes(f, of) => {
                let part = self.element(of, number, own)?;
                self.push_mapped(f, &part, own)
            }
            Elements::Comprehended(head, rows) => self.evaluate(head, rows.get(number).ok_or_else(missing)?),
            Elements::Stored(memory) => {
                self.step(span);
                self.meter.count(span, memory.level, CostCounts { read: 1, ..CostCounts::default() });
                memory.values.get(number).cloned().ok_or_else(missing)
            }
        }
    }

    /// `mapPush f part` (rules 37 and 53).
    pub(super) fn push_mapped(&self, f: &Value<'p>, push: &Value<'p>, span: Span) -> Outcome<Value<'p>> {
        let Value::Push(push) = push else { return Err(self.fault(span, "a push array is wanted here")) };
        let depth = self.bounded(push.depth.max(f.depth()) + 2, span)?;
        let mapped = |parts: &Rc<Pull<'p>>| {
            let elements = Elements::MappedPushes(f.clone(), parts.clone());
            Rc::new(Pull { shape: parts.shape, elements, span, depth: depth - 1 })
        };
        let kind = match &push.kind {
            PushKind::Elements(of) => {
                let elements = Elements::Mapped(f.clone(), of.clone());
                PushKind::Elements(Rc::new(Pull { shape: of.shape, elements, span, depth: depth - 1 }))
            }
            PushKind::Concat { size, parts } => PushKind::Concat { size: *size, parts: mapped(parts) },
            PushKind::Interleave { length, place, parts } => {
                PushKind::Interleave { length: *length, place: place.clone(), parts: mapped(parts) }
            }
        };
        Ok(Value::Push(Rc::new(Push { level: push.level, kind, span, depth })))
    }
}
