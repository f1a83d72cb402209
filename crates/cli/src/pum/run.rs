//! `pumice run`: runs a function of a file, and prints or writes the result; or checks something built in (`simulate.rs`).

use super::call::{Call, call};
use super::{files, tune};
use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::subject::{Subject, only};
use crate::{print, simulate};
use pumice_lang::show::show_briefly;

/// What `pumice run` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub subject: Subject,
    #[command(flatten)]
    device: DeviceOption,
    /// Write the result to a file that ends in .npy, .csv or .png.
    #[arg(long, value_name = "FILE")]
    output: Option<String>,
    /// A kernel-language program, for this size.
    #[arg(long, value_name = "N")]
    n: Option<usize>,
}

/// Runs the program that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    let output = arguments.output.as_deref();
    if !arguments.subject.is_file() {
        let name = arguments.subject.built_in()?;
        only("--output", output.is_some(), "functions of `.pum` files")?;
        return simulate::run_once(name, arguments.n, &arguments.device);
    }
    only("--n", arguments.n.is_some(), "kernel-language programs")?;
    output.map_or(Ok(()), files::check_output)?;
    let compiler = arguments.device.compiler()?;
    let call = call(&arguments.subject, None, tune::kept(&compiler, &arguments.subject)?)?;
    let Call { compiled, inputs, .. } = &call;
    let arrays = compiler.compile_program(compiled.program.clone())?.run_all(inputs)?;
    match (output, &arrays[..]) {
        (None, _) => {
            let text = show_briefly(&compiled.result, &arrays, call.sums()).map_err(pumice::Error::from)?;
            print(&format!("{text}\n"))
        }
        (Some(path), [array]) => files::write(path, &**array),
        (Some(_), _) => {
            let result = &compiled.result;
            Err(Error::Failed(format!("--output takes one array, and the result is of type `{result}`")))
        }
    }
}
