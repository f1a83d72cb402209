//! Sorts (rule 68), of vectors and of rows: stable, by the elements, by keys, or by a function that says which comes first.

use super::lists::depth_of;
use super::value::{Call, Value};
use super::{Evaluator, Outcome};
use crate::source::Span;

impl<'p> Evaluator<'p> {
    /// Applies a sort to all its arguments.
    pub(super) fn sorted(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (span, falls) = (call.span, call.name.contains("Descending"));
        match &call.arguments[..] {
            [array] => self.by_rows(array, 0, span, &|mut values| {
                self.charge_sort(values.len(), span);
                values.sort_by(|a, b| self.order(a, b, falls));
                Ok(values)
            }),
            [before, array] if &*call.name == "sortBy" => {
                self.by_rows(array, 0, span, &|values| self.sorted_by(before, values, span))
            }
            [key, array] => {
                self.by_rows(array, 0, span, &|values| self.sorted_by_key(key, values, falls, span))
            }
            [key, offsets, array] => {
                let all = |value: &Value<'p>| self.all(&self.pull(value, span)?, span);
                let (offsets, mut values) = (all(offsets)?, all(array)?);
                let offsets = offsets.iter().map(|offset| self.integer(offset, span));
                let offsets = offsets.collect::<Outcome<Vec<_>>>()?;
                let sorted = self.each(offsets.len().saturating_sub(1), |segment| {
                    let ends = (offsets[segment], offsets[segment + 1]);
                    if ends.1 < ends.0 {
                        return Err(self.wrong(span, format!("segment {segment} ends before it begins")));
                    }
                    let (first, size) = self.stretch(ends.0, ends.1, values.len(), &call.name, span)?;
                    let segment = values[first..first + size].to_vec();
                    Ok((first, self.sorted_by_key(key, segment, falls, span)?))
                })?;
                for (first, segment) in sorted {
                    values.splice(first..first + segment.len(), segment);
                }
                self.stored_vector(values, span)
            }
            _ => Err(self.fault(span, "an argument is missing")),
        }
    }

    /// Sorts by the key that a function gives.
    fn sorted_by_key(
        &self,
        key: &Value<'p>,
        values: Vec<Value<'p>>,
        falls: bool,
        span: Span,
    ) -> Outcome<Vec<Value<'p>>> {
        let keys = self.each(values.len(), |number| self.apply(key, values[number].clone(), span))?;
        self.charge_sort(values.len(), span);
        let mut keyed: Vec<_> = keys.into_iter().zip(values).collect();
        keyed.sort_by(|(a, _), (b, _)| self.order(a, b, falls));
        Ok(keyed.into_iter().map(|(_, value)| value).collect())
    }

    /// Sorts by a function that says whether an element comes before another. Runs are merged, which ends whatever it says.
    fn sorted_by(&self, before: &Value<'p>, values: Vec<Value<'p>>, span: Span) -> Outcome<Vec<Value<'p>>> {
        let (begin, depth, mut longest) = (self.meter.clock(), depth_of(values.len()), 0);
        let mut runs: Vec<Vec<Value<'p>>> = values.into_iter().map(|value| vec![value]).collect();
        while runs.len() > 1 {
            let mut merged = Vec::new();
            let mut waiting = runs.into_iter();
            while let Some(first) = waiting.next() {
                let Some(second) = waiting.next() else {
                    merged.push(first);
                    break;
                };
                let (mut left, mut right) = (first.into_iter().peekable(), second.into_iter().peekable());
                let mut run = Vec::new();
                while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                    let start = self.meter.clock();
                    let swap =
                        self.each(1, |_| self.apply_all(before, [b.clone(), a.clone()], span))?.remove(0);
                    longest = longest.max(self.meter.clock() - start);
                    let from = if self.scalar(&swap, span)?.is_true() { &mut right } else { &mut left };
                    run.extend(from.next());
                }
                run.extend(left.chain(right));
                merged.push(run);
            }
            runs = merged;
        }
        if self.is_outside() {
            self.meter.set_clock(begin + depth * depth * longest);
        }
        Ok(runs.pop().unwrap_or_default())
    }
}
