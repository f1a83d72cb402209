//! Values of all lanes of a warp at once, and operations on them.
//!
//! [`Op::evaluate`] says what operations mean. What is here does the same for a whole warp without looking at types lane
//! by lane, for the operations that programs mostly consist of; a test compares the two. A lane that is not active may
//! get any value, as nothing reads it.

use pumice_scalar::{Constant, FloatOrder, Op, ScalarType, bf16, f16};

use super::code::Computation;
use crate::ir::WARP;

/// Lanes of a warp.
pub(super) const LANES: usize = WARP as usize;

/// A value a lane: the bits of a constant, zero-extended.
pub(super) type Lanes = [u64; LANES];

/// A bit a lane.
pub(super) type Mask = u32;

/// All lanes.
pub(super) const ALL: Mask = Mask::MAX;

/// The numbers of the lanes in a mask, in order.
pub(super) fn active(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < WARP).then_some(lane as usize)
    })
}

/// The lanes whose value, a `bool`, is true.
pub(super) fn truth(values: &Lanes) -> Mask {
    let mut mask = 0;
    for (lane, value) in values.iter().enumerate() {
        mask |= ((value & 1) as Mask) << lane;
    }
    mask
}

/// Replaces the values of the lanes in a mask.
pub(super) fn blend(into: &mut Lanes, from: &Lanes, mask: Mask) {
    if mask == ALL {
        *into = *from;
        return;
    }
    for lane in 0..LANES {
        into[lane] = if mask >> lane & 1 != 0 { from[lane] } else { into[lane] };
    }
}

/// Integers of some type as 64-bit numbers. Those of `u64` that do not fit become the largest one.
pub(super) fn widen(ty: ScalarType, values: &Lanes) -> [i64; LANES] {
    let mut wide = [0; LANES];
    match ty {
        ScalarType::I32 => {
            for lane in 0..LANES {
                wide[lane] = i64::from(values[lane] as u32 as i32);
            }
        }
        ScalarType::I8 => {
            for lane in 0..LANES {
                wide[lane] = i64::from(values[lane] as i8);
            }
        }
        ScalarType::I16 => {
            for lane in 0..LANES {
                wide[lane] = i64::from(values[lane] as i16);
            }
        }
        ScalarType::U64 => {
            for lane in 0..LANES {
                wide[lane] = values[lane].min(i64::MAX as u64) as i64;
            }
        }
        _ => {
            for lane in 0..LANES {
                wide[lane] = values[lane] as i64;
            }
        }
    }
    wide
}

/// An integer of some type.
pub(super) fn integer(ty: ScalarType, bits: u64) -> i128 {
    Constant::from_bits(ty, bits).as_integer().unwrap_or_default()
}

/// The active lanes for which an integer operation leaves its type, or divides by a number that is not positive.
pub(super) fn inexact(computation: &Computation, a: &Lanes, b: &Lanes, mask: Mask) -> Mask {
    macro_rules! check {
        ($t:ty) => {{
            macro_rules! each {
                ($f:expr) => {{
                    let mut all = [0; LANES];
                    each(a, b, &mut all, |bits| bits as $t, u64::from, $f);
                    truth(&all)
                }};
            }
            let bad = match computation.op {
                Op::Add => each!(|a, b| a.overflowing_add(b).1),
                Op::Sub => each!(|a, b| a.overflowing_sub(b).1),
                Op::Mul => each!(|a, b| a.overflowing_mul(b).1),
                Op::Neg => each!(|a, _| a.overflowing_neg().1),
                #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
                Op::Div | Op::Rem => each!(|_, b| b <= 0),
                _ => 0,
            };
            bad & mask
        }};
    }
    match computation.ty {
        ScalarType::I32 => check!(i32),
        ScalarType::I64 => check!(i64),
        ScalarType::U32 => check!(u32),
        ScalarType::U64 => check!(u64),
        ScalarType::I8 => check!(i8),
        ScalarType::I16 => check!(i16),
        ScalarType::U8 => check!(u8),
        ScalarType::U16 => check!(u16),
        ScalarType::Bool | ScalarType::F32 | ScalarType::F64 | ScalarType::F16 | ScalarType::BF16 => 0,
    }
}

/// Does an operation for the active lanes.
pub(super) fn compute(computation: &Computation, operands: [&Lanes; 3], mask: Mask, out: &mut Lanes) {
    if !fast(computation, operands, out) {
        slow(computation, operands, mask, out);
    }
}

