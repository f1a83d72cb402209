//! Rust expressions as users write them in comprehensions, rewritten to expressions of elements: comparisons, logic, `if`, `as`,
//! indices and reductions. Parts that do not depend on an element are computed before the comprehension ([`Outer`]).

use crate::inner;
use crate::parse::{Comprehension, comprehension};
use crate::reduction::{Reduction, is_reduction};
use crate::tokens::{Names, Separator, has, mention, name_brackets, names};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{BinOp, Block, Error, Expr, ExprBinary, ExprIf, ExprIndex, Lit, Result, Stmt, UnOp};

/// Statements before a comprehension, for everything that does not depend on its variables; the fresh names so far; and the rows of the
/// variables that are inner arrays.
#[derive(Default)]
pub struct Outer {
    statements: Vec<TokenStream>,
    count: usize,
    inner: HashMap<String, Ident>,
    /// Whether arrays that depend on no variable are inner arrays too: true for variables that a loop assigns to.
    pub each_has_its_own: bool,
}

impl Outer {
    /// Returns a fresh name.
    pub fn fresh(&mut self, name: &str) -> Ident {
        self.count += 1;
        format_ident!("__{}_{}", name.trim_start_matches("__"), self.count, span = Span::mixed_site())
    }

    /// Returns the rows of a variable, if it is an inner array.
    pub fn inner(&self, name: &Ident) -> Option<Ident> {
        self.inner.get(&name.to_string()).cloned()
    }

    /// Returns the rows of all variables that are inner arrays.
    pub fn all_inner(&mut self) -> &mut HashMap<String, Ident> {
        &mut self.inner
    }

    /// Forgets that names are inner arrays, because they are rebound.
    pub fn forget_inner(&mut self, names: &[Ident]) {
        self.inner.retain(|name, _| !names.iter().any(|other| other == name));
    }

    /// Adds a statement.
    pub fn add(&mut self, statement: TokenStream) {
        self.statements.push(statement);
    }

    /// Takes the statements so far.
    pub fn take(&mut self) -> Vec<TokenStream> {
        std::mem::take(&mut self.statements)
    }

    fn independent(&mut self, array: &Expr, bound: &Names, hint: &str) -> Result<TokenStream> {
        let tokens = array.to_token_stream();
        match mention(&tokens, bound) {
            Some(ident) => Err(Error::new(ident.span(), format!("this depends on `{ident}`, and {hint}"))),
            None => expression(array.clone(), &Names::new(), self),
        }
    }

