//! Operations that compute each element independently.

use crate::data::{FEW_SIZES, SHAPES, SIZES, Sample, mix, values};
use crate::{Harness, Outcome};
use pumice::prelude::*;

fn copied<T: Sample>(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<T>>| xs.map(|x| x))?;
    for n in SIZES {
        let xs = values::<T>(1, n);
        program
            .check(&xs, &xs)
            .map_err(|message| format!("{n} elements of {}: {message}", std::any::type_name::<T>()))?;
    }
    Ok(())
}

pub fn every_type_is_copied(h: &Harness) -> Outcome {
    copied::<f32>(h)?;
    copied::<f64>(h)?;
    copied::<i32>(h)?;
    copied::<i64>(h)?;
    copied::<u32>(h)?;
    copied::<u64>(h)?;
    copied::<bool>(h)
}

pub fn maps_of_every_type(h: &Harness) -> Outcome {
    macro_rules! doubled {
        ($($t:ident $plain:expr;)*) => { $({
            let program = h.compile(|xs: Acc<Vector<$t>>| xs.map(|x| x + x - (1 as $t)))?;
            for n in SIZES {
                let xs = values::<$t>(2, n);
                let plain: fn($t) -> $t = $plain;
                let expected: Vec<$t> = xs.iter().map(|x| plain(*x)).collect();
                program.check(&xs, &expected).map_err(|m| format!("{n} of {}: {m}", stringify!($t)))?;
            }
        })* };
    }
    doubled! {
        f32 |x| x + x - 1.0;
        f64 |x| x + x - 1.0;
        i32 |x| x.wrapping_add(x).wrapping_sub(1);
        i64 |x| x.wrapping_add(x).wrapping_sub(1);
        u32 |x| x.wrapping_add(x).wrapping_sub(1);
        u64 |x| x.wrapping_add(x).wrapping_sub(1);
    }
    Ok(())
}

pub fn used_arrays(h: &Harness) -> Outcome {
    let matrix = Matrix::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6]).map_err(|error| error.to_string())?;
    let slice: &[i32] = &[10, 20, 30, 40, 50, 60];
    h.check(|| use_(slice).map(|x| x + 1), (), &[11, 21, 31, 41, 51, 61])?;
    h.check(|| use_(vec![1.5f64, 2.5]).map(|x| x * 2.0), (), &[3.0, 5.0])?;
    h.check(|| use_([true, false]).map(|x| !x), (), &[false, true])?;
    h.check(
        || use_(&matrix).zip_with(use_(slice).reshape((2, 3)), |a, b| a + b),
        (),
        &[11, 22, 33, 44, 55, 66],
    )?;
    h.check(|| use_(&[(1u32, 2.0f32)]).map(|(a, b)| (b, a)), (), &[(2.0, 1)])?;
    // An array constant beside an argument, and a used array as the result.
    let beside = |xs: Acc<Vector<i32>>| xs.zip_with(use_(slice), |x, y| x * y);
    h.check(beside, &[1, 0, -1, 2, 3, 4], &[10, 0, -30, 80, 150, 240])?;
    h.check(|| use_(slice), (), slice)?;
    let empty: &[f32] = &[];
    h.check(|| use_(empty).map(|x| x + 1.0), (), &[])
}

pub fn units(h: &Harness) -> Outcome {
    h.check(|| unit(42i32), (), &[42])?;
    h.check(|| unit((1.5f32, (true, -7i64))), (), &[(1.5, (true, -7))])?;
    h.check(|| unit(u64::MAX).map(|x| x - 1), (), &[u64::MAX - 1])?;
    h.check(|x: Exp<f64>| unit(x * 2.0), 1.25, &[2.5])?;
    h.check(|| unit(3i32).zip_with(unit(4i32), |a, b| a * a + b * b), (), &[25])
}

