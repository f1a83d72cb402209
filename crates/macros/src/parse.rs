//! The syntax of comprehensions: from tokens to qualifiers. Expressions stay tokens until their variables are known.

use crate::pattern::{Pattern, before_arrow, checked, typed};
use crate::tokens::{Names, Separator, first_span, has, name_brackets, split, split_once};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Pat, Result, Token};

/// A comprehension: an element expression, and the qualifiers that bind its variables.
pub struct Comprehension {
    /// The element.
    pub head: TokenStream,
    /// The qualifiers, in order.
    pub qualifiers: Vec<Qualifier>,
}

/// A qualifier, with the span of its first token.
#[derive(Clone)]
pub struct Qualifier {
    /// Its kind.
    pub kind: Kind,
    /// Its span.
    pub span: Span,
}

/// The kind of a qualifier.
#[derive(Clone)]
pub enum Kind {
    /// `p <- xs`; several are in step: `p <- xs | q <- ys`.
    Generators(Vec<Generator>),
    /// A condition.
    Filter(TokenStream),
    /// `let p = e`
    Let(Pattern, TokenStream),
    /// `order by k`, `order by (k, l desc)`: keys, and whether the largest comes first.
    Order(Vec<(TokenStream, bool)>),
    /// `take n`
    Take(TokenStream),
    /// `distinct`
    Distinct,
    /// `group by k`, `group by p = e`
    Group(Option<Pattern>, TokenStream),
    /// `while c { x = e; let p = f; }`
    While(TokenStream, Vec<Assignment>),
}

/// A statement of a loop: `x = e`, or `let p = e`.
#[derive(Clone)]
pub struct Assignment {
    /// The variables that are assigned or bound.
    pub pattern: Pattern,
    /// The value.
    pub value: TokenStream,
    /// Whether it is a `let`, whose variables are new in every round.
    pub is_new: bool,
    /// The span of its first token.
    pub span: Span,
}

/// One generator.
#[derive(Clone)]
pub struct Generator {
    /// The pattern that is bound.
    pub pattern: Pattern,
    /// The source that it draws from.
    pub source: TokenStream,
    /// The span of its first token.
    pub span: Span,
}

const SYNTAX: &str = "a comprehension is `e | q, q, …`, where a qualifier is a generator `p <- xs`, a condition, `let p = e`, \
                      `order by k`, `take n`, `distinct`, `group by k` or `while c { x = e }`";

/// Parses `e | q, q, …`.
pub fn comprehension(tokens: TokenStream) -> Result<Comprehension> {
    let span = first_span(&tokens).unwrap_or_else(Span::call_site);
    let (head, behind) = split_once(tokens, Separator::Bar);
    let Some(behind) = behind else {
        let python =
            head.clone().into_iter().find(|word| matches!(word, TokenTree::Ident(word) if word == "for"));
        let (span, hint) = match (has(&head, Separator::Arrow), python) {
            (true, _) => (
                span,
                "write what an element is, and `|`, before the first generator: `[x + y | x <- xs, y <- ys]`",
            ),
            (false, Some(word)) => (word.span(), "write `| x <- xs, x > 0` for `for x in xs if x > 0`"),
            (false, None) => (span, SYNTAX),
        };
        return Err(Error::new(span, hint));
    };
    if head.is_empty() {
        return Err(Error::new(span, "write what an element is before the `|`: `[x + 1 | x <- xs]`"));
    }
    let qualifiers = qualifiers(behind, span)?;
    Ok(Comprehension { head, qualifiers })
}

/// Parses `q, q, …`.
pub fn qualifiers(tokens: TokenStream, span: Span) -> Result<Vec<Qualifier>> {
    let mut parts = split(tokens, Separator::Comma);
    if parts.last().is_some_and(TokenStream::is_empty) {
        parts.pop();
    }
    if parts.is_empty() {
        return Err(Error::new(span, SYNTAX));
    }
    parts.into_iter().map(|part| qualifier(part, span)).collect()
}

