//! The CPU's device memory: aligned, zeroed, and in large pages where it is large.
//!
//! All access goes through raw pointers, because kernels write to memory that the host holds by shared reference.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{NAME, workers};
use crate::error::{Error, Result};
use crate::host_memory;

/// The alignment of small memory: a cache line, and the widest vector.
const ALIGNMENT: usize = 64;

/// The alignment of large memory: a large page.
const PAGE: usize = 2 << 20;

/// From this size on memory is mapped in large pages.
const LARGE: usize = 1 << 20;

/// From this size on a copy is worth more than one thread.
const LONG_COPY: usize = 4 << 20;

/// A piece of memory.
pub struct Block {
    address: NonNull<u8>,
    bytes: usize,
    mapped: bool,
    _counted: Counted,
}

/// Bytes of a block, among those of all blocks. The system may promise more than it has and end the process when the promise falls due.
struct Counted(usize);

/// The bytes of all blocks of this process.
static ALL: AtomicUsize = AtomicUsize::new(0);
/// How many there may be: most of what was available when there were none. 0 before that is known.
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The bytes that all blocks of this process may have together.
pub fn limit() -> usize {
    if ALL.load(Ordering::Relaxed) == 0 || MOST.load(Ordering::Relaxed) == 0 {
        // The host's own arrays and other processes have a sixteenth left.
        MOST.store(host_memory::available() / 16 * 15, Ordering::Relaxed);
    }
    MOST.load(Ordering::Relaxed)
}

impl Counted {
    /// Counts so many bytes, if there is room for them.
    fn new(bytes: usize) -> Option<Counted> {
        let fits = |all: usize, most: usize| all.checked_add(bytes).filter(|all| *all <= most);
        let add = |most| ALL.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| fits(all, most));
        let added = add(MOST.load(Ordering::Relaxed)).or_else(|_| add(limit()));
        added.ok().map(|_| Counted(bytes))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALL.fetch_sub(self.0, Ordering::Relaxed);
    }
}

// SAFETY: the block owns its memory, and nothing in it belongs to a thread.
unsafe impl Send for Block {}
// SAFETY: shared access is through the raw pointer only; who copies or launches orders the accesses (see `Device`).
unsafe impl Sync for Block {}

impl Block {
    /// Memory full of zeros.
    pub fn new(bytes: usize) -> Result<Block> {
        let exhausted = Error::out_of_memory(NAME, bytes);
        let counted = Counted::new(bytes).ok_or(exhausted.clone())?;
        if cfg!(target_os = "linux") && bytes >= LARGE {
            let address = map(bytes).ok_or(exhausted)?;
            return Ok(Block { address, bytes, mapped: true, _counted: counted });
        }
        let layout = Block::layout(bytes).ok_or(exhausted.clone())?;
        // SAFETY: the layout's size is not 0.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(exhausted)?;
        Ok(Block { address, bytes, mapped: false, _counted: counted })
    }

    fn layout(bytes: usize) -> Option<Layout> {
        // Whole lines: no two blocks share one, and a vector at the end stays inside.
        let bytes = bytes.max(1).checked_next_multiple_of(ALIGNMENT)?;
        Layout::from_size_align(bytes, ALIGNMENT).ok()
    }

    /// Where it begins.
    pub fn address(&self) -> *mut u8 {
        self.address.as_ptr()
    }

    /// Copies bytes in. There must be room for them.
    pub fn write(&self, from: &[u8]) {
        assert!(from.len() <= self.bytes);
        let to = Address(self.address());
        in_pieces(from.len(), |start, count| {
            // SAFETY: the piece is inside `from`, and inside the block, as asserted; they are different memory.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr().add(start), to.at(start), count) }
        });
    }

    /// Copies the bytes that begin at `first` out. They must be there.
    pub fn read(&self, first: usize, to: &mut [u8]) {
        assert!(first.checked_add(to.len()).is_some_and(|end| end <= self.bytes));
        let bytes = to.len();
        let (from, to) = (Address(self.address()), Address(to.as_mut_ptr()));
        in_pieces(bytes, |start, count| {
            // SAFETY: the piece is inside both, as asserted, and no other piece overlaps it; they are different memory.
            unsafe { std::ptr::copy_nonoverlapping(from.at(first + start), to.at(start), count) }
        });
    }

    /// Copies the first bytes of another block in. They must be in both.
    pub fn write_from(&self, from: &Block, bytes: usize) {
        assert!(bytes <= self.bytes && bytes <= from.bytes);
        if self.address == from.address {
            return;
        }
        let (from, to) = (Address(from.address()), Address(self.address()));
        in_pieces(bytes, |start, count| {
            // SAFETY: the piece is inside both, as asserted, and no other piece overlaps it; they are different memory, as two
            // blocks are.
            unsafe { std::ptr::copy_nonoverlapping(from.at(start), to.at(start), count) }
        });
    }

