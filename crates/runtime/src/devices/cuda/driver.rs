//! NVIDIA's driver library: its functions, with every return code made an error, and how many GPUs it shows.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use super::KIND;
use super::graph::NodeParameters;
use super::library::functions;
use crate::error::{Error, Result};
use crate::identity::DeviceName;

pub(super) type Handle = *mut c_void;

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
    fn stream_wait(Handle, Handle, c_uint) = "cuStreamWaitEvent";
    fn stream_destroy(Handle) = "cuStreamDestroy_v2";
    fn allocate(*mut u64, usize) = "cuMemAlloc_v2";
    fn free(u64) = "cuMemFree_v2";
    fn allocate_host(*mut *mut c_void, usize, c_uint) = "cuMemHostAlloc";
    fn free_host(*mut c_void) = "cuMemFreeHost";
    fn register_host(*mut c_void, usize, c_uint) = "cuMemHostRegister_v2";
    fn unregister_host(*mut c_void) = "cuMemHostUnregister";
    fn upload(u64, *const c_void, usize, Handle) = "cuMemcpyHtoDAsync_v2";
    fn download(*mut c_void, u64, usize, Handle) = "cuMemcpyDtoHAsync_v2";
    fn copy(u64, u64, usize, Handle) = "cuMemcpyDtoDAsync_v2";
    fn fill(u64, u8, usize, Handle) = "cuMemsetD8Async";
    fn load_module(*mut Handle, *const c_void) = "cuModuleLoadData";
    fn module_function(*mut Handle, Handle, *const c_char) = "cuModuleGetFunction";
    fn set_function_attribute(Handle, c_int, c_int) = "cuFuncSetAttribute";
    fn function_attribute(*mut c_int, c_int, Handle) = "cuFuncGetAttribute";
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

functions! {
    /// The driver's functions for graphs, which older ones lack.
    struct GraphFunctions;
    fn create(*mut Handle, c_uint) = "cuGraphCreate";
    fn add_node(
        *mut Handle, Handle, *const Handle, *const c_void, usize, *mut NodeParameters,
    ) = "cuGraphAddNode_v2";
    fn condition(*mut u64, Handle, Handle, c_uint, c_uint) = "cuGraphConditionalHandleCreate";
    fn instantiate(*mut Handle, Handle, u64) = "cuGraphInstantiateWithFlags";
    fn launch(Handle, Handle) = "cuGraphLaunch";
    fn destroy_executable(Handle) = "cuGraphExecDestroy";
    fn destroy(Handle) = "cuGraphDestroy";
}

/// The first version of CUDA whose graphs have decisions between two ways.
const WITH_GRAPHS: i32 = 12_080;

/// The codes that are told apart; `cuda.h` lists all.
pub(super) mod code {
    pub const OUT_OF_MEMORY: i32 = 2;
}

/// The driver, ready to be used.
pub struct Driver {
    pub(super) functions: Functions,
    /// Functions for graphs, if the driver has all of them that are needed.
    pub(super) graphs: Option<GraphFunctions>,
    version: i32,
    count: u32,
}

impl Driver {
    /// Opens the driver's library under one of these names. There must be a GPU.
    pub fn open(names: &[&str]) -> Result<Driver> {
        let library = super::library::open_first(names).map_err(|failures| {
            unavailable(match &failures[..] {
                [] => format!("NVIDIA's driver library was not found (looked for {})", names.join(", ")),
                found => format!("NVIDIA's driver library cannot be loaded: {}", found.join("; ")),
            })
        })?;
        let functions = Functions::load(library)
            .map_err(|reason| unavailable(format!("NVIDIA's driver library is too old: {reason}")))?;
        let mut driver = Driver { functions, graphs: None, version: 0, count: 0 };
        driver.initialize().map_err(as_unavailable)?;
        if driver.version >= WITH_GRAPHS {
            let again = super::library::open_first(names).ok();
            driver.graphs = again.and_then(|library| GraphFunctions::load(library).ok());
        }
        match driver.count {
            0 => Err(unavailable("the driver sees no GPU (CUDA_VISIBLE_DEVICES may hide it)".into())),
            _ => Ok(driver),
        }
    }

    fn initialize(&mut self) -> Result<()> {
        let kind = DeviceName::of_kind(KIND);
        let mut count = 0;
        // SAFETY: the calls write one number to each address, or nothing.
        unsafe {
            self.check(kind, "cuInit", (self.functions.init)(0))?;
            let status = (self.functions.version)(&mut self.version);
            self.check(kind, "cuDriverGetVersion", status)?;
            self.check(kind, "cuDeviceGetCount", (self.functions.device_count)(&mut count))?;
        }
        self.count = u32::try_from(count).unwrap_or(0);
        Ok(())
    }

    /// Returns the newest version of CUDA that it knows, as 1000 × major + 10 × minor.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Returns how many GPUs it shows.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Makes an error of a code that is not 0.
    pub(super) fn check(&self, device: DeviceName, call: &'static str, status: c_int) -> Result<()> {
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
        Err(Error::Driver { device, call, code: status.into(), name, place: None })
    }
}

fn unavailable(reason: String) -> Error {
    Error::DeviceUnavailable { device: KIND.into(), reason }
}

/// Makes an error of opening a GPU one that says that it cannot be used: no GPU, no permission, or a driver that does not
/// fit are the same to a caller that asks which devices work here.
pub(super) fn as_unavailable(error: Error) -> Error {
    match error {
        Error::Driver { call, name, code, .. } => unavailable(format!("{call} failed: {name} (code {code})")),
        error => error,
    }
}
