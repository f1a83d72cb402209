//! Programs as somebody writes them on the first day: literals without suffixes, few annotations, no imports beyond the
//! prelude. They compile and give what they look like.

// Written as newcomers write them.
#![allow(clippy::needless_borrows_for_generic_args)]

use pumice::prelude::*;

fn on_sim<D: pumice::Shape, T: Elt>(program: impl Fn() -> Acc<Array<D, T>>) -> pumice::Result<Vec<T>> {
    Ok(pumice::Compiler::on("sim")?.run(program())?.to_vec()?)
}

#[test]
fn literals_find_their_types() -> pumice::Result<()> {
    assert_eq!(on_sim(|| use_(&[1, 2, 3]).map(|x| x + 1))?, [2, 3, 4]);
    assert_eq!(on_sim(|| use_(&[1.5, 2.5]).map(|x| x * 2.0))?, [3.0, 5.0]);
    assert_eq!(on_sim(|| use_(&[(1, 0), (2, 5)]).map(|(a, b)| a + b))?, [1, 7]);
    assert_eq!(on_sim(|| use_(&[(1, 0.5), (2, 1.5)]).map(|(_, b)| b + b))?, [1.0, 3.0]);
    assert_eq!(on_sim(|| use_(vec![3, 4]).fold(0, |a, b| a + b))?, [7]);
    assert_eq!(on_sim(|| use_(vec![3.0, 4.0]).sum())?, [7.0]);
    assert_eq!(on_sim(|| use_(&[1, 2]).zip(use_(&[10, 20])).map(|(a, b)| a * b))?, [10, 40]);
    assert_eq!(on_sim(|| use_(&[1, 2]).zip_with(use_(&[10, 20]), |a, b| b - a))?, [9, 18]);
    Ok(())
}

#[test]
fn constants_find_their_types() -> pumice::Result<()> {
    let clamped = |xs: Acc<Vector<f32>>| xs.map(|x| cond(x.gt(0.0), || x, || constant(0.0)));
    assert_eq!(pumice::Compiler::on("sim")?.compile(clamped)?.run(&[-1.0, 2.0])?.to_vec()?, [0.0, 2.0]);
    let ones = |xs: Acc<Vector<i64>>| xs.map(|_| constant(1));
    assert_eq!(pumice::Compiler::on("sim")?.compile(ones)?.run(&[5, 6])?.to_vec()?, [1, 1]);
    assert_eq!(on_sim(|| generate(3, |_| constant(0)))?, [0, 0, 0]);
    assert_eq!(on_sim(|| generate(2, |_| constant((1, 0.5))))?, [(1, 0.5), (1, 0.5)]);
    assert_eq!(on_sim(|| generate(2, |i| (i, constant(true))))?, [(0, true), (1, true)]);
    let sums =
        |xs: Acc<Vector<f32>>| xs.map(|x| (x, constant(1))).fold((0.0, 0), |(a, n), (b, m)| (a + b, n + m));
    assert_eq!(pumice::Compiler::on("sim")?.compile(sums)?.run(&[1.0, 2.0])?.to_value()?, (3.0, 2));
    Ok(())
}

