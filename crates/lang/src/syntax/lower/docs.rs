//! Documentation: the comments directly above an item, and the first ones of a file.

use super::super::kinds::SyntaxKind;
use super::super::node::Token;

/// Collects the comments between items, as they come.
#[derive(Default)]
pub(super) struct Docs {
    /// The comments of the file, once it is known which those are.
    pub file: Option<String>,
    lines: Vec<String>,
    /// Whether the first comments of the file have ended.
    seen_gap: bool,
    seen_item: bool,
    /// The lines that have ended since the last comment or item.
    newlines: usize,
}

impl Docs {
    /// Takes a token before an item or behind the last one.
    pub fn token(&mut self, token: Token) {
        match token.kind {
            SyntaxKind::Whitespace => {
                self.newlines = token.text.matches('\n').count();
                if self.newlines > 1 {
                    self.gap();
                }
            }
            SyntaxKind::Comment => {
                // A comment behind an item, on its line, belongs to that.
                if self.newlines > 0 || !self.seen_item {
                    self.lines.push(text(token.text));
                }
                self.newlines = 0;
            }
            _ => {}
        }
    }

    /// Ends a group of comments, at an empty line or at the end: the first group is the file's documentation.
    fn gap(&mut self) {
        if !self.seen_gap && !self.lines.is_empty() {
            self.file = Some(self.lines.join("\n"));
        }
        self.seen_gap |= !self.lines.is_empty();
        self.lines.clear();
    }

    /// Returns the documentation of the item that comes now.
    pub fn item(&mut self) -> Option<String> {
        self.seen_gap = true;
        self.seen_item = true;
        self.newlines = 0;
        let lines = std::mem::take(&mut self.lines);
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Ends the file, after the last item.
    pub fn end(&mut self) {
        self.gap();
    }
}

/// Returns a comment without its sign, and without the blank behind that.
fn text(comment: &str) -> String {
    let text = comment.trim_end().trim_start_matches('-');
    text.strip_prefix(' ').unwrap_or(text).to_string()
}
