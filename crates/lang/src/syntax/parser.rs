//! The machine that grammar functions (`grammar/`) drive: a cursor over tokens that builds the syntax tree, collects
//! errors, and recovers from them. It knows brackets, lines and columns, and no grammar.
//!
//! Nodes begin and end with words: trivia between words belong to the node that encloses both. Everything is linear in
//! the length of the text: no token is looked at again for each bracket around it.

use super::kinds::{Pum, SyntaxKind};
use super::lexer::{self, RawToken};
use super::words::{Token, UNMATCHED, match_brackets, significant};
use super::{MAX_ERRORS, MAX_HEIGHT, MAX_NESTING};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use rowan::{Checkpoint, GreenNode, GreenNodeBuilder, Language};

/// The leftmost column of a line that continues an application.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Any column: this is a lone expression.
    Free,
    /// Right of the column of the item.
    Item(u32),
    /// Right of the column of the bindings of a `let`.
    Let(u32),
}

pub(super) struct Parser<'t> {
    file: FileId,
    text: &'t str,
    raw: Vec<RawToken>,
    /// All tokens but trivia, and one at the end.
    tokens: Vec<Token>,
    /// For each opening bracket the number of the closing one.
    matching: Vec<u32>,
    at: usize,
    /// Number of raw tokens that are in the tree.
    built: usize,
    builder: GreenNodeBuilder<'static>,
    errors: Vec<Diagnostic>,
    /// The token at which the last error was reported: one is enough.
    told_at: Option<usize>,
    nesting: u32,
    /// The column in which the bindings of the innermost `let` begin, or else the item.
    pub layout: Layout,
    /// A word that ends an application here, though it is not a keyword elsewhere.
    pub stop_word: Option<&'static str>,
}

