//! Programs by name, for `pumice emit`, `simulate`, `bench` and `tune`, and for the conformance suite.

use pumice::tune::{self, Choice, Space};
use pumice::{Compiler, Elt, Result};
use std::fmt::Debug;

/// A program that can be run on inputs of any size.
#[derive(Clone, Copy)]
pub struct Program {
    /// The name that its paper gives it.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// A size that is small enough to be simulated in a moment.
    pub small: usize,
    /// Sizes that keep a GPU busy, for measurements.
    pub large: &'static [usize],
    /// Sizes that the conformance suite runs: 0 and 1 where the program has them, odd ones, more than three blocks.
    pub sizes: &'static [usize],
    /// Tunable parameters; empty if there are none.
    pub tunable: &'static [Tunable],
    /// Makes inputs of a size and compiles the program for them.
    pub prepare: fn(&Compiler, usize, &Settings) -> Result<Box<dyn Prepared>>,
}

/// A number that can be chosen: threads of a block, items of a thread, rounds that are unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// Name of the parameter.
    pub name: &'static str,
    /// The values to choose from, in order.
    pub values: &'static [i64],
    /// The value of an untuned program.
    pub default: i64,
}

/// A value for each [`Tunable`] of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(Vec<(&'static str, i64)>);

impl Settings {
    /// The defaults.
    pub fn defaults(tunable: &[Tunable]) -> Settings {
        Settings(tunable.iter().map(|tunable| (tunable.name, tunable.default)).collect())
    }

    /// Returns the settings of a choice of [`Program::space`].
    pub fn chosen(tunable: &[Tunable], choice: &Choice) -> Settings {
        Settings(tunable.iter().map(|tunable| (tunable.name, choice.get(tunable.name))).collect())
    }

    /// The same with another value.
    pub fn with(mut self, name: &str, value: i64) -> Settings {
        self.0.iter_mut().filter(|(known, _)| *known == name).for_each(|(_, old)| *old = value);
        self
    }

    /// A value; 0 for a name that the program does not have.
    pub fn get(&self, name: &str) -> i64 {
        self.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value)
    }
}

impl Program {
    /// Returns the settings that tuning found fastest on the device for inputs of about this size, or the defaults.
    pub fn settings(&self, compiler: &Compiler, size: usize) -> Settings {
        let defaults = Settings::defaults(self.tunable);
        match tune::best(compiler, self.name, &self.space(size)) {
            None => defaults,
            Some(choice) => Settings::chosen(self.tunable, &choice),
        }
    }

    /// Returns the search space for inputs of about this size.
    pub fn space(&self, size: usize) -> Space {
        let add = |space: Space, tunable: &Tunable| space.with(tunable.name, tunable.values.iter().copied());
        self.tunable.iter().fold(Space::new(size), add)
    }
}

/// A program with its inputs, on a device.
pub trait Prepared {
    /// Starts the program. It may still be under way when this returns.
    fn run(&mut self) -> Result<()>;

    /// Compares the last run's result with that of plain Rust; the inner error describes the difference.
    fn check(&mut self) -> Result<Check>;

    /// Returns the least work of a run, from which a speed is computed.
    fn work(&self) -> Work;
}

/// The least work of a run, independent of the implementation: the unit of its speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Bytes that must be moved: each input read once, each output written once.
    Bytes(usize),
    /// Operations on floats that must be made, where those take longer than moving the data.
    Operations(usize),
    /// Neither says much about the program.
    Unknown,
}

/// Success if a result is correct, else a description of the difference.
pub type Check = std::result::Result<(), String>;

/// A program with its inputs: one function runs it, and one checks a run's result.
pub struct Ready<R, F, C> {
    work: Work,
    run: F,
    check: C,
    last: Option<R>,
}

/// Makes a [`Prepared`] program. `run` starts it and gives its result, which `check` looks at.
pub fn ready<R: 'static>(
    work: Work,
    run: impl FnMut() -> Result<R> + 'static,
    check: impl FnMut(&R) -> Result<Check> + 'static,
) -> Box<dyn Prepared> {
    Box::new(Ready { work, run, check, last: None })
}

impl<R, F: FnMut() -> Result<R>, C: FnMut(&R) -> Result<Check>> Prepared for Ready<R, F, C> {
    fn run(&mut self) -> Result<()> {
        // Its memory may serve the next run.
        self.last = None;
        self.last = Some((self.run)()?);
        Ok(())
    }

    fn check(&mut self) -> Result<Check> {
        match &self.last {
            Some(result) => (self.check)(result),
            None => Ok(Err("the program has not been run".into())),
        }
    }

    fn work(&self) -> Work {
        self.work
    }
}

/// Compares elements one by one.
pub fn same<T: Elt + Debug>(found: &[T], expected: &[T]) -> Check {
    if found.len() != expected.len() {
        return Err(format!("{} elements instead of {}", found.len(), expected.len()));
    }
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(i) => Err(format!("element {i} is {:?} instead of {:?}", found[i], expected[i])),
    }
}

/// Every program.
pub fn programs() -> Vec<Program> {
    let all = [
        crate::obsidian::programs(),
        crate::sort::programs(),
        crate::fcl::programs(),
        crate::matrix::programs(),
        crate::scan::programs(),
        crate::histogram::programs(),
        crate::mandelbrot::programs(),
        crate::sieve::programs(),
        crate::sobol::programs(),
    ];
    all.into_iter().flatten().collect()
}