/// Lane by lane.
fn slow(computation: &Computation, operands: [&Lanes; 3], mask: Mask, out: &mut Lanes) {
    let mut constants = [Constant::zero(ScalarType::Bool); 3];
    for lane in active(mask) {
        for (position, constant) in constants.iter_mut().enumerate() {
            *constant = Constant::from_bits(computation.types[position], operands[position][lane]);
        }
        out[lane] = computation.op.evaluate(computation.ty, &constants[..computation.count]).bits();
    }
}

/// For all lanes, if the operation is one of those that are worth it.
fn fast(computation: &Computation, [a, b, c]: [&Lanes; 3], out: &mut Lanes) -> bool {
    let (op, ty, from) = (computation.op, computation.ty, computation.types[0]);
    match op {
        Op::Select => {
            for lane in 0..LANES {
                out[lane] = if a[lane] != 0 { b[lane] } else { c[lane] };
            }
            return true;
        }
        Op::Cast => return cast(ty, from, a, out),
        Op::Bitcast if ty != ScalarType::Bool => {
            *out = *a;
            return true;
        }
        _ => {}
    }
    match from {
        ScalarType::I32 => int32(op, a, b, out),
        ScalarType::I64 => int64(op, a, b, out),
        ScalarType::U32 => uint32(op, a, b, out),
        ScalarType::U64 => uint64(op, a, b, out),
        ScalarType::F32 => float32(op, a, b, c, out),
        ScalarType::F64 => float64(op, a, b, c, out),
        ScalarType::Bool => boolean(op, a, b, out),
        ScalarType::I8 => int8(op, a, b, out),
        ScalarType::I16 => int16(op, a, b, out),
        ScalarType::U8 => uint8(op, a, b, out),
        ScalarType::U16 => uint16(op, a, b, out),
        ScalarType::F16 => half16(op, a, b, c, out),
        ScalarType::BF16 => bfloat16(op, a, b, c, out),
    }
}

/// Reads two operands, computes, and writes the result, for all lanes.
#[inline(always)]
fn each<T, R>(
    a: &Lanes,
    b: &Lanes,
    out: &mut Lanes,
    read: impl Fn(u64) -> T,
    write: impl Fn(R) -> u64,
    compute: impl Fn(T, T) -> R,
) {
    for lane in 0..LANES {
        out[lane] = write(compute(read(a[lane]), read(b[lane])));
    }
}

fn boolean(op: Op, a: &Lanes, b: &Lanes, out: &mut Lanes) -> bool {
    macro_rules! each {
        ($f:expr) => {
            each(a, b, out, |bits| bits, |bits| bits, $f)
        };
    }
    match op {
        Op::And => each!(|a, b| a & b),
        Op::Or => each!(|a, b| a | b),
        Op::Xor | Op::Ne => each!(|a, b| a ^ b),
        Op::Not => each!(|a, _| a ^ 1),
        Op::Eq => each!(|a, b| a ^ b ^ 1),
        _ => return false,
    }
    true
}

macro_rules! integers {
    ($name:ident, $t:ty, $unsigned:ty) => {
        fn $name(op: Op, a: &Lanes, b: &Lanes, out: &mut Lanes) -> bool {
            macro_rules! each {
                ($f:expr) => {
                    each(a, b, out, |bits| bits as $t, |value: $t| value as $unsigned as u64, $f)
                };
            }
            macro_rules! test {
                ($f:expr) => {
                    each(a, b, out, |bits| bits as $t, u64::from, $f)
                };
            }
            match op {
                Op::Add => each!(|a, b| a.wrapping_add(b)),
                Op::Sub => each!(|a, b| a.wrapping_sub(b)),
                Op::Mul => each!(|a, b| a.wrapping_mul(b)),
                Op::Div => each!(|a, b| if b == 0 { 0 } else { a.wrapping_div(b) }),
                Op::Rem => each!(|a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }),
                Op::Neg => each!(|a, _| a.wrapping_neg()),
                Op::Min => each!(|a, b| a.min(b)),
                Op::Max => each!(|a, b| a.max(b)),
                Op::And => each!(|a, b| a & b),
                Op::Or => each!(|a, b| a | b),
                Op::Xor => each!(|a, b| a ^ b),
                Op::Not => each!(|a, _| !a),
                Op::Shl => each!(|a, b| a.wrapping_shl(b as u32)),
                Op::Shr => each!(|a, b| a.wrapping_shr(b as u32)),
                Op::Eq => test!(|a, b| a == b),
                Op::Ne => test!(|a, b| a != b),
                Op::Lt => test!(|a, b| a < b),
                Op::Le => test!(|a, b| a <= b),
                _ => return false,
            }
            true
        }
    };
}
integers!(int32, i32, u32);
integers!(int64, i64, u64);
integers!(uint32, u32, u32);
integers!(uint64, u64, u64);
integers!(int8, i8, u8);
integers!(int16, i16, u16);
integers!(uint8, u8, u8);
integers!(uint16, u16, u16);

