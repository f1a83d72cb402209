//! The `pumice` command as scripts see it: output, last lines and exit codes.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Returns the command, with a cache of its own.
fn pumice(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pumice"));
    command.args(arguments).env("PUMICE_CACHE_DIR", scratch("cache")).env_remove("PUMICE_DEVICE");
    command
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn run(arguments: &[&str]) -> Output {
    pumice(arguments).output().unwrap_or_else(|error| panic!("pumice cannot be started: {error}"))
}

/// Runs a command that must succeed, and returns its output.
fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?} ended with {}:\n{text}{errors}", output.status);
    text.into_owned()
}

/// Runs a command that must fail, and returns its exit code and messages.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn help_and_version() {
    for arguments in [&["--help"][..], &["help"], &["-h"]] {
        let text = stdout(arguments);
        assert!(text.contains("Usage: pumice <COMMAND>") && text.contains("PUMICE_DEVICE"), "{text}");
    }
    for arguments in [&["bench", "--help"][..], &["help", "bench"]] {
        let text = stdout(arguments);
        assert!(text.contains("Usage: pumice bench") && text.contains("--first-run"), "{text}");
    }
    for arguments in [&["--version"], &["version"], &["-V"]] {
        assert_eq!(stdout(arguments), format!("pumice {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn shells_and_man_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let text = stdout(&["completions", shell]);
        assert!(text.contains("selftest") && text.contains("hill-climb"), "{shell}: {text}");
    }
    assert!(stdout(&["man"]).contains(".TH pumice 1"));
    let folder = scratch("man");
    stdout(&["man", "--out", &folder.to_string_lossy()]);
    let page = std::fs::read_to_string(folder.join("pumice-cache-prune.1"));
    assert!(page.is_ok_and(|page| page.contains("used least recently")));
}

#[test]
fn doctor_names_every_device_and_the_cache() {
    let text = stdout(&["doctor"]);
    for name in ["cuda", "opencl", "cpu", "sim", "default", "nvrtc", "cache"] {
        // Alone, or with a number.
        let is_named = |line: &str| [' ', ':'].iter().any(|end| line.starts_with(&format!("{name}{end}")));
        assert!(text.lines().any(is_named), "{name} is missing:\n{text}");
    }
    assert!(text.contains("sim      usable: "), "{text}");
}

#[test]
fn doctor_says_what_is_wrong_with_compiler_and_cache() {
    let mut command = pumice(&["doctor"]);
    let file = scratch("not-a-folder");
    std::fs::write(&file, "").unwrap_or_else(|error| panic!("{error}"));
    command.env("PUMICE_CC", "no-such-compiler").env("PUMICE_CACHE_DIR", &file);
    let output = command.output().unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    // The simulator needs neither the compiler nor the cache.
    assert!(output.status.success(), "{text}");
    assert!(text.contains("cpu      not usable: ") && text.contains("no-such-compiler"), "{text}");
    let cache = text.split("\ncache ").nth(1).unwrap_or_default();
    assert!(cache.contains("memory only") && cache.contains("not-a-folder"), "{text}");
}

#[cfg(unix)]
#[test]
fn doctor_does_not_wait_for_a_compiler_that_hangs() {
    use std::os::unix::fs::PermissionsExt;
    let compiler = scratch("hanging-compiler");
    std::fs::write(&compiler, "#!/bin/sh\nsleep 600\n").unwrap_or_else(|error| panic!("{error}"));
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&compiler, runs).unwrap_or_else(|error| panic!("{error}"));
    let mut command = pumice(&["doctor"]);
    command.env("PUMICE_CC", &compiler).env_remove("PUMICE_COMPILE_SECONDS");
    let start = std::time::Instant::now();
    let output = command.output().unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(start.elapsed().as_secs() < 120 && output.status.success(), "{:?}: {text}", start.elapsed());
    assert!(text.contains("it did not end within 10s and was killed; PUMICE_COMPILE_SECONDS"), "{text}");
}

