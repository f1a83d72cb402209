//! Qualifiers of queries: the expansion of a join, and `group by`.

use super::{Stages, pairs, pattern, tuple, vector_name};
use crate::expression::{Outer, condition, value};
use crate::join::Join;
use crate::parse::{Kind, Qualifier, live};
use crate::pattern::Pattern;
use crate::reduction::{Reduction, is_reduction};
use crate::source::number;
use crate::tokens::{Names, Separator, mention, name_brackets, names, replace_macros, split, split_once};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{HashMap, VecDeque};
use syn::{Error, Result};

impl Stages {
    /// Adds the operations of a join: each environment is expanded to the elements of the range that it finds.
    pub(super) fn joined(&mut self, found: Join, new: &[Ident], later: &Names, span: Span) {
        let (Join { range, first, end, bind }, size) = (&found, found.size());
        let (vector, number, all) = (vector_name(), number(), tuple(&self.environment));
        let searched = pattern(&self.environment, &self.bound());
        self.then(quote_spanned!(span=> #vector.map(|#searched| (#all, #range))), span);
        let environment = self.extended(new, later);
        let kept = pattern(&self.environment, &self.mentioned(Names::new(), &environment, new));
        let values = tuple(&environment);
        let expanded = quote_spanned!(span=> #vector.expand(
            |(_, (#first, #end))| #size,
            |(#kept, (#first, _)), #number| { #bind #values },
        ));
        self.then(expanded, span);
        self.environment = environment;
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
        let or = |some: Vec<TokenStream>, nothing| pairs(some).unwrap_or(nothing);
        let (values, combined) =
            (or(values, quote!(::pumice::constant(0u32))), or(combined, quote!(a.max(b))));
        let (first, second) = (or(first, quote!(a)), or(second, quote!(b)));
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
        let named = named.filter(|named| named.names.iter().any(|name| is_live(&name)));
        let fields = named.as_ref().map(Pattern::fields);
        let named = named.map_or(quote!(_), |named| named.tokens);
        let (results, tuple) = (pattern(&results, &later), tuple(&environment));
        let group = quote!((#named, #results));
        let bound = match &self.rows {
            Some(rows) => {
                let (row, bind) = (&rows.row, rows.bind(&environment, span));
                quote_spanned!(span=> |(#row, #group)| { #fields #bind #tuple })
            }
            None => quote_spanned!(span=> |#group| { #fields #tuple }),
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
