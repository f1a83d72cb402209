//! Kernels as shared libraries, loaded from bytes.
//!
//! On Linux the bytes go into an anonymous file in memory, so that loading a cached kernel leaves nothing on disk and
//! works where temporary folders may not hold programs; elsewhere, and where that is not allowed, into a private
//! temporary file.

use std::ffi::c_void;
use std::path::Path;

use libloading::Library;

use super::NAME;
use super::scratch::Scratch;
use crate::error::{Error, Result};

/// The entry point of a kernel: the arguments, and the blocks to run from and up to.
pub type Entry = unsafe extern "C" fn(arguments: *const *const c_void, first_block: i64, last_block: i64);

/// A loaded kernel.
pub struct Loaded {
    entry: Entry,
    // The entry point is code inside it.
    _library: Library,
}

impl Loaded {
    /// Loads the bytes of a shared library and finds its entry point.
    pub fn new(kernel: &str, entry: &str, binary: &[u8]) -> Result<Loaded> {
        let refuse =
            |reason: String| Error::Binary { device: NAME, kernel: kernel.into(), reason, place: None };
        if cfg!(target_os = "linux") && !binary.starts_with(b"\x7fELF") {
            return Err(refuse("it is not a shared library".into()));
        }
        let library = match open_in_memory(binary) {
            Some(library) => library,
            None => open_by_file(binary).map_err(&refuse)?,
        };
        // SAFETY: the library was compiled from C that defines the entry point with this type.
        let entry = unsafe { library.get::<Entry>(entry.as_bytes()) }.map_err(|e| refuse(e.to_string()))?;
        Ok(Loaded { entry: *entry, _library: library })
    }

    /// The function to call.
    pub fn entry(&self) -> Entry {
        self.entry
    }
}

fn open(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the library comes from our own compiler, from C without initialisers; what was kept on disk in between
    // has been checked against its hash.
    unsafe { Library::new(path) }
}

#[cfg(target_os = "linux")]
fn open_in_memory(binary: &[u8]) -> Option<Library> {
    use std::io::Write;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::sync::atomic::{AtomicU32, Ordering};

    // SAFETY: the name is a C string; the call touches nothing else of ours.
    let descriptor = unsafe { libc::memfd_create(c"pumice-kernel".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return None;
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let mut file = unsafe { std::fs::File::from_raw_fd(descriptor) };
    file.write_all(binary).ok()?;
    // The descriptor is closed below and its number used again, and the loader takes two libraries of the same name
    // for one. So each gets another spelling of its path: a number in which `//` is 0 and `/.` is 1. A process may have
    // several Pumices, each in a library of its own, which are told apart by where they keep this number.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (number, here) = (COUNT.fetch_add(1, Ordering::Relaxed), (&raw const COUNT).addr());
    let number = u128::from(number) << usize::BITS | here as u128;
    let bits = u32::BITS + usize::BITS;
    let spelling: String = (0..bits).map(|bit| if number >> bit & 1 == 0 { "//" } else { "/." }).collect();
    open(Path::new(&format!("/proc/self/fd{spelling}/{}", file.as_raw_fd()))).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_in_memory(_binary: &[u8]) -> Option<Library> {
    None
}

fn open_by_file(binary: &[u8]) -> Result<Library, String> {
    let scratch = Scratch::new().map_err(|e| format!("no temporary folder: {e}"))?;
    let path = scratch.path().join("kernel.so");
    std::fs::write(&path, binary).map_err(|e| format!("it cannot be written to a temporary file: {e}"))?;
    // The folder is removed afterwards; the system keeps the file's content as long as it is in use.
    open(&path).map_err(|e| e.to_string())
}