#[test]
fn every_example_is_emitted_for_every_target() {
    let marks = [
        ("array", "return a"),
        ("program", "kernel "),
        ("c", "void *const *args"),
        ("opencl", "__kernel "),
        ("cuda", "__global__ "),
    ];
    let names = ["dotp", "saxpy", "row_sums", "column_sums", "matrix_vector", "black_scholes", "mandelbrot"];
    for name in names {
        for (target, mark) in marks {
            let text = stdout(&["emit", name, "--target", target]);
            assert!(text.contains(mark), "{name} as {target}:\n{text}");
        }
        assert!(stdout(&["explain", name]).contains("launch "), "{name}");
    }
}

#[test]
fn plans_are_explained_drawn_and_timed() {
    let (svg, json) = (scratch("plan.svg"), scratch("plan.json"));
    let (svg, json) = (svg.to_string_lossy(), json.to_string_lossy());
    assert_eq!(stdout(&["explain", "dotp", "--svg", &svg, "--json", &json]), "");
    assert!(
        std::fs::read_to_string(&*svg)
            .is_ok_and(|text| text.starts_with("<svg ") && text.ends_with("</svg>\n"))
    );
    let text = std::fs::read_to_string(&*json).unwrap_or_default();
    let explained: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(explained["plans"][0]["kernels"][0]["operations"][0]["operation"], "zip_with");
    let text = stdout(&["explain", "dotp"]);
    assert!(text.contains("because it is a result") && text.contains("computes zip_with at "), "{text}");
    let text = stdout(&["explain", "dotp", "--run", "--device", "cpu", "--size", "100000"]);
    assert!(
        text.contains("GB/s") && text.contains("a run took ") && text.contains("the device: copies "),
        "{text}"
    );
    // Planning works for a size that no memory can hold.
    assert!(stdout(&["explain", "row_sums", "--size", "100000000"]).contains("f32[100000000, 100000000]"));
    assert_eq!(refused(&["explain", "dotp", "--run", "--target", "c"]).0, Some(2));
    assert_eq!(refused(&["explain", "dotp", "--device", "cpu"]).0, Some(2));
    let (code, message) = refused(&["explain", "dotp", "--svg", "/nonexistent/plan.svg"]);
    assert!(code == Some(1) && message.contains("cannot write /nonexistent/plan.svg"), "{message}");
}

