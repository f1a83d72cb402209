//! Commands on `.pum` files, as a user types them.

mod libraries;
mod repl;

use serde_json::{Value, json};
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn pumice(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pumice"));
    // Messages and results have paths as they are typed.
    command.args(arguments).current_dir(repository());
    command.env("PUMICE_CACHE_DIR", scratch("cache")).env_remove("PUMICE_DEVICE");
    command.env("PUMICE_LIBRARY", pumice_library());
    command.output().unwrap_or_else(|error| panic!("pumice cannot be started: {error}"))
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns Pumice as a static library, which cargo has built because these tests depend on it.
fn pumice_library() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_BIN_EXE_pumice")).with_file_name("deps");
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libpumice_library") && name.ends_with(".a")
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let changed = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    // Those of earlier builds may still be there.
    files.filter(is_library).max_by_key(changed).unwrap_or_default()
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Writes this text to a file of the test's own, and returns its name.
fn file(name: &str, text: impl AsRef<[u8]>) -> String {
    let path = scratch(name);
    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{error}"));
    path.to_string_lossy().into_owned()
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
fn prints(arguments: &[&str]) -> String {
    let output = pumice(arguments);
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?} ended with {}:\n{text}{errors}", output.status);
    text.into_owned()
}

/// Runs a command that must fail with this code and `part` on standard error, and returns its output.
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
    refuses(&["check"], 2, "<FILE.pum>");
}

#[test]
fn functions_run_with_expressions() {
    gives(&[DOTP, "[1.0, 2.0]", "[3.0, 4.0]"], "11.0");
    gives(&[DOTP, "--entry", "norm", "[3.0, 4.0]"], "5.0");
    gives(&[DOTP, "[1, 2]", "map (fn x => -x) [3, 4] -- a comment"], "-11");
    gives(&["examples/pum/reverse.pum", "[1, 2, 3, 4, 5, 6, 7, 8]"], "[8, 7, 6, 5, 4, 3, 2, 1]");
    gives(&["examples/pum/transpose.pum", "1", "3", "2", "[1, 2, 3, 4, 5, 6]"], "[1, 4, 2, 5, 3, 6]");
    gives(&["examples/pum/reduce.pum", "2048"], "2096128");
    gives(&[DOTP, "--block-size", "64", "[-1]", "[2]"], "-2");
    gives(&["examples/pum/memory.pum", "[0, 1, 1, 3]"], "[1, 2, 0, 1]");
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
    // The elements of the file are `f32`, so the scalar is one too.
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
    refuses(&["run", &program, "--entry", "id", "fn x => x", "--device", "sim"], 1, "gives a function");
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
        if path.extension().is_none_or(|kind| kind != "pum") {
            continue;
        }
        let name = path.to_string_lossy().into_owned();
        for device in ["sim", "semantics"] {
            let text = prints(&["test", &name, "--device", device]);
            assert!(
                text.ends_with(" passed, 0 failed\n") && !text.starts_with("0 "),
                "{name} on {device}: {text}"
            );
        }
        assert_eq!(prints(&["fmt", "--check", &name]), "");
        count += 1;
    }
    assert!(count > 5);
    // Without `--device`, on all devices that work here, among them the simulator.
    assert!(prints(&["test", DOTP]).ends_with(" passed, 0 failed\n"));
}

#[test]
fn the_cases_of_each_group_of_operations_hold_on_devices() {
    let folder = repository().join("crates/lang/tests/cases");
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}")) {
        let path = entry.unwrap_or_else(|error| panic!("{error}")).path();
        // A C compiler takes long for each kernel, so it gets only some of the files.
        let compiled = path.ends_with("combining.pum") || path.ends_with("control.pum");
        for device in ["sim"].into_iter().chain(compiled.then_some("cpu")) {
            let text = prints(&["test", &path.to_string_lossy(), "--device", device]);
            assert!(text.ends_with(" passed, 0 failed\n") && !text.starts_with("0 "), "{path:?}: {text}");
        }
    }
}

