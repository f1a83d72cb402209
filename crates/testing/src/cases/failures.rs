//! Failures and their messages, which name the operation and the place in this file.

use crate::data::values;
use crate::{Harness, Outcome};
use pumice::prelude::*;
use std::cell::Cell;

pub fn shapes_that_differ(h: &Harness) -> Outcome {
    let line = Cell::new(0);
    let two = |xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| {
        line.set(line!() + 1);
        xs.zip_with(ys, |x, y| x + y)
    };
    let program = h.compile(two)?;
    let place = format!("{}:{}", file!(), line.get());
    for (n, m) in [(3, 4), (0, 1), (1000, 999)] {
        let result = program.run((&values::<f32>(80, n), &values::<f32>(81, m)));
        let shapes = format!("shapes differ, [{n}] and [{m}], in zip_with at {place}");
        h.expect_failure(result, &[shapes.as_str()])?;
    }
    let xs = values::<f32>(82, 5);
    program.check((&xs, &xs), &xs.iter().map(|x| x + x).collect::<Vec<_>>())?;
    // Three, four, and matrices of the same size.
    let three = |a: Acc<Vector<i32>>, b: Acc<Vector<i32>>, c: Acc<Vector<i32>>| {
        a.zip_with3(b, c, |a, b, c| a + b + c)
    };
    h.expect_error(three, (&[1], &[1], &[1, 2]), &["shapes differ, [1] and [2], in zip_with3", file!()])?;
    let matrices = |a: Acc<Matrix<i32>>, b: Acc<Matrix<i32>>| a.zip(b);
    let matrix = |extents| Matrix::from_vec(extents, vec![0; 6]).map_err(|error| error.to_string());
    h.expect_error(
        matrices,
        (&matrix([2, 3])?, &matrix([3, 2])?),
        &["shapes differ, [2, 3] and [3, 2], in zip at", file!()],
    )
}

pub fn reshapes_of_another_size(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i32>>, n: Exp<i64>| xs.reshape((n, 4));
    let message = "extents [10] and [3, 4] have different numbers of elements in reshape at";
    h.expect_error(program, (&[0; 10], 3), &[message, file!()])?;
    h.expect_error(program, (&[0; 0], 1), &["extents [0] and [1, 4]", file!()])?;
    h.check(program, (&[7; 8], 2), &[7; 8])?;
    h.expect_error(|| generate((2, 3), |(i, _)| i).reshape(()), (), &["extents [2, 3] and []", file!()])
}

pub fn impossible_extents(h: &Harness) -> Outcome {
    let program = |n: Exp<i64>| generate((3, n), |(i, j)| i + j);
    h.expect_error(program, -1, &["extents [3, -1] are not possible in generate at", file!()])?;
    h.expect_error(program, i64::MAX / 2, &["are too large in generate at", file!()])?;
    h.expect_error(program, i64::MIN, &["are not possible in generate at", file!()])?;
    h.check(program, 1, &[0, 1, 2])?;
    h.expect_error(|| generate(constant(-5i64), |i| i), (), &["extents [-5] are not possible", file!()])?;
    let rows = |xs: Acc<Vector<i32>>, n: Exp<i64>| xs.replicate_rows(n);
    h.expect_error(rows, (&[1, 2], -2), &["extents [-2, 2] are not possible in replicate_rows at", file!()])?;
    let back = |xs: Acc<Vector<i32>>, n: Exp<i64>| xs.backpermute(n - 4, |i| i);
    h.expect_error(back, (&[1, 2], 1), &["extents [-3] are not possible in backpermute at", file!()])?;
    // Two negative extents make a positive size.
    let both = |xs: Acc<Vector<i32>>, n: Exp<i64>| xs.reshape((n, n));
    h.expect_error(both, (&[1, 2, 3, 4], -2), &["extents [-2, -2] are not possible in reshape at", file!()])
}

