//! A fire of particles: sparks fly from the ground, fall, bounce and cool down to smoke, which rises and is gone after a while. Where
//! one is gone, a new spark may fly.
//!
//! A particle's kind is an enum with data, and its step a `match` in plain Rust with `#[embed]`, which the same fire on
//! the host ([`plain`]) calls. Nothing but arithmetic is done, so that particles are the same to the bit everywhere.

use pumice::OptionExp;
use pumice::prelude::*;

/// The length of a step in time.
const STEP: f32 = 1.0 / 64.0;
/// Downward acceleration of a spark, and the speed with which smoke rises.
const GRAVITY: f32 = 1.5;
const RISE: f32 = 0.5;
/// The part of its velocity that smoke keeps in a step, and that a spark keeps when it bounces or becomes smoke.
const DRAG: f32 = 0.96;
const BOUNCE: f32 = 0.5;
/// The heat below which a spark is smoke.
const COLD: f32 = 0.25;
/// The age from which on smoke is gone.
const OLD: f32 = 1.5;
/// A place that is free stays so for about this many steps; a power of two.
const PAUSE: u32 = 64;
/// Extent of the picture: to both sides, and up.
const SIDE: f32 = 1.0;
const TOP: f32 = 2.0;

/// Kind of a particle.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub enum Kind {
    /// A spark, which glows and falls.
    Spark {
        /// 1 at first, and less from step to step.
        heat: f32,
    },
    /// Smoke, which rises.
    Smoke {
        /// Time since it was a spark.
        age: f32,
    },
    /// Nothing any more: its place is free.
    Gone,
}

/// A particle.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Particle {
    /// Position: to the right, and up.
    pub place: [f32; 2],
    /// Distance per unit of time.
    pub velocity: [f32; 2],
    /// Kind of the particle.
    pub kind: Kind,
    /// State of its random numbers.
    pub chance: u32,
}

/// Returns the particles after so many steps, without those that are gone.
///
/// ```
/// use pumice_algorithms::whole::particles::{self, plain};
/// let burning = pumice::Compiler::on("sim")?.compile(particles::burning)?;
/// let places = plain::free_places(20);
/// assert_eq!(burning.run((&places, 30))?.to_vec()?, plain::burning(&places, 30));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn burning(particles: Acc<Vector<Particle>>, steps: Exp<i64>) -> Acc<Vector<Particle>> {
    let particles = iterate(steps, particles, |particles| particles.map(|particle| lit(step(particle))));
    particles.filter(is_there)
}

/// Returns how many steps it takes until all are gone, if no new spark flies.
///
/// ```
/// use pumice_algorithms::whole::particles::{self, Kind, plain};
/// let last = pumice::Compiler::on("sim")?.compile(particles::last)?;
/// let smoke = |age| particles::Particle { kind: Kind::Smoke { age }, ..plain::free_places(1)[0] };
/// assert_eq!(last.run(&[smoke(0.0), smoke(1.25)])?.to_value()?, 96);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn last(particles: Acc<Vector<Particle>>) -> Acc<Scalar<i64>> {
    let (_, steps) = awhile(
        (particles, unit(0)),
        |(particles, _)| unit(particles.size().gt(0)),
        |(particles, steps)| (particles.map(step).filter(is_there), steps.map(|steps| steps + 1)),
    );
    steps
}

/// Draws particles: `height` rows of `width` colours, red, green and blue in 8 bits each.
///
/// ```
/// use pumice_algorithms::whole::particles::{self, plain};
/// let drawn = pumice::Compiler::on("sim")?.compile(particles::drawn)?;
/// let particles = plain::burning(&plain::free_places(50), 40);
/// assert_eq!(drawn.run((&particles, 8, 6))?.to_vec()?, plain::drawn(&particles, 8, 6));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn drawn(particles: Acc<Vector<Particle>>, width: Exp<i64>, height: Exp<i64>) -> Acc<Matrix<[u8; 3]>> {
    let light = particles.clone().map(|particle| light(particle.kind));
    let sums = light.permute(
        |[a, b, c], [d, e, f]| [a + d, b + e, c + f],
        fill((height, width), [0; 3]),
        |number| -> OptionExp<_> { pixel(particles.at(number), width, height) },
    );
    sums.map(|colour| colour.map(level))
}

