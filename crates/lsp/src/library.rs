//! The prelude and the built-ins as files that an editor can open: written into the user's cache folder on demand.

use crate::analysis::Analysis;
use lsp_types::Url;
use pumice::layers::runtime::KernelTable;
use pumice_lang::source::FileId;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The folder for these files.
static FOLDER: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| Some(KernelTable::new().folder()?.join("library").join(env!("CARGO_PKG_VERSION"))));

/// Returns the address of one of these files, and writes the file if it is missing or has another text.
pub fn address(analysis: &Analysis, file: FileId) -> Option<Url> {
    let path = FOLDER.as_ref()?.join(analysis.name_of(file));
    let text = analysis.text(file).as_str();
    if std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
        write(&path, text).ok()?;
    }
    Url::from_file_path(path).ok()
}

/// Whether a file is one of these: it can be viewed, but is not checked.
pub fn is_library(name: &str) -> bool {
    FOLDER.as_ref().is_some_and(|folder| Path::new(name).starts_with(folder))
}

/// Writes a read-only file.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&beside, text)?;
    let mut permissions = std::fs::metadata(&beside)?.permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&beside, permissions)?;
    std::fs::rename(&beside, path)
}
