//! The smaller and the larger of two floats, as every device computes them. Nothing else of floats is here: all other
//! operations are Rust's own.

/// Minimum and maximum of floats: `minimumNumber` and `maximumNumber` of IEEE 754-2019.
///
/// Of a NaN and a number, the result is the number; -0.0 is smaller than 0.0. So both operations are commutative and
/// associative to the bit (any NaN for a NaN), which [`f32::min`] and [`f32::max`] are not.
pub trait FloatOrder: Copy {
    /// Returns the smaller of the two.
    fn smaller(self, other: Self) -> Self;
    /// Returns the larger of the two.
    fn larger(self, other: Self) -> Self;
}

macro_rules! float_order {
    ($($t:ident)*) => { $(
        impl FloatOrder for $t {
            #[inline]
            fn smaller(self, other: $t) -> $t {
                // Equal floats differ in the sign of zero at most.
                if self == other { <$t>::from_bits(self.to_bits() | other.to_bits()) } else { self.min(other) }
            }

            #[inline]
            fn larger(self, other: $t) -> $t {
                if self == other { <$t>::from_bits(self.to_bits() & other.to_bits()) } else { self.max(other) }
            }
        }
    )* };
}
float_order!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_ordered_and_numbers_preferred() {
        for (a, b) in [(0.0f32, -0.0f32), (-0.0, 0.0)] {
            assert_eq!((a.smaller(b).to_bits(), a.larger(b).to_bits()), ((-0.0f32).to_bits(), 0));
            let (a, b) = (f64::from(a), f64::from(b));
            assert_eq!((a.smaller(b).to_bits(), a.larger(b).to_bits()), ((-0.0f64).to_bits(), 0));
        }
        assert_eq!((f32::NAN.smaller(1.0), 1f32.larger(f32::NAN), 2f32.larger(1.0)), (1.0, 1.0, 2.0));
        assert!(f64::NAN.larger(f64::NAN).is_nan());
        assert_eq!((-0.0f32).larger(-0.0).to_bits(), (-0.0f32).to_bits());
    }
}
