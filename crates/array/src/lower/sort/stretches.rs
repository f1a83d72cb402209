//! Sorts of rows by a CPU's workers as steps: limits of the keys, and passes that find their digits of them.

use super::{SortJob, key_of};
use crate::error::Error;
use crate::lower::scan::element_of;
use crate::lower::{KernelName, Listeners, Parameters, Step};
use pumice_kernel::skeletons::{FoundDigit, KeyOf, LimitAt, PassDigit, SortPlan};
use pumice_program::Access;
use pumice_scalar::{Exp, Function, ScalarType};
use std::rc::Rc;

impl SortJob<'_, '_> {
    /// Sorts by the digits that keys have between the smallest and the largest.
    pub(super) fn by_stretches(
        &self,
        plan: SortPlan,
        keys: &Function,
        bits: &[u32],
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        let skeleton = "sort by stretches";
        let passes = bits.iter().map(|bits| plan.passes(*bits)).sum::<u32>() as usize;
        let all_keys = |parameters: &Rc<Parameters>| -> Vec<KeyOf> {
            (0..bits.len()).map(|key| key_of(keys, key, parameters)).collect()
        };
        let (limits, mut steps) = match passes {
            0 | 1 => (None, Vec::new()),
            _ => {
                let (limits, mut steps) = self.lowering.temporary(&[ScalarType::U64], 2 * bits.len() as i64);
                steps.extend(self.lowering.buffers_of(limits).into_iter().map(Step::Zero));
                let called = KernelName { name: "find_limits", ..self.called(skeleton, plan.threads) };
                steps.push(self.lowering.launch(called, &[], |parameters| {
                    let memory = parameters.memory(limits, 0, ScalarType::U64, Access::ReadWrite);
                    let sort = self.skeleton(&self.given(), plan, parameters);
                    // SAFETY: the slot was added with so many elements, for this launch, and the step before zeroes it.
                    unsafe { sort.find_limits(&all_keys(parameters), memory) };
                })?);
                (Some(limits), steps)
            }
        };
        steps.extend(self.one_after_the_other(passes, listeners, |number, source, listeners| {
            let digit = |parameters: &Rc<Parameters>| {
                PassDigit::Found(FoundDigit {
                    keys: all_keys(parameters),
                    limits: limits.map(|limits| limit_at(limits, parameters)),
                    after: parameters.number("after", (passes - 1 - number) as i64),
                    moved: (number > 0).then(|| self.at(&source, parameters)),
                })
            };
            self.with_counts(plan, skeleton, &digit, &self.given(), listeners)
        })?);
        Ok(steps)
    }
}

/// The limits of keys in a slot.
fn limit_at(slot: usize, parameters: &Rc<Parameters>) -> LimitAt {
    let types = vec![ScalarType::U64];
    let limit = element_of(parameters.memories(slot, &types, Access::Read), types);
    Rc::new(move |cell| limit(Exp::from(cell)).0.first().map_or(Exp::from(0), |term| Exp::from_term(*term)))
}
