//! `pumice doc`: HTML pages about a file and its imports, or about the language. `pumice_lang::document` makes them; this module writes
//! them.

use super::file;
use crate::error::{Error, Result};
use crate::print;
use pumice_lang::document::page;
use pumice_lang::program::LoadedModule;
use std::path::{Path, PathBuf};

/// What `pumice doc` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file.
    #[arg(value_name = "FILE.pum", required_unless_present = "prelude", conflicts_with = "prelude")]
    file: Option<String>,
    /// Instead of a file, all functions that the language has: built-ins and the prelude.
    #[arg(long)]
    prelude: bool,
    /// Write the page into this folder, and a page for each file that is imported, instead of printing it.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Prints or writes pages.
pub fn run(arguments: &Arguments) -> Result<()> {
    let (path, text) = match &arguments.file {
        Some(path) => (path.as_str(), file::text(path)?),
        // Every file has the built-ins and the prelude before it; so has an empty one.
        None => ("", String::new()),
    };
    let file::Checks { program, checked } = file::checks(path, &text, None)?;
    let (built_in, own): (Vec<LoadedModule>, Vec<LoadedModule>) =
        program.modules.iter().cloned().partition(LoadedModule::is_built_in);
    let pages: Vec<(&str, &[LoadedModule])> = match arguments.prelude {
        true => vec![("prelude", &built_in)],
        // Files come after those that they import.
        false => own.iter().rev().map(|module| (&*module.name, std::slice::from_ref(module))).collect(),
    };
    for (name, modules) in pages {
        let text = page(&program, &checked, name, modules);
        match &arguments.out {
            None => return print(&text),
            Some(folder) => write(folder, name, &text)?,
        }
    }
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let file = folder.join(format!("{name}.html"));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text));
    written.map_err(|error| Error::Failed(format!("cannot write {}: {error}", file.display())))?;
    print(&format!("{}\n", file.display()))
}
