//! The tree of a program, as the checker and the evaluator read it. It is made of the syntax tree, which has every byte of a
//! file (`syntax/`), and has names, places and numbers of expressions, and no blanks or comments but documentation.

use crate::source::Span;
use pumice_scalar::ScalarType;
use std::sync::Arc;

/// A name of a value, type, field, level or file.
pub type Name = Arc<str>;

/// A name with its place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Its source span.
    pub span: Span,
}

/// A name that may be one of another file: `shapes::area`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The file, if one is said.
    pub module: Option<Ident>,
    /// The name in it.
    pub name: Ident,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The comments at its beginning.
    pub docs: Option<String>,
    /// Its imports.
    pub imports: Vec<Import>,
    /// `sig`.
    pub signatures: Vec<Signature>,
    /// `fun`.
    pub functions: Vec<Function>,
    /// `type`.
    pub types: Vec<TypeDeclaration>,
}

/// `import shapes (area, Shape)`.
#[derive(Clone, Debug)]
pub struct Import {
    /// The file's name.
    pub module: Ident,
    /// Names that can also be used without the file's name.
    pub names: Vec<Ident>,
    /// Its source span.
    pub span: Span,
}

/// `sig name : scheme`.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The comments above it.
    pub docs: Option<String>,
    /// The function's name.
    pub name: Ident,
    /// Its classes of variables: the class and the variable.
    pub constraints: Vec<(Ident, Ident)>,
    /// Its type.
    pub ty: TypeExpr,
    /// Its source span.
    pub span: Span,
}

/// `fun name parameters = body`, or a binding of `let`.
#[derive(Clone, Debug)]
pub struct Function {
    /// The comments above it.
    pub docs: Option<String>,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The expression that it evaluates to.
    pub body: Expr,
    /// Its source span.
    pub span: Span,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// A value.
    Value(Pattern),
    /// A level.
    Level(Ident),
}

/// `type Name parameters = …`.
#[derive(Clone, Debug)]
pub struct TypeDeclaration {
    /// The comments above it.
    pub docs: Option<String>,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Ident>,
    /// Its definition: an alias or a sum.
    pub kind: TypeDeclarationKind,
    /// Its source span.
    pub span: Span,
}

/// The definition of a declared type.
#[derive(Clone, Debug)]
pub enum TypeDeclarationKind {
    /// Another name.
    Alias(TypeExpr),
    /// One of several constructors, each with the types of its fields.
    Sum(Vec<(Ident, Vec<TypeExpr>)>),
}

/// The number of an expression, different for all expressions of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its number.
    pub id: ExprId,
    /// Its source span.
    pub span: Span,
    /// Its syntactic form.
    pub kind: ExprKind,
}

