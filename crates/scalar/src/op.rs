//! The primitive operations on scalars, their types, and their meaning.
//!
//! [`Op::evaluate`] is the semantics: the simplifier, the interpreters and the simulator all call it, and every
//! device must agree with it. Every operation is total here: integer division by zero gives 0, and the error that
//! the user sees comes from a separate check node.

use crate::float::FloatOrder;
use crate::types::{Constant, ScalarType};

/// A primitive operation. The result type is kept beside it; operands have that type too unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Addition; integers wrap.
    Add,
    /// Subtraction; integers wrap.
    Sub,
    /// Multiplication; integers wrap.
    Mul,
    /// Division; integers truncate, and division by zero gives 0.
    Div,
    /// Remainder with the sign of the dividend; by zero gives 0 for integers.
    Rem,
    /// Negation; integers wrap.
    Neg,
    /// Absolute value; integers wrap.
    Abs,
    /// The smaller; of a NaN and a number, the number; -0.0 is smaller than 0.0.
    Min,
    /// The larger; of a NaN and a number, the number; 0.0 is larger than -0.0.
    Max,
    /// Bitwise (or logical) and.
    And,
    /// Bitwise (or logical) or.
    Or,
    /// Bitwise (or logical) exclusive or.
    Xor,
    /// Bitwise (or logical) complement.
    Not,
    /// Shift left; the distance is masked to the width.
    Shl,
    /// Shift right, arithmetic for signed types; the distance is masked to the width.
    Shr,
    /// Number of one bits, in the operand's type.
    CountOnes,
    /// Number of leading zero bits, in the operand's type.
    LeadingZeros,
    /// Number of trailing zero bits, in the operand's type.
    TrailingZeros,
    /// Equality; `bool` from two operands of one type.
    Eq,
    /// Inequality; `bool` from two operands of one type.
    Ne,
    /// Less than; `bool` from two operands of one type.
    Lt,
    /// Less than or equal; `bool` from two operands of one type.
    Le,
    /// The second operand if the first (a `bool`) holds, else the third.
    Select,
    /// Conversion as Rust's `as`: floats to integers saturate, NaN gives 0.
    Cast,
    /// The same bits as another type of the same width.
    Bitcast,
    /// Square root.
    Sqrt,
    /// e to the power.
    Exp,
    /// 2 to the power.
    Exp2,
    /// Natural logarithm.
    Log,
    /// Binary logarithm.
    Log2,
    /// Decimal logarithm.
    Log10,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// The largest integer not above.
    Floor,
    /// The smallest integer not below.
    Ceil,
    /// The nearest integer, halves away from zero.
    Round,
    /// The integer part.
    Trunc,
    /// The first to the power of the second.
    Pow,
    /// The angle of the point (second, first).
    Atan2,
    /// First × second + third with one rounding (of `bf16`: computed in `f64`, and rounded).
    MulAdd,
    /// Cube root.
    Cbrt,
    /// 10 to the power.
    Exp10,
    /// e to the power, less 1.
    ExpM1,
    /// Natural logarithm of 1 and the operand.
    Ln1p,
    /// Inverse of the hyperbolic sine.
    Asinh,
    /// Inverse of the hyperbolic cosine.
    Acosh,
    /// Inverse of the hyperbolic tangent.
    Atanh,
    /// Error function.
    Erf,
    /// 1 less the error function.
    Erfc,
    /// Gamma function.
    Gamma,
    /// Natural logarithm of the gamma function's absolute value.
    LnGamma,
    /// The nearest integer, halves to the even one.
    RoundTiesEven,
    /// The length of the hypotenuse.
    Hypot,
}

