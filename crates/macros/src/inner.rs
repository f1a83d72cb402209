//! Inner arrays: one array per element, computed for all elements at once, as rows of different lengths.
//!
//! A variable of an inner array is the number of its row, and [`Outer`] knows the rows. A chain of methods of one (`row.sort().scan(f)`)
//! is the same methods of all rows, in statements before the comprehension; the stages make the rows of an inner comprehension.

use crate::expression::{Outer, expression, parsed};
use crate::parse::{
    Comprehension, Generator, Kind, Qualifier, Source, comprehension as comprehension_of, source,
};
use crate::tokens::{Names, mention, names};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{Error, Expr, ExprMethodCall, Result};

/// The methods of inner arrays that give inner arrays, with their numbers of arguments.
const ARRAYS: [(&str, usize); 5] = [("map", 1), ("filter", 1), ("scan", 1), ("sort", 0), ("sort_by_key", 1)];

/// The methods of inner arrays that give one value, with their numbers of arguments.
const VALUES: [(&str, usize); 8] =
    [("size", 0), ("sum", 0), ("min", 0), ("max", 0), ("argmin", 0), ("argmax", 0), ("fold", 2), ("at", 1)];

const USES: &str = "draw from it (`x <- row`, `sum![x | x <- row]`), take an element (`row[k]`), or call one of its methods: `size`, \
                    `sum`, `min`, `max`, `argmin`, `argmax`, `fold`, `map`, `filter`, `scan`, `sort`, `sort_by_key`";

fn is_in(methods: &[(&str, usize)], call: &ExprMethodCall) -> bool {
    methods.iter().any(|(name, count)| call.method == name && call.args.len() == *count)
}

/// An inner array: its root, and the methods that are called on it, in order.
pub struct Chain {
    /// A variable, or the expression that makes the array.
    pub root: Expr,
    /// The calls.
    pub calls: Vec<ExprMethodCall>,
}

/// Strips parentheses from an expression.
fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => bare(&paren.expr),
        Expr::Group(group) => bare(&group.expr),
        expr => expr,
    }
}

/// Whether an expression is the variable of an inner array.
fn is_variable(expr: &Expr, outer: &Outer) -> bool {
    match bare(expr) {
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| outer.inner(name).is_some()),
        _ => false,
    }
}

/// Whether an expression makes an inner array without a name: a comprehension, a part of an array.
pub fn is_made(expr: &Expr, bound: &Names, outer: &Outer) -> bool {
    let depends = || outer.each_has_its_own || mention(&expr.to_token_stream(), bound).is_some();
    match bare(expr) {
        Expr::Macro(call) => call.mac.path.is_ident("comp") && depends(),
        Expr::Index(index) => matches!(*index.index, Expr::Range(_)) && depends(),
        _ => false,
    }
}

/// Whether a generator can draw from an inner array element by element, without materialising it: from a part of an array, or from a
/// comprehension whose qualifiers apply to each element by itself. In step with others, these must give one element for each.
pub fn is_drawn_from(expr: &Expr, in_step: bool, bound: &Names, outer: &Outer) -> bool {
    let is_drawn = |inner: Comprehension| match in_step {
        true => is_counted(&inner, bound, outer),
        false => !inner.qualifiers.iter().any(Qualifier::is_of_all),
    };
    let is_drawn = match bare(expr) {
        // What is no comprehension is reported where it is used.
        Expr::Macro(call) => comprehension_of(call.mac.tokens.clone()).map_or(true, is_drawn),
        _ => true,
    };
    is_drawn && is_made(expr, bound, outer)
}

/// Whether the number of a comprehension's elements is known without computing them: that of one generator, with bindings behind it.
fn is_counted(inner: &Comprehension, bound: &Names, outer: &Outer) -> bool {
    let Some((first, rest)) = inner.qualifiers.split_first() else { return false };
    let Kind::Generators(generators) = &first.kind else { return false };
    // The qualifiers of a comprehension that is drawn from alone take the generator's place.
    let is_inlined = |generator: &Generator| {
        generators.len() == 1 && matches!(source(&generator.source), Ok(Source::Inner(_)))
    };
    let is_known = |generator: &Generator| {
        !is_inlined(generator) && !makes(&generator.source, Drawing::InStep, bound, outer)
    };
    let mut inside = bound.clone();
    inside.extend(first.binds().iter().map(Ident::to_string));
    let mut is_plain = |qualifier: &Qualifier| {
        let Kind::Let(pattern, value) = &qualifier.kind else { return false };
        let is_value = !makes(value, Drawing::Never, &inside, outer);
        inside.extend(pattern.names.iter().map(Ident::to_string));
        is_value
    };
    generators.iter().all(is_known)
        && rest.iter().all(&mut is_plain)
        && !makes(&inner.head, Drawing::Never, &inside, outer)
}

