//! Moves arrays to where they are computed as seldom as possible: out of loops, and into branches.
//!
//! Needs: nothing. Leaves: a loop invariant that would be written to memory or takes a pass of its own in each
//! round is computed before the loop, as far out as nothing more can fail than did before; and an array that only one side of a branch needs is
//! computed by that side. An array that costs no memory and no pass stays where it is, because there it is fused.
//!
//! The arrays of a loop's step must not be computed if there is no round: that may fail, or not end. So they move out where that cannot
//! be, or where there always is a round, and else into a program that the loop runs before its first round ([`Control::once`]).
//! An array that moves into a branch is not computed if its side is not run; an unused array is not computed in fused programs anyway.

use super::rewrite;
use crate::control::{Control, Loop};
use crate::error::Error;
use crate::form::in_memory;
use crate::operation::{Given, Nature, Operation};
use crate::operations::{Argument, ExpandReduce, Fold, Generate, Scan, Sort, ZipWith};
use crate::program::{ArrayProgram, Node, NodeId, renumbered};
use crate::verify::CheckedProgram;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Moves arrays out of the loops of a program, whose own programs `simplify` has gone through before.
pub(super) fn outwards(
    program: &CheckedProgram,
    fuse: bool,
    simplify: impl Fn(&ArrayProgram) -> Result<ArrayProgram, Error>,
) -> Result<CheckedProgram, Error> {
    if !program.nodes().iter().any(|node| !node.programs().is_empty()) {
        return Ok(program.clone());
    }
    let mut failed = None;
    let rewritten = rewrite(program, |rewritten, node, mut operation, mut inputs| {
        if let Some(control) = node.operation.control() {
            match control.programs().iter().map(&simplify).collect::<Result<Vec<_>, Error>>() {
                Ok(programs) => {
                    let before: Vec<&Node> = program.inputs(node).collect();
                    (operation, inputs) = outside(rewritten, control, programs, &before, inputs, fuse);
                }
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        rewritten.add_shared(operation, inputs, node.rank, node.types.clone(), node.place)
    });
    failed.map_or(rewritten, Err)
}

/// A loop, a branch or the like without the arrays that can be computed outside of it; those are added to the program, and to its inputs.
fn outside(
    program: &mut ArrayProgram,
    control: &dyn Control,
    mut programs: Vec<ArrayProgram>,
    before: &[&Node],
    mut inputs: Vec<NodeId>,
    fuse: bool,
) -> (Arc<dyn Operation>, Vec<NodeId>) {
    let (Some(Loop { state, .. }), None) = (control.as_loop(), control.once()) else {
        return (control.with_programs(programs), inputs);
    };
    for (number, nested) in programs.iter_mut().enumerate() {
        let always = control.always_runs(number, before);
        let (moved, rest) = split(nested, &state, inputs.len(), fuse, |cone| always || cannot_fail(cone));
        inputs.extend(inlined(program, &moved, &inputs));
        *nested = rest;
    }
    // The last one is the step. The loop invariants that are left in it may fail.
    let once = programs.last_mut().map(|step| {
        let (once, rest) = split(step, &state, inputs.len(), fuse, |_| true);
        *step = rest;
        once
    });
    let operation = control.with_programs(programs);
    let once = once.filter(|once| !once.results().is_empty());
    let with_once = once.and_then(|once| operation.control()?.with_once(once));
    (with_once.unwrap_or(operation), inputs)
}

/// Splits a program: one part computes its loop invariants, as far as that pays and `may` says so of all
/// their operands; the other part takes those arrays as arguments from this number on.
fn split(
    program: &ArrayProgram,
    state: &Range<usize>,
    first: usize,
    fuse: bool,
    may: impl Fn(&[&Node]) -> bool,
) -> (ArrayProgram, ArrayProgram) {
    let same = same_in_every_round(program, state);
    let memory = in_memory(&with_control_inputs(program), fuse);
    let pays = |node: &Node| memory.contains(&node.id) || is_run(node) || takes_a_pass(node);
    let mut needed: HashSet<NodeId> = program.results().iter().copied().collect();
    let (mut moved, mut kept) = (Vec::new(), HashSet::new());
    for node in program.nodes().iter().rev() {
        let is_same = same.contains(&node.id);
        if is_same && !needed.contains(&node.id) {
            continue;
        }
        let is_there = node.operation.given().is_some();
        if is_same && !is_there && pays(node) && may(&cone(program, node.id)) {
            moved.push(node.id);
        } else {
            kept.insert(node.id);
            needed.extend(before(node));
        }
    }
    moved.reverse();
    let numbers: HashMap<NodeId, u32> = moved.iter().copied().zip(first as u32..).collect();
    let (cones, none) = (moved.iter().flat_map(|root| cone(program, *root)), HashMap::new());
    let cones: HashSet<NodeId> = cones.map(|node| node.id).collect();
    let floated = part(program, |node| cones.contains(&node.id), &none, &moved);
    let rest = part(program, |node| kept.contains(&node.id), &numbers, program.results());
    (floated, rest)
}

/// The nodes of a program that `is_kept` says, between arguments for others with these numbers.
pub(super) fn part(
    program: &ArrayProgram,
    is_kept: impl Fn(&Node) -> bool,
    arguments: &HashMap<NodeId, u32>,
    results: &[NodeId],
) -> ArrayProgram {
    let (mut rest, mut ids) = (ArrayProgram::new(), HashMap::new());
    for node in program.nodes() {
        let id = match arguments.get(&node.id) {
            Some(number) => rest.add(Argument(*number), &[], node.rank, &node.types, node.place),
            None if is_kept(node) => add(&mut rest, node, &ids),
            None => continue,
        };
        ids.insert(node.id.0.into(), id);
    }
    results.iter().for_each(|result| rest.give(ids[&result.0.into()]));
    rest
}

/// Adds a node of another program, whose arrays have these numbers here.
fn add(program: &mut ArrayProgram, node: &Node, ids: &HashMap<u64, NodeId>) -> NodeId {
    let inputs = node.inputs.iter().map(|input| ids[&input.0.into()]).collect();
    let operation = renumbered(&node.operation, ids);
    program.add_shared(operation, inputs, node.rank, node.types.clone(), node.place)
}

/// Adds the arrays of another program, whose arguments are these; returns its results.
fn inlined(program: &mut ArrayProgram, other: &ArrayProgram, arguments: &[NodeId]) -> Vec<NodeId> {
    let mut ids: HashMap<u64, NodeId> = HashMap::new();
    for node in other.nodes() {
        let id = match node.operation.given() {
            Some(Given::Argument(number)) => arguments[number as usize],
            _ => add(program, node, &ids),
        };
        ids.insert(node.id.0.into(), id);
    }
    other.results().iter().map(|result| ids[&result.0.into()]).collect()
}

/// The arrays that do not depend on the state of a loop, and are computed without anybody seeing how often.
fn same_in_every_round(program: &ArrayProgram, state: &Range<usize>) -> HashSet<NodeId> {
    let mut same = HashSet::new();
    for node in program.nodes() {
        let is_same = match node.operation.given() {
            Some(Given::Argument(number)) => !state.contains(&(number as usize)),
            Some(Given::Data(_)) => true,
            None if node.operation.nature() == Nature::Given && !is_run(node) => false,
            None => !is_seen(node) && before(node).all(|array| same.contains(&array)),
        };
        if is_same {
            same.insert(node.id);
        }
    }
    same
}

/// Whether it is a loop or the like, or one of the arrays that such a one gives: these belong together.
fn is_run(node: &Node) -> bool {
    node.operation.control().is_some() || node.operation.picks().is_some()
}

/// Whether others see that an operation, or one of its programs, is run.
fn is_seen(node: &Node) -> bool {
    node.operation.control().is_some_and(|control| control.is_seen())
        || node.programs().iter().flat_map(ArrayProgram::nodes).any(is_seen)
}

/// Whether an operation goes through an array whose elements nothing else may need in memory, and gives one that is not larger.
fn takes_a_pass(node: &Node) -> bool {
    let operation = node.operation.as_any();
    operation.is::<Fold>()
        || operation.is::<Scan>()
        || operation.is::<Sort>()
        || operation.is::<ExpandReduce>()
}

/// Whether these arrays can be computed for any arguments, which takes an end.
fn cannot_fail(nodes: &[&Node]) -> bool {
    nodes.iter().all(|node| {
        let operation = node.operation.as_any();
        let always_fits = node.operation.given().is_some()
            || operation.is::<Sort>()
            || (operation.is::<ZipWith>() && node.inputs.len() == 1)
            || operation.downcast_ref::<Fold>().is_some_and(|fold| fold.initial.is_some())
            || operation.downcast_ref::<Scan>().is_some_and(|scan| scan.initial.is_some())
            || (operation.is::<Generate>() && node.rank == 0);
        always_fits && node.operation.functions().iter().all(|function| function.is_total())
    })
}

/// The program with all that its loops and branches take among the results: they find it in memory.
fn with_control_inputs(program: &ArrayProgram) -> ArrayProgram {
    let mut all = program.clone();
    let controls = program.nodes().iter().filter(|node| node.operation.control().is_some());
    controls.flat_map(|control| &control.inputs).for_each(|input| all.give(*input));
    all
}

/// The arrays that must be there before one.
pub(super) fn before(node: &Node) -> impl Iterator<Item = NodeId> {
    let mentioned = node.mentions().map(|(array, _)| array);
    node.inputs.clone().into_iter().chain(node.reads()).chain(mentioned)
}

/// An array and all that it is computed from, in order.
fn cone(program: &ArrayProgram, root: NodeId) -> Vec<&Node> {
    let (mut found, mut waiting) = (BTreeMap::new(), vec![root]);
    while let Some(id) = waiting.pop() {
        let node = program.node(id);
        if found.insert(id, node).is_none() {
            waiting.extend(before(node));
        }
    }
    found.into_values().collect()
}

/// Moves arrays into the side of a branch that alone needs them.
pub(super) fn inwards(program: &CheckedProgram, fuse: bool) -> Result<CheckedProgram, Error> {
    let sides: HashMap<NodeId, Sides> =
        program.nodes().iter().filter_map(|node| Some((node.id, Sides::of(program, node, fuse)?))).collect();
    let gone: HashSet<NodeId> =
        sides.values().flat_map(|sides| &sides.parts).flat_map(|part| part.moved.iter().copied()).collect();
    if gone.is_empty() {
        return Ok(program.clone());
    }
    let (mut rewritten, mut ids) = (ArrayProgram::new(), HashMap::new());
    for node in program.nodes().iter().filter(|node| !gone.contains(&node.id)) {
        let id = match (sides.get(&node.id), node.operation.control()) {
            (Some(sides), Some(control)) => {
                let operation = control.with_programs(sides.programs(program, control.programs()));
                let inputs = sides.inputs.iter().map(|input| ids[&input.0.into()]).collect();
                rewritten.add_shared(operation, inputs, node.rank, node.types.clone(), node.place)
            }
            _ => add(&mut rewritten, node, &ids),
        };
        ids.insert(node.id.0.into(), id);
    }
    program.results().iter().for_each(|result| rewritten.give(ids[&result.0.into()]));
    CheckedProgram::new(rewritten)
}

/// A branch after arrays were moved into its sides.
struct Sides {
    /// Inputs of the rewritten branch.
    inputs: Vec<NodeId>,
    /// For each input of the old branch, its number among those; `None` if it is computed inside.
    numbers: Vec<Option<u32>>,
    parts: Vec<Inside>,
    /// The arrays that were inputs, by their numbers.
    before: Vec<NodeId>,
}

/// Arrays that are computed inside of one side.
#[derive(Default)]
struct Inside {
    /// Arrays that nothing else needs.
    moved: HashSet<NodeId>,
    /// Arrays that are also computed elsewhere, because they cost no memory.
    copied: HashSet<NodeId>,
}

impl Sides {
    /// Finds the arrays that can be moved into a branch; `None` if there are none, or if the node is no branch.
    fn of(program: &ArrayProgram, branch: &Node, fuse: bool) -> Option<Sides> {
        let control = branch.operation.control()?;
        if control.as_loop().is_some() || control.is_seen() || control.programs().len() < 2 {
            return None;
        }
        let memory = in_memory(&with_control_inputs(program), fuse);
        let parts = (0..control.programs().len()).map(|side| {
            let moved = only_for(program, branch, side);
            Inside::new(program, moved, &memory)
        });
        let parts: Vec<Inside> = parts.collect();
        parts.iter().any(|part| !part.moved.is_empty()).then(|| {
            let is_moved = |id: &NodeId| parts.iter().any(|part| part.moved.contains(id));
            let mut inputs: Vec<NodeId> = Vec::new();
            let numbers = branch.inputs.iter().map(|input| {
                (!is_moved(input)).then(|| {
                    inputs.push(*input);
                    inputs.len() as u32 - 1
                })
            });
            let numbers = numbers.collect();
            for part in &parts {
                let new: Vec<NodeId> = part.takes(program).filter(|id| !inputs.contains(id)).collect();
                inputs.extend(new);
            }
            Sides { inputs, numbers, parts, before: branch.inputs.clone() }
        })
    }

    /// The programs of the sides, which compute the moved arrays.
    fn programs(&self, program: &ArrayProgram, sides: &[ArrayProgram]) -> Vec<ArrayProgram> {
        let with_inside = |(part, side): (&Inside, &ArrayProgram)| {
            let (mut rewritten, mut outer) = (ArrayProgram::new(), HashMap::new());
            let taken: HashSet<NodeId> = part.takes(program).collect();
            for node in program.nodes() {
                let number = self.inputs.iter().position(|input| *input == node.id);
                let id = match number.filter(|_| taken.contains(&node.id)) {
                    Some(number) => {
                        rewritten.add(Argument(number as u32), &[], node.rank, &node.types, node.place)
                    }
                    None if part.has(node.id) => add(&mut rewritten, node, &outer),
                    None => continue,
                };
                outer.insert(node.id.0.into(), id);
            }
            let mut ids: HashMap<u64, NodeId> = HashMap::new();
            for node in side.nodes() {
                let id = match node.operation.given() {
                    Some(Given::Argument(number)) => match self.numbers[number as usize] {
                        Some(number) => {
                            rewritten.add(Argument(number), &[], node.rank, &node.types, node.place)
                        }
                        None => outer[&self.before[number as usize].0.into()],
                    },
                    _ => add(&mut rewritten, node, &ids),
                };
                ids.insert(node.id.0.into(), id);
            }
            side.results().iter().for_each(|result| rewritten.give(ids[&result.0.into()]));
            rewritten
        };
        self.parts.iter().zip(sides).map(with_inside).collect()
    }
}

impl Inside {
    /// Returns the arrays computed inside if `moved` is moved there; none if one of them needs elements that another operation hands on.
    fn new(program: &ArrayProgram, moved: HashSet<NodeId>, memory: &HashSet<NodeId>) -> Inside {
        let mut part = Inside { moved, copied: HashSet::new() };
        let mut waiting: Vec<NodeId> = part.moved.iter().copied().collect();
        while let Some(id) = waiting.pop() {
            for array in before(program.node(id)) {
                let node = program.node(array);
                if part.has(array) || is_there(node) || memory.contains(&array) {
                    continue;
                }
                match node.operation.nature() {
                    Nature::Pull | Nature::Loose => {
                        part.copied.insert(array);
                        waiting.push(array);
                    }
                    _ => return Inside::default(),
                }
            }
        }
        part
    }

    fn has(&self, id: NodeId) -> bool {
        self.moved.contains(&id) || self.copied.contains(&id)
    }

    /// The arrays from outside that are taken, in order.
    fn takes<'a>(&'a self, program: &'a ArrayProgram) -> impl Iterator<Item = NodeId> + 'a {
        let inside = program.nodes().iter().filter(|node| self.has(node.id));
        let taken: HashSet<NodeId> = inside.flat_map(before).filter(|id| !self.has(*id)).collect();
        program.nodes().iter().map(|node| node.id).filter(move |id| taken.contains(id))
    }
}

/// Whether an array is in memory without being computed here, or is the result of a loop or a branch.
fn is_there(node: &Node) -> bool {
    node.operation.nature() == Nature::Given
}

/// The arrays before a branch that only one of its sides needs, in whatever way.
fn only_for(program: &ArrayProgram, branch: &Node, side: usize) -> HashSet<NodeId> {
    let takes = |nested: &ArrayProgram, input: usize| {
        let is_it = |node: &Node| matches!(node.operation.given(), Some(Given::Argument(number)) if number as usize == input);
        nested.nodes().iter().any(is_it)
    };
    let looks_at = branch.operation.control().map_or(0, |control| control.looks_at());
    let is_mine = |input: usize| {
        let mut programs = branch.programs().iter().enumerate();
        input >= looks_at && programs.all(|(number, nested)| takes(nested, input) == (number == side))
    };
    let mut users: HashMap<NodeId, Vec<&Node>> = HashMap::new();
    for node in program.nodes() {
        before(node).for_each(|array| users.entry(array).or_default().push(node));
    }
    let mut moved: HashSet<NodeId> = HashSet::new();
    for node in program.nodes()[..branch.id.0 as usize].iter().rev() {
        let mine = |user: &&Node| match user.id == branch.id {
            true => (0..).zip(&branch.inputs).all(|(number, input)| *input != node.id || is_mine(number)),
            false => moved.contains(&user.id),
        };
        let has_users = users.get(&node.id).is_some_and(|users| users.iter().all(mine));
        if has_users && !is_there(node) && !program.results().contains(&node.id) {
            moved.insert(node.id);
        }
    }
    moved
}
