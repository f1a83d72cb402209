//! Temporary folders that are removed when they are dropped.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder in the system's temporary directory, which is removed with its contents when this is dropped.
///
/// Compiled code is kept in such folders and run, so a folder is always new, and other users may not write to it.
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes a folder whose name includes its purpose; the error is a message for users.
    pub fn new(purpose: &str) -> Result<TemporaryFolder, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("pumice-{purpose}-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => Ok(TemporaryFolder(folder)),
            Err(error) => Err(format!("cannot make the folder {}: {error}", folder.display())),
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed does no harm among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn folders_are_new_private_and_go_away() {
        let folders = [0, 1].map(|_| TemporaryFolder::new("test").unwrap());
        let paths = folders.each_ref().map(|folder| folder.path().to_path_buf());
        assert_ne!(paths[0], paths[1]);
        for path in &paths {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        std::fs::write(paths[0].join("kernel"), "").unwrap();
        drop(folders);
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
