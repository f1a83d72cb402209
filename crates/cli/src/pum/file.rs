//! Files of the language: reading one with what it imports, and telling what is wrong with it.

use crate::error::{Error, Result};
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::program::{Expression, Program};
use pumice_lang::source::{Source, Sources};
use pumice_lang::types::{Checked, check};
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// More bytes than this no file of a program has; the parser refuses far smaller ones.
const MOST_BYTES: u64 = 1 << 28;

/// A program whose types are right.
pub struct Checks {
    /// The program.
    pub program: Arc<Program>,
    /// Its types.
    pub checked: Arc<Checked>,
}

/// What is wrong with a program, with its text.
pub struct Wrong {
    sources: Sources,
    errors: Vec<Diagnostic>,
}

impl Wrong {
    /// One thing that is wrong.
    pub fn of(program: &Program, error: Diagnostic) -> Wrong {
        Wrong { sources: program.sources.clone(), errors: vec![error] }
    }

    /// What is wrong with one file, which is file 0 of it.
    pub fn of_text(path: &str, text: &str, errors: Vec<Diagnostic>) -> Wrong {
        let mut sources = Sources::default();
        sources.add(Source::new(path, text));
        Wrong { sources, errors }
    }

    /// The first thing that is wrong, in a sentence.
    pub fn first(&self) -> String {
        self.errors.first().map_or(String::new(), |error| error.message.clone())
    }

    /// As text.
    pub fn render(&self, colours: bool) -> String {
        let errors =
            self.errors.iter().map(|error| error.render(&self.sources, colours).trim_end().to_string());
        errors.map(|text| text + "\n").collect::<Vec<_>>().join("\n")
    }

    /// Tells it on standard error, in colours if that is a terminal.
    pub fn tell(&self) -> Error {
        let mut terminal = std::io::stderr().lock();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let text = self.render(terminal.is_terminal() && !plain);
        // Where it cannot be written, the exit code has to do.
        let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
        Error::Told
    }
}

/// The text of a file.
pub fn text(path: &str) -> Result<String> {
    read(Path::new(path)).map_err(|reason| Error::Failed(format!("cannot read {path}: {reason}")))
}

fn read(path: &Path) -> std::result::Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(format!("it has more than {MOST_BYTES} bytes")),
        false => Ok(text),
    }
}

/// Reads and checks a program of this text, with an expression over it if there is one. Imports are read in the file's folder.
pub fn checks(
    path: &str,
    text: &str,
    expression: Option<Expression<'_>>,
) -> std::result::Result<Checks, Wrong> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let import = |name: &str| read(&folder.join(format!("{name}.pum")));
    let loaded = match expression {
        Some(expression) => Program::load_with(expression, path, text, &import),
        None => Program::load(path, text, &import),
    };
    let program = loaded.map_err(|(sources, errors)| Wrong { sources, errors })?;
    match check(&program) {
        Ok(checked) => Ok(Checks { program: Arc::new(program), checked: Arc::new(checked) }),
        Err(errors) => Err(Wrong { sources: program.sources, errors }),
    }
}
