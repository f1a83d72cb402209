//! Scheduling: assigns each node of an expression graph to the blocks of structured code that compute it.
//!
//! A node is placed once, in the innermost block that dominates its uses; a value that only one branch needs is
//! computed in that branch, and a loop invariant before the loop. Two kinds of nodes are placed once *per use*
//! instead of higher up: nodes that must not be evaluated where they are not demanded (guarded loads, checks, loops), and nodes that
//! depend on the variables of a loop that does not enclose the common dominator.
//!
//! Nodes that already have a value are not visited, so scheduling a few new nodes of a large graph costs little. Blocks are
//! nested up to a limit, so code that walks them may recurse. Nothing here recurses.

use crate::graph::{Id, Node};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Largest nesting depth of branches and loops.
///
/// C compilers refuse more than 256 nested brackets, and everything that walks structured code recurses: this keeps it
/// far from the end of a small stack.
pub const MAX_NESTING: usize = 200;

/// From this many levels on, a branch whose sides can be computed without harm is a choice between two values: a chain
/// of such branches may have any length.
const SPECULATED_FROM: usize = 64;

/// The error of branches and loops that are nested more than [`MAX_NESTING`] deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "conditions and loops are nested more than {MAX_NESTING} deep, which no device's compiler takes: use \
             `select` where both values may be computed, or look the value up in an array"
        )
    }
}

impl std::error::Error for TooDeep {}

/// One thing to do in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Compute a node that is neither a branch nor a loop.
    Compute(Id),
    /// Decide a branch.
    Branch {
        /// The branch.
        id: Id,
        /// The block for its first side.
        then: usize,
        /// The block for its second side.
        otherwise: usize,
    },
    /// Choose between the values of a branch both of whose sides are computed before.
    Select(Id),
    /// Run a loop.
    Loop {
        /// The loop.
        id: Id,
        /// The block that computes its condition; the body sees its values.
        header: usize,
        /// The block that computes the next values.
        body: usize,
    },
}

/// Structured code for some results of a graph.
#[derive(Debug, Default)]
pub struct Schedule {
    /// The blocks; the first is the outermost.
    pub blocks: Vec<Vec<Item>>,
    /// The variables of each loop that are used, by the loop's number.
    pub loop_variables: HashMap<u32, Vec<Id>>,
}

struct Block {
    parent: Option<usize>,
    /// Number of enclosing blocks.
    level: u32,
    /// Number of enclosing branches and loops.
    nesting: usize,
    /// The loop that this is the header or body of, and whether it is the header (done at least once).
    of_loop: Option<(u32, bool)>,
    /// The loops around it, in order of their numbers.
    loops: Vec<u32>,
    /// The other side, if this is one side of a branch.
    sibling: Option<usize>,
}

impl Schedule {
    /// Schedules the nodes that `results` need. `is_available` says which nodes have a value already. An error if branches and
    /// loops would be nested more than `room` deep, where they cannot be avoided.
    pub fn new(
        nodes: &[Node],
        results: &[Id],
        is_available: impl Fn(Id) -> bool,
        room: usize,
    ) -> Result<Schedule, TooDeep> {
        Scheduler::new(nodes, results, is_available, room).run(results)
    }
}

struct Scheduler<'a> {
    nodes: &'a [Node],
    /// The nodes that the results need and that have no value, operands before users.
    order: Vec<Id>,
    /// The position of each in the order.
    positions: HashMap<Id, usize>,
    /// The blocks in which each is used, by position.
    uses: Vec<Vec<usize>>,
    blocks: Vec<Block>,
    items: Vec<Vec<Item>>,
    room: usize,
}

impl<'a> Scheduler<'a> {
    fn new(nodes: &'a [Node], results: &[Id], is_available: impl Fn(Id) -> bool, room: usize) -> Self {
        let mut seen = HashSet::new();
        let mut order = Vec::new();
        let mut stack = results.to_vec();
        while let Some(id) = stack.pop() {
            if seen.insert(id) && !is_available(id) {
                order.push(id);
                nodes[id.0 as usize].for_each_operand(|operand| stack.push(operand));
            }
        }
        order.sort_unstable();
        let positions = order.iter().enumerate().map(|(position, id)| (*id, position)).collect();
        let root =
            Block { parent: None, level: 0, nesting: 0, of_loop: None, loops: Vec::new(), sibling: None };
        let uses = vec![Vec::new(); order.len()];
        Scheduler { nodes, order, positions, uses, blocks: vec![root], items: vec![Vec::new()], room }
    }

