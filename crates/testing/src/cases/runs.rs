//! Several uses, several runs, several devices.

use crate::data::{FEW_SIZES, SIZES, floats, values};
use crate::{Harness, Outcome, Tolerance};
use pumice::layers::runtime::device_names;
use pumice::prelude::*;
use pumice::{Compiler, Elt};

pub fn an_array_used_twice_and_cheap(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        let n = xs.size();
        let next = xs.map(|x| x + 1);
        let reversed = next.clone().backpermute(n, |i| n - 1 - i);
        next.clone().zip_with3(next, reversed, |a, b, c| a * b - c)
    })?;
    for n in SIZES {
        let xs = values::<i32>(90, n);
        let next = |i: usize| xs[i].wrapping_add(1);
        let expected: Vec<i32> =
            (0..n).map(|i| next(i).wrapping_mul(next(i)).wrapping_sub(next(n - 1 - i))).collect();
        program.check(&xs, &expected)?;
    }
    Ok(())
}

/// Computes an expensive function: its result is worth writing to memory.
fn scrambled(x: Exp<u64>) -> Exp<u64> {
    (0..30u64).fold(x, |x, k| (x ^ (x >> 29)) * (0xbf58_476d_1ce4_e5b9 + 2 * k))
}

fn scrambled_plain(x: u64) -> u64 {
    (0..30u64).fold(x, |x, k| (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9 + 2 * k))
}

pub fn an_array_used_twice_and_expensive(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u64>>| {
        let n = xs.size();
        let dear = xs.map(scrambled);
        let total = dear.clone().sum();
        let reversed = dear.clone().backpermute(n, |i| n - 1 - i);
        dear.zip_with3(reversed, total.replicate(n), |a, b, total| a ^ (b >> 1) ^ total)
    })?;
    for n in SIZES {
        let xs = values::<u64>(91, n);
        let dear: Vec<u64> = xs.iter().map(|x| scrambled_plain(*x)).collect();
        let total = dear.iter().fold(0, |a: u64, b| a.wrapping_add(*b));
        let expected: Vec<u64> = (0..n).map(|i| dear[i] ^ (dear[n - 1 - i] >> 1) ^ total).collect();
        program.check(&xs, &expected)?;
    }
    Ok(())
}

pub fn an_array_used_at_two_indices(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<u64>>| {
        let dear = m.map(scrambled);
        dear.clone().zip_with(dear.transpose(), |a, b| a - b)
    })?;
    for n in [0, 1, 2, 33, 70] {
        let xs = values::<u64>(92, n * n);
        let dear = |i: usize, j: usize| scrambled_plain(xs[i * n + j]);
        let expected: Vec<u64> =
            (0..n * n).map(|k| dear(k / n, k % n).wrapping_sub(dear(k % n, k / n))).collect();
        let m = Matrix::from_slice([n, n], &xs).map_err(|error| error.to_string())?;
        program.check(&m, &expected)?;
    }
    Ok(())
}

pub fn many_uses_of_many_arrays(h: &Harness) -> Outcome {
    // Each level uses the one before twice: 2^20 paths, but 20 arrays.
    let program = h.compile(|mut xs: Acc<Vector<u32>>| {
        for k in 0..20u32 {
            xs = xs.clone().zip_with(xs, |a, b| a * 3 + b + k);
        }
        xs
    })?;
    // The same with a change of index in between, which must not be computed 2^8 times.
    let shifted = h.compile(|mut xs: Acc<Vector<u32>>| {
        let n = xs.size();
        for k in 0..8u32 {
            let next = xs.clone().backpermute(n, |i| (i + 1) % n);
            xs = xs.zip_with(next, |a, b| a * 3 + b + k);
        }
        xs
    })?;
    for n in FEW_SIZES {
        let xs = values::<u32>(93, n);
        let each = |x: &u32| (0..20).fold(*x, |x, k| x.wrapping_mul(4).wrapping_add(k));
        program.check(&xs, &xs.iter().map(each).collect::<Vec<_>>())?;
        let mut level = xs.clone();
        for k in 0..8 {
            let next = |i: usize| level[i].wrapping_mul(3).wrapping_add(level[(i + 1) % n]).wrapping_add(k);
            level = (0..n).map(next).collect();
        }
        shifted.check(&xs, &level)?;
    }
    Ok(())
}

