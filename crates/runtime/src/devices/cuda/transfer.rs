//! Large transfers between the host and a GPU: in streams of their own, so that they happen while kernels run, and through memory
//! that the driver copies from and to by itself, so that both directions happen at once.
//!
//! A transfer is shared by several lanes, each with a thread for the time of the call: copying to or from a lane's memory takes the
//! host as long as the transfer takes the bus.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

use super::driver::Handle;
use super::gpu::{Event, Gpu};
use super::memory::Buffer;
use crate::error::{Error, Result};

/// Bytes from which on a transfer is large.
pub const LARGE: usize = 1 << 20;

/// Bytes of a piece, of which a lane has two under way.
const PIECE: usize = 2 << 20;

/// Lanes of a transfer, at most.
const MOST_LANES: usize = 6;

/// The lanes of a GPU that nobody uses.
#[derive(Default)]
pub struct Lanes(Mutex<Vec<Lane>>);

impl Lanes {
    /// Copies bytes to a GPU's memory, after the work before it and before the work after it; they have been read when it returns. There
    /// must be room for them.
    pub fn write(&self, to: &Buffer, from: &[u8]) -> Result<()> {
        assert!(from.len() <= to.bytes);
        let (begin, share) = (to.gpu.mark()?, share_of(from.len()));
        self.share(&to.gpu, from.chunks(share), |lane, number, part: &[u8]| {
            begin.hold_up(lane.stream.handle)?;
            let mut address = to.address + (number * share) as u64;
            for (piece, slot) in part.chunks(PIECE).zip(lane.slots.iter().cycle()) {
                slot.used.wait()?;
                slot.pinned.write(piece);
                slot.pinned.upload(&lane.stream, address, piece.len())?;
                slot.used.record(lane.stream.handle)?;
                address += piece.len() as u64;
            }
            lane.slots.iter().try_for_each(|slot| slot.used.hold_up(to.gpu.stream))
        })
    }

    /// Copies bytes out of a GPU's memory, after the work before it. They must be there.
    pub fn read(&self, from: &Buffer, to: &mut [u8]) -> Result<()> {
        assert!(to.len() <= from.bytes);
        let (begin, share) = (from.gpu.mark()?, share_of(to.len()));
        self.share(&from.gpu, to.chunks_mut(share), |lane, number, part: &mut [u8]| {
            begin.hold_up(lane.stream.handle)?;
            let (first, bytes) = (from.address + (number * share) as u64, part.len());
            let fetch = |piece: usize| {
                let (start, slot) = (piece * PIECE, &lane.slots[piece % 2]);
                if start >= bytes {
                    return Ok(());
                }
                slot.pinned.download(&lane.stream, first + start as u64, PIECE.min(bytes - start))?;
                slot.used.record(lane.stream.handle)
            };
            (0..2).try_for_each(fetch)?;
            for (number, piece) in part.chunks_mut(PIECE).enumerate() {
                let slot = &lane.slots[number % 2];
                slot.used.wait()?;
                slot.pinned.read(piece);
                fetch(number + 2)?;
            }
            Ok(())
        })
    }

    /// Has a lane work on each part, with its number. There are at most [`MOST_LANES`] parts.
    fn share<P: Send>(
        &self,
        gpu: &Arc<Gpu>,
        parts: impl Iterator<Item = P>,
        work: impl Fn(&Lane, usize, P) -> Result<()> + Sync,
    ) -> Result<()> {
        gpu.waits.count();
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let with_lane = |part| Ok((part, free().pop().map_or_else(|| Lane::new(gpu), Ok)?));
        let mut parts = parts.map(with_lane).collect::<Result<Vec<_>>>()?.into_iter().enumerate();
        let copy = |(number, (part, lane)): (usize, (P, Lane))| {
            gpu.enter()?;
            work(&lane, number, part)?;
            // One in which something failed waits for the rest as it is dropped.
            free().push(lane);
            Ok(())
        };
        let copy = &copy;
        scope(|scope| {
            let first = parts.next();
            let others: Vec<_> = parts.map(|part| scope.spawn(move || copy(part))).collect();
            let panicked = |_| Err(Error::Invalid("a thread that copies memory panicked".into()));
            let outcome = first.map_or(Ok(()), copy);
            others
                .into_iter()
                .fold(outcome, |outcome, other| outcome.and(other.join().unwrap_or_else(panicked)))
        })
    }
}

