//! Fuzzed texts: the parser and the verifier refuse them or take them, and never panic. What they take
//! prints and reads back as the same, and simulates in bounded time.

use proptest::prelude::*;
use pumice_program::simulate::Options;
use pumice_program::{Param, Program, SimMemory, check, parse, simulate};
use pumice_scalar::{Constant, ScalarType};
use std::path::Path;
use std::sync::LazyLock;

/// The programs of the file tests, in tokens.
static PROGRAMS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| tokens(&std::fs::read_to_string(path).unwrap())).collect()
});

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

/// Words and signs of the language, and some that are none.
const WORDS: &[&str] = &[
    "kernel",
    "memory",
    "params",
    "threads",
    "prologue",
    "blocks",
    "body",
    "global",
    "shared",
    "private",
    "read",
    "write",
    "parallel",
    "warps",
    "lanes",
    "for",
    "in",
    "step",
    "carry",
    "next",
    "while",
    "test",
    "if",
    "else",
    "yield",
    "load",
    "store",
    "sync",
    "fence",
    "fail",
    "atomic_add",
    "shuffle",
    "add",
    "mul",
    "div",
    "lt",
    "select",
    "cast",
    "i32",
    "i64",
    "u64",
    "f32",
    "bool",
    "true",
    "nan",
    "inf",
    "%x",
    "%t",
    "@xs",
    "@out",
    "@",
    "%",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ":",
    ",",
    "=",
    "<",
    "..",
    ".",
    "-",
    "//",
    "\n",
    " ",
    "0",
    "1",
    "64",
    "-1",
    "1.5",
    "1e400",
    "18446744073709551616",
    "4294967295",
    "9223372036854775807",
    "0x10",
    "\"",
    "\\",
    "\0",
    "é",
    "\u{202e}",
    "\u{2028}",
];

/// A place to change, and how.
type Change = (usize, usize, usize);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((any::<usize>(), 0usize..7, any::<usize>()), 1..6)
}

/// Changes tokens: removes, doubles, swaps, replaces them by words or by tokens of another program, or cuts the text.
fn mutate(mut tokens: Vec<String>, other: &[String], changes: &[Change]) -> String {
    for &(place, kind, with) in changes {
        if tokens.is_empty() {
            break;
        }
        let (at, count) = (place % tokens.len(), 1 + with % 12);
        let end = tokens.len().min(at + count);
        match kind {
            0 => drop(tokens.drain(at..end)),
            1 => {
                let copy = tokens[at..end].to_vec();
                let to = with % tokens.len();
                tokens.splice(to..to, copy);
            }
            2 => {
                let to = with % tokens.len();
                tokens.swap(at, to);
            }
            3 => tokens[at] = WORDS[with % WORDS.len()].to_owned(),
            4 => tokens.insert(at, WORDS[with % WORDS.len()].to_owned()),
            5 => {
                let from = with % other.len();
                let piece = other[from..other.len().min(from + count)].to_vec();
                tokens.splice(at..end, piece);
            }
            _ => tokens.truncate(at + 1),
        }
    }
    tokens.concat()
}

/// Checks what a text leads to.
fn try_text(text: &str) {
    let Ok(program) = parse(text) else { return };
    let printed = program.to_string();
    match parse(&printed) {
        Ok(again) => assert_eq!(again, program, "{printed}"),
        Err(error) => panic!("{error}\n{printed}"),
    }
    if check(&program).is_err() {
        return;
    }
    let key = program.key_text();
    let from_key = parse(&key).unwrap_or_else(|error| panic!("{error}\n{key}"));
    assert_eq!(from_key.key_text(), key);
    run(&program);
}

/// Simulates a program that verifies, on memories of a kilobyte; it may fault.
fn run(program: &Program) {
    let mut memories = Vec::new();
    let mut scalars = Vec::new();
    for param in &program.params {
        match param {
            Param::Memory(_) => memories.push(SimMemory::from_bytes(vec![1; 1024])),
            Param::Scalar(var) => scalars.push(match program.var_type(*var) {
                ScalarType::Bool => true.into(),
                ty => Constant::from_integer(ty, 3),
            }),
        }
    }
    let options = Options { steps: 5_000, ..Options::default() };
    let _ = simulate(program, &mut memories, &scalars, &options);
}

/// `PUMICE_RANDOM=100` takes a hundred times as long.
fn cases() -> u32 {
    1000 * std::env::var("PUMICE_RANDOM").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_or_right(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        try_text(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words_are_refused_or_right(words in prop::collection::vec(prop::sample::select(WORDS), 0..80)) {
        try_text(&words.join(" "));
        try_text(&format!(
            "kernel k memory @xs: global read i64 memory @out: global write i64 params @xs, @out, %x: i64 threads 64
             blocks %b: i64 < 1:i64 body {{ parallel %t: i64 < 64:i64 {{ {} }} }}",
            words.join(" ")
        ));
    }

    #[test]
    fn changed_programs_are_refused_or_right(
        number in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(), changes in changes(),
    ) {
        let (tokens, other) = (number.get(&PROGRAMS[..]), other.get(&PROGRAMS[..]));
        try_text(&mutate(tokens.clone(), other, &changes));
    }
}

#[test]
fn tokens_are_the_text() {
    for text in ["", "%a: i64 = add %b, 1:i64\n", "  {{x..y}}"] {
        assert_eq!(tokens(text).concat(), text);
    }
    // Files that are right stay so, and some of what is changed is still a program.
    PROGRAMS.iter().for_each(|tokens| try_text(&tokens.concat()));
    let changed = |seed: usize| {
        let program = &PROGRAMS[seed % PROGRAMS.len()];
        mutate(
            program.clone(),
            program,
            &[(seed.wrapping_mul(0x9e37_79b9), 2 + seed % 2, seed.wrapping_mul(7919))],
        )
    };
    let taken =
        (0..400).filter(|&seed| parse(&changed(seed)).is_ok_and(|program| check(&program).is_ok())).count();
    assert!(taken > 10, "{taken} of 400");
}
