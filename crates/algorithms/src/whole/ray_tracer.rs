//! A ray tracer: spheres over a plane, with shadows, and reflections to a depth. A ray is a loop of scalars, in which other loops go
//! through the spheres; the whole picture is one array that is generated.
//!
//! The step of a ray is written in plain Rust with `#[embed]`, and so is the same picture on the host ([`plain`]). Nothing but
//! arithmetic and square roots is done, so that the picture is the same to the bit everywhere.

pub mod plain;

use super::space::{Triple, TripleExp};
use pumice::OptionExp;
use pumice::prelude::*;

/// Position of the camera: coordinates go to the right, up, and away from it.
const CAMERA: Triple = Triple { x: 0.0, y: 1.0, z: -5.0 };
/// Height of the plane, and the part of the light that it mirrors.
const FLOOR: f32 = -1.0;
const FLOOR_MIRRORS: f32 = 0.2;
/// Normal of the plane.
const UP: Triple = Triple { x: 0.0, y: 1.0, z: 0.0 };
/// Brightness of the plane's squares.
const DARK: f32 = 0.25;
const BRIGHT: f32 = 0.85;
/// Direction of the light: a vector of length 1.
const LIGHT: Triple = Triple { x: 0.48, y: 0.64, z: -0.6 };
/// The light where there is none.
const AMBIENT: f32 = 0.15;
/// Colour of the sky at the horizon, and the difference from there to the zenith.
const HORIZON: Triple = Triple { x: 0.9, y: 0.9, z: 0.95 };
const ZENITH: Triple = Triple { x: -0.6, y: -0.4, z: -0.05 };
/// Colour before anything is seen.
const BLACK: Triple = Triple { x: 0.0, y: 0.0, z: 0.0 };
/// Farther than anything, and nearer than anything.
const FAR: f32 = 1e30;
const NEAR: f32 = 1e-3;

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Sphere {
    /// Centre of the sphere.
    pub middle: Triple,
    /// Its radius.
    pub radius: f32,
    /// Its colour: red, green and blue from 0 to 1.
    pub colour: Triple,
    /// The part of the light that it mirrors.
    pub mirrors: f32,
}

/// A ray: its origin, and its direction, a vector of length 1.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Ray {
    from: Triple,
    direction: Triple,
}

/// The point at which a ray meets a sphere: its distance, and the number of the sphere.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Hit {
    distance: f32,
    sphere: i64,
}

/// Before any sphere is met. A loop over spheres has one number less to carry than with an `Option`.
const NOWHERE: Hit = Hit { distance: FAR, sphere: -1 };

/// The surface that a ray meets: the point, the normal there, the colour, and the part of the light that it mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Surface {
    point: Triple,
    normal: Triple,
    colour: Triple,
    mirrors: f32,
}

/// A ray, the light seen along the way, and the weight of the light that it will still see.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Path {
    ray: Ray,
    seen: Triple,
    counts: f32,
}

/// Draws spheres and a plane: `height` rows of `width` colours, whose red, green and blue parts are 8 bits each. A ray is mirrored
/// at most `depth` times.
///
/// ```
/// use pumice_algorithms::whole::ray_tracer::{self, plain};
/// let trace = pumice::Compiler::on("sim")?.compile(ray_tracer::trace)?;
/// let spheres = plain::row_of_spheres(2);
/// assert_eq!(trace.run((&spheres, 12, 8, 2))?.to_vec()?, plain::trace(&spheres, 12, 8, 2));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn trace(
    spheres: Acc<Vector<Sphere>>,
    width: Exp<i64>,
    height: Exp<i64>,
    depth: Exp<i32>,
) -> Acc<Matrix<u32>> {
    generate((height, width), |(row, column)| {
        let (path, _) = while_(
            (from_camera(row, column, height, width), constant(0)),
            |(path, mirrored)| path.counts.gt(0.0) & mirrored.le(depth),
            |(path, mirrored)| (followed(&spheres, path), mirrored + 1),
        );
        colour(path.seen)
    })
}

/// A ray after it has met something, or the sky.
fn followed(spheres: &Acc<Vector<Sphere>>, path: PathExp) -> PathExp {
    let met = nearest(spheres, path.ray).map(|hit| (hit.distance, spheres.at(hit.sphere)));
    let surface = surface(path.ray, met);
    let is_shaded = surface.is_some_and(|surface| nearest(spheres, surface.towards_light()).is_some());
    path.after(surface, is_shaded)
}

/// Returns the first hit of a ray on a sphere.
fn nearest(spheres: &Acc<Vector<Sphere>>, ray: RayExp) -> OptionExp<HitExp> {
    let hit = for_(constant(0)..spheres.size(), constant(NOWHERE), |number, hit| {
        nearer(hit, spheres.at(number).distance(ray), number)
    });
    hit.found()
}

