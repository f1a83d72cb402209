//! Accuracy of operations on floats on every device, without `fast_math`. Only the promise is here: the emitters keep it,
//! and the conformance suite checks it.

use crate::Op;
use crate::types::ScalarType;

/// Beyond this magnitude, the sine, cosine and tangent of an `f64` are less exact.
pub const FAR_ANGLE: f64 = (1u64 << 30) as f64;

impl Op {
    /// Returns the largest error of the operation on floats, in units in the last place of the exact result.
    ///
    /// 0 means that the result is the exact one, correctly rounded: so are arithmetic, division, remainder, square root,
    /// fused multiplication and addition, rounding to integers and conversions. The bounds hold on every device that keeps
    /// its language's promises, without `fast_math`; with it there are none. An infinite result may stand for one that
    /// is larger than the largest float by no more than that, and the other way round.
    pub fn max_ulps(self) -> u32 {
        match self {
            Op::Cbrt => 2,
            Op::Exp | Op::Exp2 | Op::Exp10 | Op::ExpM1 | Op::Log | Op::Log2 | Op::Log10 | Op::Ln1p => 3,
            Op::Sin
            | Op::Cos
            | Op::Asin
            | Op::Acos
            | Op::Sinh
            | Op::Cosh
            | Op::Asinh
            | Op::Acosh
            | Op::Hypot => 4,
            Op::Tan | Op::Atan | Op::Tanh | Op::Atanh => 5,
            Op::Atan2 => 6,
            Op::Pow | Op::Erf | Op::Erfc | Op::Gamma | Op::LnGamma => 16,
            _ => 0,
        }
    }

    /// Returns the largest error at this first argument; see [`Op::max_ulps`].
    ///
    /// Some C libraries lose bits where the angle is an `f64` beyond [`FAR_ANGLE`] and near to a multiple of π/2. The logarithm
    /// of the gamma function has zeros at irrational negative numbers, near to which nothing is promised in these units.
    pub fn max_ulps_at(self, ty: ScalarType, argument: f64) -> u32 {
        let far = ty == ScalarType::F64 && argument.abs() > FAR_ANGLE;
        match self {
            Op::Sin | Op::Cos | Op::Tan if far => 16,
            Op::LnGamma if argument < 0.0 => u32::MAX,
            op => op.max_ulps(),
        }
    }
}
