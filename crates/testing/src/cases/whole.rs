//! The whole programs of `pumice_algorithms`, small: nothing or one, and a few blocks, against plain Rust. Few extents, because each may
//! need kernels of its own; other ones are for the cases of the operations.

use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;
use pumice_algorithms::irregular::Numbers;
use pumice_algorithms::whole::{canny, fft, heat, kmeans, life, nbody, pagerank, quicksort, radix_sort};

/// What cannot go wrong but for a mistake in a case.
fn made<T, E: ToString>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn matrix<T: Elt>(extents: [usize; 2], values: &[T]) -> Result<Matrix<T>, String> {
    made(Matrix::from_slice(extents, values))
}

/// No point at all, and points for which some rounds are made, with a centre that gets none of them.
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

/// Forces are summed in another order than in plain Rust.
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

/// Keys of every integer type, their extremes among them, and pairs whose order shows that equal keys stay in theirs.
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

pub fn edges_of_a_picture(h: &Harness) -> Outcome {
    let edges = h.compile(canny::edges)?;
    for (height, width) in [(1, 1), (40, 61)] {
        let picture = canny::plain::picture(height, width, 7);
        let expected = canny::plain::edges(&picture, height, width, 0.25, 0.8);
        edges.check((&matrix([height, width], &picture)?, 0.25, 0.8), &expected)?;
    }
    Ok(())
}

/// A glider on a torus that is higher than wide returns shifted: by one, when it went round in one direction, and to where it was.
pub fn generations_of_life(h: &Harness) -> Outcome {
    let generations = h.compile(life::generations)?;
    for (height, width, count) in [(1, 1, 1), (37, 30, 5)] {
        let cells = life::plain::cells(height * width, 8);
        let expected = life::plain::generations(&cells, height, width, count);
        generations.check((&matrix([height, width], &cells)?, count as i64), &expected)?;
    }
    let (height, width) = (6, 5);
    let glider = life::plain::glider(height, width);
    let mut higher: Vec<bool> = glider[width..].to_vec();
    higher.extend(&glider[..width]);
    generations.check((&matrix([height, width], &glider)?, 4 * width as i64), &higher)?;
    generations.check((&matrix([height, width], &glider)?, (4 * width * height) as i64), &glider)
}

pub fn heat_of_a_plate(h: &Harness) -> Outcome {
    let settle = h.compile(heat::settle)?;
    for (height, width, tolerance, most) in
        [(0, 3, 0.0, 4), (1, 1, 0.0, 4), (40, 33, 0.0, 7), (40, 33, 2.0, 100)]
    {
        let plate = heat::plain::plate(height, width);
        let (expected, _) = heat::plain::settle(&plate, width, tolerance, most);
        settle.check((&matrix([height, width], &plate)?, tolerance, most), &expected)?;
    }
    Ok(())
}

/// No length at all, one, factors of two, three and five, and a prime; rows and columns, there and back.
pub fn fourier_transforms(h: &Harness) -> Outcome {
    let (forward, inverse) = (h.compile(fft::forward::<f64>)?, h.compile(fft::inverse::<f64>)?);
    for (height, length) in [(2, 0), (2, 1), (3, 240), (3, 101)] {
        let values = fft::plain::values(height * length, 9);
        let there = fft::plain::forward(&values, length);
        forward.check_close(&matrix([height, length], &values)?, &there, Tolerance::Relative(1e-10))?;
        inverse.check_close(&matrix([height, length], &there)?, &values, Tolerance::Relative(1e-10))?;
    }
    let column = fft::plain::values(64, 9);
    let expected = fft::plain::forward(&column, 64);
    let single =
        |values: &[(f64, f64)]| values.iter().map(|(re, im)| (*re as f32, *im as f32)).collect::<Vec<_>>();
    let columns = h.compile(|matrix: Acc<Matrix<(f32, f32)>>| matrix.in_dimension(0, fft::forward))?;
    columns.check_close(&matrix([64, 1], &single(&column))?, &single(&expected), Tolerance::Relative(1e-4))
}
