//! The first steps of a newcomer, as in the guide: `cargo new`, a line in `Cargo.toml`, the first example of the README, `cargo run`.
//!
//! The new crate is outside of the repository, or cargo would make it a part of the workspace. It is a workspace of its own with
//! cargo's default profile, so it cannot use what is built for the other tests. Its dependencies are built once more, to a
//! folder in the build directory, and are kept there. Nothing is downloaded: versions are those of the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Most lines that a newcomer may have to write into `Cargo.toml`.
const MOST_LINES: usize = 3;

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the repository, and the folder that cargo builds to.
fn folders() -> (PathBuf, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf();
    // The test's executable is in the folder `deps` of a profile's folder.
    let built = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_path_buf();
    (root, built)
}

/// Returns the first block of Rust of a page.
fn first_example(page: &str) -> &str {
    let (_, rest) = page.split_once("```rust\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// Runs cargo, and returns its output.
fn cargo(folder: &Path, arguments: &[&str]) -> String {
    let (_, built) = folders();
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--offline", "--quiet"]).current_dir(folder);
    command.env("CARGO_TARGET_DIR", built.join("newcomer")).env("PUMICE_DEVICE", "cpu");
    // Debug information and incremental compilation are of no use here and take half of the time.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}:\n{errors}", arguments.join(" "));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_new_crate_runs_the_first_example() {
    let (root, _) = folders();
    let folder = Folder(std::env::temp_dir().join(format!("pumice-newcomer-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    cargo(&folder.0, &["new", "first", "--vcs", "none"]);
    let project = folder.0.join("first");

    let lines = format!("pumice = {{ path = {:?} }}\n", root.join("crates/pumice"));
    assert!(lines.lines().count() <= MOST_LINES);
    let manifest = std::fs::read_to_string(project.join("Cargo.toml")).unwrap();
    assert!(manifest.trim_end().ends_with("[dependencies]"), "{manifest}");
    std::fs::write(project.join("Cargo.toml"), manifest + &lines).unwrap();
    std::fs::copy(root.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    std::fs::write(project.join("src/main.rs"), first_example(&readme)).unwrap();
    assert_eq!(cargo(&project, &["run"]), "32.0\n");
}
