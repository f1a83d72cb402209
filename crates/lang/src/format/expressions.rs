//! The layout of expressions.
//!
//! Whatever follows a `let` is further right than its bindings, so that no line ends an application that did not end there.

use super::Formatter;
use super::doc::{Doc, align, concat, empty_line, group, hard_line, line, nest, nil, text};
use super::items::is_word;
use super::types::with_lines;
use crate::syntax::SyntaxKind;
use crate::syntax::node::{Node, Token};
use crate::syntax::power;
use rowan::NodeOrToken;

impl Formatter {
    pub(super) fn expression(&mut self, node: Node) -> Doc {
        match node.kind() {
            SyntaxKind::Apply => self.application(node),
            SyntaxKind::Let => self.let_(node),
            SyntaxKind::If => self.if_(node),
            SyntaxKind::Case => self.case(node),
            SyntaxKind::Binary => self.chain(node),
            SyntaxKind::Fn => self.function(node),
            SyntaxKind::Comprehension => self.comprehension(node),
            SyntaxKind::Update => self.update(node),
            SyntaxKind::Field => self.field(node),
            SyntaxKind::Negate => self.negation(node),
            _ => self.parentheses(node),
        }
    }

    /// Lays out the function and its arguments on one line, or the arguments below it. One argument in brackets that takes several lines
    /// anyhow, and is the last, begins on the line of the function.
    fn application(&mut self, node: Node) -> Doc {
        let mut parts: Vec<Doc> = node.nodes().map(|part| self.node(part)).collect();
        let last = node.nodes().last().map(|part| part.kind());
        let hangs = matches!(last, Some(SyntaxKind::Paren | SyntaxKind::Comprehension | SyntaxKind::Record))
            && parts.last().is_some_and(Doc::breaks)
            && !parts.iter().rev().skip(1).any(Doc::breaks);
        let hanging = if hangs { parts.pop() } else { None };
        let flat = group(nest(concat(with_lines(parts))));
        match hanging {
            Some(last) => concat([flat, text(" "), last]),
            None => flat,
        }
    }

    /// Operands of operators that bind alike, on one line or each on its own.
    fn chain(&mut self, node: Node) -> Doc {
        let strength = operator_of(node).and_then(|token| power(token.kind));
        // From the last operand to the first one.
        let mut pieces: Vec<(Option<Token>, Node)> = Vec::new();
        let mut left = node;
        loop {
            let mut operands = left.nodes();
            let (Some(first), Some(second)) = (operands.next(), operands.next()) else { break };
            pieces.push((operator_of(left), second));
            left = first;
            let alike = left.kind() == SyntaxKind::Binary
                && operator_of(left).and_then(|token| power(token.kind)) == strength
                && strength.is_some();
            if !alike {
                break;
            }
        }
        pieces.push((None, left));
        let mut docs = Vec::new();
        for (sign, operand) in pieces.into_iter().rev() {
            let mut piece = Vec::new();
            if let Some(sign) = sign {
                docs.push(line());
                piece.extend([self.token(sign), text(" ")]);
            }
            let operand = self.node(operand);
            piece.push(nest(operand));
            docs.push(concat(piece));
        }
        group(concat(docs))
    }

