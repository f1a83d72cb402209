//! Passes over array programs, before they are planned: one a file. None depends on extents, so a program is rewritten once.

mod place_expansions;

use crate::error::Error;
use crate::plan::PlanOptions;
use crate::verify::CheckedProgram;

impl CheckedProgram {
    /// The program as it is planned with these options: of the same results, by operations that a plan has steps for.
    pub fn ready(&self, options: &PlanOptions) -> Result<CheckedProgram, Error> {
        place_expansions::run(self, options.fuse)
    }
}
