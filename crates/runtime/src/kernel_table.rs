//! The kernel table: every program is compiled once for a device, and the binary is kept on disk for the next process.
//!
//! A kernel's key is a hash of everything that decides its binary: the program before emission, the emitter, the device
//! with its compiler, the options. Binaries are code that will run with the user's rights, so only files are trusted
//! that belong to the user, in a folder that nobody else can write to, and whose content fits their hash. Everything
//! else is built again. Trouble with the folder is never an error, because nothing but time depends on it: it is
//! remembered for [`KernelTable::diagnostics`], and never written to standard error.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pumice_emit::Options;
use pumice_program::Verified;
use sha2::{Digest, Sha256};

use crate::device::{Device, Kernel};
use crate::error::Result;

/// The first bytes of an entry. The number changes with the format, and with what keys are made of.
const MAGIC: &[u8; 16] = b"pumice kernel 1\n";

/// Where a payload begins: after the magic, its length, and the hash.
const HEADER: usize = MAGIC.len() + 8 + 32;

/// What the emitter is: binaries of another one are not this one's. The build script makes a hash of its sources;
/// without that the version has to do, which is right for released versions.
const EMITTER: &str = match option_env!("PUMICE_EMITTER") {
    Some(hash) => hash,
    None => env!("CARGO_PKG_VERSION"),
};

/// More diagnostics than this are not kept.
const MOST_DIAGNOSTICS: usize = 20;

/// The kernels of a process, and the folder that outlives it.
pub struct KernelTable {
    kernels: Mutex<HashMap<String, Arc<Slot>>>,
    folder: Mutex<Folder>,
    /// Notes, where there is no folder.
    notes: Mutex<HashMap<String, Vec<u8>>>,
    diagnostics: Mutex<Vec<String>>,
    counts: [AtomicU64; 3],
}

/// The place of one kernel. Who builds it holds the lock, and the others who want it wait for that.
type Slot = Mutex<Option<Arc<Kernel>>>;

/// The folder on disk.
enum Folder {
    /// Not looked at yet.
    Unchecked(PathBuf),
    /// Good.
    Usable(PathBuf),
    /// Absent, or not to be trusted: the table works in memory alone.
    None,
}

