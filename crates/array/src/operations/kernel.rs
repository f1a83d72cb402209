//! `kernel`: a kernel that the user wrote. Its inputs are in memory. Its result is a push array of the kernel language, so it is
//! handed to listeners; one that may leave elements out is in memory, because elements that are never handed on are zero.
//!
//! A kernel may instead change memory that is its first parameter, and give nothing: the result begins as a copy of the first
//! input, which the kernel changes.

use super::permute::begin;
use crate::error::Error;
use crate::extents::{Extent, Shapes, Unplanned};
use crate::interpret::{Elements, Interpreter};
use crate::lower::{KernelName, Listeners, Lowering, Parameters, ScalarParameter, Step};
use crate::operation::{Nature, Operation, Signature, fits, next};
use crate::program::Node;
use pumice_kernel::{
    BuildError, Definition, Embedded, KernelArgument, Launcher, ParameterKind, SimArgument, SimResult,
    simulate_bound,
};
use pumice_program::{Access, simulate};
use pumice_scalar::{Constant, Function, Node as ScalarNode, PlacedMessage, ScalarType, Variable};
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

/// The input whose copy a kernel changes, if it changes memory.
const CHANGED: usize = 0;

fn lost(node: &Node) -> Error {
    Error::Program(PlacedMessage::at("a kernel's parameters are lost", node.place))
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

/// Returns the launch arguments of a kernel, given the sizes of its arrays and its scalars, each in order.
fn actual(definition: &Definition, sizes: &[i64], scalars: &[Constant]) -> Vec<KernelArgument> {
    let (mut sizes, mut scalars) = (sizes.iter(), scalars.iter());
    let one = |kind: &ParameterKind| match kind {
        ParameterKind::Array { .. } => sizes.next().map(|size| KernelArgument::Length(*size as usize)),
        ParameterKind::Scalar(_) => scalars.next().map(|value| KernelArgument::Scalar(*value)),
    };
    definition.parameters().iter().map_while(one).collect()
}

/// Whether a kernel changes its first parameter.
fn changes_first(definition: &Definition) -> bool {
    matches!(definition.parameters().first(), Some(ParameterKind::Array { changes: true, .. }))
}

/// Binds the parameters of a user's kernel inside the kernel of an array program.
struct Given<'a> {
    parameters: &'a Parameters,
    /// By parameter: the slot of its array, or the program's argument that it is.
    sources: &'a [(Option<usize>, Option<u32>)],
    definition: &'a Definition,
    actual: &'a [KernelArgument],
}

