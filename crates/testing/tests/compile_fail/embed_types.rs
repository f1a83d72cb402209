//! Types of embedded functions are checked as those of any function; a function that is not embedded takes no expressions.

use pumice::prelude::*;

fn doubled(x: f32) -> f32 {
    2.0 * x
}

#[embed]
fn calls_a_plain_function(x: f32) -> f32 {
    doubled(x) + 1.0
}

#[embed]
fn branches_of_two_types(x: f32) -> f32 {
    if x > 0.0 { x } else { 0i32 }
}

fn main() {}
