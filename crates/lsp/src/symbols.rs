//! Symbols that files declare: outlines, and the search for a name in all of them.

use crate::analysis::Analysis;
use crate::workspace::{Workspace, name_of};
use lsp_types::{DocumentSymbol, SymbolInformation, SymbolKind, Url};
use pumice_lang::ast::{Ident, Module, TypeDeclaration, TypeDeclarationKind, TypeExprKind};
use pumice_lang::source::{FileId, Span};
use pumice_lang::types::Resolved;
use std::collections::BTreeSet;

/// Maximum number of symbols that a search returns.
const MOST_FOUND: usize = 1_000;

/// Returns the outline of a file.
pub fn outline(workspace: &mut Workspace, uri: &Url) -> Option<Vec<DocumentSymbol>> {
    let analysis = workspace.analysis(&name_of(uri))?;
    let module = analysis.module(analysis.root)?;
    let mut symbols: Vec<(u32, DocumentSymbol)> = Vec::new();
    for function in &module.functions {
        let id = analysis.checked.function_named(analysis.root, &function.name.name);
        let scheme = id.and_then(|id| analysis.checked.scheme_of(&Resolved::Function(id)));
        let detail = scheme.map(|scheme| scheme.to_string());
        let whole = function_span(module, function.span, &function.name);
        symbols.push((whole.start, symbol(&analysis, &function.name, whole, SymbolKind::FUNCTION, detail)));
    }
    for declaration in &module.types {
        symbols.push((declaration.span.start, type_symbol(&analysis, declaration)));
    }
    symbols.sort_by_key(|(start, _)| *start);
    Some(symbols.into_iter().map(|(_, symbol)| symbol).collect())
}

/// Returns the span of a function with the signature before it.
fn function_span(module: &Module, span: Span, name: &Ident) -> Span {
    let before = module.signatures.iter().filter(|signature| signature.span.end <= span.start);
    let last = before.max_by_key(|signature| signature.span.end);
    last.filter(|signature| signature.name.name == name.name)
        .map_or(span, |signature| signature.span.to(span))
}

fn type_symbol(analysis: &Analysis, declaration: &TypeDeclaration) -> DocumentSymbol {
    let (kind, children) = match &declaration.kind {
        TypeDeclarationKind::Sum(constructors) => {
            let child =
                |(name, _): &(Ident, _)| symbol(analysis, name, name.span, SymbolKind::ENUM_MEMBER, None);
            (SymbolKind::ENUM, constructors.iter().map(child).collect())
        }
        TypeDeclarationKind::Alias(body) => match &body.kind {
            TypeExprKind::Record(fields) => {
                let child =
                    |(name, _): &(Ident, _)| symbol(analysis, name, name.span, SymbolKind::FIELD, None);
                (SymbolKind::STRUCT, fields.iter().map(child).collect())
            }
            _ => (SymbolKind::STRUCT, Vec::new()),
        },
    };
    let mut symbol = symbol(analysis, &declaration.name, declaration.span, kind, None);
    symbol.children = Some(children);
    symbol
}

#[allow(deprecated)] // A field of the protocol that must be there.
fn symbol(
    analysis: &Analysis,
    name: &Ident,
    span: Span,
    kind: SymbolKind,
    detail: Option<String>,
) -> DocumentSymbol {
    let text = analysis.text(analysis.root);
    // An item whose name is missing is shown all the same.
    let called = if name.name.is_empty() { "?" } else { &name.name };
    DocumentSymbol {
        name: called.to_string(),
        detail,
        kind,
        tags: None,
        deprecated: None,
        range: text.range(span.to(name.span)),
        selection_range: text.range(name.span),
        children: None,
    }
}

/// Searches all files that are open or imported for symbols whose name has these letters in this order.
pub fn search(workspace: &mut Workspace, query: &str) -> Vec<SymbolInformation> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for analysis in workspace.analyses() {
        for file in analysis.files() {
            if seen.insert(analysis.name_of(file).to_string()) {
                add_matching(workspace, &analysis, file, query, &mut found);
            }
        }
    }
    found.truncate(MOST_FOUND);
    found
}

fn add_matching(
    workspace: &Workspace,
    analysis: &Analysis,
    file: FileId,
    query: &str,
    found: &mut Vec<SymbolInformation>,
) {
    let Some(module) = analysis.module(file) else { return };
    let functions = module.functions.iter().map(|function| (&function.name, SymbolKind::FUNCTION));
    let types = module.types.iter().map(|declaration| (&declaration.name, SymbolKind::STRUCT));
    let constructors = module.types.iter().flat_map(|declaration| match &declaration.kind {
        TypeDeclarationKind::Sum(constructors) => &constructors[..],
        TypeDeclarationKind::Alias(_) => &[],
    });
    let constructors = constructors.map(|(name, _)| (name, SymbolKind::ENUM_MEMBER));
    for (name, kind) in
        functions.chain(types).chain(constructors).filter(|(name, _)| matches(query, &name.name))
    {
        let Some(location) = workspace.location(analysis, name.span) else { continue };
        #[allow(deprecated)] // A field of the protocol that must be there.
        found.push(SymbolInformation {
            name: name.name.to_string(),
            kind,
            tags: None,
            deprecated: None,
            location,
            container_name: analysis.module_name(file).map(|name| name.to_string()),
        });
    }
}

fn matches(query: &str, name: &str) -> bool {
    let mut letters = name.chars().map(|letter| letter.to_ascii_lowercase());
    query.chars().all(|wanted| letters.any(|letter| letter == wanted.to_ascii_lowercase()))
}
