//! Patterns of comprehensions: names, `_`, tuples, and the fields of structs.
//!
//! The expression of a struct has the struct's fields under another name of a type. A pattern of one becomes a name, and
//! statements behind it that bind what is in its fields.

use crate::tokens::rename;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Error, Member, Pat, Path, Result, Token, Type};

/// A pattern that always matches.
#[derive(Clone)]
pub struct Pattern {
    /// The pattern, with its type if there is one; names stand for structs.
    pub tokens: TokenStream,
    /// The names that it binds, from left to right.
    pub names: Vec<Ident>,
    structs: Vec<Struct>,
}

/// A struct in a pattern.
#[derive(Clone)]
struct Struct {
    /// The name that stands for it.
    name: Ident,
    /// The pattern of its type that has all of its fields, for rustc to check.
    all: TokenStream,
    /// The patterns of its fields.
    fields: Vec<(TokenStream, Member)>,
    span: Span,
}

impl Pattern {
    /// Emits the binding of a value.
    pub fn bind(&self, value: &TokenStream, span: Span) -> TokenStream {
        let (tokens, fields) = (&self.tokens, self.fields());
        quote_spanned!(span=> let #tokens = #value; #fields)
    }

    /// Emits the binding of a value for a place that may use only some of the names.
    pub fn bind_some(&self, value: &TokenStream, span: Span) -> TokenStream {
        let (tokens, allow) = (&self.tokens, quote!(#[allow(unused_variables)]));
        let fields = self.fields_with(&allow);
        quote_spanned!(span=> #allow let #tokens = #value; #fields)
    }

    /// Emits an expression behind the pattern, as the parameter of a closure.
    pub fn before(&self, body: &TokenStream) -> TokenStream {
        match self.fields() {
            fields if fields.is_empty() => body.clone(),
            fields => quote!({ #fields #body }),
        }
    }

    /// Emits the bindings of what is in the fields of structs, behind the pattern.
    pub fn fields(&self) -> TokenStream {
        self.fields_with(&TokenStream::new())
    }

    fn fields_with(&self, attribute: &TokenStream) -> TokenStream {
        let mut statements = TokenStream::new();
        for Struct { name, all, fields, span } in &self.structs {
            statements.extend(quote_spanned!(*span=>
                let #name = ::pumice::comprehension::opened(#name, |#all| ());));
            for (pattern, member) in fields {
                statements.extend(quote_spanned!(*span=> #attribute let #pattern = #name.#member;));
            }
        }
        statements
    }

    /// Renames the variables that it binds.
    pub fn rename(&mut self, others: &HashMap<String, Ident>) {
        self.tokens = rename(self.tokens.clone(), others);
        for (pattern, _) in self.structs.iter_mut().flat_map(|one| &mut one.fields) {
            *pattern = rename(pattern.clone(), others);
        }
        for name in &mut self.names {
            if let Some(other) = others.get(&name.to_string()) {
                *name = Ident::new(&other.to_string(), name.span());
            }
        }
    }
}

/// Parses a pattern, and its type if there is one.
pub fn typed(input: ParseStream<'_>) -> Result<Pattern> {
    let pat = Pat::parse_single(input)?;
    let mut pattern = checked(pat)?;
    if input.peek(Token![:]) {
        input.parse::<Token![:]>()?.to_tokens(&mut pattern.tokens);
        input.parse::<Type>()?.to_tokens(&mut pattern.tokens);
    }
    Ok(pattern)
}

/// Parses the pattern of a generator.
pub fn before_arrow(tokens: TokenStream, span: Span) -> Result<Pattern> {
    const HINT: &str = "before `<-` stands a pattern: a name, `_`, a tuple or the fields of a struct (a comparison with a negative \
                        number has a space: `x < -1`)";
    match Pat::parse_single.parse2(tokens) {
        Ok(pat) => checked(pat),
        Err(_) => Err(Error::new(span, HINT)),
    }
}

/// Takes a pattern of Rust, if it always matches.
pub fn checked(mut pat: Pat) -> Result<Pattern> {
    let mut pattern = Pattern { tokens: TokenStream::new(), names: Vec::new(), structs: Vec::new() };
    pattern.collect(&mut pat)?;
    pattern.tokens = pat.into_token_stream();
    Ok(pattern)
}

impl Pattern {
    /// Collects names and structs, and puts names in the places of the latter.
    fn collect(&mut self, pat: &mut Pat) -> Result<()> {
        match pat {
            Pat::Ident(name)
                if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() =>
            {
                if self.names.contains(&name.ident) {
                    return Err(Error::new(name.ident.span(), "this name is bound twice in one pattern"));
                }
                self.names.push(name.ident.clone());
                Ok(())
            }
            Pat::Wild(_) | Pat::Rest(_) => Ok(()),
            Pat::Tuple(tuple) => tuple.elems.iter_mut().try_for_each(|part| self.collect(part)),
            Pat::Paren(paren) => self.collect(&mut paren.pat),
            Pat::Struct(fields) if !is_variant(&fields.path) => {
                let (path, rest, span) = (&fields.path, &fields.rest, fields.path.span());
                let members = fields.fields.iter().map(|field| raw(&field.member));
                let all = quote_spanned!(span=> #path { #(#members: _,)* #rest });
                let place = self.structs.len();
                let name = format_ident!("__struct_{place}", span = Span::mixed_site());
                self.structs.push(Struct { name: name.clone(), all, fields: Vec::new(), span });
                let mut patterns = Vec::new();
                for field in &mut fields.fields {
                    self.collect(&mut field.pat)?;
                    patterns.push((field.pat.to_token_stream(), field.member.clone()));
                }
                self.structs[place].fields = patterns;
                *pat = Pat::Verbatim(quote!(#name));
                Ok(())
            }
            pat => Err(Error::new_spanned(
                pat,
                "patterns are names, `_`, tuples, and the fields of structs, `P { x, .. }`: they always match",
            )),
        }
    }
}

/// Returns the name of a field, written as a raw identifier: it is none of the variables, whose names are searched in what is emitted.
fn raw(member: &Member) -> TokenStream {
    match member {
        Member::Named(name) => Ident::new_raw(&name.unraw().to_string(), name.span()).into_token_stream(),
        Member::Unnamed(number) => number.into_token_stream(),
    }
}

/// Whether this is the path of a variant, by how it is written.
fn is_variant(path: &Path) -> bool {
    let parent = path.segments.iter().rev().nth(1);
    parent.is_some_and(|parent| parent.ident.to_string().starts_with(char::is_uppercase))
}