fn qualifier(tokens: TokenStream, outside: Span) -> Result<Qualifier> {
    let Some(span) = first_span(&tokens) else {
        return Err(Error::new(outside, "there is a comma too many: a qualifier stands between two of them"));
    };
    let words: Vec<TokenTree> = tokens.clone().into_iter().take(2).collect();
    let is = |at: usize, word: &str| matches!(words.get(at), Some(TokenTree::Ident(ident)) if ident == word);
    let rest = |count: usize| -> TokenStream { tokens.clone().into_iter().skip(count).collect() };
    let kind = if is(0, "let") {
        binding(rest(1), span)?
    } else if is(0, "order") && is(1, "by") {
        Kind::Order(keys(rest(2), span)?)
    } else if is(0, "group") && is(1, "by") {
        group(rest(2), span)?
    } else if is(0, "take") && !matches!(words.get(1), None | Some(TokenTree::Punct(_))) {
        Kind::Take(rest(1))
    } else if is(0, "distinct") && words.len() == 1 {
        Kind::Distinct
    } else if is(0, "while") {
        repetition(rest(1), span)?
    } else if is(0, "for") || is(1, "in") {
        return Err(Error::new(span, "a generator is written `x <- xs`"));
    } else if is(0, "if") || is(0, "where") && words.len() > 1 {
        return Err(Error::new(span, "a condition stands by itself: `x > 0`"));
    } else if is(0, "then") {
        return Err(Error::new(span, "write `order by k`, `take n` or `group by k`"));
    } else if let Some(message) = unknown_clause(&words) {
        return Err(Error::new(span, message));
    } else {
        let branches = split(tokens.clone(), Separator::Bar);
        match branches.iter().any(|branch| has(branch, Separator::Arrow)) {
            true => {
                Kind::Generators(branches.into_iter().map(|one| generator(one, span)).collect::<Result<_>>()?)
            }
            false => Kind::Filter(tokens),
        }
    };
    Ok(Qualifier { kind, span })
}

/// Returns what to write instead of an unknown clause: two words, or a word and a number, that no expression of Rust begins with.
fn unknown_clause(words: &[TokenTree]) -> Option<String> {
    let [TokenTree::Ident(first), second] = words else { return None };
    let (first, second) = (
        first.to_string(),
        match second {
            TokenTree::Ident(second) => second.to_string(),
            TokenTree::Literal(_) => String::new(),
            _ => return None,
        },
    );
    let begins_an_expression =
        ["match", "unsafe", "move", "loop", "async", "const", "return", "break", "true", "false"];
    if second == "as" || begins_an_expression.contains(&first.as_str()) {
        return None;
    }
    let instead = match (first.as_str(), second.as_str()) {
        (_, "and" | "or") | ("not", _) => "write `&&`, `||` and `!`",
        ("order" | "sort" | "sorted" | "orderby", _) => "write `order by k`, or `order by k desc`",
        ("group" | "groupby", _) => "write `group by k`",
        ("limit" | "first" | "head" | "top" | "fetch", _) => "write `take n`",
        ("unique", _) => "write `distinct`",
        ("having" | "filter" | "when" | "unless" | "and", _) => "a condition stands by itself: `x > 0`",
        ("from" | "join", _) => "a generator is written `x <- xs`",
        (_, "desc" | "asc") => "write `order by k desc`",
        _ => SYNTAX,
    };
    let clause = format!("{first} {second}");
    Some(format!("there is no clause `{}`: {instead}", clause.trim_end()))
}

fn generator(tokens: TokenStream, outside: Span) -> Result<Generator> {
    let span = first_span(&tokens).unwrap_or(outside);
    let (pattern, source) = split_once(tokens, Separator::Arrow);
    let Some(source) = source else {
        let message = "`|` beside a generator draws from two arrays in step: `x <- xs | y <- ys`; write `||` for \"or\", and \
                       parentheses around an `|` of bits";
        return Err(Error::new(span, message));
    };
    if source.is_empty() || has(&source, Separator::Arrow) {
        return Err(Error::new(
            span,
            "write what to draw from behind `<-`, and a comma before the next qualifier",
        ));
    }
    let words: Vec<TokenTree> = source.clone().into_iter().collect();
    let is_condition = |words: &[TokenTree]| {
        let is_if = matches!(&words[1], TokenTree::Ident(word) if word == "if" || word == "where");
        is_if && !matches!(words[0], TokenTree::Punct(_))
    };
    if let Some(words) = words.windows(2).find(|words| is_condition(words)) {
        let message = "a condition is a qualifier of its own: `x <- xs, x > 0`";
        return Err(Error::new(words[1].span(), message));
    }
    Ok(Generator { pattern: before_arrow(pattern, span)?, source: name_brackets(source), span })
}

fn binding(tokens: TokenStream, span: Span) -> Result<Kind> {
    let read = |input: ParseStream<'_>| {
        let pattern = typed(input)?;
        input.parse::<Token![=]>()?;
        Ok((pattern, input.parse::<TokenStream>()?))
    };
    let (pattern, value) = read.parse2(tokens).map_err(|error| {
        Error::new(
            if error.span().source_text().is_some() { error.span() } else { span },
            format!("{error}: write `let p = e`"),
        )
    })?;
    if value.is_empty() {
        return Err(Error::new(span, "write `let p = e`"));
    }
    Ok(Kind::Let(pattern, value))
}