/// Whether an indexing expression must be a row of an array with rows, because only a row has the method that is called.
fn is_row(expr: &Expr, call: &ExprMethodCall, bound: &Names) -> bool {
    let is_element = ["map", "filter", "at"].iter().any(|name| call.method == name);
    matches!(bare(expr), Expr::Index(_)) && !is_element && mention(&expr.to_token_stream(), bound).is_some()
}

/// Returns the inner array that an expression is, if it is one.
pub fn chain(expr: &Expr, bound: &Names, outer: &Outer) -> Option<Chain> {
    let expr = bare(expr);
    if is_variable(expr, outer) || is_made(expr, bound, outer) {
        return Some(Chain { root: expr.clone(), calls: Vec::new() });
    }
    match expr {
        Expr::MethodCall(call) if is_in(&ARRAYS, call) => {
            let mut chain = receiver(call, bound, outer)?;
            chain.calls.push(call.clone());
            Some(chain)
        }
        _ => None,
    }
}

fn receiver(call: &ExprMethodCall, bound: &Names, outer: &Outer) -> Option<Chain> {
    let is_known = is_in(&ARRAYS, call) || is_in(&VALUES, call);
    match chain(&call.receiver, bound, outer) {
        None if is_known && is_row(&call.receiver, call, bound) => {
            Some(Chain { root: bare(&call.receiver).clone(), calls: Vec::new() })
        }
        chain => chain,
    }
}

/// A value of an inner array: an element by its number, or the result of a method.
pub enum Taken {
    /// `row[k]`
    Element(Expr),
    /// `row.sum()` and its like.
    Method(ExprMethodCall),
}

