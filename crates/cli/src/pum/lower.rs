//! `pumice emit`, `explain` and `simulate` on files: what a function becomes on its way to a device, and what its kernels cost there.

use super::call::{Call, call};
use crate::emit::{join, source, target_missing, unknown_target};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::{print, simulate, target};
use pumice::layers::array::{Plan, whole_columns};
use pumice::layers::emit::Dialect;
use pumice::layers::runtime::devices::Sim;
use pumice::{Compiler, Untyped};
use std::sync::Arc;

/// The extents of arrays that are not given.
pub const SIZE: usize = 1024;

/// Prints a function in the language that `--target` names. Nothing is run.
pub fn emit(options: &Options) -> Result<()> {
    let target = options.value("--target").ok_or_else(target_missing)?;
    let target = Target::named(target)?;
    let call = call(options, Some(size(options)?))?;
    print(&emitted(&call, target)?)
}

/// What programs are shown as.
#[derive(Clone, Copy)]
pub enum Target {
    /// The array language.
    Array,
    /// Program IR.
    Program,
    /// The text of kernels.
    Dialect(Dialect),
}

impl Target {
    /// The target with this name.
    pub fn named(name: &str) -> Result<Target> {
        match name {
            "array" => Ok(Target::Array),
            "program" => Ok(Target::Program),
            _ => target::dialect(name).map(Target::Dialect).map_err(|_| unknown_target(name)),
        }
    }
}

/// What a call becomes.
pub fn emitted(call: &Call, target: Target) -> Result<String> {
    let dialect = match target {
        Target::Array => return Ok(join(std::iter::once(call.compiled.program.to_string()))),
        Target::Program => Dialect::Cuda,
        Target::Dialect(dialect) => dialect,
    };
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

/// Prints what is allocated and launched for a function. Nothing is run.
pub fn explain(options: &Options) -> Result<()> {
    let dialect = target::dialect(options.value("--target").unwrap_or("cuda"))?;
    let call = call(options, Some(size(options)?))?;
    print(&explained(&call, dialect)?)
}

/// What is allocated and launched for a call.
pub fn explained(call: &Call, dialect: Dialect) -> Result<String> {
    Ok(planned(call, dialect)?.explain(&call.inputs)?)
}

/// The program, on something that is like a device of the dialect.
fn planned(call: &Call, dialect: Dialect) -> Result<Untyped> {
    let device = Arc::new(Sim::observing(target::profile(dialect)));
    Ok(Compiler::with(device).compile_program(call.compiled.program.clone())?)
}

fn size(options: &Options) -> Result<usize> {
    let Some(text) = options.value("--size") else { return Ok(SIZE) };
    let size = text.parse().ok().filter(|size| i32::try_from(*size).is_ok());
    size.ok_or_else(|| Error::Usage(format!("--size takes a number of elements, and `{text}` is none")))
}

/// Runs a function on a simulated GPU, and prints what each kernel costs, line by line.
pub fn simulate(options: &Options) -> Result<()> {
    print(&simulated(&call(options, None)?)?)
}

/// Runs a call on a simulated GPU: what each kernel costs, line by line.
pub fn simulated(call: &Call) -> Result<String> {
    let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
    let compiler = Compiler::with(sim.clone());
    let results = compiler.compile_program(call.compiled.program.clone())?.run_all(&call.inputs)?;
    for result in &results {
        // What failed has no elements.
        whole_columns(&**result).map_err(pumice::Error::from)?;
    }
    let launches = sim.recorded();
    Ok(format!("{}\nwithout a race\n", simulate::costs(&launches).trim_start()))
}
