//! The `opencl` device: programs as OpenCL C, compiled and run by whatever driver is installed.
//!
//! The library is opened at run time by `opencl3`. Its raw functions are used and not its objects, because those panic
//! when a driver fails to release something; here nothing may panic.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use opencl3::command_queue as queue;
use opencl3::context::context;
use opencl3::device::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU, Device as Info, get_device_ids,
};
use opencl3::error_codes::{ClError, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::event::{self, CL_PROFILING_COMMAND_END};
use opencl3::kernel;
use opencl3::memory::{self, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_READ_WRITE};
use opencl3::platform::{Platform, platform::get_platform_ids};
use opencl3::program::{self, CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG};
use opencl3::types::{cl_command_queue, cl_context, cl_event, cl_int, cl_kernel, cl_mem, cl_program};
use pumice_emit::{Dialect, Effort, Options};
use pumice_kernel::Profile;
use pumice_program::{Atomics, Capabilities, Verified, WideAtomics};

use crate::deadline;
use crate::device::{Argument, Device, Kernel, Memory, Signature};
use crate::error::{Error, Result};

const NAME: &str = "opencl";

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
    Capabilities {
        doubles: has("cl_khr_fp64"),
        atomics: Atomics { wide, ..all.atomics },
        parameter_bytes: info
            .max_parameter_size()
            .ok()
            .and_then(|bytes| u32::try_from(bytes).ok())
            .unwrap_or(1024),
        ..all
    }
}

/// A device of some OpenCL platform.
pub struct OpenCl {
    info: Info,
    context: Context,
    queue: Queue,
    platform: String,
    name: String,
    driver: String,
    rounds_correctly: bool,
    profile: Profile,
}

impl OpenCl {
    /// Opens the best device: a GPU if there is one. `PUMICE_OPENCL_DEVICE`, a part of a device's or a platform's name,
    /// chooses another.
    pub fn open() -> Result<OpenCl> {
        OpenCl::open_with(std::env::var("PUMICE_OPENCL_DEVICE").ok().filter(|wanted| !wanted.is_empty()))
    }

    fn open_with(wanted: Option<String>) -> Result<OpenCl> {
        // PoCL crashes when two threads are the first to ask for its devices.
        static OPENING: Mutex<()> = Mutex::new(());
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let unavailable = |reason: String| Error::DeviceUnavailable { device: NAME.into(), reason };
        check_named_library().map_err(unavailable)?;
        let platforms = get_platform_ids().map_err(|code| match code {
            DLOPEN_RUNTIME_LOAD_FAILED => unavailable(
                "the OpenCL library was not found (looked for OPENCL_DYLIB_PATH and the system's libOpenCL.so.1); \
                 install an OpenCL driver, for instance Debian's pocl-opencl-icd"
                    .into(),
            ),
            code => unavailable(format!("no OpenCL driver is installed ({})", ClError(code))),
        })?;
        let mut found = Vec::new();
        for id in platforms {
            let platform = Platform::new(id);
            let platform = platform.name().unwrap_or_default();
            // A platform with no device says so by an error.
            for device in get_device_ids(id, CL_DEVICE_TYPE_ALL).unwrap_or_default() {
                let info = Info::new(device);
                let name = info.name().unwrap_or_default().trim().to_owned();
                found.push((rank(&info), platform.trim().to_owned(), name, info));
            }
        }
        // Stable: among equals the platforms' order decides.
        found.sort_by_key(|(rank, ..)| *rank);
        let names: Vec<String> =
            found.iter().map(|(_, platform, name, _)| format!("{name} ({platform})")).collect();
        let fits = |text: &str| match &wanted {
            Some(wanted) => text.to_lowercase().contains(&wanted.to_lowercase()),
            None => true,
        };
        let Some(chosen) = names.iter().position(|name| fits(name)) else {
            return Err(unavailable(match wanted {
                Some(wanted) if !names.is_empty() => {
                    format!("PUMICE_OPENCL_DEVICE={wanted} fits none of {}", names.join(", "))
                }
                _ => "the OpenCL drivers that are installed have no device".into(),
            }));
        };
        let (_, platform, name, info) = found.swap_remove(chosen);
        OpenCl::with_device(platform, name, info)
    }

