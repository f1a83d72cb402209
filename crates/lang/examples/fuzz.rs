//! Mutates the programs of the tests and reads and formats what comes of that. Nothing may panic, trees must have all of the text, and
//! formatting must keep the program and change nothing the second time.
//!
//! Some of the inputs go further. Mutated programs that are read are typed, and evaluated within bounds. Random programs whose types are
//! right (`tests/typed`) must be found to be right, before and after formatting, and evaluate to the same. No evaluation may find a value
//! that is not of its type.
//!
//! `cargo run -p pumice-lang --example fuzz -- COUNT [SEED]`: the same count and seed are the same inputs.

#[path = "../tests/typed/mod.rs"]
mod typed;

use pumice_array::ArrayData;
use pumice_lang::meaning::{MeaningOptions, evaluate};
use pumice_lang::program::Program;
use pumice_lang::show::show;
use pumice_lang::source::{Source, Sources};
use pumice_lang::{format, print, syntax, types};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

const FILES: &[&str] = &[
    include_str!("../tests/parse/language.pum"),
    include_str!("../tests/parse/layout.pum"),
    include_str!("../tests/parse/fcl.pum"),
    include_str!("../pum/builtins.pum"),
    include_str!("../tests/errors/let.pum"),
    include_str!("../tests/errors/functions.pum"),
    include_str!("../tests/errors/branches.pum"),
    include_str!("../tests/errors/brackets.pum"),
    include_str!("../tests/errors/operators.pum"),
    include_str!("../tests/errors/records.pum"),
    include_str!("../tests/errors/types.pum"),
    include_str!("../tests/errors/numbers.pum"),
    include_str!("../pum/prelude.pum"),
    include_str!("../../../examples/pum/primes.pum"),
    include_str!("../../../examples/pum/transpose.pum"),
    include_str!("../../../examples/pum/mandelbrot.pum"),
];

/// One in so many inputs is a random program whose types are right.
const TYPED: u64 = 64;

/// One in so many inputs that can be parsed is typed and evaluated.
const EVALUATED: u64 = 16;

/// Maximum number of evaluation steps.
const MOST_STEPS: u64 = 20_000;

const WORDS: &[&str] = &[
    "sig",
    "fun",
    "type",
    "import",
    "let",
    "in",
    "fn",
    "if",
    "then",
    "else",
    "case",
    "of",
    "true",
    "div",
    "band",
    "order by",
    "group by",
    "take",
    "distinct",
    "descending",
    "with",
    "x",
    "Just",
    "_",
    "1",
    "2.5",
    "0xff",
    "-1",
    "#BlockSize",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "::",
    "=",
    "=>",
    "->",
    "<-",
    "|",
    "||",
    "|>",
    "<",
    ">",
    "<b>",
    "==",
    ".",
    "..",
    "+",
    "-",
    "\\",
    "-- c\n",
    "--",
    "é",
    "\"",
    "'",
    "&",
    "\t",
    "\u{0}",
];

const GAPS: &[&str] = &[
    "",
    " ",
    "  ",
    "\n",
    "\n  ",
    "\n      ",
    "\n          ",
    " -- behind\n    ",
    "\n    -- alone\n      ",
    "\n\n\n",
    "\r\n",
];

/// Numbers that look random, by SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn of<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len())]
    }
}

/// The items of the corpus, each as words and what stands between them, in turn.
fn corpus() -> Vec<Vec<&'static str>> {
    let mut items: Vec<Vec<&str>> = Vec::new();
    for file in FILES {
        let mut item = Vec::new();
        for piece in pieces(file) {
            if ["fun", "sig", "type", "import"].contains(&piece) && !item.is_empty() {
                items.push(std::mem::take(&mut item));
            }
            item.push(piece);
        }
        items.push(item);
    }
    items
}

/// Words, signs, and runs of blanks.
fn pieces(text: &str) -> Vec<&str> {
    let class = |sign: char| match sign {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '\'' => 0,
        ' ' | '\n' => 1,
        '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' => 2,
        _ => 3,
    };
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, sign) in text.char_indices() {
        let here = class(sign);
        if last.is_some_and(|last| last != here || here == 2) {
            pieces.push(&text[start..at]);
            start = at;
        }
        last = Some(here);
    }
    pieces.push(&text[start..]);
    pieces
}

