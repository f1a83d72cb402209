//! Results that are written over arguments without further uses: a loop whose rounds change its state element by element has it
//! in memory once, and caches have room for more of it. Which kernels allow that is for Program IR to say.

use super::in_place::{rename, uses};
use super::{Launch, Plan, PlanArgument, Step};
use crate::operation::Given;
use crate::program::ArrayProgram;
use pumice_program::{MemoryId, Param, overwrite, verify};
use std::ops::Range;
use std::sync::Arc;

/// Writes results over these arguments, each over the one in its place, wherever the program's meaning stays the same.
pub(super) fn over_arguments(plan: &mut Plan, program: &ArrayProgram, arguments: &Range<u32>) {
    for (result, argument) in arguments.clone().enumerate() {
        let is_this = |node| match program.node(node).operation.given() {
            Some(Given::Argument(number)) => number == argument,
            _ => false,
        };
        let inputs: Vec<&[usize]> =
            plan.inputs.iter().filter(|input| is_this(input.node)).map(|input| &input.buffers[..]).collect();
        let (Some(given), [input]) = (plan.results.get(result), &inputs[..]) else { continue };
        let pairs: Vec<(usize, usize)> = input.iter().copied().zip(given.buffers.iter().copied()).collect();
        let results = |buffer: &usize| {
            plan.results.iter().flat_map(|it| &it.buffers).filter(|it| *it == buffer).count()
        };
        let is_input = |buffer: &usize| plan.inputs.iter().any(|input| input.buffers.contains(buffer));
        let fits = pairs.len() == given.buffers.len()
            && given.cells.iter().all(Option::is_none)
            && pairs.iter().all(|(from, to)| plan.buffers[*from] == plan.buffers[*to])
            && pairs.iter().all(|(from, to)| results(from) == 0 && results(to) == 1 && !is_input(to));
        let changed = match fits {
            true => pairs.iter().try_fold(plan.clone(), |plan, (from, to)| over_buffer(plan, *from, *to)),
            false => None,
        };
        if let Some(changed) = changed {
            *plan = changed;
        }
    }
}

/// The plan with one buffer, in the place of an input, for it and a result; nothing if that could be seen.
fn over_buffer(mut plan: Plan, input: usize, result: usize) -> Option<Plan> {
    // The launch that first writes the result is the last one that uses the input.
    let writer = plan.steps.iter().position(|step| uses(step, result))?;
    if plan.steps[writer + 1..].iter().any(|step| uses(step, input)) {
        return None;
    }
    let Step::Launch(launch) = &plan.steps[writer] else { return None };
    let launch = over_memory(launch, input, result)?;
    plan.steps[writer] = Step::Launch(launch);
    plan.steps.retain(|step| !matches!(step, Step::Allocate(number) if *number == result));
    plan.steps.retain(|step| !matches!(step, Step::Release(number) if *number == input));
    plan.steps.iter_mut().for_each(|step| rename(step, result, input));
    let rename = |buffer: &mut usize| *buffer = if *buffer == result { input } else { *buffer };
    plan.results.iter_mut().flat_map(|it| &mut it.buffers).for_each(rename);
    plan.arrays.iter_mut().flat_map(|it| &mut it.buffers).for_each(rename);
    Some(plan)
}

/// A launch whose kernel has one memory for both.
fn over_memory(launch: &Launch, input: usize, result: usize) -> Option<Launch> {
    let params = || launch.program.params.iter().zip(&launch.arguments);
    let memory_of = |buffer: usize| -> Option<Option<MemoryId>> {
        let mut memories = params().filter_map(|(param, argument)| match (param, argument) {
            (Param::Memory(memory), PlanArgument::Buffer(number)) if *number == buffer => Some(*memory),
            _ => None,
        });
        let first = memories.next();
        memories.next().is_none().then_some(first)
    };
    let output = memory_of(result)??;
    let mut launch = launch.clone();
    // One that does not read the input writes over it all the same.
    if let Some(memory) = memory_of(input)? {
        let position = launch.program.params.iter().position(|param| *param == Param::Memory(memory))?;
        let program = overwrite(&launch.program, memory, output)?;
        launch.program = Arc::new(verify(program).ok()?);
        launch.arguments.remove(position);
    }
    Some(launch)
}
