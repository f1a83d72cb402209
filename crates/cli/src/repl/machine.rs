//! The device that a session runs on, and how a run is stopped.

use super::kept::Arrays;
use super::trouble::Trouble;
use crate::pum::call::Call;
use pumice::layers::array::whole_columns;
use pumice::{Compiler, Error, Untyped};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a run may take unless somebody says something else: a kernel that does not end cannot be stopped in another way.
const LIMIT: Duration = Duration::from_secs(30);

/// How long runs are measured for, and how many at most.
const BENCH_TIME: Duration = Duration::from_secs(1);
const BENCH_RUNS: usize = 1_000;

/// A device.
pub struct Machine {
    compiler: Compiler,
    limit: Option<Duration>,
    /// Set when the user wants a run to stop.
    stopped: Arc<AtomicBool>,
}

impl Machine {
    /// The device of this name, or the best one.
    pub fn new(device: Option<&str>, stopped: Arc<AtomicBool>) -> Result<Machine, Error> {
        Ok(Machine { compiler: open(device)?, limit: Some(LIMIT), stopped })
    }

    /// Runs on another device from now on.
    pub fn change(&mut self, device: &str) -> Result<(), Error> {
        self.compiler = open(Some(device))?;
        Ok(())
    }

    /// The device's name.
    pub fn name(&self) -> String {
        self.compiler.device().name().to_string()
    }

    /// How long a run may take.
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Sets how long a run may take.
    pub fn set_limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    /// A run begins that nobody has asked to stop.
    pub fn begin(&self) {
        self.stopped.store(false, Ordering::SeqCst);
    }

    /// Runs a program, and waits for its results.
    pub fn run(&self, call: &Call) -> Result<Arrays, Trouble> {
        // A loop that is one kernel could not be stopped between rounds.
        let compiler = Compiler::with(self.compiler.device().clone()).small_loops(false);
        let compiler = match self.limit {
            Some(limit) => compiler.deadline(limit),
            None => compiler,
        };
        let program = compiler.compile_program(call.compiled.program.clone())?;
        self.wait(&program, call)
    }

    /// Runs a program without a limit of time, twice: how long that took, in milliseconds.
    pub fn time(&self, call: &Call) -> Result<[f64; 2], Trouble> {
        let program = self.compiler.compile_program(call.compiled.program.clone())?;
        let once = || {
            let start = Instant::now();
            self.wait(&program, call)?;
            Ok::<f64, Trouble>(start.elapsed().as_secs_f64() * 1e3)
        };
        Ok([once()?, once()?])
    }

    /// Runs a program many times: how long each took, in milliseconds.
    pub fn bench(&self, call: &Call) -> Result<Vec<f64>, Trouble> {
        let program = self.compiler.compile_program(call.compiled.program.clone())?;
        // Kernels are compiled, and failures are told.
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
            // What failed has no elements.
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
