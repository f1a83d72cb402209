//! Kernels of users as operations of array programs, compared with what the interpreter says.

use pumice::kernel::{Block, Grid, Ix, Pull, Push, apply};
use pumice::layers::array::interpret;
use pumice::prelude::*;
use pumice::{Compiler, Error, Result};
use std::collections::HashMap;

fn compilers() -> Vec<Compiler> {
    ["sim", "cpu"].into_iter().filter_map(|name| Compiler::on(name).ok()).collect()
}

fn numbers(n: usize) -> Vec<i64> {
    (0..n as i64).map(|i| (i * 37) % 101 - 50).collect()
}

/// The sums of parts of 32 elements; what does not fill one is left out.
fn part_sums(xs: Pull<i64, Ix>) -> Push<Grid, i64, Ix> {
    let sum = |part: Pull<i64>| {
        let mut xs = part;
        while xs.len() > 1 {
            let (low, high) = xs.halve();
            xs = low.zip_with(high, |a, b| a + b).push::<Block>().force();
        }
        xs.push::<Block>()
    };
    let whole = xs.len() / 32 * 32;
    xs.take(whole).split_up(32).map(sum).concat()
}

fn scaled(xs: Pull<i64, Ix>, factor: Exp<i64>, add: Exp<f64>) -> Push<Grid, (i64, f64), Ix> {
    xs.map(move |x| (x * factor, x.cast::<f64>() + add)).push()
}

fn total(xs: Acc<Vector<i64>>) -> Acc<Scalar<i64>> {
    let sums = apply("part_sums", 32, part_sums, xs.map(|x| x * x + 1));
    sums.map(|x| x * 2).sum()
}

#[test]
fn a_kernel_stands_between_a_map_and_a_fold() -> Result<()> {
    for compiler in compilers() {
        let f = compiler.compile(total)?;
        for n in [0, 1, 31, 32, 33, 100, 1000] {
            let xs = numbers(n);
            let whole = xs.chunks_exact(32).flatten();
            let expected: i64 = whole.map(|x| 2 * (x * x + 1)).sum();
            assert_eq!(f.run(&xs)?.to_value()?, expected, "{n} on {}", compiler.device().name());
            let data = Vector::from(xs.as_slice()).data().clone();
            let said = interpret(f.program(), &HashMap::from([(0, data)]), &[])?.remove(0);
            assert_eq!(Scalar::<i64>::from_data(std::sync::Arc::new(said))?.to_value()?, expected);
        }
        let plan = f.plan(numbers(1000))?;
        // The map before it, the kernel, and the fold with the map after it.
        assert_eq!(plan.launches().count(), 3, "{plan}");
        assert!(plan.to_string().contains("launch part_sums("), "{plan}");
        assert!(plan.to_string().contains("tests/kernels_in_programs.rs"), "{plan}");
        assert!(f.describe().contains("= kernel (a1)"), "{}", f.describe());
    }
    Ok(())
}

#[test]
fn scalars_come_from_the_program_and_tuples_are_columns() -> Result<()> {
    let program = |xs: Acc<Vector<i64>>, factor: Exp<i64>, add: Exp<f64>| {
        let n = xs.size();
        // One scalar that is computed, one that is passed on.
        apply("scaled", 64, scaled, (xs, factor + n, add))
    };
    for compiler in compilers() {
        let f = compiler.compile(program)?;
        for (n, factor, add) in [(5, 2, 0.5), (5, 2, 1.5), (5, 3, 1.5), (0, 1, 1.0), (200, -1, 0.25)] {
            let xs = numbers(n);
            let expected: Vec<(i64, f64)> =
                xs.iter().map(|x| (x * (factor + n as i64), *x as f64 + add)).collect();
            assert_eq!(f.run((&xs, factor, add))?.to_vec()?, expected);
        }
    }
    Ok(())
}