    fn run(mut self, results: &[Id]) -> Result<Schedule, TooDeep> {
        let position = |id: Id| self.positions.get(&id).copied();
        let needed = || self.order.iter().map(|id| &self.nodes[id.0 as usize]);
        let depends = loop_dependencies(needed(), position);
        let pinned = pinned(needed(), position);
        let speculated_from = SPECULATED_FROM.min(self.room);
        let mut loop_variables: HashMap<u32, Vec<Id>> = HashMap::new();
        results.iter().for_each(|&result| self.use_in(result, 0));
        // Users stand after their operands: when a node's turn comes, all its uses are known.
        for number in (0..self.order.len()).rev() {
            let id = self.order[number];
            let node = &self.nodes[id.0 as usize];
            if let Node::LoopVariable { number, .. } = node {
                loop_variables.entry(*number).or_default().push(id);
            }
            let uses = std::mem::take(&mut self.uses[number]);
            for place in self.settle(uses, depends.of(number), pinned[number]) {
                let deep = self.blocks[place].nesting >= speculated_from;
                let item = match node {
                    Node::Branch { .. } if deep && !pinned[number] => {
                        node.for_each_operand(|operand| self.use_in(operand, place));
                        Item::Select(id)
                    }
                    Node::Branch { condition, then, otherwise } => {
                        let then_block = self.open(place, None)?;
                        let otherwise_block = self.open(place, None)?;
                        self.blocks[then_block].sibling = Some(otherwise_block);
                        self.use_in(*condition, place);
                        then.iter().for_each(|&id| self.use_in(id, then_block));
                        otherwise.iter().for_each(|&id| self.use_in(id, otherwise_block));
                        Item::Branch { id, then: then_block, otherwise: otherwise_block }
                    }
                    Node::Loop { number, initial, condition, next } => {
                        let header = self.open(place, Some((*number, true)))?;
                        let body = self.open(header, Some((*number, false)))?;
                        initial.iter().for_each(|&id| self.use_in(id, place));
                        self.use_in(*condition, header);
                        next.iter().for_each(|&id| self.use_in(id, body));
                        Item::Loop { id, header, body }
                    }
                    node => {
                        node.for_each_operand(|operand| self.use_in(operand, place));
                        Item::Compute(id)
                    }
                };
                self.items[place].push(item);
            }
        }
        self.items.iter_mut().for_each(|block| block.reverse());
        Ok(Schedule { blocks: self.items, loop_variables })
    }

    fn use_in(&mut self, id: Id, block: usize) {
        if let Some(position) = self.positions.get(&id) {
            self.uses[*position].push(block);
        }
    }

    fn open(&mut self, parent: usize, of_loop: Option<(u32, bool)>) -> Result<usize, TooDeep> {
        let around = &self.blocks[parent];
        let mut loops = around.loops.clone();
        if let Some((number, _)) = of_loop
            && let Err(position) = loops.binary_search(&number)
        {
            loops.insert(position, number);
        }
        // A loop's header and body are one level.
        let nesting = around.nesting + if let Some((_, false)) = of_loop { 0 } else { 1 };
        if nesting > self.room {
            return Err(TooDeep);
        }
        let level = around.level + 1;
        self.blocks.push(Block { parent: Some(parent), level, nesting, of_loop, loops, sibling: None });
        self.items.push(Vec::new());
        Ok(self.blocks.len() - 1)
    }

    /// The blocks in which to compute a node that is used in these blocks.
    fn settle(&self, uses: Vec<usize>, depends: &[u32], pinned: bool) -> Vec<usize> {
        let mut places = self.merged(uses, depends, pinned);
        // A value that both sides of a branch demand is demanded wherever the branch is. (Without this, a chain of branches
        // that use the one before on both sides would double with every link.)
        while pinned && let Some(before) = self.before_both_sides(&places) {
            places.push(before);
            places = self.merged(places, depends, pinned);
        }
        places
    }

    /// The block around a branch both of whose sides are among these, which are in order.
    fn before_both_sides(&self, places: &[usize]) -> Option<usize> {
        let both = |place: &usize| {
            self.blocks[*place].sibling.is_some_and(|other| places.binary_search(&other).is_ok())
        };
        places.iter().find(|place| both(place)).and_then(|place| self.blocks[*place].parent)
    }

