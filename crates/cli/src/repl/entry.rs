//! Classifies an entry: whether it is complete, and whether it is a command, items, a named value or an expression. Looks at tokens and
//! parse errors only, and resolves no names.

use pumice_lang::source::FileId;
use pumice_lang::syntax::{MAX_BYTES, SyntaxKind, parse, parse_expression, tokens};
use std::borrow::Cow;

/// Kind of an entry.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// Blanks and comments.
    Nothing,
    /// `:name`, and the byte at which its argument starts.
    Command(&'a str, usize),
    /// `fun`, `sig`, `type` and `import`, as they are written in a file.
    Items(Cow<'a, str>),
    /// `name = expression`, and the byte at which the expression starts.
    Value(&'a str, usize),
    /// An expression.
    Expression,
}

/// Whether an entry is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is complete.
    Complete,
    /// It is complete, but the next line may continue it: its last line is indented, or an arm of a `case`.
    Open,
    /// Something is missing at its end.
    Incomplete,
}

/// Returns the kind of an entry.
pub fn read(text: &str) -> Entry<'_> {
    if let Some(command) = text.trim_start().strip_prefix(':') {
        let before = text.len() - command.len();
        let name = command.split(char::is_whitespace).next().unwrap_or("");
        let rest = &command[name.len()..];
        return Entry::Command(name, before + name.len() + (rest.len() - rest.trim_start().len()));
    }
    let words = Words::of(text);
    match words.kind(0) {
        None => Entry::Nothing,
        Some(first) if first.begins_item() => Entry::Items(text.into()),
        Some(SyntaxKind::KwLet) if !words.has_body() => binding(text, &words, 1),
        Some(SyntaxKind::Lower) => binding(text, &words, 0),
        Some(_) => Entry::Expression,
    }
}

/// Classifies a binding of the word `first`: a value, or a function if it has parameters. Anything else is an expression.
fn binding<'a>(text: &'a str, words: &Words<'a>, first: usize) -> Entry<'a> {
    let Some(equals) = words.equals() else { return Entry::Expression };
    match (words.kind(first), words.kind(first + 1)) {
        (Some(SyntaxKind::Lower), Some(SyntaxKind::Equal)) => {
            Entry::Value(words.0[first].text, words.0[equals].start + 1)
        }
        (Some(SyntaxKind::Lower), _) => {
            Entry::Items(format!("fun {}", text[words.0[first].start..].trim_start()).into())
        }
        _ => Entry::Expression,
    }
}

/// Returns whether an entry is complete. An empty line at its end always completes it.
pub fn progress(text: &str) -> Progress {
    let last = text.rsplit('\n').next().unwrap_or("");
    if text.len() > MAX_BYTES || (text.contains('\n') && last.trim().is_empty()) {
        return Progress::Complete;
    }
    let words = Words::of(text);
    let is_missing = match read(text) {
        Entry::Nothing => false,
        Entry::Command(name, start) => {
            super::command::takes_expression(name) && lacks_end(&Words::of(&text[start..]), &text[start..])
        }
        Entry::Items(items) => words.are_open() || items_lack_end(&items),
        Entry::Value(_, start) => {
            let expression = Words::of(&text[start..]);
            expression.0.is_empty() || lacks_end(&expression, &text[start..])
        }
        Entry::Expression => lacks_end(&words, text),
    };
    let goes_on = last.starts_with(char::is_whitespace) || last.starts_with('|');
    match (is_missing, text.contains('\n') && goes_on) {
        (true, _) => Progress::Incomplete,
        (false, true) => Progress::Open,
        (false, false) => Progress::Complete,
    }
}

/// Returns whether the end of an expression is missing.
fn lacks_end(words: &Words<'_>, text: &str) -> bool {
    let Some(last) = words.0.last() else { return false };
    let end = (last.start + last.text.len()) as u32;
    let (_, errors) = parse_expression(FileId(0), text, &mut 0);
    words.are_open() || errors.iter().any(|error| error.span.start >= end)
}

