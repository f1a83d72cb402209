//! Lowering of qualifiers to operations: each turns a vector of environments into the next.
//!
//! An environment has the variables that are bound and still mentioned later, as nested pairs. A closure takes it apart with a
//! pattern that names those which it mentions. Joins and groups are in [`queries`], arrays inside of others in [`inner`],
//! loops in [`loops`].

mod inner;
mod loops;
mod queries;

use crate::expression::{Outer, condition, expression, parsed, value};
use crate::hoist::{Hoisted, hoist};
use crate::join::{Join, join};
use crate::parse::{Comprehension, Generator, Kind, Qualifier, live};
use crate::reduction::Expansion;
use crate::source::{Drawn, draw, number};
use crate::tokens::{Names, mention, names};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::VecDeque;
use syn::{Error, Expr, Result};

/// The operations so far.
#[derive(Default)]
pub struct Stages {
    outer: Outer,
    statements: Vec<TokenStream>,
    /// The variables of the environment.
    environment: Vec<Ident>,
    /// Whether there is a vector; before the first generator there is none.
    started: bool,
    /// Conditions before the first generator.
    pending: Vec<TokenStream>,
    /// The span of `distinct`, if each result is wanted once.
    distinct: Option<Span>,
    /// The rows that the environments belong to, in an inner comprehension.
    rows: Option<inner::Rows>,
    /// The variables of inner arrays whose rows are those of the environments, one by one.
    aligned: Names,
    /// The number of statements up to the vector that the first generator gives, and its span.
    begun: Option<(usize, Span)>,
    /// Stages behind it whose results may be larger than it by any factor: expansions, of which the last is taken as it comes, and rows.
    expansions: usize,
    has_rows: bool,
    /// Whether a stage behind it is of all elements together.
    is_of_all: bool,
}

/// Returns the name of the vector of environments.
fn vector_name() -> Ident {
    Ident::new("__vector", Span::mixed_site())
}

