//! What is wrong with an operation of array IR, and what is certain of its indices, as far as that can be seen without
//! extents.
//!
//! Whoever plans or interprets a program asks first. Past this check, ranks, element types and the signatures of
//! functions fit each other; extents are checked by [`crate::extents`].

use crate::node::{Node, Operation};
use pumice_kernel::{BuildError, Definition, ParameterKind};
use pumice_scalar::{Function, Node as ScalarNode, ScalarType, Variable};
use std::sync::Arc;

/// Scalars of an element are numbered in 16 bits.
const MOST_COLUMNS: usize = 1 << 16;

impl Node {
    /// The first mistake in it that can be seen without extents, if there is one.
    pub fn mistake(&self) -> Option<String> {
        let in_function = self.functions().into_iter().find_map(|function| function.mistake());
        let mistake = in_function.or_else(|| self.misfit().err());
        mistake.map(|mistake| format!("{mistake} in {}", self.place()))
    }

    /// Checks that ranks, types and signatures fit each other.
    fn misfit(&self) -> Result<(), String> {
        ensure(self.types.len() <= MOST_COLUMNS, "an element has too many scalars")?;
        ensure(
            !self.functions().into_iter().any(mentions_locals),
            "a value of a kernel stands in a function of an array program",
        )?;
        let indices = |rank: usize| vec![ScalarType::I64; rank];
        match &self.operation {
            Operation::Use(data) => {
                ensure(data.extents().len() == self.rank, RANK)?;
                ensure(data.types() == self.types, TYPES)
            }
            Operation::Argument(_) => Ok(()),
            Operation::Generate { shape, element } => {
                signature(shape, &[], &indices(self.rank))?;
                signature(element, &indices(self.rank), &self.types)
            }
            Operation::ZipWith { function, inputs } => {
                ensure(!inputs.is_empty(), "there is no array to work on")?;
                ensure(inputs.iter().all(|input| input.rank == self.rank), RANK)?;
                let elements: Vec<ScalarType> =
                    inputs.iter().flat_map(|input| input.types.iter().copied()).collect();
                signature(function, &elements, &self.types)
            }
            Operation::Reshape { shape, input } => {
                ensure(input.types == self.types, TYPES)?;
                signature(shape, &[], &indices(self.rank))
            }
            Operation::Backpermute { shape, index, input } => {
                ensure(input.types == self.types, TYPES)?;
                signature(shape, &[], &indices(self.rank))?;
                signature(index, &indices(self.rank), &indices(input.rank))
            }
            Operation::Fold { operator, initial, input } => {
                ensure(input.rank == self.rank + 1, RANK)?;
                ensure(input.types == self.types, TYPES)?;
                signature(operator, &[&self.types[..], &self.types].concat(), &self.types)?;
                signature(initial, &[], &self.types)
            }
            Operation::Kernel { definition, scalars, inputs } => {
                self.kernel_misfit(definition, scalars, inputs)
            }
        }
    }

    /// Checks a kernel and what it is given.
    fn kernel_misfit(
        &self,
        definition: &Result<Arc<Definition>, BuildError>,
        scalars: &[Function],
        inputs: &[Arc<Node>],
    ) -> Result<(), String> {
        let definition = definition.as_ref().map_err(BuildError::to_string)?;
        let name = definition.name();
        let (mut scalars, mut inputs) = (scalars.iter(), inputs.iter());
        for (number, kind) in definition.parameters().iter().enumerate() {
            let fits = match kind {
                ParameterKind::Array { changes: true, .. } => {
                    return Err(format!("kernel `{name}` changes memory, which an array program cannot"));
                }
                ParameterKind::Array { types, .. } => {
                    inputs.next().is_some_and(|input| input.rank == 1 && input.types == *types)
                }
                ParameterKind::Scalar(ty) => {
                    scalars.next().is_some_and(|function| signature(function, &[], &[*ty]).is_ok())
                }
            };
            if !fits {
                return Err(format!("argument {number} does not fit kernel `{name}`"));
            }
        }
        if inputs.next().is_some() || scalars.next().is_some() {
            return Err(format!("kernel `{name}` is given too many arguments"));
        }
        match definition.outcome() {
            Some(outcome) if outcome.types == self.types && self.rank == 1 => Ok(()),
            Some(_) => Err(format!("kernel `{name}` gives something else than is expected of it")),
            None => Err(format!("kernel `{name}` gives no array")),
        }
    }
}

const RANK: &str = "an array has another number of dimensions than the operation is for";
const TYPES: &str = "an array has elements of another type than the operation is for";

fn ensure(holds: bool, mistake: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(mistake.to_string()) }
}

fn signature(function: &Function, parameters: &[ScalarType], results: &[ScalarType]) -> Result<(), String> {
    let fits = function.parameters() == parameters && function.result_types() == results;
    ensure(fits, "a function does not fit the arrays that it is applied to")
}

fn mentions_locals(function: &Function) -> bool {
    function.nodes().iter().any(|node| matches!(node, ScalarNode::Variable(Variable::Local(_), _)))
}

/// What is certain of the index function of a [`Operation::Backpermute`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// Nothing: every index is checked, unless the extents of a run prove it in bounds.
    Checked,
    /// It is in bounds and reads every element once (a transposition).
    Permutes,
    /// It is in bounds and may read an element many times (a replication).
    Replicates,
}

impl Bounds {
    /// Looks at the operation: the index is in bounds where each of its parts is an index of the result in a dimension
    /// that is, by name, as long as the input's.
    pub(crate) fn of(operation: &Operation) -> Bounds {
        let Operation::Backpermute { shape, index, input } = operation else { return Bounds::Checked };
        let result = |function: &Function, number: usize| {
            let id = function.results().get(number)?;
            function.nodes().get(id.0 as usize).cloned()
        };
        let mut used = vec![false; shape.results().len()];
        for dimension in 0..input.rank {
            let Some(ScalarNode::Variable(Variable::Parameter(from), _)) = result(index, dimension) else {
                return Bounds::Checked;
            };
            let own = Variable::Extent { array: input.id, dimension: dimension as u32 };
            match (result(shape, from as usize), used.get_mut(from as usize)) {
                (Some(ScalarNode::Variable(extent, _)), Some(used)) if extent == own => *used = true,
                _ => return Bounds::Checked,
            }
        }
        if used.iter().all(|used| *used) { Bounds::Permutes } else { Bounds::Replicates }
    }
}
