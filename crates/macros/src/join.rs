//! Joins: a generator over an array, and behind it a condition that asks for equal keys of an element and of what is bound before.
//!
//! The array is sorted by its key once, and each environment searches those with its own, so that pairs with other keys are never
//! made. The condition is found behind other conditions, bindings and generators too. These apply to what the join gives, and
//! may themselves fail only for fewer pairs than as written; keys are computed for elements that are in no pair, so that behind
//! anything that could have guarded them, they are keys only if they cannot fail.

use crate::expression::{Outer, is_total, parsed, value};
use crate::inner::{Drawing, chain, makes};
use crate::parse::{Generator, Kind, Qualifier, Source, live, source};
use crate::pattern::Pattern;
use crate::source::number;
use crate::tokens::{Names, has_macro, mention, names};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::VecDeque;
use syn::{BinOp, Expr, Result};

/// A join of an environment with the elements of a table that have the same key.
pub struct Join {
    /// The range of these elements in the table, as an expression of the environment.
    pub range: TokenStream,
    /// The names of the bounds of that range.
    pub first: Ident,
    pub end: Ident,
    /// Statements that bind the pattern, for the element of the range whose number is `__number`.
    pub bind: TokenStream,
}

impl Join {
    /// Emits the number of elements in the range.
    pub fn size(&self) -> TokenStream {
        let Join { first, end, .. } = self;
        quote!(#end - #first)
    }
}

/// Finds the keys of a join in the qualifiers behind a generator, takes them out, and sorts the array by its key. `None` if it is no join.
///
/// A binding that only keys mention is taken out too; `head` is what stands behind all qualifiers.
/// If the reduction that the generator is of is computed only `sometimes`, keys must not fail, and that of the array is of
/// nothing but its elements: the variables of blocks and closures around the reduction are not known where the array is sorted.
pub fn join(
    generators: &[Generator],
    behind: &mut VecDeque<Qualifier>,
    head: &TokenStream,
    bound: &Names,
    sometimes: bool,
    outer: &mut Outer,
) -> Result<Option<Join>> {
    let [Generator { pattern, source: from, span }] = generators else { return Ok(None) };
    let Ok(Source::Array(array)) = source(from) else { return Ok(None) };
    // An array that differs from element to element is not a table for all of them.
    if mention(&array.to_token_stream(), bound).is_some() {
        return Ok(None);
    }
    let theirs: Names = pattern.names.iter().map(Ident::to_string).collect();
    let ours: Names = bound.difference(&theirs).cloned().collect();
    let mut search =
        Search { ours, theirs, others: Names::new(), lets: Vec::new(), is_guarded: sometimes, sometimes };
    let (mut our_keys, mut their_keys, mut kept) = (Vec::new(), Vec::new(), VecDeque::new());
    while let Some(qualifier) = behind.pop_front() {
        match &qualifier.kind {
            Kind::Filter(tokens) => {
                let Ok(condition) = parsed(tokens.clone()) else {
                    behind.push_front(qualifier);
                    break;
                };
                let found = our_keys.len();
                let mut rest = Vec::new();
                for conjunct in conjuncts(condition) {
                    match search.keys(&conjunct, outer)? {
                        Some((our_key, their_key)) => {
                            our_keys.push(our_key);
                            their_keys.push(their_key);
                        }
                        None => rest.push(conjunct.to_token_stream()),
                    }
                    search.is_guarded = true;
                }
                let rest = rest.into_iter().reduce(|all, one| quote!((#all) && (#one)));
                match (found == our_keys.len(), rest) {
                    (true, _) => kept.push_back(qualifier),
                    (false, Some(rest)) => {
                        kept.push_back(Qualifier { kind: Kind::Filter(rest), ..qualifier })
                    }
                    (false, None) => (),
                }
            }
            Kind::Let(pattern, bound_to) => {
                search.bind(pattern, bound_to, qualifier.span, outer);
                kept.push_back(qualifier);
            }
            Kind::Generators(_) => {
                search.hide(&qualifier.binds());
                search.is_guarded = true;
                kept.push_back(qualifier);
            }
            _ => {
                behind.push_front(qualifier);
                break;
            }
        }
    }
    let mut repeated = Names::new();
    our_keys.iter().chain(&their_keys).for_each(|key| repeated.extend(names(key)));
    for qualifier in kept.into_iter().rev() {
        let later = live(behind.iter(), head);
        let is_in = |names: &Names, pattern: &Pattern| {
            pattern.names.iter().any(|name| names.contains(&name.to_string()))
        };
        let is_only_of_keys = |pattern: &Pattern| is_in(&repeated, pattern) && !is_in(&later, pattern);
        if !matches!(&qualifier.kind, Kind::Let(pattern, _) if is_only_of_keys(pattern)) {
            behind.push_front(qualifier);
        }
    }
    let pairs = |keys: Vec<TokenStream>| keys.into_iter().reduce(|pair, key| quote!((#pair, #key)));
    let (Some(our_key), Some(their_key)) = (pairs(our_keys), pairs(their_keys)) else { return Ok(None) };
    let (number, table) = (number(), outer.fresh("table"));
    let (first, end) = (outer.fresh("first"), outer.fresh("end"));
    let array = outer.array(array, &Names::new(), "")?;
    let (element, their_key) = (&pattern.tokens, pattern.before(&their_key));
    // The pattern is written twice, and each place may use only some of its names.
    let taken = pattern.bind_some(&quote_spanned!(*span=> #table.element(#first + #number)), *span);
    outer.add(quote_spanned!(*span=> #[allow(unused_variables)]
        let #table = ::pumice::comprehension::Table::new(#array, |#element| #their_key);));
    Ok(Some(Join { range: quote_spanned!(*span=> #table.range(#our_key)), bind: taken, first, end }))
}

/// The search for keys: what the names mean at one of the qualifiers behind the generator.
struct Search {
    /// Names that are bound before the generator, and names of values that are computed of these alone.
    ours: Names,
    /// The same of an element of the array.
    theirs: Names,
    /// Names that are bound behind the generator to anything else.
    others: Names,
    /// The bindings behind the generator that keys can repeat.
    lets: Vec<(Pattern, TokenStream, Span)>,
    /// Whether there may be no pairs for which this is computed.
    is_guarded: bool,
    sometimes: bool,
}

impl Search {
    /// Returns the keys of an equality: of what is bound before, and of an element.
    fn keys(&self, conjunct: &Expr, outer: &mut Outer) -> Result<Option<(TokenStream, TokenStream)>> {
        let Expr::Binary(binary) = conjunct else { return Ok(None) };
        if !matches!(binary.op, BinOp::Eq(_)) {
            return Ok(None);
        }
        let is_of = |expr: &Expr, side: &Names, other: &Names| {
            let tokens = expr.to_token_stream();
            mention(&tokens, side).is_some()
                && mention(&tokens, other).is_none()
                && mention(&tokens, &self.others).is_none()
        };
        let (left, right) = (&*binary.left, &*binary.right);
        let (our, their) = if is_of(left, &self.ours, &self.theirs) && is_of(right, &self.theirs, &self.ours)
        {
            (left, right)
        } else if is_of(right, &self.ours, &self.theirs) && is_of(left, &self.theirs, &self.ours) {
            (right, left)
        } else {
            return Ok(None);
        };
        let is_key = |expr: &Expr, side: &Names| !makes(&expr.to_token_stream(), Drawing::Never, side, outer);
        if !is_key(our, &self.ours) || !is_key(their, &self.theirs) {
            return Ok(None);
        }
        let (ours, theirs) = (self.needed(our), self.needed(their));
        let mut values = [our, their]
            .into_iter()
            .cloned()
            .map(Ok)
            .chain(ours.iter().chain(&theirs).map(|(_, value, _)| parsed(value.clone())));
        if self.is_guarded && !values.all(|value| value.is_ok_and(|value| is_total(&value))) {
            return Ok(None);
        }
        let is_free = |tokens: &TokenStream| !names(tokens).is_subset(&self.theirs);
        if self.sometimes
            && (is_free(&their.to_token_stream()) || theirs.iter().any(|(_, value, _)| is_free(value)))
        {
            return Ok(None);
        }
        let bound: Names = [&self.ours, &self.theirs, &self.others].into_iter().flatten().cloned().collect();
        Ok(Some((key(our, &ours, &bound, outer)?, key(their, &theirs, &bound, outer)?)))
    }

    /// Returns the bindings that an expression depends on.
    fn needed(&self, expr: &Expr) -> Vec<&(Pattern, TokenStream, Span)> {
        let (mut mentioned, mut needed) = (names(&expr.to_token_stream()), Vec::new());
        for binding @ (pattern, value, _) in self.lets.iter().rev() {
            let new: Names = pattern.names.iter().map(Ident::to_string).collect();
            if !mentioned.is_disjoint(&new) {
                mentioned.retain(|name| !new.contains(name));
                mentioned.extend(names(value));
                needed.push(binding);
            }
        }
        needed.reverse();
        needed
    }

    /// Takes a binding into account.
    fn bind(&mut self, pattern: &Pattern, value: &TokenStream, span: Span, outer: &Outer) {
        let is_of = |names: &Names| mention(value, names).is_some();
        let (is_ours, is_theirs) = (is_of(&self.ours), is_of(&self.theirs));
        let bound: Names = self.ours.union(&self.theirs).cloned().collect();
        let is_element = parsed(value.clone()).is_ok_and(|expr| chain(&expr, &bound, outer).is_none());
        let is_plain = is_element && !has_macro(value) && !makes(value, Drawing::Never, &bound, outer);
        let can_be_repeated = is_plain && is_ours != is_theirs && !is_of(&self.others);
        self.hide(&pattern.names);
        if can_be_repeated {
            let new: Names = pattern.names.iter().map(Ident::to_string).collect();
            self.others.retain(|name| !new.contains(name));
            if is_ours { &mut self.ours } else { &mut self.theirs }.extend(new);
            self.lets.push((pattern.clone(), value.clone(), span));
        }
    }

    /// Forgets what names meant, because they are bound again.
    fn hide(&mut self, new: &[Ident]) {
        for name in new.iter().map(Ident::to_string) {
            self.ours.remove(&name);
            self.theirs.remove(&name);
            self.others.insert(name);
        }
    }
}

/// Emits a key, behind the bindings that it needs.
fn key(
    expr: &Expr,
    lets: &[&(Pattern, TokenStream, Span)],
    bound: &Names,
    outer: &mut Outer,
) -> Result<TokenStream> {
    let key = value(expr.to_token_stream(), bound, outer)?;
    let mut bindings = TokenStream::new();
    for (pattern, bound_to, span) in lets {
        bindings.extend(pattern.bind_some(&value(bound_to.clone(), bound, outer)?, *span));
    }
    Ok(if bindings.is_empty() { key } else { quote!({ #bindings #key }) })
}

/// Splits a condition into its conjuncts.
fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition {
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            let mut all = conjuncts(*binary.left);
            all.extend(conjuncts(*binary.right));
            all
        }
        Expr::Paren(paren) => conjuncts(*paren.expr),
        condition => vec![condition],
    }
}