#[test]
fn costs_are_printed_by_level_and_by_line() {
    let program = file(
        "cost.pum",
        "fun main n =\n  push <block> (generate n (fn i =>\n    i * i))\nfun last xs = index xs 7\n",
    );
    let text = prints(&["cost", &program, "3"]);
    // Three multiplications, and three elements that are written, side by side.
    assert!(text.starts_with("[0, 1, 4]\n\n2 parallel steps, 6 steps of all threads, "), "{text}");
    assert!(text.contains("cost.pum:2 block ") && text.contains("cost.pum:3 block "), "{text}");
    let text = prints(&["cost", &program, "3", "--json"]);
    let json: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!((&json["result"], &json["steps"], &json["work"]), (&"[0, 1, 4]".into(), &2.into(), &6.into()));
    let block = &json["levels"][0];
    assert_eq!(
        (&block["level"], &block["written"], &block["idle"]),
        (&"block".into(), &3.into(), &253.into())
    );
    assert_eq!((&json["lines"][1]["line"], &json["lines"][1]["work"]), (&3.into(), &3.into()));
    let numbers = file("numbers.csv", "1\n2\n");
    refuses(&["cost", &program, "--entry", "last", &numbers], 1, "index 7 is out of bounds of 2 elements");
    refuses(&["cost", &program, "--entry", "last", "fn x => x"], 1, "command line:1:");
    refuses(&["cost", &program, "--entry", "last"], 2, "`last` takes 1 argument, and 0 are given");
    refuses(&["cost", &program, "1000000000"], 1, "try it with smaller arrays");
}

