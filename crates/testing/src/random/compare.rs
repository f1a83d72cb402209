//! Array programs on a device, compared with the interpreter.

use super::arrays::{self, GivenProgram};
use super::choices::Choices;
use crate::harness::Outcome;
use pumice::Compiler;
use pumice::layers::array::{
    ArrayData, ArrayProgram, CheckedProgram, Error as ArrayError, HostData, Knowledge, Plan, PlanOptions,
    interpret,
};
use pumice::layers::runtime::{EmitOptions, Engine, Inputs, PreparedPlan};
use pumice::layers::scalar::{Constant, ScalarType};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Options of planning: mostly the default ones, sometimes without one of the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The default.
    Usual,
    /// Every array is written to memory.
    Unfused,
    /// Arrays that are described alike are computed separately: no common subexpression elimination.
    NotShared,
    /// No array shares a kernel with another one.
    Apart,
    /// The host runs all loops.
    LoopsOfTheHost,
    /// Arrays are computed where they are described: in each round of loops, and before branches.
    NotFloated,
    /// The state of loops is double-buffered, and never overwritten in place.
    NotOverwritten,
    /// No wide accesses.
    NotVectorised,
    /// All indices have 64 bits.
    NotNarrowed,
    /// Without any of these passes.
    Plain,
}

impl Setting {
    /// Decodes the first choice of a program.
    pub fn choose(choices: &mut Choices<'_>) -> Setting {
        use Setting::*;
        choices.pick(&[
            Usual,
            Unfused,
            LoopsOfTheHost,
            NotVectorised,
            NotFloated,
            NotOverwritten,
            NotNarrowed,
            NotShared,
            Apart,
            Usual,
            Plain,
        ])
    }

    fn options(self) -> PlanOptions {
        let with = |without: Setting| self != without && self != Setting::Plain;
        PlanOptions {
            fuse: with(Setting::Unfused),
            share: with(Setting::NotShared),
            together: with(Setting::Apart),
            small_loops: with(Setting::LoopsOfTheHost),
            float: with(Setting::NotFloated),
            overwrite: with(Setting::NotOverwritten),
            vectorise: with(Setting::NotVectorised),
            narrow: with(Setting::NotNarrowed),
            ..PlanOptions::default()
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setting::Usual => "as for users",
            Setting::Unfused => "without fusion",
            Setting::NotShared => "with copies of what is described twice",
            Setting::Apart => "with kernels of its own for each array",
            Setting::LoopsOfTheHost => "with loops that the host runs",
            Setting::NotFloated => "with arrays computed where they are described",
            Setting::NotOverwritten => "with two places for the state of loops",
            Setting::NotVectorised => "without wide accesses",
            Setting::NotNarrowed => "without narrow indices",
            Setting::Plain => "without any pass",
        })
    }
}

/// An array program that is planned for a device.
pub struct PlannedArrays {
    inputs: Inputs,
    /// The program as it is written, which the interpreter runs, and as it is planned.
    written: CheckedProgram,
    program: CheckedProgram,
    setting: Setting,
    /// The plan.
    pub plan: Plan,
}

/// Error of planning or of a run.
type Failed = pumice::Error;

impl PlannedArrays {
    /// Makes a program and plans it.
    pub fn new(bytes: &[u8], engine: &Engine) -> Result<PlannedArrays, String> {
        let mut choices = Choices::new(bytes);
        let setting = Setting::choose(&mut choices);
        let GivenProgram { inputs, roots } = arrays::program(&mut choices);
        let message = |error: ArrayError| error.to_string();
        let written = CheckedProgram::new(ArrayProgram::of(&roots)).map_err(message)?;
        let program = written.ready(&setting.options()).map_err(message)?;
        let extents = inputs.arrays.iter().map(|(number, data)| (*number, data.extents().to_vec()));
        let knowledge = Knowledge::of(extents.collect(), &inputs.scalars);
        match Plan::new(&program, engine.device().profile(), &knowledge, &setting.options()) {
            Ok(plan) => Ok(PlannedArrays { inputs, written, program, setting, plan }),
            Err(error) => Err(format!("it is not planned: {error}")),
        }
    }

