//! Reductions of comprehensions: `sum![e | …]` and its like. One that stands alone reduces an array; one inside of an
//! expression, over variables that are bound outside, reduces an expansion for each element, or is a loop where it is not
//! always computed (`hoist.rs` decides); one without qualifiers is of a group.

use crate::expression::{Outer, condition, has_qualifiers, value};
use crate::hoist::reduces;
use crate::inner::{Drawing, makes, refuse_shadowing};
use crate::join::{Join, join};
use crate::parse::{Comprehension, Kind, Qualifier, comprehension, live, qualifiers};
use crate::source::{Drawn, draw, number};
use crate::stages::{Joined, Stages};
use crate::tokens::{Names, Separator, first_span, has, mention, names, split, split_once};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::VecDeque;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Result, Token};

/// The names of reductions.
const REDUCTIONS: [&str; 8] = ["sum", "product", "min", "max", "any", "all", "count", "fold"];

const COUNTED: &str = "`distinct` is of results, and `count!` has none: count those of a comprehension, \
                       `count![_ <- [x | x <- xs, distinct]]`";

/// Whether a macro of this name is a reduction.
pub fn is_reduction(name: &Ident) -> bool {
    REDUCTIONS.iter().any(|reduction| name == reduction)
}

/// A reduction over qualifiers, or of a group if there are none.
pub struct Reduction {
    name: Ident,
    /// Operator and initial value of `fold!`.
    fold: Option<(Expr, Expr)>,
    head: TokenStream,
    qualifiers: Vec<Qualifier>,
    /// The qualifiers as they are written.
    written: Vec<TokenStream>,
}

/// A reduction of an expansion, for each environment.
pub struct Expansion {
    /// The join that the elements are from, if they are. Size and element then mention the bounds of its range.
    pub join: Option<Join>,
    /// Number of elements.
    pub size: TokenStream,
    /// An element, by its number; an option if there is no initial value.
    pub element: TokenStream,
    /// A neutral initial value, if the operator is known to have one.
    pub neutral: Option<TokenStream>,
    /// The operator.
    pub combine: TokenStream,
    /// The span of the reduction.
    pub span: Span,
}

/// The variable with the value of a reduction so far.
#[derive(Clone, Copy)]
struct Accumulator<'a> {
    name: &'a Ident,
    /// Whether it is an option, since there may be no value yet.
    is_option: bool,
    /// Whether it is still the neutral element that the reduction starts from.
    is_neutral: bool,
}

impl Reduction {
    /// Parses the text between the brackets, with qualifiers.
    pub fn parse(name: &Ident, tokens: TokenStream) -> Result<Reduction> {
        let (fold, tokens) = Self::operator(name, tokens)?;
        let all =
            if name == "count" { Some(tokens.clone()) } else { split_once(tokens.clone(), Separator::Bar).1 };
        let written = split(all.unwrap_or_default(), Separator::Comma);
        let (head, qualifiers) = if name == "count" {
            let (before, behind) = split_once(tokens.clone(), Separator::Bar);
            let is_generator = has(&before, Separator::Arrow);
            if behind.is_some_and(|behind| has(&behind, Separator::Arrow)) && !is_generator {
                return Err(Error::new(
                    name.span(),
                    "`count!` counts: it has qualifiers only, `count![x <- xs, x > 0]`",
                ));
            }
            (quote!(true), qualifiers(tokens, name.span()).map_err(|error| Self::without(name, error))?)
        } else if has_qualifiers(&tokens) {
            let comprehension = comprehension(tokens)?;
            (comprehension.head, comprehension.qualifiers)
        } else {
            return Err(Self::without(name, Error::new(name.span(), "")));
        };
        Ok(Reduction { name: name.clone(), fold, head, qualifiers, written })
    }

