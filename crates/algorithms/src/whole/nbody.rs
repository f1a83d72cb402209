//! Bodies that attract each other, all pairs of them, in steps of the leapfrog method: half a step along the velocities, a change of
//! the velocities by the forces there, and the other half.

use pumice::prelude::*;

/// Three coordinates.
pub type Triple = (f32, f32, f32);

/// A body: position, velocity and mass.
pub type Body = (Triple, Triple, f32);

/// Softening, which keeps forces between close bodies finite: added to the square of their distance.
pub const SOFTENING: f32 = 1e-4;

type Vector3 = (Exp<f32>, Exp<f32>, Exp<f32>);

/// Moves bodies for so many steps of a length in time. The constant of gravitation is 1.
///
/// ```
/// use pumice_algorithms::whole::nbody;
/// let advance = pumice::Compiler::on("sim")?.compile(nbody::advance)?;
/// // Alone, a body goes straight on.
/// let found = advance.run((&[((0.0, 1.0, 2.0), (4.0, 0.0, -1.0), 1.0)], 0.25, 2))?;
/// assert_eq!(found.to_vec()?, [((2.0, 1.0, 1.5), (4.0, 0.0, -1.0), 1.0)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn advance(bodies: Acc<Vector<Body>>, step: Exp<f32>, steps: Exp<i64>) -> Acc<Vector<Body>> {
    let (positions, velocities, masses) = bodies.unzip3();
    let (positions, velocities) = iterate(steps, (positions, velocities), |(positions, velocities)| {
        moved(positions, velocities, masses.clone(), step)
    });
    positions.zip_with3(velocities, masses, |p, v, m| (p, v, m))
}

/// The bodies after one step of a length in time: as [`advance`] for a single step, without a loop.
///
/// ```
/// use pumice_algorithms::whole::nbody;
/// let step = pumice::Compiler::on("sim")?.compile(nbody::step)?;
/// let found = step.run((&[((0.0, 1.0, 2.0), (4.0, 0.0, -1.0), 1.0)], 0.5))?;
/// assert_eq!(found.to_vec()?, [((2.0, 1.0, 1.5), (4.0, 0.0, -1.0), 1.0)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn step(bodies: Acc<Vector<Body>>, step: Exp<f32>) -> Acc<Vector<Body>> {
    let (positions, velocities, masses) = bodies.unzip3();
    let (positions, velocities) = moved(positions, velocities, masses.clone(), step);
    positions.zip_with3(velocities, masses, |p, v, m| (p, v, m))
}

/// Positions and velocities after one step.
fn moved(
    positions: Acc<Vector<Triple>>,
    velocities: Acc<Vector<Triple>>,
    masses: Acc<Vector<f32>>,
    step: Exp<f32>,
) -> (Acc<Vector<Triple>>, Acc<Vector<Triple>>) {
    let half_way = positions.zip_with(velocities.clone(), |p, v| plus(p, times(v, step * 0.5)));
    let forces = forces(half_way.clone(), masses);
    let velocities = velocities.zip_with(forces, |v, a| plus(v, times(a, step)));
    (half_way.zip_with(velocities.clone(), |p, v| plus(p, times(v, step * 0.5))), velocities)
}

/// The acceleration of each body by all bodies.
fn forces(positions: Acc<Vector<Triple>>, masses: Acc<Vector<f32>>) -> Acc<Vector<Triple>> {
    let n = positions.size();
    let pull = |(i, j): (Exp<i64>, Exp<i64>)| {
        let way = minus(positions.at(j), positions.at(i));
        let square = dot(way, way) + SOFTENING;
        times(way, masses.at(j) / (square * square.sqrt()))
    };
    generate((n, n), pull).fold((0.0, 0.0, 0.0), plus)
}

