//! Structs: the expression has the same fields, as expressions; columns are those of the fields, in order.

use super::input::{Element, Field};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Member;
use syn::spanned::Spanned;

pub fn element(element: &Element, fields: &[Field]) -> TokenStream {
    let Element { name, exp, .. } = element;
    let (generics, arguments, bounds) = element.generics.split_for_impl();
    let definition = definition(element, fields);
    let members: Vec<&Member> = fields.iter().map(|field| &field.member).collect();
    let parts: Vec<_> = (0..fields.len()).map(|number| format_ident!("part_{number}")).collect();
    let elements: Vec<TokenStream> = fields.iter().map(Field::element).collect();
    let components = fields.iter().map(|field| {
        let member = &field.member;
        quote_spanned! { field.ty.span()=>
            ::pumice::derived::add_component(values, |value| value.#member, columns);
        }
    });
    quote! {
        #definition

        #[automatically_derived]
        impl #generics ::pumice::Lift for #exp #arguments #bounds {
            type Elt = #name #arguments;
            fn add_terms(self, terms: &mut ::std::vec::Vec<::pumice::derived::Term>) {
                #(::pumice::Lift::add_terms(self.#members, terms);)*
            }
            fn from_terms(terms: &mut dyn ::core::iter::Iterator<Item = ::pumice::derived::Term>) -> Self {
                #exp { #(#members: ::pumice::Lift::from_terms(terms),)* }
            }
        }

        #[automatically_derived]
        impl #generics ::pumice::Elt for #name #arguments #bounds {
            type Exp = #exp #arguments;
            fn add_types(types: &mut ::std::vec::Vec<::pumice::derived::ScalarType>) {
                #(#elements::add_types(types);)*
            }
            fn add_constants(self, constants: &mut ::std::vec::Vec<::pumice::derived::Constant>) {
                #(#elements::add_constants(self.#members, constants);)*
            }
            fn add_columns<'a>(
                values: &'a [Self],
                columns: &mut ::std::vec::Vec<::pumice::derived::Cow<'a, [u8]>>,
            ) {
                #(#components)*
            }
            fn from_columns(
                columns: &mut dyn ::core::iter::Iterator<Item = &[u8]>,
                count: usize,
            ) -> ::core::result::Result<::std::vec::Vec<Self>, ::pumice::derived::TryReserveError> {
                #(let mut #parts = #elements::from_columns(columns, count)?.into_iter();)*
                ::pumice::derived::collect(count, || {
                    ::core::option::Option::Some(Self { #(#members: #parts.next()?,)* })
                })
            }
        }
    }
}

/// The definition of the expression type. Fields are as visible as they are in the struct.
fn definition(element: &Element, fields: &[Field]) -> TokenStream {
    let Element { name, exp, vis, generics, .. } = element;
    let bounds = &generics.where_clause;
    let about = format!("An expression of type [`{name}`].");
    let field = |field: &Field| {
        let Field { vis, documentation, member, .. } = field;
        let lifted = field.lifted();
        let named = match member {
            Member::Named(name) => quote!(#name:),
            Member::Unnamed(_) => TokenStream::new(),
        };
        match documentation.is_empty() {
            true => quote!(#[allow(missing_docs)] #vis #named #lifted),
            false => quote!(#(#documentation)* #vis #named #lifted),
        }
    };
    let declared = fields.iter().map(field);
    let body = match fields.first().map(|field| &field.member) {
        Some(Member::Named(_)) => quote!(#bounds { #(#declared,)* }),
        Some(Member::Unnamed(_)) => quote!((#(#declared,)*) #bounds;),
        None => quote!(#bounds;),
    };
    quote! {
        #[doc = #about]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #vis struct #exp #generics #body
    }
}
