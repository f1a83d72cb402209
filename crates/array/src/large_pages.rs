//! Large pages for large arrays in the host's memory: fewer of them have to be touched, found and given back, which otherwise takes
//! longer than bringing the elements to a device.

/// Bytes from which on it is worth asking.
const LARGE: usize = 1 << 20;

/// Asks the system for large pages for memory that has been allocated and hardly touched. Whether it has them is its own business.
///
/// ```
/// let mut elements: Vec<u8> = Vec::with_capacity(4 << 20);
/// pumice_array::prefer_large_pages(elements.as_mut_ptr(), elements.capacity());
/// elements.resize(4 << 20, 1);
/// assert!(elements.iter().all(|element| *element == 1));
/// ```
pub fn prefer_large_pages(address: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE {
        const PAGE: usize = 4096;
        let skipped = address.addr().next_multiple_of(PAGE) - address.addr();
        let (first, length) = (address.wrapping_add(skipped), (bytes - skipped) / PAGE * PAGE);
        // SAFETY: the advice changes nothing that a program can see, wherever the range is: it is refused where there is no memory, and
        // by a system that does not know it.
        unsafe { libc::madvise(first.cast(), length, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, bytes);
}
