//! The array interpreter: what a program means, computed operation by operation with no fusion and no kernels.
//!
//! It is the specification that devices are tested against, and slow.

use crate::data::{ArrayData, HostData, whole_columns};
use crate::error::Error;
use crate::extents::Extents;
use crate::node::{Node, Operation, in_order};
use pumice_kernel::{Binding, LaunchArgument};
use pumice_program::{SimMemory, simulate};
use pumice_scalar::{
    CheckFailure, Constant, Environment, Evaluator, FailureKind, Function, ScalarType, Site, Variable,
};
use std::collections::HashMap;
use std::sync::Arc;

/// An array as the interpreter has it: for every element its scalars.
type Elements = Vec<Vec<Constant>>;

/// Computes the result of `root` on these arguments (arrays and scalars, by argument number).
pub fn interpret(
    root: &Arc<Node>,
    arrays: &HashMap<u32, Arc<dyn ArrayData>>,
    scalars: &[Constant],
) -> Result<HostData, Error> {
    let order = in_order(std::slice::from_ref(root));
    for node in &order {
        if let Some(mistake) = node.mistake() {
            return Err(Error::Program(mistake));
        }
    }
    let given = arrays.iter().map(|(number, data)| (*number, data.extents().to_vec())).collect();
    let extents = Extents::new(&order, &given, scalars)?;
    let mut interpreter = Interpreter { extents, scalars, arrays, values: HashMap::new() };
    for node in &order {
        let value = interpreter.array(node)?;
        interpreter.values.insert(node.id, value);
    }
    let elements = interpreter.values.remove(&root.id).unwrap_or_default();
    let column = |column: usize| elements.iter().flat_map(|element| element[column].to_bytes()).collect();
    let columns = (0..root.types.len()).map(column).collect();
    let extents = interpreter.extents.of(root).iter().map(|extent| *extent as usize).collect();
    Ok(HostData::new(extents, root.types.clone(), columns))
}

struct Interpreter<'a> {
    extents: Extents,
    scalars: &'a [Constant],
    arrays: &'a HashMap<u32, Arc<dyn ArrayData>>,
    values: HashMap<u64, Elements>,
}

impl Environment for Interpreter<'_> {
    fn variable(&self, variable: Variable) -> Option<Constant> {
        match variable {
            Variable::Argument(number) => self.scalars.get(number as usize).copied(),
            Variable::Extent { array, dimension } => {
                let class = self.extents.class(array, dimension)?;
                Some(Constant::from(self.extents.class_value(class)))
            }
            _ => None,
        }
    }
    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
}