/// Where the kernels that were asked for came from, so far.
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
    /// A table with the user's own folder: `PUMICE_CACHE_DIR`, or `pumice` in `XDG_CACHE_HOME` or in `~/.cache`. With
    /// none of these it works in memory alone.
    pub fn new() -> KernelTable {
        KernelTable::with_folder(folder_of(|name| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(Into::into)
        }))
    }

    /// A table with this folder, which is made when it is first needed; or in memory alone.
    pub fn with_folder(folder: Option<PathBuf>) -> KernelTable {
        KernelTable {
            kernels: Mutex::default(),
            folder: Mutex::new(folder.map_or(Folder::None, Folder::Unchecked)),
            notes: Mutex::default(),
            diagnostics: Mutex::default(),
            counts: Default::default(),
        }
    }

    /// The kernel of a program on a device: from this process, from disk, or compiled. `key_text` stands for the program:
    /// two programs with the same text must mean the same, so it has everything but source places and comments.
    pub fn get_or_build(
        &self,
        device: &dyn Device,
        program: &Verified,
        key_text: &str,
        options: &Options,
    ) -> Result<Arc<Kernel>> {
        let key = key(device, key_text, options);
        let slot = lock(&self.kernels).entry(key.clone()).or_default().clone();
        let mut place = lock(&slot);
        if let Some(kernel) = &*place {
            self.count(MEMORY);
            return Ok(kernel.clone());
        }
        let kernel = Arc::new(self.load_or_build(device, program, &key, options)?);
        *place = Some(kernel.clone());
        Ok(kernel)
    }

    fn load_or_build(
        &self,
        device: &dyn Device,
        program: &Verified,
        key: &str,
        options: &Options,
    ) -> Result<Kernel> {
        let folder = self.usable_folder();
        if let Some(binary) = folder.as_deref().and_then(|folder| self.read(folder, key)) {
            // SAFETY: the entry is whole, the user's own, and has the key of this program on this device.
            match unsafe { device.load(program, &binary) } {
                Ok(kernel) => {
                    self.count(DISK);
                    return Ok(kernel);
                }
                // Whole, but the device does not take it any more: as good as corrupt.
                Err(error) => self.diagnose(format!("a kept kernel was built again: {error}")),
            }
        }
        let binary = device.build(program, options)?;
        // SAFETY: it was built the line before.
        let kernel = unsafe { device.load(program, &binary)? };
        self.count(BUILT);
        if let Some(folder) = folder {
            write_entry(&folder, key, &binary).unwrap_or_else(|error| {
                self.diagnose(format!("kernels are not kept in {}: {error}", folder.display()))
            });
        }
        Ok(kernel)
    }

    /// Keeps a note beside the kernels, under what these parts say; without a folder, as long as the process lives. Notes are
    /// kept like kernels, and trusted as little.
    pub fn remember(&self, parts: &[String], note: &[u8]) {
        let key = note_key(parts);
        match self.usable_folder() {
            Some(folder) => write_entry(&folder, &key, note).unwrap_or_else(|error| {
                self.diagnose(format!("notes are not kept in {}: {error}", folder.display()))
            }),
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

    /// What was wrong with the folder or its entries, for people who wonder why their kernels are compiled again.
    pub fn diagnostics(&self) -> Vec<String> {
        lock(&self.diagnostics).clone()
    }

    /// The folder in use, or nothing if kernels are kept in memory alone.
    pub fn folder(&self) -> Option<PathBuf> {
        self.usable_folder()
    }

    /// Where the kernels that were asked for came from.
    pub fn counts(&self) -> Counts {
        let count = |place: usize| self.counts[place].load(Ordering::Relaxed);
        Counts { memory: count(MEMORY), disk: count(DISK), built: count(BUILT) }
    }

    fn count(&self, place: usize) {
        self.counts[place].fetch_add(1, Ordering::Relaxed);
    }

    fn diagnose(&self, text: String) {
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
        let path = folder.join(key);
        let reason = match read_entry(&path, key) {
            Ok(payload) => return Some(payload),
            Err(Refusal::Absent) => return None,
            Err(Refusal::Foreign(reason)) => reason,
            Err(Refusal::Corrupt) => "it is damaged".into(),
        };
        // If it cannot be removed, the new one takes its name all the same.
        let _ = std::fs::remove_file(&path);
        self.diagnose(format!("{} was not used: {reason}", path.display()));
        None
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

/// The key of a kernel, as the name of a file.
fn key(device: &dyn Device, key_text: &str, options: &Options) -> String {
    let options = format!("{options:?}");
    hashed(&[EMITTER, device.name(), &device.identity(), &options, key_text])
}

/// The key of a note, as the name of a file.
fn note_key(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!("{}.note", hashed(&parts))
}

fn hashed(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // With the lengths, so that no two lists of parts read the same.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update(MAGIC);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of an entry. It covers the key, so that an entry under another one's name is not taken for it.
fn digest(key: &str, payload: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(key).chain_update(payload).finalize().into()
}

/// Where kernels are kept, given the environment.
fn folder_of(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // The XDG specification says that a relative path is to be ignored.
    let xdg = || variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = || variable("HOME").map(|home| home.join(".cache"));
    variable("PUMICE_CACHE_DIR").or_else(|| xdg().or_else(home).map(|caches| caches.join("pumice")))
}

/// Makes the folder if it is missing, and refuses one that others can write to.
fn make_folder(path: &Path) -> std::result::Result<(), String> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| e.to_string())?;
    let metadata = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if !metadata.is_dir() {
        return Err("it is not a folder".into());
    }
    only_ours(&metadata)
}

/// Refuses what another user owns or may write to.
#[cfg(unix)]
fn only_ours(metadata: &std::fs::Metadata) -> std::result::Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the call only returns a number.
    let user = unsafe { libc::geteuid() };
    if metadata.uid() != user {
        return Err(format!("it belongs to user {}, and this process to user {user}", metadata.uid()));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(format!("others may write to it (mode {:03o})", metadata.mode() & 0o777));
    }
    Ok(())
}

#[cfg(not(unix))]
fn only_ours(_metadata: &std::fs::Metadata) -> std::result::Result<(), String> {
    Ok(())
}

/// Why an entry is not used.
enum Refusal {
    /// There is none.
    Absent,
    /// It is not ours, or cannot be read.
    Foreign(String),
    /// It is not what was once written.
    Corrupt,
}

fn read_entry(path: &Path, key: &str) -> std::result::Result<Vec<u8>, Refusal> {
    let foreign = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => Refusal::Absent,
        _ => Refusal::Foreign(error.to_string()),
    };
    let mut options = OpenOptions::new();
    options.read(true);
    // A link leads out of the folder; a pipe would keep us waiting.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = options.open(path).map_err(foreign)?;
    // Asked of the open file, so that it is the one that is read.
    let metadata = file.metadata().map_err(foreign)?;
    if !metadata.is_file() {
        return Err(Refusal::Foreign("it is not a file".into()));
    }
    only_ours(&metadata).map_err(Refusal::Foreign)?;
    let mut entry = Vec::new();
    file.read_to_end(&mut entry).map_err(foreign)?;
    let Some((header, payload)) = entry.split_at_checked(HEADER) else { return Err(Refusal::Corrupt) };
    let (magic, rest) = header.split_at(MAGIC.len());
    let (length, hash) = rest.split_at(8);
    let whole =
        magic == MAGIC && length == (payload.len() as u64).to_le_bytes() && hash == digest(key, payload);
    if !whole {
        return Err(Refusal::Corrupt);
    }
    entry.drain(..HEADER);
    Ok(entry)
}

/// Writes an entry under a temporary name and renames it, so that nobody ever sees a part of one.
fn write_entry(folder: &Path, key: &str, payload: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!("{key}.{}.{count}.new", std::process::id()));
    let written = create(&temporary).and_then(|mut file| {
        file.write_all(MAGIC)?;
        file.write_all(&(payload.len() as u64).to_le_bytes())?;
        file.write_all(&digest(key, payload))?;
        file.write_all(payload)?;
        std::fs::rename(&temporary, folder.join(key))
    });
    if written.is_err() {
        // It may never have come to be.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // Left by a process of the same number that did not come to its end.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            options.open(path)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests;
