//! Definitions and uses of names: definition, references, highlights, renaming. A name is identified by its definition, so that the
//! same name is found in the programs of several open files.

use crate::analysis::Analysis;
use crate::index::{NameKind, Occurrence};
use crate::workspace::Workspace;
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, Location, Position, Range, TextEdit, Url, WorkspaceEdit,
};
use pumice_lang::program::is_standard;
use pumice_lang::source::{FileId, Span};
use pumice_lang::syntax::{SyntaxKind, parse};
use pumice_lang::types::Resolved;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Returns the definition of the name at a position.
pub fn definition(workspace: &mut Workspace, uri: &Url, position: Position) -> Option<Location> {
    let (analysis, offset) = workspace.at(uri, position)?;
    let found = analysis.index(analysis.root)?.at(offset)?;
    workspace.location(&analysis, found.target)
}

/// Returns the uses of the name at a position.
pub fn references(
    workspace: &mut Workspace,
    uri: &Url,
    position: Position,
    with_definition: bool,
) -> Option<Vec<Location>> {
    let (analysis, offset) = workspace.at(uri, position)?;
    let target = analysis.index(analysis.root)?.at(offset)?.target;
    let uses = uses(workspace, &analysis, target);
    let uses = uses.into_iter().filter(|found| with_definition || !found.is_definition);
    Some(uses.map(|found| Location { uri: found.uri, range: found.range }).collect())
}

/// Returns the uses of the name at a position in the same file.
pub fn highlights(
    workspace: &mut Workspace,
    uri: &Url,
    position: Position,
) -> Option<Vec<DocumentHighlight>> {
    let (analysis, offset) = workspace.at(uri, position)?;
    let index = analysis.index(analysis.root)?;
    let target = index.at(offset)?.target;
    let same = index.occurrences.iter().filter(|found| found.target == target);
    let text = analysis.text(analysis.root);
    let highlight = |found: &Occurrence| DocumentHighlight {
        range: text.range(found.span),
        kind: Some(match found.span == target {
            true => DocumentHighlightKind::WRITE,
            false => DocumentHighlightKind::READ,
        }),
    };
    Some(same.map(highlight).collect())
}

/// A use of a name, in the form of the protocol.
struct Use {
    uri: Url,
    range: Range,
    is_definition: bool,
    is_pun: bool,
}

/// Returns all names, in all programs of open files, that refer to the definition at a place.
fn uses(workspace: &mut Workspace, of: &Analysis, target: Span) -> Vec<Use> {
    let name = of.name_of(target.file).to_string();
    let (mut seen, mut uses) = (BTreeSet::new(), Vec::new());
    for analysis in workspace.analyses() {
        let file = match is_standard(target.file) {
            true => Some(target.file),
            false => analysis.file_named(&name),
        };
        // A program that does not have the file cannot mention it.
        let Some(file) = file else { continue };
        let target = Span { file, ..target };
        for file in analysis.files() {
            let Some(index) = analysis.index(file) else { continue };
            for found in index.occurrences.iter().filter(|found| found.target == target) {
                let Some(Location { uri, range }) = workspace.location(&analysis, found.span) else {
                    continue;
                };
                if seen.insert((uri.clone(), range.start.line, range.start.character)) {
                    uses.push(Use { uri, range, is_definition: found.span == target, is_pun: found.is_pun });
                }
            }
        }
    }
    uses
}

/// Returns the range of the name at a position if it can be renamed, or why it cannot.
pub fn prepare_rename(workspace: &mut Workspace, uri: &Url, position: Position) -> Result<Range, String> {
    let (analysis, offset) = workspace.at(uri, position).ok_or("this file is not open")?;
    let found = renamed(&analysis, offset)?;
    Ok(analysis.text(analysis.root).range(found.span))
}

fn renamed(analysis: &Analysis, offset: u32) -> Result<&Occurrence, String> {
    let found = analysis.index(analysis.root).and_then(|index| index.at(offset));
    let found = found.ok_or("no name that can be changed is here")?;
    match found.kind {
        _ if is_standard(found.target.file) => {
            Err("this belongs to the language and keeps its name".to_string())
        }
        NameKind::Field => {
            Err("fields are part of a record's type, wherever that is written: change them by hand"
                .to_string())
        }
        NameKind::Module => Err("this is the name of a file: rename the file".to_string()),
        _ => Ok(found),
    }
}

