//! The array interpreter: what a program means, computed operation by operation with no fusion and no kernels.
//!
//! It is the specification that devices are tested against, and slow.

use crate::data::{ArrayData, HostData};
use crate::error::Error;
use crate::extents::Extents;
use crate::node::{Bounds, Node, Operation, in_order};
use pumice_scalar::{CheckFailure, Constant, Environment, Evaluator, FailureKind, Function, Site, Variable};
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
        if let Some(mistake) = node.functions().into_iter().find_map(|function| function.mistake()) {
            return Err(Error::Program(format!("{mistake} in {}", node.place())));
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
        let columns = data.columns()?;
        let element = |position: usize| {
            let scalar = |(ty, column): (&pumice_scalar::ScalarType, &std::borrow::Cow<'_, [u8]>)| {
                Constant::from_bytes(*ty, column.get(position * ty.bytes()..).unwrap_or(&[]))
            };
            node.types.iter().zip(&columns).map(scalar).collect()
        };
        Ok((0..self.extents.size(node) as usize).map(element).collect())
    }

    fn generated(&self, node: &Node, function: &Function) -> Result<Elements, Error> {
        let evaluator = Evaluator::new(function);
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
                let evaluator = Evaluator::new(function);
                let inputs: Vec<&Elements> = inputs.iter().map(|input| &self.values[&input.id]).collect();
                let element = |position: usize| {
                    let arguments: Vec<Constant> =
                        inputs.iter().flat_map(|input| input[position].iter().copied()).collect();
                    self.evaluate(&evaluator, &arguments)
                };
                (0..self.extents.size(node) as usize).map(element).collect()
            }
            Operation::Reshape { input, .. } => Ok(self.values[&input.id].clone()),
            Operation::Backpermute { index, input, bounds, .. } => {
                let site =
                    Site { operation: node.name, kind: FailureKind::OutOfBounds, location: node.location };
                let from = &self.values[&input.id];
                let indices = self.generated(node, index)?;
                let element = |index: Vec<Constant>| {
                    let mut linear = 0;
                    for (part, extent) in index.iter().zip(self.extents.of(input)) {
                        let part = part.as_integer().unwrap_or(-1) as i64;
                        if *bounds == Bounds::Checked && !(0..*extent).contains(&part) {
                            return Err(failure(CheckFailure { site, index: part, bound: *extent }));
                        }
                        linear = linear * extent + part;
                    }
                    Ok(from[linear as usize].clone())
                };
                indices.into_iter().map(element).collect()
            }
            Operation::Fold { operator, neutral, input } => {
                let operator = Evaluator::new(operator);
                let neutral = self.evaluate(&Evaluator::new(neutral), &[])?;
                let from = &self.values[&input.id];
                let columns = self.extents.of(input).last().copied().unwrap_or(1) as usize;
                let row = |row: usize| {
                    let elements = &from[row * columns..(row + 1) * columns];
                    elements.iter().try_fold(neutral.clone(), |accumulator, element| {
                        self.evaluate(&operator, &[accumulator, element.clone()].concat())
                    })
                };
                (0..self.extents.size(node) as usize).map(row).collect()
            }
        }
    }
}
