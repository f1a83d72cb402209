//! A light view of the syntax tree: a node and where it begins. Walking it allocates nothing.

use super::kinds::{Pum, SyntaxKind};
use rowan::{GreenNodeData, Language, NodeOrToken};

#[derive(Clone, Copy)]
pub(crate) struct Node<'t> {
    green: &'t GreenNodeData,
    pub start: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct Token<'t> {
    pub kind: SyntaxKind,
    pub text: &'t str,
    pub start: u32,
}

impl<'t> Node<'t> {
    pub fn root(green: &'t GreenNodeData) -> Node<'t> {
        Node { green, start: 0 }
    }

    pub fn kind(self) -> SyntaxKind {
        Pum::kind_from_raw(self.green.kind())
    }

    pub fn end(self) -> u32 {
        self.start + u32::from(self.green.text_len())
    }

    /// Iterates over its nodes and tokens, in order.
    pub fn children(self) -> impl Iterator<Item = NodeOrToken<Node<'t>, Token<'t>>> {
        let mut start = self.start;
        self.green.children().map(move |child| {
            let here = start;
            start += u32::from(child.text_len());
            match child {
                NodeOrToken::Node(green) => NodeOrToken::Node(Node { green, start: here }),
                NodeOrToken::Token(token) => {
                    let kind = Pum::kind_from_raw(token.kind());
                    NodeOrToken::Token(Token { kind, text: token.text(), start: here })
                }
            }
        })
    }

    /// Iterates over its nodes, without those that were skipped.
    pub fn nodes(self) -> impl Iterator<Item = Node<'t>> {
        self.children()
            .filter_map(|child| child.into_node())
            .filter(|node: &Node| node.kind() != SyntaxKind::Skipped)
    }

    /// Iterates over its own words and signs.
    pub fn tokens(self) -> impl Iterator<Item = Token<'t>> {
        self.children().filter_map(|child| child.into_token()).filter(|token| !token.kind.is_trivia())
    }
}
