//! Every operation and function on scalars, on every type, with values at the edges.
//!
//! A line of a table has one expression for Pumice and one for plain Rust; one kernel computes all lines.

use crate::data::{floats, values};
use crate::{Harness, Outcome, Tolerance};
use pumice::layers::scalar::{Constant, FloatOrder, Lift, Term};
use pumice::prelude::*;

/// Computes each line for every input and compares the results.
macro_rules! table {
    ($h:expr, $t:ty, $inputs:expr, $tolerance:expr, |$pattern:pat_param| { $($pumice:expr => $rust:expr;)* }) => {{
        let inputs: Vec<$t> = $inputs;
        let expressions = |terms: &[Term]| {
            let $pattern = <$t as Elt>::Exp::from_terms(&mut terms.iter().copied());
            vec![$(($pumice).term()),*]
        };
        let mut expected: Vec<Constant> = Vec::new();
        for &$pattern in &inputs {
            $(expected.push(Constant::from($rust));)*
        }
        let input = Vector::from(inputs.as_slice());
        $h.check_table(input.data(), &expressions, &expected, $tolerance, &[$(stringify!($pumice)),*])
    }};
}

pub(super) use table;

/// Returns every pair of these values.
pub(super) fn pairs<T: Copy>(values: &[T]) -> Vec<(T, T)> {
    values.iter().flat_map(|a| values.iter().map(|b| (*a, *b))).collect()
}

macro_rules! edges {
    ($($name:ident $t:ident [$($more:expr),*];)*) => { $(
        pub(super) fn $name() -> Vec<$t> {
            let mut all = vec![0, 1, 2, 3, 7, 10, 31, 32, 33, 100, <$t>::MAX, <$t>::MAX - 1, <$t>::MIN, <$t>::MIN + 1];
            all.extend_from_slice(&[$($more),*]);
            all.extend(values::<$t>(50, 12));
            all
        }
    )* };
}
edges! {
    edges_i32 i32 [-1, -2, -7, -32, 65_535, 65_536, -65_536];
    edges_i64 i64 [-1, -2, -7, -64, 64, i64::from(u32::MAX), 1 << 32, i64::from(i32::MIN), -(1 << 40)];
    edges_u32 u32 [65_535, 65_536, i32::MAX as u32, i32::MAX as u32 + 1];
    edges_u64 u64 [64, u64::from(u32::MAX), 1 << 32, i64::MAX as u64, i64::MAX as u64 + 1];
}

macro_rules! integer_tables {
    ($($t:ident $edges:ident $arithmetic:ident $division:ident $bits:ident;)*) => { $(
        pub fn $arithmetic(h: &Harness) -> Outcome {
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a + b => a.wrapping_add(b);
                a - b => a.wrapping_sub(b);
                a * b => a.wrapping_mul(b);
                a.min(b) => a.min(b);
                a.max(b) => a.max(b);
                a.clamp(3, 100) => a.clamp(3, 100);
                (a + b) * (a - b) => a.wrapping_add(b).wrapping_mul(a.wrapping_sub(b));
                a * a * b + a => a.wrapping_mul(a).wrapping_mul(b).wrapping_add(a);
            })
        }

        pub fn $division(h: &Harness) -> Outcome {
            let inputs = pairs(&$edges()).into_iter().filter(|(_, b)| *b != 0).collect();
            table!(h, ($t, $t), inputs, Tolerance::Exact, |(a, b)| {
                a / b => a.wrapping_div(b);
                a % b => a.wrapping_rem(b);
                (a / b) * b + a % b => a;
                a / 7 => a / 7;
                a % 7 => a % 7;
                a / 8 => a / 8;
                a % 8 => a % 8;
                1000 / b => (1000 as $t).wrapping_div(b);
                <$t>::MIN / b => <$t>::MIN.wrapping_div(b);
                a / <$t>::MAX => a / <$t>::MAX;
            })
        }

        pub fn $bits(h: &Harness) -> Outcome {
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a & b => a & b;
                a | b => a | b;
                a ^ b => a ^ b;
                !a => !a;
                a << b => a.wrapping_shl(b as u32);
                a >> b => a.wrapping_shr(b as u32);
                a << 5 => a << 5;
                a >> 5 => a >> 5;
                1 << b => (1 as $t).wrapping_shl(b as u32);
                a.count_ones() => a.count_ones();
                a.leading_zeros() => a.leading_zeros();
                a.trailing_zeros() => a.trailing_zeros();
            })
        }
    )* };
}
integer_tables! {
    i32 edges_i32 arithmetic_of_i32_unsigned division_of_i32 bits_of_i32;
    i64 edges_i64 arithmetic_of_i64_unsigned division_of_i64 bits_of_i64;
    u32 edges_u32 arithmetic_of_u32 division_of_u32 bits_of_u32;
    u64 edges_u64 arithmetic_of_u64 division_of_u64 bits_of_u64;
}

