//! The task `test`: every test there is, in stages, and a summary at the end.
//!
//! A failed stage does not keep the later ones from running: one run shows all that is broken. What is tested
//! is decided by the crates; here it is only started.

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::process;
use crate::setup::{NVRTC_VARIABLE, Tools};
use crate::workspace::Workspace;

/// Where Pumice keeps compiled kernels; for tests a folder of their own, so that nobody's cache is touched.
const CACHE_VARIABLE: &str = "PUMICE_CACHE_DIR";

/// What property tests draw their cases from.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";

/// A tool that a stage cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Nothing,
    OpenCl,
    Nvrtc,
}

/// One cargo command.
struct Stage {
    name: &'static str,
    need: Need,
    cargo: &'static [&'static str],
}

/// The conformance suite, as the `pumice` command runs it.
macro_rules! selftest {
    ($($argument:literal),*) => {
        &["run", "--release", "--package", "pumice-cli", "--", "selftest", $($argument),*]
    };
}

const STAGES: &[Stage] = &[
    Stage { name: "format", need: Need::Nothing, cargo: &["fmt", "--all", "--check"] },
    Stage {
        name: "clippy",
        need: Need::Nothing,
        cargo: &["clippy", "--workspace", "--all-features", "--all-targets", "--", "-D", "warnings"],
    },
    // Unit, file, snapshot, property, compile-fail and documentation tests.
    Stage {
        name: "tests",
        need: Need::Nothing,
        cargo: &["test", "--workspace", "--all-features", "--no-fail-fast"],
    },
    Stage { name: "conformance-sim", need: Need::Nothing, cargo: selftest!["--device", "sim"] },
    Stage { name: "conformance-cpu", need: Need::Nothing, cargo: selftest!["--device", "cpu"] },
    Stage { name: "conformance-opencl", need: Need::OpenCl, cargo: selftest!["--device", "opencl"] },
    Stage { name: "cuda-kernels", need: Need::Nvrtc, cargo: selftest!["--compile-only", "cuda"] },
    Stage { name: "example", need: Need::Nothing, cargo: &["run", "--release", "--example", "dotp"] },
];

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Ok,
    Failed(String),
    Skipped(String),
}

/// A stage that is over.
struct Finished {
    name: &'static str,
    outcome: Outcome,
    time: Duration,
}

/// The task `test`; arguments are names of stages, none means all.
pub fn run(arguments: &[String]) -> Result<()> {
    let stages = choose_stages(arguments)?;
    let is_ci = is_ci(std::env::var("CI").ok().as_deref());
    let workspace = Workspace::find()?;
    let start = Instant::now();

    println!("══ setup");
    let setup_start = Instant::now();
    let tools = Tools::prepare(&workspace);
    print!("{}", tools.report());
    let mut finished =
        vec![Finished { name: "setup", outcome: setup_outcome(&tools, is_ci), time: setup_start.elapsed() }];

    for (index, stage) in stages.iter().enumerate() {
        println!("\n══ {} ({} of {}): cargo {}", stage.name, index + 1, stages.len(), stage.cargo.join(" "));
        let stage_start = Instant::now();
        let outcome = run_stage(stage, &workspace, &tools, is_ci);
        let stage_end = Finished { name: stage.name, outcome, time: stage_start.elapsed() };
        println!("── {} (after {} in all)", stage_end.line(), seconds(start.elapsed()));
        finished.push(stage_end);
    }

    print!("\n{}", summary(&finished, start.elapsed()));
    let failures = finished.iter().filter(|stage| matches!(stage.outcome, Outcome::Failed(_))).count();
    if failures > 0 {
        return Err(Error::new(format!("{failures} of {} stages failed", finished.len())));
    }
    Ok(())
}

fn choose_stages(names: &[String]) -> Result<Vec<&'static Stage>> {
    if let Some(unknown) = names.iter().find(|name| !STAGES.iter().any(|stage| stage.name == name.as_str())) {
        let known: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        return Err(Error::new(format!("unknown stage {unknown}; known: {}", known.join(", "))));
    }
    let is_chosen = |stage: &&Stage| names.is_empty() || names.iter().any(|name| name == stage.name);
    Ok(STAGES.iter().filter(is_chosen).collect())
}

fn is_ci(variable: Option<&str>) -> bool {
    matches!(variable, Some("true" | "1"))
}

