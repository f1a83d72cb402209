//! Patterns: the condition under which a value matches, and the names that are bound then.

use super::super::names::{VariantNames, field, is_camel_case, is_upper_case, variant_names};
use super::super::steps::{Code, Step, Var};
use super::{Lowering, NO_MUTABLE_REFERENCE, code, refuse};
use proc_macro2::{Ident, Span};
use quote::quote_spanned;
use std::collections::BTreeMap;
use syn::spanned::Spanned;
use syn::{Expr, ExprRange, Lit, Member, Pat, PatIdent, PatOr, PatStruct, Path, RangeLimits, Result};

/// The condition under which a value matches (always, if there is none), and the steps that bind names.
type Matching = (Option<Code>, Vec<Step>);

/// Whether this pattern is a new name, not a constant or variant.
pub(super) fn is_variable(pattern: &PatIdent) -> bool {
    !is_upper_case(&pattern.ident)
}

/// Refuses a pattern that always matches where others follow: it names a variant without its enum, and so is taken for a struct.
pub(super) fn expect_test(pattern: &Pat, test: Option<&Code>) -> Result<()> {
    let path = match pattern {
        _ if test.is_some() => return Ok(()),
        Pat::Paren(inner) => return expect_test(&inner.pat, test),
        Pat::Reference(inner) => return expect_test(&inner.pat, test),
        Pat::TupleStruct(variant) => &variant.path,
        Pat::Struct(variant) => &variant.path,
        _ => return Ok(()),
    };
    let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    refuse(
        path.span(),
        format!("this is taken for a struct: write the enum before a variant, `Enum::{name}`"),
    )
}

/// Returns a field of a value that is this variant.
fn part_of_variant(value: &Code, variant: &Ident, member: &Member, span: Span) -> Code {
    Code::of(field(&value.tokens, variant, member, span), &[value])
}

