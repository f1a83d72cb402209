//! Programs over vectors: points, bodies, pages, and numbers that are put in order.

use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;
use pumice_algorithms::irregular::Numbers;
use pumice_algorithms::whole::{kmeans, nbody, pagerank, quicksort, radix_sort};

/// No point, and points that are clustered for some rounds, with a centre that gets none of them.
pub fn clusters_of_points(h: &Harness) -> Outcome {
    let (cluster, nearest) = (h.compile(kmeans::cluster)?, h.compile(kmeans::nearest)?);
    for (count, most) in [(0, 5), (1000, 2), (1000, 50)] {
        let points = kmeans::plain::points(count, 3);
        let first = [(0.0, 0.0), (8.0, 0.0), (3.0, 9.0), (-1e9, 0.0), (4.0, 4.0)];
        let (centres, _) = kmeans::plain::cluster(&points, &first, most);
        cluster.check((&points, &first, most), &centres)?;
        nearest.check((&points, &centres), &kmeans::plain::nearest(&points, &centres))?;
    }
    Ok(())
}

/// The order in which forces are summed differs from plain Rust's.
pub fn bodies_that_attract_each_other(h: &Harness) -> Outcome {
    let advance = h.compile(nbody::advance)?;
    for (count, steps) in [(1, 2), (150, 0), (150, 4)] {
        let bodies = nbody::plain::disc(count, 2);
        let expected = nbody::plain::advance(&bodies, 0.01, steps);
        advance.check_close((&bodies, 0.01, steps as i64), &expected, Tolerance::Relative(1e-4))?;
    }
    Ok(())
}

pub fn ranks_of_pages(h: &Harness) -> Outcome {
    let ranks = h.compile(pagerank::ranks)?;
    for (pages, tolerance, most) in [(0, 0.0, 2), (1, 1e-9, 9), (500, 0.0, 3), (500, 1e-3, 99)] {
        let links = pagerank::plain::Links::random(pages, 4000, 5);
        let (expected, _) = links.ranks(0.85, tolerance, most);
        let arguments = (&links.offsets, &links.sources, 0.85, tolerance, most);
        ranks.check_close(arguments, &expected, Tolerance::Relative(1e-12))?;
    }
    Ok(())
}

/// Keys of every integer type, with their extremes, and pairs that show that the sort is stable.
pub fn a_radix_sort_by_hand(h: &Harness) -> Outcome {
    fn of_type<K: pumice::Integer + pumice::Bits + Ord>(h: &Harness, key: impl Fn(u64) -> K) -> Outcome {
        let sort = h.compile(radix_sort::sort::<K>)?;
        for count in [0, 700] {
            let mut numbers = Numbers::new(4);
            let mut keys: Vec<K> = (0..count).map(|_| key(numbers.bits())).collect();
            keys.extend([0, u64::MAX, 1 << 63, 1 << 31].map(&key).into_iter().take(count));
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort.check(&keys, &expected)?;
        }
        Ok(())
    }
    of_type(h, |bits| bits)?;
    of_type(h, |bits| bits as i32)?;
    let pairs: Vec<(i64, f32)> = (0..900).map(|i| (i * i % 7 - 3, i as f32)).collect();
    let mut expected = pairs.clone();
    expected.sort_by_key(|(key, _)| *key);
    h.check(
        |pairs: Acc<Vector<(i64, f32)>>| radix_sort::sort_by_key(pairs, |(key, _)| key),
        &pairs,
        &expected,
    )
}

pub fn a_quicksort_of_segments(h: &Harness) -> Outcome {
    let sort = h.compile(quicksort::sort::<i64>)?;
    let mut numbers = Numbers::new(6);
    let random = (0..1000).map(|_| numbers.between(-2000, 2000)).collect();
    for values in [vec![], (0..1000).collect(), (0..1000).map(|i| i * i % 3).collect(), random] {
        let mut expected = values.clone();
        expected.sort_unstable();
        sort.check(&values, &expected)?;
    }
    let floats = [2.5f32, f32::INFINITY, -1.0, 0.5, f32::NEG_INFINITY, 2.5];
    let mut expected = floats;
    expected.sort_by(f32::total_cmp);
    h.check(quicksort::sort::<f32>, &floats, &expected)
}
