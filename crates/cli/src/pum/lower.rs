//! `pumice emit` and `simulate` on files: lowers a function to the target language, or reports the costs of its kernels.

use super::call::{Call, call};
use crate::emit::{self, join, source, target_missing};
use crate::error::{Error, Result};
use crate::subject::Subject;
use crate::target::{self, Target};
use crate::{explain, print, simulate};
use pumice::layers::array::{Plan, whole_columns};
use pumice::layers::emit::Dialect;
use pumice::layers::runtime::devices::Sim;
use pumice::{Compiler, Untyped};
use std::sync::Arc;

/// Default extent of arrays that are not given.
pub const SIZE: usize = 1024;

/// Prints a function in the language that `--target` names. Nothing is run.
pub fn emit(arguments: &emit::Arguments) -> Result<()> {
    let target = arguments.target.ok_or_else(target_missing)?;
    let call = call(&arguments.subject, Some(size(arguments.size)?), None)?;
    print(&emitted(&call, target)?)
}

/// Lowers a call to the target language, and returns the distinct kernels, or the array program.
pub fn emitted(call: &Call, target: Target) -> Result<String> {
    if target == Target::Array {
        return Ok(join(std::iter::once(call.compiled.program.to_string())));
    }
    let dialect = target.dialect().unwrap_or(Dialect::Cuda);
    let foreseen = planned(call, dialect)?.foresee(&call.inputs)?;
    let mut texts: Vec<String> = Vec::new();
    for launch in foreseen.iter().filter_map(|foreseen| foreseen.plan.as_ref().ok()).flat_map(Plan::launches)
    {
        let text = match target {
            Target::Program => launch.program.to_string(),
            _ => source(&launch.program, dialect)?,
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(join(texts.into_iter()))
}

/// Explains the buffers and launches of a call.
pub fn explained(call: &Call, dialect: Dialect) -> Result<String> {
    Ok(explain::planned(call.compiled.program.clone(), &call.inputs, dialect)?.to_string())
}

/// Compiles the program for a simulated device with the profile of the dialect.
fn planned(call: &Call, dialect: Dialect) -> Result<Untyped> {
    let device = Arc::new(Sim::observing(target::profile(dialect)));
    Ok(Compiler::with(device).compile_program(call.compiled.program.clone())?)
}

/// Returns the size that a command line asks for.
pub fn size(size: Option<usize>) -> Result<usize> {
    let size = size.unwrap_or(SIZE);
    match i32::try_from(size) {
        Ok(_) => Ok(size),
        Err(_) => Err(Error::Usage(format!("--size is at most {} for `.pum` files", i32::MAX))),
    }
}

/// Runs a function on a simulated GPU, and prints the costs of each kernel, line by line.
pub fn simulate(subject: &Subject) -> Result<()> {
    print(&simulated(&call(subject, None, None)?)?)
}

/// Runs a call on a simulated GPU, and returns the costs of each kernel, line by line.
pub fn simulated(call: &Call) -> Result<String> {
    let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
    let compiler = Compiler::with(sim.clone());
    let results = compiler.compile_program(call.compiled.program.clone())?.run_all(&call.inputs)?;
    for result in &results {
        // Reading the elements reports a failure of the run.
        whole_columns(&**result).map_err(pumice::Error::from)?;
    }
    let launches = sim.recorded();
    Ok(format!("{}\nwithout a race\n", simulate::costs(&launches).trim_start()))
}
