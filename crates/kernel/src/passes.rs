//! The pipeline of Program IR, for a device's profile.

use crate::Profile;
use pumice_program::{Program, Target, pipeline};

pub use pumice_program::pipeline::{Known, Passes, PipelineError, Ready};

impl Profile {
    /// Returns what programs are legalised against.
    ///
    /// ```
    /// use pumice::kernel::Profile;
    /// let target = Profile::large_gpu().target();
    /// assert!(target.capabilities.doubles);
    /// ```
    pub fn target(&self) -> Target {
        Target {
            capabilities: self.capabilities,
            max_threads: self.max_threads,
            shared_bytes: self.shared_bytes,
            vector_bytes: self.vector_bytes,
        }
    }
}

/// Runs the passes for a device and a launch ([`pipeline::run`]).
pub fn ready(
    program: Program,
    profile: &Profile,
    passes: Passes,
    known: &Known,
) -> Result<Ready, PipelineError> {
    pipeline::run(program, &profile.target(), passes, known)
}
