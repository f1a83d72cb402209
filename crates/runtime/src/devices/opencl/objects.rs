//! OpenCL's objects with their owners, and its return codes as errors.

use opencl3::command_queue as queue;
use opencl3::context::context;
use opencl3::error_codes::ClError;
use opencl3::event::{self, CL_PROFILING_COMMAND_END};
use opencl3::types::{cl_command_queue, cl_context, cl_event, cl_int, cl_kernel, cl_mem, cl_program};
use opencl3::{kernel, memory, program};

use crate::error::{Error, Result};
use crate::identity::DeviceName;

/// Owners of OpenCL's objects, each with the function that releases it.
macro_rules! owners {
    ($($(#[$doc:meta])* $owner:ident($handle:ty) = $release:path;)*) => { $(
        $(#[$doc])*
        pub(super) struct $owner(pub(super) $handle);

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

impl Entry {
    /// Sets one argument. The caller holds the kernel's lock.
    pub(super) fn set(&self, device: DeviceName, number: u32, value: &[u8]) -> Result<()> {
        // SAFETY: the call copies so many readable bytes.
        let set = unsafe { kernel::set_kernel_arg(self.0, number, value.len(), value.as_ptr().cast()) };
        set.map_err(failed(device, "clSetKernelArg"))
    }
}

impl Event {
    /// Returns how far the work that it stands for is; an error if it failed.
    pub(super) fn status(&self, device: DeviceName) -> Result<cl_int> {
        let status = event::get_event_data(self.0, event::CL_EVENT_COMMAND_EXECUTION_STATUS);
        let status = status.map_err(failed(device, "clGetEventInfo"))?;
        match status.first_chunk().map_or(0, |bytes| cl_int::from_ne_bytes(*bytes)) {
            code @ ..0 => Err(failed(device, "clEnqueueNDRangeKernel")(code)),
            status => Ok(status),
        }
    }

    /// Waits until the work that it stands for is done.
    pub(super) fn wait(&self, device: DeviceName) -> Result<()> {
        event::wait_for_events(&[self.0]).map_err(failed(device, "clWaitForEvents"))
    }

    /// Returns when the work that it stands for ended, in nanoseconds of the device's clock.
    pub(super) fn end(&self, device: DeviceName) -> Result<u64> {
        let bytes = event::get_event_profiling_data(self.0, CL_PROFILING_COMMAND_END);
        let bytes = bytes.map_err(failed(device, "clGetEventProfilingInfo"))?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes)))
    }
}

/// Makes the error of a call that failed with this code.
pub(super) fn failed(device: DeviceName, call: &'static str) -> impl Fn(cl_int) -> Error {
    move |code| Error::Driver {
        device,
        call,
        code: code.into(),
        name: ClError(code).to_string(),
        place: None,
    }
}

/// Makes the error of a call that uses so many bytes of memory: drivers that allocate late run out of it at the first use.
pub(super) fn failed_with_memory(
    device: DeviceName,
    call: &'static str,
    bytes: usize,
) -> impl Fn(cl_int) -> Error {
    move |code| match code {
        ALLOCATION_FAILURE => Error::out_of_memory(device, bytes),
        code => failed(device, call)(code),
    }
}

const ALLOCATION_FAILURE: cl_int = -4;

/// Whether a buffer was refused for its size: too large for what is free, for the device, or for the host.
pub(super) fn is_exhaustion(code: cl_int) -> bool {
    const OUT_OF_RESOURCES: cl_int = -5;
    const OUT_OF_HOST_MEMORY: cl_int = -6;
    const INVALID_BUFFER_SIZE: cl_int = -61;
    [ALLOCATION_FAILURE, OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, INVALID_BUFFER_SIZE].contains(&code)
}
