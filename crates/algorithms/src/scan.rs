//! Scans (prefix sums) with any associative operator, which need not commute: in a block, by three networks, and of a whole
//! array, recursively over the sums of chunks or in one pass.

mod look_back;
mod tile;

pub use look_back::{Word, scan_look_back};
pub use tile::{Division, scan_with_sums, tile_sums};

use crate::obsidian::whole_blocks;
use crate::program::{Prepared, Program, Tunable, Work, ready, same};
use pumice::kernel::{Block, Forces, Grid, Ix, Kernel, Mutable, Pull, Push, Storable, replicate};
use pumice::{Array, Compiler, Dim1, Elt, Exp, Result};

/// An associative operator and its neutral element.
pub struct Monoid<T: Elt, F> {
    /// The operator.
    pub operator: F,
    /// The neutral element.
    pub neutral: T::Exp,
}

impl<T: Elt, F: Clone> Clone for Monoid<T, F> {
    fn clone(&self) -> Self {
        Monoid { operator: self.operator.clone(), neutral: self.neutral }
    }
}

/// An operator of the kernel language.
pub trait Operator<T: Elt>: Fn(T::Exp, T::Exp) -> T::Exp + Copy + 'static {}
impl<T: Elt, F: Fn(T::Exp, T::Exp) -> T::Exp + Copy + 'static> Operator<T> for F {}

/// The first half, and the second with the last element of the first added to each.
fn fan<T: Storable>(f: impl Fn(T::Form, T::Form) -> T::Form + 'static, xs: Pull<T>) -> Pull<T> {
    let (low, high) = xs.halve();
    let last = low.last();
    low.append(high.map(move |x| f(last.clone(), x)))
}

/// Sklansky's network (`sklansky`): log n steps, each of which takes n / 2 additions. The length is a power of two.
pub fn sklansky<L: Forces, T: Elt>(f: impl Operator<T>, mut xs: Pull<T>) -> Push<L, T> {
    let parts = (0..xs.len().max(1).ilog2()).rev();
    let mut network = xs.clone().push();
    for times in parts {
        network = xs.bin_split(times, move |part| fan::<T>(f, part)).push::<L>();
        if times == 0 {
            break;
        }
        xs = network.clone().force();
    }
    network
}

/// The network of Kogge and Stone (`koggeStone`): log n steps, in each of which every element adds the one so many
/// places before.
pub fn kogge_stone<L: Forces, T: Elt>(f: impl Operator<T>, mut xs: Pull<T>) -> Push<L, T> {
    let mut network = xs.clone().push();
    let mut distance = 1;
    while distance < xs.len() {
        let before = xs.clone().take(xs.len() - distance);
        let far = before.zip_with(xs.clone().drop(distance), f);
        // Two pushes side by side would do without a condition. But PoCL 3.1's optimiser breaks the loops of those, if there
        // is a chunk that is not whole too: with `-cl-opt-disable` the same text is right.
        network = xs.clone().take(distance).append(far).push::<L>();
        distance *= 2;
        if distance < xs.len() {
            xs = network.clone().force();
        }
    }
    network
}

/// The network of Brent and Kung (`brentKung`): the sums of pairs are scanned, and the elements between them added. Twice as
/// many steps, and fewest additions. The length is a power of two.
pub fn brent_kung<L: Forces, T: Elt>(f: impl Operator<T>, xs: Pull<T>) -> Push<L, T> {
    if xs.len() < 2 {
        return xs.push();
    }
    let (even, odd) = xs.even_odds();
    let pairs = even.clone().zip_with(odd, f).push::<L>().force();
    let sums = brent_kung::<L, T>(f, pairs).force();
    let between = sums.clone().take(sums.len() - 1).zip_with(even.clone().drop(1usize), f);
    even.take(1usize).append(between).zip(sums).push::<L>().unpair()
}

/// The network that scans a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// [`sklansky`].
    Sklansky,
    /// [`kogge_stone`].
    KoggeStone,
    /// [`brent_kung`].
    BrentKung,
}

impl Network {
    fn scan<L: Forces, T: Elt>(self, f: impl Operator<T>, xs: Pull<T>) -> Push<L, T> {
        match self {
            Network::Sklansky => sklansky(f, xs),
            Network::KoggeStone => kogge_stone(f, xs),
            Network::BrentKung => brent_kung(f, xs),
        }
    }
}

/// Scans every chunk of an array in a block of its own; the size of a chunk is a power of two.
pub fn scan_chunks<T: Elt>(
    network: Network,
    Monoid { operator, neutral }: Monoid<T, impl Operator<T>>,
    chunk_size: usize,
    xs: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    let length = xs.len();
    let scan = move |chunk: Pull<T>| network.scan::<Block, T>(operator, chunk);
    xs.tiles(chunk_size)
        .map(move |chunk| {
            let here = chunk.len();
            chunk.if_whole(chunk_size, here, scan, move |chunk| {
                let scanned = scan(chunk.padded(chunk_size, neutral)).force();
                Pull::<T, Ix>::new(here, move |i| scanned.at(i)).push::<Block>()
            })
        })
        .concat_tiles(chunk_size, length)
}

