//! The pages of the guide: their links, the anchors of their headings, and the names in their tables.
//!
//! Parses Markdown, and knows nothing of the pages' subjects.

use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A page of Markdown.
pub struct Page {
    pub file: PathBuf,
    /// Targets of its links and pictures, as written.
    pub links: Vec<String>,
    /// Anchors of its headings.
    pub anchors: Vec<String>,
    /// Whether it has Rust code that is to be compiled.
    pub has_rust: bool,
    /// The code in each cell of its tables, with the heading of the column.
    pub cells: Vec<Cell>,
}

/// A piece of code in a table.
pub struct Cell {
    pub column: String,
    pub code: String,
}

impl Page {
    /// Reads a page.
    pub fn read(file: &Path) -> Page {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        Page::parse(file, &text)
    }

    fn parse(file: &Path, text: &str) -> Page {
        let mut page =
            Page { file: file.into(), links: vec![], anchors: vec![], has_rust: false, cells: vec![] };
        let (mut heading, mut in_head, mut columns, mut column) = (None, false, Vec::new(), 0);
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match &event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    page.anchors.extend(heading.take().map(|text| anchor(&text)))
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    page.has_rust |= language.starts_with("rust") && !language.contains("ignore");
                }
                Event::Start(Tag::TableHead) => (in_head, columns, column) = (true, Vec::new(), 0),
                Event::End(TagEnd::TableHead) => in_head = false,
                Event::Start(Tag::TableRow) => column = 0,
                Event::Start(Tag::TableCell) if in_head => columns.push(String::new()),
                Event::End(TagEnd::TableCell) => column += 1,
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(text);
                    }
                    match &event {
                        _ if in_head => columns.last_mut().unwrap().push_str(text),
                        Event::Code(code) if column < columns.len() => {
                            page.cells.push(Cell { column: columns[column].clone(), code: code.to_string() })
                        }
                        _ => {}
                    }
                }
                Event::End(TagEnd::Table) => columns.clear(),
                _ => {}
            }
        }
        page
    }

    /// Returns the files and headings within the repository that its links point to.
    pub fn destinations(&self) -> impl Iterator<Item = (PathBuf, Option<&str>)> {
        let folder = self.file.parent().unwrap();
        let inside = |link: &&String| !link.contains("://") && !link.starts_with("mailto:");
        self.links.iter().filter(inside).map(move |link| {
            let (file, heading) = match link.split_once('#') {
                Some((file, heading)) => (file, Some(heading)),
                None => (link.as_str(), None),
            };
            (if file.is_empty() { self.file.clone() } else { folder.join(file) }, heading)
        })
    }
}

/// Returns the anchor of a heading: words in lower case, with hyphens between them.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns the names that code calls or accesses: those before `(`, `!` and `::`, those after `.` and `::`, and a
/// name that stands alone.
pub fn names(code: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    let mut rest = code;
    let mut before = "";
    while let Some(start) = rest.find(is_part) {
        before = match start {
            0 => before,
            start => &rest[..start],
        };
        let word = &rest[start..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let is_named = ["(", "!", "::"].iter().any(|sign| after.starts_with(sign))
            || before.ends_with('.')
            || before.ends_with("::")
            || word == code;
        if is_named && !word.starts_with(|c: char| c.is_numeric()) {
            names.push(word.to_string());
        }
        (rest, before) = (after, "");
    }
    names
}

#[test]
fn names_in_code_are_found() {
    assert_eq!(names("xs.fold(0, |a, b| a + b)"), ["fold"]);
    assert_eq!(names("random::uniform(shape, seed)"), ["random", "uniform"]);
    assert_eq!(names("comp![x | x <- xs]"), ["comp"]);
    assert_eq!(names("Push"), ["Push"]);
    assert_eq!(names("x.cast::<f32>()"), ["cast"]);
    assert_eq!(names("1.5"), [""; 0]);
}

#[test]
fn pages_are_read() {
    let text = "# A `b` c!\n\n[x](y.md#z) ![p](q.svg)\n\n| From | Pumice |\n|---|---|\n| `a` | `b`, `c\\|d` |\n\n```rust\n```\n";
    let page = Page::parse(Path::new("/docs/a.md"), text);
    assert_eq!(page.anchors, ["a-b-c"]);
    let destinations: Vec<_> = page.destinations().collect();
    assert_eq!(
        destinations,
        [(PathBuf::from("/docs/y.md"), Some("z")), (PathBuf::from("/docs/q.svg"), None)]
    );
    let cells: Vec<_> = page.cells.iter().map(|cell| (cell.column.as_str(), cell.code.as_str())).collect();
    assert_eq!(cells, [("From", "a"), ("Pumice", "b"), ("Pumice", "c|d")]);
    assert!(page.has_rust);
}