fn run_stage(stage: &Stage, workspace: &Workspace, tools: &Tools, is_ci: bool) -> Outcome {
    if let Some(reason) = missing(stage.need, tools) {
        return outcome_without_tool(&reason, is_ci);
    }
    let mut command: Command = workspace.cargo(stage.cargo);
    command.env(CACHE_VARIABLE, workspace.target.join("test-cache"));
    // The same random programs every time; whoever wants others sets the seed, or runs `cargo test` itself.
    if std::env::var_os(SEED_VARIABLE).is_none() {
        command.env(SEED_VARIABLE, "20261115");
    }
    if let Ok(library) = &tools.nvrtc {
        command.env(NVRTC_VARIABLE, library);
    }
    match process::run(&mut command) {
        Ok(()) => Outcome::Ok,
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// Why a needed tool is missing, if it is.
fn missing(need: Need, tools: &Tools) -> Option<String> {
    match need {
        Need::Nothing => None,
        Need::OpenCl => tools.opencl.as_ref().err().map(|reason| format!("no OpenCL: {reason}")),
        Need::Nvrtc => tools.nvrtc.as_ref().err().map(|reason| format!("no NVRTC: {reason}")),
    }
}

/// Somebody's laptop may lack a tool; the machine that guards the main branch may not.
fn outcome_without_tool(reason: &str, is_ci: bool) -> Outcome {
    if is_ci { Outcome::Failed(reason.to_string()) } else { Outcome::Skipped(reason.to_string()) }
}

fn setup_outcome(tools: &Tools, is_ci: bool) -> Outcome {
    let reasons: Vec<String> =
        [Need::OpenCl, Need::Nvrtc].into_iter().filter_map(|need| missing(need, tools)).collect();
    match reasons.is_empty() {
        true => Outcome::Ok,
        false => outcome_without_tool(&reasons.join("; "), is_ci),
    }
}

impl Finished {
    fn line(&self) -> String {
        let (word, reason) = match &self.outcome {
            Outcome::Ok => ("ok", ""),
            Outcome::Failed(reason) => ("FAILED", reason.as_str()),
            Outcome::Skipped(reason) => ("skipped", reason.as_str()),
        };
        let line = format!("{:<20} {:<8} {:>9}  {reason}", self.name, word, seconds(self.time));
        line.trim_end().to_string()
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn summary(finished: &[Finished], time: Duration) -> String {
    let mut text = String::from("══ summary\n");
    let mut add_line = |line: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
    };
    for stage in finished {
        add_line(&stage.line());
    }
    let count =
        |is_counted: fn(&Outcome) -> bool| finished.iter().filter(|stage| is_counted(&stage.outcome)).count();
    add_line(&format!(
        "{} ok, {} failed, {} skipped in {}",
        count(|outcome| matches!(outcome, Outcome::Ok)),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        seconds(time),
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(name: &'static str, outcome: Outcome) -> Finished {
        Finished { name, outcome, time: Duration::from_millis(1500) }
    }

    fn tools_without_opencl() -> Tools {
        Tools { opencl: Err(Error::new("no right to install")), nvrtc: Ok("/x/libnvrtc.so.13".into()) }
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

    #[test]
    fn the_summary_names_every_stage_and_every_reason() {
        let stages = [
            finished("format", Outcome::Ok),
            finished("clippy", Outcome::Failed("`cargo clippy` ended with exit status: 101".into())),
            finished("conformance-opencl", Outcome::Skipped("no OpenCL: no apt-get".into())),
        ];
        let text = summary(&stages, Duration::from_secs(12));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["format", "ok", "1.5", "s"]);
        assert!(lines[2].contains("FAILED") && lines[2].ends_with("exit status: 101"), "{text}");
        assert!(lines[3].contains("skipped") && lines[3].ends_with("no apt-get"), "{text}");
        assert_eq!(lines[4], "1 ok, 1 failed, 1 skipped in 12.0 s");
    }

    #[test]
    fn stages_are_chosen_by_name_and_keep_their_order() {
        let names = |stages: Vec<&Stage>| stages.iter().map(|stage| stage.name).collect::<Vec<_>>();
        let all = names(choose_stages(&[]).unwrap());
        assert_eq!(all.len(), STAGES.len());
        assert_eq!((all[0], all[all.len() - 1]), ("format", "example"));
        let some = choose_stages(&["tests".to_string(), "format".to_string()]).unwrap();
        assert_eq!(names(some), ["format", "tests"]);
        let error = choose_stages(&["formt".to_string()]).err().unwrap().to_string();
        assert!(error.contains("formt") && error.contains("clippy"), "{error}");
    }

    #[test]
    fn every_device_but_cuda_runs_the_conformance_suite() {
        let runs = |words: &[&str]| STAGES.iter().any(|stage| stage.cargo.ends_with(words));
        for device in ["sim", "cpu", "opencl"] {
            assert!(runs(&["selftest", "--device", device]), "{device}");
        }
        assert!(runs(&["selftest", "--compile-only", "cuda"]));
    }
}
