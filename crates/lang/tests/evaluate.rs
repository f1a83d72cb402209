//! Programs of the language, run by the interpreter of the array language and the simulator: what expressions mean. The evaluator of
//! `meaning/` must agree on every one of them.

mod costs;
mod kernels;
mod typed;

use pumice_array::{ArrayData, CheckedProgram, HostData, interpret};
use pumice_lang::additions::{Additions, Given};
use pumice_lang::cases::cases;
use pumice_lang::evaluate::{Options, compile};
use pumice_lang::meaning::{self, MeaningOptions};
use pumice_lang::program::{EXPRESSION, Expression, LIBRARY, Program, STANDARD};
use pumice_lang::show::show;
use pumice_lang::types::{Size, Type, check};
use pumice_scalar::{Constant, Op, ScalarType};
use std::collections::HashMap;
use std::sync::Arc;

/// Evaluates an expression in a program, or returns the error.
fn value(program: &str, expression: &str) -> Result<String, String> {
    value_of(&format!("{program}\nfun it = {expression}\n"))
}

/// Evaluates `it` in a program, or returns the error. The two evaluators must agree.
fn value_of(text: &str) -> Result<String, String> {
    let read = |name: &str| match name {
        "shapes" => Ok(typed::SHAPES.to_string()),
        _ => Err(format!("there is no `{name}`")),
    };
    let rendered = |sources: &pumice_lang::source::Sources,
                    errors: &[pumice_lang::diagnostic::Diagnostic]| {
        errors.iter().map(|error| error.render(sources, false)).collect::<Vec<_>>().join("\n")
    };
    let program =
        Program::load("test.pum", text, &read).map_err(|(sources, errors)| rendered(&sources, &errors))?;
    let checked = check(&program).map_err(|errors| rendered(&program.sources, &errors))?;
    let (program, checked) = (Arc::new(program), Arc::new(checked));
    let entry = checked.entry("it").ok_or("no `it`")?;
    let options = Options { block_size: 32, ..Options::default() };
    let compiled = compile(&program, &checked, entry, &[], options)
        .map_err(|error| rendered(&program.sources, &[error]))?;
    let array_program = CheckedProgram::new(compiled.program).map_err(|error| error.to_string())?;
    let results = interpret(&array_program, &HashMap::new(), &[]).map_err(|error| error.to_string());
    let shown = |ty: &Type, results: Vec<HostData>| {
        let results: Vec<Arc<dyn ArrayData>> = results.into_iter().map(|data| Arc::new(data) as _).collect();
        show(ty, &results, checked.sums()).map_err(|error| error.to_string())
    };
    let found = results.and_then(|results| shown(&compiled.result, results));
    let meant = meaning::evaluate(
        &program,
        &checked,
        entry,
        &[],
        MeaningOptions { block_size: 32, ..Default::default() },
    );
    match (&found, meant) {
        (Ok(found), Ok(meant)) => {
            assert_eq!(*found, shown(&meant.result, meant.arrays)?, "the two evaluators differ on {text}");
        }
        // Expressions whose value depends on a device have no meaning in the semantics.
        (Ok(_), Err(error)) if error.message.contains("has no meaning in the semantics") => {}
        (Ok(_), Err(error)) => {
            panic!("{text} has no meaning: {}", error.render(&program.sources, false))
        }
        // A program that fails when it runs has no meaning.
        (Err(error), Ok(_)) => panic!("{text} has a meaning, and fails: {error}"),
        (Err(_), Err(_)) => {}
    }
    found
}

#[track_caller]
fn is(program: &str, expression: &str, expected: &str) {
    match value(program, expression) {
        Ok(found) => assert_eq!(found, expected, "{expression}"),
        Err(error) => panic!("{expression}:\n{error}"),
    }
}

#[test]
fn numbers() {
    is("", "1 + 2 * 3", "7");
    is("", "7 / 2", "3");
    is("", "7.0 / 2.0", "3.5");
    is("", "(1, true, 2.5f32)", "(1, true, 2.5)");
    is("", "if 1 < 2 then 10 else 20", "10");
    is("fun twice f x = f (f x)", "twice (fn x => x * x) 3", "81");
    is("fun fact n = if n == 0 then 1 else n * fact (n - 1)", "fact 10", "3628800");
    is("", "let f x = x + 1; g = f . f in g 1 |> f", "4");
}

