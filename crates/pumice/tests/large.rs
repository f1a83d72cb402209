//! Large programs, with which compilers must come to an end, and arrays that no cache has room for: the results must be right.

use pumice::{Compiler, prelude::*};
use std::time::{Duration, Instant};

/// A polynomial by Horner's rule, whose terms are alike on the host and in the program.
fn polynomial<T: Clone>(x: T, terms: usize, zero: T, step: impl Fn(T, T, f32) -> T) -> T {
    (0..terms).fold(zero, |sum, k| step(sum, x.clone(), 1.0 / (k as f32 + 2.0)))
}

/// A compiler for a device; none if it is not there, which only a developer's machine may say.
fn compiler(device: &str) -> Option<Compiler> {
    let compiler = Compiler::on(device);
    if let Err(error) = &compiler {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
    }
    compiler.ok()
}

fn check(device: &str, terms: usize, limit: Duration) -> pumice::Result<()> {
    let Some(compiler) = compiler(device) else { return Ok(()) };
    let start = Instant::now();
    let sum = compiler.compile(move |xs: Acc<Vector<f32>>| {
        xs.map(move |x| polynomial(x, terms, constant(0.5f32), |sum, x, c| sum * x + c))
    })?;
    let xs: Vec<f32> = (0..100).map(|i| i as f32 / 128.0).collect();
    let found = sum.run(&xs)?.to_vec()?;
    let expected: Vec<f32> = xs.iter().map(|&x| polynomial(x, terms, 0.5, |sum, x, c| sum * x + c)).collect();
    assert_eq!(found, expected);
    assert!(start.elapsed() < limit, "{terms} terms took {:?}", start.elapsed());
    Ok(())
}

#[test]
fn polynomials_of_thousands_of_terms_compile_in_seconds() -> pumice::Result<()> {
    // The first takes a second or two by itself: the machine may be busy.
    check("cpu", 5_000, Duration::from_secs(30))?;
    check("cpu", 20_000, Duration::from_secs(60))
}

#[test]
fn a_large_polynomial_compiles_for_opencl() -> pumice::Result<()> {
    check("opencl", 2_000, Duration::from_secs(60))
}

#[test]
fn kernels_may_have_long_names() -> pumice::Result<()> {
    use pumice::kernel::{Grid, Ix, Pull, Push};
    let double = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.map(|x| x + x).push() };
    let name = "double_".repeat(1_500);
    for compiler in ["cpu", "opencl"].into_iter().filter_map(|device| Compiler::on(device).ok()) {
        assert_eq!(compiler.kernel(&name, 64, double)?.run([1, 2, 3])?.to_vec()?, [2, 4, 6]);
    }
    Ok(())
}

/// The key of an element, from a random number.
type Key = fn(u64) -> (u64, i16);

/// A CPU sorts so many elements by the highest digit first, unless most of them have the same.
#[test]
fn sorts_of_more_than_a_cache_has_room_for() -> pumice::Result<()> {
    let program = |xs: Acc<Vector<(u64, i16, u32)>>| xs.sort_by_key(|(a, b, _)| (a, b)).map(|(_, _, at)| at);
    let Some(compiler) = compiler("cpu") else { return Ok(()) };
    let sort = compiler.compile(program)?;
    let keys: [Key; 5] = [
        |random| (random, 0),
        |random| (random >> 43, 0),
        |random| ((random >> 54).pow(3), (random >> 8) as i16 % 300),
        // Nearly all in one bucket, or all the same.
        |random| (if random % 1000 == 0 { random } else { random % 5000 }, random as i16),
        |_| (1, 2),
    ];
    let mut random = 88_172_645_463_325_252u64;
    for (number, key) in keys.into_iter().enumerate() {
        let element = |at: u32| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let (a, b) = key(random);
            (a, b, at)
        };
        let xs: Vec<(u64, i16, u32)> = (0..(1 << 22) + 5).map(element).collect();
        let found = sort.run(&xs)?.to_vec()?;
        // Every element once, in order, and those with the same keys in theirs: they have different numbers.
        let sorted = found.windows(2).all(|pair| xs[pair[0] as usize] < xs[pair[1] as usize]);
        assert_eq!((sorted, found.len()), (true, xs.len()), "keys {number}");
    }
    Ok(())
}

/// Each size is valid, and their sum is the first number that is none, or one that would wrap around to nothing or little.
#[test]
fn sizes_whose_sum_is_no_number_are_refused() -> pumice::Result<()> {
    let Some(compiler) = compiler("cpu") else { return Ok(()) };
    let numbers = compiler.compile(|sizes: Acc<Vector<i64>>| sizes.segmented_iota())?;
    for count in [1 << 21, 1 << 22, (1 << 22) + 1] {
        let error = numbers.run(vec![1i64 << 42; count]).and_then(|found| Ok(found.to_vec()?));
        let error =
            error.map(|found| found.len()).expect_err("more elements than there are numbers").to_string();
        assert!(error.contains("too large") && error.contains("large.rs"), "{error}");
    }
    Ok(())
}
