//! Tests of the documentation: the guide is complete and names only existing items, and public items have examples.
//!
//! They read the repository and build nothing. The guide's code is compiled and run by the documentation tests of `pumice` and `pumice-array`.

mod book;
mod surface;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use book::Page;
use surface::{PublicItem, Surface, surface};

/// The public items of `pumice`, found once because reading all sources takes a while.
static SURFACE: LazyLock<Surface> = LazyLock::new(|| surface(&root()));

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Returns the pages of the guide, without its table of contents.
fn pages() -> Vec<Page> {
    let entries = root().join("docs").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let is_page = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "md");
    entries
        .filter(is_page)
        .filter(|file| !file.ends_with("SUMMARY.md"))
        .map(|file| Page::read(&file))
        .collect()
}

fn text(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let contents = Page::read(&root().join("docs/SUMMARY.md"));
    let mut listed: Vec<PathBuf> = contents.destinations().map(|(file, _)| file).collect();
    let mut there: Vec<PathBuf> = pages().into_iter().map(|page| page.file).collect();
    listed.sort();
    there.sort();
    assert_eq!(listed, there, "docs/SUMMARY.md (left) and the pages in docs (right)");
}

#[test]
fn links_lead_somewhere() {
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/SUMMARY.md"];
    let mut broken = Vec::new();
    for page in pages().into_iter().chain(others.map(|file| Page::read(&root().join(file)))) {
        for (file, heading) in page.destinations() {
            let is_there = match heading {
                Some(heading) if file.is_file() => {
                    Page::read(&file).anchors.iter().any(|anchor| anchor == heading)
                }
                _ => file.exists(),
            };
            if !is_there {
                broken.push(format!("{}: {} {}", page.file.display(), file.display(), heading.unwrap_or("")));
            }
        }
    }
    assert!(broken.is_empty(), "links to what is not there:\n{}", broken.join("\n"));
}

/// A book has what is in `docs` and nothing else: other files of the repository are named in code font.
#[test]
fn links_of_the_guide_stay_in_the_guide() {
    let docs = root().join("docs");
    let mut outside = Vec::new();
    for page in pages().into_iter().chain([Page::read(&docs.join("SUMMARY.md"))]) {
        let leaves = |file: &PathBuf| {
            !file.starts_with(&docs) || file.components().any(|part| part == Component::ParentDir)
        };
        let files = page.destinations().map(|(file, _)| file).filter(leaves);
        outside.extend(files.map(|file| format!("{}: {}", page.file.display(), file.display())));
    }
    assert!(outside.is_empty(), "links to what a book does not have:\n{}", outside.join("\n"));
}

#[test]
fn code_of_every_page_is_tested() {
    // One page needs features and crates that only `crates/array` is tested with.
    let files = ["pumice/src/guide.rs", "pumice/src/lib.rs", "array/src/lib.rs"];
    let tested: String = files.iter().map(|file| text(&format!("crates/{file}"))).collect();
    let name = |page: &Page| format!("docs/{}\"", page.file.file_name().unwrap().to_string_lossy());
    let missing: Vec<String> =
        pages().iter().filter(|page| page.has_rust).map(name).filter(|name| !tested.contains(name)).collect();
    assert!(missing.is_empty(), "add these to crates/pumice/src/guide.rs: {}", missing.join(", "));
}

/// In tables of names, those in the column `Pumice` are public items, and those in `.pum` are functions of the language.
#[test]
fn names_in_tables_exist() {
    let known = &SURFACE.names;
    // Rust's, and names of ours that are no items; names of one letter are placeholders.
    let others = ["pumice", "Option", "Err", "derive"];
    let is_known = |name: &String| known.contains(name) || others.contains(&name.as_str()) || name.len() == 1;
    let functions = text("docs/pum-functions.md");
    let mut unknown = Vec::new();
    for page in pages() {
        for cell in &page.cells {
            let missing: Vec<String> = match cell.column.as_str() {
                // Commands, and items of other crates, are not checked.
                "Pumice" if !cell.code.starts_with("pumice ") && !cell.code.starts_with("pumice_") => {
                    book::names(&cell.code).into_iter().filter(|name| !is_known(name)).collect()
                }
                ".pum" => {
                    let word = cell.code.split(' ').next().unwrap_or_default();
                    let is_function = functions.contains(&format!("- `{word} :"));
                    let is_syntax = word.starts_with(['[', '-']) || ["if", "case", "pumice"].contains(&word);
                    (!is_function && !is_syntax).then(|| word.to_string()).into_iter().collect()
                }
                _ => Vec::new(),
            };
            unknown.extend(missing.into_iter().map(|name| format!("{}: `{name}`", page.file.display())));
        }
    }
    assert!(unknown.is_empty(), "names of nothing:\n{}", unknown.join("\n"));
}

/// The page on semantics names cases of the conformance suite as evidence; they must exist.
#[test]
fn cases_that_semantics_names_exist() {
    let (page, cases) = (text("docs/semantics.md"), text("crates/testing/src/cases/mod.rs"));
    let known: BTreeSet<&str> = cases.split_whitespace().collect();
    let is_module = |module: &str| cases.contains(&format!("pub mod {module};"));
    let code = page.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::"));
    let named: Vec<(&str, &str)> = code.filter(|(module, _)| is_module(module)).collect();
    assert!(named.len() > 15, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|(_, case)| !known.contains(case)).collect();
    assert!(missing.is_empty(), "no cases: {missing:?}");
}

/// Items that need no example: names, files or folders, each with the reason.
const WITHOUT_EXAMPLE: &str = include_str!("without_example.txt");

/// The documentation of every public item has code that runs, unless `without_example.txt` gives a reason.
#[test]
fn public_items_have_examples() {
    let lines = WITHOUT_EXAMPLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let exempt: Vec<&str> = lines.filter_map(|line| line.split_once(": ").map(|(what, _)| what)).collect();
    let exempts = |what: &str, item: &PublicItem| {
        item.name == what || item.file == what || what.ends_with('/') && item.file.starts_with(what)
    };
    let items = &SURFACE.items;
    assert!(items.iter().any(|item| item.name == "Acc::fold" && item.has_example), "items are found");
    let without: Vec<&PublicItem> = items.iter().filter(|item| !item.has_example).collect();
    let unneeded: Vec<&&str> =
        exempt.iter().filter(|what| !without.iter().any(|item| exempts(what, item))).collect();
    assert!(unneeded.is_empty(), "lines of without_example.txt that nothing needs: {unneeded:?}");
    let missing = without.iter().filter(|item| !exempt.iter().any(|what| exempts(what, item)));
    let missing: Vec<String> = missing.map(|item| format!("{} in {}", item.name, item.file)).collect();
    let count = missing.len();
    assert!(missing.is_empty(), "{count} public items without an example that runs:\n{}", missing.join("\n"));
}
