//! The part of NVIDIA's driver API that Pumice uses, with every return code checked.
//!
//! Everything raw stays in this file: outside of it there are only owners of contexts, memory, modules and events,
//! whose methods cannot be misused except by launching a kernel with arguments that are not its own.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use super::NAME;
use super::library::functions;
use crate::error::{Error, Result};

type Handle = *mut c_void;

functions! {
    /// The driver's functions. Each returns 0 or a code that `cuGetErrorName` names.
    struct Functions;
    fn error_name(c_int, *mut *const c_char) = "cuGetErrorName";
    fn init(c_uint) = "cuInit";
    fn version(*mut c_int) = "cuDriverGetVersion";
    fn device_count(*mut c_int) = "cuDeviceGetCount";
    fn device(*mut c_int, c_int) = "cuDeviceGet";
    fn device_name(*mut c_char, c_int, c_int) = "cuDeviceGetName";
    fn attribute(*mut c_int, c_int, c_int) = "cuDeviceGetAttribute";
    fn retain(*mut Handle, c_int) = "cuDevicePrimaryCtxRetain";
    fn release(c_int) = "cuDevicePrimaryCtxRelease_v2";
    fn set_current(Handle) = "cuCtxSetCurrent";
    fn stream_create(*mut Handle, c_uint) = "cuStreamCreate";
    fn stream_synchronize(Handle) = "cuStreamSynchronize";
    fn stream_destroy(Handle) = "cuStreamDestroy_v2";
    fn allocate(*mut u64, usize) = "cuMemAlloc_v2";
    fn free(u64) = "cuMemFree_v2";
    fn upload(u64, *const c_void, usize, Handle) = "cuMemcpyHtoDAsync_v2";
    fn download(*mut c_void, u64, usize, Handle) = "cuMemcpyDtoHAsync_v2";
    fn copy(u64, u64, usize, Handle) = "cuMemcpyDtoDAsync_v2";
    fn fill(u64, u8, usize, Handle) = "cuMemsetD8Async";
    fn load_module(*mut Handle, *const c_void) = "cuModuleLoadData";
    fn module_function(*mut Handle, Handle, *const c_char) = "cuModuleGetFunction";
    fn set_function_attribute(Handle, c_int, c_int) = "cuFuncSetAttribute";
    fn unload_module(Handle) = "cuModuleUnload";
    fn launch(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void,
    ) = "cuLaunchKernel";
    fn event_create(*mut Handle, c_uint) = "cuEventCreate";
    fn event_record(Handle, Handle) = "cuEventRecord";
    fn event_synchronize(Handle) = "cuEventSynchronize";
    fn event_elapsed(*mut f32, Handle, Handle) = "cuEventElapsedTime";
    fn event_destroy(Handle) = "cuEventDestroy_v2";
}

/// The codes that are told apart; `cuda.h` lists all.
mod code {
    pub const OUT_OF_MEMORY: i32 = 2;
}

/// The attributes of a device that are asked for; `cuda.h` lists all.
mod attribute {
    pub const MAX_THREADS_PER_BLOCK: i32 = 1;
    pub const SHARED_BYTES_PER_BLOCK: i32 = 8;
    pub const MULTIPROCESSORS: i32 = 16;
    pub const CAPABILITY_MAJOR: i32 = 75;
    pub const CAPABILITY_MINOR: i32 = 76;
    pub const SHARED_BYTES_PER_BLOCK_OPT_IN: i32 = 97;
}

/// The attributes of a function that are set; `cuda.h` lists all.
mod function_attribute {
    pub const MAX_DYNAMIC_SHARED_BYTES: i32 = 8;
}

/// What the driver says of a GPU.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The model.
    pub name: String,
    /// The newest version of CUDA that the driver knows, as 1000 × major + 10 × minor.
    pub driver: i32,
    /// The architecture: 90 is `sm_90`.
    pub architecture: u32,
    /// How many multiprocessors there are.
    pub multiprocessors: u32,
    /// The most threads of a block.
    pub max_threads: u32,
    /// Shared memory that a block may have, if its launch asks for it.
    pub shared_bytes: u32,
}