/// Parses a loop: a condition, and statements in braces.
fn repetition(tokens: TokenStream, span: Span) -> Result<Kind> {
    const HINT: &str = "write `while c { x = e; y = f }`";
    let mut condition: Vec<TokenTree> = tokens.into_iter().collect();
    let body = match condition.pop() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body,
        _ => return Err(Error::new(span, HINT)),
    };
    if condition.is_empty() {
        return Err(Error::new(span, HINT));
    }
    let statements = split(body.stream(), Separator::Semicolon);
    let statements = statements.into_iter().filter(|statement| !statement.is_empty()).map(assignment);
    Ok(Kind::While(condition.into_iter().collect(), statements.collect::<Result<_>>()?))
}

fn assignment(tokens: TokenStream) -> Result<Assignment> {
    const HINT: &str = "in a loop stand assignments `x = e` and `let p = e`";
    let span = first_span(&tokens).unwrap_or_else(Span::call_site);
    let mut words = tokens.clone().into_iter();
    if matches!(words.next(), Some(TokenTree::Ident(word)) if word == "let") {
        return match binding(words.collect(), span)? {
            Kind::Let(pattern, value) => Ok(Assignment { pattern, value, is_new: true, span }),
            _ => Err(Error::new(span, HINT)),
        };
    }
    let (left, value) = match syn::parse2::<Expr>(name_brackets(tokens)) {
        Ok(Expr::Assign(assign)) => (*assign.left, assign.right.into_token_stream()),
        Ok(Expr::Binary(binary)) => {
            let sign = match binary.op {
                syn::BinOp::AddAssign(_) => quote!(+),
                syn::BinOp::SubAssign(_) => quote!(-),
                syn::BinOp::MulAssign(_) => quote!(*),
                syn::BinOp::DivAssign(_) => quote!(/),
                syn::BinOp::RemAssign(_) => quote!(%),
                _ => return Err(Error::new(span, HINT)),
            };
            let (left, right) = (*binary.left, binary.right);
            let value = quote_spanned!(span=> #left #sign (#right));
            (left, value)
        }
        _ => return Err(Error::new(span, HINT)),
    };
    match &left {
        Expr::Path(path) if path.path.get_ident().is_some() => Ok(Assignment {
            pattern: before_arrow(left.to_token_stream(), span)?,
            value,
            is_new: false,
            span,
        }),
        _ => Err(Error::new(span, HINT)),
    }
}

/// Parses the keys of `order by`: one, or several in parentheses, each with `desc` behind it if the largest comes first.
fn keys(tokens: TokenStream, span: Span) -> Result<Vec<(TokenStream, bool)>> {
    const HINT: &str = "write `order by k`, `order by k desc` or `order by (k, l desc)`";
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let parts = match trees.as_slice() {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
            let mut parts = split(group.stream(), Separator::Comma);
            if parts.last().is_some_and(TokenStream::is_empty) {
                parts.pop();
            }
            parts
        }
        _ => vec![tokens],
    };
    let key = |part: TokenStream| {
        let mut trees: Vec<TokenTree> = part.into_iter().collect();
        let last = trees.last().map(ToString::to_string);
        let falls = last.as_deref() == Some("desc");
        if trees.len() > 1 && (falls || last.as_deref() == Some("asc")) {
            trees.pop();
        }
        match trees.is_empty() {
            true => Err(Error::new(span, HINT)),
            false => Ok((trees.into_iter().collect(), falls)),
        }
    };
    match parts.is_empty() {
        true => Err(Error::new(span, HINT)),
        false => parts.into_iter().map(key).collect(),
    }
}

/// Parses the key of `group by`: an expression, or a pattern for one. A name, or a tuple of names, is both.
fn group(tokens: TokenStream, span: Span) -> Result<Kind> {
    if tokens.is_empty() {
        return Err(Error::new(span, "write `group by k`, or `group by k = e` to name the key"));
    }
    let named = |input: ParseStream<'_>| {
        let pattern = typed(input)?;
        input.parse::<Token![=]>()?;
        Ok((pattern, input.parse::<TokenStream>()?))
    };
    if let Ok((pattern, key)) = named.parse2(tokens.clone()) {
        return Ok(Kind::Group(Some(pattern), key));
    }
    let pattern = Pat::parse_single.parse2(tokens.clone()).ok().and_then(|pat| checked(pat).ok());
    let is_made_of_names =
        pattern.as_ref().is_some_and(|pattern| !pattern.tokens.to_string().contains(['_', '.']));
    Ok(Kind::Group(pattern.filter(|_| is_made_of_names), tokens))
}

