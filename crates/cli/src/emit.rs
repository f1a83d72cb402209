//! `pumice emit`: prints the stages of a program on its way to a device; functions of files are in `pum/lower.rs`. Runs nothing.

use crate::error::{Error, Result};
use crate::pum::lower;
use crate::subject::{Subject, only};
use crate::target::{self, Target};
use crate::{print, simulate};
use pumice::layers::array::{Plan, PlanOptions};
use pumice::layers::emit::{self, Dialect};
use pumice::layers::program::Verified;
use pumice::layers::scalar::{Constant, ScalarType};
use pumice_algorithms::Program;
use pumice_testing::programs::{self, Example};

/// What `pumice emit` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub subject: Subject,
    /// The language to print.
    #[arg(long)]
    pub target: Option<Target>,
    /// Arrays that are not given have this length along each dimension [default: 1024], and integers are this; a built-in example is
    /// printed for vectors of this length, matrices and pictures of this side.
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub size: Option<usize>,
    /// A kernel-language program, for this size.
    #[arg(long, value_name = "N")]
    n: Option<usize>,
}

/// Parses a number of elements.
pub fn parse_size(text: &str) -> std::result::Result<usize, String> {
    let size = text.parse().ok().filter(|size| i64::try_from(*size).is_ok());
    size.ok_or_else(|| "that is no number of elements".to_string())
}

/// Prints the program that the command line names in the target language.
pub fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { subject, size, .. } = arguments;
    if subject.is_file() {
        only(
            "--n",
            arguments.n.is_some(),
            "kernel-language programs; arrays that are not given have --size elements",
        )?;
        return lower::emit(arguments);
    }
    let name = subject.built_in()?;
    if name.is_none() {
        chosen(name, *size)?;
    }
    let target = arguments.target.ok_or_else(target_missing)?;
    // An example may have the name of a kernel-language program. The array target and `--size` are for examples only.
    let is_example = |name: &str| programs::example(name).is_some();
    let wants_example = target == Target::Array || size.is_some();
    let program = name.filter(|name| !(wants_example && is_example(name))).and_then(simulate::find);
    if let Some(program) = program {
        return kernels(&program, target, simulate::size(arguments.n, &program)?);
    }
    let example = chosen(name, *size)?;
    let text = match (target, target.dialect()) {
        (Target::Array, _) => example.describe(),
        (_, None) => {
            let plan = plan(&example, Dialect::Cuda)?;
            join(plan.launches().map(|launch| launch.program.to_string()))
        }
        (_, Some(dialect)) => {
            let plan = plan(&example, dialect)?;
            let sources = plan.launches().map(|launch| source(&launch.program, dialect));
            join(sources.collect::<Result<Vec<_>>>()?.into_iter())
        }
    };
    print(&text)
}

/// Returns the source text of a kernel.
pub fn source(program: &Verified, dialect: Dialect) -> Result<String> {
    let source = emit::emit(program, dialect, &emit::EmitOptions::default());
    source.map(|source| source.text.to_string()).map_err(|error| Error::Failed(error.to_string()))
}

/// Prints the different kernels of a kernel-language program.
fn kernels(program: &Program, target: Target, size: usize) -> Result<()> {
    if target == Target::Array {
        return Err(Error::Usage(format!("{} is written in the kernel language", program.name)));
    }
    let dialect = target.dialect();
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

/// Returns the error for a missing `--target`.
pub fn target_missing() -> Error {
    Error::Usage("--target is missing: array, program, c, opencl or cuda".to_string())
}

fn plan(example: &Example, dialect: Dialect) -> Result<Plan> {
    let plan = example.plan(&target::profile(dialect), &PlanOptions::default());
    plan.map_err(|error| Error::Failed(error.to_string()))
}

/// Joins texts with an empty line between them.
pub fn join(texts: impl Iterator<Item = String>) -> String {
    texts.map(|text| format!("{}\n", text.trim_end())).collect::<Vec<_>>().join("\n")
}

/// Returns the example with this name, in this size.
pub fn chosen(name: Option<&str>, size: Option<usize>) -> Result<Example> {
    let names = || {
        let line = |example: &Example| format!("  {:<15}{}\n", example.name, example.about);
        programs::examples().iter().map(line).collect::<String>() + &simulate::names()
    };
    let Some(name) = name else {
        return Err(Error::Usage(format!("name an example:\n{}", names())));
    };
    let Some(mut example) = programs::example(name) else {
        return Err(Error::Usage(format!("there is no example `{name}`; the examples are\n{}", names())));
    };
    if let Some(size) = size {
        resize(&mut example, size);
    }
    Ok(example)
}

/// Sets every extent to `size`: those of arguments, and the 64-bit scalars that extents are computed from.
fn resize(example: &mut Example, size: usize) {
    example.extents.values_mut().flatten().for_each(|dimension| *dimension = size);
    let extents = example.scalars.iter_mut().filter(|scalar| scalar.ty() == ScalarType::I64);
    extents.for_each(|scalar| *scalar = Constant::from(size as i64));
}
