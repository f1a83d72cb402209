//! Commands on `.pum` files, as a user types them.

use std::path::PathBuf;
use std::process::{Command, Output};

fn pumice(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pumice"));
    // Messages and results have paths as they are typed.
    command.args(arguments).current_dir(repository());
    command.env("PUMICE_CACHE_DIR", scratch("cache")).env_remove("PUMICE_DEVICE");
    command.output().unwrap_or_else(|error| panic!("pumice cannot be started: {error}"))
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A file of its own with this text, and its name.
fn file(name: &str, text: impl AsRef<[u8]>) -> String {
    let path = scratch(name);
    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{error}"));
    path.to_string_lossy().into_owned()
}

/// What a command that must succeed prints.
#[track_caller]
fn prints(arguments: &[&str]) -> String {
    let output = pumice(arguments);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?} ended with {}:\n{text}{errors}", output.status);
    text.into_owned()
}

/// What a command that must not succeed prints, which is this on standard error.
#[track_caller]
fn refuses(arguments: &[&str], code: i32, part: &str) -> String {
    let output = pumice(arguments);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}:\n{text}{errors}");
    assert!(errors.contains(part), "{arguments:?}:\n{text}{errors}");
    text.into_owned()
}

/// Runs a function of an example, on the simulator and the CPU.
#[track_caller]
fn gives(arguments: &[&str], expected: &str) {
    for device in ["sim", "cpu"] {
        let all = [&["run"], arguments, &["--device", device]].concat();
        assert_eq!(prints(&all).trim_end(), expected, "{all:?}");
    }
}

const DOTP: &str = "examples/pum/dotp.pum";

#[test]
fn check_prints_the_types_of_functions() {
    let text = prints(&["check", DOTP]);
    assert!(text.starts_with("dotp : Number a => [a] -> [a] -> a\nnorm : Float a => [a] -> a\n"), "{text}");
    let text = prints(&["check", "examples/pum/transpose.pum"]);
    assert!(text.contains("transposeTiled : int -> int -> int -> [a] -> [a]<grid>\n"), "{text}");
}

#[test]
fn check_shows_all_that_is_wrong() {
    let wrong = file("wrong.pum", "fun f x = x + true\nfun g y = unknown y\n");
    let text = refuses(&["check", &wrong], 1, "wrong.pum:1:");
    assert_eq!(text, "");
    refuses(&["check", &wrong], 1, "wrong.pum:2:11");
    // Colours are for terminals.
    let output = pumice(&["check", &wrong]);
    assert!(!output.stderr.contains(&0x1b));
    refuses(&["check", "no-such.pum"], 1, "pumice: cannot read no-such.pum: ");
    refuses(&["check"], 2, "name a `.pum` file");
}

#[test]
fn functions_run_with_expressions() {
    gives(&[DOTP, "[1.0, 2.0]", "[3.0, 4.0]"], "11.0");
    gives(&[DOTP, "--entry", "norm", "[3.0, 4.0]"], "5.0");
    gives(&[DOTP, "[1, 2]", "map (fn x => -x) [3, 4] -- a comment"], "-11");
    gives(&["examples/pum/reverse.pum", "[1, 2, 3, 4, 5, 6, 7, 8]"], "[8, 7, 6, 5, 4, 3, 2, 1]");
    gives(&["examples/pum/transpose.pum", "1", "3", "2", "[1, 2, 3, 4, 5, 6]"], "[1, 4, 2, 5, 3, 6]");
    gives(&["examples/pum/reduce.pum", "2048"], "2096128");
    gives(&["examples/pum/primes.pum", "20"], "[2, 3, 5, 7, 11, 13, 17, 19]");
}

#[test]
fn imports_are_read_beside_the_file() {
    file("shapes.pum", "fun area w h = w * h\n");
    let main = file("imports.pum", "import shapes\nfun main w = shapes::area w 3\n");
    gives(&[&main, "-4"], "-12");
}

#[test]
fn long_results_are_abbreviated() {
    let program = file("long.pum", "fun main n = generate n (fn i => i)\n");
    let text = prints(&["run", &program, "2000", "--device", "sim"]);
    assert!(text.starts_with("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (2000 elements) …, 1990, "), "{text}");
}

