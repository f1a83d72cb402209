//! Files of the language: reads one with its imports, and reports the errors in it.

use crate::error::{Error, Result};
use pumice_lang::additions::Additions;
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::program::{Expression, Program};
use pumice_lang::source::{FileId, Source, Sources, Span};
use pumice_lang::types::{Checked, check};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Limit on the bytes of a file that is read; the parser refuses far smaller ones.
const MOST_BYTES: u64 = 1 << 28;

/// A program that type-checks.
#[derive(Clone)]
pub struct Checks {
    /// The program.
    pub program: Arc<Program>,
    /// Its types.
    pub checked: Arc<Checked>,
}

/// The errors of a program, with its sources.
#[derive(Debug)]
pub struct Wrong {
    /// The sources.
    pub sources: Sources,
    /// The errors.
    pub errors: Vec<Diagnostic>,
}

impl Wrong {
    /// Returns a single error.
    pub fn of(program: &Program, error: Diagnostic) -> Wrong {
        Wrong { sources: program.sources.clone(), errors: vec![error] }
    }

    /// Returns the error for an expression that is not in its program.
    pub fn lost(program: &Program) -> Wrong {
        let nowhere = Span { file: FileId(0), start: 0, end: 0 };
        Wrong::of(program, Diagnostic::new(nowhere, "the expression got lost: that is a fault of Pumice"))
    }

    /// Returns errors of one file, which is file 0 of the sources.
    pub fn of_text(path: &str, text: &str, errors: Vec<Diagnostic>) -> Wrong {
        let mut sources = Sources::default();
        sources.add(Source::new(path, text));
        Wrong { sources, errors }
    }

    /// Returns the message of the first error.
    pub fn first(&self) -> String {
        self.errors.first().map_or(String::new(), |error| error.message.clone())
    }

    /// Renders the errors as text.
    pub fn render(&self, colours: bool) -> String {
        let errors =
            self.errors.iter().map(|error| error.render(&self.sources, colours).trim_end().to_string());
        errors.map(|text| text + "\n").collect::<Vec<_>>().join("\n")
    }

    /// Returns the errors as JSON: message, place, label, help, and the other places with their labels.
    pub fn as_json(&self) -> Vec<Value> {
        let place = |span: Span| place_as_json(&self.sources, span);
        let error = |error: &Diagnostic| {
            let others =
                error.others.iter().map(|(span, label)| json!({ "place": place(*span), "label": label }));
            json!({
                "message": error.message,
                "place": place(error.span),
                "label": error.label,
                "help": error.help,
                "others": others.collect::<Vec<_>>(),
            })
        };
        self.errors.iter().map(error).collect()
    }
}

/// Returns whether the user wants no colours, not even on a terminal.
pub fn no_colours() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Returns a place as JSON: its file, start and end. Lines and columns are counted from 1, and the end is exclusive.
pub fn place_as_json(sources: &Sources, span: Span) -> Value {
    let Some(source) = sources.get(span.file) else { return Value::Null };
    let position = |offset: u32| {
        let (line, column) = source.line_column(offset);
        json!({ "line": line, "column": column })
    };
    json!({ "file": source.name(), "start": position(span.start), "end": position(span.end) })
}

/// Reads the text of a file of the command line.
pub fn text(path: &str) -> Result<String> {
    read(Path::new(path)).map_err(|reason| Error::Failed(format!("cannot read {path}: {reason}")))
}

/// Reads a text file; the error is the reason alone.
pub fn read(path: &Path) -> std::result::Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(format!("it has more than {MOST_BYTES} bytes")),
        false => Ok(text),
    }
}

/// Reads and checks a program of this text, with an expression over it if there is one. Imports are read from the file's folder.
pub fn checks(
    path: &str,
    text: &str,
    expression: Option<Expression<'_>>,
) -> std::result::Result<Checks, Wrong> {
    let import = |name: &str| read(&import_path(path, name));
    checked(load(path, text, Additions { expression, ..Additions::default() }, &import)?)
}

/// Returns the path of the file that a program at `path` imports by this name.
pub fn import_path(path: &str, name: &str) -> PathBuf {
    Path::new(path).parent().unwrap_or(Path::new("")).join(format!("{name}.pum"))
}

/// Reads a program of this text with some additions.
pub fn load(
    path: &str,
    text: &str,
    additions: Additions<'_>,
    import: &dyn Fn(&str) -> std::result::Result<String, String>,
) -> std::result::Result<Program, Wrong> {
    Program::load_more(additions, path, text, import).map_err(|(sources, errors)| Wrong { sources, errors })
}

/// Checks a program.
pub fn checked(program: Program) -> std::result::Result<Checks, Wrong> {
    match check(&program) {
        Ok(checked) => Ok(Checks { program: Arc::new(program), checked: Arc::new(checked) }),
        Err(errors) => Err(Wrong { sources: program.sources, errors }),
    }
}
