//! Operations of whole arrays, as functions on lists with a stated cost (rules 64 to 75): common parts, and those that are neither folds
//! (`folds.rs`) nor sorts (`sorting.rs`) nor place elements at computed indices (`placing.rs`). Outside of threads their elements are
//! computed in parallel, and combined in a tree; anywhere else they are loops of the current thread.

use super::costs::{CostCounts, CostLevel};
use super::stores::Memory;
use super::value::{Call, Elements, Pull, Shape, Value};
use super::{Evaluator, Location, Outcome};
use crate::ast::Name;
use crate::source::Span;
use pumice_scalar::Constant;
use std::rc::Rc;

/// Returns the depth of a tree with so many leaves.
pub(super) fn depth_of(count: usize) -> u64 {
    count.next_power_of_two().trailing_zeros().into()
}

impl<'p> Evaluator<'p> {
    pub(super) fn is_outside(&self) -> bool {
        self.location.get() == Location::Host
    }

    /// Calls a function for each number below `count`: in parallel, if outside of threads and groups.
    pub(super) fn each<T>(&self, count: usize, mut f: impl FnMut(usize) -> Outcome<T>) -> Outcome<Vec<T>> {
        let mut all = Vec::new();
        match self.is_outside() {
            true => self.dealt(CostLevel::Array, count, |number| {
                all.push(self.at(Location::Thread(CostLevel::Array), || f(number))?);
                Ok(())
            })?,
            false => {
                for number in 0..count {
                    all.push(f(number)?);
                }
            }
        }
        Ok(all)
    }

    /// Counts steps that are not operations of the program: their number, and the time that they take in parallel.
    pub(super) fn charge(&self, work: u64, time: u64, span: Span) {
        let time = if self.is_outside() { time } else { work };
        self.meter.steps(span, self.location.get().level(), work, time);
    }

    /// Counts the steps of moving elements to their places: a scan of so many numbers.
    pub(super) fn charge_scan(&self, count: usize, span: Span) {
        self.charge(count as u64, 2 * depth_of(count), span);
    }

    /// Counts the steps of sorting so many elements.
    pub(super) fn charge_sort(&self, count: usize, span: Span) {
        let depth = depth_of(count);
        self.charge((count as u64).saturating_mul(depth), depth * depth, span);
    }

