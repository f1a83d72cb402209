//! Device memory that is used again: buffers come from here and go back when nothing holds them.

use crate::device::{Device, DeviceMemory};
use crate::error::{Error, Result};
use crate::host_memory;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Free memory of one device.
pub struct Pool {
    device: Arc<dyn Device>,
    free: Mutex<Free>,
    most_bytes: usize,
    /// Bytes in use, and the most that were since somebody asked.
    in_use: AtomicUsize,
    most_in_use: AtomicUsize,
}

#[derive(Default)]
struct Free {
    /// None of the lists is empty.
    by_size: BTreeMap<usize, Vec<DeviceMemory>>,
    bytes: usize,
    pieces: usize,
}

impl Free {
    fn take(&mut self, size: usize) -> Option<DeviceMemory> {
        let Entry::Occupied(mut entry) = self.by_size.entry(size) else { return None };
        let memory = entry.get_mut().pop();
        if entry.get().is_empty() {
            entry.remove();
        }
        if memory.is_some() {
            self.bytes -= size;
            self.pieces -= 1;
        }
        memory
    }
}

/// The most free memory that a pool keeps, where the host has four times as much (a device's memory may be the host's).
const MOST_FREE_BYTES: usize = 4 << 30;

/// The most pieces of free memory that a pool keeps. A program whose arrays have another size in every run would fill it with
/// pieces that fit nothing any more.
const MOST_FREE_PIECES: usize = 1024;

/// Memory that goes back to its pool.
pub struct Pooled {
    memory: Option<DeviceMemory>,
    pool: Weak<Pool>,
}

impl Pooled {
    /// The memory.
    pub fn memory(&self) -> Result<&DeviceMemory> {
        self.memory.as_ref().ok_or_else(|| Error::Invalid("memory is used after it was released".into()))
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if let (Some(memory), Some(pool)) = (self.memory.take(), self.pool.upgrade()) {
            pool.in_use.fetch_sub(memory.bytes(), Ordering::Relaxed);
            pool.give_back(memory);
        }
    }
}

impl Pool {
    /// An empty pool.
    pub fn new(device: Arc<dyn Device>) -> Arc<Pool> {
        let most_bytes = MOST_FREE_BYTES.min(host_memory::physical() / 4);
        let (in_use, most_in_use) = Default::default();
        Arc::new(Pool { device, free: Mutex::default(), most_bytes, in_use, most_in_use })
    }

    /// Memory for at least this many bytes, of no particular content. If the device has no room, `release` may give back what is
    /// not needed, the pool is emptied, and the device asked again; an error says how much is in use.
    pub fn take(self: &Arc<Self>, bytes: usize, release: impl FnOnce()) -> Result<Arc<Pooled>> {
        let size = if self.device.rounds_sizes() { rounded(bytes) } else { bytes };
        let found = self.lock().take(size);
        tracing::trace!(target: "pumice::memory", device = %self.device.name(), bytes, reused = found.is_some());
        let memory = match found {
            Some(memory) => memory,
            None => match self.device.allocate(size) {
                Err(Error::OutOfMemory { .. }) => {
                    let device = self.device.name();
                    tracing::warn!(target: "pumice::memory", %device, bytes, "full: free memory is given back first");
                    release();
                    self.allocate_when_empty(size)
                }
                other => other,
            }?,
        };
        let before = self.in_use.fetch_add(memory.bytes(), Ordering::Relaxed);
        self.most_in_use.fetch_max(before + memory.bytes(), Ordering::Relaxed);
        Ok(Arc::new(Pooled { memory: Some(memory), pool: Arc::downgrade(self) }))
    }

    /// Asks the device for memory once the pool is empty. Other threads may give memory back to the pool meanwhile; then it is
    /// emptied again, a few times.
    fn allocate_when_empty(&self, size: usize) -> Result<DeviceMemory> {
        for _ in 0..4 {
            self.empty();
            match self.device.allocate(size) {
                Err(Error::OutOfMemory { .. }) if self.lock().bytes > 0 => {}
                other => return other.map_err(|error| self.with_usage(error)),
            }
        }
        self.device.allocate(size).map_err(|error| self.with_usage(error))
    }

