//! The `pumice` command: which devices work here, whether they are right, how fast they are, and what programs become.
//!
//! It only calls the layers below and prints. What it prints on standard output is for people and scripts; progress
//! goes to standard error, and only on a terminal. It may not panic on anything that a user can type.

#![forbid(unsafe_code)]

mod bench;
mod cache;
mod doctor;
mod emit;
mod error;
mod options;
mod programs;
mod progress;
mod pum;
mod random;
mod selftest;
mod simulate;
mod target;
mod temporary;
mod tune;

use error::{Error, Result};
use options::Options;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "\
Pumice: a functional array language for GPUs and CPUs, embedded in Rust.

usage: pumice COMMAND [OPTION]...

commands:
  doctor                which devices work here, and why the others do not
  selftest              run the conformance suite; the last line is `N passed, N failed`
    --device DEVICE       on this device
    --filter TEXT         only cases whose name contains this
    --skip TEXT,...       only cases whose name contains none of these
    --shard K/N           only one of N parts, to run them side by side
    --unfused             with every array written to memory
    --large               instead of it, arrays of more than 2^31 elements: takes 32 GB of the device's memory
    --compile-only TARGET run nothing, but compile every kernel of the suite: cuda, opencl or c
  random                run random programs, and keep what fails as a file
    --device DEVICE       on this device
    --minutes N           for so long (else 1)
    --programs N          at most so many
    --seed N              from this seed (else another one each time; it is printed)
    --out FOLDER          where files go (else here)
    --run A..B            only the programs with these numbers, in this process
    --program TEXT        only the program of a file's last line, in this process
  bench                 measure how fast programs run
    --device DEVICE       on this device
    --filter TEXT         only workloads whose name contains this
    --json FILE           write the rows as JSON
    --quick               small sizes and few runs, to see that everything works
    --first-run           instead of it, run a program of 20 kernels once: its milliseconds, and kernels found on disk
  programs              run whole programs: launches, bytes and times, as a table in Markdown
    --device DEVICE       on this device
    --filter TEXT         only programs whose name contains this
    --json FILE           write the rows as JSON
    --with FILE,...       put rows of such files into the table, too; without --device only these
    --launches            only count launches and bytes, and print the rows as JSON
    --quick               small sizes and few runs, to see that everything works
  check FILE.pum        the types of a file's functions, or what is wrong with it
  fmt FILE.pum...       lay out files in place
    --check               instead of it, say which files are laid out in another way
  test FILE.pum         run the cases in a file's documentation: `-- >>> expression`, and on the lines below what it gives
    --device DEVICE       on this device, else on all that work here
  run FILE.pum ARG...   run a function of a file. An ARG is an expression, such as `[1.0, 2.0]` or `(1, true)`, or a file:
                        .npy (NumPy), .csv (a column is a vector, several are a matrix, of f64), .png (a matrix of grey
                        values from 0 to 1, of f32)
    --entry NAME          this function (else main)
    --device DEVICE       on this device
    --output FILE         write the result to a file that ends in .npy, .csv or .png
  build FILE.pum        a library for another language of a file's functions on numbers, arrays, tuples and records
    --to LANGUAGE         c (f.h, f.c, libf.so), python (f.py, libf.so) or rust (f.rs)
    --out FOLDER          where files go (else here)
    --entry NAME,...      only these functions
    --size N,...          compile their kernels for the CPU ahead, for arrays of these numbers of elements, or `usual` ones: then the
                          library needs no C compiler where it runs, on any processor with AVX2
  emit FILE.pum ARG...  what a function of a file becomes
    --entry NAME          this function (else main)
    --target TARGET       array, program, c, opencl or cuda
    --size N              arrays that are not given have this length along each dimension (else 1024), and integers are this
  explain FILE.pum ARG...
                        what is allocated and launched for a function of a file; options as for emit
  simulate FILE.pum ARG...
                        what each kernel of a function of a file costs on a GPU, line by line
    --entry NAME          this function (else main)
  emit NAME             what a built-in example or kernel-language program becomes
    --target TARGET       array, program, c, opencl or cuda
    --size N              an example, for vectors of this length, matrices and pictures of this side
    --n N                 a program, for this size
  run NAME              run a kernel-language program once, and check that it is right
    --device DEVICE       on this device
    --n N                 for this size
  simulate NAME         what each kernel of a program costs on a GPU, line by line, and that it is right
    --n N                 for this size
    --csv                 only sectors and bank conflicts, a line a kernel
  tune NAME             find the numbers with which a program runs fastest, and keep them for this device
    --device DEVICE       on this device
    --n N                 for about this size
    --strategy STRATEGY   exhaustive, random or hill-climb
  explain NAME          what is allocated and launched for a built-in example
    --target TARGET       c, opencl or cuda
    --size N              for vectors of this length, matrices and pictures of this side
  cache show            what is kept in the folder of compiled kernels, and its limit
  cache prune           remove the kernels that were used least recently
    --bytes N             until the others take no more than this; without it, than the limit
  cache clear           remove all that is kept, results of tuning too
  help, version         this text; the version (also --help, --version)

