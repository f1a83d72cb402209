//! The scalar types and their constants: all values of the language.
//!
//! A constant is a type and 64 bits, so that equality and hashing are exact (also for NaN and -0.0).

use half::{bf16, f16};
use std::fmt;

/// The type of a scalar value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// Truth values; one byte in memory, 0 or 1.
    Bool,
    /// 32-bit signed integers.
    I32,
    /// 64-bit signed integers; also the type of indices.
    I64,
    /// 32-bit unsigned integers.
    U32,
    /// 64-bit unsigned integers.
    U64,
    /// 32-bit IEEE floats.
    F32,
    /// 64-bit IEEE floats.
    F64,
    /// 8-bit signed integers.
    I8,
    /// 16-bit signed integers.
    I16,
    /// 8-bit unsigned integers.
    U8,
    /// 16-bit unsigned integers.
    U16,
    /// 16-bit IEEE floats.
    F16,
    /// The upper 16 bits of 32-bit IEEE floats.
    BF16,
}

impl ScalarType {
    /// Every scalar type.
    pub const ALL: [ScalarType; 13] = [
        ScalarType::Bool,
        ScalarType::I32,
        ScalarType::I64,
        ScalarType::U32,
        ScalarType::U64,
        ScalarType::F32,
        ScalarType::F64,
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::U8,
        ScalarType::U16,
        ScalarType::F16,
        ScalarType::BF16,
    ];

    /// Bytes that a value takes in memory.
    pub fn bytes(self) -> usize {
        match self {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => 1,
            ScalarType::I16 | ScalarType::U16 | ScalarType::F16 | ScalarType::BF16 => 2,
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 8,
        }
    }

