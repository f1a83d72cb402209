//! One entry of the folder: a payload with its length and a hash over it and its key.
//!
//! Payloads are code that will run with the user's rights. An entry that is not whole, or not the user's own, is never
//! returned; one that is being written is never seen.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::files::{only_ours, process_tag};

/// The first bytes of an entry. The number changes with the format, and with what keys are made of.
pub(super) const MAGIC: &[u8; 16] = b"pumice kernel 1\n";

/// Offset of the payload: after the magic, its length, and the hash.
pub(super) const HEADER: usize = MAGIC.len() + 8 + 32;

/// Suffix of the names of entries that are being written.
pub(super) const UNFINISHED: &str = ".new";

/// Age of an entry's last noted use from which the next use is noted. The order in which entries are removed need
/// not be more exact, and most uses cost no write.
const NOTED_AFTER: Duration = Duration::from_secs(10 * 60);

/// Reason for which an entry is not used.
pub(super) enum Refusal {
    /// There is none.
    Absent,
    /// It is not ours, or cannot be read.
    Foreign(String),
    /// It is not what was once written.
    Corrupt,
}

/// The bytes of a key.
pub(crate) const KEY: usize = 64;

/// Hashes a list of texts into the name of an entry.
pub(super) fn hashed(parts: &[&str]) -> String {
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

/// A payload as an entry: with its length and the hash.
pub(crate) fn sealed(key: &str, payload: &[u8]) -> Vec<u8> {
    [MAGIC, &(payload.len() as u64).to_le_bytes()[..], &digest(key, payload), payload].concat()
}

/// The payload of an entry, if it is whole and belongs to this key.
pub(crate) fn unsealed<'a>(key: &str, entry: &'a [u8]) -> Option<&'a [u8]> {
    let (header, payload) = entry.split_at_checked(HEADER)?;
    let (magic, rest) = header.split_at(MAGIC.len());
    let (length, hash) = rest.split_at(8);
    let whole =
        magic == MAGIC && length == (payload.len() as u64).to_le_bytes() && hash == digest(key, payload);
    whole.then_some(payload)
}

/// Returns the payload of the entry with this key, and notes that it was used.
pub(super) fn read_entry(folder: &Path, key: &str) -> Result<Vec<u8>, Refusal> {
    let foreign = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => Refusal::Absent,
        _ => Refusal::Foreign(error.to_string()),
    };
    let mut options = OpenOptions::new();
    options.read(true);
    // A link leads out of the folder; a pipe would keep us waiting.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = options.open(folder.join(key)).map_err(foreign)?;
    // Asked of the open file, so that it is the one that is read.
    let metadata = file.metadata().map_err(foreign)?;
    if !metadata.is_file() {
        return Err(Refusal::Foreign("it is not a file".into()));
    }
    only_ours(&metadata).map_err(Refusal::Foreign)?;
    let mut entry = Vec::new();
    file.read_to_end(&mut entry).map_err(foreign)?;
    if unsealed(key, &entry).is_none() {
        return Err(Refusal::Corrupt);
    }
    let age = metadata.modified().and_then(|time| time.elapsed().map_err(io::Error::other));
    if age.is_ok_and(|age| age > NOTED_AFTER) {
        // An entry whose time cannot be set is removed earlier than others, which costs time and nothing else.
        let _ = file.set_modified(SystemTime::now());
    }
    entry.drain(..HEADER);
    Ok(entry)
}

/// Writes an entry under a temporary name and renames it, so that no reader ever sees a part of one. Returns its size.
pub(super) fn write_entry(folder: &Path, key: &str, payload: &[u8]) -> io::Result<u64> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!("{key}.{}.{count}{UNFINISHED}", process_tag()));
    let written = create(&temporary).and_then(|mut file| {
        file.write_all(&sealed(key, payload))?;
        std::fs::rename(&temporary, folder.join(key))
    });
    if written.is_err() {
        // It may never have come to be.
        let _ = std::fs::remove_file(&temporary);
    }
    written.map(|()| (HEADER + payload.len()) as u64)
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
