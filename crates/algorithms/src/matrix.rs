//! Matrices: transposition (FCL, section 3.2), and products with vectors and matrices.
//!
//! A matrix is a flat array of its rows and the number of its columns; how many rows it has follows from its length.

use crate::fcl::{WIDE, red_lanes};
use crate::program::{Prepared, Program, Settings, Tunable, Work, ready, same};
use pumice::kernel::{
    Grid, ItemForm, Ix, KernelFunction, Layout, Pull, Push, Round, Rows, Storable, Warp, Window, accumulate,
    force_scalar, force_windows, parts_for, seq_for, warp,
};
use pumice::{Array, Compiler, Dim1, Exp, Result};

/// Transposes a matrix, an element a thread (`transpose`): neighbouring threads read elements that are far apart.
pub fn transpose<T: Storable>(xs: Pull<T, Ix>, columns: Ix) -> Push<Grid, T, Ix> {
    let matrix = xs.rows(columns);
    let rows = matrix.len();
    matrix.transpose(columns).join(rows).push()
}

/// The side of the tiles of [`mat_mul_tiled`].
pub const TILE: usize = 32;

/// Transposes a matrix tile by tile (`transposeTiled`): a block reads the rows of a tile and writes its columns, so that
/// threads read and write neighbours. The cost depends on the layout of the tile in the block's memory.
pub fn transpose_tiled<T: Storable>(
    tile: usize,
    layout: Layout,
    xs: Pull<T, Ix>,
    columns: Ix,
) -> Push<Grid, T, Ix> {
    let matrix = xs.rows(columns);
    let rows = matrix.len();
    matrix
        .split_2d(columns, tile)
        .map(move |across| {
            across.map(move |part| {
                let width = part.head().len();
                part.clone().force_2d_as(part.len(), width, tile, layout).transpose(width)
            })
        })
        .transpose(parts_for(columns, tile))
        .concat_2d(tile, columns, rows)
}

/// Groups that a lane takes in one round of its loop over a row, so that several loads are under way.
const UNROLL: i64 = 4;

/// A matrix times a vector, a warp a row (`matVec`).
pub fn mat_vec(xs: Pull<f32, Ix>, vector: Pull<f32, Ix>) -> Push<Grid, f32, Ix> {
    let columns = vector.len();
    let products = xs.rows(columns).map(move |row| row.zip_with(vector.clone(), |a, b| a * b));
    products.map(sum_in_warp).concat()
}

/// The sum of an array, by a warp: its lanes take groups of neighbours, and the remaining elements one by one.
fn sum_in_warp(xs: Pull<f32, Ix>) -> Push<Warp, f32> {
    let lanes = i64::from(warp::WARP);
    let group = lanes * WIDE as i64;
    let own = move |lane: Ix| {
        // Adds the lane's elements of as many stretches of `groups` groups as there are from `done` on.
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
fn tiles<F: ItemForm>(
    rows: Ix,
    columns: Ix,
    (height, width): (usize, usize),
    tile: impl Fn(Ix, Ix) -> F + Clone + 'static,
) -> Rows<F::Item> {
    Pull::new(parts_for(rows, height), move |down| {
        let tile = tile.clone();
        Pull::new(parts_for(columns, width), move |across| tile(down * height as i64, across * width as i64))
    })
}

/// Division of a product of matrices among blocks and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The side of the tile of the result that a block computes.
    pub tile: usize,
    /// Columns of the left matrix (and rows of the right one) that the block's memory holds at a time.
    pub depth: usize,
}

impl Division {
    /// A division that suits a GPU.
    pub const GPU: Division = Division { tile: 128, depth: 16 };

    /// The side of the part that a thread keeps in registers: it takes [`WIDE`] neighbours in each half of the tile.
    const SIDE: usize = 2 * WIDE;

    /// Threads of a block: each has `SIDE` × `SIDE` elements of the tile.
    pub fn threads(self) -> usize {
        let across = self.tile / Division::SIDE;
        across * across
    }

    /// Returns the position of the `k`-th of a thread's rows (or columns), for the thread with this number among those along the side.
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

/// Small whole numbers, so that sums of products are exact in any order.
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i * 7 % 23) as f32 - 9.0).collect()
}

/// Rows and columns of a matrix of this size: odd sizes make matrices that are not square.
fn shape(n: usize) -> (usize, usize) {
    (n, if n.is_multiple_of(2) { n } else { n + 5 })
}

/// A program that transposes a matrix.
fn transposition(
    compiler: &Compiler,
    n: usize,
    (name, threads): (&str, i64),
    f: impl KernelFunction<(Pull<f32, Ix>, Ix), Result = Push<Grid, f32, Ix>>,
) -> Result<Box<dyn Prepared>> {
    let (rows, columns) = shape(n);
    let elements = numbers(rows * columns);
    let xs = compiler.upload(&elements)?;
    let kernel = compiler.kernel(name, threads as u32, f)?;
    let run = move || kernel.run((&xs, columns as i64));
    let check = move |found: &Array<Dim1, f32>| {
        let places = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
        let expected: Vec<f32> = places.map(|place| elements[place]).collect();
        Ok(same(&found.to_vec()?, &expected))
    };
    Ok(ready(Work::Bytes(2 * rows * columns * size_of::<f32>()), run, check))
}

/// A program that transposes a matrix in tiles.
fn tiled_transposition(
    compiler: &Compiler,
    n: usize,
    name: &str,
    layout: Layout,
    settings: &Settings,
) -> Result<Box<dyn Prepared>> {
    let tile = settings.get("tile") as usize;
    let f = move |xs: Pull<f32, Ix>, columns: Ix| transpose_tiled(tile, layout, xs, columns);
    transposition(compiler, n, (name, settings.get("threads")), f)
}

