//! Elements of 8 and 16 bits, and characters: every operation at the edges, and the skeletons over them.

use crate::data::{Sample, values};
use crate::{Harness, Outcome, Tolerance};
use pumice::layers::array::{ArrayData, HostData};
use pumice::layers::scalar::{Constant, Op, ScalarType, Term};
use pumice::prelude::*;
use pumice::{Number, bf16, f16};
use std::sync::Arc;

const SIZES: [usize; 5] = [0, 1, 333, 4099, 20_001];

const INTEGERS: [ScalarType; 4] = [ScalarType::I8, ScalarType::I16, ScalarType::U8, ScalarType::U16];
const HALVES: [ScalarType; 2] = [ScalarType::F16, ScalarType::BF16];

/// Returns values at the limits of a type, of other types, and midway between floats.
fn edges(ty: ScalarType) -> Vec<Constant> {
    if ty.is_float() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            -2.5,
            127.5,
            -128.9,
            255.0,
            256.0,
            300.7,
            32767.6,
            65504.0,
            65519.0,
            65520.0,
            -70000.0,
            2049.0,
            2051.0,
            257.0,
            1.00048828125,
            1.0009765625,
            6e-8,
            3e-8,
            2.9e-8,
            6.1e-5,
            1e-40,
            3.39e38,
            3.4e38,
            1e10,
            9.3e18,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        return numbers.iter().map(|value| Constant::from_float(ty, *value)).collect();
    }
    let (low, high) = ty.range();
    let mut numbers =
        vec![0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 100, 127, 128, 255, 256, 257, 259, 2049, 2051, 65519, 65520];
    numbers.extend([-1, -2, -7, -8, -100, -129, low, low + 1, high, high - 1, high / 2 + 1]);
    numbers.extend([(1 << 30) + (1 << 22), (1 << 30) + (1 << 22) + 1, (1 << 60) + (1 << 52) + 1]);
    numbers.retain(|value| (low..=high).contains(value));
    numbers.into_iter().map(|value| Constant::from_integer(ty, value)).collect()
}

fn column(ty: ScalarType, values: impl Iterator<Item = Constant>) -> (ScalarType, Vec<u8>) {
    (ty, values.flat_map(Constant::to_bytes).collect())
}

fn input(count: usize, columns: Vec<(ScalarType, Vec<u8>)>) -> Arc<dyn ArrayData> {
    let (types, columns) = columns.into_iter().unzip();
    Arc::new(HostData::new(vec![count], types, columns))
}

/// Computes operations on every pair of edge values, and a third value.
fn operations(h: &Harness, ty: ScalarType, tolerance: Tolerance, ops: &[Op]) -> Outcome {
    let some = edges(ty);
    let rows: Vec<[Constant; 3]> = (0..some.len() * some.len())
        .map(|k| [some[k % some.len()], some[k / some.len()], some[(k * 7 + k / 5) % some.len()]])
        .collect();
    let result = |op: Op| if op.compares() { ScalarType::Bool } else { ty };
    let fits = |op: &Op| op.accepts(result(*op), &vec![ty; op.arity()]);
    let ops: Vec<Op> = ops.iter().copied().filter(fits).collect();
    let names: Vec<&str> = ops.iter().map(|op| op.name()).collect();
    let input = input(rows.len(), (0..3).map(|k| column(ty, rows.iter().map(|row| row[k]))).collect());
    let expressions = |terms: &[Term]| -> Vec<Term> {
        ops.iter().map(|op| Term::apply(*op, result(*op), &terms[..op.arity()])).collect()
    };
    let expected: Vec<Constant> = rows
        .iter()
        .flat_map(|row| ops.iter().map(|op| op.evaluate(result(*op), &row[..op.arity()])))
        .collect();
    h.check_table(&input, &expressions, &expected, tolerance, &names)
        .map_err(|message| format!("{ty}: {message}"))
}

fn exact() -> Vec<Op> {
    let others = [Op::Select, Op::Cast, Op::Bitcast];
    Op::ALL.iter().copied().filter(|op| !op.is_approximate() && !others.contains(op)).collect()
}