pub fn generated_in_every_rank(h: &Harness) -> Outcome {
    h.check(|| generate((), |()| constant(5i32)), (), &[5])?;
    for n in SIZES {
        let expected: Vec<i64> = (0..n as i64).map(|i| i * i - 3).collect();
        h.check(|| generate(n, |i| i * i - 3), (), &expected).map_err(|m| format!("{n} elements: {m}"))?;
    }
    for [rows, columns] in SHAPES {
        let program = h.compile(|| generate((rows, columns), |(i, j)| i * 1000 + j))?;
        let expected: Vec<i64> =
            (0..rows as i64).flat_map(|i| (0..columns as i64).map(move |j| i * 1000 + j)).collect();
        program
            .check_shaped((), [rows, columns], &expected)
            .map_err(|m| format!("{rows} × {columns}: {m}"))?;
    }
    for [a, b, c] in [[2, 3, 4], [7, 1, 100], [0, 3, 3], [5, 9, 33]] {
        let program = h.compile(|| generate((a, b, c), |(i, j, k)| (i * 10_000 + j * 100, k)))?;
        let mut expected = Vec::new();
        for i in 0..a as i64 {
            for j in 0..b as i64 {
                expected.extend((0..c as i64).map(|k| (i * 10_000 + j * 100, k)));
            }
        }
        program.check_shaped((), [a, b, c], &expected)?;
    }
    let program = h.compile(|| generate((3, 2, 5, 41), |(i, j, k, l)| ((i * 2 + j) * 5 + k) * 41 + l))?;
    program.check_shaped((), [3, 2, 5, 41], &(0..3 * 2 * 5 * 41).collect::<Vec<i64>>())
}

pub fn extents_from_scalar_arguments(h: &Harness) -> Outcome {
    let program = h.compile(|rows: Exp<i64>, columns: Exp<i64>| {
        generate((rows, columns * 2), |(i, j)| (i * columns + j).cast::<i32>())
    })?;
    for [rows, columns] in SHAPES {
        let mut expected = Vec::new();
        for i in 0..rows {
            expected.extend((0..2 * columns).map(|j| (i * columns + j) as i32));
        }
        program.check_shaped((rows as i64, columns as i64), [rows, 2 * columns], &expected)?;
    }
    Ok(())
}

pub fn options(h: &Harness) -> Outcome {
    copied::<Option<f32>>(h)?;
    copied::<Option<(bool, Option<i64>)>>(h)?;
    let mapped =
        h.compile(|xs: Acc<Vector<Option<i32>>>| xs.map(|x| x.filter(|x| x.ne(0)).map(|x| 1000 / x)))?;
    let zipped = h.compile(|xs: Acc<Vector<Option<i32>>>, ys: Acc<Vector<Option<f32>>>| {
        xs.zip_with(ys, |x, y| (x.zip(y), x.is_none(), y.unwrap_or(0.5)))
    })?;
    // The first value that is present: associative, but not commutative.
    let first = h.compile(|xs: Acc<Vector<Option<i32>>>| xs.fold(None, |a, b| a.or(b)))?;
    for n in SIZES {
        let (xs, ys) = (values::<Option<i32>>(21, n), values::<Option<f32>>(22, n));
        let quotients: Vec<_> = xs.iter().map(|x| x.filter(|x| *x != 0).map(|x| 1000 / x)).collect();
        mapped.check(&xs, &quotients).map_err(|m| format!("{n} mapped: {m}"))?;
        let both = |(x, y): (&Option<i32>, &Option<f32>)| (x.zip(*y), x.is_none(), y.unwrap_or(0.5));
        let pairs: Vec<_> = xs.iter().zip(&ys).map(both).collect();
        zipped.check((&xs, &ys), &pairs).map_err(|m| format!("{n} zipped: {m}"))?;
        first.check(&xs, &[xs.iter().flatten().next().copied()]).map_err(|m| format!("{n} folded: {m}"))?;
    }
    h.check(|| use_([Some(1u64), None]).map(|x| x.is_some()), (), &[true, false])
}