#[test]
fn the_simulators_report_names_lines_of_the_file() {
    // Kernels with levels, and kernels that planning makes of each array operation.
    let program = file(
        "places.pum",
        "fun squares n = generate2 n n (fn i j =>\n  i * j)\n\
         fun ordered xs =\n  [ x * y\n  | x <- xs, y <- 0..x\n  , y > 1\n  , let z = x + y\n  , order by z descending\n  , take 3 ]\n\
         fun blocks xs =\n  splitUp 2 xs\n  |> map (fn part => push <block> (reverse (force (push <block> part))))\n  |> concat 2\n\
         fun prime n = whileLoop (fn d => d * d <= n && n mod d != 0) (fn d => d + 1) 2\n\
         fun main xs =\n  ( (sum (zipWith (fn x y => x * y) xs xs), scan (+) 0 xs, sort xs, filter (fn x => x > 1) xs)\n  \
         , (histogram 5 xs, ordered xs, matmul (squares 4) (squares 4), reduceRows (+) 0 (squares 3))\n  \
         , (iterate 3 (map (fn x => x * 2)) xs, iterateWhile (fn xs => sum xs < 99) (map (fn x => x * 2)) xs)\n  \
         , (permute (+) xs [(0, 1)], expand (fn x => x) (fn x i => i) xs, append xs xs, map prime xs)\n  \
         , (blocks xs, push <grid> (map (fn x => x + 1) xs), transpose2 (squares 3), minimum xs)\n  \
         , if sum xs > 3 then sort xs else map (fn x => x + 1) xs\n  \
         , sortByKey (fn x => 0 - x) (force (blocks xs)) )\n",
    );
    let text = prints(&["simulate", &program, "[1, 2, 3, 4]"]);
    let places: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" | ").map(|(place, _)| place.trim()))
        .filter(|place| !["", "place", "total"].contains(place))
        .collect();
    assert!(places.len() > 25, "{text}");
    for place in places {
        assert!(place.contains("places.pum:") || place.contains("command line:1"), "`{place}` in\n{text}");
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
fn several_files_are_checked_and_tested() {
    let wrong = file("several.pum", "fun f = 1 + true\n");
    let text = refuses(&["check", &wrong, DOTP], 1, "several.pum:1:13");
    assert!(text.starts_with("-- examples/pum/dotp.pum\ndotp : "), "{text}");
    let text = refuses(
        &["test", DOTP, &wrong, "examples/pum/reverse.pum", "--device", "sim"],
        1,
        "several.pum:1:13",
    );
    assert_eq!(text, "5 passed, 1 failed\n");
}

#[test]
fn check_tells_tools_where_things_are() {
    let wrong = file("tools.pum", "fun f = 1\nfun g = 1 + true\n");
    let text = refuses(&["check", "--json", DOTP, &wrong, "no-such.pum"], 1, "");
    let found: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let norm = &found["files"][0]["functions"][1];
    assert_eq!((norm["name"].as_str(), norm["type"].as_str()), (Some("norm"), Some("Float a => [a] -> a")));
    let error = &found["files"][1]["errors"][0];
    assert_eq!(error["place"]["start"], json!({ "line": 2, "column": 13 }));
    assert_eq!(error["place"]["end"], json!({ "line": 2, "column": 17 }));
    assert_eq!(error["help"], "`bool` is not a number");
    let message = found["files"][2]["errors"][0]["message"].as_str();
    assert!(message.is_some_and(|message| message.contains("cannot read")), "{text}");
}

const TIMED: &str = "\
-- bench: dotp (generate 1000 (fn i => f32 i)) (generate 1000 (fn i => 1.0f32))
-- bench: scale 2.0 { on = true, xs = [1.0, 2.0] }
sig dotp : Number a => [a] -> [a] -> a
fun dotp xs ys = sum (zipWith (fn x y => x * y) xs ys)
sig scale : f64 -> { on : bool, xs : [f64] } -> [f64]
fun scale k p = map (fn x => if p.on then x * k else x) p.xs
sig reversed : int -> [a] -> [a]<grid>
fun reversed chunk xs = splitUp chunk xs |> map (push <block> . reverse) |> reverse |> concat chunk
fun threads xs = push <grid> (map (fn x => x + #BlockSize) xs)
";

#[test]
fn calls_are_timed_with_arguments_that_lie_on_the_device() {
    let (program, rows) = (file("timed.pum", TIMED), scratch("timed.json"));
    let json = rows.to_string_lossy();
    prints(&["bench", &program, "--quick", "--device", "cpu", "--json", &json]);
    let text = std::fs::read_to_string(&rows).unwrap_or_else(|error| panic!("{error}"));
    let rows: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let facts = |row: &Value| ["line", "argument_bytes", "result_bytes"].map(|key| row[key].as_u64());
    assert_eq!(facts(&rows[0]), [Some(1), Some(8000), Some(4)], "{text}");
    assert_eq!(facts(&rows[1]), [Some(2), Some(16), Some(16)], "{text}");
    assert!(rows[0]["median_ms"].as_f64().is_some_and(|time| time > 0.0), "{text}");
    // Without arguments they are zeros of a size; with a filter only some are timed.
    let text = prints(&["bench", &program, "--quick", "--device", "cpu", "--entry", "dotp", "--size", "500"]);
    assert!(text.contains("0.008 MB") && text.lines().count() == 3, "{text}");
    assert_eq!(
        prints(&["bench", &program, "--quick", "--device", "cpu", "--filter", "scale"]).lines().count(),
        3
    );
    refuses(
        &["bench", "examples/pum/reverse.pum", "--device", "cpu"],
        2,
        "no call to time; write `-- bench: f arguments`",
    );
    refuses(&["bench", &program, "--device", "sim"], 2, "has no speed");
    file(
        "signs.pum",
        "type Sign a = Plus a | Minus a\nfun signed x = if x < 0 then Minus (0 - x) else Plus x\n",
    );
    let sums = file(
        "timed-sums.pum",
        "import signs (Plus, Minus, signed)\n-- bench: total (map signed [1i32, -2i32])\n\
         fun total xs = sum (map (fn s => case s of | Plus x => x | Minus x => x) xs)\n",
    );
    let text = prints(&["bench", &sums, "--quick", "--device", "cpu"]);
    assert!(text.lines().nth(2).is_some_and(|line| line.starts_with("total (map signed")), "{text}");
    let broken = file("timed-wrong.pum", "-- bench: f y\nfun f x = x\n");
    let text = refuses(&["bench", &broken, "--quick", "--device", "cpu"], 1, "");
    assert!(text.contains("FAILED ") && text.contains("call in line 1:1:3"), "{text}");
}

#[test]
fn the_block_size_that_is_found_is_used_from_then_on() {
    let program = file("tuned.pum", TIMED);
    let numbers = "generate 1024 (fn i => i)";
    let text = prints(&[
        "tune",
        &program,
        "--device",
        "cpu",
        "--entry",
        "reversed",
        "--vary",
        "chunk=64,128",
        numbers,
    ]);
    assert!(text.contains("#BlockSize=32 chunk=128") && text.contains("#BlockSize is kept in "), "{text}");
    // The only block size that can be found.
    prints(&["tune", &program, "--device", "cpu", "--entry", "threads", "--block-size", "48", "[1]"]);
    let run = ["run", &program, "--device", "cpu", "--entry", "threads", "[1]"];
    assert_eq!(prints(&run), "[49]\n");
    assert_eq!(prints(&[&run[..], &["--block-size", "128"]].concat()), "[129]\n");
    refuses(
        &["tune", &program, "--device", "cpu", "--entry", "dotp", "[1]", "[2]"],
        2,
        "nothing to choose about `dotp`",
    );
    refuses(
        &["tune", &program, "--device", "cpu", "--entry", "reversed", "--vary", "c=1", "[1]"],
        2,
        "its parameters are chunk, xs",
    );
    refuses(
        &["tune", &program, "--device", "cpu", "--entry", "reversed", "--vary", "chunk=1"],
        2,
        "takes 2 arguments",
    );
}

#[test]
fn documentation_is_a_page_for_each_file() {
    file("plane.pum", "-- What is flat.\n\nfun area w h = w * h\n");
    let main = file("documented.pum", "import plane\n-- Twice <as> much.\nfun main x = plane::area x 2\n");
    let folder = scratch("pages");
    let text = prints(&["doc", &main, "--out", &folder.to_string_lossy()]);
    assert_eq!(text.lines().count(), 2, "{text}");
    let page =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
    assert!(page("plane.html").contains("<p>What is flat.</p>"));
    let text = page("documented.html");
    assert!(text.contains("<a href=\"plane.html\">") && text.contains("Twice &lt;as&gt; much."), "{text}");
    assert_eq!(prints(&["doc", &main]), text);
    assert!(prints(&["doc", "--prelude"]).contains("<section id=\"fun.zipWith\">"));
    refuses(&["doc"], 2, "<FILE.pum>");
    refuses(&["doc", "--prelude", &main], 2, "cannot be used with");
}

#[test]
fn files_are_laid_out_in_place() {
    let name = file("layout.pum", "fun  f x=x+1 -- one more\n");
    let broken = file("broken.pum", "fun = 3\n");
    let text = refuses(&["fmt", "--check", &name], 1, "");
    assert!(text.ends_with("layout.pum is not formatted\n"), "{text}");
    assert!(std::fs::read_to_string(&name).is_ok_and(|text| text == "fun  f x=x+1 -- one more\n"));
    // An error in one file does not stop the other.
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
    assert!(text.contains("b0, b1, 1000") && text.contains("// sum at examples/pum/dotp.pum:10"), "{text}");
    let text =
        prints(&["simulate", "examples/pum/transpose.pum", "16", "64", "32", "generate 2048 (fn i => i)"]);
    assert!(
        text.contains("kernel at examples/pum/transpose.pum:") && text.ends_with("without a race\n"),
        "{text}"
    );
    refuses(&["emit", DOTP], 2, "--target is missing");
    refuses(&["emit", DOTP, "--target", "ptx"], 2, "[possible values: array, program, c, opencl, cuda]");
    refuses(&["simulate", DOTP], 2, "takes 2 arguments");
}

/// Returns the kernels of a program for its arrays, without their names and source places.
fn kernels(program: pumice::layers::array::ArrayProgram) -> Vec<String> {
    let compiled = pumice::Compiler::on("sim").and_then(|compiler| compiler.compile_program(program));
    let plans = compiled.and_then(|program| program.foresee(&Default::default()));
    let plans = plans.unwrap_or_else(|error| panic!("{error}"));
    let launches = plans.iter().flat_map(|found| match &found.plan {
        Ok(plan) => plan.launches().map(|launch| launch.program.to_string()).collect::<Vec<_>>(),
        Err(error) => panic!("{error}"),
    });
    let plain = |text: String| {
        let line = |line: &str| match line.split_once("//") {
            Some((code, _)) => code.trim_end().to_string(),
            None => line.to_string(),
        };
        let lines = text.lines().map(line).filter(|line| !line.is_empty() && !line.starts_with("kernel "));
        lines.collect::<Vec<_>>().join("\n")
    };
    launches.map(plain).collect()
}

#[track_caller]
fn same_kernels<T: pumice::Elt>(text: &str, rust: pumice::Acc<pumice::Vector<T>>) {
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let program = pumice_lang::program::Program::load("test.pum", text, &none);
    let program = std::sync::Arc::new(program.map_err(|_| ()).expect("it is read"));
    let checked =
        pumice_lang::types::check(&program).map_err(|errors| errors[0].render(&program.sources, false));
    let checked = std::sync::Arc::new(checked.unwrap_or_else(|error| panic!("{error}")));
    let entry = checked.entry("it").expect("there is `it`");
    let compiled = pumice_lang::evaluate::compile(&program, &checked, entry, &[], Default::default());
    let compiled = compiled.unwrap_or_else(|error| panic!("{}", error.render(&program.sources, false)));
    let (own, rust) = (
        kernels(compiled.program),
        kernels(pumice::layers::array::ArrayProgram::of(&[rust.described().clone()])),
    );
    assert!(!own.is_empty());
    assert_eq!(own.len(), rust.len(), "{text}");
    for (own, rust) in own.iter().zip(&rust) {
        let differs = own.lines().zip(rust.lines()).find(|(own, rust)| own != rust);
        assert_eq!(differs, None, "{text}");
        assert_eq!(own.lines().count(), rust.lines().count(), "{text}");
    }
}

#[test]
fn comprehensions_have_the_kernels_that_rust_makes_of_them() {
    use pumice::prelude::*;
    same_kernels(
        "fun it = [ (x, y, z) | x <- 1..30, y <- x..30, z <- y..x + y, z < 30, x * x + y * y == z * z ]",
        comp![(x, y, z) | x <- 1..30, y <- x..30, z <- y..x + y, z < 30, x * x + y * y == z * z],
    );
    let rows = use_([(0i64, 2i64), (2, 2), (2, 3)]);
    let entries = use_([(0i64, 1.0f64), (2, 2.0), (1, 3.0)]);
    let xs = use_([1.0f64, 10.0, 100.0]);
    same_kernels(
        "fun times rows entries xs =\n  [ sum [ v * index xs column | (column, v) <- slice a b entries ] | (a, b) <- rows ]\n\
         fun it = times [(0, 2), (2, 2), (2, 3)] [(0, 1.0), (2, 2.0), (1, 3.0)] [1.0, 10.0, 100.0]",
        comp![sum![v * xs[column] | (column, v) <- entries[a..b]] | (a, b) <- rows],
    );
    let (offsets, neighbours) = (use_([0i64, 1, 3, 4, 4]), use_([1i64, 0, 2, 1]));
    let found = use_([0i64, 9, 9, 9]);
    let claims = comp![
        (v, x + 1) | u <- 0.. | x <- found, x == 0, v <- neighbours[offsets[u]..offsets[u + 1]]
    ];
    same_kernels(
        "fun step offsets neighbours found =\n  permute min found\n    [ (v, x + 1)\n    | u <- 0..length found | x <- found, x == 0,\n      \
               v <- slice (index offsets u) (index offsets (u + 1)) neighbours ]\n\
         fun it = step [0, 1, 3, 4, 4] [1, 0, 2, 1] [0, 9, 9, 9]",
        claims.permute_pairs(|new, old| new.min(old), found.clone()),
    );
}

/// Writes a message of the Language Server Protocol.
fn say(to: &mut impl std::io::Write, message: serde_json::Value) {
    let text = message.to_string();
    write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap_or_else(|error| panic!("{error}"));
    to.flush().unwrap_or_else(|error| panic!("{error}"));
}

/// Reads a message of the protocol.
fn hear(from: &mut impl std::io::BufRead) -> serde_json::Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap_or_else(|error| panic!("{error}"));
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().unwrap_or_else(|error| panic!("{error}")),
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn lsp_serves_an_editor() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pumice"));
    command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).env("PUMICE_CACHE_DIR", scratch("cache"));
    let mut server = command.spawn().unwrap_or_else(|error| panic!("pumice cannot be started: {error}"));
    let (mut to, mut from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    say(
        &mut to,
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
    );
    assert_eq!(hear(&mut from)["result"]["serverInfo"]["name"], "pumice");
    say(&mut to, json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    let document =
        json!({ "uri": "file:///wrong.pum", "languageId": "pum", "version": 1, "text": "fun f = 1 + true" });
    let open =
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } });
    say(&mut to, open);
    let told = hear(&mut from);
    assert_eq!(told["method"], "textDocument/publishDiagnostics");
    assert_eq!(told["params"]["diagnostics"][0]["range"]["start"], json!({ "line": 0, "character": 12 }));
    say(&mut to, json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }));
    assert_eq!(hear(&mut from)["id"], 2);
    say(&mut to, json!({ "jsonrpc": "2.0", "method": "exit" }));
    let status = server.wait().unwrap_or_else(|error| panic!("{error}"));
    assert!(status.success(), "{status}");
}
