//! The kinds of tokens and nodes of a syntax tree. Tokens carry the pattern by which the lexer knows them.

use logos::Logos;

macro_rules! kinds {
    ($($(#[$attribute:meta])* $name:ident,)*) => {
        /// The kind of a token or node of the syntax tree.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum SyntaxKind {
            $($(#[$attribute])* $name,)*
        }

        impl SyntaxKind {
            /// All kinds, each at the place of its number.
            const ALL: &[SyntaxKind] = &[$(SyntaxKind::$name,)*];
        }
    };
}

kinds! {
    // Trivia: text between words.
    // The byte order mark that some editors write is a blank.
    #[regex(r"[ \t\r\n\f\u{feff}]+")]
    Whitespace,
    #[regex(r"--[^\n]*", allow_greedy = true)]
    Comment,
    // A comment of another language: an error, but not a word.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    ForeignComment,

    // Words.
    #[regex(r"[a-z_][A-Za-z0-9_']*")]
    Lower,
    #[regex(r"[A-Z][A-Za-z0-9_']*")]
    Upper,
    #[regex(r"[0-9][0-9A-Za-z_]*", priority = 4)]
    Integer,
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?[A-Za-z0-9_]*", priority = 6)]
    #[regex(r"[0-9][0-9_]*[eE][+-]?[0-9][0-9A-Za-z_]*", priority = 6)]
    Float,
    #[token("#BlockSize")]
    BlockSize,

    // Words that are no names.
    #[token("sig")]
    KwSig,
    #[token("fun")]
    KwFun,
    #[token("type")]
    KwType,
    #[token("import")]
    KwImport,
    #[token("let")]
    KwLet,
    #[token("in")]
    KwIn,
    #[token("fn")]
    KwFn,
    #[token("if")]
    KwIf,
    #[token("then")]
    KwThen,
    #[token("else")]
    KwElse,
    #[token("case")]
    KwCase,
    #[token("of")]
    KwOf,
    #[token("true")]
    KwTrue,
    #[token("false")]
    KwFalse,
    #[token("div")]
    KwDiv,
    #[token("mod")]
    KwMod,
    #[token("band")]
    KwBand,
    #[token("bor")]
    KwBor,
    #[token("xor")]
    KwXor,
    #[token("shl")]
    KwShl,
    #[token("shr")]
    KwShr,

    // Signs.
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("::")]
    ColonColon,
    #[token("_", priority = 10)]
    Underscore,
    #[token("=")]
    Equal,
    #[token("=>")]
    FatArrow,
    #[token("->")]
    Arrow,
    #[token("<-")]
    LeftArrow,
    #[token("|")]
    Bar,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("\\")]
    Backslash,
    #[token("|>")]
    Pipe,
    #[token("||")]
    OrOr,
    #[token("&&")]
    AndAnd,
    #[token("==")]
    EqualEqual,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    // Operators of other languages, so that there is one message for each.
    #[token("<<")]
    #[token(">>")]
    #[token("&")]
    #[token("^")]
    #[token("~")]
    #[token("!")]
    #[token("**")]
    #[token("++")]
    #[token("/=")]
    #[token(":=")]
    #[token("$")]
    #[token("@")]
    #[token("?")]
    Foreign,
    // A string or a character.
    #[regex(r#""[^"\n]*"?"#)]
    #[regex(r"'[^'\n]?'?", priority = 3)]
    Quoted,
    // Everything else. A word with letters that names do not have is one token. Its part before such a letter is a token
    // by itself, so that the lexer never goes far and then back again.
    #[regex(r"([A-Za-z_][A-Za-z0-9_']*)?[^\x00-\x7F]([^\x00-\x7F]|[A-Za-z0-9_'])*", priority = 1)]
    Unknown,
    EndOfFile,

    // The file and its items.
    Root,
    Import,
    Signature,
    Constraint,
    Function,
    LevelParameter,
    TypeDeclaration,
    Constructor,

    // Types.
    FunctionType,
    NamedType,
    TupleType,
    ParenType,
    RecordType,
    TypeField,
    ArrayType,
    Size,
    Level,
    Path,

    // Expressions.
    Literal,
    PathExpr,
    BlockSizeExpr,
    Tuple,
    Paren,
    Section,
    Typed,
    List,
    Comprehension,
    Record,
    Update,
    FieldValue,
    Field,
    Fn,
    Apply,
    LevelArgument,
    Let,
    Binding,
    FunctionBinding,
    If,
    Case,
    Arm,
    Binary,
    Negate,

    // Qualifiers of comprehensions.
    Draw,
    Source,
    Guard,
    LetQualifier,
    OrderBy,
    OrderKey,
    GroupBy,
    Take,
    Distinct,

    // Patterns.
    NamePattern,
    AnyPattern,
    TuplePattern,
    ParenPattern,
    RecordPattern,
    PatternField,
    ConstructorPattern,
    LiteralPattern,

    // Text in place of something else that was expected; the tree has the place of what is missing.
    Error,
    // Text that was skipped and has no meaning.
    Skipped,
}

impl SyntaxKind {
    /// Whether tokens of this kind only separate others.
    pub fn is_trivia(self) -> bool {
        matches!(self, SyntaxKind::Whitespace | SyntaxKind::Comment | SyntaxKind::ForeignComment)
    }

    /// Whether items begin with this word.
    pub fn begins_item(self) -> bool {
        use SyntaxKind::*;
        matches!(self, KwSig | KwFun | KwType | KwImport)
    }

    /// Returns the closing bracket of an opening one.
    pub fn closing(self) -> Option<SyntaxKind> {
        match self {
            SyntaxKind::LeftParen => Some(SyntaxKind::RightParen),
            SyntaxKind::LeftBracket => Some(SyntaxKind::RightBracket),
            SyntaxKind::LeftBrace => Some(SyntaxKind::RightBrace),
            _ => None,
        }
    }

    /// Whether this is a closing bracket.
    pub fn is_closing(self) -> bool {
        matches!(self, SyntaxKind::RightParen | SyntaxKind::RightBracket | SyntaxKind::RightBrace)
    }
}

/// The language, as `rowan` wants to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pum {}

impl rowan::Language for Pum {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::ALL.get(raw.0 as usize).copied().unwrap_or(SyntaxKind::Error)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// A node of the lossless syntax tree: its text is the text that was read.
pub type SyntaxNode = rowan::SyntaxNode<Pum>;

/// A token of the lossless syntax tree.
pub type SyntaxToken = rowan::SyntaxToken<Pum>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_by_its_number() {
        for (number, kind) in SyntaxKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, number);
        }
    }
}
