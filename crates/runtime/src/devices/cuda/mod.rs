//! The `cuda` device: programs as CUDA C, compiled by NVRTC for the GPU's own architecture, run by NVIDIA's driver.
//!
//! Both libraries are opened at run time; a machine without them pays one failed look-up. Launches are asynchronous and
//! in order, in one stream; work that comes again is a graph, and loops in it need no host. Large transfers happen beside it.

mod driver;
mod gpu;
mod graph;
mod library;
mod memory;
pub mod nvrtc;
mod transfer;

use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pumice_array::Resources;
use pumice_emit::{Dialect, Effort, EmitOptions};
use pumice_kernel::Profile;
use pumice_program::{Capabilities, Verified};

use self::driver::Driver;
use self::gpu::{Event, Gpu, Module};
use self::memory::Buffer;
use self::nvrtc::Nvrtc;
use self::transfer::{LARGE, Lanes};
use crate::device::{CompiledKernel, Device, DeviceMemory, LaunchArgument, Pin, Signature};
use crate::error::{Error, Result};
use crate::identity::{DeviceId, DeviceName};
use crate::profile::{self, Stamp};
use crate::work::{self, Memo, Work};

#[cfg(test)]
mod tests;

const KIND: &str = "cuda";

/// The most bytes of arguments that a launch may have, on every architecture.
const PARAMETER_BYTES: u32 = 4096;

/// The most private memory that a thread may have, on every architecture.
const PRIVATE_BYTES: u64 = 512 << 10;

/// The names of the driver's library. Its functions are stable, so any version will do that has them.
const DRIVERS: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };

/// An NVIDIA GPU.
pub struct CudaDevice {
    id: DeviceId,
    gpu: Arc<Gpu>,
    nvrtc: &'static Nvrtc,
    profile: Profile,
    lanes: Lanes,
    /// The kernel by which loops go on, once there was one.
    go_on: OnceLock<Result<Module>>,
    clear: OnceLock<Result<Module>>,
    clock: Mutex<Option<Arc<Clock>>>,
}

/// A moment by the GPU's clock and by the host's.
struct Clock {
    zero: Event,
    at: Instant,
}

/// After so long another moment is taken: the driver tells times since one in single precision.
const CLOCK_LASTS: Duration = Duration::from_secs(2);

/// Returns the names of the GPUs that the driver shows.
pub fn find() -> Result<Vec<DeviceName>> {
    Ok((0..driver()?.count()).map(|number| DeviceName::numbered(KIND, number)).collect())
}

/// Returns the driver, which is opened once.
fn driver() -> Result<Arc<Driver>> {
    static DRIVER: OnceLock<Result<Arc<Driver>>> = OnceLock::new();
    DRIVER.get_or_init(|| Driver::open(DRIVERS).map(Arc::new)).clone()
}

impl CudaDevice {
    /// Opens the GPU of this number.
    pub fn open(number: usize) -> Result<CudaDevice> {
        // The driver first: without it, which is the usual case, there is no need to search for the compiler.
        let gpu = Gpu::open(driver()?, u32::try_from(number).unwrap_or(u32::MAX))?;
        Ok(CudaDevice::with(gpu, nvrtc::nvrtc()?))
    }

    fn with(gpu: Gpu, nvrtc: &'static Nvrtc) -> CudaDevice {
        let facts = gpu.facts();
        let profile = Profile {
            threads: facts.max_threads.min(256),
            lanes: 32,
            max_threads: facts.max_threads.min(1024),
            shared_bytes: facts.shared_bytes,
            max_blocks: i32::MAX as u64,
            busy_blocks: u64::from(facts.multiprocessors) * 8,
            vector_bytes: 16,
            coalesces: true,
            forward_progress: true,
            native_warps: true,
            capabilities: Capabilities {
                parameter_bytes: PARAMETER_BYTES,
                ..pumice_emit::capabilities(Dialect::Cuda)
            },
        };
        let (id, [go_on, clear]) = (DeviceId::new(gpu.name()), [OnceLock::new(), OnceLock::new()]);
        let (lanes, clock) = (Lanes::default(), Mutex::default());
        CudaDevice { id, gpu: Arc::new(gpu), nvrtc, profile, lanes, go_on, clear, clock }
    }

