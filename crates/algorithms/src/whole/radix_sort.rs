//! A radix sort by hand: bit by bit from the lowest, those without it go before those with it, and otherwise stay in their order.
//! A scan says where each goes. [`Acc::sort`] is quicker; this is how it is written with nothing but scans.

use pumice::Integer;
use pumice::prelude::*;

/// Sorts integers of any type.
///
/// ```
/// use pumice_algorithms::whole::radix_sort;
/// let sort = pumice::Compiler::on("sim")?.compile(radix_sort::sort::<i32>)?;
/// assert_eq!(sort.run(&[3, -7, 0, i32::MAX, i32::MIN, 3])?.to_vec()?, [i32::MIN, -7, 0, 3, 3, i32::MAX]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn sort<K: Integer>(keys: Acc<Vector<K>>) -> Acc<Vector<K>> {
    sort_by_key(keys, |key| key)
}

/// Sorts elements by integers of any type, stably.
///
/// ```
/// use pumice::prelude::*;
/// use pumice_algorithms::whole::radix_sort;
/// let by_first = |pairs: Acc<Vector<(u32, f32)>>| radix_sort::sort_by_key(pairs, |(key, _)| key);
/// let sort = pumice::Compiler::on("sim")?.compile(by_first)?;
/// assert_eq!(sort.run(&[(2, 0.5), (1, 7.0), (2, 0.25)])?.to_vec()?, [(1, 7.0), (2, 0.5), (2, 0.25)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn sort_by_key<T: Elt, K: Integer>(
    elements: Acc<Vector<T>>,
    key: impl Fn(T::Exp) -> Exp<K>,
) -> Acc<Vector<T>> {
    let bits = 8 * size_of::<K>() as i64;
    let (sorted, _) = iterate(bits, (elements, unit(0)), |(elements, bit)| {
        // Of signed numbers, those with the highest bit come first.
        let minus_one = constant(-1i64).cast::<K>();
        let sign = minus_one << constant(bits - 1).cast();
        let flipped = minus_one.lt(K::default()).select(sign, constant(0i64).cast());
        let digit = |element| ((key(element) ^ flipped) >> bit.the().cast()) & constant(1i64).cast();
        let first = elements.clone().map(|element| 1 - digit(element).cast::<i64>());
        let (before, all) = first.clone().scanl_with_total(0, |a, b| a + b);
        let target =
            |i, (first, before): (Exp<i64>, Exp<i64>)| first.eq(1).select(before, all.the() + i - before);
        let targets = first.zip(before).imap(target);
        (elements.clone().scatter(targets, elements), bit.map(|bit| bit + 1))
    });
    sorted
}