#[test]
fn arrays_without_levels() {
    is("", "sum [1, 2, 3]", "6");
    is("", "map (fn x => x * 2) [1, 2, 3]", "[2, 4, 6]");
    is("", "reverse [1, 2, 3]", "[3, 2, 1]");
    is("", "sum (map (fn x => x * x) (generate 10 (fn i => i)))", "285");
    is("", "zipWith (fn x y => (x, y)) [1, 2] [true, false]", "[(1, true), (2, false)]");
    is("", "filter (fn x => x > 2) [1, 5, 2, 7]", "[5, 7]");
    is("", "sort [3, 1, 2]", "[1, 2, 3]");
    is(
        "",
        "let xs = [1.0, 2.0, 3.0]; total = sum xs in map (fn x => x / total) xs",
        "[0.16666666666666666, 0.3333333333333333, 0.5]",
    );
    is("", "map (fn n => sum (generate n (fn i => i))) [3, 4, 100]", "[3, 6, 4950]");
    is("", "splitUp 2 [1, 2, 3, 4] |> map sum", "[3, 7]");
    is("", "scan (+) 0 [1, 2, 3]", "[1, 3, 6]");
    is("", "histogram 3 [0, 2, 2]", "[1, 0, 2]");
    is("", "iterate 3 (map (fn x => x * 2)) [1, 2]", "[8, 16]");
    is("", "iterateWhile (fn xs => sum xs < 100) (map (fn x => x * 2)) [1, 2]", "[64, 128]");
    is("", "matmul (reshape2 2 2 [1, 2, 3, 4]) (reshape2 2 2 [0, 1, 1, 0])", "[[2, 1], [4, 3]]");
    is("", "expand (fn x => x) (fn x i => x * 10 + i) [1, 0, 2]", "[10, 20, 21]");
}

const PAPER: &str = "
fun revBlock arr = push <block> (reverse arr)
fun revDistribute chunkSize arr = splitUp chunkSize arr |> map revBlock |> reverse |> concat chunkSize
fun step <lvl> f arr = let x = halve arr in push <lvl> (zipWith f (fst x) (snd x))
fun red <lvl> f arr = while (fn arr => 1 != lengthPull arr) (step <lvl> f) (step <lvl> f arr) |> push <lvl>
fun reduceGrid f arr =
  let chunkSize = 2 * #BlockSize
  in splitUp chunkSize arr |> map (red <block> f) |> concat 1
";

#[test]
fn the_papers_kernels() {
    is(PAPER, "revDistribute 2 [1, 2, 3, 4, 5, 6]", "[6, 5, 4, 3, 2, 1]");
    is(PAPER, "reduceGrid (+) (generate 128 (fn i => i))", "[2016, 6112]");
    is(PAPER, "reduceGrid (+) (generate 128 (fn i => i)) |> force |> sum", "8128");
    let parts = "sig parts : <l> -> int -> (a -> a) -> [a] -> [a]<1+l>\n\
                 fun parts <l> n f arr = splitUp n arr |> map (fn part => push <l> (map f part)) |> concat n";
    is(parts, "parts <block> 2 (fn x => x + 1) [1, 2, 3, 4]", "[2, 3, 4, 5]");
    let warps =
        "splitUp 64 (iota 128) |> map (parts <warp> 32 (fn x => x * 10)) |> concat 64 |> force |> sum";
    is(parts, warps, "81280");
}

#[test]
fn comprehensions() {
    is("", "[ x * x | x <- [1, 2, 3] ]", "[1, 4, 9]");
    is("", "[ x | x <- 0..10, x % 3 == 0 ]", "[0, 3, 6, 9]");
    is("", "[ (x, y) | x <- 0..3, y <- 0..x ]", "[(1, 0), (2, 0), (2, 1)]");
    is("", "[ (x, y) | x <- 0..2, y <- [7, 8] ]", "[(0, 7), (0, 8), (1, 7), (1, 8)]");
    is("", "[ x + y | x <- [1, 2, 3] | y <- [10, 20, 30] ]", "[11, 22, 33]");
    is("", "[ s | x <- [3, 1, 2], let s = x * 10, order by x descending ]", "[30, 20, 10]");
    is("", "[ x | x <- [3, 1, 2], order by x, take 2 ]", "[1, 2]");
    is("", "length [ () | a <- 1..100, b <- a..100, c <- b..100, a * a + b * b == c * c ]", "50");
    is("", "[ sum [ x * y | y <- 0..x ] | x <- [2, 3] ]", "[2, 9]");
    is("", "[ sum [ y | y <- 0..x, y % 2 == 1, z <- 0..y ] | x <- [4, 5] ]", "[10, 10]");
}

