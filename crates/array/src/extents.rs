//! The extents of every array of a program, once those of its arguments are known, and which extents are the same.
//!
//! An extent is a number, or a cell of device memory with an upper bound: how many elements a filter keeps is known on the
//! device only. Kernels read the cell; everything that is planned uses the bound. Where the host must know more, planning
//! says which length it needs ([`Unplanned::NeedsLength`]), and goes on once that has been read; so it does where an extent is
//! computed from the element of an array ([`Unplanned::NeedsValue`]).
//!
//! This is where shapes are checked: an error names the operation and where the user wrote it.

use crate::described::Described;
use crate::error::Error;
use crate::operation::{Listens, Nature};
use crate::program::{Node, NodeId};
use crate::verify::CheckedProgram;
use pumice_scalar::{
    Constant, ElementOf, Environment, Evaluator, Function, Id, Node as ScalarNode, Place, PlacedMessage,
    Variable,
};
use std::collections::HashMap;
use std::ops::Range;

/// The largest number of elements of an array: byte offsets must fit.
pub(crate) const MOST_ELEMENTS: i64 = i64::MAX / 16;

/// One extent of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The extent of another array, whatever that is.
    Same {
        /// The array.
        array: u64,
        /// Its dimension.
        dimension: u32,
    },
    /// A number.
    Number(i64),
    /// A number that the operation finds on the device, at most this one.
    UpTo(i64),
}

/// Length of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// The length, or the most that it can be.
    pub bound: i64,
    /// The array that finds it on the device, if it is no number.
    pub cell: Option<NodeId>,
}

/// The reason why extents could not be computed.
#[derive(Clone, Debug)]
pub enum Unplanned {
    /// They do not fit.
    Error(Error),
    /// They depend on the length of an array that only the device knows.
    NeedsLength(NodeId),
    /// They depend on the element of an array that has one, which must be read first.
    NeedsValue(NodeId),
    /// They depend on the result of a loop or a branch, which must be run first.
    NeedsRun(NodeId),
    /// They depend on arguments, which are not there yet.
    NeedsArguments,
}

impl From<Error> for Unplanned {
    fn from(error: Error) -> Unplanned {
        Unplanned::Error(error)
    }
}

impl Unplanned {
    /// Converts to an error, where nothing can be read first.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Unplanned::Error(error) => error,
            Unplanned::NeedsLength(_) => Error::Program("a length that only the device knows".into()),
            Unplanned::NeedsValue(_) => Error::Program("an element that has not been read".into()),
            Unplanned::NeedsRun(_) => Error::Program("a loop or a branch that has not been run".into()),
            Unplanned::NeedsArguments => Error::Program("an argument is missing".into()),
        }
    }
}

/// Facts about the arrays that an operation's extents depend on.
trait Source {
    /// An extent of an array.
    fn length(&self, array: u64, dimension: u32) -> Option<Length>;
    /// Whether two extents are the same whatever the arguments.
    fn is_same(&self, one: (u64, u32), other: (u64, u32)) -> bool;
    /// A scalar argument.
    fn scalar(&self, number: u32) -> Option<Constant>;
    /// The extents of an array argument.
    fn argument(&self, number: u32) -> Option<&[usize]>;
    /// The length of a filter's result, if it has been counted.
    fn counted(&self) -> Option<i64>;
    /// A scalar of the element of an array that has one.
    fn value(&self, of: &ElementOf) -> Result<Constant, Unplanned>;
    /// The operation's number, if it has one.
    fn node(&self) -> Option<NodeId>;
}

/// The arrays around an operation, for [`crate::Operation::extents`].
pub struct Shapes<'a> {
    source: &'a dyn Source,
    inputs: Vec<(u64, usize)>,
    /// The rank of the operation's result.
    pub rank: usize,
    /// The operation's place.
    pub place: Place,
}