pub fn an_index_too_large(h: &Harness) -> Outcome {
    let place = Cell::new(0);
    let program = |xs: Acc<Vector<f32>>, by: Exp<i64>| {
        let n = xs.size();
        place.set(line!() + 1);
        xs.backpermute(n, |i| i + by)
    };
    let program = h.compile(program)?;
    let xs = values::<f32>(83, 10);
    // Three indices are bad; the message has one of them.
    let message = |index| {
        format!("index {index} out of bounds for length 10 in backpermute at {}:{}", file!(), place.get())
    };
    let result = program.run((&xs, 1));
    h.expect_failure(result, &[message(10).as_str()])?;
    program.check((&xs, 0), &xs)?;
    let result = program.run((&xs, i64::MAX - 9));
    h.expect_failure(result, &["out of bounds for length 10 in backpermute at", file!()])?;
    let only = |xs: Acc<Vector<f32>>| xs.backpermute(1usize, |i| i + 12);
    h.expect_error(only, &xs, &["index 12 out of bounds for length 10 in backpermute at", file!()])
}

pub fn an_index_too_small(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i64>>, at: Exp<i64>| xs.backpermute(1, |_| at);
    let xs = values::<i64>(84, 10);
    h.expect_error(program, (&xs, -1), &["index -1 out of bounds for length 10 in backpermute at", file!()])?;
    h.expect_error(program, (&xs, i64::MIN), &["index -9223372036854775808 out of bounds for length 10"])?;
    // An index that is in bounds modulo 2^32.
    h.expect_error(program, (&xs, 1 << 32), &["index 4294967296 out of bounds for length 10"])?;
    h.expect_error(program, (&[0; 0], 0), &["index 0 out of bounds for length 0"])?;
    h.check(program, (&xs, 9), &xs[9..])
}

pub fn an_index_out_of_one_of_two_dimensions(h: &Harness) -> Outcome {
    // The flattened index would be in bounds.
    let program = |m: Acc<Matrix<i32>>, i: Exp<i64>, j: Exp<i64>| m.backpermute((), |()| (i, j));
    let m = Matrix::from_vec([4, 5], (0..20).collect()).map_err(|error| error.to_string())?;
    h.expect_error(program, (&m, 1, 7), &["index 7 out of bounds for length 5 in backpermute at", file!()])?;
    h.expect_error(
        program,
        (&m, 2, -1),
        &["index -1 out of bounds for length 5 in backpermute at", file!()],
    )?;
    h.expect_error(program, (&m, 4, 0), &["index 4 out of bounds for length 4 in backpermute at", file!()])?;
    h.check(program, (&m, 3, 4), &[19])
}

pub fn one_bad_index_among_many(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<f32>>, bad: Exp<i64>| {
        let n = xs.size();
        xs.backpermute(n, |i| i.eq(bad).select(i + 100_000, i)).map(|x| x * 2.0)
    })?;
    let xs = values::<f32>(85, 20_000);
    for bad in [0, 63, 64, 255, 256, 10_001, 19_999] {
        let message = format!("index {} out of bounds for length 20000 in backpermute at", bad + 100_000);
        h.expect_failure(program.run((&xs, bad)), &[message.as_str(), file!()])?;
    }
    program.check((&xs, -1), &xs.iter().map(|x| x * 2.0).collect::<Vec<_>>())
}

pub fn bad_indices_inside_a_fold(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, width: Exp<i64>| {
        let n = xs.size();
        xs.backpermute((n, width), |(i, j)| i + j).sum()
    })?;
    let xs = values::<i32>(86, 300);
    for width in [2, 40, 301] {
        h.expect_failure(
            program.run((&xs, width)),
            &["out of bounds for length 300 in backpermute at", file!()],
        )?;
    }
    program.check((&xs, 1), &xs)?;
    program.check((&xs, 0), &[0; 300])
}

