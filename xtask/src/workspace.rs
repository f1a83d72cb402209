//! Locates the repository, its build directory and cargo. Asks cargo, and guesses nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::process;

/// The workspace that `cargo xtask` was started in.
pub struct Workspace {
    /// The folder with the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// Cargo's build directory.
    pub target: PathBuf,
}

impl Workspace {
    /// Asks cargo about the workspace around the current folder, or around this crate under `cargo xtask`.
    pub fn find() -> Result<Workspace> {
        let mut command = Command::new(cargo());
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if let Some(own_folder) = std::env::var_os("CARGO_MANIFEST_DIR") {
            command.current_dir(own_folder);
        }
        let captured = process::capture(&mut command)?;
        captured.ending?;
        Workspace::from_metadata(&captured.stdout)
    }

    fn from_metadata(metadata: &str) -> Result<Workspace> {
        let metadata: serde_json::Value = serde_json::from_str(metadata)
            .map_err(|cause| Error::new(format!("cargo metadata printed no JSON: {cause}")))?;
        let folder = |field: &str| match metadata[field].as_str() {
            Some(path) => Ok(PathBuf::from(path)),
            None => Err(Error::new(format!("cargo metadata names no {field}"))),
        };
        Ok(Workspace { root: folder("workspace_root")?, target: folder("target_directory")? })
    }

    /// Returns a command that runs cargo in the repository's root.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo());
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Returns the path of a program that cargo built in the `dev` profile.
    pub fn debug_program(&self, name: &str) -> PathBuf {
        self.program("debug", name)
    }

    /// Builds the `pumice` program in the release profile; returns a command that runs it.
    pub fn build_pumice(&self) -> Result<Command> {
        process::run(&mut self.cargo(&["build", "--release", "--package", "pumice-cli"]))?;
        Ok(Command::new(self.program("release", "pumice")))
    }

    fn program(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}

/// Makes a folder and the folders above it.
pub fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|cause| Error::io("make the folder", folder, &cause))
}

/// Returns the cargo that started us, so that a chosen toolchain stays chosen.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_from_the_metadata() {
        let found = Workspace::from_metadata(
            r#"{"workspace_root": "/a/b", "target_directory": "/c", "packages": []}"#,
        );
        let found = found.unwrap();
        assert_eq!((found.root, found.target), (PathBuf::from("/a/b"), PathBuf::from("/c")));
    }

    #[test]
    fn metadata_without_a_folder_is_an_error_that_names_it() {
        let error = Workspace::from_metadata(r#"{"workspace_root": "/a/b"}"#).err().unwrap();
        assert!(error.to_string().contains("target_directory"), "{error}");
        assert!(Workspace::from_metadata("no JSON").is_err());
    }
}
