//! Enums: the expression is a tag and columns that variants share (`pumice::derived` says how), opaque to users, with a
//! constructor and a test for each variant, and one `match_` for all. The fields are hidden; `#[embed]` knows their names.

use super::input::{Element, Field, Variant};
use crate::embed::{VariantNames, slot, variant_names};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::HashSet;
use syn::Member;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// Maximum number of fields of a variant: a payload is a tuple.
const MOST_FIELDS: usize = 12;

/// A variant, with all names that are derived from it.
struct Named<'v> {
    variant: &'v Variant,
    number: Literal,
    /// The fields of the expression that hold the payload.
    slots: Vec<Ident>,
    /// The name for the payloads of many values.
    payloads: Ident,
    constructor: Ident,
    is: Ident,
    /// The hidden function that makes the variant of a struct of its fields, if they have names.
    pack: Ident,
    /// Names for values of the fields.
    parts: Vec<Ident>,
}

impl<'v> Named<'v> {
    fn new(number: usize, variant: &'v Variant) -> Named<'v> {
        let VariantNames { constructor, is, pack } = variant_names(&variant.name);
        Named {
            variant,
            number: Literal::usize_unsuffixed(number),
            slots: variant.fields.iter().map(|field| slot(&variant.name, &field.member)).collect(),
            payloads: format_ident!("payloads_{number}"),
            constructor,
            is,
            pack,
            parts: (0..variant.fields.len()).map(|part| format_ident!("part_{part}")).collect(),
        }
    }

    /// Returns the type of the payload.
    fn payload(&self) -> TokenStream {
        let types = self.variant.fields.iter().map(|field| &field.ty);
        let span = self.variant.fields.first().map_or(self.variant.name.span(), |field| field.ty.span());
        quote_spanned!(span=> (#(#types,)*))
    }

    /// Emits the payload of an expression.
    fn held(&self) -> TokenStream {
        let slots = &self.slots;
        quote!((#(self.#slots,)*))
    }

    /// Emits the pattern of the variant, which is also the value made of its parts.
    fn pattern(&self) -> TokenStream {
        let (name, parts) = (&self.variant.name, &self.parts);
        let members = self.variant.fields.iter().map(|field| &field.member);
        quote!(Self::#name { #(#members: #parts,)* })
    }
}

pub fn element(element: &Element, variants: &[Variant]) -> syn::Result<TokenStream> {
    let named = names(variants)?;
    let (definition, methods) = (definition(element, &named), methods(element, &named));
    let (expression, value) = (expression(element, &named), value(element, &named));
    let by_name: TokenStream = named.iter().map(|variant| fields_by_name(element, variant)).collect();
    Ok(quote!(#definition #methods #by_name #expression #value))
}

/// Names the items of each variant.
fn names(variants: &[Variant]) -> syn::Result<Vec<Named<'_>>> {
    let mut taken: HashSet<String> = ["eq", "ne", "match_"].map(String::from).into();
    let mut all = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        let at = |message: String| syn::Error::new(variant.name.span(), message);
        if variant.fields.len() > MOST_FIELDS {
            return Err(at(format!(
                "a variant of an element has at most {MOST_FIELDS} fields: put them into a struct that derives `Elt`"
            )));
        }
        let named = Named::new(number, variant);
        for function in [&named.constructor, &named.is, &named.pack] {
            if !taken.insert(function.unraw().to_string()) {
                return Err(at(format!(
                    "the expression of this enum has another function `{function}`: give the variant another name"
                )));
            }
        }
        all.push(named);
    }
    Ok(all)
}

/// Emits the definition of the expression type.
fn definition(element: &Element, variants: &[Named<'_>]) -> TokenStream {
    let Element { name, exp, vis, declared: generics, allowed, .. } = element;
    let bounds = &generics.where_clause;
    let about = format!("An expression of type [`{name}`], which `match_` takes apart.");
    // A field of its own for each, and not a tuple a variant: a type that is no element is reported once, at its place.
    let slots = variants.iter().flat_map(|variant| &variant.slots);
    let lifted = variants.iter().flat_map(|variant| variant.variant.fields.iter().map(Field::lifted));
    quote! {
        #[doc = #about]
        #[allow(non_snake_case)]
        #allowed
        #vis struct #exp #generics #bounds {
            tag: ::pumice::Exp<::pumice::derived::Tag>,
            // All payloads are in the same columns: what one has in a column, those that share it have, too.
            #(#[doc(hidden)] #vis #slots: #lifted,)*
        }
    }
}

/// Emits the public methods.
fn methods(element: &Element, variants: &[Named<'_>]) -> TokenStream {
    let Element { exp, vis, allowed, .. } = element;
    let (generics, arguments, bounds) = element.generics.split_for_impl();
    let own = variants.iter().map(|named| {
        let Named { variant, number, constructor, is, .. } = named;
        let parameters: Vec<Ident> = variant.fields.iter().map(parameter).collect();
        let types = variant.fields.iter().map(|field| &field.ty);
        let makes = format!("Returns the variant `{}`.", variant.name);
        let tests = format!("Whether this is the variant `{}`.", variant.name);
        quote! {
            #[doc = #makes]
            #vis fn #constructor(#(#parameters: impl ::pumice::IntoExp<#types>),*) -> Self {
                ::pumice::derived::make_variant(#number, (#(::pumice::IntoExp::into_exp(#parameters),)*))
            }

            #[doc = #tests]
            #vis fn #is(self) -> ::pumice::Exp<bool> {
                self.tag.eq(#number)
            }
        }
    });
    let constructors = variants.iter().map(|variant| &variant.constructor);
    let lifted = variants.iter().map(|named| {
        let lifted = named.variant.fields.iter().map(Field::lifted);
        quote!(#(#lifted),*)
    });
    let chosen = chosen(variants);
    quote! {
        #[automatically_derived]
        #allowed
        #[allow(dead_code, clippy::too_many_arguments, clippy::wrong_self_convention)]
        impl #generics #exp #arguments #bounds {
            #(#own)*

            /// Returns what the function of the variant that this is makes of its fields. Only that function is evaluated.
            #vis fn match_<R: ::pumice::Lift>(
                self,
                #(#constructors: impl ::core::ops::FnOnce(#lifted) -> R,)*
            ) -> R {
                #chosen
            }
        }
    }
}

/// Emits a hidden struct of a variant's named fields, and a constructor from it: `#[embed]` knows the names and not their order.
fn fields_by_name(element: &Element, named: &Named<'_>) -> TokenStream {
    let Named { variant, number, pack, .. } = named;
    if !variant.fields.iter().any(|field| matches!(field.member, Member::Named(_))) {
        return TokenStream::new();
    }
    let Element { exp, vis, generics: own, allowed, .. } = element;
    let (generics, arguments, bounds) = own.split_for_impl();
    let fields = format_ident!("__{exp}{}", variant.name);
    let members: Vec<&Member> = variant.fields.iter().map(|field| &field.member).collect();
    let lifted = variant.fields.iter().map(Field::lifted);
    quote! {
        #[doc(hidden)]
        #allowed
        #vis struct #fields #own #bounds {
            #(#vis #members: #lifted,)*
            // So that each parameter is used.
            of: ::core::marker::PhantomData<fn() -> #exp #arguments>,
        }

        #[automatically_derived]
        #allowed
        #[allow(dead_code)]
        impl #generics #exp #arguments #bounds {
            #[doc(hidden)]
            #vis fn #pack(set: impl ::core::ops::FnOnce(&mut #fields #arguments)) -> Self {
                let of = ::core::marker::PhantomData;
                let mut fields = #fields { #(#members: ::pumice::embedding::unset(),)* of };
                set(&mut fields);
                ::pumice::derived::make_variant(#number, (#(fields.#members,)*))
            }
        }
    }
}

/// Returns the name of a constructor's parameter for a field.
fn parameter(field: &Field) -> Ident {
    match &field.member {
        Member::Named(name) => name.clone(),
        Member::Unnamed(index) => format_ident!("field_{}", index.index, span = field.ty.span()),
    }
}

/// Emits the calls of the variants' functions; the last is called if no other variant matches.
fn chosen(variants: &[Named<'_>]) -> TokenStream {
    let call = |Named { slots, constructor, .. }: &Named<'_>| quote!(#constructor(#(self.#slots),*));
    let mut backwards = variants.iter().rev();
    let last = backwards.next().map(call).unwrap_or_default();
    backwards.fold(last, |others, named| {
        let (is, call) = (&named.is, call(named));
        quote!(::pumice::derived::either(self.#is(), || #call, || #others))
    })
}

/// Emits the parts of an enum: it lays out its scalars itself, and is its own parts.
fn own_parts() -> TokenStream {
    quote! {
        type Parts = Self;
        fn parts(self) -> Self {
            self
        }
        fn from_parts(parts: Self) -> Self {
            parts
        }
    }
}

/// Emits the conversion of an expression to scalars and back.
fn expression(element: &Element, variants: &[Named<'_>]) -> TokenStream {
    let Element { name, exp, allowed, .. } = element;
    let (generics, arguments, bounds) = element.generics.split_for_impl();
    let held = variants.iter().map(Named::held);
    let slots: Vec<&Ident> = variants.iter().flat_map(|variant| &variant.slots).collect();
    let taken = variants.iter().map(|Named { slots, .. }| quote!((#(#slots,)*)));
    let own_parts = own_parts();
    quote! {
        #[automatically_derived]
        #allowed
        #[allow(non_snake_case, clippy::let_unit_value)]
        impl #generics ::pumice::Lift for #exp #arguments #bounds {
            type Elt = #name #arguments;
            #own_parts
            fn add_terms(self, terms: &mut ::std::vec::Vec<::pumice::derived::Term>) {
                let payloads = ::std::vec![#(::pumice::Lift::terms(#held)),*];
                ::pumice::derived::add_variant_terms::<Self>(self.tag, payloads, terms);
            }
            fn from_terms(terms: &mut dyn ::core::iter::Iterator<Item = ::pumice::derived::Term>) -> Self {
                let (tag, columns) = ::pumice::derived::take_variants::<Self>(terms);
                #(let #taken = ::pumice::derived::variant(&columns);)*
                #exp { tag, #(#slots,)* }
            }
        }
    }
}

/// Emits the conversion of a value to scalars and back. There is a variant: `Element::read` refuses enums without one.
fn value(element: &Element, variants: &[Named<'_>]) -> TokenStream {
    let Element { name, exp, allowed, .. } = element;
    let (generics, arguments, bounds) = element.generics.split_for_impl();
    let payloads: Vec<TokenStream> = variants.iter().map(Named::payload).collect();
    let patterns: Vec<TokenStream> = variants.iter().map(Named::pattern).collect();
    let tuple = |Named { parts, .. }: &Named<'_>| quote!((#(#parts,)*));
    let parts: Vec<TokenStream> = variants.iter().map(tuple).collect();
    let numbers: Vec<&Literal> = variants.iter().map(|variant| &variant.number).collect();
    let iterators: Vec<&Ident> = variants.iter().map(|variant| &variant.payloads).collect();
    let last = Literal::usize_unsuffixed(variants.len() - 1);
    let own_parts = own_parts();
    // The last variant is chosen if no other matches, whatever the tag is.
    let tags = numbers[..variants.len() - 1].iter().map(|number| quote!(#number)).chain([quote!(_)]);
    quote! {
        #[automatically_derived]
        #allowed
        #[allow(unreachable_patterns, clippy::let_unit_value)]
        impl #generics ::pumice::Elt for #name #arguments #bounds {
            type Exp = #exp #arguments;
            #own_parts
            fn add_types(types: &mut ::std::vec::Vec<::pumice::derived::ScalarType>) {
                ::pumice::derived::add_variant_types(&[#(<#payloads as ::pumice::Elt>::add_types),*], types);
            }
            fn add_constants(self, constants: &mut ::std::vec::Vec<::pumice::derived::Constant>) {
                match self {
                    #(#patterns => {
                        ::pumice::derived::add_variant_constants::<Self, #payloads>(#numbers, #parts, constants);
                    })*
                }
            }
            fn add_columns<'a>(
                values: &'a [Self],
                columns: &mut ::std::vec::Vec<::pumice::derived::Cow<'a, [u8]>>,
            ) {
                let mut written = ::pumice::derived::WrittenVariants::new::<Self>(values.len());
                #(written.add::<Self, #payloads>(#numbers, values, |value| match *value {
                    #patterns => ::core::option::Option::Some(#parts),
                    _ => ::core::option::Option::None,
                });)*
                written.finish(columns);
            }
            fn from_columns(
                columns: &mut dyn ::core::iter::Iterator<Item = &[u8]>,
                count: usize,
            ) -> ::core::result::Result<::std::vec::Vec<Self>, ::pumice::derived::TryReserveError> {
                let read = ::pumice::derived::ReadVariants::take::<Self>(columns, count, #last)?;
                #(let mut #iterators = read.payloads::<#payloads>(#numbers)?;)*
                read.collect(|tag| match tag {
                    #(#tags => {
                        let #parts = #iterators.next()?;
                        ::core::option::Option::Some(#patterns)
                    })*
                })
            }
        }
    }
}
