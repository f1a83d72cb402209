//! A device that counts the launches and allocations on another one.

use pumice::layers::emit::EmitOptions;
use pumice::layers::kernel::Profile;
use pumice::layers::program::Verified;
use pumice::layers::runtime::{CompiledKernel, Device, DeviceId, DeviceMemory, LaunchArgument, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Wraps another device, which does the work, and counts launches and allocations. It has that device's identity, so nothing may have run on the
/// other one in this process before: programs would continue to run there, uncounted.
///
/// ```
/// use pumice::{Compiler, layers::runtime::devices::Sim, prelude::*};
/// use pumice_testing::Counting;
/// use std::sync::Arc;
/// let device = Arc::new(Counting::new(Arc::new(Sim::open()?)));
/// let numbers = Compiler::with(device.clone()).run(fill(1000, 7i32))?;
/// assert_eq!(numbers.to_vec()?, [7; 1000]);
/// assert_eq!(device.launches(), 1);
/// assert!(device.bytes() >= 4000);
/// assert_eq!(device.largest(), 4000);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Counting {
    device: Arc<dyn Device>,
    launches: AtomicU64,
    bytes: AtomicU64,
    largest: AtomicUsize,
}

impl Counting {
    /// Wraps this device.
    pub fn new(device: Arc<dyn Device>) -> Counting {
        let (launches, bytes, largest) = Default::default();
        Counting { device, launches, bytes, largest }
    }

    /// Returns the number of launches with at least one block.
    pub fn launches(&self) -> u64 {
        self.launches.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the arrays of these launches, each array once per launch: the memory traffic, if kernels read or
    /// write every element once.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the largest allocation.
    pub fn largest(&self) -> usize {
        self.largest.load(Ordering::Relaxed)
    }
}

impl Device for Counting {
    fn id(&self) -> DeviceId {
        self.device.id()
    }
    fn description(&self) -> String {
        self.device.description()
    }
    fn fingerprint(&self) -> String {
        self.device.fingerprint()
    }
    fn profile(&self) -> &Profile {
        self.device.profile()
    }
    /// Allocations are exactly as large as the arrays in them, so that bytes can be counted.
    fn rounds_sizes(&self) -> bool {
        false
    }
    fn memory_limit(&self) -> Option<usize> {
        self.device.memory_limit()
    }
    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        self.largest.fetch_max(bytes, Ordering::Relaxed);
        self.device.allocate(bytes)
    }
    fn upload(&self, to: &DeviceMemory, from: &[u8]) -> Result<()> {
        self.device.upload(to, from)
    }
    fn download_from(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        self.device.download_from(from, first, to)
    }
    fn copy(&self, from: &DeviceMemory, to: &DeviceMemory, bytes: usize) -> Result<()> {
        self.device.copy(from, to, bytes)
    }
    fn zero(&self, memory: &DeviceMemory, bytes: usize) -> Result<()> {
        self.device.zero(memory, bytes)
    }
    fn build_unit(&self, programs: &[&Verified], options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        self.device.build_unit(programs, options)
    }
    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel> {
        // SAFETY: `build_unit` made the binary of this program, and it is the other device's `build_unit`.
        unsafe { self.device.load(program, binary) }
    }
    unsafe fn launch(
        &self,
        kernel: &CompiledKernel,
        blocks: u64,
        arguments: &[LaunchArgument<'_>],
    ) -> Result<()> {
        if blocks > 0 {
            let bytes = arguments.iter().map(|argument| match argument {
                LaunchArgument::Memory(memory) => memory.bytes() as u64,
                LaunchArgument::Scalar(_) => 0,
            });
            self.launches.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(bytes.sum(), Ordering::Relaxed);
        }
        // SAFETY: the caller promises the same of these arguments.
        unsafe { self.device.launch(kernel, blocks, arguments) }
    }
    fn raw_queue(&self) -> Result<Option<u64>> {
        self.device.raw_queue()
    }
    fn raw_memory(&self, memory: &DeviceMemory) -> Result<Option<u64>> {
        self.device.raw_memory(memory)
    }
    fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }
    fn waits(&self) -> u64 {
        self.device.waits()
    }
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.device.time(work)
    }
}