#[test]
fn types_that_double_with_each_call_are_refused() {
    let doubled: String = (0..40).map(|n| format!("fun f{} x = f{n} (x, x)\n", n + 1)).collect();
    let error = value(&format!("fun f0 x = 1\n{doubled}"), "f40 0").expect_err("it is refused");
    assert!(error.contains("the type of this is too large"), "{error}");
}

#[test]
fn comprehensions_of_the_guide() {
    let text = include_str!("comprehensions.pum");
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let program = Program::load("test.pum", text, &none).map_err(|_| ()).expect("it is read");
    let module = &program.modules[program.modules.len() - 1].module;
    let of_signatures = module.signatures.iter().filter_map(|item| item.docs.as_deref());
    let docs = of_signatures.chain(module.functions.iter().filter_map(|item| item.docs.as_deref()));
    let cases: Vec<_> = docs.flat_map(pumice_lang::cases::cases).collect();
    assert!(cases.len() > 30, "{} cases", cases.len());
    for case in cases {
        is(text, &case.expression, &case.expected);
    }
}

#[test]
fn comprehensions_that_cannot_be_are_told() {
    for (expression, words) in [
        ("[ x | x <- [1, 2], distinct, x > 1 ]", "stands last"),
        ("[ x | x <- [1, 2], take x ]", "`take` is of all elements"),
        ("[ minimum [ y | y <- 0..x, y > 5 ] | x <- [9, 3] ]", "minimum"),
        ("[ sum (slice x 4 [1, 2, 3]) | x <- [0, 1] ]", "slice"),
    ] {
        let error = value("", expression).expect_err("it fails");
        assert!(error.contains(words) && error.contains("test.pum:2"), "{expression}: {error}");
    }
}

#[test]
fn sizes_that_nothing_can_have_are_failures() {
    for (expression, words) in [
        ("expand (fn x => x) (fn x i => x + i) [1, -1]", "expand"),
        ("length [ y | x <- [1, 5000000000000000000], y <- 0..x ]", "there is room for"),
    ] {
        let error = value("", expression).expect_err("it fails");
        assert!(error.contains(words) && error.contains("test.pum:2"), "{expression}: {error}");
    }
}

#[test]
fn a_loop_whose_end_the_data_decide() {
    let halved = "fun halved part = while (fn xs => index xs 0 > 8) (fn xs => push <block> (map (fn x => x / 2) xs)) (push <block> part)";
    is(
        halved,
        "splitUp 2 [100, 50, 7, 3] |> map (fn p => push <block> (halved p)) |> concat 2",
        "[6, 3, 7, 3]",
    );
}

#[test]
fn records_and_sums() {
    let shapes = "type Point = { x : f64, y : f64 }\ntype Shape = Circle f64 | Box f64 f64 | Nothing\n\
                  fun area s = case s of | Circle r => 3.0 * r * r | Box w h => w * h | Nothing => 0.0";
    is(shapes, "map area [Circle 1.0, Nothing, Box 2.0 3.0]", "[3.0, 0.0, 6.0]");
    is(shapes, "[Circle 1.0, Nothing]", "[Circle 1.0, Nothing]");
    is(shapes, "map (fn p => p.x + p.y) [{ x = 1.0, y = 2.0 }]", "[3.0]");
    is(shapes, "{ { x = 1.0, y = 2.0 } with y = 5.0 }", "{ x = 1.0, y = 5.0 }");
}

#[test]
fn the_prelude() {
    is("", "transposeTiled 2 4 2 [1, 2, 3, 4, 5, 6, 7, 8]", "[1, 5, 2, 6, 3, 7, 4, 8]");
    is(
        "",
        "splitUp 8 (iota 16) |> map (sklansky <block> (+)) |> concat 8 |> force |> reverse |> takeFirst 2",
        "[92, 77]",
    );
    is(
        "",
        "splitUp 8 [5, 3, 8, 1, 7, 2, 6, 4] |> map (bitonicSort <block>) |> concat 8",
        "[1, 2, 3, 4, 5, 6, 7, 8]",
    );
    is("", "splitUp 8 (iota 8) |> map (brentKung <block> (+)) |> concat 8", "[0, 1, 3, 6, 10, 15, 21, 28]");
}

