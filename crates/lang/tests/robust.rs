//! Parsing of any text ends, quickly, with a tree that has all of it.

use proptest::prelude::*;
use pumice_lang::source::{FileId, Source, Sources};
use pumice_lang::{print, syntax};

const LANGUAGE: &str = include_str!("parse/language.pum");
const FCL: &str = include_str!("parse/fcl.pum");
const BUILTINS: &str = include_str!("../pum/builtins.pum");

/// Reads a text as a file and as an expression, renders what is wrong, and prints the tree.
fn check(text: &str) -> usize {
    let mut sources = Sources::default();
    let file = sources.add(Source::new("test.pum", text));
    let parsed = syntax::parse(file, text, &mut 0);
    assert_eq!(parsed.syntax.text(), text);
    for error in &parsed.errors {
        assert!(!error.message.is_empty());
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
    }
    for error in parsed.errors.iter().take(5) {
        error.render(&sources, false);
    }
    print::module(&parsed.module);
    // Recursive walks over the tree do not overflow the stack.
    assert!(!std::format!("{:?}", parsed.module.clone()).is_empty());
    let (expression, errors) = syntax::parse_expression(file, text, &mut 0);
    for error in errors.iter().take(5) {
        error.render(&sources, false);
    }
    print::expression(&expression);
    parsed.errors.len()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_words_are_read(words in prop::collection::vec(
        prop::sample::select(vec![
            "sig", "fun", "type", "import", "let", "in", "fn", "if", "then", "else", "case", "of", "x", "y", "f", "Just", "1", "2.5",
            "=", "=>", "->", "<-", "|", "|>", "<", ">", "<b>", "(", ")", "[", "]", "{", "}", ",", ";", ":", "::", ".", "..", "-", "+",
            "==", "\\", "_", "order by", "take", "with", "\n", "\n  ", "\n      ", "-- c\n", "é", "\"s\"", "#BlockSize", "&", "!",
        ]),
        0..60,
    ), blanks in any::<bool>()) {
        check(&words.join(if blanks { " " } else { "" }));
    }

    #[test]
    fn programs_that_end_too_early_are_read(which in 0..3usize, end in any::<prop::sample::Index>()) {
        let text = [LANGUAGE, FCL, BUILTINS][which];
        let end = end.index(text.len());
        if let Some(text) = text.get(..end) {
            check(text);
        }
    }

    #[test]
    fn programs_with_parts_that_were_moved_are_read(
        which in 0..3usize,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, any::<prop::sample::Index>()), 1..6),
    ) {
        let mut text = [LANGUAGE, FCL, BUILTINS][which].to_string();
        for (from, length, to) in cuts {
            let from = from.index(text.len());
            let end = (from + length).min(text.len());
            if text.get(from..end).is_none() {
                continue;
            }
            let part: String = text.drain(from..end).collect();
            let to = to.index(text.len());
            if text.is_char_boundary(to) {
                text.insert_str(to, &part);
            }
        }
        check(&text);
    }
}

#[test]
fn what_is_nested_or_chained_too_far_is_told_and_overflows_nothing() {
    let many = 20_000;
    let cases = [
        format!("fun f = {}", "(".repeat(many)),
        format!("fun f = {}1{}", "(".repeat(many), ")".repeat(many)),
        format!("fun f = {}1{}", "[".repeat(many), "]".repeat(many)),
        format!("fun f = {}", "[ x | x <- ".repeat(many)),
        format!("fun f = {}1", "- ".repeat(many)),
        format!("fun f = {}1", "! ".repeat(many)),
        format!("fun f = {}1", "fn x => ".repeat(many)),
        format!("fun f = {}1", "let x = ".repeat(many)),
        format!("fun f = {}1", "let x = 1 in ".repeat(many)),
        format!("fun f = {}1", "if true then ".repeat(many)),
        format!("fun f = {}1", "if true then 1 else ".repeat(many)),
        format!("fun f = {}1", "case ".repeat(many)),
        format!("fun f = {}1", "case x of | y => ".repeat(many)),
        format!("fun f = {}1", "{ x = ".repeat(many)),
        format!("fun f = {}1", "{ r with x = ".repeat(many)),
        format!("fun f = {}1", "{ ".repeat(many)),
        format!("fun f = 1{}", " + 1".repeat(many)),
        format!("fun f = 1{}", " |> f".repeat(many)),
        format!("fun f = 1{}", " . f".repeat(many)),
        format!("fun f = 1{}", " == 1".repeat(many)),
        format!("fun f = f{}", " x".repeat(many)),
        format!("fun f = f{}", " <l>".repeat(many)),
        format!("fun f = f{}", " fn x => x".repeat(many)),
        format!("fun f = r{}", ".x".repeat(many)),
        format!("fun f = r{}", ".0".repeat(many)),
        format!("fun f {} = 1", "(".repeat(many)),
        format!("fun f {} = 1", "{ x = ".repeat(many)),
        format!("fun f = case x of {}", "C (".repeat(many)),
        format!("sig f : {}a", "a -> ".repeat(many)),
        format!("sig f : {}a", "<l> -> ".repeat(many)),
        format!("sig f : {}a", "(".repeat(many)),
        format!("sig f : {}a", "[".repeat(many)),
        format!("sig f : {}a", "T (".repeat(many)),
        format!("fun f = (1{}){}", " + 1".repeat(900), " + 1".repeat(900)),
        format!("fun f = {}1{}", "(".repeat(150), (" + 1".repeat(100) + ")").repeat(150)),
    ];
    for text in cases {
        let begin: String = text.chars().take(40).collect();
        assert!(check(&text) > 0, "{begin}");
    }
    // Text that is long, but not deep, is not an error.
    let cases = [
        format!("fun f = [{}1]", "1, ".repeat(many)),
        format!("fun f {} = 1", "x ".repeat(many)),
        format!("fun f = push <{}l>", "1+".repeat(many)),
        "fun f = 1\n".repeat(many),
        format!("fun f = let {} in 1", "x = 1; ".repeat(many)),
        format!("fun f = case x of {} | _ => 1", "| 1 => 1".repeat(many)),
        format!("fun f = 1{}", " + 1".repeat(990)),
        format!("fun f = {}1{}", "(".repeat(190), ")".repeat(190)),
    ];
    for text in cases {
        let begin: String = text.chars().take(40).collect();
        assert_eq!(check(&text), 0, "{begin}");
    }
}

#[test]
fn no_text_takes_much_longer_than_others() {
    // If the time grew with the square of the length, this would not end.
    for part in [
        "'",
        "1'",
        "a'",
        "1_",
        "1e+",
        "\"",
        "-",
        "<1+",
        "<",
        "[ x | ",
        "f x <a> ",
        "x.",
        "| ",
        "type A = B ",
        "é",
        "a\n",
        "x = ",
        "(]",
    ] {
        for head in ["", "fun f = ", "fun f = let x = 1 in [ x | "] {
            check(&(head.to_string() + &part.repeat(100_000 / part.len())));
        }
    }
}

#[test]
fn errors_are_bounded_and_too_large_files_are_refused() {
    assert_eq!(check(&"fun f = ) é @ \n".repeat(10_000)), syntax::MAX_ERRORS);
    let large = " ".repeat(syntax::MAX_BYTES + 1);
    let parsed = syntax::parse(FileId(0), &large, &mut 0);
    assert!(parsed.errors[0].message.contains("bytes"));
    let large = "(".repeat(syntax::MAX_BYTES);
    assert!(!syntax::parse(FileId(0), &large, &mut 0).errors.is_empty());
}
