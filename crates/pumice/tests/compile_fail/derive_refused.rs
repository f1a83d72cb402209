//! What cannot be an element is said at the token that makes it none.

use pumice::prelude::*;

#[derive(Elt)]
struct Borrowed<'a> {
    text: &'a f32,
}

#[derive(Elt)]
struct List {
    head: f32,
    tail: Option<List>,
}

#[derive(Elt)]
union Either {
    int: i32,
    float: f32,
}

#[derive(Elt)]
enum Never {}

#[derive(Elt)]
enum Comparison {
    Less,
    Eq,
}

#[derive(Elt)]
#[elt(name = "Expression")]
struct Named {
    value: f32,
}

fn main() {}