pub fn operations_on_integers(h: &Harness) -> Outcome {
    INTEGERS.into_iter().try_for_each(|ty| operations(h, ty, Tolerance::Exact, &exact()))
}

pub fn operations_on_halves(h: &Harness) -> Outcome {
    HALVES.into_iter().try_for_each(|ty| operations(h, ty, Tolerance::Exact, &exact()))
}

pub fn functions_of_halves(h: &Harness) -> Outcome {
    let vague: Vec<Op> = Op::ALL.iter().copied().filter(|op| op.is_approximate()).collect();
    HALVES.into_iter().try_for_each(|ty| operations(h, ty, Tolerance::Ulps(1), &vague))
}

pub fn conversions_between_all_types(h: &Harness) -> Outcome {
    for from in ScalarType::ALL {
        let values = edges(from);
        let input = input(values.len(), vec![column(from, values.iter().copied())]);
        let expressions =
            |terms: &[Term]| -> Vec<Term> { ScalarType::ALL.iter().map(|to| terms[0].cast(*to)).collect() };
        let expected: Vec<Constant> = values
            .iter()
            .flat_map(|value| ScalarType::ALL.map(|to| Op::Cast.evaluate(to, &[*value])))
            .collect();
        let names = ScalarType::ALL.map(ScalarType::name);
        h.check_table(&input, &expressions, &expected, Tolerance::Exact, &names)
            .map_err(|message| format!("from {from}: {message}"))?;
    }
    Ok(())
}

fn copied<T: Sample>(h: &Harness) -> Outcome {
    let same = h.compile(|xs: Acc<Vector<T>>| xs.map(|x| x))?;
    let turned = h.compile(|xs: Acc<Vector<T>>| xs.reverse())?;
    for n in SIZES {
        let xs = values::<T>(1, n);
        same.check(&xs, &xs)?;
        turned.check(&xs, &xs.iter().rev().copied().collect::<Vec<T>>())?;
    }
    Ok(())
}

pub fn copied_and_mapped(h: &Harness) -> Outcome {
    copied::<i8>(h)?;
    copied::<u16>(h)?;
    copied::<f16>(h)?;
    copied::<(u8, (bf16, i16))>(h)?;
    copied::<Option<u8>>(h)?;
    let program =
        h.compile(|xs: Acc<Vector<u8>>, ys: Acc<Vector<u8>>| xs.zip_with(ys, |x, y| x / 2 + y / 2))?;
    for n in SIZES {
        let (xs, ys) = (values::<u8>(2, n), values::<u8>(3, n));
        let expected: Vec<u8> = xs.iter().zip(&ys).map(|(x, y)| x / 2 + y / 2).collect();
        program.check((&xs, &ys), &expected)?;
    }
    Ok(())
}

fn sums<T: Sample + Number>(h: &Harness, add: impl Fn(T, T) -> T) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<T>>| xs.sum())?;
    for n in SIZES {
        let xs = values::<T>(4, n);
        program.check(&xs, &[xs.iter().fold(T::default(), |sum, x| add(sum, *x))])?;
    }
    Ok(())
}

pub fn sums_that_wrap_and_that_do_not(h: &Harness) -> Outcome {
    sums::<u8>(h, u8::wrapping_add)?;
    sums::<i8>(h, i8::wrapping_add)?;
    sums::<i16>(h, i16::wrapping_add)?;
    let program = h.compile(|xs: Acc<Vector<u8>>| xs.sum_as::<u32, _>())?;
    let floats = h.compile(|xs: Acc<Vector<f16>>| xs.sum_as::<f32, _>())?;
    let product = h.compile(|xs: Acc<Vector<u16>>| xs.product())?;
    for n in SIZES {
        let (xs, ys, zs) = (values::<u8>(5, n), values::<f16>(6, n), values::<u16>(7, n));
        program.check(&xs, &[xs.iter().map(|x| u32::from(*x)).sum::<u32>()])?;
        floats.check(&ys, &[ys.iter().map(|y| y.to_f32()).sum::<f32>() + 0.0])?;
        // Odd numbers, whose product does not soon become zero.
        let zs: Vec<u16> = zs.iter().map(|z| z | 1).collect();
        product.check(&zs, &[zs.iter().fold(1, |product: u16, z| product.wrapping_mul(*z))])?;
    }
    Ok(())
}

