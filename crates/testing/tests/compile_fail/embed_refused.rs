//! What `#[embed]` does not take is said at the token that it does not take, with what to write instead.

use pumice::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Figure {
    Circle(f32),
    Square(f32),
}

use Figure::{Circle, Square};

#[embed]
fn printed(x: f32) -> f32 {
    let _doubled = |y: f32| 2.0 * y;
    println!("{x}");
    for _ in [1, 2] {}
    x
}

#[embed]
fn borrowed(x: &f32) -> f32 {
    *x
}

#[embed]
fn changed(x: f32) -> f32 {
    let mut y = x;
    let _z = &mut y;
    y
}

#[embed]
fn without_its_enum(figure: Figure) -> f32 {
    match figure {
        Circle(r) => 3.0 * r * r,
        Square(a) => a * a,
    }
}

#[embed]
fn factorial(n: i64) -> i64 {
    if n == 0 { 1 } else { n * factorial(n - 1) }
}

fn main() {}
