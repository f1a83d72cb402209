//! Qualifiers of queries: joins, which are recognised by a condition behind a generator, and `group by`.

use super::{Stages, pairs, pattern, tuple, vector_name};
use crate::expression::{Outer, condition, parsed, value};
use crate::parse::{Generator, Kind, Pattern, Qualifier, Source, live, source};
use crate::reduction::{Reduction, is_reduction};
use crate::source::number;
use crate::tokens::{Names, Separator, mention, name_brackets, names, replace_macros, split, split_once};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{HashMap, VecDeque};
use syn::{BinOp, Error, Expr, Result};

impl Stages {
    /// Lowers a generator over an array to a join, if a condition behind it asks for equal keys: the array is sorted by its
    /// key, and each element of the vector is expanded to those with its own key. Returns whether it is a join.
    pub(super) fn join(
        &mut self,
        generators: &[Generator],
        queue: &mut VecDeque<Qualifier>,
        head: &TokenStream,
        span: Span,
    ) -> Result<bool> {
        let (
            [Generator { pattern: one, source: from, .. }],
            Some(Qualifier { kind: Kind::Filter(tokens), .. }),
        ) = (generators, queue.front())
        else {
            return Ok(false);
        };
        let (Source::Array(array), Ok(condition)) = (source(from)?, parsed(tokens.clone())) else {
            return Ok(false);
        };
        // An array that differs from element to element is not a table for all of them.
        if mention(&array.to_token_stream(), &self.bound()).is_some() {
            return Ok(false);
        }
        let new: Names = one.names.iter().map(Ident::to_string).collect();
        let old: Names = self.bound().difference(&new).cloned().collect();
        let is_of = |expr: &Expr, some: &Names, none: &Names| {
            let tokens = expr.to_token_stream();
            mention(&tokens, some).is_some() && mention(&tokens, none).is_none()
        };
        let (mut ours, mut theirs, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for conjunct in conjuncts(condition) {
            match &conjunct {
                Expr::Binary(binary) if matches!(binary.op, BinOp::Eq(_)) => {
                    let (left, right) = (&binary.left, &binary.right);
                    let sides = if is_of(left, &old, &new) && is_of(right, &new, &old) {
                        (left, right)
                    } else if is_of(right, &old, &new) && is_of(left, &new, &old) {
                        (right, left)
                    } else {
                        others.push(conjunct.to_token_stream());
                        continue;
                    };
                    ours.push(value(sides.0.to_token_stream(), &old, &mut self.outer)?);
                    theirs.push(value(sides.1.to_token_stream(), &new, &mut self.outer)?);
                }
                _ => others.push(conjunct.to_token_stream()),
            }
        }
        let (Some(our_key), Some(their_key)) = (pairs(ours), pairs(theirs)) else { return Ok(false) };
        let filter = queue.pop_front();
        if let (Some(filter), Some(rest)) =
            (filter, others.into_iter().reduce(|all, one| quote!((#all) && (#one))))
        {
            queue.push_front(Qualifier { kind: Kind::Filter(rest), ..filter });
        }
        let later = live(queue.iter(), head);
        self.joined(array, one, (our_key, their_key), &later, span)?;
        Ok(true)
    }

    /// Adds the operations of a join, with these keys of an environment and of an element of the array.
    fn joined(
        &mut self,
        array: Expr,
        one: &Pattern,
        (our_key, their_key): (TokenStream, TokenStream),
        later: &Names,
        span: Span,
    ) -> Result<()> {
        let (vector, number, table) = (vector_name(), number(), self.outer.fresh("table"));
        let (first, end) = (self.outer.fresh("first"), self.outer.fresh("end"));
        let array = self.outer.array(array, &Names::new(), "")?;
        let element = &one.tokens;
        // The pattern is written twice, and each place may use only some of its names.
        self.outer.add(quote_spanned!(span=> #[allow(unused_variables)]
            let #table = ::pumice::comprehension::Table::new(#array, |#element| #their_key);));
        let all = tuple(&self.environment);
        let searched = pattern(&self.environment, &self.bound());
        let ranges = quote_spanned!(span=> #vector.map(|#searched| (#all, #table.range(#our_key))));
        self.then(ranges, span);
        let environment = self.extended(&one.names, later);
        let kept = pattern(&self.environment, &self.mentioned(Names::new(), &environment, &one.names));
        let values = tuple(&environment);
        let expanded = quote_spanned!(span=> #[allow(unused_variables)] let #vector = #vector.expand(
            |(_, (#first, #end))| #end - #first,
            |(#kept, (#first, _)), #number| { let #element = #table.element(#first + #number); #values },
        ););
        self.add(expanded);
        self.environment = environment;
        Ok(())
    }

    /// Sorts by a key, and reduces the environments of each group. Behind it, the environment has the key and those reductions.
    pub(super) fn group(
        &mut self,
        named: Option<Pattern>,
        key: TokenStream,
        queue: &mut VecDeque<Qualifier>,
        head: &mut TokenStream,
        span: Span,
    ) -> Result<()> {
        let (bound, vector) = (self.bound(), vector_name());
        let key = value(key, &bound, &mut self.outer)?;
        let mut aggregates =
            Aggregates { outer: &mut self.outer, written: HashMap::new(), reductions: Vec::new() };
        // Behind the next `group by`, reductions are of its groups.
        let next = queue.iter().position(|qualifier| matches!(qualifier.kind, Kind::Group(..)));
        for qualifier in queue.iter_mut().take(next.map_or(usize::MAX, |next| next + 1)) {
            qualifier.expressions().into_iter().try_for_each(|tokens| aggregates.replace(tokens))?;
        }
        if next.is_none() {
            aggregates.replace(head)?;
        }
        let reductions = aggregates.reductions;
        let keys = named.as_ref().map_or(&[][..], |named| &named.names);
        refuse_keys(keys, &bound, reductions.iter().map(|(reduction, _)| reduction.head()))?;
        self.refuse_members(keys, queue, head)?;
        let (mut values, mut combined) = (Vec::new(), Vec::new());
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (reduction, reduced) in &reductions {
            let (a, b) =
                (self.outer.fresh(&format!("{reduced}_a")), self.outer.fresh(&format!("{reduced}_b")));
            values.push(match reduction.name().to_string().as_str() {
                "count" => quote!(::pumice::constant(1i64)),
                "any" | "all" => condition(reduction.head().clone(), &bound, &mut self.outer)?,
                _ => value(reduction.head().clone(), &bound, &mut self.outer)?,
            });
            let (left, right) = (a.to_token_stream(), b.to_token_stream());
            combined.push(reduction.combine(&left, &right, &bound, &mut self.outer)?);
            first.push(left);
            second.push(right);
        }
        let nothing = || quote!(::pumice::constant(true));
        let (values, combined) =
            (pairs(values).unwrap_or_else(nothing), pairs(combined).unwrap_or_else(nothing));
        let (first, second) = (pairs(first).unwrap_or(quote!(_)), pairs(second).unwrap_or(quote!(_)));
        let (by, of) =
            (pattern(&self.environment, &names(&key)), pattern(&self.environment, &names(&values)));
        let functions = quote_spanned!(span=> |#by| #key, |#of| #values, |#first, #second| #combined);
        let groups = match &self.rows {
            Some(rows) => rows.grouped(&self.environment, functions, span),
            None => quote_spanned!(span=> ::pumice::comprehension::grouped(#vector, #functions)),
        };
        self.then(groups, span);
        let later = live(queue.iter(), head);
        let results: Vec<Ident> = reductions.into_iter().map(|(_, reduced)| reduced).collect();
        let is_live = |name: &&Ident| later.contains(&name.to_string());
        let is_of_row = |name: &&Ident| self.rows.as_ref().is_some_and(|rows| rows.has(&name.to_string()));
        let of_row = self.environment.iter().filter(is_of_row);
        let environment: Vec<Ident> = of_row.chain(keys).chain(&results).filter(is_live).cloned().collect();
        let named = named.map_or(quote!(_), |named| match named.names.iter().any(|name| is_live(&name)) {
            true => named.tokens,
            false => quote!(_),
        });
        let (results, tuple) = (pattern(&results, &later), tuple(&environment));
        let group = quote!((#named, #results));
        let bound = match &self.rows {
            Some(rows) => {
                let (row, bind) = (&rows.row, rows.bind(&environment, span));
                quote_spanned!(span=> |(#row, #group)| { #bind #tuple })
            }
            None => quote_spanned!(span=> |#group| #tuple),
        };
        self.add(quote_spanned!(span=> #[allow(unused_variables)] let #vector = #vector.map(#bound);));
        self.environment = environment;
        Ok(())
    }

    /// Refuses variables that have many values in a group, outside of its reductions.
    fn refuse_members(&self, keys: &[Ident], queue: &VecDeque<Qualifier>, head: &TokenStream) -> Result<()> {
        let mut members: Names = self.bound();
        let is_of_row = |member: &str| self.rows.as_ref().is_some_and(|rows| rows.has(member));
        members.retain(|member| !is_of_row(member) && !keys.iter().any(|key| key == member));
        let refuse = |tokens: &TokenStream, members: &Names| match mention(tokens, members) {
            Some(ident) => {
                let message = format!(
                    "a group has many values of `{ident}`: use it in a reduction of the group, such as `sum![{ident}]` or \
                     `max![{ident}]`, or make it part of the key"
                );
                Err(Error::new(ident.span(), message))
            }
            None => Ok(()),
        };
        for qualifier in queue {
            for tokens in qualifier.clone().expressions() {
                refuse(tokens, &members)?;
            }
            let bound = qualifier.binds();
            members.retain(|member| !bound.iter().any(|name| name == member));
        }
        refuse(head, &members)
    }
}

/// Refuses keys in reductions, whose variables are bound before the group.
fn refuse_keys<'a>(
    keys: &[Ident],
    bound: &Names,
    mut reduced: impl Iterator<Item = &'a TokenStream>,
) -> Result<()> {
    let new: Names = keys.iter().map(Ident::to_string).filter(|key| !bound.contains(key)).collect();
    match reduced.find_map(|tokens| mention(tokens, &new)) {
        Some(key) => {
            let message = format!(
                "a group has one value of its key `{key}`, and reduces what is bound before `group by`: write `let {key} = …, \
                 group by {key}`"
            );
            Err(Error::new(key.span(), message))
        }
        None => Ok(()),
    }
}

/// The reductions of a group, in the expressions behind it. One that is written several times, as in a result and in a sort key,
/// is computed once.
struct Aggregates<'a> {
    outer: &'a mut Outer,
    /// Variables of reductions, by their text.
    written: HashMap<String, Ident>,
    reductions: Vec<(Reduction, Ident)>,
}

impl Aggregates<'_> {
    /// Replaces reductions by their values.
    fn replace(&mut self, tokens: &mut TokenStream) -> Result<()> {
        let named = name_brackets(std::mem::take(tokens));
        *tokens = replace_macros(named, &mut |name, inside| match self.around_groups(name, &inside)? {
            Some(replaced) => Ok(Some(replaced)),
            None => self.value(name, inside),
        })?;
        Ok(())
    }

    /// Returns the value of a reduction, if it is one of the group.
    fn value(&mut self, name: &Ident, inside: TokenStream) -> Result<Option<TokenStream>> {
        if !is_reduction(name) {
            return Ok(None);
        }
        let text = format!("{name} {inside}");
        let Some(reduction) = Reduction::of_group(name, inside)? else { return Ok(None) };
        if let Some(reduced) = self.written.get(&text) {
            return Ok(Some(reduction.finished(reduced)));
        }
        let reduced = self.outer.fresh(&name.to_string());
        let finished = reduction.finished(&reduced);
        self.written.insert(text, reduced.clone());
        self.reductions.push((reduction, reduced));
        Ok(Some(finished))
    }

    /// Rewrites a comprehension that has groups of its own: reductions up to and in its `group by` are of this group.
    /// In its head and behind its `group by`, reductions are of its own groups.
    fn around_groups(&mut self, name: &Ident, inside: &TokenStream) -> Result<Option<TokenStream>> {
        if name != "comp" && !is_reduction(name) {
            return Ok(None);
        }
        let span = name.span();
        let (operator, inside) = match split_once(inside.clone(), Separator::Semicolon) {
            (operator, Some(inside)) => (quote_spanned!(span=> #operator;), inside),
            (inside, None) => (TokenStream::new(), inside),
        };
        let (head, inside) = match split_once(inside.clone(), Separator::Bar) {
            (head, Some(inside)) if name != "count" => (quote_spanned!(span=> #head |), inside),
            _ => (TokenStream::new(), inside),
        };
        let mut qualifiers = split(inside, Separator::Comma);
        let is_group = |qualifier: &TokenStream| {
            let words = qualifier.clone().into_iter().take(2).map(|word| word.to_string());
            words.eq(["group", "by"])
        };
        let Some(group) = qualifiers.iter().position(is_group) else { return Ok(None) };
        qualifiers.iter_mut().take(group + 1).try_for_each(|qualifier| self.replace(qualifier))?;
        Ok(Some(quote_spanned!(span=> #name![#operator #head #(#qualifiers),*])))
    }
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
