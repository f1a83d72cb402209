//! The array interpreter: computes a program operation by operation, with no fusion and no kernels, and so defines its meaning.
//!
//! It is the specification that devices are tested against, and slow. The meaning of each operation is in its file.

use crate::control::{Arrays, Control};
use crate::data::{ArrayData, HostData, whole_columns};
use crate::error::Error;
use crate::extents::{Extents, Knowledge, Unplanned};
use crate::program::{Node, NodeId};
use crate::verify::CheckedProgram;
use pumice_scalar::{
    CheckFailure, Constant, ElementOf, Environment, Evaluator, FailureKind, Function, PlacedMessage,
    ScalarType, Site, Variable,
};
use std::collections::HashMap;
use std::sync::Arc;

/// An array as the interpreter has it: for every element its scalars.
pub type Elements = Vec<Vec<Constant>>;

/// Computes the results of a program on these arguments (arrays and scalars, by argument number).
pub fn interpret(
    program: &CheckedProgram,
    arrays: &HashMap<u32, Arc<dyn ArrayData>>,
    scalars: &[Constant],
) -> Result<Vec<HostData>, Error> {
    let given = arrays.iter().map(|(number, data)| (*number, data.extents().to_vec())).collect();
    let mut knowledge = Knowledge::of(given, scalars);
    let mut interpreter = Interpreter {
        scalars,
        arrays,
        extents: Extents::default(),
        values: Vec::new(),
        computed: HashMap::new(),
    };
    for node in program.nodes() {
        if let Some(control) = node.operation.control() {
            let found = interpreter.run(program, node, control)?;
            for (id, number) in program.given_by(node.id) {
                let data = found.get(number).ok_or_else(|| not_computed(node))?;
                knowledge.computed.insert(id, data.extents().to_vec());
                interpreter.computed.insert(id, data.clone());
            }
        }
        interpreter.extents.add_node(program, node, &knowledge).map_err(Unplanned::into_error)?;
        let value = node.operation.interpret(&interpreter, node)?;
        if !interpreter.extents.is_known(node.id) {
            // The operation has found how long its result is.
            knowledge.counted.insert(node.id, value.len() as i64);
            interpreter.extents.remove_last();
            interpreter.extents.add_node(program, node, &knowledge).map_err(Unplanned::into_error)?;
        }
        if let ([element], 0) = (&value[..], node.rank) {
            knowledge.values.insert(node.id, element.clone());
        }
        interpreter.values.push(value);
    }
    Ok(program.results().iter().map(|id| interpreter.data(program, *id)).collect())
}

/// State of the interpreter: the arrays computed so far.
pub struct Interpreter<'a> {
    extents: Extents,
    scalars: &'a [Constant],
    arrays: &'a HashMap<u32, Arc<dyn ArrayData>>,
    values: Vec<Elements>,
    /// Results of loops and branches.
    computed: HashMap<NodeId, Arc<dyn ArrayData>>,
}

impl Environment for Interpreter<'_> {
    fn variable(&self, variable: Variable) -> Option<Constant> {
        match variable {
            Variable::Argument(number) => self.scalars.get(number as usize).copied(),
            Variable::Extent { array, dimension } => {
                let class = self.extents.class(NodeId(u32::try_from(array).ok()?), dimension)?;
                Some(Constant::from(self.extents.length(class).bound))
            }
            _ => None,
        }
    }
    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
    fn element(&self, of: &ElementOf, index: &[i64]) -> Result<Constant, (i64, i64)> {
        let array = NodeId(of.array as u32);
        let number = self.number(array, index.iter().copied())?;
        Ok(self.elements(array)[number][of.column as usize])
    }
}

fn not_computed(node: &Node) -> Error {
    Error::Program(PlacedMessage::naming(node.place, format!("nothing computes {}", node.place)))
}

fn failure(failure: CheckFailure) -> Error {
    Error::Failure(failure.site.message(failure.index, failure.bound))
}

impl<'a> Interpreter<'a> {
    /// The elements of an array that was computed before.
    pub fn elements(&self, node: NodeId) -> &Elements {
        &self.values[node.0 as usize]
    }

    /// The elements of one of an operation's inputs.
    pub fn input(&self, node: &Node, number: usize) -> &Elements {
        self.elements(node.inputs[number])
    }

    /// The extents of an array.
    pub fn extents(&self, node: NodeId) -> Vec<i64> {
        self.extents.bounds(node)
    }