devices: cuda, opencl, cpu, sim; of several GPUs cuda:0, cuda:1, opencl:0, … (`pumice doctor` lists them). Without --device
it is the one that PUMICE_DEVICE names, or the best that works.
Compiled kernels are kept in PUMICE_CACHE_DIR, or in the user's cache folder: up to PUMICE_CACHE_BYTES bytes (1 GiB; with 0
none are), and of those in memory PUMICE_KERNELS for each device (1024).
";

/// What a program that was stopped by a closed pipe would leave to its shell.
const PIPE_CLOSED: u8 = 128 + 13;

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_pipe() => ExitCode::from(PIPE_CLOSED),
        Err(error @ Error::Told) => ExitCode::from(error.exit_code()),
        Err(error) => {
            // Where not even this can be written, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "pumice: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let arguments = arguments
        .map(|argument| {
            argument.into_string().map_err(|argument| {
                Error::Usage(format!("an argument is not UTF-8: {}", argument.to_string_lossy()))
            })
        })
        .collect::<Result<Vec<String>>>()?;
    let Some((command, rest)) = arguments.split_first() else {
        return Err(Error::Usage(format!("no command is given\n\n{HELP}")));
    };
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        return print(HELP);
    }
    // A command that has a file of the language among its words is about that.
    if pum::COMMANDS.contains(&command.as_str())
        || (pum::SHARED.contains(&command.as_str()) && pum::is_meant(rest))
    {
        return pum::command(command, rest);
    }
    match command.as_str() {
        "doctor" => doctor::run(&Options::parse(rest, &[], &[], 0)?),
        "selftest" => {
            let with_value = ["--device", "--filter", "--skip", "--compile-only", "--shard"];
            selftest::run(&Options::parse(rest, &with_value, &["--unfused", "--large"], 0)?)
        }
        "random" => random::run(&Options::parse(rest, random::OPTIONS, &[], 0)?),
        "bench" => {
            let with_value = ["--device", "--filter", "--json"];
            bench::run(&Options::parse(rest, &with_value, &["--quick", "--first-run"], 0)?)
        }
        "programs" => {
            let with_value = ["--device", "--filter", "--json", "--with"];
            programs::run(&Options::parse(rest, &with_value, &["--quick", "--launches"], 0)?)
        }
        "emit" => emit::run(&Options::parse(rest, &["--target", "--size", "--n"], &[], 1)?),
        "tune" => tune::run(&Options::parse(rest, &["--device", "--n", "--strategy"], &[], 1)?),
        "run" => simulate::run_once(&Options::parse(rest, &["--device", "--n"], &[], 1)?),
        "simulate" => simulate::run(&Options::parse(rest, &["--n"], &["--csv"], 1)?),
        "explain" => emit::explain(&Options::parse(rest, &["--target", "--size"], &[], 1)?),
        "cache" => cache::run(&Options::parse(rest, &["--bytes"], &[], 1)?),
        "help" | "--help" | "-h" => print(HELP),
        "version" | "--version" | "-V" => print(&format!("pumice {}\n", env!("CARGO_PKG_VERSION"))),
        _ => Err(Error::Usage(format!(
            "there is no command `{command}`; the commands are doctor, selftest, random, bench, programs, check, fmt, test, run, build, emit, explain, simulate, tune, cache, help, version"
        ))),
    }
}

/// Writes to standard output. `print!` would panic when nobody reads it any more.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