fn mutated(random: &mut Random, corpus: &[Vec<&'static str>]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for _ in 0..1 + random.below(2) {
        words.extend(&corpus[random.below(corpus.len())]);
    }
    for _ in 0..random.below(6) {
        let at = random.below(words.len());
        let length = 1 + random.below(5);
        let end = (at + length).min(words.len());
        match random.below(8) {
            0 => drop(words.drain(at..end)),
            1 => {
                let copy: Vec<&str> = words[at.min(end)..end].to_vec();
                let to = random.below(words.len() + 1);
                words.splice(to..to, copy);
            }
            2 => {
                let other = random.below(words.len());
                if at < words.len() {
                    words.swap(at, other);
                }
            }
            3 | 4 => words.insert(at, random.of(WORDS)),
            5 | 6 => {
                // Another layout of the same words.
                for word in words.iter_mut().filter(|word| word.trim().is_empty()) {
                    if random.below(6) == 0 {
                        *word = random.of(GAPS);
                    }
                }
            }
            _ => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                let until = (from + length).min(other.len());
                words.splice(at..at, other[from..until].iter().copied());
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

/// Checks one text; says whether it was a program.
fn check(text: &str, render: bool) -> bool {
    let mut sources = Sources::default();
    let file = sources.add(Source::new("fuzz.pum", text));
    let parsed = syntax::parse(file, text, &mut 0);
    assert_eq!(parsed.syntax.text(), text, "the tree has another text");
    for error in &parsed.errors {
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
        if render {
            error.render(&sources, false);
        }
    }
    let (expression, _) = syntax::parse_expression(file, text, &mut 0);
    print::expression(&expression);
    let before = print::module(&parsed.module);
    if !parsed.errors.is_empty() {
        return false;
    }
    let once = format::format(text).expect("a program is formatted");
    let again = syntax::parse(file, &once, &mut 0);
    assert!(again.errors.is_empty(), "no program any more:\n{once}");
    assert_eq!(before, print::module(&again.module), "another program:\n{once}");
    assert_eq!(once, format::format(&once).expect("a program is formatted"), "not the same twice");
    true
}

/// Numbers of inputs that came as far as each stage.
#[derive(Clone, Copy, Default)]
struct Reached {
    programs: u64,
    typed: u64,
    evaluated: u64,
}

/// Types a program and evaluates its functions that take no arguments: what they give, or nothing if its types are wrong.
fn meanings(text: &str) -> Option<Vec<Result<String, String>>> {
    let read = |name: &str| match name {
        "shapes" => Ok(typed::SHAPES.to_string()),
        _ => Err(format!("there is no `{name}`")),
    };
    let program = Program::load("fuzz.pum", text, &read).ok()?;
    let checked = types::check(&program).ok()?;
    let mut meanings = Vec::new();
    for id in checked.own_functions().filter(|id| checked.function(*id).0.parameters.is_empty()).take(4) {
        let options = MeaningOptions { block_size: 32, most_steps: MOST_STEPS };
        meanings.push(match evaluate(&program, &checked, id, &[], options) {
            Ok(evaluated) => {
                let arrays: Vec<Arc<dyn ArrayData>> =
                    evaluated.arrays.into_iter().map(|array| Arc::new(array) as _).collect();
                show(&evaluated.result, &arrays, checked.sums()).map_err(|error| error.to_string())
            }
            Err(error) => {
                assert!(
                    !error.message.contains("fault of Pumice"),
                    "{}",
                    error.render(&program.sources, false)
                );
                Err(error.message)
            }
        });
    }
    Some(meanings)
}

/// An input, and whether its types are right.
fn input(number: u64, random: &mut Random, corpus: &[Vec<&'static str>]) -> (String, bool) {
    if !number.is_multiple_of(TYPED) {
        return (mutated(random, corpus), false);
    }
    let bytes: Vec<u8> = (0..20 + random.below(200)).map(|_| random.next() as u8).collect();
    (typed::typed(&bytes), true)
}

/// Checks what an input means, beside its text.
fn check_meaning(text: &str, right: bool, reached: &mut Reached) {
    let Some(before) = meanings(text) else {
        assert!(!right, "the types are right, and are found to be wrong");
        return;
    };
    reached.typed = 1;
    reached.evaluated = u64::from(before.iter().any(Result::is_ok));
    if right {
        let formatted = format::format(text).expect("a program is formatted");
        assert_eq!(Some(before), meanings(&formatted), "formatting changes what it means:\n{formatted}");
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (count, seed) = match (arguments.next(), arguments.next()) {
        (Some(Ok(count)), None) => (count, 1),
        (Some(Ok(count)), Some(Ok(seed))) => (count, seed),
        _ => {
            eprintln!("usage: fuzz COUNT [SEED]");
            return ExitCode::FAILURE;
        }
    };
    let corpus = corpus();
    let start = Instant::now();
    let mut reached = Reached::default();
    for number in 0..count {
        let mut random = Random(seed.wrapping_mul(0x0001_0000_0000).wrapping_add(number));
        let (text, right) = input(number, &mut random, &corpus);
        let one = catch_unwind(|| {
            let mut one = Reached::default();
            if check(&text, number % 64 == 0) {
                one.programs = 1;
                if right || number % EVALUATED == 1 {
                    check_meaning(&text, right, &mut one);
                }
            }
            one
        });
        match one {
            Ok(one) => {
                reached.programs += one.programs;
                reached.typed += one.typed;
                reached.evaluated += one.evaluated;
            }
            Err(_) => {
                eprintln!("input {number} of seed {seed} fails:\n{text}\n{text:?}");
                return ExitCode::FAILURE;
            }
        }
    }
    let Reached { programs, typed, evaluated } = reached;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{count} inputs in {seconds:.1} s: {programs} programs, {typed} with right types, {evaluated} evaluated"
    );
    ExitCode::SUCCESS
}
