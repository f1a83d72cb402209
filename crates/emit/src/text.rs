//! Text in the making: lines with indentation. Knows nothing of any language beyond its braces.

/// Lines, indented by how many braces are open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    buffer: String,
    indent: usize,
}

impl Text {
    /// Whether nothing has been written.
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, line: &str) {
        for _ in 0..self.indent {
            self.buffer.push_str("    ");
        }
        self.buffer.push_str(line);
        self.buffer.push('\n');
    }

    /// Adds a line at the left margin: a preprocessor's.
    pub(crate) fn directive(&mut self, line: &str) {
        self.buffer.push_str(line);
        self.buffer.push('\n');
    }

    /// Adds a line that ends in an opening brace.
    pub(crate) fn open(&mut self, line: &str) {
        self.line(&format!("{line} {{"));
        self.indent += 1;
    }

    /// Opens a brace that stands alone.
    pub(crate) fn open_block(&mut self) {
        self.line("{");
        self.indent += 1;
    }

    /// Closes the brace and opens another, as for `else`.
    pub(crate) fn reopen(&mut self, line: &str) {
        self.indent -= 1;
        self.open(&format!("}} {line}"));
    }

    /// Closes a brace.
    pub(crate) fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// Adds text that is indented already.
    pub(crate) fn append(&mut self, other: &Text) {
        self.buffer.push_str(&other.buffer);
    }

    /// Adds lines at this text's depth.
    pub(crate) fn append_inside(&mut self, other: &Text) {
        for line in other.buffer.lines() {
            if line.starts_with('#') { self.directive(line) } else { self.line(line) }
        }
    }

    /// Returns the text written so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.buffer
    }
}