impl<'t> Parser<'t> {
    pub fn new(file: FileId, text: &'t str) -> Parser<'t> {
        let raw = lexer::tokens(text);
        let tokens = significant(text, &raw);
        let matching = match_brackets(&tokens);
        let errors = foreign_comments(file, &raw);
        Parser {
            file,
            text,
            raw,
            tokens,
            matching,
            at: 0,
            built: 0,
            builder: GreenNodeBuilder::new(),
            errors,
            told_at: None,
            nesting: 0,
            layout: Layout::Free,
            stop_word: None,
        }
    }

    /// Returns the tree, which must have been finished, and the errors in the order of their places.
    pub fn finish_tree(self) -> (GreenNode, Vec<Diagnostic>) {
        let mut errors = self.errors;
        errors.sort_by_key(|error| error.span.start);
        (self.builder.finish(), errors)
    }

    // The current token.

    pub fn token(&self) -> Token {
        self.ahead(0)
    }

    pub fn ahead(&self, count: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + count).min(last)]
    }

    pub fn kind(&self) -> SyntaxKind {
        self.token().kind
    }

    pub fn nth(&self, count: usize) -> SyntaxKind {
        self.ahead(count).kind
    }

    pub fn is_at(&self, kind: SyntaxKind) -> bool {
        self.kind() == kind
    }

    pub fn is_at_word(&self, word: &str) -> bool {
        self.is_at(SyntaxKind::Lower) && self.word(self.token()) == word
    }

    pub fn word(&self, token: Token) -> &'t str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    /// Whether there is something between the token before this one and it.
    pub fn blank_before(&self) -> bool {
        self.at == 0 || self.tokens[self.at - 1].end != self.token().start
    }

    pub fn blank_after(&self) -> bool {
        self.token().end != self.ahead(1).start
    }

    /// Whether a new item, or nothing any more, begins here.
    pub fn is_at_boundary(&self) -> bool {
        let token = self.token();
        token.kind == SyntaxKind::EndOfFile || (token.kind.begins_item() && token.first_on_line)
    }

    /// Returns after how many tokens the bracket there is closed.
    pub fn closed_after(&self, ahead: usize) -> Option<usize> {
        match self.matching.get(self.at + ahead) {
            Some(&closing) if closing != UNMATCHED => Some(closing as usize - self.at),
            _ => None,
        }
    }

    /// Whether this token begins a line that does not go on with an application, by the layout of the innermost `let` or of the item.
    pub fn layout_stops(&self) -> bool {
        let token = self.token();
        match self.layout {
            Layout::Free => false,
            Layout::Item(column) | Layout::Let(column) => token.first_on_line && token.column <= column,
        }
    }

    // Building.

    /// Begins a node at the word here; the root begins with the text.
    pub fn start(&mut self, kind: SyntaxKind) {
        if kind != SyntaxKind::Root {
            self.build_trivia();
        }
        self.builder.start_node(Pum::kind_to_raw(kind));
    }

    pub fn checkpoint(&mut self) -> Checkpoint {
        self.build_trivia();
        self.builder.checkpoint()
    }

    pub fn start_at(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.builder.start_node_at(checkpoint, Pum::kind_to_raw(kind));
    }

    pub fn finish(&mut self) {
        self.builder.finish_node();
    }

    pub fn bump(&mut self) {
        if self.is_at(SyntaxKind::EndOfFile) {
            return;
        }
        self.build_trivia();
        self.build_raw();
        self.at += 1;
    }

    pub fn eat(&mut self, kind: SyntaxKind) -> bool {
        let here = self.is_at(kind);
        if here {
            self.bump();
        }
        here
    }

    /// Adds the trivia before the current token to the tree.
    pub fn build_trivia(&mut self) {
        while self.built < self.token().raw as usize {
            self.build_raw();
        }
    }

    fn build_raw(&mut self) {
        let start = if self.built == 0 { 0 } else { self.raw[self.built - 1].end };
        let RawToken { kind, end } = self.raw[self.built];
        let text = self.text.get(start as usize..end as usize).unwrap_or("");
        self.builder.token(Pum::kind_to_raw(kind), text);
        self.built += 1;
    }

    // Errors.

    pub fn span(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.end }
    }

    /// Returns the place of the current token; at the end of an item, the place behind its last token.
    pub fn here(&self) -> Span {
        if self.is_at_boundary() && self.at > 0 {
            let end = self.tokens[self.at - 1].end;
            return Span { file: self.file, start: end, end };
        }
        self.span(self.token())
    }

    /// Describes the current token for a message.
    pub fn found(&self) -> String {
        match self.kind() {
            SyntaxKind::EndOfFile => "the end".to_string(),
            _ if self.is_at_boundary() => "the next item".to_string(),
            _ => {
                let word = self.word(self.token());
                let shown = |sign: char| match sign {
                    ' '..='~' => sign.to_string(),
                    _ => sign.escape_debug().to_string(),
                };
                let short: String = word.chars().take(30).map(shown).collect();
                let more = if word.chars().nth(30).is_some() { "…" } else { "" };
                format!("`{short}{more}`")
            }
        }
    }

    /// Reports an error, if none was reported at this token.
    pub fn error(&mut self, error: Diagnostic) {
        if self.told_at != Some(self.at) && self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
        self.told_at = Some(self.at);
    }

    /// Reports an error at the current token.
    pub fn error_here(
        &mut self,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        let error = Diagnostic::new(self.here(), message).label(label);
        let help = help.into();
        self.error(if help.is_empty() { error } else { error.help(help) });
    }

    /// Takes a token that must be here, or reports that it is missing.
    pub fn expect(&mut self, kind: SyntaxKind, what: &str, purpose: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        let found = self.found();
        self.error_here(format!("expected {what} {purpose}, found {found}"), format!("expected {what}"), "");
        false
    }

    /// Takes the closing bracket of a token. If something else is here, skips it up to that bracket.
    pub fn close(&mut self, opening: usize) {
        let open = self.tokens[opening];
        let Some(closing) = open.kind.closing() else { return };
        if self.eat(closing) {
            return;
        }
        let sign = match closing {
            SyntaxKind::RightParen => ")",
            SyntaxKind::RightBracket => "]",
            _ => "}",
        };
        let word = self.word(open);
        let closed = self.matching[opening];
        if closed == UNMATCHED {
            let error = Diagnostic::new(self.span(open), format!("this `{word}` is never closed"))
                .label("opened here");
            let error = match self.is_at_boundary() {
                true => error,
                false => error.other(self.here(), format!("expected `{sign}` before this")),
            };
            self.error(error.help(format!("write `{sign}` where it ends")));
            return;
        }
        let found = self.found();
        let error = Diagnostic::new(self.here(), format!("expected `{sign}`, found {found}"))
            .label(format!("expected `{sign}`"))
            .other(self.span(open), "opened here");
        let stopped = self.layout_stops();
        self.error(match self.layout {
            Layout::Item(column) | Layout::Let(column) if stopped => error.help(format!(
                "a line that goes on with what stands above begins in column {} or later",
                column + 2
            )),
            _ => error,
        });
        self.skip_until(closed as usize);
        self.eat(closing);
    }

    /// Returns the number of the current token, for [`Parser::close`].
    pub fn position(&self) -> usize {
        self.at
    }

    /// Leaves out tokens before the one of a number.
    fn skip_until(&mut self, end: usize) {
        if self.at < end {
            self.start(SyntaxKind::Skipped);
            while self.at < end && !self.is_at(SyntaxKind::EndOfFile) {
                self.bump();
            }
            self.finish();
        }
    }

    /// Skips the text before the next item.
    pub fn skip_to_item(&mut self) {
        if !self.is_at_boundary() {
            self.start(SyntaxKind::Skipped);
            while !self.is_at_boundary() {
                self.bump();
            }
            self.finish();
        }
    }

    /// Skips the text before the next bracket that closes one that was opened before, or the next item.
    fn skip_nested(&mut self, kind: SyntaxKind) {
        self.start(kind);
        while !self.is_at_boundary() && !self.kind().is_closing() {
            for _ in 0..self.closed_after(0).unwrap_or(0) + 1 {
                self.bump();
            }
        }
        self.finish();
    }

    // Bounds.

    /// Reads something inside of something else, unless that is too deep. Readers give the height of their tree.
    pub fn nested(&mut self, read: impl FnOnce(&mut Parser<'t>) -> u32) -> u32 {
        if self.nesting >= MAX_NESTING {
            self.error_here(
                format!("this is nested deeper than {MAX_NESTING} levels"),
                "too deep",
                "give parts of it names with `let` or `fun`",
            );
            self.skip_nested(SyntaxKind::Error);
            return 1;
        }
        self.nesting += 1;
        let height = read(self);
        self.nesting -= 1;
        height
    }

    /// Whether a tree of this height is too high. Then reports it and skips the rest.
    pub fn too_high(&mut self, height: u32) -> bool {
        let high = height >= MAX_HEIGHT;
        if high {
            self.error_here(
                format!("this expression or type has more than {MAX_HEIGHT} parts in a chain"),
                "here it becomes too long",
                "give parts of it names with `let` or `fun`",
            );
            self.skip_nested(SyntaxKind::Skipped);
        }
        high
    }
}

/// Reports comments that are written as in other languages.
fn foreign_comments(file: FileId, raw: &[RawToken]) -> Vec<Diagnostic> {
    let numbered = raw.iter().enumerate().filter(|(_, token)| token.kind == SyntaxKind::ForeignComment);
    let told = numbered.take(MAX_ERRORS).map(|(number, token)| {
        let start = if number == 0 { 0 } else { raw[number - 1].end };
        Diagnostic::new(Span { file, start, end: token.end }, "comments begin with `--`")
            .help("write `--` for a comment, and `/` or `div` to divide integers")
    });
    told.collect()
}
