//! A matrix transposed in two ways: an element a thread, and in tiles that go through a block's memory. The simulator says
//! what each way moves: a sector is the piece of 32 bytes in which a GPU's memory comes and goes.
//!
//! ```text
//! the first rows of [100 x 70] turned: 0, 70, 140, ... and 1, 71, 141, ...
//! plain: loads move 7000 sectors, stores move 875
//! tiled: loads move 1100 sectors, stores move 1015
//! ```

#[macro_use]
mod print;

use pumice::Compiler;
use pumice::kernel::{Grid, Ix, Pull, Push, parts_for};
use pumice::layers::runtime::devices::Sim;
use std::sync::Arc;

/// Neighbouring threads write neighbours, and read elements that are far apart.
fn plain(xs: Pull<f32, Ix>, columns: Ix) -> Push<Grid, f32, Ix> {
    let matrix = xs.rows(columns);
    let rows = matrix.len();
    matrix.transpose(columns).join(rows).push()
}

/// A block reads the rows of a tile, waits, and writes its columns.
fn tiled(xs: Pull<f32, Ix>, columns: Ix) -> Push<Grid, f32, Ix> {
    const SIDE: usize = 32;
    let matrix = xs.rows(columns);
    let rows = matrix.len();
    let turned = matrix.split_2d(columns, SIDE).map(|across| {
        across.map(|tile| {
            let (height, width) = (tile.len(), tile.head().len());
            tile.force_2d(height, width, SIDE).transpose(width)
        })
    });
    turned.transpose(parts_for(columns, SIDE)).concat_2d(SIDE, columns, rows)
}

fn main() -> pumice::Result<()> {
    let (rows, columns) = (100, 70);
    let matrix: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
    let expected: Vec<f32> = (0..rows * columns).map(|i| (i % rows * columns + i / rows) as f32).collect();

    let turned = Compiler::new()?.kernel("tiled", 256, tiled)?.run((&matrix, columns as i64))?.to_vec()?;
    assert_eq!(turned, expected);
    let first = |row: usize| turned[row * rows..][..3].iter().map(|x| format!("{x}, ")).collect::<String>();
    println!("the first rows of [{rows} x {columns}] turned: {}... and {}...", first(0), first(1));

    for (name, kernel) in [("plain", plain as fn(_, _) -> _), ("tiled", tiled)] {
        let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
        let result = Compiler::with(sim.clone()).kernel(name, 256, kernel)?.run((&matrix, columns as i64))?;
        assert_eq!(result.to_vec()?, expected);
        let costs = sim.recorded()[0].report.costs;
        let (loads, stores) = (costs.global_loads.sectors, costs.global_stores.sectors);
        println!("{name}: loads move {loads} sectors, stores move {stores}");
    }
    Ok(())
}