    /// Runs the program and compares its result with the interpreter's.
    pub fn agrees(&self, engine: &Arc<Engine>) -> Outcome {
        let expected = interpret(&self.written, &self.inputs.arrays, &self.inputs.scalars);
        let found = self.run(engine).map_err(|error| error.to_string());
        let read = |found: &Arc<dyn ArrayData>| Ok((found.extents().to_vec(), columns(&**found)?));
        let found = found.and_then(|found| found.iter().map(read).collect());
        self.compare(expected, found)
    }

    fn run(&self, engine: &Arc<Engine>) -> Result<Vec<Arc<dyn ArrayData>>, Failed> {
        let inputs = &self.inputs;
        if self.plan.reads().is_some() {
            let options = self.setting.options();
            let compiler = Compiler::with(engine.device().clone())
                .fuse(options.fuse)
                .share(options.share)
                .together(options.together)
                .small_loops(options.small_loops)
                .float(options.float)
                .overwrite(options.overwrite)
                .vectorise(options.vectorise)
                .narrow(options.narrow);
            return compiler.compile_program((*self.written).clone())?.run_all(inputs);
        }
        let (program, options) = (&self.program, EmitOptions::default());
        let prepared = PreparedPlan::new(engine, program, self.plan.clone(), &options, inputs, None)?;
        let execution = prepared.bind(engine, program, inputs)?;
        execution.launch()?;
        execution.results()
    }

    /// Returns whether planning may leave out something that the interpreter computes.
    fn may_leave_out(&self) -> bool {
        let options = self.setting.options();
        options.fuse || (options.float && self.written.to_string().contains(") = branch "))
    }

    fn compare(
        &self,
        expected: Result<Vec<HostData>, ArrayError>,
        found: Result<Vec<Extended>, String>,
    ) -> Outcome {
        let (expected, found) = match (expected, found) {
            (Ok(expected), Ok(found)) => (expected, found),
            (Ok(_), Err(error)) => return Err(error),
            (Err(ArrayError::Failure(_)), Err(error)) if is_failure(&error) => return Ok(()),
            // Fusion does not compute an element that nothing uses, and floating does not compute an array that only the other side of a
            // branch uses.
            (Err(ArrayError::Failure(_)), Ok(_)) if self.may_leave_out() => {
                return Ok(());
            }
            (Err(expected), found) => {
                return Err(format!("{:?} instead of the failure: {expected}", found.err()));
            }
        };
        for (result, (found, expected)) in found.iter().zip(expected).enumerate() {
            let (extents, columns) = (expected.extents(), columns(&expected)?);
            if found.0 != extents {
                return Err(format!("result {result}: extents {:?} instead of {extents:?}", found.0));
            }
            for (number, (found, expected)) in found.1.iter().zip(&columns).enumerate() {
                let mut pairs = found.iter().zip(expected).enumerate();
                if let Some((position, (f, e))) = pairs.find(|(_, (f, e))| !same(**f, **e)) {
                    return Err(format!(
                        "result {result}, scalar {number} at {position}: {f:?} instead of {e:?}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Extents and columns.
type Extended = (Vec<usize>, Vec<Vec<Constant>>);

fn columns(data: &dyn ArrayData) -> Result<Vec<Vec<Constant>>, String> {
    let columns = data.columns().map_err(|error| error.to_string())?;
    let column = |(ty, bytes): (&ScalarType, &Cow<'_, [u8]>)| {
        bytes.chunks(ty.bytes()).map(|bytes| Constant::from_bytes(*ty, bytes)).collect()
    };
    Ok(data.types().iter().zip(&columns).map(column).collect())
}

/// Returns whether an error is a failure of the program, and not of the device.
fn is_failure(error: &str) -> bool {
    error.starts_with("index ") && error.contains(" out of bounds for length ")
        || error.starts_with("integer division by zero in ")
}

/// Returns whether two values are equal; any two NaNs are.
pub fn same(a: Constant, b: Constant) -> bool {
    let is_nan = |value: Constant| value.as_float().is_some_and(f64::is_nan);
    a == b || is_nan(a) && is_nan(b)
}
