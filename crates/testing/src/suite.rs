//! The suite as a whole: the list of all cases, and functions that run them or collect their kernels.

use crate::files::{FILES, File};
use crate::harness::{Harness, Outcome};
use pumice::Compiler;
use pumice::layers::array::PlanOptions;
use pumice::layers::kernel::Profile;
use pumice::layers::program::Verified;
use pumice::layers::runtime::devices::Sim;
use pumice_algorithms::{Program, Settings};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A test that every device must pass.
#[derive(Clone)]
pub struct Case {
    /// Its module and subject: `folds::empty_rows`, `algorithms::reverse`, `files::views`.
    pub name: String,
    body: Body,
}

/// Body of a case.
#[derive(Clone, Copy)]
enum Body {
    /// Runs array programs.
    Arrays(fn(&Harness) -> Outcome),
    /// Runs a program of the kernel language in all its sizes.
    Kernels(Program),
    /// Runs the cases of a file.
    File(File),
}

impl Case {
    /// Runs the case; a panic is a failure too.
    pub fn run(&self, compiler: &Compiler) -> Outcome {
        guarded(|| match self.body {
            Body::Arrays(body) => body(&Harness::running(compiler)),
            Body::Kernels(program) => run_program(&program, compiler),
            Body::File(file) => file.run(&Harness::running(compiler)),
        })
    }

    /// Returns whether [`Case::kernels`] costs much less than running the case: nothing is simulated for it.
    pub fn plans_quickly(&self) -> bool {
        matches!(self.body, Body::Arrays(_) | Body::File(_))
    }

    /// Returns the kernels that the case launches on a device with this profile, without running any on one.
    pub fn kernels(&self, profile: &Profile, options: &PlanOptions) -> Result<Vec<Arc<Verified>>, String> {
        let planned = |body: &dyn Fn(&Harness) -> Outcome| {
            let harness = Harness::planning(profile, options)?;
            guarded(|| body(&harness))?;
            Ok(harness.into_programs())
        };
        match self.body {
            Body::Arrays(body) => planned(&body),
            Body::File(file) => planned(&|harness| file.run(harness)),
            Body::Kernels(program) => {
                let sim = Arc::new(Sim::observing(profile.clone()));
                guarded(|| run_program(&program, &Compiler::with(sim.clone())))?;
                Ok(sim.recorded().into_iter().map(|launch| launch.program).collect())
            }
        }
    }
}

/// Calls a function, and turns a panic in it into an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", message.unwrap_or("with something that is no text")))
    })
}

/// Runs a program of the kernel language in all its sizes and checks its results.
fn run_program(program: &Program, compiler: &Compiler) -> Outcome {
    program.sizes.iter().try_for_each(|size| {
        let at = |message: String| format!("n = {size}: {message}");
        let told = |error: pumice::Error| at(error.to_string());
        let settings = Settings::defaults(program.tunable);
        let mut prepared = (program.prepare)(compiler, *size, &settings).map_err(told)?;
        // Twice: state that a run leaves behind must not disturb the next.
        prepared.run().map_err(told)?;
        prepared.run().map_err(told)?;
        prepared.check().map_err(told)?.map_err(at)
    })
}

macro_rules! collect_cases {
    ($($module:ident { $($case:ident)* })*) => {
        vec![$($(Case {
            name: concat!(stringify!($module), "::", stringify!($case)).to_string(),
            body: Body::Arrays(crate::cases::$module::$case),
        },)*)*]
    };
}

/// Returns every case.
pub fn cases() -> Vec<Case> {
    let mut all = crate::for_each_case!(collect_cases);
    let case = |program: Program| Case {
        name: format!("algorithms::{}", program.name),
        body: Body::Kernels(program),
    };
    all.extend(pumice_algorithms::programs().into_iter().map(case));
    let case = |file: &File| Case { name: format!("files::{}", file.name), body: Body::File(*file) };
    all.extend(FILES.iter().map(case));
    all
}

/// Returns the cases with arrays of more than 2³¹ elements, for devices that have the memory.
pub fn large_cases() -> Vec<Case> {
    let case =
        |(name, body): &crate::large::Named| Case { name: (*name).to_string(), body: Body::Arrays(*body) };
    crate::large::CASES.iter().map(case).collect()
}

/// Result of a run of the suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of cases that passed.
    pub passed: usize,
    /// The cases that failed, with their messages.
    pub failed: Vec<(String, String)>,
}

/// Runs the cases whose name contains `filter`. Calls `progress` before every case (with `None` as its outcome) and
/// after it.
pub fn run_suite(
    compiler: &Compiler,
    filter: Option<&str>,
    mut progress: impl FnMut(Progress<'_>),
) -> Summary {
    let chosen: Vec<Case> =
        cases().into_iter().filter(|case| filter.is_none_or(|filter| case.name.contains(filter))).collect();
    let mut summary = Summary::default();
    for (number, case) in chosen.iter().enumerate() {
        let of = chosen.len();
        progress(Progress { number, of, name: &case.name, outcome: None });
        let outcome = case.run(compiler);
        progress(Progress { number, of, name: &case.name, outcome: Some(&outcome) });
        match outcome {
            Ok(()) => summary.passed += 1,
            Err(message) => summary.failed.push((case.name.clone(), message)),
        }
    }
    summary
}

/// Progress of [`run_suite`].
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Index of the case, from 0.
    pub number: usize,
    /// Number of cases that are run.
    pub of: usize,
    /// The case's name.
    pub name: &'a str,
    /// Its outcome; `None` before it starts.
    pub outcome: Option<&'a Outcome>,
}

/// Returns the profile of a large CUDA device, for planning without one.
pub fn cuda_like() -> Profile {
    Sim::gpu_profile()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_panic_is_a_failure_with_its_message() {
        assert_eq!(guarded::<()>(|| panic!("a {} one", "bad")), Err("panicked: a bad one".into()));
    }

    #[test]
    fn names_are_unique() {
        let names: HashSet<String> = cases().into_iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases().len());
    }
}