    /// Gives all free memory back to the device, once the work that used it is done.
    pub fn empty(&self) {
        let all = std::mem::take(&mut *self.lock());
        // A failed wait is reported when a result is read; the memory is free either way.
        let _ = self.device.synchronize();
        drop(all);
    }

    /// Returns the bytes that are in use; those that are free here do not count.
    pub fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }

    /// Returns the most bytes that were in use at a time since the last call.
    pub fn most_in_use(&self) -> usize {
        self.most_in_use.swap(self.in_use(), Ordering::Relaxed)
    }

    /// An error of an allocation, with what is known of the device's memory.
    fn with_usage(&self, error: Error) -> Error {
        match error {
            Error::OutOfMemory { device, bytes, place, .. } => {
                let (in_use, limit) = (Some(self.in_use()), self.device.memory_limit());
                Error::OutOfMemory { device, bytes, in_use, limit, place }
            }
            other => other,
        }
    }

    /// Bytes that are free here.
    #[cfg(test)]
    pub fn free_bytes(&self) -> usize {
        self.lock().bytes
    }

    fn give_back(&self, memory: DeviceMemory) {
        if self.lock().pieces >= MOST_FREE_PIECES {
            self.empty();
        }
        let mut free = self.lock();
        let size = memory.bytes();
        if free.bytes + size <= self.most_bytes {
            free.bytes += size;
            free.pieces += 1;
            free.by_size.entry(size).or_default().push(memory);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sizes come in few classes, at most an eighth apart, so that free memory fits again.
fn rounded(bytes: usize) -> usize {
    let bytes = bytes.max(256);
    let step = (bytes.next_power_of_two() / 16).max(256);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_a_little() {
        for bytes in [0, 1, 255, 256, 257, 5000, 1 << 20, (1 << 20) + 1, 3 << 30] {
            let size = rounded(bytes);
            assert!(size >= bytes && size <= bytes.max(256) + bytes / 8 + 256, "{bytes} became {size}");
        }
    }

    #[test]
    fn memory_comes_back_and_is_used_again() -> Result<()> {
        let pool = Pool::new(crate::open("sim")?);
        drop(pool.take(1000, || {})?);
        assert_eq!(pool.free_bytes(), 1000);
        let again = pool.take(1000, || {})?;
        assert_eq!(pool.free_bytes(), 0);
        drop(again);
        pool.empty();
        assert_eq!(pool.free_bytes(), 0);
        Ok(())
    }

    #[test]
    fn a_full_device_is_asked_again_once_the_pool_is_empty() -> Result<()> {
        let pool = Pool::new(Arc::new(crate::devices::Sim::with_memory(1000)));
        let held = pool.take(300, || {})?;
        drop(pool.take(600, || {})?);
        assert_eq!((pool.in_use(), pool.free_bytes()), (300, 600));
        // The free memory is in the way.
        let large = pool.take(700, || {})?;
        assert_eq!((pool.in_use(), pool.free_bytes()), (1000, 0));
        let device = pool.device.name();
        let full =
            Error::OutOfMemory { device, bytes: 1, in_use: Some(1000), limit: Some(1000), place: None };
        assert_eq!(pool.take(1, || {}).err(), Some(full));
        drop(held);
        let kept = std::cell::Cell::new(Some(large));
        let again = pool.take(800, || drop(kept.take()))?;
        assert_eq!((pool.in_use(), pool.free_bytes()), (800, 0));
        drop(again);
        assert_eq!(pool.in_use(), 0);
        Ok(())
    }

    #[test]
    fn memory_of_ever_other_sizes_does_not_pile_up() -> Result<()> {
        let pool = Pool::new(crate::open("sim")?);
        for size in 0..3 * MOST_FREE_PIECES {
            drop(pool.take(size, || {})?);
            let free = pool.lock();
            let found = free.by_size.values().map(Vec::len).sum::<usize>();
            assert!(free.pieces == found && found <= MOST_FREE_PIECES);
            assert!(free.by_size.values().all(|list| !list.is_empty()));
        }
        Ok(())
    }
}
