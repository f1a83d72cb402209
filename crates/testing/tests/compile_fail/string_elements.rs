//! Elements are numbers, truth values and tuples of them.

use pumice::prelude::*;

fn main() {
    let _: Vector<String> = vec!["text".to_string()].into();
}
