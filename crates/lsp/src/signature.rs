//! Signature help: the function that is being applied, and the argument that is being written.

use crate::analysis::Analysis;
use crate::complete::MARKER;
use crate::describe::documentation;
use crate::index::contains;
use crate::workspace::{Workspace, name_of};
use lsp_types::{
    Documentation, ParameterInformation, ParameterLabel, Position, SignatureHelp, SignatureInformation, Url,
};
use pumice_lang::types::{Scheme, Type};

/// Returns the function around a position, with its parameters, and the number of the one at the position.
pub fn help(workspace: &mut Workspace, uri: &Url, position: Position) -> Option<SignatureHelp> {
    let name = name_of(uri);
    let document = workspace.document(&name)?;
    let offset = document.text.offset(position);
    // An argument that is not there yet: with a marker in its place the text has an application around it.
    let mut text = document.text.as_str().to_string();
    let behind_blank = document.text.word_start(offset) == offset;
    if behind_blank {
        text.insert_str(offset as usize, &format!("{MARKER} "));
    }
    let analysis = workspace.analyse(&name, &text);
    let index = analysis.index(analysis.root)?;
    let around = index
        .applications
        .iter()
        .filter(|application| contains(application.span, offset) && offset > application.head_span.end);
    let application = around.min_by_key(|application| application.span.end - application.span.start)?;
    let active = application.arguments.iter().filter(|argument| argument.end < offset).count();
    let head = analysis.program.sources.text(application.head_span);
    let scheme = match analysis.checked.resolved(application.head) {
        Some(meaning) => analysis.checked.scheme_of(&meaning),
        None => None,
    };
    let local = || {
        let place = analysis.checked.binding(application.head)?;
        let ty = analysis.checked.type_of_binding(place)?;
        Some(Scheme { variables: Vec::new(), ty })
    };
    Some(signature(&analysis, head, &scheme.or_else(local)?, application.head, active))
}

fn signature(
    analysis: &Analysis,
    name: &str,
    scheme: &Scheme,
    head: pumice_lang::ast::ExprId,
    active: usize,
) -> SignatureHelp {
    let label = format!("{name} : {scheme}");
    let place = analysis.checked.definition(head);
    let documentation =
        place.and_then(|place| documentation(analysis, place)).map(Documentation::MarkupContent);
    let parameters = parameters(&label, scheme);
    let count = parameters.len();
    let signature = SignatureInformation {
        label,
        documentation,
        parameters: Some(parameters),
        active_parameter: Some(active.min(count.saturating_sub(1)) as u32),
    };
    SignatureHelp { signatures: vec![signature], active_signature: Some(0), active_parameter: None }
}

/// Returns the ranges of a scheme's parameters in its text: between arrows that are outside of brackets.
fn parameters(label: &str, scheme: &Scheme) -> Vec<ParameterInformation> {
    let (mut ty, mut count) = (&scheme.ty, 0);
    while let Type::Function(_, result) | Type::LevelFunction(_, result) = ty {
        (ty, count) = (result, count + 1);
    }
    let start = label.find("=> ").map(|at| at + 3).or(label.find(" : ").map(|at| at + 3)).unwrap_or(0);
    let (mut nested, mut from, mut places) = (0i32, start, Vec::new());
    let bytes = label.as_bytes();
    for at in start..bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => nested += 1,
            b')' | b']' | b'}' => nested -= 1,
            b'-' if nested == 0 && bytes.get(at + 1) == Some(&b'>') => {
                places.push((from, at.saturating_sub(1)));
                from = at + 3;
            }
            _ => {}
        }
    }
    let units = |at: usize| label.get(..at).map_or(0, |before| before.encode_utf16().count()) as u32;
    let label = |(from, to): (usize, usize)| ParameterLabel::LabelOffsets([units(from), units(to)]);
    let parameter = |place| ParameterInformation { label: label(place), documentation: None };
    places.into_iter().take(count).map(parameter).collect()
}