pub fn results_as_arguments(h: &Harness) -> Outcome {
    let step = h.compile(|xs: Acc<Vector<(i64, f32)>>| xs.map(|(a, b)| (a * 3 + 1, b - 1.0)))?;
    let total = h.compile(|xs: Acc<Vector<(i64, f32)>>| xs.fold((0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1)))?;
    let spread = h.compile(|t: Acc<Scalar<(i64, f32)>>, n: Exp<i64>| t.replicate(n))?;
    for n in FEW_SIZES {
        let mut expected = values::<(i64, f32)>(94, n);
        let mut current = Vector::from(expected.as_slice());
        for _ in 0..5 {
            current = step.run(&current)?;
            expected.iter_mut().for_each(|(a, b)| (*a, *b) = (a.wrapping_mul(3).wrapping_add(1), *b - 1.0));
        }
        let sum = expected.iter().fold((0i64, 0.0f32), |a, b| (a.0.wrapping_add(b.0), a.1 + b.1));
        let result = total.run(&current)?;
        let all = spread.run((&result, 7))?;
        drop(result);
        h.expect(&all, &[sum; 7], Tolerance::Exact)?;
        // An intermediate result is still valid, and can be read twice.
        h.expect(&current, &expected, Tolerance::Exact)?;
        h.expect(&current, &expected, Tolerance::Exact)?;
    }
    Ok(())
}

pub fn one_array_as_two_arguments(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| {
        let n = ys.size();
        xs.zip_with(ys.backpermute(n, |i| n - 1 - i), |x, y| x * 10 + y)
    })?;
    let double = h.compile(|xs: Acc<Vector<i32>>| xs.map(|x| x + x))?;
    for n in FEW_SIZES {
        let xs = values::<i32>(95, n);
        let expected = |xs: &[i32]| -> Vec<i32> {
            (0..n).map(|i| xs[i].wrapping_mul(10).wrapping_add(xs[n - 1 - i])).collect()
        };
        let array = Vector::from(xs.as_slice());
        program.check((&array, &array), &expected(&xs))?;
        let doubled = double.run(&array)?;
        let xs: Vec<i32> = xs.iter().map(|x| x.wrapping_add(*x)).collect();
        program.check((&doubled, &doubled), &expected(&xs))?;
    }
    Ok(())
}

/// A result of another device is an argument here, and the other way round.
pub fn results_on_another_device(h: &Harness) -> Outcome {
    let text = |error: pumice::Error| error.to_string();
    let step = |xs: Acc<Vector<(f64, bool)>>| xs.map(|(x, flag)| (x * 2.0, !flag));
    let here = h.compile(step)?;
    for name in device_names() {
        let Ok(other) = Compiler::on(&name) else { continue };
        let there = other.compile(step).map_err(text)?;
        for n in [0, 1, 1000] {
            let xs = values::<(f64, bool)>(96, n);
            let once = there.run(&xs).map_err(text)?;
            let twice = here.run(&once)?;
            let back = there.run(&twice).map_err(text)?;
            let expected: Vec<(f64, bool)> = xs.iter().map(|(x, flag)| (x * 8.0, !flag)).collect();
            h.expect(&back, &expected, Tolerance::Exact).map_err(|m| format!("with {name}: {m}"))?;
        }
        // A failure is passed on as well.
        let divide = other.compile(|x: Exp<i32>| unit(7 / x).replicate(3)).map_err(text)?;
        let bad = divide.run(0).map_err(text)?;
        let used = h.run(|xs: Acc<Vector<i32>>| xs.map(|x| x + 1), &bad);
        h.expect_failure(used, &["integer division by zero", file!()])?;
    }
    Ok(())
}

