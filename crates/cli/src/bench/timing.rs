//! Timing of programs: checks the result, warms up, and runs often enough for a stable median.

use super::workloads::Measured;
use pumice::{Acc, Arguments, Array, Compiler, Elt, Function, ProgramResult, Shape};
use pumice_algorithms::Program;
use std::time::Instant;

/// Time budget of a measurement in milliseconds, and the fewest and most runs.
const BUDGET_MS: f64 = 1000.0;
const FEWEST_RUNS: usize = 7;
const MOST_RUNS: usize = 101;
const WARM_UP_RUNS: usize = 3;
/// Number of runs of programs that take seconds.
const FEW_RUNS: usize = 3;

/// Times programs with one compiler.
#[derive(Clone)]
pub struct Timing {
    compiler: Compiler,
    quick: bool,
}

impl Timing {
    /// Times programs of this compiler; `quick` means the fewest runs.
    pub fn new(compiler: Compiler, quick: bool) -> Timing {
        Timing { compiler, quick }
    }

    /// Returns a timing with other options of the compiler.
    pub fn with(&self, choose: impl FnOnce(Compiler) -> Compiler) -> Timing {
        Timing { compiler: choose(self.compiler.clone()), quick: self.quick }
    }

    /// Returns the median time of a program in milliseconds, after checking its result.
    pub fn median<P, D: Shape, T: Elt>(
        &self,
        program: impl Function<P, Result = Acc<Array<D, T>>>,
        arguments: impl Arguments<P> + Clone,
        check: impl FnOnce(Vec<T>) -> Result<(), String>,
    ) -> Result<f64, String> {
        let check = |result: Array<D, T>| check(result.to_vec().map_err(|error| error.to_string())?);
        self.median_of_results(program, arguments, check)
    }

    /// Like [`Timing::median`], for a program with any results. The time of a program with a loop or a branch is the host's for a whole
    /// run, up to the end of the device's work.
    pub fn median_of_results<P, R: ProgramResult>(
        &self,
        program: impl Function<P, Result = R>,
        arguments: impl Arguments<P> + Clone,
        check: impl FnOnce(R::Value) -> Result<(), String>,
    ) -> Result<f64, String> {
        let told = |error: pumice::Error| error.to_string();
        let program = self.compiler.compile(program).map_err(told)?;
        let first = program.plan(arguments.clone()).map_err(told)?;
        if first.launches().next().is_none() && first.reads().is_none() {
            return Err("nothing is launched, so there is nothing to time".into());
        }
        check(program.run(arguments.clone()).map_err(told)?)?;
        self.repeat(|| program.time(arguments.clone(), 1).map(median)).map_err(told)
    }

    /// Returns whether the fewest runs are enough.
    pub fn is_quick(&self) -> bool {
        self.quick
    }

    /// Returns the compiler of timed programs.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Returns the median of a few runs that take seconds, in milliseconds by the host's clock. Each run is prepared first, which is
    /// not timed.
    pub fn median_of_few<T>(
        &self,
        mut prepare: impl FnMut() -> Result<T, String>,
        mut run: impl FnMut(T) -> Result<(), String>,
    ) -> Result<f64, String> {
        let mut once = || {
            let prepared = prepare()?;
            let start = Instant::now();
            run(prepared)?;
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        // The first run warms up.
        once()?;
        (0..FEW_RUNS).map(|_| once()).collect::<Result<Vec<f64>, String>>().map(median)
    }

    /// Returns the median time that the host takes to describe, check and plan a program, in milliseconds.
    pub fn planning<P, F: Function<P> + Copy>(
        &self,
        program: F,
        arguments: impl Arguments<P> + Clone,
    ) -> Result<f64, String> {
        let once = || {
            let start = Instant::now();
            let plan = self.compiler.compile(program)?.plan(arguments.clone())?;
            let time = start.elapsed().as_secs_f64() * 1e3;
            drop(plan);
            Ok(time)
        };
        self.repeat(once).map_err(|error| error.to_string())
    }

    /// Measures a kernel-language program, after its result has been checked.
    pub fn program(&self, program: &Program, size: usize) -> Result<Measured, String> {
        let told = |error: pumice::Error| error.to_string();
        let settings = program.settings(&self.compiler, size);
        let mut prepared = (program.prepare)(&self.compiler, size, &settings).map_err(told)?;
        prepared.run().map_err(told)?;
        prepared.check().map_err(told)??;
        let median_ms = self.repeat(|| self.compiler.time(|| prepared.run())).map_err(told)?;
        Ok(Measured { median_ms, work: prepared.work() })
    }

    /// Returns the median time of as many runs as fit the budget; `once` measures one run.
    pub fn repeat(&self, once: impl FnMut() -> pumice::Result<f64>) -> pumice::Result<f64> {
        Ok(self.spread(once)?.median)
    }

    /// Like [`Timing::repeat`], with the spread of the times.
    pub fn spread(&self, mut once: impl FnMut() -> pumice::Result<f64>) -> pumice::Result<Spread> {
        let mut times = |runs: usize| (0..runs).map(|_| once()).collect::<pumice::Result<Vec<f64>>>();
        let warm = median(times(WARM_UP_RUNS)?);
        times(if self.quick { FEWEST_RUNS } else { runs_for(warm) }).map(Spread::of)
    }
}

/// Distribution of the times of some runs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Median time.
    pub median: f64,
    /// Lower quartile.
    pub low: f64,
    /// Upper quartile.
    pub high: f64,
}

impl Spread {
    fn of(mut times: Vec<f64>) -> Spread {
        times.sort_by(f64::total_cmp);
        let at = |quarters: usize| {
            let place = quarters * times.len().saturating_sub(1) / 4;
            times.get(place).copied().unwrap_or(f64::NAN)
        };
        let (low, high) = (at(1), at(3));
        Spread { runs: times.len(), median: median(times), low, high }
    }
}

fn runs_for(once_ms: f64) -> usize {
    // The cast saturates.
    ((BUDGET_MS / once_ms.max(1e-3)) as usize).clamp(FEWEST_RUNS, MOST_RUNS)
}

/// Returns the middle element; NaN if there is none.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_programs_run_often_and_slow_ones_often_enough() {
        assert_eq!((runs_for(0.0), runs_for(0.1), runs_for(20.0), runs_for(1e9)), (101, 101, 50, 7));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        let spread = Spread { runs: 5, median: 3.0, low: 2.0, high: 4.0 };
        assert_eq!(Spread::of(vec![5.0, 4.0, 1.0, 2.0, 3.0]), spread);
    }

    #[test]
    fn a_wrong_result_is_an_error() -> pumice::Result<()> {
        use pumice::prelude::*;
        let timing = Timing::new(Compiler::on("sim")?, true);
        let program = |xs: Acc<Vector<i32>>| xs.map(|x| x + 1);
        let check = |expected: i32| {
            move |found: Vec<i32>| if found == [expected] { Ok(()) } else { Err(format!("found {found:?}")) }
        };
        assert!(timing.median(program, &[1], check(2)).is_ok());
        assert_eq!(timing.median(program, &[1], check(3)), Err("found [2]".into()));
        Ok(())
    }
}
