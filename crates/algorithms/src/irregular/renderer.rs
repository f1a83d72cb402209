//! Triangles in space as a picture: each is expanded to scan lines, each line to points, and of the points of a pixel the nearest
//! one stays. Only lines are in memory: points are combined into the picture as they are made, by a minimum of depth and colour in
//! one number.
//!
//! Nothing but arithmetic and square roots is done on a device, so that the picture is the same to the bit everywhere; sines are
//! for the host.

pub mod plain;

use pumice::prelude::*;

/// The scalars of a point or a vector in space.
type Space = (Exp<f32>, Exp<f32>, Exp<f32>);
/// A scan line from one edge to another: two columns, each with its depth.
type Line = ((Exp<f32>, Exp<f32>), (Exp<f32>, Exp<f32>));

/// Distance of the camera in front of the middle of the mesh, and its zoom.
const DISTANCE: f32 = 4.0;
const ZOOM: f32 = 1.0;
/// Near plane: anything nearer is not drawn.
const NEAR: f32 = 0.5;
/// Tilt of the mesh towards the camera: cosine and sine.
const TILT: (f32, f32) = (0.8, 0.6);
/// Direction of the light: a vector of length 1.
const LIGHT: (f32, f32, f32) = (0.48, 0.64, -0.6);
/// Colour of the mesh in full light, and the part of it that is left in the dark.
const COLOUR: [f32; 3] = [250.0, 196.0, 120.0];
const AMBIENT: f32 = 0.15;
/// Colour of the background.
pub const BACKGROUND: u32 = 0x0b_0e_1a;

/// Draws faces, each of which is three numbers of vertices, turned by an angle whose cosine and sine are given. The result has
/// `height` rows of `width` colours, whose red, green and blue parts are 8 bits each.
///
/// ```
/// use pumice_algorithms::irregular::renderer::{self, plain};
/// let render = pumice::Compiler::on("sim")?.compile(renderer::render)?;
/// let mesh = plain::Mesh { vertices: vec![(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)], faces: vec![(0, 1, 2)] };
/// let picture = render.run((&mesh.vertices, &mesh.faces, 1.0, 0.0, 16, 16))?;
/// assert_eq!(picture.to_vec()?, mesh.render(1.0, 0.0, 16, 16));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn render(
    vertices: Acc<Vector<(f32, f32, f32)>>,
    faces: Acc<Vector<(i64, i64, i64)>>,
    cosine: Exp<f32>,
    sine: Exp<f32>,
    width: Exp<i64>,
    height: Exp<i64>,
) -> Acc<Matrix<u32>> {
    let seen = comp![before_camera(vertex, cosine, sine) | vertex <- vertices];
    let triangles = comp![
        (in_order(on_screen(p, width, height), on_screen(q, width, height), on_screen(r, width, height)), shade(p, q, r))
        | (a, b, c) <- faces, let p = seen[a], let q = seen[b], let r = seen[c],
        p.2 > NEAR && q.2 > NEAR && r.2 > NEAR
    ];
    let points = comp![
        ((row, column), ((depth(line, column).to_bits() as u64) << 32) + colour as u64)
        | (corners, colour) <- triangles,
        row <- first_inside(corners.0.1, height)..first_inside(corners.2.1, height), let line = scan_line(corners, row),
        column <- first_inside(line.0.0.min(line.1.0), width)..first_inside(line.0.0.max(line.1.0), width)
    ];
    let nearest = points.permute_pairs(|new, old| new.min(old), fill((height, width), u64::MAX));
    nearest.map(|point| point.eq(u64::MAX).select(BACKGROUND.into(), point.cast::<u32>()))
}

/// A vertex as the camera has it: to the right, up, and away from it.
fn before_camera((x, y, z): Space, cosine: Exp<f32>, sine: Exp<f32>) -> Space {
    let (x, z) = (x * cosine + z * sine, z * cosine - x * sine);
    let (y, z) = (y * TILT.0 + z * TILT.1, z * TILT.0 - y * TILT.1);
    (x, y, z + DISTANCE)
}

/// Column and row on the screen, and the depth from 0 to 1, which changes evenly along lines of the screen.
fn on_screen((x, y, z): Space, width: Exp<i64>, height: Exp<i64>) -> Space {
    let (width, height) = (width.cast::<f32>(), height.cast::<f32>());
    let scale = height * ZOOM / z;
    (width * 0.5 + x * scale, height * 0.5 - y * scale, 1.0 - NEAR / z)
}

/// The corners from the highest row to the lowest one.
fn in_order(a: Space, b: Space, c: Space) -> (Space, Space, Space) {
    let sorted = |a: Space, b: Space| a.1.le(b.1).select((a, b), (b, a));
    let (a, b) = sorted(a, b);
    let (b, c) = sorted(b, c);
    let (a, b) = sorted(a, b);
    (a, b, c)
}

/// The colour of a face by the angle at which light meets the side that the camera sees.
fn shade(p: Space, q: Space, r: Space) -> Exp<u32> {
    let (ax, ay, az) = (q.0 - p.0, q.1 - p.1, q.2 - p.2);
    let (bx, by, bz) = (r.0 - p.0, r.1 - p.1, r.2 - p.2);
    let (x, y, z) = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
    let length = (x * x + y * y + z * z).sqrt();
    let light = (x * LIGHT.0 + y * LIGHT.1 + z * LIGHT.2) / length;
    let away = (x * p.0 + y * p.1 + z * p.2).gt(0.0);
    let part = AMBIENT + (1.0 - AMBIENT) * away.select(-light, light).max(0.0);
    let [red, green, blue] = COLOUR.map(|full| (full * part).cast::<u32>().min(255));
    (red << 16) + (green << 8) + blue
}

/// The first row or column whose middle is not before a place, of those that are on the screen.
fn first_inside(place: Exp<f32>, end: Exp<i64>) -> Exp<i64> {
    (place - 0.5).ceil().cast::<i64>().clamp(0, end)
}

/// Returns the points at which the middle of a row meets the longest edge and one of the others.
fn scan_line((a, b, c): (Space, Space, Space), row: Exp<i64>) -> Line {
    let y = row.cast::<f32>() + 0.5;
    let meets = |from: Space, to: Space| {
        let part = (y - from.1) / (to.1 - from.1);
        (from.0 + part * (to.0 - from.0), from.2 + part * (to.2 - from.2))
    };
    let (from, to) = y.lt(b.1).select((a, b), (b, c));
    (meets(a, c), meets(from, to))
}

/// The depth in the middle of a column.
fn depth(((x, near), (u, far)): Line, column: Exp<i64>) -> Exp<f32> {
    let part = (column.cast::<f32>() + 0.5 - x) / (u - x);
    (near + part * (far - near)).clamp(0.0, 1.0)
}
