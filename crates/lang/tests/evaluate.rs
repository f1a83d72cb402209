//! Programs of the language, run by the interpreter of the array language and the simulator: what expressions mean.

use pumice_array::{ArrayData, CheckedProgram, interpret};
use pumice_lang::evaluate::{Options, compile};
use pumice_lang::program::Program;
use pumice_lang::show::show;
use pumice_lang::types::check;
use std::collections::HashMap;
use std::sync::Arc;

/// What an expression is in a program, or what is wrong.
fn value(program: &str, expression: &str) -> Result<String, String> {
    let text = format!("{program}\nfun it = {expression}\n");
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let rendered = |sources: &pumice_lang::source::Sources,
                    errors: &[pumice_lang::diagnostic::Diagnostic]| {
        errors.iter().map(|error| error.render(sources, false)).collect::<Vec<_>>().join("\n")
    };
    let program =
        Program::load("test.pum", &text, &none).map_err(|(sources, errors)| rendered(&sources, &errors))?;
    let checked = check(&program).map_err(|errors| rendered(&program.sources, &errors))?;
    let (program, checked) = (Arc::new(program), Arc::new(checked));
    let entry = checked.entry("it").ok_or("no `it`")?;
    let options = Options { block_size: 32, ..Options::default() };
    let compiled = compile(&program, &checked, entry, &[], options)
        .map_err(|error| rendered(&program.sources, &[error]))?;
    let array_program = CheckedProgram::new(compiled.program).map_err(|error| error.to_string())?;
    let results = interpret(&array_program, &HashMap::new(), &[]).map_err(|error| error.to_string())?;
    let results: Vec<Arc<dyn ArrayData>> = results.into_iter().map(|data| Arc::new(data) as _).collect();
    show(&compiled.result, &results, checked.sums()).map_err(|error| error.to_string())
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
    let program =
        Program::load("test.pum", "fun it = 0", &none).map_err(|_| ()).expect("the prelude is right");
    let prelude = &program.modules[1].module;
    let docs = prelude.signatures.iter().filter_map(|signature| signature.docs.as_deref());
    let cases: Vec<_> = docs.flat_map(pumice_lang::cases::cases).collect();
    assert!(cases.len() > 15, "{} cases", cases.len());
    for case in cases {
        // The simulator takes its time: blocks are small, and so are the numbers of what depends on them.
        match value("", &case.expression) {
            Ok(found) if case.expression.contains("#BlockSize") => assert_eq!(found, "8128"),
            Ok(found) => assert_eq!(found, case.expected, "{}", case.expression),
            Err(error) => panic!("{}:\n{error}", case.expression),
        }
    }
}

/// The kernel of an expression, and the same in Rust, for an array of this many numbers: what the passes leave of them.
#[track_caller]
fn same_kernel<P>(
    program: &str,
    expression: &str,
    length: usize,
    rust: impl pumice_kernel::KernelFunction<P>,
) {
    use pumice_array::operations::KernelCall;
    use pumice_kernel::{Definition, KernelArgument, Passes, Profile, define};
    let text = format!("{program}\nsig it : [i32] -> [i32]<grid>\nfun it xs = {expression}\n");
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let program = Arc::new(Program::load("test.pum", &text, &none).map_err(|_| ()).expect("it is read"));
    let checked = Arc::new(
        check(&program).map_err(|errors| errors[0].render(&program.sources, false)).expect("it is typed"),
    );
    let entry = checked.entry("it").expect("it is there");
    let options = Options { block_size: 32, ..Options::default() };
    let compiled = compile(&program, &checked, entry, &[], options)
        .map_err(|error| error.render(&program.sources, false))
        .expect("it is built");
    let call =
        compiled.program.nodes().iter().find_map(|node| node.operation.as_any().downcast_ref::<KernelCall>());
    let own = call.expect("there is a kernel").definition.clone().expect("the kernel is built");
    let rust = define("kernel", 32, rust).expect("the kernel in Rust is built");
    let text = |definition: &Definition| {
        let specialised = definition.specialise(
            &[KernelArgument::Length(length)],
            &Profile::large_gpu(),
            Passes::default(),
        );
        let program = specialised.expect("it is specialised").program.to_string();
        program.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    let (own, rust) = (text(&own), text(&rust));
    assert_eq!(own, rust);
}

#[test]
fn kernels_are_those_that_rust_makes() {
    use pumice_kernel::{Block, Grid, Item, Ix, Pull, Push, Size, generate};
    // The paper's functions, to the letter.
    fn reverse<T: Item, S: Size>(xs: Pull<T, S>) -> Pull<T, S> {
        let n = xs.len();
        Pull::new(n, move |i| xs.at(n.to_ix() - i - 1))
    }
    fn split_up<T: Item>(size: usize, xs: Pull<T, Ix>) -> Pull<Pull<T>, Ix> {
        let n = size as i64;
        Pull::new(xs.len() / n, move |i| {
            let xs = xs.clone();
            Pull::new(size, move |j| xs.at(i * n + j))
        })
    }
    same_kernel(PAPER, "push <grid> (reverse xs)", 1000, |xs: Pull<i32, Ix>| reverse(xs).push::<Grid>());
    same_kernel(
        PAPER,
        "push <grid> (generate (length xs) (fn i => index xs i * 2))",
        1000,
        |xs: Pull<i32, Ix>| generate(xs.len(), move |i| xs.at(i) * 2).push::<Grid>(),
    );
    same_kernel(PAPER, "revDistribute 64 xs", 640, |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let parts = reverse(split_up(64, xs).map(|part| reverse(part).push::<Block>()));
        let length = parts.len() * 64;
        parts.concat_by(64, length)
    });
    same_kernel(PAPER, "reduceGrid (+) xs", 640, |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let sums = split_up(64, xs).map(|mut part| {
            let step = |part: Pull<i32>| {
                let half = part.len() / 2;
                let (low, high) = (part.clone(), part.clone());
                let low = Pull::<i32>::new(half, move |i| low.at(i));
                let high = Pull::<i32>::new(part.len() - half, move |i| high.at(half as i64 + i));
                low.zip_with(high, |a, b| a + b).push::<Block>().force()
            };
            part = step(part);
            while part.len() != 1 {
                part = step(part);
            }
            part.push::<Block>()
        });
        let length = sums.len();
        sums.concat_by(1, length)
    });
}

#[test]
fn the_program_in_the_documentation_runs() {
    let text = include_str!("../../../docs/pum.md");
    let program =
        text.split("```pum\n").nth(1).and_then(|rest| rest.split("```").next()).expect("there is a program");
    is(program, "dotp [1.0, 2.0, 3.0] [4.0, 5.0, 6.0]", "32.0");
    is(program, "revDistribute 2 [1, 2, 3, 4]", "[4, 3, 2, 1]");
    let program =
        text.split("```pum\n").nth(2).and_then(|rest| rest.split("```").next()).expect("there is another");
    is(
        program,
        "times [(0, 2), (2, 2), (2, 3)] [(0, 1.0), (2, 2.0), (1, 3.0)] [1.0, 10.0, 100.0]",
        "[201.0, 0.0, 30.0]",
    );
    is(program, "totals [(7, 10), (3, 20), (7, 30), (9, 1)]", "[(7, 40), (3, 20), (9, 1)]");
}
