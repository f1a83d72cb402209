//! Folds, scans and products of matrices (rules 64 to 66, 69 and 70).

use super::lists::depth_of;
use super::value::{Call, Pull, Value};
use super::{Evaluator, Outcome};
use crate::diagnostic::Diagnostic;
use crate::evaluate::without_rank;
use crate::source::Span;
use crate::types::Type;
use pumice_scalar::{Constant, Op};
use std::rc::Rc;

/// A binary operator on elements.
type Operator<'o, 'p> = &'o dyn Fn(Value<'p>, Value<'p>) -> Outcome<Value<'p>>;

impl<'p> Evaluator<'p> {
    /// Returns an operation on numbers as an operator.
    pub(super) fn arithmetic(
        &self,
        op: Op,
        span: Span,
    ) -> impl Fn(Value<'p>, Value<'p>) -> Outcome<Value<'p>> {
        move |a, b| {
            Ok(Value::Scalar(self.operate(op, &[self.scalar(&a, span)?, self.scalar(&b, span)?], span)))
        }
    }

    /// Folds of vectors and of rows, with all their arguments: an operator, an initial value if there is one, and the array.
    pub(super) fn fold(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        match &call.arguments[..] {
            [array] => {
                let (op, initial) = match &*call.name {
                    "sum" => (Op::Add, Some(0i64)),
                    "product" => (Op::Mul, Some(1)),
                    "minimum" => (Op::Min, None),
                    _ => (Op::Max, None),
                };
                let initial = initial.map(|initial| match self.result_type(call) {
                    Type::Scalar(ty) => Ok(Value::Scalar(Op::Cast.evaluate(ty, &[Constant::from(initial)]))),
                    _ => Err(self.fault(span, "a number of no type")),
                });
                let values = self.all(&self.pull(array, span)?, span)?;
                self.folded(call, initial.transpose()?, values, &self.arithmetic(op, span))
            }
            [f, initial @ .., array] => {
                let operator = |a, b| self.apply_all(f, [a, b], span);
                let fold = |values| self.folded(call, initial.first().cloned(), values, &operator);
                let array = self.pull(array, span)?;
                if array.shape.rank < 2 {
                    return fold(self.all(&array, span)?);
                }
                let (shape, columns) = array.shape.rows();
                self.memory(shape.count(), span)?;
                let results = self.each(shape.count(), |row| fold(self.row(&array, row, columns, span)?))?;
                self.stored(results, shape, span)
            }
            [] => Err(self.fault(span, "an argument is missing")),
        }
    }

    /// Combines all values, from an initial one or else the first.
    pub(super) fn folded(
        &self,
        call: &Call<'p>,
        initial: Option<Value<'p>>,
        values: Vec<Value<'p>>,
        operator: Operator<'_, 'p>,
    ) -> Outcome<Value<'p>> {
        let mut values = values.into_iter();
        let Some(first) = initial.or_else(|| values.next()) else {
            let message = format!("`{}` of an array without elements", call.name);
            let help = "give a result for that with `reduce`";
            return Err(Box::new(Diagnostic::new(call.span, message).help(help)));
        };
        let depth = depth_of(values.len() + 1);
        self.combined(first, values, depth, operator, &mut |_| ())
    }

    /// Applies a scan to all its arguments. Its name says which results it gives, from which side, and whether of rows.
    pub(super) fn scan(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let [f, initial @ .., array] = &call.arguments[..] else {
            return Err(self.fault(span, "an argument is missing"));
        };
        let name = without_rank(&call.name);
        let name = name.strip_suffix("Rows").unwrap_or(name);
        let from_right = name.ends_with("Right");
        let gives = name.strip_suffix("Right").unwrap_or(name);
        let operator = |combined: Value<'p>, value: Value<'p>| {
            let both = if from_right { [value, combined] } else { [combined, value] };
            self.apply_all(f, both, span)
        };
        // All results in order, the initial value before them.
        let scanned = |mut values: Vec<Value<'p>>| -> Outcome<Vec<Value<'p>>> {
            if from_right {
                values.reverse();
            }
            let depth = 2 * depth_of(values.len());
            let mut values = values.into_iter();
            let Some(first) = initial.first().cloned().or_else(|| values.next()) else {
                return Ok(Vec::new());
            };
            let mut results = vec![first.clone()];
            self.combined(first, values, depth, &operator, &mut |value| results.push(value.clone()))?;
            Ok(results)
        };
        if gives == "scanTotal" {
            let results = scanned(self.all(&self.pull(array, span)?, span)?)?;
            return results.last().cloned().ok_or_else(|| self.fault(span, "a scan of nothing"));
        }
        self.by_rows(array, usize::from(gives == "prescan"), span, &|values| {
            let mut results = scanned(values)?;
            match gives {
                "scan" if !initial.is_empty() => drop(results.drain(..1)),
                "scanExclusive" => drop(results.pop()),
                _ => {}
            }
            if from_right {
                results.reverse();
            }
            Ok(results)
        })
    }

    /// Products of matrices, with all their arguments: those of numbers, and those over other operations.
    pub(super) fn multiplied(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        match &call.arguments[..] {
            [a, b] => {
                let zero = match self.result_type(call) {
                    Type::Array { element, .. } => self.zero(&element, span)?,
                    _ => return Err(self.fault(span, "a matrix of no type")),
                };
                let operators: [Operator<'_, 'p>; 2] =
                    [&self.arithmetic(Op::Mul, span), &self.arithmetic(Op::Add, span)];
                self.product(call, [&self.pull(a, span)?, &self.pull(b, span)?], zero, operators)
            }
            [multiply, add, initial, a, b] => {
                let operators: [Operator<'_, 'p>; 2] =
                    [&|a, b| self.apply_all(multiply, [a, b], span), &|a, b| {
                        self.apply_all(add, [a, b], span)
                    }];
                self.product(call, [&self.pull(a, span)?, &self.pull(b, span)?], initial.clone(), operators)
            }
            _ => Err(self.fault(span, "an argument is missing")),
        }
    }

    fn product(
        &self,
        call: &Call<'p>,
        [a, b]: [&Rc<Pull<'p>>; 2],
        initial: Value<'p>,
        [multiply, add]: [Operator<'_, 'p>; 2],
    ) -> Outcome<Value<'p>> {
        let span = call.span;
        let (mut shape, rank) = (a.shape, a.shape.rank);
        let (Some(row), Some(column)) = (rank.checked_sub(2), rank.checked_sub(1)) else {
            return Err(self.fault(span, "a product of no matrices"));
        };
        let (rows, inner) = (a.shape.extents[row], a.shape.extents[column]);
        let (others, columns) = (b.shape.extents[row], b.shape.extents[column]);
        if inner != others || a.shape.known()[..row] != b.shape.known()[..row] {
            let (a, b) = (a.shape.known(), b.shape.known());
            let message = format!("`{}` of matrices of extents {a:?} and {b:?}", call.name);
            let help = "the first has as many columns as the second has rows";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        shape.extents[column] = columns;
        self.memory(shape.count(), span)?;
        let values = self.each(shape.count(), |number| {
            let (line, column) = (number / columns, number % columns);
            let first = line / rows * inner;
            (0..inner).try_fold(initial.clone(), |sum, at| {
                let x = self.element(a, line * inner + at, span)?;
                let y = self.element(b, (first + at) * columns + column, span)?;
                add(sum, multiply(x, y)?)
            })
        })?;
        self.stored(values, shape, span)
    }
}
