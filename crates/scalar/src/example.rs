//! Documentation examples in a line: `#[doc = example!(PROGRAM => ELEMENTS)]`, for methods that differ little from each other.
//!
//! An example is a documentation test as any other; nothing here is part of the library.

/// Returns the text of an example that runs a program and compares the elements of its result, or that its one float is `near` another.
macro_rules! example {
    ($program:expr => $elements:expr) => {
        example!(@ $program, "assert_eq!(found.to_vec()?, ", stringify!($elements), ");")
    };
    ($program:expr, near $value:expr) => {
        example!(@ $program, "assert!((found.to_vec()?[0] - ", stringify!($value), ").abs() < 1e-12);")
    };
    (@ $program:expr, $($assertion:expr),*) => {
        concat!(
            "\n```\nuse pumice::prelude::*;\nlet found = pumice::run(", stringify!($program), ")?;\n", $($assertion,)*
            "\n# Ok::<(), pumice::Error>(())\n```"
        )
    };
}
