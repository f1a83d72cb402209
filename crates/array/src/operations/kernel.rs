//! `kernel`: a kernel that the user wrote. Its arrays are in memory, and so is its result.

use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Lowering, Step};
use crate::operation::{Nature, Operation, Signature, fits, next};
use crate::plan::{Launch, PlanArgument};
use crate::program::Node;
use pumice_kernel::{Actual, Binding, BuildError, Definition, ParameterKind};
use pumice_program::{SimMemory, simulate};
use pumice_scalar::{Constant, Function, Node as ScalarNode, ScalarType, Variable};
use std::any::Any;
use std::sync::Arc;

/// A call of a user's kernel.
#[derive(Clone)]
pub struct KernelCall {
    /// The kernel, or why there is none.
    pub definition: Result<Arc<Definition>, BuildError>,
    /// Its scalars in the order of its parameters, each from no parameters.
    pub scalars: Vec<Function>,
}

/// The scalar argument that a function from no parameters is, if it is just that.
fn argument(function: &Function) -> Option<u32> {
    match (function.results(), function.nodes()) {
        ([result], nodes) => match nodes.get(result.0 as usize) {
            Some(ScalarNode::Variable(Variable::Argument(number), _)) => Some(*number),
            _ => None,
        },
        _ => None,
    }
}

/// What a kernel's parameters are, given the sizes of its arrays and its scalars, each in order.
fn actual(definition: &Definition, sizes: &[i64], scalars: &[Constant]) -> Vec<Actual> {
    let (mut sizes, mut scalars) = (sizes.iter(), scalars.iter());
    let one = |kind: &ParameterKind| match kind {
        ParameterKind::Array { .. } => sizes.next().map(|size| Actual::Length(*size as usize)),
        ParameterKind::Scalar(_) => scalars.next().map(|value| Actual::Scalar(*value)),
    };
    definition.parameters().iter().map_while(one).collect()
}