pub fn a_bad_index_behind_a_bad_index(h: &Harness) -> Outcome {
    // The second index is computed even if the first is out of bounds; memory must not be accessed then.
    let program = h.compile(|xs: Acc<Vector<i32>>, a: Exp<i64>, b: Exp<i64>| {
        let n = xs.size();
        xs.backpermute(n, |i| i + a).map(|x| x + 1).backpermute(n, |i| i * b)
    })?;
    let xs: Vec<i32> = (0..100).collect();
    h.expect_failure(program.run((&xs, 0, 1_000_000_007)), &["out of bounds for length 100", file!()])?;
    h.expect_failure(program.run((&xs, 1 << 40, 1)), &["out of bounds for length 100", file!()])?;
    h.expect_failure(program.run((&xs, -1, 1)), &["index -1 out of bounds for length 100", file!()])?;
    program.check((&xs, 0, 1), &(1..101).collect::<Vec<i32>>())
}

pub fn nothing_fails_where_nothing_is_computed(h: &Harness) -> Outcome {
    let program =
        |xs: Acc<Vector<i32>>, n: Exp<i64>| xs.backpermute(n, |i| i + 1000).map(|x| 1 / (x - x.max(x)));
    h.check(program, (&[1, 2], 0), &[])?;
    let fold = |xs: Acc<Vector<i32>>, rows: Exp<i64>| xs.backpermute((rows, 0), |(i, j)| i - j - 1).sum();
    h.check(fold, (&[1, 2], 3), &[0, 0, 0])
}

pub fn divisions_by_zero(h: &Harness) -> Outcome {
    macro_rules! divisions {
        ($($t:ident),*) => { $({
            let line = Cell::new(0);
            let program = |xs: Acc<Vector<$t>>, ys: Acc<Vector<$t>>| {
                // In a macro, this line and the next are the macro's.
                line.set(line!());
                xs.zip_with(ys, |x, y| x / y)
            };
            let program = h.compile(program)?;
            let mut ys: Vec<$t> = (1..=5000).collect();
            let xs = ys.clone();
            program.check((&xs, &ys), &vec![1; 5000])?;
            for bad in [0, 255, 4999] {
                let good = std::mem::replace(&mut ys[bad], 0);
                let message = format!("integer division by zero in division at {}:{}", file!(), line.get());
                h.expect_failure(program.run((&xs, &ys)), &[message.as_str()])?;
                ys[bad] = good;
            }
            let remainder = |x: Exp<$t>, y: Exp<$t>| unit(x % y);
            h.expect_error(remainder, (5, 0), &["integer division by zero in remainder at", file!()])?;
            h.check(remainder, (5, 3), &[2])?;
        })* };
    }
    divisions!(i32, i64, u32, u64);
    // Division of floats by zero is valid.
    h.check(|x: Exp<f32>, y: Exp<f32>| unit((x / y, x % y)), (1.0, 0.0), &[(f32::INFINITY, f32::NAN)])
}

pub fn divisions_by_zero_in_loops_and_folds(h: &Harness) -> Outcome {
    let message: &[&str] = &["integer division by zero in division at", file!()];
    let program = h.compile(|xs: Acc<Vector<i32>>| {
        xs.map(|x| while_((x, constant(3i32)), |(_, n)| n.ge(0), |(x, n)| (x + 12 / (n + x), n - 1)).0)
    })?;
    let plain = |x: i32| (0..=3).rev().fold(x, |x, n| x + 12 / (n + x));
    program.check(&[100, 7, 50], &[plain(100), plain(7), plain(50)])?;
    h.expect_failure(program.run(&[100, -3, 50]), message)?;
    let program = h.compile(|m: Acc<Matrix<i64>>| m.map(|x| 100 / x).sum().map(|x| 1000 / x))?;
    let matrix = |elements: Vec<i64>| Matrix::from_vec([2, 3], elements).map_err(|error| error.to_string());
    program.check(&matrix(vec![1, 2, 4, 5, 10, 20])?, &[1000 / 175, 1000 / 35])?;
    h.expect_failure(program.run(&matrix(vec![1, 2, 4, 5, 0, 20])?), message)?;
    h.expect_failure(program.run(&matrix(vec![1, -1, 200, 5, 10, 20])?), message)
}

