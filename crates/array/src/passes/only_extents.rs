//! Gives loops and branches the extents of arrays of which they need nothing else.
//!
//! Needs: nothing. Leaves: the inputs of a loop or branch whose elements none of its programs asks for are arrays without scalars, which
//! have extents and no memory. So the arrays that have these extents need not be in memory for it, and are unchanged for other users.

use super::rewrite;
use crate::control::Control;
use crate::error::Error;
use crate::operation::{Given, Nature};
use crate::operations::Generate;
use crate::program::{ArrayProgram, Node, NodeId};
use crate::verify::CheckedProgram;
use pumice_scalar::{ScalarType, Term, Variable, function};

/// Rewrites a program, and the programs of its loops and branches before.
pub(super) fn run(program: &CheckedProgram) -> Result<CheckedProgram, Error> {
    if !program.nodes().iter().any(|node| !node.programs().is_empty()) {
        return Ok(program.clone());
    }
    let mut failed = None;
    let rewritten = rewrite(program, |rewritten, node, mut operation, mut inputs| {
        if let Some(control) = node.operation.control() {
            let nested = |nested: &ArrayProgram| run(&CheckedProgram::new(nested.clone())?);
            match control.programs().iter().map(nested).collect::<Result<Vec<_>, Error>>() {
                Ok(programs) => {
                    let is_shape = |number: usize| {
                        let input = program.node(node.inputs[number]);
                        is_computed(input) && asks_for_extents(control, number, &programs)
                    };
                    let shapes: Vec<bool> = (0..inputs.len()).map(is_shape).collect();
                    for (input, _) in inputs.iter_mut().zip(&shapes).filter(|(_, is_shape)| **is_shape) {
                        *input = shape_of(rewritten, *input);
                    }
                    let programs = programs.iter().map(|nested| without_scalars(nested, &shapes));
                    operation = control.with_programs(programs.collect());
                }
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        rewritten.add_shared(operation, inputs, node.rank, node.types.clone(), node.place)
    });
    failed.map_or(rewritten, Err)
}

/// Whether an array may take memory only because its elements are used. The caller decides that for an argument.
fn is_computed(node: &Node) -> bool {
    let is_argument = matches!(node.operation.given(), Some(Given::Argument(_)));
    (is_argument || node.operation.nature() != Nature::Given) && !node.types.is_empty()
}

/// Whether the elements of an input are unused: by the operation, and by these, which are its programs.
fn asks_for_extents(control: &dyn Control, input: usize, programs: &[CheckedProgram]) -> bool {
    let changes = control.as_loop().is_some_and(|shape| shape.state.contains(&input));
    if changes || control.is_seen() || input < control.looks_at() {
        return false;
    }
    let asks = |program: &CheckedProgram| {
        let is_it = |node: &Node| is_argument(node, input);
        let arguments = || program.nodes().iter().filter(|node| is_it(node)).map(|node| node.id);
        arguments().any(|argument| {
            let takes = |node: &Node| node.inputs.contains(&argument) || node.reads().contains(&argument);
            program.results().contains(&argument) || program.nodes().iter().any(takes)
        })
    };
    !programs.iter().any(asks)
}

fn is_argument(node: &Node, input: usize) -> bool {
    matches!(node.operation.given(), Some(Given::Argument(number)) if number as usize == input)
}

/// The program with arguments that have no scalars where `shapes` says so.
fn without_scalars(program: &ArrayProgram, shapes: &[bool]) -> ArrayProgram {
    let mut rewritten = ArrayProgram::new();
    for node in program.nodes() {
        let is_shape = (0..).zip(shapes).any(|(input, is_shape)| *is_shape && is_argument(node, input));
        let types = if is_shape { Vec::new() } else { node.types.clone() };
        rewritten.add_shared(node.operation.clone(), node.inputs.clone(), node.rank, types, node.place);
    }
    program.results().iter().for_each(|result| rewritten.give(*result));
    rewritten
}

/// Adds an array of the same extents as another one, whose elements have no scalars; returns its number.
fn shape_of(program: &mut ArrayProgram, array: NodeId) -> NodeId {
    let (rank, place) = (program.node(array).rank, program.node(array).place);
    let shape = function(&[], |_| {
        let extent = |dimension| Variable::Extent { array: array.0.into(), dimension };
        (0..rank as u32).map(|dimension| Term::variable(extent(dimension), ScalarType::I64)).collect()
    });
    let element = function(&vec![ScalarType::I64; rank], |_| Vec::new());
    program.add(Generate { shape, element }, &[], rank, &[], place)
}
