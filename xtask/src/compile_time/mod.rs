//! Compile time of a user's crate with 50 derived elements and 50 embedded functions, compared with the same crate without the
//! attributes: `cargo xtask compile-time`.
//!
//! Both crates are in a workspace of their own below the build directory, where their dependencies are built once. Each measurement changes a
//! number in `main.rs` and runs cargo; the two crates take turns, and the best time of each counts. May not measure anything but the time
//! that a user waits: cargo is started as users start it.

mod source;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::options::Options;
use crate::process;
use crate::workspace::{Workspace, make_folder};
use source::Form;

/// Default number of compilations of each crate in each way, without `--rounds`.
const ROUNDS: u32 = 5;

/// Runs `cargo xtask compile-time`.
pub fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments, &["--rounds"])?;
    let rounds = match options.value("--rounds") {
        None => ROUNDS,
        Some(text) => match text.parse() {
            Ok(rounds @ 1..) => rounds,
            _ => return Err(Error::new(format!("--rounds is a number from 1 on, not {text}"))),
        },
    };
    let workspace = Workspace::find()?;
    let crates = Crates { folder: workspace.target.join("compile-time"), cargo: workspace.cargo(&[]) };
    for form in Form::BOTH {
        crates.write(form, "Cargo.toml", &source::manifest(form, &workspace.root))?;
        crates.write(form, "src/part.rs", &source::part(form))?;
        crates.write(form, "src/main.rs", &source::main(form, 0))?;
    }
    println!("{:<24} {:>10} {:>10} {:>7}", "", "without", "with", "ratio");
    for incremental in [false, true] {
        let root = crates.folder.join("Cargo.toml");
        write(&root, &source::workspace_manifest(incremental))?;
        for task in ["check", "build"] {
            let [without, with] = crates.measure(task, rounds)?;
            let name = format!("{task}{}", if incremental { ", incremental" } else { "" });
            let ratio = with.as_secs_f64() / without.as_secs_f64();
            println!(
                "{name:<24} {:>8.2} s {:>8.2} s {ratio:>7.2}",
                without.as_secs_f64(),
                with.as_secs_f64()
            );
        }
    }
    Ok(())
}

/// The two crates, and the command that starts cargo.
struct Crates {
    folder: PathBuf,
    cargo: Command,
}

impl Crates {
    fn write(&self, form: Form, file: &str, text: &str) -> Result<()> {
        write(&self.folder.join(form.name()).join(file), text)
    }

    /// Compiles both crates in turns; returns the best time of each.
    fn measure(&self, task: &str, rounds: u32) -> Result<[Duration; 2]> {
        let mut best = [Duration::MAX; 2];
        // The first round builds the dependencies.
        for round in 0..=rounds {
            for (form, best) in Form::BOTH.into_iter().zip(&mut best) {
                self.write(form, "src/main.rs", &source::main(form, round))?;
                let begin = Instant::now();
                process::run(&mut self.command(task, form, round > 0))?;
                if round > 0 {
                    *best = begin.elapsed().min(*best);
                }
            }
        }
        Ok(best)
    }

    fn command(&self, task: &str, form: Form, is_quiet: bool) -> Command {
        let mut command = Command::new(self.cargo.get_program());
        command.args([task, "--package", form.name()]).current_dir(&self.folder);
        // The manifest sets incremental compilation, so that dependencies are not built twice.
        command.env_remove("CARGO_INCREMENTAL").env("CARGO_TARGET_DIR", self.folder.join("target"));
        if is_quiet {
            command.arg("--quiet").stdout(Stdio::null());
        }
        command
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        make_folder(folder)?;
    }
    std::fs::write(file, text).map_err(|cause| Error::io("write", file, &cause))
}
