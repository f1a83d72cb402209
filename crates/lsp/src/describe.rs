//! Descriptions of names, for hovers, completions and signatures: types as they are written, levels as sentences.

use crate::analysis::Analysis;
use crate::index::{NameKind, Occurrence};
use lsp_types::{MarkupContent, MarkupKind};
use pumice_lang::ast::TypeDeclaration;
use pumice_lang::source::Span;
use pumice_lang::types::{FunctionId, Level, Resolved, Scheme, Type};

/// Describes a name with its type, the type at its use if that is another one, and its documentation, in Markdown.
pub fn occurrence(analysis: &Analysis, found: &Occurrence) -> Option<String> {
    let checked = &analysis.checked;
    let name = analysis.program.sources.text(found.span);
    let used = found.expression.and_then(|id| checked.known_type_of(id));
    let (code, ty) = match found.kind {
        NameKind::Module => return module(analysis, found.target),
        NameKind::Type => (declared(analysis, type_at(analysis, found.target)?), None),
        NameKind::Level => (format!("<{name}>"), None),
        NameKind::Field => {
            // The expression of a field is its record.
            let Some(Type::Record(fields)) = &used else { return Some(fenced(&format!(".{name}"))) };
            let ty = fields.iter().find(|(field, _)| &**field == name)?.1.clone();
            (format!(".{name} : {}", checked.show_in(found.function, &ty)), Some(ty))
        }
        NameKind::Parameter | NameKind::Variable => match checked.scheme_of_binding(found.target) {
            Some(scheme) => (format!("{name} : {scheme}"), Some(scheme.ty.clone())),
            None => {
                let ty = checked.type_of_binding(found.target)?;
                (format!("{name} : {}", checked.show_in(found.function, &ty)), Some(ty))
            }
        },
        NameKind::Function | NameKind::Builtin | NameKind::Constructor => {
            let scheme = scheme_at(analysis, found.target, found.kind)?;
            (format!("{name} : {scheme}"), Some(scheme.ty))
        }
    };
    let mut text = fenced(&code);
    let general = code.strip_prefix(name).and_then(|rest| rest.strip_prefix(" : ")).unwrap_or("");
    let here = used.filter(|_| found.kind != NameKind::Field);
    if let Some(here) =
        here.as_ref().map(|ty| checked.show_in(found.function, ty)).filter(|here| here != general)
    {
        text.push_str(&format!("here `{here}`\n\n"));
    }
    if let Some(level) = ty.as_ref().or(here.as_ref()).and_then(given).and_then(level) {
        text.push_str(&format!("{level}\n\n"));
    }
    text.push_str(&documentation(analysis, found.target).map_or_else(String::new, |docs| docs.value));
    Some(text.trim_end().to_string())
}

/// Returns the documentation of the item that is defined at a place. Tests in it are code.
pub fn documentation(analysis: &Analysis, target: Span) -> Option<MarkupContent> {
    let (mut text, mut in_case) = (String::new(), false);
    for line in analysis.docs(target)?.lines() {
        let begins = line.trim_start().starts_with(">>>");
        if begins && !in_case {
            text.push_str("```pum\n");
        } else if in_case && line.trim().is_empty() {
            text.push_str("```\n");
        }
        in_case = begins || (in_case && !line.trim().is_empty());
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(if in_case { "```" } else { "" });
    Some(MarkupContent { kind: MarkupKind::Markdown, value: text.trim_end().to_string() })
}

/// Describes an expression's type.
pub fn expression(analysis: &Analysis, ty: &Type, function: Option<FunctionId>) -> String {
    let text = fenced(&analysis.checked.show_in(function, ty));
    given(ty).and_then(level).map_or(text.clone(), |level| format!("{text}{level}"))
}

fn fenced(code: &str) -> String {
    format!("```pum\n{code}\n```\n")
}

fn module(analysis: &Analysis, target: Span) -> Option<String> {
    let docs = analysis.module(target.file)?.docs.as_deref().unwrap_or("");
    Some(format!("{}{docs}", fenced(&format!("import {}", analysis.module_name(target.file)?))))
}

/// Returns the scheme of the item that is defined at a place.
pub fn scheme_at(analysis: &Analysis, target: Span, kind: NameKind) -> Option<Scheme> {
    let checked = &analysis.checked;
    let name = analysis.program.sources.text(target);
    match kind {
        NameKind::Function => {
            checked.scheme_of(&Resolved::Function(checked.function_named(target.file, name)?))
        }
        NameKind::Builtin => checked.scheme_of_builtin(name),
        _ => {
            let values = checked.values_of(target.file).into_iter();
            let mut values = values.filter(|(_, meaning)| matches!(meaning, Resolved::Constructor(..)));
            checked.scheme_of(&values.find(|(known, _)| &**known == name)?.1)
        }
    }
}

/// Returns the type that is declared at a place.
pub fn type_at(analysis: &Analysis, target: Span) -> Option<&TypeDeclaration> {
    analysis.module(target.file)?.types.iter().find(|declaration| declaration.name.span == target)
}

/// Returns a declaration as it is written.
pub fn declared(analysis: &Analysis, declaration: &TypeDeclaration) -> String {
    let text = analysis.program.sources.text(declaration.span);
    let start = text.find("type ").unwrap_or(0);
    text.get(start..).unwrap_or(text).to_string()
}

/// Returns the type that a function gives when it has all its arguments; a type that is not a function, as it is.
pub fn given(mut ty: &Type) -> Option<&Type> {
    while let Type::Function(_, result) | Type::LevelFunction(_, result) = ty {
        ty = result;
    }
    Some(ty)
}

/// Describes the execution scope that computes the elements of a push array.
fn level(ty: &Type) -> Option<String> {
    let Type::Array { level: Some(level), .. } = ty else { return None };
    Some(match level {
        Level { variable: None, above: 0 } => {
            "An array of a thread: it computes the elements one after the other.".to_string()
        }
        Level { variable: None, above: 1 } => {
            "An array of the warp: its threads compute the elements.".to_string()
        }
        Level { variable: None, above: 2 } => {
            "An array of the block: its threads compute the elements.".to_string()
        }
        Level { variable: None, above: 3 } => {
            "An array of the grid: a kernel, whose blocks compute the elements.".to_string()
        }
        other => format!("An array of a level (`{other}`): the threads of that level compute the elements."),
    })
}

/// Whether a type, or the result of a function type, is a push array of the grid.
pub fn is_kernel(ty: &Type) -> bool {
    matches!(given(ty), Some(Type::Array { level: Some(Level { variable: None, above: 3 }), .. }))
}
