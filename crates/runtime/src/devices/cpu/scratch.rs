//! A folder for the files of one compilation: readable by its owner only, and gone when the value is dropped.
//!
//! Nothing that must outlive a call may be put here.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A temporary folder.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes a new folder in the system's place for temporary files.
    pub fn new() -> io::Result<Scratch> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // A name that exists already is somebody else's (or a leftover): creation fails and the next name is tried,
        // so nobody can prepare the folder for us.
        let mut failure = None;
        for _ in 0..16 {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
            let name = format!("pumice-{}-{count}-{nanoseconds:x}", std::process::id());
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

#[cfg(test)]
mod tests {
    use super::*;

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
