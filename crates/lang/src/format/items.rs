//! The layout of a file and its items.

use super::Formatter;
use super::doc::{Doc, concat, empty_line, group, hard_line, if_broken, line, nest, nil, text};
use crate::syntax::SyntaxKind;
use crate::syntax::node::{Node, Token};
use rowan::NodeOrToken;

impl Formatter {
    /// Items and the comments between them, with the empty lines that there were, one at most.
    pub(super) fn file(&mut self, root: Node) -> Doc {
        let mut docs: Vec<Doc> = Vec::new();
        let (mut newlines, mut after_item) = (0, false);
        for child in root.children() {
            let doc = match child {
                NodeOrToken::Token(token) if token.kind == SyntaxKind::Whitespace => {
                    newlines = token.text.matches('\n').count();
                    continue;
                }
                // The comment on the last line of an item is in the item.
                NodeOrToken::Token(_) if after_item && newlines == 0 => {
                    after_item = false;
                    continue;
                }
                NodeOrToken::Token(token) => {
                    after_item = false;
                    text(token.text.trim_end())
                }
                NodeOrToken::Node(item) => {
                    after_item = true;
                    self.node(item)
                }
            };
            if !docs.is_empty() {
                docs.push(if newlines > 1 { empty_line() } else { hard_line() });
            }
            newlines = 0;
            docs.push(doc);
        }
        concat(docs)
    }

    pub(super) fn item(&mut self, node: Node) -> Doc {
        match node.kind() {
            SyntaxKind::Import => self.import(node),
            SyntaxKind::Signature => self.signature(node),
            SyntaxKind::Function => self.function(node),
            _ => self.type_declaration(node),
        }
    }

    fn import(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        for token in node.tokens() {
            let doc = self.token(token);
            match token.kind {
                SyntaxKind::KwImport | SyntaxKind::RightParen => docs.push(doc),
                SyntaxKind::Comma => docs.extend([doc, line()]),
                SyntaxKind::LeftParen => docs.extend([text(" "), doc]),
                _ if docs.len() == 1 => docs.extend([text(" "), doc]),
                _ => docs.push(doc),
            }
        }
        group(nest(concat(docs)))
    }

    fn signature(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        for child in node.children() {
            match child {
                NodeOrToken::Token(token) if token.kind.is_trivia() => {}
                NodeOrToken::Token(token) => {
                    let doc = self.token(token);
                    let arrow = token.kind == SyntaxKind::FatArrow;
                    docs.extend([
                        if arrow { text(" ") } else { nil() },
                        doc,
                        if arrow { line() } else { text(" ") },
                    ]);
                }
                NodeOrToken::Node(part) => {
                    let doc = self.node(part);
                    docs.push(doc);
                }
            }
        }
        group(nest(concat(docs)))
    }

    /// `fun f x = body`, or the same as a binding.
    pub(super) fn function(&mut self, node: Node) -> Doc {
        let parts: Vec<NodeOrToken<Node, Token>> = node.children().filter(is_word).collect();
        let mut head = Vec::new();
        let mut body = nil();
        for (number, part) in parts.iter().enumerate() {
            match part {
                NodeOrToken::Node(part) if number + 1 == parts.len() => body = self.node(*part),
                part => {
                    if number > 0 {
                        head.push(text(" "));
                    }
                    head.push(self.word(*part));
                }
            }
        }
        concat([nest(concat(head)), group(nest(concat([line(), body])))])
    }

    fn word(&mut self, part: NodeOrToken<Node, Token>) -> Doc {
        match part {
            NodeOrToken::Node(part) => self.node(part),
            NodeOrToken::Token(part) => self.token(part),
        }
    }

    fn type_declaration(&mut self, node: Node) -> Doc {
        let constructors = node.nodes().filter(|part| part.kind() == SyntaxKind::Constructor).count();
        let mut head = Vec::new();
        let mut tail = Vec::new();
        let mut behind_equal = false;
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Token(token) if !behind_equal => {
                    if !head.is_empty() {
                        head.push(text(" "));
                    }
                    head.push(self.token(token));
                    behind_equal = token.kind == SyntaxKind::Equal;
                }
                NodeOrToken::Token(bar) => {
                    if !tail.is_empty() {
                        tail.extend([line(), self.token(bar), text(" ")]);
                    } else if constructors == 1 {
                        // It says that this is no other type's name.
                        tail.extend([self.token(bar), text(" ")]);
                    } else {
                        tail.extend([self.dropped(bar), if_broken("| ")]);
                    }
                }
                NodeOrToken::Node(part) => {
                    if tail.is_empty() && constructors > 1 {
                        tail.push(if_broken("| "));
                    }
                    tail.push(self.node(part));
                }
            }
        }
        concat([nest(concat(head)), group(nest(concat([line(), concat(tail)])))])
    }
}

/// Whether a child is no blank and no comment.
pub(super) fn is_word(part: &NodeOrToken<Node, Token>) -> bool {
    !matches!(part, NodeOrToken::Token(token) if token.kind.is_trivia())
}
