//! The `opencl` device: programs as OpenCL C, compiled and run by whatever driver is installed.
//!
//! The library is opened at run time by `opencl3`. Its raw functions are used and not its objects, because those panic
//! when a driver fails to release something; here nothing may panic.

mod compile;
mod find;
mod objects;
mod watch;

#[cfg(test)]
mod tests;

use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use opencl3::command_queue as queue;
use opencl3::context::context;
use opencl3::device::Device as Info;
use opencl3::kernel::{self, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_PRIVATE_MEM_SIZE};
use opencl3::memory::{self, CL_MEM_READ_WRITE};
use opencl3::types::cl_int;
use pumice_array::Resources;
use pumice_emit::{Dialect, Effort, EmitOptions};
use pumice_kernel::Profile;
use pumice_program::{Atomics, Capabilities, Verified, WideAtomics};

use self::compile::Code;
pub use self::find::{choose, chooses_gpu, find};
use self::objects::{Buffer, Context, Event, Queue, failed, failed_with_memory, is_exhaustion};
use crate::deadline;
use crate::device::{CompiledKernel, Device, DeviceMemory, LaunchArgument, Signature, WaitCounter};
use crate::error::{Error, Result};
use crate::identity::{DeviceId, DeviceName};
use crate::profile::Stamp;

const KIND: &str = "opencl";

/// The name of PoCL, which runs kernels on a processor.
const POCL: &str = "Portable Computing Language";

const BLOCKING: opencl3::types::cl_bool = 1;

/// The most private memory that the threads of a block have together. No driver says what it can give; PoCL's is on the
/// stack of one thread.
const PRIVATE_BYTES: u64 = 4 << 20;

/// Returns what a device has of what OpenCL C can say.
fn capabilities(info: &Info) -> Capabilities {
    let extensions = info.extensions().unwrap_or_default();
    let has = |name: &str| extensions.split_whitespace().any(|extension| extension == name);
    let wide = match (has("cl_khr_int64_base_atomics"), has("cl_khr_int64_extended_atomics")) {
        (true, true) => WideAtomics::Extended,
        (true, false) => WideAtomics::Base,
        (false, _) => WideAtomics::None,
    };
    let all = pumice_emit::capabilities(Dialect::OpenCl);
    let parameter_bytes = info.max_parameter_size().ok().and_then(|bytes| u32::try_from(bytes).ok());
    Capabilities {
        doubles: has("cl_khr_fp64"),
        atomics: Atomics { wide, ..all.atomics },
        parameter_bytes: parameter_bytes.unwrap_or(1024),
        ..all
    }
}

/// A device of some OpenCL platform.
pub struct OpenClDevice {
    id: DeviceId,
    info: Info,
    context: Context,
    queue: Queue,
    platform: String,
    model: String,
    driver: String,
    rounds_correctly: bool,
    profile: Profile,
    waits: WaitCounter,
    /// Whether programs are compiled with declarations of ours, which take PoCL less time than its own.
    declares: AtomicBool,
    /// A time of the device's clock, in nanoseconds, and the same by the host's.
    clock: OnceLock<(u64, Instant)>,
}

