//! One message for each field whose type has parameters and is no element.

use pumice::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
struct NotDerived<T>(T);

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Wrapped<T> {
    first: T,
    second: NotDerived<T>,
}

trait Space {
    type Point: Copy + std::fmt::Debug + PartialEq;
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Place<S: Space> {
    At(S::Point),
    In { space: S },
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Row<const N: usize> {
    lengths: [usize; N],
}

fn main() {}
