//! Layout of a file: formatting, of all of it or of the items in a range, and folding ranges.

use crate::analysis::Analysis;
use crate::workspace::{Workspace, name_of};
use lsp_types::{FoldingRange, FoldingRangeKind, Range, TextEdit, Url};
use pumice_lang::format::format;
use pumice_lang::syntax::{SyntaxKind, SyntaxNode};

/// Returns the edits that format a file; `None` if it cannot be parsed.
pub fn whole(workspace: &Workspace, uri: &Url) -> Option<Vec<TextEdit>> {
    let text = &workspace.document(&name_of(uri))?.text;
    let formatted = format(text.as_str()).ok()?;
    Some(text.edit_to(&formatted).into_iter().collect())
}

/// Returns the edits that format the items in a range, each by itself.
pub fn range(workspace: &mut Workspace, uri: &Url, range: Range) -> Option<Vec<TextEdit>> {
    let analysis = workspace.analysis(&name_of(uri))?;
    let text = analysis.text(analysis.root);
    let wanted = text.bytes(range);
    let items = analysis.tree().children().filter(|item| {
        let range = item.text_range();
        usize::from(range.start()) <= wanted.end && wanted.start <= usize::from(range.end())
    });
    let edit = |item: SyntaxNode| {
        let place = item.text_range();
        let item = item.text().to_string();
        let formatted = format(&item).ok()?;
        let new_text = formatted.trim_end().to_string();
        let range =
            Range { start: text.position(place.start().into()), end: text.position(place.end().into()) };
        (new_text != item).then_some(TextEdit { range, new_text })
    };
    Some(items.filter_map(edit).collect())
}

/// Returns the folding ranges: items, branches, brackets, and comments of several lines.
pub fn folds(workspace: &mut Workspace, uri: &Url) -> Option<Vec<FoldingRange>> {
    let analysis = workspace.analysis(&name_of(uri))?;
    let mut folds = comments(&analysis);
    for node in analysis.tree().descendants().filter(|node| folds_away(node.kind())) {
        let (start, end) = (node.text_range().start(), node.text_range().end());
        folds.extend(fold(&analysis, start.into(), end.into(), None));
    }
    folds.sort_by_key(|fold| (fold.start_line, fold.end_line));
    folds.dedup_by_key(|fold| fold.start_line);
    Some(folds)
}

fn folds_away(kind: SyntaxKind) -> bool {
    use SyntaxKind::*;
    matches!(
        kind,
        Function
            | Signature
            | TypeDeclaration
            | Let
            | Case
            | If
            | Fn
            | Tuple
            | List
            | Record
            | Comprehension
            | RecordType
    )
}

fn fold(analysis: &Analysis, start: u32, end: u32, kind: Option<FoldingRangeKind>) -> Option<FoldingRange> {
    let text = analysis.text(analysis.root);
    let (start_line, end_line) = (text.position(start).line, text.position(end).line);
    (start_line < end_line).then(|| FoldingRange { start_line, end_line, kind, ..FoldingRange::default() })
}

/// Returns the folding ranges of comments on consecutive lines.
fn comments(analysis: &Analysis) -> Vec<FoldingRange> {
    let text = analysis.text(analysis.root);
    let mut folds = Vec::new();
    let mut run: Option<(u32, u32)> = None;
    for (number, line) in (0..).zip(text.as_str().lines()) {
        let is_comment = line.trim_start().starts_with("--");
        run = match (run, is_comment) {
            (Some((first, _)), true) => Some((first, number)),
            (None, true) => Some((number, number)),
            (before, false) => {
                folds.extend(before);
                None
            }
        };
    }
    folds.extend(run);
    let folds = folds.into_iter().filter(|(first, last)| first < last);
    let kind = Some(FoldingRangeKind::Comment);
    folds
        .map(|(start_line, end_line)| FoldingRange {
            start_line,
            end_line,
            kind: kind.clone(),
            ..FoldingRange::default()
        })
        .collect()
}