/// One GPU: its context, and the stream in which all work is done in order.
pub struct Gpu {
    functions: Functions,
    device: c_int,
    context: Handle,
    stream: Handle,
    facts: Facts,
}

// SAFETY: contexts and streams may be used from any thread, once the context has been made the thread's own, which
// `Gpu::call` does each time.
unsafe impl Send for Gpu {}
// SAFETY: as above; the driver synchronises what threads do at once.
unsafe impl Sync for Gpu {}

impl Gpu {
    /// Opens the first GPU, by the driver's library under one of these names.
    pub fn open(names: &[&str]) -> Result<Gpu> {
        let unavailable = |reason: String| Error::DeviceUnavailable { device: NAME.into(), reason };
        let library = super::library::open_first(names).map_err(|failures| {
            unavailable(match &failures[..] {
                [] => format!("NVIDIA's driver library was not found (looked for {})", names.join(", ")),
                found => format!("NVIDIA's driver library cannot be loaded: {}", found.join("; ")),
            })
        })?;
        let functions = Functions::load(library)
            .map_err(|reason| unavailable(format!("NVIDIA's driver library is too old: {reason}")))?;
        let null = ptr::null_mut();
        let facts = Facts {
            name: String::new(),
            driver: 0,
            architecture: 0,
            multiprocessors: 0,
            max_threads: 0,
            shared_bytes: 0,
        };
        let mut gpu = Gpu { functions, device: 0, context: null, stream: null, facts };
        gpu.initialize().map_err(|error| match error {
            // No GPU, no permission, or a driver that does not fit: the same to who asks what works here.
            Error::Driver { call, name, code, .. } => {
                unavailable(format!("{call} failed: {name} (code {code})"))
            }
            error => error,
        })?;
        Ok(gpu)
    }