/// The source of a generator.
pub enum Source {
    /// `a..b`, `a..=b`, `a..`, `range(a, b)`
    Range { from: Expr, to: Option<Expr>, closed: bool },
    /// `xs[a..b]` and its like.
    Slice { array: Expr, from: Option<Expr>, to: Option<Expr>, closed: bool },
    /// `m[i]`
    Row { array: Expr, index: Expr },
    /// `[e | …]`, `comp![e | …]`
    Inner(Comprehension),
    /// An array.
    Array(Expr),
}

/// Parses the source of a generator.
pub fn source(tokens: &TokenStream) -> Result<Source> {
    let mut expr: Expr = syn::parse2(tokens.clone())?;
    while let Expr::Paren(paren) = expr {
        expr = *paren.expr;
    }
    let is_closed = |limits: &syn::RangeLimits| matches!(limits, syn::RangeLimits::Closed(_));
    Ok(match expr {
        Expr::Range(range) => {
            let Some(from) = range.start else {
                return Err(Error::new_spanned(range, "a range has a beginning: `0..n`"));
            };
            Source::Range { from: *from, closed: is_closed(&range.limits), to: range.end.map(|end| *end) }
        }
        Expr::Call(call) if is_path(&call.func, "range") => {
            let mut bounds = call.args.clone().into_iter();
            match (bounds.next(), bounds.next(), bounds.next()) {
                (Some(from), Some(to), None) => Source::Range { from, to: Some(to), closed: false },
                _ => return Err(Error::new_spanned(call, "write `range(a, b)`, or `a..b`")),
            }
        }
        Expr::Index(index) => match *index.index {
            Expr::Range(range) => Source::Slice {
                array: *index.expr,
                from: range.start.map(|start| *start),
                closed: is_closed(&range.limits),
                to: range.end.map(|end| *end),
            },
            row => Source::Row { array: *index.expr, index: row },
        },
        Expr::Macro(call) if call.mac.path.is_ident("comp") => Source::Inner(comprehension(call.mac.tokens)?),
        expr => Source::Array(expr),
    })
}

fn is_path(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident(name))
}

/// Returns the free names of an expression behind qualifiers, and of these qualifiers.
pub fn live<'a>(qualifiers: impl DoubleEndedIterator<Item = &'a Qualifier>, head: &TokenStream) -> Names {
    qualifiers.rev().fold(crate::tokens::names(head), |mut live, qualifier| {
        // Reductions behind a group are of variables that were bound before it.
        if !matches!(qualifier.kind, Kind::Group(..)) {
            let bound = qualifier.binds();
            live.retain(|name| !bound.iter().any(|bound| bound == name));
        }
        live.extend(qualifier.mentions());
        live
    })
}

impl Qualifier {
    /// Whether it applies to all elements together, and not to each by itself.
    pub fn is_of_all(&self) -> bool {
        matches!(self.kind, Kind::Order(_) | Kind::Take(_) | Kind::Distinct | Kind::Group(..))
    }

    /// Returns the names that it binds.
    pub fn binds(&self) -> Vec<Ident> {
        match &self.kind {
            Kind::Generators(generators) => {
                generators.iter().flat_map(|generator| generator.pattern.names.clone()).collect()
            }
            Kind::Let(pattern, _) | Kind::Group(Some(pattern), _) => pattern.names.clone(),
            Kind::While(_, body) => {
                let assigned = body.iter().filter(|one| !one.is_new);
                assigned.flat_map(|one| one.pattern.names.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the expressions in it, to change them.
    pub fn expressions(&mut self) -> Vec<&mut TokenStream> {
        match &mut self.kind {
            Kind::Generators(generators) => {
                generators.iter_mut().map(|generator| &mut generator.source).collect()
            }
            Kind::Filter(tokens) | Kind::Let(_, tokens) | Kind::Take(tokens) | Kind::Group(_, tokens) => {
                vec![tokens]
            }
            Kind::Order(keys) => keys.iter_mut().map(|(key, _)| key).collect(),
            Kind::Distinct => Vec::new(),
            Kind::While(condition, body) => {
                std::iter::once(condition).chain(body.iter_mut().map(|one| &mut one.value)).collect()
            }
        }
    }

    /// Returns the names that its expressions mention.
    pub fn mentions(&self) -> Names {
        let mut mentions: Names =
            self.clone().expressions().into_iter().flat_map(|tokens| crate::tokens::names(tokens)).collect();
        if matches!(self.kind, Kind::While(..)) {
            // A variable that is assigned to has a value before.
            mentions.extend(self.binds().iter().map(Ident::to_string));
        }
        mentions
    }
}