macro_rules! op_names {
    ($($op:ident $name:literal $arity:literal),* $(,)?) => {
        impl Op {
            /// Every operation.
            pub const ALL: &'static [Op] = &[$(Op::$op),*];
            /// The name in programs' text form.
            pub fn name(self) -> &'static str { match self { $(Op::$op => $name),* } }
            /// Returns the number of operands.
            pub fn arity(self) -> usize { match self { $(Op::$op => $arity),* } }
            /// The operation with this name.
            pub fn from_name(name: &str) -> Option<Op> { match name { $($name => Some(Op::$op),)* _ => None } }
        }
    };
}
op_names! {
    Add "add" 2, Sub "sub" 2, Mul "mul" 2, Div "div" 2, Rem "rem" 2, Neg "neg" 1, Abs "abs" 1, Min "min" 2, Max "max" 2,
    And "and" 2, Or "or" 2, Xor "xor" 2, Not "not" 1, Shl "shl" 2, Shr "shr" 2, CountOnes "count_ones" 1,
    LeadingZeros "leading_zeros" 1, TrailingZeros "trailing_zeros" 1, Eq "eq" 2, Ne "ne" 2, Lt "lt" 2, Le "le" 2,
    Select "select" 3, Cast "cast" 1, Bitcast "bitcast" 1, Sqrt "sqrt" 1, Exp "exp" 1, Exp2 "exp2" 1, Log "log" 1,
    Log2 "log2" 1, Log10 "log10" 1, Sin "sin" 1, Cos "cos" 1, Tan "tan" 1, Asin "asin" 1, Acos "acos" 1,
    Atan "atan" 1, Sinh "sinh" 1, Cosh "cosh" 1, Tanh "tanh" 1, Floor "floor" 1, Ceil "ceil" 1, Round "round" 1,
    Trunc "trunc" 1, Pow "pow" 2, Atan2 "atan2" 2, MulAdd "mul_add" 3,
    Cbrt "cbrt" 1, Exp10 "exp10" 1, ExpM1 "exp_m1" 1, Ln1p "ln_1p" 1, Asinh "asinh" 1, Acosh "acosh" 1, Atanh "atanh" 1,
    Erf "erf" 1, Erfc "erfc" 1, Gamma "gamma" 1, LnGamma "ln_gamma" 1, RoundTiesEven "round_ties_even" 1, Hypot "hypot" 2,
}

impl Op {
    /// Whether swapping the two operands cannot change the result.
    pub fn commutes(self) -> bool {
        matches!(
            self,
            Op::Add | Op::Mul | Op::Min | Op::Max | Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne | Op::Hypot
        )
    }

    /// Whether the result is a `bool` made from operands of another type.
    pub fn compares(self) -> bool {
        matches!(self, Op::Eq | Op::Ne | Op::Lt | Op::Le)
    }

    /// Whether the operation is one of the mathematical functions, which devices compute to within a few units in
    /// the last place and not to the bit.
    pub fn is_approximate(self) -> bool {
        self.max_ulps() > 0
    }

    /// Returns a rough cost in arithmetic instructions, for deciding whether to recompute.
    pub fn cost(self, ty: ScalarType) -> u32 {
        match self {
            Op::Div | Op::Rem if ty.is_integer() => 12,
            Op::Div | Op::Rem | Op::Sqrt => 8,
            op if op.is_approximate() => 16,
            _ => 1,
        }
    }

    /// Whether operands of these types make a result of type `result`.
    pub fn accepts(self, result: ScalarType, operands: &[ScalarType]) -> bool {
        use Op::*;
        if operands.len() != self.arity() {
            return false;
        }
        let same = operands.iter().all(|&ty| ty == result);
        match self {
            Add | Sub | Mul | Div | Rem | Min | Max => same && result != ScalarType::Bool,
            Neg | Abs => same && (result.is_float() || result.is_signed()),
            And | Or | Xor | Not => same && !result.is_float(),
            Shl | Shr | CountOnes | LeadingZeros | TrailingZeros => same && result.is_integer(),
            Eq | Ne | Lt | Le => result == ScalarType::Bool && operands[0] == operands[1],
            Select => operands[0] == ScalarType::Bool && operands[1] == result && operands[2] == result,
            Cast => true,
            Bitcast => operands[0].bytes() == result.bytes(),
            _ => same && result.is_float(),
        }
    }

