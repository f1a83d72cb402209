//! One GPU through NVIDIA's driver: its context, kernels and clock; its memory is in `memory.rs`.
//!
//! Everything raw stays in these files: outside of them there are only owners of contexts, memory, modules and events,
//! whose methods cannot be misused except by launching a kernel with arguments that are not its own.

use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use super::KIND;
use super::driver::{self, Driver, GraphFunctions, Handle, code};
use super::memory::Buffer;
use crate::device::WaitCounter;
use crate::error::{Error, Result};
use crate::identity::DeviceName;
use pumice_array::Resources;

/// The attributes of a device that are asked for; `cuda.h` lists all.
mod attribute {
    pub const MAX_THREADS_PER_BLOCK: i32 = 1;
    pub const SHARED_BYTES_PER_BLOCK: i32 = 8;
    pub const MULTIPROCESSORS: i32 = 16;
    pub const CAPABILITY_MAJOR: i32 = 75;
    pub const CAPABILITY_MINOR: i32 = 76;
    pub const SHARED_BYTES_PER_BLOCK_OPT_IN: i32 = 97;
}

/// The attributes of a function that are set or asked for; `cuda.h` lists all.
mod function_attribute {
    pub const STATIC_SHARED_BYTES: i32 = 1;
    pub const LOCAL_BYTES: i32 = 3;
    pub const REGISTERS: i32 = 4;
    pub const MAX_DYNAMIC_SHARED_BYTES: i32 = 8;
}

/// Properties of a GPU, from the driver.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The model.
    pub name: String,
    /// The newest version of CUDA that the driver knows, as 1000 × major + 10 × minor.
    pub driver: i32,
    /// The architecture: 90 is `sm_90`.
    pub architecture: u32,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// The most threads of a block.
    pub max_threads: u32,
    /// Shared memory that a block may have, if its launch asks for it.
    pub shared_bytes: u32,
}

/// One GPU: its context, and the stream in which all work is done in order.
pub struct Gpu {
    pub(super) driver: Arc<Driver>,
    name: DeviceName,
    device: c_int,
    context: Handle,
    pub(super) stream: Handle,
    facts: Facts,
    pub(super) waits: WaitCounter,
}

// SAFETY: contexts and streams may be used from any thread, once the context has been made the thread's own, which
// `Gpu::call` does each time.
unsafe impl Send for Gpu {}
// SAFETY: as above; the driver synchronises what threads do at once.
unsafe impl Sync for Gpu {}

impl Gpu {
    /// Opens the GPU of this number.
    pub fn open(driver: Arc<Driver>, number: u32) -> Result<Gpu> {
        let (null, name) = (ptr::null_mut(), DeviceName::numbered(KIND, number));
        let facts = Facts { driver: driver.version(), ..Facts::default() };
        let waits = WaitCounter::default();
        let mut gpu = Gpu { driver, name, device: 0, context: null, stream: null, facts, waits };
        gpu.initialize(number).map_err(driver::as_unavailable)?;
        Ok(gpu)
    }

    fn initialize(&mut self, number: u32) -> Result<()> {
        let number = c_int::try_from(number).unwrap_or(c_int::MAX);
        // SAFETY: the driver is initialised, and refuses a number that no device has; the calls write one handle each.
        unsafe {
            let status = (self.driver.functions.device)(&mut self.device, number);
            self.check("cuDeviceGet", status)?;
            let status = (self.driver.functions.retain)(&mut self.context, self.device);
            self.check("cuDevicePrimaryCtxRetain", status)?;
        }
        self.enter()?;
        self.stream = self.new_stream()?;
        let mut name = [0u8; 256];
        let (text, length) = (name.as_mut_ptr().cast(), name.len() as c_int);
        // SAFETY: the call writes a C string that fits into so many bytes.
        let status = unsafe { (self.driver.functions.device_name)(text, length, self.device) };
        self.check("cuDeviceGetName", status)?;
        let name = CStr::from_bytes_until_nul(&name).map_or("an NVIDIA GPU".into(), CStr::to_string_lossy);
        self.facts.name = name.into_owned();
        let (major, minor) = (attribute::CAPABILITY_MAJOR, attribute::CAPABILITY_MINOR);
        self.facts.architecture = 10 * self.attribute(major)? + self.attribute(minor)?;
        self.facts.multiprocessors = self.attribute(attribute::MULTIPROCESSORS)?;
        self.facts.max_threads = self.attribute(attribute::MAX_THREADS_PER_BLOCK)?;
        // GPUs before Volta have no more than every launch gets, and may not know the question.
        let asked = self.attribute(attribute::SHARED_BYTES_PER_BLOCK_OPT_IN).unwrap_or(0);
        self.facts.shared_bytes = asked.max(self.attribute(attribute::SHARED_BYTES_PER_BLOCK)?);
        Ok(())
    }

