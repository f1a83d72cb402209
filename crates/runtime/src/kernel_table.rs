//! The kernel table: every program is compiled once for a device, and the binary is kept on disk for the next process.
//!
//! A kernel's key is a hash of everything that decides its binary: the program before emission, the emitter, the device
//! with its compiler, the options. Binaries are code that will run with the user's rights, so only files are trusted
//! that belong to the user, in a folder that no other user can write to, and whose content fits their hash. Everything
//! else is built again. Trouble with the folder is never an error, because nothing but time depends on it: it is
//! remembered for [`KernelTable::diagnostics`], and never written to standard error.
//!
//! Both memory and folder have limits ([`Limits`]); what was used least recently goes first (`loaded.rs`, `folder.rs`).

mod build;
mod entry;
mod folder;
mod loaded;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use self::build::ahead_key;
pub(crate) use self::entry::{KEY, sealed, unsealed};
use self::entry::{Refusal, hashed, read_entry, write_entry};
pub use self::folder::{Removed, Usage};
use self::folder::{folder_of, make_folder};
use self::loaded::Loaded;

/// More diagnostics than this are not kept.
const MOST_DIAGNOSTICS: usize = 20;

/// After so many writes a process looks how large the folder has become, because others write to it too.
const MEASURED_AFTER: u64 = 64;

/// The kernels of a process, and the folder that outlives it.
pub struct KernelTable {
    limits: Limits,
    loaded: Mutex<Loaded>,
    folder: Mutex<Folder>,
    size: Mutex<Size>,
    /// Notes, where there is no folder.
    notes: Mutex<HashMap<String, Vec<u8>>>,
    diagnostics: Mutex<Vec<String>>,
    counts: [AtomicU64; 3],
}

/// Limits of what a table keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Kernels that are kept in memory, besides those that compiled programs hold.
    pub kernels: usize,
    /// Bytes of kernels that are kept in the folder. With 0 there is no folder.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { kernels: 1024, bytes: 1 << 30 }
    }
}

/// Size of the folder, as far as this process knows it.
#[derive(Default)]
struct Size {
    /// The bytes when it last looked, and what it wrote since; nothing before it first looked.
    bytes: Option<u64>,
    writes: u64,
}

/// The folder on disk.
enum Folder {
    /// Not looked at yet.
    Unchecked(PathBuf),
    /// Good.
    Usable(PathBuf),
    /// Absent, or not to be trusted: the table works in memory alone.
    None,
}

/// Numbers of kernels that were asked for, by where they came from, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels that were in the process already.
    pub memory: u64,
    /// Kernels that were loaded from disk.
    pub disk: u64,
    /// Kernels that were compiled.
    pub built: u64,
}

/// The places of [`Counts`] in the table.
const MEMORY: usize = 0;
const DISK: usize = 1;
const BUILT: usize = 2;

impl KernelTable {
    /// Makes a table with the user's own folder and limits: `PUMICE_CACHE_DIR`, or `pumice` in `XDG_CACHE_HOME` or in
    /// `~/.cache`; `PUMICE_KERNELS` and `PUMICE_CACHE_BYTES`. Without a folder it works in memory alone.
    pub fn new() -> KernelTable {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let (limits, mistakes) = limits_of(variable);
        let table = KernelTable::with_limits(folder_of(|name| variable(name).map(Into::into)), limits);
        mistakes.into_iter().for_each(|mistake| table.diagnose(mistake));
        table
    }

    /// Makes a table with this folder, which is made when it is first needed, or in memory alone; and with the usual limits.
    pub fn with_folder(folder: Option<PathBuf>) -> KernelTable {
        KernelTable::with_limits(folder, Limits::default())
    }

    /// Makes a table with this folder, which is made when it is first needed, or in memory alone; and with these limits.
    ///
    /// ```
    /// use pumice::layers::runtime::{KernelTable, Limits};
    /// let folder = std::env::temp_dir().join(format!("pumice-example-{}", std::process::id()));
    /// let table = KernelTable::with_limits(Some(folder.clone()), Limits { kernels: 64, bytes: 10_000_000 });
    /// // After some kernels were compiled:
    /// if let Some(usage) = table.usage() {
    ///     println!("{} kernels on disk take {} bytes", usage.kernels, usage.bytes);
    /// }
    /// let removed = table.prune(5_000_000);
    /// assert_eq!((removed.kernels, table.loaded()), (0, 0));
    /// # let _ = std::fs::remove_dir(folder);
    /// ```
    pub fn with_limits(folder: Option<PathBuf>, limits: Limits) -> KernelTable {
        let folder = folder.filter(|_| limits.bytes > 0);
        KernelTable {
            limits,
            loaded: Mutex::default(),
            folder: Mutex::new(folder.map_or(Folder::None, Folder::Unchecked)),
            size: Mutex::default(),
            notes: Mutex::default(),
            diagnostics: Mutex::default(),
            counts: Default::default(),
        }
    }

    /// Unloads kernels that nothing else holds until no more than `most` are left, and returns how many it unloaded.
    fn evict(&self, most: usize) -> usize {
        let evicted = lock(&self.loaded).evict(most);
        evicted.len()
    }

    /// Keeps a note beside the kernels, under what these parts say; without a folder, as long as the process lives. Notes are
    /// kept like kernels, and trusted as little.
    pub fn remember(&self, parts: &[String], note: &[u8]) {
        let key = note_key(parts);
        match self.usable_folder() {
            Some(folder) => self.write(&folder, &key, note),
            None => drop(lock(&self.notes).insert(key, note.to_vec())),
        }
    }

