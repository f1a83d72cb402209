//! The names of a session and their meanings, for `:doc`, `:list`, `:save` and completion.

use super::kept::Kept;
use super::session::Session;
use crate::pum::file::Checks;
use pumice_lang::ast::Module;
use pumice_lang::source::Span;
use pumice_lang::syntax::tokens;
use std::fmt::Write;

/// A name with its type and documentation.
struct Known {
    /// The name as uses write it.
    name: String,
    /// The name with its type.
    line: String,
    docs: String,
}

/// Returns everything that has a name, the session's own names first.
fn known(checks: &Checks) -> Vec<Known> {
    let Checks { program, checked } = checks;
    let mut found = Vec::new();
    for (number, loaded) in program.modules.iter().enumerate().rev() {
        let is_own = number + 1 == program.modules.len();
        let prefix = match is_own || loaded.is_built_in() {
            true => String::new(),
            false => format!("{}::", loaded.name),
        };
        let module = &loaded.module;
        for id in checked.functions() {
            let (function, file) = checked.function(id);
            if file != loaded.file {
                continue;
            }
            let name = format!("{prefix}{}", function.name.name);
            let line = format!("{name} : {}", checked.scheme(id));
            let docs = docs_of(module, &function.name.name).unwrap_or_default();
            found.push(Known { name, line, docs });
        }
        // Signatures of the first file are functions of the language itself.
        for signature in module.signatures.iter().filter(|_| number == 0) {
            let Some(scheme) = checked.scheme_of_builtin(&signature.name.name) else { continue };
            let name = signature.name.name.to_string();
            let line = format!("{name} : {scheme}");
            found.push(Known { name, line, docs: signature.docs.clone().unwrap_or_default() });
        }
        for declared in &module.types {
            let line = program.sources.text(declared.span).to_string();
            let name = format!("{prefix}{}", declared.name.name);
            found.push(Known { name, line, docs: declared.docs.clone().unwrap_or_default() });
        }
    }
    found
}

fn docs_of(module: &Module, name: &str) -> Option<String> {
    let signature = module.signatures.iter().find(|item| &*item.name.name == name);
    let function = module.functions.iter().find(|item| &*item.name.name == name);
    signature.and_then(|item| item.docs.clone()).or_else(|| function.and_then(|item| item.docs.clone()))
}

/// Returns all names that can be used.
pub fn all(session: &Session) -> Vec<String> {
    known(session.program()).into_iter().map(|known| known.name).collect()
}

/// Returns the text of `:doc` for a name, if the name exists.
pub fn doc(session: &Session, name: &str) -> Option<String> {
    let known = known(session.program()).into_iter().find(|known| known.name == name)?;
    let docs: String = known.docs.lines().map(|line| format!("  {line}\n")).collect();
    Some(format!("{}\n{docs}", known.line))
}

/// Returns the text of `:list`: the session's own names, and functions with errors.
pub fn list(session: &Session) -> String {
    let program = session.program();
    let module = program.program.modules.last().map(|loaded| loaded.module.clone()).unwrap_or_default();
    let mut text = String::new();
    if let Some(file) = session.file() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "-- {file}");
    }
    for import in &module.imports {
        let _ = writeln!(text, "{}", program.program.sources.text(import.span));
    }
    let own = module.functions.len() + module.types.len();
    for known in known(program).into_iter().take(own) {
        let is_value = session.values().iter().any(|value| value.given.name == known.name);
        let _ = writeln!(text, "{}{}", known.line, if is_value { " (a value)" } else { "" });
    }
    for name in session.set_aside() {
        let _ = writeln!(text, "{name} (wrong, and not used)");
    }
    text
}

/// Returns all definitions as the text of a file. Values are written as the expressions that computed them.
pub fn source(session: &Session) -> String {
    let program = &session.program().program;
    let module = program.modules.last().map(|loaded| loaded.module.clone()).unwrap_or_default();
    let mut items: Vec<(Span, String)> = Vec::new();
    let mut add = |docs: &Option<String>, span: Span| {
        let docs = docs.iter().flat_map(|docs| docs.lines());
        let docs: String = docs.map(|line| format!("-- {line}").trim_end().to_string() + "\n").collect();
        items.push((span, format!("{docs}{}\n", program.sources.text(span))));
    };
    let value = |name: &str| session.values().iter().find(|value| value.given.name == name);
    module.imports.iter().for_each(|item| add(&None, item.span));
    module.types.iter().for_each(|item| add(&item.docs, item.span));
    let signatures = module.signatures.iter().filter(|item| value(&item.name.name).is_none());
    signatures.for_each(|item| add(&item.docs, item.span));
    let functions = module.functions.iter().filter(|item| value(&item.name.name).is_none());
    functions.for_each(|item| add(&item.docs, item.span));
    items.sort_by_key(|(span, _)| (span.file, span.start));
    let values =
        session.values().iter().filter(|value| value.given.name != super::answer::IT).map(definition);
    let texts: Vec<String> = items.into_iter().map(|(_, text)| text).chain(values).collect();
    let mut text = String::new();
    for item in &texts {
        // A signature stands above its function.
        let is_above = text.lines().next_back().is_some_and(|line| line.starts_with("sig "));
        text.push_str(if text.is_empty() || is_above { "" } else { "\n" });
        text.push_str(item);
    }
    text
}

/// Returns a value as a function definition. A value computed from an earlier value of the same name has none.
fn definition(value: &Kept) -> String {
    let (name, text) = (&value.given.name, value.text.trim());
    match tokens(text).any(|(_, word)| word == name) {
        true => format!("-- {name} was computed of an earlier {name}: {}\n", text.replace('\n', " ")),
        false => format!("fun {name} = {text}\n"),
    }
}
