//! The methods of scalars that are composed of operations, at the edges of every type, against Rust's own.
//!
//! Operations themselves are in `scalars.rs`, mathematical functions in `accuracy.rs`.

use super::scalars::{edges_f32, edges_f64, edges_i32, edges_i64, edges_u32, edges_u64, pairs, table};
use crate::{Harness, Outcome, Tolerance};
use pumice::layers::scalar::{Constant, Lift, Term};
use pumice::prelude::*;

macro_rules! integer_tables {
    ($($t:ident $edges:ident $wide:ident $overflow:ident $bits:ident $euclid:ident;)*) => { $(
        pub fn $overflow(h: &Harness) -> Outcome {
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a.checked_add(b).is_some() => a.checked_add(b).is_some();
                a.checked_sub(b).unwrap_or(7) => a.checked_sub(b).unwrap_or(7);
                a.checked_mul(b).unwrap_or(7) => a.checked_mul(b).unwrap_or(7);
                a.checked_div(b).unwrap_or(7) => a.checked_div(b).unwrap_or(7);
                a.checked_rem(b).unwrap_or(7) => a.checked_rem(b).unwrap_or(7);
                a.checked_rem_euclid(b).unwrap_or(7) => a.checked_rem_euclid(b).unwrap_or(7);
                a.checked_neg().unwrap_or(7) => a.checked_neg().unwrap_or(7);
                a.checked_shl(b.cast::<u32>()).unwrap_or(7) => a.checked_shl(b as u32).unwrap_or(7);
                a.saturating_add(b) => a.saturating_add(b);
                a.saturating_sub(b) => a.saturating_sub(b);
                a.saturating_mul(b) => a.saturating_mul(b);
                a.overflowing_mul(b).1 => a.overflowing_mul(b).1;
                a.overflowing_shr(b.cast::<u32>()).0 => a.overflowing_shr(b as u32).0;
                a.wrapping_mul(b) => a.wrapping_mul(b);
                a.checked_ilog(b).unwrap_or(77) => a.checked_ilog(b).unwrap_or(77);
            })
        }

        pub fn $bits(h: &Harness) -> Outcome {
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a.rotate_left(b.cast::<u32>()) => a.rotate_left(b as u32);
                a.rotate_right(3) => a.rotate_right(3);
                a.swap_bytes() => a.swap_bytes();
                a.reverse_bits() => a.reverse_bits();
                a.leading_ones() => a.leading_ones();
                a.trailing_ones() => a.trailing_ones();
                a.count_zeros() => a.count_zeros();
                a.mul_hi(b) => ($wide::from(a).wrapping_mul($wide::from(b)) >> <$t>::BITS) as $t;
                a.abs_diff(b) => a.abs_diff(b);
                a.midpoint(b) => a.midpoint(b);
                a.checked_isqrt().unwrap_or(7) => if a as i128 >= 0 { a.isqrt() } else { 7 };
                a.checked_ilog2().unwrap_or(77) => a.checked_ilog2().unwrap_or(77);
                a.checked_ilog10().unwrap_or(77) => a.checked_ilog10().unwrap_or(77);
            })
        }

        pub fn $euclid(h: &Harness) -> Outcome {
            let inputs = pairs(&$edges()).into_iter().filter(|(_, b)| *b != 0).collect();
            table!(h, ($t, $t), inputs, Tolerance::Exact, |(a, b)| {
                a.rem_euclid(b) => a.wrapping_rem_euclid(b);
                a.div_euclid(b) => a.wrapping_div_euclid(b);
                a.rem_euclid(7) => a.rem_euclid(7);
                a.div_euclid(7) => a.div_euclid(7);
                a.saturating_div(b) => a.saturating_div(b);
                a.overflowing_div(b).1 => a.overflowing_div(b).1;
                a.overflowing_rem(b).0 => a.overflowing_rem(b).0;
            })
        }
    )* };
}
integer_tables! {
    i32 edges_i32 i128 overflow_of_i32 bits_and_roots_of_i32 euclid_of_i32;
    i64 edges_i64 i128 overflow_of_i64 bits_and_roots_of_i64 euclid_of_i64;
    u32 edges_u32 u128 overflow_of_u32 bits_and_roots_of_u32 euclid_of_u32;
    u64 edges_u64 u128 overflow_of_u64 bits_and_roots_of_u64 euclid_of_u64;
}