pub fn extrema_of_halves(h: &Harness) -> Outcome {
    let least = h.compile(|xs: Acc<Vector<f16>>| xs.fold(f16::INFINITY, |a, b| a.min(b)))?;
    let most = h.compile(|xs: Acc<Vector<bf16>>| xs.fold(bf16::NEG_INFINITY, |a, b| a.max(b)))?;
    for n in SIZES {
        let mut xs = values::<f16>(8, n);
        let mut ys = values::<bf16>(9, n);
        for k in (0..n).step_by(7) {
            (xs[k], ys[k]) = (f16::NAN, bf16::NAN);
        }
        let numbers = xs.iter().filter(|x| !x.is_nan()).map(|x| x.to_f32());
        least.check(&xs, &[f16::from_f32(numbers.fold(f32::INFINITY, f32::min))])?;
        let numbers = ys.iter().filter(|y| !y.is_nan()).map(|y| y.to_f32());
        most.check(&ys, &[bf16::from_f32(numbers.fold(f32::NEG_INFINITY, f32::max))])?;
    }
    Ok(())
}

fn scans<T: Sample + Number>(h: &Harness, add: impl Fn(T, T) -> T) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<T>>| xs.scanl1(|a, b| a + b))?;
    for n in SIZES {
        let xs = values::<T>(10, n);
        let mut sum = None;
        let expected: Vec<T> = xs
            .iter()
            .map(|x| {
                let next = sum.map_or(*x, |sum| add(sum, *x));
                sum = Some(next);
                next
            })
            .collect();
        program.check(&xs, &expected)?;
    }
    Ok(())
}

pub fn running_sums(h: &Harness) -> Outcome {
    scans::<u8>(h, u8::wrapping_add)?;
    scans::<i16>(h, i16::wrapping_add)?;
    // Running sums of `f16` soon become inexact; the largest element so far does not.
    let program = h.compile(|xs: Acc<Vector<f16>>| xs.scanl1(|a, b| a.max(b)))?;
    for n in SIZES {
        let xs = values::<f16>(11, n);
        let mut most = f16::NEG_INFINITY;
        let expected: Vec<f16> = xs
            .iter()
            .map(|x| {
                most = if *x > most { *x } else { most };
                most
            })
            .collect();
        program.check(&xs, &expected)?;
    }
    Ok(())
}

fn sorted<T: Sample>(h: &Harness, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<T>>| xs.sort())?;
    for n in SIZES {
        let xs = values::<T>(12, n);
        let mut expected = xs.clone();
        expected.sort_by(&order);
        program.check(&xs, &expected)?;
    }
    Ok(())
}

pub fn sorts(h: &Harness) -> Outcome {
    sorted::<u8>(h, u8::cmp)?;
    sorted::<i8>(h, i8::cmp)?;
    sorted::<i16>(h, i16::cmp)?;
    sorted::<f16>(h, f16::total_cmp)?;
    let falling = h.compile(|xs: Acc<Vector<bf16>>| xs.sort_descending())?;
    let xs = [1.0, f32::NAN, -0.0, 0.0, f32::INFINITY, -2.0].map(bf16::from_f32);
    let expected = [f32::INFINITY, 1.0, 0.0, -0.0, -2.0, f32::NAN].map(bf16::from_f32);
    falling.check(&xs, &expected)
}

