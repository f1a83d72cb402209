//! Adds up the sizes of expansions, where elements need an index or are to be divided evenly.
//!
//! Needs: nothing. Leaves: the users of an `expand` take its elements in any order and do not ask for their number, perhaps
//! through maps, filters and further expansions. Any other expansion has become one in order: sizes are added up (`ends`), their sum is
//! the extent, and a push hands every element on at its index. Where the division asked for is [`Division::Balanced`], an `expand` has such ends
//! too, unless its sources are the elements of another one as they come: those are never in memory, and nor are sums over them.

use super::rewrite;
use crate::error::Error;
use crate::form::RECOMPUTE;
use crate::operation::{Listens, Nature};
use crate::operations::{Compute, Expand, ExpandInOrder, Fold, Gives, Scan, ZipWith};
use crate::plan::PlanOptions;
use crate::program::{ArrayProgram, Node, NodeId};
use crate::reduction::instantiate;
use crate::verify::CheckedProgram;
use pumice_kernel::skeletons::Division;
use pumice_scalar::{ElementOf, Exp, Function, Node as ScalarNode, Op, ScalarType, Term, function};
use std::collections::HashSet;

/// Way in which an expansion hands on its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As they come, from sizes that are met when their sources are.
    Loose,
    /// As they come, in equal shares.
    Balanced,
    /// By index.
    InOrder,
}

/// Rewrites a program; without fusion no `expand` is left.
pub(super) fn run(program: &CheckedProgram, options: &PlanOptions) -> Result<CheckedProgram, Error> {
    let is_loose = |node: &Node| {
        let expand = node.operation.as_any().downcast_ref::<Expand>();
        expand.map(|expand| options.fuse && is_only_gathered(program, node, expand))
    };
    let balances = options.division == Some(Division::Balanced);
    let way = |node: &Node| match is_loose(node)? {
        false => Some(Way::InOrder),
        true if balances && !hears_another(program, node, is_loose) => Some(Way::Balanced),
        true => Some(Way::Loose),
    };
    if program.nodes().iter().all(|node| way(node).is_none_or(|way| way == Way::Loose)) {
        return Ok(program.clone());
    }
    rewrite(program, |rewritten, node, operation, inputs| {
        match (operation.as_any().downcast_ref::<Expand>(), way(node)) {
            (Some(expand), Some(Way::InOrder)) => place(rewritten, expand, node, inputs[0]),
            (Some(expand), Some(Way::Balanced)) => balance(rewritten, expand, node, inputs[0]),
            _ => rewritten.add_shared(operation, inputs, node.rank, node.types.clone(), node.place),
        }
    })
}

/// Whether the sources of an expansion are the elements of another one as they come, perhaps through maps and filters. `is_loose` tells of an
/// expansion whether its elements are taken as they come.
fn hears_another(program: &ArrayProgram, expansion: &Node, is_loose: impl Fn(&Node) -> Option<bool>) -> bool {
    let mut array = expansion;
    while let Some(input) = array.inputs.first() {
        array = program.node(*input);
        match (is_loose(array), array.operation.nature()) {
            (Some(is_loose), _) => return is_loose,
            (None, Nature::Pull | Nature::Loose) => {}
            (None, _) => return false,
        }
    }
    false
}

/// Whether the elements of an expansion go only to operations that take them as they come. Of those that need each other's
/// results every one makes the elements anew, which must cost little.
fn is_only_gathered(program: &ArrayProgram, expansion: &Node, expand: &Expand) -> bool {
    let Some(hearers) = hearers(program, expansion.id, !reads_arrays(&expand.get)) else { return false };
    let costs_little = expand.size.cost().saturating_add(expand.get.cost()) <= RECOMPUTE;
    costs_little || !depend_on_each_other(program, &hearers)
}

/// The operations that take the elements of an expansion as they come, through maps, filters and further expansions; `None` if
/// one needs an index or the number of elements. `steady` is whether the elements of a source differ only by their
/// number.
fn hearers(program: &ArrayProgram, expansion: NodeId, steady: bool) -> Option<HashSet<NodeId>> {
    let mut hearers = HashSet::new();
    let mut waiting = vec![(expansion, steady)];
    while let Some((array, steady)) = waiting.pop() {
        if program.results().contains(&array) {
            return None;
        }
        for user in program.nodes() {
            if user.reads().contains(&array) || user.mentions().any(|(mentioned, _)| mentioned == array) {
                return None;
            }
            let operation = &user.operation;
            for (position, _) in user.inputs.iter().enumerate().filter(|(_, input)| **input == array) {
                let is_steady = |functions: &[&Function]| !functions.iter().any(|of| reads_arrays(of));
                match (operation.nature(), operation.expands()) {
                    (Nature::Pull | Nature::Loose, _) => {
                        if operation.listens(position) != Listens::Maps || user.inputs.len() != 1 {
                            return None;
                        }
                        waiting.push((user.id, steady && is_steady(&operation.functions())));
                    }
                    // One thread makes all elements of one. Sizes that do not come from memory change little from one to the
                    // next, so no thread is left with most of the work.
                    (_, Some((size, get))) if steady && is_steady(&[size]) => {
                        waiting.push((user.id, is_steady(&[get])));
                    }
                    _ if operation.gathers(user, position) && operation.takes_loose(position) => {
                        hearers.insert(user.id);
                    }
                    _ => return None,
                }
            }
        }
    }
    Some(hearers)
}