impl OpenClDevice {
    /// Opens the device of this position among those that were found.
    pub fn open(position: usize) -> Result<OpenClDevice> {
        static OPENING: Mutex<()> = Mutex::new(());
        let found = find::found()?.get(position).cloned();
        let find::Found { platform, model, info, .. } = found.ok_or_else(|| {
            Error::Invalid(format!("there is no OpenCL device of number {position}").into())
        })?;
        let id = DeviceId::new(DeviceName::numbered(KIND, position as u32));
        let driver = |call| failed(id.name(), call);
        // PoCL prepares a device when it is first used, and is not made for two threads that do so at once.
        let opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let context = context::create_context(&[info.id()], ptr::null(), None, ptr::null_mut());
        let context = Context(context.map_err(driver("clCreateContext"))?);
        // SAFETY: context and device are valid, and made for each other. With no other property the queue is in order.
        let queue =
            unsafe { queue::create_command_queue(context.0, info.id(), queue::CL_QUEUE_PROFILING_ENABLE) };
        let queue = Queue(queue.map_err(driver("clCreateCommandQueue"))?);
        drop(opening);

        let units = u64::from(info.max_compute_units().unwrap_or(1).max(1));
        let largest = info.max_work_group_size().unwrap_or(1).clamp(1, 1024) as u32;
        let profile = Profile {
            threads: largest.min(256),
            lanes: largest.min(32),
            max_threads: largest,
            shared_bytes: u32::try_from(info.local_mem_size().unwrap_or(0)).unwrap_or(u32::MAX),
            max_blocks: i32::MAX as u64,
            busy_blocks: units * 8,
            vector_bytes: 16,
            coalesces: true,
            forward_progress: false,
            native_warps: false,
            capabilities: capabilities(&info),
        };
        /// Among the abilities with single floats: division and square root are rounded correctly on demand.
        const CORRECTLY_ROUNDED: u64 = 1 << 7;
        let rounds_correctly = info.single_fp_config().unwrap_or(0) & CORRECTLY_ROUNDED != 0;
        let versions = [info.version(), info.driver_version()].map(Result::unwrap_or_default);
        let driver = versions.map(|version| version.trim().to_owned()).join(", driver ");
        let waits = WaitCounter::default();
        let declares = AtomicBool::new(platform == POCL);
        Ok(OpenClDevice {
            id,
            info,
            context,
            queue,
            platform,
            model,
            driver,
            rounds_correctly,
            profile,
            waits,
            declares,
            clock: OnceLock::new(),
        })
    }

    /// Makes the error of a call that failed with this code.
    fn failed(&self, call: &'static str) -> impl Fn(cl_int) -> Error {
        failed(self.id.name(), call)
    }

    /// Makes the error of a call that uses so many bytes of memory.
    fn failed_with_memory(&self, call: &'static str, bytes: usize) -> impl Fn(cl_int) -> Error {
        failed_with_memory(self.id.name(), call, bytes)
    }

    /// Returns a time of the device's clock and the same of the host's; waits for the device when it is first asked for.
    fn clock(&self) -> Result<(u64, Instant)> {
        if let Some(clock) = self.clock.get() {
            return Ok(*clock);
        }
        let (mark, device) = (self.mark()?, self.id.name());
        mark.wait(device)?;
        let clock = (mark.end(device)?, Instant::now());
        Ok(*self.clock.get_or_init(|| clock))
    }

    /// Puts a mark in the queue, whose time can be asked for when the work before it is done.
    fn mark(&self) -> Result<Event> {
        // SAFETY: the queue is valid, and there is no list of events to wait for.
        let mark = unsafe { queue::enqueue_marker_with_wait_list(self.queue.0, 0, ptr::null()) };
        mark.map(Event).map_err(self.failed("clEnqueueMarkerWithWaitList"))
    }
}

impl Device for OpenClDevice {
    fn id(&self) -> DeviceId {
        self.id
    }

    fn description(&self) -> String {
        format!("{} ({}), {}", self.model, self.platform, self.driver)
    }

