//! Groups of arrays that are computed together, by one kernel or by kernels that follow each other: they load the same elements, or are so small
//! that a launch costs more than they do. Nothing is lowered here.

use super::planner::Planner;
use crate::form::Form;
use crate::lower::{HeardFrom, Lowering};
use crate::operations::{Fold, SmallLoopResult};
use crate::program::{Node, NodeId};
use std::collections::HashSet;

/// Scalars that kernels compute together at most: each is a register or more in every thread.
const MOST_TOGETHER: usize = 8;

/// Elements up to which writing an array costs less than launching a kernel for it: one block's.
const SMALL: i64 = 1024;

/// Way in which arrays are computed together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// By producers of one kind.
    Produced,
    /// By operations that hear one producer.
    Heard,
    /// As pulls of one shape, which are written.
    Written,
    /// As the arrays of one loop.
    Looped,
    /// As pulls of one shape, which are written, and operations that hear the elements that they read in step.
    WrittenAndHeard,
}

impl Together {
    /// Why several arrays come out of one kernel.
    pub(super) fn sentence(self, group: &[&Node]) -> Option<String> {
        let mut operations: Vec<&str> = group.iter().map(|node| node.place.operation()).collect();
        operations.dedup();
        let names = operations.join(", ");
        let sentence = match self {
            Together::Looped => "the arrays of the loop fit one block, so all its rounds are one kernel",
            _ if group.len() < 2 => return None,
            Together::Produced => "they fold rows of one shape, of arrays that they have in common",
            Together::Heard => "they take the same elements, which are loaded once",
            Together::Written => "they have one size, and load the same elements or are small",
            Together::WrittenAndHeard => "what one of them writes the others read at the same index",
        };
        Some(format!("{} arrays are computed together ({names}): {sentence}", group.len()))
    }
}