macro_rules! floats {
    ($name:ident, $value:expr, $bits:expr $(, $mul_add:expr)?) => {
        #[allow(unused_variables)]
        fn $name(op: Op, a: &Lanes, b: &Lanes, c: &Lanes, out: &mut Lanes) -> bool {
            macro_rules! each {
                ($f:expr) => {
                    each(a, b, out, $value, $bits, $f)
                };
            }
            macro_rules! test {
                ($f:expr) => {
                    each(a, b, out, $value, u64::from, $f)
                };
            }
            match op {
                Op::Add => each!(|a, b| a + b),
                Op::Sub => each!(|a, b| a - b),
                Op::Mul => each!(|a, b| a * b),
                Op::Div => each!(|a, b| a / b),
                Op::Neg => each!(|a, _| -a),
                Op::Abs => each!(|a, _| a.abs()),
                Op::Min => each!(|a, b| a.smaller(b)),
                Op::Max => each!(|a, b| a.larger(b)),
                Op::Sqrt => each!(|a, _| a.sqrt()),
                $(Op::MulAdd => {
                    for lane in 0..LANES {
                        out[lane] = $bits($mul_add($value(a[lane]), $value(b[lane]), $value(c[lane])));
                    }
                })?
                Op::Eq => test!(|a, b| a == b),
                Op::Ne => test!(|a, b| a != b),
                Op::Lt => test!(|a, b| a < b),
                Op::Le => test!(|a, b| a <= b),
                _ => return false,
            }
            true
        }
    };
}
floats!(float32, |bits| f32::from_bits(bits as u32), |value: f32| u64::from(value.to_bits()), f32::mul_add);
floats!(float64, f64::from_bits, f64::to_bits, f64::mul_add);
// Each operation is done in `f32` and rounded; but `mul_add` is not.
floats!(half16, |bits| f16::from_bits(bits as u16).to_f32(), |value| u64::from(
    f16::from_f32(value).to_bits()
));
floats!(bfloat16, |bits| bf16::from_bits(bits as u16).to_f32(), |value| u64::from(
    bf16::from_f32(value).to_bits()
));

