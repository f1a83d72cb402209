//! Hovers for the name or expression at a position: its type, its documentation, and the cost of running a function.

use crate::analysis::Analysis;
use crate::cost::Subject;
use crate::describe;
use crate::index::NameKind;
use crate::workspace::Workspace;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position, Range, Url};
use pumice_lang::program::is_standard;

/// A hover before the cost of its function is known.
pub struct Said {
    /// The text, in Markdown.
    pub text: String,
    /// The range of the name or expression.
    pub range: Range,
    /// The function whose cost belongs to the hover.
    pub subject: Option<Subject>,
}

impl Said {
    /// Returns the hover in the form of the protocol, with the cost that came late.
    pub fn hover(self, more: &str) -> Hover {
        let value = match more {
            "" => self.text,
            more => format!("{}\n\n---\n{more}", self.text),
        };
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Hover { contents, range: Some(self.range) }
    }
}

/// Returns the hover at a position.
pub fn hover(workspace: &mut Workspace, uri: &Url, position: Position) -> Option<Said> {
    let (analysis, offset) = workspace.at(uri, position)?;
    let index = analysis.index(analysis.root)?;
    let text = analysis.text(analysis.root);
    if let Some(found) = index.at(offset) {
        let said = describe::occurrence(&analysis, found)?;
        let subject = if found.kind == NameKind::Function { subject(&analysis, found.target) } else { None };
        return Some(Said { text: said, range: text.range(found.span), subject });
    }
    // There is no hover between words.
    let here = text.get(offset as usize..text.as_str().len()).chars().next()?;
    if here.is_whitespace() {
        return None;
    }
    let (span, id, function) = index.expression_at(offset)?;
    let ty = analysis.checked.known_type_of(id)?;
    Some(Said {
        text: describe::expression(&analysis, &ty, function),
        range: text.range(span),
        subject: None,
    })
}

/// Returns a function whose cost can be computed: the program has no errors, and the function is the user's.
fn subject(analysis: &Analysis, target: pumice_lang::source::Span) -> Option<Subject> {
    if !analysis.errors.is_empty() || is_standard(target.file) {
        return None;
    }
    let name = analysis.program.sources.text(target);
    let function = analysis.checked.function_named(target.file, name)?;
    Some(Subject { program: analysis.program.clone(), checked: analysis.checked.clone(), function })
}