    /// Sets the first bytes to zero. They must be there.
    pub fn clear(&self, bytes: usize) {
        assert!(bytes <= self.bytes);
        let to = Address(self.address());
        in_pieces(bytes, |start, count| {
            // SAFETY: the piece is inside the block, as asserted.
            unsafe { std::ptr::write_bytes(to.at(start), 0, count) }
        });
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.mapped {
            unmap(self.address(), self.bytes);
        } else if let Some(layout) = Block::layout(self.bytes) {
            // SAFETY: allocated in `new` with the layout of the same size.
            unsafe { dealloc(self.address(), layout) }
        }
    }
}

/// An address that the pieces of a copy may share.
#[derive(Clone, Copy)]
struct Address(*mut u8);

// SAFETY: each piece of a copy uses another part of what is there.
unsafe impl Sync for Address {}

impl Address {
    /// The address `offset` bytes further on.
    ///
    /// # Safety
    /// It must be in the same allocation.
    unsafe fn at(&self, offset: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { self.0.add(offset) }
    }
}

/// Calls `piece(start, count)` for pieces that make up `bytes` bytes, in parallel if there are many.
fn in_pieces(bytes: usize, piece: impl Fn(usize, usize) + Sync) {
    if bytes < LONG_COPY {
        return piece(0, bytes);
    }
    // A large page each: the first access to a page makes the system clear it, which is the longer part of the work.
    workers::for_each(bytes.div_ceil(PAGE), |index| {
        let start = index * PAGE;
        piece(start, PAGE.min(bytes - start));
    });
}

/// Maps zeroed memory at the beginning of a large page, and asks for large pages.
#[cfg(target_os = "linux")]
fn map(bytes: usize) -> Option<NonNull<u8>> {
    let length = bytes.checked_next_multiple_of(SMALL_PAGE)?;
    // Mappings begin at small pages: take more, and give back what is before and after the large page's beginning.
    let total = length.checked_add(PAGE)?;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the system's choice, which overlaps nothing.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), total, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let skip = start.align_offset(PAGE);
    // SAFETY: `skip` is less than PAGE, so all of these are parts of the mapping just made; the parts that are given
    // back are in use by nobody, and their bounds are multiples of the small page's size.
    unsafe {
        let address = start.byte_add(skip);
        if skip > 0 {
            libc::munmap(start, skip);
        }
        if skip < PAGE {
            libc::munmap(address.byte_add(length), PAGE - skip);
        }
        // A hint: memory in small pages is slower, not wrong.
        libc::madvise(address, length, libc::MADV_HUGEPAGE);
        NonNull::new(address.cast())
    }
}

#[cfg(target_os = "linux")]
fn unmap(address: *mut u8, bytes: usize) {
    let length = bytes.next_multiple_of(SMALL_PAGE);
    // SAFETY: this is the mapping that `map` made for this size, and its owner is being dropped.
    unsafe {
        libc::munmap(address.cast(), length);
    }
}

/// A multiple of every size that Linux gives its small pages.
#[cfg(target_os = "linux")]
const SMALL_PAGE: usize = 64 << 10;

#[cfg(not(target_os = "linux"))]
fn map(_bytes: usize) -> Option<NonNull<u8>> {
    None
}

#[cfg(not(target_os = "linux"))]
fn unmap(_address: *mut u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_aligned_and_zeroed_and_holds_what_it_is_given() -> Result<()> {
        for bytes in [0, 1, 63, 64, 65, LARGE - 1, LARGE, LARGE + 1, 3 * PAGE, LONG_COPY + PAGE + 7] {
            let block = Block::new(bytes)?;
            let alignment = if cfg!(target_os = "linux") && bytes >= LARGE { PAGE } else { ALIGNMENT };
            assert_eq!(block.address().align_offset(alignment), 0, "{bytes} bytes");
            let mut found = vec![1; bytes];
            block.read(0, &mut found);
            assert!(found.iter().all(|byte| *byte == 0), "{bytes} bytes");
            let pattern: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8 + 1).collect();
            block.write(&pattern);
            block.read(0, &mut found);
            assert!(found == pattern, "{bytes} bytes");
            let other = Block::new(bytes + 1)?;
            other.write_from(&block, bytes);
            other.write_from(&other, bytes);
            found.fill(0);
            other.read(0, &mut found);
            assert!(found == pattern, "{bytes} bytes, copied");
            block.clear(bytes / 2);
            block.read(0, &mut found);
            assert!(found[..bytes / 2].iter().all(|byte| *byte == 0), "{bytes} bytes");
            assert!(found[bytes / 2..] == pattern[bytes / 2..], "{bytes} bytes");
        }
        Ok(())
    }

    #[test]
    fn too_much_is_an_error() {
        // What other tests have is not counted as available.
        for bytes in [limit() + (1 << 30), 1 << 50, isize::MAX as usize, usize::MAX] {
            assert_eq!(Block::new(bytes).err(), Some(Error::out_of_memory(NAME, bytes)));
        }
    }
}