pub fn other_sizes_in_turn(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>, ys: Acc<Vector<i64>>| {
        let products = xs.zip_with(ys, |x, y| x * y);
        products.clone().sum().zip(products.fold(i64::MIN, |a, b| a.max(b)))
    })?;
    // More sizes than plans that are kept, growing and shrinking, so that larger and smaller arrays reuse memory.
    for round in 0..150 {
        let n = 17 + (round * 37) % 101 * (1 + round % 3);
        let (xs, ys) = (values::<i64>(round as u64, n), values::<i64>(97, n));
        let products: Vec<i64> = xs.iter().zip(&ys).map(|(x, y)| x.wrapping_mul(*y)).collect();
        let sum = products.iter().fold(0, |a: i64, b| a.wrapping_add(*b));
        let largest = products.iter().fold(i64::MIN, |a, b| a.max(*b));
        program.check((&xs, &ys), &[(sum, largest)]).map_err(|m| format!("{n} elements: {m}"))?;
    }
    Ok(())
}

pub fn scalars_in_turn(h: &Harness) -> Outcome {
    let program = h.compile(|a: Exp<f32>, xs: Acc<Vector<f32>>, flag: Exp<bool>| {
        xs.map(|x| flag.select(a * x, a + x))
    })?;
    let xs = values::<f32>(98, 1000);
    for round in 0..20u8 {
        let (a, flag) = (f32::from(round), round % 3 == 0);
        let expected: Vec<f32> = xs.iter().map(|x| if flag { a * x } else { a + x }).collect();
        program.check((a, &xs, flag), &expected)?;
    }
    Ok(())
}

pub fn inputs_that_come_and_go(h: &Harness) -> Outcome {
    // New arrays may have the address of old ones: a copy on the device must not be taken for another array's.
    let program = h.compile(|xs: Acc<Vector<u32>>| xs.map(|x| x + 1))?;
    for round in 0..100u32 {
        let xs = vec![round; 100];
        program.check(&Vector::from(xs), &[round + 1; 100])?;
    }
    // Runs do not change the array.
    let xs = Vector::from(vec![5u32; 1000]);
    for _ in 0..3 {
        program.check(&xs, &[6; 1000])?;
    }
    h.expect(&xs, &[5; 1000], Tolerance::Exact)
}

fn bits<T: Elt>(values: &[T]) -> Vec<u64> {
    let mut constants = Vec::new();
    values.iter().for_each(|value| value.add_constants(&mut constants));
    constants.iter().map(|constant| constant.bits()).collect()
}

pub fn the_same_bits_every_time(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<f32>>| {
        m.map(|x| (x, x * x)).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    })?;
    for extents in [[1, 100_000], [3, 4099], [100, 257], [1, 1000]] {
        let elements: Vec<f32> =
            floats(99, extents[0] * extents[1], -1.0, 1.0).into_iter().map(|x| x as f32).collect();
        let mut first = None;
        for _ in 0..3 {
            let m = Matrix::from_slice(extents, &elements).map_err(|error| error.to_string())?;
            let found = bits(&program.run(&m)?.to_vec().map_err(|error| error.to_string())?);
            if *first.get_or_insert(found.clone()) != found {
                return Err(format!("other bits in another run on {extents:?}"));
            }
        }
    }
    Ok(())
}

pub fn several_threads(h: &Harness) -> Outcome {
    if h.is_planning() {
        return Ok(());
    }
    let compiler = h.compiler();
    let program = compiler
        .compile(|xs: Acc<Vector<i64>>, k: Exp<i64>| xs.map(|x| x * k).sum())
        .map_err(|error| error.to_string())?;
    let one = |thread: i64| -> Outcome {
        for round in 0..10 {
            let (n, k) = (100 + thread * 7 + round, thread * 100 + round);
            let xs: Vec<i64> = (0..n).collect();
            let found = program.run((&xs, k)).and_then(|total| Ok(total.to_value()?));
            let expected = n * (n - 1) / 2 * k;
            match found {
                Ok(found) if found == expected => {}
                other => return Err(format!("thread {thread}: expected {expected}, found {other:?}")),
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || one(thread))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into())))
    })
}