    /// A moment by both clocks that is not long ago; waits for the GPU if there is none.
    fn clock(&self) -> Result<Arc<Clock>> {
        let mut kept = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clock) = kept.as_ref().filter(|clock| clock.at.elapsed() < CLOCK_LASTS) {
            return Ok(clock.clone());
        }
        self.gpu.synchronize()?;
        let zero = self.gpu.mark()?;
        self.gpu.synchronize()?;
        Ok(kept.insert(Arc::new(Clock { zero, at: Instant::now() })).clone())
    }

    /// The kernel by which loops go on.
    fn go_on(&self) -> Result<&Module> {
        self.own_kernel(&self.go_on, graph::GO_ON_NAME, graph::GO_ON)
    }

    /// The kernel that clears small memories.
    fn clear(&self) -> Result<&Module> {
        self.own_kernel(&self.clear, graph::CLEAR_NAME, graph::CLEAR)
    }

    /// A kernel of the device's own, compiled when it is first needed.
    fn own_kernel<'a>(
        &self,
        kept: &'a OnceLock<Result<Module>>,
        name: &str,
        text: &str,
    ) -> Result<&'a Module> {
        let make = || {
            let architecture = self.gpu.facts().architecture;
            let binary = self.nvrtc.compile(name, text, architecture, false, Effort::Full)?;
            self.gpu.load(name, name, &binary, 0)
        };
        kept.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Makes a kernel whose launches ask for so much shared memory.
    fn load_entry(
        &self,
        signature: Signature,
        entry: &str,
        binary: &[u8],
        shared: u32,
    ) -> Result<CompiledKernel> {
        let module = self.gpu.load(&signature.name, entry, binary, shared)?;
        Ok(CompiledKernel::new(self.id, signature, module))
    }
}

impl Device for CudaDevice {
    fn id(&self) -> DeviceId {
        self.id
    }

    fn description(&self) -> String {
        let facts = self.gpu.facts();
        let (name, architecture, processors) = (&facts.name, facts.architecture, facts.multiprocessors);
        let (major, minor) = (facts.driver / 1000, facts.driver % 1000 / 10);
        let compiler = self.nvrtc.version();
        format!(
            "{name} (sm_{architecture}, {processors} multiprocessors), driver for CUDA {major}.{minor}, {compiler}"
        )
    }

    fn fingerprint(&self) -> String {
        let facts = self.gpu.facts();
        format!("sm_{} driver {} {}", facts.architecture, facts.driver, self.nvrtc.identity())
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        Ok(DeviceMemory::new(self.id, bytes, self.gpu.allocate(bytes)?))
    }

    fn raw_queue(&self) -> Result<Option<u64>> {
        self.gpu.enter()?;
        Ok(Some(self.gpu.stream as u64))
    }

    fn raw_memory(&self, memory: &DeviceMemory) -> Result<Option<u64>> {
        Ok(Some(memory.handle::<Buffer>(self.id)?.address()))
    }

    fn upload(&self, to: &DeviceMemory, from: &[u8]) -> Result<()> {
        to.check_copy("an upload", from.len())?;
        let buffer = to.handle::<Buffer>(self.id)?;
        match from.len() {
            0 => Ok(()),
            1..LARGE => buffer.write(from),
            _ => self.lanes.write(buffer, from),
        }
    }

    fn download_from(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        from.check_part("a download", first, to.len())?;
        let buffer = from.handle::<Buffer>(self.id)?;
        match to.len() {
            0 => self.synchronize(),
            1..LARGE => buffer.read(first, to),
            _ => self.lanes.read(buffer, first, to),
        }
    }

    unsafe fn pin(&self, memory: &mut [u8]) -> Option<Pin> {
        // SAFETY: as the caller promises.
        unsafe { self.lanes.pin(&self.gpu, memory) }
    }

    fn copy(&self, from: &DeviceMemory, to: &DeviceMemory, bytes: usize) -> Result<()> {
        from.check_copy("a copy", bytes)?;
        to.check_copy("a copy", bytes)?;
        let (from, to) = (from.handle::<Buffer>(self.id)?, to.handle::<Buffer>(self.id)?);
        if bytes == 0 { Ok(()) } else { to.write_from(from, bytes) }
    }

