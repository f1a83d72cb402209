//! Comparisons of arrays up to a tolerance with the crate `approx`: extents are the same, and all elements are near each other. An array
//! whose elements cannot be had is near nothing.

use crate::data::Array;
use crate::shape::Shape;
use ::approx::{AbsDiffEq, RelativeEq, UlpsEq};
use pumice_scalar::Elt;

fn all<D: Shape, T: Elt>(one: &Array<D, T>, other: &Array<D, T>, is_near: impl Fn(&T, &T) -> bool) -> bool {
    let (Ok(ones), Ok(others)) = (one.as_slice(), other.as_slice()) else { return false };
    one.data().extents() == other.data().extents() && ones.iter().zip(others).all(|(x, y)| is_near(x, y))
}

/// ```
/// use approx::assert_abs_diff_eq;
/// use pumice::prelude::*;
/// let third = pumice::run(use_(&[1.0, 2.0]).map(|x| x / 3.0))?;
/// assert_abs_diff_eq!(third, Vector::from([0.3333, 0.6667]), epsilon = 1e-4);
/// # Ok::<(), pumice::Error>(())
/// ```
impl<D: Shape, T: Elt + AbsDiffEq> AbsDiffEq for Array<D, T>
where
    T::Epsilon: Clone,
{
    type Epsilon = T::Epsilon;
    fn default_epsilon() -> T::Epsilon {
        T::default_epsilon()
    }
    fn abs_diff_eq(&self, other: &Self, epsilon: T::Epsilon) -> bool {
        all(self, other, |x, y| x.abs_diff_eq(y, epsilon.clone()))
    }
}

impl<D: Shape, T: Elt + RelativeEq> RelativeEq for Array<D, T>
where
    T::Epsilon: Clone,
{
    fn default_max_relative() -> T::Epsilon {
        T::default_max_relative()
    }
    fn relative_eq(&self, other: &Self, epsilon: T::Epsilon, max_relative: T::Epsilon) -> bool {
        all(self, other, |x, y| x.relative_eq(y, epsilon.clone(), max_relative.clone()))
    }
}

impl<D: Shape, T: Elt + UlpsEq> UlpsEq for Array<D, T>
where
    T::Epsilon: Clone,
{
    fn default_max_ulps() -> u32 {
        T::default_max_ulps()
    }
    fn ulps_eq(&self, other: &Self, epsilon: T::Epsilon, max_ulps: u32) -> bool {
        all(self, other, |x, y| x.ulps_eq(y, epsilon.clone(), max_ulps))
    }
}