    /// Evaluates the operation on constants, which defines its meaning. Operands that do not fit (see [`Op::accepts`]) give zero.
    pub fn evaluate(self, result: ScalarType, operands: &[Constant]) -> Constant {
        // No allocation: the simulator and the interpreter live in here.
        let mut types = [ScalarType::Bool; 3];
        for (ty, operand) in types.iter_mut().zip(operands) {
            *ty = operand.ty();
        }
        if operands.len() > types.len() || !self.accepts(result, &types[..operands.len()]) {
            return Constant::zero(result);
        }
        match self {
            Op::Select => return if operands[0].is_true() { operands[1] } else { operands[2] },
            Op::Cast => return cast(result, operands[0]),
            Op::Bitcast => return Constant::from_bits(result, operands[0].bits()),
            _ => {}
        }
        let bits = |k: usize| operands.get(k).map_or(0, |c| c.bits());
        match types[0] {
            ScalarType::F32 => {
                let value = |k| f32::from_bits(bits(k) as u32);
                float32(self, value(0), value(1), value(2))
            }
            ScalarType::F64 => {
                let value = |k| f64::from_bits(bits(k));
                float64(self, value(0), value(1), value(2))
            }
            ScalarType::I32 => int32(self, bits(0) as i32, bits(1) as i32),
            ScalarType::I64 => int64(self, bits(0) as i64, bits(1) as i64),
            ScalarType::U32 => uint32(self, bits(0) as u32, bits(1) as u32),
            ScalarType::U64 => uint64(self, bits(0), bits(1)),
            ScalarType::Bool => boolean(self, bits(0) != 0, bits(1) != 0),
            ScalarType::I8 => int8(self, bits(0) as i8, bits(1) as i8),
            ScalarType::I16 => int16(self, bits(0) as i16, bits(1) as i16),
            ScalarType::U8 => uint8(self, bits(0) as u8, bits(1) as u8),
            ScalarType::U16 => uint16(self, bits(0) as u16, bits(1) as u16),
            ty @ (ScalarType::F16 | ScalarType::BF16) => {
                let value = |k: usize| operands.get(k).and_then(|c| c.as_float()).unwrap_or_default();
                half(self, ty, [value(0), value(1), value(2)])
            }
        }
    }
}

fn boolean(op: Op, a: bool, b: bool) -> Constant {
    match op {
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor | Op::Ne => a ^ b,
        Op::Not => !a,
        Op::Eq => a == b,
        Op::Lt => !a & b,
        Op::Le => a <= b,
        _ => false,
    }
    .into()
}

macro_rules! integer_semantics {
    ($name:ident, $t:ty, $neg:expr, $abs:expr) => {
        fn $name(op: Op, a: $t, b: $t) -> Constant {
            let value: $t = match op {
                Op::Add => a.wrapping_add(b),
                Op::Sub => a.wrapping_sub(b),
                Op::Mul => a.wrapping_mul(b),
                Op::Div if b == 0 => 0,
                Op::Div => a.wrapping_div(b),
                Op::Rem if b == 0 => 0,
                Op::Rem => a.wrapping_rem(b),
                Op::Neg => $neg(a),
                Op::Abs => $abs(a),
                Op::Min => a.min(b),
                Op::Max => a.max(b),
                Op::And => a & b,
                Op::Or => a | b,
                Op::Xor => a ^ b,
                Op::Not => !a,
                Op::Shl => a.wrapping_shl(b as u32),
                Op::Shr => a.wrapping_shr(b as u32),
                Op::CountOnes => a.count_ones() as $t,
                Op::LeadingZeros => a.leading_zeros() as $t,
                Op::TrailingZeros => a.trailing_zeros() as $t,
                Op::Eq => return (a == b).into(),
                Op::Ne => return (a != b).into(),
                Op::Lt => return (a < b).into(),
                Op::Le => return (a <= b).into(),
                _ => 0,
            };
            value.into()
        }
    };
}
integer_semantics!(int32, i32, i32::wrapping_neg, i32::wrapping_abs);
integer_semantics!(int64, i64, i64::wrapping_neg, i64::wrapping_abs);
integer_semantics!(uint32, u32, u32::wrapping_neg, |a: u32| a);
integer_semantics!(uint64, u64, u64::wrapping_neg, |a: u64| a);
integer_semantics!(int8, i8, i8::wrapping_neg, i8::wrapping_abs);
integer_semantics!(int16, i16, i16::wrapping_neg, i16::wrapping_abs);
integer_semantics!(uint8, u8, u8::wrapping_neg, |a: u8| a);
integer_semantics!(uint16, u16, u16::wrapping_neg, |a: u16| a);

