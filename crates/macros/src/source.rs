//! Sources of generators: the number of elements, and each element by its number (`Size` and `Fetch` of the paper), as expressions of
//! the variables that are bound before.

use crate::expression::{Outer, expression};
use crate::inner;
use crate::parse::{Generator, Kind, Qualifier, Source, source};
use crate::tokens::{Names, first_span, mention, names, rename};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use std::collections::HashMap;
use syn::{Error, Result};

/// The lowered form of a generator, or of several in step.
pub enum Drawn {
    /// A number of elements, each a function of its number.
    Counted {
        /// The number of elements.
        size: TokenStream,
        /// Statements that bind the patterns, for the element whose number is `__number`.
        bind: TokenStream,
        /// The names that they mention, besides those that they bind.
        uses: Names,
        /// The array, if the source is just an array.
        array: Option<Ident>,
    },
    /// The qualifiers of an inner comprehension, to be put in the generator's place.
    Inlined(Vec<Qualifier>),
}

/// Returns the variable for the number of the element that is being bound.
pub fn number() -> Ident {
    Ident::new("__number", Span::mixed_site())
}

/// The reason why a source cannot depend on elements, for messages.
pub const DEPENDS: &str = "only inner arrays do: draw from a range `a..b`, a part of an array `xs[a..b]`, a row `m[i]`, or a \
                           comprehension over these, `[f(x) | x <- xs[a..b]]`, and its methods (`sort`, `scan`, …)";

