//! Comprehensions of Pumice's array language: `comp![e | x <- xs, …]` and its reductions, which `pumice` exports.
//!
//! These macros know syntax and no types. [`tokens`] cuts what is written at the separators of comprehensions, [`parse`] makes
//! qualifiers of it, and [`stages`] writes an operation of the array language for each, whose functions [`expression`] rewrites
//! from Rust's operators. What those calls need beside methods of `Acc` is in `pumice::comprehension`. Calls have the place of the
//! qualifier that they come from, for rustc's messages and for failures at run time.

mod expression;
mod parse;
mod reduction;
mod source;
mod stages;
mod tokens;

use proc_macro::TokenStream;
use proc_macro2::{Ident, Span};
use reduction::Reduction;

fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.into_compile_error()).into()
}

fn reduced(name: &str, input: TokenStream) -> TokenStream {
    let name = Ident::new(name, Span::call_site());
    expanded(Reduction::parse(&name, input.into()).and_then(Reduction::of_all))
}

/// An array by what its elements are, and of what they are made: `comp![e | qualifiers]`.
///
/// ```
/// use pumice::prelude::*;
/// let n = 20i64;
/// let triples = comp![(x, y, z) | x <- 1..n, y <- x..n, z <- y..n, x * x + y * y == z * z];
/// assert_eq!(pumice::run(triples)?.to_vec()?[..2], [(3, 4, 5), (5, 12, 13)]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[proc_macro]
pub fn comp(input: TokenStream) -> TokenStream {
    expanded(parse::comprehension(input.into()).and_then(stages::vector))
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[proc_macro]
        pub fn $name(input: TokenStream) -> TokenStream {
            reduced(stringify!($name), input)
        }
    )* };
}
reductions! {
    /// The sum of what a comprehension gives, without an array of it: `sum![e | qualifiers]`.
    sum
    /// The product.
    product
    /// The smallest.
    min
    /// The largest.
    max
    /// Whether any holds.
    any
    /// Whether all hold.
    all
    /// How many there are.
    count
    /// With an operator.
    fold
}