    fn zero(&self, memory: &DeviceMemory, bytes: usize) -> Result<()> {
        memory.check_copy("clearing", bytes)?;
        let buffer = memory.handle::<Buffer>(self.id)?;
        if bytes == 0 { Ok(()) } else { buffer.clear(bytes) }
    }

    fn build_unit(&self, programs: &[&Verified], options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        let private = |program: &Verified| PRIVATE_BYTES * u64::from(program.threads);
        let sources = super::emit(programs, Dialect::Cuda, options, &self.profile, private)?;
        super::compile_unit(programs, &sources, |name, source| {
            let architecture = self.gpu.facts().architecture;
            self.nvrtc.compile(name, &source.text, architecture, options.fast_math, source.effort)
        })
    }

    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel> {
        let (entry, code) = super::unpack(self.id.name(), program, binary)?;
        let shared = pumice_emit::dynamic_shared(program, Dialect::Cuda);
        let shared = shared.map_err(|error| Error::Invalid(error.to_string().into()))?;
        self.load_entry(Signature::of(program), entry, code, shared)
    }

    unsafe fn launch(
        &self,
        kernel: &CompiledKernel,
        blocks: u64,
        arguments: &[LaunchArgument<'_>],
    ) -> Result<()> {
        let module = kernel.handle::<Module>(self.id)?;
        kernel.check_arguments(arguments)?;
        if blocks == 0 {
            return Ok(());
        }
        let threads = kernel.check_threads(&self.profile)?;
        // The low bytes of a value are the value, at whatever width (GPUs' hosts are little-endian).
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(match argument {
                LaunchArgument::Memory(memory) => memory.handle::<Buffer>(self.id)?.address(),
                LaunchArgument::Scalar(value) => value.bits(),
            });
        }
        let mut addresses: Vec<*mut c_void> =
            values.iter_mut().map(|value| (value as *mut u64).cast()).collect();
        // The kernel goes through its blocks by strides of the grid: a smaller grid does the same work.
        let grid = blocks.min(self.profile.max_blocks) as u32;
        // SAFETY: there is a value for each parameter, of its type: the arguments were checked against the signature.
        unsafe { self.gpu.launch(module, grid, threads, &mut addresses) }
    }

    unsafe fn perform(&self, work: &[Work<'_>], memo: &Memo) -> Result<()> {
        // One launch is as quick by itself.
        let is_more = work.len() > 1 || matches!(work, [Work::Rounds(_)]);
        // A profile has a slice for each launch, which a graph would hide.
        if is_more
            && !profile::is_on()
            && self.gpu.graphs().is_ok()
            && let Some(mut kept) = memo.try_lock()
        {
            let (gpu, device, max_blocks) = (&self.gpu, self.id, self.profile.max_blocks);
            let (go_on, clear) = (&|| self.go_on(), &|| self.clear());
            let architecture = self.nvrtc.written_for(gpu.facts().architecture);
            let starts_early = architecture >= Some(graph::STARTS_EARLY);
            let graphs = graph::Maker { gpu, device, go_on, clear, max_blocks, starts_early };
            if graphs.start(work, &mut kept)? {
                return Ok(());
            }
        }
        // SAFETY: as the caller promises.
        unsafe { work::in_order(self, work, &|| Ok(())) }
    }

    fn synchronize(&self) -> Result<()> {
        self.gpu.synchronize()
    }

    fn stamp(&self) -> Result<Stamp> {
        let (clock, event) = (self.clock()?, self.gpu.mark()?);
        Ok(Stamp::later(move || {
            let milliseconds = event.since(&clock.zero)?.max(0.0);
            Ok(clock.at + Duration::from_secs_f64(milliseconds / 1e3))
        }))
    }

    fn resources(&self, kernel: &CompiledKernel) -> Result<Resources> {
        kernel.handle::<Module>(self.id)?.resources()
    }

    fn waits(&self) -> u64 {
        self.gpu.waits()
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.gpu.time(work)
    }
}