/// The syntactic form of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Text that could not be parsed; an error has been reported.
    Error,
    /// An integer literal, with the type of its suffix.
    Integer(u64, Option<ScalarType>),
    /// A float literal, with the type of its suffix.
    Float(f64, Option<ScalarType>),
    /// `true` or `false`.
    Bool(bool),
    /// A variable, function or constructor.
    Name(Path),
    /// `#BlockSize`.
    BlockSize,
    /// `()` or `(a, b)`.
    Tuple(Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{ x = a }`.
    Record(Vec<(Ident, Expr)>),
    /// `{ r with x = a }`.
    Update(Box<Expr>, Vec<(Ident, Expr)>),
    /// `r.x`; parts of tuples are called `0`, `1`, ….
    Field(Box<Expr>, Ident),
    /// `fn parameters => body`, of at least one parameter.
    Fn(Vec<Parameter>, Box<Expr>),
    /// `f x`.
    Apply(Box<Expr>, Box<Expr>),
    /// `f <level>`.
    ApplyLevel(Box<Expr>, LevelExpr),
    /// `let bindings in body`; a binding sees those before it, and itself if it is a function.
    Let(Vec<Binding>, Box<Expr>),
    /// `if condition then yes else no`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `case value of arms`, of at least one arm.
    Case(Box<Expr>, Vec<(Pattern, Expr)>),
    /// Two operands, and where the operator is.
    Binary(Operator, Span, Box<Expr>, Box<Expr>),
    /// `-a`.
    Negate(Box<Expr>),
    /// `(+)`.
    Section(Operator),
    /// `(e : type)`.
    Typed(Box<Expr>, TypeExpr),
    /// `[ e | qualifiers ]`.
    Comprehension(Box<Expr>, Vec<Qualifier>),
}

/// A binding of `let`.
#[derive(Clone, Debug)]
pub enum Binding {
    /// `p = e`; a lone name is a value that may be polymorphic.
    Value(Pattern, Expr),
    /// `f x = e`, with at least one parameter.
    Function(Function),
}

/// A qualifier of a comprehension: a part behind the bar.
#[derive(Clone, Debug)]
pub enum Qualifier {
    /// `p <- xs`, and further ones that are drawn from in step: `p <- xs | q <- ys`.
    Draw(Vec<(Pattern, Drawn)>),
    /// A condition.
    Guard(Expr),
    /// `let p = e`.
    Let(Pattern, Expr),
    /// `order by k`, and whether it is descending, by several keys.
    OrderBy(Vec<(Expr, bool)>),
    /// `group by k`.
    GroupBy(Expr),
    /// `take n`.
    Take(Expr),
    /// `distinct`.
    Distinct(Span),
}

/// The source of a generator of a comprehension.
#[derive(Clone, Debug)]
pub enum Drawn {
    /// The elements of an array.
    Array(Expr),
    /// `a..b`.
    Range(Expr, Expr),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Operator {
    Pipe,
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Div,
    Mod,
    Compose,
}

impl Operator {
    /// Returns the operator as it is written in source text.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Pipe => "|>",
            Operator::Or => "||",
            Operator::And => "&&",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::BitOr => "bor",
            Operator::BitXor => "xor",
            Operator::BitAnd => "band",
            Operator::ShiftLeft => "shl",
            Operator::ShiftRight => "shr",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
            Operator::Div => "div",
            Operator::Mod => "mod",
            Operator::Compose => ".",
        }
    }
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its source span.
    pub span: Span,
    /// Its syntactic form.
    pub kind: PatternKind,
}

/// The syntactic form of a pattern.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// Text that could not be parsed; an error has been reported.
    Error,
    /// `_`.
    Any,
    /// A variable.
    Name(Name),
    /// `()` or `(p, q)`.
    Tuple(Vec<Pattern>),
    /// `{ x = p, y }`.
    Record(Vec<(Ident, Pattern)>),
    /// `Constructor p q`.
    Constructor(Path, Vec<Pattern>),
    /// An integer, perhaps negative.
    Integer(i128),
    /// `true` or `false`.
    Bool(bool),
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// Its source span.
    pub span: Span,
    /// Its syntactic form.
    pub kind: TypeExprKind,
}

/// The syntactic form of a written type.
#[derive(Clone, Debug)]
pub enum TypeExprKind {
    /// Text that could not be parsed; an error has been reported.
    Error,
    /// A scalar type, a variable, or a declared type with its arguments; also `mem a`.
    Name(Path, Vec<TypeExpr>),
    /// `()` or `(a, b)`.
    Tuple(Vec<TypeExpr>),
    /// `{ x : a }`.
    Record(Vec<(Ident, TypeExpr)>),
    /// `a -> b`.
    Function(Box<TypeExpr>, Box<TypeExpr>),
    /// `<l> -> a`.
    LevelFunction(Ident, Box<TypeExpr>),
    /// `[a]`, `[a; n, 3]`, and with a level `[a]<block>`. Without sizes the rank is 1.
    Array(Box<TypeExpr>, Vec<SizeExpr>, Option<LevelExpr>),
}

/// An extent in a type.
#[derive(Clone, Debug)]
pub enum SizeExpr {
    /// `_`.
    Any(Span),
    /// A number.
    Number(u64, Span),
    /// A name.
    Name(Ident),
}

/// A level as it is written.
#[derive(Clone, Debug)]
pub enum LevelExpr {
    /// `thread`, `warp`, `block`, `grid` or a variable.
    Name(Ident),
    /// `1 + level`.
    Above(u32, Box<LevelExpr>, Span),
}
