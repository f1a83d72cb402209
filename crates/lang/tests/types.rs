//! Programs that must have types, with these, and programs that must not, with their messages. A file of `tests/types` has parts
//! that begin with a line `-- accept: what it shows` or `-- refuse: words of the message`; each part is a program.

use pumice_lang::program::Program;
use pumice_lang::types;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

fn alone(_: &str) -> Result<String, String> {
    Err("this program is alone".to_string())
}

/// The types of a program's functions, or the messages.
fn answer(text: &str) -> Result<String, String> {
    let program = Program::load("test.pum", text, &alone).map_err(|(sources, errors)| {
        errors.iter().map(|error| error.render(&sources, false)).collect::<Vec<_>>().join("\n\n")
    })?;
    match types::check(&program) {
        Ok(checked) => {
            let show = |id| format!("{} : {}\n", checked.function(id).0.name.name, checked.scheme(id));
            Ok(checked.own_functions().map(show).collect())
        }
        Err(errors) => Err(errors
            .iter()
            .map(|error| error.render(&program.sources, false))
            .collect::<Vec<_>>()
            .join("\n\n")),
    }
}

/// The parts of a file: whether it is to be accepted, the words, and the program.
fn parts(text: &str) -> Vec<(bool, &str, String)> {
    let mut parts: Vec<(bool, &str, String)> = Vec::new();
    for line in text.lines() {
        let head = line.strip_prefix("-- accept: ").map(|words| (true, words));
        let head = head.or_else(|| line.strip_prefix("-- refuse: ").map(|words| (false, words)));
        match (head, parts.last_mut()) {
            (Some((accept, words)), _) => parts.push((accept, words.trim(), String::new())),
            (None, Some((_, _, program))) => *program += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    parts
}

#[test]
fn programs_are_accepted_and_refused_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pum"));
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = String::new();
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut shown = String::new();
        for (accept, words, program) in parts(&text) {
            let answer = answer(&program);
            let (kind, text) = match &answer {
                Ok(text) => ("accept", text),
                Err(text) => ("refuse", text),
            };
            let _ = writeln!(shown, "-- {kind}: {words}\n{}\n", text.trim_end());
            if accept != answer.is_ok() {
                let _ = writeln!(wrong, "{name}: {words}: is not so\n{program}\n{text}");
            }
            if !accept && answer.as_ref().is_err_and(|text| !text.contains(words)) {
                let _ = writeln!(wrong, "{name}: the message does not say: {words}\n{program}\n{text}");
            }
        }
        insta::with_settings!({ snapshot_path => "types", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, shown);
        });
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A program of so many lines: functions of a few lines, some with signatures, that use those before them.
fn generated(lines: usize) -> String {
    let mut text = String::from("type Point = { x : f64, y : f64 }\ntype Option a = None | Some a\n");
    for number in 0.. {
        if text.lines().count() >= lines {
            break;
        }
        // Counting lines after every function would take longer than checking them.
        for at in number * 100..number * 100 + 100 {
            let before = if at == 0 { 0 } else { at - 1 };
            let _ = write!(
                text,
                "sig norms{at} : [Point] -> [f64]
fun norms{at} ps =
  let n = length ps
      at i = index ps (n - i - 1)
  in generate n (fn i => let p = at i in sqrt (p.x * p.x + p.y * p.y))

fun total{at} f xs ys =
  let pairs = zipWith (fn x y => (f x, y)) xs ys
      weight (x, y) = x * y + 1
  in pairs |> map weight |> sum |> fn s => if s < 0 then -s else s

fun kernel{at} <l> chunk xs =
  splitUp chunk xs
  |> map (fn part => push <l> (reverse part))
  |> concat chunk

fun find{at} p xs =
  case filter p xs |> length of
  | 0 => None
  | n => Some (total{before} (fn x => x + 1) (norms{before} [{{ x = 1.0, y = 2.0 }}]) [double n])
"
            );
        }
    }
    text
}

/// Returns the CPU time of this thread, or, where the system does not say, the time since `since`.
fn computed(since: Instant) -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = statistics.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

#[test]
fn twenty_thousand_lines_are_checked_quickly() {
    let program = Program::load("test.pum", &generated(20_000), &alone).unwrap();
    let begin = Instant::now();
    let before = computed(begin);
    let checked = types::check(&program);
    let took = computed(begin) - before;
    assert!(checked.is_ok(), "{}", checked.err().unwrap()[0].render(&program.sources, false));
    println!("{} expressions in {took:?}", program.expressions);
    // A release build checks five times as many in less than a second. Tests are hardly optimised, and share the processor with others.
    assert!(took.as_secs_f64() < 1.0, "{took:?}");
}

#[test]
fn nothing_takes_long_or_overflows_the_stack() {
    let nested = |open: &str, close: &str| format!("fun f x = {}x{}", open.repeat(190), close.repeat(190));
    let chains = [
        format!("fun f x = [{}]", vec!["unknown"; 50_000].join(",\n  ")),
        format!("fun f x = [{}]", vec!["1 + true"; 50_000].join(",\n  ")),
        format!("fun f x = ({})", vec!["fn y => y.a"; 20_000].join(",\n  ")),
        format!("type A = {{ a : int }}\nfun f x = ({})", vec!["(fn y => y.a) x"; 5_000].join(", ")),
        format!("type A = {{ a : int }}\nfun f x = [{}]", vec!["let g = fn y => y.a in g"; 5_000].join(", ")),
        nested("fn y => ", ""),
        nested("fn <l> => ", ""),
        nested("let y = x in ", ""),
        nested("let y = ", " in y"),
        nested("let g y = ", " in g x"),
        nested("if x then x else ", ""),
        nested("case x of | y => ", ""),
        nested("[ y | y <- ", " ]"),
        nested("{ a = ", " }"),
        nested("(x, ", ")"),
        nested("map (fn y => ", ") [x]"),
        nested("concat 1 [force (push <block> ", ")]"),
        format!("fun f x = {}", vec!["x"; 900].join(" + ")),
        format!("fun f x g = x{}", " |> g".repeat(900)),
        format!("fun f g = {}", vec!["g"; 900].join(" . ")),
        format!("fun f x = {}x", "- ".repeat(150)),
        format!("fun f x = {}x{}", "(".repeat(190), ")".repeat(190)),
        format!("fun f x = {}x{}", "[".repeat(190), "]".repeat(190)),
        format!("fun f x = x{}", ".a".repeat(900)),
        format!("fun f g = g{}", " 1".repeat(900)),
        format!("sig f : {}int\nfun f = f", "int -> ".repeat(900)),
        format!("fun f{} = 1", (0..900).map(|number| format!(" x{number}")).collect::<String>()),
        format!(
            "fun f x = let {} in x",
            (0..1000).map(|number| format!("x{} = [x{number}]", number + 1)).collect::<Vec<_>>().join("; ")
        ),
        format!(
            "fun f x0 = let {} in x",
            (0..1000).map(|number| format!("x{} = [x{number}]", number + 1)).collect::<Vec<_>>().join("; ")
        ),
        format!(
            "fun f x0 = let {} in x9",
            (0..1000)
                .map(|number| format!("x{} = (x{number}, x{number})", number + 1))
                .collect::<Vec<_>>()
                .join("; ")
        ),
        format!(
            "fun f0 x = x\n{}",
            (0..1000)
                .map(|number| format!("fun f{} x = (f{number} x, f{number} x)\n", number + 1))
                .collect::<String>()
        ),
        format!("fun f x = {}x{}", "(fn y => (y, y)) (".repeat(150), ")".repeat(150)),
        format!(
            "type T0 = (int, int)\n{}fun f x = (x : T999)",
            (0..999)
                .map(|number| format!("type T{} = (T{number}, T{number})\n", number + 1))
                .collect::<String>()
        ),
        format!(
            "type T0 = A0 int | B0\n{}fun f x = (x : T999) == x",
            (0..999)
                .map(|number| format!("type T{0} = A{0} T{number} T{number} | B{0}\n", number + 1))
                .collect::<String>()
        ),
        format!(
            "fun f x = case x of {}",
            (0..300)
                .map(|number| format!("| ({number}, _, true)"))
                .map(|arm| format!("{arm} => 1 "))
                .collect::<String>()
        ),
        format!(
            "fun f p = case p of {} | _ => 1",
            (0..16)
                .map(|at| format!(
                    "| ({}) => 1",
                    (0..16).map(|part| if part == at { "true" } else { "_" }).collect::<Vec<_>>().join(", ")
                ))
                .collect::<Vec<_>>()
                .join(" ")
        ),
        (0..2000).map(|number| format!("fun f{number} x = f{} x\n", (number + 1) % 2000)).collect(),
    ];
    for text in chains {
        let begin = Instant::now();
        let outcome = answer(&text);
        let took = begin.elapsed();
        let start: String = text.chars().take(60).collect();
        println!("{took:?} {} {start}", outcome.is_ok());
        // What is exponential takes for ever; what is not takes longer beside other work.
        assert!(took.as_secs_f64() < 30.0, "{took:?} for {start}");
    }
}