#[test]
fn what_happens_is_logged_where_somebody_asks() {
    let logged = |level: &str| {
        let mut command = pumice(&["explain", "dotp", "--run", "--device", "sim", "--size", "100"]);
        let output = command.env("RUST_LOG", level).output().unwrap_or_else(|error| panic!("{error}"));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = logged("pumice=debug");
    for part in
        ["pumice::device: ", "pumice::plan: ", "pumice::compile: ", "pumice::transfer: ", "pumice::run: "]
    {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(!text.contains("pumice::queue") && logged("pumice=trace").contains("pumice::queue: "), "{text}");
    assert_eq!((logged("off"), logged("")), (String::new(), String::new()));
    assert!(logged("pumice=loud").contains("RUST_LOG"));
}

#[test]
fn sizes_change_the_plan() {
    assert!(stdout(&["explain", "saxpy", "--size", "1000"]).contains("1000 f32"));
    assert!(stdout(&["explain", "mandelbrot", "--size=100", "--target=c"]).contains("return [100, 100]"));
    assert_eq!(refused(&["explain", "saxpy", "--size", "-1"]).0, Some(2));
}

#[test]
fn black_scholes_computes_each_shared_value_once() {
    let text = stdout(&["emit", "black_scholes", "--target", "c"]);
    let kernel = text.split("\nvoid ").nth(1).unwrap_or_default();
    let calls = |function: &str| kernel.matches(&format!("{function}(")).count();
    // One logarithm and one root; an exponential for each of the two distributions and one for the discount.
    assert_eq!((calls("log_f32"), calls("sqrtf"), calls("exp_f32")), (1, 1, 3), "{text}");
}

#[test]
fn the_last_line_of_selftest_counts() {
    let text = stdout(&["selftest", "--device", "sim", "--filter", "elements::zips"]);
    let last = text.lines().last().unwrap_or_default();
    let (passed, rest) = last.split_once(" passed, ").unwrap_or_default();
    assert!(passed.parse::<usize>().is_ok_and(|passed| passed > 0) && rest == "0 failed", "{text}");
}

#[test]
fn kernels_are_compiled_without_a_device() {
    let output = run(&["selftest", "--compile-only", "cuda", "--filter", "elements::zips_of_two"]);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        assert!(text.ends_with("1 passed, 0 failed\n"), "{text}");
    } else {
        // Without NVRTC it says what it looked for.
        assert!(std::env::var("CI").as_deref() != Ok("true") && errors.contains("nvrtc"), "{text}{errors}");
    }
}

#[test]
fn bench_writes_rows() {
    let file = scratch("rows.json");
    let name = file.to_string_lossy();
    stdout(&["bench", "--quick", "--device", "cpu", "--filter", "dot", "--json", &name]);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
    let rows: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let row = &rows[0];
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{text}");
    assert_eq!((row["workload"].as_str(), row["device"].as_str()), (Some("dot f32"), Some("cpu")));
    assert_eq!(row["implementation"], "Pumice");
    assert_eq!((row["n"].as_u64(), row["fewest_bytes"].as_u64()), (Some(1 << 16), Some(8 << 16)));
    assert!(row["median_ms"].as_f64().is_some_and(|time| time > 0.0), "{text}");
    assert!(row["gb_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{text}");
}

/// Bytes may be missing if the rate is in operations.
#[test]
fn a_product_of_matrices_is_measured_in_operations() {
    let file = scratch("product.json");
    let name = file.to_string_lossy();
    let text = stdout(&["bench", "--quick", "--device", "cpu", "--filter", "matMul", "--json", &name]);
    assert!(text.contains(" GFLOP/s"), "{text}");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}"));
    let rows: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(rows[0]["gflop_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{text}");
    assert!(rows[0].get("gb_per_s").is_none(), "{text}");
}

#[test]
fn random_programs_run_in_children_and_are_counted() {
    let text = stdout(&["random", "--device", "sim", "--seed", "7", "--programs", "40"]);
    assert!(text.starts_with("random programs on sim, seed 7\n"), "{text}");
    assert!(text.contains("sim: 40 programs in ") && text.ends_with("\n40 passed, 0 failed\n"), "{text}");
    let text = stdout(&["random", "--device", "sim", "--seed", "7", "--run", "3..5"]);
    assert_eq!(text, "2 passed, 0 failed\n");
    let text = stdout(&["random", "--device", "sim", "--program", "arrays:0001020304"]);
    assert_eq!(text, "1 passed, 0 failed\n");
}

#[test]
fn shards_are_the_whole_suite() {
    let passed = |more: &[&str]| {
        let text = stdout(&[&["selftest", "--device", "sim", "--filter", "casts"], more].concat());
        let count = text
            .trim_end()
            .lines()
            .last()
            .and_then(|line| line.strip_suffix(" passed, 0 failed")?.parse().ok());
        count.unwrap_or_else(|| panic!("{text}"))
    };
    let whole: usize = passed(&[]);
    assert!(whole > 1);
    assert_eq!(passed(&["--shard", "1/2"]) + passed(&["--shard=2/2"]), whole);
    assert_eq!(passed(&["--unfused"]), whole);
}

#[test]
fn every_workload_gives_the_right_result() {
    let text = stdout(&["bench", "--quick", "--device", "cpu"]);
    for name in ["copy", "saxpy", "dot", "sum", "row sums", "black-scholes", "mandelbrot", "transpose"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} is missing:\n{text}");
    }
    assert!(text.contains("Pumice, fast math"), "{text}");
}

#[test]
fn programs_are_right_and_their_launches_are_counted() {
    let text = stdout(&["programs", "--quick", "--launches", "--device", "sim"]);
    let rows: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(rows.len() > 30, "{text}");
    let launches = |program: &str| {
        rows.iter().find(|row| row["program"] == program).and_then(|row| row["launches"].as_u64())
    };
    // One kernel draws and colours; another one computes all generations of a small board.
    assert_eq!((launches("Julia set"), launches("game of life")), (Some(1), Some(1)), "{text}");
    assert!(rows.iter().all(|row| row["kernel_bytes"].as_u64().is_some_and(|bytes| bytes > 0)), "{text}");
}

/// What is fused is nowhere: besides what goes in and comes out, a run has about a word per source.
#[test]
fn programs_need_little_more_memory_than_their_arguments_and_results() {
    for program in [
        "ragged matrix",
        "points of triangles",
        "TPC-H query 1",
        "TPC-H query 6",
        "breadth-first",
        "sparse matrix",
        "ray tracer",
    ] {
        let text = stdout(&["programs", "--launches", "--device", "cpu", "--filter", program]);
        let rows: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let bytes = |field: &str| rows[0][field].as_f64().unwrap_or(f64::NAN);
        let ratio = bytes("most_bytes") / bytes("least_bytes");
        assert!((1.0..1.2).contains(&ratio), "{program}: {ratio}");
    }
}

#[test]
fn a_table_of_programs_has_the_rows_of_other_machines() {
    let [ours, theirs] = ["programs.json", "others.json"].map(scratch);
    let [file, other] = [&ours, &theirs].map(|path| path.to_string_lossy().into_owned());
    let text = stdout(&["programs", "--quick", "--device", "cpu", "--filter", "Julia", "--json", &file]);
    assert!(text.starts_with("| program | size | MB in and out | launches on cpu |"), "{text}");
    let rows = std::fs::read_to_string(&ours).unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(&theirs, rows.replace("\"cpu\"", "\"cuda\"")).unwrap_or_else(|error| panic!("{error}"));
    let text = stdout(&["programs", "--with", &format!("{file},{other}")]);
    assert!(text.contains(" ms on cpu | launches on cuda |"), "{text}");
    let line = text.lines().last().unwrap_or_default();
    assert!(line.starts_with("| Julia set | 32x32 pixels | 0.0041 | 1 | 0.0041 | "), "{text}");
    assert_eq!(line.matches('|').count(), 12, "{text}");
    let (code, message) = refused(&["programs", "--with", "no-such-file.json"]);
    assert!(code == Some(1) && message.contains("cannot read"), "{code:?}: {message}");
}

#[test]
fn mistakes_on_the_command_line_end_with_2_and_say_what_there_is() {
    let wrong = |arguments: &[&str], part: &str| {
        let (code, message) = refused(arguments);
        assert!(code == Some(2) && message.contains(part), "{arguments:?} ended with {code:?}: {message}");
    };
    wrong(&[], "no command is given");
    wrong(&["frobnicate"], "unrecognized subcommand 'frobnicate'");
    wrong(&["chekc"], "a similar subcommand exists: 'check'");
    wrong(&["doctor", "--verbose"], "unexpected argument '--verbose'");
    wrong(&["selftest", "--device", "gpu"], "there is no device `gpu`; the devices are cuda");
    wrong(&["selftest", "--device", "sim:1"], "there is no device `sim:1`; the devices are sim");
    wrong(&["selftest", "--shard", "3/2"], "that is no part such as 1/2");
    wrong(&["random", "--program", "arrays:0g"], "hexadecimal digits");
    wrong(&["random", "--minutes", "many"], "for '--minutes <N>': that is no number of minutes");
    wrong(&["random", "--device", "gpu"], "there is no device `gpu`");
    wrong(&["selftest", "--filter", "no such case"], "no case has a name that contains");
    wrong(&["selftest", "--compile-only", "ptx"], "there is no target `ptx`");
    wrong(&["bench", "--device"], "a value is required for '--device <DEVICE>'");
    wrong(&["bench", "--device", "sim"], "has no speed");
    wrong(&["bench", "--device", "cpu", "--filter", "no such"], "copy f32");
    wrong(&["programs", "--device", "sim"], "has no speed");
    wrong(&["programs", "--device", "cpu", "--filter", "no such"], "no program has a name");
    wrong(&["emit"], "name an example");
    wrong(&["emit", "no_such", "--target", "c"], "black_scholes");
    wrong(&["emit", "reverse", "--target", "array"], "is written in the kernel language");
    wrong(&["simulate", "no_such"], "transposeTiled");
    wrong(&["simulate", "reverse", "--n", "many"], "invalid value 'many' for '--n <N>'");
    wrong(&["tune", "mapFusion"], "there is nothing to choose");
    wrong(&["tune", "sort", "--strategy", "guess"], "[possible values: exhaustive, random, hill-climb]");
    wrong(&["run", "reverse", "--n", "18446744073709551615"], "--n is at most");
    wrong(&["cache"], "Usage: pumice cache <COMMAND>");
    wrong(&["cache", "empty"], "unrecognized subcommand 'empty'");
    wrong(&["cache", "prune", "--bytes", "-1"], "for '--bytes <N>'");
    wrong(&["cache", "clear", "--bytes", "1"], "unexpected argument '--bytes'");
    wrong(&["emit", "dotp"], "--target is missing");
    wrong(&["emit", "dotp", "--target", "ptx"], "[possible values: array, program, c, opencl, cuda]");
    wrong(&["emit", "dotp", "saxpy", "--target", "c"], "one word too many");
    wrong(&["emit", "dotp", "--entry", "f", "--target", "c"], "--entry is for functions of `.pum` files");
    wrong(&["run", "reverse", "--output", "x.npy"], "--output is for functions of `.pum` files");
    wrong(&["run", "f.pum", "--n", "3"], "--n is for kernel-language programs");
    wrong(&["selftest", "--compile-only", "c", "--device", "cpu"], "cannot be used with");
}

#[test]
fn the_cache_is_shown_pruned_and_cleared() {
    let folder = scratch("own-cache");
    let _ = std::fs::remove_dir_all(&folder);
    let cache = |arguments: &[&str]| {
        let output = pumice(arguments).env("PUMICE_CACHE_DIR", &folder).env_remove("PUMICE_KERNELS").output();
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let text = cache(&["cache", "show"]);
    assert!(text.starts_with(&format!("folder     {}\nkernels    0, 0 bytes\n", folder.display())), "{text}");
    assert!(
        text.contains("limit      1073741824 bytes") && text.contains("in memory  1024 kernels"),
        "{text}"
    );
    for name in ["reverse", "sumGrid"] {
        cache(&["run", name, "--device", "cpu", "--n", "64"]);
    }
    std::fs::write(folder.join("mine.txt"), "text").unwrap_or_else(|error| panic!("{error}"));
    let text = cache(&["cache", "show"]);
    assert!(!text.contains("kernels    0,") && text.contains("last used  between "), "{text}");
    assert!(cache(&["cache", "prune"]).starts_with("kernels removed: 0 (0 bytes)\n"));
    let text = cache(&["cache", "prune", "--bytes", "20000"]);
    assert!(text.starts_with("kernels removed: ") && !text.starts_with("kernels removed: 0"), "{text}");
    let text = cache(&["cache", "clear"]);
    assert!(text.ends_with(": 0 kernels, 0.0 MB\n"), "{text}");
    assert!(folder.join("mine.txt").exists(), "a file that is not ours was removed");

    let off = pumice(&["cache", "show"]).env("PUMICE_CACHE_BYTES", "0").env("PUMICE_KERNELS", "few").output();
    let text = off.map(|off| String::from_utf8_lossy(&off.stdout).into_owned()).unwrap_or_default();
    assert!(text.starts_with("folder     none") && text.contains("PUMICE_KERNELS is `few`"), "{text}");
}

#[test]
fn a_file_that_cannot_be_written_is_a_failure() {
    let file = scratch("no-such-folder").join("rows.json");
    let (code, message) = refused(&[
        "bench",
        "--quick",
        "--device",
        "cpu",
        "--filter",
        "sum f32",
        "--json",
        &file.to_string_lossy(),
    ]);
    assert!(code == Some(1) && message.contains("cannot write"), "{code:?}: {message}");
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let mut child = pumice(&["emit", "black_scholes", "--target", "c"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{error}"));
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
