//! Matrices: transposition (FCL, section 3.2), and products with vectors and matrices.
//!
//! A matrix is a flat array of its rows and the number of its columns; how many rows it has follows from its length.

use crate::Program;
use crate::fcl::{WIDE, red_lanes};
use pumice::Exp;
use pumice::kernel::{
    Form, Grid, Ix, Layout, Matrix, Pull, Push, Round, Storable, Warp, Window, accumulate, force_scalar,
    force_windows, parts_for, seq_for, warp,
};

/// Transposes a matrix, an element a thread (`transpose`): neighbouring threads read elements that are far apart.
pub fn transpose<T: Storable>(xs: Pull<T, Ix>, columns: Ix) -> Push<Grid, T, Ix> {
    let matrix = xs.rows(columns);
    let rows = matrix.len();
    matrix.transpose(columns).join(rows).push()
}

/// The side of a tile that is transposed in a block's memory.
pub const TILE: usize = 32;

/// Transposes a matrix tile by tile (`transposeTiled`): a block reads the rows of a tile and writes its columns, so that
/// threads read and write neighbours. The layout of the tile in the block's memory says what that costs.
pub fn transpose_tiled<T: Storable>(layout: Layout, xs: Pull<T, Ix>, columns: Ix) -> Push<Grid, T, Ix> {
    let matrix = xs.rows(columns);
    let rows = matrix.len();
    matrix
        .split_2d(columns, TILE)
        .map(move |across| {
            across.map(move |tile| {
                let width = tile.head().len();
                tile.clone().force_2d_as(tile.len(), width, TILE, layout).transpose(width)
            })
        })
        .transpose(parts_for(columns, TILE))
        .concat_2d(TILE, columns, rows)
}

/// Groups that a lane takes in one round of its loop over a row, so that several loads are under way.
const UNROLL: i64 = 4;

/// A matrix times a vector, a warp a row (`matVec`).
pub fn mat_vec(xs: Pull<f32, Ix>, vector: Pull<f32, Ix>) -> Push<Grid, f32, Ix> {
    let columns = vector.len();
    let products = xs.rows(columns).map(move |row| row.zip_with(vector.clone(), |a, b| a * b));
    products.map(sum_in_warp).concat()
}

/// The sum of an array, by a warp: its lanes take groups of neighbours, and what is left one by one.
fn sum_in_warp(xs: Pull<f32, Ix>) -> Push<Warp, f32> {
    let lanes = i64::from(warp::WARP);
    let group = lanes * WIDE as i64;
    let own = move |lane: Ix| {
        // Adds what the lane has of as many stretches of `groups` groups as there are from `done` on.
        let add = |done: Ix, groups: i64, sum: Exp<f32>| {
            let stretch = group * groups;
            let stretches = (xs.len() - done) / stretch;
            let sum = seq_for::<f32>(stretches, 1, sum, |sum, k| {
                let first = done + k * stretch + lane * WIDE as i64;
                let offsets = (0..groups).flat_map(|g| (0..WIDE as i64).map(move |k| g * group + k));
                offsets.fold(sum, |sum, offset| sum + xs.at(first + offset))
            });
            (done + stretches * stretch, sum)
        };
        let (done, sum) = add(0.into(), UNROLL, 0.0.into());
        let (done, sum) = add(done, 1, sum);
        let left = (xs.len() - done - lane + (lanes - 1)) / lanes;
        let sum = seq_for::<f32>(left, 1, sum, |sum, k| sum + xs.at(done + lane + k * lanes));
        red_lanes(|a, b| a + b, sum)
    };
    let sums = Pull::<f32>::new(lanes as usize, own).push::<Warp>().force();
    Pull::new(1, move |_| sums.head()).push()
}

/// The product of two matrices, of `inner` columns and of as many rows, in tiles of 32 × 32 elements, an element a thread
/// (`matMulTiled`). A block has [`TILE`]² threads.
pub fn mat_mul_tiled(xs: Pull<f32, Ix>, ys: Pull<f32, Ix>, inner: Ix, columns: Ix) -> Push<Grid, f32, Ix> {
    let (a, b) = (xs.rows(inner), ys.rows(columns));
    let rows = a.len();
    let inner = inner.min(b.len());
    let window = Window { rows: TILE, columns: TILE, items: 1, transposed: false, padding: 0 };
    let side = TILE as i64;
    let element = move |thread: Ix| (thread / side, thread % side);
    tiles(rows, columns, (TILE, TILE), move |first_row, first_column| {
        let (a, b) = (a.clone(), b.clone());
        accumulate(
            TILE * TILE,
            parts_for(inner, TILE),
            |_| vec![Exp::from(0.0f32)],
            move |round| {
                let k = round * side;
                let windows =
                    [a.window(inner, (first_row, k), window), b.window(columns, (k, first_column), window)];
                let [left, right] = force_windows(windows, 0.0.into());
                Box::new(move |thread: Ix, sums: Vec<Exp<f32>>| {
                    let (row, column) = element(thread);
                    let add = |sum: Exp<f32>, k: i64| {
                        force_scalar(left.at(row).at(k).mul_add(right.at(k).at(column), sum))
                    };
                    sums.into_iter().map(|sum| (0..side).fold(sum, add)).collect()
                }) as Round<Exp<f32>>
            },
        )
    })
    .concat_owned((TILE, TILE), rows, columns, move |thread, _| element(thread))
}

