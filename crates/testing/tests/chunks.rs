//! Work in chunks: the same results as at once, within the memory limit.

use pumice::Compiler;
use pumice::layers::runtime::devices::Sim;
use pumice::prelude::*;
use pumice_testing::Counting;
use std::sync::Arc;

/// Returns the median of the inner array of each number, with at most `limit` elements of inner arrays in memory, and the bytes of the
/// largest allocation.
fn medians(numbers: &[i64], limit: i64) -> (Vec<i64>, usize) {
    // A device of its own: that of another test could have the memory already.
    let device = Arc::new(Counting::new(Arc::new(Sim::with_memory(1 << 30))));
    let program = Compiler::with(device.clone()).compile(|ns: Acc<Vector<i64>>, limit: Exp<i64>| {
        ns.in_chunks(
            limit,
            |n| n + 1,
            |part| comp![row[n / 2] | n <- part, let row = [j * 37 % (n + 2) | j <- 0..=n].sort()],
        )
    });
    let medians = program.unwrap().run((numbers, limit)).unwrap().to_vec().unwrap();
    (medians, device.largest())
}

#[test]
fn a_limit_bounds_memory_and_changes_no_result() {
    // 20 000 elements together, at most 200 per number.
    let numbers: Vec<i64> = (0..200).map(|i| i * 7 % 200).collect();
    let (at_once, most) = medians(&numbers, 1 << 20);
    assert!(most >= 20_000 * 8, "{most}");
    let (in_chunks, most) = medians(&numbers, 500);
    assert_eq!(in_chunks, at_once);
    // A sort keeps an index with each element, and there are 200 results.
    assert!(most <= 1000 * 16, "{most}");
}

#[test]
fn chunks_have_at_least_one_element_each() {
    let numbers = [3i64, 0, 50, 4, 4, 4, 0, 9];
    let expected: Vec<i64> = medians(&numbers, 1 << 20).0;
    for limit in [-1, 0, 1, 8, 12] {
        assert_eq!(medians(&numbers, limit).0, expected, "{limit}");
    }
    assert_eq!(medians(&[], 3).0, [0; 0]);
}

#[test]
fn a_part_has_one_result_per_element() {
    let program = use_([1i64, 2, 3]).in_chunks(1, |n| n, |part| part.filter(|n| n.ne(2)));
    let error = Compiler::on("sim").unwrap().run(program).unwrap_err().to_string();
    assert!(error.contains("in_chunks") && error.contains(file!()), "{error}");
}