#[test]
fn arrays_come_from_files_and_go_to_files() {
    let [numbers, table, picture] =
        ["vector.npy", "table.csv", "picture.png"].map(|name| scratch(name).to_string_lossy().into_owned());
    let made = file(
        "made.pum",
        "fun main n = generate n (fn i => f32 i / 2.0f32)\nfun grid n = generate2 n 2 (fn i j => i * 10 + j)\n",
    );
    prints(&["run", &made, "4", "--device", "sim", "--output", &numbers]);
    let program = file(
        "files.pum",
        "fun both xs k = (sum xs, map (fn x => x * k) xs)\nfun columns m = (shape2 m, flatten2 m)\nfun id x = x\n",
    );
    // The file is of `f32`, so that is what the scalar is.
    gives(&[&program, "--entry", "both", &numbers, "10.0"], "(3.0, [0.0, 5.0, 10.0, 15.0])");
    refuses(&["run", &program, "--entry", "both", &numbers, "true", "--device", "sim"], 1, "bool");
    prints(&["run", &made, "--entry", "grid", "3", "--device", "sim", "--output", &table]);
    assert_eq!(std::fs::read_to_string(&table).ok().as_deref(), Some("0,1\n10,11\n20,21\n"));
    gives(&[&program, "--entry", "columns", &table], "((3, 2), [0.0, 1.0, 10.0, 11.0, 20.0, 21.0])");
    prints(&["run", "examples/pum/mandelbrot.pum", "24", "--device", "cpu", "--output", &picture]);
    let text = prints(&["run", &program, "--entry", "columns", &picture, "--device", "sim"]);
    assert!(text.starts_with("((24, 24), [0.98"), "{text}");
    prints(&["run", "examples/pum/blur.pum", &picture, "--device", "cpu", "--output", &picture]);
    refuses(
        &["run", &program, "--entry", "id", &numbers, "--device", "sim", "--output", "x.txt"],
        2,
        "--output takes",
    );
    refuses(
        &["run", &program, "--entry", "both", &numbers, "1.0", "--device", "sim", "--output", &table],
        1,
        "one array",
    );
    refuses(
        &["run", &program, "--entry", "id", &file("broken.npy", "no"), "--device", "sim"],
        1,
        "no NumPy file",
    );
    refuses(
        &["run", &program, "--entry", "id", "no-such.csv", "--device", "sim"],
        1,
        "cannot read no-such.csv",
    );
}

#[test]
fn mistakes_in_arguments_are_told() {
    refuses(
        &["run", DOTP, "[1.0]"],
        2,
        "`main` takes 2 arguments, and 1 is given: main : Number a => [a] -> [a] -> a",
    );
    refuses(
        &["run", DOTP, "--entry", "no_such", "1"],
        2,
        "has no function `no_such`; it has dotp, norm, main",
    );
    refuses(&["run", DOTP, "[1.0]", "[true]", "--device", "sim"], 1, "command line:1:");
    refuses(&["run", DOTP, "[1.0", "[2.0]", "--device", "sim"], 1, "command line:1:");
    refuses(&["run", DOTP, "[1.0]", "[2.0]", "[3.0]", "--device", "sim"], 1, "command line");
    refuses(&["run", DOTP, "[1.0]", "[2.0]", "--device", "gpu"], 2, "there is no device `gpu`");
    refuses(&["run", "dotp", DOTP], 2, "the file comes first");
    let program = file("function.pum", "fun id x = x\n");
    refuses(&["run", &program, "--entry", "id"], 2, "`id` takes 1 argument, and 0 are given: id : a -> a");
    refuses(&["run", &program, "--entry", "id", "fn x => x", "--device", "sim"], 1, "`id` gives a function");
    let deep = "(".repeat(100_000);
    refuses(&["run", DOTP, &deep, "1", "--device", "sim"], 1, "error");
}

#[test]
fn failures_name_the_line() {
    let program = file("fails.pum", "fun main xs =\n  index xs 7 + 1\n");
    for device in ["sim", "cpu"] {
        refuses(&["run", &program, "[1, 2]", "--device", device], 1, "fails.pum:2\n");
    }
}