/// Tiles of a matrix of `rows` × `columns`, each made from the row and column where it starts.
fn tiles<F: Form>(
    rows: Ix,
    columns: Ix,
    (height, width): (usize, usize),
    tile: impl Fn(Ix, Ix) -> F + Clone + 'static,
) -> Matrix<F::Item> {
    Pull::new(parts_for(rows, height), move |down| {
        let tile = tile.clone();
        Pull::new(parts_for(columns, width), move |across| tile(down * height as i64, across * width as i64))
    })
}

/// How a product of matrices is divided: what a block and what a thread has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The side of the tile of the result that a block computes.
    pub tile: usize,
    /// How many columns of the left matrix (and rows of the right one) the block's memory holds at a time.
    pub depth: usize,
}

impl Division {
    /// What suits a GPU.
    pub const GPU: Division = Division { tile: 128, depth: 16 };

    /// The side of the part that a thread keeps in registers: it takes [`WIDE`] neighbours in each half of the tile.
    const SIDE: usize = 2 * WIDE;

    /// Threads of a block: each has `SIDE` × `SIDE` elements of the tile.
    pub fn threads(self) -> usize {
        let across = self.tile / Division::SIDE;
        across * across
    }

    /// Where the `k`-th of a thread's rows (or columns) is, for the thread with this number among those along the side.
    /// The first four are neighbours, and so are the last: neighbouring threads' elements then are in different banks.
    fn place(self, thread: Ix, k: usize) -> Ix {
        let half = (k / WIDE * (self.tile / 2)) as i64;
        thread * WIDE as i64 + (half + (k % WIDE) as i64)
    }

    /// The thread's numbers down and across.
    fn thread(self, thread: Ix) -> (Ix, Ix) {
        let across = (self.tile / Division::SIDE) as i64;
        (thread / across, thread % across)
    }
}

/// The product of two matrices, of `inner` columns and of as many rows, in tiles that threads keep in registers
/// (`matMul`): of every pair of elements that a thread reads from the block's memory it computes eight products. A block
/// has [`Division::threads`] threads.
pub fn mat_mul(
    division: Division,
    xs: Pull<f32, Ix>,
    ys: Pull<f32, Ix>,
    inner: Ix,
    columns: Ix,
) -> Push<Grid, f32, Ix> {
    let (a, b) = (xs.rows(inner), ys.rows(columns));
    let rows = a.len();
    let inner = inner.min(b.len());
    let Division { tile, depth } = division;
    // The left tile lies column by column, so that a thread reads neighbours of both.
    let left = Window { rows: tile, columns: depth, items: WIDE, transposed: true, padding: WIDE };
    let right = Window { rows: depth, columns: tile, items: WIDE, transposed: false, padding: 0 };
    let side = Division::SIDE;
    tiles(rows, columns, (tile, tile), move |first_row, first_column| {
        let (a, b) = (a.clone(), b.clone());
        accumulate(
            division.threads(),
            parts_for(inner, depth),
            move |_| vec![Exp::from(0.0f32); side * side],
            move |round| {
                let k = round * depth as i64;
                let windows =
                    [a.window(inner, (first_row, k), left), b.window(columns, (k, first_column), right)];
                let [left, right] = force_windows(windows, 0.0.into());
                Box::new(move |thread: Ix, sums: Vec<Exp<f32>>| {
                    let (down, across) = division.thread(thread);
                    // Everything is computed where it stands: a step needs the elements of one column and one row, and
                    // no others are kept in registers meanwhile.
                    (0..depth as i64).fold(sums, |sums, k| {
                        let read = |line: Pull<f32>, number: Ix| {
                            let at = |k| force_scalar(line.at(division.place(number, k)));
                            (0..side).map(at).collect::<Vec<Exp<f32>>>()
                        };
                        let (ours, theirs) = (read(left.at(k), down), read(right.at(k), across));
                        let add = |(n, sum): (usize, Exp<f32>)| {
                            force_scalar(ours[n / side].mul_add(theirs[n % side], sum))
                        };
                        sums.into_iter().enumerate().map(add).collect()
                    })
                }) as Round<Exp<f32>>
            },
        )
    })
    .concat_owned((tile, tile), rows, columns, move |thread, n| {
        let (down, across) = division.thread(thread);
        (division.place(down, n / side), division.place(across, n % side))
    })
}

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    Vec::new()
}
