//! Large transfers between the host and a GPU: in streams of their own, so that they happen while kernels run, and through memory
//! that the driver copies from and to by itself, so that both directions happen at once.
//!
//! A transfer is shared by several lanes, each with a thread for the time of the call: copying to or from a lane's memory takes the
//! host longer than the transfer takes the bus. From and to memory that was registered with the driver the GPU copies by itself.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{available_parallelism, scope};

use super::driver::Handle;
use super::gpu::{Event, Gpu};
use super::memory::Buffer;
use crate::device::Pin;
use crate::error::{Error, Result};

/// Bytes from which on a transfer is large.
pub const LARGE: usize = 1 << 20;

/// Bytes of a piece, of which a lane has two under way.
const PIECE: usize = 1 << 20;

/// Lanes of a transfer, at most.
const MOST_LANES: usize = 6;

/// Idle lanes of a GPU, and the ranges of host memory that it reaches by itself.
#[derive(Default)]
pub struct Lanes {
    free: Mutex<Vec<Lane>>,
    registered: Arc<Mutex<Vec<Range<usize>>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lanes {
    /// Copies bytes to a GPU's memory, after the work before it and before the work after it; they have been read when it returns. There
    /// must be room for them.
    pub fn write(&self, to: &Buffer, from: &[u8]) -> Result<()> {
        assert!(from.len() <= to.bytes);
        if self.reaches(from) {
            return self
                .directly(&to.gpu, |stream| stream.upload(to.address, from.as_ptr().cast(), from.len()));
        }
        let (begin, share) = (to.gpu.mark()?, share_of(from.len()));
        self.share(&to.gpu, from.chunks(share), |lane, number, part: &[u8]| {
            begin.hold_up(lane.stream.handle)?;
            let mut address = to.address + (number * share) as u64;
            for (piece, slot) in part.chunks(PIECE).zip(lane.slots.iter().cycle()) {
                slot.used.wait()?;
                slot.pinned.write(piece);
                lane.stream.upload(address, slot.pinned.address, piece.len())?;
                slot.used.record(lane.stream.handle)?;
                address += piece.len() as u64;
            }
            lane.slots.iter().try_for_each(|slot| slot.used.hold_up(to.gpu.stream))
        })
    }

    /// Copies the bytes that begin at `first` out of a GPU's memory, after the work before it. They must be there.
    pub fn read(&self, from: &Buffer, first: usize, to: &mut [u8]) -> Result<()> {
        assert!(first.checked_add(to.len()).is_some_and(|end| end <= from.bytes));
        let source = from.address + first as u64;
        if self.reaches(to) {
            let (address, bytes) = (to.as_mut_ptr().cast(), to.len());
            return self.directly(&from.gpu, |stream| stream.download(address, source, bytes));
        }
        let (begin, share) = (from.gpu.mark()?, share_of(to.len()));
        self.share(&from.gpu, to.chunks_mut(share), |lane, number, part: &mut [u8]| {
            begin.hold_up(lane.stream.handle)?;
            let (first, bytes) = (source + (number * share) as u64, part.len());
            let fetch = |piece: usize| {
                let (start, slot) = (piece * PIECE, &lane.slots[piece % 2]);
                if start >= bytes {
                    return Ok(());
                }
                lane.stream.download(slot.pinned.address, first + start as u64, PIECE.min(bytes - start))?;
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

    /// Registers memory with the driver, if it can be.
    ///
    /// # Safety
    /// The memory is not freed before what is returned is dropped.
    pub unsafe fn pin(&self, gpu: &Arc<Gpu>, memory: &mut [u8]) -> Option<Pin> {
        let address = memory.as_mut_ptr();
        gpu.enter().ok()?;
        // SAFETY: the context is current, and the memory is there.
        let status = unsafe { (gpu.driver.functions.register_host)(address.cast(), memory.len(), 0) };
        gpu.check("cuMemHostRegister", status).ok()?;
        let start = address as usize;
        let range = start..start + memory.len();
        locked(&self.registered).push(range.clone());
        Some(Box::new(Registered { gpu: Arc::downgrade(gpu), all: self.registered.clone(), range }))
    }

    /// Whether all of these bytes are registered.
    fn reaches(&self, bytes: &[u8]) -> bool {
        let (start, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
        locked(&self.registered).iter().any(|range| range.start <= start && end <= range.end)
    }

    /// Has the GPU copy by itself, after the work before it and before the work after it, and waits until that is done.
    fn directly(&self, gpu: &Arc<Gpu>, copy: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        gpu.waits.count();
        let (begin, lane) = (gpu.mark()?, self.lane(gpu)?);
        begin.hold_up(lane.stream.handle)?;
        copy(&lane.stream)?;
        let done = &lane.slots[0].used;
        done.record(lane.stream.handle)?;
        done.wait()?;
        locked(&self.free).push(lane);
        Ok(())
    }

    /// Returns an idle lane, or a new one. The context is current then.
    fn lane(&self, gpu: &Arc<Gpu>) -> Result<Lane> {
        let free = locked(&self.free).pop();
        free.map_or_else(|| Lane::new(gpu), Ok)
    }

    /// Has a lane work on each part, with its number. There are at most [`MOST_LANES`] parts.
    fn share<P: Send>(
        &self,
        gpu: &Arc<Gpu>,
        parts: impl Iterator<Item = P>,
        work: impl Fn(&Lane, usize, P) -> Result<()> + Sync,
    ) -> Result<()> {
        gpu.waits.count();
        let with_lane = |part| Ok((part, self.lane(gpu)?));
        let mut parts = parts.map(with_lane).collect::<Result<Vec<_>>>()?.into_iter().enumerate();
        let copy = |(number, (part, lane)): (usize, (P, Lane))| {
            gpu.enter()?;
            work(&lane, number, part)?;
            // One in which something failed waits for the rest as it is dropped.
            locked(&self.free).push(lane);
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

/// A stream with memory for two pieces. While it is idle, nothing in it is under way except copies to the GPU.
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

    /// Begins to copy bytes to the GPU's memory, which has room for them. The context is current, and they are not written before the
    /// copy is done.
    fn upload(&self, to: u64, from: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: as said above; only this file calls it.
        let status = unsafe { (self.gpu.driver.functions.upload)(to, from, bytes, self.handle) };
        self.gpu.check("cuMemcpyHtoDAsync", status)
    }

    /// Begins to copy bytes from the GPU's memory, which has as many. The context is current, and the bytes are not read before the copy is
    /// done.
    fn download(&self, to: *mut c_void, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: as said above; only this file calls it.
        let status = unsafe { (self.gpu.driver.functions.download)(to, from, bytes, self.handle) };
        self.gpu.check("cuMemcpyDtoHAsync", status)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.gpu.enter().is_ok() {
            let functions = &self.gpu.driver.functions;
            // SAFETY: made in this context, which is current, and this is its only owner.
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
        // SAFETY: there is room for it, and nothing else uses the memory.
        unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), self.address.cast(), piece.len()) };
    }

    /// Gives a piece, which the GPU must have written.
    fn read(&self, piece: &mut [u8]) {
        assert!(piece.len() <= PIECE);
        // SAFETY: as many bytes are there, and nothing else uses the memory.
        unsafe { ptr::copy_nonoverlapping(self.address.cast(), piece.as_mut_ptr(), piece.len()) };
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

/// Memory that is registered with the driver.
struct Registered {
    /// Without its context nothing is registered.
    gpu: Weak<Gpu>,
    all: Arc<Mutex<Vec<Range<usize>>>>,
    range: Range<usize>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        locked(&self.all).retain(|range| *range != self.range);
        if let Some(gpu) = self.gpu.upgrade().filter(|gpu| gpu.enter().is_ok()) {
            // SAFETY: registered in this context, which is current; the memory is still there, and no copy uses it.
            unsafe { (gpu.driver.functions.unregister_host)(self.range.start as *mut c_void) };
        }
    }
}
