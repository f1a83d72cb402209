//! Memory of the host whose size an array decides: an error where there is none, never the end of the process.

use std::alloc::{Layout, alloc_zeroed};

use crate::error::{Error, Result};

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
        for bytes in [1 << 50, isize::MAX as usize, usize::MAX] {
            assert_eq!(zeroed(bytes), Err(Error::OutOfHostMemory { bytes }));
        }
    }
}
