//! `pumice build`: a library for C, Python or Rust of a file's functions. `pumice_lang::bindings` writes its source; this module
//! chooses functions, writes files, and links the library.

mod ahead;
mod link;

use super::file::{self, Checks, Wrong};
use crate::error::{Error, Result};
use crate::print;
use crate::temporary::TemporaryFolder;
use pumice::layers::runtime::devices::KernelsAhead;
use pumice_lang::bindings::{self, FileText, Library, RustText};
use pumice_lang::evaluate::{self, compile};
use pumice_lang::interface::{Export, Interface};
use std::path::{Path, PathBuf};

/// What `pumice build` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file.
    #[arg(value_name = "FILE.pum")]
    file: String,
    /// For this language.
    #[arg(long, value_name = "LANGUAGE")]
    to: Language,
    /// Write to this folder [default: the current one].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Only these functions; else all that other languages can call.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    entry: Option<Vec<String>>,
    /// Compile the kernels of the device cpu ahead that arrays of so many elements need: numbers, or `usual`.
    #[arg(long, value_name = "N,...")]
    size: Option<String>,
}

/// Builds a library of the file that the command line names.
pub fn run(arguments: &Arguments) -> Result<()> {
    let (path, language) = (&arguments.file, arguments.to);
    let sizes = arguments.size.as_deref().map(ahead::sizes).transpose()?;
    if sizes.is_some() && matches!(language, Language::Rust) {
        return Err(Error::Usage(
            "--size compiles kernels for libraries, and --to rust makes none".to_string(),
        ));
    }
    let text = file::text(path)?;
    let checks = file::checks(path, &text, None)?;
    let interface = Interface::of(&checks.program, &checks.checked);
    let name = bindings::library_name(path);
    if !bindings::is_library_name(&name) {
        return Err(Error::Usage(format!(
            "`{name}` cannot be the name of a library; give the file another one"
        )));
    }
    let named = arguments.entry.as_deref();
    let (exports, mut left_out) = choose(&checks, &interface, named)?;
    let texts = texts(&checks, path, &text);
    let kernels = match (language, &sizes) {
        (Language::C | Language::Python, Some(sizes)) => ahead::kernels(&texts, &exports, sizes)?,
        _ => KernelsAhead::default(),
    };
    let docs = interface.docs.as_deref();
    let library =
        Library { name: &name, docs, texts: &texts, exports: &exports, kernels: &kernels.to_bytes() };
    let folder = arguments.out.as_deref().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::Failed(format!("cannot make the folder {}: {error}", folder.display())))?;
    let mut written = Written { folder, files: Vec::new() };
    match language {
        Language::C => {
            let source = written.write(&format!("{name}.c"), &bindings::source(&library))?;
            written.write(&format!("{name}.h"), &bindings::header(&library))?;
            written.link(&name, &source)?;
        }
        Language::Python => {
            written.write(&format!("{name}.py"), &bindings::python(&library))?;
            // Python needs only the library, not its source.
            let sources = TemporaryFolder::new("build").map_err(Error::Failed)?;
            let mut temporary = Written { folder: sources.path(), files: Vec::new() };
            let source = temporary.write(&format!("{name}.c"), &bindings::source(&library))?;
            temporary.write(&format!("{name}.h"), &bindings::header(&library))?;
            written.link(&name, &source)?;
        }
        Language::Rust => {
            let (module, unsupported) = bindings::rust(&library, RustText::Literal);
            if let (Some(_), Some((function, reason))) = (&named, unsupported.first()) {
                return Err(Error::Failed(format!("`{function}` cannot be a function of Rust: {reason}")));
            }
            left_out.extend(unsupported);
            let introduction = "// Made by `pumice build`; needs the feature `pum` of `pumice`.\n\n";
            written.write(&format!("{name}.rs"), &format!("{introduction}{module}"))?;
        }
    }
    if !kernels.is_empty() {
        print(&format!("compiled {} kernels ahead\n", kernels.len()))?;
    }
    tell(&written, &exports, &left_out)
}

