//! Reads tokens one after the other, for the parsers of all text forms: looks ahead, expects a token,
//! and makes errors with a position and a message. It knows scalar types and constants, which all of them have, and no more grammar.

use std::fmt;
use std::str::FromStr;

use super::lex::{Spanned, Token, lex, unescape};
use crate::place::Place;
use crate::types::{Constant, ScalarType};

/// The error of a text that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// A value that was read, or the error.
pub type Parsed<T> = Result<T, ParseError>;

/// A position in a text.
pub struct Cursor<'a> {
    tokens: Vec<Spanned<'a>>,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The start of a text.
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { tokens: lex(text), at: 0 }
    }

    /// The next token, also if it is a comment.
    pub fn peek_with_comments(&self) -> Spanned<'a> {
        let end = Spanned { token: Token::End, line: 1, column: 1 };
        self.tokens.get(self.at).or(self.tokens.last()).copied().unwrap_or(end)
    }

    /// The next token that is not a comment.
    pub fn peek(&self) -> Spanned<'a> {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|spanned| !matches!(spanned.token, Token::Comment(_)));
        next.copied().unwrap_or(self.peek_with_comments())
    }

    /// Goes past the token that [`Self::peek`] gives. Comments before it are lost; those after it are not, as they may
    /// mean something.
    pub fn advance(&mut self) {
        while let Token::Comment(_) = self.peek_with_comments().token {
            self.at += 1;
        }
        self.at += 1;
    }

    /// The comment that comes next, if one does; goes past it.
    pub fn comment(&mut self) -> Option<&'a str> {
        match self.peek_with_comments().token {
            Token::Comment(text) => {
                self.at += 1;
                Some(text)
            }
            _ => None,
        }
    }

    /// An error at a token.
    pub fn error<T>(&self, at: Spanned<'a>, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { line: at.line, column: at.column, message: message.into() })
    }

    /// The error that something else was expected than the next token.
    pub fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = self.peek();
        let text = match found.token {
            Token::End => "the end of the text".to_owned(),
            Token::Var(name, None) => format!("`%{name}`"),
            Token::Var(name, Some(number)) => format!("`%{name}.{number}`"),
            Token::At(name) => format!("`@{name}`"),
            Token::Quoted(text) => format!("`\"{text}\"`"),
            Token::Word(text) | Token::Number(text) | Token::Symbol(text) | Token::Comment(text) => {
                format!("`{text}`")
            }
        };
        self.error(found, format!("expected {what}, found {text}"))
    }

    /// Whether this word or symbol comes next; if so, goes past it.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = match self.peek().token {
            Token::Word(found) | Token::Symbol(found) => found == text,
            _ => false,
        };
        if found {
            self.advance();
        }
        found
    }

    /// Goes past this word or symbol.
    pub fn expect(&mut self, text: &str) -> Parsed<()> {
        match self.eat(text) {
            true => Ok(()),
            false => self.expected(&format!("`{text}`")),
        }
    }

    /// Checks that nothing comes any more.
    pub fn expect_end(&self) -> Parsed<()> {
        match self.peek().token {
            Token::End => Ok(()),
            _ => self.expected("the end of the text"),
        }
    }

    /// A word.
    pub fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek().token {
            Token::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    /// A whole number.
    pub fn number<N: FromStr>(&mut self, what: &str) -> Parsed<N> {
        match self.peek().token {
            Token::Number(text) => match text.parse() {
                Ok(number) => {
                    self.advance();
                    Ok(number)
                }
                Err(_) => self.expected(what),
            },
            _ => self.expected(what),
        }
    }

    /// A word of these letters and a number, as `a3`; gives the number.
    pub fn numbered<N: FromStr>(&mut self, letters: &str, what: &str) -> Parsed<N> {
        let number = match self.peek().token {
            Token::Word(word) => numbered(word, letters),
            _ => None,
        };
        match number {
            Some(number) => {
                self.advance();
                Ok(number)
            }
            None => self.expected(what),
        }
    }

    /// A text between quotation marks.
    pub fn quoted(&mut self, what: &str) -> Parsed<String> {
        match self.peek().token {
            Token::Quoted(text) => {
                self.advance();
                Ok(unescape(text))
            }
            _ => self.expected(what),
        }
    }

    /// The name of a scalar type.
    pub fn scalar_type(&mut self) -> Parsed<ScalarType> {
        match self.peek().token {
            Token::Word(word) if ScalarType::from_name(word).is_some() => {
                self.advance();
                Ok(ScalarType::from_name(word).unwrap_or(ScalarType::Bool))
            }
            _ => self.expected("a type"),
        }
    }

    /// A constant, if one comes next: `true`, `false` or `value:type`.
    pub fn constant(&mut self) -> Parsed<Option<Constant>> {
        let at = self.peek();
        let text = match at.token {
            Token::Word(word @ ("true" | "false")) => {
                self.advance();
                return Ok(Some((word == "true").into()));
            }
            Token::Word("inf") => "inf",
            Token::Number(text) => text,
            _ => return Ok(None),
        };
        self.advance();
        self.expect(":")?;
        let ty = self.scalar_type()?;
        match Constant::parse(ty, text) {
            Some(constant) => Ok(Some(constant)),
            None => self.error(at, format!("`{text}` is not a value of type {ty}")),
        }
    }

    /// `"operation" "file" line:column`.
    pub fn place(&mut self) -> Parsed<Place> {
        let operation = self.quoted("an operation between quotation marks")?;
        let file = self.quoted("a file between quotation marks")?;
        let line = self.number("a line")?;
        self.expect(":")?;
        let column = self.number("a column")?;
        Ok(Place::new(&operation, &file, line, column))
    }
}

/// The number after these letters, if a word is just these two.
pub fn numbered<N: FromStr>(word: &str, letters: &str) -> Option<N> {
    let digits = word.strip_prefix(letters)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}
