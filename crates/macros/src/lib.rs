//! Comprehensions of Pumice's array language: `comp![e | x <- xs, …]` and its reductions, which `pumice` exports.
//!
//! These macros know syntax and no types. `tokens` cuts what is written at the separators of comprehensions, `parse` makes
//! qualifiers of it, and `stages` writes an operation of the array language for each, whose functions `expression` rewrites
//! from Rust's operators. `hoist` makes arrays of the reductions in them, and `inner` knows arrays that each element has its own of. What
//! those calls need beside methods of `Acc` is in `pumice::comprehension`. Calls have the place of the qualifier that they come
//! from, for rustc's messages and for failures at run time.

mod expression;
mod hoist;
#[cfg(feature = "pum")]
mod include_pum;
mod inner;
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

/// Describes a vector by its elements: `comp![e | qualifiers]`.
///
/// Qualifiers are generators `p <- xs` (over vectors, ranges `a..b`, parts `xs[a..b]`, rows `m[i]` and comprehensions `[e | …]`; in step:
/// `x <- xs | y <- ys`), conditions, `let p = e`, `order by k`, `take n`, `group by k`, `distinct` and `while c { x = e }`. A comprehension
/// in brackets that depends on elements is an inner array: `let row = [e | …]`. If `e` is one, the result has rows of different lengths:
/// a `pumice::AccRagged`. The guide, `docs/comprehensions.md`, has all of them.
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
    ($($name:ident $doc:literal $example:literal $result:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```
        /// use pumice::prelude::*;
        /// let xs = use_(&[3i64, 1, 4]);
        #[doc = concat!("let reduced = pumice::run(", $example, ")?;")]
        #[doc = concat!("assert_eq!(reduced.to_value()?, ", $result, ");")]
        /// # Ok::<(), pumice::Error>(())
        /// ```
        #[proc_macro]
        pub fn $name(input: TokenStream) -> TokenStream {
            reduced(stringify!($name), input)
        }
    )* };
}
reductions! {
    sum "Sums up what [`comp!`] would give, without an array of it." "sum![x * y | x <- xs, y <- 0..x]" "33";
    product "Multiplies what [`comp!`] would give." "product![x | x <- xs]" "12";
    min "Finds the smallest of what [`comp!`] would give; of nothing, that is an error." "min![x * x | x <- xs]" "1";
    max "Finds the largest of what [`comp!`] would give; of nothing, that is an error." "max![x * x | x <- xs]" "16";
    any "Tells whether a condition holds for any of what [`comp!`] would give." "any![x == 4 | x <- xs]" "true";
    all "Tells whether a condition holds for all of what [`comp!`] would give." "all![x < 4 | x <- xs]" "false";
    count "Counts: `count![qualifiers]`." "count![x <- xs, x > 1]" "2";
    fold "Reduces what [`comp!`] would give with an associative operator, from an initial value."
        "fold!(|a, b| 2 * a * b, 1; x | x <- xs, x > 3)" "8";
}

/// Makes Rust functions of those of a `.pum` file: `include_pum!("linear.pum")`. The path is relative to the Rust file, as that of
/// `include_str!`. What is wrong with the file is an error of the compiler.
///
/// A function on arrays and numbers becomes one on `Acc` arrays and `Exp` expressions, of the same name, which is compiled and run, or called
/// inside other array programs, as one that is written in Rust. Parts of tuples and records are parameters of their own; a record that a
/// function gives is a tuple of its fields, in the order of their names. Functions whose types have variables, or functions in them, are left
/// out; `pumice build --to rust` says which and why.
///
/// ```ignore
/// mod linear {
///     pumice::include_pum!("linear.pum");
/// }
/// let dotp = pumice::compile(linear::dotp)?;
/// let product = dotp.run((&[1.0, 2.0], &[3.0, 4.0]))?.to_value()?;
/// ```
#[cfg(feature = "pum")]
#[proc_macro]
pub fn include_pum(input: TokenStream) -> TokenStream {
    expanded(include_pum::functions(input.into()))
}
