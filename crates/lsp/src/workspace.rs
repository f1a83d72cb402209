//! The files of an editor: open ones as they are typed, all others as they are on disk, with cached analyses of the open ones. A change
//! only invalidates the analyses that depend on it.

use crate::analysis::Analysis;
use crate::library;
use crate::text::Text;
use lsp_types::{Location, Position, TextDocumentContentChangeEvent, Url};
use pumice_lang::program::is_standard;
use pumice_lang::source::{FileId, Span};
use pumice_lang::syntax::MAX_BYTES;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

/// A file that is open.
pub struct Document {
    /// Its address at the client.
    pub uri: Url,
    /// The client's version number.
    pub version: i32,
    /// Its text.
    pub text: Text,
}

/// All files.
#[derive(Default)]
pub struct Workspace {
    documents: BTreeMap<String, Document>,
    analyses: HashMap<String, Rc<Analysis>>,
}

/// Returns the name of a file: its path, or its address if it has none.
pub fn name_of(uri: &Url) -> String {
    let path = if uri.scheme() == "file" { uri.to_file_path().ok() } else { None };
    path.and_then(|path| path.to_str().map(str::to_string)).unwrap_or_else(|| uri.to_string())
}

impl Workspace {
    /// Opens a file. Returns the names of files that depend on it.
    pub fn open(&mut self, uri: Url, version: i32, text: String) -> Vec<String> {
        let name = name_of(&uri);
        self.documents.insert(name.clone(), Document { uri, version, text: Text::new(text) });
        self.forget(&name)
    }

    /// Changes an open file. Returns the names of files that depend on it.
    pub fn change(
        &mut self,
        uri: &Url,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> Vec<String> {
        let name = name_of(uri);
        let Some(document) = self.documents.get_mut(&name) else { return Vec::new() };
        document.version = version;
        changes.into_iter().for_each(|change| document.text.apply(change));
        self.forget(&name)
    }

    /// Closes a file, so that it is read from disk again. Returns the names of files that depend on it.
    pub fn close(&mut self, uri: &Url) -> Vec<String> {
        let name = name_of(uri);
        self.documents.remove(&name);
        let depend = self.forget(&name);
        depend.into_iter().filter(|other| *other != name).collect()
    }

    /// Drops the analyses of files that depend on this one. Returns their names, this one first if it is open.
    pub fn forget(&mut self, name: &str) -> Vec<String> {
        let depends = |analysis: &Analysis| analysis.made_of.iter().any(|part| part == name);
        let others = self.analyses.iter().filter(|(other, analysis)| *other != name && depends(analysis));
        let mut forgotten: Vec<String> = others.map(|(other, _)| other.clone()).collect();
        forgotten.sort();
        if self.documents.contains_key(name) {
            forgotten.insert(0, name.to_string());
        }
        self.analyses.remove(name);
        forgotten.iter().for_each(|other| drop(self.analyses.remove(other)));
        forgotten
    }

    /// Returns an open file.
    pub fn document(&self, name: &str) -> Option<&Document> {
        self.documents.get(name)
    }

    /// Returns the names of all open files.
    pub fn open_names(&self) -> Vec<String> {
        self.documents.keys().cloned().collect()
    }

    /// Returns the analysis of an open file.
    pub fn analysis(&mut self, name: &str) -> Option<Rc<Analysis>> {
        if let Some(known) = self.analyses.get(name) {
            return Some(known.clone());
        }
        let analysis = Rc::new(self.analyse(name, self.documents.get(name)?.text.as_str()));
        self.analyses.insert(name.to_string(), analysis.clone());
        Some(analysis)
    }

    /// Analyses a file as if it had this text.
    pub fn analyse(&self, name: &str, text: &str) -> Analysis {
        Analysis::new(name, text, &|path| match self.documents.get(path) {
            Some(document) => Ok(document.text.as_str().to_string()),
            None => read(Path::new(path)),
        })
    }

    /// Returns the analyses of all open files.
    pub fn analyses(&mut self) -> Vec<Rc<Analysis>> {
        self.open_names().iter().filter_map(|name| self.analysis(name)).collect()
    }

    /// Returns the analysis of a request's file, and the byte offset of a position in it.
    pub fn at(&mut self, uri: &Url, position: Position) -> Option<(Rc<Analysis>, u32)> {
        let analysis = self.analysis(&name_of(uri))?;
        let offset = analysis.text(analysis.root).offset(position);
        Some((analysis, offset))
    }

    /// Returns the address of a file of a program. A file of the prelude is written first.
    pub fn uri(&self, analysis: &Analysis, file: FileId) -> Option<Url> {
        if is_standard(file) {
            return library::address(analysis, file);
        }
        let name = analysis.name_of(file);
        match self.documents.get(name) {
            Some(document) => Some(document.uri.clone()),
            None => Url::from_file_path(name).ok().or_else(|| Url::parse(name).ok()),
        }
    }

    /// Converts a span to a location of the protocol.
    pub fn location(&self, analysis: &Analysis, span: Span) -> Option<Location> {
        Some(Location { uri: self.uri(analysis, span.file)?, range: analysis.text(span.file).range(span) })
    }
}

/// Reads a file from disk.
fn read(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES as u64 + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}