    fn merged(&self, mut uses: Vec<usize>, depends: &[u32], pinned: bool) -> Vec<usize> {
        uses.sort_unstable();
        uses.dedup();
        let mut places: Vec<usize> = match pinned {
            // Blocks have larger numbers than those around them.
            true => self.without_inner(std::mem::take(&mut uses)),
            false => Vec::new(),
        };
        for mut place in uses {
            let mut rest = Vec::new();
            for &other in &places {
                let common = self.common(place, other);
                let dominated = common == place || common == other;
                let loops = &self.blocks[common].loops;
                let visible = depends.iter().all(|number| loops.binary_search(number).is_ok());
                if dominated || visible {
                    place = common;
                } else {
                    rest.push(other);
                }
            }
            rest.push(place);
            places = rest;
        }
        for place in &mut places {
            *place = self.hoist(*place, depends, pinned);
        }
        places.sort_unstable();
        places.dedup();
        // One that has left a loop may stand around another one now.
        self.without_inner(places)
    }

    /// Returns the blocks among these, which are in order, that are not inside another one of them.
    fn without_inner(&self, places: Vec<usize>) -> Vec<usize> {
        let mut kept: HashSet<usize> = HashSet::new();
        let mut outer = Vec::new();
        for place in places {
            let around = std::iter::successors(Some(place), |place| self.blocks[*place].parent);
            if !around.into_iter().any(|block| kept.contains(&block)) {
                kept.insert(place);
                outer.push(place);
            }
        }
        outer
    }

    /// Out of the loops on whose variables the node does not depend. A pinned node leaves only a loop's header, which
    /// is done whenever the loop is reached.
    fn hoist(&self, mut place: usize, depends: &[u32], pinned: bool) -> usize {
        while let Block { parent: Some(parent), of_loop: Some((number, header)), .. } = self.blocks[place] {
            if depends.binary_search(&number).is_ok() || (pinned && !header) {
                break;
            }
            place = parent;
        }
        place
    }

    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.blocks[a].level < self.blocks[b].level {
                std::mem::swap(&mut a, &mut b);
            }
            a = self.blocks[a].parent.unwrap_or(0);
        }
        a
    }
}

/// For every node, the loops on whose variables it depends.
pub(crate) struct LoopDependencies {
    /// Sets of loops, in order; the first is empty. Few are different.
    sets: Vec<Vec<u32>>,
    /// The set of each node.
    of: Vec<usize>,
}

impl LoopDependencies {
    /// The loops that the node at a position depends on, in order of their numbers.
    pub(crate) fn of(&self, position: usize) -> &[u32] {
        &self.sets[self.of[position]]
    }
}

/// Finds the loops on which nodes depend, operands before users. `position` says where an operand stands; one without a
/// position has its value already.
pub(crate) fn loop_dependencies<'a>(
    nodes: impl Iterator<Item = &'a Node>,
    position: impl Fn(Id) -> Option<usize>,
) -> LoopDependencies {
    let mut found = LoopDependencies { sets: vec![Vec::new()], of: Vec::new() };
    let mut known: HashMap<Vec<u32>, usize> = HashMap::from([(Vec::new(), 0)]);
    for node in nodes {
        let mut sets: Vec<usize> = Vec::new();
        node.for_each_operand(|id| sets.extend(position(id).map(|position| found.of[position])));
        sets.sort_unstable();
        sets.dedup();
        let own = matches!(node, Node::Loop { .. } | Node::LoopVariable { .. });
        let set = match sets[..] {
            [] | [0] if !own => 0,
            [one] | [0, one] if !own => one,
            _ => {
                let mut all: Vec<u32> =
                    sets.iter().flat_map(|set| found.sets[*set].iter().copied()).collect();
                match node {
                    Node::LoopVariable { number, .. } => all.push(*number),
                    Node::Loop { number, .. } => all.retain(|other| other != number),
                    _ => {}
                }
                all.sort_unstable();
                all.dedup();
                *known.entry(all).or_insert_with_key(|all| {
                    found.sets.push(all.clone());
                    found.sets.len() - 1
                })
            }
        };
        found.of.push(set);
    }
    found
}

/// Finds for every node whether it must not be evaluated where it is not demanded: there, a load may be out of bounds, a
/// check may fail, and a loop may never end. A node that has its value already is safe.
fn pinned<'a>(nodes: impl Iterator<Item = &'a Node>, position: impl Fn(Id) -> Option<usize>) -> Vec<bool> {
    let mut pinned: Vec<bool> = Vec::new();
    for node in nodes {
        let mut mine = matches!(
            node,
            Node::Load { guarded: true, .. } | Node::Element { .. } | Node::Check { .. } | Node::Loop { .. }
        );
        node.for_each_operand(|id| mine |= position(id).is_some_and(|position| pinned[position]));
        pinned.push(mine);
    }
    pinned
}