/// Returns the edits that rename the name at a position, or why they cannot be made.
pub fn rename(
    workspace: &mut Workspace,
    uri: &Url,
    position: Position,
    new: &str,
) -> Result<WorkspaceEdit, String> {
    let (analysis, offset) = workspace.at(uri, position).ok_or("this file is not open")?;
    let found = renamed(&analysis, offset)?.clone();
    let old = analysis.program.sources.text(found.span).to_string();
    check_word(new, found.kind)?;
    let mut changes: BTreeMap<Url, Vec<TextEdit>> = BTreeMap::new();
    for Use { uri, range, is_pun, .. } in uses(workspace, &analysis, found.target) {
        let new_text = if is_pun { format!("{old} = {new}") } else { new.to_string() };
        changes.entry(uri).or_default().push(TextEdit { range, new_text });
    }
    check_meanings(workspace, &analysis, &changes, (&found, new))?;
    let changes: HashMap<Url, Vec<TextEdit>> = changes.into_iter().collect();
    Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

/// Checks that a word can be a name of this kind.
fn check_word(word: &str, kind: NameKind) -> Result<(), String> {
    let upper = matches!(kind, NameKind::Constructor | NameKind::Type);
    let wanted = if upper { SyntaxKind::Upper } else { SyntaxKind::Lower };
    let tokens = parse(FileId(0), word, &mut 0).syntax;
    let mut tokens = tokens.descendants_with_tokens().filter_map(|part| part.into_token());
    let first = tokens.next().map(|token| token.kind());
    match (first, tokens.next()) {
        (Some(kind), None) if kind == wanted => Ok(()),
        (Some(SyntaxKind::Lower | SyntaxKind::Upper), None) => {
            let (what, letter) =
                if upper { ("constructors and types", "an upper") } else { ("names of values", "a lower") };
            Err(format!("{what} begin with {letter}-case letter, and `{word}` does not"))
        }
        (Some(_), None) if word.chars().all(|sign| sign.is_ascii_lowercase()) => {
            Err(format!("`{word}` is a word of the language"))
        }
        _ => Err(format!("`{word}` is no name: names are letters, digits, `_` and `'`")),
    }
}

/// Checks that names mean the same after a change: the changed files have as many uses of it as before, and no more errors.
fn check_meanings(
    workspace: &mut Workspace,
    analysis: &Analysis,
    changes: &BTreeMap<Url, Vec<TextEdit>>,
    (found, new): (&Occurrence, &str),
) -> Result<(), String> {
    let values = analysis.checked.values_of(found.target.file);
    let is_global = matches!(found.kind, NameKind::Function | NameKind::Constructor);
    if is_global && values.iter().any(|(name, _)| &**name == new) {
        return Err(format!("`{new}` is defined in the same file already"));
    }
    let visible = analysis.checked.values_in_scope(analysis.root);
    if visible.iter().any(|(name, meaning)| &**name == new && matches!(meaning, Resolved::Builtin(_))) {
        return Err(format!("`{new}` is a name of the language"));
    }
    let errors = |workspace: &mut Workspace| -> usize {
        workspace.analyses().iter().map(|analysis| analysis.errors.len()).sum()
    };
    let before = errors(&mut changed(workspace, &BTreeMap::new()));
    let mut changed = changed(workspace, changes);
    let count = workspace.uri(analysis, analysis.root).and_then(|uri| {
        let order = |edit: &&TextEdit| (edit.range.start.line, edit.range.start.character);
        let first = changes.get(&uri)?.iter().min_by_key(order)?;
        let after = changed.analysis(analysis.name_of(analysis.root))?;
        // Behind the field, where the variable had its name.
        let offset =
            after.text(after.root).offset(first.range.start) + (first.new_text.len() - new.len()) as u32;
        let target = after.index(after.root)?.at(offset + 1)?.target;
        Some(uses(&mut changed, &after, target).len())
    });
    match count == Some(changes.values().map(Vec::len).sum()) && errors(&mut changed) <= before {
        true => Ok(()),
        false => Err(format!("`{new}` is a name of something else where this is used")),
    }
}

/// Opens all files of the programs of open files in a new workspace, with changes.
fn changed(workspace: &mut Workspace, changes: &BTreeMap<Url, Vec<TextEdit>>) -> Workspace {
    let mut changed = Workspace::default();
    for analysis in workspace.analyses() {
        for file in analysis.files() {
            let Some(uri) = workspace.uri(&analysis, file) else { continue };
            let text = analysis.text(file);
            let mut edits: Vec<&TextEdit> = changes.get(&uri).into_iter().flatten().collect();
            edits.sort_by_key(|edit| (edit.range.start.line, edit.range.start.character));
            let mut new = text.as_str().to_string();
            edits.iter().rev().for_each(|edit| new.replace_range(text.bytes(edit.range), &edit.new_text));
            changed.open(uri, 0, new);
        }
    }
    changed
}