macro_rules! signed_tables {
    ($($t:ident $edges:ident $unsigned:ident $name:ident;)*) => { $(
        pub fn $name(h: &Harness) -> Outcome {
            $unsigned(h)?;
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                -a => a.wrapping_neg();
                a.abs() => a.wrapping_abs();
                a.signum() => a.signum();
                a.clamp(-5, 5) => a.clamp(-5, 5);
                -(a - b) => b.wrapping_sub(a);
                (-a).abs() => a.wrapping_abs();
                a - (-b) => a.wrapping_add(b);
                a.abs().min(b.abs()) => a.wrapping_abs().min(b.wrapping_abs());
            })
        }
    )* };
}
signed_tables! {
    i32 edges_i32 arithmetic_of_i32_unsigned arithmetic_of_i32;
    i64 edges_i64 arithmetic_of_i64_unsigned arithmetic_of_i64;
}

pub fn comparisons_of_integers(h: &Harness) -> Outcome {
    macro_rules! comparisons {
        ($($t:ident $edges:ident),*) => { $(
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a.eq(b) => a == b;
                a.ne(b) => a != b;
                a.lt(b) => a < b;
                a.le(b) => a <= b;
                a.gt(b) => a > b;
                a.ge(b) => a >= b;
                a.lt(10) => a < 10;
                a.ge(<$t>::MAX) => a == <$t>::MAX;
                (a + 1).gt(a) => a.wrapping_add(1) > a;
            })?;
        )* };
    }
    comparisons!(i32 edges_i32, i64 edges_i64, u32 edges_u32, u64 edges_u64);
    Ok(())
}

pub fn operations_with_constants(h: &Harness) -> Outcome {
    // The simplifier must not change the meaning of what it rewrites.
    table!(h, (i32, i32), pairs(&edges_i32()), Tolerance::Exact, |(a, b)| {
        a + 0 => a;
        0 + a => a;
        a * 1 => a;
        a * 0 => 0;
        a - 0 => a;
        0 - a => a.wrapping_neg();
        a - a => 0;
        a ^ a => 0;
        a & -1 => a;
        a | -1 => -1;
        a | 0 => a;
        a / 1 => a;
        a % 1 => 0;
        a / -1 => a.wrapping_neg();
        a % -1 => 0;
        (a + 5) - 3 => a.wrapping_add(2);
        (a - 5) + (b + 7) => a.wrapping_add(b).wrapping_add(2);
        (a * 3) * 5 => a.wrapping_mul(15);
        a.min(a) => a;
        a.eq(a) => true;
        a.lt(a) => false;
        a.cast::<i64>().cast::<i32>() => a;
        -(-a) => a;
        !!a => a;
        a << 32 => a;
        a.select_if_even(b) => if a % 2 == 0 { b } else { a };
    })
}

/// A method that tables can chain.
trait SelectIfEven {
    fn select_if_even(self, other: Exp<i32>) -> Exp<i32>;
}

impl SelectIfEven for Exp<i32> {
    fn select_if_even(self, other: Exp<i32>) -> Exp<i32> {
        (self % 2).eq(0).select(other, self)
    }
}

