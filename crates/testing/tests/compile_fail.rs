//! What is wrong with a program is said by Rust's compiler, in words of the array language.
//!
//! Each program in `compile_fail/` must be refused with the messages next to it; `TRYBUILD=overwrite` writes them anew.
//! The messages are those of one version of Rust. They stand here, and not beside the public API, because here `pumice` is built without features:
//! what is built once more for them is less.

#[test]
fn mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
}
