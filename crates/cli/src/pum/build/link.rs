//! Linking a library: the system's C compiler links a source with Pumice into one file, which exports no symbol of Pumice.

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// File name of Pumice as a static library.
const STATIC_LIBRARY: &str = "libpumice_library.a";

/// Environment variable with its path, if it is not in one of the usual places.
const VARIABLE: &str = "PUMICE_LIBRARY";

/// Symbols of Pumice stay hidden, so that a process can load several such libraries; unused code is left out. A library stays loaded until
/// its process ends, because its threads do.
const FLAGS: &[&str] = &[
    "-shared",
    "-fPIC",
    "-O2",
    "-std=gnu99",
    "-s",
    "-Wl,--exclude-libs,ALL",
    "-Wl,--gc-sections",
    "-Wl,-z,now",
    "-Wl,-z,nodelete",
];

/// System libraries that Rust's standard library and Pumice need.
const SYSTEM: &[&str] = &["-lm", "-lpthread", "-ldl", "-lrt", "-lutil"];

/// Makes a library of a source. An existing one stays until the new one is complete.
pub fn link(source: &Path, library: &Path) -> Result<()> {
    let pumice = find_pumice()?;
    let unfinished = library.with_extension(format!("{}.tmp", std::process::id()));
    let linked = run_compiler(source, &pumice, library, &unfinished)
        .and_then(|()| std::fs::rename(&unfinished, library).map_err(|error| error.to_string()));
    linked.map_err(|reason| {
        // It may not exist.
        let _ = std::fs::remove_file(&unfinished);
        Error::Failed(format!("cannot make {}: {reason}", library.display()))
    })
}

fn run_compiler(
    source: &Path,
    pumice: &Path,
    library: &Path,
    output: &Path,
) -> std::result::Result<(), String> {
    let command = compiler();
    let command = command.to_string_lossy();
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or("cc");
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    let output = Command::new(program)
        .args(words)
        .args(FLAGS)
        .arg(format!("-Wl,-soname,{name}"))
        .arg(source)
        .arg(pumice)
        .arg("-o")
        .arg(output)
        .args(SYSTEM)
        .output()
        .map_err(|error| {
            format!("the C compiler `{program}` cannot be started: {error}; PUMICE_CC names another one")
        })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{program} failed:\n{}", String::from_utf8_lossy(&output.stderr).trim_end())),
    }
}

/// Returns the C compiler, the one that compiles kernels for `cpu`.
fn compiler() -> OsString {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    variable("PUMICE_CC").or_else(|| variable("CC")).unwrap_or_else(|| "cc".into())
}

/// Finds the static library of Pumice: where the variable says, beside the command, or in `../lib`.
fn find_pumice() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let path = PathBuf::from(path);
        return match path.is_file() {
            true => Ok(path),
            false => Err(Error::Failed(format!("{VARIABLE} names {}, which is no file", path.display()))),
        };
    }
    let folder = std::env::current_exe().ok().and_then(|command| Some(command.parent()?.to_path_buf()));
    let candidates: Vec<PathBuf> = folder
        .iter()
        .flat_map(|folder| [folder.join(STATIC_LIBRARY), folder.join("../lib").join(STATIC_LIBRARY)])
        .collect();
    candidates.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        let looked: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
        Error::Failed(format!(
            "Pumice as a static library was not found (looked for {}); build it with `cargo build --release -p pumice-library` and put \
             {STATIC_LIBRARY} beside the command, or name it in {VARIABLE}",
            looked.join(", ")
        ))
    })
}