    fn fingerprint(&self) -> String {
        format!(
            "{}; {}; {}; {}; {}",
            self.platform,
            self.model,
            self.driver,
            self.options(false, Effort::Full),
            self.options(true, Effort::Full)
        )
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn memory_limit(&self) -> Option<usize> {
        self.info.global_mem_size().ok().and_then(|bytes| usize::try_from(bytes).ok())
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        // Drivers refuse buffers of no size. Small elements are exchanged with the word that they are in.
        let room = bytes.max(16).saturating_add(3) & !3;
        // SAFETY: the context is valid, and no memory of the host is given.
        let buffer =
            unsafe { memory::create_buffer(self.context.0, CL_MEM_READ_WRITE, room, ptr::null_mut()) };
        match buffer {
            Ok(buffer) => Ok(DeviceMemory::new(self.id, bytes, Buffer(buffer))),
            Err(code) if is_exhaustion(code) => Err(Error::out_of_memory(self.id.name(), bytes)),
            Err(code) => Err(self.failed("clCreateBuffer")(code)),
        }
    }

    fn raw_queue(&self) -> Result<Option<u64>> {
        Ok(Some(self.queue.0 as u64))
    }

    fn raw_memory(&self, memory: &DeviceMemory) -> Result<Option<u64>> {
        Ok(Some(memory.handle::<Buffer>(self.id)?.0 as u64))
    }

    fn upload(&self, to: &DeviceMemory, from: &[u8]) -> Result<()> {
        to.check_copy("an upload", from.len())?;
        let buffer = to.handle::<Buffer>(self.id)?;
        if from.is_empty() {
            return Ok(());
        }
        self.waits.count();
        let (bytes, data) = (from.len(), from.as_ptr().cast());
        // SAFETY: the buffer is at least as large as `from`, which is borrowed until the call has read all of it.
        let event = unsafe {
            queue::enqueue_write_buffer(self.queue.0, buffer.0, BLOCKING, 0, bytes, data, 0, ptr::null())
        };
        event.map(|event| drop(Event(event))).map_err(self.failed_with_memory("clEnqueueWriteBuffer", bytes))
    }

    fn download_from(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        from.check_part("a download", first, to.len())?;
        let buffer = from.handle::<Buffer>(self.id)?;
        if to.is_empty() {
            return self.synchronize();
        }
        self.waits.count();
        let (bytes, data) = (to.len(), to.as_mut_ptr().cast());
        // SAFETY: as many bytes are in the buffer from `first` on, and `to` is borrowed until the call has written all of it.
        let event = unsafe {
            queue::enqueue_read_buffer(self.queue.0, buffer.0, BLOCKING, first, bytes, data, 0, ptr::null())
        };
        event.map(|event| drop(Event(event))).map_err(self.failed_with_memory("clEnqueueReadBuffer", bytes))
    }

    fn copy(&self, from: &DeviceMemory, to: &DeviceMemory, bytes: usize) -> Result<()> {
        from.check_copy("a copy", bytes)?;
        to.check_copy("a copy", bytes)?;
        let (from, to) = (from.handle::<Buffer>(self.id)?, to.handle::<Buffer>(self.id)?);
        if bytes == 0 || from.0 == to.0 {
            return Ok(());
        }
        // SAFETY: both buffers are large enough, and not the same.
        let event =
            unsafe { queue::enqueue_copy_buffer(self.queue.0, from.0, to.0, 0, 0, bytes, 0, ptr::null()) };
        event.map(|event| drop(Event(event))).map_err(self.failed_with_memory("clEnqueueCopyBuffer", bytes))
    }

    fn zero(&self, memory: &DeviceMemory, bytes: usize) -> Result<()> {
        memory.check_copy("clearing", bytes)?;
        let buffer = memory.handle::<Buffer>(self.id)?;
        if bytes == 0 {
            return Ok(());
        }
        let pattern = ptr::from_ref(&0u8).cast();
        // SAFETY: the buffer is large enough, and the pattern is one byte, which is copied by the call.
        let event = unsafe {
            queue::enqueue_fill_buffer(self.queue.0, buffer.0, pattern, 1, 0, bytes, 0, ptr::null())
        };
        event.map(|event| drop(Event(event))).map_err(self.failed_with_memory("clEnqueueFillBuffer", bytes))
    }

    fn build_unit(&self, programs: &[&Verified], options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        let sources = super::emit(programs, Dialect::OpenCl, options, &self.profile, |_| PRIVATE_BYTES)?;
        // PoCL's optimiser breaks a branch with barriers on both sides: threads write what is not theirs. Of a loop that is left
        // by a test and has barriers, it loses the values before the first round.
        let broken = self.platform == POCL && sources.iter().any(|source| source.waits_conditionally);
        super::compile_unit(programs, &sources, |name, source| {
            let effort = if broken { Effort::None } else { source.effort };
            self.compile(name, &source.text, options.fast_math, effort)
        })
    }

    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel> {
        let (entry, code) = super::unpack(self.id.name(), program, binary)?;
        self.load_entry(Signature::of(program), entry, code)
    }

    unsafe fn launch(
        &self,
        kernel: &CompiledKernel,
        blocks: u64,
        arguments: &[LaunchArgument<'_>],
    ) -> Result<()> {
        let code = kernel.handle::<Code>(self.id)?;
        kernel.check_arguments(arguments)?;
        if blocks == 0 {
            return Ok(());
        }
        let threads = kernel.check_threads(&self.profile)?;
        let watched = match kernel.stop_record(arguments) {
            None => None,
            Some(record) => match deadline::begin(self, record)? {
                None => return Ok(()),
                Some(remaining) => Some((self.map(record)?, remaining)),
            },
        };
        // What is set stays with the kernel until it is launched: one launch at a time. A thread that panicked in
        // between left arguments behind which are all set again.
        let entry = code.entry.lock().unwrap_or_else(PoisonError::into_inner);
        let (device, mut total) = (self.id.name(), 0usize);
        for (number, argument) in (0..).zip(arguments) {
            match argument {
                LaunchArgument::Memory(memory) => {
                    total = total.saturating_add(memory.bytes());
                    let buffer = memory.handle::<Buffer>(self.id)?.0;
                    entry.set(device, number, &(buffer as usize).to_ne_bytes())?;
                }
                LaunchArgument::Scalar(value) => {
                    entry.set(device, number, &value.bits().to_le_bytes()[..value.ty().bytes()])?;
                }
            }
        }
        // The kernel goes through its blocks by strides of the grid: fewer groups do the same work.
        let (local, global) =
            (threads as usize, blocks.min(self.profile.max_blocks) as usize * threads as usize);
        // SAFETY: queue and kernel are valid, there is one dimension and no list of events to wait for. All arguments
        // are set, and their kinds are those that the kernel was compiled for.
        let event = unsafe {
            queue::enqueue_nd_range_kernel(
                self.queue.0,
                entry.0,
                1,
                ptr::null(),
                &global,
                &local,
                0,
                ptr::null(),
            )
        };
        let event = event.map(Event).map_err(self.failed_with_memory("clEnqueueNDRangeKernel", total))?;
        drop(entry);
        // Without this a driver may wait for more work before it begins.
        queue::flush(self.queue.0).map_err(self.failed("clFlush"))?;
        match watched {
            Some((record, remaining)) => event.wait_until(device, &record, remaining),
            None => Ok(()),
        }
    }

    fn synchronize(&self) -> Result<()> {
        self.waits.count();
        queue::finish(self.queue.0).map_err(self.failed("clFinish"))
    }

    fn stamp(&self) -> Result<Stamp> {
        let (clock, mark, device) = (self.clock()?, self.mark()?, self.id.name());
        Ok(Stamp::later(move || {
            mark.wait(device)?;
            let (zero, at) = clock;
            Ok(at + Duration::from_nanos(mark.end(device)?.saturating_sub(zero)))
        }))
    }

    fn resources(&self, kernel: &CompiledKernel) -> Result<Resources> {
        let code = kernel.handle::<Code>(self.id)?;
        let entry = code.entry.lock().unwrap_or_else(PoisonError::into_inner);
        // Drivers need not know.
        let bytes = |what| {
            let found = kernel::get_kernel_work_group_data(entry.0, self.info.id(), what).ok()?;
            Some(u64::from_ne_bytes(*found.first_chunk()?))
        };
        let shared_bytes = bytes(CL_KERNEL_LOCAL_MEM_SIZE);
        Ok(Resources { registers: None, shared_bytes, private_bytes: bytes(CL_KERNEL_PRIVATE_MEM_SIZE) })
    }

    fn waits(&self) -> u64 {
        self.waits.total()
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.synchronize()?;
        let before = self.mark()?;
        work()?;
        let after = self.mark()?;
        self.synchronize()?;
        let device = self.id.name();
        Ok(after.end(device)?.saturating_sub(before.end(device)?) as f64 * 1e-6)
    }
}
