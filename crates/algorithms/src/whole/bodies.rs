//! The bodies of [`nbody`](super::nbody) as structs, with operators of their own. Structs cost nothing: kernels are those of the
//! version with tuples, to the last instruction.

use super::nbody::SOFTENING;
use pumice::prelude::*;
use std::ops::{Add, Mul, Sub};

/// Three coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Triple {
    /// The first.
    pub x: f32,
    /// The second.
    pub y: f32,
    /// The third.
    pub z: f32,
}

/// A body.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Body {
    /// Where it is.
    pub position: Triple,
    /// How far it goes in a unit of time.
    pub velocity: Triple,
    /// What it weighs.
    pub mass: f32,
}

impl Add for TripleExp {
    type Output = TripleExp;
    fn add(self, other: TripleExp) -> TripleExp {
        TripleExp { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for TripleExp {
    type Output = TripleExp;
    fn sub(self, other: TripleExp) -> TripleExp {
        self + other * constant(-1.0)
    }
}

impl Mul<Exp<f32>> for TripleExp {
    type Output = TripleExp;
    fn mul(self, factor: Exp<f32>) -> TripleExp {
        TripleExp { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl TripleExp {
    fn dot(self, other: TripleExp) -> Exp<f32> {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
}

/// Moves bodies for so many steps of a length in time. The constant of gravitation is 1.
///
/// ```
/// use pumice_algorithms::whole::bodies::{Body, Triple, advance};
/// let advance = pumice::Compiler::on("sim")?.compile(advance)?;
/// // Alone, a body goes straight on.
/// let body = |x, z| Body {
///     position: Triple { x, y: 1.0, z },
///     velocity: Triple { x: 4.0, y: 0.0, z: -1.0 },
///     mass: 1.0,
/// };
/// assert_eq!(advance.run((&[body(0.0, 2.0)], 0.25, 2))?.to_vec()?, [body(2.0, 1.5)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn advance(bodies: Acc<Vector<Body>>, step: Exp<f32>, steps: Exp<i64>) -> Acc<Vector<Body>> {
    let positions = bodies.clone().map(|body| body.position);
    let velocities = bodies.clone().map(|body| body.velocity);
    let masses = bodies.map(|body| body.mass);
    let (positions, velocities) = iterate(steps, (positions, velocities), |(positions, velocities)| {
        let half_way = positions.zip_with(velocities.clone(), |p, v| p + v * (step * 0.5));
        let forces = forces(half_way.clone(), masses.clone());
        let velocities = velocities.zip_with(forces, |v, a| v + a * step);
        (half_way.zip_with(velocities.clone(), |p, v| p + v * (step * 0.5)), velocities)
    });
    positions.zip_with3(velocities, masses, |position, velocity, mass| BodyExp { position, velocity, mass })
}

/// What all bodies together do to each, for its mass.
fn forces(positions: Acc<Vector<Triple>>, masses: Acc<Vector<f32>>) -> Acc<Vector<Triple>> {
    let n = positions.size();
    let pull = |(i, j): (Exp<i64>, Exp<i64>)| {
        let way = positions.at(j) - positions.at(i);
        let square = way.dot(way) + SOFTENING;
        way * (masses.at(j) / (square * square.sqrt()))
    };
    generate((n, n), pull).fold(Triple { x: 0.0, y: 0.0, z: 0.0 }, |a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whole::nbody;
    use pumice::layers::array::Launch;
    use pumice::{Compiler, Result};

    fn with_structs(((x, y, z), (u, v, w), mass): nbody::Body) -> Body {
        Body { position: Triple { x, y, z }, velocity: Triple { x: u, y: v, z: w }, mass }
    }

    fn texts(launches: Vec<Launch>) -> Vec<String> {
        launches.iter().map(|launch| launch.program.key_text()).collect()
    }

    /// Without names and places the kernels are equal, for arrays of few bodies, whose loop is one kernel, and of many.
    #[test]
    fn structs_and_tuples_give_the_same_kernels() -> Result<()> {
        let compilers = [Compiler::on("sim")?, Compiler::on("cpu")?];
        for compiler in compilers {
            let (tuples, structs) = (compiler.compile(nbody::advance)?, compiler.compile(advance)?);
            for count in [1, 100, 5000] {
                let bodies = nbody::plain::disc(count, 7);
                let derived: Vec<Body> = bodies.iter().copied().map(with_structs).collect();
                let of_tuples = texts(tuples.skeletons((&bodies, 0.01, 3))?);
                let of_structs = texts(structs.skeletons((&derived, 0.01, 3))?);
                assert!(!of_tuples.is_empty());
                assert_eq!(of_tuples, of_structs, "{count} bodies on {}", compiler.device().name());
            }
            let bodies = nbody::plain::disc(9, 7);
            let derived: Vec<Body> = bodies.iter().copied().map(with_structs).collect();
            let plain: Vec<Body> =
                tuples.run((&bodies, 0.01, 3))?.to_vec()?.into_iter().map(with_structs).collect();
            assert_eq!(structs.run((&derived, 0.01, 3))?.to_vec()?, plain);
        }
        Ok(())
    }
}
