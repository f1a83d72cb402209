//! Programs, and what their trees are. `INSTA_UPDATE=always` writes the snapshots anew.

use pumice_lang::source::{Source, Sources};
use pumice_lang::{print, syntax};
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "pum"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
        .into_iter()
        .map(|path| {
            (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// Reads a text; gives its tree, and its errors as a user sees them.
fn read(name: &str, text: &str) -> (String, String) {
    let mut sources = Sources::default();
    let file = sources.add(Source::new(&format!("{name}.pum"), text));
    let parsed = syntax::parse(file, text, &mut 0);
    assert_eq!(parsed.syntax.text(), text);
    let errors: Vec<String> = parsed.errors.iter().map(|error| error.render(&sources, false)).collect();
    (print::module(&parsed.module), errors.join("\n\n"))
}

#[test]
fn programs_have_these_trees() {
    for (name, text) in files("parse") {
        let (tree, errors) = read(&name, &text);
        assert_eq!(errors, "", "{name}");
        insta::assert_snapshot!(format!("parse_{name}"), tree);
    }
}

#[test]
fn mistakes_are_told_in_these_words() {
    for (name, text) in files("errors") {
        let (tree, errors) = read(&name, &text);
        assert_ne!(errors, "", "{name}");
        insta::assert_snapshot!(format!("error_{name}"), format!("{errors}\n\n{tree}"));
    }
}

#[test]
fn the_programs_of_the_guide_are_programs() {
    let guide = include_str!("../../../docs/pum.md");
    let programs: Vec<&str> =
        guide.split("```pum\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!programs.is_empty());
    for program in programs {
        let (tree, errors) = read("guide", program);
        assert_eq!(errors, "");
        assert!(tree.contains("(fun "), "{tree}");
        assert_eq!(pumice_lang::format::format(program).as_deref(), Ok(program));
    }
}
