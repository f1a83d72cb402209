//! Every example prints what its header says, on every device that works here.
//!
//! Cargo builds the examples with the tests; they are started as programs, because that is what they are. `...` in a
//! header stands for anything.

use pumice::layers::runtime::open;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An example with its source, whose header holds the expected output.
macro_rules! examples {
    ($($name:ident)*) => { &[$((stringify!($name), include_str!(concat!("../examples/", stringify!($name), ".rs")))),*] };
}
const EXAMPLES: &[(&str, &str)] = examples![dotp saxpy row_sums matrix_vector black_scholes mandelbrot sum_blocks transpose_tiled histogram arrow_table count_letters];

/// The lines between the fences of a header.
fn expected(source: &str) -> Vec<&str> {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let header = header.map(|line| line.strip_prefix(' ').unwrap_or(line));
    header.skip_while(|line| *line != "```text").skip(1).take_while(|line| *line != "```").collect()
}

/// Whether a line is as expected, where `...` is anything.
fn matches(expected: &str, found: &str) -> bool {
    let mut rest = found;
    let mut parts = expected.split("...").peekable();
    let Some(first) = parts.next() else { return found.is_empty() };
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    while let Some(part) = parts.next() {
        let at = if parts.peek().is_none() {
            rest.ends_with(part).then(|| rest.len() - part.len())
        } else {
            rest.find(part)
        };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

fn run_all(device: &str) {
    if let Err(error) = open(device) {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
        eprintln!("left out: {error}");
        return;
    }
    let here = std::env::current_exe().unwrap_or_default();
    let folder: PathBuf = here.ancestors().nth(2).unwrap_or(&here).join("examples");
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (name, source) in EXAMPLES {
        if (*name == "arrow_table" && !cfg!(feature = "arrow"))
            || (*name == "count_letters" && !cfg!(feature = "mmap"))
        {
            continue;
        }
        let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        assert!(program.exists(), "{name} is not built: run `cargo test`, or `cargo build --examples` first");
        let mut command = Command::new(program);
        command.env("PUMICE_DEVICE", device).env("PUMICE_CACHE_DIR", scratch.join("cache"));
        if *name == "mandelbrot" {
            command.arg(scratch.join(format!("mandelbrot-{device}.png")));
        }
        let output = command.output().unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{name} on {device} ended with {}:\n{text}{errors}", output.status);
        let (found, expected): (Vec<&str>, _) = (text.lines().collect(), expected(source));
        let is_same =
            found.len() == expected.len() && expected.iter().zip(&found).all(|(e, f)| matches(e, f));
        assert!(
            is_same && !expected.is_empty(),
            "{name} on {device}\nexpected: {expected:#?}\nfound: {found:#?}"
        );
    }
}

#[test]
fn on_sim() {
    run_all("sim");
}

#[test]
fn on_cpu() {
    run_all("cpu");
}

#[test]
fn on_opencl() {
    run_all("opencl");
}

/// As in `dotp | head -0`.
#[test]
fn output_that_nobody_reads_is_no_panic() {
    let here = std::env::current_exe().unwrap_or_default();
    let folder: PathBuf = here.ancestors().nth(2).unwrap_or(&here).join("examples");
    for name in ["dotp", "row_sums", "sum_blocks"] {
        let mut command = Command::new(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
        let command = command.env("PUMICE_DEVICE", "sim").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap_or_else(|error| panic!("{name}: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && errors.is_empty(),
            "{name} ended with {}: {errors}",
            output.status
        );
    }
}

#[test]
fn dots_match_anything() {
    assert!(matches("a ... b ...", "a 1 b 2") && matches("...", "") && matches("a", "a"));
    assert!(!matches("a ... b", "a 1 c") && !matches("a", "ab") && !matches("...b", "a"));
    assert_eq!(expected("//! About.\n//!\n//! ```text\n//!  1\n//! ```\nfn main() {}"), [" 1"]);
}
