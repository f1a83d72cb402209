//! `pumice check`: the types of a file's functions, or all that is wrong with it.

use super::{file, only_file};
use crate::error::Result;
use crate::options::Options;
use crate::print;

/// Prints a line for each function.
pub fn run(options: &Options) -> Result<()> {
    let path = only_file(options)?;
    let checked = file::checks(path, &file::text(path)?, None).map_err(|wrong| wrong.tell())?.checked;
    let line = |id| format!("{} : {}\n", checked.function(id).0.name.name, checked.scheme(id));
    print(&checked.own_functions().map(line).collect::<String>())
}
