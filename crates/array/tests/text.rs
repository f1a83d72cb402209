//! Array programs print and read back as the same; other texts are refused with a place, and never with a panic.

use proptest::prelude::*;
use pumice_array::file_test::{Expectation, read};
use pumice_array::operations::OPERATIONS;
use pumice_array::text::parse_program;
use pumice_array::{
    ArrayData, ArrayProgram, CheckedProgram, Given, HostData, Knowledge, Plan, PlanOptions, Vector, foreign,
    interpret, use_, whole_columns,
};
use pumice_kernel::Profile;
use pumice_scalar::{Constant, ScalarType};
use std::collections::HashMap;
use std::sync::Arc;

/// A program with several operations, as it is printed.
const TEXT: &str = r#"a0: [_, _] (f32, bool) = argument 0 at "argument" "src/main.rs" 3:10
a1: [_, _] (i64) = use [2, 2] {1, -2, 3, 4} at "use_" "src/main.rs" 4:14
a2: [_, _] (i64) = view 0 1 1 0 (a1) at "transpose" "src/\"main\".rs" 4:20
  || {
    return extent(a1, 1), extent(a1, 0)
  }
  || {
    return 0:i64, 0:i64
  }
a3: [_, _] (f32) = zip_with (a0, a2) at "zip_with" "src/main.rs" 4:8
  |p0: f32, p1: bool, p2: i64| {
    %0: f32 = cast p2
    %1: f32 = select p1, %0, p0
    return %1
  }
a4: [_] (f32) = reshape (a3) at "flatten" "src/main.rs" 5:8
  || {
    %0: i64 = mul extent(a3, 0), extent(a3, 1)
    return %0
  }
a5: [_] (f32) = backpermute (a4) at "backpermute" "src/main.rs" 6:8
  || {
    return 3:i64
  }
  |p0: i64| {
    %0: i64 = mul p0, argument0:i64
    return %0
  }
a6: [] (f32) = fold (a5) at "sum" "src/main.rs" 7:8
  |p0: f32, p1: f32| {
    %0: f32 = add p0, p1
    return %0
  }
  || {
    return -0.0:f32
  }
a7: [_] (i64) = generate at "generate" "src/main.rs" 8:8
  || {
    return 5:i64
  }
  |p0: i64| {
    return p0
  }
return a6, a7
"#;

/// The elements of an array, column by column.
fn columns(data: &dyn ArrayData) -> Vec<Vec<u8>> {
    whole_columns(data).unwrap().into_iter().map(|column| column.into_owned()).collect()
}

#[track_caller]
fn assert_same(one: &ArrayProgram, other: &ArrayProgram) {
    assert_eq!(one.full_text(), other.full_text());
    assert_eq!(one.results(), other.results());
    for (one, other) in one.nodes().iter().zip(other.nodes()) {
        assert_eq!((one.id, one.rank, one.place), (other.id, other.rank, other.place));
        assert_eq!((&one.inputs, &one.types), (&other.inputs, &other.types));
        assert_eq!(one.operation.functions(), other.operation.functions());
        assert_eq!(one.operation.attributes(), other.operation.attributes());
        if let (Some(Given::Data(one)), Some(Given::Data(other))) =
            (one.operation.given(), other.operation.given())
        {
            assert_eq!(columns(&**one), columns(&**other));
        }
    }
}

