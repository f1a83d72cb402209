//! Examples as programs: each prints what its header says. `...` in a header stands for anything.
//!
//! Tests of `crates/array` use this file too, for the examples there.

use pumice::layers::runtime::open;
use std::path::PathBuf;
use std::process::Command;

/// The lines between the fences of a header.
pub fn expected(source: &str) -> Vec<&str> {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let header = header.map(|line| line.strip_prefix(' ').unwrap_or(line));
    header.skip_while(|line| *line != "```text").skip(1).take_while(|line| *line != "```").collect()
}

/// Whether a line is as expected, where `...` is anything.
pub fn matches(expected: &str, found: &str) -> bool {
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

/// The file of an example that cargo has built.
pub fn program(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap_or_default();
    let folder = here.ancestors().nth(2).unwrap_or(&here).join("examples");
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Runs examples, each with its source, on a device if it works here.
pub fn run_all(examples: &[(&str, &str)], device: &str) {
    if let Err(error) = open(device) {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
        eprintln!("left out: {error}");
        return;
    }
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (name, source) in examples {
        let program = program(name);
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
