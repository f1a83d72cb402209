//! `#[derive(Elt)]`: structs and enums as elements.
//!
//! A type gets a companion, its expression, and implementations of `Elt`, `Lift` and `IntoExp` that take it apart and put it
//! together field by field. The work is in `pumice::derived`; the code that is generated here only names the
//! fields, because rustc checks every function of it in every crate that derives (`cargo xtask compile-time` measures that).
//! Code has the place of the field that it is about, so that rustc's messages point there.

mod enums;
mod input;
mod structs;

use input::{Body, Element};
use proc_macro2::TokenStream;
use quote::quote;

/// Emits the expression type of a struct or enum, and its implementations.
pub fn element(input: TokenStream) -> syn::Result<TokenStream> {
    let element = Element::read(syn::parse2(input)?)?;
    let own = match &element.body {
        Body::Struct(fields) => structs::element(&element, fields),
        Body::Enum(variants) => enums::element(&element, variants)?,
    };
    let common = common(&element);
    Ok(quote!(#own #common))
}

/// Emits the items that structs and enums have in common.
fn common(element: &Element) -> TokenStream {
    let Element { name, exp, vis, allowed, .. } = element;
    let (generics, arguments, bounds) = element.generics.split_for_impl();
    let called = exp.to_string();
    quote! {
        #[automatically_derived]
        #allowed
        impl #generics ::core::clone::Clone for #exp #arguments #bounds {
            fn clone(&self) -> Self {
                *self
            }
        }

        #[automatically_derived]
        #allowed
        impl #generics ::core::marker::Copy for #exp #arguments #bounds {}

        // The fields are not mentioned: a type that is no element would be reported once more.
        #[automatically_derived]
        #allowed
        impl #generics ::core::fmt::Debug for #exp #arguments #bounds {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::pumice::derived::debug_expression::<Self>(self, #called, f)
            }
        }

        #[automatically_derived]
        #allowed
        #[allow(dead_code, clippy::should_implement_trait)]
        impl #generics #exp #arguments #bounds {
            /// Whether the two are equal.
            #vis fn eq(self, other: impl ::pumice::IntoExp<#name #arguments>) -> ::pumice::Exp<bool> {
                ::pumice::equal(self, other)
            }

            /// Whether the two differ.
            #vis fn ne(self, other: impl ::pumice::IntoExp<#name #arguments>) -> ::pumice::Exp<bool> {
                ::pumice::derived::unequal(self, other)
            }
        }

        #[automatically_derived]
        #allowed
        impl #generics ::pumice::IntoExp<#name #arguments> for #exp #arguments #bounds {
            fn into_exp(self) -> Self {
                self
            }
        }

        #[automatically_derived]
        #allowed
        impl #generics ::pumice::IntoExp<#name #arguments> for #name #arguments #bounds {
            fn into_exp(self) -> #exp #arguments {
                ::pumice::constant(self)
            }
        }
    }
}