impl Shapes<'_> {
    /// The lengths of an input's dimensions.
    pub fn lengths(&self, input: usize) -> Result<Vec<Length>, Unplanned> {
        let (array, rank) = self.inputs.get(input).copied().unwrap_or((u64::MAX, 0));
        let length = |dimension| self.source.length(array, dimension as u32);
        (0..rank).map(length).collect::<Option<_>>().ok_or(Unplanned::NeedsArguments)
    }

    /// The most elements that an input can have.
    pub fn bound(&self, input: usize) -> Result<i64, Unplanned> {
        Ok(self.lengths(input)?.iter().map(|length| length.bound).product())
    }

    /// An input's extents, as numbers.
    pub fn numbers(&self, input: usize) -> Result<Vec<i64>, Unplanned> {
        let number = |length: Length| match length.cell {
            None => Ok(length.bound),
            Some(cell) => Err(Unplanned::NeedsLength(cell)),
        };
        self.lengths(input)?.into_iter().map(number).collect()
    }

    /// The extents of an input, as they are.
    pub fn same(&self, input: usize) -> Vec<Extent> {
        let (array, rank) = self.inputs.get(input).copied().unwrap_or((u64::MAX, 0));
        (0..rank as u32).map(|dimension| Extent::Same { array, dimension }).collect()
    }

    /// The extents that a shape, a function from no parameters, gives.
    pub fn shape(&self, function: &Function) -> Result<Vec<Extent>, Unplanned> {
        let plain: Vec<Option<Extent>> =
            (0..function.results().len()).map(|dimension| plain_extent(function, dimension)).collect();
        if let Some(all) = plain.iter().copied().collect::<Option<Vec<_>>>() {
            return Ok(all);
        }
        let values = self.values(function)?;
        let numbers: Vec<i64> = values.iter().map(|value| value.as_integer().unwrap_or(-1) as i64).collect();
        if numbers.iter().any(|extent| *extent < 0) {
            return Err(self.mistake(format!("extents {numbers:?} are not possible")));
        }
        let extent = |(plain, number): (Option<Extent>, i64)| plain.unwrap_or(Extent::Number(number));
        Ok(plain.into_iter().zip(numbers).map(extent).collect())
    }

    /// The values of a function from no parameters.
    pub fn values(&self, function: &Function) -> Result<Vec<Constant>, Unplanned> {
        for node in function.nodes() {
            match node {
                ScalarNode::Variable(Variable::Extent { array, dimension }, _) => {
                    match self.source.length(*array, *dimension) {
                        Some(Length { cell: Some(cell), .. }) => return Err(Unplanned::NeedsLength(cell)),
                        Some(_) => {}
                        None => return Err(Unplanned::NeedsArguments),
                    }
                }
                ScalarNode::Variable(Variable::Argument(number), _)
                    if self.source.scalar(*number).is_none() =>
                {
                    return Err(Unplanned::NeedsArguments);
                }
                ScalarNode::Element { of, .. } => drop(self.source.value(of)?),
                _ => {}
            }
        }
        let failed = |failure: pumice_scalar::CheckFailure| {
            Unplanned::Error(Error::Failure(failure.site.message(failure.index, failure.bound)))
        };
        let evaluator = Evaluator::new(function).map_err(Error::from)?;
        evaluator.evaluate(&Values(self.source), &[]).map_err(failed)
    }

    /// Whether two inputs have the same extents; an error if they plainly do not.
    pub fn require_same(&self, one: usize, other: usize) -> Result<(), Unplanned> {
        let (first, second) = (self.lengths(one)?, self.lengths(other)?);
        let differ = || {
            let numbers = |lengths: &[Length]| lengths.iter().map(|length| length.bound).collect::<Vec<_>>();
            self.mistake(format!("shapes differ, {:?} and {:?},", numbers(&first), numbers(&second)))
        };
        if first.len() != second.len() {
            return Err(differ());
        }
        for (dimension, (a, b)) in first.iter().zip(&second).enumerate() {
            let at = |input: usize| (self.inputs[input].0, dimension as u32);
            if self.source.is_same(at(one), at(other)) {
                continue;
            }
            match (a.cell, b.cell) {
                (None, None) if a.bound == b.bound => {}
                (None, None) => return Err(differ()),
                (Some(cell), _) | (None, Some(cell)) => return Err(Unplanned::NeedsLength(cell)),
            }
        }
        Ok(())
    }

    /// Whether these extents have as many elements as an input; an error if not.
    pub fn require_size(&self, input: usize, extents: &[Extent]) -> Result<(), Unplanned> {
        let mut theirs = self.same(input);
        let mut others: Vec<Extent> = Vec::new();
        for extent in extents {
            match theirs.iter().position(|own| self.is_same(*own, *extent)) {
                Some(position) => drop(theirs.swap_remove(position)),
                None => others.push(*extent),
            }
        }
        let numbers = |extents: &[Extent]| {
            extents.iter().map(|extent| self.number(*extent)).collect::<Result<Vec<i64>, Unplanned>>()
        };
        let (from, to) = (numbers(&theirs)?, numbers(&others)?);
        let product = |numbers: &[i64]| numbers.iter().fold(1i64, |all, one| all.saturating_mul(*one));
        // An empty array has as many elements in any shape that has none.
        let empty = |extents: &[Extent]| extents.iter().any(|extent| matches!(self.number(*extent), Ok(0)));
        if product(&from) == product(&to) || (empty(&self.same(input)) && empty(extents)) {
            return Ok(());
        }
        let (from, to) = (self.numbers(input)?, numbers(extents)?);
        Err(self.mistake(format!("extents {from:?} and {to:?} have different numbers of elements")))
    }

    /// Returns the number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Whether two extents are the same whatever the arguments.
    pub fn is_same(&self, one: Extent, other: Extent) -> bool {
        match (one, other) {
            (Extent::Same { array: a, dimension: d }, Extent::Same { array: b, dimension: e }) => {
                self.source.is_same((a, d), (b, e))
            }
            _ => false,
        }
    }

    /// An extent as a number.
    pub fn number(&self, extent: Extent) -> Result<i64, Unplanned> {
        match extent {
            Extent::Number(number) | Extent::UpTo(number) => Ok(number),
            Extent::Same { array, dimension } => match self.source.length(array, dimension) {
                Some(Length { cell: Some(cell), .. }) => Err(Unplanned::NeedsLength(cell)),
                Some(length) => Ok(length.bound),
                None => Err(Unplanned::NeedsArguments),
            },
        }
    }

    /// The extents of an array argument.
    pub fn argument(&self, number: u32) -> Result<Vec<Extent>, Unplanned> {
        let extents = self.source.argument(number).ok_or(Unplanned::NeedsArguments)?;
        if extents.len() != self.rank {
            return Err(Error::Program(format!("array argument {number} is missing").into()).into());
        }
        Ok(extents.iter().map(|extent| Extent::Number(*extent as i64)).collect())
    }

    /// The extent of a result of which the device finds how long it is, unless that has been counted.
    pub fn found_on_device(&self, bound: i64) -> Extent {
        match (self.source.counted(), bound) {
            (Some(count), _) => Extent::Number(count),
            (None, 0) => Extent::Number(0),
            (None, bound) => Extent::UpTo(bound),
        }
    }

    /// The extents of a result that are known only when it has been computed: there are none before.
    pub fn after_run(&self) -> Result<Vec<Extent>, Unplanned> {
        Err(self.source.node().map_or(Unplanned::NeedsArguments, Unplanned::NeedsRun))
    }

    /// A mistake in the shapes of the operation.
    pub fn mistake(&self, message: String) -> Unplanned {
        Unplanned::Error(Error::Shape(PlacedMessage::at(message, self.place)))
    }
}

