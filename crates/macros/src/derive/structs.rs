//! Structs: the expression has the same fields, as expressions; columns are those of the fields, in order.

use super::input::{Element, Field};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Member;

/// The most parts of a tuple that is an element.
const LARGEST_TUPLE: usize = 12;

pub fn element(element: &Element, fields: &[Field]) -> TokenStream {
    let Element { name, exp, .. } = element;
    let (generics, arguments, bounds) = element.generics.split_for_impl();
    let definition = definition(element, fields);
    let members: Vec<&Member> = fields.iter().map(|field| &field.member).collect();
    let variables: Vec<Ident> = (0..fields.len()).map(|number| format_ident!("part_{number}")).collect();
    let types = fields.iter().map(|field| field.ty.to_token_stream()).collect();
    let parts = tuple(types);
    let taken = tuple(members.iter().map(|member| quote!(self.#member)).collect());
    let given = tuple(variables.iter().map(|variable| quote!(#variable)).collect());
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
        #[allow(clippy::unused_unit)]
        impl #generics ::pumice::derived::Fields for #name #arguments #bounds {
            type Parts = #parts;
            fn parts(self) -> #parts {
                #taken
            }
            fn from_parts(#given: #parts) -> Self {
                #name { #(#members: #variables,)* }
            }
        }

        #[automatically_derived]
        impl #generics ::pumice::Elt for #name #arguments #bounds {
            type Exp = #exp #arguments;
            fn add_types(types: &mut ::std::vec::Vec<::pumice::derived::ScalarType>) {
                ::pumice::derived::add_field_types::<Self>(types)
            }
            fn add_constants(self, constants: &mut ::std::vec::Vec<::pumice::derived::Constant>) {
                ::pumice::derived::add_field_constants::<Self>(self, constants)
            }
            fn add_columns<'a>(
                values: &'a [Self],
                columns: &mut ::std::vec::Vec<::pumice::derived::Cow<'a, [u8]>>,
            ) {
                ::pumice::derived::add_field_columns::<Self>(values, columns)
            }
            fn from_columns(
                columns: &mut dyn ::core::iter::Iterator<Item = &[u8]>,
                count: usize,
            ) -> ::core::result::Result<::std::vec::Vec<Self>, ::pumice::derived::TryReserveError> {
                ::pumice::derived::read_fields::<Self>(columns, count)
            }
        }
    }
}

/// The tuple of parts, of many a tuple of tuples.
fn tuple(mut parts: Vec<TokenStream>) -> TokenStream {
    while parts.len() > LARGEST_TUPLE {
        parts = parts.chunks(LARGEST_TUPLE).map(|some| quote!((#(#some,)*))).collect();
    }
    quote!((#(#parts,)*))
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
        #vis struct #exp #generics #body
    }
}
