//! `pumice run FILE.pum`: runs a function of a file, and prints or writes what it gives.

use super::call::{Call, call};
use super::files;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::print;
use pumice::Compiler;
use pumice_lang::show::show_briefly;

/// Runs the function that the command line names.
pub fn run(options: &Options) -> Result<()> {
    let output = options.value("--output");
    output.map_or(Ok(()), files::check_output)?;
    let call = call(options, None)?;
    let compiler = options.value("--device").map_or_else(Compiler::new, Compiler::on)?;
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
