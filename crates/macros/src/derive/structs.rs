//! Structs: the expression has the same fields, as expressions; columns are those of the fields, in order.

use super::input::{Element, Field};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Member;

/// Maximum number of parts of a tuple that is an element.
const LARGEST_TUPLE: usize = 12;

pub fn element(element: &Element, fields: &[Field]) -> TokenStream {
    let Element { name, exp, allowed, .. } = element;
    let (generics, arguments, bounds) = element.generics.split_for_impl();
    let definition = definition(element, fields);
    let types = tuple(fields.iter().map(|field| field.ty.to_token_stream()).collect());
    let lifted_types = tuple(fields.iter().map(Field::lifted).collect());
    let conversions = conversions(fields);
    quote! {
        #definition

        #[automatically_derived]
        #allowed
        impl #generics ::pumice::Lift for #exp #arguments #bounds {
            type Elt = #name #arguments;
            type Parts = #lifted_types;
            #conversions
        }

        #[automatically_derived]
        #allowed
        impl #generics ::pumice::Elt for #name #arguments #bounds {
            type Exp = #exp #arguments;
            type Parts = #types;
            #conversions
        }
    }
}

/// Emits the conversions of values and expressions to parts and back: all that differs from struct to struct.
fn conversions(fields: &[Field]) -> TokenStream {
    let members: Vec<&Member> = fields.iter().map(|field| &field.member).collect();
    let variables: Vec<Ident> = (0..fields.len()).map(|number| format_ident!("part_{number}")).collect();
    let taken = tuple(members.iter().map(|member| quote!(self.#member)).collect());
    let given = tuple(variables.iter().map(|variable| quote!(#variable)).collect());
    quote! {
        #[allow(clippy::unused_unit)]
        fn parts(self) -> Self::Parts {
            #taken
        }
        fn from_parts(#given: Self::Parts) -> Self {
            Self { #(#members: #variables,)* }
        }
    }
}

/// Emits the tuple of parts; of many parts, a tuple of tuples.
fn tuple(mut parts: Vec<TokenStream>) -> TokenStream {
    while parts.len() > LARGEST_TUPLE {
        parts = parts.chunks(LARGEST_TUPLE).map(|some| quote!((#(#some,)*))).collect();
    }
    quote!((#(#parts,)*))
}

/// Emits the definition of the expression type. Fields are as visible as they are in the struct.
fn definition(element: &Element, fields: &[Field]) -> TokenStream {
    let Element { name, exp, vis, declared: generics, allowed, .. } = element;
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
        #allowed
        #vis struct #exp #generics #body
    }
}
