//! Takes the sides of branches whose condition is a constant: the operations of the side stand in the branch's place, and fuse with what
//! is around them.
//!
//! Needs: nothing. Leaves: no `parts`, which is a constant of the run, and no branch whose condition is computed from constants alone;
//! neither in the programs of loops and branches.

use super::float::{before, part};
use super::rewrite;
use crate::error::Error;
use crate::operation::Given;
use crate::operations::{Branch, Generate, PartsOfRun, ZipWith};
use crate::program::{ArrayProgram, Node, NodeId, renumbered};
use crate::reduction::instantiate;
use crate::verify::CheckedProgram;
use pumice_scalar::{Constant, Exp, Term, function};
use std::collections::{HashMap, HashSet};

impl ArrayProgram {
    /// Whether it, or a program of its loops and branches, asks in how many parts it is run.
    ///
    /// ```
    /// use pumice::{layers::array::ArrayProgram, prelude::*};
    /// let program = |sums: Acc<Vector<i64>>| ArrayProgram::of(&[sums.described().clone()]);
    /// let xs = use_(&[1i64, 2]);
    /// assert!(!program(xs.clone().map(|x| -x)).asks_for_parts());
    /// assert!(program(xs.in_parts(|part| part.map(|x| -x))).asks_for_parts());
    /// ```
    pub fn asks_for_parts(&self) -> bool {
        any_node(self, &|node| node.operation.as_any().is::<PartsOfRun>())
    }
}

/// Whether something holds for a node of a program, or of one of its loops and branches.
fn any_node(program: &ArrayProgram, holds: &dyn Fn(&Node) -> bool) -> bool {
    let nested = |node: &Node| node.programs().iter().any(|program| any_node(program, holds));
    program.nodes().iter().any(|node| holds(node) || nested(node))
}

/// Rewrites a program that is run in so many parts, and the programs of its loops and branches before.
pub(super) fn run(program: &CheckedProgram, parts: u32) -> Result<CheckedProgram, Error> {
    if !program.asks_for_parts() && !any_node(program, &|node| node.operation.as_any().is::<Branch>()) {
        return Ok(program.clone());
    }
    let mut failed = None;
    // The arrays that branches give, where a side is taken.
    let mut given: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    let rewritten = rewrite(program, |rewritten, node, mut operation, inputs| {
        if operation.as_any().is::<PartsOfRun>() {
            let one = Generate {
                shape: function(&[], |_| Vec::new()),
                element: function(&[], |_| vec![Exp::from(i64::from(parts)).term()]),
            };
            return rewritten.add(one, &[], node.rank, &node.types, node.place);
        }
        if let Some(number) = node.operation.picks()
            && let Some(array) = given.get(&node.inputs[0]).and_then(|given| given.get(number))
        {
            return *array;
        }
        if let Some(control) = node.operation.control() {
            let nested = |nested: &ArrayProgram| {
                let nested = run(&CheckedProgram::new(nested.clone())?, parts)?;
                Ok(ArrayProgram::clone(&nested))
            };
            match control.programs().iter().map(nested).collect::<Result<Vec<_>, Error>>() {
                Ok(programs) => {
                    if let Some(side) = known_side(rewritten, node, &inputs)
                        && let Some(side) = programs.get(side)
                    {
                        let results = inlined(rewritten, side, &inputs);
                        let first = results[0];
                        given.insert(node.id, results);
                        return first;
                    }
                    operation = control.with_programs(programs);
                }
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        rewritten.add_shared(operation, inputs, node.rank, node.types.clone(), node.place)
    });
    let rewritten = failed.map_or(rewritten, Err)?;
    match given.is_empty() {
        true => Ok(rewritten),
        false => without_unused(&rewritten),
    }
}

/// The program without what only the other side of a branch needed.
fn without_unused(program: &ArrayProgram) -> Result<CheckedProgram, Error> {
    let mut used: HashSet<NodeId> = program.results().iter().copied().collect();
    for node in program.nodes().iter().rev() {
        if used.contains(&node.id) {
            used.extend(before(node));
        }
    }
    CheckedProgram::new(part(program, |node| used.contains(&node.id), &HashMap::new(), program.results()))
}

/// The number of the program of a branch that is run, if its condition is a constant.
fn known_side(rewritten: &ArrayProgram, node: &Node, inputs: &[NodeId]) -> Option<usize> {
    node.operation.as_any().downcast_ref::<Branch>()?;
    let condition = constants(rewritten, *inputs.first()?)?;
    Some(if condition == [Constant::from(true)] { 0 } else { 1 })
}

/// The element of an array without extents, if it is made of constants.
fn constants(program: &ArrayProgram, array: NodeId) -> Option<Vec<Constant>> {
    let node = program.node(array);
    let operation = node.operation.as_any();
    match (operation.downcast_ref::<Generate>(), operation.downcast_ref::<ZipWith>()) {
        (Some(Generate { element, .. }), _) if node.rank == 0 => element.constants(),
        (_, Some(map)) if node.rank == 0 => {
            let inputs = node.inputs.iter().map(|input| constants(program, *input));
            let inputs: Vec<Term> =
                inputs.collect::<Option<Vec<_>>>()?.concat().into_iter().map(Term::from).collect();
            function(&[], |_| instantiate(&map.function, &inputs)).constants()
        }
        _ => None,
    }
}

/// Adds the operations of a program whose arguments are these arrays; returns its results.
fn inlined(into: &mut ArrayProgram, program: &ArrayProgram, arguments: &[NodeId]) -> Vec<NodeId> {
    let mut numbers: HashMap<u64, NodeId> = HashMap::new();
    for node in program.nodes() {
        let id = match node.operation.given() {
            Some(Given::Argument(number)) => arguments[number as usize],
            _ => {
                let inputs = node.inputs.iter().map(|input| numbers[&input.0.into()]).collect();
                let operation = renumbered(&node.operation, &numbers);
                into.add_shared(operation, inputs, node.rank, node.types.clone(), node.place)
            }
        };
        numbers.insert(node.id.0.into(), id);
    }
    program.results().iter().map(|result| numbers[&result.0.into()]).collect()
}
