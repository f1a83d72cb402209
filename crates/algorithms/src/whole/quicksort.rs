//! Quicksort, all of whose parts advance together: in every round, each part is divided by a pivot of its own into smaller,
//! equal and larger elements, by one scan of all parts. A part is an interval of the vector, which is known for each of its places.

use pumice::prelude::*;
use pumice::{Number, Segments};

/// Start and end of the part that each place is in.
type Parts = Acc<Vector<(i64, i64)>>;

/// Sorts numbers of any type, none of which is NaN. The middle element of a part is its pivot.
///
/// ```
/// use pumice_algorithms::whole::quicksort;
/// let sort = pumice::Compiler::on("sim")?.compile(quicksort::sort::<f32>)?;
/// assert_eq!(sort.run(&[3.0, -0.5, 8.0, 3.0, 1.0])?.to_vec()?, [-0.5, 1.0, 3.0, 3.0, 8.0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn sort<T: Number>(values: Acc<Vector<T>>) -> Acc<Vector<T>> {
    let whole = fill(values.size(), (constant(0i64), values.size()));
    let (sorted, _) = awhile(
        (values, whole),
        |(_, parts)| any![end - start > 1 | (start, end) <- parts],
        |(values, parts)| divided(values, parts),
    );
    sorted
}

/// One round: the values in new places, and the part that each place belongs to.
fn divided<T: Number>(values: Acc<Vector<T>>, parts: Parts) -> (Acc<Vector<T>>, Parts) {
    // A value that is neither smaller nor larger counts as equal. So the pivot does, even a NaN, and every round removes it: the loop ends.
    let classes = values.clone().zip_with(parts.clone(), |value, (start, end)| {
        let pivot = values.at((start + end) / 2);
        (value.lt(pivot), value.gt(pivot))
    });
    let counts = classes.clone().map(|(smaller, larger)| (smaller.cast::<i64>(), larger.cast::<i64>()));
    let heads = parts.clone().imap(|i, (start, _)| i.eq(start));
    let counted = counts.scan_segments(Segments::Heads(heads), |(a, b), (c, d)| (a + c, b + d));
    let targets = classes.zip(parts.clone()).imap(|i, ((is_smaller, is_larger), (start, end))| {
        let ((smaller, larger), (middle, last)) = (counted.at(i), bounds(&counted, start, end));
        let equal = middle + (i - start) - smaller - larger;
        is_smaller.select(start + smaller - 1, is_larger.select(last + larger - 1, equal))
    });
    // Those equal to the pivot are where they belong, each a part of its own.
    let parts = parts.imap(|i, (start, end)| {
        let (middle, last) = bounds(&counted, start, end);
        i.lt(middle).select((start, middle), i.ge(last).select((last, end), (i, i + 1)))
    });
    (values.clone().scatter(targets, values), parts)
}

/// Returns the start and end of the elements equal to the pivot of a part, from the numbers of smaller and larger ones up to each element.
fn bounds(counted: &Acc<Vector<(i64, i64)>>, start: Exp<i64>, end: Exp<i64>) -> (Exp<i64>, Exp<i64>) {
    let (smaller, larger) = counted.at(end - 1);
    (start + smaller, end - larger)
}
