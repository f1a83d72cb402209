//! What is wrong with a program is said by Rust's compiler, in words of the array language.
//!
//! Each program in `compile_fail/` must be refused with the messages next to it; `TRYBUILD=overwrite` writes them anew.
//! The messages are those of one version of Rust.

#[test]
fn mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
    if cfg!(feature = "pum") {
        cases.compile_fail("tests/compile_fail/pum/*.rs");
    }
}