impl Lowering<'_> {
    pub(super) fn pattern(&mut self, pattern: &Pat, value: &Code) -> Result<Matching> {
        let span = pattern.span();
        match pattern {
            Pat::Wild(_) => Ok((None, Vec::new())),
            Pat::Paren(inner) => self.pattern(&inner.pat, value),
            Pat::Type(typed) => self.pattern(&typed.pat, value),
            Pat::Ident(name) => self.name(name, value),
            Pat::Lit(literal) => Ok((Some(self.equals(value, &Expr::Lit(literal.clone()))?), Vec::new())),
            Pat::Range(range) => Ok((self.within(value, range)?, Vec::new())),
            Pat::Or(sides) => self.either(sides, None, value),
            Pat::Tuple(tuple) => self.parts(tuple.elems.iter(), value),
            Pat::Slice(slice) => {
                let element =
                    |value: &Code, position: usize, span: Span| code!(span, [value] #value[#position]);
                self.each(slice.elems.iter(), value, element)
            }
            Pat::Path(path) => self.unit(&path.path, value),
            Pat::TupleStruct(variant) => {
                let Some(names) = self.variant(&variant.path, true) else {
                    return self.parts(variant.elems.iter(), value);
                };
                let (is, Some(last)) = (names.is, variant.path.segments.last()) else {
                    return refuse(span, "a variant has a name");
                };
                let test = code!(span, [value] #value.#is());
                let part = |value: &Code, position: usize, span: Span| {
                    part_of_variant(value, &last.ident, &Member::from(position), span)
                };
                let (inner, bindings) = self.each(variant.elems.iter(), value, part)?;
                Ok((Some(self.all(test, inner, span)), bindings))
            }
            Pat::Struct(fields) => self.fields(fields, value),
            // Where Rust has a reference to an element, there is the element here.
            Pat::Reference(inner) if inner.mutability.is_none() => self.pattern(&inner.pat, value),
            Pat::Reference(_) => refuse(span, NO_MUTABLE_REFERENCE),
            Pat::Rest(_) => refuse(span, "write `_` for each part that is left out"),
            Pat::Guard(guarded) => {
                refuse(guarded.if_token.span, "a guard stands after a whole arm's pattern")
            }
            _ => refuse(span, "this pattern is not supported in embedded functions"),
        }
    }

    /// Matches a pattern with a guard. Where `|` binds names, each side has the guard for itself, as in Rust.
    pub(super) fn guarded(&mut self, pattern: &Pat, guard: Option<&Expr>, value: &Code) -> Result<Matching> {
        let span = pattern.span();
        let (test, bindings) = self.pattern(pattern, value)?;
        let Some(guard) = guard else { return Ok((test, bindings)) };
        if bindings.iter().any(|step| matches!(step, Step::Branch { .. })) {
            let Pat::Or(sides) = pattern else {
                let message = "`|` inside of a pattern with a guard binds no names: write an arm for each";
                return refuse(span, message);
            };
            return self.either(sides, Some(guard), value);
        }
        let mut inside = bindings.clone();
        let holds = self.expr(guard, &mut inside)?;
        let Some(holds) = self.closed(inside, holds, guard.span()) else {
            return refuse(guard.span(), "a guard changes no variables and does not leave");
        };
        let test = match test {
            Some(test) => self.all(test, Some(holds), span),
            None => holds,
        };
        Ok((Some(test), bindings))
    }

    /// Matches the first side of `|` that does. All sides bind the same names, to the values in that one.
    fn either(&mut self, sides: &PatOr, guard: Option<&Expr>, value: &Code) -> Result<Matching> {
        let mut found: Vec<(&Pat, Matching, BTreeMap<String, Var>)> = Vec::new();
        for side in &sides.cases {
            let (matching, names) = self.scoped(|this| {
                let matching = this.guarded(side, guard, value)?;
                Ok((matching, this.scopes.last().cloned().unwrap_or_default()))
            })?;
            if let Some((pattern, (test, _), others)) = found.last() {
                expect_test(pattern, test.as_ref())?;
                if others.keys().ne(names.keys()) {
                    return refuse(side.span(), "all sides of `|` bind the same names");
                }
            }
            found.push((side, matching, names));
        }
        let names: Vec<String> = found.first().iter().flat_map(|(.., names)| names.keys().cloned()).collect();
        let vars: Vec<Var> = names.iter().map(|_| self.hidden("either", sides.span())).collect();
        let mut whole: Option<Matching> = None;
        for (pattern, (test, mut bindings), own) in found.into_iter().rev() {
            bindings.extend(vars.iter().zip(own.values()).map(|(var, own)| Step::set(*var, self.read(*own))));
            whole = Some(match (test, whole) {
                (Some(test), Some((others, otherwise))) => {
                    let span = pattern.span();
                    let any = others.map(|others| match guard {
                        Some(_) => code!(span, [test, others] ::pumice::embedding::or(#test, ::pumice::embedding::mark(), #others)),
                        None => code!(span, [test, others] (#test) | (#others)),
                    });
                    let chosen = Step::Branch { condition: test, then: bindings, otherwise, span };
                    (any, vec![chosen])
                }
                (test, _) => (test, bindings),
            });
        }
        let (test, chosen) = whole.unwrap_or_default();
        if vars.is_empty() {
            return Ok((test, Vec::new()));
        }
        names.iter().zip(&vars).for_each(|(name, var)| self.bind(name, *var));
        Ok((test, vars.into_iter().map(Step::Declare).chain(chosen).collect()))
    }

    /// Matches a struct or a variant by the names of its fields.
    fn fields(&mut self, fields: &PatStruct, value: &Code) -> Result<Matching> {
        let span = fields.path.span();
        let names = self.variant(&fields.path, true);
        let variant = names.as_ref().and(fields.path.segments.last());
        let test = names.map(|VariantNames { is, .. }| code!(span, [value] #value.#is()));
        let mut matching: Matching = (test, Vec::new());
        for field in &fields.fields {
            let (member, span) = (&field.member, field.span());
            let part = match variant {
                Some(variant) => part_of_variant(value, &variant.ident, member, span),
                None => code!(span, [value] #value.#member),
            };
            let found = self.pattern(&field.pat, &part)?;
            matching = self.both(matching, found, span);
        }
        Ok(matching)
    }

    fn name(&mut self, name: &PatIdent, value: &Code) -> Result<Matching> {
        if let Some(by_ref) = &name.by_ref {
            return refuse(by_ref.span, "there are no references in embedded functions: elements are copied");
        }
        if !is_variable(name) {
            return self.unit(&Path::from(name.ident.clone()), value);
        }
        let inner = match &name.subpat {
            Some((_, pattern)) => self.pattern(pattern, value)?,
            None => (None, Vec::new()),
        };
        let var = self.named(&name.ident);
        let binds = vec![Step::Declare(var), Step::set(var, value.clone())];
        Ok((inner.0, binds.into_iter().chain(inner.1).collect()))
    }

    /// Matches a variant without fields, a struct without fields, or a constant.
    fn unit(&mut self, path: &Path, value: &Code) -> Result<Matching> {
        let span = path.span();
        if let Some(names) = self.variant(path, false) {
            let is = names.is;
            return Ok((Some(code!(span, [value] #value.#is())), Vec::new()));
        }
        let constant = match path.segments.last() {
            Some(last) if is_camel_case(&last.ident) => {
                return refuse(span, "write the enum before the variant: `Enum::Variant`");
            }
            _ => Code::new(quote_spanned!(span=> ::pumice::constant(#path))),
        };
        Ok((Some(code!(span, [value, constant] ::pumice::embedding::equal(#value, #constant))), Vec::new()))
    }

    fn equals(&mut self, value: &Code, literal: &Expr) -> Result<Code> {
        let span = literal.span();
        if let Expr::Lit(literal) = literal
            && let Lit::Bool(truth) = &literal.lit
        {
            return Ok(if truth.value { value.clone() } else { code!(span, [value] !(#value)) });
        }
        let literal = self.pure(literal)?;
        Ok(code!(span, [value, literal] ::pumice::embedding::equal(#value, #literal)))
    }

    fn within(&mut self, value: &Code, range: &ExprRange) -> Result<Option<Code>> {
        let span = range.span();
        let low = range.start.as_ref().map(|start| self.pure(start)).transpose()?;
        let high = range.end.as_ref().map(|end| self.pure(end)).transpose()?;
        let low = low.map(|low| code!(span, [value, low] #value.ge(#low)));
        let high = high.map(|high| match range.limits {
            RangeLimits::Closed(_) => code!(span, [value, high] #value.le(#high)),
            RangeLimits::HalfOpen(_) => code!(span, [value, high] #value.lt(#high)),
        });
        Ok(match (low, high) {
            (Some(low), Some(high)) => Some(code!(span, [low, high] #low & #high)),
            (low, high) => low.or(high),
        })
    }

    /// Lowers a literal or constant in a pattern.
    fn pure(&mut self, expr: &Expr) -> Result<Code> {
        let mut steps = Vec::new();
        let value = self.expr(expr, &mut steps)?;
        if steps.is_empty() { Ok(value) } else { refuse(expr.span(), "a pattern has constants only") }
    }

    /// Matches the parts of a tuple.
    fn parts<'p>(&mut self, patterns: impl Iterator<Item = &'p Pat>, value: &Code) -> Result<Matching> {
        self.each(patterns, value, |value, position, span| {
            let member = Member::from(position);
            code!(span, [value] #value.#member)
        })
    }

    fn each<'p>(
        &mut self,
        patterns: impl Iterator<Item = &'p Pat>,
        value: &Code,
        part: impl Fn(&Code, usize, Span) -> Code,
    ) -> Result<Matching> {
        let mut matching: Matching = (None, Vec::new());
        let mut patterns = patterns.enumerate().peekable();
        while let Some((position, pattern)) = patterns.next() {
            if let (Pat::Rest(_), None) = (pattern, patterns.peek()) {
                break;
            }
            let found = self.pattern(pattern, &part(value, position, pattern.span()))?;
            matching = self.both(matching, found, pattern.span());
        }
        Ok(matching)
    }

    fn both(&mut self, (first, mut bindings): Matching, (second, more): Matching, span: Span) -> Matching {
        bindings.extend(more);
        let test = match first {
            Some(first) => Some(self.all(first, second, span)),
            None => second,
        };
        (test, bindings)
    }

    /// Returns the conjunction of two conditions; the second is evaluated only if the first holds.
    fn all(&mut self, first: Code, second: Option<Code>, span: Span) -> Code {
        match second {
            Some(second) => {
                code!(span, [first, second] ::pumice::embedding::and(#first, ::pumice::embedding::mark(), #second))
            }
            None => first,
        }
    }

    /// Returns the names of a variant, if the path is that of one: behind a type, and not a module, which begins with a small letter.
    /// Without fields, `Axis::X` counts as a constant, which it is, too.
    pub(super) fn variant(&self, path: &Path, has_fields: bool) -> Option<VariantNames> {
        let mut backwards = path.segments.iter().rev().map(|segment| &segment.ident);
        let last = backwards.next()?;
        let known = ["Some", "None", "Ok", "Err"].iter().any(|name| last == name);
        let looks_so = is_camel_case(last) || (has_fields && is_upper_case(last));
        (known || (looks_so && backwards.next().is_some_and(is_upper_case))).then(|| variant_names(last))
    }
}
