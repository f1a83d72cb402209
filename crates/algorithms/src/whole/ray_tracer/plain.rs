//! Spheres that are made by plain Rust, and the same picture: the functions of a ray are called with plain values.

use super::{FLOOR, Hit, NOWHERE, Path, Ray, Sphere, Triple, colour, from_camera, nearer, surface};

/// So many spheres of different sizes in rows that go away from the camera, all on the plane.
pub fn row_of_spheres(count: usize) -> Vec<Sphere> {
    let sphere = |number: usize| {
        let (row, column) = (number / 5, number % 5);
        let along = column as f32;
        let radius = 0.9 - 0.1 * along;
        Sphere {
            middle: Triple { x: 2.0 * along - 4.0, y: FLOOR + radius, z: 2.5 * row as f32 },
            radius,
            colour: Triple { x: 0.9 - 0.15 * along, y: 0.3 + 0.1 * row.min(6) as f32, z: 0.2 + 0.15 * along },
            mirrors: if number.is_multiple_of(2) { 0.5 } else { 0.1 },
        }
    };
    (0..count).map(sphere).collect()
}

/// The picture.
pub fn trace(spheres: &[Sphere], width: i64, height: i64, depth: i32) -> Vec<u32> {
    let pixel = |number: i64| {
        let mut path = from_camera(number / width, number % width, height, width);
        for _ in 0..=depth {
            if path.counts > 0.0 {
                path = followed(spheres, path);
            }
        }
        colour(path.seen)
    };
    (0..height * width).map(pixel).collect()
}

fn followed(spheres: &[Sphere], path: Path) -> Path {
    let met = nearest(spheres, path.ray).map(|hit| (hit.distance, spheres[hit.sphere as usize]));
    let surface = surface(path.ray, met);
    let is_shaded = surface.is_some_and(|surface| nearest(spheres, surface.towards_light()).is_some());
    path.after(surface, is_shaded)
}

fn nearest(spheres: &[Sphere], ray: Ray) -> Option<Hit> {
    let all = (0..).zip(spheres);
    all.fold(NOWHERE, |hit, (number, sphere)| nearer(hit, sphere.distance(ray), number)).found()
}
