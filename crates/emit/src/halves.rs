//! Floats of 16 bits as the bits that dialects keep them in: to and from `f32`, without any type or instruction for them.
//!
//! There is no branch, so that loops over these vectorise, and no subnormal `f32`, which devices may take for zero.

use pumice_scalar::ScalarType;

use crate::dialect::Language;
use crate::helpers::Helper;

/// The helpers that give an `f32` its bits and the other way round, where the dialect has no function for it.
pub(crate) fn needs(language: &dyn Language) -> Vec<Helper> {
    use ScalarType::{F32, U32};
    let missing = |&(to, from): &(ScalarType, ScalarType)| language.bitcast(to, from).is_none();
    let pairs = [(F32, U32), (U32, F32)].into_iter().filter(missing);
    pairs.map(|(to, from)| Helper::Bits { to, from }).collect()
}

/// The body of a helper: from the bits `a` of a float of 16 bits to an `f32`, if it `widens`, or the other way round, to the
/// nearest, and of two to the even one.
pub(crate) fn body(ty: ScalarType, widens: bool, language: &dyn Language) -> String {
    if let Some(body) = language.half_body(ty, widens) {
        return body;
    }
    use ScalarType::{F32, U32};
    let named = |to, from, value: &str| match language.bitcast(to, from) {
        Some(name) => format!("{name}({value})"),
        None => format!("{}({value})", Helper::Bits { to, from }.name()),
    };
    let (bits, float) = (|value: &str| named(U32, F32, value), |value: &str| named(F32, U32, value));
    let lines = match (ty, widens) {
        (ScalarType::BF16, true) => vec![format!("return {};", float("(u32)a << 16"))],
        (ScalarType::BF16, false) => vec![
            format!("u32 x = {};", bits("a")),
            "u32 near = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;".to_owned(),
            // Of a NaN, the sum may be a number.
            "return (bf16)((x & 0x7fffffffu) > 0x7f800000u ? (x >> 16) | 0x40u : near);".to_owned(),
        ],
        (_, true) => vec![
            "u32 m = (u32)(a & 0x7fffu) << 13;".to_owned(),
            // An exponent of zero stands for whole multiples of the smallest float; the largest one for infinity and NaN.
            format!("u32 small = {};", bits("(float)(i32)(a & 0x3ffu) * 5.9604644775390625e-8f")),
            "u32 large = m + (m >= 0xf800000u ? 0x70000000u : 0x38000000u);".to_owned(),
            format!("return {};", float("(m < 0x800000u ? small : large) | (u32)(a & 0x8000u) << 16")),
        ],
        (_, false) => vec![
            format!("u32 all = {};", bits("a")),
            "u32 x = all & 0x7fffffffu;".to_owned(),
            "u32 large = (x + 0xfffu + ((x >> 13) & 1u) - 0x38000000u) >> 13;".to_owned(),
            // The last bit of a half is worth as much as that of the smallest float: the sum rounds to it.
            format!("u32 small = {} - 0x3f000000u;", bits(&format!("{} + 0.5f", float("x")))),
            "u32 near = x < 0x38800000u ? small : x >= 0x477ff000u ? 0x7c00u : large;".to_owned(),
            "return (f16)((x > 0x7f800000u ? 0x7e00u : near) | ((all >> 16) & 0x8000u));".to_owned(),
        ],
    };
    lines.join("\n    ")
}