/// For every whole chunk of an array `neutral` and the scan of the chunk, one element longer than the chunk (`scanl`).
pub fn scanl<T: Elt>(
    network: Network,
    Monoid { operator, neutral }: Monoid<T, impl Operator<T>>,
    chunk_size: usize,
    xs: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    whole_blocks(xs, chunk_size)
        .map(move |chunk| {
            let first = replicate(1usize, neutral).push::<Block>();
            first.append(network.scan::<Block, T>(operator, chunk))
        })
        .concat()
}

/// The last element of every chunk of an array that [`scan_chunks`] scanned: the chunk's sum.
pub fn last_of_chunks<T: Elt>(chunk_size: usize, scanned: Pull<T, Ix>) -> Push<Grid, T, Ix> {
    scanned.tiles(chunk_size).map(|chunk| chunk.last()).push()
}

/// Adds to every chunk but the first the scanned sum of those before it.
pub fn add_to_chunks<T: Elt>(
    f: impl Operator<T>,
    chunk_size: usize,
    scanned: Pull<T, Ix>,
    sums: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    let length = scanned.len();
    scanned
        .tiles(chunk_size)
        .imap(move |number, chunk| {
            let sums = sums.clone();
            let add = move |x: T::Exp| number.eq(0).select(x, f(sums.at((number - 1).max(0)), x));
            chunk.map(add).push::<Block>()
        })
        .concat_tiles(chunk_size, length)
}

/// The sum of numbers, which wraps.
fn sum() -> Monoid<i32, impl Operator<i32>> {
    Monoid { operator: |a: Exp<i32>, b: Exp<i32>| a + b, neutral: 0.into() }
}

/// The input of kernels of running sums.
type Numbers = Pull<i32, Ix>;

/// Running sums of an array, recursively over the sums of chunks (`scanRecursive`).
pub struct ScanRecursive {
    chunks: Kernel<(Numbers,), i32>,
    last: Kernel<(Numbers,), i32>,
    add: Kernel<(Numbers, Numbers), i32>,
    size: usize,
}

impl ScanRecursive {
    /// The kernels, for chunks of this size: a power of two, more than 1.
    pub fn new(compiler: &Compiler, size: usize) -> Result<ScanRecursive> {
        let scan = move |xs: Numbers| scan_chunks(Network::Sklansky, sum(), size, xs);
        let last = move |xs: Numbers| last_of_chunks(size, xs);
        let add = move |xs: Numbers, sums: Numbers| add_to_chunks(sum().operator, size, xs, sums);
        let threads = (size as u32).min(512);
        Ok(ScanRecursive {
            chunks: compiler.kernel("scan_chunks", threads, scan)?,
            last: compiler.kernel("last_of_chunks", 256, last)?,
            add: compiler.kernel("add_to_chunks", 256, add)?,
            size,
        })
    }

    /// The running sums.
    pub fn run(&self, xs: &Array<Dim1, i32>) -> Result<Array<Dim1, i32>> {
        let chunks = self.chunks.run(xs)?;
        if xs.len() <= self.size {
            return Ok(chunks);
        }
        let sums = self.run(&self.last.run(&chunks)?)?;
        self.add.run((&chunks, &sums))
    }
}

/// Running sums of an array (`scan`): in one pass where blocks may wait for each other, else in three phases.
pub struct Scan {
    kernels: Kernels,
    tile: usize,
}

enum Kernels {
    /// With memory of zeros.
    OnePass { zeros: Kernel<(Ix,), u64>, scan: Kernel<(Numbers, Mutable<u64>), i32> },
    /// Over the sums of tiles.
    ThreePhases { sums: Kernel<(Numbers,), i32>, scan: Kernel<(Numbers, Numbers), i32> },
}

impl Scan {
    /// Compiles the scan that suits the device: in one pass if it has forward progress, else in three phases.
    pub fn new(compiler: &Compiler, division: Division) -> Result<Scan> {
        match compiler.device().profile().forward_progress {
            true => Scan::one_pass(compiler, division),
            false => Scan::three_phases(compiler, division),
        }
    }

    fn one_pass(compiler: &Compiler, division: Division) -> Result<Scan> {
        let scan = move |xs: Numbers, state: Mutable<u64>| scan_look_back(sum(), division, xs, state);
        let kernels = Kernels::OnePass {
            zeros: compiler.kernel("zeros", 256, |n: Ix| replicate(n, Exp::from(0u64)).push::<Grid>())?,
            scan: compiler.kernel("scan", division.threads as u32, scan)?,
        };
        Ok(Scan { kernels, tile: division.tile() })
    }

