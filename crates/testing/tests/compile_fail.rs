//! Rust's compiler reports errors in programs, in words of the array language.
//!
//! Each program in `compile_fail/` must be refused with the messages next to it; `TRYBUILD=overwrite` writes them anew.
//! The messages are those of one version of Rust. The tests are here, and not beside the public API, because `pumice` is built without features here:
//! less has to be built again for them.

#[test]
fn mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
}
