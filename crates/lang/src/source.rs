//! Source files and places in them. Does not know the language.

use pumice_scalar::Place;
use std::ops::Range;
use std::sync::Arc;

/// A file of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Returns the span from the beginning of this one to the end of another.
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.end), ..self }
    }

    /// Returns the empty span before its first byte.
    pub fn before(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// Returns the empty span behind its last byte.
    pub fn behind(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// Returns the span as a range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A file: its name and its text.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// Byte offset of the beginning of each line.
    lines: Arc<[u32]>,
}

impl Source {
    /// Creates a file with this text.
    pub fn new(name: &str, text: &str) -> Source {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(after).collect();
        Source { name: name.into(), text: text.into(), lines }
    }

    /// Returns its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line and column of a byte, from 1; columns count characters.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= offset).max(1) - 1;
        let start = self.lines.get(line).copied().unwrap_or(0) as usize;
        let before = self.text.get(start..offset as usize).map_or(0, |text| text.chars().count());
        (line as u32 + 1, before as u32 + 1)
    }
}

/// The files of a program.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, source: Source) -> FileId {
        self.0.push(source);
        FileId(self.0.len() as u32 - 1)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a file.
    pub fn get(&self, file: FileId) -> Option<&Source> {
        self.0.get(file.0 as usize)
    }

    /// Iterates over all files with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.0.iter().enumerate().map(|(number, source)| (FileId(number as u32), source))
    }

    /// Returns the source text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|source| source.text().get(span.range())).unwrap_or("")
    }

    /// Returns a place for the layers below, which name it in comments, failures and reports.
    pub fn place(&self, operation: &str, span: Span) -> Place {
        let (file, (line, column)) = match self.get(span.file) {
            Some(source) => (source.name(), source.line_column(span.start)),
            None => ("", (1, 1)),
        };
        Place::new(operation, file, line, column)
    }
}
