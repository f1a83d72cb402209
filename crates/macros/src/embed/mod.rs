//! `#[embed]`: plain Rust functions that become scalar code, and stay plain Rust functions.
//!
//! The function is kept as it is written, for plain values, and written once more for expressions. [`lower`] makes [`steps`] of Rust:
//! assignments to variables with unique names, branches, loops and exits, without nested scopes or effects inside of expressions.
//! [`render`] writes them as calls of the scalar language, in which variables are never assigned: branches and loops give tuples of the
//! variables that they change. [`item`] puts both versions behind one name. Only syntax is known here: the types of the first version
//! are checked by rustc as the user wrote it, those of the second one at the same places.

mod item;
mod lower;
mod names;
mod render;
mod steps;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, Result};

/// Expands `#[embed]` before an item. Where something is wrong, the item is left as it is, so that its uses are not wrong, too.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    embedded(arguments, item.clone()).unwrap_or_else(|mistakes| {
        let mistakes = mistakes.into_compile_error();
        quote!(#mistakes #item)
    })
}

fn embedded(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if let Some(token) = arguments.into_iter().next() {
        return Err(Error::new(token.span(), "`#[embed]` takes no arguments"));
    }
    match syn::parse2(item)? {
        Item::Fn(function) => item::function(&function),
        Item::Impl(block) => item::implementation(&block),
        other => Err(Error::new_spanned(other, "`#[embed]` stands before a function or an `impl` block")),
    }
}
