//! Loops of environments: `while c { x = e; … }`, which each environment goes round by itself.
//!
//! If nothing is reduced and no inner array is made, a loop is one of a scalar function. Otherwise all environments whose
//! condition holds advance together (`while_rows`): the state is the vector of environments and the rows of those inner arrays that
//! are assigned to. Inside of it, the row of an environment is that with its own number.

use super::{Stages, pattern, tuple, vector_name};
use crate::expression::{condition, value};
use crate::inner::{Drawing, makes};
use crate::parse::{Assignment, Kind, Qualifier};
use crate::tokens::{Names, has_macro, names};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Error, Result};

/// A loop as it is written.
pub struct Loop {
    pub condition: TokenStream,
    pub body: Vec<Assignment>,
}

impl Stages {
    /// Adds the operations of a loop.
    pub(super) fn loops(&mut self, written: Loop, span: Span) -> Result<()> {
        let bound = self.bound();
        let mut assigned: Vec<Ident> = Vec::new();
        for Assignment { pattern, is_new, .. } in &written.body {
            let Some(name) = pattern.names.first().filter(|_| !is_new) else { continue };
            if !bound.contains(&name.to_string()) {
                let message = format!(
                    "`{name}` is not bound for each element: write `let {name} = …` between the first generator and the loop, or in \
                     the loop if each round has its own"
                );
                return Err(Error::new(name.span(), message));
            }
            if !assigned.contains(name) {
                assigned.push(name.clone());
            }
        }
        if assigned.is_empty() {
            return Err(Error::new(span, "nothing changes in this loop: assign to a variable, `x = x / 2`"));
        }
        let all = std::iter::once(&written.condition).chain(written.body.iter().map(|one| &one.value));
        let is_scalar =
            |tokens: &TokenStream| !has_macro(tokens) && !makes(tokens, Drawing::Never, &bound, &self.outer);
        let has_arrays = assigned.iter().any(|name| self.outer.inner(name).is_some());
        match !has_arrays && all.into_iter().all(is_scalar) {
            true => self.scalar_loop(written, &assigned, span),
            false => self.flattened_loop(written, &assigned, span),
        }
    }

