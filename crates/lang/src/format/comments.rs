//! The comments of a file, by the words that they stand before or behind.

use super::doc::{Doc, comments, concat, nil, suffix};
use crate::syntax::SyntaxKind;
use crate::syntax::node::Node;
use rowan::NodeOrToken;
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct Comments {
    /// Comments on lines of their own, by the offset of the next word.
    before: HashMap<u32, Vec<String>>,
    /// Comments on the line of a word, by the offset of its end.
    behind: HashMap<u32, String>,
    /// Offsets of words that have an empty line before them.
    gaps: HashMap<u32, ()>,
}

impl Comments {
    /// Collects the comments inside of the nodes of a file, and those on the last lines of its items. Those between items are the file's own.
    pub fn collect(root: Node) -> Comments {
        let mut found = Comments::default();
        let mut last_end = None;
        let mut newline = true;
        for child in root.children() {
            match child {
                NodeOrToken::Node(item) => {
                    found.inside(item);
                    last_end = Some(item.end());
                    newline = false;
                }
                NodeOrToken::Token(token) => match (token.kind, last_end) {
                    (SyntaxKind::Comment, Some(end)) if !newline => {
                        found.behind.insert(end, token.text.trim_end().to_string());
                        newline = true;
                    }
                    _ => newline |= token.text.contains('\n'),
                },
            }
        }
        found
    }

    /// Whether an empty line is before the word that begins here, or before its comments.
    pub fn has_gap(&self, start: u32) -> bool {
        self.gaps.contains_key(&start)
    }

    fn inside(&mut self, item: Node) {
        // Words and what stands between them, in order; trees are flat enough to recur.
        let mut pending: Vec<String> = Vec::new();
        let mut state = State { last_end: item.start, newlines: 0, gap: false };
        self.walk(item, &mut pending, &mut state);
    }

    fn walk(&mut self, node: Node, pending: &mut Vec<String>, state: &mut State) {
        for child in node.children() {
            let token = match child {
                NodeOrToken::Node(child) => {
                    self.walk(child, pending, state);
                    continue;
                }
                NodeOrToken::Token(token) => token,
            };
            match token.kind {
                SyntaxKind::Whitespace => {
                    state.newlines = token.text.matches('\n').count();
                    state.gap |= state.newlines > 1 && pending.is_empty();
                }
                SyntaxKind::Comment => {
                    let comment = token.text.trim_end().to_string();
                    let behind = state.newlines == 0 && pending.is_empty();
                    if behind && !self.behind.contains_key(&state.last_end) {
                        self.behind.insert(state.last_end, comment);
                    } else {
                        pending.push(comment);
                    }
                }
                // Bindings have lines of their own and need no separator: its comments are those of the words around it.
                SyntaxKind::Semicolon if node.kind() == SyntaxKind::Let => {}
                _ => {
                    if !pending.is_empty() {
                        self.before.insert(token.start, std::mem::take(pending));
                    }
                    if state.gap {
                        self.gaps.insert(token.start, ());
                    }
                    *state =
                        State { last_end: token.start + token.text.len() as u32, newlines: 0, gap: false };
                }
            }
        }
    }

    /// Takes the comments before a word.
    pub fn before(&mut self, start: u32) -> Doc {
        match self.before.remove(&start) {
            Some(lines) => comments(lines),
            None => nil(),
        }
    }

    /// Takes the comment behind a word.
    pub fn behind(&mut self, end: u32) -> Doc {
        match self.behind.remove(&end) {
            Some(comment) => concat([suffix(&comment)]),
            None => nil(),
        }
    }
}

/// State of the walk since the last word.
struct State {
    last_end: u32,
    newlines: usize,
    gap: bool,
}