#[test]
fn a_kernels_result_is_computed_once_however_often_it_is_used() -> Result<()> {
    let program = |xs: Acc<Vector<i64>>| {
        let sums = apply("part_sums", 32, part_sums, xs);
        let n = sums.size();
        let turned = sums.clone().backpermute(n, move |i| n - 1 - i);
        // And another kernel on top of it.
        let again = apply("scaled", 32, scaled, (&sums, 3, 0.0)).map(|(x, _)| x);
        sums.zip_with3(turned, again, |a, b, c| a * b + c)
    };
    for compiler in compilers() {
        let f = compiler.compile(program)?;
        let xs = numbers(300);
        let sums: Vec<i64> = xs.chunks_exact(32).map(|part| part.iter().sum()).collect();
        let expected: Vec<i64> = sums.iter().zip(sums.iter().rev()).map(|(a, b)| a * b + 3 * a).collect();
        assert_eq!(f.run(&xs)?.to_vec()?, expected);
        // The kernel, and the other one with what is made of it.
        assert_eq!(f.plan(&xs)?.launches().count(), 2);
    }
    Ok(())
}

#[test]
fn what_is_done_to_a_kernels_elements_is_part_of_the_kernel() -> Result<()> {
    let map = |xs: Acc<Vector<i64>>| apply("part_sums", 32, part_sums, xs).map(|x| x * 2 + 1);
    let zip = |xs: Acc<Vector<i64>>| {
        let kernel = apply("scaled", 32, scaled, (&xs, 3, 0.5));
        kernel.zip_with(xs, |(a, b), x| a + b.cast::<i64>() - x)
    };
    let counts = |xs: Acc<Vector<i64>>| apply("part_sums", 32, part_sums, xs).histogram(7, |x| x.abs() % 7);
    // Elements that are left out are zero, and a map hears nothing of those: the kernel writes, and the map reads.
    let spread = |xs: Pull<i64, Ix>| -> Push<Grid, i64, Ix> {
        let length = xs.len() * 2;
        xs.imap(|i, x| (i * 2, x)).scatter(length)
    };
    let holes = move |xs: Acc<Vector<i64>>| apply("spread", 32, spread, xs).map(|x| x + 1);
    let xs = numbers(1000);
    for compiler in compilers() {
        let check = |plan: &pumice::layers::array::Plan, launches: usize| {
            assert_eq!(plan.launches().count(), launches, "{plan}");
        };
        check(&compiler.compile(map)?.plan(&xs)?, 1);
        check(&compiler.compile(zip)?.plan(&xs)?, 1);
        check(&compiler.compile(counts)?.plan(&xs)?, 1);
        check(&compiler.compile(holes)?.plan(&xs)?, 2);
        let plan = compiler.compile(map)?.plan(&xs)?.to_string();
        assert!(plan.contains("the user's kernel"), "{plan}");
    }
    Ok(())
}

#[test]
fn what_is_wrong_with_a_kernel_is_an_error_of_the_program() -> Result<()> {
    let taken =
        |xs: Pull<i64, Ix>, n: Exp<i64>| -> Push<Grid, i64, Ix> { Pull::new(n, move |i| xs.at(i)).push() };
    let program = move |xs: Acc<Vector<i64>>, n: Exp<i64>| apply("taken", 32, taken, (xs, n)).map(|x| x + 1);
    let text = |error: Option<Error>| error.map(|error| error.to_string()).unwrap_or_default();
    for compiler in compilers() {
        let f = compiler.compile(program)?;
        assert_eq!(f.run((&[1, 2, 3], 2))?.to_vec()?, [2, 3]);
        let beyond = f.run((&[1, 2, 3], 4))?.to_vec().err().map(Error::from);
        assert!(
            text(beyond.clone()).starts_with("index 3 out of bounds for length 3 in at at "),
            "{beyond:?}"
        );
        let negative = text(f.run((&[1, 2, 3], -1)).map(drop).err());
        assert!(negative.contains("cannot have -1 elements in kernel at "), "{negative}");
        // Kernels that cannot be.
        let crowded = |xs: Acc<Vector<i64>>| apply("part_sums", 1 << 20, part_sums, xs);
        let crowded = text(compiler.compile(crowded)?.run(numbers(100)).map(drop).err());
        assert!(crowded.contains("1048576 threads"), "{crowded}");
        let misnamed = |xs: Acc<Vector<i64>>| apply("part sums", 32, part_sums, xs);
        let misnamed = text(compiler.compile(misnamed)?.run(numbers(100)).map(drop).err());
        assert!(misnamed.contains("part sums"), "{misnamed}");
        let nothing = |_: Pull<i64, Ix>| {};
        let nothing =
            text(compiler.compile(|xs: Acc<Vector<i64>>| apply("nothing", 32, nothing, xs)).map(drop).err());
        assert!(nothing.contains("nothing"), "{nothing}");
    }
    Ok(())
}