/// Prepares generators that are in step; `later` are the names that are mentioned behind them.
pub fn draw(generators: &[Generator], bound: &Names, later: &Names, outer: &mut Outer) -> Result<Drawn> {
    let (mut size, mut bind, mut only_array) = (None, TokenStream::new(), None);
    let mut uses = Names::new();
    for generator in generators {
        let span = generator.span;
        let (part, value, array) = match source(&generator.source)? {
            Source::Inner(inner)
                if generators.len() == 1 && !inner.qualifiers.iter().any(Qualifier::is_of_all) =>
            {
                let mut qualifiers = inner.qualifiers;
                let made = Kind::Let(generator.pattern.clone(), inner.head);
                qualifiers.push(Qualifier { kind: made, span });
                let taken = bound.union(later).cloned().collect();
                return Ok(Drawn::Inlined(with_other_names(qualifiers, &taken, outer)));
            }
            source => one(source, bound, outer, span)?,
        };
        bind.extend(generator.pattern.bind(&value, span));
        uses.extend(names(&value));
        size = match (size, part) {
            (Some(size), Some(part)) => Some(quote_spanned!(span=> #size.min(#part))),
            (size, part) => size.or(part),
        };
        only_array = array;
    }
    let array = only_array.filter(|_| generators.len() == 1);
    match size {
        Some(size) => Ok(Drawn::Counted { size, bind, uses, array }),
        None => Err(Error::new(
            generators[0].span,
            "a range without an end is drawn from in step with others: `i <- 0.. | x <- xs`",
        )),
    }
}

/// Returns the size, if it has one, and the element of one source; and the array if it is one.
#[allow(clippy::type_complexity)]
fn one(
    source: Source,
    bound: &Names,
    outer: &mut Outer,
    span: Span,
) -> Result<(Option<TokenStream>, TokenStream, Option<Ident>)> {
    let number = number();
    let library = quote_spanned!(span=> ::pumice::comprehension);
    Ok(match source {
        Source::Range { from, to, closed } => {
            let span = first_span(&from.to_token_stream()).unwrap_or(span);
            let from = expression(from, bound, outer)?;
            let element = quote_spanned!(span=> ::pumice::comprehension::counted(#from, #number));
            let count = format_ident!("{}", if closed { "closed_count" } else { "count" });
            let size = match to {
                Some(to) => {
                    let to = expression(to, bound, outer)?;
                    Some(quote_spanned!(span=> ::pumice::comprehension::#count(#from, #to)))
                }
                None => None,
            };
            (size, element, None)
        }
        Source::Slice { array, from, to, closed } if inner::chain(&array, bound, outer).is_some() => {
            let Some(chain) = inner::chain(&array, bound, outer) else {
                return Err(Error::new(span, DEPENDS));
            };
            let (rows, row) = inner::rows(chain, bound, outer)?;
            let from = match from {
                Some(from) => expression(from, bound, outer)?,
                None => quote_spanned!(span=> 0),
            };
            let to = match to {
                Some(to) => {
                    let (to, more) = (expression(to, bound, outer)?, i64::from(closed));
                    quote_spanned!(span=> ::core::option::Option::Some(#library::end(#to, #more)))
                }
                None => quote_spanned!(span=> ::core::option::Option::None),
            };
            let size = quote_spanned!(span=> #library::row_slice_count(&#rows, #row, #from, #to));
            let element = quote_spanned!(span=> #library::row_slice_element(&#rows, #row, #from, #number));
            (Some(size), element, None)
        }
        Source::Slice { array, from, to, closed } => {
            let array = outer.array(array, bound, DEPENDS)?;
            let from = match from {
                Some(from) => expression(from, bound, outer)?,
                None => quote_spanned!(span=> 0),
            };
            let to = match to {
                Some(to) => {
                    let to = expression(to, bound, outer)?;
                    let count = if closed { quote_spanned!(span=> 1) } else { quote_spanned!(span=> 0) };
                    quote_spanned!(span=> #library::end(#to, #count))
                }
                None => quote_spanned!(span=> #array.size()),
            };
            let size = quote_spanned!(span=> #library::slice_count(&#array, #from, #to));
            (Some(size), quote_spanned!(span=> #library::slice_element(&#array, #from, #number)), None)
        }
        Source::Row { array, index } => {
            if inner::chain(&array, bound, outer).is_some() {
                let message = "an element of an inner array is not an array to draw from: draw from a part of it, `row[a..b]`";
                return Err(Error::new(span, message));
            }
            let rows = outer.rows(array, bound, DEPENDS)?;
            let index = expression(index, bound, outer)?;
            let size = quote_spanned!(span=> #library::row_count(#rows, #index));
            (Some(size), quote_spanned!(span=> #library::row_element(#rows, #index, #number)), None)
        }
        Source::Inner(inner) => {
            let mut all = TokenStream::new();
            inner.qualifiers.iter().cloned().for_each(|mut qualifier| {
                qualifier.expressions().into_iter().for_each(|tokens| all.extend(tokens.clone()));
            });
            all.extend(inner.head.clone());
            if mention(&all, bound).is_some() {
                if inner.qualifiers.iter().any(Qualifier::is_of_all) {
                    return Err(Error::new(span, inner::MADE));
                }
                return in_step(inner, bound, outer, span);
            }
            let array = outer.comprehension(inner, span)?;
            let element = quote_spanned!(span=> #library::element(&#array, #number));
            (Some(quote_spanned!(span=> #array.size())), element, Some(array))
        }
        Source::Array(array) if inner::chain(&array, bound, outer).is_some() => {
            let Some(chain) = inner::chain(&array, bound, outer) else {
                return Err(Error::new(span, DEPENDS));
            };
            let (rows, row) = inner::rows(chain, bound, outer)?;
            let size = quote_spanned!(span=> #library::row_count(&#rows, #row));
            (Some(size), quote_spanned!(span=> #library::row_element(&#rows, #row, #number)), None)
        }
        Source::Array(array) => {
            let array = outer.array(array, bound, DEPENDS)?;
            let element = quote_spanned!(span=> #library::element(&#array, #number));
            (Some(quote_spanned!(span=> #array.size())), element, Some(array))
        }
    })
}

/// Lowers a comprehension that depends on variables, in step with others, to one generator and bindings.
#[allow(clippy::type_complexity)]
fn in_step(
    inner: crate::parse::Comprehension,
    bound: &Names,
    outer: &mut Outer,
    span: Span,
) -> Result<(Option<TokenStream>, TokenStream, Option<Ident>)> {
    const HINT: &str = "in step with others, a comprehension that depends on their elements has one generator and no condition: \
                        how many elements there are must be known without computing them. Bind it before, with `let row = [x | x <- xs]`";
    let mut qualifiers = inner.qualifiers.iter();
    let Some(Qualifier { kind: Kind::Generators(generators), .. }) = qualifiers.next() else {
        return Err(Error::new(span, HINT));
    };
    let Drawn::Counted { size, mut bind, .. } = draw(generators, bound, &Names::new(), outer)? else {
        return Err(Error::new(span, HINT));
    };
    let mut bound = bound.clone();
    bound.extend(inner.qualifiers[0].binds().iter().map(Ident::to_string));
    for qualifier in qualifiers {
        let Kind::Let(pattern, value) = &qualifier.kind else {
            return Err(Error::new(qualifier.span, HINT));
        };
        let value = crate::expression::value(value.clone(), &bound, outer)?;
        bind.extend(pattern.bind(&value, qualifier.span));
        bound.extend(pattern.names.iter().map(Ident::to_string));
    }
    let head = crate::expression::value(inner.head, &bound, outer)?;
    Ok((Some(size), quote_spanned!(span=> { #bind #head }), None))
}

/// Renames the variables of an inner comprehension where their names are taken. The last qualifier binds the names that the outer one
/// sees, and keeps them.
fn with_other_names(mut qualifiers: Vec<Qualifier>, taken: &Names, outer: &mut Outer) -> Vec<Qualifier> {
    let mut others: HashMap<String, Ident> = HashMap::new();
    let last = qualifiers.len() - 1;
    for (position, qualifier) in qualifiers.iter_mut().enumerate() {
        for tokens in qualifier.expressions() {
            *tokens = rename(tokens.clone(), &others);
        }
        if position == last {
            break;
        }
        // A loop assigns to variables that are bound before.
        let is_loop = matches!(qualifier.kind, Kind::While(..));
        for name in qualifier.binds().into_iter().filter(|_| !is_loop) {
            if taken.contains(&name.to_string()) {
                others.insert(name.to_string(), outer.fresh(&name.to_string()));
            }
        }
        let patterns = match &mut qualifier.kind {
            Kind::Generators(generators) => {
                generators.iter_mut().map(|generator| &mut generator.pattern).collect()
            }
            Kind::Let(pattern, _) => vec![pattern],
            Kind::While(_, body) => body.iter_mut().map(|one| &mut one.pattern).collect(),
            _ => Vec::new(),
        };
        for pattern in patterns {
            pattern.rename(&others);
        }
    }
    qualifiers
}