    fn scalar_loop(&mut self, written: Loop, assigned: &[Ident], span: Span) -> Result<()> {
        let mut bound = self.bound();
        let holds = condition(written.condition, &bound, &mut self.outer)?;
        let mut steps = TokenStream::new();
        for Assignment { pattern, value: tokens, .. } in written.body {
            steps.extend(pattern.bind(&value(tokens, &bound, &mut self.outer)?, span));
            bound.extend(pattern.names.iter().map(Ident::to_string));
        }
        let (vector, state, all) = (vector_name(), tuple(assigned), tuple(&self.environment));
        let environment = pattern(&self.environment, &self.bound());
        self.then(
            quote_spanned!(span=> #vector.map(|#environment| {
                #[allow(unused_variables)]
                let #state = ::pumice::while_(#state, |#state| #holds, |#state| { #steps #state });
                #all
            })),
            span,
        );
        Ok(())
    }

    fn flattened_loop(&mut self, written: Loop, assigned: &[Ident], span: Span) -> Result<()> {
        let arrays: Vec<Ident> =
            assigned.iter().filter(|name| self.outer.inner(name).is_some()).cloned().collect();
        let vector = vector_name();
        // Rows that are those of the environments, one by one.
        let (mut states, mut initial) = (Vec::new(), Vec::new());
        for name in &arrays {
            let Some(rows) = self.outer.inner(name) else { continue };
            let number = pattern(&self.environment, &names(&name.to_token_stream()));
            initial.push(match self.aligned.contains(&name.to_string()) {
                true => quote!(#rows.clone()),
                false => quote_spanned!(span=> #rows.gather(#vector.clone().map(|#number| #name))),
            });
            states.push(self.outer.fresh("state"));
        }
        let pair = |parts: &[TokenStream]| {
            let all = std::iter::once(quote!(#vector)).chain(parts.iter().cloned());
            super::pairs(all).unwrap_or_default()
        };
        let named = pair(&states.iter().map(ToTokens::to_token_stream).collect::<Vec<_>>());
        let begin = super::pairs(std::iter::once(quote!(#vector.clone())).chain(initial)).unwrap_or_default();
        let before = self.outer.all_inner().clone();

        let mut asks = self.round(&arrays, &states, span);
        let holds = {
            let mut tokens = written.condition;
            asks.make_inner(vec![&mut tokens])?;
            asks.hoist(vec![&mut tokens], &Names::new())?;
            let holds = condition(tokens, &asks.bound(), &mut asks.outer)?;
            asks.mapped(holds, span)
        };
        let (holds, outer) = asks.closed(holds);
        self.outer = outer;
        *self.outer.all_inner() = before.clone();

        let mut steps = self.round(&arrays, &states, span);
        let environment = tuple(&self.environment);
        let qualifiers = written.body.into_iter().map(|Assignment { pattern, value, span, .. }| Qualifier {
            kind: Kind::Let(pattern, value),
            span,
        });
        steps.advance(qualifiers.collect(), environment.clone())?;
        let mut next = Vec::new();
        for name in assigned {
            let rows = steps.outer.inner(name);
            match (arrays.contains(name), rows) {
                (true, Some(rows)) => next.push(quote!(#rows.clone())),
                (false, None) => (),
                (is_array, _) => {
                    let (is, becomes) =
                        if is_array { ("an inner array", "a value") } else { ("a value", "an inner array") };
                    let message =
                        format!("`{name}` is {is} before the loop, and would be {becomes} behind it");
                    return Err(Error::new(name.span(), message));
                }
            }
        }
        let vector_of_next = steps.mapped(environment, span);
        let next = super::pairs(std::iter::once(vector_of_next).chain(next)).unwrap_or_default();
        let (step, outer) = steps.closed(next);
        self.outer = outer;
        *self.outer.all_inner() = before;

        self.add(quote_spanned!(span=> #[allow(unused_variables)]
            let #named = ::pumice::while_rows(#begin, |#named| #holds, |#named| #step);));
        for (name, state) in arrays.iter().zip(states) {
            self.outer.all_inner().insert(name.to_string(), state);
            self.aligned.insert(name.to_string());
        }
        self.renumber(&arrays, span);
        Ok(())
    }

    /// Returns the operations of one round, which begin with the environments that go round and the rows of their arrays.
    fn round(&mut self, arrays: &[Ident], states: &[Ident], span: Span) -> Stages {
        self.statements.extend(self.outer.take());
        let mut round = Stages {
            outer: std::mem::take(&mut self.outer),
            environment: self.environment.clone(),
            started: true,
            rows: self.rows.clone(),
            aligned: arrays.iter().map(Ident::to_string).collect(),
            ..Stages::default()
        };
        for (name, state) in arrays.iter().zip(states) {
            round.outer.all_inner().insert(name.to_string(), state.clone());
        }
        round.renumber(arrays, span);
        round
    }

    /// Sets the number of an environment's row to its own number, for these arrays.
    fn renumber(&mut self, arrays: &[Ident], span: Span) {
        if arrays.is_empty() {
            return;
        }
        let (vector, number) = (vector_name(), self.outer.fresh("number"));
        let kept: Names =
            self.bound().into_iter().filter(|name| !arrays.iter().any(|array| array == name)).collect();
        let old = pattern(&self.environment, &kept);
        let parts = self.environment.iter().map(|name| match arrays.contains(name) {
            true => number.to_token_stream(),
            false => name.to_token_stream(),
        });
        let all = super::pairs(parts).unwrap_or_default();
        self.then(quote_spanned!(span=> #vector.imap(|#number, #old| #all)), span);
    }
}
