//! Kernels whose interface is data, for a front end that reads source files and has no Rust types.

use crate::builder::{build, scalar_parameter, with};
use crate::define::{Definition, Outcome, ParameterKind, columns, length, write_result};
use crate::error::BuildError;
use crate::level::{AnyLevel, Grid};
use crate::value::Value;
use crate::{Dynamic, Mutable, Pull};
use pumice_program::Access;
use pumice_scalar::ScalarType;

/// Makes a kernel of what `f` does to values, with blocks of this many threads: [`crate::define`] for front ends that have no
/// types of Rust. The parameters are as they are said: arrays are [`Value::Pull`], those that change [`Value::Memory`], and
/// scalars [`Value::Scalars`] of one column. The result is a push array of the grid with columns of the types `result`, or
/// nothing where those are none and the kernel only changes memory.
///
/// ```
/// use pumice::kernel::{AnyLevel, ParameterKind, Scalars, Value, define_data};
/// use pumice::layers::scalar::{Op, ScalarType};
/// let numbers = ParameterKind::Array { types: vec![ScalarType::F32], changes: false };
/// let kernel = define_data("squares", 256, &[numbers], &[ScalarType::F32], |mut arguments| {
///     let square = |Scalars(x): Scalars| Scalars(vec![x[0].binary(Op::Mul, x[0])]);
///     Some(Value::from(arguments.remove(0).elements().map(square).push_at(AnyLevel::Grid)))
/// })?;
/// assert_eq!(kernel.outcome().map(|outcome| outcome.types.clone()), Some(vec![ScalarType::F32]));
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[track_caller]
pub fn define_data(
    name: &str,
    threads: u32,
    parameters: &[ParameterKind],
    result: &[ScalarType],
    f: impl FnOnce(Vec<Value>) -> Option<Value>,
) -> Result<Definition, BuildError> {
    let mut outcome = None;
    let kernel = build(name, threads, || {
        let values = parameters.iter().enumerate().map(|(number, kind)| declare(number, kind)).collect();
        outcome = write(f(values), result);
    })?;
    Definition::new(kernel, parameters.to_vec(), outcome)
}

/// Adds a parameter to the program being built.
fn declare(number: usize, kind: &ParameterKind) -> Value {
    match kind {
        ParameterKind::Array { types, changes: false } => {
            let cells = columns(types, number, Access::Read);
            Value::from(Pull::<Dynamic, _>::in_memory(length(number), cells))
        }
        ParameterKind::Array { types, changes: true } => {
            let cells = columns(types, number, Access::ReadWrite);
            Value::Memory(Mutable::global(cells, length(number)))
        }
        ParameterKind::Scalar(ty) => scalar_parameter(&format!("argument{number}"), *ty).into(),
    }
}

/// Writes the result to memory, which becomes parameters of the program being built.
fn write(value: Option<Value>, types: &[ScalarType]) -> Option<Outcome> {
    match value {
        None if types.is_empty() => None,
        Some(Value::Push(array)) if array.level() == AnyLevel::Grid && !types.is_empty() => {
            write_result(&array.at_level::<Grid>(), types.to_vec())
        }
        _ => {
            with(|builder| {
                builder.mistake(
                    "a kernel gives an array that its grid pushes, or nothing if it only changes memory: bring a block's array \
                     up with `concat`, or push at `Grid`",
                );
            });
            None
        }
    }
}
