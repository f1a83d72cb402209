//! Operations of whole arrays, as functions on lists with a stated cost (rules 64 to 75). Outside of everything their elements are
//! computed side by side, and combined in a tree; anywhere else they are loops of the thread that is at work.

use super::costs::{CostCounts, CostLevel};
use super::value::{Call, Elements, Memory, Pull, Shape, Value};
use super::{Evaluator, Location, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use pumice_scalar::{Constant, Op};
use std::rc::Rc;

/// The depth of a tree of so many leaves.
fn depth_of(count: usize) -> u64 {
    count.next_power_of_two().trailing_zeros().into()
}

impl<'p> Evaluator<'p> {
    fn is_outside(&self) -> bool {
        self.location.get() == Location::Host
    }

    /// Does something for each number below `count`: side by side outside of everything.
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

    /// Counts steps that are no operations of the program: this many, which take this long where they are side by side.
    pub(super) fn charge(&self, work: u64, time: u64, span: Span) {
        let time = if self.is_outside() { time } else { work };
        self.meter.steps(span, self.location.get().level(), work, time);
    }

    /// The steps that moving elements to their places takes: a scan of so many numbers.
    pub(super) fn charge_scan(&self, count: usize, span: Span) {
        self.charge(count as u64, 2 * depth_of(count), span);
    }

    /// The steps of sorting so many elements.
    pub(super) fn charge_sort(&self, count: usize, span: Span) {
        let depth = depth_of(count);
        self.charge((count as u64).saturating_mul(depth), depth * depth, span);
    }

    /// All elements of an array.
    pub(super) fn all(&self, pull: &Rc<Pull<'p>>, span: Span) -> Outcome<Vec<Value<'p>>> {
        self.memory(pull.shape.count(), span)?;
        self.each(pull.shape.count(), |number| self.element(pull, number, span))
    }

    /// An array of these elements, which are written to memory.
    pub(super) fn stored(&self, values: Vec<Value<'p>>, shape: Shape, span: Span) -> Outcome<Value<'p>> {
        let (count, level) = (values.len() as u64, self.location.get().level());
        self.charge(count, count.min(1), span);
        self.meter.count(span, level, CostCounts { written: count, ..CostCounts::default() });
        let depth = values.iter().map(Value::depth).max().unwrap_or(0);
        self.made(shape, Elements::Stored(Memory::new(level, values, &self.meter)), depth, span)
    }

    fn stored_vector(&self, values: Vec<Value<'p>>, span: Span) -> Outcome<Value<'p>> {
        let shape = Shape::vector(values.len());
        self.stored(values, shape, span)
    }

    /// Combines in order, and hands each result on; outside of everything the time is that of `depth` applications.
    fn combined(
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

    /// Operations of whole arrays, with all their arguments.
    pub(super) fn whole_array(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let pull = |value: &Value<'p>| self.pull(value, span);
        let all = |value: &Value<'p>| self.all(&pull(value)?, span);
        let applied = |f: &Value<'p>| {
            let f = f.clone();
            move |a: Value<'p>, b: Value<'p>| self.apply_all(&f, [a, b], span)
        };
        match (&*call.name, &call.arguments[..]) {
            ("reduce", [f, initial, array]) => {
                let values = all(array)?;
                let depth = depth_of(values.len() + 1);
                self.combined(initial.clone(), values, depth, &applied(f), &mut |_| ())
            }
            ("sum" | "product" | "minimum" | "maximum", [array]) => self.folded(call, all(array)?),
            ("scan" | "prescan", [f, initial, array]) => {
                let values = all(array)?;
                let depth = 2 * depth_of(values.len());
                let mut results = Vec::new();
                if &*call.name == "prescan" {
                    results.push(initial.clone());
                }
                self.combined(initial.clone(), values, depth, &applied(f), &mut |value| {
                    results.push(value.clone());
                })?;
                self.stored_vector(results, span)
            }
            ("filter", [keep, array]) => {
                let values = all(array)?;
                let kept = self.each(values.len(), |number| {
                    Ok(self.scalar(&self.apply(keep, values[number].clone(), span)?, span)?.is_true())
                })?;
                self.charge_scan(values.len(), span);
                let kept = values.into_iter().zip(kept).filter_map(|(value, kept)| kept.then_some(value));
                self.stored_vector(kept.collect(), span)
            }
            ("sort", [array]) => {
                let mut values = all(array)?;
                self.charge_sort(values.len(), span);
                values.sort_by(|a, b| self.order(a, b, false));
                self.stored_vector(values, span)
            }
            ("sortByKey", [key, array]) => {
                let values = all(array)?;
                let keys = self.each(values.len(), |number| self.apply(key, values[number].clone(), span))?;
                self.charge_sort(values.len(), span);
                let mut keyed: Vec<_> = keys.into_iter().zip(values).collect();
                keyed.sort_by(|(a, _), (b, _)| self.order(a, b, false));
                self.stored_vector(keyed.into_iter().map(|(_, value)| value).collect(), span)
            }
            ("reduceRows", [f, initial, matrix]) => {
                let matrix = pull(matrix)?;
                let [rows, columns, _] = matrix.shape.extents;
                self.memory(rows, span)?;
                let results = self.each(rows, |row| {
                    (0..columns).try_fold(initial.clone(), |combined, column| {
                        let value = self.element(&matrix, matrix.shape.number([row, column, 0]), span)?;
                        self.apply_all(f, [combined, value], span)
                    })
                })?;
                self.stored_vector(results, span)
            }
            ("matmul", [a, b]) => self.multiplied(&pull(a)?, &pull(b)?, call),
            ("permute", [f, array, pairs]) => {
                let f = applied(f);
                self.moved(call, all(array)?, all(pairs)?, &f)
            }
            ("scatter", [array, pairs]) => self.moved(call, all(array)?, all(pairs)?, &|new, _| Ok(new)),
            ("histogram", [bins, array]) => {
                let bins = self.extent(bins, "histogram", span)?;
                self.memory(bins, span)?;
                let one =
                    |index: Value<'p>| Value::Tuple(Rc::from([index, Value::Scalar(Constant::from(1i64))]));
                let pairs = all(array)?.into_iter().map(one).collect();
                let zeros = vec![Value::Scalar(Constant::from(0i64)); bins];
                self.moved(call, zeros, pairs, &|a, b| {
                    let (a, b) = (self.scalar(&a, span)?, self.scalar(&b, span)?);
                    Ok(Value::Scalar(self.operate(Op::Add, &[a, b], span)))
                })
            }
            ("expand", [size, get, array]) => self.expanded(size, get, all(array)?, span),
            ("append", [first, second]) => {
                let mut values = all(first)?;
                values.extend(all(second)?);
                self.stored_vector(values, span)
            }
            ("compute", [array]) => self.stored_vector(all(array)?, span),
            ("iterate", [times, step, array]) => {
                let mut array = array.clone();
                for _ in 0..self.integer(times, span)?.max(0) {
                    self.take(1, span)?;
                    array = self.stored_vector(all(&self.apply(step, array, span)?)?, span)?;
                }
                Ok(array)
            }
            ("iterateWhile", [condition, step, array]) => {
                let mut array = array.clone();
                while self.scalar(&self.apply(condition, array.clone(), span)?, span)?.is_true() {
                    self.take(1, span)?;
                    array = self.stored_vector(all(&self.apply(step, array, span)?)?, span)?;
                }
                Ok(array)
            }
            (name, _) => Err(self.fault(span, format!("`{name}` has no meaning"))),
        }
    }

    fn folded(&self, call: &Call<'p>, values: Vec<Value<'p>>) -> Outcome<Value<'p>> {
        let span = call.span;
        let (op, initial) = match &*call.name {
            "sum" => (Op::Add, Some(0i64)),
            "product" => (Op::Mul, Some(1)),
            "minimum" => (Op::Min, None),
            _ => (Op::Max, None),
        };
        let mut values = values.into_iter();
        let first = match initial {
            Some(initial) => match self.result_type(call) {
                crate::types::Type::Scalar(ty) => {
                    Some(Value::Scalar(Op::Cast.evaluate(ty, &[Constant::from(initial)])))
                }
                _ => None,
            },
            None => values.next(),
        };
        let Some(first) = first else {
            let message = format!("`{}` of an array without elements", call.name);
            let help = "give a result for that with `reduce`";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        };
        let depth = depth_of(values.len() + 1);
        let operator = |a: Value<'p>, b: Value<'p>| {
            Ok(Value::Scalar(self.operate(op, &[self.scalar(&a, span)?, self.scalar(&b, span)?], span)))
        };
        self.combined(first, values, depth, &operator, &mut |_| ())
    }

    fn multiplied(&self, a: &Rc<Pull<'p>>, b: &Rc<Pull<'p>>, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let ([rows, inner, _], [others, columns, _]) = (a.shape.extents, b.shape.extents);
        if inner != others {
            let message = format!("`matmul` of {inner} columns with {others} rows");
            return Err(self.wrong(span, message));
        }
        let zero = match self.result_type(call) {
            crate::types::Type::Array { element, .. } => self.scalar(&self.zero(&element, span)?, span)?,
            _ => return Err(self.fault(span, "a matrix of no type")),
        };
        let shape = Shape::of(&[rows, columns]);
        self.memory(shape.count(), span)?;
        let values = self.each(shape.count(), |number| {
            let [row, column, _] = shape.index(number);
            let sum = (0..inner).try_fold(zero, |sum, at| -> Outcome<Constant> {
                let x = self.element(a, a.shape.number([row, at, 0]), span)?;
                let y = self.element(b, b.shape.number([at, column, 0]), span)?;
                let product = self.operate(Op::Mul, &[self.scalar(&x, span)?, self.scalar(&y, span)?], span);
                Ok(self.operate(Op::Add, &[sum, product], span))
            })?;
            Ok(Value::Scalar(sum))
        })?;
        self.stored(values, shape, span)
    }

    /// Combines values into an array, at the indices that go with them.
    fn moved(
        &self,
        call: &Call<'p>,
        mut array: Vec<Value<'p>>,
        pairs: Vec<Value<'p>>,
        combine: &dyn Fn(Value<'p>, Value<'p>) -> Outcome<Value<'p>>,
    ) -> Outcome<Value<'p>> {
        let (span, depth) = (call.span, depth_of(pairs.len()));
        let (begin, mut longest) = (self.meter.clock(), 0);
        for pair in pairs {
            let Value::Tuple(pair) = pair else { return Err(self.fault(span, "a pair is wanted here")) };
            let [index, value] = &pair[..] else { return Err(self.fault(span, "a pair is wanted here")) };
            let (index, length) = (self.integer(index, span)?, array.len());
            let place =
                usize::try_from(index).ok().and_then(|index| array.get_mut(index)).ok_or_else(|| {
                    self.wrong(span, format!("`{}` to index {index} of {length} elements", call.name))
                })?;
            let before = self.meter.clock();
            *place = self.each(1, |_| combine(value.clone(), place.clone()))?.remove(0);
            longest = longest.max(self.meter.clock() - before);
        }
        if self.is_outside() {
            self.meter.set_clock(begin + depth * longest);
        }
        self.stored_vector(array, span)
    }

    fn expanded(
        &self,
        size: &Value<'p>,
        get: &Value<'p>,
        values: Vec<Value<'p>>,
        span: Span,
    ) -> Outcome<Value<'p>> {
        let sizes = self.each(values.len(), |number| {
            let size = self.apply(size, values[number].clone(), span)?;
            self.extent(&size, "expand", span)
        })?;
        self.charge_scan(values.len(), span);
        self.memory(sizes.iter().fold(0, |total, size| total.saturating_add(*size)), span)?;
        let sources: Vec<(usize, usize)> = sizes
            .iter()
            .enumerate()
            .flat_map(|(source, size)| (0..*size).map(move |number| (source, number)))
            .collect();
        let expanded = self.each(sources.len(), |number| {
            let (source, number) = sources[number];
            self.apply_all(get, [values[source].clone(), super::pulls::whole(number)], span)
        })?;
        self.stored_vector(expanded, span)
    }
}
