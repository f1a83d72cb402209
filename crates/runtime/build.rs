//! Makes a fingerprint of the emitter and what it rests on, which is part of every kernel's key: a binary that another
//! state of the emitter made is not taken from the cache. Where the sources are not at hand (a packaged crate), the
//! kernel table uses the version instead.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Some(crates) =
        std::env::var_os("CARGO_MANIFEST_DIR").and_then(|dir| Some(Path::new(&dir).parent()?.to_owned()))
    else {
        return;
    };
    // FNV-1a: stable from one compiler to the next; it need not withstand attacks.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for name in ["scalar", "program", "emit"] {
        let folder = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        if files.is_empty() {
            return;
        }
        for file in files {
            for byte in std::fs::read(&file).unwrap_or_default() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    println!("cargo:rustc-env=PUMICE_EMITTER={hash:016x}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "c") {
            files.push(path);
        }
    }
}
