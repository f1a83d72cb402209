//! Input of `#[derive(Elt)]`: a type that can be an element, or a message at the token that says why it cannot.

use crate::embed::{is_scalar_type, lifted_type};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Fields, GenericParam, Generics, Item, LitStr, Member, Type, Visibility, WherePredicate,
};

/// A type that becomes an element.
pub struct Element {
    pub name: Ident,
    /// The name of its expression type.
    pub exp: Ident,
    pub vis: Visibility,
    /// Its generics, whose types are elements, and the bounds of its fields ([`require_elements`]).
    pub generics: Generics,
    /// The generics of the expression type's definition, without the bounds that depend on parameters.
    pub declared: Generics,
    /// The attribute of all items that have bounds.
    pub allowed: Option<TokenStream>,
    pub body: Body,
}

pub enum Body {
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
}

pub struct Variant {
    pub name: Ident,
    pub fields: Vec<Field>,
}

/// A field of a struct or variant.
pub struct Field {
    pub member: Member,
    pub vis: Visibility,
    pub ty: Type,
    pub documentation: Vec<Attribute>,
}

impl Field {
    /// Returns the type of its expression.
    pub fn lifted(&self) -> TokenStream {
        lifted_type(&self.ty, None)
    }
}

/// Returns the generics of all derived items, with bounds: the types of the fields are elements. The other ones are those of the
/// definition of the expression type.
///
/// If a type is no element, rustc reports it once, at the field, and takes it for granted in all items that have the bound: without it,
/// each function that uses the field would be reported. A bound without parameters is reported itself; the same message for the
/// same place is printed once. One with parameters is taken for granted, so the definition, which mentions each field once, goes without.
fn require_elements(generics: Generics, body: &Body) -> (Generics, Generics) {
    let (mut generics, mut declared) = (generics.clone(), generics);
    let parameters: Vec<Ident> = generics
        .type_params()
        .map(|parameter| parameter.ident.clone())
        .chain(generics.const_params().map(|parameter| parameter.ident.clone()))
        .collect();
    let fields: Vec<&Field> = match body {
        Body::Struct(fields) => fields.iter().collect(),
        Body::Enum(variants) => variants.iter().flat_map(|variant| &variant.fields).collect(),
    };
    let mut bounded = HashSet::new();
    for Field { ty, .. } in fields {
        let tokens = ty.to_token_stream();
        if is_scalar_type(ty) || !bounded.insert(tokens.to_string()) {
            continue;
        }
        let is_open = parameters.iter().any(|parameter| mention(tokens.clone(), parameter).is_some());
        // From the first token of the type to the last, so that a message points at all of it.
        let end = tokens.into_iter().last().map_or(ty.span(), |token| token.span());
        let bound = quote_spanned!(end=> ::pumice::Elt);
        let predicate: WherePredicate = syn::parse_quote_spanned!(end=> #ty: #bound);
        generics.make_where_clause().predicates.push(predicate.clone());
        if !is_open {
            declared.make_where_clause().predicates.push(predicate);
        }
    }
    (generics, declared)
}

impl Element {
    /// Reads a definition.
    pub fn read(item: Item) -> syn::Result<Element> {
        let (attributes, vis, name, mut generics, body) = match item {
            Item::Struct(item) => {
                let body = Body::Struct(fields(item.fields, &item.ident)?);
                (item.attrs, item.vis, item.ident, item.generics, body)
            }
            Item::Enum(item) => {
                if item.variants.is_empty() {
                    return Err(Error::new(
                        item.ident.span(),
                        "an enum without variants has no values, and cannot be an element",
                    ));
                }
                let variant = |variant: syn::Variant| {
                    refuse_attributes(&variant.attrs)?;
                    Ok(Variant { fields: fields(variant.fields, &item.ident)?, name: variant.ident })
                };
                let body = Body::Enum(item.variants.into_iter().map(variant).collect::<syn::Result<_>>()?);
                (item.attrs, item.vis, item.ident, item.generics, body)
            }
            Item::Union(item) => {
                return Err(Error::new(
                    item.union_token.span,
                    "a union cannot be an element, because nothing says which field it holds: use an enum",
                ));
            }
            other => return Err(Error::new(other.span(), "only structs and enums can be elements")),
        };
        for parameter in &mut generics.params {
            match parameter {
                GenericParam::Type(parameter) => parameter.bounds.push(syn::parse_quote!(::pumice::Elt)),
                GenericParam::Lifetime(lifetime) => {
                    return Err(Error::new(
                        lifetime.span(),
                        "an element is copied to a device and cannot borrow: leave the lifetime out, and hold values instead \
                         of references",
                    ));
                }
                GenericParam::Const(_) => {}
            }
        }
        let (generics, declared) = require_elements(generics, &body);
        // Bounds may depend on no parameters and be of private types, which rustc advises against in code that is written by hand.
        let allowed =
            generics.where_clause.as_ref().map(|_| quote!(#[allow(trivial_bounds, private_bounds)]));
        let exp = expression_name(&attributes)?.unwrap_or_else(|| format_ident!("{name}Exp"));
        Ok(Element { name, exp, vis, generics, declared, allowed, body })
    }
}

fn fields(fields: Fields, of: &Ident) -> syn::Result<Vec<Field>> {
    let field = |(number, field): (usize, syn::Field)| {
        refuse_attributes(&field.attrs)?;
        if let Some(span) = mention(field.ty.to_token_stream(), of) {
            let message = format!(
                "`{of}` cannot contain itself: an element has a fixed number of scalars, which are stored in columns"
            );
            return Err(Error::new(span, message));
        }
        let member = field.ident.map_or(Member::from(number), Member::from);
        let documentation = field.attrs.into_iter().filter(|attribute| attribute.path().is_ident("doc"));
        Ok(Field { member, vis: field.vis, ty: field.ty, documentation: documentation.collect() })
    };
    fields.into_iter().enumerate().map(field).collect()
}

/// Returns the span at which a type mentions the one that it is part of. A name behind `::` is of another module.
fn mention(ty: TokenStream, of: &Ident) -> Option<Span> {
    let mut in_path = false;
    ty.into_iter().find_map(|token| {
        let found = match &token {
            TokenTree::Ident(ident) if !in_path && (ident == of || ident == "Self") => Some(ident.span()),
            TokenTree::Group(group) => mention(group.stream(), of),
            _ => None,
        };
        in_path = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == ':');
        found
    })
}

/// Returns the name in `#[elt(exp = "Name")]`.
fn expression_name(attributes: &[Attribute]) -> syn::Result<Option<Ident>> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("elt")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("exp") {
                return Err(meta.error("expected `exp = \"Name\"`, the name of the expression type"));
            }
            name = Some(meta.value()?.parse::<LitStr>()?.parse()?);
            Ok(())
        })?;
    }
    Ok(name)
}

fn refuse_attributes(attributes: &[Attribute]) -> syn::Result<()> {
    match attributes.iter().find(|attribute| attribute.path().is_ident("elt")) {
        Some(attribute) => {
            Err(Error::new(attribute.span(), "`#[elt(…)]` belongs to the type, not to its parts"))
        }
        None => Ok(()),
    }
}
