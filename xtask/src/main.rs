//! Development tasks, run as `cargo xtask TASK`: everything that takes more than one plain cargo command.
//!
//! May run cargo and other programs, install what tests need, and write below the build directory. May not
//! depend on any crate of the workspace: a broken crate must not keep the tests from being started.

mod bench;
mod compile_time;
#[cfg(test)]
mod documentation;
mod error;
#[cfg(test)]
mod newcomer;
mod options;
mod process;
mod random;
mod setup;
mod test;
mod workspace;

use std::process::ExitCode;

use error::{Error, Result};

const USAGE: &str = "\
usage: cargo xtask TASK

  setup                 install what the tests need where it is missing: an OpenCL driver, NVRTC
  test [STAGE]...       setup, then every test there is; or only the named stages
  random [OPTION]...    random programs on a device, as many as there is time for: `pumice random`, built first
  bench [OPTION]...     Pumice and its peers in one table
  compile-time [OPTION] how long a crate with 50 derives and 50 `#[embed]` functions compiles, beside the same without

options of bench:
  --device DEVICE       only this device: cpu, cuda, opencl or sim
  --filter TEXT         only workloads whose name contains this
  --rounds N            measure everybody N times in turn, and take the best of each: for machines that others use
  --json FILE           write all rows as JSON
  --svg FILE            where the plot goes (else bench.svg in the build directory)
  --with FILE           measure nothing, and take the rows of an earlier run with --json
  --heat FILE           draw what was done in several ways, as expansions are with `--filter expand`
  --pumice FILE         use this pumice program and do not build one
  --peers FOLDER        where the peers' sources are (else benches/peers)
  --out FOLDER          where to build them (else peers in the build directory)
With the last three bench needs neither cargo nor the repository, and the plot goes to --out.

option of compile-time:
  --rounds N            compile N times in each way, and take the best (else 5)

environment of test:
  PROPTEST_CASES        so many cases of each property (`cargo xtask test tests`)
  PROPTEST_RNG_SEED     other cases than the usual ones

environment of bench:
  CC, NVCC              compilers for the peers
  PUMICE_PEERS_PYTHON   the Python that has NumPy and the like (else python3)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run_task(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_task(arguments: &[String]) -> Result<()> {
    let Some((task, rest)) = arguments.split_first() else {
        return Err(Error::new(format!("no task given\n\n{USAGE}")));
    };
    match task.as_str() {
        "setup" => setup::run(rest),
        "test" => test::run(rest),
        "random" => random::run(rest),
        "bench" => bench::run(rest),
        "compile-time" => compile_time::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(Error::new(format!("unknown task {task}\n\n{USAGE}"))),
    }
}
