//! The extents of every array of a program, once those of its arguments are known, and which extents are the same.
//!
//! This is where shapes are checked: an error names the operation and where the user wrote it.

use crate::error::Error;
use crate::node::{Node, Operation, actual};
use pumice_kernel::{Definition, LaunchArgument};
use pumice_scalar::{Constant, Environment, Evaluator, Function, Id, Node as ScalarNode, Variable};
use std::collections::HashMap;
use std::sync::Arc;

/// The largest number of elements of an array: byte offsets must fit.
const MOST_ELEMENTS: i64 = i64::MAX / 16;

/// The extents of the arrays of a program.
pub struct Extents {
    of: HashMap<u64, Vec<i64>>,
    /// For every dimension of every array, the class of extents that must be equal.
    classes: HashMap<(u64, u32), usize>,
    /// The value of each class, in the order in which they were found.
    values: Vec<i64>,
    parents: Vec<usize>,
}

struct Arguments<'a> {
    extents: &'a HashMap<u64, Vec<i64>>,
    scalars: &'a [Constant],
}

impl Environment for Arguments<'_> {
    fn variable(&self, variable: Variable) -> Option<Constant> {
        match variable {
            Variable::Argument(number) => self.scalars.get(number as usize).copied(),
            Variable::Extent { array, dimension } => {
                let extent = *self.extents.get(&array)?.get(dimension as usize)?;
                Some(extent.into())
            }
            _ => None,
        }
    }
    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
}

impl Extents {
    /// Computes and checks the extents of `nodes`, which stand in order. `arguments` are the extents of the program's
    /// array arguments, `scalars` its scalar arguments (by their numbers; those that are none are ignored).
    pub fn new(
        nodes: &[Arc<Node>],
        arguments: &HashMap<u32, Vec<usize>>,
        scalars: &[Constant],
    ) -> Result<Extents, Error> {
        let mut extents =
            Extents { of: HashMap::new(), classes: HashMap::new(), values: Vec::new(), parents: Vec::new() };
        for node in nodes {
            let found = extents.compute(node, arguments, scalars)?;
            let size = found.iter().try_fold(1i64, |product, extent| product.checked_mul(*extent));
            if size.is_none_or(|size| size > MOST_ELEMENTS) {
                return Err(Error::Shape(format!("extents {found:?} are too large in {}", node.place())));
            }
            extents.of.insert(node.id, found);
            extents.classify(node);
        }
        Ok(extents)
    }

    /// The extents of an array.
    pub fn of(&self, node: &Node) -> &[i64] {
        self.of.get(&node.id).map_or(&[], Vec::as_slice)
    }

    /// The number of elements of an array.
    pub fn size(&self, node: &Node) -> i64 {
        self.of(node).iter().product()
    }

    /// The class of an extent: extents that are equal in every run of the program have one class.
    pub fn class(&self, array: u64, dimension: u32) -> Option<usize> {
        self.classes.get(&(array, dimension)).map(|class| self.root(*class))
    }

    /// The extent that a class stands for.
    pub fn class_value(&self, class: usize) -> i64 {
        self.values.get(class).copied().unwrap_or(0)
    }

    fn compute(
        &self,
        node: &Node,
        arguments: &HashMap<u32, Vec<usize>>,
        scalars: &[Constant],
    ) -> Result<Vec<i64>, Error> {
        let shape = |function: &Function| self.evaluate(node, function, scalars);
        match &node.operation {
            Operation::Use(data) => Ok(data.extents().iter().map(|extent| *extent as i64).collect()),
            Operation::Argument(number) => {
                let extents = arguments.get(number).filter(|extents| extents.len() == node.rank);
                let extents =
                    extents.ok_or_else(|| Error::Program(format!("array argument {number} is missing")))?;
                Ok(extents.iter().map(|extent| *extent as i64).collect())
            }
            Operation::Generate { shape: function, .. } | Operation::Backpermute { shape: function, .. } => {
                shape(function)
            }
            Operation::Reshape { shape: function, input } => {
                let (from, to) = (self.of(input), shape(function)?);
                if from.iter().product::<i64>() != to.iter().product::<i64>() {
                    let place = node.place();
                    return Err(Error::Shape(format!(
                        "extents {from:?} and {to:?} have different numbers of elements in {place}"
                    )));
                }
                Ok(to)
            }
            Operation::ZipWith { inputs, .. } => {
                let Some(first) = inputs.first() else { return Ok(Vec::new()) };
                let expected = self.of(first);
                for input in &inputs[1..] {
                    let found = self.of(input);
                    if found != expected {
                        let place = node.place();
                        return Err(Error::Shape(format!(
                            "shapes differ, {expected:?} and {found:?}, in {place}"
                        )));
                    }
                }
                Ok(expected.to_vec())
            }
            Operation::Fold { input, .. } => {
                let extents = self.of(input);
                Ok(extents[..extents.len().saturating_sub(1)].to_vec())
            }
            Operation::Kernel { .. } => {
                let length = match self.kernel_arguments(node, scalars)? {
                    Some((definition, actual)) => definition.length_for(&actual),
                    None => Ok(None),
                };
                let length = length.map_err(|error| Error::Shape(format!("{error} in {}", node.place())))?;
                Ok(vec![length.unwrap_or(0) as i64])
            }
        }
    }

