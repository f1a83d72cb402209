//! The layout of types, and of constructs in brackets.

use super::Formatter;
use super::doc::{Doc, align, concat, fill, group, line, nest, nil, text};
use super::items::is_word;
use crate::syntax::SyntaxKind;
use crate::syntax::node::Node;
use rowan::NodeOrToken;

impl Formatter {
    pub(super) fn type_(&mut self, node: Node) -> Doc {
        match node.kind() {
            SyntaxKind::FunctionType => {
                let mut docs = Vec::new();
                for part in node.children().filter(is_word) {
                    match part {
                        NodeOrToken::Node(part) => docs.push(self.node(part)),
                        NodeOrToken::Token(arrow) => docs.extend([text(" "), self.token(arrow), line()]),
                    }
                }
                group(concat(docs))
            }
            SyntaxKind::NamedType => {
                let mut docs = Vec::new();
                for part in node.nodes() {
                    if !docs.is_empty() {
                        docs.push(line());
                    }
                    docs.push(self.node(part));
                }
                group(nest(concat(docs)))
            }
            SyntaxKind::RecordType => self.braces(node),
            SyntaxKind::TypeField => {
                let mut docs = Vec::new();
                for part in node.children().filter(is_word) {
                    docs.push(match part {
                        NodeOrToken::Node(part) => self.node(part),
                        NodeOrToken::Token(token) => concat([self.token(token), text(" ")]),
                    });
                }
                nest(concat(docs))
            }
            _ => self.array_type(node),
        }
    }

    fn array_type(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Node(part) => docs.push(self.node(part)),
                NodeOrToken::Token(token) => {
                    docs.push(self.token(token));
                    if matches!(token.kind, SyntaxKind::Semicolon | SyntaxKind::Comma) {
                        docs.push(text(" "));
                    }
                }
            }
        }
        nest(concat(docs))
    }

    /// `(a, b)` or `[a, b]`.
    pub(super) fn tuple(&mut self, node: Node) -> Doc {
        let (open, elements, close) = self.separated(node);
        let short = node.kind() == SyntaxKind::List
            && node.nodes().all(|part| {
                matches!(part.kind(), SyntaxKind::Literal | SyntaxKind::PathExpr | SyntaxKind::Negate)
            });
        // Numbers fill lines; other things have a line each.
        let elements = if short && !elements.iter().any(Doc::breaks) {
            fill(elements)
        } else {
            concat(with_lines(elements))
        };
        group(concat([open, align(elements), close]))
    }

    /// `{ x = a, y = b }`.
    pub(super) fn braces(&mut self, node: Node) -> Doc {
        let (open, elements, close) = self.separated(node);
        group(concat([open, text(" "), align(concat(with_lines(elements))), line(), close]))
    }

    /// Lays out the brackets of a node, and the elements between them, each with its comma.
    fn separated(&mut self, node: Node) -> (Doc, Vec<Doc>, Doc) {
        let (mut open, mut close) = (nil(), nil());
        let mut elements: Vec<Doc> = Vec::new();
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Node(part) => elements.push(self.node(part)),
                NodeOrToken::Token(token) if token.kind == SyntaxKind::Comma => {
                    let comma = self.token(token);
                    let element = elements.pop().unwrap_or_else(nil);
                    elements.push(concat([element, comma]));
                }
                NodeOrToken::Token(token) if token.kind.is_closing() => close = self.token(token),
                NodeOrToken::Token(token) => open = self.token(token),
            }
        }
        (open, elements, close)
    }
}

/// Documents with places between them where lines may end.
pub(super) fn with_lines(docs: Vec<Doc>) -> Vec<Doc> {
    let mut lines = Vec::new();
    for doc in docs {
        if !lines.is_empty() {
            lines.push(line());
        }
        lines.push(doc);
    }
    lines
}
