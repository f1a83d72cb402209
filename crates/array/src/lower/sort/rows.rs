//! Sorts of rows of any lengths as steps: a kernel that finds which rows a block has, and one whose blocks sort those.

use super::{before_by_keys, less};
use crate::error::Error;
use crate::lower::expand::{applied, number, whole};
use crate::lower::scan::element_of;
use crate::lower::{KernelName, Listeners, Lowering, Parameters, Step, counted};
use crate::operations::Order;
use pumice_kernel::skeletons::{Ends, SortRows, SortRowsPlan};
use pumice_kernel::{Ix, Scalars, choose};
use pumice_program::Access;
use pumice_scalar::ScalarType;
use std::rc::Rc;

impl Lowering<'_> {
    /// The steps that sort the rows with no more elements than `most`.
    pub(crate) fn sort_rows(
        &self,
        order: &Order,
        most: i64,
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        let node = self.program.node(listeners.producer);
        let [values, offsets] = node.inputs[..] else { return Ok(Vec::new()) };
        let before = match order {
            Order::Keys(keys) => before_by_keys(&self.fuser.with_classes(keys)),
            Order::Before(before) => self.fuser.with_classes(before),
        };
        let plan = SortRowsPlan::new(self.profile, &node.types, most);
        let [at, offset] = [values, offsets].map(|array| self.fuser.linear_of_input(array).function);
        // Otherwise nothing is read of it where it may have no element.
        let is_there = self.extents.is_known(offsets) && self.extents.size(offsets) > 0;
        let rows = |parameters: &Rc<Parameters>| {
            let [at, offset] = [&at, &offset].map(|function| applied(parameters, function));
            let (length, count) = (self.size(values, parameters), self.size(offsets, parameters));
            let end = move |stretch: Ix| {
                let offset = || whole(offset(&[&number(stretch.min(count - 1))])).clamp(0, length);
                match is_there {
                    true => stretch.lt(count).select(offset(), length),
                    false => {
                        let (offset, length) = (|| number(offset()).0, |_: &_| number(length).0);
                        whole(Scalars(choose(stretch.lt(count).term(), offset, length)))
                    }
                }
            };
            SortRows {
                length,
                ends: Ends { count: count + 1, end: Rc::new(end) },
                at: Rc::new(move |index| at(&[&number(index)])),
                types: node.types.clone(),
                less: less(parameters, &before),
            }
        };
        let called = KernelName {
            node,
            name: node.place.operation(),
            skeleton: "sort rows, each in the memory of one block",
            threads: plan.threads,
        };
        let divided = |parameters: &Rc<Parameters>| {
            (parameters.number("window", plan.window), parameters.number("most", plan.most))
        };
        let pair = vec![ScalarType::I64; 2];
        let windows = (self.extents.size(values).max(0) as u64).div_ceil(plan.window as u64) as i64;
        let (cuts, mut steps) = self.temporary(&pair, windows + 1);
        let written = Listeners { producer: node.id, heard: vec![self.heard_in(cuts)] };
        self.because("a thread finds the first row that begins in a window, for each");
        let name = KernelName { name: "find_rows", threads: plan.threads.min(128), ..called };
        steps.extend(self.kernel(name, &written, |parameters| {
            let (window, most) = divided(parameters);
            rows(parameters).cuts(window, most)
        })?);
        let elements = counted(most, "element");
        self.because(match plan.threads {
            1 => format!("rows have {elements} or fewer: a worker sorts one after the other in its cache"),
            _ => {
                format!("rows have {elements} or fewer: a block sorts those of its window in its own memory")
            }
        });
        steps.extend(self.kernel(called, listeners, |parameters| {
            let cuts = element_of(parameters.memories(cuts, &pair, Access::Read), pair.clone());
            rows(parameters).push(plan, divided(parameters), cuts)
        })?);
        Ok(steps)
    }
}
