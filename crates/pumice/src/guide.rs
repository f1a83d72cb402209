//! The code of the guide in `docs`, compiled and run by the documentation tests: a module for each page that has some.
//!
//! Nothing here is part of the library. `host.md`, whose code needs other crates, is a documentation test of `pumice-array`.

/// Has a module for each page, whose documentation is the page.
macro_rules! pages {
    ($($name:ident $file:literal;)*) => {
        $(#[doc = include_str!(concat!("../../../", $file))]
        mod $name {})*
    };
}
pages! {
    readme "README.md";
    introduction "docs/introduction.md";
    tour "docs/tour.md";
    arrays "docs/arrays.md";
    maps "docs/maps.md";
    shapes "docs/shapes.md";
    folds "docs/folds.md";
    permutes "docs/permutes.md";
    sorting "docs/sorting.md";
    filters "docs/filters.md";
    irregular "docs/irregular.md";
    comprehensions "docs/comprehensions.md";
    loops "docs/loops.md";
    programs_as_values "docs/programs-as-values.md";
    streams "docs/streams.md";
    elements "docs/elements.md";
    embed "docs/embed.md";
    kernel_language "docs/kernel-language.md";
    devices "docs/devices.md";
    performance "docs/performance.md";
    errors "docs/errors.md";
    semantics "docs/semantics.md";
    array_ir "docs/array-ir.md";
}
