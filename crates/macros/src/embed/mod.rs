//! `#[embed]`: plain Rust functions that become scalar code, and stay plain Rust functions.
//!
//! The function is kept as it is written, for plain values, and generated once more for expressions. [`lower`] lowers Rust to [`steps`]:
//! assignments to variables with unique names, branches, loops and exits, without nested scopes or effects inside of expressions.
//! [`render`] writes them as calls of the scalar language, in which variables are never assigned: branches and loops give tuples of the
//! variables that they change. [`item`] puts both versions behind one name. Only syntax is known here: the types of the first version
//! are checked by rustc as the user wrote it, those of the second one at the same places.

mod item;
mod lower;
mod names;
mod render;
mod steps;

pub use names::{VariantNames, is_scalar_type, lifted_type, slot, variant_names};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, Result};

/// Expands `#[embed]` before an item. If there are errors, the item is left as it is, so that its uses are not errors, too.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error messages for an item.
    fn mistakes(item: &str) -> Vec<String> {
        let item = item.parse().unwrap();
        let mistakes = embedded(TokenStream::new(), item).err();
        mistakes.into_iter().flatten().map(|mistake| mistake.to_string()).collect()
    }

    #[test]
    fn what_is_not_supported_is_said() {
        let cases = [
            ("fn f(x: &f32) -> f32 { x.sqrt() }", "take the value itself"),
            ("fn f(x: Vec<f32>) -> f32 { 1.0 }", "elements, which have a fixed size"),
            ("fn f(x: usize) -> f32 { 1.0 }", "use `i64`"),
            ("fn f(x: f32) { }", "write its type"),
            ("const fn f(x: f32) -> f32 { x }", "remove `const`"),
            ("async fn f(x: f32) -> f32 { x }", "remove `async`"),
            ("fn f<'a>(x: f32) -> f32 { x }", "no references"),
            ("fn f(x: f32) -> f32 { println!(\"{x}\"); x }", "cannot print"),
            ("fn f(x: f32) -> f32 { if x > 0.0 { x } else { panic!() } }", "cannot panic"),
            ("fn f(x: f32) -> f32 { let s = \"x\"; x }", "no strings"),
            ("fn f(x: f32) -> f32 { let g = |y| y + x; x }", "closure is only an argument of a method"),
            ("fn f(x: f32) -> f32 { unsafe { x } }", "no `unsafe`"),
            ("fn f(x: f32) -> f32 { g(&x) }", "pass the value itself"),
            ("fn f(x: f32) -> f32 { f(x - 1.0) }", "cannot call itself"),
            ("impl P { fn f(self, x: f32) -> f32 { self.f(x) } }", "cannot call itself"),
            ("impl P { fn f(self, x: f32) -> f32 { Self::f(self, x) } }", "cannot call itself"),
            ("impl P { fn f(&mut self, x: f32) -> f32 { x } }", "return the changed value"),
            ("fn f(x: f32) -> f32 { for i in [1, 2] {} x }", "`for` goes over ranges"),
            ("fn f(x: f32) -> f32 { for i in 0.. {} x }", "both ends"),
            (
                "fn f(x: i64) -> i64 { for i in (0..9).step_by(x as usize) {} x }",
                "a step is written as a number",
            ),
            ("fn f(x: i64) -> i64 { for i in (0..9).step_by(0) {} x }", "a number from 1 on"),
            ("fn f(x: f32) -> f32 { while x > 0.0 { break 'a; } x }", "no such loop"),
            ("fn f(x: f32) -> f32 { while x > 0.0 { break x; } x }", "only a `loop` has a value"),
            ("fn f(x: f32) -> f32 { Y = x; x }", "only variables of this function"),
            ("fn f(x: f32) -> f32 { g(x)? }", "`Option` or a `Result`"),
            ("fn f(x: f32) -> f32 { g::<f32>(x) }", "found from its arguments"),
            ("fn f(x: f32) -> f32 { let y = &mut x; x }", "give the changed value back"),
            ("fn f(x: f32) -> f32 { let y = &raw const x; x }", "no pointers"),
            ("fn f(s: S) -> i32 { match s { S::A(x) | S::B(y) => x, _ => 0 } }", "bind the same names"),
            (
                "fn f(s: S) -> i32 { match s { (S::A(x) | S::B(x), 1) if x > 0 => x, _ => 0 } }",
                "an arm for each",
            ),
            (
                "fn f(s: S) -> i32 { match s { A(x) => x, _ => 0 } }",
                "write the enum before a variant, `Enum::A`",
            ),
            ("fn f(s: S) -> i32 { match s { S::A(x) => x, inner::B { x } | S::C(x) => x } }", "`Enum::B`"),
            ("fn f(s: S) -> i32 { if let A(x) = s { x } else { 0 } }", "`Enum::A`"),
            ("fn f(s: S) -> i32 { let A { x } = s else { return 1 }; x }", "`Enum::A`"),
            ("struct S;", "before a function or an `impl` block"),
        ];
        for (item, message) in cases {
            let found = mistakes(item);
            assert!(found.len() == 1 && found[0].contains(message), "{item}: {found:?}");
        }
    }

    #[test]
    fn all_mistakes_of_a_function_are_said() {
        let found =
            mistakes("fn f(x: f32) -> f32 { let s = \"x\"; if x > 0.0 { print!(\"\"); unsafe { } } x }");
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