fn cast(to: ScalarType, from: ScalarType, a: &Lanes, out: &mut Lanes) -> bool {
    macro_rules! each {
        ($f:expr) => {
            each(a, a, out, |bits| bits, $f, |bits, _| bits)
        };
    }
    use ScalarType::*;
    if (from.is_small() || to.is_small()) && !from.is_float() && !to.is_float() && to != Bool {
        let wide = widen(from, a);
        let mask = u64::MAX >> (64 - 8 * to.bytes());
        if from == U64 {
            each!(|bits| bits & mask);
        } else {
            for lane in 0..LANES {
                out[lane] = wide[lane] as u64 & mask;
            }
        }
        return true;
    }
    match (from, to) {
        (F16, F32) => each!(|bits| u64::from(f16::from_bits(bits as u16).to_f32().to_bits())),
        (BF16, F32) => each!(|bits| bits << 16),
        (F32, F16) => each!(|bits| u64::from(f16::from_f32(f32::from_bits(bits as u32)).to_bits())),
        (F32, BF16) => each!(|bits| u64::from(bf16::from_f32(f32::from_bits(bits as u32)).to_bits())),
        (I32, I64 | U64) => each!(|bits| i64::from(bits as u32 as i32) as u64),
        (Bool | I32 | U32, I32 | U32) | (Bool | U32 | I64 | U64, I64 | U64) => *out = *a,
        (I64 | U64, I32 | U32) => each!(|bits| bits & 0xffff_ffff),
        (I32 | I64 | U32 | U64, Bool) => each!(|bits| u64::from(bits != 0)),
        (I32, F32) => each!(|bits| u64::from((bits as u32 as i32 as f32).to_bits())),
        (I64, F32) => each!(|bits| u64::from((bits as i64 as f32).to_bits())),
        (Bool | U32 | U64, F32) => each!(|bits| u64::from((bits as f32).to_bits())),
        (I32, F64) => each!(|bits| f64::from(bits as u32 as i32).to_bits()),
        (I64, F64) => each!(|bits| (bits as i64 as f64).to_bits()),
        (Bool | U32 | U64, F64) => each!(|bits| (bits as f64).to_bits()),
        (F32, I32) => each!(|bits| u64::from((f32::from_bits(bits as u32) as i32) as u32)),
        (F32, I64) => each!(|bits| (f32::from_bits(bits as u32) as i64) as u64),
        (F64, I32) => each!(|bits| u64::from((f64::from_bits(bits) as i32) as u32)),
        (F64, I64) => each!(|bits| (f64::from_bits(bits) as i64) as u64),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that are often special, and any others.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let any = *state ^ *state >> 29;
        match any % 8 {
            0 => any >> 8 & 3,
            1 => u64::MAX - (any >> 8 & 1),
            2 => 1 << 63 | (any >> 8 & 1),
            3 => 1 << 31 | (any >> 8 & 1),
            4 => f64::from((any >> 40) as i32 - (1 << 23)).to_bits(),
            5 => u64::from(((any >> 40) as f32 - 8e6).to_bits()),
            6 => *[f32::NAN, f32::INFINITY, -0.0, 1e30]
                .map(|x| u64::from(x.to_bits()))
                .get(any as usize >> 8 & 3)
                .unwrap_or(&0),
            _ => any.rotate_left(17),
        }
    }

    fn same(ty: ScalarType, one: u64, other: u64) -> bool {
        let nan = |bits| Constant::from_bits(ty, bits).as_float().is_some_and(f64::is_nan);
        one == other || nan(one) && nan(other)
    }

    #[test]
    fn warps_compute_what_constants_do() {
        let mut state = 7;
        let (mut quick, mut compared) = (0, 0);
        for &op in Op::ALL {
            for ty in ScalarType::ALL {
                for from in ScalarType::ALL {
                    let types = match op {
                        Op::Select => [ScalarType::Bool, from, from],
                        _ => [from; 3],
                    };
                    let count = op.arity();
                    if !op.accepts(ty, &types[..count]) {
                        continue;
                    }
                    let computation = Computation { op, ty, types, operands: [0; 3], count, exact: false };
                    for _ in 0..20 {
                        let operands = types.map(|ty| {
                            [(); LANES].map(|()| Constant::from_bits(ty, random(&mut state)).bits())
                        });
                        let [a, b, c] = &operands;
                        let (mut fast_out, mut slow_out) = ([0; LANES], [0; LANES]);
                        slow(&computation, [a, b, c], ALL, &mut slow_out);
                        compared += 1;
                        if !fast(&computation, [a, b, c], &mut fast_out) {
                            continue;
                        }
                        quick += 1;
                        for lane in 0..LANES {
                            assert!(
                                same(ty, fast_out[lane], slow_out[lane]),
                                "{op:?} {from} -> {ty}: {:x} {:x} {:x}: {:x}, {:x}",
                                a[lane],
                                b[lane],
                                c[lane],
                                fast_out[lane],
                                slow_out[lane],
                            );
                        }
                    }
                }
            }
        }
        assert!(quick * 5 > compared * 2, "{quick} of {compared}");
    }

    #[test]
    fn inexact_is_what_leaves_the_type() {
        let mut state = 11;
        for op in [Op::Add, Op::Sub, Op::Mul, Op::Neg, Op::Div, Op::Rem, Op::Min] {
            for ty in ScalarType::ALL.into_iter().filter(|ty| ty.is_integer()) {
                let computation =
                    Computation { op, ty, types: [ty; 3], operands: [0; 3], count: 2, exact: true };
                for _ in 0..50 {
                    let [a, b] = [(); 2]
                        .map(|()| [(); LANES].map(|()| Constant::from_bits(ty, random(&mut state)).bits()));
                    let bad = inexact(&computation, &a, &b, ALL);
                    for lane in 0..LANES {
                        let (x, y) = (integer(ty, a[lane]), integer(ty, b[lane]));
                        let (low, high) = ty.range();
                        let within = |value: i128| low <= value && value <= high;
                        let exact = match op {
                            Op::Add => within(x + y),
                            Op::Sub => within(x - y),
                            Op::Mul => x.checked_mul(y).is_some_and(within),
                            Op::Neg => within(-x),
                            Op::Div | Op::Rem => y > 0,
                            _ => true,
                        };
                        assert_eq!(bad >> lane & 1 == 0, exact, "{op:?} {ty} {x} {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn lanes_are_taken_in_order() {
        assert_eq!(active(0).count(), 0);
        assert_eq!(active(ALL).collect::<Vec<_>>(), (0..LANES).collect::<Vec<_>>());
        assert_eq!(active(1 << 31 | 5).collect::<Vec<_>>(), [0, 2, 31]);
    }
}
