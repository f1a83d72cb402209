//! Sorts of rows by a CPU's workers as steps: limits of the keys, and passes that find their digits of them.

use super::{SortJob, before_tiles, key_of};
use crate::error::Error;
use crate::lower::scan::element_of;
use crate::lower::{KernelName, Listeners, Parameters, Step};
use pumice_kernel::skeletons::{ElementAt, FoundDigit, KeyOf, LimitAt, PassDigit, SortPlan};
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
        let passes = bits.iter().map(|bits| plan.passes(*bits)).sum::<u32>() as usize;
        if passes <= 1 {
            let job = Stretches { sort: self, plan, keys, count: bits.len(), limits: None };
            let digit = |parameters: &Rc<Parameters>| PassDigit::Found(job.digit(0, None, None, parameters));
            return self.with_counts(plan, SKELETON, &digit, &self.given(), listeners);
        }
        // The cell behind the limits says whether there are buckets.
        let (limits, mut steps) = self.lowering.temporary(&[ScalarType::U64], 2 * bits.len() as i64 + 1);
        let job = Stretches { sort: self, plan, keys, count: bits.len(), limits: Some(limits) };
        steps.extend(job.find_limits(limits)?);
        let (slots, allocate) = self.slots(if plan.buckets { 3 } else { passes });
        steps.extend(allocate);
        let buckets = match slots[..] {
            [first, second] if plan.buckets => {
                let (before, found) = job.buckets(limits, first)?;
                steps.extend(found);
                Some((before, [first, second]))
            }
            _ => None,
        };
        steps.extend(self.through(&slots, passes, listeners, |number, source, listeners| {
            let digit = |parameters: &Rc<Parameters>| {
                let moved = (number > 0).then(|| self.at(&source, parameters));
                let only = buckets.map(|_| !job.has_buckets(limits, parameters));
                PassDigit::Found(job.digit((passes - 1 - number) as i64, moved, only, parameters))
            };
            self.with_counts(plan, SKELETON, &digit, &self.given(), listeners)
        })?);
        if let Some((before, slots)) = buckets {
            steps.extend(job.sort_buckets((limits, before), slots, listeners)?);
        }
        Ok(steps)
    }
}

/// The name of the skeleton.
const SKELETON: &str = "sort by stretches";

/// A sort by stretches.
struct Stretches<'a, 'b, 'c> {
    sort: &'a SortJob<'b, 'c>,
    plan: SortPlan,
    keys: &'a Function,
    /// Number of keys.
    count: usize,
    /// The slot of their limits; `None` if the only pass takes the only digit.
    limits: Option<usize>,
}

impl Stretches<'_, '_, '_> {
    fn all_keys(&self, parameters: &Rc<Parameters>) -> Vec<KeyOf> {
        (0..self.count).map(|key| key_of(self.keys, key, parameters)).collect()
    }

    /// The digit of a pass with so many after it.
    fn digit(
        &self,
        after: i64,
        moved: Option<ElementAt>,
        only: Option<Exp<bool>>,
        parameters: &Rc<Parameters>,
    ) -> FoundDigit {
        let limits = self.limits.map(|limits| limit_at(limits, parameters));
        FoundDigit {
            keys: self.all_keys(parameters),
            limits,
            after: parameters.number("after", after),
            moved,
            only,
        }
    }

    /// The steps that find the limits of the keys.
    fn find_limits(&self, limits: usize) -> Result<Vec<Step>, Error> {
        let Stretches { sort, plan, .. } = self;
        let zero = sort.lowering.buffers_of(limits).into_iter().map(Step::Zero);
        let called = KernelName { name: "find_limits", ..sort.called(SKELETON, plan.threads) };
        let find = sort.lowering.launch(called, &[], |parameters| {
            let memory = parameters.memory(limits, 0, ScalarType::U64, Access::ReadWrite);
            let skeleton = sort.skeleton(&sort.given(), *plan, parameters);
            // SAFETY: the slot was added with so many elements, for this launch, and the step before zeroes it.
            unsafe { skeleton.find_limits(&self.all_keys(parameters), memory) };
        })?;
        Ok(zero.chain([find]).collect())
    }

    /// Whether there are buckets, inside a kernel.
    fn has_buckets(&self, limits: usize, parameters: &Rc<Parameters>) -> Exp<bool> {
        limit_at(limits, parameters)(2 * self.count as i64).ne(0)
    }

    /// Finds whether there are buckets, and moves elements to theirs if so: the slot that says where each begins, and the steps.
    fn buckets(&self, limits: usize, to: usize) -> Result<(usize, Vec<Step>), Error> {
        let Stretches { sort, plan, .. } = self;
        sort.lowering.because(
            "no cache has room for all elements: a worker sorts those with the same highest digit, unless one has too many",
        );
        let highest = |parameters: &Rc<Parameters>| PassDigit::Found(self.digit(0, None, None, parameters));
        let (before, mut steps) = sort.counted(*plan, SKELETON, &highest, &sort.given())?;
        let called = KernelName { name: "choose_buckets", ..sort.called(SKELETON, plan.threads) };
        sort.lowering.because("the counts of the kernels before tell whether a bucket has too many elements");
        steps.push(sort.lowering.launch(called, &[], |parameters| {
            let memory = parameters.memory(limits, 0, ScalarType::U64, Access::ReadWrite);
            let skeleton = sort.skeleton(&sort.given(), *plan, parameters);
            let digit = self.digit(0, None, None, parameters);
            let before = before_tiles(before, &skeleton, *plan, parameters);
            // SAFETY: the slot has this cell behind the limits, and a launch has one block.
            unsafe { skeleton.choose_buckets(*plan, digit, before, (memory, 2 * self.count as i64)) };
        })?);
        let highest = |parameters: &Rc<Parameters>| {
            let only = self.has_buckets(limits, parameters);
            PassDigit::Found(self.digit(0, None, Some(only), parameters))
        };
        let writes = sort.written_to(to);
        steps.extend(sort.moved(*plan, (SKELETON, before), &highest, &sort.given(), &writes)?);
        Ok((before, steps))
    }

    /// Sorts the buckets, whose elements are in the first slot.
    fn sort_buckets(
        &self,
        (limits, before): (usize, usize),
        slots: [usize; 2],
        listeners: &Listeners,
    ) -> Result<Vec<Step>, Error> {
        let Stretches { sort, plan, .. } = self;
        let called = KernelName { name: "sort_buckets", ..sort.called(SKELETON, plan.threads) };
        sort.lowering
            .because("the elements of each bucket are together: a worker sorts one while it is in its cache");
        sort.lowering.kernel(called, listeners, |parameters| {
            let only = self.has_buckets(limits, parameters);
            let digit = self.digit(0, None, Some(only), parameters);
            let skeleton = sort.skeleton(&sort.given(), *plan, parameters);
            let before = before_tiles(before, &skeleton, *plan, parameters);
            let types = &sort.node.types;
            let memories = slots.map(|slot| parameters.memories(slot, types, Access::ReadWrite));
            // SAFETY: the slots have room for all elements, and no other step runs meanwhile.
            unsafe { skeleton.push_buckets(*plan, digit, before, memories) }
        })
    }
}

/// The limits of keys in a slot.
fn limit_at(slot: usize, parameters: &Rc<Parameters>) -> LimitAt {
    let types = vec![ScalarType::U64];
    let limit = element_of(parameters.memories(slot, &types, Access::Read), types);
    Rc::new(move |cell| limit(Exp::from(cell)).0.first().map_or(Exp::from(0), |term| Exp::from_term(*term)))
}
