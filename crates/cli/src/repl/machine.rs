//! The device that a session runs on, with time limits and cancellation of runs.

use super::kept::Arrays;
use super::trouble::Trouble;
use crate::pum::call::Call;
use pumice::layers::array::whole_columns;
use pumice::{Compiler, Error, Untyped};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Default time limit of a run. A kernel that does not terminate cannot be stopped in another way.
const LIMIT: Duration = Duration::from_secs(30);

/// Duration of a measurement, and the most runs in it.
const BENCH_TIME: Duration = Duration::from_secs(1);
const BENCH_RUNS: usize = 1_000;

/// A device, with the limits of runs on it.
pub struct Machine {
    compiler: Compiler,
    limit: Option<Duration>,
    /// Set when the user cancels a run.
    stopped: Arc<AtomicBool>,
}

impl Machine {
    /// Opens the device of this name, or the best one.
    pub fn new(device: Option<&str>, stopped: Arc<AtomicBool>) -> Result<Machine, Error> {
        Ok(Machine { compiler: open(device)?, limit: Some(LIMIT), stopped })
    }

    /// Switches to another device.
    pub fn change(&mut self, device: &str) -> Result<(), Error> {
        self.compiler = open(Some(device))?;
        Ok(())
    }

    /// Returns the device's name.
    pub fn name(&self) -> String {
        self.compiler.device().name().to_string()
    }

    /// Returns the time limit of a run.
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Sets the time limit of a run.
    pub fn set_limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    /// Clears the request to cancel, before a run begins.
    pub fn begin(&self) {
        self.stopped.store(false, Ordering::SeqCst);
    }

    /// Runs a program, and waits for its results.
    pub fn run(&self, call: &Call) -> Result<Arrays, Trouble> {
        // A loop that is compiled to one kernel could not be stopped between rounds.
        let compiler = Compiler::with(self.compiler.device().clone()).small_loops(false);
        let compiler = match self.limit {
            Some(limit) => compiler.deadline(limit),
            None => compiler,
        };
        let program = compiler.compile_program(call.compiled.program.clone())?;
        self.wait(&program, call)
    }

    /// Runs a program twice without a time limit, and returns both times in milliseconds.
    pub fn time(&self, call: &Call) -> Result<[f64; 2], Trouble> {
        let program = self.compiler.compile_program(call.compiled.program.clone())?;
        let once = || {
            let start = Instant::now();
            self.wait(&program, call)?;
            Ok::<f64, Trouble>(start.elapsed().as_secs_f64() * 1e3)
        };
        Ok([once()?, once()?])
    }

    /// Runs a program many times, and returns the time of each run in milliseconds.
    pub fn bench(&self, call: &Call) -> Result<Vec<f64>, Trouble> {
        let program = self.compiler.compile_program(call.compiled.program.clone())?;
        // The first run compiles kernels and reports failures.
        self.wait(&program, call)?;
        let (start, mut times) = (Instant::now(), Vec::new());
        while times.len() < BENCH_RUNS && start.elapsed() < BENCH_TIME {
            if self.stopped.load(Ordering::SeqCst) {
                return Err(Error::Cancelled.into());
            }
            times.extend(program.time(&call.inputs, 1)?);
        }
        Ok(times)
    }

    fn wait(&self, program: &Untyped, call: &Call) -> Result<Arrays, Trouble> {
        let arrays = program.run_unless(&self.stopped, &call.inputs).map_err(|error| self.told(error))?;
        for array in &arrays {
            // Reading the elements reports a failure of the run.
            whole_columns(&**array).map_err(|error| self.told(error.into()))?;
        }
        Ok(arrays)
    }

    fn told(&self, error: Error) -> Trouble {
        match (&error, self.limit) {
            (Error::Deadline { .. }, Some(_)) => {
                Trouble::Told(format!("{error}\nhelp: `:set limit off` lets it run for as long as it takes"))
            }
            _ => error.into(),
        }
    }
}

fn open(device: Option<&str>) -> Result<Compiler, Error> {
    device.map_or_else(Compiler::new, Compiler::on)
}