    /// Names a vector.
    pub fn array(&mut self, array: Expr, bound: &Names, hint: &str) -> Result<Ident> {
        let (span, name) = (array.span(), self.fresh("array"));
        let array = self.independent(&array, bound, hint)?;
        self.add(quote_spanned!(span=> let #name = ::pumice::comprehension::vector(&#array);));
        Ok(name)
    }

    /// Names an array that has rows.
    pub fn rows(&mut self, array: Expr, bound: &Names, hint: &str) -> Result<Ident> {
        let (span, name) = (array.span(), self.fresh("rows"));
        let array = self.independent(&array, bound, hint)?;
        self.add(quote_spanned!(span=> let #name = &#array;));
        Ok(name)
    }

    /// Names the vector that a comprehension gives.
    pub fn comprehension(&mut self, inner: Comprehension, span: Span) -> Result<Ident> {
        let (name, value) = (self.fresh("array"), crate::stages::vector(inner)?);
        self.add(quote_spanned!(span=> let #name = #value;));
        Ok(name)
    }
}

/// Rewrites an expression over these variables.
pub fn expression(expr: Expr, bound: &Names, outer: &mut Outer) -> Result<TokenStream> {
    let mut expr = expr;
    let mut rewriter = Rewriter { bound, outer, error: None };
    rewriter.visit_expr_mut(&mut expr);
    match rewriter.error {
        Some(error) => Err(error),
        None => Ok(expr.into_token_stream()),
    }
}

/// Parses an expression.
pub fn parsed(tokens: TokenStream) -> Result<Expr> {
    syn::parse2(name_brackets(tokens)).map_err(|error| match error.to_string().contains("chained") {
        true => Error::new(error.span(), "comparisons are not chained: write `a < b && b < c`"),
        false => error,
    })
}

/// Rewrites an expression whose value is stored: literals in it become expressions too.
pub fn value(tokens: TokenStream, bound: &Names, outer: &mut Outer) -> Result<TokenStream> {
    let mut expr = parsed(tokens)?;
    lift(&mut expr);
    expression(expr, bound, outer)
}

/// Rewrites a condition.
pub fn condition(tokens: TokenStream, bound: &Names, outer: &mut Outer) -> Result<TokenStream> {
    let expr = parsed(tokens)?;
    let span = expr.span();
    let condition = expression(expr, bound, outer)?;
    Ok(quote_spanned!(span=> ::pumice::comprehension::condition(#condition)))
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_)),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)) && is_literal(&unary.expr),
        Expr::Paren(paren) => is_literal(&paren.expr),
        _ => false,
    }
}

/// Turns literals that are a value, or part of one, into expressions.
fn lift(expr: &mut Expr) {
    if is_literal(expr) {
        let span = expr.span();
        *expr = Expr::Verbatim(quote_spanned!(span=> ::pumice::constant(#expr)));
        return;
    }
    match expr {
        Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(lift),
        Expr::Paren(paren) => lift(&mut paren.expr),
        Expr::Block(block) => lift_block(&mut block.block),
        _ => (),
    }
}

fn lift_block(block: &mut Block) {
    if let Some(Stmt::Expr(last, None)) = block.stmts.last_mut() {
        lift(last);
    }
}

/// Whether an expression cannot fail, so that it may be computed in vain.
pub fn is_total(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(paren) => is_total(&paren.expr),
        Expr::Group(group) => is_total(&group.expr),
        Expr::Tuple(tuple) => tuple.elems.iter().all(is_total),
        Expr::Unary(unary) => is_total(&unary.expr),
        Expr::Cast(cast) => is_total(&cast.expr),
        Expr::Field(field) => is_total(&field.base),
        Expr::Binary(binary) => {
            let divides = matches!(binary.op, BinOp::Div(_) | BinOp::Rem(_));
            (!divides || is_nonzero(&binary.right)) && is_total(&binary.left) && is_total(&binary.right)
        }
        _ => false,
    }
}

/// Whether an expression is a number other than zero.
fn is_nonzero(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse::<u128>().is_ok_and(|number| number != 0),
            Lit::Float(_) => true,
            _ => false,
        },
        _ => false,
    }
}

struct Rewriter<'a> {
    bound: &'a Names,
    outer: &'a mut Outer,
    error: Option<Error>,
}

impl VisitMut for Rewriter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.error.is_some() {
            return;
        }
        let rewritten = self.rewrite(expr);
        match rewritten {
            Ok(Some(tokens)) => *expr = Expr::Verbatim(tokens),
            Ok(None) => visit_expr_mut(self, expr),
            Err(error) => self.error = Some(error),
        }
    }
}

impl Rewriter<'_> {
    /// Returns the tokens to write for an expression, unless it stays as it is.
    fn rewrite(&mut self, expr: &mut Expr) -> Result<Option<TokenStream>> {
        if let Some((chain, taken)) = inner::taken(expr, self.bound, self.outer)? {
            return inner::value(chain, taken, self.bound, self.outer).map(Some);
        }
        match expr {
            Expr::Assign(assign) => {
                let message = "`=` compares nothing: write `==`, or `let x = e` to bind a name";
                Err(Error::new(assign.eq_token.span, message))
            }
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if self.outer.inner(name).is_some() => Err(inner::refuse(name)),
                _ => Ok(None),
            },
            Expr::Binary(binary) => self.binary(binary),
            Expr::If(choice) => self.choice(choice),
            Expr::Cast(cast) if mention(&cast.expr.to_token_stream(), self.bound).is_some() => {
                let span = cast.as_token.span;
                let (value, ty) = (self.inner(&cast.expr)?, &cast.ty);
                Ok(Some(quote_spanned!(span=> (#value).cast::<#ty>())))
            }
            Expr::Index(index) if mention(&index.index.to_token_stream(), self.bound).is_some() => {
                let span = index.bracket_token.span.join();
                if matches!(*index.index, Expr::Range(_)) {
                    let message =
                        "a part of an array is not a value: draw from it with a generator, `x <- xs[a..b]`";
                    return Err(Error::new(span, message));
                }
                self.element(index, span).map(Some)
            }
            Expr::Index(index) if inner::row_of(&index.expr, self.bound).is_some() => {
                self.element(index, index.bracket_token.span.join()).map(Some)
            }
            Expr::Macro(call) => {
                let Some(name) = call.mac.path.get_ident().cloned() else { return Ok(None) };
                let tokens = call.mac.tokens.clone();
                if name == "comp" {
                    return self.array(tokens, name.span());
                }
                if !is_reduction(&name) {
                    return Ok(None);
                }
                let reduction = Reduction::parse(&name, tokens.clone())?;
                match names(&tokens).is_disjoint(self.bound) {
                    true => {
                        let (scalar, value) = (self.outer.fresh("scalar"), reduction.of_all()?);
                        self.outer.add(quote_spanned!(name.span()=> let #scalar = #value;));
                        Ok(Some(quote_spanned!(name.span()=> #scalar.the())))
                    }
                    false => reduction.of_each(self.bound, self.outer).map(Some),
                }
            }
            _ => Ok(None),
        }
    }

    /// Rewrites `xs[i]`, or `rows[i][j]`.
    fn element(&mut self, index: &ExprIndex, span: Span) -> Result<TokenStream> {
        let number = self.inner(&index.index)?;
        if let Some((rows, row)) = inner::row_of(&index.expr, self.bound) {
            let row = self.inner(row)?;
            return Ok(quote_spanned!(span=> ::pumice::comprehension::row_at(&#rows, #row, #number)));
        }
        let array = self.inner(&index.expr)?;
        Ok(quote_spanned!(span=> #array.at(#number)))
    }

    fn inner(&mut self, expr: &Expr) -> Result<TokenStream> {
        expression(expr.clone(), self.bound, self.outer)
    }

    /// Rewrites a comprehension inside of an expression: an array that does not depend on elements, because inner arrays are values by now.
    fn array(&mut self, tokens: TokenStream, span: Span) -> Result<Option<TokenStream>> {
        if let Some(ident) = mention(&tokens, self.bound) {
            return Err(Error::new(span, format!("this array depends on `{ident}`, and {}", inner::MADE)));
        }
        let name = self.outer.comprehension(comprehension(tokens)?, span)?;
        Ok(Some(name.into_token_stream()))
    }

    fn binary(&mut self, binary: &ExprBinary) -> Result<Option<TokenStream>> {
        let span = binary.op.span();
        if let (BinOp::Eq(_) | BinOp::Ne(_), Expr::Tuple(left), Expr::Tuple(right)) =
            (&binary.op, &*binary.left, &*binary.right)
            && left.elems.len() == right.elems.len()
        {
            let pairs = left.elems.iter().zip(&right.elems);
            let mut all = quote_spanned!(span=> ::pumice::comprehension::condition(true));
            for (left, right) in pairs {
                let (left, right) = (self.inner(left)?, self.inner(right)?);
                all = quote_spanned!(span=> #all & ::pumice::comprehension::eq(#left, #right));
            }
            let is_equal = matches!(binary.op, BinOp::Eq(_));
            return Ok(Some(if is_equal {
                quote_spanned!(span=> (#all))
            } else {
                quote_spanned!(span=> (!(#all)))
            }));
        }
        let function = match &binary.op {
            BinOp::Eq(_) => "eq",
            BinOp::Ne(_) => "ne",
            BinOp::Lt(_) => "lt",
            BinOp::Le(_) => "le",
            BinOp::Gt(_) => "gt",
            BinOp::Ge(_) => "ge",
            BinOp::And(_) if is_total(&binary.right) => "and",
            BinOp::Or(_) if is_total(&binary.right) => "or",
            BinOp::And(_) => "and_then",
            BinOp::Or(_) => "or_else",
            _ => return Ok(None),
        };
        let (left, mut right) = (self.inner(&binary.left)?, self.inner(&binary.right)?);
        if matches!(function, "and_then" | "or_else") {
            right = quote_spanned!(span=> || #right);
        }
        let function = Ident::new(function, span);
        Ok(Some(quote_spanned!(span=> ::pumice::comprehension::#function(#left, #right))))
    }

    fn choice(&mut self, choice: &ExprIf) -> Result<Option<TokenStream>> {
        let span = choice.if_token.span;
        if matches!(*choice.cond, Expr::Let(_)) {
            return Ok(None);
        }
        let Some((_, otherwise)) = &choice.else_branch else {
            return Err(Error::new(span, "an `if` in a comprehension is a value, and needs an `else`"));
        };
        let mut then =
            Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block: choice.then_branch.clone() });
        let mut otherwise = (**otherwise).clone();
        lift(&mut then);
        lift(&mut otherwise);
        let (condition, then, otherwise) =
            (self.inner(&choice.cond)?, self.inner(&then)?, self.inner(&otherwise)?);
        let condition = quote_spanned!(span=> ::pumice::comprehension::condition(#condition));
        Ok(Some(quote_spanned!(span=> ::pumice::cond(#condition, || #then, || #otherwise))))
    }
}

/// Whether tokens are a comprehension, with qualifiers.
pub fn has_qualifiers(tokens: &TokenStream) -> bool {
    has(tokens, Separator::Bar)
}
