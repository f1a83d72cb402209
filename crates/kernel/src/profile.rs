//! Facts that a skeleton may know about the device it is built for.
//!
//! Skeletons choose by these numbers and never by vendor or device name. A profile holds facts only: no handles, no
//! libraries, nothing that could run something.

use pumice_program::Capabilities;

/// The facts about a device that decide how a skeleton divides its work.
///
/// ```
/// use pumice::kernel::Profile;
/// let profile = Profile { threads: 128, ..Profile::large_gpu() };
/// assert!(profile.native_warps);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// Threads of a block that the device likes best. On a CPU: lanes that one worker advances together.
    pub threads: u32,
    /// Threads of a block that advance together: a warp, or what a worker's vector registers hold.
    pub lanes: u32,
    /// The most threads that a block may have.
    pub max_threads: u32,
    /// Bytes of memory that the threads of one block share.
    pub shared_bytes: u32,
    /// The most blocks that a grid has at once; where kernels loop over blocks themselves, a launch may have more.
    pub max_blocks: u64,
    /// Blocks that keep the whole device busy: a kernel with fewer leaves part of it idle.
    pub busy_blocks: u64,
    /// Bytes of the widest load or store that one thread makes in one instruction; 0 where neighbouring threads'
    /// accesses are combined by the compiler instead (a CPU, where a lane is an element of a vector register).
    pub vector_bytes: u32,
    /// Whether neighbouring threads run in lock-step and want neighbouring memory (a GPU), or a thread is at its
    /// best when it runs alone through consecutive memory (a CPU's scalar code).
    pub coalesces: bool,
    /// Whether a block that has started gets on while others wait for it, however many there are: then a block may wait
    /// for what blocks that started before it will write.
    pub forward_progress: bool,
    /// The types and operations that it has: what the pipeline legalises programs against.
    pub capabilities: Capabilities,
    /// Whether the lanes of a warp exchange values by themselves. Elsewhere that is imitated with memory and barriers.
    pub native_warps: bool,
}

impl Profile {
    /// A large GPU: blocks of 256 threads, wide loads, neighbouring threads want neighbouring memory. What simulations are of, and
    /// what tests begin with.
    ///
    /// ```
    /// use pumice_kernel::Profile;
    /// let small = Profile { threads: 64, busy_blocks: 8, ..Profile::large_gpu() };
    /// assert!(small.coalesces && small.threads <= small.max_threads);
    /// ```
    pub const fn large_gpu() -> Profile {
        Profile {
            threads: 256,
            lanes: 32,
            max_threads: 1024,
            shared_bytes: 227 << 10,
            max_blocks: i32::MAX as u64,
            busy_blocks: 1056,
            vector_bytes: 16,
            coalesces: true,
            forward_progress: true,
            native_warps: true,
            capabilities: Capabilities::ALL,
        }
    }
}