impl Launcher for Given<'_> {
    type Argument = Embedded;

    fn column(&self, parameter: usize, column: usize) -> Option<Embedded> {
        let slot = self.sources.get(parameter)?.0?;
        let ParameterKind::Array { types, changes } = self.definition.parameters().get(parameter)? else {
            return None;
        };
        let access = if *changes { Access::ReadWrite } else { Access::Read };
        let memory = self.parameters.memory(slot, column, *types.get(column)?, access);
        Some(Embedded::Memory(memory))
    }
    fn number(&self, parameter: usize) -> Option<Embedded> {
        match self.actual.get(parameter)? {
            KernelArgument::Length(length) => self.value(Constant::from(*length as i64)),
            KernelArgument::Scalar(value) => self.value(*value),
            KernelArgument::Unknown(ty) => {
                let argument = ScalarParameter::Argument(self.sources.get(parameter)?.1?);
                Some(Embedded::Scalar(self.parameters.scalar(argument, *ty)))
            }
        }
    }
    fn result(&self, _: usize) -> Option<Embedded> {
        None
    }
    fn failure(&self) -> Option<Embedded> {
        None
    }
    fn value(&self, value: Constant) -> Option<Embedded> {
        Some(Embedded::Scalar(self.parameters.scalar(ScalarParameter::Fixed(value), value.ty())))
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
                ParameterKind::Array { changes: true, .. } if number > 0 => {
                    return Err(format!(
                        "kernel `{name}` changes memory that is not its first parameter, which an array program cannot"
                    ));
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
        let changed = signature.inputs.first().filter(|_| changes_first(definition));
        match (definition.outcome(), changed) {
            (None, Some((1, types))) if *types == signature.types && signature.rank == 1 => Ok(()),
            (Some(_), Some(_)) => Err(format!("kernel `{name}` changes memory and gives an array as well")),
            (Some(outcome), None) if outcome.types == signature.types && signature.rank == 1 => Ok(()),
            (Some(_), None) => Err(format!("kernel `{name}` gives something else than is expected of it")),
            (None, _) => Err(format!("kernel `{name}` gives no array")),
        }
    }

    fn extents(&self, shapes: &Shapes<'_>) -> Result<Vec<Extent>, Unplanned> {
        let Ok(definition) = &self.definition else { return Err(Unplanned::NeedsArguments) };
        if changes_first(definition) {
            return Ok(shapes.same(CHANGED));
        }
        let size = |input| Ok(shapes.numbers(input)?.iter().product());
        let sizes = (0..shapes.inputs()).map(size).collect::<Result<Vec<i64>, Unplanned>>()?;
        let values = self.scalars.iter().map(|function| shapes.values(function));
        let values = values.collect::<Result<Vec<_>, Unplanned>>()?.concat();
        let length = definition.length_for(&actual(definition, &sizes, &values));
        let length = length.map_err(|error| shapes.mistake(error.to_string()))?;
        Ok(vec![Extent::Number(length.unwrap_or(0) as i64)])
    }
    /// A push, unless elements may be missing: those are zero, and a listener would not hear of them. Elements without scalars are never
    /// written, so a listener would not hear of them either.
    fn nature(&self) -> Nature {
        let outcome = self.definition.as_ref().ok().and_then(|definition| definition.outcome());
        match outcome {
            Some(outcome) if outcome.complete && !outcome.types.is_empty() => Nature::Push,
            _ => Nature::Memory,
        }
    }
    fn needs_memory(&self) -> bool {
        true
    }
    fn reads_pulls(&self, input: usize) -> bool {
        input == CHANGED && self.definition.as_ref().is_ok_and(|definition| changes_first(definition))
    }
    fn speaks_when_empty(&self) -> bool {
        true
    }
    fn cost(&self) -> u32 {
        0
    }

    fn produce(&self, lowering: &Lowering<'_>, group: Vec<Listeners>) -> Result<Vec<Step>, Error> {
        let steps = group.iter().map(|listeners| self.hand_on(lowering, listeners));
        Ok(steps.collect::<Result<Vec<_>, Error>>()?.concat())
    }

    fn consume(&self, lowering: &Lowering<'_>, node: &Node) -> Result<Vec<Step>, Error> {
        if self.definition.as_ref().is_ok_and(|definition| changes_first(definition)) {
            let Some(changed) = node.inputs.get(CHANGED) else { return Err(lost(node)) };
            let mut steps = begin(lowering, node, *changed)?;
            // It writes to the result itself, so there are no listeners.
            steps.extend(self.hand_on(lowering, &Listeners { producer: node.id, heard: Vec::new() })?);
            return Ok(steps);
        }
        let heard = vec![lowering.heard_in(lowering.slot(node.id)?)];
        self.hand_on(lowering, &Listeners { producer: node.id, heard })
    }

    /// Runs the kernel on the simulator, which defines the meaning of kernels.
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
        let types = definition.outcome().map_or(&[][..], |outcome| &outcome.types);
        let result = SimResult { types, length, complete };
        let options = simulate::Options { costs: false, ..Default::default() };
        let (program, bindings) = (&definition.kernel().program, definition.bindings());
        let simulated =
            simulate_bound(program, bindings, &arguments, result, &options).ok_or_else(|| lost(node))?;
        simulated.report.map_err(|fault| Error::Program(PlacedMessage::at(fault, node.place)))?;
        if let Some(record) = simulated.failure
            && let Some(message) = record.message(&definition.kernel().sites)
        {
            return Err(Error::Failure(message));
        }
        let changed = simulated.arrays.into_iter().next().filter(|_| changes_first(definition));
        let results = changed.unwrap_or(simulated.result);
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

impl KernelCall {
    /// The kernel for the lengths of its arrays, with these listening.
    fn hand_on(&self, lowering: &Lowering<'_>, listeners: &Listeners) -> Result<Vec<Step>, Error> {
        let node = lowering.program.node(listeners.producer);
        let Ok(definition) = &self.definition else { return Err(lost(node)) };
        let sizes: Vec<i64> = node.inputs.iter().map(|input| lowering.extents.size(*input)).collect();
        let value = |function: &Function| match lowering.extents.values(node, function, lowering.knowledge) {
            Ok(values) => Ok(values),
            Err(Unplanned::Error(error)) => Err(error),
            Err(_) => Err(lost(node)),
        };
        let values = self.scalars.iter().map(value).collect::<Result<Vec<_>, Error>>()?.concat();
        let mut actual = actual(definition, &sizes, &values);
        let mistake = |error: BuildError| Error::Program(PlacedMessage::at(error, node.place));
        definition.fits(lowering.profile).map_err(mistake)?;
        let (mut scalars, mut inputs) = (self.scalars.iter(), node.inputs.iter());
        let mut sources = Vec::new();
        for (kind, shaping) in definition.parameters().iter().zip(definition.shaping()) {
            sources.push(match kind {
                ParameterKind::Array { changes: true, .. } => {
                    inputs.next();
                    (Some(lowering.slot(node.id)?), None)
                }
                ParameterKind::Array { .. } => {
                    let slot = inputs.next().map(|input| lowering.slot(*input)).transpose()?;
                    (slot, None)
                }
                ParameterKind::Scalar(ty) => {
                    // A scalar that the kernel need not be specialised for stays an argument of the program.
                    let argument = scalars.next().and_then(argument).filter(|_| !shaping);
                    if let (Some(_), Some(actual)) = (argument, actual.get_mut(sources.len())) {
                        *actual = KernelArgument::Unknown(*ty);
                    }
                    (None, argument)
                }
            });
        }
        let threads = definition.kernel().program.threads;
        let name = KernelName { node, name: definition.name(), skeleton: "the user's kernel", threads };
        lowering.because("the program applies this kernel, whose blocks are the user's");
        lowering.kernel(name, listeners, |parameters| {
            let given = Given { parameters, sources: &sources, definition, actual: &actual };
            // SAFETY: the slots are those of the inputs, which have the lengths that are given and are not written here, and
            // that of the result where the kernel changes it, which is as long as the first input.
            unsafe { definition.embed(&given) }
        })
    }
}
