//! Not written yet.

use crate::Program;

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    Vec::new()
}
