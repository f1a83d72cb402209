//! `sort`: the elements of each row of the innermost dimension in order, stably.
//!
//! The order is that of keys, which are unsigned integers that a function makes of an element, the first of which matters
//! most; or it is given by a function that says of two elements whether the first comes before the second. A sort hands its
//! elements on with their indices, in its last pass.

use super::{Listed, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::fuser::rows_and_columns;
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Listeners, Lowering, SortJob, Step};
use crate::operation::{Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use pumice_scalar::{Constant, Function, PlacedMessage, ScalarType};
use std::any::Any;
use std::sync::Arc;

/// A sort of rows.
#[derive(Clone)]
pub struct Sort {
    /// The order.
    pub order: Order,
}

/// An order of elements.
#[derive(Clone)]
pub enum Order {
    /// From an element to its keys: `bool`, `u32` or `u64`.
    Keys(Function),
    /// From two elements to whether the first comes before the second.
    Before(Function),
}

impl Order {
    /// An order from the numbers in its text, and its function.
    pub(super) fn new(attributes: &[i64], function: Function) -> Option<Order> {
        match attributes {
            [0] => Some(Order::Keys(function)),
            [1] => Some(Order::Before(function)),
            _ => None,
        }
    }

    pub(super) fn attributes(&self) -> Vec<i64> {
        vec![matches!(self, Order::Before(_)).into()]
    }

    pub(super) fn function(&self) -> &Function {
        match self {
            Order::Keys(function) | Order::Before(function) => function,
        }
    }

    /// The same kind of order, with another function.
    pub(crate) fn with(&self, function: Function) -> Order {
        match self {
            Order::Keys(_) => Order::Keys(function),
            Order::Before(_) => Order::Before(function),
        }
    }

    /// Checks that it is an order of elements of these types.
    pub(super) fn check(&self, types: &[ScalarType]) -> Result<(), String> {
        match self {
            Order::Keys(keys) => {
                fits(keys, types, &keys.result_types())?;
                let fit = |ty: &ScalarType| !ty.is_float() && !ty.is_signed();
                ensure(keys.result_types().iter().all(fit), "keys are bool and unsigned integers")
            }
            Order::Before(before) => fits(before, &[types, types].concat(), &[ScalarType::Bool]),
        }
    }

    /// The elements of a row in this order.
    pub(super) fn sorted(
        &self,
        interpreter: &Interpreter<'_>,
        row: &[Vec<Constant>],
    ) -> Result<Elements, Error> {
        let function = interpreter.evaluator(self.function())?;
        match self {
            Order::Keys(_) => {
                let key = |element: &Vec<Constant>| {
                    let keys = function(element)?.iter().map(|key| key.bits()).collect::<Vec<u64>>();
                    Ok((keys, element.clone()))
                };
                let mut keyed = row.iter().map(key).collect::<Result<Vec<_>, Error>>()?;
                keyed.sort_by(|a, b| a.0.cmp(&b.0));
                Ok(keyed.into_iter().map(|(_, element)| element).collect())
            }
            Order::Before(_) => merge_sorted(row, |a, b| {
                Ok(function(&[a, b].concat())?.first().is_some_and(|flag| flag.is_true()))
            }),
        }
    }
}

pub(super) const LISTED: Listed = Listed {
    keyword: "sort",
    make: |Parts { attributes, functions, .. }| {
        let [function] = <[Function; 1]>::try_from(functions).ok()?;
        Some(Arc::new(Sort { order: Order::new(&attributes, function)? }))
    },
};

impl Operation for Sort {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        self.order.attributes()
    }
    fn functions(&self) -> Vec<&Function> {
        vec![self.order.function()]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let function = next(&mut functions.into_iter(), self.order.function());
        Arc::new(Sort { order: self.order.with(function) })
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let (rank, types) = signature.input()?;
        ensure(rank > 0 && rank == signature.rank, RANK)?;
        ensure(types == signature.types, TYPES)?;
        self.order.check(types)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        Ok(shapes.same(0))
    }
    fn nature(&self) -> Nature {
        Nature::Push
    }
    fn takes_long(&self) -> bool {
        true
    }
    fn cost(&self) -> u32 {
        0
    }
    fn repeats(&self) -> bool {
        // Elements are counted before they are moved.
        true
    }

    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for listeners in &group {
            let node = lowering.program.node(listeners.producer);
            let lost = || Error::Program(PlacedMessage::at("a sort has no array", node.place));
            let input = *node.inputs.first().ok_or_else(lost)?;
            let order = self.order.with(lowering.fuser.with_classes(self.order.function()));
            steps.extend(SortJob::new(lowering, node, input, order).steps(listeners)?);
        }
        Ok(steps)
    }

    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let (_, columns) = rows_and_columns(&interpreter.extents(node.inputs[0]));
        let mut all = Elements::new();
        for row in interpreter.input(node, 0).chunks((columns as usize).max(1)) {
            all.extend(self.order.sorted(interpreter, row)?);
        }
        Ok(all)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Sorts the elements of a row. It terminates even if the order is inconsistent, where `slice::sort_by` may not.
fn merge_sorted(
    row: &[Vec<Constant>],
    before: impl Fn(&[Constant], &[Constant]) -> Result<bool, Error>,
) -> Result<Elements, Error> {
    let mut runs: Vec<Elements> = row.iter().map(|element| vec![element.clone()]).collect();
    while runs.len() > 1 {
        let mut merged = Vec::new();
        for pair in runs.chunks(2) {
            let (left, right) = (&pair[0], pair.get(1).map_or(&[][..], Vec::as_slice));
            let (mut a, mut b, mut all) = (0, 0, Elements::new());
            while a < left.len() || b < right.len() {
                if b < right.len() && (a == left.len() || before(&right[b], &left[a])?) {
                    all.push(right[b].clone());
                    b += 1;
                } else {
                    all.push(left[a].clone());
                    a += 1;
                }
            }
            merged.push(all);
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}