    /// An array argument.
    pub fn argument(&self, number: u32) -> Option<&'a Arc<dyn ArrayData>> {
        self.arrays.get(&number)
    }

    /// The elements of an array that a loop or a branch has given.
    pub fn computed(&self, node: &Node) -> Result<Elements, Error> {
        let data = self.computed.get(&node.id).ok_or_else(|| not_computed(node))?;
        self.stored(node, &**data)
    }

    /// An array that was computed before, as data.
    fn data(&self, program: &CheckedProgram, id: NodeId) -> HostData {
        let node = program.node(id);
        let elements = self.elements(id);
        let column = |column: usize| elements.iter().flat_map(|element| element[column].to_bytes()).collect();
        let columns = (0..node.types.len()).map(column).collect();
        let extents = self.extents(id).iter().map(|extent| *extent as usize).collect();
        HostData::new(extents, node.types.clone(), columns)
    }

    /// Runs a loop or a branch.
    fn run(&self, program: &CheckedProgram, node: &Node, control: &dyn Control) -> Result<Arrays, Error> {
        let nested = control.programs().iter().cloned().map(CheckedProgram::new);
        let nested = nested.collect::<Result<Vec<_>, Error>>()?;
        let host = |data: HostData| Arc::new(data) as Arc<dyn ArrayData>;
        let inputs = node.inputs.iter().map(|input| host(self.data(program, *input))).collect();
        let mut run = |number: usize, arrays: &Arrays| {
            let program = nested.get(number).ok_or_else(|| not_computed(node))?;
            let arrays = (0..).zip(arrays.iter().cloned()).collect();
            Ok(interpret(program, &arrays, self.scalars)?.into_iter().map(host).collect())
        };
        control.run(node.place, inputs, &mut run)
    }

    /// A scalar function, to be called.
    pub fn evaluator(
        &self,
        function: &Function,
    ) -> Result<impl Fn(&[Constant]) -> Result<Vec<Constant>, Error>, Error> {
        let evaluator = Evaluator::new(function)?;
        Ok(move |arguments: &[Constant]| evaluator.evaluate(self, arguments).map_err(failure))
    }

    /// The elements that data holds.
    pub fn stored(&self, node: &Node, data: &dyn ArrayData) -> Result<Elements, Error> {
        let columns = whole_columns(data)?;
        let element = |position: usize| {
            let scalar = |(ty, column): (&ScalarType, &std::borrow::Cow<'_, [u8]>)| {
                Constant::from_bytes(*ty, column.get(position * ty.bytes()..).unwrap_or(&[]))
            };
            node.types.iter().zip(&columns).map(scalar).collect()
        };
        Ok((0..self.extents.size(node.id) as usize).map(element).collect())
    }

    /// All indices of an array, row by row.
    pub fn indices(&self, node: NodeId) -> Vec<Vec<Constant>> {
        let extents = self.extents(node);
        (0..self.extents.size(node)).map(|linear| unflatten(&extents, linear)).collect()
    }

    /// A function of each index of an array.
    pub fn generated(&self, node: &Node, function: &Function) -> Result<Elements, Error> {
        let evaluate = self.evaluator(function)?;
        self.indices(node.id).iter().map(|index| evaluate(index)).collect()
    }

    /// The number, row by row, of an index into an array; an error in this operation if it is out of bounds.
    pub fn checked_index(&self, node: &Node, array: NodeId, index: &[Constant]) -> Result<usize, Error> {
        let site = Site { place: node.place, kind: FailureKind::OutOfBounds };
        let parts = index.iter().map(|part| part.as_integer().unwrap_or(-1) as i64);
        self.number(array, parts).map_err(|(index, bound)| failure(CheckFailure { site, index, bound }))
    }

    /// The number, row by row, of an index into an array; if it is out of bounds, the part that is, and its bound.
    fn number(&self, array: NodeId, index: impl Iterator<Item = i64>) -> Result<usize, (i64, i64)> {
        let mut linear = 0;
        for (part, extent) in index.zip(self.extents(array)) {
            if !(0..extent).contains(&part) {
                return Err((part, extent));
            }
            linear = linear * extent + part;
        }
        Ok(linear as usize)
    }
}

/// The index that a number, row by row, stands for.
fn unflatten(extents: &[i64], mut linear: i64) -> Vec<Constant> {
    let mut index = vec![0; extents.len()];
    for (part, extent) in index.iter_mut().zip(extents).rev() {
        *part = linear % extent.max(&1);
        linear /= extent.max(&1);
    }
    index.into_iter().map(Constant::from).collect()
}