/// Methods that Rust has for unsigned numbers only.
pub fn multiples_of_unsigned_numbers(h: &Harness) -> Outcome {
    macro_rules! multiples {
        ($($t:ident $signed:ident $edges:ident),*) => { $(
            let inputs = pairs(&$edges()).into_iter().filter(|(_, b)| *b != 0).collect();
            table!(h, ($t, $t), inputs, Tolerance::Exact, |(a, b)| {
                a.div_ceil(b) => a.div_ceil(b);
                a.next_multiple_of(b) => a.checked_next_multiple_of(b).unwrap_or_else(|| (a / b + 1).wrapping_mul(b));
                a.is_power_of_two() => a.is_power_of_two();
                a.next_power_of_two() => a.checked_next_power_of_two().unwrap_or(0);
                a.checked_add_signed(b.cast_signed()).unwrap_or(7) => a.checked_add_signed(b as $signed).unwrap_or(7);
                a.saturating_add_signed(b.cast_signed()) => a.saturating_add_signed(b as $signed);
            })?;
        )* };
    }
    multiples!(u32 i32 edges_u32, u64 i64 edges_u64);
    Ok(())
}

macro_rules! float_tables {
    ($($t:ident $edges:ident $name:ident;)*) => { $(
        pub fn $name(h: &Harness) -> Outcome {
            table!(h, ($t, $t), pairs(&$edges()), Tolerance::Exact, |(a, b)| {
                a.copysign(b) => a.copysign(b);
                a.rem_euclid(b) => a.rem_euclid(b);
                a.div_euclid(b) => a.div_euclid(b);
                a.midpoint(b) => a.midpoint(b);
                a.total_cmp(b) => a.total_cmp(&b) as i32;
                a.fract() => a.fract();
                a.recip() => a.recip();
                a.to_degrees() => a.to_degrees();
                a.to_radians() => a.to_radians();
                a.round_ties_even() => a.round_ties_even();
                a.next_up() => a.next_up();
                a.next_down() => a.next_down();
                a.is_finite() => a.is_finite();
                a.is_infinite() => a.is_infinite();
                a.is_normal() => a.is_normal();
                a.is_sign_negative() => a.is_sign_negative();
                a.powi(3) => a * (a * a);
                a.powi(-1) => a.recip();
                a.clamp(-1.0, 2.0) => a.clamp(-1.0, 2.0);
            })
        }
    )* };
}
float_tables! {
    f32 edges_f32 parts_of_f32;
    f64 edges_f64 parts_of_f64;
}

/// Loops over numbers: powers with exponents that are not constants, ranges and rounds.
pub fn powers_and_loops(h: &Harness) -> Outcome {
    let bases = [0, 1, -1, 2, -3, 7, 10, i64::MAX, i64::MIN];
    let inputs: Vec<(i64, u32)> =
        bases.into_iter().flat_map(|x| [0, 1, 2, 3, 18, 19, 63, 64, 1000].map(|n| (x, n))).collect();
    table!(h, (i64, u32), inputs, Tolerance::Exact, |(x, n)| {
        x.pow(n) => x.wrapping_pow(n);
        x.checked_pow(n).unwrap_or(7) => x.checked_pow(n).unwrap_or(7);
        x.saturating_pow(n) => x.saturating_pow(n);
        sum_below(n) => (0..n).sum::<u32>();
        halvings(x) => x.unsigned_abs().checked_ilog2().map_or(0, |bits| bits + 1);
    })
}

/// Adds up the numbers below `n`.
fn sum_below(n: Exp<u32>) -> Exp<u32> {
    for_(constant(0)..n, constant(0), |i, sum| sum + i)
}

/// Counts how often a number can be halved, in 64 rounds.
fn halvings(x: Exp<i64>) -> Exp<u32> {
    let state = (x.unsigned_abs(), constant(0u32));
    repeat_(64, state, |(left, count)| (left >> 1, count + left.gt(0).cast::<u32>())).1
}
