//! Conversions between all types, with values at the edges of each.

use crate::data::{floats, values};
use crate::{Harness, Outcome};
use pumice::Primitive;
use pumice::prelude::*;

type All = (bool, i32, i64, u32, u64, f32, f64);

fn casts<T: Primitive>(h: &Harness, inputs: &[T], plain: impl Fn(T) -> All) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<T>>| {
        xs.map(|x: Exp<T>| (x.cast(), x.cast(), x.cast(), x.cast(), x.cast(), x.cast(), x.cast()))
    })?;
    let expected: Vec<All> = inputs.iter().map(|x| plain(*x)).collect();
    let names = ["to bool", "to i32", "to i64", "to u32", "to u64", "to f32", "to f64"];
    program.check_named(inputs, &expected, crate::Tolerance::Exact, &names)
}

pub fn from_bool(h: &Harness) -> Outcome {
    casts(h, &[false, true, true], |x| {
        let number = u8::from(x);
        (x, number.into(), number.into(), number.into(), number.into(), number.into(), number.into())
    })
}

macro_rules! integer_casts {
    ($($name:ident $t:ident [$($edge:expr),*];)*) => { $(
        pub fn $name(h: &Harness) -> Outcome {
            let mut inputs: Vec<$t> = vec![0, 1, 2, 255, 16_777_217, <$t>::MAX, <$t>::MAX - 1, <$t>::MIN, $($edge),*];
            inputs.extend(values::<$t>(60, 300));
            casts(h, &inputs, |x| (x != 0, x as i32, x as i64, x as u32, x as u64, x as f32, x as f64))
        }
    )* };
}
integer_casts! {
    from_i32 i32 [-1, -2, i32::MIN + 1];
    from_i64 i64 [-1, i64::from(i32::MIN), i64::from(u32::MAX), 1 << 32, (1 << 53) + 1, -(1 << 53) - 1, i64::MIN + 1];
    from_u32 u32 [1 << 31, (1 << 31) - 1];
    from_u64 u64 [1 << 31, 1 << 32, u64::from(u32::MAX), 1 << 63, (1 << 53) + 1, i64::MAX as u64];
}

macro_rules! float_casts {
    ($($name:ident $t:ident;)*) => { $(
        pub fn $name(h: &Harness) -> Outcome {
            let mut inputs: Vec<$t> = vec![
                0.0, -0.0, 0.5, -0.5, 0.999, 1.0, -1.0, 1.5, -1.5, 2.5, 255.0, 256.0, -128.5, 2147483520.0, 2147483647.0,
                2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967295.0, 4294967296.0, 9.2e18, 9.3e18,
                -9.2e18, -9.3e18, 1.8e19, 1.9e19, 1e30, -1e30, <$t>::MIN_POSITIVE, <$t>::MIN_POSITIVE / 4.0, <$t>::MAX,
                <$t>::MIN, <$t>::INFINITY, <$t>::NEG_INFINITY, <$t>::NAN, 16777217.0, 1e-40 as $t, 3.4028235e38 as $t,
            ];
            inputs.extend(floats(61, 100, -1e5, 1e5).iter().map(|x| *x as $t));
            inputs.extend(floats(62, 100, -1e19, 2e19).iter().map(|x| *x as $t));
            casts(h, &inputs, |x| (x != 0.0, x as i32, x as i64, x as u32, x as u64, x as f32, x as f64))
        }
    )* };
}
float_casts! {
    from_f32 f32;
    from_f64 f64;
}
