//! A program inside another one: its operations are described once more, over arrays and scalars of the caller.
//!
//! The result is a description like any other, so planning sees one program and fuses across the call. Operations keep the
//! places where they were written, and arrays that the program holds are shared. Programs of loops and branches see no
//! scalars but arguments, and the caller's scalar may be computed from its arrays: so these programs are described once more
//! too, and closed again over the arrays that they take from outside.

use crate::described::{Described, remember};
use crate::loops::Outside;
use crate::operation::Given;
use crate::operations::{Parameter, ZipWith};
use crate::program::{ArrayProgram, Node, with_leaves};
use crate::verify::CheckedProgram;
use pumice_scalar::{ElementOf, Exp, Node as ScalarNode, Place, ScalarType, Term, Variable, function};
use std::collections::HashMap;
use std::sync::Arc;

/// Arguments of a call of a program by another, by the numbers of the parameters.
#[derive(Clone, Default)]
pub struct Passed {
    /// The arrays.
    pub arrays: HashMap<u32, Arc<Described>>,
    /// The scalars.
    pub scalars: HashMap<u32, Term>,
}

impl Passed {
    /// The arguments of a part of the caller's program: these arrays, and the caller's own scalars.
    pub(crate) fn to_part(arrays: impl Iterator<Item = Arc<Described>>, part: &ArrayProgram) -> Passed {
        let mut scalars = HashMap::new();
        each_scalar(part, &mut |number, ty| {
            scalars.entry(number).or_insert_with(|| Term::variable(Variable::Argument(number), ty));
        });
        Passed { arrays: (0..).zip(arrays).collect(), scalars }
    }
}

impl CheckedProgram {
    /// Describes the results of this program for these arguments, as a part of the program that is being written. An argument
    /// that is missing is an error when that is compiled.
    pub fn describe(&self, passed: &Passed) -> Vec<Arc<Described>> {
        describe(self, passed)
    }
}

impl Described {
    /// An array that does not exist: any program that uses it is refused with this message and place.
    pub fn mistaken(message: &str, rank: usize, types: Vec<ScalarType>, place: Place) -> Arc<Described> {
        let function = function(&[], |_| types.iter().map(|ty| Term::invalid(*ty, message)).collect());
        Described::new(ZipWith { function }, Vec::new(), rank, types, place)
    }
}

/// Describes the results of a program that was checked, or is nested in one that was: inputs stand before their users.
pub(crate) fn describe(program: &ArrayProgram, passed: &Passed) -> Vec<Arc<Described>> {
    let mut all: Vec<Arc<Described>> = Vec::with_capacity(program.nodes().len());
    for node in program.nodes() {
        let described = match node.operation.given() {
            Some(Given::Argument(number)) => passed.arrays.get(&number).cloned().unwrap_or_else(|| {
                let message = "a program that is called is given too few arrays";
                Described::mistaken(message, node.rank, node.types.clone(), node.place)
            }),
            _ => describe_node(node, &all, passed),
        };
        all.push(described);
    }
    program.results().iter().map(|result| all[result.0 as usize].clone()).collect()
}

/// Describes an operation, given those before it.
fn describe_node(node: &Node, before: &[Arc<Described>], passed: &Passed) -> Arc<Described> {
    let mut inputs: Vec<Arc<Described>> =
        node.inputs.iter().map(|input| before[input.0 as usize].clone()).collect();
    let operation = match node.operation.control() {
        Some(control) if control.programs().iter().any(mentions_scalars) => {
            let parameter = |input: &Arc<Described>| {
                let (rank, types) = (input.rank(), input.types().to_vec());
                Described::new(Parameter, Vec::new(), rank, types, node.place)
            };
            let parameters: Vec<Arc<Described>> = inputs.iter().map(parameter).collect();
            let inner = Passed {
                arrays: (0..).zip(parameters.iter().cloned()).collect(),
                scalars: passed.scalars.clone(),
            };
            let mut outside = Outside::new(parameters);
            // The program that is run once before a loop becomes a part of its step again.
            let (once, all) = (control.once(), control.programs());
            let programs = (0..).zip(all).filter(|(number, _)| Some(*number) != once).map(|(_, program)| {
                let mut inner = inner.clone();
                let further = once.map_or(Vec::new(), |once| describe(&all[once], &inner));
                inner.arrays.extend((inner.arrays.len() as u32..).zip(further));
                outside.close(&describe(program, &inner))
            });
            let programs = programs.collect();
            inputs.extend(outside.arrays.into_iter().skip(inner.arrays.len()));
            control.with_programs(programs)
        }
        _ => with_leaves(
            &node.operation,
            |variable| matches!(variable, Variable::Extent { .. } | Variable::Argument(_)),
            &mut |variable, ty| match variable {
                Variable::Argument(number) => match passed.scalars.get(&number) {
                    Some(term) if term.ty() == ty => *term,
                    _ => Term::invalid(ty, "a program that is called is given too few scalars"),
                },
                Variable::Extent { array, dimension } => extent(&before[array as usize], dimension, ty),
                other => Term::variable(other, ty),
            },
            &mut |of, index| {
                let array = &before[of.array as usize];
                remember(array);
                Term::element(ElementOf { array: array.id(), ..of }, index)
            },
        ),
    };
    Described::of_shared(operation, inputs, node.rank, node.types.clone(), node.place)
}

/// An extent of an array, as functions mention it: a constant where it is known.
fn extent(array: &Arc<Described>, dimension: u32, ty: ScalarType) -> Term {
    match array.known_extents().and_then(|extents| extents.get(dimension as usize)) {
        Some(extent) => Exp::from(*extent).term(),
        None => {
            remember(array);
            Term::variable(Variable::Extent { array: array.id(), dimension }, ty)
        }
    }
}

/// Whether a scalar argument stands in a function of a program, or of one that it runs.
fn mentions_scalars(program: &ArrayProgram) -> bool {
    let mut found = false;
    each_scalar(program, &mut |_, _| found = true);
    found
}

/// Hands on the number and type of every scalar argument that stands in a function of a program, or of one that it runs.
fn each_scalar(program: &ArrayProgram, take: &mut dyn FnMut(u32, ScalarType)) {
    for node in program.nodes() {
        for scalar in node.operation.functions().into_iter().flat_map(|function| function.nodes()) {
            if let ScalarNode::Variable(Variable::Argument(number), ty) = scalar {
                take(*number, *ty);
            }
        }
        node.programs().iter().for_each(|program| each_scalar(program, take));
    }
}