/// The ray through the middle of a pixel.
#[embed]
fn from_camera(row: i64, column: i64, height: i64, width: i64) -> Path {
    let scale = 1.0 / height as f32;
    let x = (2.0 * column as f32 + 1.0 - width as f32) * scale;
    let y = (height as f32 - 1.0 - 2.0 * row as f32) * scale;
    let direction = Triple { x, y, z: 2.0 }.unit();
    Path { ray: Ray { from: CAMERA, direction }, seen: BLACK, counts: 1.0 }
}

/// Returns the nearer hit: the one before, or this sphere if it is met at all.
#[embed]
fn nearer(hit: Hit, distance: Option<f32>, sphere: i64) -> Hit {
    match distance {
        Some(distance) if distance < hit.distance => Hit { distance, sphere },
        _ => hit,
    }
}

/// Returns the surface that a ray meets first: of a sphere at a distance, or of the plane.
#[embed]
fn surface(ray: Ray, met: Option<(f32, Sphere)>) -> Option<Surface> {
    let to_floor = ray.to_floor();
    if let Some((distance, sphere)) = met
        && distance < to_floor
    {
        return Some(sphere.surface(ray.at(distance)));
    }
    if to_floor < FAR { Some(floor(ray.at(to_floor))) } else { None }
}

/// The plane, which has squares.
#[embed]
fn floor(point: Triple) -> Surface {
    let is_odd = (point.x.floor() + point.z.floor()) as i64 & 1 == 1;
    let grey = if is_odd { BRIGHT } else { DARK };
    Surface { point, normal: UP, colour: Triple { x: grey, y: grey, z: grey }, mirrors: FLOOR_MIRRORS }
}

/// Red, green and blue in 8 bits each.
#[embed]
fn colour(seen: Triple) -> u32 {
    (level(seen.x) << 16) | (level(seen.y) << 8) | level(seen.z)
}

/// One part of a colour in 8 bits.
#[embed]
fn level(part: f32) -> u32 {
    (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u32
}

#[embed]
impl Ray {
    /// The point of the ray at a distance.
    fn at(self, distance: f32) -> Triple {
        self.from + self.direction * distance
    }

    /// Returns the distance of the plane; [`FAR`] if the ray does not meet it.
    fn to_floor(self) -> f32 {
        let distance = (FLOOR - self.from.y) / self.direction.y;
        if distance > NEAR { distance } else { FAR }
    }
}

#[embed]
impl Sphere {
    /// Returns the distance at which a ray meets the sphere, if it does.
    fn distance(self, ray: Ray) -> Option<f32> {
        let to_middle = ray.from - self.middle;
        let along = to_middle.dot(ray.direction);
        let square = along * along - (to_middle.dot(to_middle) - self.radius * self.radius);
        // Not a number where the ray passes by, which is not larger than anything.
        let distance = -along - square.sqrt();
        if distance > NEAR { Some(distance) } else { None }
    }

    /// The sphere at a point.
    fn surface(self, point: Triple) -> Surface {
        let normal = (point - self.middle) * (1.0 / self.radius);
        Surface { point, normal, colour: self.colour, mirrors: self.mirrors }
    }
}

#[embed]
impl Hit {
    /// The hit, if anything was met.
    fn found(self) -> Option<Hit> {
        if self.distance < FAR { Some(self) } else { None }
    }
}

#[embed]
impl Surface {
    /// A point that is not quite on the surface, so that rays from there do not meet it.
    fn outside(self) -> Triple {
        self.point + self.normal * NEAR
    }

    /// The ray to where light comes from.
    fn towards_light(self) -> Ray {
        Ray { from: self.outside(), direction: LIGHT }
    }
}

#[embed]
impl Path {
    /// Returns the path after the surface that its ray meets, or after the sky.
    fn after(self, surface: Option<Surface>, is_shaded: bool) -> Path {
        let Path { ray, seen, counts } = self;
        let Some(surface) = surface else {
            let sky = HORIZON + ZENITH * ray.direction.y.max(0.0);
            return Path { ray, seen: seen + sky * counts, counts: 0.0 };
        };
        let lit = if is_shaded { 0.0 } else { surface.normal.dot(LIGHT).max(0.0) };
        let light = (AMBIENT + (1.0 - AMBIENT) * lit) * counts * (1.0 - surface.mirrors);
        let direction = ray.direction - surface.normal * (2.0 * ray.direction.dot(surface.normal));
        Path {
            ray: Ray { from: surface.outside(), direction },
            seen: seen + surface.colour * light,
            counts: counts * surface.mirrors,
        }
    }
}