#[test]
fn the_cases_in_the_preludes_comments() {
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let imports: String = LIBRARY.iter().map(|(name, _)| format!("import {name}\n")).collect();
    let program = Program::load("test.pum", &format!("{imports}fun it = 0"), &none)
        .map_err(|(sources, errors)| errors[0].render(&sources, false))
        .expect("the prelude is right");
    let standard = program.modules.iter().rev().skip(1);
    let docs =
        standard.flat_map(|module| module.module.signatures.iter()).filter_map(|item| item.docs.as_deref());
    let all: Vec<_> = docs.flat_map(cases).collect();
    assert!(all.len() > 100, "{} cases", all.len());
    let mut wrong = Vec::new();
    for case in all {
        // The simulator takes its time: blocks are small, and so are the numbers of what depends on them.
        let expected = if case.expression.contains("#BlockSize") { "8128" } else { &case.expected };
        match value(&imports, &case.expression) {
            Ok(found) if found == expected => {}
            Ok(found) => wrong.push(format!("{}: {found} and not {expected}", case.expression)),
            Err(error) => wrong.push(format!("{}:\n{error}", case.expression)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The cases of the files of `tests/cases`, which `pumice test` runs on devices.
#[test]
fn the_cases_of_each_group_of_operations() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut count, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).expect("there are files") {
        let path = entry.expect("it is a file").path();
        let text = std::fs::read_to_string(&path).expect("it is text");
        let module = pumice_lang::syntax::parse(pumice_lang::source::FileId(0), &text, &mut 0).module;
        for case in module.functions.iter().flat_map(|item| cases(item.docs.as_deref().unwrap_or_default())) {
            count += 1;
            match value(&text, &case.expression) {
                Ok(found) if found == case.expected => {}
                Ok(found) => wrong.push(format!("{}: {}: {found}", path.display(), case.expression)),
                Err(error) => wrong.push(format!("{}: {}:\n{error}", path.display(), case.expression)),
            }
        }
    }
    assert!(wrong.is_empty() && count > 50, "{count} cases\n{}", wrong.join("\n"));
}

#[test]
fn failures_name_the_users_line() {
    for (expression, words) in [
        ("index [1, 2] 2", "index"),
        ("index2 (reshape2 1 2 [1, 2]) 1 0", "index2"),
        ("reshape2 2 2 [1, 2, 3]", "reshape2"),
        ("gather [1, 2] [0, 5]", "index"),
        ("map (fn i => sum (index (rows (reshape2 1 2 [1, 2])) i)) [7]", "rows"),
        ("map (fn x => sum (zipWith (+) (generate x (fn i => i)) [1, 2])) [3]", "zipWith"),
        ("zipWith (+) (filter (fn x => x > 1) [1, 2]) [1, 2]", "zipWith"),
        ("reduce1 (+) (filter (fn x => x > 9) [1, 2])", "reduce1"),
        ("argmin (filter (fn x => x > 9) [1, 2])", "reduce1"),
        ("maximum (filter (fn x => x > 9) [1, 2])", "maximum"),
        ("reduce1Rows (+) (reshape2 2 0 (iota 0))", "reduce1Rows"),
        ("permute (+) [0, 0] [(2, 1)]", "permute"),
        ("permuteIf (+) [0, 0] [(true, -1, 1)]", "permuteIf"),
        ("scatter2 (replicate2 1 1 0) [((0, 1), 1)]", "scatter2"),
        ("histogram 2 [0, 2]", "histogram"),
        ("expandReduce (fn n => n) (fn _ i => i) (+) 0 [-1]", "expandReduce"),
        ("reduceSegments (+) 0 [0, 5] [1, 2]", "reduceSegments"),
        (
            "appendRows (replicate2 1 2 0) (generate2 1 (length (filter (fn x => x > 0) [1])) (fn _ _ => 1))",
            "appendRows",
        ),
        ("matmul (replicate2 1 2 0) (replicate2 1 2 0)", "matmul"),
        ("generate (index [-3] 0) (fn i => i)", "generate"),
        ("row 3 (reshape2 1 2 [1, 2])", "index2"),
        ("segment 4 [0, 1] [5]", "index"),
        ("first (filter (fn x => x > 9) [1])", "index"),
        ("map (fn x => x div 0) [1]", "division"),
    ] {
        let Err(error) = value("", expression) else { panic!("{expression} gives something") };
        assert!(error.contains(words) && error.contains("test.pum:2"), "{expression}: {error}");
    }
}

/// The names of all files that every program can use.
fn standard_names() -> std::collections::HashSet<String> {
    let files = STANDARD
        .iter()
        .map(|(_, text)| pumice_lang::syntax::parse(pumice_lang::source::FileId(0), text, &mut 0).module);
    files.flat_map(|module| module.signatures).map(|signature| signature.name.name.to_string()).collect()
}

#[test]
fn whatever_a_user_of_rust_has_a_user_of_the_language_has() {
    let known = standard_names();
    let mut counterparts = std::collections::HashSet::new();
    for line in
        include_str!("counterparts.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        match (line.split_once(" = "), line.split_once(": ")) {
            (Some((method, names)), _) => {
                let missing: Vec<&str> = names.split(' ').filter(|name| !known.contains(*name)).collect();
                assert!(missing.is_empty(), "{method}: there is no {missing:?}");
                counterparts.insert(method.to_string());
            }
            (None, Some((method, reason))) if !reason.is_empty() => {
                counterparts.insert(method.to_string());
            }
            _ => panic!("what is this line? {line}"),
        }
    }
    let mut public: Vec<String> = Op::ALL.iter().map(|op| format!("op.{}", op.name())).collect();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../array/src");
    for file in [
        "chunks",
        "create",
        "elementwise",
        "expanding",
        "folds",
        "foreign",
        "indexing",
        "loops",
        "permute",
        "products",
        "ragged",
        "random",
        "row_loops",
        "rows",
        "runs",
        "scans",
        "searching",
        "segments",
        "sorting",
        "stencils",
        "views",
    ] {
        let text =
            std::fs::read_to_string(source.join(file).with_extension("rs")).expect("the file is there");
        let functions = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub fn "));
        let name = |rest: &str| {
            rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().map(str::to_string)
        };
        public.extend(functions.filter_map(name).filter(|name| !name.is_empty()));
    }
    public.retain(|method| !counterparts.contains(method));
    assert!(public.is_empty(), "say in counterparts.txt what a user of the language writes for {public:?}");
}

/// The list of all functions, as `docs/pum-functions.md` has it.
fn list_of_functions() -> String {
    let mut list = String::from(
        "# The functions of the `.pum` language\n\nWritten by a test from `crates/lang/pum`: `UPDATE_DOCS=1 cargo test -p pumice-lang --test evaluate functions`.\n\
         [The language](pum.md) says what is meant by types and classes. A number behind a name is that of the dimensions it is for; of zips,\nthat of the arrays. `Rows` are what the last dimension has.\n",
    );
    for (name, text) in STANDARD {
        list += &format!("\n## `{name}.pum`\n\n");
        let module = pumice_lang::syntax::parse(pumice_lang::source::FileId(0), text, &mut 0).module;
        for signature in &module.signatures {
            let words: Vec<&str> = text[signature.span.range()].split_whitespace().skip(1).collect();
            let docs = signature.docs.as_deref().unwrap_or_default();
            let said: Vec<&str> =
                docs.lines().map(str::trim).take_while(|line| !line.starts_with(">>>")).collect();
            let said = if said.is_empty() { String::new() } else { format!(": {}", said.join(" ")) };
            let example = cases(docs)
                .into_iter()
                .next()
                .map(|case| format!(" `{}` gives `{}`.", case.expression, case.expected));
            list += &format!("- `{}`{said}{}\n", words.join(" "), example.unwrap_or_default());
        }
    }
    list
}

#[test]
fn the_list_of_functions_is_that_of_the_language() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pum-functions.md");
    let list = list_of_functions();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &list).expect("the list is written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == list, "docs/pum-functions.md is another one: UPDATE_DOCS=1 writes it");
}