macro_rules! float_semantics {
    ($name:ident, $t:ty) => {
        fn $name(op: Op, a: $t, b: $t, c: $t) -> Constant {
            let value: $t = match op {
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
                Op::Rem => a % b,
                Op::Neg => -a,
                Op::Abs => a.abs(),
                Op::Min => a.smaller(b),
                Op::Max => a.larger(b),
                Op::Sqrt => a.sqrt(),
                Op::Exp => a.exp(),
                Op::Exp2 => a.exp2(),
                Op::Log => a.ln(),
                Op::Log2 => a.log2(),
                Op::Log10 => a.log10(),
                Op::Sin => a.sin(),
                Op::Cos => a.cos(),
                Op::Tan => a.tan(),
                Op::Asin => a.asin(),
                Op::Acos => a.acos(),
                Op::Atan => a.atan(),
                Op::Sinh => a.sinh(),
                Op::Cosh => a.cosh(),
                Op::Tanh => a.tanh(),
                Op::Floor => a.floor(),
                Op::Ceil => a.ceil(),
                Op::Round => a.round(),
                Op::Trunc => a.trunc(),
                Op::Pow => a.powf(b),
                Op::Atan2 => a.atan2(b),
                Op::MulAdd => a.mul_add(b, c),
                Op::ExpM1 => a.exp_m1(),
                Op::Ln1p => a.ln_1p(),
                Op::Hypot => a.hypot(b),
                Op::RoundTiesEven => a.round_ties_even(),
                // In doubles for every type: these need not be fast.
                Op::Cbrt => libm::cbrt(a.into()) as $t,
                Op::Exp10 => 10f64.powf(a.into()) as $t,
                Op::Asinh => libm::asinh(a.into()) as $t,
                // Which `libm` does not say below -1.
                Op::Acosh if a < 1.0 => <$t>::NAN,
                Op::Acosh => libm::acosh(a.into()) as $t,
                Op::Atanh => libm::atanh(a.into()) as $t,
                Op::Erf => libm::erf(a.into()) as $t,
                Op::Erfc => libm::erfc(a.into()) as $t,
                Op::Gamma => libm::tgamma(a.into()) as $t,
                Op::LnGamma => libm::lgamma(a.into()) as $t,
                Op::Eq => return (a == b).into(),
                Op::Ne => return (a != b).into(),
                Op::Lt => return (a < b).into(),
                Op::Le => return (a <= b).into(),
                _ => 0.0,
            };
            value.into()
        }
    };
}
float_semantics!(float32, f32);
float_semantics!(float64, f64);

/// Operations on floats of 16 bits: done in `f32` (in `f64` for [`Op::MulAdd`]), and rounded. So arithmetic, division, remainder
/// and square root are correctly rounded, as the wider type has more than twice the digits.
fn half(op: Op, ty: ScalarType, [a, b, c]: [f64; 3]) -> Constant {
    let wide = match op {
        Op::MulAdd => float64(op, a, b, c),
        _ => float32(op, a as f32, b as f32, c as f32),
    };
    match wide.as_float() {
        Some(value) => Constant::from_float(ty, value),
        None => wide,
    }
}