/// Tunable parameters of a transposition in tiles: the side of a tile, and the threads of a block.
const TILING: &[Tunable] = &[
    Tunable { name: "tile", values: &[32, 64], default: 32 },
    Tunable { name: "threads", values: &[128, 256, 512, 1024], default: 256 },
];

/// A program that multiplies two matrices. Where they are large, only some elements are checked.
fn multiplication(
    compiler: &Compiler,
    n: usize,
    (name, threads): (&str, usize),
    f: impl KernelFunction<(Pull<f32, Ix>, Pull<f32, Ix>, Ix, Ix), Result = Push<Grid, f32, Ix>>,
) -> Result<Box<dyn Prepared>> {
    let (rows, columns) = shape(n);
    let inner = rows;
    let (left, right) = (numbers(rows * inner), numbers(inner * columns));
    let (xs, ys) = (compiler.upload(&left)?, compiler.upload(&right)?);
    let kernel = compiler.kernel(name, threads as u32, f)?;
    let run = move || kernel.run((&xs, &ys, inner as i64, columns as i64));
    let check = move |found: &Array<Dim1, f32>| {
        let found = found.to_vec()?;
        if found.len() != rows * columns {
            return Ok(Err(format!("{} elements instead of {}", found.len(), rows * columns)));
        }
        let product = |place: usize| {
            let (row, column) = (place / columns, place % columns);
            let pairs = (0..inner).map(|k| (left[row * inner + k], right[k * columns + column]));
            pairs.fold(0.0, |sum, (a, b)| a.mul_add(b, sum))
        };
        let places = || (0..rows * columns).step_by((rows * columns / 10_000).max(1));
        let some: Vec<f32> = places().map(|place| found[place]).collect();
        Ok(same(&some, &places().map(product).collect::<Vec<f32>>()))
    };
    Ok(ready(Work::Operations(2 * rows * inner * columns), run, check))
}

/// The programs of this file. The size of one is the number of its matrices' rows.
pub fn programs() -> Vec<Program> {
    const TRANSPOSE: Program = Program {
        name: "transpose",
        about: "a transposed matrix, an element a thread",
        small: 100,
        large: &[8192],
        sizes: &[0, 1, 7, 32, 65, 150],
        tunable: &[],
        prepare: |compiler, n, _| transposition(compiler, n, ("transpose", 256), transpose::<f32>),
    };
    const MULTIPLY: Program = Program {
        name: "matMul",
        about: "the product of two matrices, in tiles that threads keep in registers",
        small: 130,
        large: &[1024, 4096],
        sizes: &[1, 7, 32, 65, 150],
        tunable: &[Tunable { name: "depth", values: &[8, 16], default: 16 }],
        prepare: |compiler, n, settings| {
            let division = Division { depth: settings.get("depth") as usize, ..Division::GPU };
            let f = move |xs: Pull<f32, Ix>, ys: Pull<f32, Ix>, inner: Ix, columns: Ix| {
                mat_mul(division, xs, ys, inner, columns)
            };
            multiplication(compiler, n, ("matMul", division.threads()), f)
        },
    };
    vec![
        TRANSPOSE,
        Program {
            name: "transposeTiled",
            about: "a transposed matrix, in tiles whose rows are a cell longer",
            tunable: TILING,
            prepare: |compiler, n, settings| {
                tiled_transposition(compiler, n, "transposeTiled", Layout::Padded, settings)
            },
            ..TRANSPOSE
        },
        Program {
            name: "transposeTiledPlain",
            about: "a transposed matrix, in tiles whose columns are in one bank each",
            tunable: TILING,
            prepare: |compiler, n, settings| {
                tiled_transposition(compiler, n, "transposeTiledPlain", Layout::Plain, settings)
            },
            ..TRANSPOSE
        },
        Program {
            name: "transposeTiledSwizzled",
            about: "a transposed matrix, in tiles whose rows each have an order of their own",
            tunable: TILING,
            prepare: |compiler, n, settings| {
                tiled_transposition(compiler, n, "transposeTiledSwizzled", Layout::Swizzled, settings)
            },
            ..TRANSPOSE
        },
        Program {
            name: "matVec",
            about: "a matrix times a vector, a warp a row",
            small: 100,
            large: &[8192],
            sizes: &[0, 1, 7, 128, 513],
            tunable: &[],
            prepare: |compiler, n, _| {
                let (rows, columns) = shape(n);
                let (matrix, vector) = (numbers(rows * columns), numbers(columns));
                let (xs, ys) = (compiler.upload(&matrix)?, compiler.upload(&vector)?);
                let kernel = compiler.kernel("matVec", 256, mat_vec)?;
                let run = move || kernel.run((&xs, &ys));
                let check = move |found: &Array<Dim1, f32>| {
                    let dot = |row: usize| {
                        let row = &matrix[row * columns..(row + 1) * columns];
                        row.iter().zip(&vector).map(|(a, b)| a * b).sum()
                    };
                    Ok(same(&found.to_vec()?, &(0..rows).map(dot).collect::<Vec<f32>>()))
                };
                Ok(ready(Work::Bytes((rows * columns + columns + rows) * size_of::<f32>()), run, check))
            },
        },
        MULTIPLY,
        Program {
            name: "matMulTiled",
            about: "the product of two matrices, in tiles of 32 by 32, an element a thread",
            tunable: &[],
            prepare: |compiler, n, _| {
                multiplication(compiler, n, ("matMulTiled", TILE * TILE), mat_mul_tiled)
            },
            ..MULTIPLY
        },
    ]
}
