//! The state of a session: the texts of files and entries, and named values. Each new text is checked with all others. Functions that it
//! breaks are set aside until they type-check again. Runs nothing.

use super::kept::Kept;
use super::trouble::Trouble;
use crate::pum::call::{Call, add_array, compiled};
use crate::pum::file::{self, Checks, Wrong, checked, import_path, load};
use pumice::layers::runtime::Inputs;
use pumice_lang::additions::{Additions, Given, Text};
use pumice_lang::ast::Module;
use pumice_lang::diagnostic::Diagnostic;
use pumice_lang::program::{EXPRESSION, Expression, Program};
use pumice_lang::source::{FileId, Span};
use pumice_lang::syntax::parse;
use pumice_lang::types::{Scheme, Type};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

/// Name of the program while no file is loaded.
const NO_FILE: &str = "(session)";

/// The texts, values and checked program of a session.
pub struct Session {
    /// The file that `:reload` reads.
    file: Option<String>,
    /// The file whose text is among the texts.
    loaded: Option<String>,
    texts: Vec<Text>,
    values: Vec<Kept>,
    /// Functions with errors: something that they use was replaced, or they were wrong in their file.
    set_aside: Vec<String>,
    /// Texts of imported files, so that their definitions stay the same until the file is loaded again.
    imports: RefCell<HashMap<String, String>>,
    /// The current program.
    program: Checks,
    /// Number of texts so far, which names the next one.
    typed: usize,
}

/// The effects of a new text or value.
pub struct Change {
    /// The items that the text defines.
    pub defined: Module,
    /// Functions that are set aside, with their errors.
    pub wrong: Vec<(String, Wrong)>,
    /// Functions that were set aside before.
    known: Vec<String>,
    /// Functions that were set aside and type-check again.
    pub mended: Vec<String>,
    /// Values that were removed.
    pub forgotten: Vec<String>,
}

/// An expression and its place in an entry.
#[derive(Clone, Copy)]
pub struct Typed<'a> {
    /// The whole entry.
    pub text: &'a str,
    /// Byte at which the expression starts.
    pub start: usize,
}

impl Session {
    /// Returns a session without definitions of its own.
    pub fn new() -> Result<Session, Wrong> {
        let none = |name: &str| Err(format!("there is no `{name}`"));
        let program = checked(load(NO_FILE, "", Additions::default(), &none)?)?;
        Ok(Session {
            file: None,
            loaded: None,
            texts: Vec::new(),
            values: Vec::new(),
            set_aside: Vec::new(),
            imports: RefCell::default(),
            program,
            typed: 0,
        })
    }

    /// Returns the current program, without an expression.
    pub fn program(&self) -> &Checks {
        &self.program
    }

    /// Returns the file that was loaded last.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the values, oldest first.
    pub fn values(&self) -> &[Kept] {
        &self.values
    }

    /// Returns the functions that cannot be used because they have errors.
    pub fn set_aside(&self) -> &[String] {
        &self.set_aside
    }

    /// Returns a name for the next entry, which error messages use as its file name.
    pub fn next_name(&mut self) -> String {
        self.typed += 1;
        format!("input {}", self.typed)
    }

    /// Adds items. If the items themselves have errors, nothing changes.
    pub fn define(&mut self, name: String, text: &str) -> Result<Change, Trouble> {
        let defined = parse(FileId(0), text, &mut 0).module;
        let mut texts = self.texts.clone();
        texts.push(Text { name, text: text.to_string() });
        let settled = self.settle(&texts, self.values_beside(&defined), &defined)?;
        let mut change = self.commit(texts, settled, defined);
        change.wrong.retain(|(name, _)| !change.known.contains(name));
        Ok(change)
    }

