//! Semantic tokens: colours that depend on the meaning of a name.

use crate::index::{NameKind, Occurrence};
use crate::workspace::{Workspace, name_of};
use lsp_types::{
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend, Url,
};
use pumice_lang::program::is_standard;
use pumice_lang::source::Span;
use pumice_lang::syntax::{SyntaxKind, SyntaxToken};
use std::collections::HashMap;

const TYPES: [SemanticTokenType; 12] = [
    SemanticTokenType::COMMENT,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::NUMBER,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::TYPE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::TYPE_PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::NAMESPACE,
];

/// Returns the legend of token types and modifiers, by number.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: vec![SemanticTokenModifier::DECLARATION, SemanticTokenModifier::DEFAULT_LIBRARY],
    }
}

/// Returns the tokens of a file, or of a range of it.
pub fn tokens(workspace: &mut Workspace, uri: &Url, range: Option<Range>) -> Option<SemanticTokens> {
    let analysis = workspace.analysis(&name_of(uri))?;
    let text = analysis.text(analysis.root);
    let wanted = range.map_or(0..text.as_str().len(), |range| text.bytes(range));
    let names = analysis.index(analysis.root)?.occurrences.iter();
    let names: HashMap<u32, &Occurrence> = names.map(|found| (found.span.start, found)).collect();
    let all = analysis.tree().descendants_with_tokens().filter_map(|part| part.into_token());
    let mut data = Vec::new();
    let (mut line, mut character) = (0, 0);
    for token in all {
        let place = token.text_range();
        let (start, end) = (u32::from(place.start()), u32::from(place.end()));
        if (start as usize) < wanted.start || (start as usize) > wanted.end {
            continue;
        }
        let Some((ty, modifiers)) = classify(&token, names.get(&start).copied()) else { continue };
        let at = text.range(Span { file: analysis.root, start, end });
        let delta_line = at.start.line - line;
        let delta_start = if delta_line == 0 { at.start.character - character } else { at.start.character };
        (line, character) = (at.start.line, at.start.character);
        let length = token.text().trim_end().encode_utf16().count() as u32;
        let token_type = TYPES.iter().position(|known| *known == ty).unwrap_or(0) as u32;
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type,
            token_modifiers_bitset: modifiers,
        });
    }
    Some(SemanticTokens { result_id: None, data })
}

fn classify(token: &SyntaxToken, name: Option<&Occurrence>) -> Option<(SemanticTokenType, u32)> {
    use SyntaxKind::*;
    let parent = token.parent().map_or(Root, |parent| parent.kind());
    if let Some(name) = name {
        let declares = u32::from(name.span == name.target);
        let library = u32::from(is_standard(name.target.file)) << 1;
        return Some((of_name(name.kind), declares | library));
    }
    let ty = match token.kind() {
        Comment => SemanticTokenType::COMMENT,
        Integer | Float => SemanticTokenType::NUMBER,
        Lower if matches!(parent, Level | LevelParameter) => SemanticTokenType::TYPE_PARAMETER,
        Lower | Upper if matches!(parent, Path | NamedType) && is_in_type(token) => SemanticTokenType::TYPE,
        // Contextual keywords: `order by`, `take` and their like.
        Lower if matches!(parent, OrderBy | OrderKey | GroupBy | Take | Distinct | Update) => {
            SemanticTokenType::KEYWORD
        }
        BlockSize => SemanticTokenType::KEYWORD,
        kind if kind >= KwSig && kind <= KwShr => SemanticTokenType::KEYWORD,
        kind if kind >= Pipe && kind <= Percent => SemanticTokenType::OPERATOR,
        _ => return None,
    };
    Some((ty, 0))
}

fn is_in_type(token: &SyntaxToken) -> bool {
    token.parent_ancestors().take(2).any(|node| node.kind() == SyntaxKind::NamedType)
}

fn of_name(kind: NameKind) -> SemanticTokenType {
    match kind {
        NameKind::Function | NameKind::Builtin => SemanticTokenType::FUNCTION,
        NameKind::Constructor => SemanticTokenType::ENUM_MEMBER,
        NameKind::Type => SemanticTokenType::TYPE,
        NameKind::Parameter => SemanticTokenType::PARAMETER,
        NameKind::Variable => SemanticTokenType::VARIABLE,
        NameKind::Level => SemanticTokenType::TYPE_PARAMETER,
        NameKind::Field => SemanticTokenType::PROPERTY,
        NameKind::Module => SemanticTokenType::NAMESPACE,
    }
}