    /// A kernel and what its parameters are; nothing if the node is none.
    pub(crate) fn kernel_arguments<'a>(
        &self,
        node: &'a Node,
        scalars: &[Constant],
    ) -> Result<Option<(&'a Definition, Vec<LaunchArgument>)>, Error> {
        let Operation::Kernel { definition: Ok(definition), scalars: functions, inputs } = &node.operation
        else {
            return Ok(None);
        };
        let sizes: Vec<i64> = inputs.iter().map(|input| self.size(input)).collect();
        let values = functions.iter().map(|function| self.values(function, scalars));
        let values = values.collect::<Result<Vec<_>, Error>>()?.concat();
        Ok(Some((definition, actual(definition, &sizes, &values))))
    }

    fn values(&self, function: &Function, scalars: &[Constant]) -> Result<Vec<Constant>, Error> {
        let environment = Arguments { extents: &self.of, scalars };
        Evaluator::new(function)?
            .evaluate(&environment, &[])
            .map_err(|failure| Error::Failure(failure.site.message(failure.index, failure.bound)))
    }

    fn evaluate(&self, node: &Node, function: &Function, scalars: &[Constant]) -> Result<Vec<i64>, Error> {
        let values = self.values(function, scalars)?;
        let extents: Vec<i64> = values.iter().map(|value| value.as_integer().unwrap_or(-1) as i64).collect();
        match extents.iter().all(|extent| *extent >= 0) {
            true => Ok(extents),
            false => Err(Error::Shape(format!("extents {extents:?} are not possible in {}", node.place()))),
        }
    }

    /// Finds for each dimension of a new array whether its extent is another's.
    fn classify(&mut self, node: &Node) {
        for dimension in 0..node.rank as u32 {
            let value = self.of(node)[dimension as usize];
            self.values.push(value);
            self.parents.push(self.parents.len());
            self.classes.insert((node.id, dimension), self.values.len() - 1);
            let same: Vec<(u64, u32)> = match &node.operation {
                Operation::ZipWith { inputs, .. } => {
                    inputs.iter().map(|input| (input.id, dimension)).collect()
                }
                Operation::Fold { input, .. } => vec![(input.id, dimension)],
                Operation::Generate { shape, .. }
                | Operation::Backpermute { shape, .. }
                | Operation::Reshape { shape, .. } => mentioned(shape, dimension).into_iter().collect(),
                Operation::Use(_) | Operation::Argument(_) | Operation::Kernel { .. } => vec![],
            };
            for other in same {
                self.unite((node.id, dimension), other);
            }
        }
    }

    fn root(&self, mut class: usize) -> usize {
        while self.parents[class] != class {
            class = self.parents[class];
        }
        class
    }

    fn unite(&mut self, one: (u64, u32), other: (u64, u32)) {
        if let (Some(one), Some(other)) = (self.class(one.0, one.1), self.class(other.0, other.1)) {
            // The older class stands for both, so that numbering does not depend on the order of unions.
            self.parents[one.max(other)] = one.min(other);
        }
    }
}

/// The extent that a shape's dimension is, if it is just another array's extent.
fn mentioned(shape: &Function, dimension: u32) -> Option<(u64, u32)> {
    let Id(result) = *shape.results().get(dimension as usize)?;
    match shape.nodes()[result as usize] {
        ScalarNode::Variable(Variable::Extent { array, dimension }, _) => Some((array, dimension)),
        _ => None,
    }
}