fn items_lack_end(text: &str) -> bool {
    let Some(last) = Words::of(text).0.pop() else { return false };
    let end = (last.start + last.text.len()) as u32;
    parse(FileId(0), text, &mut 0).errors.iter().any(|error| error.span.start >= end)
}

/// A token other than blanks and comments.
struct Word<'a> {
    kind: SyntaxKind,
    text: &'a str,
    start: usize,
    /// Number of brackets that are open before it.
    depth: usize,
}

struct Words<'a>(Vec<Word<'a>>);

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Words<'a> {
        let (mut start, mut depth, mut words) = (0, 0usize, Vec::new());
        for (kind, text) in tokens(text) {
            if kind.is_closing() {
                depth = depth.saturating_sub(1);
            }
            if !kind.is_trivia() {
                words.push(Word { kind, text, start, depth });
            }
            if kind.closing().is_some() {
                depth += 1;
            }
            start += text.len();
        }
        Words(words)
    }

    fn kind(&self, number: usize) -> Option<SyntaxKind> {
        self.0.get(number).map(|word| word.kind)
    }

    /// Returns whether a bracket is still open.
    fn are_open(&self) -> bool {
        let last = self.0.last();
        last.is_some_and(|last| last.depth + usize::from(last.kind.closing().is_some()) > 0)
    }

    /// Returns whether each `let` has its `in`.
    fn has_body(&self) -> bool {
        let count = |kind| self.0.iter().filter(|word| word.depth == 0 && word.kind == kind).count();
        count(SyntaxKind::KwIn) >= count(SyntaxKind::KwLet)
    }

    /// Returns the `=` between a name and its definition: outside brackets, and outside every `let` but one that is the first word.
    fn equals(&self) -> Option<usize> {
        let own = self.0.iter().skip(1).position(|word| word.kind == SyntaxKind::KwLet && word.depth == 0);
        let end = own.map_or(self.0.len(), |own| own + 1);
        self.0[..end].iter().position(|word| word.kind == SyntaxKind::Equal && word.depth == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_told_apart() {
        let items = |text: &'static str| Entry::Items(text.into());
        assert_eq!(read("  -- a comment"), Entry::Nothing);
        assert_eq!(read(" :type  1 + 2"), Entry::Command("type", 8));
        assert_eq!(read(":quit"), Entry::Command("quit", 5));
        assert_eq!(read("-- Doubles.\nfun f x = x"), items("-- Doubles.\nfun f x = x"));
        assert_eq!(read("f x = x"), items("fun f x = x"));
        assert_eq!(read("let f x = x"), items("fun f x = x"));
        assert_eq!(read("x = 1"), Entry::Value("x", 3));
        assert_eq!(read("let x = let y = 1 in y"), Entry::Value("x", 7));
        assert_eq!(read("x = let y = 1 in y"), Entry::Value("x", 3));
        for expression in
            ["let x = 1 in x", "x == 1", "f { x = 1 }", "x |> let y = 1 in f", "[1, 2]", "(a, b)"]
        {
            assert_eq!(read(expression), Entry::Expression, "{expression}");
        }
    }

    #[test]
    fn lines_go_on_until_nothing_is_missing() {
        let is = |text: &str, expected| assert_eq!(progress(text), expected, "{text}");
        for text in [
            "1 +",
            "[1,",
            "fun f x =",
            "x =",
            "f (",
            ":type (",
            "if a then b",
            "fun f x =\n  let y = 1",
            "{ x =",
        ] {
            is(text, Progress::Incomplete);
        }
        for text in ["1 + 2", "", "1 +\n", "fun f x = x", "1 )", "[1,\n2]", ":load (", "sig f : int -> int"] {
            is(text, Progress::Complete);
        }
        for text in ["fun f x =\n  x", "case x of\n| A => 1", "f\n  x"] {
            is(text, Progress::Open);
        }
    }
}