/// The extent that a shape's dimension is, if it is just another array's extent.
fn plain_extent(shape: &Function, dimension: usize) -> Option<Extent> {
    let Id(result) = *shape.results().get(dimension)?;
    match shape.nodes()[result as usize] {
        ScalarNode::Variable(Variable::Extent { array, dimension }, _) => {
            Some(Extent::Same { array, dimension })
        }
        _ => None,
    }
}

/// Environment in which functions of extents are evaluated.
struct Values<'a>(&'a dyn Source);

impl Environment for Values<'_> {
    fn variable(&self, variable: Variable) -> Option<Constant> {
        match variable {
            Variable::Argument(number) => self.0.scalar(number),
            Variable::Extent { array, dimension } => {
                self.0.length(array, dimension).map(|length| Constant::from(length.bound))
            }
            _ => None,
        }
    }
    fn load(&self, _: u64, _: i64) -> Option<Constant> {
        None
    }
    fn element(&self, of: &ElementOf, _: &[i64]) -> Result<Constant, (i64, i64)> {
        Ok(self.0.value(of).unwrap_or(Constant::zero(of.ty)))
    }
}

/// Facts that are known when a program is planned.
#[derive(Clone, Default)]
pub struct Knowledge {
    /// The extents of array arguments, by argument number.
    pub arguments: HashMap<u32, Vec<usize>>,
    /// The scalar arguments, by argument number; those that are none have any value.
    pub scalars: Vec<Constant>,
    /// The extents of arrays that have been computed already.
    pub computed: HashMap<NodeId, Vec<usize>>,
    /// The numbers of elements that filters keep, where they have been counted.
    pub counted: HashMap<NodeId, i64>,
    /// The elements of arrays that have one, where they have been read.
    pub values: HashMap<NodeId, Vec<Constant>>,
    /// Array arguments without uses after the run, the state of a loop: each may be overwritten by the result that takes its place,
    /// the first one by the first.
    pub overwritten: Range<u32>,
}

