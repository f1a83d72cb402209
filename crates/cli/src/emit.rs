//! `pumice emit` and `pumice explain`: what the built-in examples become on their way to a device. Runs nothing.

use crate::error::{Error, Result};
use crate::options::Options;
use crate::{print, simulate, target};
use pumice::layers::array::{Plan, PlanOptions};
use pumice::layers::emit::{self, Dialect};
use pumice::layers::program::Verified;
use pumice::layers::scalar::{Constant, ScalarType};
use pumice_algorithms::Program;
use pumice_testing::programs::{self, Example};

/// Prints an example, or a kernel-language program, in the language that `--target` names.
pub fn run(options: &Options) -> Result<()> {
    if options.word().is_none() {
        chosen(options)?;
    }
    let target = options.value("--target").ok_or_else(target_missing)?;
    // An example may have the name of a program; the array language and sizes by side are the example's.
    let is_example = |name: &str| programs::example(name).is_some();
    let wants_example = target == "array" || options.value("--size").is_some();
    let program = options.word().filter(|name| !(wants_example && is_example(name))).and_then(simulate::find);
    if let Some(program) = program {
        return kernels(&program, target, simulate::size(options, &program)?);
    }
    let example = chosen(options)?;
    let text = match target {
        "array" => example.describe(),
        "program" => {
            let plan = plan(&example, Dialect::Cuda)?;
            join(plan.launches().map(|launch| launch.program.to_string()))
        }
        _ => {
            let dialect = target::dialect(target).map_err(|_| unknown_target(target))?;
            let plan = plan(&example, dialect)?;
            let sources = plan.launches().map(|launch| source(&launch.program, dialect));
            join(sources.collect::<Result<Vec<_>>>()?.into_iter())
        }
    };
    print(&text)
}

/// The text of a kernel.
pub fn source(program: &Verified, dialect: Dialect) -> Result<String> {
    let source = emit::emit(program, dialect, &emit::EmitOptions::default());
    source.map(|source| source.text.to_string()).map_err(|error| Error::Failed(error.to_string()))
}

/// Prints the different kernels of a kernel-language program.
fn kernels(program: &Program, target: &str, size: usize) -> Result<()> {
    let dialect = match target {
        "program" => None,
        "array" => return Err(Error::Usage(format!("{} is written in the kernel language", program.name))),
        _ => Some(target::dialect(target).map_err(|_| unknown_target(target))?),
    };
    let profile = target::profile(dialect.unwrap_or(Dialect::Cuda));
    let mut texts: Vec<String> = Vec::new();
    for launch in simulate::launches(program, size, profile)? {
        let text = match dialect {
            None => launch.program.to_string(),
            Some(dialect) => source(&launch.program, dialect)?,
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    print(&join(texts.into_iter()))
}

/// Prints an example's plan.
pub fn explain(options: &Options) -> Result<()> {
    let example = chosen(options)?;
    let dialect = target::dialect(options.value("--target").unwrap_or("cuda"))?;
    print(&plan(&example, dialect)?.to_string())
}

/// What to say where `--target` is missing.
pub fn target_missing() -> Error {
    Error::Usage("--target is missing: array, program, c, opencl or cuda".to_string())
}

/// What to say of a target that there is not.
pub fn unknown_target(target: &str) -> Error {
    Error::Usage(format!("there is no target `{target}`; the targets are array, program, c, opencl, cuda"))
}

fn plan(example: &Example, dialect: Dialect) -> Result<Plan> {
    let plan = example.plan(&target::profile(dialect), &PlanOptions::default());
    plan.map_err(|error| Error::Failed(error.to_string()))
}

/// The texts one after another, with an empty line between.
pub fn join(texts: impl Iterator<Item = String>) -> String {
    texts.map(|text| format!("{}\n", text.trim_end())).collect::<Vec<_>>().join("\n")
}

/// The example that the command line names, in the size that it asks for.
fn chosen(options: &Options) -> Result<Example> {
    let names = || {
        let line = |example: &Example| format!("  {:<15}{}\n", example.name, example.about);
        programs::examples().iter().map(line).collect::<String>() + &simulate::names()
    };
    let Some(name) = options.word() else {
        return Err(Error::Usage(format!("name an example:\n{}", names())));
    };
    let Some(mut example) = programs::example(name) else {
        return Err(Error::Usage(format!("there is no example `{name}`; the examples are\n{}", names())));
    };
    if let Some(size) = options.value("--size") {
        resize(&mut example, size)?;
    }
    Ok(example)
}

/// Gives every extent the same size: those of arguments, and the scalars that extents are made of, which are 64-bit.
fn resize(example: &mut Example, size: &str) -> Result<()> {
    let number = size.parse::<i64>().ok().filter(|number| *number >= 0);
    let extent = number.and_then(|number| usize::try_from(number).ok());
    let (Some(number), Some(extent)) = (number, extent) else {
        return Err(Error::Usage(format!("--size takes a number of elements, and `{size}` is none")));
    };
    example.extents.values_mut().flatten().for_each(|dimension| *dimension = extent);
    let extents = example.scalars.iter_mut().filter(|scalar| scalar.ty() == ScalarType::I64);
    extents.for_each(|scalar| *scalar = Constant::from(number));
    Ok(())
}
