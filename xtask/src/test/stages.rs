//! What `cargo xtask test` is made of. What is tested is decided by the crates; here it is only started.

use crate::error::{Error, Result};

/// A tool that a stage cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Nothing,
    OpenCl,
    Nvrtc,
    /// No stage needs it as a whole; a test of Python does.
    NumPy,
}

/// What a stage does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Runs cargo. One at a time: they would wait for each other's lock.
    Cargo(&'static [&'static str]),
    /// Runs a program that [`BUILD`] has built.
    Built(&'static str, &'static [&'static str]),
    /// Checks what other people's code we build on.
    Dependencies,
}

/// One part of the tests.
#[derive(Debug)]
pub struct Stage {
    pub name: &'static str,
    pub need: Need,
    pub action: Action,
}

impl Stage {
    /// Whether it runs what [`BUILD`] builds.
    pub fn needs_build(&self) -> bool {
        matches!(self.action, Action::Built(..))
    }

    /// The command, for people.
    pub fn command(&self) -> String {
        match self.action {
            Action::Cargo(arguments) => format!("cargo {}", arguments.join(" ")),
            Action::Built(program, arguments) => format!("{program} {}", arguments.join(" ")),
            Action::Dependencies => "licences and sources, and cargo deny".into(),
        }
    }
}

const fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Stage {
    Stage { name, need: Need::Nothing, action: Action::Cargo(arguments) }
}

const fn pumice(name: &'static str, need: Need, arguments: &'static [&'static str]) -> Stage {
    Stage { name, need, action: Action::Built("pumice", arguments) }
}

/// The stage that builds everything that the others run. `pumice` is built with the tests, in the same profile: nothing is
/// built twice, and it checks for overflow, as a release build does not.
pub const BUILD: &str = "build";

/// The stage that runs the examples of documentation, on the simulator: it has no compiler to wait for, and they show how things are written.
pub const DOC_TESTS: &str = "doc-tests";

/// Cases that are left to devices whose compilers take less time: those made of operations which have cases of their own, and those whose
/// kernels are longest.
const LEFT_OUT: &str = "composed::structs,comprehensions::,inner_arrays::,irregular::,ragged::,whole::,\
     algorithms::sort,algorithms::sobol,algorithms::vsort,algorithms::matMul,small_types::sorts";
const OPENCL_1: &[&str] = &["selftest", "--device", "opencl", "--skip", LEFT_OUT, "--shard", "1/2"];
const OPENCL_2: &[&str] = &["selftest", "--device", "opencl", "--skip", LEFT_OUT, "--shard", "2/2"];
/// Kernels of the kernel language are the same with and without fusion.
const UNFUSED: &[&str] = &["selftest", "--device", "sim", "--unfused", "--skip", "algorithms::"];
const CUDA: &[&str] = &["selftest", "--compile-only", "cuda", "--skip", LEFT_OUT];

const RUSTDOC: &[&str] = &[
    "doc",
    "--workspace",
    "--all-features",
    "--no-deps",
    "--config",
    "build.rustdocflags = ['-D', 'warnings']",
];

/// All stages, in the order in which they are started. Long ones that need no cargo come early, so that they run beside
/// those that do; OpenCL's compiler works on one core, so its cases are in two parts. It takes its time, as CUDA's does, so
/// [`LEFT_OUT`] is for the other devices.
pub const STAGES: &[Stage] = &[
    cargo("format", &["fmt", "--all", "--check"]),
    Stage { name: "dependencies", need: Need::Nothing, action: Action::Dependencies },
    cargo(BUILD, &["test", "--workspace", "--all-features", "--no-run"]),
    // Unit, file, snapshot, property and compile-fail tests.
    cargo(
        "tests",
        &["test", "--workspace", "--all-features", "--no-fail-fast", "--lib", "--bins", "--tests"],
    ),
    cargo(DOC_TESTS, &["test", "--workspace", "--all-features", "--no-fail-fast", "--doc"]),
    pumice("conformance-opencl-1", Need::OpenCl, OPENCL_1),
    pumice("conformance-opencl-2", Need::OpenCl, OPENCL_2),
    pumice("conformance-cpu", Need::Nothing, &["selftest", "--device", "cpu"]),
    pumice("conformance-sim", Need::Nothing, &["selftest", "--device", "sim"]),
    pumice("conformance-unfused", Need::Nothing, UNFUSED),
    pumice("cuda-kernels", Need::Nvrtc, CUDA),
    cargo("clippy", &["clippy", "--workspace", "--all-features", "--all-targets", "--", "-D", "warnings"]),
    // Every page of the crates is made, and no link in them is broken.
    cargo("rustdoc", RUSTDOC),
    // Cargo would build it once more, with fewer features; a newcomer's crate does, in a test.
    Stage { name: "example", need: Need::Nothing, action: Action::Built("examples/dotp", &[]) },
];

/// The stages with these names, in their order; without names all.
pub fn choose(names: &[String]) -> Result<Vec<&'static Stage>> {
    if let Some(unknown) = names.iter().find(|name| !STAGES.iter().any(|stage| stage.name == name.as_str())) {
        let known: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        return Err(Error::new(format!("unknown stage {unknown}; known: {}", known.join(", "))));
    }
    let is_named = |stage: &&Stage| names.is_empty() || names.iter().any(|name| name == stage.name);
    let needs_build = STAGES.iter().any(|stage| is_named(&stage) && stage.needs_build());
    let is_chosen = |stage: &&Stage| is_named(stage) || needs_build && stage.name == BUILD;
    Ok(STAGES.iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(chosen: &[&str]) -> Vec<&'static str> {
        let chosen: Vec<String> = chosen.iter().map(|name| name.to_string()).collect();
        choose(&chosen).unwrap().iter().map(|stage| stage.name).collect()
    }

    #[test]
    fn stages_are_chosen_by_name_and_keep_their_order() {
        assert_eq!(names(&[]).len(), STAGES.len());
        assert_eq!(names(&["tests", "format"]), ["format", "tests"]);
        let error = choose(&["formt".to_string()]).unwrap_err().to_string();
        assert!(error.contains("formt") && error.contains("clippy"), "{error}");
    }

    #[test]
    fn what_runs_a_program_has_it_built_first() {
        assert_eq!(names(&["conformance-cpu"]), ["build", "conformance-cpu"]);
        assert_eq!(names(&["clippy"]), ["clippy"]);
        let build = STAGES.iter().position(|stage| stage.name == BUILD).unwrap();
        assert!(STAGES[..build].iter().all(|stage| !stage.needs_build()));
    }

    #[test]
    fn every_device_but_cuda_runs_the_conformance_suite() {
        let runs = |words: &[&str]| {
            STAGES.iter().any(|stage| stage.action == Action::Built("pumice", leaked(words)))
        };
        for device in ["sim", "cpu"] {
            assert!(runs(&["selftest", "--device", device]), "{device}");
        }
        assert!(runs(OPENCL_1) && runs(OPENCL_2));
        assert!(runs(UNFUSED));
        assert!(runs(CUDA));
    }

    fn leaked(words: &[&str]) -> &'static [&'static str] {
        let words: Vec<&'static str> = words.iter().map(|word| &*word.to_string().leak()).collect();
        words.leak()
    }
}