    fn initialize(&mut self) -> Result<()> {
        let (mut version, mut count) = (0, 0);
        // SAFETY: the calls write one number to each address, or nothing.
        unsafe {
            self.check("cuInit", (self.functions.init)(0))?;
            self.check("cuDriverGetVersion", (self.functions.version)(&mut version))?;
            self.check("cuDeviceGetCount", (self.functions.device_count)(&mut count))?;
        }
        self.facts.driver = version;
        if count < 1 {
            let reason = "the driver sees no GPU (CUDA_VISIBLE_DEVICES may hide it)".into();
            return Err(Error::DeviceUnavailable { device: NAME.into(), reason });
        }
        /// The stream does not wait for work that others in the process give to the default stream.
        const NON_BLOCKING: c_uint = 1;
        // SAFETY: the driver is initialised and has a device 0; the calls write one handle each.
        unsafe {
            let status = (self.functions.device)(&mut self.device, 0);
            self.check("cuDeviceGet", status)?;
            let status = (self.functions.retain)(&mut self.context, self.device);
            self.check("cuDevicePrimaryCtxRetain", status)?;
            self.enter()?;
            let status = (self.functions.stream_create)(&mut self.stream, NON_BLOCKING);
            self.check("cuStreamCreate", status)?;
        }
        let mut name = [0u8; 256];
        let (text, length) = (name.as_mut_ptr().cast(), name.len() as c_int);
        // SAFETY: the call writes a C string that fits into so many bytes.
        let status = unsafe { (self.functions.device_name)(text, length, self.device) };
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
        let status = unsafe { (self.functions.attribute)(&mut value, attribute, self.device) };
        self.check("cuDeviceGetAttribute", status)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// What the driver says of it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Reserves memory.
    pub fn allocate(self: &Arc<Gpu>, bytes: usize) -> Result<Buffer> {
        let mut address = 0;
        self.enter()?;
        // SAFETY: the context is current, and the call writes one address. It refuses a size of 0.
        let status = unsafe { (self.functions.allocate)(&mut address, bytes.max(16)) };
        if status == code::OUT_OF_MEMORY {
            return Err(Error::OutOfMemory { device: NAME, bytes });
        }
        self.check("cuMemAlloc", status)?;
        Ok(Buffer { gpu: self.clone(), address, bytes })
    }

    /// Makes a module of a binary, and finds the entry point. Its launches ask for `shared` bytes of shared memory,
    /// besides what the binary itself has.
    pub fn load(self: &Arc<Gpu>, kernel: &str, entry: &str, binary: &[u8], shared: u32) -> Result<Module> {
        let refuse = |reason: String| Error::Binary { device: NAME, kernel: kernel.into(), reason };
        let symbol = CString::new(entry).map_err(|e| refuse(e.to_string()))?;
        // The driver reads PTX up to a byte of zero.
        let image = [binary, &[0]].concat();
        self.enter()?;
        let null = ptr::null_mut();
        let mut module = Module { gpu: self.clone(), module: null, function: null, shared };
        // SAFETY: the context is current; the image is a binary of our own compiler (what was kept on disk was checked
        // against its hash), and the driver copies it.
        let status = unsafe { (self.functions.load_module)(&mut module.module, image.as_ptr().cast()) };
        self.check("cuModuleLoadData", status).map_err(|error| refuse(error.to_string()))?;
        // SAFETY: the module was loaded, and the symbol is a C string.
        let status =
            unsafe { (self.functions.module_function)(&mut module.function, module.module, symbol.as_ptr()) };
        self.check("cuModuleGetFunction", status).map_err(|error| refuse(error.to_string()))?;
        if shared > 0 {
            let (attribute, bytes) = (function_attribute::MAX_DYNAMIC_SHARED_BYTES, shared as c_int);
            // SAFETY: the function belongs to the module, which is loaded.
            let status =
                unsafe { (self.functions.set_function_attribute)(module.function, attribute, bytes) };
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
            (self.functions.launch)(
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
        self.enter()?;
        // SAFETY: the context is current, and the stream belongs to it.
        let status = unsafe { (self.functions.stream_synchronize)(self.stream) };
        self.check("cuStreamSynchronize", status)
    }

    /// Puts a mark into the stream.
    pub fn mark(self: &Arc<Gpu>) -> Result<Event> {
        self.enter()?;
        let mut event = Event { gpu: self.clone(), event: ptr::null_mut() };
        // SAFETY: the context is current, and the call writes one handle.
        let status = unsafe { (self.functions.event_create)(&mut event.event, 0) };
        self.check("cuEventCreate", status)?;
        // SAFETY: the event was just made, in the context of the stream.
        let status = unsafe { (self.functions.event_record)(event.event, self.stream) };
        self.check("cuEventRecord", status)?;
        Ok(event)
    }

    /// Makes the context this thread's: the driver remembers it for each thread, and other code may have changed it.
    fn enter(&self) -> Result<()> {
        // SAFETY: the context is valid as long as this value.
        let status = unsafe { (self.functions.set_current)(self.context) };
        self.check("cuCtxSetCurrent", status)
    }

    fn check(&self, call: &'static str, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        let mut name = ptr::null();
        // SAFETY: the call takes any number, and writes an address that is null or of a C string that is never freed.
        let known = unsafe { (self.functions.error_name)(status, &mut name) } == 0 && !name.is_null();
        let name = if known {
            // SAFETY: as above.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        } else {
            "an unknown error".into()
        };
        Err(Error::Driver { device: NAME, call, code: status.into(), name })
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
            unsafe { (self.functions.stream_destroy)(self.stream) };
        }
        // SAFETY: retained once, in `initialize`.
        unsafe { (self.functions.release)(self.device) };
    }
}

/// Memory on a GPU.
pub struct Buffer {
    gpu: Arc<Gpu>,
    address: u64,
    bytes: usize,
}

impl Buffer {
    /// Where it is on the GPU.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Copies bytes in, after the work before it, and waits until they have been read. There must be room for them.
    pub fn write(&self, from: &[u8]) -> Result<()> {
        assert!(from.len() <= self.bytes);
        self.gpu.enter()?;
        let (address, data) = (self.address, from.as_ptr().cast());
        // SAFETY: the context is current, the memory is large enough, and `from` is borrowed until the copy is done.
        let status = unsafe { (self.gpu.functions.upload)(address, data, from.len(), self.gpu.stream) };
        self.gpu.check("cuMemcpyHtoDAsync", status)?;
        self.gpu.synchronize()
    }

    /// Copies bytes out, after the work before it. They must be there.
    pub fn read(&self, to: &mut [u8]) -> Result<()> {
        assert!(to.len() <= self.bytes);
        self.gpu.enter()?;
        let (address, data) = (self.address, to.as_mut_ptr().cast());
        // SAFETY: the context is current, the memory is large enough, and `to` is borrowed until the copy is done.
        let status = unsafe { (self.gpu.functions.download)(data, address, to.len(), self.gpu.stream) };
        self.gpu.check("cuMemcpyDtoHAsync", status)?;
        self.gpu.synchronize()
    }

    /// Copies the first bytes of other memory in, after the work before it. They must be in both.
    pub fn write_from(&self, from: &Buffer, bytes: usize) -> Result<()> {
        assert!(bytes <= self.bytes && bytes <= from.bytes);
        if self.address == from.address {
            return Ok(());
        }
        self.gpu.enter()?;
        let (to, from) = (self.address, from.address);
        // SAFETY: the context is current, and both memories are large enough and not the same. Neither is freed before the copy
        // is done, as the driver waits for work that uses it.
        let status = unsafe { (self.gpu.functions.copy)(to, from, bytes, self.gpu.stream) };
        self.gpu.check("cuMemcpyDtoDAsync", status)
    }

    /// Sets the first bytes to zero. They must be there.
    pub fn clear(&self, bytes: usize) -> Result<()> {
        assert!(bytes <= self.bytes);
        self.gpu.enter()?;
        // SAFETY: the context is current, and the memory is large enough.
        let status = unsafe { (self.gpu.functions.fill)(self.address, 0, bytes, self.gpu.stream) };
        self.gpu.check("cuMemsetD8Async", status)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.gpu.enter().is_ok() {
            // SAFETY: allocated in this context, and nobody else has it. The driver waits for work that uses it.
            unsafe { (self.gpu.functions.free)(self.address) };
        }
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

impl Drop for Module {
    fn drop(&mut self) {
        // A launch may still be running it.
        if !self.module.is_null() && self.gpu.synchronize().is_ok() {
            // SAFETY: loaded in this context, which is current, and no longer in use.
            unsafe { (self.gpu.functions.unload_module)(self.module) };
        }
    }
}

/// A mark in the stream.
pub struct Event {
    gpu: Arc<Gpu>,
    event: Handle,
}

impl Event {
    /// Waits until the work before this mark is done; milliseconds since an earlier mark.
    pub fn since(&self, earlier: &Event) -> Result<f64> {
        self.gpu.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: the context is current and both events were recorded in it; the call writes one number.
        unsafe {
            self.gpu.check("cuEventSynchronize", (self.gpu.functions.event_synchronize)(self.event))?;
            let status = (self.gpu.functions.event_elapsed)(&mut milliseconds, earlier.event, self.event);
            self.gpu.check("cuEventElapsedTime", status)?;
        }
        Ok(milliseconds.into())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.event.is_null() && self.gpu.enter().is_ok() {
            // SAFETY: made in this context, and nobody else has it.
            unsafe { (self.gpu.functions.event_destroy)(self.event) };
        }
    }
}