/// Emits nested pairs of these.
fn pairs(parts: impl IntoIterator<Item = TokenStream>) -> Option<TokenStream> {
    parts.into_iter().reduce(|pair, part| quote!((#pair, #part)))
}

/// Emits the pattern of an environment for tokens that mention these names.
fn pattern(environment: &[Ident], mentioned: &Names) -> TokenStream {
    let part = |name: &Ident| match mentioned.contains(&name.to_string()) {
        true => name.to_token_stream(),
        false => quote!(_),
    };
    pairs(environment.iter().map(part)).unwrap_or(quote!(_))
}

/// Emits the value of an environment.
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
    let head = stages.hoisted(head)?;
    if let Some(chain) = stages.chain_of(&head) {
        return stages.rows_of(chain, span);
    }
    let head = value(head, &stages.bound(), &mut stages.outer)?;
    let result = stages.mapped(head, span);
    Ok(stages.block(result))
}

/// How the value of a block is put together of those of parts, if memory does not suffice for the whole.
pub enum Joined {
    /// Vectors and rows, one behind the other.
    Behind,
    /// Values, from a neutral one by an operator.
    Folded { neutral: TokenStream, combine: TokenStream },
}

impl Stages {
    /// Lowers qualifiers, and returns the operations and the head, in which reductions of groups are replaced by their values.
    pub fn of(qualifiers: Vec<Qualifier>, head: TokenStream) -> Result<(Stages, TokenStream)> {
        let mut stages = Stages::default();
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

    /// Returns the names of the environment.
    pub fn bound(&self) -> Names {
        self.environment.iter().map(Ident::to_string).collect()
    }

    /// Returns the statements and names before the comprehension.
    pub fn outer(&mut self) -> &mut Outer {
        &mut self.outer
    }

    /// Emits the vector of a function of each environment: the results, each once if `distinct` is there.
    pub fn mapped(&mut self, body: TokenStream, span: Span) -> TokenStream {
        let (vector, pattern) = (vector_name(), pattern(&self.environment, &names(&body)));
        let results = match self.environment.as_slice() {
            [only] if *only == body.to_string() => quote!(#vector),
            _ => quote_spanned!(span=> #vector.map(|#pattern| #body)),
        };
        self.once(results)
    }

    /// Emits results, each once if `distinct` is there.
    fn once(&self, results: TokenStream) -> TokenStream {
        match (self.distinct, &self.rows) {
            (Some(span), Some(rows)) => rows.once(results, span),
            (Some(span), None) => quote_spanned!(span=> #results.sort().unique()),
            (None, _) => results,
        }
    }

    /// Lowers an expression behind all qualifiers, whose reductions are computed first.
    pub fn hoisted(&mut self, mut head: TokenStream) -> Result<TokenStream> {
        self.make_inner(vec![&mut head])?;
        self.hoist(vec![&mut head], &Names::new())?;
        Ok(head)
    }

    /// Hoists the reductions in expressions into vectors, for each environment, and returns the variables of their results.
    /// `later` are the names that are mentioned behind those expressions.
    fn hoist(&mut self, expressions: Vec<&mut TokenStream>, later: &Names) -> Result<Vec<Ident>> {
        let (bound, vector, number) = (self.bound(), vector_name(), number());
        let (mut found, mut mentioned) = (Vec::new(), later.clone());
        for tokens in expressions {
            found.extend(hoist(tokens, &bound, &mut self.outer)?);
            mentioned.extend(names(tokens));
        }
        for Hoisted { name, expansion, elements: inner } in &mut found {
            let Expansion { join, size, element, neutral, combine, span } = &*expansion;
            let sized = pattern(&self.environment, &names(size));
            let elements = pattern(&self.environment, &names(element));
            let mut by_rows = None;
            let (sources, functions) = match join {
                None => {
                    let functions = quote!(|#sized| #size, |#elements, #number| #element);
                    let sources = match inner.take() {
                        None => quote!(#vector.clone()),
                        Some(inner) => {
                            let (loops, rows) = (self.outer.fresh("sources"), self.outer.fresh("sources"));
                            self.add(quote_spanned!(*span=>
                                let (#loops, #rows) = ::pumice::comprehension::by_size(&#vector, |#sized| #size);));
                            by_rows = Some(self.reduced_rows(&rows, inner, expansion)?);
                            quote!(#loops)
                        }
                    };
                    (sources, functions)
                }
                Some(Join { range, first, end, .. }) => {
                    let is_mentioned = |name: &&Ident| names(element).contains(&name.to_string());
                    let kept: Vec<Ident> = self.environment.iter().filter(is_mentioned).cloned().collect();
                    let searched = self.mentioned(names(range), &kept, &[]);
                    let (searched, values) = (pattern(&self.environment, &searched), tuple(&kept));
                    let elements = pattern(&kept, &names(element));
                    (
                        quote_spanned!(*span=> #vector.clone().map(|#searched| (#values, #range))),
                        quote!(|(_, (#first, #end))| #size, |(#elements, (#first, _)), #number| #element),
                    )
                }
            };
            let mut reduced = match neutral {
                Some(neutral) => {
                    quote_spanned!(*span=> #sources.expand_reduce(#functions, #neutral, #combine))
                }
                None => quote_spanned!(*span=> #sources.expand_reduce_some(#functions, #combine)),
            };
            if let Some(by_rows) = by_rows {
                reduced = quote_spanned!(*span=> ::pumice::comprehension::one_or_other(#reduced, #by_rows));
            }
            self.add(quote_spanned!(*span=> let #name = #reduced;));
        }
        for Hoisted { name, expansion: Expansion { span, .. }, .. } in &found {
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

    /// Returns the span of `distinct`, if it is there.
    pub fn distinct(&self) -> Option<Span> {
        self.distinct
    }

    /// Emits a block with all operations and a result.
    pub fn block(self, result: TokenStream) -> TokenStream {
        self.joined_block(result, Joined::Behind)
    }

    /// Emits a block with all operations and a result. What needs memory for inner arrays is a function of the vector that the first generator
    /// gives, which may be applied to parts of it.
    pub fn joined_block(mut self, result: TokenStream, joined: Joined) -> TokenStream {
        self.statements.extend(self.outer.take());
        let needs_memory = self.has_rows || self.expansions > 1;
        let cut = self.begun.filter(|_| needs_memory && !self.is_of_all && self.distinct.is_none());
        let Some((at, span)) = cut else { return self.closed(result).0 };
        let (vector, inside) = (vector_name(), self.statements.split_off(at));
        let f = quote_spanned!(span=> |#vector| { #(#inside)* #result });
        let parts = match joined {
            Joined::Behind => quote_spanned!(span=> ::pumice::comprehension::in_parts(#vector, #f)),
            Joined::Folded { neutral, combine } => {
                quote_spanned!(span=> ::pumice::comprehension::fold_in_parts(#vector, #neutral, #f, #combine))
            }
        };
        self.closed(parts).0
    }

    /// Emits a block as `block` does, and returns the names and rows for the code behind it.
    fn closed(mut self, result: TokenStream) -> (TokenStream, Outer) {
        self.statements.extend(self.outer.take());
        let statements = self.statements;
        (quote!({ #(#statements)* #result }), self.outer)
    }

    /// Adds a statement, behind those that it needs.
    fn add(&mut self, statement: TokenStream) {
        self.statements.extend(self.outer.take());
        self.statements.push(statement);
    }

    /// Replaces the current vector.
    fn then(&mut self, vector: TokenStream, span: Span) {
        let name = vector_name();
        self.add(quote_spanned!(span=> let #name = #vector;));
    }

    /// Emits the first vector.
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

    /// Returns the environment behind a qualifier that binds names: all variables that are mentioned later and not hidden.
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
        let new = qualifier.binds();
        if let Some(rows) = &mut self.rows {
            rows.hide(&new);
        }
        let assigns = |other: &Qualifier| {
            matches!(other.kind, Kind::While(..)) && other.binds().iter().any(|name| new.contains(name))
        };
        // A variable that a loop assigns to belongs to each environment, whatever its initial value is.
        let is_let = self.started && matches!(qualifier.kind, Kind::Let(..));
        let is_assigned = is_let && queue.iter().any(assigns);
        self.outer.each_has_its_own = is_assigned;
        let mut results = match &mut qualifier.kind {
            Kind::Generators(generators) => self.make_sources(generators)?,
            Kind::Take(_) | Kind::While(..) => Vec::new(),
            _ => self.make_inner(qualifier.expressions())?,
        };
        self.outer.each_has_its_own = false;
        if !matches!(qualifier.kind, Kind::Generators(_) | Kind::Take(_) | Kind::While(..)) {
            results.extend(self.hoist(qualifier.expressions(), &later)?);
        }
        if !matches!(qualifier.kind, Kind::Let(..) | Kind::Distinct | Kind::While(..)) {
            self.aligned.clear();
        }
        self.is_of_all |= qualifier.is_of_all();
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
            Kind::Let(pattern, bound_to) if self.chain_of(&bound_to).is_some() => {
                if let Some(chain) = self.chain_of(&bound_to) {
                    self.bind_chain(&pattern, chain, &later, span)?;
                }
            }
            Kind::Let(to, bound_to) => {
                let new = to.names.clone();
                if mention(&bound_to, &bound).is_none() && !is_assigned {
                    // It is the same for all elements: an ordinary variable, which may be an array.
                    let value = match to.tokens.to_string().contains(':') {
                        true => expression(parsed(bound_to)?, &bound, &mut self.outer)?,
                        false => value(bound_to, &bound, &mut self.outer)?,
                    };
                    self.outer.forget_inner(&new);
                    self.environment.retain(|name| !new.contains(name));
                    self.add(to.bind(&value, span));
                    return Ok(());
                }
                let value = value(bound_to, &bound, &mut self.outer)?;
                self.outer.forget_inner(&new);
                let environment = self.extended(&new, &later);
                let tuple = tuple(&environment);
                let bind = to.bind(&value, span);
                let body = quote_spanned!(span=> { #bind #tuple });
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
                let keys = quote_spanned!(span=> |#pattern| #order);
                self.then(
                    match &self.rows {
                        Some(rows) => rows.ordered(&self.environment, keys, span),
                        None => quote_spanned!(span=> ::pumice::comprehension::ordered(#vector, #keys)),
                    },
                    span,
                );
            }
            Kind::Take(count) => {
                if let Some(rows) = self.rows.clone() {
                    self.take_of_rows(&rows, count, span)?;
                    return Ok(());
                }
                if let Some(ident) = mention(&count, &bound) {
                    return Err(Error::new(ident.span(), inner::TAKEN_BY.replace("{}", &ident.to_string())));
                }
                let count = expression(parsed(count)?, &bound, &mut self.outer)?;
                self.then(quote_spanned!(span=> ::pumice::comprehension::first(#vector, #count)), span);
            }
            Kind::Distinct => self.distinct = Some(span),
            Kind::While(condition, body) => self.loops(loops::Loop { condition, body }, span)?,
            Kind::Group(named, key) => {
                let keys = named.as_ref().map_or(Vec::new(), |named| named.names.clone());
                self.group(named, key, queue, head, span)?;
                self.outer.forget_inner(&keys);
            }
        }
        self.leave_out(&results, span);
        Ok(())
    }

    /// Drops variables from the environment.
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

    /// Returns the names that a body mentions: its own, and those of the environment that it gives, without new ones.
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
        if self.started
            && let Some(found) = join(&generators, queue, head, &self.bound(), false, &mut self.outer)?
        {
            self.outer.forget_inner(&new);
            self.joined(found, &new, &live(queue.iter(), head), span);
            self.expansions += 1;
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
        self.outer.forget_inner(&new);
        let environment = self.extended(&new, &later);
        let (values, number) = (tuple(&environment), number());
        if self.started {
            let sized = pattern(&self.environment, &names(&size));
            let bound = pattern(&self.environment, &self.mentioned(uses, &environment, &new));
            let expanded =
                quote_spanned!(span=> #vector.expand(|#sized| #size, |#bound, #number| { #bind #values }));
            self.then(expanded, span);
            self.environment = environment;
            self.expansions += 1;
            return Ok(());
        }
        match (array, self.pending.is_empty()) {
            (Some(array), true) => {
                let (one, values) = (&generators[0].pattern.tokens, generators[0].pattern.before(&values));
                let is_same = environment.len() == 1 && environment[0] == one.to_string();
                let first =
                    if is_same { quote!(#array) } else { quote_spanned!(span=> #array.map(|#one| #values)) };
                self.then(first, span);
                (self.environment, self.started) = (environment, true);
            }
            _ => self.start(size, bind, environment, span),
        }
        self.begun = Some((self.statements.len(), span));
        Ok(())
    }
}
