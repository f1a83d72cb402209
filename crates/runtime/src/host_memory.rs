//! Memory of the host whose size an array decides: an error where there is none, never the end of the process. Large pieces are used
//! again, since touching new memory for the first time takes longer than filling it from a GPU.

use std::alloc::{Layout, alloc_zeroed};
use std::mem::take;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::{Device, Pin};
use crate::error::{Error, Result};
use pumice_array::prefer_large_pages;

/// Bytes from which on a piece is kept, and those that are kept in all, at most.
const LARGE: usize = 1 << 20;
const MOST_KEPT: usize = 1 << 30;

/// Bytes that are given back as they are dropped.
#[derive(Default)]
pub(crate) struct HostMemory {
    piece: Piece,
    /// Whether others had it before.
    is_used_again: bool,
}

#[derive(Default)]
struct Piece {
    // Dropped first: it must not outlive the bytes.
    pin: Option<Pin>,
    bytes: Vec<u8>,
}

/// Returns the pieces that are not in use, the oldest first.
fn kept() -> MutexGuard<'static, Vec<Piece>> {
    static KEPT: Mutex<Vec<Piece>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostMemory {
    /// Returns memory of this size with any contents: a piece that was given back, or a new one.
    pub(crate) fn any(bytes: usize) -> Result<HostMemory> {
        if bytes >= LARGE {
            let mut kept = kept();
            if let Some(place) = kept.iter().rposition(|piece| piece.bytes.len() == bytes) {
                return Ok(HostMemory { piece: kept.remove(place), is_used_again: true });
            }
        }
        let piece = Piece { pin: None, bytes: zeroed(bytes)? };
        Ok(HostMemory { piece, is_used_again: false })
    }

    /// Prepares transfers from and to a device. What is used once is not worth it: it takes as long as two or three transfers.
    pub(crate) fn prepare_for(&mut self, device: &dyn Device) {
        let Piece { pin, bytes } = &mut self.piece;
        if self.is_used_again && pin.is_none() {
            // SAFETY: the bytes are neither moved nor freed before the pin is dropped: nothing else gets at the vector.
            *pin = unsafe { device.pin(bytes) };
        }
    }
}

impl Deref for HostMemory {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.piece.bytes
    }
}

impl DerefMut for HostMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.piece.bytes
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let piece = take(&mut self.piece);
        let most = MOST_KEPT.min(physical() / 16);
        if !(LARGE..=most).contains(&piece.bytes.len()) {
            return;
        }
        let gone: Vec<Piece> = {
            let mut kept = kept();
            kept.push(piece);
            let mut bytes: usize = kept.iter().map(|piece| piece.bytes.len()).sum();
            let first = kept.iter().position(|piece| {
                let fits = bytes <= most;
                bytes -= if fits { 0 } else { piece.bytes.len() };
                fits
            });
            let first = first.unwrap_or(kept.len());
            kept.drain(..first).collect()
        };
        drop(gone);
    }
}

/// Returns as many zeros. The system clears the pages when they are first touched, so a copy into them that runs on several
/// threads clears them on all of these.
pub(crate) fn zeroed(bytes: usize) -> Result<Vec<u8>> {
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let exhausted = Error::OutOfHostMemory { bytes };
    // The system may promise more than it has and end the process when the promise falls due.
    if bytes > physical() {
        return Err(exhausted);
    }
    let Ok(layout) = Layout::array::<u8>(bytes) else { return Err(exhausted) };
    // SAFETY: the layout's size is not 0.
    let address = unsafe { alloc_zeroed(layout) };
    if address.is_null() {
        return Err(exhausted);
    }
    prefer_large_pages(address, bytes);
    // SAFETY: allocated by the global allocator for as many bytes, all of which are initialised; this is the only owner.
    Ok(unsafe { Vec::from_raw_parts(address, bytes, bytes) })
}

/// Returns the bytes of memory that the machine has, or more if that is not known.
pub(crate) fn physical() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: it only asks for two numbers.
        let (pages, size) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        if let (Ok(pages @ 1..), Ok(size @ 1..)) = (usize::try_from(pages), usize::try_from(size)) {
            return pages.saturating_mul(size);
        }
    }
    isize::MAX as usize
}

/// Returns the bytes of memory that can be taken now without others giving theirs up, or more if that is not known: what the system counts as
/// available, and what is left of a limit for this group of processes.
pub(crate) fn available() -> usize {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    let of_system = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1 << 10)
    };
    let of_group = || {
        let most = number("/sys/fs/cgroup/memory.max")?;
        Some(most.saturating_sub(number("/sys/fs/cgroup/memory.current")?))
    };
    physical().min(of_system().unwrap_or(usize::MAX)).min(of_group().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_or_an_error() {
        for bytes in [0, 1, 4097, 3 << 20] {
            let memory = zeroed(bytes);
            assert!(memory.is_ok_and(|memory| memory.len() == bytes && memory.iter().all(|byte| *byte == 0)));
        }
        for bytes in [1 << 50, isize::MAX as usize, usize::MAX] {
            assert_eq!(zeroed(bytes), Err(Error::OutOfHostMemory { bytes }));
        }
    }

    #[test]
    fn available_memory_is_a_part_of_all() {
        assert!((1 << 20..=physical()).contains(&available()));
    }

    #[test]
    fn large_memory_is_used_again() -> Result<()> {
        // No other test has memory of this size.
        let piece = HostMemory::any(LARGE + 12_345)?;
        let address = piece.as_ptr();
        drop(piece);
        let again = HostMemory::any(LARGE + 12_345)?;
        assert!(again.as_ptr() == address && again.len() == LARGE + 12_345 && again.is_used_again);
        Ok(())
    }
}
