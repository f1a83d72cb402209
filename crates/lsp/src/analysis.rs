//! Analysis of one file and all that it imports, for one state of their texts. Everything that is not needed for diagnostics is
//! computed on demand.

use crate::index::Index;
use crate::text::Text;
use pumice_lang::ast::{Module, Name};
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::program::{Program, is_standard};
use pumice_lang::source::{FileId, Span};
use pumice_lang::syntax::{self, SyntaxNode};
use pumice_lang::types::{Checked, check_with_errors};
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// A file that was checked.
pub struct Analysis {
    /// The program.
    pub program: Arc<Program>,
    /// Its types, as far as they are known.
    pub checked: Arc<Checked>,
    /// All errors, in any of its files.
    pub errors: Vec<Diagnostic>,
    /// The file itself.
    pub root: FileId,
    /// The names of the files that it was read from, also of those that could not be read.
    pub made_of: Vec<String>,
    texts: Vec<OnceCell<Text>>,
    indexes: Vec<OnceCell<Index>>,
    tree: OnceCell<SyntaxNode>,
}

impl Analysis {
    /// Checks a file. `read` returns the text of a file by its full name.
    pub fn new(name: &str, text: &str, read: &dyn Fn(&str) -> Result<String, String>) -> Analysis {
        let folder = name.rfind(['/', '\\']).map_or("", |at| name.get(..=at).unwrap_or(""));
        let made_of = RefCell::new(vec![name.to_string()]);
        let import = |wanted: &str| {
            let path = format!("{folder}{wanted}.pum");
            made_of.borrow_mut().push(path.clone());
            read(&path)
        };
        let (program, mut errors) = Program::load_with_errors(name, text, &import);
        let (checked, wrong) = check_with_errors(&program);
        let (unread, missing) = (broken_items(&program, &errors), missing_names(&program, &errors));
        // Errors that follow from text that could not be parsed, or files that could not be read, are not reported.
        let follows = |error: &Diagnostic| {
            unread.iter().any(|item| has(*item, error.span))
                || missing.iter().any(|name| &**name == program.sources.text(error.span))
        };
        errors.extend(wrong.into_iter().filter(|error| !follows(error)));
        let root = program.modules.last().map_or(FileId(0), |loaded| loaded.file);
        let files = program.sources.iter().count();
        Analysis {
            program: Arc::new(program),
            checked: Arc::new(checked),
            errors,
            root,
            made_of: made_of.into_inner(),
            texts: vec![OnceCell::new(); files],
            indexes: (0..files).map(|_| OnceCell::new()).collect(),
            tree: OnceCell::new(),
        }
    }

    /// Returns the name of a file.
    pub fn name_of(&self, file: FileId) -> &str {
        self.program.sources.get(file).map_or("", |source| source.name())
    }

    /// Returns the user's file with a name.
    pub fn file_named(&self, name: &str) -> Option<FileId> {
        let user = self.program.sources.iter().filter(|(file, _)| !is_standard(*file));
        user.into_iter().find(|(_, source)| source.name() == name).map(|(file, _)| file)
    }

    /// Returns the text of a file; empty if there is no such file.
    pub fn text(&self, file: FileId) -> &Text {
        static NONE: std::sync::LazyLock<Text> = std::sync::LazyLock::new(|| Text::new(String::new()));
        let text = || self.program.sources.get(file).map_or("", |source| source.text()).to_string();
        self.texts.get(file.0 as usize).map_or(&NONE, |cell| cell.get_or_init(|| Text::new(text())))
    }

    /// Returns the tree of a file.
    pub fn module(&self, file: FileId) -> Option<&Arc<Module>> {
        self.program.modules.iter().find(|loaded| loaded.file == file).map(|loaded| &loaded.module)
    }

    /// Returns the name of a file in imports.
    pub fn module_name(&self, file: FileId) -> Option<&Name> {
        self.program.modules.iter().find(|loaded| loaded.file == file).map(|loaded| &loaded.name)
    }

    /// Returns the index of a file's names.
    pub fn index(&self, file: FileId) -> Option<&Index> {
        let module = self.module(file)?;
        Some(self.indexes.get(file.0 as usize)?.get_or_init(|| Index::of(&self.checked, file, module)))
    }

    /// Iterates over the user's files.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.program.modules.iter().map(|loaded| loaded.file).filter(|file| !is_standard(*file))
    }

    /// Returns the syntax tree of the file itself.
    pub fn tree(&self) -> &SyntaxNode {
        self.tree.get_or_init(|| syntax::parse(self.root, self.text(self.root).as_str(), &mut 0).syntax)
    }

    /// Returns the documentation of the item that is defined at a place.
    pub fn docs(&self, name: Span) -> Option<&str> {
        let module = self.module(name.file)?;
        if let Some(declaration) = module.types.iter().find(|declaration| has(declaration.span, name)) {
            return declaration.docs.as_deref();
        }
        let function = module.functions.iter().find(|function| function.name.span == name);
        let called = function.map(|function| &function.name.name);
        let mut signatures = module.signatures.iter();
        let signature =
            signatures.find(|signature| signature.name.span == name || Some(&signature.name.name) == called);
        let of_signature = signature.and_then(|signature| signature.docs.as_deref());
        of_signature.or_else(|| function?.docs.as_deref())
    }
}

fn has(item: Span, span: Span) -> bool {
    item.file == span.file && item.start <= span.start && span.end <= item.end
}

/// Returns the items that have a syntax error.
fn broken_items(program: &Program, errors: &[Diagnostic]) -> Vec<Span> {
    if errors.is_empty() {
        return Vec::new();
    }
    let items = program.modules.iter().flat_map(|loaded| {
        let module = &loaded.module;
        let functions = module.functions.iter().map(|function| function.span);
        let signatures = module.signatures.iter().map(|signature| signature.span);
        functions.chain(signatures).chain(module.types.iter().map(|declaration| declaration.span))
    });
    items.filter(|item| errors.iter().any(|error| has(*item, error.span))).collect()
}

/// Returns the names that imports with errors would have brought into scope.
fn missing_names(program: &Program, errors: &[Diagnostic]) -> Vec<Name> {
    let imports = program.modules.iter().flat_map(|loaded| &loaded.module.imports);
    let wrong = imports.filter(|import| errors.iter().any(|error| has(import.span, error.span)));
    wrong
        .flat_map(|import| std::iter::once(&import.module).chain(&import.names))
        .map(|name| name.name.clone())
        .collect()
}
