//! Sobol numbers in two dimensions, and an estimate of π from them: points that fill the unit square evenly, and how many
//! of them are within the quarter circle.

use crate::fcl::{SumGrid, reduce_grid_seq};
use crate::program::{Program, Work, ready, same};
use pumice::kernel::{Grid, Ix, Pull, Push};
use pumice::{Array, Dim1, Exp};

/// Bits of a Sobol number.
const BITS: u32 = 32;

/// The direction numbers of the first two dimensions: powers of two (van der Corput's sequence), and those of the
/// polynomial x + 1, of which each is the one before plus its double, bit by bit.
fn directions() -> [[u32; BITS as usize]; 2] {
    let mut numbers = [[0; BITS as usize]; 2];
    let mut second = 1u32;
    for bit in 0..BITS {
        let shift = BITS - 1 - bit;
        numbers[0][bit as usize] = 1 << shift;
        numbers[1][bit as usize] = second << shift;
        second ^= second << 1;
    }
    numbers
}

/// The point with a number, in each dimension a fraction of 2^32.
fn point(number: Exp<u32>) -> (Exp<u32>, Exp<u32>) {
    let coordinate = |directions: [u32; BITS as usize]| {
        (0..BITS).zip(directions).fold(Exp::from(0u32), |sum, (bit, direction)| {
            // All ones where the number has this bit.
            let mask = Exp::from(0u32) - ((number >> bit) & 1);
            sum ^ (mask & direction)
        })
    };
    let [first, second] = directions();
    (coordinate(first), coordinate(second))
}

/// A fraction of 2^32, to 24 bits: exact in an `f32`.
fn fraction(number: Exp<u32>) -> Exp<f32> {
    (number >> 8).cast::<f32>() * (1.0 / (1 << 24) as f32)
}

/// The first `count` points of the sequence, from number 0 on (`sobol`).
pub fn sobol(count: Ix) -> Push<Grid, (f32, f32), Ix> {
    points(count).push()
}

fn points(count: Ix) -> Pull<(f32, f32), Ix> {
    Pull::new(count, |number| {
        let (x, y) = point(number.cast());
        (fraction(x), fraction(y))
    })
}

/// Counts how many of the first `count` points are within the quarter circle, as partial sums that are still to be added.
pub fn inside(count: Ix, threads: usize, items: usize) -> Push<Grid, i32, Ix> {
    let hits = points(count).map(|(x, y)| (x * x + y * y).lt(1.0).select(Exp::from(1), Exp::from(0)));
    reduce_grid_seq(|a, b| a + b, 0.into(), threads, items, hits)
}

/// The first points in plain Rust.
pub fn reference(count: usize) -> Vec<(f32, f32)> {
    let [first, second] = directions();
    let coordinate = |number: u32, directions: [u32; BITS as usize]| {
        let bits = (0..BITS).zip(directions).filter(|(bit, _)| number >> bit & 1 == 1);
        (bits.fold(0, |sum, (_, direction)| sum ^ direction) >> 8) as f32 * (1.0 / (1 << 24) as f32)
    };
    (0..count as u32).map(|number| (coordinate(number, first), coordinate(number, second))).collect()
}

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    vec![Program {
        name: "sobol",
        about: "how many of the first Sobol numbers in two dimensions are within the quarter circle",
        small: 10000,
        large: &[1 << 20, 1 << 26],
        sizes: crate::fcl::SIZES,
        tunable: &[],
        prepare: |compiler, n, _| {
            let (threads, items) = (256, 16);
            let count = compiler.kernel("sobol", threads as u32, move |n: Ix| inside(n, threads, items))?;
            let sum = SumGrid::new(compiler, threads, items)?;
            let check = move |found: &Array<Dim1, i32>| {
                let points = reference(n);
                let expected = points.iter().filter(|(x, y)| x * x + y * y < 1.0).count();
                Ok(same(&found.to_vec()?, &[expected as i32]))
            };
            Ok(ready(Work::Unknown, move || sum.run(&count.run((n as i64,))?), check))
        },
    }]
}