#[track_caller]
fn error(text: &str) -> String {
    match text.parse::<ArrayProgram>() {
        Ok(program) => panic!("this was taken:\n{program}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_program_reads_back_and_means_what_it_says() {
    let program: ArrayProgram = TEXT.parse().unwrap();
    assert_eq!(program.to_string(), TEXT);
    let checked = CheckedProgram::new(program).unwrap();
    let float = |value: f32| value.to_le_bytes();
    let given = HostData::new(
        vec![2, 2],
        vec![ScalarType::F32, ScalarType::Bool],
        vec![[10.0, 20.0, 30.0, 40.0].into_iter().flat_map(float).collect(), vec![1, 0, 0, 1]],
    );
    let arrays = HashMap::from([(0, Arc::new(given) as Arc<dyn ArrayData>)]);
    let results = interpret(&checked, &arrays, &[1i64.into()]).unwrap();
    // The transposed array is 1, 3, -2, 4, of which the first and the last are chosen.
    assert_eq!(columns(&results[0]), [float(1.0 + 20.0 + 30.0)]);
    assert_eq!(results[1].extents(), [5]);
    let failed = interpret(&checked, &arrays, &[2i64.into()]).err().unwrap().to_string();
    assert_eq!(failed, "index 4 out of bounds for length 4 in backpermute at src/main.rs:6");
}

#[test]
fn every_operation_that_is_listed_is_listed_once_and_makes_what_it_is() {
    let program: ArrayProgram = TEXT.parse().unwrap();
    for node in program.nodes() {
        let keyword = node.operation.keyword();
        assert_eq!(OPERATIONS.iter().filter(|listed| listed.keyword == keyword).count(), 1, "{keyword}");
    }
}

#[test]
fn places_may_be_left_out() {
    let text = "// a comment\na0: [_] (i64) = argument 3\nreturn a0";
    let program = parse_program(text, "numbers.air").unwrap();
    assert_eq!(program.nodes()[0].place.to_string(), "argument at numbers.air:2");
    let text = program.to_string();
    assert_eq!(text, "a0: [_] (i64) = argument 3 at \"argument\" \"numbers.air\" 2:17\nreturn a0\n");
}

#[test]
fn long_arrays_are_left_out_unless_all_is_asked_for() {
    let program: ArrayProgram =
        "a0: [_] (i32, bool) = use [100] {0..100} {true; 100}\nreturn a0".parse().unwrap();
    let short = program.to_string();
    assert!(short.starts_with("a0: [_] (i32, bool) = use [100] .. at "), "{short}");
    assert!(
        error(&short)
            .starts_with("line 1, column 33: expected the elements, which were left out, found `..`")
    );
    assert_same(&program.full_text().parse().unwrap(), &program);
}

#[test]
fn elements_keep_every_bit() {
    let text = "a0: [_] (f32, u64) = use [6] {nan:7fc00001, -0.0, inf, -inf, 1e-45, 0.1} {0, 18446744073709551615, 1, 2, 3, 4} \
                at \"use_\" \"f\" 1:1\na1: [] () = use [] at \"use_\" \"f\" 1:1\na2: [_, _] (bool) = use [0, 5] {} at \"use_\" \"f\" 1:1\nreturn a0, a1, a2\n";
    assert_eq!(text.parse::<ArrayProgram>().unwrap().to_string(), text);
}

/// A branch inside of so many others.
fn nested(depth: usize) -> String {
    let branch = "a0: [] (bool) = argument 0\na1: [] (bool) = branch (a0)\n";
    let mut text = "a0: [] (bool) = argument 0\nreturn a0\n".to_string();
    for _ in 0..depth {
        let side = "{\na0: [] (bool) = argument 0\nreturn a0\n}\n";
        text = format!("{branch}{{\n{text}}}\n{side}return a1\n");
    }
    text
}

#[test]
fn nested_programs_read_back_and_mean_what_they_say() {
    let program: ArrayProgram = nested(32).parse().unwrap();
    assert_same(&program.full_text().parse().unwrap(), &program);
    let checked = CheckedProgram::new(program).unwrap();
    for value in [0, 1] {
        let given: Arc<dyn ArrayData> =
            Arc::new(HostData::new(vec![], vec![ScalarType::Bool], vec![vec![value]]));
        let results = interpret(&checked, &HashMap::from([(0, given)]), &[]).unwrap();
        assert_eq!(columns(&results[0]), [[value]]);
    }
    // However deep it is, before anything recurses.
    assert!(
        error(&nested(33)).ends_with("loops and branches nest at most 32 deep"),
        "{}",
        error(&nested(33))
    );
    assert!(error(&"a0: [] (bool) = branch {".repeat(100_000)).contains("nest at most 32 deep"));
    let side = "{ a0: [] (bool) = argument 0\nreturn a0 }";
    assert_eq!(
        error(&format!("a0: [] (bool) = branch {side}\nreturn a0")),
        "line 1, column 17: `branch` has other parts than 1 program, 0 numbers and 0 functions"
    );
    assert_eq!(
        error(&format!("a0: [] (bool) = argument 0 {side}\nreturn a0")),
        "line 1, column 17: `argument` has other parts than 1 program, 1 number and 0 functions"
    );
    assert_eq!(
        error("a0: [] (bool) = branch { a0: [] (bool) = argument 0 }"),
        "line 1, column 53: expected `a1`, found `}`"
    );
}

#[test]
fn a_foreign_function_reads_back_as_its_fallback() {
    let plus_ten =
        |xs: &Vector<i32>| Some(Vector::from(xs.to_vec().ok()?.iter().map(|x| x + 10).collect::<Vec<_>>()));
    let program = foreign(use_([1, 2]), plus_ten, |xs| xs.map(|x| x + 20));
    let program = ArrayProgram::of(std::slice::from_ref(program.described()));
    let read: ArrayProgram = program.full_text().parse().unwrap();
    assert_same(&read, &program);
    let first = |program: ArrayProgram| {
        let results = interpret(&CheckedProgram::new(program).unwrap(), &HashMap::new(), &[]).unwrap();
        columns(&results[0])[0][0]
    };
    assert_eq!((first(program), first(read)), (11, 21));
}

#[test]
fn errors_say_where_and_what() {
    let line = |text: &str| error(&format!("a0: [_] (i64) = {text}\nreturn a0"));
    assert_eq!(error(""), "line 1, column 1: expected `a0`, found the end of the text");
    assert_eq!(error("a1: []"), "line 1, column 1: expected `a0`, found `a1`");
    assert_eq!(error("a0: [x]"), "line 1, column 6: expected `_`, found `x`");
    assert_eq!(error("a0: [_] i64"), "line 1, column 9: expected `(`, found `i64`");
    assert_eq!(error("a0: [_] (i65)"), "line 1, column 10: expected a type, found `i65`");
    assert!(
        line("shuffle")
            .starts_with("line 1, column 17: `shuffle` is none of the operations argument, backpermute")
    );
    assert_eq!(
        line("kernel"),
        "line 1, column 17: `kernel` calls a kernel that a user has written in Rust, which no text says"
    );
    assert_eq!(
        line("argument"),
        "line 1, column 17: `argument` has other parts than 0 numbers and 0 functions"
    );
    assert_eq!(
        line("argument -1"),
        "line 1, column 17: `argument` has other parts than 1 number and 0 functions"
    );
    assert_eq!(line("argument 1.5"), "line 1, column 26: expected a whole number, found `1.5`");
    assert_eq!(
        line("argument 0 [1] {1}"),
        "line 1, column 17: `argument` has other parts than 1 number and 0 functions"
    );
    assert_eq!(
        line("fold 1 (a0) || { return } || { return }"),
        "line 1, column 17: `fold` has other parts than 1 number and 2 functions"
    );
    assert_eq!(line("use"), "line 1, column 17: `use` has other parts than 0 numbers and 0 functions");
    assert_eq!(line("use [2] {1}"), "line 1, column 25: expected 2 values, found 1");
    assert_eq!(line("use [2] {1.5, 2}"), "line 1, column 26: expected a value of type i64, found `1.5`");
    assert_eq!(line("use [2] {0..3}"), "line 1, column 27: expected 2 values, found 3");
    assert_eq!(line("use [2] {0; 99999999999}"), "line 1, column 29: expected 2 values, found 99999999999");
    assert_eq!(
        line("use [99999999, 99999999] {}"),
        "line 1, column 21: an array in text has at most 16777216 elements"
    );
    assert_eq!(line("reshape (0)"), "line 1, column 26: expected an array (`a0`), found `0`");
    assert_eq!(
        line("reshape (a0) at map"),
        "line 1, column 33: expected an operation between quotation marks, found `map`"
    );
    assert_eq!(line("reshape (a0)\n  || { return p0 }"), "line 2, column 15: there is no parameter `p0`");
    assert_eq!(
        error("a0: [] () = use []\nreturn"),
        "line 2, column 7: expected an array (`a0`), found the end of the text"
    );
    assert_eq!(
        error("a0: [] () = use []\nreturn a0 a0"),
        "line 2, column 11: expected the end of the text, found `a0`"
    );
}

#[test]
fn the_verifier_looks_at_what_was_read() {
    let refused = |text: &str| match CheckedProgram::new(parse_program(text, "p.air").unwrap()) {
        Ok(_) => panic!("this was taken:\n{text}"),
        Err(error) => error.to_string(),
    };
    let unit = "a0: [] (i64) = use [] {5}\n";
    let same = "|p0: i64| { return p0 }";
    assert_eq!(refused("a0: [] () = use []\nreturn a7"), "a result is no array of the program");
    assert_eq!(
        refused(&format!("{unit}a1: [] (i64) = zip_with (a1) {same}\nreturn a1")),
        "an array is used before it is computed in zip_with at p.air:2"
    );
    assert_eq!(
        refused(&format!("{unit}a1: [_] (i64) = zip_with (a0) {same}\nreturn a1")),
        "an array has another number of dimensions than the operation is for in zip_with at p.air:2"
    );
    assert_eq!(
        refused(&format!("{unit}a1: [] (f32) = zip_with (a0) {same}\nreturn a1")),
        "a function does not fit the arrays that it is applied to in zip_with at p.air:2"
    );
    assert_eq!(
        refused(&format!(
            "{unit}a1: [] (i64) = zip_with (a0) |p0: i64| {{ return extent(a0, 0) }}\nreturn a1"
        )),
        "an extent of a dimension that the array does not have in zip_with at p.air:2"
    );
    assert_eq!(
        refused(&format!("{unit}a1: [] (i64) = zip_with (a0) |p0: i64| {{ return local0:i64 }}\nreturn a1")),
        "a value of a kernel stands in a function of an array program in zip_with at p.air:2"
    );
}

const FILE: &str = "// What is said in other comments is nobody's business.
// case three
//   array 0 = [3] {1, 2, 3}
//   scalar 1 = 10:i64
//   expect [3] {11, 12, 13}
// case none
// array 0 = [0] {}
// scalar 1 = 10:i64
// expect [0] {}
a0: [_] (i64) = argument 0
a1: [_] (i64) = zip_with (a0) |p0: i64| {
  %sum: i64 = add p0, argument1:i64
  return %sum
}
// case that comes too late
return a1
";

#[test]
fn files_have_cases() {
    let test = read(FILE, "f.air").unwrap();
    let names: Vec<&str> = test.cases.iter().map(|case| &case.name[..]).collect();
    assert_eq!(names, ["three", "none"]);
    assert_eq!(test.cases[0].scalars, [false.into(), Constant::from(10i64)]);
    let checked = CheckedProgram::new(test.program.clone()).unwrap();
    for (case, other) in test.cases.iter().zip(test.cases.iter().rev()) {
        let results = interpret(&checked, &case.arrays, &case.scalars).unwrap();
        let results: Vec<Arc<dyn ArrayData>> =
            results.into_iter().map(|data| Arc::new(data) as Arc<dyn ArrayData>).collect();
        assert_eq!(case.compare(Ok(&results)), Ok(()));
        assert!(other.compare(Ok(&results)).unwrap_err().starts_with("result 0: expected extents"));
        assert_eq!(case.compare::<Arc<dyn ArrayData>>(Err("no".into())), Err("no".into()));
    }
}

#[test]
fn mistakes_in_cases_have_their_line() {
    let changed = |from: &str, to: &str| match read(&FILE.replacen(from, to, 1), "f.air") {
        Ok(_) => panic!("this was taken"),
        Err(error) => error.to_string(),
    };
    assert_eq!(changed("array 0", "array 5"), "line 3, column 6: the program has no array argument 5");
    assert_eq!(changed("{1, 2, 3}", "{1, 2}"), "line 3, column 20: expected 3 values, found 2");
    assert_eq!(changed("10:i64", "x"), "line 4, column 17: expected a constant, found `x`");
    assert_eq!(
        changed("scalar 1", "scalar 99999"),
        "line 4, column 6: a case has at most 1024 scalar arguments"
    );
    assert_eq!(
        changed("expect [3]", "expect [3] {1, 2, 3} {4} //"),
        "line 5, column 27: expected the end of the text, found `{`"
    );
    assert_eq!(
        changed("//   expect [3] {11, 12, 13}\n", ""),
        "line 2, column 1: expected 1 results, found 0"
    );
    assert_eq!(changed("a1: [_]", "a1: [x]"), "line 11, column 6: expected `_`, found `x`");
    let refused = read(&FILE.replacen("expect [3] {11, 12, 13}", "expect refused of", 1), "f.air").unwrap();
    assert!(matches!(&refused.cases[0].expectation, Expectation::Refused(part) if part == "of"));
}

const WORDS: &[&str] = &[
    "a0",
    "a1",
    "a2",
    "a9",
    "p0",
    "p1",
    "%0",
    "_",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "|",
    ":",
    ",",
    "=",
    ";",
    "..",
    "argument",
    "use",
    "view",
    "zip_with",
    "fold",
    "generate",
    "reshape",
    "backpermute",
    "kernel",
    "return",
    "at",
    "\"map\"",
    "\"",
    "1:2",
    "extent(a0, 0)",
    "argument0:i64",
    "i64",
    "f32",
    "bool",
    "0",
    "1",
    "-1",
    "3",
    "0:i64",
    "1:i64",
    "add",
    "mul",
    "//",
    "\n",
    "\\",
    "é",
];

/// Splits a text at the borders of words; together, the tokens are the text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars() {
        let kind = (c.is_alphanumeric() || c == '_', c == ' ');
        match tokens.last_mut() {
            Some(token) if last == Some(kind) && (kind.0 || kind.1) => token.push(c),
            _ => tokens.push(c.into()),
        }
        last = Some(kind);
    }
    tokens
}

