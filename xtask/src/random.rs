//! The task `random`: builds `pumice` and runs random programs with it. Failing programs become tests (`crates/testing/tests/random`).

use crate::error::{Error, Result};
use crate::process;
use crate::workspace::Workspace;

/// Runs the task `random`; the arguments are those of `pumice random`.
pub fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        return Err(Error::new("the options are those of `pumice random`, which `pumice help` shows"));
    }
    let workspace = Workspace::find()?;
    let mut command = workspace.build_pumice()?;
    command.arg("random").args(arguments).current_dir(&workspace.root);
    if !arguments.iter().any(|argument| argument == "--out" || argument.starts_with("--out=")) {
        command.arg("--out").arg(workspace.root.join("crates/testing/tests/random"));
    }
    process::run(&mut command)
}
