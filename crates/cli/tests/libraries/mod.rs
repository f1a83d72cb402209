//! Libraries that `pumice build` makes, called by programs in C and Python as their users would write them.

use super::{prints, refuses, repository, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

const LINEAR: &str = "crates/pumice/tests/pum/linear.pum";
const SECOND: &str = "crates/cli/tests/libraries/second.pum";

/// Builds a library in a folder; returns the command's output.
#[track_caller]
fn build(file: &str, language: &str, folder: &Path) -> String {
    prints(&["build", file, "--to", language, "--out", &folder.to_string_lossy()])
}

/// Runs a program, and returns its standard output.
#[track_caller]
fn output_of(command: &mut Command) -> String {
    let output = command.env("PUMICE_CACHE_DIR", scratch("cache")).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}:\n{text}{errors}", output.status);
    text.into_owned()
}

/// Returns the devices that libraries are tried on: OpenCL if there is a driver.
fn devices() -> Vec<&'static str> {
    let opencl = pumice::layers::runtime::open("opencl").is_ok();
    ["cpu", "sim"].into_iter().chain(opencl.then_some("opencl")).collect()
}

fn sources() -> PathBuf {
    repository().join("crates/cli/tests/libraries")
}

/// Compiles a program in C, and links it with libraries of a folder.
#[track_caller]
fn compiled(source: &str, folder: &Path, libraries: &[&str]) -> PathBuf {
    let program = folder.join("program");
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99", "-O1"]);
    compiler.arg(sources().join(source)).arg("-I").arg(folder).arg("-L").arg(folder).args(libraries);
    output_of(compiler.arg("-o").arg(&program).arg(format!("-Wl,-rpath,{}", folder.display())));
    program
}

#[test]
fn a_program_in_c_calls_two_libraries() {
    let folder = scratch("library-c");
    let printed = build(LINEAR, "c", &folder);
    assert!(printed.contains("dotp : [double; n] -> [double; n] -> double\n"), "{printed}");
    assert!(
        printed.contains("not built: twice: its type `(a -> a) -> a -> a` has variables; say"),
        "{printed}"
    );
    assert!(printed.contains("not built: grow: `shape` is of type `Shape`: a sum can be"), "{printed}");
    build(SECOND, "c", &folder);
    let program = compiled("program.c", &folder, &["-llinear", "-lsecond"]);
    for device in devices() {
        assert_eq!(output_of(Command::new(&program).arg(device)), "all right\n", "{device}");
    }
    // Only the library's own functions are exported.
    let symbols =
        output_of(Command::new("nm").args(["-D", "--defined-only"]).arg(folder.join("libsecond.so")));
    assert!(symbols.contains(" T second_total\n"), "{symbols}");
    let others: Vec<&str> = symbols.lines().filter(|line| !line.contains(" second_")).collect();
    assert_eq!(others, [""; 0]);
}

#[test]
fn kernels_that_were_compiled_ahead_need_no_compiler() {
    let folder = scratch("library-ahead");
    let printed =
        prints(&["build", SECOND, "--to", "c", "--size", "3,1000,3000", "--out", &folder.to_string_lossy()]);
    assert!(printed.starts_with("compiled ") && printed.contains(" kernels ahead\n"), "{printed}");
    let program = compiled("ahead.c", &folder, &["-lsecond"]);
    let mut command = Command::new(program);
    command.env("PUMICE_CC", "/no/compiler").env("PUMICE_CACHE_BYTES", "0");
    assert_eq!(output_of(&mut command), "all right\n");
}

#[test]
fn a_program_in_python_calls_a_library() {
    let numpy = Command::new("python3").args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var("CI").is_err(), "there is no NumPy");
        return eprintln!("skipped: there is no NumPy");
    }
    let folder = scratch("library-python");
    build(LINEAR, "python", &folder);
    for device in devices() {
        let mut command = Command::new("python3");
        command.arg(sources().join("program.py")).arg(device).env("PUMICE_DEVICE", device);
        let further = std::env::var_os("PYTHONPATH").map(PathBuf::from);
        let path = std::env::join_paths(std::iter::once(folder.clone()).chain(further));
        command.env("PYTHONPATH", path.unwrap_or_default()).env("PYTHONDONTWRITEBYTECODE", "1");
        assert_eq!(output_of(&mut command), "all right\n", "{device}");
    }
}

#[test]
fn a_module_of_rust_is_as_its_tests_have_it() {
    let folder = scratch("library-rust");
    build(LINEAR, "rust", &folder);
    let read = |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
    let (found, tested) =
        (read(folder.join("linear.rs")), read(repository().join("crates/pumice/tests/pum/linear.rs")));
    assert!(found == tested, "run `pumice build {LINEAR} --to rust --out crates/pumice/tests/pum`");
}

#[test]
fn what_cannot_be_built_is_told() {
    let out = scratch("library-wrong");
    let build = |more: &[&str], code: i32, part: &str| {
        let out = out.to_string_lossy();
        refuses(&[&["build", LINEAR, "--out", &out], more].concat(), code, part);
    };
    build(&[], 2, "--to <LANGUAGE>");
    build(&["--to", "java"], 2, "[possible values: c, python, rust]");
    build(&["--to", "c", "--entry", "twice"], 1, "with a signature without them, `sig twice : …`");
    build(
        &["--to", "c", "--entry", "dot"],
        1,
        "the file has no function `dot`; those that can be called are: dotp, turned",
    );
    build(
        &["--to", "c", "--size", "1,many"],
        2,
        "--size takes numbers of elements, such as 10,1000, or `usual`, and not `1,many`",
    );
    build(&["--to", "rust", "--size", "1"], 2, "--to rust makes none");
    let file = super::file("wrong-library.pum", "sig f : int -> int\nfun f x = x + true\n");
    refuses(&["build", &file, "--to", "c"], 1, "wrong-library.pum:2:");
    assert!(!out.exists());
}