/// Removes, doubles, swaps, replaces or inserts tokens.
fn mutate(text: &str, changes: &[(usize, usize, usize)]) -> String {
    let mut tokens = tokens(text);
    for &(place, kind, with) in changes {
        if tokens.is_empty() {
            break;
        }
        let at = place % tokens.len();
        match kind {
            0 => drop(tokens.remove(at)),
            1 => {
                let copy = tokens[at..tokens.len().min(at + with % 40)].to_vec();
                let to = with % tokens.len();
                tokens.splice(to..to, copy);
            }
            2 => {
                let to = with % tokens.len();
                tokens.swap(at, to);
            }
            3 => tokens[at] = WORDS[with % WORDS.len()].to_owned(),
            _ => tokens.insert(at, WORDS[with % WORDS.len()].to_owned()),
        }
    }
    tokens.concat()
}

fn profile() -> Profile {
    Profile { threads: 64, shared_bytes: 48 << 10, busy_blocks: 8, ..Profile::large_gpu() }
}

/// Returns whether a text is well formed. An accepted text prints and reads back as the same. A well-formed program is planned and
/// interpreted, or that is an error.
fn try_text(text: &str) -> bool {
    let Ok(program) = text.parse::<ArrayProgram>() else { return false };
    assert_same(&program.full_text().parse().unwrap_or_else(|error| panic!("{error}\n{program}")), &program);
    let Ok(checked) = CheckedProgram::new(program) else { return false };
    let data = HostData::new(
        vec![2, 2],
        vec![ScalarType::F32, ScalarType::Bool],
        vec![[1.0f32; 4].into_iter().flat_map(f32::to_le_bytes).collect(), vec![1, 0, 0, 1]],
    );
    let scalars = [Constant::from(1i64)];
    let knowledge = Knowledge::of(HashMap::from([(0, vec![2, 2])]), &scalars);
    let _ = Plan::new(&checked, &profile(), &knowledge, &PlanOptions::default());
    // Numbers are small, so that extents are.
    let arrays = HashMap::from([(0, Arc::new(data) as Arc<dyn ArrayData>)]);
    let _ = interpret(&checked, &arrays, &scalars);
    true
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_words_are_refused_or_right(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        try_text(&words.join(" "));
        try_text(&format!("a0: [_] (i64) = argument 0 {} return a0", words.join(" ")));
    }

    #[test]
    fn changed_programs_are_refused_or_right(
        changes in prop::collection::vec((any::<usize>(), 0usize..5, any::<usize>()), 1..4),
    ) {
        try_text(&mutate(TEXT, &changes));
        let _ = read(&mutate(FILE, &changes), "f.air");
    }
}

#[test]
fn some_changed_programs_are_programs() {
    let changed = |seed: usize| {
        mutate(TEXT, &[(seed.wrapping_mul(0x9e37_79b9), 2 + seed % 2, seed.wrapping_mul(7919))])
    };
    let taken = (0..400).filter(|seed| try_text(&changed(*seed))).count();
    assert!(taken > 5, "{taken} of 400");
}