impl Operation for KernelCall {
    fn keyword(&self) -> &'static str {
        "kernel"
    }
    fn functions(&self) -> Vec<&Function> {
        self.scalars.iter().collect()
    }
    fn with_functions(&self, functions: Vec<Function>) -> Arc<dyn Operation> {
        let mut functions = functions.into_iter();
        let scalars = self.scalars.iter().map(|old| next(&mut functions, old)).collect();
        Arc::new(KernelCall { definition: self.definition.clone(), scalars })
    }
    fn shaping(&self) -> Vec<&Function> {
        let Ok(definition) = &self.definition else { return Vec::new() };
        let kinds = definition.parameters().iter().zip(definition.shaping());
        let mine = kinds.filter(|(kind, _)| matches!(kind, ParameterKind::Scalar(_)));
        let pairs = self.scalars.iter().zip(mine);
        let fixed = pairs.filter(|(function, (_, shaping))| *shaping || argument(function).is_none());
        fixed.map(|(function, _)| function).collect()
    }

    fn check(&self, signature: &Signature<'_>) -> Result<(), String> {
        let definition = self.definition.as_ref().map_err(BuildError::to_string)?;
        let name = definition.name();
        let (mut scalars, mut inputs) = (self.scalars.iter(), signature.inputs.iter());
        for (number, kind) in definition.parameters().iter().enumerate() {
            let matches = match kind {
                ParameterKind::Array { changes: true, .. } => {
                    return Err(format!("kernel `{name}` changes memory, which an array program cannot"));
                }
                ParameterKind::Array { types, .. } => {
                    inputs.next().is_some_and(|(rank, given)| *rank == 1 && given == types)
                }
                ParameterKind::Scalar(ty) => {
                    scalars.next().is_some_and(|function| fits(function, &[], &[*ty]).is_ok())
                }
            };
            if !matches {
                return Err(format!("argument {number} does not fit kernel `{name}`"));
            }
        }
        if inputs.next().is_some() || scalars.next().is_some() {
            return Err(format!("kernel `{name}` is given too many arguments"));
        }
        match definition.outcome() {
            Some(outcome) if outcome.types == signature.types && signature.rank == 1 => Ok(()),
            Some(_) => Err(format!("kernel `{name}` gives something else than is expected of it")),
            None => Err(format!("kernel `{name}` gives no array")),
        }
    }

    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let Ok(definition) = &self.definition else { return Err(Unplanned::NeedsArguments) };
        let size = |input| Ok(shapes.numbers(input)?.iter().product());
        let sizes = (0..shapes.inputs()).map(size).collect::<Result<Vec<i64>, Unplanned>>()?;
        let values = self.scalars.iter().map(|function| shapes.values(function));
        let values = values.collect::<Result<Vec<_>, Unplanned>>()?.concat();
        let length = definition.length_for(&actual(definition, &sizes, &values));
        let length = length.map_err(|error| shapes.mistake(error.to_string()))?;
        Ok(vec![Extent::Number(length.unwrap_or(0) as i64)])
    }
    fn nature(&self) -> Nature {
        Nature::Memory
    }
    fn cost(&self) -> u32 {
        0
    }

    /// The kernel for the lengths of its arrays.
    fn consume(&self, lowering: &Lowering<'_>, node: &Node) -> Result<Vec<Step>, Error> {
        let mistake = |error: BuildError| Error::Program(format!("{error} in {}", node.place));
        let lost = || Error::Program(format!("a kernel's parameters are lost in {}", node.place));
        let Ok(definition) = &self.definition else { return Err(lost()) };
        let slot = lowering.slot(node.id)?;
        let sizes: Vec<i64> = node.inputs.iter().map(|input| lowering.extents.size(*input)).collect();
        let value = |function: &Function| match lowering.extents.values(node, function, lowering.knowledge) {
            Ok(values) => Ok(values),
            Err(Unplanned::Error(error)) => Err(error),
            Err(_) => Err(lost()),
        };
        let values = self.scalars.iter().map(value).collect::<Result<Vec<_>, Error>>()?.concat();
        let mut actual = actual(definition, &sizes, &values);
        definition.fits(lowering.profile).map_err(mistake)?;
        // By parameter: where its array is, or its value.
        let (mut scalars, mut inputs) = (self.scalars.iter(), node.inputs.iter());
        let mut given = Vec::new();
        for (kind, shaping) in definition.parameters().iter().zip(definition.shaping()) {
            given.push(match kind {
                ParameterKind::Array { .. } => {
                    let slot = inputs.next().map(|input| lowering.slot(*input)).transpose()?;
                    (slot, None)
                }
                ParameterKind::Scalar(ty) => {
                    // What nothing depends on stays an argument of the program.
                    let argument = scalars.next().and_then(argument).filter(|_| !shaping);
                    if let (Some(_), Some(actual)) = (argument, actual.get_mut(given.len())) {
                        *actual = Actual::Unknown(*ty);
                    }
                    (None, argument)
                }
            });
        }
        let special = definition.specialise(&actual, lowering.profile, lowering.passes()).map_err(mistake)?;
        let fails = special.program.failure.is_some();
        let first_site = if fails { lowering.add_sites(&definition.kernel().sites) } else { 0 };
        let column = |slot: Option<usize>, column: usize| {
            slot.and_then(|slot| lowering.buffers_of(slot).get(column).copied()).map(PlanArgument::Buffer)
        };
        let bound = |binding: &Binding| match *binding {
            Binding::Column { parameter, column: number } => column(given.get(parameter)?.0, number),
            Binding::Result { column: number } => column(Some(slot), number),
            Binding::Length { parameter } | Binding::Scalar { parameter } => match actual.get(parameter)? {
                Actual::Length(length) => Some(PlanArgument::Constant(Constant::from(*length as i64))),
                Actual::Scalar(value) => Some(PlanArgument::Constant(*value)),
                Actual::Unknown(_) => given.get(parameter)?.1.map(PlanArgument::Scalar),
            },
            Binding::Failure => Some(PlanArgument::Failure),
            Binding::FailureBase => Some(PlanArgument::Constant(Constant::from(first_site as i64))),
            Binding::Value(value) => Some(PlanArgument::Constant(value)),
        };
        let arguments = special.bindings.iter().map(bound).collect::<Option<Vec<_>>>().ok_or_else(lost)?;
        let complete = definition.outcome().is_none_or(|outcome| outcome.complete);
        let zeroed = if complete { Vec::new() } else { lowering.buffers_of(slot) };
        let (place, skeleton) = (node.place.to_string(), "the user's kernel".to_string());
        let launch = Launch { program: special.program, arguments, place, skeleton };
        Ok(zeroed.into_iter().map(Step::Zero).chain([Step::Launch(launch)]).collect())
    }

    /// What the simulator, which says what kernels mean, makes of it.
    fn interpret(&self, interpreter: &Interpreter<'_>, node: &Node) -> Result<Elements, Error> {
        let Ok(definition) = &self.definition else { return Ok(Vec::new()) };
        let size = |input: &crate::program::NodeId| interpreter.extents(*input).iter().product();
        let sizes: Vec<i64> = node.inputs.iter().map(size).collect();
        let scalar = |function: &Function| interpreter.evaluator(function)?(&[]);
        let values = self.scalars.iter().map(scalar).collect::<Result<Vec<_>, Error>>()?.concat();
        let actual = actual(definition, &sizes, &values);
        let program = &definition.kernel().program;
        let length: i64 = interpreter.extents(node.id).iter().product();
        let length = length as usize;
        let mut arrays = node.inputs.iter().map(|input| interpreter.elements(*input));
        let arrays: Vec<Option<&Elements>> = actual
            .iter()
            .map(|actual| if let Actual::Length(_) = actual { arrays.next() } else { None })
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
                        Some(Actual::Length(length)) => Constant::from(*length as i64),
                        Some(Actual::Scalar(value)) => *value,
                        Some(Actual::Unknown(ty)) => Constant::zero(*ty),
                        None => Constant::from(0i64),
                    });
                }
            }
        }
        let options = simulate::Options { costs: false, ..Default::default() };
        simulate(program, &mut memories, &scalars, &options)
            .map_err(|fault| Error::Program(format!("{fault} in {}", node.place)))?;
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
    fn as_any(&self) -> &dyn Any {
        self
    }
}
