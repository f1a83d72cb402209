//! A ray tracer: spheres over a plane, with shadows, and reflections to a depth. A ray is a loop of scalars, in which other loops go
//! through the spheres; the whole picture is one array that is generated.
//!
//! Nothing but arithmetic and square roots is done, so that the picture is the same to the bit everywhere.

pub mod plain;

use pumice::prelude::*;
use std::ops::{Add, Mul, Sub};

/// To the right, up, and away from the camera.
pub type Space<T> = (T, T, T);
/// A sphere: its middle, its radius, its colour (red, green and blue from 0 to 1), and the part of the light that it mirrors.
pub type Sphere = (Space<f32>, f32, Space<f32>, f32);

/// Where the camera is.
const CAMERA: Space<f32> = (0.0, 1.0, -5.0);
/// Where the plane is, and the part of the light that it mirrors.
const FLOOR: f32 = -1.0;
const FLOOR_MIRRORS: f32 = 0.2;
/// The colours of the plane's squares.
const SQUARES: [f32; 2] = [0.25, 0.85];
/// From where light comes: a vector of length 1.
const LIGHT: Space<f32> = (0.48, 0.64, -0.6);
/// The light where there is none.
const AMBIENT: f32 = 0.15;
/// The sky at the horizon, and what it has more above.
const HORIZON: Space<f32> = (0.9, 0.9, 0.95);
const ZENITH: Space<f32> = (-0.6, -0.4, -0.05);
/// Farther than anything, and nearer than anything.
const FAR: f32 = 1e30;
const NEAR: f32 = 1e-3;

/// A point in space, or a vector, of a program.
type Point = Space<Exp<f32>>;
/// What is known of a ray: where it begins, where it goes, what it has seen, and how much of what it will see still counts.
type Ray = (Point, Point, Point, Exp<f32>);

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
        let scale = 1.0 / height.cast::<f32>();
        let x = (2.0 * column.cast::<f32>() + 1.0 - width.cast::<f32>()) * scale;
        let y = (height.cast::<f32>() - 1.0 - 2.0 * row.cast::<f32>()) * scale;
        let direction = unit_vector((x, y, constant(2.0)));
        let ray = (constant(CAMERA), direction, constant((0.0, 0.0, 0.0)), constant(1.0));
        let ((_, _, seen, _), _) = while_(
            (ray, Exp::from(0)),
            |((.., counts), mirrored)| counts.gt(0.0) & mirrored.le(depth),
            |(ray, mirrored)| (mirrored_once(&spheres, ray), mirrored + 1),
        );
        colour(seen)
    })
}

/// A ray after it has met something, or the sky.
fn mirrored_once(spheres: &Acc<Vector<Sphere>>, (from, direction, seen, counts): Ray) -> Ray {
    let (sphere, distance) = nearest(spheres, from, direction);
    let to_floor = (FLOOR - from.1) / direction.1;
    let to_floor = to_floor.gt(NEAR).select(to_floor, constant(FAR));
    cond(
        distance.min(to_floor).ge(FAR),
        || {
            let sky = plus(constant(HORIZON), times(constant(ZENITH), direction.1.max(0.0)));
            (from, direction, plus(seen, times(sky, counts)), constant(0.0))
        },
        || {
            let point = plus(from, times(direction, distance.min(to_floor)));
            let (normal, of_surface, mirrors) = cond(
                distance.lt(to_floor),
                || {
                    let (middle, radius, of_sphere, mirrors) = spheres.at(sphere);
                    (times(minus(point, middle), 1.0 / radius), of_sphere, mirrors)
                },
                || {
                    let is_odd = ((point.0.floor() + point.2.floor()).cast::<i64>() & 1).eq(1);
                    let grey = is_odd.select(constant(SQUARES[1]), constant(SQUARES[0]));
                    (constant((0.0, 1.0, 0.0)), (grey, grey, grey), constant(FLOOR_MIRRORS))
                },
            );
            let outside = plus(point, times(normal, constant(NEAR)));
            let (_, to_shade) = nearest(spheres, outside, constant(LIGHT));
            let lit = to_shade.lt(FAR).select(constant(0.0), dot(normal, constant(LIGHT)).max(0.0));
            let light = (AMBIENT + (1.0 - AMBIENT) * lit) * counts * (1.0 - mirrors);
            let direction = minus(direction, times(normal, 2.0 * dot(direction, normal)));
            (outside, direction, plus(seen, times(of_surface, light)), counts * mirrors)
        },
    )
}

/// The sphere that a ray meets first, and how far away it is; -1 and [`FAR`] if it meets none.
fn nearest(spheres: &Acc<Vector<Sphere>>, from: Point, direction: Point) -> (Exp<i64>, Exp<f32>) {
    let (_, found, distance) = while_(
        (Exp::from(0), Exp::from(-1), constant(FAR)),
        |(number, _, _)| number.lt(spheres.size()),
        |(number, found, distance)| {
            let (middle, radius, ..) = spheres.at(number);
            let to_middle = minus(from, middle);
            let along = dot(to_middle, direction);
            let square = along * along - (dot(to_middle, to_middle) - radius * radius);
            // Not a number where the ray passes by, which is not smaller than anything.
            let here = -along - square.sqrt();
            let is_nearer = here.gt(NEAR) & here.lt(distance);
            (number + 1, is_nearer.select(number, found), is_nearer.select(here, distance))
        },
    );
    (found, distance)
}

/// Red, green and blue in 8 bits each.
fn colour((red, green, blue): Point) -> Exp<u32> {
    let part = |part: Exp<f32>| (part.max(0.0).min(1.0) * 255.0 + 0.5).cast::<u32>();
    (part(red) << 16) | (part(green) << 8) | part(blue)
}

/// A vector in the same direction whose length is 1.
fn unit_vector(vector: Point) -> Point {
    times(vector, 1.0 / dot(vector, vector).sqrt())
}

fn plus<T: Add<Output = T>>(a: Space<T>, b: Space<T>) -> Space<T> {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

fn minus<T: Sub<Output = T>>(a: Space<T>, b: Space<T>) -> Space<T> {
    (a.0 - b.0, a.1 - b.1, a.2 - b.2)
}

fn times<T: Mul<Output = T> + Copy>(vector: Space<T>, factor: T) -> Space<T> {
    (vector.0 * factor, vector.1 * factor, vector.2 * factor)
}

fn dot<T: Add<Output = T> + Mul<Output = T>>(a: Space<T>, b: Space<T>) -> T {
    a.0 * b.0 + a.1 * b.1 + a.2 * b.2
}