pub fn divisions_by_a_constant_zero(h: &Harness) -> Outcome {
    let message: &[&str] = &["integer division by zero in division at", file!()];
    h.expect_error(|xs: Acc<Vector<i32>>| xs.map(|x| x / 0), &[1, 2], message)?;
    h.expect_error(|| unit(constant(1i64) / 0), (), message)?;
    h.expect_error(|x: Exp<u32>| unit(x / (x - x)), 3, message)?;
    // No failure if it is not reached.
    h.check(|xs: Acc<Vector<i32>>| xs.map(|x| cond(x.gt(100), || x / 0, || x)), &[1, 2], &[1, 2])
}

pub fn divisions_by_zero_in_shapes(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<i32>>, columns: Exp<i64>| {
        let n = xs.size();
        xs.reshape((n / columns, columns))
    };
    h.check(program, (&[1, 2, 3, 4], 2), &[1, 2, 3, 4])?;
    h.expect_error(program, (&[1, 2, 3, 4], 0), &["integer division by zero in division at", file!()])
}

pub fn a_failure_reaches_what_depends_on_it(h: &Harness) -> Outcome {
    let divide = h.compile(|xs: Acc<Vector<i32>>, by: Exp<i32>| xs.map(|x| x / by))?;
    let add = h.compile(|xs: Acc<Vector<i32>>, ys: Acc<Vector<i32>>| xs.zip_with(ys, |x, y| x + y))?;
    let total = h.compile(|xs: Acc<Vector<i32>>| xs.sum())?;
    let xs = [10, 20, 30];
    let (good, bad) = (divide.run((&xs, 10))?, divide.run((&xs, 0))?);
    let message: &[&str] = &["integer division by zero in division at", file!()];
    // Everything computed from the failed array reports the failure, directly or indirectly, and nothing else does.
    let near = add.run((&good, &bad));
    let far = near.clone().and_then(|near| total.run(&near));
    h.expect_failure(near, message)?;
    h.expect_failure(far, message)?;
    h.expect_failure(Ok(bad.clone()), message)?;
    h.expect_failure(Ok(bad), message)?;
    h.expect(&good, &[1, 2, 3], crate::Tolerance::Exact)?;
    h.expect(&add.run((&good, &good))?, &[2, 4, 6], crate::Tolerance::Exact)
}

pub fn the_next_run_works(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, by: Exp<i32>| xs.map(|x| x / by))?;
    for round in 1..6 {
        h.expect_failure(program.run((&[10, 20], 0)), &["integer division by zero"])?;
        program.check((&[10, 20], round), &[10 / round, 20 / round])?;
    }
    // A failure that is never read.
    for round in 1..6 {
        drop(program.run((&[10, 20], 0))?);
        program.check((&[10, 20], round), &[10 / round, 20 / round])?;
    }
    Ok(())
}

pub fn expressions_outside_their_function(h: &Harness) -> Outcome {
    let program = |xs: Acc<Vector<f32>>| {
        let kept: Cell<Option<Exp<f32>>> = Cell::new(None);
        let doubled = xs.map(|x| {
            kept.set(Some(x * 2.0));
            x + 1.0
        });
        doubled.map(|y| kept.get().map_or(y, |stale| y + stale))
    };
    let result = h.compile(program).and_then(|program| program.run(&[1.0]));
    match result {
        Err(message) if message.contains("outside the function") && message.contains(file!()) => Ok(()),
        Err(message) => Err(format!("another message: {message}")),
        Ok(_) => Err("a stale expression was accepted".into()),
    }
}

pub fn expressions_of_another_function(h: &Harness) -> Outcome {
    // A function inside a function: the outer one's parameter is not the inner one's.
    let program = |xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| {
        let kept: Cell<Option<Acc<Vector<f32>>>> = Cell::new(None);
        let first = xs.map(|x| {
            kept.set(Some(ys.map(|y| x - y)));
            x
        });
        kept.take().map_or(first.clone(), |second| second.zip_with(first, |a, b| a + b))
    };
    let result = h.compile(program).and_then(|program| program.run((&[1.0], &[2.0])));
    match result {
        Err(message)
            if message.contains("no array is computed for each element") && message.contains(file!()) =>
        {
            Ok(())
        }
        Err(message) => Err(format!("another message: {message}")),
        Ok(found) => Err(format!("a parameter of another function was accepted: {found}")),
    }
}
