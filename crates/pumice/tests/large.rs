//! Large programs: compilers must come to an end with them, and the results must be right.

use pumice::{Compiler, prelude::*};
use std::time::{Duration, Instant};

/// A polynomial by Horner's rule, whose terms are alike on the host and in the program.
fn polynomial<T: Clone>(x: T, terms: usize, zero: T, step: impl Fn(T, T, f32) -> T) -> T {
    (0..terms).fold(zero, |sum, k| step(sum, x.clone(), 1.0 / (k as f32 + 2.0)))
}

fn check(device: &str, terms: usize, limit: Duration) -> pumice::Result<()> {
    let compiler = match Compiler::on(device) {
        Ok(compiler) => compiler,
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
            return Ok(());
        }
    };
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