    fn attribute(&self, attribute: c_int) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the device exists, and the call writes one number.
        let status = unsafe { (self.driver.functions.attribute)(&mut value, attribute, self.device) };
        self.check("cuDeviceGetAttribute", status)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Makes a stream. The context must be current.
    pub(super) fn new_stream(&self) -> Result<Handle> {
        /// The stream does not wait for work that others in the process give to the default stream.
        const NON_BLOCKING: c_uint = 1;
        let mut stream = ptr::null_mut();
        // SAFETY: the context is current, and the call writes one handle.
        let status = unsafe { (self.driver.functions.stream_create)(&mut stream, NON_BLOCKING) };
        self.check("cuStreamCreate", status)?;
        Ok(stream)
    }

    /// Returns the properties that the driver gave.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns its name.
    pub fn name(&self) -> DeviceName {
        self.name
    }

    /// Returns in how many calls the host waited for it.
    pub fn waits(&self) -> u64 {
        self.waits.total()
    }

    /// Reserves memory.
    pub fn allocate(self: &Arc<Gpu>, bytes: usize) -> Result<Buffer> {
        let mut address = 0;
        self.enter()?;
        // SAFETY: the context is current, and the call writes one address. It refuses a size of 0.
        let status = unsafe { (self.driver.functions.allocate)(&mut address, bytes.max(16)) };
        if status == code::OUT_OF_MEMORY {
            return Err(Error::out_of_memory(self.name, bytes));
        }
        self.check("cuMemAlloc", status)?;
        Ok(Buffer { gpu: self.clone(), address, bytes })
    }

