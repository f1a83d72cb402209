//! The verifier of array IR: finds the mistakes in a program that can be seen without extents.
//!
//! Past it, inputs stand before their users, and ranks, element types and the signatures of functions fit each other;
//! extents are checked by [`crate::extents`] when arguments are there.

use crate::error::Error;
use crate::operation::{Operation, Signature, ensure};
use crate::operations::{Fold, ZipWith};
use crate::program::{ArrayProgram, Node, NodeId, read};
use pumice_scalar::{
    Constant, ElementOf, Function, Id, Node as ScalarNode, Op, PlacedMessage, ScalarType, Variable, function,
};
use std::ops::Deref;
use std::sync::Arc;

/// Scalars of an element are numbered in 16 bits.
const MOST_COLUMNS: usize = 1 << 16;

/// An array program that has been verified: the witness that planning and interpreting ask for.
#[derive(Clone)]
pub struct CheckedProgram(ArrayProgram);

impl CheckedProgram {
    /// Verifies a program. An error names the operation and where it was written.
    pub fn new(program: ArrayProgram) -> Result<CheckedProgram, Error> {
        check_program(&program)?;
        Ok(CheckedProgram(program))
    }

    /// The part of the program that computes these arrays, which are its results.
    pub(crate) fn giving(&self, results: &[NodeId]) -> CheckedProgram {
        let mut program = self.0.clone();
        program.replace_results(results);
        CheckedProgram(program)
    }

    /// The program with other operations in the place of some, which have the same signatures and mean the same.
    pub(crate) fn with_operations(
        &self,
        operations: impl Iterator<Item = (NodeId, Arc<dyn Operation>)>,
    ) -> CheckedProgram {
        let mut program = self.0.clone();
        operations.for_each(|(id, operation)| program.replace_operation(id, operation));
        CheckedProgram(program)
    }

    /// The part of the program up to a vector, of which the result is the number of elements.
    pub(crate) fn count(&self, of: NodeId) -> CheckedProgram {
        let mut program = self.0.up_to(of);
        let array = program.node(of);
        let (types, place) = (array.types.clone(), array.place.named("count"));
        let one = function(&types, |_| vec![Constant::from(1i64).into()]);
        let ones = program.add(ZipWith { function: one }, &[of], 1, &[ScalarType::I64], place);
        let operator = function(&[ScalarType::I64; 2], |terms| vec![terms[0].binary(Op::Add, terms[1])]);
        let initial = function(&[], |_| vec![Constant::from(0i64).into()]);
        let count =
            program.add(Fold { operator, initial: Some(initial) }, &[ones], 0, &[ScalarType::I64], place);
        program.replace_results(&[count]);
        CheckedProgram(program)
    }
}

impl Deref for CheckedProgram {
    type Target = ArrayProgram;
    fn deref(&self) -> &ArrayProgram {
        &self.0
    }
}

/// Checks a program, and before each loop or branch the programs that it runs, which nest only so deep
/// ([`MOST_NESTED`](crate::control::MOST_NESTED)).
fn check_program(program: &ArrayProgram) -> Result<(), Error> {
    for node in program.nodes() {
        node.programs().iter().try_for_each(check_program)?;
        check(program, node).map_err(|mistake| Error::Program(PlacedMessage::at(mistake, node.place)))?;
    }
    match program.results().iter().all(|id| (id.0 as usize) < program.nodes().len()) {
        true => Ok(()),
        false => Err(Error::Program("a result is no array of the program".into())),
    }
}

fn check(program: &ArrayProgram, node: &Node) -> Result<(), String> {
    let functions = node.operation.functions();
    if let Some(mistake) = functions.iter().find_map(|function| function.mistake()) {
        return Err(mistake);
    }
    ensure(node.types.len() <= MOST_COLUMNS, "an element has too many scalars")?;
    ensure(
        !functions.into_iter().any(mentions_locals),
        "a value of a kernel stands in a function of an array program",
    )?;
    let before = |input: &NodeId| input.0 < node.id.0;
    ensure(node.inputs.iter().all(before), "an array is used before it is computed")?;
    for (array, dimension) in node.mentions() {
        ensure(before(&array), "an extent of an array that is not part of the program")?;
        let exists = (dimension as usize) < program.node(array).rank;
        ensure(exists, "an extent of a dimension that the array does not have")?;
    }
    let shaping = node.operation.shaping();
    ensure(
        shaping.into_iter().flat_map(read).all(|of| is_single(program, node, &of)),
        "a shape depends on an element by index: pick it first, as an array of its own (`m.slice(i)`), and take `the()`",
    )?;
    for function in node.operation.functions() {
        check_elements(program, node, function)?;
    }
    let inputs = program.inputs(node).map(|input| (input.rank, &input.types[..])).collect();
    let gives = |input: &Node| input.operation.control().map_or(Vec::new(), |control| control.gives());
    let gives = program.inputs(node).map(gives).collect();
    node.operation.check(&Signature { rank: node.rank, types: &node.types, inputs, gives })
}

/// Whether an element is that of an array which has no other.
fn is_single(program: &ArrayProgram, node: &Node, of: &ElementOf) -> bool {
    let array = NodeId(u32::try_from(of.array).unwrap_or(u32::MAX));
    array.0 >= node.id.0 || program.node(array).rank == 0
}

/// Checks the elements that a function reads by index.
fn check_elements(program: &ArrayProgram, node: &Node, function: &Function) -> Result<(), String> {
    for scalar in function.nodes() {
        let ScalarNode::Element { of, index } = scalar else { continue };
        let array = u32::try_from(of.array).ok().filter(|array| *array < node.id.0);
        let array = array.ok_or("an element of an array that is not part of the program")?;
        let array = program.node(NodeId(array));
        let whole = |id: &Id| function.nodes()[id.0 as usize].ty() == Some(ScalarType::I64);
        ensure(index.len() == array.rank && index.iter().all(whole), "an index does not fit its array")?;
        let exists = array.types.get(of.column as usize) == Some(&of.ty);
        ensure(exists, "an element of an array is read as another type")?;
    }
    Ok(())
}

fn mentions_locals(function: &Function) -> bool {
    function.nodes().iter().any(|node| matches!(node, ScalarNode::Variable(Variable::Local(_), _)))
}
