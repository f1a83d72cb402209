//! Launches that the host watches: a kernel whose deadline has passed is told to stop through its stop record, which is
//! mapped into the host's memory meanwhile.

use std::ffi::c_void;
use std::ptr;
use std::time::{Duration, Instant};

use opencl3::command_queue as queue;
use opencl3::event;
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE};
use opencl3::types::cl_mem;

use super::objects::{Buffer, Event, Queue};
use super::{BLOCKING, OpenClDevice};
use crate::deadline;
use crate::device::DeviceMemory;
use crate::error::{Error, Result};
use crate::identity::DeviceName;

impl OpenClDevice {
    /// Maps a stop record into the host's memory, until the result is dropped.
    pub(super) fn map(&self, record: &DeviceMemory) -> Result<Mapped<'_>> {
        let buffer = record.handle::<Buffer>(self.id)?.0;
        self.waits.count();
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
        event.map(|event| drop(Event(event))).map_err(self.failed("clEnqueueMapBuffer"))?;
        Ok(Mapped { queue: &self.queue, buffer, address })
    }
}

/// A buffer that is mapped into the host's memory.
pub(super) struct Mapped<'a> {
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
    pub(super) fn wait_until(
        &self,
        device: DeviceName,
        record: &Mapped<'_>,
        remaining: Duration,
    ) -> Result<()> {
        // From when the kernel runs: until then the queue belongs to others.
        let mut start = None;
        let mut stopped = None;
        loop {
            match self.status(device)? {
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
                        device,
                        action: "stopping a kernel whose deadline has passed".into(),
                        reason: "it goes on, since this driver does not show it what the host writes".into(),
                        place: None,
                        cause: None,
                    });
                }
                _ => {}
            }
            std::thread::sleep((elapsed / 32).clamp(Duration::from_micros(20), Duration::from_millis(5)));
        }
    }
}