    /// The note that was kept under these parts.
    pub fn recall(&self, parts: &[String]) -> Option<Vec<u8>> {
        let key = note_key(parts);
        match self.usable_folder() {
            Some(folder) => self.read(&folder, &key),
            None => lock(&self.notes).get(&key).cloned(),
        }
    }

    /// The file of a note, whether it is there or not; nothing without a folder.
    pub fn remembered_in(&self, parts: &[String]) -> Option<PathBuf> {
        self.usable_folder().map(|folder| folder.join(note_key(parts)))
    }

    /// Returns the problems with the folder or its entries, for people who wonder why their kernels are compiled again.
    pub fn diagnostics(&self) -> Vec<String> {
        lock(&self.diagnostics).clone()
    }

    /// Returns the folder in use, or nothing if kernels are kept in memory alone.
    pub fn folder(&self) -> Option<PathBuf> {
        self.usable_folder()
    }

    /// Returns the limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the number of kernels in memory.
    pub fn loaded(&self) -> usize {
        lock(&self.loaded).len()
    }

    /// Measures what the folder holds; nothing without one.
    pub fn usage(&self) -> Option<Usage> {
        self.usable_folder().map(|folder| folder::usage(&folder))
    }

    /// Removes the least recently used kernels from the folder until they take no more than `bytes`, and what processes
    /// that have ended left unfinished. Notes stay.
    pub fn prune(&self, bytes: u64) -> Removed {
        self.usable_folder().map_or(Removed::default(), |folder| folder::prune(&folder, bytes, bytes).0)
    }

    /// Removes all kernels and notes from the folder. Kernels in memory stay.
    pub fn clear(&self) -> Removed {
        self.usable_folder().map_or(Removed::default(), |folder| folder::clear(&folder))
    }

    /// Returns the numbers of kernels that were asked for, by where they came from.
    pub fn counts(&self) -> Counts {
        let count = |place: usize| self.counts[place].load(Ordering::Relaxed);
        Counts { memory: count(MEMORY), disk: count(DISK), built: count(BUILT) }
    }

    fn count(&self, place: usize) {
        self.counts[place].fetch_add(1, Ordering::Relaxed);
    }

    fn diagnose(&self, text: String) {
        tracing::warn!(target: "pumice::cache", "{text}");
        let mut diagnostics = lock(&self.diagnostics);
        if diagnostics.len() < MOST_DIAGNOSTICS && !diagnostics.contains(&text) {
            diagnostics.push(text);
        }
    }

    /// The folder, made and examined the first time.
    fn usable_folder(&self) -> Option<PathBuf> {
        let mut folder = lock(&self.folder);
        if let Folder::Unchecked(path) = &*folder {
            let path = path.clone();
            *folder = match make_folder(&path) {
                Ok(()) => Folder::Usable(path),
                Err(reason) => {
                    self.diagnose(format!("kernels are not kept in {}: {reason}", path.display()));
                    Folder::None
                }
            };
        }
        match &*folder {
            Folder::Usable(path) => Some(path.clone()),
            _ => None,
        }
    }

    /// The payload of an entry that can be trusted. One that cannot is removed.
    fn read(&self, folder: &Path, key: &str) -> Option<Vec<u8>> {
        let reason = match read_entry(folder, key) {
            Ok(payload) => return Some(payload),
            Err(Refusal::Absent) => return None,
            Err(Refusal::Foreign(reason)) => reason,
            Err(Refusal::Corrupt) => "it is damaged".into(),
        };
        let path = folder.join(key);
        // If it cannot be removed, the new one takes its name all the same.
        let _ = std::fs::remove_file(&path);
        self.diagnose(format!("{} was not used: {reason}", path.display()));
        None
    }

    /// Keeps an entry, and removes others if the folder has become too large.
    fn write(&self, folder: &Path, key: &str, payload: &[u8]) {
        let written = match write_entry(folder, key, payload) {
            Ok(bytes) => bytes,
            Err(error) => {
                return self.diagnose(format!("kernels are not kept in {}: {error}", folder.display()));
            }
        };
        let most = self.limits.bytes;
        let mut size = lock(&self.size);
        let bytes = size.bytes.map(|bytes| bytes.saturating_add(written));
        size.bytes = match bytes {
            Some(bytes) if bytes <= most && !size.writes.is_multiple_of(MEASURED_AFTER) => Some(bytes),
            // Well below the limit, so that the folder is not listed at every write from now on.
            _ => Some(folder::prune(folder, most, most / 4 * 3).1),
        };
        size.writes += 1;
    }
}

impl Default for KernelTable {
    fn default() -> KernelTable {
        KernelTable::new()
    }
}

/// The lock, also after a thread panicked while it had it: every value behind one is whole at all times.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The limits, given the environment, and what is wrong with it.
fn limits_of(variable: impl Fn(&str) -> Option<OsString>) -> (Limits, Vec<String>) {
    let mut mistakes = Vec::new();
    let mut number = |name: &str, usual: u64| {
        let Some(value) = variable(name) else { return usual };
        value.to_str().and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| {
            let value = value.to_string_lossy();
            mistakes.push(format!("{name} is `{value}`, which is no whole number; {usual} is used instead"));
            usual
        })
    };
    let usual = Limits::default();
    let kernels = number("PUMICE_KERNELS", usual.kernels as u64);
    let bytes = number("PUMICE_CACHE_BYTES", usual.bytes);
    (Limits { kernels: usize::try_from(kernels).unwrap_or(usize::MAX), bytes }, mistakes)
}

/// The key of a note, as the name of a file.
fn note_key(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!("{}{}", hashed(&parts), folder::NOTE)
}

#[cfg(test)]
mod tests;
