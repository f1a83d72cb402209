//! Inlay hints: inferred types, shown behind names.

use crate::workspace::{Workspace, name_of};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, Range, Url};

/// Longest hint; longer types are cut, because a hint is shown in a line of the program.
const LONGEST: usize = 60;

/// Returns the types of names that are bound in a range: by `let`, `case` and comprehensions, and by functions without a signature.
pub fn hints(workspace: &mut Workspace, uri: &Url, range: Range) -> Option<Vec<InlayHint>> {
    let analysis = workspace.analysis(&name_of(uri))?;
    let text = analysis.text(analysis.root);
    let wanted = text.bytes(range);
    let binders = analysis.index(analysis.root)?.binders.iter();
    let binders = binders.filter(|binder| binder.hinted && wanted.contains(&(binder.span.start as usize)));
    let hint = |binder: &crate::index::Binder| {
        let ty = match analysis.checked.scheme_of_binding(binder.span) {
            Some(scheme) => scheme.to_string(),
            None => {
                let ty = analysis.checked.type_of_binding(binder.span)?;
                analysis.checked.show_in(binder.function, &ty)
            }
        };
        let cut: String = ty.chars().take(LONGEST).collect();
        let more = if cut.len() < ty.len() { "…" } else { "" };
        Some(InlayHint {
            position: text.position(binder.span.end),
            label: InlayHintLabel::String(format!(" : {cut}{more}")),
            kind: Some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        })
    };
    Some(binders.filter_map(hint).collect())
}
