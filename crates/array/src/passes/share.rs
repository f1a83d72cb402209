//! Makes one array of those that are described alike: common array subexpressions.
//!
//! Needs: nothing. Leaves: no two arrays of the same operation, functions and inputs, but for those that have effects of their own.
//! Places are no part of an array's identity: a failure names the first place that described it.

use super::rewrite;
use crate::error::Error;
use crate::operation::Given;
use crate::program::{ArrayProgram, Node, NodeId, NodeIdentity};
use crate::verify::CheckedProgram;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Rewrites a program.
pub(super) fn run(program: &CheckedProgram) -> Result<CheckedProgram, Error> {
    // The first of two that are alike have the same inputs.
    let mut known = HashSet::new();
    if !program.nodes().iter().filter_map(what_it_is).any(|identity| !known.insert(identity)) {
        return Ok(program.clone());
    }
    let mut known: HashMap<_, NodeId> = HashMap::new();
    rewrite(program, |rewritten: &mut ArrayProgram, node, operation, inputs| {
        let node = Node { operation, inputs, ..node.clone() };
        let identity = what_it_is(&node);
        if let Some(same) = identity.as_ref().and_then(|identity| known.get(identity)) {
            return *same;
        }
        let id = rewritten.add_shared(node.operation, node.inputs, node.rank, node.types, node.place);
        known.extend(identity.map(|identity| (identity, id)));
        id
    })
}

/// All that matters about an array besides its place; nothing if there may be only one like it.
fn what_it_is(node: &Node) -> Option<(NodeIdentity, Option<*const ()>)> {
    // Data that exists is the same only if it is the very same.
    let data = match node.operation.given() {
        Some(Given::Data(data)) => Some(Arc::as_ptr(data).cast::<()>()),
        _ => None,
    };
    // An operation that the host runs may have effects, which happen as often as it is described.
    let is_seen = node.operation.control().is_some();
    let identity = node.identity_at(None).filter(|_| !is_seen)?;
    Some((identity, data))
}
