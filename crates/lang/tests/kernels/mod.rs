//! Programs with levels: what they mean, and that their kernels are those that Rust makes.

use super::{is, value};

#[track_caller]
fn fails(program: &str, expression: &str, words: &str) {
    match value(program, expression) {
        Ok(found) => panic!("{expression} gives {found}"),
        Err(error) => assert!(error.contains(words), "{expression}: {error}"),
    }
}

#[test]
fn a_kernel_changes_a_copy_of_an_array() {
    let add = "fun addOne bins xs = inPlace (fn m => push <grid> (map (fn x => let _ = atomicAdd m x 1 in ()) xs)) bins";
    is(add, "addOne (replicate 4 0) [1, 3, 1, 1]", "[0, 3, 0, 1]");
    is(add, "addOne [10, 20, 30] [2, 0]", "[11, 20, 31]");
    is(add, "let xs = [5, 6] in (addOne xs [0], xs)", "([6, 6], [5, 6])");
    let reverse =
        "fun reversed xs = let n = length xs in inPlace (fn m => push <grid> (generate (n / 2) (fn i =>
      let x = read m i
          y = read m (n - 1 - i)
          _ = write m i y
      in write m (n - 1 - i) x))) xs";
    is(reverse, "reversed (iota 7)", "[6, 5, 4, 3, 2, 1, 0]");
    is(reverse, "reversed [(1, true), (2, false)]", "[(2, false), (1, true)]");
    fails(add, "addOne [0] [1]", "index 1 out of bounds for length 1 in atomicAdd at test.pum:1");
}
