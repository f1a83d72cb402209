//! What tests of plans have in common.

use pumice_kernel::Profile;

/// A device like a GPU.
pub fn gpu() -> Profile {
    Profile {
        threads: 256,
        lanes: 32,
        max_threads: 1024,
        shared_bytes: 49152,
        max_blocks: 1 << 31,
        busy_blocks: 1056,
        vector_bytes: 16,
        coalesces: true,
        forward_progress: true,
        native_warps: true,
        capabilities: pumice_program::Capabilities::ALL,
    }
}