fn cast(to: ScalarType, from: Constant) -> Constant {
    if let Some(value) = from.as_float() {
        return match to {
            ScalarType::Bool => (value != 0.0).into(),
            ScalarType::I32 => (value as i32).into(),
            ScalarType::I64 => (value as i64).into(),
            ScalarType::U32 => (value as u32).into(),
            ScalarType::U64 => (value as u64).into(),
            ScalarType::I8 => (value as i8).into(),
            ScalarType::I16 => (value as i16).into(),
            ScalarType::U8 => (value as u8).into(),
            ScalarType::U16 => (value as u16).into(),
            ScalarType::F32 | ScalarType::F64 | ScalarType::F16 | ScalarType::BF16 => {
                Constant::from_float(to, value)
            }
        };
    }
    Constant::from_integer(to, from.as_integer().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for &op in Op::ALL {
            assert_eq!(Op::from_name(op.name()), Some(op));
        }
    }

    #[test]
    fn integers_wrap_shifts_mask_and_casts_saturate() {
        let i = |v: i32| Constant::from(v);
        let ty = ScalarType::I32;
        assert_eq!(Op::Add.evaluate(ty, &[i(i32::MAX), i(1)]), i(i32::MIN));
        assert_eq!(Op::Div.evaluate(ty, &[i(i32::MIN), i(-1)]), i(i32::MIN));
        assert_eq!(Op::Div.evaluate(ty, &[i(7), i(0)]), i(0));
        assert_eq!(Op::Shl.evaluate(ty, &[i(1), i(33)]), i(2));
        assert_eq!(Op::Shr.evaluate(ty, &[i(-8), i(1)]), i(-4));
        assert_eq!(Op::Cast.evaluate(ty, &[3e10f32.into()]), i(i32::MAX));
        assert_eq!(Op::Cast.evaluate(ty, &[f32::NAN.into()]), i(0));
        assert_eq!(Op::Cast.evaluate(ScalarType::U32, &[i(-1)]), u32::MAX.into());
        assert_eq!(Op::Cast.evaluate(ScalarType::F32, &[(-1i64).into()]), (-1.0f32).into());
    }

    #[test]
    fn small_types_wrap_saturate_and_round() {
        use half::{bf16, f16};
        let b = |v: i8| Constant::from(v);
        let ty = ScalarType::I8;
        assert_eq!(Op::Add.evaluate(ty, &[b(127), b(1)]), b(-128));
        assert_eq!(Op::Mul.evaluate(ty, &[b(16), b(16)]), b(0));
        assert_eq!(Op::Div.evaluate(ty, &[b(-128), b(-1)]), b(-128));
        assert_eq!(Op::Shl.evaluate(ty, &[b(1), b(9)]), b(2));
        assert_eq!(Op::LeadingZeros.evaluate(ty, &[b(1)]), b(7));
        assert_eq!(Op::CountOnes.evaluate(ty, &[b(-1)]), b(8));
        assert_eq!(Op::Cast.evaluate(ScalarType::U8, &[(-7.5f32).into()]), 0u8.into());
        assert_eq!(Op::Cast.evaluate(ScalarType::U8, &[300i32.into()]), 44u8.into());
        assert_eq!(Op::Cast.evaluate(ScalarType::I16, &[f16::INFINITY.into()]), i16::MAX.into());
        let h = |v: f32| Constant::from(f16::from_f32(v));
        // 2049 is midway, and ties go to even.
        assert_eq!(Op::Add.evaluate(ScalarType::F16, &[h(2048.0), h(1.0)]), h(2048.0));
        assert_eq!(Op::Mul.evaluate(ScalarType::F16, &[h(300.0), h(300.0)]), h(f32::INFINITY));
        assert_eq!(Op::Lt.evaluate(ScalarType::Bool, &[h(-0.0), h(0.0)]), false.into());
        assert_eq!(Op::Min.evaluate(ScalarType::F16, &[h(f32::NAN), h(3.0)]), h(3.0));
        // The product is midway, and the summand says to which side: an `f32` would lose it.
        let midway = [h(1.0 + 2f32.powi(-10)), h(1.0 + 2f32.powi(-1))];
        let fused = |summand| Op::MulAdd.evaluate(ScalarType::F16, &[midway[0], midway[1], h(summand)]);
        assert_eq!(fused(0.0), h(1.5 + 2f32.powi(-9)));
        assert_eq!(fused(-(2f32.powi(-24))), h(1.5 + 2f32.powi(-10)));
        assert_eq!(Op::Cast.evaluate(ScalarType::BF16, &[h(1.5)]), bf16::from_f32(1.5).into());
    }
}