    /// Loads a file in place of the previous one; its names replace existing ones. Functions with errors are set aside.
    pub fn load(&mut self, path: &str) -> Result<Change, Trouble> {
        // Even if it cannot be read: it may be mended and loaded again.
        self.file = Some(path.to_string());
        self.imports.borrow_mut().clear();
        let text = file::read(Path::new(path)).map_err(|reason| format!("cannot read {path}: {reason}"))?;
        let defined = parse(FileId(0), &text, &mut 0).module;
        let mut texts = self.texts.clone();
        texts.retain(|old| Some(&old.name) != self.loaded.as_ref());
        texts.push(Text { name: path.to_string(), text });
        let settled = self.settle(&texts, self.values_beside(&defined), &Module::default())?;
        self.loaded = Some(path.to_string());
        Ok(self.commit(texts, settled, defined))
    }

    /// Returns the values that new items do not replace.
    fn values_beside(&self, defined: &Module) -> Vec<Kept> {
        let is_replaced = |value: &&Kept| {
            let function = |name: &str| defined.functions.iter().any(|function| &*function.name.name == name);
            let ty = |name: &String| defined.types.iter().any(|ty| *ty.name.name == **name);
            function(&value.given.name) || value.sums.iter().any(ty)
        };
        self.values.iter().filter(|value| !is_replaced(value)).cloned().collect()
    }

    /// Keeps a value, in place of the previous one of its name.
    pub fn keep(&mut self, value: Kept) -> Result<Change, Wrong> {
        let mut values = self.values.clone();
        values.retain(|old| old.given.name != value.given.name);
        values.push(value);
        self.change_values(values)
    }

    /// Removes a value; returns `None` if there is none of this name.
    pub fn forget(&mut self, name: &str) -> Result<Option<Change>, Wrong> {
        let mut values = self.values.clone();
        values.retain(|value| value.given.name != name);
        match values.len() == self.values.len() {
            true => Ok(None),
            false => self.change_values(values).map(Some),
        }
    }

    fn change_values(&mut self, values: Vec<Kept>) -> Result<Change, Wrong> {
        let settled = self.settle(&self.texts, values, &Module::default())?;
        let mut change = self.commit(self.texts.clone(), settled, Module::default());
        change.wrong.retain(|(name, _)| !change.known.contains(name));
        Ok(change)
    }

    /// Makes a settled program the session's, and returns the difference.
    fn commit(&mut self, texts: Vec<Text>, settled: Settled, defined: Module) -> Change {
        let Settled { program, values, wrong } = settled;
        let is_kept = |name: &str| values.iter().any(|value| value.given.name == name);
        let gone = self.values.iter().map(|value| &value.given.name).filter(|name| !is_kept(name));
        let forgotten = gone.cloned().collect();
        let now: Vec<String> = wrong.iter().map(|(name, _)| name.clone()).collect();
        let known = std::mem::replace(&mut self.set_aside, now);
        let mended = known.iter().filter(|name| !self.set_aside.contains(name)).cloned().collect();
        (self.texts, self.values, self.program) = (texts, values, program);
        Change { defined, wrong, known, mended, forgotten }
    }

    /// Checks the texts. Sets functions with errors aside and removes values whose type no longer exists, until the rest type-checks;
    /// an error in the items of `own` is returned.
    fn settle(&self, texts: &[Text], mut values: Vec<Kept>, own: &Module) -> Result<Settled, Wrong> {
        let mut wrong: Vec<(String, Wrong)> = Vec::new();
        loop {
            let without: Vec<String> = wrong.iter().map(|(name, _)| name.clone()).collect();
            let given: Vec<Given> = values.iter().map(|value| value.given.clone()).collect();
            let additions = Additions { texts, without: &without, given: &given, expression: None };
            let program = self.read(additions)?;
            let module = program.modules.last().map(|loaded| loaded.module.clone()).unwrap_or_default();
            let found = match checked(program) {
                Ok(program) => return Ok(Settled { program, values, wrong }),
                Err(found) => found,
            };
            let before = (wrong.len(), values.len());
            for error in &found.errors {
                let owner = owner(&module, error.span).filter(|name| !defines(own, name));
                let Some(owner) = owner else {
                    return Err(Wrong { errors: own_errors(&found, &module, own), sources: found.sources });
                };
                if values.iter().any(|value| value.given.name == owner) {
                    values.retain(|value| value.given.name != owner);
                    continue;
                }
                match wrong.iter_mut().find(|(name, _)| *name == owner) {
                    Some((_, known)) => known.errors.push(error.clone()),
                    None => {
                        let known = Wrong { sources: found.sources.clone(), errors: vec![error.clone()] };
                        wrong.push((owner, known));
                    }
                }
            }
            // Each round sets something aside, so the loop terminates.
            if before == (wrong.len(), values.len()) {
                return Err(found);
            }
        }
    }

