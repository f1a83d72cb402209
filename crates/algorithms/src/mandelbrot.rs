//! The Mandelbrot set, as Obsidian's paper on design-space exploration has it: a thread a point, in a loop until it
//! escapes.

use crate::program::{Program, Work, ready, same};
use pumice::kernel::{Block, Grid, Ix, Pull, Push};
use pumice::{Array, Dim1, Exp, constant, while_};

/// The view: its left and top edges, its width and its height.
const VIEW: (f32, f32, f32, f32) = (-2.0, -1.2, 3.2, 2.4);

/// Counts how often z² + c is applied to 0 until z has escaped (the test that finds that counts too), or `cap`: at most that many
/// rounds, for points `c` of a grid over x ∈ [−2, 1.2], y ∈ [−1.2, 1.2].
fn rounds(cx: Exp<f32>, cy: Exp<f32>, cap: Exp<i32>) -> Exp<i32> {
    let (_, _, count) = while_(
        (constant(0f32), constant(0f32), constant(1i32)),
        |(x, y, count)| count.lt(cap) & (x * x + y * y).lt(4.0),
        |(x, y, count)| (x * x - y * y + cx, 2.0 * x * y + cy, count + 1),
    );
    count
}

/// The set in `side` × `side` points, a block a row (`mandelbrot`).
pub fn mandelbrot(side: usize, cap: Exp<i32>) -> Push<Grid, i32> {
    let (left, top, width, height) = VIEW;
    let (across, down) = (width / side as f32, height / side as f32);
    let row = move |i: Ix| {
        let cy = i.cast::<f32>() * down + top;
        let point = move |j: Ix| rounds(j.cast::<f32>() * across + left, cy, cap);
        Pull::<i32>::new(side, point).push::<Block>()
    };
    Pull::<Push<Block, i32>>::new(side, row).concat()
}

/// The same in plain Rust.
pub fn reference(side: usize, cap: i32) -> Vec<i32> {
    let (left, top, width, height) = VIEW;
    let (across, down) = (width / side as f32, height / side as f32);
    let point = |index: usize| {
        let (cx, cy) = ((index % side) as f32 * across + left, (index / side) as f32 * down + top);
        let (mut x, mut y, mut count) = (0f32, 0f32, 1);
        while count < cap && x * x + y * y < 4.0 {
            (x, y, count) = (x * x - y * y + cx, 2.0 * x * y + cy, count + 1);
        }
        count
    };
    (0..side * side).map(point).collect()
}

/// The programs of this file. The size of one is the side of its picture.
pub fn programs() -> Vec<Program> {
    vec![Program {
        name: "mandelbrot",
        about: "rounds until each point of a picture escapes, at most 512",
        small: 64,
        large: &[512, 2048],
        sizes: &[0, 1, 33, 130],
        tunable: &[],
        prepare: |compiler, side, _| {
            let cap = 512;
            let kernel = compiler.kernel("mandelbrot", 256, move |cap: Exp<i32>| mandelbrot(side, cap))?;
            let check = move |found: &Array<Dim1, i32>| Ok(same(&found.to_vec()?, &reference(side, cap)));
            Ok(ready(Work::Unknown, move || kernel.run((cap,)), check))
        },
    }]
}
