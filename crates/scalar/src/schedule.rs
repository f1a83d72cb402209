//! Where each node of an expression is computed: the step from a graph to structured code.
//!
//! A node is placed once, in the innermost block that dominates its uses; a value that only one branch needs is
//! computed in that branch, and what does not change in a loop before it. Two kinds of nodes are placed once *per use*
//! instead of higher up: what must not be evaluated where it is not demanded (guarded loads, checks, loops), and what
//! depends on the variables of a loop that does not enclose the common dominator.

use crate::graph::{Id, Node};
use std::collections::HashMap;

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
}

struct Block {
    parent: Option<usize>,
    level: u32,
    /// The loop that this is the header or body of, and whether it is the header (done at least once).
    of_loop: Option<(u32, bool)>,
    /// The loops around it, in order of their numbers.
    loops: Vec<u32>,
    /// The other side, if this is one side of a branch.
    sibling: Option<usize>,
}

impl Schedule {
    /// Schedules what `results` need. `is_available` says which nodes have a value already.
    pub fn new(nodes: &[Node], results: &[Id], is_available: impl Fn(Id) -> bool) -> Schedule {
        Scheduler::new(nodes).run(results, is_available)
    }
}

struct Scheduler<'a> {
    nodes: &'a [Node],
    blocks: Vec<Block>,
    places: Vec<Vec<usize>>,
}

impl<'a> Scheduler<'a> {
    fn new(nodes: &'a [Node]) -> Self {
        let root = Block { parent: None, level: 0, of_loop: None, loops: Vec::new(), sibling: None };
        Scheduler { nodes, blocks: vec![root], places: vec![Vec::new(); nodes.len()] }
    }

    fn run(mut self, results: &[Id], is_available: impl Fn(Id) -> bool) -> Schedule {
        let depends = loop_dependencies(self.nodes);
        let pinned = pinned(self.nodes);
        let mut items: Vec<Vec<(Id, Item)>> = vec![Vec::new()];
        for &result in results {
            self.places[result.0 as usize].push(0);
        }
        // Users stand after their operands: when a node's turn comes, all its uses are known.
        let highest = results.iter().map(|id| id.0 as usize + 1).max().unwrap_or(0);
        for number in (0..highest).rev() {
            let id = Id(number as u32);
            let uses = std::mem::take(&mut self.places[number]);
            if uses.is_empty() || is_available(id) {
                continue;
            }
            for place in self.settle(uses, depends.of(id), pinned[number]) {
                let item = match &self.nodes[number] {
                    Node::Branch { condition, then, otherwise } => {
                        let then_block = self.open(place, None);
                        let otherwise_block = self.open(place, None);
                        self.blocks[then_block].sibling = Some(otherwise_block);
                        items.resize_with(self.blocks.len(), Vec::new);
                        self.use_in(*condition, place);
                        then.iter().for_each(|&id| self.use_in(id, then_block));
                        otherwise.iter().for_each(|&id| self.use_in(id, otherwise_block));
                        Item::Branch { id, then: then_block, otherwise: otherwise_block }
                    }
                    Node::Loop { number, initial, condition, next } => {
                        let header = self.open(place, Some((*number, true)));
                        let body = self.open(header, Some((*number, false)));
                        items.resize_with(self.blocks.len(), Vec::new);
                        initial.iter().for_each(|&id| self.use_in(id, place));
                        self.use_in(*condition, header);
                        next.iter().for_each(|&id| self.use_in(id, body));
                        Item::Loop { id, header, body }
                    }
                    node => {
                        node.for_each_operand(|operand| self.places[operand.0 as usize].push(place));
                        Item::Compute(id)
                    }
                };
                items[place].push((id, item));
            }
        }
        let in_order = |mut block: Vec<(Id, Item)>| {
            block.reverse();
            block.into_iter().map(|(_, item)| item).collect()
        };
        Schedule { blocks: items.into_iter().map(in_order).collect() }
    }

    fn use_in(&mut self, id: Id, block: usize) {
        self.places[id.0 as usize].push(block);
    }

    fn open(&mut self, parent: usize, of_loop: Option<(u32, bool)>) -> usize {
        let mut loops = self.blocks[parent].loops.clone();
        if let Some((number, _)) = of_loop
            && let Err(position) = loops.binary_search(&number)
        {
            loops.insert(position, number);
        }
        let level = self.blocks[parent].level + 1;
        self.blocks.push(Block { parent: Some(parent), level, of_loop, loops, sibling: None });
        self.blocks.len() - 1
    }

    /// The blocks in which to compute a node that is used in these blocks.
    fn settle(&self, uses: Vec<usize>, depends: &[u32], pinned: bool) -> Vec<usize> {
        let mut places = self.merged(uses, depends, pinned);
        // What both sides of a branch demand is demanded wherever the branch is. (Without this, a chain of branches
        // that use the one before on both sides would double with every link.)
        while pinned && let Some(before) = self.before_both_sides(&places) {
            places.push(before);
            places = self.merged(places, depends, pinned);
        }
        places
    }

    /// The block around a branch both of whose sides are among these.
    fn before_both_sides(&self, places: &[usize]) -> Option<usize> {
        let both = |place: &usize| self.blocks[*place].sibling.is_some_and(|other| places.contains(&other));
        places.iter().find(|place| both(place)).and_then(|place| self.blocks[*place].parent)
    }

    fn merged(&self, mut uses: Vec<usize>, depends: &[u32], pinned: bool) -> Vec<usize> {
        uses.sort_unstable();
        uses.dedup();
        let mut places: Vec<usize> = Vec::new();
        for mut place in uses {
            let mut rest = Vec::new();
            for &other in &places {
                let common = self.common(place, other);
                let dominated = common == place || common == other;
                let loops = &self.blocks[common].loops;
                let visible = depends.iter().all(|number| loops.binary_search(number).is_ok());
                if dominated || (!pinned && visible) {
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
        places
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
    /// The loops that a node depends on, in order of their numbers.
    pub(crate) fn of(&self, id: Id) -> &[u32] {
        &self.sets[self.of[id.0 as usize]]
    }
}

pub(crate) fn loop_dependencies(nodes: &[Node]) -> LoopDependencies {
    let mut found = LoopDependencies { sets: vec![Vec::new()], of: Vec::with_capacity(nodes.len()) };
    let mut known: HashMap<Vec<u32>, usize> = HashMap::from([(Vec::new(), 0)]);
    for node in nodes {
        let mut sets: Vec<usize> = Vec::new();
        node.for_each_operand(|id| sets.push(found.of[id.0 as usize]));
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

/// For every node, whether it must not be evaluated where it is not demanded: there, a load may be out of bounds, a
/// check may fail, and a loop may never end.
fn pinned(nodes: &[Node]) -> Vec<bool> {
    let mut pinned: Vec<bool> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut mine =
            matches!(node, Node::Load { guarded: true, .. } | Node::Check { .. } | Node::Loop { .. });
        node.for_each_operand(|id| mine |= pinned[id.0 as usize]);
        pinned.push(mine);
    }
    pinned
}
