//! Common code of the tests of plans.

use pumice_kernel::Profile;

/// A device like a GPU.
pub fn gpu() -> Profile {
    Profile { shared_bytes: 48 << 10, ..Profile::large_gpu() }
}
