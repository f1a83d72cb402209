//! `sort_rows`: the elements of each row in order, stably, where rows have any lengths and stand one after the other in a vector. The second
//! input says where each begins, and at last where the last one ends.
//!
//! Only rows with few elements are sorted ([`SortRows::most`]): each by one block, in its own memory. What is longer, and what is in no row,
//! stays as it is. What begins before the row before it ends makes no row that anybody could rely on, but nothing is lost of it.

use super::{Listed, Order, Parts};
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Listeners, Lowering, Step};
use crate::operation::{Nature, Operation, RANK, Signature, TYPES, ensure, fits, next};
use crate::program::Node;
use pumice_kernel::skeletons::SortRowsPlan;
use pumice_scalar::{Constant, Function, ScalarType};
use std::any::Any;
use std::sync::Arc;

/// A sort of rows of any lengths.
#[derive(Clone)]
pub struct SortRows {
    /// The order.
    pub order: Order,
    /// The most elements of a row that is sorted, from no parameters; no more than [`SortRows::limit`] in any case.
    pub longest: Function,
}

pub(super) const LISTED: Listed = Listed {
    keyword: "sort_rows",
    make: |Parts { attributes, functions, .. }| {
        let [order, longest] = <[Function; 2]>::try_from(functions).ok()?;
        Some(Arc::new(SortRows { order: Order::new(&attributes, order)?, longest }))
    },
};

impl SortRows {
    /// The most elements of a row that a block has room for, whatever the device; 0 if it has none for such elements.
    ///
    /// ```
    /// use pumice::layers::{array::operations::SortRows, scalar::ScalarType};
    /// assert_eq!(SortRows::limit(&[ScalarType::I32]), 4096);
    /// assert_eq!(SortRows::limit(&[ScalarType::I64; 2]), 1024);
    /// ```
    pub fn limit(types: &[ScalarType]) -> i64 {
        SortRowsPlan::limit(types)
    }

    /// The most elements of a row that is sorted, from the value of `longest`.
    fn most(&self, types: &[ScalarType], longest: &[Constant]) -> i64 {
        let longest = longest.first().and_then(|longest| longest.as_integer()).unwrap_or(0);
        longest.clamp(0, SortRows::limit(types).into()) as i64
    }
}

impl Operation for SortRows {
    fn keyword(&self) -> &'static str {
        LISTED.keyword
    }
    fn attributes(&self) -> Vec<i64> {
        self.order.attributes()
    }
    fn functions(&self) -> Vec<&Function> {
        vec![self.order.function(), &self.longest]
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let order = self.order.with(next(&mut functions, self.order.function()));
        Arc::new(SortRows { order, longest: next(&mut functions, &self.longest) })
    }
    fn shaping(&self) -> Vec<&Function> {
        vec![&self.longest]
    }
    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let [(1, types), (1, [ScalarType::I64])] = signature.inputs[..] else { return Err(RANK.into()) };
        ensure(signature.rank == 1, RANK)?;
        ensure(types == signature.types, TYPES)?;
        ensure(SortRows::limit(types) > 0, "elements are too large to be sorted in the memory of a block")?;
        fits(&self.longest, &[], &[ScalarType::I64])?;
        self.order.check(types)
    }
    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        // How the rows are divided depends on it.
        shapes.values(&self.longest)?;
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
    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for listeners in &group {
            let node = lowering.program.node(listeners.producer);
            let longest = lowering.extents.values(node, &self.longest, lowering.knowledge);
            let longest = longest.map_err(Unplanned::into_error)?;
            steps.extend(lowering.sort_rows(&self.order, self.most(&node.types, &longest), listeners)?);
        }
        Ok(steps)
    }
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let most = self.most(&node.types, &interpreter.evaluator(&self.longest)?(&[])?);
        let mut all = interpreter.input(node, 0).clone();
        let offset = |offset: &Vec<Constant>| offset.first().and_then(|offset| offset.as_integer());
        let offsets: Vec<i128> = interpreter.input(node, 1).iter().filter_map(offset).collect();
        for ends in offsets.windows(2) {
            let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
            let row = range.and_then(|(start, end)| all.get_mut(start..end));
            if let Some(row) = row.filter(|row| row.len() as i64 <= most) {
                let sorted = self.order.sorted(interpreter, row)?;
                row.clone_from_slice(&sorted);
            }
        }
        Ok(all)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
