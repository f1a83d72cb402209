//! Accuracy of the mathematical functions: every device, without `fast_math`, keeps to [`Op::max_ulps`].
//!
//! Functions of `f32` are compared with those of `f64`, rounded; functions of `f64` with tables that were computed in more
//! precision (`accuracy/table.py`). The reference is the exact result rounded to the type, so an error of up to half
//! a unit more than promised can go unnoticed. Zeros must have the right sign.

use crate::data::{floats, mix};
use crate::harness::ordered;
use crate::{Harness, Outcome};
use pumice::layers::scalar::{Constant, Op, ScalarType, Term};
use pumice::prelude::*;

/// The functions of one number, in the order of their table.
const ONE: [Op; 25] = [
    Op::Exp,
    Op::Exp2,
    Op::Log,
    Op::Log2,
    Op::Log10,
    Op::Sin,
    Op::Cos,
    Op::Tan,
    Op::Asin,
    Op::Acos,
    Op::Atan,
    Op::Sinh,
    Op::Cosh,
    Op::Tanh,
    Op::Cbrt,
    Op::Exp10,
    Op::ExpM1,
    Op::Ln1p,
    Op::Asinh,
    Op::Acosh,
    Op::Atanh,
    Op::Erf,
    Op::Erfc,
    Op::Gamma,
    Op::LnGamma,
];

/// The functions of two numbers, in the order of their table.
const TWO: [Op; 3] = [Op::Pow, Op::Atan2, Op::Hypot];

/// Tables of functions of doubles with their exact results, rounded.
const TABLE_OF_ONE: &str = include_str!("accuracy/one.txt");
const TABLE_OF_TWO: &str = include_str!("accuracy/two.txt");

/// Arguments, and the expected result of each function.
struct Row {
    arguments: Vec<Constant>,
    results: Vec<Constant>,
}

/// Reads a table of doubles.
fn rows(table: &str, arity: usize) -> Result<Vec<Row>, String> {
    let number = |word: &str| match word {
        "nan" => Ok(f64::NAN.into()),
        word => u64::from_str_radix(word, 16)
            .map(|bits| Constant::from(f64::from_bits(bits)))
            .map_err(|error| format!("{word}: {error}")),
    };
    let row = |line: &str| {
        let mut numbers = line.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
        let results = numbers.split_off(arity.min(numbers.len()));
        Ok(Row { arguments: numbers, results })
    };
    table.lines().skip(1).map(row).collect()
}

/// Computes the expected results of functions of `f32`, through those of `f64`.
fn rows_of_f32(ops: &[Op], arguments: impl IntoIterator<Item = Vec<f32>>) -> Vec<Row> {
    let row = |arguments: Vec<f32>| {
        let wide: Vec<Constant> = arguments.iter().map(|&x| f64::from(x).into()).collect();
        let result = |op: &Op| Op::Cast.evaluate(ScalarType::F32, &[op.evaluate(ScalarType::F64, &wide)]);
        Row {
            results: ops.iter().map(result).collect(),
            arguments: arguments.into_iter().map(Constant::from).collect(),
        }
    };
    arguments.into_iter().map(row).collect()
}

/// Returns the units in the last place between a result and the exact one: 0 if both are NaN, and the maximum if only one is, or
/// if zeros differ in sign.
fn distance(found: Constant, exact: Constant) -> u64 {
    let (f, e) = (found.as_float().unwrap_or(f64::NAN), exact.as_float().unwrap_or(f64::NAN));
    let signs_differ = f == 0.0 && e == 0.0 && f.is_sign_negative() != e.is_sign_negative();
    match (f.is_nan(), e.is_nan()) {
        (true, true) => 0,
        (false, false) if !signs_differ => ordered(found).abs_diff(ordered(exact)),
        _ => u64::MAX,
    }
}

/// Computes every function for every row and compares the results.
fn check(h: &Harness, ops: &[Op], ty: ScalarType, rows: &[Row]) -> Outcome {
    let arity = ops[0].arity();
    let column = |k: usize| rows.iter().map(move |row| row.arguments[k]);
    let double = |constant: Constant| constant.as_float().unwrap_or(f64::NAN);
    let single = |constant: Constant| double(constant) as f32;
    let data = match (ty, arity) {
        (ScalarType::F32, 1) => Vector::from(&*column(0).map(single).collect::<Vec<f32>>()).data().clone(),
        (_, 1) => Vector::from(&*column(0).map(double).collect::<Vec<f64>>()).data().clone(),
        (ScalarType::F32, _) => {
            let pairs: Vec<(f32, f32)> = column(0).map(single).zip(column(1).map(single)).collect();
            Vector::from(&*pairs).data().clone()
        }
        _ => {
            let pairs: Vec<(f64, f64)> = column(0).map(double).zip(column(1).map(double)).collect();
            Vector::from(&*pairs).data().clone()
        }
    };
    let apply = |terms: &[Term]| ops.iter().map(|&op| Term::apply(op, ty, terms)).collect();
    let Some(found) = h.run_table(&data, &apply)? else { return Ok(()) };
    let mut worst: Vec<(u64, String)> = vec![(0, String::new()); ops.len()];
    let mut wrong = false;
    for (row, found) in rows.iter().zip(found.chunks(ops.len())) {
        for (k, (&op, (&found, &exact))) in ops.iter().zip(found.iter().zip(&row.results)).enumerate() {
            // The sign of the zero that gamma gives on underflow is unspecified.
            let zeros = found.as_float() == Some(0.0) && exact.as_float() == Some(0.0);
            let distance = if op == Op::Gamma && zeros { 0 } else { distance(found, exact) };
            let most = op.max_ulps_at(ty, double(row.arguments[0]));
            if distance > most.into() {
                wrong = true;
                if distance > worst[k].0 {
                    let message = format!(
                        "{} of {:?} is {found:?}, exactly {exact:?}: {distance} units instead of {most}",
                        op.name(),
                        row.arguments
                    );
                    worst[k] = (distance, message);
                }
            }
        }
    }
    if !wrong {
        return Ok(());
    }
    let messages: Vec<String> =
        worst.into_iter().filter(|(d, _)| *d > 0).map(|(_, message)| message).collect();
    Err(messages.join("; "))
}

