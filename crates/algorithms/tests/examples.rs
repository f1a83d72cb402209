//! Every example prints the lines that its header has, in that order, and ends with `ok`: they compare with plain Rust themselves.
//! Lines of a header with `...` are left out.

use std::path::PathBuf;
use std::process::Command;

/// An example with its source, whose header holds expected lines.
macro_rules! examples {
    ($($name:ident)*) => { &[$((stringify!($name), include_str!(concat!("../examples/", stringify!($name), ".rs")))),*] };
}
const EXAMPLES: &[(&str, &str)] = examples![
    canny
    equalise
    fft
    graphs
    heat
    julia
    kmeans
    life
    lu
    monte_carlo
    nbody
    neighbours
    pagerank
    particles
    photo
    poisson
    queens
    quicksort
    radix_sort
    ray_tracer
    renderer
    shapes
    shortest_paths
    sieve
    smvm
    sparse
    tpch
    triples
    words
];

/// The lines between the fences of a header that say everything.
fn expected(source: &str) -> Vec<&str> {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let header = header.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let fenced = header.skip_while(|line| *line != "```text").skip(1).take_while(|line| *line != "```");
    fenced.filter(|line| !line.contains("...")).collect()
}

/// The program that cargo builds of an example with the tests.
fn example(name: &str) -> Command {
    let here = std::env::current_exe().unwrap_or_default();
    let folder: PathBuf = here.ancestors().nth(2).unwrap_or(&here).join("examples");
    Command::new(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

#[test]
fn examples_print_what_their_headers_say() {
    for (name, source) in EXAMPLES {
        let output = example(name).env("PUMICE_DEVICE", "cpu").output();
        let output = output.unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{name} ended with {}:\n{text}{errors}", output.status);
        let mut found = text.lines();
        let missing = expected(source).into_iter().find(|line| !found.any(|found| found == *line));
        assert_eq!(missing, None, "{name} printed:\n{text}");
        assert_eq!(text.lines().last(), Some("ok"), "{name}");
    }
}

#[test]
fn a_mistake_on_the_command_line_is_an_error() {
    let output = example("sieve").arg("many").output();
    let output = output.unwrap_or_else(|error| panic!("sieve cannot be started: {error}"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: \"many\" is not a number\n");
}
