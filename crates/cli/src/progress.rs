//! A progress line on standard error. It is shown only if that is a terminal.

use std::io::{IsTerminal, Write};

/// The progress line. It is wiped when this is dropped.
pub struct Progress {
    is_shown: bool,
    is_written: bool,
}

impl Progress {
    /// Returns a line that is shown if standard error is a terminal.
    pub fn new() -> Progress {
        Progress { is_shown: std::io::stderr().is_terminal(), is_written: false }
    }

    /// Shows that step `number`, counted from 0, of `of` is under way.
    pub fn step(&mut self, number: usize, of: usize, what: &str) {
        if self.is_shown {
            write(&format!("{WIPE}[{}/{of}] {what}", number + 1));
            self.is_written = true;
        }
    }

    /// Wipes the line, so that something can be printed in its place.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_written) {
            write(WIPE);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Control sequence that moves the cursor to the beginning of the line and clears the line.
const WIPE: &str = "\r\x1b[2K";

/// Writes to standard error. An error is ignored: progress that cannot be shown is no reason to stop.
fn write(text: &str) {
    let mut terminal = std::io::stderr().lock();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}
