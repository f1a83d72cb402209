//! `pumice fmt`: formats files in place, or says which are not formatted.

use super::{each_file, file};
use crate::error::{Error, Result};
use crate::print;
use pumice_lang::format::format;
use std::io::Write;
use std::path::Path;

/// What `pumice fmt` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The files.
    #[arg(value_name = "FILE.pum", required = true)]
    files: Vec<String>,
    /// Change nothing, and say which files are laid out in another way.
    #[arg(long)]
    check: bool,
}

/// Formats all files that the command line names. An error in one does not stop the others.
pub fn run(arguments: &Arguments) -> Result<()> {
    each_file(&arguments.files, |path| one(path, arguments.check))
}

fn one(path: &str, only_check: bool) -> Result<()> {
    let text = file::text(path)?;
    let formatted = format(&text).map_err(|errors| file::Wrong::of_text(path, &text, errors))?;
    if formatted == text {
        return Ok(());
    }
    if only_check {
        print(&format!("{path} is not formatted\n"))?;
        return Err(Error::Told);
    }
    replace(Path::new(path), &formatted)
        .map_err(|error| Error::Failed(format!("cannot write {path}: {error}")))
}

/// Replaces a file atomically: after a crash it has the old text or the new one.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // Resolves links, so that the file itself is replaced.
    let path = path.canonicalize()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = || {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(std::fs::metadata(&path)?.permissions())?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)
    };
    written().inspect_err(|_| drop(std::fs::remove_file(&beside)))
}
