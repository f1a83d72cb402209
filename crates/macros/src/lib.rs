//! Macros of Pumice, which `pumice` exports: comprehensions, `comp![e | x <- xs, …]` and its reductions, `#[derive(Elt)]`
//! (`derive/`), and plain Rust as scalar code, `#[embed]` (`embed/`).
//!
//! Macros of comprehensions know syntax and no types. `tokens` cuts the input at the separators of comprehensions, `parse` parses
//! qualifiers, and `stages` emits an operation of the array language for each, whose functions `expression` rewrites
//! from Rust's operators. `hoist` makes arrays of the reductions in them, and `inner` handles inner arrays, one per element. The
//! functions that those calls need beside methods of `Acc` are in `pumice::comprehension`. Calls have the span of the qualifier that they come
//! from, for rustc's messages and for failures at run time.

mod derive;
mod embed;
mod expression;
mod hoist;
#[cfg(feature = "pum")]
mod include_pum;
mod inner;
mod join;
mod parse;
mod pattern;
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

/// Makes a struct or enum an element type: arrays can hold it, and functions on elements take and give it.
///
/// All fields are elements, and the type derives `Clone`, `Copy`, `Debug` and `PartialEq`, too. An array of it has one column
/// per scalar in memory, so a struct costs what the arrays of its fields would.
///
/// # Structs
///
/// The expression of a struct `Body` is a struct `BodyExp` with the same fields, which are expressions. Methods and operators
/// on it are written as for any struct. A type parameter stands for an element: `Pair<T>` is one where `T` is.
///
/// ```
/// use pumice::prelude::*;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Elt)]
/// struct Body {
///     mass: f32,
///     velocity: [f32; 2],
/// }
///
/// impl BodyExp {
///     fn energy(self) -> Exp<f32> {
///         let [x, y] = self.velocity;
///         0.5 * self.mass * (x * x + y * y)
///     }
/// }
///
/// let bodies = use_(&[Body { mass: 2.0, velocity: [3.0, 4.0] }, Body { mass: 1.0, velocity: [0.0, 1.0] }]);
/// let slowed = bodies.map(|body| BodyExp { velocity: body.velocity.map(|v| v / 2.0), ..body });
/// assert_eq!(pumice::run(slowed.clone().map(BodyExp::energy))?.to_vec()?, [6.25, 0.125]);
/// assert_eq!(pumice::run(slowed)?.to_vec()?[1], Body { mass: 1.0, velocity: [0.0, 0.5] });
/// # Ok::<(), pumice::Error>(())
/// ```
///
/// # Enums
///
/// The expression of an enum `Shape` is a `ShapeExp`. It has a constructor for each variant, in lower case, a test, and one
/// `match_` with a function for each variant, of which only that of the variant at hand is evaluated. In memory there is a tag,
/// and columns that variants share: as many of each scalar type as the variant needs that needs most.
///
/// ```
/// use pumice::prelude::*;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Elt)]
/// enum Shape {
///     Circle(f32),
///     Rect { width: f32, height: f32 },
///     Point,
/// }
///
/// let shapes = use_(&[Shape::Circle(1.0), Shape::Rect { width: 2.0, height: 3.0 }, Shape::Point]);
/// let areas = shapes.clone().map(|shape| shape.match_(|r| r * r * 3.0, |w, h| w * h, || constant(0.0)));
/// assert_eq!(pumice::run(areas)?.to_vec()?, [3.0, 6.0, 0.0]);
/// let squares = shapes.map(|shape| cond(shape.is_circle(), || ShapeExp::point(), || ShapeExp::rect(1.0, 2.0)));
/// assert_eq!(pumice::run(squares)?.to_vec()?[0], Shape::Point);
/// # Ok::<(), pumice::Error>(())
/// ```
///
/// `#[elt(exp = "Name")]` gives the expression type another name.
#[proc_macro_derive(Elt, attributes(elt))]
pub fn derive_elt(input: TokenStream) -> TokenStream {
    expanded(derive::element(input.into()))
}

/// Generates Rust functions from those of a `.pum` file: `include_pum!("linear.pum")`. The path is relative to the Rust file, as that of
/// `include_str!`. Errors in the file are errors of the compiler.
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

/// Generates scalar code from a plain Rust function, which stays one: it can be called with plain values and with expressions.
///
/// `if`, `match`, loops, assignment, `return`, `Option` and calls of other such functions are written as ever. Before an `impl` block of a type with
/// `#[derive(Elt)]`, its methods become methods of expressions, too. Unsupported syntax is an error at its place. The guide,
/// `docs/embed.md`, has all of it.
///
/// ```
/// use pumice::prelude::*;
///
/// #[embed]
/// fn collatz(n: i64) -> i64 {
///     let (mut n, mut steps) = (n, 0);
///     while n != 1 {
///         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
///         steps += 1;
///     }
///     steps
/// }
///
/// assert_eq!(collatz(27), 111);
/// let steps = pumice::run(use_(&[1i64, 7, 27]).map(collatz))?;
/// assert_eq!(steps.to_vec()?, [0, 16, 111]);
/// # Ok::<(), pumice::Error>(())
/// ```
#[proc_macro_attribute]
pub fn embed(arguments: TokenStream, item: TokenStream) -> TokenStream {
    embed::expand(arguments.into(), item.into()).into()
}
