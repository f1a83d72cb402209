//! The layout of programs: what it looks like, that it is the same program with the same comments, and that formatting twice changes
//! nothing more.

mod programs;

use proptest::prelude::*;
use pumice_lang::source::FileId;
use pumice_lang::{format::format as laid_out, print, syntax};
use std::path::{Path, PathBuf};

fn tree(text: &str) -> Option<String> {
    let parsed = syntax::parse(FileId(0), text, &mut 0);
    parsed.errors.is_empty().then(|| print::module(&parsed.module))
}

/// The comments of a text, in order.
fn comments(text: &str) -> Vec<String> {
    let parsed = syntax::parse(FileId(0), text, &mut 0);
    let tokens = parsed.syntax.descendants_with_tokens().filter_map(|element| element.into_token());
    let comments = tokens.filter(|token| token.kind() == syntax::SyntaxKind::Comment);
    comments.map(|token| token.text().trim_end().to_string()).collect()
}

/// Formats a program, if it is one.
fn check(text: &str) -> bool {
    let Some(before) = tree(text) else { return false };
    let once = laid_out(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let after = tree(&once).unwrap_or_else(|| panic!("no program any more:\n{text}\n---\n{once}"));
    assert_eq!(before, after, "\n{text}\n---\n{once}");
    assert_eq!(comments(text), comments(&once), "\n{text}\n---\n{once}");
    let twice = laid_out(&once).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(once, twice, "\n{text}");
    assert!(!once.lines().any(|line| line.ends_with(' ')), "{once}");
    true
}

fn pum_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            pum_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "pum") {
            found.push(path);
        }
    }
}

#[test]
fn all_programs_of_the_repository_keep_their_meaning() {
    let mut found = Vec::new();
    pum_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut found);
    let formatted = found.iter().filter(|path| check(&std::fs::read_to_string(path).unwrap())).count();
    assert!(formatted >= 3, "{found:?}");
}

#[test]
fn programs_look_like_this() {
    for name in ["fcl", "language", "layout"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse").join(format!("{name}.pum"));
        insta::assert_snapshot!(
            format!("format_{name}"),
            laid_out(&std::fs::read_to_string(path).unwrap()).unwrap()
        );
    }
}

#[test]
fn long_and_deep_programs_are_formatted() {
    let texts = [
        format!("fun f = 1{}", " + 1".repeat(990)),
        format!("fun f = 1{}", " . f".repeat(990)),
        format!("fun f = f{}", " x".repeat(990)),
        format!("fun f = r{}", ".x".repeat(990)),
        format!("sig f : {}int", "int -> ".repeat(990)),
        format!("fun f = {}1{}", "(".repeat(190), ")".repeat(190)),
        format!("fun f = {}1{}", "[".repeat(190), "]".repeat(190)),
        format!("fun f = {}1", "- ".repeat(190)),
        format!("fun f = {}1", "fn x => ".repeat(190)),
        format!("fun f = {}1", "let x = 1 in ".repeat(190)),
        format!("fun f = {}1{}", "let x = ".repeat(190), " in 1".repeat(190)),
        format!("fun f = {}1", "if a then b else ".repeat(190)),
        format!("fun f = {}1", "case x of _ => ".repeat(190)),
        format!("fun f = {}1{}", "{ x = ".repeat(190), "}".repeat(190)),
        format!("fun f = [{}1]", "1, ".repeat(20_000)),
        "fun f = 1\n".repeat(20_000),
    ];
    for text in texts {
        assert!(check(&text), "{}", text.chars().take(40).collect::<String>());
    }
}

#[test]
fn what_is_no_program_is_not_touched() {
    assert_eq!(laid_out("fun f =").unwrap_err().len(), 1);
    assert_eq!(laid_out("").unwrap(), "");
    assert_eq!(laid_out("\n\n  -- c  \n\n\n").unwrap(), "-- c\n");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_keep_their_meaning(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = programs::program(&bytes, false);
        prop_assert!(check(&text), "{}", text);
    }

    #[test]
    fn generated_programs_with_lines_and_comments_keep_their_meaning(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&programs::program(&bytes, true));
    }
}