    /// Evaluates all elements of an array.
    pub(super) fn all(&self, pull: &Rc<Pull<'p>>, span: Span) -> Outcome<Vec<Value<'p>>> {
        self.memory(pull.shape.count(), span)?;
        self.each(pull.shape.count(), |number| self.element(pull, number, span))
    }

    /// Counts the cost of writing so many elements to memory.
    pub(super) fn written(&self, count: usize, span: Span) {
        let (count, level) = (count as u64, self.location.get().level());
        self.charge(count, count.min(1), span);
        self.meter.count(span, level, CostCounts { written: count, ..CostCounts::default() });
    }

    /// Writes these elements to memory, as an array.
    pub(super) fn stored(&self, values: Vec<Value<'p>>, shape: Shape, span: Span) -> Outcome<Value<'p>> {
        self.written(values.len(), span);
        let level = self.location.get().level();
        let depth = values.iter().map(Value::depth).max().unwrap_or(0);
        self.made(shape, Elements::Stored(Memory::new(level, values, &self.meter)), depth, span)
    }

    pub(super) fn stored_vector(&self, values: Vec<Value<'p>>, span: Span) -> Outcome<Value<'p>> {
        let shape = Shape::vector(values.len());
        self.stored(values, shape, span)
    }

    /// Combines in order, and hands each result on; outside of everything the time is that of `depth` applications.
    pub(super) fn combined(
        &self,
        first: Value<'p>,
        values: impl IntoIterator<Item = Value<'p>>,
        depth: u64,
        operator: &dyn Fn(Value<'p>, Value<'p>) -> Outcome<Value<'p>>,
        result: &mut dyn FnMut(&Value<'p>),
    ) -> Outcome<Value<'p>> {
        let (begin, outside) = (self.meter.clock(), self.is_outside());
        let location = if outside { Location::Thread(CostLevel::Array) } else { self.location.get() };
        let (mut combined, mut longest) = (first, 0);
        for value in values {
            let before = self.meter.clock();
            combined = self.at(location, || operator(combined, value))?;
            longest = longest.max(self.meter.clock() - before);
            result(&combined);
        }
        if outside {
            self.meter.set_clock(begin + depth * longest);
        }
        Ok(combined)
    }

    /// Does something to each row of an array, side by side; a vector is one row. Rows of the result have so many elements more.
    pub(super) fn by_rows(
        &self,
        array: &Value<'p>,
        more: usize,
        span: Span,
        f: &dyn Fn(Vec<Value<'p>>) -> Outcome<Vec<Value<'p>>>,
    ) -> Outcome<Value<'p>> {
        let array = self.pull(array, span)?;
        if array.shape.rank < 2 {
            return self.stored_vector(f(self.all(&array, span)?)?, span);
        }
        let (others, columns) = array.shape.rows();
        let mut shape = array.shape;
        shape.extents[others.rank] = columns + more;
        // Rows without elements take room, too.
        self.memory(others.count().saturating_add(shape.count()), span)?;
        let rows = self.each(others.count(), |row| f(self.row(&array, row, columns, span)?))?;
        self.stored(rows.into_iter().flatten().collect(), shape, span)
    }

    /// Returns the elements of a row.
    pub(super) fn row(
        &self,
        array: &Rc<Pull<'p>>,
        row: usize,
        columns: usize,
        span: Span,
    ) -> Outcome<Vec<Value<'p>>> {
        self.memory(columns, span)?;
        (row * columns..(row + 1) * columns).map(|number| self.element(array, number, span)).collect()
    }

    /// Operations of whole arrays, with all their arguments.
    pub(super) fn whole_array(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        match (&*call.name, &call.arguments[..]) {
            ("filter", [keep, array]) => {
                let values = self.all(&self.pull(array, span)?, span)?;
                let kept = self.each(values.len(), |number| {
                    Ok(self.scalar(&self.apply(keep, values[number].clone(), span)?, span)?.is_true())
                })?;
                self.charge_scan(values.len(), span);
                let kept = values.into_iter().zip(kept).filter_map(|(value, kept)| kept.then_some(value));
                self.stored_vector(kept.collect(), span)
            }
            (name @ ("append" | "appendRows" | "appendColumns"), [first, second]) => {
                let arrays = [self.pull(first, span)?, self.pull(second, span)?];
                self.appended(name, arrays, span)
            }
            ("compute" | "trace", [state]) => self.settled(state, span),
            ("iterate" | "iterateNumbered", [times, step, state]) => {
                let mut state = state.clone();
                for round in 0..self.integer(times, span)?.max(0) {
                    self.take(1, span)?;
                    let step = match &*call.name {
                        "iterate" => step.clone(),
                        _ => self.apply(step, Value::Scalar(Constant::from(round)), span)?,
                    };
                    state = self.settled(&self.apply(&step, state, span)?, span)?;
                }
                Ok(state)
            }
            ("iterateWhile", [condition, step, state]) => {
                let mut state = state.clone();
                while self.scalar(&self.apply(condition, state.clone(), span)?, span)?.is_true() {
                    self.take(1, span)?;
                    state = self.settled(&self.apply(step, state, span)?, span)?;
                }
                Ok(state)
            }
            (name, _) => Err(self.fault(span, format!("`{name}` has no meaning"))),
        }
    }

    /// Writes the arrays of a value to memory.
    fn settled(&self, value: &Value<'p>, span: Span) -> Outcome<Value<'p>> {
        let all = |parts: &[Value<'p>]| -> Outcome<Rc<[Value<'p>]>> {
            parts.iter().map(|part| self.settled(part, span)).collect()
        };
        Ok(match value {
            Value::Pull(pull) => self.stored(self.all(pull, span)?, pull.shape, span)?,
            Value::Tuple(parts) => Value::Tuple(all(parts)?),
            Value::Sum(number, fields) => Value::Sum(*number, all(fields)?),
            Value::Record(fields) => {
                let field =
                    |(name, field): &(Name, Value<'p>)| Ok((name.clone(), self.settled(field, span)?));
                Value::Record(fields.iter().map(field).collect::<Outcome<_>>()?)
            }
            Value::Scalar(_) | Value::Function(_) | Value::Push(_) | Value::Memory(_) => value.clone(),
        })
    }

    /// Appends two arrays, along their rows or, with `appendColumns`, beside each other.
    fn appended(&self, name: &str, [first, second]: [Rc<Pull<'p>>; 2], span: Span) -> Outcome<Value<'p>> {
        let dimension = usize::from(name == "appendColumns");
        let mut shape = first.shape;
        shape.extents[dimension] = second.shape.extents[dimension];
        if shape != second.shape {
            let (a, b) = (first.shape.known(), second.shape.known());
            return Err(self.wrong(span, format!("`{name}` of arrays of extents {a:?} and {b:?}")));
        }
        shape.extents[dimension] = first.shape.extents[dimension].saturating_add(shape.extents[dimension]);
        // Inside of kernels it is a pull array, and each access asks which one it is of.
        if !self.is_outside() && shape.rank == 1 {
            let depth = first.depth.max(second.depth);
            return self.made(shape, Elements::Appended(first, second), depth, span);
        }
        let (first, second) =
            ((self.all(&first, span)?, first.shape), (self.all(&second, span)?, second.shape));
        let part =
            |(_, shape): &(Vec<Value<'p>>, Shape)| shape.extents[dimension..].iter().product::<usize>();
        let (a, b) = (part(&first).max(1), part(&second).max(1));
        let values = match dimension {
            0 => [first.0, second.0].concat(),
            _ => {
                let (mut a, mut b) = (first.0.chunks(a), second.0.chunks(b));
                self.memory(shape.extents[0], span)?;
                let rows = 0..shape.extents[0];
                rows.flat_map(|_| {
                    [a.next(), b.next()].into_iter().flatten().flatten().cloned().collect::<Vec<_>>()
                })
                .collect()
            }
        };
        self.stored(values, shape, span)
    }
}