    fn with_device(platform: String, name: String, info: Info) -> Result<OpenCl> {
        let id = [info.id()];
        let context = context::create_context(&id, ptr::null(), None, ptr::null_mut());
        let context = Context(context.map_err(driver("clCreateContext"))?);
        // SAFETY: context and device are valid, and made for each other. With no other property the queue is in order.
        let queue =
            unsafe { queue::create_command_queue(context.0, info.id(), queue::CL_QUEUE_PROFILING_ENABLE) };
        let queue = Queue(queue.map_err(driver("clCreateCommandQueue"))?);

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
            capabilities: capabilities(&info),
        };
        /// Among the abilities with single floats: division and square root are rounded correctly on demand.
        const CORRECTLY_ROUNDED: u64 = 1 << 7;
        let rounds_correctly = info.single_fp_config().unwrap_or(0) & CORRECTLY_ROUNDED != 0;
        let versions = [info.version(), info.driver_version()].map(Result::unwrap_or_default);
        let driver = versions.map(|version| version.trim().to_owned()).join(", driver ");
        Ok(OpenCl { info, context, queue, platform, name, driver, rounds_correctly, profile })
    }

    /// Whether it is a GPU, and not a processor behind the same interface.
    pub fn is_gpu(&self) -> bool {
        rank(&self.info) == 0
    }

    /// The compiler's options: those that the emitter's OpenCL C was written for, and what this device can do besides.
    fn options(&self, fast_math: bool, effort: Effort) -> String {
        let mut options = pumice_emit::compiler_flags(Dialect::OpenCl, &Options { fast_math }, effort);
        if self.rounds_correctly && !fast_math {
            options.push("-cl-fp32-correctly-rounded-divide-sqrt");
        }
        options.join(" ")
    }

    fn compile(&self, kernel: &str, source: &str, fast_math: bool, effort: Effort) -> Result<Vec<u8>> {
        let built = program::create_program_with_source(self.context.0, &[source]);
        let built = Built(built.map_err(driver("clCreateProgramWithSource"))?);
        let options = CString::new(self.options(fast_math, effort)).unwrap_or_default();
        if let Err(code) = self.finish(&built, &options) {
            let compiler = format!("{} {}", self.platform, self.driver);
            return Err(Error::Compiler {
                device: NAME,
                compiler,
                kernel: kernel.into(),
                log: self.log(&built, code),
            });
        }
        let binaries =
            program::get_program_info(built.0, CL_PROGRAM_BINARIES).map_err(driver("clGetProgramInfo"))?;
        // The conversion panics for other questions than this one, whose answer is of this type.
        let mut binaries = Vec::<Vec<u8>>::from(binaries).into_iter();
        let reason = "the driver does not give binaries".into();
        let missing = Error::Binary { device: NAME, kernel: kernel.into(), reason };
        binaries.find(|binary| !binary.is_empty()).ok_or(missing)
    }

    fn finish(&self, built: &Built, options: &CStr) -> Result<(), cl_int> {
        program::build_program(built.0, &[self.info.id()], options, None, ptr::null_mut())
    }

    /// What the compiler wrote, or the name of its error if that was nothing.
    fn log(&self, built: &Built, code: cl_int) -> String {
        let log = program::get_program_build_data(built.0, self.info.id(), CL_PROGRAM_BUILD_LOG);
        let log = log.unwrap_or_default();
        match String::from_utf8_lossy(&log).trim_matches(|c: char| c.is_whitespace() || c == '\0') {
            "" => ClError(code).to_string(),
            log => log.to_owned(),
        }
    }

    fn load_entry(&self, signature: Signature, entry: &str, binary: &[u8]) -> Result<Kernel> {
        let refuse = |reason: String| Error::Binary { device: NAME, kernel: signature.name.clone(), reason };
        // SAFETY: context and device are valid. Drivers check what they are given; what comes from disk was checked
        // against its hash, so it is what a driver of the same version made.
        let built =
            unsafe { program::create_program_with_binary(self.context.0, &[self.info.id()], &[binary]) };
        let built = Built(built.map_err(|code| refuse(ClError(code).to_string()))?);
        self.finish(&built, c"").map_err(|code| refuse(self.log(&built, code)))?;
        let name = CString::new(entry).map_err(|e| refuse(e.to_string()))?;
        let entry =
            kernel::create_kernel(built.0, &name).map_err(|code| refuse(ClError(code).to_string()))?;
        Ok(Kernel::new(NAME, signature, Code { entry: Mutex::new(Entry(entry)), _built: built }))
    }

    /// Maps a stop record into the host's memory, until the result is dropped.
    fn map(&self, record: &Memory) -> Result<Mapped<'_>> {
        let buffer = record.handle::<Buffer>(NAME)?.0;
        let (flags, mut address) = (CL_MAP_READ | CL_MAP_WRITE, ptr::null_mut());
        let bytes = deadline::STOP_BYTES;
        // SAFETY: the buffer is large enough, as its words have just been read, and there are no events to wait for.
        let event = unsafe {
            queue::enqueue_map_buffer(
                self.queue.0,
                buffer,
                BLOCKING,
                flags,
                0,
                bytes,
                &mut address,
                0,
                ptr::null(),
            )
        };
        event.map(|event| drop(Event(event))).map_err(driver("clEnqueueMapBuffer"))?;
        Ok(Mapped { queue: &self.queue, buffer, address })
    }

    /// Puts a mark in the queue, whose time can be asked for when the work before it is done.
    fn mark(&self) -> Result<Event> {
        // SAFETY: the queue is valid, and there is no list of events to wait for.
        let mark = unsafe { queue::enqueue_marker_with_wait_list(self.queue.0, 0, ptr::null()) };
        mark.map(Event).map_err(driver("clEnqueueMarkerWithWaitList"))
    }
}

