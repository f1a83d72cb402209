//! Memory of the host whose size an array decides: an error where there is none, never the end of the process. Large pieces are used
//! again, since touching new memory for the first time takes longer than filling it from a GPU.

use std::alloc::{Layout, alloc_zeroed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use pumice_array::prefer_large_pages;

/// Bytes from which on a piece is kept, and those that are kept in all, at most.
const LARGE: usize = 1 << 20;
const MOST_KEPT: usize = 1 << 30;

/// Pieces that nobody uses, the oldest first.
fn kept() -> MutexGuard<'static, Vec<Vec<u8>>> {
    static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns as many bytes, of any value: those of a piece that was given back, or new ones.
pub(crate) fn any(bytes: usize) -> Result<Vec<u8>> {
    if bytes >= LARGE {
        let mut kept = kept();
        if let Some(place) = kept.iter().rposition(|piece| piece.len() == bytes) {
            return Ok(kept.remove(place));
        }
    }
    zeroed(bytes)
}

/// Takes pieces that will not be needed as they are.
pub(crate) fn give_back(pieces: impl IntoIterator<Item = Vec<u8>>) {
    let most = MOST_KEPT.min(physical() / 16);
    let mut pieces = pieces.into_iter().filter(|piece| (LARGE..=most).contains(&piece.len())).peekable();
    if pieces.peek().is_none() {
        return;
    }
    let gone: Vec<Vec<u8>> = {
        let mut kept = kept();
        kept.extend(pieces);
        let mut bytes: usize = kept.iter().map(Vec::len).sum();
        let first = kept.iter().position(|piece| {
            let fits = bytes <= most;
            bytes -= if fits { 0 } else { piece.len() };
            fits
        });
        let first = first.unwrap_or(kept.len());
        kept.drain(..first).collect()
    };
    drop(gone);
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
    // SAFETY: allocated by the global allocator for as many bytes, all of which are initialised; nobody else has it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_or_an_error() {
        for bytes in [0, 1, 4097, 3 << 20] {
            let memory = zeroed(bytes);
            assert!(memory.is_ok_and(|memory| memory.len() == bytes && memory.iter().all(|byte| *byte == 0)));
        }
        let piece = vec![7; LARGE + 1];
        let address = piece.as_ptr();
        give_back([piece, vec![1; 10]]);
        let again = any(LARGE + 1);
        assert!(again.is_ok_and(|again| again.as_ptr() == address && again.len() == LARGE + 1));
        for bytes in [1 << 50, isize::MAX as usize, usize::MAX] {
            assert_eq!(zeroed(bytes), Err(Error::OutOfHostMemory { bytes }));
        }
    }
}