impl Knowledge {
    /// Knowledge of arguments alone.
    pub fn of(arguments: HashMap<u32, Vec<usize>>, scalars: &[Constant]) -> Knowledge {
        Knowledge { arguments, scalars: scalars.to_vec(), ..Knowledge::default() }
    }
}

/// The extents of the arrays of a program.
#[derive(Default)]
pub struct Extents {
    /// For every array and dimension, the class of extents that are equal in every run.
    classes: Vec<Vec<usize>>,
    /// The length of each class, in the order in which they were found.
    lengths: Vec<Length>,
    parents: Vec<usize>,
    /// Elements that are known without running anything.
    elements: HashMap<NodeId, Vec<Constant>>,
}

struct Planned<'a> {
    extents: &'a Extents,
    knowledge: &'a Knowledge,
    node: NodeId,
}

impl Source for Planned<'_> {
    fn length(&self, array: u64, dimension: u32) -> Option<Length> {
        let class = self.extents.class(NodeId(u32::try_from(array).ok()?), dimension)?;
        Some(self.extents.length(class))
    }
    fn is_same(&self, one: (u64, u32), other: (u64, u32)) -> bool {
        let class = |(array, dimension): (u64, u32)| {
            u32::try_from(array).ok().and_then(|array| self.extents.class(NodeId(array), dimension))
        };
        class(one).is_some() && class(one) == class(other)
    }
    fn scalar(&self, number: u32) -> Option<Constant> {
        self.knowledge.scalars.get(number as usize).copied()
    }
    fn argument(&self, number: u32) -> Option<&[usize]> {
        self.knowledge.arguments.get(&number).map(Vec::as_slice)
    }
    fn counted(&self) -> Option<i64> {
        self.knowledge.counted.get(&self.node).copied()
    }
    fn value(&self, of: &ElementOf) -> Result<Constant, Unplanned> {
        let array = NodeId(u32::try_from(of.array).unwrap_or(u32::MAX));
        let values = self.knowledge.values.get(&array).or_else(|| self.extents.elements.get(&array));
        values.and_then(|values| values.get(of.column as usize)).copied().ok_or(Unplanned::NeedsValue(array))
    }
    fn node(&self) -> Option<NodeId> {
        Some(self.node)
    }
}

