//! Code actions that an editor offers: the changes that diagnostics propose, and inferred signatures.

use crate::analysis::Analysis;
use crate::workspace::{Workspace, name_of};
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Url, WorkspaceEdit};
use pumice_lang::source::Span;
use pumice_lang::types::Resolved;
use std::collections::HashMap;

/// Returns the code actions for a range.
pub fn actions(workspace: &mut Workspace, uri: &Url, range: Range) -> Option<Vec<CodeActionOrCommand>> {
    let analysis = workspace.analysis(&name_of(uri))?;
    let text = analysis.text(analysis.root);
    let wanted = text.bytes(range);
    let touches = |span: Span| {
        span.file == analysis.root && span.start as usize <= wanted.end && wanted.start <= span.end as usize
    };
    let mut actions = Vec::new();
    for error in analysis.errors.iter().filter(|error| touches(error.span)) {
        if let Some(fix) = &error.fix {
            actions.push(action(&analysis, uri, &fix.title, CodeActionKind::QUICKFIX, &fix.edits));
        }
    }
    let module = analysis.module(analysis.root)?;
    for function in module.functions.iter().filter(|function| touches(function.name.span)) {
        let name = &function.name.name;
        let signed = module.signatures.iter().any(|signature| signature.name.name == *name);
        let id = analysis.checked.function_named(analysis.root, name);
        let scheme = id.and_then(|id| analysis.checked.scheme_of(&Resolved::Function(id)));
        if let Some(scheme) = scheme.filter(|_| !signed) {
            let edit = (function.span.before(), format!("sig {name} : {scheme}\n"));
            let title = format!("write the signature of `{name}`");
            actions.push(action(&analysis, uri, &title, CodeActionKind::REFACTOR_REWRITE, &[edit]));
        }
    }
    Some(actions)
}

fn action(
    analysis: &Analysis,
    uri: &Url,
    title: &str,
    kind: CodeActionKind,
    edits: &[(Span, String)],
) -> CodeActionOrCommand {
    let text = analysis.text(analysis.root);
    let edit =
        |(span, new_text): &(Span, String)| TextEdit { range: text.range(*span), new_text: new_text.clone() };
    let changes = HashMap::from([(uri.clone(), edits.iter().map(edit).collect())]);
    CodeActionOrCommand::CodeAction(CodeAction {
        title: title.to_string(),
        kind: Some(kind),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    })
}