/// The bytes that each lane takes.
fn share_of(bytes: usize) -> usize {
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    let lanes = bytes.div_ceil(2 * PIECE).min(cores / 2).clamp(1, MOST_LANES);
    bytes.div_ceil(lanes).next_multiple_of(16)
}

/// A stream with memory for two pieces. Nothing in it is under way when nobody uses it, except copies to the GPU.
struct Lane {
    // Dropped first: it waits for what uses the slots.
    stream: Stream,
    slots: [Slot; 2],
}

/// Memory for a piece, and a mark behind its last use.
struct Slot {
    pinned: Pinned,
    used: Event,
}

impl Lane {
    fn new(gpu: &Arc<Gpu>) -> Result<Lane> {
        gpu.enter()?;
        let slot = || Ok::<_, Error>(Slot { pinned: Pinned::new(gpu)?, used: Event::new(gpu)? });
        Ok(Lane { stream: Stream::new(gpu)?, slots: [slot()?, slot()?] })
    }
}

/// A stream for transfers.
struct Stream {
    gpu: Arc<Gpu>,
    handle: Handle,
}

// SAFETY: streams belong to a context and not to a thread.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver synchronises what threads do at once.
unsafe impl Sync for Stream {}

impl Stream {
    fn new(gpu: &Arc<Gpu>) -> Result<Stream> {
        Ok(Stream { gpu: gpu.clone(), handle: gpu.new_stream()? })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.gpu.enter().is_ok() {
            let functions = &self.gpu.driver.functions;
            // SAFETY: made in this context, which is current, and nobody else has it.
            unsafe {
                (functions.stream_synchronize)(self.handle);
                (functions.stream_destroy)(self.handle);
            }
        }
    }
}

/// Memory of the host's for a piece, which the GPU can reach.
struct Pinned {
    gpu: Arc<Gpu>,
    address: *mut c_void,
}

// SAFETY: the memory belongs to a context and not to a thread.
unsafe impl Send for Pinned {}
// SAFETY: as above. Who has the lane is alone in using it.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// In the context of this GPU, which is current.
    fn new(gpu: &Arc<Gpu>) -> Result<Pinned> {
        let mut pinned = Pinned { gpu: gpu.clone(), address: ptr::null_mut() };
        // SAFETY: the context is current, and the call writes one address.
        let status = unsafe { (gpu.driver.functions.allocate_host)(&mut pinned.address, PIECE, 0) };
        gpu.check("cuMemHostAlloc", status)?;
        Ok(pinned)
    }

    /// Takes a piece. The GPU must have read the one before.
    fn write(&self, piece: &[u8]) {
        assert!(piece.len() <= PIECE);
        // SAFETY: there is room for it, and nobody else uses the memory.
        unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), self.address.cast(), piece.len()) };
    }

    /// Gives a piece, which the GPU must have written.
    fn read(&self, piece: &mut [u8]) {
        assert!(piece.len() <= PIECE);
        // SAFETY: as many bytes are there, and nobody else uses the memory.
        unsafe { ptr::copy_nonoverlapping(self.address.cast(), piece.as_mut_ptr(), piece.len()) };
    }

    /// Begins to copy a piece to the GPU's memory, which has room for it.
    fn upload(&self, stream: &Stream, to: u64, bytes: usize) -> Result<()> {
        // SAFETY: the context is current, and the memory is not written before the mark behind this copy is reached.
        let status = unsafe { (self.gpu.driver.functions.upload)(to, self.address, bytes, stream.handle) };
        self.gpu.check("cuMemcpyHtoDAsync", status)
    }

    /// Begins to copy a piece from the GPU's memory, which has as many bytes.
    fn download(&self, stream: &Stream, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: the context is current, and the memory is not read before the mark behind this copy is reached.
        let status =
            unsafe { (self.gpu.driver.functions.download)(self.address, from, bytes, stream.handle) };
        self.gpu.check("cuMemcpyDtoHAsync", status)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.address.is_null() && self.gpu.enter().is_ok() {
            // SAFETY: allocated in this context, and what used it is done.
            unsafe { (self.gpu.driver.functions.free_host)(self.address) };
        }
    }
}