impl Extents {
    /// Computes and checks the extents of a program's arrays.
    pub fn new(program: &CheckedProgram, knowledge: &Knowledge) -> Result<Extents, Unplanned> {
        let mut extents = Extents::default();
        program.nodes().iter().try_for_each(|node| extents.add_node(program, node, knowledge))?;
        Ok(extents)
    }

    /// Computes and checks the extents of the next array.
    pub(crate) fn add_node(
        &mut self,
        program: &CheckedProgram,
        node: &Node,
        knowledge: &Knowledge,
    ) -> Result<(), Unplanned> {
        let (found, element) = match knowledge.computed.get(&node.id) {
            Some(extents) => (extents.iter().map(|extent| Extent::Number(*extent as i64)).collect(), None),
            None => {
                let source = Planned { extents: self, knowledge, node: node.id };
                let inputs = program.inputs(node).map(|input| (input.id.0.into(), input.rank)).collect();
                let shapes = Shapes { source: &source, inputs, rank: node.rank, place: node.place };
                match node.operation.extents(&shapes) {
                    Err(Unplanned::NeedsArguments) => {
                        let message = format!("an argument is missing for {}", node.place);
                        return Err(Error::Program(PlacedMessage::naming(node.place, message)).into());
                    }
                    other => (other?, node.operation.known_element(&shapes)),
                }
            }
        };
        self.elements.extend(element.map(|element| (node.id, element)));
        Ok(self.add(node, &found)?)
    }

    /// Forgets the array that was added last.
    pub(crate) fn remove_last(&mut self) {
        self.classes.pop();
        self.elements.retain(|node, _| (node.0 as usize) < self.classes.len());
    }

    fn add(&mut self, node: &Node, found: &[Extent]) -> Result<(), Error> {
        let mut classes = Vec::new();
        for extent in found.iter().take(node.rank) {
            let new = |extents: &mut Extents, length| {
                extents.lengths.push(length);
                extents.parents.push(extents.parents.len());
                extents.lengths.len() - 1
            };
            classes.push(match *extent {
                Extent::Number(number) => new(self, Length { bound: number, cell: None }),
                Extent::UpTo(bound) => new(self, Length { bound, cell: Some(node.id) }),
                Extent::Same { array, dimension } => {
                    let array = NodeId(u32::try_from(array).unwrap_or(u32::MAX));
                    self.class(array, dimension).ok_or_else(|| {
                        Error::Program(PlacedMessage::at(
                            "an extent of an array that is not part of the program",
                            node.place,
                        ))
                    })?
                }
            });
        }
        let bounds: Vec<i64> = classes.iter().map(|class| self.length(*class).bound).collect();
        let size = bounds.iter().try_fold(1i64, |product, extent| product.checked_mul(*extent));
        if classes.len() != node.rank || size.is_none_or(|size| size > MOST_ELEMENTS) {
            return Err(Error::Shape(PlacedMessage::at(
                format!("extents {bounds:?} are too large"),
                node.place,
            )));
        }
        self.classes.push(classes);
        // Extents that were found equal are one class from here on: kernels take one argument for both.
        if node.operation.nature() == Nature::Pull && node.operation.listens(0) == Listens::Maps {
            for input in &node.inputs {
                for dimension in 0..node.rank as u32 {
                    self.unite((node.id, dimension), (*input, dimension));
                }
            }
        }
        Ok(())
    }

    /// The lengths of an array's dimensions.
    pub fn lengths(&self, node: NodeId) -> Vec<Length> {
        self.classes(node).iter().map(|class| self.length(*class)).collect()
    }

    /// The extents of an array, or their bounds.
    pub fn bounds(&self, node: NodeId) -> Vec<i64> {
        self.lengths(node).iter().map(|length| length.bound).collect()
    }