/// A language that libraries are made for.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Language {
    /// A header, its source and a shared library.
    C,
    /// A module and a shared library.
    Python,
    /// A module.
    Rust,
}

/// Functions that are left out of a library, with the reasons.
type LeftOut = Vec<(String, String)>;

/// Returns the functions that are named, or all that can be called from outside, and the reasons why others are left out.
fn choose(
    checks: &Checks,
    interface: &Interface,
    named: Option<&[String]>,
) -> Result<(Vec<Export>, LeftOut)> {
    let mut left_out = LeftOut::new();
    let mut leave_out = |name: &str, reason: String| left_out.push((name.to_string(), reason));
    let wanted: Vec<Export> = match named {
        Some(names) => {
            let export = |name: &String| interface.export(name).cloned().map_err(Error::Failed);
            names.iter().map(export).collect::<Result<_>>()?
        }
        None => {
            interface.refused.iter().for_each(|(name, reason)| leave_out(name, reason.clone()));
            interface.exports.clone()
        }
    };
    let clashes = bindings::clashes(&wanted);
    let mut exports = Vec::new();
    for export in wanted {
        let clash = clashes.iter().find(|(name, _)| *name == export.name);
        match (clash, evaluates(checks, &export), named) {
            (None, Ok(()), _) => exports.push(export),
            (Some((name, reason)), _, Some(_)) => {
                return Err(Error::Failed(format!("`{name}` cannot be built: {reason}")));
            }
            (Some((name, reason)), _, None) => leave_out(name, reason.clone()),
            (None, Err(wrong), Some(_)) => return Err(wrong.into()),
            (None, Err(wrong), None) => leave_out(&export.name, wrong.first()),
        }
    }
    if exports.is_empty() {
        let reasons: String = left_out.iter().map(|(name, reason)| format!("\n{name}: {reason}")).collect();
        return Err(Error::Failed(format!(
            "no function of this file can be called from other languages{reasons}"
        )));
    }
    Ok((exports, left_out))
}

/// Evaluates a function to an array program, and discards it: a function that type-checks may still fail here.
fn evaluates(checks: &Checks, export: &Export) -> std::result::Result<(), Wrong> {
    let options = evaluate::Options::default();
    match compile(&checks.program, &checks.checked, export.function, &[], options) {
        Ok(_) => Ok(()),
        Err(error) => Err(Wrong::of(&checks.program, error)),
    }
}

/// Returns the texts of the program's files, its own first. It is named without its folder: messages of the library are shown to others.
fn texts<'a>(checks: &'a Checks, path: &'a str, text: &'a str) -> Vec<FileText<'a>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let imported = checks.program.modules.iter().filter(|module| !module.is_built_in()).rev().skip(1);
    let imported = imported.filter_map(|module| {
        Some(FileText { name: &module.name, text: checks.program.sources.get(module.file)?.text() })
    });
    std::iter::once(FileText { name, text }).chain(imported).collect()
}

/// The files that were written to a folder.
struct Written<'a> {
    folder: &'a Path,
    files: Vec<PathBuf>,
}

impl Written<'_> {
    fn write(&mut self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        std::fs::write(&path, text)
            .map_err(|error| Error::Failed(format!("cannot write {}: {error}", path.display())))?;
        self.files.push(path.clone());
        Ok(path)
    }

    fn link(&mut self, name: &str, source: &Path) -> Result<()> {
        let library = self.folder.join(format!("lib{name}.so"));
        link::link(source, &library)?;
        self.files.push(library);
        Ok(())
    }
}

fn tell(written: &Written<'_>, exports: &[Export], left_out: &[(String, String)]) -> Result<()> {
    let left_out_of = |name: &str| left_out.iter().any(|(other, _)| other == name);
    let built = exports.iter().filter(|export| !left_out_of(&export.name));
    let mut text: String = built.map(|export| format!("{} : {}\n", export.name, export.scheme)).collect();
    left_out.iter().for_each(|(name, reason)| text.push_str(&format!("not built: {name}: {reason}\n")));
    written.files.iter().for_each(|file| text.push_str(&format!("wrote {}\n", file.display())));
    print(&text)
}
