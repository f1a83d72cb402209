//! Three coordinates as a struct with operators, for plain values and for expressions, with which [`bodies`](super::bodies) and
//! [`ray_tracer`](super::ray_tracer) compute.

use pumice::prelude::*;
use std::ops::{Add, Mul, Sub};

/// A point in space or a vector; of a colour red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Triple {
    /// The first coordinate.
    pub x: f32,
    /// The second one.
    pub y: f32,
    /// The third one.
    pub z: f32,
}

#[embed]
impl Triple {
    /// The inner product with another vector.
    pub fn dot(self, other: Triple) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// A vector in the same direction whose length is 1.
    pub fn unit(self) -> Triple {
        self * (1.0 / self.dot(self).sqrt())
    }
}

#[embed]
impl Add for Triple {
    type Output = Triple;
    fn add(self, other: Triple) -> Triple {
        Triple { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

#[embed]
impl Sub for Triple {
    type Output = Triple;
    fn sub(self, other: Triple) -> Triple {
        Triple { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

#[embed]
impl Mul<f32> for Triple {
    type Output = Triple;
    fn mul(self, factor: f32) -> Triple {
        Triple { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}
