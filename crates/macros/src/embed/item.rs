//! Functions and `impl` blocks with both versions: as it was written, and for expressions.

use super::lower::{self, Source};
use super::names::{expression_type, nominal_expression_type};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, GenericParam, ImplItem, ImplItemFn, ItemFn, ItemImpl, Pat, PatType, Path,
    PathArguments, ReceiverKind, Result, ReturnType, Safety, Signature, Type,
};

/// Maximum number of parameters for which the library has a function that calls the embedded one.
const MOST_SHARED: usize = 6;

/// Emits a function that is called with plain values or with expressions.
pub fn function(item: &ItemFn) -> Result<TokenStream> {
    let sig = &item.sig;
    // Without arguments there are only constants: the value is the same among expressions.
    if sig.inputs.is_empty() {
        return Ok(item.to_token_stream());
    }
    check(sig)?;
    let parameters = parameters(sig);
    let output = output(sig)?;
    let (attrs, vis, block, name) = (&item.attrs, &item.vis, &item.block, &sig.ident);
    let (own_generics, _, bounds) = sig.generics.split_for_impl();
    let own_parameters = &sig.generics.params;
    let inputs = &sig.inputs;
    let comma = (!own_parameters.is_empty() && !own_parameters.trailing_punct()).then(|| quote!(,));
    let kinds: Vec<Ident> = (0..parameters.len()).map(|number| format_ident!("__K{number}")).collect();
    let names: Vec<&Ident> = parameters.iter().map(|parameter| &parameter.name).collect();
    let types: Vec<&Type> = parameters.iter().map(|parameter| parameter.ty).collect();
    let kind = joined(&kinds);
    let lifted_types = types.iter().map(|ty| expression_type(ty, None)).collect::<Result<Vec<_>>>()?;
    let lifted_output = expression_type(output, None)?;
    let body = lowered(sig, &item.block, None, &parameters)?;
    let call = call(sig, &names, &kind);
    Ok(quote! {
        #(#attrs)*
        #vis fn #name<#own_parameters #comma #(#kinds: ::pumice::embedding::Kind),*>(
            #(#names: impl ::pumice::embedding::Argument<#types, #kinds>),*
        ) -> <#kind as ::pumice::embedding::Kind>::Of<#output> #bounds {
            fn __embed_plain #own_generics(#inputs) -> #output #bounds #block
            #[allow(unused, clippy::all)]
            fn __embed_lifted #own_generics(#(#names: #lifted_types),*) -> #lifted_output #bounds {
                #body
            }
            #call
        }
    })
}

