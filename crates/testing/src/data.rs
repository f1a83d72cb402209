//! Inputs of cases: the same every time, made without a random number library.

use num_complex::Complex;
use pumice::{Elt, Float, bf16, f16};

/// Lengths that are short, around the sizes of warps and blocks, and longer than three blocks of every device.
pub const SIZES: [usize; 13] = [0, 1, 2, 3, 31, 255, 256, 257, 1000, 1024, 4099, 4100, 20_000];

/// A few of [`SIZES`], for cases that are not about sizes.
pub const FEW_SIZES: [usize; 5] = [0, 1, 257, 4099, 20_000];

/// Rows and columns of matrices.
pub const SHAPES: [[usize; 2]; 12] = [
    [0, 0],
    [0, 5],
    [5, 0],
    [1, 1],
    [1, 300],
    [300, 1],
    [2, 3],
    [7, 13],
    [33, 65],
    [64, 64],
    [17, 1000],
    [1000, 17],
];

/// Hashes a number to well-mixed bits.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A scalar that can be made from bits; values have every magnitude and sign.
pub trait Sample: Elt {
    /// Makes a value from well-mixed bits.
    fn sample(bits: u64) -> Self;
}

macro_rules! sample {
    ($($t:ident $bits:ident $make:expr;)*) => { $(
        impl Sample for $t {
            fn sample($bits: u64) -> $t {
                $make
            }
        }
    )* };
}
sample! {
    bool b b & 4 != 0;
    // Small ones, huge ones, and all between.
    i32 b (b as i32) >> (b >> 59);
    i64 b (b as i64) >> (mix(b) >> 58);
    u32 b (b as u32) >> (b >> 59);
    u64 b b >> (mix(b) >> 58);
    // Small whole numbers: their sums are exact in any order.
    f32 b (b % 33) as f32 - 16.0;
    f64 b (b % 33) as f64 - 16.0;
    i8 b b as i8;
    i16 b (b as i16) >> (b >> 60);
    u8 b b as u8;
    u16 b (b as u16) >> (b >> 60);
    f16 b f16::from_f32((b % 33) as f32 - 16.0);
    bf16 b bf16::from_f32((b % 33) as f32 - 16.0);
    char b char::from_u32((b % 0x250) as u32).unwrap_or('x');
}

macro_rules! sample_tuples {
    ($($name:ident)*) => {
        impl<$($name: Sample),*> Sample for ($($name,)*) {
            fn sample(bits: u64) -> Self {
                let mut state = bits;
                $(
                    #[allow(non_snake_case)]
                    let $name = $name::sample(state);
                    state = mix(state);
                )*
                let _ = state;
                ($($name,)*)
            }
        }
    };
}
impl<T: Sample> Sample for Option<T> {
    fn sample(bits: u64) -> Self {
        (!bits.is_multiple_of(3)).then(|| T::sample(mix(bits)))
    }
}

impl<T: Sample, E: Sample> Sample for Result<T, E> {
    fn sample(bits: u64) -> Self {
        // Errors are rare, so that a computation which stops at one does something before.
        match bits % 64 {
            0 => Err(E::sample(mix(bits))),
            _ => Ok(T::sample(mix(bits))),
        }
    }
}

impl<T: Sample, const N: usize> Sample for [T; N] {
    fn sample(bits: u64) -> Self {
        std::array::from_fn(|part| T::sample(mix(bits ^ part as u64)))
    }
}

impl<T: Sample + Float> Sample for Complex<T> {
    fn sample(bits: u64) -> Self {
        Complex::new(T::sample(bits), T::sample(mix(bits)))
    }
}

sample_tuples!(A B);
sample_tuples!(A B C);
sample_tuples!(A B C D);
sample_tuples!(A B C D E F G H);
sample_tuples!(A B C D E F G H I J K L);

/// Returns `n` values, which depend on `seed`.
pub fn values<T: Sample>(seed: u64, n: usize) -> Vec<T> {
    (0..n as u64).map(|i| T::sample(mix(i ^ seed << 40))).collect()
}

/// Returns `n` numbers, uniformly distributed from `low` to `high`.
pub fn floats(seed: u64, n: usize, low: f64, high: f64) -> Vec<f64> {
    let unit = |i| mix(i ^ seed << 40) as f64 / u64::MAX as f64;
    (0..n as u64).map(|i| low + (high - low) * unit(i)).collect()
}