    /// The number of elements of an array, or the most that there can be.
    pub fn size(&self, node: NodeId) -> i64 {
        self.bounds(node).iter().product()
    }

    /// Whether all extents of an array are numbers.
    pub fn is_known(&self, node: NodeId) -> bool {
        self.lengths(node).iter().all(|length| length.cell.is_none())
    }

    /// The classes of an array's extents: those that are equal in every run of the program have one class.
    pub fn classes(&self, node: NodeId) -> Vec<usize> {
        let classes = self.classes.get(node.0 as usize).map_or(&[][..], Vec::as_slice);
        classes.iter().map(|class| self.root(*class)).collect()
    }

    /// The class of one extent.
    pub fn class(&self, node: NodeId, dimension: u32) -> Option<usize> {
        let class = *self.classes.get(node.0 as usize)?.get(dimension as usize)?;
        Some(self.root(class))
    }

    /// The length that a class stands for.
    pub fn length(&self, class: usize) -> Length {
        self.lengths.get(class).copied().unwrap_or(Length { bound: 0, cell: None })
    }

    /// All classes with their lengths.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, Length)> {
        self.lengths.iter().copied().enumerate()
    }

    /// Evaluates a function from no parameters; extents in it are numbers.
    pub fn values(
        &self,
        node: &Node,
        function: &Function,
        knowledge: &Knowledge,
    ) -> Result<Vec<Constant>, Unplanned> {
        let source = Planned { extents: self, knowledge, node: node.id };
        Shapes { source: &source, inputs: Vec::new(), rank: node.rank, place: node.place }.values(function)
    }

    fn root(&self, mut class: usize) -> usize {
        while self.parents[class] != class {
            class = self.parents[class];
        }
        class
    }

    fn unite(&mut self, one: (NodeId, u32), other: (NodeId, u32)) {
        if let (Some(one), Some(other)) = (self.class(one.0, one.1), self.class(other.0, other.1)) {
            // The older class stands for both, so that numbering does not depend on the order of unions.
            self.parents[one.max(other)] = one.min(other);
        }
    }
}

/// Facts about a description's extents while the program is written.
struct Writing<'a>(&'a Described);

impl Writing<'_> {
    fn find(&self, array: u64) -> Option<&Described> {
        self.0.needs().map(|needed| &**needed).find(|needed| needed.id() == array)
    }
}

impl Source for Writing<'_> {
    fn length(&self, array: u64, dimension: u32) -> Option<Length> {
        let bound = *self.find(array)?.known_extents()?.get(dimension as usize)?;
        Some(Length { bound, cell: None })
    }
    fn is_same(&self, one: (u64, u32), other: (u64, u32)) -> bool {
        one == other
    }
    fn scalar(&self, _: u32) -> Option<Constant> {
        None
    }
    fn argument(&self, _: u32) -> Option<&[usize]> {
        None
    }
    fn counted(&self) -> Option<i64> {
        None
    }
    fn value(&self, _: &ElementOf) -> Result<Constant, Unplanned> {
        Err(Unplanned::NeedsArguments)
    }
    fn node(&self) -> Option<NodeId> {
        None
    }
}

/// The extents of a described array, if they are numbers that are known already.
pub(crate) fn known_extents(described: &Described) -> Option<Vec<i64>> {
    let source = Writing(described);
    let inputs = described.inputs().iter().map(|input| (input.id(), input.rank())).collect();
    let shapes = Shapes { source: &source, inputs, rank: described.rank(), place: described.place() };
    let number = |extent: Extent| match extent {
        Extent::Number(number) => Some(number),
        Extent::Same { array, dimension } => source.length(array, dimension).map(|length| length.bound),
        Extent::UpTo(_) => None,
    };
    let extents: Vec<i64> =
        described.operation().extents(&shapes).ok()?.into_iter().map(number).collect::<Option<_>>()?;
    (extents.len() == described.rank()).then_some(extents)
}