    /// Reads a program, and the files that it imports for the first time.
    fn read(&self, additions: Additions<'_>) -> Result<Program, Wrong> {
        let file = self.file.as_deref().unwrap_or(NO_FILE);
        let import = |name: &str| {
            if let Some(text) = self.imports.borrow().get(name) {
                return Ok(text.clone());
            }
            let text = file::read(&import_path(file, name))?;
            self.imports.borrow_mut().insert(name.to_string(), text.clone());
            Ok(text)
        };
        load(file, "", additions, &import)
    }

    /// Checks an expression against the current program and values.
    pub fn check(&self, name: &str, typed: Typed<'_>) -> Result<Checks, Wrong> {
        let given: Vec<Given> = self.values.iter().map(|value| value.given.clone()).collect();
        let expression = Expression { name, parameters: &[], text: typed.text, start: typed.start };
        let additions = Additions {
            texts: &self.texts,
            without: &self.set_aside,
            given: &given,
            expression: Some(expression),
        };
        self.read(additions).and_then(checked).map_err(|wrong| self.explained(wrong))
    }

    /// Adds a note to errors about names that are not found because they are set aside.
    fn explained(&self, Wrong { sources, mut errors }: Wrong) -> Wrong {
        for error in &mut errors {
            let name = sources.text(error.span);
            if self.set_aside.iter().any(|other| other == name) {
                error.help =
                    Some(format!("`{name}` is wrong, and not used until it or what it uses is defined anew"));
            }
        }
        Wrong { sources, errors }
    }

    /// Makes an array program of a checked expression, with the values that it uses.
    pub fn call(&self, checks: &Checks) -> Result<Call, Wrong> {
        let compiled = compiled(checks, None)?;
        let mut inputs = Inputs::default();
        let used = compiled.given.iter().filter_map(|number| self.values.get(*number));
        used.flat_map(|value| &value.arrays).for_each(|array| add_array(array.clone(), &mut inputs));
        Ok(Call::new(compiled, inputs, checks.checked.clone()))
    }
}

/// A program that type-checks, and the functions that were left out of it.
struct Settled {
    program: Checks,
    values: Vec<Kept>,
    wrong: Vec<(String, Wrong)>,
}

/// Returns the type of a program's expression.
pub fn expression_type(checks: &Checks) -> Option<&Scheme> {
    checks.checked.entry(EXPRESSION).map(|id| checks.checked.scheme(id))
}

/// Returns whether a type is a function type, whose values cannot be computed.
pub fn is_function(ty: &Type) -> bool {
    matches!(ty, Type::Function(..) | Type::LevelFunction(..))
}

/// Returns the function that contains a place.
fn owner(module: &Module, span: Span) -> Option<String> {
    let holds = |of: Span| of.file == span.file && of.start <= span.start && span.end <= of.end;
    let function = module.functions.iter().find(|function| holds(function.span));
    let signature = module.signatures.iter().find(|signature| holds(signature.span));
    let name = function.map(|function| &function.name).or(signature.map(|signature| &signature.name))?;
    Some(name.name.to_string())
}

/// Returns whether a module has a function or a signature of this name.
fn defines(module: &Module, name: &str) -> bool {
    module.functions.iter().any(|function| &*function.name.name == name)
        || module.signatures.iter().any(|signature| &*signature.name.name == name)
}

/// Returns the errors outside functions that existed before.
fn own_errors(found: &Wrong, module: &Module, own: &Module) -> Vec<Diagnostic> {
    let is_own = |error: &&Diagnostic| owner(module, error.span).is_none_or(|name| defines(own, &name));
    found.errors.iter().filter(is_own).cloned().collect()
}
