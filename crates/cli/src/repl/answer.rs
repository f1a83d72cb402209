//! Answers to the entries of a session, as text. Knows no terminal: a [`Screen`] says all that is needed of one.

use super::entry::{Entry, read};
use super::kept::{Arrays, Kept};
use super::machine::Machine;
use super::session::{Change, Session, Typed, expression_type, is_function};
use super::trouble::Trouble;
use super::{perform, show};
use crate::pum::call::Call;
use pumice_lang::program::EXPRESSION;
use pumice_lang::types::{Scheme, Type};
use std::fmt::Write;

/// Name of the last value.
pub const IT: &str = "it";

/// A session on a device.
pub struct Repl {
    /// Definitions and values of the session.
    pub session: Session,
    /// The device that runs expressions.
    pub machine: Machine,
    /// Whether long vectors and matrices are drawn without a command.
    pub plots: bool,
    /// Comments typed since the last entry; they document the next definition.
    comments: String,
}

/// Properties of the screen that answers are shown on.
#[derive(Clone, Copy)]
pub struct Screen {
    /// Whether it shows colours.
    pub colours: bool,
    /// Characters per line.
    pub width: usize,
    /// Number of lines.
    pub height: usize,
}

impl Screen {
    /// Returns `text` in a faint colour, if the screen has colours.
    pub fn faint(&self, text: &str) -> String {
        if self.colours { format!("\x1b[90m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// The answer to an entry.
pub enum Answer {
    /// The entry was carried out; this text is to be shown.
    Done(String),
    /// The entry failed; this text says why.
    Failed(String),
    /// The session ends.
    Quit,
}

impl Repl {
    /// Returns a session without definitions of its own.
    pub fn new(machine: Machine) -> Result<Repl, Trouble> {
        Ok(Repl { session: Session::new()?, machine, plots: false, comments: String::new() })
    }

    /// Carries out an entry, and returns the answer to it.
    pub fn answer(&mut self, typed: &str, screen: Screen) -> Answer {
        self.machine.begin();
        let comments = std::mem::take(&mut self.comments);
        let outcome = match read(typed) {
            Entry::Nothing => {
                self.comments =
                    if typed.trim().is_empty() { comments } else { format!("{comments}{typed}\n") };
                Ok(String::new())
            }
            Entry::Command(name, start) => {
                match perform::perform(self, name, Typed { text: typed, start }, screen) {
                    Ok(Some(text)) => Ok(text),
                    Ok(None) => return Answer::Quit,
                    Err(trouble) => Err(trouble),
                }
            }
            Entry::Items(text) => self.define(&format!("{comments}{text}"), screen),
            Entry::Value(name, start) => self.value(name, Typed { text: typed, start }, screen),
            Entry::Expression => self.expression(Typed { text: typed, start: 0 }, screen),
        };
        match outcome {
            Ok(text) => Answer::Done(text),
            Err(trouble) => Answer::Failed(trouble.render(screen.colours)),
        }
    }

    /// Loads a file, and returns a message with the number of functions that can be used.
    pub fn load(&mut self, path: &str, screen: Screen) -> Result<String, Trouble> {
        let change = self.session.load(path)?;
        let checked = &self.session.program().checked;
        let functions = change.defined.functions.iter();
        let functions = functions.filter(|function| checked.entry(&function.name.name).is_some()).count();
        let plural = if functions == 1 { "" } else { "s" };
        Ok(format!("{}{path}: {functions} function{plural}\n", told(&change, screen)))
    }

    /// Adds items, and returns their types and the errors that they cause.
    fn define(&mut self, text: &str, screen: Screen) -> Result<String, Trouble> {
        let name = self.session.next_name();
        let change = self.session.define(name, text)?;
        let checked = &self.session.program().checked;
        let mut said = String::new();
        for function in &change.defined.functions {
            let name = &function.name.name;
            if let Some(id) = checked.entry(name) {
                // Writing to a String cannot fail.
                let _ = writeln!(said, "{name}{}", screen.faint(&format!(" : {}", checked.scheme(id))));
            }
        }
        for declared in &change.defined.types {
            let _ = writeln!(said, "type {}", declared.name.name);
        }
        for signature in &change.defined.signatures {
            let name = &signature.name.name;
            if checked.entry(name).is_none() {
                let _ = writeln!(said, "{name} has a signature; `fun {name}` is still to come");
            }
        }
        Ok(said + &told(&change, screen))
    }

    /// Computes a value once, and keeps it under a name.
    fn value(&mut self, name: &str, typed: Typed<'_>, screen: Screen) -> Result<String, Trouble> {
        let expression = typed.text.get(typed.start..).unwrap_or("").trim();
        let place = self.session.next_name();
        let checks = self.session.check(&place, typed)?;
        if expression_type(&checks).is_some_and(|scheme| is_function(&scheme.ty)) {
            return self.define(&format!("fun {name} = {expression}"), screen);
        }
        let call = self.session.call(&checks)?;
        let arrays = self.machine.run(&call)?;
        let said = self.keep(name, expression, &call, &arrays, screen)?;
        Ok(format!("{name}{}\n{said}", screen.faint(&format!(" : {}", call.compiled.result))))
    }

    /// Computes an expression, binds the value to `it`, and returns it as text.
    fn expression(&mut self, typed: Typed<'_>, screen: Screen) -> Result<String, Trouble> {
        let place = self.session.next_name();
        let checks = self.session.check(&place, typed)?;
        if let Some(scheme) = expression_type(&checks).filter(|scheme| is_function(&scheme.ty)) {
            return Ok(format!("a function{}\n", screen.faint(&format!(" : {scheme}"))));
        }
        let call = self.session.call(&checks)?;
        let arrays = self.machine.run(&call)?;
        let mut text = show::value(&call, &arrays, screen)?;
        if self.plots {
            // It was not asked for, so it takes at most half of the screen.
            let half = Screen { height: screen.height / 2, ..screen };
            text.push_str(&show::drawn(&call, &arrays, half)?.unwrap_or_default());
        }
        let said = self.keep(IT, typed.text, &call, &arrays, screen)?;
        Ok(text + &said)
    }

    /// Keeps a value; returns which functions no longer type-check with it.
    fn keep(
        &mut self,
        name: &str,
        text: &str,
        call: &Call,
        arrays: &Arrays,
        screen: Screen,
    ) -> Result<String, Trouble> {
        let kept = Kept::new(name, text, &call.compiled.result, arrays, call.sums())?;
        Ok(told(&self.session.keep(kept)?, screen))
    }

    /// Makes a call of a command's expression. A function is accepted only if `functions_too`, for commands that need no arguments.
    pub fn call(&mut self, typed: Typed<'_>, functions_too: bool) -> Result<Call, Trouble> {
        let place = self.session.next_name();
        let checks = self.session.check(&place, typed)?;
        match expression_type(&checks) {
            Some(Scheme { ty: ty @ Type::Function(..), .. }) if !functions_too => {
                Err(format!("this is a function, of type `{ty}`: apply it to something").into())
            }
            _ => Ok(self.session.call(&checks)?),
        }
    }

    /// Returns the type of an expression.
    pub fn scheme(&mut self, typed: Typed<'_>) -> Result<Scheme, Trouble> {
        let place = self.session.next_name();
        let checks = self.session.check(&place, typed)?;
        let scheme = expression_type(&checks).cloned();
        scheme.ok_or_else(|| format!("`{EXPRESSION}` has no type").into())
    }
}

/// Describes the functions that a change broke or mended, and the values that it removed.
pub fn told(change: &Change, screen: Screen) -> String {
    let mut text = String::new();
    for name in &change.forgotten {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name} is forgotten");
    }
    for name in &change.mended {
        let _ = writeln!(text, "{name} is right again");
    }
    for (name, wrong) in &change.wrong {
        let _ = write!(text, "{name} is wrong now:\n{}", wrong.render(screen.colours));
    }
    text
}