#[test]
fn the_program_in_the_documentation_runs() {
    let text = include_str!("../../../docs/pum.md");
    let program =
        text.split("```pum\n").nth(1).and_then(|rest| rest.split("```").next()).expect("there is a program");
    is(program, "dotp [1.0, 2.0, 3.0] [4.0, 5.0, 6.0]", "32.0");
    is(program, "revDistribute 2 [1, 2, 3, 4]", "[4, 3, 2, 1]");
    let program =
        text.split("```pum\n").nth(3).and_then(|rest| rest.split("```").next()).expect("there is another");
    is(
        program,
        "times [(0, 2), (2, 2), (2, 3)] [(0, 1.0), (2, 2.0), (1, 3.0)] [1.0, 10.0, 100.0]",
        "[201.0, 0.0, 30.0]",
    );
    is(program, "totals [(7, 10), (3, 20), (7, 30), (9, 1)]", "[(7, 40), (3, 20), (9, 1)]");
    let kernels =
        text.split("```pum\n").nth(2).and_then(|rest| rest.split("```").next()).expect("there are kernels");
    is(kernels, "counts 3 2 [0, 2, 2]", "[1, 0, 2]");
}

/// Evaluates an expression in a program that is given the vector `xs = [3, 1, 2]`, the number `n = 2` and the pair `p = (xs, n)`.
fn with_given(program: &str, expression: &str) -> Result<String, String> {
    let int = || Type::Scalar(ScalarType::I64);
    let vector = || Type::Array { element: Box::new(int()), sizes: vec![Size::Any], level: None };
    let given =
        |name: &str, ty, scalars: &[Constant]| Given { name: name.into(), ty, scalars: scalars.into() };
    let two = [Constant::from(2i64)];
    let given = [
        given("xs", vector(), &[]),
        given("n", int(), &two),
        given("p", Type::Tuple(vec![vector(), int()]), &two),
    ];
    let expression = Expression { name: "line", parameters: &[], text: expression, start: 0 };
    let additions = Additions { given: &given, expression: Some(expression), ..Additions::default() };
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let program = Program::load_more(additions, "test.pum", program, &none);
    let program = Arc::new(program.map_err(|(_, errors)| format!("{errors:?}"))?);
    let checked = Arc::new(check(&program).map_err(|errors| format!("{errors:?}"))?);
    let entry = checked.entry(EXPRESSION).ok_or("no expression")?;
    let options = Options { block_size: 32, ..Options::default() };
    let compiled = compile(&program, &checked, entry, &[], options).map_err(|error| error.message)?;
    let array_program = CheckedProgram::new(compiled.program).map_err(|error| error.to_string())?;
    let column = || [3i64, 1, 2].iter().flat_map(|number| number.to_le_bytes()).collect();
    let data = || HostData::new(vec![3], vec![ScalarType::I64], vec![column()]);
    let arrays: HashMap<u32, Arc<dyn ArrayData>> =
        (0..2).map(|number| (number, Arc::new(data()) as _)).collect();
    let results = interpret(&array_program, &arrays, &[]).map_err(|error| error.to_string())?;
    let results: Vec<Arc<dyn ArrayData>> = results.into_iter().map(|data| Arc::new(data) as _).collect();
    show(&compiled.result, &results, checked.sums()).map_err(|error| error.to_string())
}

