//! Fields of elements are elements: one message for each field that is none, whatever is derived of it.

use pumice::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Person {
    name: &'static str,
    age: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct NotDerived(f32);

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Pair<T> {
    first: T,
    second: Option<NotDerived>,
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Size {
    Known { length: usize, unit: u32 },
    Unknown,
}

fn main() {}