/// Whether a function reads elements of arrays by index.
fn reads_arrays(function: &Function) -> bool {
    function.nodes().iter().any(|node| matches!(node, ScalarNode::Element { .. }))
}

/// Whether one of these arrays is computed from another one.
fn depend_on_each_other(program: &ArrayProgram, arrays: &HashSet<NodeId>) -> bool {
    let mut after: HashSet<NodeId> = HashSet::new();
    for node in program.nodes() {
        let mentioned = node.mentions().map(|(array, _)| array);
        let mut before = node.inputs.iter().copied().chain(node.reads()).chain(mentioned);
        if before.any(|array| arrays.contains(&array) || after.contains(&array)) {
            if arrays.contains(&node.id) {
                return true;
            }
            after.insert(node.id);
        }
    }
    false
}

/// Instructions, roughly, from which on sources are computed once and kept: those of a loop.
const COSTLY: u32 = 1000;

/// Adds the operations that give the elements of an expansion by index; returns the last one's number.
fn place(program: &mut ArrayProgram, expand: &Expand, node: &Node, sources: NodeId) -> NodeId {
    let Ends { sources, sizes, ends } = add_ends(program, expand, node, sources);
    let place = node.place;
    // The host reads the sum of sizes before the rest is planned.
    let zero = function(&[], |_| vec![Exp::<i64>::from(0).term()]);
    let sum = Fold { operator: saturating_sum(), initial: Some(zero) };
    let total = program.add(sum, &[sizes], 0, WHOLE, place);
    let whole = function(&[], |_| {
        let of = ElementOf { array: total.0.into(), column: 0, ty: ScalarType::I64, site: None };
        vec![Term::element(of, &[])]
    });
    let expand = ExpandInOrder { total: whole, get: expand.get.clone() };
    program.add(expand, &[sources, ends], 1, &node.types, place)
}

/// Adds an expansion that knows where the elements of its sources end; returns its number.
fn balance(program: &mut ArrayProgram, expand: &Expand, node: &Node, sources: NodeId) -> NodeId {
    let Ends { sources, ends, .. } = add_ends(program, expand, node, sources);
    let expand = Expand { has_ends: true, ..expand.clone() };
    program.add(expand, &[sources, ends], 1, &node.types, node.place)
}

/// The sources of an expansion, their sizes, and where the elements of each end.
struct Ends {
    sources: NodeId,
    sizes: NodeId,
    ends: NodeId,
}

const WHOLE: &[ScalarType] = &[ScalarType::I64];

/// Adds the operations that add up the sizes of an expansion's sources.
fn add_ends(program: &mut ArrayProgram, expand: &Expand, node: &Node, sources: NodeId) -> Ends {
    let (place, types) = (node.place, program.node(sources).types.clone());
    let size = function(&types, |source| {
        let sizes = instantiate(&expand.size, source);
        sizes.into_iter().map(|size| Exp::<i64>::from_term(size).max(0).term()).collect()
    });
    // Sources are needed for their sizes and again for their elements: costly ones, such as the searches of joins, are materialised.
    let source = program.node(sources);
    let is_costly = source.operation.functions().iter().any(|function| function.cost() >= COSTLY);
    let sources = match is_costly {
        true => program.add(Compute, &[sources], 1, &types, place),
        false => sources,
    };
    let sizes = program.add(ZipWith { function: size }, &[sources], 1, WHOLE, place);
    let scan = Scan { operator: saturating_sum(), initial: None, gives: Gives::Inclusive, from_right: false };
    let ends = program.add(scan, &[sizes], 1, WHOLE, place);
    Ends { sources, sizes, ends }
}

/// The sum of two numbers that are not negative, or the largest number if that is not one: too many for any array.
fn saturating_sum() -> Function {
    function(&[ScalarType::I64; 2], |terms| {
        let sum = Exp::<i64>::from_term(terms[0].binary(Op::Add, terms[1]));
        vec![sum.lt(0).select(Exp::from(i64::MAX), sum).term()]
    })
}
