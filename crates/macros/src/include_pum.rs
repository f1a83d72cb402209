//! `include_pum!`: a file of the `.pum` language, read and checked when a Rust program is compiled, as the Rust functions that
//! `pumice_lang::bindings` writes. The file is found as `include_str!` would find it.

use proc_macro2::{Span, TokenStream};
use pumice_lang::bindings::{FileText, Library, RustText, library_name, rust};
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::evaluate;
use pumice_lang::interface::Interface;
use pumice_lang::program::Program;
use pumice_lang::source::Sources;
use pumice_lang::types::check;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Generates the functions of the file that is named.
pub fn functions(input: TokenStream) -> syn::Result<TokenStream> {
    let path: syn::LitStr = syn::parse2(input)?;
    let wrong = |message: String| syn::Error::new(path.span(), message);
    let file = folder(path.span()).join(path.value());
    let text = read(&file).map_err(|reason| wrong(format!("cannot read {}: {reason}", file.display())))?;
    module(&path.value(), &file, &text)
        .map_err(wrong)?
        .parse()
        .map_err(|error| wrong(format!("a fault of Pumice: the functions are no Rust: {error}")))
}

/// Returns the folder of the Rust file with the macro. Editors do not always know it, and get the package's.
fn folder(span: Span) -> PathBuf {
    let here = span.unwrap().local_file().and_then(|file| Some(file.parent()?.to_path_buf()));
    let folder = here.unwrap_or_else(|| std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default().into());
    std::path::absolute(&folder).unwrap_or(folder)
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

/// Generates the text of the functions of a file, or returns its errors.
fn module(name: &str, file: &Path, text: &str) -> Result<String, String> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let import = |name: &str| read(&folder.join(format!("{name}.pum")));
    let program = Program::load(name, text, &import).map_err(|(sources, errors)| told(&sources, &errors))?;
    let checked = check(&program).map_err(|errors| told(&program.sources, &errors))?;
    let interface = Interface::of(&program, &checked);
    let (program, checked) = (Arc::new(program), Arc::new(checked));
    for export in &interface.exports {
        evaluate::compile(&program, &checked, export.function, &[], evaluate::Options::default())
            .map_err(|error| told(&program.sources, &[error]))?;
    }
    let own = FileText { name, text };
    let imported = program.modules.iter().filter(|module| !module.is_built_in()).rev().skip(1);
    let imported = imported.filter_map(|module| {
        let text = program.sources.get(module.file)?.text();
        Some(FileText { name: &module.name, text })
    });
    let texts: Vec<FileText<'_>> = std::iter::once(own).chain(imported).collect();
    let paths: Vec<String> = std::iter::once(file.to_path_buf())
        .chain(texts.iter().skip(1).map(|text| folder.join(format!("{}.pum", text.name))))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let library = Library {
        name: &library_name(name),
        docs: interface.docs.as_deref(),
        texts: &texts,
        exports: &interface.exports,
        kernels: &[],
    };
    // Functions that Rust has no types for are left out; rustc reports calls of them.
    Ok(rust(&library, RustText::Included(&paths)).0)
}

/// Renders errors as the text of one error, without the word that rustc adds itself.
fn told(sources: &Sources, errors: &[Diagnostic]) -> String {
    let text = errors.iter().map(|error| error.render(sources, false)).collect::<Vec<_>>().join("\n");
    text.strip_prefix("error: ").unwrap_or(&text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_the_file_is_shown_as_it_stands_there() {
        let text = "sig total : [f64] -> f64\nfun total xs = sum xs + true\n";
        let told = module("wrong_type.pum", Path::new("wrong_type.pum"), text).unwrap_err();
        assert!(told.starts_with("an operand of `+` must be a number\n"), "{told}");
        assert!(told.contains("wrong_type.pum:2:25") && told.contains("^^^^ this is `bool`"), "{told}");
    }

    #[test]
    fn the_file_is_named_by_a_text() {
        let error = functions(quote::quote!(missing.pum)).unwrap_err();
        assert_eq!(error.to_string(), "expected string literal");
    }
}