/// A particle one step later.
#[embed]
fn step(particle: Particle) -> Particle {
    let chance = next(particle.chance);
    let [x, y] = particle.place;
    let [right, up] = particle.velocity;
    let place = [x + right * STEP, y + up * STEP];
    match particle.kind {
        Kind::Spark { heat } => {
            let heat = heat - part(chance) * STEP;
            if heat < COLD {
                let velocity = [right * BOUNCE, up * BOUNCE];
                return Particle { place, velocity, kind: Kind::Smoke { age: 0.0 }, chance };
            }
            let kind = Kind::Spark { heat };
            if place[1] < 0.0 && up < 0.0 {
                let velocity = [right * BOUNCE, -up * BOUNCE];
                Particle { place: [place[0], -place[1]], velocity, kind, chance }
            } else {
                Particle { place, velocity: [right, up - GRAVITY * STEP], kind, chance }
            }
        }
        Kind::Smoke { age } => {
            let aside = (part(chance) - 0.5) * STEP;
            let velocity = [right * DRAG + aside, up * DRAG + RISE * (1.0 - DRAG)];
            let age = age + STEP;
            let kind = if age < OLD { Kind::Smoke { age } } else { Kind::Gone };
            Particle { place, velocity, kind, chance }
        }
        Kind::Gone => Particle { chance, ..particle },
    }
}

/// A particle, or a new spark in its place.
#[embed]
fn lit(particle: Particle) -> Particle {
    if particle.kind != Kind::Gone || (particle.chance >> 16) & (PAUSE - 1) != 0 {
        return particle;
    }
    let first = next(particle.chance);
    let second = next(first);
    let velocity = [0.6 * (part(first) - 0.5), 1.0 + part(second)];
    Particle { place: [0.0, 0.0], velocity, kind: Kind::Spark { heat: 1.0 }, chance: second }
}

#[embed]
fn is_there(particle: Particle) -> bool {
    particle.kind != Kind::Gone
}

/// The next of the numbers that look random.
#[embed]
fn next(chance: u32) -> u32 {
    chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

/// The upper bits of a number as a part of 1.
#[embed]
fn part(chance: u32) -> f32 {
    (chance >> 8) as f32 / 16_777_216.0
}

/// The light of a particle: red, green and blue.
#[embed]
fn light(kind: Kind) -> [u32; 3] {
    match kind {
        Kind::Spark { heat } => [255, (heat * 200.0) as u32, (heat * heat * 90.0) as u32],
        Kind::Smoke { age } => {
            let grey = (60.0 - 36.0 * age) as u32;
            [grey, grey, grey + 6]
        }
        Kind::Gone => [0, 0, 0],
    }
}

/// The row and column that a particle is in, if it is in the picture.
#[embed]
fn pixel(particle: Particle, width: i64, height: i64) -> Option<(i64, i64)> {
    let [x, y] = particle.place;
    let column = ((x + SIDE) / (2.0 * SIDE) * width as f32).floor() as i64;
    let row = height - 1 - (y / TOP * height as f32).floor() as i64;
    if column < 0 || column >= width || row < 0 || row >= height {
        return None;
    }
    Some((row, column))
}

/// A sum of light in 8 bits.
#[embed]
fn level(light: u32) -> u8 {
    light.min(255) as u8
}

/// The same in plain Rust.
pub mod plain {
    use super::{Kind, Particle, is_there, level, light, lit, pixel, step};
    use crate::irregular::Numbers;

    /// Places from which sparks will fly.
    pub fn free_places(count: usize) -> Vec<Particle> {
        let mut numbers = Numbers::new(1);
        let mut free = || Particle {
            place: [0.0; 2],
            velocity: [0.0; 2],
            kind: Kind::Gone,
            chance: numbers.bits() as u32,
        };
        (0..count).map(|_| free()).collect()
    }

    /// The particles after so many steps, without those that are gone.
    pub fn burning(particles: &[Particle], steps: usize) -> Vec<Particle> {
        let burnt = |particle: &Particle| (0..steps).fold(*particle, |particle, _| lit(step(particle)));
        particles.iter().map(burnt).filter(|particle| is_there(*particle)).collect()
    }

    /// Counts the steps until all are gone.
    pub fn last(particles: &[Particle]) -> i64 {
        let steps = |particle: &Particle| {
            let states = std::iter::successors(Some(*particle), |particle| Some(step(*particle)));
            states.take_while(|particle| is_there(*particle)).count()
        };
        // One that is gone from the beginning is only found to be after a step.
        particles.iter().map(|particle| steps(particle).max(1) as i64).max().unwrap_or(0)
    }

    /// The picture.
    pub fn drawn(particles: &[Particle], width: i64, height: i64) -> Vec<[u8; 3]> {
        let mut sums = vec![[0u32; 3]; (width * height) as usize];
        for particle in particles {
            if let Some((row, column)) = pixel(*particle, width, height) {
                let sum = &mut sums[(row * width + column) as usize];
                *sum = std::array::from_fn(|part| sum[part] + light(particle.kind)[part]);
            }
        }
        sums.into_iter().map(|colour| colour.map(level)).collect()
    }
}
