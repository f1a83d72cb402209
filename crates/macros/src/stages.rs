//! From qualifiers to operations: each makes a vector of environments of the one before it.
//!
//! An environment has the variables that are bound and still mentioned later, as nested pairs. A closure takes it apart with a
//! pattern that names those which it mentions.

use crate::expression::{Outer, condition, expression, parsed, value};
use crate::hoist::{Hoisted, hoist};
use crate::parse::{Comprehension, Generator, Kind, Pattern, Qualifier, Source, live, source};
use crate::reduction::{Expansion, Reduction, is_reduction};
use crate::source::{DEPENDS, Drawn, draw, number};
use crate::tokens::{Names, mention, names, replace_macros};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{HashMap, VecDeque};
use syn::{BinOp, Error, Expr, Result};

/// The operations so far.
pub struct Stages {
    outer: Outer,
    statements: Vec<TokenStream>,
    /// The variables of the environment.
    environment: Vec<Ident>,
    /// Whether there is a vector; before the first generator there is none.
    started: bool,
    /// Conditions before the first generator.
    pending: Vec<TokenStream>,
    /// Where each result is wanted once.
    distinct: Option<Span>,
}

/// The vector of environments.
fn vector_name() -> Ident {
    Ident::new("__vector", Span::mixed_site())
}