    /// Makes a module of a binary, and finds the entry point. Its launches ask for `shared` bytes of shared memory,
    /// besides what the binary itself has.
    pub fn load(self: &Arc<Gpu>, kernel: &str, entry: &str, binary: &[u8], shared: u32) -> Result<Module> {
        let refuse =
            |reason: String| Error::Binary { device: self.name, kernel: kernel.into(), reason, place: None };
        let symbol = CString::new(entry).map_err(|e| refuse(e.to_string()))?;
        // The driver reads PTX up to a byte of zero.
        let image = [binary, &[0]].concat();
        self.enter()?;
        let null = ptr::null_mut();
        let mut module = Module { gpu: self.clone(), module: null, function: null, shared };
        // SAFETY: the context is current; the image is a binary of our own compiler (what was kept on disk was checked
        // against its hash), and the driver copies it.
        let status =
            unsafe { (self.driver.functions.load_module)(&mut module.module, image.as_ptr().cast()) };
        self.check("cuModuleLoadData", status).map_err(|error| refuse(error.to_string()))?;
        // SAFETY: the module was loaded, and the symbol is a C string.
        let status = unsafe {
            (self.driver.functions.module_function)(&mut module.function, module.module, symbol.as_ptr())
        };
        self.check("cuModuleGetFunction", status).map_err(|error| refuse(error.to_string()))?;
        if shared > 0 {
            let (attribute, bytes) = (function_attribute::MAX_DYNAMIC_SHARED_BYTES, shared as c_int);
            // SAFETY: the function belongs to the module, which is loaded.
            let status =
                unsafe { (self.driver.functions.set_function_attribute)(module.function, attribute, bytes) };
            self.check("cuFuncSetAttribute", status).map_err(|error| refuse(error.to_string()))?;
        }
        Ok(module)
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// `arguments` must point to a value for each of the kernel's parameters, of its type.
    pub unsafe fn launch(
        &self,
        module: &Module,
        blocks: u32,
        threads: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<()> {
        self.enter()?;
        let (function, arguments) = (module.function, arguments.as_mut_ptr());
        // SAFETY: the context is current, the function belongs to a loaded module, and the arguments are as the caller
        // promises; the driver copies them.
        let status = unsafe {
            (self.driver.functions.launch)(
                function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                module.shared,
                self.stream,
                arguments,
                ptr::null_mut(),
            )
        };
        self.check("cuLaunchKernel", status)
    }

    /// Waits until all work is done.
    pub fn synchronize(&self) -> Result<()> {
        self.waits.count();
        self.enter()?;
        // SAFETY: the context is current, and the stream belongs to it.
        let status = unsafe { (self.driver.functions.stream_synchronize)(self.stream) };
        self.check("cuStreamSynchronize", status)
    }

    /// Milliseconds from before some work to behind it. Both marks are there before it starts: making one takes the host as long as a small
    /// kernel takes the GPU.
    pub fn time(self: &Arc<Gpu>, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let (before, after) = (self.event()?, self.event()?);
        before.record(self.stream)?;
        work()?;
        self.enter()?;
        after.record(self.stream)?;
        after.since(&before)
    }

    /// Puts a mark into the stream.
    pub fn mark(self: &Arc<Gpu>) -> Result<Event> {
        let event = self.event()?;
        event.record(self.stream)?;
        Ok(event)
    }

    /// A mark with a clock, which is nowhere yet. The context is current then.
    fn event(self: &Arc<Gpu>) -> Result<Event> {
        self.enter()?;
        let mut event = Event { gpu: self.clone(), event: ptr::null_mut() };
        // SAFETY: the context is current, and the call writes one handle.
        let status = unsafe { (self.driver.functions.event_create)(&mut event.event, 0) };
        self.check("cuEventCreate", status)?;
        Ok(event)
    }

    /// The driver's functions for graphs.
    pub(super) fn graphs(&self) -> Result<&GraphFunctions> {
        let lacks = || Error::Invalid(format!("the driver of `{}` has no graphs", self.name).into());
        self.driver.graphs.as_ref().ok_or_else(lacks)
    }

    /// The context.
    pub(super) fn context(&self) -> Handle {
        self.context
    }

    /// Makes the context this thread's: the driver remembers it for each thread, and other code may have changed it.
    pub(super) fn enter(&self) -> Result<()> {
        // SAFETY: the context is valid as long as this value.
        let status = unsafe { (self.driver.functions.set_current)(self.context) };
        self.check("cuCtxSetCurrent", status)
    }

    pub(super) fn check(&self, call: &'static str, status: c_int) -> Result<()> {
        self.driver.check(self.name, call, status)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.context.is_null() {
            return;
        }
        // What fails here fails because the driver is gone already: nothing is left to release.
        if self.enter().is_ok() && !self.stream.is_null() {
            // SAFETY: the stream was made in this context; all that is in it keeps this value alive, so it is done.
            unsafe { (self.driver.functions.stream_destroy)(self.stream) };
        }
        // SAFETY: retained once, in `initialize`.
        unsafe { (self.driver.functions.release)(self.device) };
    }
}

/// A loaded kernel.
pub struct Module {
    gpu: Arc<Gpu>,
    module: Handle,
    function: Handle,
    /// Bytes of shared memory that a launch asks for.
    shared: u32,
}

// SAFETY: modules belong to a context and not to a thread.
unsafe impl Send for Module {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Module {}

impl Module {
    /// The kernel.
    pub(super) fn function(&self) -> Handle {
        self.function
    }

    /// Registers of a thread, shared memory of a block and local memory of a thread, in bytes.
    pub(super) fn resources(&self) -> Result<Resources> {
        let attribute = |attribute: c_int| -> Result<u32> {
            let mut value = 0;
            self.gpu.enter()?;
            // SAFETY: the function belongs to the module, which is loaded, and the call writes one number.
            let status = unsafe {
                (self.gpu.driver.functions.function_attribute)(&mut value, attribute, self.function)
            };
            self.gpu.check("cuFuncGetAttribute", status)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let shared = u64::from(attribute(function_attribute::STATIC_SHARED_BYTES)?) + u64::from(self.shared);
        Ok(Resources {
            registers: Some(attribute(function_attribute::REGISTERS)?),
            shared_bytes: Some(shared),
            private_bytes: Some(attribute(function_attribute::LOCAL_BYTES)?.into()),
        })
    }

    /// Bytes of shared memory that a launch asks for.
    pub(super) fn shared(&self) -> u32 {
        self.shared
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // A launch may still be running it.
        if !self.module.is_null() && self.gpu.synchronize().is_ok() {
            // SAFETY: loaded in this context, which is current, and no longer in use.
            unsafe { (self.gpu.driver.functions.unload_module)(self.module) };
        }
    }
}

/// A mark in the stream.
pub struct Event {
    gpu: Arc<Gpu>,
    event: Handle,
}

// SAFETY: events belong to a context and not to a thread.
unsafe impl Send for Event {}
// SAFETY: as above; the driver synchronises what threads do at once.
unsafe impl Sync for Event {}

impl Event {
    /// A mark without a clock, which is nowhere yet. The context must be current.
    pub(super) fn new(gpu: &Arc<Gpu>) -> Result<Event> {
        const WITHOUT_CLOCK: c_uint = 2;
        let mut event = Event { gpu: gpu.clone(), event: ptr::null_mut() };
        // SAFETY: the context is current, and the call writes one handle.
        let status = unsafe { (gpu.driver.functions.event_create)(&mut event.event, WITHOUT_CLOCK) };
        gpu.check("cuEventCreate", status)?;
        Ok(event)
    }

    /// Moves the mark behind what is in a stream of this GPU. The context must be current.
    pub(super) fn record(&self, stream: Handle) -> Result<()> {
        // SAFETY: the event belongs to the context of the stream, which is current.
        let status = unsafe { (self.gpu.driver.functions.event_record)(self.event, stream) };
        self.gpu.check("cuEventRecord", status)
    }

    /// Has what comes later in a stream of this GPU wait until the mark is reached. The context must be current.
    pub(super) fn hold_up(&self, stream: Handle) -> Result<()> {
        // SAFETY: the event belongs to the context of the stream, which is current.
        let status = unsafe { (self.gpu.driver.functions.stream_wait)(stream, self.event, 0) };
        self.gpu.check("cuStreamWaitEvent", status)
    }

    /// Waits until the mark is reached; one that is nowhere is. The context must be current.
    pub(super) fn wait(&self) -> Result<()> {
        // SAFETY: the event belongs to the context, which is current.
        let status = unsafe { (self.gpu.driver.functions.event_synchronize)(self.event) };
        self.gpu.check("cuEventSynchronize", status)
    }

    /// Waits until the work before this mark is done; milliseconds since an earlier mark.
    pub fn since(&self, earlier: &Event) -> Result<f64> {
        self.gpu.enter()?;
        self.gpu.waits.count();
        let mut milliseconds = 0.0;
        // SAFETY: the context is current and both events were recorded in it; the call writes one number.
        unsafe {
            self.gpu
                .check("cuEventSynchronize", (self.gpu.driver.functions.event_synchronize)(self.event))?;
            let status =
                (self.gpu.driver.functions.event_elapsed)(&mut milliseconds, earlier.event, self.event);
            self.gpu.check("cuEventElapsedTime", status)?;
        }
        Ok(milliseconds.into())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.event.is_null() && self.gpu.enter().is_ok() {
            // SAFETY: made in this context, and this is its only owner.
            unsafe { (self.gpu.driver.functions.event_destroy)(self.event) };
        }
    }
}
