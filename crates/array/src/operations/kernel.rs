//! `kernel`: a kernel that the user wrote. Its arrays are in memory, and so is its result.

use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{Lowering, Step};
use crate::operation::{Nature, Operation, Signature, fits, next};
use crate::plan::{Launch, PlanArgument};
use crate::program::Node;
use pumice_kernel::{
    Binding, BuildError, Definition, KernelArgument, Launcher, ParameterKind, SimArgument, SimResult,
    simulate_bound,
};
use pumice_program::simulate;
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
fn actual(definition: &Definition, sizes: &[i64], scalars: &[Constant]) -> Vec<KernelArgument> {
    let (mut sizes, mut scalars) = (sizes.iter(), scalars.iter());
    let one = |kind: &ParameterKind| match kind {
        ParameterKind::Array { .. } => sizes.next().map(|size| KernelArgument::Length(*size as usize)),
        ParameterKind::Scalar(_) => scalars.next().map(|value| KernelArgument::Scalar(*value)),
    };
    definition.parameters().iter().map_while(one).collect()
}

/// What a plan gives a user's kernel.
struct Planned<'a> {
    lowering: &'a Lowering<'a>,
    /// The slot of the result.
    slot: usize,
    /// By parameter: the slot of its array, or the program's argument that it is.
    given: &'a [(Option<usize>, Option<u32>)],
    actual: &'a [KernelArgument],
    first_site: usize,
}

impl Launcher for Planned<'_> {
    type Argument = PlanArgument;

    fn column(&self, parameter: usize, column: usize) -> Option<PlanArgument> {
        let slot = self.given.get(parameter)?.0?;
        self.lowering.buffers_of(slot).get(column).copied().map(PlanArgument::Buffer)
    }
    fn number(&self, parameter: usize) -> Option<PlanArgument> {
        match self.actual.get(parameter)? {
            KernelArgument::Length(length) => self.value(Constant::from(*length as i64)),
            KernelArgument::Scalar(value) => self.value(*value),
            KernelArgument::Unknown(_) => self.given.get(parameter)?.1.map(PlanArgument::Scalar),
        }
    }
    fn result(&self, column: usize) -> Option<PlanArgument> {
        self.lowering.buffers_of(self.slot).get(column).copied().map(PlanArgument::Buffer)
    }
    fn failure(&self) -> Option<PlanArgument> {
        Some(PlanArgument::Failure)
    }
    fn failure_base(&self) -> Option<PlanArgument> {
        self.value(Constant::from(self.first_site as i64))
    }
    fn value(&self, value: Constant) -> Option<PlanArgument> {
        Some(PlanArgument::Constant(value))
    }
}

impl Operation for KernelCall {
    fn keyword(&self) -> &'static str {
        "kernel"
    }
    fn functions(&self) -> Vec<&Function> {
        self.scalars.iter().collect()
    }
    fn is_said_by_text(&self) -> bool {
        false
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
                        *actual = KernelArgument::Unknown(*ty);
                    }
                    (None, argument)
                }
            });
        }
        let special = definition.specialise(&actual, lowering.profile, lowering.passes()).map_err(mistake)?;
        let fails = special.program.failure.is_some();
        let first_site = if fails { lowering.add_sites(&definition.kernel().sites) } else { 0 };
        let launch = Planned { lowering, slot, given: &given, actual: &actual, first_site };
        let bound = |binding: &Binding| binding.resolve(&launch);
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
        let mut arrays = node.inputs.iter().map(|input| interpreter.elements(*input));
        let argument = |(actual, kind): (&KernelArgument, &ParameterKind)| match actual {
            KernelArgument::Length(length) => {
                let columns = if let ParameterKind::Array { types, .. } = kind { types.len() } else { 0 };
                let elements = arrays.next().map_or(&[][..], Vec::as_slice);
                let column = |column: usize| {
                    elements.iter().flat_map(|element: &Vec<Constant>| element[column].to_bytes()).collect()
                };
                SimArgument::Array { columns: (0..columns).map(column).collect(), length: *length }
            }
            KernelArgument::Scalar(value) => SimArgument::Scalar(*value),
            KernelArgument::Unknown(ty) => SimArgument::Scalar(Constant::zero(*ty)),
        };
        let arguments: Vec<SimArgument> = actual.iter().zip(definition.parameters()).map(argument).collect();
        let length = interpreter.extents(node.id).iter().product::<i64>() as usize;
        let complete = definition.outcome().is_none_or(|outcome| outcome.complete);
        let result = SimResult { types: &node.types, length, complete };
        let options = simulate::Options { costs: false, ..Default::default() };
        let (program, bindings) = (&definition.kernel().program, definition.bindings());
        let simulated = simulate_bound(program, bindings, &arguments, result, &options)
            .ok_or_else(|| Error::Program(format!("a kernel's parameters are lost in {}", node.place)))?;
        simulated.report.map_err(|fault| Error::Program(format!("{fault} in {}", node.place)))?;
        if let Some(record) = simulated.failure
            && let Some(message) = record.message(&definition.kernel().sites)
        {
            return Err(Error::Failure(message));
        }
        let results = simulated.result;
        let element = |position: usize| {
            let scalar = |(ty, column): (&ScalarType, &Vec<u8>)| {
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
