//! Operations that place elements at computed indices, and those that replace elements by several (rules 71 and 72).

use super::lists::depth_of;
use super::pulls::whole;
use super::value::{Call, Shape, Value};
use super::{Evaluator, Outcome};
use crate::evaluate::without_rank;
use crate::source::Span;
use pumice_scalar::{Constant, Op};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Applies `permute`, `scatter`, their like, or `histogram` to all their arguments.
    pub(super) fn placed(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let all = |value: &Value<'p>| self.all(&self.pull(value, span)?, span);
        match (without_rank(&call.name), &call.arguments[..]) {
            ("histogram", [bins, array]) => {
                let bins = self.extent(bins, "histogram", span)?;
                self.memory(bins, span)?;
                let one =
                    |index: Value<'p>| Value::Tuple(Rc::from([index, Value::Scalar(Constant::from(1i64))]));
                let pairs = all(array)?.into_iter().map(one).collect();
                let zeros = vec![Value::Scalar(Constant::from(0i64)); bins];
                self.moved(call, (zeros, Shape::vector(bins)), pairs, &self.arithmetic(Op::Add, span))
            }
            (_, [f, array, places]) => {
                let combine = |new, old| self.apply_all(f, [new, old], span);
                self.moved(call, (all(array)?, self.pull(array, span)?.shape), all(places)?, &combine)
            }
            (_, [array, places]) => {
                let (array, shape) = (all(array)?, self.pull(array, span)?.shape);
                self.moved(call, (array, shape), all(places)?, &|new, _| Ok(new))
            }
            _ => Err(self.fault(span, "an argument is missing")),
        }
    }

    /// Combines values into an array, at the indices that go with them; if a flag stands before these, only where it holds.
    fn moved(
        &self,
        call: &Call<'p>,
        (mut array, shape): (Vec<Value<'p>>, Shape),
        places: Vec<Value<'p>>,
        combine: &dyn Fn(Value<'p>, Value<'p>) -> Outcome<Value<'p>>,
    ) -> Outcome<Value<'p>> {
        let (span, depth) = (call.span, depth_of(places.len()));
        let (begin, mut longest) = (self.meter.clock(), 0);
        for place in places {
            let Value::Tuple(parts) = place else { return Err(self.fault(span, "a pair is wanted here")) };
            let (index, value) = match &parts[..] {
                [index, value] => (index, value),
                [counts, index, value] if self.scalar(counts, span)?.is_true() => (index, value),
                _ => continue,
            };
            let number = self.number_of(call, index, shape)?;
            let Some(old) = array.get_mut(number) else {
                return Err(self.fault(span, "an index of nothing"));
            };
            let before = self.meter.clock();
            *old = self.each(1, |_| combine(value.clone(), old.clone()))?.remove(0);
            longest = longest.max(self.meter.clock() - before);
        }
        if self.is_outside() {
            self.meter.set_clock(begin + depth * longest);
        }
        self.stored(array, shape, span)
    }

    /// Returns the number of the element at an index: a number, or a tuple of one for each dimension.
    fn number_of(&self, call: &Call<'p>, index: &Value<'p>, shape: Shape) -> Outcome<usize> {
        let indices = match index {
            Value::Tuple(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        let mut number = 0;
        for (index, extent) in indices.iter().zip(shape.known()) {
            number = number * extent + self.within(index, *extent, &call.name, call.span)?;
        }
        Ok(number)
    }

    /// Applies `expand`, `expandReduce` or `reduceSegments` to all their arguments.
    pub(super) fn expanded(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let all = |value: &Value<'p>| self.all(&self.pull(value, span)?, span);
        match &call.arguments[..] {
            [size, get, array] => {
                let values = all(array)?;
                let sizes = self.sizes(call, size, &values)?;
                let sources: Vec<(usize, usize)> = sizes
                    .iter()
                    .enumerate()
                    .flat_map(|(source, size)| (0..*size).map(move |number| (source, number)))
                    .collect();
                let expanded = self.each(sources.len(), |at| {
                    let (source, number) = sources[at];
                    self.apply_all(get, [values[source].clone(), whole(number)], span)
                })?;
                self.stored_vector(expanded, span)
            }
            [size, get, f, initial, array] => {
                let values = all(array)?;
                let sizes = self.sizes(call, size, &values)?;
                let results = self.each(values.len(), |source| {
                    let element = |number| self.apply_all(get, [values[source].clone(), whole(number)], span);
                    let values = (0..sizes[source]).map(element).collect::<Outcome<Vec<_>>>()?;
                    self.folded(call, Some(initial.clone()), values, &|a, b| self.apply_all(f, [a, b], span))
                })?;
                self.stored_vector(results, span)
            }
            [f, initial, offsets, array] => {
                let (offsets, array) = (all(offsets)?, self.pull(array, span)?);
                let offsets = offsets.iter().map(|offset| self.integer(offset, span));
                let offsets = offsets.collect::<Outcome<Vec<_>>>()?;
                self.charge_scan(offsets.len(), span);
                let results = self.each(offsets.len().saturating_sub(1), |segment| {
                    let ends = (offsets[segment], offsets[segment + 1]);
                    let (first, size) =
                        self.stretch(ends.0, ends.1, array.shape.count(), &call.name, span)?;
                    self.memory(size, span)?;
                    let values = (first..first + size).map(|number| self.element(&array, number, span));
                    let values = values.collect::<Outcome<Vec<_>>>()?;
                    self.folded(call, Some(initial.clone()), values, &|a, b| self.apply_all(f, [a, b], span))
                })?;
                self.stored_vector(results, span)
            }
            _ => Err(self.fault(span, "an argument is missing")),
        }
    }

    /// Returns how many elements replace each value.
    fn sizes(&self, call: &Call<'p>, size: &Value<'p>, values: &[Value<'p>]) -> Outcome<Vec<usize>> {
        let span: Span = call.span;
        let sizes = self.each(values.len(), |number| {
            let size = self.apply(size, values[number].clone(), span)?;
            self.extent(&size, &call.name, span)
        })?;
        self.charge_scan(values.len(), span);
        self.memory(sizes.iter().fold(0, |total, size| total.saturating_add(*size)), span)?;
        Ok(sizes)
    }
}
