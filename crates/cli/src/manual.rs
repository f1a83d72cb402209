//! `pumice completions` and `pumice man`: shell completions and manual pages, generated from the command line's declaration.

use crate::command_line::CommandLine;
use crate::error::{Error, Result};
use crate::print;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::PathBuf;

/// What `pumice completions` takes.
#[derive(clap::Args)]
pub struct CompletionsArguments {
    /// The shell.
    shell: Shell,
}

/// What `pumice man` takes.
#[derive(clap::Args)]
pub struct ManArguments {
    /// Write a page for each command into this folder, instead of printing the one of `pumice`.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Prints the completion script of a shell.
pub fn completions(arguments: &CompletionsArguments) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::command(), "pumice", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Prints or writes manual pages.
pub fn man(arguments: &ManArguments) -> Result<()> {
    let command = CommandLine::command();
    let Some(folder) = &arguments.out else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        return print(&String::from_utf8_lossy(&text));
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|error| Error::Failed(format!("cannot write to {}: {error}", folder.display())))
}