impl Device for OpenCl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> String {
        format!("{} ({}), {}", self.name, self.platform, self.driver)
    }

    fn identity(&self) -> String {
        format!(
            "{}; {}; {}; {}; {}",
            self.platform,
            self.name,
            self.driver,
            self.options(false, Effort::Full),
            self.options(true, Effort::Full)
        )
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn allocate(&self, bytes: usize) -> Result<Memory> {
        // Drivers refuse buffers of no size.
        // SAFETY: the context is valid, and no memory of the host is given.
        let buffer = unsafe {
            memory::create_buffer(self.context.0, CL_MEM_READ_WRITE, bytes.max(16), ptr::null_mut())
        };
        match buffer {
            Ok(buffer) => Ok(Memory::new(NAME, bytes, Buffer(buffer))),
            Err(code) if is_exhaustion(code) => Err(Error::OutOfMemory { device: NAME, bytes }),
            Err(code) => Err(driver("clCreateBuffer")(code)),
        }
    }

    fn upload(&self, to: &Memory, from: &[u8]) -> Result<()> {
        to.check_copy("an upload", from.len())?;
        let buffer = to.handle::<Buffer>(NAME)?;
        if from.is_empty() {
            return Ok(());
        }
        let (bytes, data) = (from.len(), from.as_ptr().cast());
        // SAFETY: the buffer is at least as large as `from`, which is borrowed until the call has read all of it.
        let event = unsafe {
            queue::enqueue_write_buffer(self.queue.0, buffer.0, BLOCKING, 0, bytes, data, 0, ptr::null())
        };
        event.map(|event| drop(Event(event))).map_err(copy_error("clEnqueueWriteBuffer", bytes))
    }

    fn download(&self, from: &Memory, to: &mut [u8]) -> Result<()> {
        from.check_copy("a download", to.len())?;
        let buffer = from.handle::<Buffer>(NAME)?;
        if to.is_empty() {
            return self.synchronize();
        }
        let (bytes, data) = (to.len(), to.as_mut_ptr().cast());
        // SAFETY: the buffer is at least as large as `to`, which is borrowed until the call has written all of it.
        let event = unsafe {
            queue::enqueue_read_buffer(self.queue.0, buffer.0, BLOCKING, 0, bytes, data, 0, ptr::null())
        };
        event.map(|event| drop(Event(event))).map_err(copy_error("clEnqueueReadBuffer", bytes))
    }

    fn copy(&self, from: &Memory, to: &Memory, bytes: usize) -> Result<()> {
        from.check_copy("a copy", bytes)?;
        to.check_copy("a copy", bytes)?;
        let (from, to) = (from.handle::<Buffer>(NAME)?, to.handle::<Buffer>(NAME)?);
        if bytes == 0 || from.0 == to.0 {
            return Ok(());
        }
        // SAFETY: both buffers are large enough, and not the same.
        let event =
            unsafe { queue::enqueue_copy_buffer(self.queue.0, from.0, to.0, 0, 0, bytes, 0, ptr::null()) };
        event.map(|event| drop(Event(event))).map_err(copy_error("clEnqueueCopyBuffer", bytes))
    }

    fn zero(&self, memory: &Memory, bytes: usize) -> Result<()> {
        memory.check_copy("clearing", bytes)?;
        let buffer = memory.handle::<Buffer>(NAME)?;
        if bytes == 0 {
            return Ok(());
        }
        let pattern = ptr::from_ref(&0u8).cast();
        // SAFETY: the buffer is large enough, and the pattern is one byte, which is copied by the call.
        let event = unsafe {
            queue::enqueue_fill_buffer(self.queue.0, buffer.0, pattern, 1, 0, bytes, 0, ptr::null())
        };
        event.map(|event| drop(Event(event))).map_err(copy_error("clEnqueueFillBuffer", bytes))
    }

    fn build_unit(&self, programs: &[&Verified], options: &Options) -> Result<Vec<Vec<u8>>> {
        let sources = super::emit(programs, Dialect::OpenCl, options, &self.profile, |_| PRIVATE_BYTES)?;
        super::compile_unit(programs, &sources, |name, source| {
            self.compile(name, &source.text, options.fast_math, source.effort)
        })
    }

    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<Kernel> {
        let (entry, code) = super::unpack(NAME, program, binary)?;
        self.load_entry(Signature::of(program), entry, code)
    }

    unsafe fn launch(&self, kernel: &Kernel, blocks: u64, arguments: &[Argument<'_>]) -> Result<()> {
        let code = kernel.handle::<Code>(NAME)?;
        kernel.check_arguments(arguments)?;
        if blocks == 0 {
            return Ok(());
        }
        let threads = kernel.signature().threads;
        if threads > self.profile.max_threads {
            let reason = format!("{threads} threads in a block are more than {}", self.profile.max_threads);
            return Err(Error::Launch { device: NAME, kernel: kernel.name().into(), reason });
        }
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
        let mut total = 0usize;
        for (number, argument) in (0..).zip(arguments) {
            match argument {
                Argument::Memory(memory) => {
                    total = total.saturating_add(memory.bytes());
                    let buffer = memory.handle::<Buffer>(NAME)?.0;
                    entry.set(number, size_of::<cl_mem>(), ptr::from_ref(&buffer).cast())?;
                }
                Argument::Scalar(value) => {
                    let bits = value.bits().to_le_bytes();
                    entry.set(number, value.ty().bytes(), bits.as_ptr().cast())?;
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
        let event = event.map(Event).map_err(copy_error("clEnqueueNDRangeKernel", total))?;
        drop(entry);
        // Without this a driver may wait for more work before it begins.
        queue::flush(self.queue.0).map_err(driver("clFlush"))?;
        match watched {
            Some((record, remaining)) => event.wait_until(&record, remaining),
            None => Ok(()),
        }
    }

    fn synchronize(&self) -> Result<()> {
        queue::finish(self.queue.0).map_err(driver("clFinish"))
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.synchronize()?;
        let before = self.mark()?;
        work()?;
        let after = self.mark()?;
        self.synchronize()?;
        Ok(after.end()?.saturating_sub(before.end()?) as f64 * 1e-6)
    }
}

/// The variable that names the library, or several with `;` between them.
const LIBRARY: &str = "OPENCL_DYLIB_PATH";

/// Refuses a named library that cannot be loaded: `opencl3` would take the system's in its place without a word.
fn check_named_library() -> Result<(), String> {
    let Some(named) = std::env::var_os(LIBRARY).filter(|named| !named.is_empty()) else { return Ok(()) };
    let named = named.to_string_lossy();
    let mut failures = Vec::new();
    for name in named.split(';') {
        // SAFETY: opening a vendor's library runs its initialisers; `opencl3` is about to open the same one.
        let library = unsafe { libloading::Library::new(name) };
        // SAFETY: the symbol is looked for, and not used.
        let found = library
            .and_then(|library| unsafe { library.get::<*const c_void>(b"clGetPlatformIDs") }.map(|_| ()));
        match found {
            Ok(()) => return Ok(()),
            Err(error) => failures.push(error.to_string()),
        }
    }
    Err(format!("{LIBRARY}={named} cannot be used: {}", failures.join("; ")))
}

const BLOCKING: opencl3::types::cl_bool = 1;

/// GPUs before accelerators before all others.
fn rank(info: &Info) -> u8 {
    match info.dev_type() {
        Ok(kind) if kind & CL_DEVICE_TYPE_GPU != 0 => 0,
        Ok(kind) if kind & CL_DEVICE_TYPE_ACCELERATOR != 0 => 1,
        _ => 2,
    }
}

fn driver(call: &'static str) -> impl Fn(cl_int) -> Error {
    move |code| Error::Driver { device: NAME, call, code: code.into(), name: ClError(code).to_string() }
}

/// Drivers that allocate late run out of memory at the first use.
fn copy_error(call: &'static str, bytes: usize) -> impl Fn(cl_int) -> Error {
    move |code| match code {
        ALLOCATION_FAILURE => Error::OutOfMemory { device: NAME, bytes },
        code => driver(call)(code),
    }
}

const ALLOCATION_FAILURE: cl_int = -4;

/// Whether a buffer was refused for its size: too large for what is free, for the device, or for the host.
fn is_exhaustion(code: cl_int) -> bool {
    const OUT_OF_RESOURCES: cl_int = -5;
    const OUT_OF_HOST_MEMORY: cl_int = -6;
    const INVALID_BUFFER_SIZE: cl_int = -61;
    [ALLOCATION_FAILURE, OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, INVALID_BUFFER_SIZE].contains(&code)
}

/// A kernel that is ready to be launched.
struct Code {
    entry: Mutex<Entry>,
    _built: Built,
}

impl Entry {
    fn set(&self, number: u32, bytes: usize, value: *const c_void) -> Result<()> {
        // SAFETY: `value` points to `bytes` readable bytes, which the call copies; the caller holds the lock.
        unsafe { kernel::set_kernel_arg(self.0, number, bytes, value) }.map_err(driver("clSetKernelArg"))
    }
}

/// A buffer that is mapped into the host's memory.
struct Mapped<'a> {
    queue: &'a Queue,
    buffer: cl_mem,
    address: *mut c_void,
}

impl Mapped<'_> {
    /// Changes the first word from 0 to 1.
    fn stop(&self) {
        // SAFETY: the address was given by the driver for memory of this size, aligned for every type, and is mapped.
        unsafe { self.address.cast::<i64>().write_volatile(1) };
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        // SAFETY: the address is the buffer's mapping, and is not used any more. A failure leaves it mapped.
        let event = unsafe {
            queue::enqueue_unmap_mem_object(self.queue.0, self.buffer, self.address, 0, ptr::null())
        };
        drop(event.map(Event));
    }
}

/// How long a kernel that is told to stop may take to do so.
const GRACE: Duration = Duration::from_secs(10);

impl Event {
    /// Waits for a kernel, and tells it to stop when its time is over. One that does not stop is an error: the device is
    /// busy with it until it ends.
    fn wait_until(&self, record: &Mapped<'_>, remaining: Duration) -> Result<()> {
        // From when the kernel runs: until then the queue belongs to others.
        let mut start = None;
        let mut stopped = None;
        loop {
            match self.status()? {
                event::CL_COMPLETE => return Ok(()),
                event::CL_RUNNING if start.is_none() => start = Some(Instant::now()),
                _ => {}
            }
            let elapsed = start.map_or(Duration::ZERO, |start| start.elapsed());
            match stopped {
                None if elapsed >= remaining => {
                    record.stop();
                    stopped = Some(elapsed);
                }
                Some(since) if elapsed - since > GRACE => {
                    return Err(Error::Host {
                        device: NAME,
                        action: "stopping a kernel whose deadline has passed".into(),
                        reason: "it goes on, since this driver does not show it what the host writes".into(),
                    });
                }
                _ => {}
            }
            std::thread::sleep((elapsed / 32).clamp(Duration::from_micros(20), Duration::from_millis(5)));
        }
    }

    /// How far the work that it stands for is; an error if it failed.
    fn status(&self) -> Result<cl_int> {
        let status = event::get_event_data(self.0, event::CL_EVENT_COMMAND_EXECUTION_STATUS);
        let status = status.map_err(driver("clGetEventInfo"))?;
        match status.first_chunk().map_or(0, |bytes| cl_int::from_ne_bytes(*bytes)) {
            code @ ..0 => Err(driver("clEnqueueNDRangeKernel")(code)),
            status => Ok(status),
        }
    }

    /// When the work that it stands for ended, in nanoseconds of the device's clock.
    fn end(&self) -> Result<u64> {
        let bytes = event::get_event_profiling_data(self.0, CL_PROFILING_COMMAND_END);
        let bytes = bytes.map_err(driver("clGetEventProfilingInfo"))?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes)))
    }
}

