//! Fields of elements are elements.

use pumice::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Person {
    name: &'static str,
    age: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Place {
    Nowhere,
    At(usize),
}

fn main() {}
