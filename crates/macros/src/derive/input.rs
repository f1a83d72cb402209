//! What `#[derive(Elt)]` is given: a type that can be an element, or a message at the token that says why it cannot.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Fields, GenericParam, Generics, Item, LitStr, Member, Type, Visibility};

/// A type that becomes an element.
pub struct Element {
    pub name: Ident,
    /// The name of its expression type.
    pub exp: Ident,
    pub vis: Visibility,
    /// Its generics, whose types are elements.
    pub generics: Generics,
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
    /// The type as an element: `<T as Elt>`, which rustc refuses at the field.
    pub fn element(&self) -> TokenStream {
        let ty = &self.ty;
        quote_spanned!(ty.span()=> <#ty as ::pumice::Elt>)
    }

    /// The type of its expression.
    pub fn lifted(&self) -> TokenStream {
        let element = self.element();
        quote_spanned!(self.ty.span()=> #element::Exp)
    }
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
        let exp = expression_name(&attributes)?.unwrap_or_else(|| format_ident!("{name}Exp"));
        Ok(Element { name, exp, vis, generics, body })
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

/// Where a type mentions the one that it is part of. A name behind `::` is that of another module.
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

/// The name that `#[elt(exp = "Name")]` says.
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