    /// The name in programs' text form, which is Rust's name.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::Bool => "bool",
            ScalarType::I32 => "i32",
            ScalarType::I64 => "i64",
            ScalarType::U32 => "u32",
            ScalarType::U64 => "u64",
            ScalarType::F32 => "f32",
            ScalarType::F64 => "f64",
            ScalarType::I8 => "i8",
            ScalarType::I16 => "i16",
            ScalarType::U8 => "u8",
            ScalarType::U16 => "u16",
            ScalarType::F16 => "f16",
            ScalarType::BF16 => "bf16",
        }
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<ScalarType> {
        ScalarType::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// Whether this is a float type.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F32 | ScalarType::F64) || self.is_half()
    }

    /// Whether this is a float type of 16 bits. Operations on such are done in `f32` and rounded.
    pub fn is_half(self) -> bool {
        matches!(self, ScalarType::F16 | ScalarType::BF16)
    }

    /// Whether this is a number of fewer than 32 bits.
    pub fn is_small(self) -> bool {
        self != ScalarType::Bool && self.bytes() < 4
    }

    /// The unsigned integer type with as many bits (of `bool`, those in memory).
    ///
    /// ```
    /// use pumice_scalar::ScalarType;
    /// assert_eq!(ScalarType::F32.unsigned(), ScalarType::U32);
    /// assert_eq!(ScalarType::BF16.unsigned(), ScalarType::U16);
    /// ```
    pub fn unsigned(self) -> ScalarType {
        match self.bytes() {
            1 => ScalarType::U8,
            2 => ScalarType::U16,
            4 => ScalarType::U32,
            _ => ScalarType::U64,
        }
    }

    /// Whether this is an integer type (`bool` is not).
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != ScalarType::Bool
    }

    /// Whether this is a signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64)
    }

    /// The smallest and the largest value of an integer type (`bool` counts as 0 to 1).
    pub fn range(self) -> (i128, i128) {
        match self {
            ScalarType::Bool => (0, 1),
            ScalarType::I32 => (i32::MIN.into(), i32::MAX.into()),
            ScalarType::I64 => (i64::MIN.into(), i64::MAX.into()),
            ScalarType::U32 => (0, u32::MAX.into()),
            ScalarType::U64 => (0, u64::MAX.into()),
            ScalarType::I8 => (i8::MIN.into(), i8::MAX.into()),
            ScalarType::I16 => (i16::MIN.into(), i16::MAX.into()),
            ScalarType::U8 => (0, u8::MAX.into()),
            ScalarType::U16 => (0, u16::MAX.into()),
            ScalarType::F32 | ScalarType::F64 | ScalarType::F16 | ScalarType::BF16 => (i128::MIN, i128::MAX),
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value of a scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constant {
    ty: ScalarType,
    bits: u64,
}

impl Constant {
    /// The constant of type `ty` with these low bits; bits above the type's width are dropped.
    pub fn from_bits(ty: ScalarType, bits: u64) -> Constant {
        let bits = match ty {
            ScalarType::Bool => u64::from(bits & 1 != 0),
            _ => bits & (u64::MAX >> (64 - 8 * ty.bytes())),
        };
        Constant { ty, bits }
    }

    /// The type.
    pub fn ty(self) -> ScalarType {
        self.ty
    }

    /// The bits, zero-extended.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// Zero (or false) of a type.
    pub fn zero(ty: ScalarType) -> Constant {
        Constant { ty, bits: 0 }
    }

    /// An integer value as a constant of type `ty`, wrapped to its width; converted if `ty` is a float.
    pub fn from_integer(ty: ScalarType, value: i128) -> Constant {
        match ty {
            ScalarType::F32 => (value as f32).into(),
            ScalarType::F64 => (value as f64).into(),
            ScalarType::F16 | ScalarType::BF16 => Constant::from_float(ty, nearly(value)),
            ScalarType::Bool => (value != 0).into(),
            _ => Constant::from_bits(ty, value as u64),
        }
    }

    /// The value of an integer or `bool` constant; `None` for floats.
    pub fn as_integer(self) -> Option<i128> {
        Some(match self.ty {
            ScalarType::Bool | ScalarType::U32 | ScalarType::U64 => self.bits.into(),
            ScalarType::I32 => (self.bits as u32 as i32).into(),
            ScalarType::I64 => (self.bits as i64).into(),
            ScalarType::U8 | ScalarType::U16 => self.bits.into(),
            ScalarType::I8 => (self.bits as u8 as i8).into(),
            ScalarType::I16 => (self.bits as u16 as i16).into(),
            ScalarType::F32 | ScalarType::F64 | ScalarType::F16 | ScalarType::BF16 => return None,
        })
    }

    /// The value of a float constant, widened to `f64`; `None` for other types.
    pub fn as_float(self) -> Option<f64> {
        match self.ty {
            ScalarType::F32 => Some(f32::from_bits(self.bits as u32).into()),
            ScalarType::F64 => Some(f64::from_bits(self.bits)),
            ScalarType::F16 => Some(f16::from_bits(self.bits as u16).into()),
            ScalarType::BF16 => Some(bf16::from_bits(self.bits as u16).into()),
            _ => None,
        }
    }

    /// A float as a constant of a float type, rounded to nearest, ties to even; zero of any other type.
    pub fn from_float(ty: ScalarType, value: f64) -> Constant {
        match ty {
            ScalarType::F32 => (value as f32).into(),
            ScalarType::F64 => value.into(),
            ScalarType::F16 => f16::from_f32(rounded_to_odd(value)).into(),
            ScalarType::BF16 => bf16::from_f32(rounded_to_odd(value)).into(),
            _ => Constant::zero(ty),
        }
    }

    /// NaN of a float type; `None` for other types.
    pub fn nan(ty: ScalarType) -> Option<Constant> {
        ty.is_float().then(|| Constant::from_float(ty, f64::NAN))
    }

    /// Whether this is `true`.
    pub fn is_true(self) -> bool {
        self.ty == ScalarType::Bool && self.bits != 0
    }

    /// The bytes as they stand in memory (little-endian devices).
    pub fn to_bytes(self) -> Vec<u8> {
        self.bits.to_le_bytes()[..self.ty.bytes()].to_vec()
    }

    /// Reads a constant from memory; bytes that are missing count as zero.
    pub fn from_bytes(ty: ScalarType, bytes: &[u8]) -> Constant {
        let mut all = [0u8; 8];
        let count = ty.bytes().min(bytes.len());
        all[..count].copy_from_slice(&bytes[..count]);
        Constant::from_bits(ty, u64::from_le_bytes(all))
    }

    /// Parses the output of [`Display`](fmt::Display), given the type.
    pub fn parse(ty: ScalarType, text: &str) -> Option<Constant> {
        match ty {
            ScalarType::Bool => text.parse::<bool>().ok().map(Into::into),
            ScalarType::I32 => text.parse::<i32>().ok().map(Into::into),
            ScalarType::I64 => text.parse::<i64>().ok().map(Into::into),
            ScalarType::U32 => text.parse::<u32>().ok().map(Into::into),
            ScalarType::U64 => text.parse::<u64>().ok().map(Into::into),
            ScalarType::I8 => text.parse::<i8>().ok().map(Into::into),
            ScalarType::I16 => text.parse::<i16>().ok().map(Into::into),
            ScalarType::U8 => text.parse::<u8>().ok().map(Into::into),
            ScalarType::U16 => text.parse::<u16>().ok().map(Into::into),
            ScalarType::F32 | ScalarType::F64 | ScalarType::F16 | ScalarType::BF16 => {
                if let Some(bits) = text.strip_prefix("nan:") {
                    return u64::from_str_radix(bits, 16).ok().map(|bits| Constant::from_bits(ty, bits));
                }
                match ty {
                    ScalarType::F32 => text.parse::<f32>().ok().map(Into::into),
                    _ => text.parse::<f64>().ok().map(|value| Constant::from_float(ty, value)),
                }
            }
        }
    }
}

macro_rules! constant_from {
    ($($t:ty => $ty:ident, $value:ident, $bits:expr);* $(;)?) => { $(
        impl From<$t> for Constant {
            fn from($value: $t) -> Constant {
                Constant { ty: ScalarType::$ty, bits: $bits }
            }
        }
    )* };
}
constant_from! {
    bool => Bool, v, u64::from(v);
    i32 => I32, v, u64::from(v as u32);
    i64 => I64, v, v as u64;
    u32 => U32, v, u64::from(v);
    u64 => U64, v, v;
    f32 => F32, v, u64::from(v.to_bits());
    f64 => F64, v, v.to_bits();
    i8 => I8, v, u64::from(v as u8);
    i16 => I16, v, u64::from(v as u16);
    u8 => U8, v, u64::from(v);
    u16 => U16, v, u64::from(v);
    f16 => F16, v, u64::from(v.to_bits());
    bf16 => BF16, v, u64::from(v.to_bits());
    char => U32, v, u64::from(v);
}

/// The `f32` next to a number whose last bit is one, unless there is one that equals it. It rounds to 16 bits as the number itself does;
/// the crate `half` drops bits of an `f64` that tell which of two floats is nearer.
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let (back, bits) = (f64::from(nearest), nearest.to_bits());
    match back == value || value.is_nan() || bits & 1 == 1 {
        true => nearest,
        false if back.abs() > value.abs() => f32::from_bits(bits - 1),
        false => f32::from_bits(bits + 1),
    }
}

/// An integer as a float that rounds to 16 bits as the integer itself does: the bits that a double has no room for become a sticky
/// bit.
fn nearly(value: i128) -> f64 {
    let size = value.unsigned_abs();
    let shift = (128 - size.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS - 1);
    let kept = size >> shift << shift;
    let more = if kept == size { 0 } else { 1u128 << shift };
    let near = (kept | more) as f64;
    if value < 0 { -near } else { near }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            ScalarType::Bool => write!(f, "{}", self.is_true()),
            ScalarType::F32 => match f32::from_bits(self.bits as u32) {
                v if v.is_nan() => write!(f, "nan:{:x}", self.bits),
                v => write!(f, "{v:?}"),
            },
            ScalarType::F64 => match f64::from_bits(self.bits) {
                v if v.is_nan() => write!(f, "nan:{:x}", self.bits),
                v => write!(f, "{v:?}"),
            },
            ScalarType::F16 | ScalarType::BF16 => match self.as_float().unwrap_or_default() as f32 {
                v if v.is_nan() => write!(f, "nan:{:x}", self.bits),
                v => write!(f, "{v:?}"),
            },
            _ => write!(f, "{}", self.as_integer().unwrap_or_default()),
        }
    }
}