/// Owners of OpenCL's objects, each with the function that releases it.
macro_rules! owners {
    ($($(#[$doc:meta])* $owner:ident($handle:ty) = $release:path;)*) => { $(
        $(#[$doc])*
        struct $owner($handle);

        // SAFETY: OpenCL's objects may be used from any thread, and it synchronises all that is done with them except
        // setting a kernel's arguments, for which `Code` has a lock.
        unsafe impl Send for $owner {}
        // SAFETY: as above.
        unsafe impl Sync for $owner {}

        impl Drop for $owner {
            fn drop(&mut self) {
                // SAFETY: this is the only owner; commands that still use the object hold it themselves. A driver that
                // fails to release something leaves us nothing to do.
                let _ = unsafe { $release(self.0) };
            }
        }
    )* };
}

owners! {
    /// The context of one device.
    Context(cl_context) = context::release_context;
    /// The queue, in which work is done in order.
    Queue(cl_command_queue) = queue::release_command_queue;
    /// A compiled program.
    Built(cl_program) = program::release_program;
    /// An entry point of a program, with the arguments last set.
    Entry(cl_kernel) = kernel::release_kernel;
    /// Memory.
    Buffer(cl_mem) = memory::release_mem_object;
    /// Something that happens in the queue.
    Event(cl_event) = event::release_event;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Parameter;
    use pumice_scalar::ScalarType;

    const SUMS: &str = "
        __kernel void sums(__global float *z, __global const float *x, const long n, const float scale, const uchar on) {
            __local float part[64];
            for (long b = get_group_id(0); b * 64 < n; b += get_num_groups(0)) {
                long i = b * 64 + get_local_id(0);
                part[get_local_id(0)] = i < n && on ? x[i] * scale : 0.0f;
                for (int step = 32; step > 0; step /= 2) {
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (get_local_id(0) < step) part[get_local_id(0)] += part[get_local_id(0) + step];
                }
                if (get_local_id(0) == 0) z[b] = part[0];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }";

    /// The device, unless there is none and nobody insists on one.
    fn open() -> Option<OpenCl> {
        match OpenCl::open() {
            Ok(device) => Some(device),
            Err(error) => {
                assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
                eprintln!("not tested: {error}");
                None
            }
        }
    }

    fn sums(device: &OpenCl) -> Result<Kernel> {
        let scalar = Parameter::Scalar;
        let (buffer, long, float) = (Parameter::Buffer, scalar(ScalarType::I64), scalar(ScalarType::F32));
        let parameters = vec![buffer, buffer, long, float, scalar(ScalarType::Bool)];
        let binary = device.compile("sums", SUMS, false, Effort::Full)?;
        device.load_entry(
            Signature { name: "sums".into(), threads: 64, parameters, stop: None },
            "sums",
            &binary,
        )
    }

    #[test]
    fn blocks_run_with_shared_memory_and_barriers() -> Result<()> {
        let Some(device) = open() else { return Ok(()) };
        let kernel = sums(&device)?;
        for n in [0usize, 1, 64, 65, 1000] {
            let blocks = n.div_ceil(64);
            let (source, target) = (device.allocate(4 * n)?, device.allocate(4 * blocks)?);
            device.upload(&source, &1f32.to_le_bytes().repeat(n))?;
            device.zero(&target, 4 * blocks)?;
            let launch = || {
                let scalars = [Argument::Scalar((n as i64).into()), Argument::Scalar(2f32.into())];
                let arguments =
                    [Argument::Memory(&target), Argument::Memory(&source), scalars[0], scalars[1]];
                unsafe {
                    device.launch(
                        &kernel,
                        blocks as u64,
                        &[&arguments[..], &[Argument::Scalar(true.into())]].concat(),
                    )
                }
            };
            let milliseconds = device.time(&mut || launch())?;
            assert!((0.0..60_000.0).contains(&milliseconds), "{milliseconds} ms");
            assert!(n == 0 || milliseconds > 0.0);
            let mut result = vec![0; 4 * blocks];
            device.download(&target, &mut result)?;
            for (block, bytes) in result.chunks_exact(4).enumerate() {
                let expected = 2.0 * (n - 64 * block).min(64) as f32;
                assert_eq!(bytes, expected.to_le_bytes(), "n = {n}, block {block}");
            }
        }
        Ok(())
    }

    #[test]
    fn what_fails_is_an_error() -> Result<()> {
        let Some(device) = open() else { return Ok(()) };
        let Err(Error::Compiler { log, .. }) =
            device.compile("broken", "__kernel void broken( {", false, Effort::Full)
        else {
            panic!("accepted a broken source");
        };
        assert!(log.contains("error"), "{log}");
        let kernel = sums(&device)?;
        let refused = device.load_entry(kernel.signature().clone(), "sums", b"not a program");
        assert!(matches!(refused, Err(Error::Binary { .. })), "{refused:?}");
        let bytes = 1 << 50;
        assert_eq!(device.allocate(bytes).err(), Some(Error::OutOfMemory { device: NAME, bytes }));
        let other = Memory::new("cpu", 8, 0u64);
        assert!(matches!(device.upload(&other, &[0; 8]), Err(Error::WrongDevice { .. })));
        let own = device.allocate(8)?;
        assert!(matches!(device.copy(&own, &other, 8), Err(Error::WrongDevice { .. })));
        assert!(matches!(device.copy(&own, &device.allocate(4)?, 8), Err(Error::Invalid(_))));
        assert!(matches!(unsafe { device.launch(&kernel, 1, &[]) }, Err(Error::Launch { .. })));
        Ok(())
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error_with_those_that_are() {
        if open().is_none() {
            return;
        }
        let Err(Error::DeviceUnavailable { reason, .. }) = OpenCl::open_with(Some("no such device".into()))
        else {
            panic!("opened a device that does not exist");
        };
        assert!(reason.starts_with("PUMICE_OPENCL_DEVICE=no such device fits none of "), "{reason}");
    }
}
