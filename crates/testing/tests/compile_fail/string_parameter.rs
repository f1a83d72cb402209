//! A program's parameters are arrays of elements, and strings are none.

use pumice::prelude::*;

fn same(xs: Acc<Vector<String>>) -> Acc<Vector<String>> {
    xs
}

fn main() {
    let _ = pumice::compile(same);
}
