//! Spheres that are made by plain Rust, and the same picture in it.

use super::{
    AMBIENT, CAMERA, FAR, FLOOR, FLOOR_MIRRORS, HORIZON, LIGHT, NEAR, SQUARES, Space, Sphere, ZENITH, dot,
    minus, plus, times,
};

/// So many spheres of different sizes in rows that go away from the camera, all on the plane.
pub fn row_of_spheres(count: usize) -> Vec<Sphere> {
    let sphere = |number: usize| {
        let (row, column) = (number / 5, number % 5);
        let radius = 0.9 - 0.1 * column as f32;
        let middle = (2.0 * column as f32 - 4.0, FLOOR + radius, 2.5 * row as f32);
        let colour = (0.9 - 0.15 * column as f32, 0.3 + 0.1 * row.min(6) as f32, 0.2 + 0.15 * column as f32);
        (middle, radius, colour, if number.is_multiple_of(2) { 0.5 } else { 0.1 })
    };
    (0..count).map(sphere).collect()
}

/// The picture.
pub fn trace(spheres: &[Sphere], width: i64, height: i64, depth: i32) -> Vec<u32> {
    let pixel = |row: i64, column: i64| {
        let scale = 1.0 / height as f32;
        let x = (2.0 * column as f32 + 1.0 - width as f32) * scale;
        let y = (height as f32 - 1.0 - 2.0 * row as f32) * scale;
        let vector = (x, y, 2.0);
        let direction = times(vector, 1.0 / dot(vector, vector).sqrt());
        colour(seen(spheres, CAMERA, direction, depth))
    };
    (0..height * width).map(|number| pixel(number / width, number % width)).collect()
}

/// What a ray sees.
fn seen(spheres: &[Sphere], mut from: Space<f32>, mut direction: Space<f32>, depth: i32) -> Space<f32> {
    let (mut seen, mut counts) = ((0.0, 0.0, 0.0), 1.0);
    for _ in 0..=depth {
        let met = nearest(spheres, from, direction);
        let distance = met.map_or(FAR, |(_, distance)| distance);
        let to_floor = (FLOOR - from.1) / direction.1;
        let to_floor = if to_floor > NEAR { to_floor } else { FAR };
        if distance.min(to_floor) >= FAR {
            return plus(seen, times(plus(HORIZON, times(ZENITH, direction.1.max(0.0))), counts));
        }
        let point = plus(from, times(direction, distance.min(to_floor)));
        let (normal, of_surface, mirrors) = match met {
            Some(((middle, radius, of_sphere, mirrors), _)) if distance < to_floor => {
                (times(minus(point, *middle), 1.0 / radius), *of_sphere, *mirrors)
            }
            _ => {
                let grey = SQUARES[((point.0.floor() + point.2.floor()) as i64 & 1) as usize];
                ((0.0, 1.0, 0.0), (grey, grey, grey), FLOOR_MIRRORS)
            }
        };
        from = plus(point, times(normal, NEAR));
        let lit = if nearest(spheres, from, LIGHT).is_some() { 0.0 } else { dot(normal, LIGHT).max(0.0) };
        let light = (AMBIENT + (1.0 - AMBIENT) * lit) * counts * (1.0 - mirrors);
        direction = minus(direction, times(normal, 2.0 * dot(direction, normal)));
        seen = plus(seen, times(of_surface, light));
        counts *= mirrors;
        if counts <= 0.0 {
            break;
        }
    }
    seen
}

/// The sphere that a ray meets first, and how far away it is.
fn nearest(spheres: &[Sphere], from: Space<f32>, direction: Space<f32>) -> Option<(&Sphere, f32)> {
    let mut found: Option<(&Sphere, f32)> = None;
    for sphere in spheres {
        let (middle, radius, ..) = sphere;
        let to_middle = minus(from, *middle);
        let along = dot(to_middle, direction);
        let square = along * along - (dot(to_middle, to_middle) - radius * radius);
        let here = -along - square.sqrt();
        if here > NEAR && here < found.map_or(FAR, |(_, distance)| distance) {
            found = Some((sphere, here));
        }
    }
    found
}

fn colour((red, green, blue): Space<f32>) -> u32 {
    let part = |part: f32| (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u32;
    (part(red) << 16) | (part(green) << 8) | part(blue)
}
