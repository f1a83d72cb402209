//! Text with its lines: bytes as the compiler counts them, positions as the protocol does, in UTF-16. Positions that do not exist are
//! moved to the nearest one that does.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent, TextEdit};
use pumice_lang::source::Span;

/// A text with the offsets of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    text: String,
    lines: Vec<u32>,
}

impl Text {
    /// Creates a text.
    pub fn new(text: String) -> Text {
        let mut text = Text { text, lines: Vec::new() };
        text.find_lines();
        text
    }

    fn find_lines(&mut self) {
        let after = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        self.lines = std::iter::once(0).chain(after.map(|(at, _)| at as u32 + 1)).collect();
    }

    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text of a range; empty if the range is not valid.
    pub fn get(&self, range: std::ops::Range<usize>) -> &str {
        self.text.get(range).unwrap_or("")
    }

    /// Returns the byte offset of a position.
    pub fn offset(&self, position: Position) -> u32 {
        let Some(&start) = self.lines.get(position.line as usize) else { return self.text.len() as u32 };
        let end = self.lines.get(position.line as usize + 1).map_or(self.text.len(), |next| *next as usize);
        let line = self.get(start as usize..end).trim_end_matches(['\n', '\r']);
        let mut units = 0;
        for (at, sign) in line.char_indices() {
            units += sign.len_utf16() as u32;
            if units > position.character {
                return start + at as u32;
            }
        }
        start + line.len() as u32
    }

    /// Returns the position of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset).max(1) - 1;
        let start = self.lines.get(line).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(self.text.len());
        let units = self.get(start..end).chars().map(char::len_utf16).sum::<usize>();
        Position { line: line as u32, character: units as u32 }
    }

    /// Converts a span to a range of positions.
    pub fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    /// Converts a range of positions to a range of bytes.
    pub fn bytes(&self, range: Range) -> std::ops::Range<usize> {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        start as usize..end.max(start) as usize
    }

    /// Applies a client's change to the text.
    pub fn apply(&mut self, change: TextDocumentContentChangeEvent) {
        match change.range {
            None => self.text = change.text,
            Some(range) => {
                let bytes = self.bytes(range);
                self.text.replace_range(bytes, &change.text);
            }
        }
        self.find_lines();
    }

    /// Returns the edit that turns this text into another: equal parts at both ends stay.
    pub fn edit_to(&self, other: &str) -> Option<TextEdit> {
        if self.text == other {
            return None;
        }
        let same = |(a, b): &(char, char)| a == b;
        let start: usize =
            self.text.chars().zip(other.chars()).take_while(same).map(|(sign, _)| sign.len_utf8()).sum();
        let (mine, theirs) = (self.text.get(start..)?, other.get(start..)?);
        let behind: usize = mine
            .chars()
            .rev()
            .zip(theirs.chars().rev())
            .take_while(same)
            .map(|(sign, _)| sign.len_utf8())
            .sum();
        let range = Range {
            start: self.position(start as u32),
            end: self.position((self.text.len() - behind) as u32),
        };
        Some(TextEdit { range, new_text: theirs.get(..theirs.len() - behind)?.to_string() })
    }

    /// Returns the offset at which the name begins that ends at a byte, or has it inside.
    pub fn word_start(&self, offset: u32) -> u32 {
        let before = self.get(0..offset as usize);
        let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_' || sign == '\'';
        before.trim_end_matches(is_part).len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_utf_16() {
        let text = Text::new("-- é 𝄞 x\r\nfun f\n".to_string());
        // `é` is one unit of two bytes, `𝄞` two units of four bytes.
        assert_eq!(text.get(text.offset(at(0, 8)) as usize..text.offset(at(0, 9)) as usize), "x");
        assert_eq!(text.position(text.offset(at(0, 8))), at(0, 8));
        // Inside a character of two units, behind the end of a line, behind the last line.
        assert_eq!(text.position(text.offset(at(0, 6))), at(0, 5));
        assert_eq!(text.position(text.offset(at(0, 99))), at(0, 9));
        assert_eq!(text.position(text.offset(at(7, 3))), at(2, 0));
        assert_eq!(text.position(999), at(2, 0));
    }

    #[test]
    fn edits_change_what_differs() {
        let mut text = Text::new("fun f = 1\nfun é = 2\n".to_string());
        let edit = text.edit_to("fun f = 1\nfun ö = 2\n").unwrap();
        assert_eq!((edit.range, edit.new_text.as_str()), (Range::new(at(1, 4), at(1, 5)), "ö"));
        text.apply(TextDocumentContentChangeEvent {
            range: Some(edit.range),
            range_length: None,
            text: edit.new_text,
        });
        assert_eq!(text.as_str(), "fun f = 1\nfun ö = 2\n");
        assert_eq!(text.edit_to("fun f = 1\nfun ö = 2\n"), None);
        // One inside the other, and nothing left.
        assert_eq!(Text::new("aa".into()).edit_to("aaa").map(|edit| edit.new_text), Some("a".to_string()));
        assert_eq!(Text::new("aa".into()).edit_to("").map(|edit| edit.new_text), Some(String::new()));
    }
}