fn failure(failure: CheckFailure) -> Error {
    Error::Failure(failure.site.message(failure.index, failure.bound))
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

impl Interpreter<'_> {
    fn evaluate(&self, evaluator: &Evaluator, arguments: &[Constant]) -> Result<Vec<Constant>, Error> {
        evaluator.evaluate(self, arguments).map_err(failure)
    }

    fn stored(&self, node: &Node, data: &dyn ArrayData) -> Result<Elements, Error> {
        let columns = whole_columns(data)?;
        let element = |position: usize| {
            let scalar = |(ty, column): (&pumice_scalar::ScalarType, &std::borrow::Cow<'_, [u8]>)| {
                Constant::from_bytes(*ty, column.get(position * ty.bytes()..).unwrap_or(&[]))
            };
            node.types.iter().zip(&columns).map(scalar).collect()
        };
        Ok((0..self.extents.size(node) as usize).map(element).collect())
    }

    fn generated(&self, node: &Node, function: &Function) -> Result<Elements, Error> {
        let evaluator = Evaluator::new(function)?;
        let extents = self.extents.of(node);
        (0..self.extents.size(node))
            .map(|linear| self.evaluate(&evaluator, &unflatten(extents, linear)))
            .collect()
    }

    fn array(&self, node: &Node) -> Result<Elements, Error> {
        match &node.operation {
            Operation::Use(data) => self.stored(node, &**data),
            Operation::Argument(number) => match self.arrays.get(number) {
                Some(data) => self.stored(node, &**data),
                None => Err(Error::Program(format!("array argument {number} is missing"))),
            },
            Operation::Generate { element, .. } => self.generated(node, element),
            Operation::ZipWith { function, inputs } => {
                let evaluator = Evaluator::new(function)?;
                let inputs: Vec<&Elements> = inputs.iter().map(|input| &self.values[&input.id]).collect();
                let element = |position: usize| {
                    let arguments: Vec<Constant> =
                        inputs.iter().flat_map(|input| input[position].iter().copied()).collect();
                    self.evaluate(&evaluator, &arguments)
                };
                (0..self.extents.size(node) as usize).map(element).collect()
            }
            Operation::Reshape { input, .. } => Ok(self.values[&input.id].clone()),
            Operation::Backpermute { index, input, .. } => {
                let site = Site { place: node.place, kind: FailureKind::OutOfBounds };
                let from = &self.values[&input.id];
                let indices = self.generated(node, index)?;
                let element = |index: Vec<Constant>| {
                    let mut linear = 0;
                    for (part, extent) in index.iter().zip(self.extents.of(input)) {
                        let part = part.as_integer().unwrap_or(-1) as i64;
                        if !(0..*extent).contains(&part) {
                            return Err(failure(CheckFailure { site, index: part, bound: *extent }));
                        }
                        linear = linear * extent + part;
                    }
                    Ok(from[linear as usize].clone())
                };
                indices.into_iter().map(element).collect()
            }
            Operation::Fold { operator, initial, input } => {
                let operator = Evaluator::new(operator)?;
                let initial = self.evaluate(&Evaluator::new(initial)?, &[])?;
                let from = &self.values[&input.id];
                let columns = self.extents.of(input).last().copied().unwrap_or(1) as usize;
                let row = |row: usize| {
                    let elements = &from[row * columns..(row + 1) * columns];
                    elements.iter().try_fold(initial.clone(), |accumulator, element| {
                        self.evaluate(&operator, &[accumulator, element.clone()].concat())
                    })
                };
                (0..self.extents.size(node) as usize).map(row).collect()
            }
            Operation::Kernel { inputs, .. } => self.kernel(node, inputs),
        }
    }

    /// What a user's kernel gives: what the simulator, which says what kernels mean, makes of it.
    fn kernel(&self, node: &Node, inputs: &[Arc<Node>]) -> Result<Elements, Error> {
        let Some((definition, actual)) = self.extents.kernel_arguments(node, self.scalars)? else {
            return Ok(Vec::new());
        };
        let program = &definition.kernel().program;
        let length = self.extents.size(node) as usize;
        let mut arrays = inputs.iter().map(|input| &self.values[&input.id]);
        let arrays: Vec<Option<&Elements>> = actual
            .iter()
            .map(|actual| if let LaunchArgument::Length(_) = actual { arrays.next() } else { None })
            .collect();
        let (mut memories, mut scalars) = (Vec::new(), Vec::new());
        for binding in definition.bindings() {
            match *binding {
                Binding::Column { parameter, column } => {
                    let elements = arrays.get(parameter).copied().flatten();
                    let bytes = elements.into_iter().flatten().flat_map(|element| element[column].to_bytes());
                    memories.push(SimMemory::from_bytes(bytes.collect()));
                }
                Binding::Result { column } => {
                    memories.push(SimMemory::unwritten(length * node.types[column].bytes()));
                }
                Binding::Failure => memories.push(SimMemory::from_bytes(vec![0; 24])),
                Binding::FailureBase => scalars.push(Constant::from(0i64)),
                Binding::Value(value) => scalars.push(value),
                Binding::Length { parameter } | Binding::Scalar { parameter } => {
                    scalars.push(match actual.get(parameter) {
                        Some(LaunchArgument::Length(length)) => Constant::from(*length as i64),
                        Some(LaunchArgument::Scalar(value)) => *value,
                        Some(LaunchArgument::Unknown(ty)) => Constant::zero(*ty),
                        None => Constant::from(0i64),
                    });
                }
            }
        }
        let options = simulate::Options { costs: false, ..Default::default() };
        simulate(program, &mut memories, &scalars, &options)
            .map_err(|fault| Error::Program(format!("{fault} in {}", node.place())))?;
        let is_memory = |binding: &&Binding| {
            matches!(binding, Binding::Column { .. } | Binding::Result { .. } | Binding::Failure)
        };
        let mut results: Vec<&[u8]> = Vec::new();
        for (binding, memory) in definition.bindings().iter().filter(is_memory).zip(&memories) {
            match binding {
                Binding::Failure => {
                    let word = |number: usize| {
                        let bytes = memory.bytes().get(number * 8..).unwrap_or(&[]);
                        Constant::from_bytes(ScalarType::I64, bytes).as_integer().unwrap_or(0) as i64
                    };
                    let site =
                        usize::try_from(word(0) - 1).ok().and_then(|n| definition.kernel().sites.get(n));
                    if let Some(site) = site {
                        return Err(Error::Failure(site.message(word(1), word(2))));
                    }
                }
                Binding::Result { .. } => results.push(memory.bytes()),
                _ => {}
            }
        }
        let element = |position: usize| {
            let scalar = |(ty, column): (&ScalarType, &&[u8])| {
                Constant::from_bytes(*ty, column.get(position * ty.bytes()..).unwrap_or(&[]))
            };
            node.types.iter().zip(&results).map(scalar).collect()
        };
        Ok((0..length).map(element).collect())
    }
}
