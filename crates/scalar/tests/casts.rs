//! Conversions between all scalar types, as the evaluator does them, against Rust's `as`. Devices are compared with the evaluator.

use pumice_scalar::{Constant, Op, Primitive};

/// Asserts that a value is converted to a type as expected; any NaN for a NaN.
fn check<T: Primitive, U: Primitive>(value: T, expected: U) {
    let expected: Constant = expected.into();
    let found = Op::Cast.evaluate(U::TYPE, &[value.into()]);
    let is_nan = |constant: Constant| constant.as_float().is_some_and(f64::is_nan);
    assert!(
        found == expected || (is_nan(found) && is_nan(expected)),
        "{value:?} as {}: {found:?}, not {expected:?}",
        U::TYPE
    );
    let plain: Constant = value.cast::<U>().into();
    assert!(plain == found || (is_nan(plain) && is_nan(found)), "{value:?}.cast::<{}>(): {plain:?}", U::TYPE);
}

/// Numbers at the edges of types, of the digits of floats, and between two of them.
fn hard_integers() -> Vec<i128> {
    let powers = [7, 8, 11, 15, 16, 24, 25, 31, 32, 53, 54, 62, 63, 64].map(|n| 1i128 << n);
    let near = powers.into_iter().flat_map(|power| (-2..=2).map(move |more| power + more));
    // Midway between two floats, and a little beside that: so two roundings, by way of a double, would differ from one.
    let midway = [
        (1i128 << 62) + (1 << 38),
        (1 << 62) + (1 << 9),
        (1 << 40) + (1 << 16),
        (1 << 25) + 2,
        (1 << 54) + 6,
    ];
    let beside = midway.into_iter().flat_map(|value| (-1..=1).map(move |more| value + more));
    let all: Vec<i128> = near.chain(beside).chain(0..4).chain([99, 12_345, 1_000_000_007]).collect();
    all.iter().flat_map(|value| [*value, -*value]).collect()
}

fn hard_floats() -> Vec<f64> {
    let mut values: Vec<f64> = hard_integers().into_iter().map(|value| value as f64).collect();
    values.extend([
        0.3,
        0.5,
        0.999_999_999,
        1.5,
        2.5,
        127.5,
        127.999,
        255.5,
        32_767.9,
        65_535.5,
        2_147_483_647.5,
    ]);
    values.extend([
        4_294_967_295.5,
        9.3e18,
        1.9e19,
        1e30,
        1e39,
        3.4028235e38,
        3.4028236e38,
        f64::MAX,
        f64::INFINITY,
    ]);
    values.extend([1e-40, 1e-45, 7e-46, 1e-320, f64::MIN_POSITIVE, f64::from(f32::MIN_POSITIVE), f64::NAN]);
    // Midway between two numbers of `f32`, and next to that.
    let midway = 1.0 + 2f64.powi(-24);
    values.extend([midway, midway.next_up(), midway.next_down(), midway + 2f64.powi(-23)]);
    values.extend(values.clone().into_iter().map(|value| -value));
    values
}

macro_rules! to_numbers {
    ($value:ident: $($u:ident)*) => { $(check($value, $value as $u);)* };
}
macro_rules! from_integers {
    ($($t:ident)*) => { $(
        for value in hard_integers() {
            // Wrapped, so that each number is one of a small type too.
            let value = value as $t;
            to_numbers!(value: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
            check(value, value != 0);
        }
    )* };
}
macro_rules! from_floats {
    ($($t:ident)*) => { $(
        for value in hard_floats() {
            let value = value as $t;
            to_numbers!(value: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
            check(value, value != 0.0);
        }
    )* };
}

#[test]
fn numbers_are_converted_as_rust_does() {
    from_integers!(i8 i16 i32 i64 u8 u16 u32 u64);
    from_floats!(f32 f64);
}

#[test]
fn flags_and_characters_are_converted_as_rust_does() {
    for value in [false, true] {
        to_numbers!(value: i8 i16 i32 i64 u8 u16 u32 u64);
        check(value, f32::from(value));
        check(value, f64::from(value));
        check(value, value);
    }
    for value in ['\0', 'a', '\x7f', 'ÿ', 'Ā', '\u{d7ff}', '\u{e000}', '\u{ffff}', '😀', char::MAX] {
        to_numbers!(value: i8 i16 i32 i64 u8 u16 u32 u64 char);
    }
    for value in 0..=u8::MAX {
        check(value, value as char);
    }
}

/// A float of 16 bits is one of 32 bits, and Rust has no `as` for it.
#[test]
fn floats_of_16_bits_are_converted_as_those_of_32_bits() {
    use pumice_scalar::{bf16, f16};
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        macro_rules! halves {
            ($value:ident: $($u:ident)*) => { $(check($value, $value.to_f32() as $u);)* };
        }
        halves!(half: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
        halves!(brain: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
        check(half.to_f32(), half);
        check(brain.to_f32(), brain);
    }
}