impl Planner<'_> {
    /// The arrays that are computed together with one: in one way, from an array that they all read, and from nothing that is not
    /// there yet. Small pulls of one size need not read the same: they save a launch. An array that was postponed for the sake of loads
    /// comes in where it shares them.
    pub(super) fn group<'b>(
        &'b self,
        node: &'b Node,
        (done, postponed): (&HashSet<NodeId>, &HashSet<NodeId>),
        lowering: &Lowering<'_>,
    ) -> (Vec<&'b Node>, Together) {
        let Planner { program, profile, options, extents, forms, .. } = *self;
        if node.operation.as_any().is::<SmallLoopResult>() {
            let given = program.given_by(node.id).filter(|(id, _)| forms.is_manifest(*id));
            return (given.map(|(id, _)| program.node(id)).collect(), Together::Looped);
        }
        // An array without elements, or of elements without scalars, takes no kernel that others could share.
        let is_nothing = |node: &Node| extents.size(node.id) == 0 || node.types.is_empty();
        if !options.fuse || !options.together || is_nothing(node) {
            return (vec![node], Together::Produced);
        }
        let producer = |node: &Node| match forms.of(node.id) {
            Some(Form::Push { producer, .. }) => Some(program.node(*producer)),
            _ => None,
        };
        if let Some(from) = lowering.hears(node) {
            let is_common = matches!(from, HeardFrom::Producer(_));
            let (mut hearers, first) = (1, producer(node).unwrap_or(node));
            // It is written row by row, and has a number of elements that others may hear.
            let by_rows = profile.coalesces
                && matches!(from, HeardFrom::Indices(_))
                && self.is_written_pull(node)
                && extents.is_known(node.id);
            let numbers = HeardFrom::Numbers(extents.size(node.id));
            let in_step = |other: &Node, read: NodeId| {
                let hearer = producer(other).unwrap_or(other);
                lowering.reads_in_step(hearer.id, read) && !self.reads_besides(other, hearer, lowering, read)
            };
            let group = self.readers(node, done, in_step, |other, in_common| {
                let hearer = producer(other).unwrap_or(other);
                // An array that is not there yet is written here.
                let reads_written = || self.reads(other).iter().any(|read| !done.contains(read));
                let moving = postponed.contains(&node.id) != postponed.contains(&other.id);
                let pays =
                    || is_common || lowering.load_in_common(first.id, hearer.id, moving) || reads_written();
                let theirs = lowering.hears(other);
                let hears_rows = || {
                    by_rows
                        && theirs.as_ref() == Some(&numbers)
                        && hearer.operation.hears_from_any_blocks()
                        && reads_written()
                };
                let hears = !is_nothing(other)
                    && (theirs.as_ref() == Some(&from) || hears_rows())
                    && ((in_common && pays()) || (self.is_small_pull(node) && self.is_small_pull(other)))
                    && hearer.operation.hears_as_well(lowering, hearer, hearers + 1);
                hearers += u32::from(hears);
                hears
            });
            let is_pull = |node: &&Node| forms.of(node.id) == Some(&Form::Pull);
            let all = |form: fn(&Form) -> bool| group.iter().all(|node| forms.of(node.id).is_some_and(form));
            if group.len() > 1 && !is_common && group.iter().all(is_pull) {
                return (group, Together::Written);
            }
            let reads_another = |pull: &&Node| {
                self.is_written_pull(pull) && group.iter().any(|other| self.reads(pull).contains(&other.id))
            };
            if by_rows && group.len() > 1 && !group.iter().any(reads_another) {
                return (group, Together::WrittenAndHeard);
            }
            // A CPU's thread takes elements one by one, which is slower than a fold by itself.
            let pays = is_common
                || (profile.coalesces && !by_rows && !all(|form| matches!(form, Form::Push { .. })));
            if group.len() > 1 && pays && first.operation.hears_as_well(lowering, first, hearers) {
                return (group, Together::Heard);
            }
            // Pulls read in step only arrays that other pulls have written, so they can do without the rest.
            let pulls: Vec<&Node> = group.into_iter().filter(is_pull).collect();
            if is_pull(&node) && pulls.len() > 1 {
                return (pulls, Together::Written);
            }
        }
        let key = |node: &Node| {
            let producer = producer(node)?;
            Some((producer.operation.keyword(), producer.operation.shares(lowering, producer)?))
        };
        let Some(mine) = key(node) else { return (vec![node], Together::Produced) };
        let alike = |other: &Node, in_common: bool| in_common && key(other).as_ref() == Some(&mine);
        (self.readers(node, done, |_, _| false, alike), Together::Produced)
    }

    /// Single values that follow from the results of folds among these arrays, and from arrays that exist already: the thread with the results
    /// computes them too, which saves launches.
    pub(super) fn followers(&self, group: &[&Node], done: &HashSet<NodeId>) -> Vec<&Node> {
        let is_result = |node: &&&Node| {
            let Some(Form::Push { producer, .. }) = self.forms.of(node.id) else { return false };
            node.rank == 0 && self.program.node(*producer).operation.as_any().is::<Fold>()
        };
        let results: HashSet<NodeId> = group.iter().filter(is_result).map(|node| node.id).collect();
        if !self.options.fuse || !self.options.together || results.is_empty() {
            return Vec::new();
        }
        let follows = |node: &&Node| {
            let is_single = node.rank == 0 && !node.types.is_empty() && self.is_written_pull(node);
            let reads = || self.reads(node);
            is_single
                && !done.contains(&node.id)
                && !reads().is_disjoint(&results)
                && reads().iter().all(|read| done.contains(read) || results.contains(read))
        };
        self.program.nodes().iter().filter(follows).take(MOST_TOGETHER).collect()
    }

    /// Returns the arrays computed together that nothing else reads, and that are no results.
    pub(super) fn unread(&self, group: &[&Node]) -> Vec<NodeId> {
        let is_here = |node: &Node| group.iter().any(|member| member.id == node.id);
        let needs_memory = |array: NodeId| {
            let others = self.program.nodes().iter().filter(|node| self.forms.is_manifest(node.id));
            others.filter(|node| !is_here(node)).any(|other| self.reads(other).contains(&array))
        };
        let is_unread = |node: &&&Node| {
            self.is_written_pull(node)
                && !self.program.results().contains(&node.id)
                && !needs_memory(node.id)
                && group.iter().any(|other| self.reads(other).contains(&node.id))
        };
        group.iter().filter(is_unread).map(|node| node.id).collect()
    }

    /// Whether an array is written by a kernel that goes through its indices.
    pub(super) fn is_written_pull(&self, node: &Node) -> bool {
        self.forms.is_manifest(node.id) && self.forms.of(node.id) == Some(&Form::Pull)
    }

    /// Whether an array is written by such a kernel, in less time than launching it takes.
    pub(super) fn is_small_pull(&self, node: &Node) -> bool {
        self.is_written_pull(node) && self.extents.size(node.id) <= SMALL
    }

    /// An array and those of the others that `fits` says, which is told whether one reads an array which the first reads too, or
    /// one of these in step. They need nothing that is not there yet.
    fn readers<'b>(
        &'b self,
        node: &'b Node,
        done: &HashSet<NodeId>,
        in_step: impl Fn(&Node, NodeId) -> bool,
        mut fits: impl FnMut(&Node, bool) -> bool,
    ) -> Vec<&'b Node> {
        let (mut group, mut columns) = (vec![node], node.types.len());
        let mut reads = self.reads(node);
        reads.insert(node.id);
        for other in self.program.nodes() {
            let new = self.forms.is_manifest(other.id) && !done.contains(&other.id) && other.id != node.id;
            if !new || columns + other.types.len() > MOST_TOGETHER {
                continue;
            }
            let theirs = self.reads(other);
            let is_written = |read: &NodeId| {
                group.iter().any(|node| node.id == *read && self.is_written_pull(node))
                    && in_step(other, *read)
            };
            let ready = theirs.iter().all(|read| done.contains(read) || is_written(read));
            if ready && fits(other, theirs.iter().any(|read| reads.contains(read))) {
                columns += other.types.len();
                reads.insert(other.id);
                group.push(other);
            }
        }
        group
    }

    /// Whether the kernels that write an array read another one by other ways than the elements that its operation hears.
    fn reads_besides(&self, node: &Node, hearer: &Node, lowering: &Lowering<'_>, read: NodeId) -> bool {
        let Some(heard) = lowering.gathered(hearer.id).filter(|heard| *heard != hearer.id) else {
            return false;
        };
        let others = hearer.inputs.iter().copied().filter(|input| *input != heard);
        let others: Vec<NodeId> = others.chain(hearer.reads()).collect();
        let is_twice = hearer.inputs.iter().filter(|input| **input == heard).count() > 1;
        // The operations between the hearer and the array may read further arrays, besides the hearer's results.
        let after = if node.id == hearer.id { Vec::new() } else { self.inputs_of(node) };
        let after = after.into_iter().filter(|input| *input != hearer.id);
        is_twice || self.reached(others.into_iter().chain(after).collect(), Some(hearer.id)).contains(&read)
    }

    /// The arrays in memory that the kernel which writes an array reads.
    pub(super) fn reads(&self, node: &Node) -> HashSet<NodeId> {
        self.reached(self.inputs_of(node), None)
    }

    /// The arrays that an array is computed from: those of which it has elements, and those whose kernels find a length that it mentions.
    pub(super) fn inputs_of(&self, node: &Node) -> Vec<NodeId> {
        let cell = |(array, dimension): (NodeId, u32)| {
            self.extents.lengths(array).get(dimension as usize).and_then(|length| length.cell)
        };
        let inputs = node.inputs.iter().copied().chain(node.reads());
        inputs.chain(node.mentions().filter_map(cell)).collect()
    }

    /// The arrays in memory that are read to compute others, apart from those that one of these reads.
    fn reached(&self, mut waiting: Vec<NodeId>, apart_from: Option<NodeId>) -> HashSet<NodeId> {
        let mut found = HashSet::new();
        let mut seen: HashSet<NodeId> = apart_from.into_iter().collect();
        while let Some(id) = waiting.pop() {
            if self.forms.is_manifest(id) {
                found.insert(id);
            } else if seen.insert(id) {
                waiting.extend(self.inputs_of(self.program.node(id)));
            }
        }
        found
    }
}
