//! Names of types and variants, and their counterparts among expressions.

use heck::ToSnakeCase;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Member, Path, Result, Type};

/// Whether a name is that of a type or variant: `Circle`, not `circle` and not `PI`.
pub fn is_camel_case(name: &Ident) -> bool {
    let name = name.to_string();
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// Whether a name begins as those of types, variants and constants do.
pub fn is_upper_case(name: &Ident) -> bool {
    name.unraw().to_string().starts_with(char::is_uppercase)
}

/// The scalar types.
const SCALARS: [&str; 14] =
    ["f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "char"];

/// Whether this is the name of a scalar type.
pub fn is_scalar(name: &Ident) -> bool {
    SCALARS.iter().any(|scalar| name == scalar)
}

/// Whether a type is a scalar one, by its name alone.
pub fn is_scalar_type(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.qself.is_none() && path.path.get_ident().is_some_and(is_scalar),
        _ => false,
    }
}

/// Returns the type of a derived type's expressions: `ShapeExp` of `Shape`.
pub fn expression_name(name: &Ident) -> Ident {
    format_ident!("{name}Exp", span = name.span())
}

/// Renames the type that is this far from the end of a path to that of its expressions.
pub fn expression_path(mut path: Path, from_end: usize) -> Path {
    if let Some(segment) = path.segments.iter_mut().nth_back(from_end) {
        segment.ident = expression_name(&segment.ident);
    }
    path
}

/// Replaces `Self` by a type.
pub fn replace_self(tokens: TokenStream, own: Option<&Type>) -> TokenStream {
    let Some(own) = own else { return tokens };
    let replaced = |token: TokenTree| match token {
        TokenTree::Ident(name) if name == "Self" => own.to_token_stream(),
        TokenTree::Group(group) => {
            let mut inner =
                proc_macro2::Group::new(group.delimiter(), replace_self(group.stream(), Some(own)));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(replaced).collect()
}

/// Returns the type of the expressions of a type. That of a scalar is written out, so that rustc need not find it again and again.
pub fn lifted_type(ty: &Type, own: Option<&Type>) -> TokenStream {
    if is_scalar_type(ty) {
        return quote_spanned!(ty.span()=> ::pumice::Exp<#ty>);
    }
    let (span, ty) = (ty.span(), replace_self(ty.to_token_stream(), own));
    quote_spanned!(span=> <#ty as ::pumice::Elt>::Exp)
}

/// Returns the type of the expressions of a type, if an embedded function can have it.
pub fn expression_type(ty: &Type, own: Option<&Type>) -> Result<TokenStream> {
    check_type(ty)?;
    Ok(lifted_type(ty, own))
}

/// Returns the same type as a name, for which a trait can be implemented.
pub fn nominal_expression_type(ty: &Type) -> Result<TokenStream> {
    match ty {
        Type::Path(path) if path.qself.is_none() => match path.path.segments.last() {
            Some(last) if is_scalar(&last.ident) => Ok(quote!(::pumice::Exp<#ty>)),
            Some(last) if last.ident == "Self" => Ok(quote!(Self)),
            Some(last) if last.ident == "Option" || last.ident == "Result" => expression_type(ty, None),
            Some(_) => Ok(expression_path(path.path.clone(), 0).into_token_stream()),
            None => expression_type(ty, None),
        },
        _ => expression_type(ty, None),
    }
}

/// Refuses a type that no array can hold, with what to write instead.
fn check_type(ty: &Type) -> Result<()> {
    let refuse = |span: Span, message: &str| Err(Error::new(span, message));
    match ty {
        Type::Reference(reference) => refuse(
            reference.and_token.span,
            "there are no references in embedded functions: elements are copied, so take the value itself",
        ),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Vec" || last.ident == "Box" => refuse(
                last.ident.span(),
                "an embedded function works on elements, which have a fixed size: use a tuple, a struct with \
                 `#[derive(Elt)]` or an array `[T; N]`",
            ),
            Some(last) if last.ident == "String" => {
                refuse(last.ident.span(), "there are no strings in embedded functions")
            }
            Some(last) if last.ident == "usize" || last.ident == "isize" => refuse(
                last.ident.span(),
                "elements have a size that is the same on every machine: use `i64`, the type of indices",
            ),
            _ => Ok(()),
        },
        Type::Tuple(tuple) => tuple.elems.iter().try_for_each(check_type),
        Type::Paren(inner) => check_type(&inner.elem),
        Type::Array(array) => check_type(&array.elem),
        Type::Slice(_) | Type::Ptr(_) | Type::ImplTrait(_) | Type::TraitObject(_) | Type::FnPtr(_) => {
            refuse(ty.span(), "not the type of an element: use numbers, tuples, `Option` or derived types")
        }
        _ => Ok(()),
    }
}

/// Names of the items that a derived enum's expressions have for a variant.
pub struct VariantNames {
    /// The constructor: `circle(r)`.
    pub constructor: Ident,
    /// The test: `is_circle()`.
    pub is: Ident,
    /// The constructor that takes a function that sets the fields.
    pub pack: Ident,
}

/// Returns the hidden field of a derived enum's expressions that has this field of a variant.
pub fn slot(variant: &Ident, member: &Member) -> Ident {
    let plain = variant.unraw().to_string().to_snake_case();
    match member {
        Member::Named(name) => format_ident!("{plain}_field_{}", name.unraw()),
        Member::Unnamed(index) => format_ident!("{plain}_field_{}", index.index),
    }
}

/// Emits a field of a value that is this variant.
pub fn field(value: &TokenStream, variant: &Ident, member: &Member, span: Span) -> TokenStream {
    if ["Some", "Ok", "Err"].iter().any(|known| variant == known) {
        let unpack = format_ident!("unpack_{}", variant.to_string().to_snake_case());
        return quote_spanned!(span=> #value.#unpack().#member);
    }
    let slot = slot(variant, member);
    quote_spanned!(span=> #value.#slot)
}

/// Returns the names that `#[derive(Elt)]` derives from a variant's.
pub fn variant_names(variant: &Ident) -> VariantNames {
    let (plain, span) = (variant.unraw().to_string().to_snake_case(), variant.span());
    let constructor = match syn::parse_str::<Ident>(&plain) {
        Ok(_) => Ident::new(&plain, span),
        // A word of Rust; some cannot be written as `r#word` either.
        Err(_) if ["self", "super", "crate"].contains(&&*plain) => Ident::new(&format!("{plain}_"), span),
        Err(_) => Ident::new_raw(&plain, span),
    };
    VariantNames {
        constructor,
        is: format_ident!("is_{plain}", span = span),
        pack: format_ident!("pack_{plain}", span = span),
    }
}