/// Emits the kind of a value that is computed from values of these kinds.
fn joined(kinds: &[Ident]) -> TokenStream {
    let mut backwards = kinds.iter().rev();
    let last = backwards.next().map(ToTokens::to_token_stream).unwrap_or_default();
    backwards.fold(last, |joined, kind| quote!(<#kind as ::pumice::embedding::Kind>::Join<#joined>))
}

/// Emits the call of the version for the kind of the arguments.
fn call(sig: &Signature, names: &[&Ident], kind: &TokenStream) -> TokenStream {
    let name = sig.ident.to_string();
    let turbofish = type_arguments(sig).map(|arguments| quote!(::<#arguments>));
    if names.len() <= MOST_SHARED {
        let function = format_ident!("call_{}", names.len());
        return quote! {
            ::pumice::embedding::#function(#name, __embed_plain #turbofish, __embed_lifted #turbofish, #(#names),*)
        };
    }
    quote! {
        <#kind as ::pumice::embedding::Kind>::call(
            #name,
            || ::core::option::Option::Some(__embed_plain #turbofish(#(::pumice::embedding::Argument::plain(#names)?),*)),
            || __embed_lifted #turbofish(#(::pumice::embedding::Argument::lifted(#names)),*),
        )
    }
}

/// Emits an `impl` block, and the same one for the type of the expressions.
pub fn implementation(item: &ItemImpl) -> Result<TokenStream> {
    let mut mistakes: Option<Error> = None;
    let mut lifted = Vec::new();
    for member in &item.items {
        let written = match member {
            ImplItem::Fn(function) if !function.sig.inputs.is_empty() => method(function, item),
            ImplItem::Type(alias) => {
                let (name, ty) = (&alias.ident, expression_type(&alias.ty, Some(&item.self_ty)));
                ty.map(|ty| quote!(type #name = #ty;))
            }
            // Without arguments there are only constants, which are those of the plain type.
            _ => Ok(TokenStream::new()),
        };
        match (written, &mut mistakes) {
            (Ok(written), _) => lifted.push(written),
            (Err(mistake), Some(mistakes)) => mistakes.combine(mistake),
            (Err(mistake), None) => mistakes = Some(mistake),
        }
    }
    if let Some(mistakes) = mistakes {
        return Err(mistakes);
    }
    let (generics, _, bounds) = item.generics.split_for_impl();
    let own = nominal_expression_type(&item.self_ty)?;
    let of_trait = item.trait_.as_ref().map(|(path, _)| lifted_trait(path)).transpose()?;
    Ok(quote! {
        // Methods that only expressions have called are used, too.
        #[allow(dead_code)]
        #item
        #[allow(unused, clippy::all)]
        impl #generics #of_trait #own #bounds {
            #(#lifted)*
        }
    })
}

/// Returns the trait with types of expressions for its parameters: `Mul<Exp<f32>>` of `Mul<f32>`.
fn lifted_trait(path: &Path) -> Result<TokenStream> {
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        for argument in &mut arguments.args {
            if let GenericArgument::Type(ty) = argument {
                *ty = Type::Verbatim(nominal_expression_type(ty)?);
            }
        }
    }
    Ok(quote!(#path for))
}

/// Emits a method of expressions.
fn method(function: &ImplItemFn, item: &ItemImpl) -> Result<TokenStream> {
    let sig = &function.sig;
    check(sig)?;
    let own = Some(&*item.self_ty);
    let parameters = parameters(sig);
    let (vis, name) = (&function.vis, &sig.ident);
    // Examples of the plain method are not run twice.
    let attrs = function.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc"));
    let about = format!("What `{name}` is on plain values, on expressions.");
    let (generics, _, bounds) = sig.generics.split_for_impl();
    let names = parameters.iter().map(|parameter| &parameter.name);
    let types =
        parameters.iter().map(|parameter| expression_type(parameter.ty, own)).collect::<Result<Vec<_>>>()?;
    let this = sig.receiver().map(|receiver| quote_spanned!(receiver.self_token.span=> self,));
    let output = expression_type(output(sig)?, own)?;
    let body = lowered(sig, &function.block, own, &parameters)?;
    let (called, call) = (name.to_string(), Ident::new("_call", Span::mixed_site()));
    Ok(quote! {
        #[doc = #about]
        #(#attrs)*
        #vis fn #name #generics(#this #(#names: #types),*) -> #output #bounds {
            let ::core::option::Option::Some(#call) = ::pumice::embedding::enter() else {
                return ::pumice::embedding::endless(#called);
            };
            #body
        }
    })
}

/// A parameter other than `self`.
struct Parameter<'a> {
    pattern: &'a Pat,
    ty: &'a Type,
    name: Ident,
}

fn parameters(sig: &Signature) -> Vec<Parameter<'_>> {
    let typed = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    let parameter = |(number, typed)| {
        let typed: &PatType = typed;
        let name = match &*typed.pat {
            Pat::Ident(name) => name.ident.clone(),
            _ => format_ident!("argument_{number}"),
        };
        Parameter { pattern: &typed.pat, ty: &typed.ty, name }
    };
    typed.enumerate().map(parameter).collect()
}

fn lowered(
    sig: &Signature,
    body: &syn::Block,
    own: Option<&Type>,
    parameters: &[Parameter<'_>],
) -> Result<TokenStream> {
    let source = Source {
        name: &sig.ident,
        own,
        output: output(sig)?,
        parameters: parameters.iter().map(|parameter| (parameter.pattern, parameter.name.clone())).collect(),
        takes_self: sig.receiver().is_some(),
        body,
    };
    lower::function(&source)
}

fn output(sig: &Signature) -> Result<&Type> {
    match &sig.output {
        ReturnType::Type(_, ty) => Ok(ty),
        ReturnType::Default => Err(Error::new(
            sig.paren_token.span.close(),
            "an embedded function gives a value: write its type, `-> f32`",
        )),
    }
}

/// Returns the names of the types that the function is generic over.
fn type_arguments(sig: &Signature) -> Option<TokenStream> {
    let names = sig.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(ty) => Some(&ty.ident),
        GenericParam::Const(constant) => Some(&constant.ident),
        GenericParam::Lifetime(_) => None,
    });
    let names: Vec<&Ident> = names.collect();
    (!names.is_empty()).then(|| quote!(#(#names),*))
}

/// Refuses a signature that an embedded function cannot have.
fn check(sig: &Signature) -> Result<()> {
    let refuse = |span: Span, message: &str| Err(Error::new(span, message));
    if let Some(word) = &sig.constness {
        return refuse(
            word.span,
            "a `const fn` takes no expressions: remove `const`, or give it no parameters",
        );
    }
    if let Some(word) = &sig.asyncness {
        return refuse(word.span, "an embedded function does not wait: remove `async`");
    }
    if let Safety::Unsafe(word) = &sig.safety {
        return refuse(word.span, "there is no `unsafe` in embedded functions");
    }
    if let Some(abi) = &sig.abi {
        return refuse(abi.extern_token.span, "an embedded function is not called by other languages");
    }
    if let Some(lifetime) = sig.generics.lifetimes().next() {
        return refuse(lifetime.span(), "there are no references in embedded functions: elements are copied");
    }
    match sig.receiver().map(|receiver| &receiver.kind) {
        None | Some(ReceiverKind::Value | ReceiverKind::Reference(_, _, None)) => Ok(()),
        Some(ReceiverKind::Reference(_, _, Some(word))) => {
            refuse(word.span, "an embedded method changes nothing: take `self` and return the changed value")
        }
        Some(_) => refuse(sig.inputs.span(), "take `self` by value"),
    }
}
