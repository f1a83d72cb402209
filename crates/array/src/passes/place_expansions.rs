//! Gives the elements of expansions an index, where somebody needs one.
//!
//! Needs: nothing. Leaves: every `expand` has one user, which takes its elements in any order and does not ask how many there
//! are, perhaps through maps and filters. Any other expansion has become one in order: sizes are added up (`ends`), their sum is
//! the extent, and a push hands every element on at its index.

use crate::error::Error;
use crate::operation::{Listens, Nature};
use crate::operations::{Expand, ExpandInOrder, Fold, Gives, Scan, ZipWith};
use crate::program::{ArrayProgram, Node, NodeId, renumbered};
use crate::reduction::instantiate;
use crate::verify::CheckedProgram;
use pumice_scalar::{ElementOf, Exp, Function, Op, ScalarType, Term, function};
use std::collections::HashMap;

/// Rewrites a program; without fusion no expansion is left.
pub(super) fn run(program: &CheckedProgram, fuse: bool) -> Result<CheckedProgram, Error> {
    let is_placed =
        |node: &Node| node.operation.as_any().is::<Expand>() && !(fuse && is_only_gathered(program, node.id));
    if !program.nodes().iter().any(is_placed) {
        return Ok(program.clone());
    }
    let mut rewritten = ArrayProgram::new();
    let mut numbers: HashMap<u64, NodeId> = HashMap::new();
    for node in program.nodes() {
        let operation = renumbered(&node.operation, &numbers);
        let inputs: Vec<NodeId> = node.inputs.iter().map(|input| numbers[&input.0.into()]).collect();
        let id = match operation.as_any().downcast_ref::<Expand>() {
            Some(expand) if is_placed(node) => place(&mut rewritten, expand, node, inputs[0]),
            _ => rewritten.add_shared(operation, inputs, node.rank, node.types.clone(), node.place),
        };
        numbers.insert(node.id.0.into(), id);
    }
    for result in program.results() {
        rewritten.give(numbers[&result.0.into()]);
    }
    CheckedProgram::new(rewritten)
}

/// Whether an array's elements go to one operation alone, which takes them as they come.
fn is_only_gathered(program: &ArrayProgram, array: NodeId) -> bool {
    let mentions = |node: &&Node| {
        node.reads().contains(&array) || node.mentions().any(|(mentioned, _)| mentioned == array)
    };
    if program.results().contains(&array) || program.nodes().iter().any(|node| mentions(&node)) {
        return false;
    }
    let mut uses = program.nodes().iter().flat_map(|node| {
        let positions = node.inputs.iter().enumerate().filter(|(_, input)| **input == array);
        positions.map(move |(position, _)| (node, position))
    });
    let (Some((user, position)), None) = (uses.next(), uses.next()) else { return false };
    let operation = &user.operation;
    match operation.nature() {
        Nature::Pull | Nature::Loose => {
            operation.listens(position) == Listens::Maps
                && user.inputs.len() == 1
                && is_only_gathered(program, user.id)
        }
        _ => operation.gathers(user, position) && operation.takes_loose(position),
    }
}

/// Adds the operations that give the elements of an expansion by index; returns the last one's number.
fn place(program: &mut ArrayProgram, expand: &Expand, node: &Node, sources: NodeId) -> NodeId {
    const WHOLE: &[ScalarType] = &[ScalarType::I64];
    let (place, types) = (node.place, program.node(sources).types.clone());
    let size = function(&types, |source| {
        let sizes = instantiate(&expand.size, source);
        sizes.into_iter().map(|size| Exp::<i64>::from_term(size).max(0).term()).collect()
    });
    let sizes = program.add(ZipWith { function: size }, &[sources], 1, WHOLE, place);
    let scan = Scan { operator: saturating_sum(), initial: None, gives: Gives::Inclusive, from_right: false };
    let ends = program.add(scan, &[sizes], 1, WHOLE, place);
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

/// The sum of two numbers that are not negative, or the largest number if that is not one: too many for any array.
fn saturating_sum() -> Function {
    function(&[ScalarType::I64; 2], |terms| {
        let sum = Exp::<i64>::from_term(terms[0].binary(Op::Add, terms[1]));
        vec![sum.lt(0).select(Exp::from(i64::MAX), sum).term()]
    })
}