    /// Lowers to a reduction of an inner array, if one is needed: where its elements are sorted, grouped, cut, made distinct,
    /// or computed from inner arrays of their own. `None` otherwise, and if it depends on no variable.
    pub fn of_rows(
        name: &Ident,
        tokens: TokenStream,
        bound: &Names,
        outer: &Outer,
    ) -> Result<Option<TokenStream>> {
        // A reduction without qualifiers is reported where it is used.
        let Ok(reduction) = Self::parse(name, tokens.clone()) else { return Ok(None) };
        if mention(&tokens, bound).is_none() {
            return Ok(None);
        }
        let kinds = || reduction.qualifiers.iter();
        let order = kinds().find(|qualifier| matches!(qualifier.kind, Kind::Order(_)));
        let is_cut = kinds().any(|qualifier| matches!(qualifier.kind, Kind::Take(_)));
        let distinct = kinds().find(|qualifier| matches!(qualifier.kind, Kind::Distinct));
        if let (Some(order), false, None) = (order, is_cut, &reduction.fold) {
            let message = format!(
                "`{name}!` gives the same in any order: leave `order by` out, or put `take n` behind it"
            );
            return Err(Error::new(order.span, message));
        }
        if let (Some(distinct), true) = (distinct, name == "count") {
            return Err(Error::new(distinct.span, COUNTED));
        }
        let mut inside = bound.clone();
        let mut needs_rows = false;
        for qualifier in kinds() {
            needs_rows |= match &qualifier.kind {
                Kind::Let(_, value) => makes(value, Drawing::Never, &inside, outer),
                Kind::Generators(generators) => generators
                    .iter()
                    .any(|generator| makes(&generator.source, Drawing::of(generators), &inside, outer)),
                Kind::Filter(condition) => makes(condition, Drawing::Never, &inside, outer),
                Kind::While(..) => true,
                _ => false,
            };
            inside.extend(qualifier.binds().iter().map(Ident::to_string));
        }
        needs_rows |= makes(&reduction.head, Drawing::Never, &inside, outer);
        if !kinds().any(Qualifier::is_of_all) && !needs_rows {
            return Ok(None);
        }
        let span = name.span();
        Ok(Some(match (name.to_string().as_str(), &reduction.fold) {
            ("count", _) => quote_spanned!(span=> comp![true | #tokens].size()),
            ("any", _) => quote_spanned!(span=> comp![#tokens].fold(false, ::pumice::comprehension::or)),
            ("all", _) => quote_spanned!(span=> comp![#tokens].fold(true, ::pumice::comprehension::and)),
            ("product", _) => quote_spanned!(span=>
                comp![#tokens].fold(::pumice::comprehension::one(), ::pumice::comprehension::multiply)),
            (_, Some((operator, initial))) => {
                let (_, tokens) = Self::operator(name, tokens)?;
                quote_spanned!(span=> comp![#tokens].fold(#initial, #operator))
            }
            _ => quote_spanned!(span=> comp![#tokens].#name()),
        }))
    }

    fn without(name: &Ident, error: Error) -> Error {
        let example = match name.to_string().as_str() {
            "count" => "`count![x <- xs, x > 0]`".to_string(),
            "fold" => "`fold!(|a, b| a + b, 0; x | x <- xs)`".to_string(),
            name => format!("`{name}![x | x <- xs]`"),
        };
        let message = format!(
            "`{name}!` needs qualifiers here: {example}; without them it is of a group, behind `group by`"
        );
        Error::new(error.span(), message)
    }

    /// Parses a reduction of the elements of a group: an expression, or nothing for `count!`.
    pub fn of_group(name: &Ident, tokens: TokenStream) -> Result<Option<Reduction>> {
        if has_qualifiers(&tokens) && name != "fold" || has(&tokens, Separator::Arrow) {
            return Ok(None);
        }
        let (fold, head) = Self::operator(name, tokens)?;
        if has_qualifiers(&head) {
            return Ok(None);
        }
        if head.is_empty() != (name == "count") {
            let message = format!("of a group, write `{name}![{}]`", if name == "count" { "" } else { "x" });
            return Err(Error::new(name.span(), message));
        }
        let (qualifiers, written) = (Vec::new(), Vec::new());
        Ok(Some(Reduction { name: name.clone(), fold, head, qualifiers, written }))
    }

    fn operator(name: &Ident, tokens: TokenStream) -> Result<(Option<(Expr, Expr)>, TokenStream)> {
        if name != "fold" {
            return Ok((None, tokens));
        }
        let read = |input: ParseStream<'_>| {
            let operator = input.parse::<Expr>()?;
            input.parse::<Token![,]>()?;
            Ok((operator, input.parse::<Expr>()?))
        };
        let hint =
            "write `fold!(|a, b| a + b, 0; x | x <- xs)`: operator, initial value, and a comprehension";
        match split_once(tokens, Separator::Semicolon) {
            (before, Some(behind)) => match read.parse2(before.clone()) {
                Ok(fold) => Ok((Some(fold), behind)),
                Err(_) => Err(Error::new(first_span(&before).unwrap_or_else(|| name.span()), hint)),
            },
            _ => Err(Error::new(name.span(), hint)),
        }
    }

    /// Returns its name.
    pub fn name(&self) -> &Ident {
        &self.name
    }

    /// Returns the expression that is reduced; empty for `count!`.
    pub fn head(&self) -> &TokenStream {
        &self.head
    }

    /// Emits the reduction of all elements: a scalar array.
    pub fn of_all(mut self) -> Result<TokenStream> {
        let (span, name) = (self.name.span(), self.name.clone());
        let (mut stages, head) =
            Stages::of(std::mem::take(&mut self.qualifiers), std::mem::take(&mut self.head))?;
        if let ("count", Some(span)) = (name.to_string().as_str(), stages.distinct()) {
            return Err(Error::new(span, COUNTED));
        }
        let head = match name.to_string().as_str() {
            "count" => quote!(::pumice::constant(1i64)),
            "any" | "all" => condition(stages.hoisted(head)?, &stages.bound(), stages.outer())?,
            _ => value(stages.hoisted(head)?, &stages.bound(), stages.outer())?,
        };
        let vector = stages.mapped(head, span);
        let reduce = match (name.to_string().as_str(), &self.fold) {
            ("count", _) => quote_spanned!(span=> sum()),
            ("any" | "all", _) => quote_spanned!(span=> #name(|holds| holds)),
            (_, Some((operator, initial))) => quote_spanned!(span=> fold(#initial, #operator)),
            (_, None) => quote_spanned!(span=> #name()),
        };
        Ok(match self.neutral() {
            Some(neutral) => {
                let combine = self.operator_of(&stages.bound(), stages.outer())?;
                stages
                    .joined_block(quote_spanned!(span=> #vector.#reduce), Joined::Folded { neutral, combine })
            }
            None => {
                let vector = stages.block(vector);
                quote_spanned!(span=> #vector.#reduce)
            }
        })
    }

    /// Emits the reduction for each element of the variables outside: a loop.
    pub fn of_each(self, bound: &Names, outer: &mut Outer) -> Result<TokenStream> {
        let (span, name) = (self.name.span(), &self.name);
        let initial = match (self.neutral(), &self.fold) {
            (Some(neutral), _) => neutral,
            (None, Some((_, initial))) => {
                let initial = crate::expression::expression(initial.clone(), bound, outer)?;
                quote_spanned!(span=> ::pumice::IntoExp::into_exp(#initial))
            }
            (None, None) => quote_spanned!(span=> ::pumice::none()),
        };
        let so_far = outer.fresh("so_far");
        let queue = self.qualifiers.iter().cloned().collect();
        let is_option = matches!(name.to_string().as_str(), "min" | "max");
        let accumulator = Accumulator { name: &so_far, is_option, is_neutral: false };
        let reduced = self.loops(queue, accumulator, bound.clone(), outer)?;
        let reduced = quote_spanned!(span=> { let #so_far = #initial; #reduced });
        Ok(match is_option {
            true => quote_spanned!(span=> ::pumice::comprehension::present(#reduced)),
            false => reduced,
        })
    }

    /// Returns a neutral element, for the operators that have one by name.
    fn neutral(&self) -> Option<TokenStream> {
        let span = self.name.span();
        Some(match self.name.to_string().as_str() {
            "sum" | "count" => quote_spanned!(span=> ::pumice::comprehension::zero()),
            "product" => quote_spanned!(span=> ::pumice::comprehension::one()),
            "any" => quote_spanned!(span=> ::pumice::comprehension::condition(false)),
            "all" => quote_spanned!(span=> ::pumice::comprehension::condition(true)),
            _ => return None,
        })
    }

    /// Lowers to the reduction of an expansion: its first generator is expanded, and further ones are loops. `None` if no
    /// generator comes first, or if each element has an operator of its own.
    pub fn of_expansion(&self, bound: &Names, outer: &mut Outer) -> Result<Option<Expansion>> {
        let span = self.name.span();
        if self.fold.as_ref().is_some_and(|(operator, _)| mention(&quote!(#operator), bound).is_some()) {
            return Ok(None);
        }
        let mut rest: VecDeque<Qualifier> = self.qualifiers.iter().cloned().collect();
        let (join, size, bind, binds) = loop {
            let Some(first) = rest.pop_front() else { return Ok(None) };
            let Kind::Generators(generators) = &first.kind else { return Ok(None) };
            refuse_shadowing(&first.binds(), outer)?;
            if let Some(join) = join(generators, &mut rest, &self.head, bound, false, outer)? {
                let (size, bind) = (join.size(), join.bind.clone());
                break (Some(join), size, bind, first.binds());
            }
            match draw(generators, bound, &live(rest.iter(), &self.head), outer)? {
                Drawn::Inlined(inner) => {
                    inner.into_iter().rev().for_each(|qualifier| rest.push_front(qualifier))
                }
                Drawn::Counted { size, bind, .. } => break (None, size, bind, first.binds()),
            }
        };
        let mut inside = bound.clone();
        inside.extend(binds.iter().map(Ident::to_string));
        let (so_far, neutral) = (outer.fresh("so_far"), self.neutral());
        let (is_option, is_neutral) = (neutral.is_none(), neutral.is_some());
        let element =
            self.loops(rest, Accumulator { name: &so_far, is_option, is_neutral }, inside, outer)?;
        let first = neutral.clone().unwrap_or_else(|| quote_spanned!(span=> ::pumice::none()));
        let start = match names(&element).contains(&so_far.to_string()) {
            true => quote_spanned!(span=> let #so_far = #first;),
            false => TokenStream::new(),
        };
        let element = quote_spanned!(span=> { #bind #start #element });
        let combine = self.operator_of(bound, outer)?;
        Ok(Some(Expansion { join, size, element, neutral, combine, span }))
    }

    /// Returns what it reduces, if computing one of that is a loop: for further generators, a reduction of their own, or one in an
    /// expression. That is itself done for all elements together, or by loops.
    pub fn of_elements(&self, bound: &Names) -> Option<Comprehension> {
        let (name, span, head) = (&self.name, self.name.span(), &self.head);
        let is_count = name == "count";
        let is_generator = |qualifier: &Qualifier| matches!(qualifier.kind, Kind::Generators(_));
        if let Some(next) = (1..self.qualifiers.len()).find(|next| is_generator(&self.qualifiers[*next])) {
            // Without a neutral element, one whose further generators give nothing would be missing.
            self.neutral()?;
            let (before, rest) = (self.qualifiers[..next].to_vec(), self.written.get(next..)?);
            let head = match is_count {
                true => quote_spanned!(span=> #name![#(#rest),*]),
                false => quote_spanned!(span=> #name![#head | #(#rest),*]),
            };
            return Some(Comprehension { head, qualifiers: before });
        }
        let mut inside = bound.clone();
        let mut has_loops = false;
        for qualifier in &self.qualifiers {
            let mut own = qualifier.clone();
            has_loops |=
                !is_generator(qualifier) && own.expressions().iter().any(|one| reduces(one, &inside));
            inside.extend(qualifier.binds().iter().map(Ident::to_string));
        }
        let head = if is_count { quote_spanned!(span=> 1i64) } else { head.clone() };
        let is_loop = has_loops || reduces(&head, &inside);
        is_loop.then(|| Comprehension { head, qualifiers: self.qualifiers.clone() })
    }

    /// Emits the value of the reduction, from the reduced value of its expansion.
    pub fn of_results(&self, reduced: &Ident) -> TokenStream {
        let span = self.name.span();
        match &self.fold {
            Some((operator, initial)) => quote_spanned!(span=> ::pumice::comprehension::from(
                ::pumice::IntoExp::into_exp(#initial), #reduced, #operator
            )),
            None if self.neutral().is_none() => {
                quote_spanned!(span=> ::pumice::comprehension::present(#reduced))
            }
            None => quote!(#reduced),
        }
    }

    /// Emits the reduction over the remaining qualifiers, from the accumulator: an option, if there may be no value yet.
    fn loops(
        &self,
        mut qualifiers: VecDeque<Qualifier>,
        accumulator: Accumulator<'_>,
        mut bound: Names,
        outer: &mut Outer,
    ) -> Result<TokenStream> {
        let Some(qualifier) = qualifiers.pop_front() else {
            return self.step(accumulator, &bound, outer);
        };
        let so_far = accumulator.name;
        let span = qualifier.span;
        refuse_shadowing(&qualifier.binds(), outer)?;
        match &qualifier.kind {
            Kind::Generators(generators) => {
                let found = join(generators, &mut qualifiers, &self.head, &bound, true, outer)?;
                let (search, size, bind) = match found {
                    Some(found) => {
                        let Join { range, first, end, .. } = &found;
                        let search = quote_spanned!(span=> let (#first, #end) = #range;);
                        (search, found.size(), found.bind)
                    }
                    None => {
                        let later = live(qualifiers.iter(), &self.head);
                        match draw(generators, &bound, &later, outer)? {
                            Drawn::Inlined(inner) => {
                                inner
                                    .into_iter()
                                    .rev()
                                    .for_each(|qualifier| qualifiers.push_front(qualifier));
                                return self.loops(qualifiers, accumulator, bound, outer);
                            }
                            Drawn::Counted { size, bind, .. } => (TokenStream::new(), size, bind),
                        }
                    }
                };
                bound.extend(qualifier.binds().iter().map(Ident::to_string));
                let (number, next) = (number(), outer.fresh("so_far"));
                let accumulator = Accumulator { name: &next, is_neutral: false, ..accumulator };
                let body = self.loops(qualifiers, accumulator, bound, outer)?;
                Ok(quote_spanned!(span=> {
                    #search
                    ::pumice::comprehension::each(#size, #so_far, |#number, #next| { #bind #body })
                }))
            }
            Kind::Filter(tokens) => {
                let holds = condition(tokens.clone(), &bound, outer)?;
                let body = self.loops(qualifiers, accumulator, bound, outer)?;
                Ok(quote_spanned!(span=> ::pumice::cond(#holds, || #body, || #so_far)))
            }
            Kind::Let(pattern, tokens) => {
                let value = value(tokens.clone(), &bound, outer)?;
                bound.extend(pattern.names.iter().map(Ident::to_string));
                let body = self.loops(qualifiers, accumulator, bound, outer)?;
                let bind = pattern.bind(&value, span);
                Ok(quote_spanned!(span=> { #bind #body }))
            }
            _ => {
                let message = "a reduction inside of another one, or one that is computed only sometimes, has generators, \
                               conditions and `let` only: bind it with `let` before, or reduce an inner array";
                Err(Error::new(span, message))
            }
        }
    }

    /// Emits the accumulator combined with one more element.
    fn step(
        &self,
        Accumulator { name: so_far, is_option, is_neutral }: Accumulator<'_>,
        bound: &Names,
        outer: &mut Outer,
    ) -> Result<TokenStream> {
        let (span, name) = (self.name.span(), self.name.to_string());
        let element = match name.as_str() {
            "count" if is_neutral => return Ok(quote_spanned!(span=> ::pumice::constant(1i64))),
            "count" => return Ok(quote_spanned!(span=> #so_far + ::pumice::constant(1i64))),
            "any" | "all" => condition(self.head.clone(), bound, outer)?,
            _ => value(self.head.clone(), bound, outer)?,
        };
        if is_neutral {
            return Ok(element);
        }
        Ok(match is_option {
            true => {
                let operator = self.operator_of(bound, outer)?;
                quote_spanned!(span=> ::pumice::comprehension::with(#so_far, #element, #operator))
            }
            false => self.combine(&quote!(#so_far), &element, bound, outer)?,
        })
    }

    /// Emits the operator, as a function of two values.
    fn operator_of(&self, bound: &Names, outer: &mut Outer) -> Result<TokenStream> {
        let (span, name) = (self.name.span(), &self.name);
        Ok(match (name.to_string().as_str(), &self.fold) {
            ("sum" | "count", _) => quote_spanned!(span=> ::pumice::comprehension::add),
            ("product", _) => quote_spanned!(span=> ::pumice::comprehension::multiply),
            ("any", _) => quote_spanned!(span=> ::pumice::comprehension::or),
            ("all", _) => quote_spanned!(span=> ::pumice::comprehension::and),
            (_, Some((operator, _))) => crate::expression::expression(operator.clone(), bound, outer)?,
            _ => quote_spanned!(span=> ::pumice::comprehension::#name),
        })
    }

    /// Emits the combination of two values.
    pub fn combine(
        &self,
        a: &TokenStream,
        b: &TokenStream,
        bound: &Names,
        outer: &mut Outer,
    ) -> Result<TokenStream> {
        let (span, operator) = (self.name.span(), self.operator_of(bound, outer)?);
        Ok(quote_spanned!(span=> ::pumice::comprehension::combine(#a, #b, #operator)))
    }

    /// Emits the value of a group's reduction, from its value without the initial one.
    pub fn finished(&self, reduced: &Ident) -> TokenStream {
        let span = self.name.span();
        match &self.fold {
            Some((operator, initial)) => quote_spanned!(span=> ::pumice::comprehension::combine(
                ::pumice::IntoExp::into_exp(#initial), #reduced, #operator
            )),
            None => quote_spanned!(span=> #reduced),
        }
    }
}