    /// Bindings below each other. One binding inside of something else may be on one line with what it is for.
    fn let_(&mut self, node: Node) -> Doc {
        let mut word = nil();
        let mut bindings: Vec<Doc> = Vec::new();
        let mut then = nil();
        let mut body = None;
        let mut first = true;
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Token(token) => match token.kind {
                    SyntaxKind::KwLet => word = self.token(token),
                    SyntaxKind::KwIn => then = self.token(token),
                    _ => {}
                },
                NodeOrToken::Node(part)
                    if matches!(part.kind(), SyntaxKind::Binding | SyntaxKind::FunctionBinding) =>
                {
                    if !first {
                        let gap = self.comments.has_gap(part.start);
                        bindings.push(if gap { empty_line() } else { hard_line() });
                    }
                    first = false;
                    bindings.push(self.binding(part));
                }
                NodeOrToken::Node(part) => body = Some(part),
            }
        }
        let behind = match body {
            Some(body) if body.kind() == SyntaxKind::Let => concat([hard_line(), self.node(body)]),
            Some(body) => concat([text(" "), nest(self.node(body))]),
            None => nil(),
        };
        concat([word, text(" "), align(concat(bindings)), hard_line(), then, behind])
    }

    fn binding(&mut self, node: Node) -> Doc {
        let before = self.comments.before(node.start);
        let behind = self.comments.behind(node.end());
        concat([before, self.function(node), behind])
    }

    fn if_(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        self.branches(node, &mut docs);
        group(concat(docs))
    }

    /// `else if` goes on with the same branches.
    fn branches(&mut self, node: Node, docs: &mut Vec<Doc>) {
        let mut nodes = node.nodes();
        for token in node.tokens() {
            let Some(part) = nodes.next() else { return };
            if token.kind != SyntaxKind::KwIf {
                docs.push(line());
            }
            docs.push(self.token(token));
            if token.kind == SyntaxKind::KwElse && part.kind() == SyntaxKind::If {
                docs.push(text(" "));
                docs.push(self.comments.before(part.start));
                return self.branches(part, docs);
            }
            docs.push(if needs_line(part) {
                nest(concat([hard_line(), self.node(part)]))
            } else {
                concat([text(" "), nest(self.node(part))])
            });
        }
    }

    /// Arms below each other, each with its bar.
    fn case(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        let mut bar = None;
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Token(token) => match token.kind {
                    SyntaxKind::KwCase => docs.push(self.token(token)),
                    SyntaxKind::KwOf => docs.extend([text(" "), self.token(token)]),
                    _ => bar = Some(self.token(token)),
                },
                NodeOrToken::Node(arm) if arm.kind() == SyntaxKind::Arm => {
                    let bar = bar.take().unwrap_or_else(|| text("|"));
                    docs.extend([hard_line(), bar, text(" "), self.arm(arm)]);
                }
                NodeOrToken::Node(value) => docs.extend([text(" "), nest(self.node(value))]),
            }
        }
        concat(docs)
    }

    fn arm(&mut self, node: Node) -> Doc {
        let before = self.comments.before(node.start);
        let behind = self.comments.behind(node.end());
        concat([before, self.function(node), behind])
    }

    fn comprehension(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        let mut qualifiers: Vec<Doc> = Vec::new();
        let (mut seen_bar, mut close) = (false, nil());
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Node(part) if seen_bar => qualifiers.push(self.node(part)),
                NodeOrToken::Node(part) => docs.push(align(self.node(part))),
                NodeOrToken::Token(token) => match token.kind {
                    SyntaxKind::Comma => {
                        let comma = self.token(token);
                        let qualifier = qualifiers.pop().unwrap_or_else(nil);
                        qualifiers.push(concat([qualifier, comma]));
                    }
                    SyntaxKind::Bar => {
                        docs.extend([line(), self.token(token), text(" ")]);
                        seen_bar = true;
                    }
                    kind if kind.is_closing() => close = self.token(token),
                    _ => docs.extend([self.token(token), text(" ")]),
                },
            }
        }
        docs.extend([align(concat(with_lines(qualifiers))), line(), close]);
        // The bars of a broken comprehension are below its bracket.
        group(align(concat(docs)))
    }

    /// `{ r with x = a }`.
    fn update(&mut self, node: Node) -> Doc {
        let (mut docs, mut close) = (Vec::new(), nil());
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Node(part) if part.kind() == SyntaxKind::FieldValue => {
                    docs.extend([line(), self.node(part)]);
                }
                NodeOrToken::Node(part) => docs.extend([text(" "), nest(self.node(part))]),
                NodeOrToken::Token(token) => match token.kind {
                    SyntaxKind::LeftBrace | SyntaxKind::Comma => docs.push(self.token(token)),
                    SyntaxKind::RightBrace => close = self.token(token),
                    _ => docs.extend([text(" "), self.token(token)]),
                },
            }
        }
        group(align(concat([nest(concat(docs)), line(), close])))
    }

    fn field(&mut self, node: Node) -> Doc {
        // Long chains are one document.
        let mut names = Vec::new();
        let mut record = node;
        while record.kind() == SyntaxKind::Field {
            names.extend(record.tokens().collect::<Vec<_>>().into_iter().rev());
            match record.nodes().next() {
                Some(inner) => record = inner,
                None => break,
            }
        }
        let mut docs = vec![self.node(record)];
        docs.extend(names.into_iter().rev().map(|token| self.token(token)));
        concat(docs)
    }

    fn negation(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        for part in node.children().filter(is_word) {
            match part {
                NodeOrToken::Token(token) => docs.push(self.token(token)),
                NodeOrToken::Node(part) => {
                    // Two signs beside each other would begin a comment.
                    if first_token(part) == Some(SyntaxKind::Minus) {
                        docs.push(text(" "));
                    }
                    docs.push(self.node(part));
                }
            }
        }
        concat(docs)
    }

    fn parentheses(&mut self, node: Node) -> Doc {
        let mut docs = Vec::new();
        for part in node.children().filter(is_word) {
            docs.push(match part {
                NodeOrToken::Token(token) => self.token(token),
                // A function's body is below the line that it begins on, everything else behind its bracket.
                NodeOrToken::Node(part) if part.kind() == SyntaxKind::Fn => self.node(part),
                NodeOrToken::Node(part) => align(self.node(part)),
            });
        }
        concat(docs)
    }
}

/// Whether an expression begins a line of its own where it is a branch.
fn needs_line(node: Node) -> bool {
    matches!(node.kind(), SyntaxKind::Let | SyntaxKind::Case)
}

fn operator_of(node: Node) -> Option<Token> {
    node.tokens().next()
}

fn first_token(node: Node) -> Option<SyntaxKind> {
    match node.children().next()? {
        NodeOrToken::Node(child) => first_token(child),
        NodeOrToken::Token(token) => Some(token.kind),
    }
}