impl fmt::Debug for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}:{}", self.ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_print_and_parse_back() {
        let constants: [Constant; 21] = [
            true.into(),
            (-5i32).into(),
            i64::MIN.into(),
            u32::MAX.into(),
            u64::MAX.into(),
            0.1f32.into(),
            (-0.0f32).into(),
            f32::INFINITY.into(),
            f32::NAN.into(),
            1e300f64.into(),
            f64::NAN.into(),
            f64::MIN_POSITIVE.into(),
            i8::MIN.into(),
            (-300i16).into(),
            u8::MAX.into(),
            u16::MAX.into(),
            f16::from_f32(0.1).into(),
            f16::NAN.into(),
            f16::MIN_POSITIVE_SUBNORMAL.into(),
            bf16::MAX.into(),
            bf16::NEG_INFINITY.into(),
        ];
        for constant in constants {
            assert_eq!(Constant::parse(constant.ty(), &constant.to_string()), Some(constant));
            assert_eq!(Constant::from_bytes(constant.ty(), &constant.to_bytes()), constant);
        }
    }

    #[test]
    fn integers_become_halves_by_one_rounding() {
        let bf16_of = |value| Constant::from_integer(ScalarType::BF16, value).as_float();
        // Midway between two floats of 8 bits, and a little more: a double or an `f32` between would lose that.
        let midway = (1i128 << 62) + (1 << 54);
        assert_eq!(bf16_of(midway), Some((1u64 << 62) as f64));
        assert_eq!(bf16_of(midway + 1), Some(((1i128 << 62) + (1 << 55)) as f64));
        assert_eq!(bf16_of(-midway - 1), Some(-((1i128 << 62) + (1 << 55)) as f64));
        assert_eq!(bf16_of(2_105_345), Some(2_113_536.0));
        assert_eq!(Constant::from_float(ScalarType::F16, -1032.500244140625).as_float(), Some(-1033.0));
        assert_eq!(Constant::from_integer(ScalarType::F16, 65520).as_float(), Some(f64::INFINITY));
        assert_eq!(Constant::from_integer(ScalarType::F16, -65519).as_float(), Some(-65504.0));
    }
}