#[test]
fn the_cases_of_all_examples_hold() {
    let mut count = 0;
    for entry in
        std::fs::read_dir(repository().join("examples/pum")).unwrap_or_else(|error| panic!("{error}"))
    {
        let path = entry.unwrap_or_else(|error| panic!("{error}")).path();
        let name = path.to_string_lossy().into_owned();
        let text = prints(&["test", &name, "--device", "sim"]);
        assert!(text.ends_with(" passed, 0 failed\n") && !text.starts_with("0 "), "{name}: {text}");
        assert_eq!(prints(&["fmt", "--check", &name]), "");
        count += 1;
    }
    assert!(count > 5);
    // Without a device, on all that work here: the simulator is one.
    assert!(prints(&["test", DOTP]).ends_with(" passed, 0 failed\n"));
}

#[test]
fn the_cases_of_each_group_of_operations_hold_on_devices() {
    let folder = repository().join("crates/lang/tests/cases");
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}")) {
        let path = entry.unwrap_or_else(|error| panic!("{error}")).path();
        // A C compiler takes its time for each kernel: it is given those of some.
        let compiled = path.ends_with("combining.pum") || path.ends_with("control.pum");
        for device in ["sim"].into_iter().chain(compiled.then_some("cpu")) {
            let text = prints(&["test", &path.to_string_lossy(), "--device", device]);
            assert!(text.ends_with(" passed, 0 failed\n") && !text.starts_with("0 "), "{path:?}: {text}");
        }
    }
}

#[test]
fn cases_that_fail_are_shown() {
    let program = file(
        "cases.pum",
        "-- >>> 1 + 1\n-- 3\n-- >>> [ 1,2 ]\n-- [1,\n--  2]\n-- >>> 1.0\n-- 1\n-- >>> true + 1\n-- 2\nfun f x = x\n",
    );
    let text = refuses(&["test", &program, "--device", "sim"], 1, "");
    assert!(text.contains("cases.pum:1: 1 + 1 on sim\n  expected 3\n  found    2\n"), "{text}");
    assert!(text.contains("cases.pum:6: 1.0 on sim\n  expected 1\n  found    1.0\n"), "{text}");
    assert!(text.contains("cases.pum:8: true + 1 on sim\n  error"), "{text}");
    assert!(text.ends_with("1 passed, 3 failed\n"), "{text}");
}

#[test]
fn files_are_laid_out_in_place() {
    let name = file("layout.pum", "fun  f x=x+1 -- one more\n");
    let broken = file("broken.pum", "fun = 3\n");
    let text = refuses(&["fmt", "--check", &name], 1, "");
    assert!(text.ends_with("layout.pum is not formatted\n"), "{text}");
    assert!(std::fs::read_to_string(&name).is_ok_and(|text| text == "fun  f x=x+1 -- one more\n"));
    // One that is broken does not keep the other from it.
    refuses(&["fmt", &broken, &name], 1, "broken.pum:1:");
    assert!(std::fs::read_to_string(&name).is_ok_and(|text| text == "fun f x = x + 1 -- one more\n"));
    assert_eq!(prints(&["fmt", "--check", &name]), "");
    assert!(std::fs::read_to_string(&broken).is_ok_and(|text| text == "fun = 3\n"));
}

#[test]
fn functions_are_emitted_explained_and_simulated() {
    let marks = [
        ("array", "return a"),
        ("program", "kernel "),
        ("c", "void *const *args"),
        ("opencl", "__kernel "),
        ("cuda", "__global__ "),
    ];
    for (target, mark) in marks {
        for (name, entry) in [("dotp", "main"), ("reverse", "main"), ("reduce", "total")] {
            let file = format!("examples/pum/{name}.pum");
            let text = prints(&["emit", &file, "--entry", entry, "--target", target, "--size", "2048"]);
            assert!(text.contains(mark), "{name} as {target}:\n{text}");
        }
    }
    let text = prints(&["explain", DOTP, "--size", "1000"]);
    assert!(text.contains("b0, b1, 1000") && text.contains("// sum at examples/pum/dotp.pum:9"), "{text}");
    let text =
        prints(&["simulate", "examples/pum/transpose.pum", "16", "64", "32", "generate 2048 (fn i => i)"]);
    assert!(
        text.contains("kernel at examples/pum/transpose.pum:") && text.ends_with("without a race\n"),
        "{text}"
    );
    refuses(&["emit", DOTP], 2, "--target is missing");
    refuses(&["emit", DOTP, "--target", "ptx"], 2, "the targets are array, program, c, opencl, cuda");
    refuses(&["simulate", DOTP], 2, "takes 2 arguments");
}