#[test]
fn values_from_outside_are_used_wherever_names_are() {
    let is = |expression: &str, expected: &str| {
        let program = "fun addN x = x + n\nfun power x k = if k == 0 then 1 else x * power x (k - 1)";
        assert_eq!(with_given(program, expression).as_deref(), Ok(expected), "{expression}");
    };
    is("map addN xs", "[5, 3, 4]");
    is("(sum (fst p), snd p)", "(6, 2)");
    // Numbers are as known as literals are.
    is("power 3 n", "9");
    is("splitUp n (generate 4 addN) |> map sum", "[5, 9]");
    // In a function on elements, in a loop, and in a kernel.
    is("map (fn x => sum (map (fn y => x * y) xs)) [1, 10]", "[6, 60]");
    is("iterate n (zipWith (+) xs) [0, 0, 0]", "[6, 2, 4]");
    is("iterateWhile (fn ys => sum ys < 10) (zipWith (+) (fst p)) xs", "[6, 2, 4]");
    is(
        "concat 1 (map (fn i => push <block> (map (fn x => x + i) xs |> reverse |> splitUp 3 |> map sum)) [0, 1])",
        "[6, 9]",
    );
    assert!(with_given("", "xs + 1").is_err_and(|error| error.contains("Array") || error.contains("[int]")));
}

#[test]
fn random_programs_mean_what_they_compute() {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};
    let config = Config { failure_persistence: None, ..Config::default() };
    let (tried, computed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let outcome = TestRunner::new(config).run(&prop::collection::vec(any::<u8>(), 0..120), |bytes| {
        let text = typed::typed(&bytes);
        tried.set(tried.get() + 1);
        match value_of(&text) {
            Ok(_) => computed.set(computed.get() + 1),
            // Code that kernels cannot contain is reported while they are built; types are right in any case.
            Err(error) => {
                prop_assert!(
                    !error.contains("expected") && !error.contains("fault of Pumice"),
                    "{text}\n{error}"
                );
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(computed.get() * 2 > tried.get(), "only {} of {} were computed", computed.get(), tried.get());
}
