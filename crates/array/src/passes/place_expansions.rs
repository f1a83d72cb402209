//! Gives the elements of expansions an index, where somebody needs one.
//!
//! Needs: nothing. Leaves: every `expand` has one user, which takes its elements in any order and does not ask how many there
//! are, perhaps through maps and filters. Any other expansion has become a function of the index: sizes are added up (`ends`),
//! their sum is the extent, and the source of an element is found by halving. So it is a pull like any other: what
//! follows fuses with it, and it is in memory only if that is better.

use crate::error::Error;
use crate::operation::{Listens, Nature};
use crate::operations::{Expand, Fold, Generate, Gives, Scan, ZipWith};
use crate::program::{ArrayProgram, Node, NodeId, renumbered};
use crate::reduction::instantiate;
use crate::verify::CheckedProgram;
use pumice_scalar::{ElementOf, Exp, Function, Op, ScalarType, Term, Variable, function, while_};
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
    let read = |array: NodeId, column: usize, ty: ScalarType, index: &[Term]| {
        Term::element(ElementOf { array: array.0.into(), column: column as u32, ty, site: None }, index)
    };
    let end = |source: Exp<i64>| Exp::<i64>::from_term(read(ends, 0, ScalarType::I64, &[source.term()]));
    let extent = Variable::Extent { array: sources.0.into(), dimension: 0 };
    let element = function(WHOLE, |index| {
        let index = Exp::<i64>::from_term(index[0]);
        let count = Exp::<i64>::from_term(Term::variable(extent, ScalarType::I64));
        // The first source that ends behind the index.
        let halve = |(low, high): (Exp<i64>, Exp<i64>)| {
            let middle = (low + high) >> 1;
            let is_before = end(middle).le(index);
            (is_before.select(middle + 1, low), is_before.select(high, middle))
        };
        let (source, _) = while_((Exp::from(0), count), |(low, high)| low.lt(high), halve);
        let begin = source.gt(0).select(end((source - 1).max(0)), Exp::from(0));
        let column = |(column, ty): (usize, &ScalarType)| read(sources, column, *ty, &[source.term()]);
        let scalars = types.iter().enumerate().map(column);
        instantiate(&expand.get, &scalars.chain([(index - begin).term()]).collect::<Vec<_>>())
    });
    let shape = function(&[], |_| vec![read(total, 0, ScalarType::I64, &[])]);
    program.add(Generate { shape, element }, &[], 1, &node.types, place)
}

/// The sum of two numbers that are not negative, or the largest number if that is not one: too many for any array.
fn saturating_sum() -> Function {
    function(&[ScalarType::I64; 2], |terms| {
        let sum = Exp::<i64>::from_term(terms[0].binary(Op::Add, terms[1]));
        vec![sum.lt(0).select(Exp::from(i64::MAX), sum).term()]
    })
}
