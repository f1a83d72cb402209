//! `pumice explain`: the launches and buffers of a program and the reasons for them, as text, JSON and a drawing; with `--run` also their
//! times. Functions of files and built-in examples are explained alike.

use crate::device::DeviceOption;
use crate::emit::{chosen, parse_size};
use crate::error::{Error, Result};
use crate::print;
use crate::pum::call::call;
use crate::pum::lower;
use crate::subject::{Subject, only};
use crate::target;
use pumice::layers::array::{ArrayData, ArrayProgram, Error as ArrayError, Given, Node};
use pumice::layers::emit::Dialect;
use pumice::layers::runtime::Inputs;
use pumice::layers::runtime::devices::Sim;
use pumice::layers::scalar::ScalarType;
use pumice::{Compiler, Explanation};
use pumice_testing::programs::Example;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `pumice explain` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub subject: Subject,
    /// What is launched on a device of this: c, opencl or cuda [default: cuda].
    #[arg(long, value_parser = target::dialect, conflicts_with = "run")]
    pub target: Option<Dialect>,
    /// Arrays that are not given have this length along each dimension [default: 1024], and integers are this; a built-in example is
    /// explained for vectors of this length, matrices and pictures of this side.
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub size: Option<usize>,
    /// Write a drawing of it, as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write it as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Run it, and say what each kernel and transfer took. Arrays that are not given are zero.
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    device: DeviceOption,
}

/// Explains the program that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { subject, size, run, device, .. } = arguments;
    only("--device", device.name().is_some() && !run, "--run; --target says for what is planned otherwise")?;
    let (program, inputs) = if subject.is_file() {
        let call = call(subject, Some(lower::size(*size)?), None)?;
        (call.compiled.program, call.inputs)
    } else {
        given(&chosen(subject.built_in()?, *size)?)
    };
    let (explanation, text) = match run {
        true => {
            let report = device.compiler()?.compile_program(program)?.profile(&inputs)?;
            let text = report.to_string();
            (report.explanation, text)
        }
        false => {
            let explanation = planned(program, &inputs, arguments.target.unwrap_or(Dialect::Cuda))?;
            let text = explanation.to_string();
            (explanation, text)
        }
    };
    let files = [(&arguments.svg, Explanation::svg as fn(&_) -> _), (&arguments.json, Explanation::json)];
    for (file, form) in files {
        file.as_deref().map_or(Ok(()), |file| write(file, &form(&explanation)))?;
    }
    // A user who asks for a file alone does not read the text as well.
    let is_read = *run || (arguments.svg.is_none() && arguments.json.is_none());
    if is_read { print(&text) } else { Ok(()) }
}

/// Returns the plans of a program on a simulated device with the profile of the dialect.
pub fn planned(program: ArrayProgram, inputs: &Inputs, dialect: Dialect) -> Result<Explanation> {
    let device = Arc::new(Sim::observing(target::profile(dialect)));
    let mut explanation = Compiler::with(device).compile_program(program)?.explain(inputs)?;
    explanation.device = Some(format!("a device that runs {dialect}"));
    Ok(explanation)
}

/// Returns the program of an example, and arrays of zeros for its arguments.
fn given(example: &Example) -> (ArrayProgram, Inputs) {
    let program = ArrayProgram::of(std::slice::from_ref(&example.root));
    let argument = |node: &Node| {
        let Some(Given::Argument(number)) = node.operation.given() else { return None };
        let extents = example.extents.get(&number)?.clone();
        let data: Arc<dyn ArrayData> = Arc::new(Zeros { extents, types: node.types.clone() });
        Some((number, data))
    };
    let arrays = program.nodes().iter().filter_map(argument).collect();
    let inputs = Inputs { arrays, scalars: example.scalars.clone(), ..Inputs::default() };
    (program, inputs)
}

/// An array of zeros that allocates nothing until it is read, so that planning works for any size.
struct Zeros {
    extents: Vec<usize>,
    types: Vec<ScalarType>,
}

impl ArrayData for Zeros {
    fn extents(&self) -> &[usize] {
        &self.extents
    }
    fn types(&self) -> &[ScalarType] {
        &self.types
    }
    fn columns(&self) -> std::result::Result<Vec<Cow<'_, [u8]>>, ArrayError> {
        let column = |ty: &ScalarType| {
            let extents =
                self.extents.iter().try_fold(ty.bytes(), |bytes, extent| bytes.checked_mul(*extent));
            let bytes = extents.ok_or(ArrayError::HostMemory { bytes: usize::MAX })?;
            let mut zeros = Vec::new();
            zeros.try_reserve_exact(bytes).map_err(|_| ArrayError::HostMemory { bytes })?;
            zeros.resize(bytes, 0);
            Ok(Cow::Owned(zeros))
        };
        self.types.iter().map(column).collect()
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    let failed = |error| Error::Failed(format!("cannot write {}: {error}", file.display()));
    std::fs::write(file, text).map_err(failed)
}
