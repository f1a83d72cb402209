//! Choices of the planner that save memory traffic: which arrays wait for others that read the same, and which are computed twice
//! rather than written and read back. Both change when and where elements are computed, never their values.

use super::planner::Planner;
use crate::lower::Lowering;
use crate::program::{Node, NodeId};
use std::collections::HashSet;

impl Planner<'_> {
    /// Whether an array had better be computed later: nothing reads it, and another one, which cannot be computed yet, will load
    /// elements that it loads too, and none that can be does.
    pub(super) fn is_better_later(
        &self,
        node: &Node,
        done: &HashSet<NodeId>,
        lowering: &Lowering<'_>,
    ) -> bool {
        let is_candidate = self.options.fuse
            && self.options.together
            && self.profile.coalesces
            && self.is_written_pull(node)
            && !self.is_small_pull(node);
        if !is_candidate || self.readers_of(node.id).next().is_some() {
            return false;
        }
        let from = lowering.hears(node);
        let shares = |other: &&Node| {
            other.id != node.id
                && !done.contains(&other.id)
                && self.is_written_pull(other)
                && lowering.hears(other) == from
                && lowering.load_in_common(node.id, other.id, true)
        };
        let is_ready = |other: &&Node| self.reads(other).iter().all(|read| done.contains(read));
        let others: Vec<&Node> = self.program.nodes().iter().filter(shares).collect();
        from.is_some() && !others.is_empty() && !others.iter().any(is_ready)
    }

    /// Returns the arrays written in one kernel, and heard there, that need not be written: one other kernel reads them, at the
    /// index that is at work there, and computes them once more with fewer bytes moved.
    pub(super) fn recomputed(
        &self,
        group: &[&Node],
        done: &HashSet<NodeId>,
        lowering: &Lowering<'_>,
    ) -> Vec<NodeId> {
        let is_here = |node: &Node| group.iter().any(|member| member.id == node.id);
        let is_recomputed = |pull: &&&Node| {
            let readers: Vec<&Node> = self.readers_of(pull.id).filter(|reader| !is_here(reader)).collect();
            let [reader] = readers[..] else { return false };
            self.is_written_pull(pull)
                && !self.program.results().contains(&pull.id)
                && !done.contains(&reader.id)
                && self.is_written_pull(reader)
                && self.extents.classes(reader.id) == self.extents.classes(pull.id)
                && lowering.reads_in_step(reader.id, pull.id)
                && lowering.is_better_recomputed(pull.id)
        };
        group.iter().filter(is_recomputed).map(|pull| pull.id).collect()
    }

    /// The arrays whose kernels read an array in memory.
    fn readers_of(&self, array: NodeId) -> impl Iterator<Item = &Node> {
        let in_memory = self.program.nodes().iter().filter(|node| self.forms.is_manifest(node.id));
        in_memory.filter(move |node| self.reads(node).contains(&array))
    }
}
