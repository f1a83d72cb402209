//! Random command lines: whatever is typed, the command ends by itself, with an exit code and a message, and not with a
//! panic.

use proptest::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a command. The words below exclude commands that would work for minutes: no device that
/// works can be chosen, and sizes are small or refused.
const LONGEST: Duration = Duration::from_secs(60);

const COMMANDS: &[&str] = &[
    "selftest",
    "bench",
    "programs",
    "emit",
    "run",
    "simulate",
    "tune",
    "explain",
    "cache",
    "help",
    "version",
    "--help",
    "-V",
    "check",
    "cost",
    "repl",
    "build",
    "fmt",
    "test",
    "completions",
    "man",
    "doc",
];

const WORDS: &[&str] = &[
    "--device",
    "--filter",
    "--json",
    "--quick",
    "--target",
    "--size",
    "--n",
    "--csv",
    "--strategy",
    "--bytes",
    "--help",
    "--",
    "-",
    "-x",
    "=",
    "--n=",
    "--device=gpu",
    "--size=3",
    "gpu",
    "c",
    "cuda",
    "array",
    "program",
    "dotp",
    "mandelbrot",
    "row_sums",
    "reverse",
    "sumGrid",
    "matMul",
    "sort",
    "transposeTiled",
    "no_such.pum",
    "--entry",
    "--output",
    "--check",
    "--block-size",
    "bash",
    "--prelude",
    "--out",
    "--vary",
    "--svg",
    "--run",
    "a=1,2",
    "--to",
    "python",
    "x.npy",
    "[1, 2]",
    "show",
    "prune",
    "clear",
    "no such",
    "exhaustive",
    "random",
    "0",
    "1",
    "7",
    "64",
    "-1",
    "1e3",
    "0x10",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1000000000000",
];

fn word() -> impl Strategy<Value = OsString> {
    prop_oneof![
        8 => prop::sample::select(WORDS).prop_map(OsString::from),
        1 => "\\PC{0,12}".prop_map(OsString::from),
        1 => "--[a-z]{0,8}=?\\PC{0,4}".prop_map(OsString::from),
        1 => prop::collection::vec(1u8.., 0..8).prop_map(bytes),
    ]
}

#[cfg(unix)]
fn bytes(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn bytes(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

fn arguments() -> impl Strategy<Value = Vec<OsString>> {
    let command = prop_oneof![
        9 => prop::sample::select(COMMANDS).prop_map(OsString::from),
        1 => word(),
    ];
    (command, prop::collection::vec(word(), 0..5)).prop_map(|(command, mut words)| {
        words.insert(0, command);
        words
    })
}

/// Runs the command, and kills the process if it takes too long.
fn run(arguments: &[OsString]) -> (Option<i32>, String) {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("any-command-line");
    std::fs::create_dir_all(&scratch).expect("the target folder can be written");
    let (cache, errors) = (scratch.join("cache"), scratch.join("errors"));
    let file = std::fs::File::create(&errors).expect("a file for messages");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pumice"));
    // In a folder of its own, as `--json` writes a file of any name.
    command.args(arguments).current_dir(&scratch).env("PUMICE_CACHE_DIR", cache).env("PUMICE_DEVICE", "none");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let mut child = command.spawn().expect("pumice can be started");
    let start = Instant::now();
    let status = loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => break status.code(),
            None if start.elapsed() > LONGEST => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    (status, std::fs::read_to_string(errors).unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_command_line_is_answered(arguments in arguments()) {
        let (code, message) = run(&arguments);
        prop_assert!(matches!(code, Some(0..=2)), "{arguments:?} ended with {code:?}: {message}");
        prop_assert!(!message.contains("panicked"), "{arguments:?}: {message}");
        // `check --json` tells what is wrong on standard output.
        let is_told = code == Some(0) || arguments[..].starts_with(&["check".into()]) && arguments.contains(&"--json".into());
        prop_assert!(is_told || message.starts_with("pumice: "), "{arguments:?}: {message}");
    }
}