pub fn combined_at_an_index(h: &Harness) -> Outcome {
    macro_rules! by_key {
        ($($t:ident $name:literal $bins:literal $f:expr, $plain:expr;)*) => { $({
            let program = h.compile(|xs: Acc<Vector<(u32, $t)>>, defaults: Acc<Vector<$t>>| {
                xs.map(|(key, x)| ((key % $bins).cast::<i64>(), x)).permute_pairs($f, defaults)
            })?;
            let plain: fn($t, $t) -> $t = $plain;
            for n in SIZES {
                let (xs, defaults) = (values::<(u32, $t)>(13, n), values::<$t>(14, $bins));
                let mut expected = defaults.clone();
                for (key, x) in &xs {
                    let target = &mut expected[*key as usize % $bins];
                    *target = plain(*x, *target);
                }
                program.check((&xs, &defaults), &expected).map_err(|m| format!("{n}, {}: {m}", $name))?;
            }
        })* };
    }
    by_key! {
        u8 "sum of u8" 7 |a, b| a + b, u8::wrapping_add;
        u8 "sum of u8, many bins" 30_001 |a, b| a + b, u8::wrapping_add;
        i16 "least of i16" 50 |a, b| a.min(b), Ord::min;
        i8 "product of i8" 50 |a, b| a * b, i8::wrapping_mul;
        u16 "bits of u16" 3 |a, b| a ^ b, |a, b| a ^ b;
        f16 "largest f16" 50 |a, b| a.max(b), f16::max;
    }
    let program = h.compile(|xs: Acc<Vector<u8>>| xs.histogram(256, |x| x.cast::<i64>()))?;
    for n in SIZES {
        let xs = values::<u8>(15, n);
        let mut expected = vec![0u32; 256];
        xs.iter().for_each(|x| expected[usize::from(*x)] += 1);
        program.check(&xs, &expected)?;
    }
    Ok(())
}

fn kept<T: Sample + Number + PartialOrd>(h: &Harness, least: T) -> Outcome {
    let program = h.compile(move |xs: Acc<Vector<T>>| xs.filter(move |x| x.ge(least)))?;
    for n in SIZES {
        let xs = values::<T>(16, n);
        program.check(&xs, &xs.iter().copied().filter(|x| *x >= least).collect::<Vec<T>>())?;
    }
    Ok(())
}

pub fn filters(h: &Harness) -> Outcome {
    kept::<u8>(h, 100)?;
    kept::<i16>(h, -3)?;
    kept::<f16>(h, f16::from_f32(2.5))
}

/// Rows that are and are not aligned for wide accesses.
pub fn matrices(h: &Harness) -> Outcome {
    let sums = h.compile(|m: Acc<Matrix<u8>>| m.sum_as::<u32, _>())?;
    let turned = h.compile(|m: Acc<Matrix<u8>>| m.transpose().map(|x| x + 1))?;
    for [rows, columns] in [[0, 5], [1, 1], [33, 65], [70, 48], [300, 8], [5, 4096], [64, 1000]] {
        let elements = values::<u8>(17, rows * columns);
        let m = Matrix::from_slice([rows, columns], &elements).map_err(|error| error.to_string())?;
        let row = |row: usize| elements[row * columns..][..columns].iter().map(|x| u32::from(*x)).sum();
        sums.check(&m, &(0..rows).map(row).collect::<Vec<u32>>())?;
        let expected: Vec<u8> =
            (0..rows * columns).map(|k| elements[k % rows * columns + k / rows].wrapping_add(1)).collect();
        turned.check(&m, &expected)?;
    }
    Ok(())
}

pub fn characters(h: &Harness) -> Outcome {
    let capital = h.compile(|xs: Acc<Vector<char>>| xs.map(|c| c.to_ascii_uppercase()))?;
    let words =
        h.compile(|xs: Acc<Vector<char>>| xs.filter(|c| !c.is_ascii_whitespace() & c.lt('\u{200}')))?;
    let numbers = h.compile(|xs: Acc<Vector<u8>>| xs.map(|x| x.cast::<char>()))?;
    for n in SIZES {
        let xs = values::<char>(18, n);
        capital.check(&xs, &xs.iter().map(char::to_ascii_uppercase).collect::<Vec<char>>())?;
        let kept = |c: &char| !c.is_ascii_whitespace() && *c < '\u{200}';
        words.check(&xs, &xs.iter().copied().filter(kept).collect::<Vec<char>>())?;
        let bytes = values::<u8>(19, n);
        numbers.check(&bytes, &bytes.iter().map(|x| char::from(*x)).collect::<Vec<char>>())?;
    }
    let sorted = h.compile(|xs: Acc<Vector<char>>| xs.sort())?;
    sorted.check(&['z', 'ä', 'A', '😀'], &['A', 'z', 'ä', '😀'])
}
