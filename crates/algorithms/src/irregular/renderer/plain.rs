//! Meshes that are made by plain Rust, and their pictures, drawn face by face: the same arithmetic in the same order, so the same
//! bits.

use super::{AMBIENT, BACKGROUND, COLOUR, DISTANCE, LIGHT, NEAR, TILT, ZOOM};
use std::f32::consts::TAU;

/// A point or a vector in space.
type Space = (f32, f32, f32);

/// A surface of triangles.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Its points.
    pub vertices: Vec<Space>,
    /// The numbers of each triangle's points.
    pub faces: Vec<(i64, i64, i64)>,
}

impl Mesh {
    /// A tube along a knot on a torus, of about so many faces.
    pub fn torus_knot(faces: usize) -> Mesh {
        let around = ((faces as f32 / 40.0).sqrt() as usize).max(3);
        let along = 20 * around;
        let middle = |part: f32| {
            let (a, b) = (2.0 * TAU * part, 3.0 * TAU * part);
            let radius = 0.5 * (2.0 + b.cos());
            (radius * a.cos(), radius * a.sin(), 0.5 * b.sin())
        };
        let vertex = |i: usize, j: usize| {
            let (here, next) = (middle(i as f32 / along as f32), middle((i + 1) as f32 / along as f32));
            let forward = minus(next, here);
            let side = normal(cross(forward, (next.0 + here.0, next.1 + here.1, next.2 + here.2)));
            let out = normal(cross(side, forward));
            let (sine, cosine) = (TAU * j as f32 / around as f32).sin_cos();
            let at = |here: f32, out: f32, side: f32| here + 0.3 * (out * cosine + side * sine);
            (at(here.0, out.0, side.0), at(here.1, out.1, side.1), at(here.2, out.2, side.2))
        };
        let vertices = (0..along * around).map(|number| vertex(number / around, number % around)).collect();
        Mesh { vertices, faces: quadrangles(along, around, |i, j| (i % along) * around + j % around) }
    }

    /// Hills over a square, of about so many faces.
    pub fn height_field(faces: usize) -> Mesh {
        let side = ((faces as f32 / 2.0).sqrt() as usize).max(1);
        let vertex = |i: usize, j: usize| {
            let (x, z) = (3.0 * i as f32 / side as f32 - 1.5, 3.0 * j as f32 / side as f32 - 1.5);
            let height =
                0.25 * (3.0 * x).sin() * (4.0 * z).cos() + 0.05 * (17.0 * x + 3.0).sin() * (13.0 * z).sin();
            (x, height, z)
        };
        let points = side + 1;
        let vertices = (0..points * points).map(|number| vertex(number / points, number % points)).collect();
        Mesh { vertices, faces: quadrangles(side, side, |i, j| i * points + j) }
    }

    /// The picture, as [`super::render`] gives it.
    pub fn render(&self, cosine: f32, sine: f32, width: i64, height: i64) -> Vec<u32> {
        let seen: Vec<Space> = self.vertices.iter().map(|v| before_camera(*v, cosine, sine)).collect();
        let mut nearest = vec![u64::MAX; (width * height) as usize];
        for (a, b, c) in &self.faces {
            let corners = [seen[*a as usize], seen[*b as usize], seen[*c as usize]];
            if corners.iter().any(|corner| corner.2 <= NEAR) {
                continue;
            }
            let colour = shade(corners);
            let mut corners = corners.map(|corner| on_screen(corner, width, height));
            // As three exchanges: those that are equally high stay in order.
            corners.sort_by(|a, b| a.1.total_cmp(&b.1));
            for row in first_inside(corners[0].1, height)..first_inside(corners[2].1, height) {
                let (one, other) = scan_line(corners, row);
                let columns =
                    first_inside(one.0.min(other.0), width)..first_inside(one.0.max(other.0), width);
                for column in columns {
                    let part = (column as f32 + 0.5 - one.0) / (other.0 - one.0);
                    let depth = (one.1 + part * (other.1 - one.1)).clamp(0.0, 1.0);
                    let point = (u64::from(depth.to_bits()) << 32) + u64::from(colour);
                    let pixel = &mut nearest[(row * width + column) as usize];
                    *pixel = (*pixel).min(point);
                }
            }
        }
        nearest.into_iter().map(|point| if point == u64::MAX { BACKGROUND } else { point as u32 }).collect()
    }
}

/// Two faces for each of so many quadrangles, whose corners have numbers.
fn quadrangles(rows: usize, columns: usize, number: impl Fn(usize, usize) -> usize) -> Vec<(i64, i64, i64)> {
    let corner = |i, j| number(i, j) as i64;
    let two = |(i, j)| {
        let (a, b, c, d) = (corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1));
        [(a, b, c), (b, d, c)]
    };
    (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).flat_map(two).collect()
}

fn before_camera((x, y, z): Space, cosine: f32, sine: f32) -> Space {
    let (x, z) = (x * cosine + z * sine, z * cosine - x * sine);
    let (y, z) = (y * TILT.0 + z * TILT.1, z * TILT.0 - y * TILT.1);
    (x, y, z + DISTANCE)
}

fn on_screen((x, y, z): Space, width: i64, height: i64) -> Space {
    let (width, height) = (width as f32, height as f32);
    let scale = height * ZOOM / z;
    (width * 0.5 + x * scale, height * 0.5 - y * scale, 1.0 - NEAR / z)
}

fn shade([p, q, r]: [Space; 3]) -> u32 {
    let (x, y, z) = cross(minus(q, p), minus(r, p));
    let length = (x * x + y * y + z * z).sqrt();
    let light = (x * LIGHT.0 + y * LIGHT.1 + z * LIGHT.2) / length;
    let away = x * p.0 + y * p.1 + z * p.2 > 0.0;
    let part = AMBIENT + (1.0 - AMBIENT) * (if away { -light } else { light }).max(0.0);
    let [red, green, blue] = COLOUR.map(|full| ((full * part) as u32).min(255));
    (red << 16) + (green << 8) + blue
}

fn first_inside(place: f32, end: i64) -> i64 {
    ((place - 0.5).ceil() as i64).max(0).min(end)
}

fn scan_line([a, b, c]: [Space; 3], row: i64) -> ((f32, f32), (f32, f32)) {
    let y = row as f32 + 0.5;
    let meets = |from: Space, to: Space| {
        let part = (y - from.1) / (to.1 - from.1);
        (from.0 + part * (to.0 - from.0), from.2 + part * (to.2 - from.2))
    };
    (meets(a, c), if y < b.1 { meets(a, b) } else { meets(b, c) })
}

fn minus(a: Space, b: Space) -> Space {
    (a.0 - b.0, a.1 - b.1, a.2 - b.2)
}

fn cross(a: Space, b: Space) -> Space {
    (a.1 * b.2 - a.2 * b.1, a.2 * b.0 - a.0 * b.2, a.0 * b.1 - a.1 * b.0)
}

fn normal(a: Space) -> Space {
    let length = (a.0 * a.0 + a.1 * a.1 + a.2 * a.2).sqrt();
    (a.0 / length, a.1 / length, a.2 / length)
}