pub fn zips_of_two(h: &Harness) -> Outcome {
    let program =
        h.compile(|xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| xs.zip_with(ys, |x, y| 2.0 * x - y))?;
    for n in SIZES {
        let (xs, ys) = (values::<f32>(3, n), values::<f32>(4, n));
        let expected: Vec<f32> = xs.iter().zip(&ys).map(|(x, y)| 2.0 * x - y).collect();
        program.check((&xs, &ys), &expected).map_err(|m| format!("{n} elements: {m}"))?;
    }
    // Elements of different widths side by side.
    let program = h.compile(|xs: Acc<Matrix<f64>>, ys: Acc<Matrix<bool>>| {
        xs.zip_with(ys, |x, y| y.select(x, -x).cast::<i32>())
    })?;
    for [rows, columns] in SHAPES {
        let (xs, ys) = (values::<f64>(5, rows * columns), values::<bool>(6, rows * columns));
        let expected: Vec<i32> =
            xs.iter().zip(&ys).map(|(x, y)| if *y { *x as i32 } else { -*x as i32 }).collect();
        let xs = Matrix::from_vec([rows, columns], xs).map_err(|error| error.to_string())?;
        let ys = Matrix::from_vec([rows, columns], ys).map_err(|error| error.to_string())?;
        program.check_shaped((&xs, &ys), [rows, columns], &expected)?;
    }
    Ok(())
}

pub fn zips_of_three_and_four(h: &Harness) -> Outcome {
    let three = h.compile(|a: Acc<Vector<i32>>, b: Acc<Vector<u32>>, c: Acc<Vector<bool>>| {
        a.zip_with3(b, c, |a, b, c| c.select(a.cast::<i64>(), b.cast()))
    })?;
    let four =
        h.compile(|a: Acc<Vector<i32>>, b: Acc<Vector<u32>>, c: Acc<Vector<bool>>, d: Acc<Vector<f64>>| {
            a.zip_with4(b, c, d, |a, b, c, d| (c.select(a.cast::<f64>(), b.cast()) + d, a, c))
        })?;
    for n in FEW_SIZES {
        let (a, b, c, d) =
            (values::<i32>(7, n), values::<u32>(8, n), values::<bool>(9, n), values::<f64>(10, n));
        let chosen = |i: usize| if c[i] { i64::from(a[i]) } else { i64::from(b[i]) };
        three.check((&a, &b, &c), &(0..n).map(chosen).collect::<Vec<i64>>())?;
        let expected: Vec<(f64, i32, bool)> = (0..n).map(|i| (chosen(i) as f64 + d[i], a[i], c[i])).collect();
        four.check((&a, &b, &c, &d), &expected)?;
    }
    Ok(())
}

pub fn pairs(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<u64>>, ys: Acc<Vector<(f32, bool)>>| {
        xs.zip(ys).map(|(x, (y, flag))| ((flag, x), y))
    })?;
    for n in FEW_SIZES {
        let (xs, ys) = (values::<u64>(11, n), values::<(f32, bool)>(12, n));
        let expected: Vec<((bool, u64), f32)> =
            xs.iter().zip(&ys).map(|(x, (y, flag))| ((*flag, *x), *y)).collect();
        program.check((&xs, &ys), &expected)?;
    }
    Ok(())
}

type Eight = (f32, f64, i32, i64, u32, u64, bool, i32);