/// The energy of all bodies: of their velocities, and of every pair, which is negative.
///
/// ```
/// use pumice_algorithms::whole::nbody;
/// let energy = pumice::Compiler::on("sim")?.compile(nbody::energy)?;
/// let still = (0.0, 0.0, 0.0);
/// let found = energy.run(&[(still, (4.0, 0.0, 3.0), 2.0), ((2.0, 0.0, 0.0), still, 8.0)])?;
/// assert!((found.to_value()? - (25.0 - 8.0)).abs() < 1e-3);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn energy(bodies: Acc<Vector<Body>>) -> Acc<Scalar<f64>> {
    let n = bodies.size();
    let moving = bodies.clone().map(|(_, v, m)| (m * dot(v, v) * 0.5).cast::<f64>()).sum();
    let of_pair = |(i, j): (Exp<i64>, Exp<i64>)| {
        let ((p, _, m), (q, _, other)) = (bodies.at(i), bodies.at(j));
        let way = minus(p, q);
        let energy = m * other / (dot(way, way) + SOFTENING).sqrt();
        i.lt(j).select(energy.cast::<f64>(), 0.0.into())
    };
    moving.zip_with(generate((n, n), of_pair).flatten().sum(), |moving, pairs| moving - pairs)
}

fn plus((x, y, z): Vector3, (a, b, c): Vector3) -> Vector3 {
    (x + a, y + b, z + c)
}

fn minus((x, y, z): Vector3, (a, b, c): Vector3) -> Vector3 {
    (x - a, y - b, z - c)
}

fn times((x, y, z): Vector3, factor: Exp<f32>) -> Vector3 {
    (x * factor, y * factor, z * factor)
}

fn dot((x, y, z): Vector3, (a, b, c): Vector3) -> Exp<f32> {
    x * a + y * b + z * c
}

/// Bodies that are made by plain Rust, and the same in it.
pub mod plain {
    use super::{Body, SOFTENING, Triple};
    use crate::irregular::Numbers;

    /// A disc that turns: a heavy body in the middle, and light ones on circles around it.
    pub fn disc(count: usize, seed: u64) -> Vec<Body> {
        let mut numbers = Numbers::new(seed);
        let mut part = |most: f32| most * numbers.below(1 << 20) as f32 / (1 << 20) as f32;
        let mut body = |i: usize| {
            if i == 0 {
                return ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0);
            }
            let (radius, angle, height) = (0.5 + part(1.0), part(std::f32::consts::TAU), part(0.1) - 0.05);
            let (sine, cosine) = angle.sin_cos();
            let speed = 1.0 / radius.sqrt();
            let place = (radius * cosine, radius * sine, height);
            (place, (-speed * sine, speed * cosine, 0.0), 0.1 / count as f32)
        };
        (0..count).map(&mut body).collect()
    }

    /// The bodies after so many steps.
    pub fn advance(bodies: &[Body], step: f32, steps: usize) -> Vec<Body> {
        let mut bodies = bodies.to_vec();
        for _ in 0..steps {
            bodies.iter_mut().for_each(|(p, v, _)| *p = moved(*p, *v, step * 0.5));
            let forces: Vec<Triple> = bodies.iter().map(|(p, ..)| force(&bodies, *p)).collect();
            for ((p, v, _), force) in bodies.iter_mut().zip(forces) {
                *v = moved(*v, force, step);
                *p = moved(*p, *v, step * 0.5);
            }
        }
        bodies
    }

    fn moved((x, y, z): Triple, (a, b, c): Triple, factor: f32) -> Triple {
        (x + a * factor, y + b * factor, z + c * factor)
    }

    fn force(bodies: &[Body], (x, y, z): Triple) -> Triple {
        bodies.iter().fold((0.0, 0.0, 0.0), |sum, ((a, b, c), _, mass)| {
            let way = (a - x, b - y, c - z);
            let square = way.0 * way.0 + way.1 * way.1 + way.2 * way.2 + SOFTENING;
            moved(sum, way, mass / (square * square.sqrt()))
        })
    }
}
