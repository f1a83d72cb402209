//! Diagnostics in the form of the protocol: both places, and what to write instead.

use crate::analysis::Analysis;
use crate::workspace::Workspace;
use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Url};
use pumice_lang::diagnostic::Diagnostic;
use std::collections::BTreeMap;

/// Groups all errors of a program by file. The file itself always has an entry, which is empty if there are no errors.
pub fn by_file(workspace: &Workspace, analysis: &Analysis) -> BTreeMap<Url, Vec<lsp_types::Diagnostic>> {
    let mut all: BTreeMap<Url, Vec<lsp_types::Diagnostic>> = BTreeMap::new();
    if let Some(uri) = workspace.uri(analysis, analysis.root) {
        all.insert(uri, Vec::new());
    }
    for error in &analysis.errors {
        if let Some(uri) = workspace.uri(analysis, error.span.file) {
            all.entry(uri).or_default().push(told(workspace, analysis, error));
        }
    }
    all
}

fn told(workspace: &Workspace, analysis: &Analysis, error: &Diagnostic) -> lsp_types::Diagnostic {
    let mut message = error.message.clone();
    for more in
        [Some(&error.label), error.help.as_ref()].into_iter().flatten().filter(|more| !more.is_empty())
    {
        message.push('\n');
        message.push_str(more);
    }
    let related = error.others.iter().filter_map(|(span, label)| {
        let location = workspace.location(analysis, *span)?;
        Some(DiagnosticRelatedInformation { location, message: label.clone() })
    });
    lsp_types::Diagnostic {
        range: analysis.text(error.span.file).range(error.span),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("pumice".to_string()),
        message,
        related_information: Some(related.collect()),
        ..lsp_types::Diagnostic::default()
    }
}
