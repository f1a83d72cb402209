//! The bodies of [`nbody`] as structs, with operators of their own. Structs cost nothing: kernels are those of the
//! version with tuples, to the last instruction.

use super::nbody::{self, SOFTENING};
pub use super::space::Triple;
use pumice::prelude::*;

/// A body.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Body {
    /// Position.
    pub position: Triple,
    /// Distance per unit of time.
    pub velocity: Triple,
    /// Mass.
    pub mass: f32,
}

impl From<nbody::Body> for Body {
    fn from(((x, y, z), (u, v, w), mass): nbody::Body) -> Body {
        Body { position: Triple { x, y, z }, velocity: Triple { x: u, y: v, z: w }, mass }
    }
}

/// Coordinates of all bodies.
type Triples = Acc<Vector<Triple>>;

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
    let (positions, velocities, masses) = parts(bodies);
    let (positions, velocities) = iterate(steps, (positions, velocities), |(positions, velocities)| {
        moved(positions, velocities, masses.clone(), step)
    });
    positions.zip_with3(velocities, masses, |position, velocity, mass| BodyExp { position, velocity, mass })
}

/// The bodies after one step of a length in time: as [`advance`] for a single step, without a loop.
///
/// ```
/// use pumice_algorithms::whole::bodies::{Body, Triple, step};
/// let step = pumice::Compiler::on("sim")?.compile(step)?;
/// let still = Triple { x: 0.0, y: 0.0, z: 0.0 };
/// let body = Body { position: still, velocity: still, mass: 1.0 };
/// assert_eq!(step.run((&[body], 0.5))?.to_vec()?, [body]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn step(bodies: Acc<Vector<Body>>, step: Exp<f32>) -> Acc<Vector<Body>> {
    let (positions, velocities, masses) = parts(bodies);
    let (positions, velocities) = moved(positions, velocities, masses.clone(), step);
    positions.zip_with3(velocities, masses, |position, velocity, mass| BodyExp { position, velocity, mass })
}

/// Splits bodies into positions, velocities and masses.
fn parts(bodies: Acc<Vector<Body>>) -> (Triples, Triples, Acc<Vector<f32>>) {
    let positions = bodies.clone().map(|body| body.position);
    let velocities = bodies.clone().map(|body| body.velocity);
    (positions, velocities, bodies.map(|body| body.mass))
}

/// Positions and velocities after one step.
fn moved(
    positions: Triples,
    velocities: Triples,
    masses: Acc<Vector<f32>>,
    step: Exp<f32>,
) -> (Triples, Triples) {
    let half_way = positions.zip_with(velocities.clone(), |p, v| p + v * (step * 0.5));
    let forces = forces(half_way.clone(), masses);
    let velocities = velocities.zip_with(forces, |v, a| v + a * step);
    (half_way.zip_with(velocities.clone(), |p, v| p + v * (step * 0.5)), velocities)
}

/// The acceleration of each body by all bodies.
fn forces(positions: Triples, masses: Acc<Vector<f32>>) -> Triples {
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
    use pumice::layers::array::Launch;
    use pumice::{Compiler, Result};

    /// The kernels without places, names of values, and their own: those are the operations that they come from.
    fn texts(launches: Vec<Launch>) -> Vec<String> {
        let text = |launch: &Launch| Some(launch.program.key_text().split_once('\n')?.1.to_string());
        launches.iter().filter_map(text).collect()
    }

    /// For few bodies, whose loop is one kernel, and for many.
    #[test]
    fn structs_and_tuples_give_the_same_kernels() -> Result<()> {
        let compilers = [Compiler::on("sim")?, Compiler::on("cpu")?];
        for compiler in compilers {
            let (tuples, structs) = (compiler.compile(nbody::advance)?, compiler.compile(advance)?);
            for count in [1, 100, 5000] {
                let bodies = nbody::plain::disc(count, 7);
                let derived: Vec<Body> = bodies.iter().copied().map(Body::from).collect();
                let of_tuples = texts(tuples.skeletons((&bodies, 0.01, 3))?);
                let of_structs = texts(structs.skeletons((&derived, 0.01, 3))?);
                assert!(!of_tuples.is_empty());
                assert_eq!(of_tuples, of_structs, "{count} bodies on {}", compiler.device().name());
            }
            let bodies = nbody::plain::disc(9, 7);
            let derived: Vec<Body> = bodies.iter().copied().map(Body::from).collect();
            let plain: Vec<Body> =
                tuples.run((&bodies, 0.01, 3))?.to_vec()?.into_iter().map(Body::from).collect();
            assert_eq!(structs.run((&derived, 0.01, 3))?.to_vec()?, plain);
        }
        Ok(())
    }
}
