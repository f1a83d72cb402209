//! `pumice check`: the types of a file's functions, or all that is wrong with it.

use super::file;
use crate::error::Result;
use crate::print;

/// What `pumice check` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file.
    #[arg(value_name = "FILE.pum")]
    file: String,
}

/// Prints a line for each function.
pub fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.file;
    let checked = file::checks(path, &file::text(path)?, None).map_err(|wrong| wrong.tell())?.checked;
    let line = |id| format!("{} : {}\n", checked.function(id).0.name.name, checked.scheme(id));
    print(&checked.own_functions().map(line).collect::<String>())
}