/// Nested pairs of these.
fn pairs(parts: impl IntoIterator<Item = TokenStream>) -> Option<TokenStream> {
    parts.into_iter().reduce(|pair, part| quote!((#pair, #part)))
}

/// The pattern of an environment for tokens that mention these names.
fn pattern(environment: &[Ident], mentioned: &Names) -> TokenStream {
    let part = |name: &Ident| match mentioned.contains(&name.to_string()) {
        true => name.to_token_stream(),
        false => quote!(_),
    };
    pairs(environment.iter().map(part)).unwrap_or(quote!(_))
}

/// The value of an environment.
fn tuple(environment: &[Ident]) -> TokenStream {
    pairs(environment.iter().map(ToTokens::to_token_stream)).unwrap_or(quote!(::pumice::constant(true)))
}

/// Compiles a comprehension to a block whose value is a vector, or rows of different lengths if an element is a comprehension.
pub fn vector(comprehension: Comprehension) -> Result<TokenStream> {
    let span = crate::tokens::first_span(&comprehension.head).unwrap_or_else(Span::call_site);
    let (mut stages, head) = Stages::of(comprehension.qualifiers, comprehension.head)?;
    if let Ok(Expr::Macro(call)) = parsed(head.clone())
        && call.mac.path.is_ident("comp")
    {
        return stages.ragged(crate::parse::comprehension(call.mac.tokens)?, span);
    }
    let head = value(stages.hoisted(head)?, &stages.bound(), &mut stages.outer)?;
    let result = stages.mapped(head, span);
    Ok(stages.block(result))
}

impl Stages {
    /// The operations for qualifiers, and the head, in which reductions of groups are replaced by their values.
    pub fn of(qualifiers: Vec<Qualifier>, head: TokenStream) -> Result<(Stages, TokenStream)> {
        let mut stages = Stages {
            outer: Outer::default(),
            statements: Vec::new(),
            environment: Vec::new(),
            started: false,
            pending: Vec::new(),
            distinct: None,
        };
        let head = stages.advance(qualifiers, head)?;
        Ok((stages, head))
    }

    fn advance(&mut self, qualifiers: Vec<Qualifier>, mut head: TokenStream) -> Result<TokenStream> {
        let mut queue = VecDeque::from(qualifiers);
        while let Some(qualifier) = queue.pop_front() {
            if let Some(distinct) = self.distinct {
                return Err(Error::new(distinct, "`distinct` is of the results, and stands last"));
            }
            self.stage(qualifier, &mut queue, &mut head)?;
        }
        if !self.started {
            self.start(quote!(1), TokenStream::new(), Vec::new(), Span::call_site());
        }
        Ok(head)
    }

    /// The names of the environment.
    pub fn bound(&self) -> Names {
        self.environment.iter().map(Ident::to_string).collect()
    }

    /// What is computed before.
    pub fn outer(&mut self) -> &mut Outer {
        &mut self.outer
    }

    /// The vector of a function of each environment: the results, each once if that is wanted.
    pub fn mapped(&mut self, body: TokenStream, span: Span) -> TokenStream {
        let (vector, pattern) = (vector_name(), pattern(&self.environment, &names(&body)));
        let results = match self.environment.as_slice() {
            [only] if *only == body.to_string() => quote!(#vector),
            _ => quote_spanned!(span=> #vector.map(|#pattern| #body)),
        };
        self.once(results)
    }

    /// Results, each once if that is wanted.
    fn once(&self, results: TokenStream) -> TokenStream {
        match self.distinct {
            Some(span) => quote_spanned!(span=> #results.sort().unique()),
            None => results,
        }
    }

    /// An expression behind all qualifiers, of which reductions are computed first.
    pub fn hoisted(&mut self, mut head: TokenStream) -> Result<TokenStream> {
        self.hoist(vec![&mut head], &Names::new())?;
        Ok(head)
    }

    /// Makes vectors of the reductions in expressions, for each environment, and variables of their results, which are returned.
    /// `later` are the names that are mentioned behind those expressions.
    fn hoist(&mut self, expressions: Vec<&mut TokenStream>, later: &Names) -> Result<Vec<Ident>> {
        let (bound, vector, number) = (self.bound(), vector_name(), number());
        let (mut found, mut mentioned) = (Vec::new(), later.clone());
        for tokens in expressions {
            found.extend(hoist(tokens, &bound, &mut self.outer)?);
            mentioned.extend(names(tokens));
        }
        for Hoisted { name, expansion } in &found {
            let Expansion { size, element, neutral, combine, span } = expansion;
            let sized = pattern(&self.environment, &names(size));
            let elements = pattern(&self.environment, &names(element));
            let functions = quote!(|#sized| #size, |#elements, #number| #element);
            self.add(match neutral {
                Some(neutral) => quote_spanned!(*span=>
                    let #name = #vector.clone().expand_reduce(#functions, #neutral, #combine);),
                None => quote_spanned!(*span=>
                    let #name = #vector.clone().expand_reduce_some(#functions, #combine);),
            });
        }
        for Hoisted { name, expansion: Expansion { span, .. } } in &found {
            let is_mentioned = |name: &&Ident| mentioned.contains(&name.to_string());
            let mut environment: Vec<Ident> = self.environment.iter().filter(is_mentioned).cloned().collect();
            let kept = pattern(&self.environment, &mentioned);
            let is_only = environment.is_empty();
            environment.push(name.clone());
            let values = tuple(&environment);
            let with_results = match is_only {
                true => quote!(#name),
                false => quote_spanned!(*span=> #vector.zip_with(#name, |#kept, #name| #values)),
            };
            self.then(with_results, *span);
            self.environment = environment;
        }
        Ok(found.into_iter().map(|hoisted| hoisted.name).collect())
    }

    /// Where `distinct` stands, if it does.
    pub fn distinct(&self) -> Option<Span> {
        self.distinct
    }

    /// A block with all operations and a result.
    pub fn block(mut self, result: TokenStream) -> TokenStream {
        self.statements.extend(self.outer.take());
        let statements = self.statements;
        quote!({ #(#statements)* #result })
    }

    /// Adds a statement, behind those that it needs.
    fn add(&mut self, statement: TokenStream) {
        self.statements.extend(self.outer.take());
        self.statements.push(statement);
    }

    /// Makes a vector of the one that there is.
    fn then(&mut self, vector: TokenStream, span: Span) {
        let name = vector_name();
        self.add(quote_spanned!(span=> let #name = #vector;));
    }

    /// Makes the first vector.
    fn start(&mut self, size: TokenStream, bind: TokenStream, environment: Vec<Ident>, span: Span) {
        let (number, tuple) = (number(), tuple(&environment));
        let mut size = quote_spanned!(span=> ::pumice::comprehension::size(#size));
        for condition in std::mem::take(&mut self.pending).into_iter().rev() {
            size = quote_spanned!(span=> ::pumice::comprehension::size_if(#condition, || #size));
        }
        let number = if names(&bind).contains("__number") { number.to_token_stream() } else { quote!(_) };
        self.then(quote_spanned!(span=> ::pumice::generate(#size, |#number| { #bind #tuple })), span);
        (self.environment, self.started) = (environment, true);
    }

    /// The environment behind a qualifier that binds names: what is mentioned later, and not hidden.
    fn extended(&self, new: &[Ident], later: &Names) -> Vec<Ident> {
        let is_new = |name: &&Ident| !new.contains(name);
        let all = self.environment.iter().filter(is_new).chain(new);
        all.filter(|name| later.contains(&name.to_string())).cloned().collect()
    }

    fn stage(
        &mut self,
        mut qualifier: Qualifier,
        queue: &mut VecDeque<Qualifier>,
        head: &mut TokenStream,
    ) -> Result<()> {
        let span = qualifier.span;
        let later = live(queue.iter(), head);
        let results = match qualifier.kind {
            Kind::Generators(_) | Kind::Take(_) => Vec::new(),
            _ => self.hoist(qualifier.expressions(), &later)?,
        };
        let (vector, bound) = (vector_name(), self.bound());
        if !self.started && !matches!(qualifier.kind, Kind::Generators(_) | Kind::Filter(_) | Kind::Let(..)) {
            return Err(Error::new(span, "there are no elements yet: put a generator `p <- xs` before this"));
        }
        match qualifier.kind {
            Kind::Generators(generators) => self.generators(generators, queue, head, later, span)?,
            Kind::Filter(tokens) => {
                let condition = condition(tokens, &bound, &mut self.outer)?;
                if !self.started {
                    self.pending.push(condition);
                    return Ok(());
                }
                let pattern = pattern(&self.environment, &names(&condition));
                self.then(quote_spanned!(span=> #vector.filter(|#pattern| #condition)), span);
            }
            Kind::Let(Pattern { tokens, names: new }, bound_to) => {
                if mention(&bound_to, &bound).is_none() {
                    // It is the same for all elements: an ordinary variable, which may be an array.
                    let value = match tokens.to_string().contains(':') {
                        true => expression(parsed(bound_to)?, &bound, &mut self.outer)?,
                        false => value(bound_to, &bound, &mut self.outer)?,
                    };
                    self.environment.retain(|name| !new.contains(name));
                    self.add(quote_spanned!(span=> let #tokens = #value;));
                    return Ok(());
                }
                let value = value(bound_to, &bound, &mut self.outer)?;
                let environment = self.extended(&new, &later);
                let tuple = tuple(&environment);
                let body = quote_spanned!(span=> { let #tokens = #value; #tuple });
                let pattern = pattern(&self.environment, &self.mentioned(names(&value), &environment, &new));
                self.then(quote_spanned!(span=> #vector.map(|#pattern| #body)), span);
                self.environment = environment;
            }
            Kind::Order(keys) => {
                let mut order = quote_spanned!(span=> ::pumice::comprehension::Keys::default());
                for (key, falls) in keys {
                    let key = value(key, &bound, &mut self.outer)?;
                    let method = Ident::new(if falls { "falling" } else { "rising" }, span);
                    order = quote_spanned!(span=> #order.#method(#key));
                }
                let pattern = pattern(&self.environment, &names(&order));
                self.then(
                    quote_spanned!(span=> ::pumice::comprehension::ordered(#vector, |#pattern| #order)),
                    span,
                );
            }
            Kind::Take(count) => {
                if let Some(ident) = mention(&count, &bound) {
                    let message = format!(
                        "how many to take cannot depend on `{ident}`, which each element has its own of"
                    );
                    return Err(Error::new(ident.span(), message));
                }
                let count = expression(parsed(count)?, &bound, &mut self.outer)?;
                self.then(quote_spanned!(span=> ::pumice::comprehension::first(#vector, #count)), span);
            }
            Kind::Distinct => self.distinct = Some(span),
            Kind::Group(named, key) => self.group(named, key, queue, head, span)?,
        }
        self.leave_out(&results, span);
        Ok(())
    }

    /// Leaves variables out of the environment.
    fn leave_out(&mut self, names: &[Ident], span: Span) {
        let kept: Vec<Ident> =
            self.environment.iter().filter(|name| !names.contains(name)).cloned().collect();
        if kept.len() < self.environment.len() {
            let (vector, values) = (vector_name(), tuple(&kept));
            let taken = pattern(&self.environment, &kept.iter().map(Ident::to_string).collect());
            self.then(quote_spanned!(span=> #vector.map(|#taken| #values)), span);
            self.environment = kept;
        }
    }

    /// The names that a body mentions which takes some itself, and gives an environment in which others are new.
    fn mentioned(&self, mut mentioned: Names, environment: &[Ident], new: &[Ident]) -> Names {
        let kept = environment.iter().filter(|name| !new.contains(name));
        mentioned.extend(kept.map(Ident::to_string));
        mentioned
    }

    fn generators(
        &mut self,
        generators: Vec<Generator>,
        queue: &mut VecDeque<Qualifier>,
        head: &TokenStream,
        later: Names,
        span: Span,
    ) -> Result<()> {
        let new: Vec<Ident> =
            generators.iter().flat_map(|generator| generator.pattern.names.clone()).collect();
        if let Some(twice) = new.iter().enumerate().find(|(at, name)| new[..*at].contains(name)) {
            return Err(Error::new(twice.1.span(), "this name is bound twice"));
        }
        if self.started && self.join(&generators, queue, head, span)? {
            return Ok(());
        }
        let vector = vector_name();
        let (size, bind, uses, array) = match draw(&generators, &self.bound(), &later, &mut self.outer)? {
            Drawn::Inlined(inner) => {
                inner.into_iter().rev().for_each(|qualifier| queue.push_front(qualifier));
                return Ok(());
            }
            Drawn::Counted { size, bind, uses, array } => (size, bind, uses, array),
        };
        let environment = self.extended(&new, &later);
        let (values, number) = (tuple(&environment), number());
        if self.started {
            let sized = pattern(&self.environment, &names(&size));
            let bound = pattern(&self.environment, &self.mentioned(uses, &environment, &new));
            let expanded =
                quote_spanned!(span=> #vector.expand(|#sized| #size, |#bound, #number| { #bind #values }));
            self.then(expanded, span);
            self.environment = environment;
            return Ok(());
        }
        match (array, self.pending.is_empty()) {
            (Some(array), true) => {
                let one = &generators[0].pattern.tokens;
                let is_same = environment.len() == 1 && environment[0] == one.to_string();
                let first =
                    if is_same { quote!(#array) } else { quote_spanned!(span=> #array.map(|#one| #values)) };
                self.then(first, span);
                (self.environment, self.started) = (environment, true);
            }
            _ => self.start(size, bind, environment, span),
        }
        Ok(())
    }

    /// A generator over an array, with a condition behind it that asks for keys to be equal, is a join: the array is sorted by its
    /// key, and each element of the vector is expanded to those with its own key.
    fn join(
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
        if let Some(ident) = mention(&array.to_token_stream(), &self.bound()) {
            return Err(Error::new(ident.span(), format!("this depends on `{ident}`, and {DEPENDS}")));
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
        // The pattern is written twice, and its names are used where they are used in either place.
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

    /// Sorts by a key, and reduces the environments of each one. Behind it there are the key and those reductions.
    fn group(
        &mut self,
        named: Option<Pattern>,
        key: TokenStream,
        queue: &mut VecDeque<Qualifier>,
        head: &mut TokenStream,
        span: Span,
    ) -> Result<()> {
        let (bound, vector) = (self.bound(), vector_name());
        let key = value(key, &bound, &mut self.outer)?;
        let mut reductions: Vec<(Reduction, Ident)> = Vec::new();
        // A reduction that is written several times, as in a result and in what is sorted by, is computed once.
        let mut written = HashMap::<String, Ident>::new();
        let outer = &mut self.outer;
        let mut replace = |tokens: &mut TokenStream| -> Result<()> {
            *tokens = replace_macros(tokens.clone(), &mut |name, inside| {
                if !is_reduction(name) {
                    return Ok(None);
                }
                let text = format!("{name} {inside}");
                let Some(reduction) = Reduction::of_group(name, inside)? else { return Ok(None) };
                if let Some(reduced) = written.get(&text) {
                    return Ok(Some(reduction.finished(reduced)));
                }
                let reduced = outer.fresh(&name.to_string());
                let finished = reduction.finished(&reduced);
                written.insert(text, reduced.clone());
                reductions.push((reduction, reduced));
                Ok(Some(finished))
            })?;
            Ok(())
        };
        for qualifier in queue.iter_mut() {
            qualifier.expressions().into_iter().try_for_each(&mut replace)?;
        }
        replace(head)?;
        let keys = named.as_ref().map_or(&[][..], |named| &named.names);
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
        self.then(
            quote_spanned!(span=> ::pumice::comprehension::grouped(
                #vector, |#by| #key, |#of| #values, |#first, #second| #combined
            )),
            span,
        );
        let later = live(queue.iter(), head);
        let results: Vec<Ident> = reductions.into_iter().map(|(_, reduced)| reduced).collect();
        let is_live = |name: &&Ident| later.contains(&name.to_string());
        let environment: Vec<Ident> = keys.iter().chain(&results).filter(is_live).cloned().collect();
        let named = named.map_or(quote!(_), |named| match named.names.iter().any(|name| is_live(&name)) {
            true => named.tokens,
            false => quote!(_),
        });
        let (results, tuple) = (pattern(&results, &later), tuple(&environment));
        self.add(quote_spanned!(span=> #[allow(unused_variables)]
            let #vector = #vector.map(|(#named, #results)| #tuple);));
        self.environment = environment;
        Ok(())
    }

    /// Refuses variables that a group has many values of, outside of its reductions.
    fn refuse_members(&self, keys: &[Ident], queue: &VecDeque<Qualifier>, head: &TokenStream) -> Result<()> {
        let mut members: Names = self.bound();
        members.retain(|member| !keys.iter().any(|key| key == member));
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

    /// Rows of different lengths: those of an inner comprehension, for each environment.
    fn ragged(mut self, inner: Comprehension, span: Span) -> Result<TokenStream> {
        if let Some(span) = self.distinct {
            return Err(Error::new(
                span,
                "rows of different lengths have no order in which each could be there once",
            ));
        }
        let (vector, row, rows) = (vector_name(), self.outer.fresh("row"), self.outer.fresh("rows"));
        self.add(quote_spanned!(span=> let #rows = #vector.size();));
        let (all, pattern) = (tuple(&self.environment), pattern(&self.environment, &self.bound()));
        self.then(quote_spanned!(span=> #vector.imap(|#row, #pattern| (#all, #row))), span);
        // As if it were a pair, so that nothing else changes.
        self.environment.push(row.clone());
        if self.environment.len() == 1 {
            let unit = quote_spanned!(span=> #vector.map(|(_, #row)| #row));
            self.then(unit, span);
        }
        let inner_head = inner.head;
        let head = self.advance(inner.qualifiers, quote_spanned!(span=> (#row, #inner_head)))?;
        let head = value(self.hoisted(head)?, &self.bound(), &mut self.outer)?;
        let values = self.mapped(head, span);
        if let Some(span) = self.distinct {
            return Err(Error::new(span, "`distinct` is of all results, not of one row"));
        }
        Ok(self.block(quote_spanned!(span=> ::pumice::comprehension::ragged(#rows, #values))))
    }
}

/// The conditions that hold together where one holds.
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
