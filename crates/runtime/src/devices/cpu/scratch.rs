//! A folder for the files of one compilation: readable by its owner only, and gone when the value is dropped.
//!
//! Nothing that must outlive a call may be put here. Folders of processes that ended before they could remove them are removed
//! by the next process that makes one.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::files::{is_left_over, only_ours, process_tag};

/// Beginning of the names of these folders.
const PREFIX: &str = "pumice-";

/// A temporary folder.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes a new folder in the system's place for temporary files.
    pub fn new() -> io::Result<Scratch> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        static LEFTOVERS: Once = Once::new();
        LEFTOVERS.call_once(|| remove_leftovers(&std::env::temp_dir()));
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // A name that exists already is somebody else's (or a leftover): creation fails and the next name is tried,
        // so nobody can prepare the folder for us.
        let mut failure = None;
        for _ in 0..16 {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
            let name = format!("{PREFIX}{}-{count}-{nanoseconds:x}", process_tag());
            let path = std::env::temp_dir().join(name);
            match builder.create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failure.unwrap_or_else(|| io::Error::other("no free name for a temporary folder")))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now, the system removes some day; there is nobody to tell.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes the folders of processes that have ended.
fn remove_leftovers(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(tag) = name.to_str().and_then(tag_of) else { continue };
        // Of the link where it is one, which is no folder then.
        let Ok(metadata) = entry.metadata() else { continue };
        let ours = metadata.is_dir() && only_ours(&metadata).is_ok();
        if ours && metadata.modified().is_ok_and(|modified| is_left_over(tag, modified)) {
            // Another process may be doing the same.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The tag of the process that made a folder of this name, if it is one of ours.
fn tag_of(name: &str) -> Option<&str> {
    let (rest, nanoseconds) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    let (tag, count) = rest.rsplit_once('-')?;
    let numbers = count.parse::<u64>().is_ok() && u32::from_str_radix(nanoseconds, 16).is_ok();
    (numbers && tag.contains('-')).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn only_the_folders_of_processes_that_have_ended_are_removed() -> io::Result<()> {
        let place = Scratch::new()?;
        let ended = crate::files::ended_tag();
        let make = |name: String| {
            let folder = place.path().join(name);
            let mut builder = DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(&folder)?;
            std::fs::write(folder.join("kernel.c"), "text")?;
            Ok::<PathBuf, io::Error>(folder)
        };
        let gone = make(format!("pumice-{ended}-0-1f"))?;
        let kept = [
            make(format!("pumice-{}-0-1f", process_tag()))?,
            make(format!("other-{ended}-0-1f"))?,
            make(format!("pumice-{ended}-notes"))?,
            make(format!("pumice-{ended}-0-1f-2"))?,
        ];
        let link = place.path().join(format!("pumice-{ended}-1-1f"));
        std::os::unix::fs::symlink(&kept[1], &link)?;
        remove_leftovers(place.path());
        assert!(!gone.exists());
        assert!(kept.iter().all(|folder| folder.join("kernel.c").exists()) && link.exists());
        Ok(())
    }

    #[test]
    fn the_folder_is_private_and_goes_away() -> io::Result<()> {
        let scratch = Scratch::new()?;
        let path = scratch.path().to_owned();
        std::fs::write(path.join("file"), "text")?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o700);
        }
        assert_ne!(Scratch::new()?.path(), path);
        drop(scratch);
        assert!(!path.exists());
        Ok(())
    }
}