pub fn tuples_of_eight(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<Eight>>| {
        xs.map(|(a, b, c, d, e, f, g, i)| (i, !g, f + 1, e ^ 1, -d, c * 2, b / 4.0, a + 0.5))
    })?;
    for n in FEW_SIZES {
        let xs = values::<Eight>(13, n);
        let turn = |&(a, b, c, d, e, f, g, i): &Eight| {
            (i, !g, f.wrapping_add(1), e ^ 1, d.wrapping_neg(), c.wrapping_mul(2), b / 4.0, a + 0.5)
        };
        program.check(&xs, &xs.iter().map(turn).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn nested_tuples(h: &Harness) -> Outcome {
    type Nested = ((i32, (bool, f64)), (u32, (i64, (f32, u64))));
    let program = h.compile(|xs: Acc<Vector<Nested>>| {
        xs.map(|((a, (b, c)), (d, rest))| (rest, ((d, c), (b, (a + 1,)))))
    })?;
    for n in FEW_SIZES {
        let xs = values::<Nested>(14, n);
        let turn = |&((a, (b, c)), (d, rest)): &Nested| (rest, ((d, c), (b, (a.wrapping_add(1),))));
        program.check(&xs, &xs.iter().map(turn).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn arrays_of_truth_values(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<bool>>, ys: Acc<Vector<bool>>| {
        xs.zip_with(ys, |x, y| (x & y, x | y, x ^ y, !x, x.eq(y), x.ne(y)))
    })?;
    for n in SIZES {
        let (xs, ys) = (values::<bool>(15, n), values::<bool>(16, n));
        let both = |(x, y): (&bool, &bool)| (x & y, x | y, x ^ y, !x, x == y, x != y);
        program.check((&xs, &ys), &xs.iter().zip(&ys).map(both).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn scalar_arguments_of_every_type(h: &Harness) -> Outcome {
    let program = h.compile(
        |n: Exp<i64>,
         a: Exp<f32>,
         b: Exp<f64>,
         c: Exp<i32>,
         d: Exp<u32>,
         e: Exp<u64>,
         f: Exp<bool>,
         g: Exp<i64>| {
            generate(n, |i| (a, b + i.cast(), c + i.cast(), d, e + i.cast(), f ^ i.gt(2), g * i))
        },
    )?;
    for (n, flag) in [(5, false), (300, true)] {
        let (c, d, e, g) = (i32::MAX, u32::MAX, u64::MAX - 1, i64::MIN + 3);
        let expected: Vec<_> = (0..n)
            .map(|i| {
                let (small, whole) = (i as i32, i as u64);
                let shifted = (c.wrapping_add(small), d, e.wrapping_add(whole));
                (1.5f32, 2.5 + i as f64, shifted.0, shifted.1, shifted.2, flag ^ (i > 2), g.wrapping_mul(i))
            })
            .collect();
        program.check((n, 1.5, 2.5, c, d, e, flag, g), &expected)?;
    }
    Ok(())
}

pub fn shapes_inside_functions(h: &Harness) -> Outcome {
    let program = h.compile(|m: Acc<Matrix<i32>>, v: Acc<Vector<f32>>| {
        let ((rows, columns), size, length) = (m.shape(), m.size(), v.size());
        m.map(|x| (x.cast::<i64>() * rows + columns, size - length))
    })?;
    for ([rows, columns], length) in [([3, 5], 7), ([1, 300], 0), ([100, 41], 5000), ([0, 4], 1)] {
        let xs = values::<i32>(17, rows * columns);
        let size = (rows * columns) as i64 - length as i64;
        let expected: Vec<(i64, i64)> =
            xs.iter().map(|x| (i64::from(*x) * rows as i64 + columns as i64, size)).collect();
        let m = Matrix::from_vec([rows, columns], xs).map_err(|error| error.to_string())?;
        program.check((&m, &values::<f32>(18, length)), &expected)?;
    }
    Ok(())
}

pub fn a_long_chain_of_maps(h: &Harness) -> Outcome {
    let program = h.compile(|mut xs: Acc<Vector<u32>>| {
        for k in 0..100u32 {
            xs = xs.map(|x| (x ^ k) * 3 + (x >> 7));
        }
        xs
    })?;
    for n in FEW_SIZES {
        let xs = values::<u32>(19, n);
        let chain = |x: &u32| (0..100u32).fold(*x, |x, k| (x ^ k).wrapping_mul(3).wrapping_add(x >> 7));
        program.check(&xs, &xs.iter().map(chain).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn values_beyond_32_bits_from_indices(h: &Harness) -> Outcome {
    let program = h.compile(|n: Exp<i64>| {
        generate(n, |i| {
            let far = i * 3_000_000_000 + 7;
            (
                far,
                i * i * i * i,
                (i << 40) % 1_000_003,
                (far - 8).cast::<i32>(),
                (0 - far) / 3,
                far.gt(4_294_967_296),
            )
        })
    })?;
    for n in [0, 1, 3, 257, 5000] {
        let one = |i: i64| {
            let far = i * 3_000_000_000 + 7;
            (far, i * i * i * i, (i << 40) % 1_000_003, (far - 8) as i32, -far / 3, far > 4_294_967_296)
        };
        program.check(n, &(0..n).map(one).collect::<Vec<_>>())?;
    }
    // Near the limits of 32 bits, from both sides.
    let program = h.compile(|n: Exp<i64>, offset: Exp<i64>| {
        generate(n, |i| (i + 2_147_483_640, i - 2_147_483_650, i * 536_870_912, (i + offset) * 2, offset - i))
    })?;
    for offset in [0, 1_073_741_823, i64::from(i32::MAX), i64::MAX - 20, i64::MIN] {
        let one = |i: i64| {
            let doubled = i.wrapping_add(offset).wrapping_mul(2);
            (i + 2_147_483_640, i - 2_147_483_650, i * 536_870_912, doubled, offset.wrapping_sub(i))
        };
        program.check((20, offset), &(0..20).map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn values_beyond_32_bits_from_memory(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i64>>, ys: Acc<Vector<u64>>| {
        xs.zip_with(ys, |x, y| (x + 1, x * 2, x / 3, x % 1000, y + 1, y / 3, y >> 5, x.lt(1 << 33)))
    })?;
    for n in FEW_SIZES {
        let xs: Vec<i64> = (0..n as u64).map(|i| mix(i) as i64).collect();
        let ys: Vec<u64> = (0..n as u64).map(|i| mix(i + 9)).collect();
        let one = |(&x, &y): (&i64, &u64)| {
            let sums = (x.wrapping_add(1), x.wrapping_mul(2), y.wrapping_add(1));
            (sums.0, sums.1, x / 3, x % 1000, sums.2, y / 3, y >> 5, x < 1 << 33)
        };
        program.check((&xs, &ys), &xs.iter().zip(&ys).map(one).collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn an_argument_as_the_result(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<(i32, f32)>>, _: Acc<Vector<bool>>, _: Exp<f32>| xs)?;
    for n in FEW_SIZES {
        let xs = values::<(i32, f32)>(20, n);
        program.check((&xs, &[true], 1.0), &xs)?;
    }
    Ok(())
}

pub fn zips_of_up_to_nine(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<i32>>, ys: Acc<Vector<f64>>| {
        let (a, b, c) = (xs.clone().map(|x| x + 1), xs.clone().map(|x| x + 2), xs.clone().map(|x| x.gt(0)));
        let five = xs.clone().zip_with5(a.clone(), b.clone(), c.clone(), ys.clone(), |x, a, b, c, y| {
            (c.select(x + a * b, x), y)
        });
        xs.clone().zip_with9(
            a,
            b.clone(),
            c,
            ys.clone(),
            five,
            xs.clone(),
            b,
            ys,
            |x, a, b, c, y, (five, z), w, v, u| (x + a + b + five + w + v, c, y + z + u),
        )
    })?;
    for n in FEW_SIZES {
        let (xs, ys) = (values::<i32>(110, n), values::<f64>(111, n));
        let expected = xs.iter().zip(&ys).map(|(x, y)| {
            let (a, b, c) = (x.wrapping_add(1), x.wrapping_add(2), *x > 0);
            let five = if c { x.wrapping_add(a.wrapping_mul(b)) } else { *x };
            let sum = [a, b, five, *x, b].iter().fold(*x, |sum, x| sum.wrapping_add(*x));
            (sum, c, y + y + y)
        });
        program.check((&xs, &ys), &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn indices_and_parts(h: &Harness) -> Outcome {
    let m = Matrix::from_vec([2, 2], vec![(1i32, true), (2, false), (3, true), (4, false)]);
    let m = m.map_err(|error| error.to_string())?;
    let program = |m: Acc<Matrix<(i32, bool)>>| {
        let (numbers, flags) = m.unzip();
        let indexed = numbers.imap(|(i, j), x| x.cast::<i64>() + 10 * i + 100 * j);
        indexed.zip(flags.indexed().map(|((i, j), flag)| flag.select(i, j)))
    };
    h.check(program, &m, &[(1, 0), (102, 1), (13, 1), (114, 1)])
}

pub fn made_of_numbers(h: &Harness) -> Outcome {
    h.check(|n: Exp<i64>| fill((2, n), (1.5f32, true)), 2, &[(1.5, true); 4])?;
    h.check(|| fill(0, 1i32), (), &[])?;
    h.check(|| enum_from((2, 3), 1.0f32, 0.5), (), &[1.0, 1.5, 2.0, 2.5, 3.0, 3.5])?;
    h.check(|start: Exp<i32>| enum_from(4, start, -3), 10, &[10, 7, 4, 1])?;
    let table = || {
        let (x, y) = pumice::meshgrid(use_(&[1, 2, 3]), use_(&[10, 20]));
        x.zip_with(y, |x, y| x + y)
    };
    h.check(table, (), &[11, 12, 13, 21, 22, 23])
}

/// Random numbers have the same bits on every device, and those that another implementation of the published algorithm gives.
pub fn random_numbers(h: &Harness) -> Outcome {
    use pumice::random::{integers, normal, uniform};
    h.check(|seed: Exp<u64>| uniform::<u32, _>(3, seed), 42, &[2012563771, 1404726525, 2827443659])?;
    let floats = |n: Exp<i64>| uniform::<f32, _>((n, 2), 7u64).zip(normal::<f32, _>((n, 2), 8u64));
    let doubles = |n: Exp<i64>| uniform::<f64, _>(n, 9u64).zip(normal::<f64, _>(n, 10u64));
    let found = h.run(floats, 2)?;
    // The last of them is in a tail of the normal distribution.
    let wide = h.run(doubles, 135)?;
    let range = h.run(|low: Exp<i64>| integers(1000, 11u64, low, 5), -5)?;
    h.check(|| integers(3, 1u64, 9i32, 9), (), &[9; 3])?;
    if h.is_planning() {
        return Ok(());
    }
    let bits = |(x, y): (f32, f32)| (x.to_bits(), y.to_bits());
    let found: Vec<_> = found.to_vec().map_err(|error| error.to_string())?.into_iter().map(bits).collect();
    let wide: Vec<_> = wide
        .to_vec()
        .map_err(|error| error.to_string())?
        .iter()
        .map(|(x, y)| (x.to_bits(), y.to_bits()))
        .collect();
    let expected = [
        (1061161465, 1057906097),
        (1061918652, 3195044783),
        (1007320768, 3210739123),
        (1048580310, 1068709020),
    ];
    let expected_wide: [(u64, u64); 4] = [
        (4602987093430038856, 4597870879565122882),
        (4602573487685204856, 4593393698742048635),
        (4602879294470310028, 4607872212161399229),
        (4603893057437499980, 4613453367013854421),
    ];
    if found != expected || [&wide[..3], &wide[134..]].concat() != expected_wide {
        return Err(format!("{found:?}, {wide:?}"));
    }
    let range = range.to_vec().map_err(|error| error.to_string())?;
    match (-5..5).all(|number| range.iter().filter(|x| **x == number).count() > 50) {
        true => Ok(()),
        false => Err(format!("not all numbers are equally likely: {range:?}")),
    }
}