/// Returns numbers of every magnitude, and those at which functions are hard to compute.
fn arguments_of_f32() -> Vec<f32> {
    let mut all =
        vec![0.0, 1e-45, 1e-40, f32::MIN_POSITIVE, 1e-10, 0.5, 1.0, 2.0, 10.0, 1e10, f32::MAX, f32::INFINITY];
    // The limits of exp, exp2, sinh and tanh, of exp10, erfc and gamma.
    all.extend([38.53184, 38.54, 45.0, 10.05, 10.1, 9.19, 35.04, 35.05, 42.5, 4e36]);
    all.extend([
        88.72284, 88.73, 87.34, 103.97, 103.98, 104.0, 127.999, 128.0, 126.5, 149.0, 150.5, 89.41, 9.01,
    ]);
    // Close to multiples of π/2, and the worst of them.
    let half = std::f32::consts::FRAC_PI_2;
    all.extend([half, 2.0 * half, 3.0 * half, 11.0 * half, 1e5, 1.647_664_9e7, 5.719_209_6e25, 1.6e38]);
    all.extend((0..40).map(|k| f32::from_bits(1.0f32.to_bits() - 20 + k)));
    all.extend(floats(60, 100, 0.0, 1.0).into_iter().map(|x| x as f32));
    all.extend(floats(61, 300, 0.0, 100.0).into_iter().map(|x| x as f32));
    all.extend(floats(62, 50, 0.0, 1e6).into_iter().map(|x| x as f32));
    all.extend((0..500).map(|k| f32::from_bits(mix(k) as u32 & 0x7fff_ffff)));
    all.iter().flat_map(|&x| [x, -x]).chain([f32::NAN]).collect()
}

/// Functions of one `f32`.
pub fn functions_of_f32(h: &Harness) -> Outcome {
    let arguments = arguments_of_f32().into_iter().map(|x| vec![x]);
    check(h, &ONE, ScalarType::F32, &rows_of_f32(&ONE, arguments))
}

/// Functions of one `f64`.
pub fn functions_of_f64(h: &Harness) -> Outcome {
    check(h, &ONE, ScalarType::F64, &rows(TABLE_OF_ONE, 1)?)
}

/// Functions of two `f32`s.
pub fn powers_and_angles_of_f32(h: &Harness) -> Outcome {
    let named = [
        0.0,
        0.5,
        1.0,
        2.0,
        2.5,
        3.0,
        1e-45,
        1e-30,
        1e30,
        1.000_000_1,
        16_777_215.0,
        f32::MAX,
        f32::INFINITY,
    ];
    let named: Vec<f32> = named.into_iter().flat_map(|x| [x, -x]).chain([f32::NAN]).collect();
    let mut pairs: Vec<Vec<f32>> =
        named.iter().flat_map(|&x| named.iter().map(move |&y| vec![x, y])).collect();
    pairs
        .extend((0..300).map(|k| vec![f32::from_bits(mix(k) as u32), f32::from_bits((mix(k) >> 32) as u32)]));
    let (a, b) = (floats(54, 400, 0.0, 20.0), floats(55, 400, -30.0, 30.0));
    pairs.extend(a.iter().zip(&b).map(|(&a, &b)| vec![a as f32, b as f32]));
    check(h, &TWO, ScalarType::F32, &rows_of_f32(&TWO, pairs))
}

/// Functions of two `f64`s.
pub fn powers_and_angles_of_f64(h: &Harness) -> Outcome {
    check(h, &TWO, ScalarType::F64, &rows(TABLE_OF_TWO, 2)?)
}

/// The documentation agrees with [`Op::max_ulps`].
#[test]
fn the_document_has_every_function() {
    let document = include_str!("../../../../docs/accuracy.md");
    for op in ONE.iter().chain(&TWO) {
        let name = format!("`{}`", op.name());
        let line =
            document.lines().find(|line| line.starts_with('|') && line.contains(&name)).unwrap_or_default();
        assert!(line.ends_with(&format!("| {} |", op.max_ulps())), "{name}: {line}");
    }
}

/// Functions of constants, evaluated when the program is compiled, keep to the same bounds.
pub fn functions_of_constants(h: &Harness) -> Outcome {
    let rows = rows_of_f32(&ONE, [vec![0.7f32]]);
    let constants = |_: &[Term]| {
        ONE.iter().map(|&op| Term::apply(op, ScalarType::F32, &[Constant::from(0.7f32).into()])).collect()
    };
    let Some(found) = h.run_table(Vector::from(&[0.0f32][..]).data(), &constants)? else { return Ok(()) };
    for (op, (&found, &exact)) in ONE.iter().zip(found.iter().zip(&rows[0].results)) {
        if distance(found, exact) > op.max_ulps().into() {
            return Err(format!("{} of 0.7 is {found:?}, exactly {exact:?}", op.name()));
        }
    }
    Ok(())
}