#[test]
fn first_programs() -> pumice::Result<()> {
    fn mean(xs: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
        let n = xs.size();
        xs.sum().map(|sum| sum / n.cast::<f32>())
    }
    fn largest(xs: Acc<Vector<i32>>) -> Acc<Scalar<i32>> {
        xs.fold(i32::MIN, |a, b| a.max(b))
    }
    fn differences(xs: Acc<Vector<i32>>) -> Acc<Vector<i32>> {
        let n = xs.size();
        let (left, right) = (xs.clone().backpermute(n - 1, |i| i), xs.backpermute(n - 1, |i| i + 1));
        right.zip_with(left, |b, a| b - a)
    }
    fn gray(pixels: Acc<Vector<(f32, f32, f32)>>) -> Acc<Vector<f32>> {
        pixels.map(|(r, g, b)| 0.25 * r + 0.5 * g + 0.25 * b)
    }
    fn identity(n: Exp<i64>) -> Acc<Matrix<f32>> {
        generate((n, n), |(i, j)| cond(i.eq(j), || constant(1.0), || constant(0.0)))
    }
    let sim = pumice::Compiler::on("sim")?;
    assert_eq!(sim.compile(mean)?.run(&[1.0, 2.0, 6.0])?.to_value()?, 3.0);
    assert_eq!(sim.compile(largest)?.run(&[3, 9, -2])?.to_value()?, 9);
    assert_eq!(sim.compile(differences)?.run(&[1, 4, 9])?.to_vec()?, [3, 5]);
    assert_eq!(sim.compile(gray)?.run(&[(1.0, 1.0, 1.0), (0.0, 1.0, 0.0)])?.to_vec()?, [1.0, 0.5]);
    assert_eq!(sim.compile(identity)?.run(2)?.to_vec()?, [1.0, 0.0, 0.0, 1.0]);
    Ok(())
}

#[test]
fn extents_that_no_array_has_are_named_as_they_were_written() {
    let error = on_sim(|| generate(usize::MAX, |i| i)).unwrap_err().to_string();
    assert!(error.contains(&usize::MAX.to_string()), "{error}");
    assert!(error.contains("newcomers.rs:") && !error.contains("-1"), "{error}");
}

/// `main() -> pumice::Result<()>` prints the message of an error.
#[test]
fn errors_are_readable_from_main() {
    let error = pumice::Compiler::on("abacus").err().unwrap();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(format!("{error:?}").starts_with("there is no device `abacus`"));
    let error = pumice::Compiler::on("sim").unwrap().run(use_(&[1, 2]).zip(use_(&[1]))).err().unwrap();
    assert_eq!(format!("{error:?}"), error.to_string());
    let error = pumice::kernel::preview(32, &[1], |xs: pumice::kernel::Pull<i32, pumice::kernel::Ix>| {
        xs.pair().map(|(a, b)| a + b).push()
    });
    assert!(format!("{error:?}").starts_with("Err(1 elements do not fill parts of 2"), "{error:?}");
}

/// A program that is written again is planned once, and its plan has nothing of the data that it was first made for.
#[test]
fn a_program_that_is_written_again() -> Result<(), pumice::Error> {
    let compiler = pumice::Compiler::on("sim")?;
    let ends = |xs: &[i32], round: i32| {
        // One place in the source, with data and constants of each round's own.
        compiler.run(use_(xs).map(|x| x * round).scanl1(|a, b| a + b))?.to_vec().map_err(pumice::Error::from)
    };
    for round in [2, 3] {
        assert_eq!(ends(&[1, 2, 3], round)?, [round, 3 * round, 6 * round]);
        assert_eq!(ends(&[5, 0, 1], round)?, [5 * round, 5 * round, 6 * round]);
        assert_eq!(ends(&[7], round)?, [7 * round]);
    }
    Ok(())
}

/// Elements and extents of arrays that have no name, also outside of a program's function.
#[test]
fn an_element_of_an_array_that_nobody_keeps() -> pumice::Result<()> {
    let compiler = pumice::Compiler::on("sim")?;
    let m = Matrix::from_vec([3, 3], (0..9).collect::<Vec<i64>>())?;
    assert_eq!(compiler.run(unit(use_(&m).reshape(9).at(5)))?.to_value()?, 5);
    let table = use_(&m).flatten();
    let (second, count) = (table.clone().reverse().at(1), table.clone().filter(|x| x.gt(6)).size());
    // It may be printed meanwhile.
    assert!(format!("{:?}", table.clone().map(|x| x + second)).contains("map"));
    assert_eq!(compiler.run(table.clone().map(|x| x * second + count))?.to_vec()?[..3], [2, 9, 16]);
    // With the program, the arrays that nobody keeps are gone.
    let error = compiler.run(table.map(|x| x + second)).err().map(|error| error.to_string());
    let error = error.unwrap_or_default();
    assert!(error.contains("keep the array in a variable") && error.contains("newcomers.rs"), "{error}");
    Ok(())
}