macro_rules! float_tables {
    ($($t:ident $edges:ident $arithmetic:ident $rounding:ident;)*) => { $(
        pub(super) fn $edges() -> Vec<$t> {
            let mut all = vec![
                0.0, -0.0, 1.0, -1.0, 0.1, 2.5, -3.75, 7.0, 1e10, -1e-10, <$t>::MAX, <$t>::MIN, <$t>::MIN_POSITIVE,
                <$t>::MIN_POSITIVE / 8.0, <$t>::EPSILON, <$t>::INFINITY, <$t>::NEG_INFINITY, <$t>::NAN,
            ];
            all.extend(floats(51, 12, -100.0, 100.0).into_iter().map(|x| x as $t));
            all
        }

        pub fn $arithmetic(h: &Harness) -> Outcome {
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a + b => a + b;
                a - b => a - b;
                a * b => a * b;
                a / b => a / b;
                a % b => a % b;
                -a => -a;
                a.abs() => a.abs();
                a.mul_add(b, 1.0) => a.mul_add(b, 1.0);
                a * b + 1.0 => a * b + 1.0;
                a * b - a * a => a * b - a * a;
                (a + b) - b => (a + b) - b;
                a + 0.0 => a + 0.0;
                a - 0.0 => a - 0.0;
                a * 1.0 => a * 1.0;
                a * 0.0 => a * 0.0;
                0.0 - a => 0.0 - a;
                a - a => a - a;
                a / a => a / a;
                2.0 * a => 2.0 * a;
                1.0 / a => 1.0 / a;
                a.signum() => a.signum();
                a.abs().sqrt() => a.abs().sqrt();
            })?;
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a.min(b) => a.smaller(b);
                a.max(b) => a.larger(b);
                a.max(0.0) => a.larger(0.0);
                a.min(-0.0) => a.smaller(-0.0);
                (a * 2.0).clamp(-3.0, 5.0) => (a * 2.0).clamp(-3.0, 5.0);
            })
        }

        pub fn $rounding(h: &Harness) -> Outcome {
            let mut inputs = $edges();
            inputs.extend([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.499_999_97, 8_388_607.5, 4_503_599_627_370_495.5]);
            inputs.extend(floats(52, 50, -10.0, 10.0).into_iter().map(|x| x as $t));
            table!(h, ($t, bool), inputs.into_iter().map(|x| (x, true)).collect(), Tolerance::Exact, |(a, _)| {
                a.floor() => a.floor();
                a.ceil() => a.ceil();
                a.round() => a.round();
                a.trunc() => a.trunc();
                a - a.floor() => a - a.floor();
            })
        }
    )* };
}
float_tables! {
    f32 edges_f32 arithmetic_of_f32 rounding_of_f32;
    f64 edges_f64 arithmetic_of_f64 rounding_of_f64;
}

pub fn comparisons_of_floats(h: &Harness) -> Outcome {
    macro_rules! comparisons {
        ($($t:ident $edges:ident),*) => { $(
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a.eq(b) => a == b;
                a.ne(b) => a != b;
                a.lt(b) => a < b;
                a.le(b) => a <= b;
                a.gt(b) => a > b;
                a.ge(b) => a >= b;
                !a.lt(b) => !matches!(a.partial_cmp(&b), Some(std::cmp::Ordering::Less));
                a.eq(a) => !a.is_nan();
                a.is_nan() => a.is_nan();
                a.lt(b).select(a, b) => if a < b { a } else { b };
            })?;
        )* };
    }
    comparisons!(f32 edges_f32, f64 edges_f64);
    Ok(())
}

pub fn bit_patterns_of_floats(h: &Harness) -> Outcome {
    // A NaN may come back as another NaN.
    let inputs: Vec<(f32, u32)> =
        edges_f32().into_iter().filter(|x| !x.is_nan()).map(|x| (x, x.to_bits())).collect();
    table!(h, (f32, u32), inputs, Tolerance::Exact, |(a, bits)| {
        a.to_bits() => a.to_bits();
        Exp::<f32>::from_bits(bits) => f32::from_bits(bits);
        Exp::<f32>::from_bits(a.to_bits() ^ 0x8000_0000) => -a;
        Exp::<f32>::from_bits(bits & 0x007f_ffff) => f32::from_bits(bits & 0x007f_ffff);
    })?;
    let inputs: Vec<(f64, u64)> =
        edges_f64().into_iter().filter(|x| !x.is_nan()).map(|x| (x, x.to_bits())).collect();
    table!(h, (f64, u64), inputs, Tolerance::Exact, |(a, bits)| {
        a.to_bits() => a.to_bits();
        Exp::<f64>::from_bits(bits) => f64::from_bits(bits);
        Exp::<f64>::from_bits(a.to_bits() ^ (1 << 63)) => -a;
    })
}

pub fn truth_values(h: &Harness) -> Outcome {
    table!(h, (bool, bool), pairs(&[false, true]), Tolerance::Exact, |(a, b)| {
        a & b => a & b;
        a | b => a | b;
        a ^ b => a ^ b;
        !a => !a;
        a.eq(b) => a == b;
        a.ne(b) => a != b;
        a.eq(true) => a;
        a.eq(false) => !a;
        a & true => a;
        a & false => false;
        a | true => true;
        a | false => a;
        a ^ true => !a;
        a ^ a => false;
        !(a & b) => !(a && b);
        !!a => a;
        a.select(b, !b) => if a { b } else { !b };
        (!a).select(constant(1i32), constant(2)) => if a { 2 } else { 1 };
    })
}
