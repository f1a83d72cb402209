//! Copies that nobody needs: where a plan copies a buffer of its own and does not use it afterwards, both are one buffer.

use super::{PlanArgument, PlannedArray, Step};
use std::collections::HashSet;

/// Leaves out copies of buffers that these steps allocate and that are not kept, if nothing uses them later.
pub(super) fn without_copies(
    mut steps: Vec<Step>,
    arrays: &mut [PlannedArray],
    kept: &HashSet<usize>,
) -> Vec<Step> {
    let mut position = 0;
    while let Some(step) = steps.get(position) {
        match *step {
            Step::Copy { from, to } if is_last_use(&steps, position, from, to) && !kept.contains(&from) => {
                steps.remove(position);
                // The copy's buffer has been there from where the other one was.
                steps.retain(|step| !matches!(step, Step::Allocate(buffer) if *buffer == to));
                steps.iter_mut().for_each(|step| rename(step, from, to));
                let all = arrays.iter_mut().flat_map(|array| &mut array.buffers);
                all.filter(|buffer| **buffer == from).for_each(|buffer| *buffer = to);
                position = position.saturating_sub(1);
            }
            _ => position += 1,
        }
    }
    steps
}

/// Whether a buffer is allocated here, and not used behind a copy of it, before which nothing uses the copy.
fn is_last_use(steps: &[Step], copy: usize, from: usize, to: usize) -> bool {
    let (before, behind) = (&steps[..copy], &steps[copy + 1..]);
    let allocates = |step: &Step| matches!(step, Step::Allocate(buffer) if *buffer == from);
    before.iter().any(allocates)
        && !before.iter().any(|step| uses(step, to))
        && !behind.iter().any(|step| uses(step, from))
}

/// Whether a step reads or writes a buffer.
pub(super) fn uses(step: &Step, buffer: usize) -> bool {
    match step {
        Step::Launch(launch) => launch.arguments.contains(&PlanArgument::Buffer(buffer)),
        Step::Zero(number) => *number == buffer,
        Step::Copy { from, to } => *from == buffer || *to == buffer,
        Step::Allocate(_) | Step::Release(_) => false,
    }
}

/// Puts one buffer in the place of another.
pub(super) fn rename(step: &mut Step, from: usize, to: usize) {
    let rename = |buffer: &mut usize| {
        if *buffer == from {
            *buffer = to;
        }
    };
    match step {
        Step::Launch(launch) => {
            for argument in &mut launch.arguments {
                if let PlanArgument::Buffer(buffer) = argument {
                    rename(buffer);
                }
            }
        }
        Step::Copy { from, to } => [from, to].into_iter().for_each(rename),
        Step::Allocate(buffer) | Step::Zero(buffer) | Step::Release(buffer) => rename(buffer),
    }
}
