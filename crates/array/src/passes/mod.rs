//! Passes over array programs, before they are planned: one a file. None depends on extents, so a program is rewritten once.

mod decide;
mod float;
mod only_extents;
mod place_expansions;
mod share;

use crate::error::Error;
use crate::operation::Operation;
use crate::plan::PlanOptions;
use crate::program::{ArrayProgram, Node, NodeId, renumbered};
use crate::verify::CheckedProgram;
use std::collections::HashMap;
use std::sync::Arc;

impl CheckedProgram {
    /// The program as it is planned with these options: of the same results, by operations that a plan has steps for.
    pub fn ready(&self, options: &PlanOptions) -> Result<CheckedProgram, Error> {
        let simple = simplified(&decide::run(self, options.parts)?, options)?;
        // An array that can be moved out of a loop is not moved into a branch in it, so this comes last.
        let floated = match options.float {
            true => float::inwards(&simple, options.fuse)?,
            false => simple,
        };
        let extents = match options.fuse {
            true => only_extents::run(&floated)?,
            false => floated,
        };
        place_expansions::run(&extents, options)
    }
}

/// A program in which nothing is computed twice that need not be, and neither in those of its loops and branches.
fn simplified(program: &CheckedProgram, options: &PlanOptions) -> Result<CheckedProgram, Error> {
    let share = |program: &CheckedProgram| match options.share {
        true => share::run(program),
        false => Ok(program.clone()),
    };
    let shared = share(program)?;
    if !options.float {
        return Ok(shared);
    }
    let nested = |nested: &ArrayProgram| {
        let nested = simplified(&CheckedProgram::new(nested.clone())?, options)?;
        Ok(ArrayProgram::clone(&nested))
    };
    share(&float::outwards(&shared, options.fuse, nested)?)
}

/// Rewrites a program with other operations in the place of some: `add` adds the replacement of an array, from an operation and inputs
/// that are renumbered.
fn rewrite(
    program: &CheckedProgram,
    mut add: impl FnMut(&mut ArrayProgram, &Node, Arc<dyn Operation>, Vec<NodeId>) -> NodeId,
) -> Result<CheckedProgram, Error> {
    let mut rewritten = ArrayProgram::new();
    let mut numbers: HashMap<u64, NodeId> = HashMap::new();
    for node in program.nodes() {
        let operation = renumbered(&node.operation, &numbers);
        let inputs: Vec<NodeId> = node.inputs.iter().map(|input| numbers[&input.0.into()]).collect();
        let id = add(&mut rewritten, node, operation, inputs);
        numbers.insert(node.id.0.into(), id);
    }
    for result in program.results() {
        rewritten.give(numbers[&result.0.into()]);
    }
    CheckedProgram::new(rewritten)
}