/// Returns the inner array that an expression takes a value of, and the value. Any other method of an inner array is an error.
pub fn taken(expr: &Expr, bound: &Names, outer: &Outer) -> Result<Option<(Chain, Taken)>> {
    Ok(match expr {
        Expr::Index(index) if !matches!(*index.index, Expr::Range(_)) => {
            chain(&index.expr, bound, outer).map(|chain| (chain, Taken::Element((*index.index).clone())))
        }
        Expr::MethodCall(call) => match receiver(call, bound, outer) {
            Some(chain) if is_in(&VALUES, call) => Some((
                chain,
                match call.args.first() {
                    Some(number) if call.method == "at" => Taken::Element(number.clone()),
                    _ => Taken::Method(call.clone()),
                },
            )),
            Some(_) if !is_in(&ARRAYS, call) => {
                let known = ARRAYS.iter().chain(&VALUES).find(|(name, _)| call.method == name);
                let message = match known {
                    Some((name, count)) => {
                        let s = if *count == 1 { "" } else { "s" };
                        format!("`{name}` of an inner array takes {count} argument{s}")
                    }
                    None => format!("an inner array has no method `{}`: {USES}", call.method),
                };
                return Err(Error::new(call.method.span(), message));
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns the error for an inner array that is used as an element.
pub fn refuse(name: &Ident) -> Error {
    Error::new(name.span(), format!("`{name}` is an inner array, which no element can be: {USES}"))
}

/// Message for an inner array at a place where none can be made.
pub const MADE: &str = "an inner array cannot be made here: bind it with `let`, as a qualifier of its own, or reduce it (`sum![…]`)";

/// Returns the rows of a chain that begins with a variable, and the number of its row.
pub fn rows(chain: Chain, bound: &Names, outer: &mut Outer) -> Result<(Ident, Ident)> {
    let variable = match &chain.root {
        Expr::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    };
    let Some((variable, mut rows)) = variable.and_then(|name| Some((name.clone(), outer.inner(&name)?)))
    else {
        return Err(Error::new(chain.root.span(), MADE));
    };
    for call in chain.calls {
        let method = &call.method;
        let made = called(&rows, &call, bound, outer)?;
        let span = method.span();
        rows = outer.fresh("rows");
        outer.add(quote_spanned!(span=> let #rows = #made;));
    }
    Ok((rows, variable))
}

/// Emits a call of a method of rows.
fn called(rows: &Ident, call: &ExprMethodCall, bound: &Names, outer: &mut Outer) -> Result<TokenStream> {
    let (method, span) = (&call.method, call.method.span());
    let mut arguments = Vec::new();
    for argument in &call.args {
        let (own, body) = match argument {
            Expr::Closure(closure) => {
                (names(&closure.inputs.to_token_stream()), closure.body.to_token_stream())
            }
            argument => (Names::new(), argument.to_token_stream()),
        };
        let others: Names = bound.difference(&own).cloned().collect();
        if let Some(ident) = mention(&body, &others) {
            let message = format!(
                "this depends on `{ident}`, and `{method}` is done to the inner arrays of all elements at once: write a \
                 comprehension, `[f(x, {ident}) | x <- row]`, or `fold!(…)`"
            );
            return Err(Error::new(ident.span(), message));
        }
        arguments.push(expression(argument.clone(), &own, outer)?);
    }
    Ok(quote_spanned!(span=> #rows.clone().#method(#(#arguments),*)))
}

/// Emits a value of an inner array, as an expression of the number of its row.
pub fn value(chain: Chain, taken: Taken, bound: &Names, outer: &mut Outer) -> Result<TokenStream> {
    let (rows, row) = rows(chain, bound, outer)?;
    let call = match taken {
        Taken::Element(number) => {
            let span = number.span();
            let number = expression(number, bound, outer)?;
            return Ok(quote_spanned!(span=> ::pumice::comprehension::row_at(&#rows, #row, #number)));
        }
        Taken::Method(call) => call,
    };
    let (name, span) = (call.method.to_string(), call.method.span());
    if name == "size" {
        return Ok(quote_spanned!(span=> ::pumice::comprehension::row_count(&#rows, #row)));
    }
    let is_option = ["min", "max", "argmin", "argmax"].contains(&name.as_str());
    let mut of_all = call;
    let mut get = Ident::new("of_row", span);
    if is_option {
        of_all.method = format_ident!("{name}_some", span = span);
        get = Ident::new("of_row_present", span);
    }
    let (values, made) = (outer.fresh(&name), called(&rows, &of_all, bound, outer)?);
    outer.add(quote_spanned!(span=> let #values = #made;));
    Ok(quote_spanned!(span=> ::pumice::comprehension::#get(&#values, #row)))
}

/// Whether an expression is the source of a generator, which draws from some inner arrays without materialising them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Drawing {
    /// It is not.
    Never,
    /// It is that of a generator by itself.
    Alone,
    /// It is that of one of several generators in step.
    InStep,
}

impl Drawing {
    /// Returns what holds for the sources of these generators.
    pub fn of(generators: &[Generator]) -> Drawing {
        if generators.len() > 1 { Drawing::InStep } else { Drawing::Alone }
    }
}

/// Whether an expression makes inner arrays of these variables.
pub fn makes(tokens: &TokenStream, drawing: Drawing, bound: &Names, outer: &Outer) -> bool {
    struct Finder<'a> {
        bound: &'a Names,
        outer: &'a Outer,
        found: bool,
    }
    impl VisitMut for Finder<'_> {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            let is_root = |chain: &Chain| !is_variable(&chain.root, self.outer);
            let array = chain(expr, self.bound, self.outer);
            let value = taken(expr, self.bound, self.outer).ok().flatten().map(|(chain, _)| chain);
            self.found |= array.or(value).as_ref().is_some_and(is_root);
            visit_expr_mut(self, expr);
        }
    }
    let Ok(mut expr) = parsed(tokens.clone()) else { return false };
    let mut finder = Finder { bound, outer, found: false };
    let is_drawn =
        drawing != Drawing::Never && is_drawn_from(&expr, drawing == Drawing::InStep, bound, outer);
    match is_drawn {
        true => false,
        false => {
            finder.visit_expr_mut(&mut expr);
            finder.found
        }
    }
}

/// Returns the array with rows and the number of the row, if an expression is a row of one: `rows[i]`.
pub fn row_of<'a>(expr: &'a Expr, bound: &Names) -> Option<(&'a Expr, &'a Expr)> {
    match bare(expr) {
        Expr::Index(index)
            if !matches!(*index.index, Expr::Range(_))
                && mention(&index.index.to_token_stream(), bound).is_some()
                && mention(&index.expr.to_token_stream(), bound).is_none() =>
        {
            Some((&index.expr, &index.index))
        }
        _ => None,
    }
}

/// Returns the comprehension that makes an inner array, from the expression that is written for one.
pub fn comprehension(root: &Expr, outer: &mut Outer) -> Result<crate::parse::Comprehension> {
    match root {
        Expr::Macro(call) => crate::parse::comprehension(call.mac.tokens.clone()),
        source => {
            let (span, element) = (source.span(), outer.fresh("x"));
            crate::parse::comprehension(quote_spanned!(span=> #element | #element <- #source))
        }
    }
}

/// Replaces the root of an inner array by a variable, in an expression that is one or takes a value of one.
pub fn name_root(expr: &mut Expr, name: &Ident) {
    match expr {
        Expr::Paren(paren) => name_root(&mut paren.expr, name),
        Expr::Group(group) => name_root(&mut group.expr, name),
        Expr::MethodCall(call) => name_root(&mut call.receiver, name),
        root => *root = syn::parse_quote!(#name),
    }
}

/// Refuses a pattern that rebinds the name of an inner array.
pub fn refuse_shadowing(names: &[Ident], outer: &Outer) -> Result<()> {
    match names.iter().find(|name| outer.inner(name).is_some()) {
        Some(name) => Err(Error::new(
            name.span(),
            format!("`{name}` is the name of an inner array by now: choose another one"),
        )),
        None => Ok(()),
    }
}
