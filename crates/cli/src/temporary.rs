//! Folders that go away when they are no longer needed.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder among the system's temporary files, which is removed with what is in it when this is dropped.
///
/// Compiled code is kept in such folders and run: a folder is always new, and nobody else may write to it.
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes a folder whose name says what it is for; the error is for people.
    pub fn new(purpose: &str) -> Result<TemporaryFolder, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("pumice-{purpose}-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => Ok(TemporaryFolder(folder)),
            Err(error) => Err(format!("cannot make the folder {}: {error}", folder.display())),
        }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What is left among temporary files is in nobody's way.
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
