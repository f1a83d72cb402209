//! The task `test`: every test there is, in stages, several at a time, and a summary at the end.
//!
//! A failed stage does not keep the later ones from running: one run shows all that is broken.

mod dependencies;
mod schedule;
mod stages;
mod summary;

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::error::{Error, Result};
use crate::process;
use crate::setup::{NVRTC_VARIABLE, Tools};
use crate::workspace::Workspace;
use stages::{Action, Need, Stage};
use summary::{Counts, Finished, Outcome, seconds, summary};

/// Where Pumice keeps compiled kernels; for tests a folder of their own, so that nobody's cache is touched.
const CACHE_VARIABLE: &str = "PUMICE_CACHE_DIR";

/// What property tests draw their cases from.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";

/// More stages at a time would only wait: tests and compilers use several cores themselves.
const MOST_AT_A_TIME: usize = 4;

/// The task `test`; arguments are names of stages, none means all.
pub fn run(arguments: &[String]) -> Result<()> {
    let stages = stages::choose(arguments)?;
    let is_ci = is_ci(std::env::var("CI").ok().as_deref());
    let workspace = Workspace::find()?;
    let start = Instant::now();

    println!("══ setup");
    let tools = Tools::prepare(&workspace);
    print!("{}", tools.report());
    let outcome = setup_outcome(&tools, is_ci);
    let setup = Finished { name: "setup", outcome, time: start.elapsed(), counts: Counts::default() };

    let finished = Mutex::new(vec![setup]);
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_AT_A_TIME));
    // Where several run, what they print is shown when they end: nobody could read it mixed.
    let is_shown_at_once = stages.len() == 1;
    schedule::run_all(&stages, threads, |stage| {
        println!("══ {} begins: {}", stage.name, stage.command());
        let stage_start = Instant::now();
        let (outcome, printed) = run_stage(stage, &workspace, &tools, is_ci, is_shown_at_once);
        let counts = Counts::read(&printed);
        let ended = Finished { name: stage.name, outcome, time: stage_start.elapsed(), counts };
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_shown_at_once {
            println!("\n══ {} printed:\n{}", stage.name, printed.trim_end());
        }
        println!("── {} (after {} in all)\n", ended.line(), seconds(start.elapsed()));
        finished.push(ended);
    });

    let finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    print!("\n{}", summary(&finished, start.elapsed()));
    let failures = finished.iter().filter(|stage| matches!(stage.outcome, Outcome::Failed(_))).count();
    if failures > 0 {
        return Err(Error::new(format!("{failures} of {} stages failed", finished.len())));
    }
    Ok(())
}

fn is_ci(variable: Option<&str>) -> bool {
    matches!(variable, Some("true" | "1"))
}

/// Runs a stage; gives what it printed too.
fn run_stage(
    stage: &Stage,
    workspace: &Workspace,
    tools: &Tools,
    is_ci: bool,
    is_shown_at_once: bool,
) -> (Outcome, String) {
    if let Some(reason) = missing(stage.need, tools) {
        return (outcome_without_tool(&reason, is_ci), String::new());
    }
    let mut command = match stage.action {
        Action::Cargo(arguments) => workspace.cargo(arguments),
        Action::Built(program, arguments) => {
            let mut command = Command::new(workspace.debug_program(program));
            command.args(arguments).current_dir(&workspace.root);
            command
        }
        Action::Dependencies => return dependencies::check(workspace),
    };
    command.env(CACHE_VARIABLE, workspace.target.join("test-cache"));
    if stage.name == stages::DOC_TESTS {
        command.env("PUMICE_DEVICE", "sim");
    }
    // PoCL takes twice as long to optimise a kernel as to compile it, and it is not PoCL that is tested.
    command.env("PUMICE_OPENCL_FLAGS", "-cl-opt-disable");
    // The same random cases every time; whoever wants others sets the seed, or runs `cargo test` itself.
    if std::env::var_os(SEED_VARIABLE).is_none() {
        command.env(SEED_VARIABLE, "20261115");
    }
    if let Ok(library) = &tools.nvrtc {
        command.env(NVRTC_VARIABLE, library);
        // Whether kernels compile is asked, not how fast they are; tests of crates look at what is made of them. Older versions do not
        // know the flag.
        if stage.needs_build() && major_version(library) >= Some(13) {
            command.env("PUMICE_NVRTC_FLAGS", "--Ofast-compile=max");
        }
    }
    if let Ok(Some(folder)) = &tools.numpy {
        command.env("PYTHONPATH", folder);
    }
    match process::run_and_keep(command, is_shown_at_once) {
        Ok(kept) => (
            kept.ending.map_or_else(|error| Outcome::Failed(error.to_string()), |()| Outcome::Ok),
            kept.stdout,
        ),
        Err(error) => (Outcome::Failed(error.to_string()), String::new()),
    }
}

/// The first number of a library's version, as its name says it.
fn major_version(library: &Path) -> Option<u32> {
    let (_, version) = library.file_name()?.to_str()?.split_once(".so.")?;
    version.split('.').next()?.parse().ok()
}

/// Why a needed tool is missing, if it is.
fn missing(need: Need, tools: &Tools) -> Option<String> {
    match need {
        Need::Nothing => None,
        Need::OpenCl => tools.opencl.as_ref().err().map(|reason| format!("no OpenCL: {reason}")),
        Need::Nvrtc => tools.nvrtc.as_ref().err().map(|reason| format!("no NVRTC: {reason}")),
        Need::NumPy => tools.numpy.as_ref().err().map(|reason| format!("no NumPy: {reason}")),
    }
}

/// Somebody's laptop may lack a tool; the machine that guards the main branch may not.
fn outcome_without_tool(reason: &str, is_ci: bool) -> Outcome {
    if is_ci { Outcome::Failed(reason.to_string()) } else { Outcome::Skipped(reason.to_string()) }
}

fn setup_outcome(tools: &Tools, is_ci: bool) -> Outcome {
    let reasons: Vec<String> = [Need::OpenCl, Need::Nvrtc, Need::NumPy]
        .into_iter()
        .filter_map(|need| missing(need, tools))
        .collect();
    match reasons.is_empty() {
        true => Outcome::Ok,
        false => outcome_without_tool(&reasons.join("; "), is_ci),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools_without_opencl() -> Tools {
        Tools {
            opencl: Err(Error::new("no right to install")),
            nvrtc: Ok("/x/libnvrtc.so.13".into()),
            numpy: Ok(None),
        }
    }

    #[test]
    fn a_librarys_name_says_its_version() {
        let version = |name: &str| major_version(Path::new(name));
        assert_eq!(version("/a.so.7/libnvrtc.so.13"), Some(13));
        assert_eq!(version("libnvrtc.so.12.8.93"), Some(12));
        assert_eq!(version("libnvrtc.so"), None);
    }

    #[test]
    fn a_missing_tool_skips_its_stage_here_and_fails_it_in_ci() {
        let tools = tools_without_opencl();
        let reason = missing(Need::OpenCl, &tools).unwrap();
        assert!(reason.contains("no right to install"), "{reason}");
        assert_eq!(missing(Need::Nvrtc, &tools), None);
        assert_eq!(missing(Need::Nothing, &tools), None);
        assert_eq!(setup_outcome(&tools, false), Outcome::Skipped(reason.clone()));
        assert_eq!(setup_outcome(&tools, true), Outcome::Failed(reason));
    }

    #[test]
    fn ci_is_what_the_variable_says() {
        assert!(is_ci(Some("true")) && is_ci(Some("1")));
        assert!(!is_ci(None) && !is_ci(Some("false")) && !is_ci(Some("")));
    }
}
