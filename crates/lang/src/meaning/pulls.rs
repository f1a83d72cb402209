//! Pull arrays: the rules that make one of another one are administrative (36, 48 to 55), and an element is evaluated each time that it
//! is asked for. Elements in memory are read instead (58).

use super::costs::CostCounts;
use super::value::{Call, Elements, MOST_DIMENSIONS, Pull, Shape, Value};
use super::{Evaluator, Outcome};
use crate::diagnostic::Diagnostic;
use crate::evaluate::without_rank;
use crate::source::Span;
use pumice_scalar::Constant;
use std::rc::Rc;

/// Returns a whole number.
pub(super) fn whole<'p>(value: usize) -> Value<'p> {
    Value::Scalar(Constant::from(value as i64))
}

impl<'p> Evaluator<'p> {
    /// Returns a pull array, or an error if the value is not one.
    pub(super) fn pull(&self, value: &Value<'p>, span: Span) -> Outcome<Rc<Pull<'p>>> {
        match value {
            Value::Pull(pull) => Ok(pull.clone()),
            _ => Err(self.fault(span, "a pull array is wanted here")),
        }
    }

    /// Creates a pull array that refers to values of this depth.
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

    /// Returns an extent that is given as a number.
    pub(super) fn extent(&self, value: &Value<'p>, what: &str, span: Span) -> Outcome<usize> {
        let extent = self.integer(value, span)?;
        usize::try_from(extent).map_err(|_| {
            let message = format!("`{what}` of {extent} elements");
            let help = "an array has no fewer elements than none: `max 0 n`";
            Box::new(Diagnostic::new(span, message).help(help))
        })
    }

    /// Applies a function that makes a pull array to all its arguments.
    pub(super) fn pull_made(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (name, span, arguments) = (&*call.name, call.span, &call.arguments[..]);
        let depth = arguments.iter().map(Value::depth).max().unwrap_or(0);
        let extents = |values: &[Value<'p>]| {
            values.iter().map(|value| self.extent(value, name, span)).collect::<Outcome<Vec<_>>>()
        };
        let (shape, elements) = match (without_rank(name), arguments) {
            ("generate", [sizes @ .., f]) => (Shape::of(&extents(sizes)?), Elements::Generated(f.clone())),
            ("map" | "mapPull", [f, of]) => {
                let of = self.pull(of, span)?;
                (of.shape, Elements::Mapped(f.clone(), of))
            }
            ("zipWith", [f, first, second]) => {
                let (first, second) = (self.pull(first, span)?, self.pull(second, span)?);
                if first.shape != second.shape {
                    let (a, b) = (first.shape.count(), second.shape.count());
                    let message = format!("`{name}` of arrays of {a} and of {b} elements");
                    let help = "make them of one length with `takeFirst`";
                    return Err(Box::new(Diagnostic::new(span, message).help(help)));
                }
                (first.shape, Elements::Zipped(f.clone(), first, second))
            }
            ("slice", [from, to, of]) => {
                let (from, to) = (self.integer(from, span)?, self.integer(to, span)?);
                let of = self.pull(of, span)?;
                let (first, size) = self.stretch(from, to, of.shape.count(), name, span)?;
                (Shape::vector(size), Elements::Slice(of, first))
            }
            ("rows", [of]) => {
                let of = self.pull(of, span)?;
                (Shape::vector(of.shape.extents[0]), Elements::Rows(of))
            }
            ("transpose" | "transposeInner" | "transposeOuter", [of]) => {
                let of = self.pull(of, span)?;
                let (mut shape, first) = (of.shape, usize::from(name == "transposeInner"));
                shape.extents.swap(first, first + 1);
                (shape, Elements::Transposed(of, first))
            }
            ("reshape", [sizes @ .., of]) => {
                let (of, shape) = (self.pull(of, span)?, Shape::of(&extents(sizes)?));
                if shape.count() != of.shape.count() {
                    let count = of.shape.count();
                    let message = format!("`{name}` of {count} elements to extents {:?}", shape.known());
                    return Err(self.wrong(span, message));
                }
                (shape, Elements::Reshaped(of))
            }
            ("flatten", [of]) => {
                let of = self.pull(of, span)?;
                (Shape::vector(of.shape.count()), Elements::Reshaped(of))
            }
            _ => return Err(self.fault(span, format!("`{name}` makes no pull array"))),
        };
        self.made(shape, elements, depth, span)
    }

    /// Returns the offset and the length of a segment of an array, or the error if it is out of bounds.
    pub(super) fn stretch(
        &self,
        from: i64,
        to: i64,
        length: usize,
        name: &str,
        span: Span,
    ) -> Outcome<(usize, usize)> {
        if to <= from {
            return Ok((0, 0));
        }
        match (usize::try_from(from), usize::try_from(to)) {
            (Ok(from), Ok(to)) if to <= length => Ok((from, to - from)),
            _ => Err(self.wrong(span, format!("`{name}` of elements {from} to {to} of {length}"))),
        }
    }

    /// `index` and its like (rule 50).
    pub(super) fn indexed(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        if let ("indexOr", [otherwise, array, index]) = (&*call.name, &call.arguments[..]) {
            let (pull, index) = (self.pull(array, span)?, self.integer(index, span)?);
            self.step(span);
            let inside = usize::try_from(index).ok().filter(|index| *index < pull.shape.count());
            return inside.map_or_else(|| Ok(otherwise.clone()), |index| self.element(&pull, index, span));
        }
        let Some((array, indices)) = call.arguments.split_first() else {
            return Err(self.fault(span, "an array is wanted here"));
        };
        let pull = self.pull(array, span)?;
        let mut index = [0; MOST_DIMENSIONS];
        for ((index, value), extent) in index.iter_mut().zip(indices).zip(pull.shape.extents) {
            let wanted = self.integer(value, span)?;
            *index = usize::try_from(wanted).ok().filter(|index| *index < extent).ok_or_else(|| {
                let message = format!("index {wanted} is out of bounds of {extent} elements");
                Box::new(Diagnostic::new(span, message).help("indices begin at 0"))
            })?;
        }
        self.element(&pull, pull.shape.number(index), span)
    }

    /// Evaluates the element of this number; `span` is the place that needs it.
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
            Elements::Transposed(of, first) => {
                let mut index = pull.shape.index(number);
                index.swap(*first, first + 1);
                self.element(of, of.shape.number(index), span)
            }
            Elements::Reshaped(of) => self.element(of, number, span),
            Elements::Rows(of) => {
                let columns = of.shape.extents[1];
                self.made(Shape::vector(columns), Elements::Row(of.clone(), number), of.depth, own)
            }
            Elements::Row(of, row) => self.element(of, row * of.shape.extents[1] + number, span),
            Elements::Appended(first, second) => {
                self.step(own);
                match number.checked_sub(first.shape.count()) {
                    None => self.element(first, number, span),
                    Some(number) => self.element(second, number, span),
                }
            }
            Elements::Slice(of, first) => self.element(of, first + number, span),
            Elements::Selected(of, numbers) => {
                self.element(of, *numbers.get(number).ok_or_else(missing)?, span)
            }
            Elements::Comprehended(head, rows) => self.evaluate(head, rows.get(number).ok_or_else(missing)?),
            Elements::Stored(memory) => {
                self.step(span);
                self.meter.count(span, memory.level, CostCounts { read: 1, ..CostCounts::default() });
                memory.values.get(number).cloned().ok_or_else(missing)
            }
            Elements::Frozen(memory) => {
                self.step(span);
                self.meter.count(span, memory.level, CostCounts { read: 1, ..CostCounts::default() });
                memory.get(self.thread.get(), number).ok_or_else(missing)
            }
        }
    }
}
