//! The folder of entries: where it is, whether it can be trusted, how large it is, and what is removed from it.
//!
//! Only files are removed whose names are those of entries: the folder may be one that the user keeps other things in.
//! Several processes may remove at once. Each works through its own list from the least recently used entry on, and a file
//! that is gone already counts as removed, so together they remove no more than one of them alone would.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::entry::UNFINISHED;
use crate::files::{is_left_over, only_ours};

/// Suffix of the names of notes.
pub(super) const NOTE: &str = ".note";

/// Digits of a key.
const KEY_DIGITS: usize = 64;

/// Contents of a folder of kept kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of kernels.
    pub kernels: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// When the least recently used kernel was last used, to within some minutes.
    pub oldest: Option<SystemTime>,
    /// When the most recently used kernel was last used, to within some minutes.
    pub newest: Option<SystemTime>,
    /// Number of notes, such as the results of tuning.
    pub notes: usize,
}

/// Number and size of what was removed from a folder of kept kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of kernels.
    pub kernels: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// Number of notes.
    pub notes: usize,
}

/// A file of the folder that is one of ours.
struct Kept {
    path: PathBuf,
    kind: Kind,
    bytes: u64,
    used: SystemTime,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kernel,
    Note,
    /// Unfinished file of a process that has ended.
    Leftover,
}

/// Finds the folder, given the environment.
pub(super) fn folder_of(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // The XDG specification says that a relative path is to be ignored.
    let xdg = || variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = || variable("HOME").map(|home| home.join(".cache"));
    variable("PUMICE_CACHE_DIR").or_else(|| xdg().or_else(home).map(|caches| caches.join("pumice")))
}

/// Makes the folder if it is missing, and refuses one that others can write to.
pub(super) fn make_folder(path: &Path) -> Result<(), String> {
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

/// Measures what the folder holds.
pub(super) fn usage(folder: &Path) -> Usage {
    let mut usage = Usage::default();
    for file in list(folder) {
        match file.kind {
            Kind::Kernel => {
                usage.kernels += 1;
                usage.bytes += file.bytes;
                usage.oldest = Some(usage.oldest.map_or(file.used, |oldest| oldest.min(file.used)));
                usage.newest = usage.newest.max(Some(file.used));
            }
            Kind::Note => usage.notes += 1,
            Kind::Leftover => {}
        }
    }
    usage
}

/// Removes leftovers, and where kernels take more than `most` bytes, the least recently used ones until they take no more
/// than `target`. Returns what was removed, and the bytes that the others take.
pub(super) fn prune(folder: &Path, most: u64, target: u64) -> (Removed, u64) {
    let (mut removed, mut kernels) = (Removed::default(), Vec::new());
    for file in list(folder) {
        match file.kind {
            Kind::Kernel => kernels.push(file),
            Kind::Note => {}
            Kind::Leftover => drop(remove(&file)),
        }
    }
    let mut total: u64 = kernels.iter().map(|file| file.bytes).sum();
    if total > most {
        kernels.sort_by_key(|file| file.used);
        for file in kernels {
            if total <= target {
                break;
            }
            if remove(&file) {
                total -= file.bytes;
                removed.kernels += 1;
                removed.bytes += file.bytes;
            }
        }
    }
    (removed, total)
}

/// Removes all entries.
pub(super) fn clear(folder: &Path) -> Removed {
    let mut removed = Removed::default();
    for file in list(folder) {
        match (remove(&file), file.kind) {
            (true, Kind::Kernel) => {
                removed.kernels += 1;
                removed.bytes += file.bytes;
            }
            (true, Kind::Note) => removed.notes += 1,
            _ => {}
        }
    }
    removed
}

/// Removes a file. Returns whether it is gone, also if another process removed it.
fn remove(file: &Kept) -> bool {
    match std::fs::remove_file(&file.path) {
        Ok(()) => true,
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// The files of the folder that are ours, without those that a process may still be writing.
fn list(folder: &Path) -> Vec<Kept> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let kept = entries.filter_map(|entry| {
        // Of the link where it is one, which is no file then.
        let metadata = entry.metadata().ok().filter(|metadata| metadata.is_file())?;
        let used = metadata.modified().ok()?;
        let kind = kind_of(entry.file_name().to_str()?, used)?;
        Some(Kept { path: entry.path(), kind, bytes: metadata.len(), used })
    });
    kept.collect()
}

/// Returns the kind of the file with this name, if it is ours.
fn kind_of(name: &str, modified: SystemTime) -> Option<Kind> {
    let (key, rest) = name.split_at_checked(KEY_DIGITS)?;
    if !key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    match rest {
        "" => Some(Kind::Kernel),
        NOTE => Some(Kind::Note),
        _ => {
            let rest = rest.strip_prefix(NOTE).unwrap_or(rest);
            let (tag, count) = rest.strip_prefix('.')?.strip_suffix(UNFINISHED)?.split_once('.')?;
            let numbered = count.parse::<u64>().is_ok();
            (numbered && is_left_over(tag, modified)).then_some(Kind::Leftover)
        }
    }
}