    /// In three phases, which every device can do.
    pub fn three_phases(compiler: &Compiler, division: Division) -> Result<Scan> {
        let threads = division.threads as u32;
        let sums = move |xs: Numbers| tile_sums(sum(), division, xs);
        let scan = move |xs: Numbers, sums: Numbers| scan_with_sums(sum(), division, xs, sums);
        let kernels = Kernels::ThreePhases {
            sums: compiler.kernel("tile_sums", threads, sums)?,
            scan: compiler.kernel("scan_with_sums", threads, scan)?,
        };
        Ok(Scan { kernels, tile: division.tile() })
    }

    /// The running sums.
    pub fn run(&self, xs: &Array<Dim1, i32>) -> Result<Array<Dim1, i32>> {
        match &self.kernels {
            Kernels::OnePass { zeros, scan } => {
                let mut state = zeros.run((xs.len().div_ceil(self.tile) as i64 + 1,))?;
                scan.run((xs, &mut state))
            }
            Kernels::ThreePhases { sums, scan } => {
                let sums = sums.run(xs)?;
                // A single tile has nothing before it.
                let before = if xs.len() <= self.tile { sums } else { self.run(&sums)? };
                scan.run((xs, &before))
            }
        }
    }
}

/// Numbers to work on.
fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i.wrapping_mul(7) % 1000 - 300).collect()
}

fn running_sums(xs: &[i32]) -> Vec<i32> {
    let add = |sum: &mut i32, x: &i32| {
        *sum = sum.wrapping_add(*x);
        Some(*sum)
    };
    xs.iter().scan(0, add).collect()
}

/// A program from numbers to numbers, which moves each once in and once out.
fn of_numbers(
    compiler: &Compiler,
    n: usize,
    mut run: impl FnMut(&Array<Dim1, i32>) -> Result<Array<Dim1, i32>> + 'static,
    expected: fn(&[i32]) -> Vec<i32>,
) -> Result<Box<dyn Prepared>> {
    let xs = compiler.upload(numbers(n))?;
    let check = move |found: &Array<Dim1, i32>| Ok(same(&found.to_vec()?, &expected(&numbers(n))));
    Ok(ready(Work::Bytes(2 * n * size_of::<i32>()), move || run(&xs), check))
}

/// Elements of a chunk that a network scans.
const CHUNK: usize = 512;

/// A program of a network.
fn of_network(compiler: &Compiler, n: usize, name: &str, network: Network) -> Result<Box<dyn Prepared>> {
    let f = move |xs: Numbers| scan_chunks(network, sum(), CHUNK, xs);
    let kernel = compiler.kernel(name, 256, f)?;
    let expected = |xs: &[i32]| xs.chunks(CHUNK).flat_map(running_sums).collect();
    of_numbers(compiler, n, move |xs| kernel.run(xs), expected)
}

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    const SKLANSKY: Program = Program {
        name: "sklansky",
        about: "running sums of chunks of 512, by Sklansky's network",
        small: 20000,
        large: &[1 << 24, 1 << 26],
        sizes: crate::fcl::SIZES,
        tunable: &[],
        prepare: |compiler, n, _| of_network(compiler, n, "sklansky", Network::Sklansky),
    };
    vec![
        SKLANSKY,
        Program {
            name: "koggeStone",
            about: "running sums of chunks of 512, by the network of Kogge and Stone",
            prepare: |compiler, n, _| of_network(compiler, n, "koggeStone", Network::KoggeStone),
            ..SKLANSKY
        },
        Program {
            name: "brentKung",
            about: "running sums of chunks of 512, by the network of Brent and Kung",
            prepare: |compiler, n, _| of_network(compiler, n, "brentKung", Network::BrentKung),
            ..SKLANSKY
        },
        Program {
            name: "scanl",
            about: "for whole chunks of 32 zero and their running sums",
            prepare: |compiler, n, _| {
                let f = |xs: Numbers| scanl(Network::Sklansky, sum(), 32, xs);
                let kernel = compiler.kernel("scanl", 32, f)?;
                let expected = |xs: &[i32]| {
                    let row = |chunk| std::iter::once(0).chain(running_sums(chunk));
                    xs.chunks_exact(32).flat_map(row).collect()
                };
                of_numbers(compiler, n, move |xs| kernel.run(xs), expected)
            },
            ..SKLANSKY
        },
        Program {
            name: "scanRecursive",
            about: "running sums, recursively over the sums of chunks",
            prepare: |compiler, n, _| {
                let scan = ScanRecursive::new(compiler, 1024)?;
                of_numbers(compiler, n, move |xs| scan.run(xs), running_sums)
            },
            ..SKLANSKY
        },
        Program {
            name: "scan",
            about: "running sums, in one pass where the device lets blocks wait for each other",
            tunable: &[Tunable { name: "threads", values: &[128, 256, 512], default: 256 }],
            prepare: |compiler, n, settings| {
                let scan = Scan::new(compiler, Division::of(settings.get("threads") as usize))?;
                of_numbers(compiler, n, move |xs| scan.run(xs), running_sums)
            },
            ..SKLANSKY
        },
    ]
}
