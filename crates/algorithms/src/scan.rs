//! Scans (prefix sums) with any associative operator, which need not commute: in a block, by three networks, and of a whole
//! array, recursively over the sums of chunks or in one pass.

use crate::fcl::WIDE;
use crate::program::{Prepared, Program, Tunable, ready, same};
use pumice::kernel::{
    Block, Forces, Grid, Ix, Kernel, Loops, Mutable, Pull, Push, Storable, cond, replicate, seq_until, warp,
};
use pumice::{Array, Compiler, Dim1, Elt, Exp, Primitive, Result};

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

/// The network of Kogge and Stone (`koggeStone`): log n steps, in each of which every element adds what stands so many
/// places before.
pub fn kogge_stone<L: Forces, T: Elt>(f: impl Operator<T>, mut xs: Pull<T>) -> Push<L, T> {
    let mut network = xs.clone().push();
    let mut distance = 1;
    while distance < xs.len() {
        let far = xs.clone().zip_with(xs.clone().drop(distance), f);
        network = xs.clone().take(distance).push::<L>().append(far.push());
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
    let between = sums.clone().zip_with(even.clone().drop(1usize), f);
    even.take(1usize).append(between).zip(sums).push::<L>().unpair()
}

/// Which network scans a chunk.
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
    xs.split_up(chunk_size)
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

/// A primitive of 32 bits: what fits into half of an atomic word.
pub trait Word: Primitive {
    /// Its bits.
    fn to_word(value: Exp<Self>) -> Exp<u32>;
    /// The value of bits.
    fn from_word(bits: Exp<u32>) -> Exp<Self>;
}

impl Word for i32 {
    fn to_word(value: Exp<i32>) -> Exp<u32> {
        value.cast()
    }
    fn from_word(bits: Exp<u32>) -> Exp<i32> {
        bits.cast()
    }
}

impl Word for u32 {
    fn to_word(value: Exp<u32>) -> Exp<u32> {
        value
    }
    fn from_word(bits: Exp<u32>) -> Exp<u32> {
        bits
    }
}

impl Word for f32 {
    fn to_word(value: Exp<f32>) -> Exp<u32> {
        value.to_bits()
    }
    fn from_word(bits: Exp<u32>) -> Exp<f32> {
        Exp::<f32>::from_bits(bits)
    }
}

/// How the work of a scan is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Threads of a block, a multiple of 32.
    pub threads: usize,
    /// Groups of four neighbours that a thread has; a block's warps have no more than 32 together.
    pub rows: usize,
}

const LANES: usize = warp::WARP as usize;

impl Division {
    /// What suits a GPU.
    pub const GPU: Division = Division { threads: 256, rows: 4 };

    /// The largest tile that so many threads can have: 128 to 1024.
    pub fn of(threads: usize) -> Division {
        Division { threads, rows: (LANES * LANES / threads.max(1)).max(1) }
    }

    /// Elements of a tile.
    pub fn tile(self) -> usize {
        self.threads * self.items()
    }

    fn items(self) -> usize {
        self.rows * WIDE
    }

    fn warps(self) -> usize {
        self.threads / LANES
    }
}

/// A tile on the way: what its threads keep to themselves, and the sums of its parts in the block's memory.
///
/// A tile is `rows` rows, in each of which a thread has four neighbours: so it is read and written wide, and nothing needs
/// to be exchanged through memory but a sum a warp and row.
struct Tile<T: Elt, F> {
    monoid: Monoid<T, F>,
    division: Division,
    /// By thread: its elements, each with all those before it in its warp's part of the row.
    own: Mutable<T>,
    /// By row and warp: the sum of the part, 32 with neutral elements at the end.
    totals: Pull<T>,
}

fn lane(thread: Ix) -> Ix {
    thread % LANES as i64
}

/// Every lane's value with those of the lanes below.
fn scan_lanes<T: Elt>(f: impl Operator<T>, lane: Ix, own: T::Exp) -> T::Exp {
    let distances = std::iter::successors(Some(1), |distance| Some(distance * 2));
    distances.take_while(|distance| *distance < LANES as i64).fold(own, |sum, distance| {
        let below = warp::shuffle_up(sum, distance as i32);
        lane.ge(distance).select(f(below, sum), sum)
    })
}

/// From a scan of the lanes to what stands before each.
fn before<T: Elt>(lane: Ix, neutral: T::Exp, scanned: T::Exp) -> T::Exp {
    let below = warp::shuffle_up(scanned, 1);
    lane.eq(0).select(neutral, below)
}

impl<T: Elt, F: Operator<T>> Tile<T, F> {
    /// Loads a tile and scans the parts of its warps.
    fn load(monoid: Monoid<T, F>, division: Division, tile: Pull<T, Ix>) -> Self {
        let Monoid { operator: f, neutral } = monoid;
        let threads = Exp::from(division.threads as i64);
        let warps = division.warps() as i64;
        let own = Mutable::<T>::own(replicate(division.items(), neutral));
        let totals = Mutable::<T>::shared(replicate(division.rows * division.warps(), neutral));
        let take = |tile: Pull<T>| {
            let parts = tile.coalesce_by(division.items(), WIDE);
            Block::for_each(threads, &|thread| {
                let part = parts.at(thread);
                (0..part.len() as i64).for_each(|i| own.write(i, part.at(i)));
            });
        };
        tile.do_whole(division.tile(), take, |tile| take(tile.padded(division.tile(), neutral)));
        Block::for_each(threads, &|thread| {
            let (lane, warp) = (lane(thread), thread / LANES as i64);
            for row in 0..division.rows as i64 {
                let places: Vec<i64> = (0..WIDE as i64).map(|k| row * WIDE as i64 + k).collect();
                let mut sums: Vec<T::Exp> = Vec::new();
                for place in &places {
                    let x = own.read(*place);
                    sums.push(sums.last().map_or(x, |sum| f(*sum, x)));
                }
                let scanned = scan_lanes::<T>(f, lane, sums.last().copied().unwrap_or(neutral));
                let base = before::<T>(lane, neutral, scanned);
                for (place, sum) in places.iter().zip(sums) {
                    own.write(*place, f(base, sum));
                }
                let last = lane.eq(LANES as i64 - 1);
                cond(last, || totals.write(row * warps + warp, scanned), || {});
            }
        });
        let totals = totals.freeze().padded(LANES, neutral);
        Tile { monoid, division, own, totals }
    }

    /// The sum of the tile.
    fn sum(self) -> Push<Block, T> {
        let f = self.monoid.operator;
        let parts = (self.division.rows * self.division.warps()) as i64;
        Pull::new(1, move |_| (1..parts).fold(self.totals.head(), |sum, i| f(sum, self.totals.at(i)))).push()
    }

    /// The scan of the tile, with what stands before it: the only element of `prefix`, a block's array.
    fn scan(self, tile: Pull<T, Ix>, prefix: Pull<T, Ix>) -> Push<Block, T, Ix> {
        let Tile { monoid: Monoid { operator: f, neutral }, division, own, totals } = self;
        let Division { threads, rows } = division;
        let warps = division.warps() as i64;
        let bases = Mutable::<T>::own(replicate(rows, neutral));
        Block::for_each(Exp::from(threads as i64), &|thread| {
            let lane = lane(thread);
            let parts = scan_lanes::<T>(f, lane, totals.at(lane));
            let parts = before::<T>(lane, neutral, parts);
            for row in 0..rows as i64 {
                let part = Exp::from(row * warps) + thread / LANES as i64;
                bases.write(row, f(prefix.head(), warp::shuffle(parts, part.cast::<i32>())));
            }
        });
        // The elements of a thread, each with its index in the tile.
        let each = move |thread: Ix, write: &dyn Fn(Ix, T::Exp)| {
            for row in 0..rows as i64 {
                let base = bases.read(row);
                let group = (Exp::from(row * threads as i64) + thread) * WIDE as i64;
                for k in 0..WIDE as i64 {
                    write(group + k, f(base, own.read(row * WIDE as i64 + k)));
                }
            }
        };
        let (here, every, threads) = (tile.len(), each.clone(), Exp::from(threads as i64));
        let whole = Push::<Block, T>::new(division.tile(), move |write| {
            Block::for_each(threads, &|thread| every(thread, &|i, x| write(i, x)));
        });
        let rest = Push::<Block, T, Ix>::new(here, move |write| {
            Block::for_each(threads, &|thread| {
                each(thread, &|i, x| cond(i.lt(here), || write(i, x), || {}));
            });
        });
        tile.if_whole(division.tile(), here, move |_| whole.clone(), move |_| rest.clone())
    }
}

/// The sum of every tile, the first phase of three. The operator need not commute.
pub fn tile_sums<T: Elt>(
    monoid: Monoid<T, impl Operator<T>>,
    division: Division,
    xs: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    xs.tiles(division.tile()).map(move |tile| Tile::load(monoid.clone(), division, tile).sum()).concat()
}

/// The scan of an array, given the scan of its tiles' sums: the last phase of three.
pub fn scan_with_sums<T: Elt>(
    monoid: Monoid<T, impl Operator<T>>,
    division: Division,
    xs: Pull<T, Ix>,
    sums: Pull<T, Ix>,
) -> Push<Grid, T, Ix> {
    let length = xs.len();
    xs.tiles(division.tile())
        .imap(move |number, tile| {
            let (sums, neutral) = (sums.clone(), monoid.neutral);
            let prefix = Pull::<T, Ix>::new(1i64.into(), move |_| {
                number.eq(0).select(neutral, sums.at((number - 1).max(0)))
            });
            Tile::load(monoid.clone(), division, tile.clone()).scan(tile, prefix)
        })
        .concat_tiles(division.tile(), length)
}

/// What a tile tells the others, in the upper half of a word whose lower half is a sum; 0 where there is nothing yet.
const OWN_SUM: u64 = 1 << 32;
/// The same, of a sum that has everything before the tile in it.
const WHOLE_SUM: u64 = 2 << 32;

/// The scan of an array in one pass (`scan`): a tile looks back at what those before it have to tell, until it meets one
/// that knows everything before itself. Only where [`pumice::kernel::Profile::forward_progress`] holds.
///
/// `state` is all zeros before: a counter of tiles begun, and a word a tile.
pub fn scan_look_back<T: Word>(
    monoid: Monoid<T, impl Operator<T>>,
    division: Division,
    xs: Pull<T, Ix>,
    state: Mutable<u64>,
) -> Push<Grid, T, Ix> {
    let (length, words) = (xs.len(), state.clone());
    xs.tiles(division.tile())
        .imap(move |number, tile| {
            let loaded = Tile::load(monoid.clone(), division, tile.clone());
            let prefix = look_back(&monoid, division, &loaded.totals, &words, number);
            loaded.scan(tile, prefix)
        })
        .concat_tiles_in_order(division.tile(), length, &state)
}

/// What stands before a tile: the block says what the tile's own sum is, asks the tiles before, 32 at a time, and tells
/// what it found.
///
/// Threads wait for words one by one. Everything else the whole block does together, in rounds: a warp that went on alone
/// would exchange values with lanes that are elsewhere on devices where warps are imitated.
fn look_back<T: Word>(
    monoid: &Monoid<T, impl Operator<T>>,
    division: Division,
    totals: &Pull<T>,
    words: &Mutable<u64>,
    number: Ix,
) -> Pull<T, Ix> {
    let Monoid { operator: f, neutral } = monoid.clone();
    let threads = Exp::from(division.threads as i64);
    let word = |status: u64, value: Exp<T>| Exp::from(status) | T::to_word(value).cast::<u64>();
    let value = |word: Exp<u64>| T::from_word((word & u64::from(u32::MAX)).cast());
    let told = |word: Exp<u64>, status: u64| (word & (OWN_SUM | WHOLE_SUM)).eq(status);
    let prefix = Mutable::<T>::shared(replicate(1, neutral));
    let window = Mutable::<u64>::shared(replicate(LANES, Exp::from(0u64)));
    let left = Mutable::<i64>::shared(replicate(1, number));
    let own = Mutable::<T>::own(replicate(1, neutral));
    Block::for_each(threads, &|thread| {
        let lane = lane(thread);
        let sum = warp::shuffle(scan_lanes::<T>(f, lane, totals.at(lane)), LANES as i32 - 1);
        own.write(0, sum);
        let first = number.eq(0).select(word(WHOLE_SUM, sum), word(OWN_SUM, sum));
        cond(thread.eq(0), || words.release(number + 1, first), || {});
    });
    // Tiles before `next` are still to be asked; those from there on up to this one are in the prefix.
    seq_until::<i64>(
        number,
        |next| next.le(0),
        |next| {
            Block::for_each(Exp::from(LANES as i64), &|lane| {
                let asked = next - 1 - lane;
                // Before the first tile there is nothing, and that is known.
                let first = asked.lt(0).select(word(WHOLE_SUM, neutral), 0.into());
                let ask = |_| words.acquire(asked.clamp(0, number) + 1);
                window.write(lane, seq_until::<u64>(first, |found| !told(found, 0), ask));
            });
            Block::sync();
            Block::for_each(threads, &|thread| {
                let lane = lane(thread);
                let found = window.read(lane);
                let knowing = warp::ballot(told(found, WHOLE_SUM));
                // Lanes above the first that knows everything have nothing to add.
                let needed = lane.le(knowing.trailing_zeros().cast::<i64>());
                let sum = sum_lanes_down::<T>(f, lane, needed.select(value(found), neutral));
                let write = || {
                    prefix.write(0, f(sum, prefix.read(0)));
                    left.write(0, knowing.eq(0).select(next - LANES as i64, 0.into()));
                };
                cond(thread.eq(0), write, || {});
            });
            Block::sync();
            left.read(0)
        },
    );
    let prefix = prefix.freeze();
    let before = prefix.clone();
    Block::for_each(Exp::from(1), &|_| {
        let everything = word(WHOLE_SUM, f(before.head(), own.read(0)));
        cond(number.gt(0), || words.release(number + 1, everything), || {});
    });
    prefix
}

/// The sum of all lanes' values from the highest lane down to the lowest; every lane gets it.
fn sum_lanes_down<T: Elt>(f: impl Operator<T>, lane: Ix, own: T::Exp) -> T::Exp {
    let distances = std::iter::successors(Some(1), |distance| Some(distance * 2));
    let sum = distances.take_while(|distance| *distance < LANES as i64).fold(own, |sum, distance| {
        let above = warp::shuffle_down(sum, distance as i32);
        (lane + distance).lt(LANES as i64).select(f(above, sum), sum)
    });
    warp::shuffle(sum, 0)
}

/// The sum of numbers, which wraps.
fn sum() -> Monoid<i32, impl Operator<i32>> {
    Monoid { operator: |a: Exp<i32>, b: Exp<i32>| a + b, neutral: 0.into() }
}

/// Running sums of an array, recursively over the sums of chunks (`scanRecursive`).
pub struct ScanRecursive {
    chunks: Kernel<(Pull<i32, Ix>,), i32>,
    last: Kernel<(Pull<i32, Ix>,), i32>,
    add: Kernel<(Pull<i32, Ix>, Pull<i32, Ix>), i32>,
    size: usize,
}

impl ScanRecursive {
    /// The kernels, for chunks of this size: a power of two, more than 1.
    pub fn new(compiler: &Compiler, size: usize) -> Result<ScanRecursive> {
        let scan = move |xs: Pull<i32, Ix>| scan_chunks(Network::Sklansky, sum(), size, xs);
        let last = move |xs: Pull<i32, Ix>| last_of_chunks(size, xs);
        let add = move |xs: Pull<i32, Ix>, sums: Pull<i32, Ix>| add_to_chunks(sum().operator, size, xs, sums);
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
    OnePass { zeros: Kernel<(Ix,), u64>, scan: Kernel<(Pull<i32, Ix>, Mutable<u64>), i32> },
    /// Over the sums of tiles.
    ThreePhases { sums: Kernel<(Pull<i32, Ix>,), i32>, scan: Kernel<(Pull<i32, Ix>, Pull<i32, Ix>), i32> },
}

impl Scan {
    /// What suits the device.
    pub fn new(compiler: &Compiler, division: Division) -> Result<Scan> {
        match compiler.device().profile().forward_progress {
            true => Scan::one_pass(compiler, division),
            false => Scan::three_phases(compiler, division),
        }
    }

    fn one_pass(compiler: &Compiler, division: Division) -> Result<Scan> {
        let scan = move |xs: Pull<i32, Ix>, state: Mutable<u64>| scan_look_back(sum(), division, xs, state);
        let kernels = Kernels::OnePass {
            zeros: compiler.kernel("zeros", 256, |n: Ix| replicate(n, Exp::from(0u64)).push::<Grid>())?,
            scan: compiler.kernel("scan", division.threads as u32, scan)?,
        };
        Ok(Scan { kernels, tile: division.tile() })
    }

    /// In three phases, which every device can do.
    pub fn three_phases(compiler: &Compiler, division: Division) -> Result<Scan> {
        let threads = division.threads as u32;
        let sums = move |xs: Pull<i32, Ix>| tile_sums(sum(), division, xs);
        let scan = move |xs: Pull<i32, Ix>, sums: Pull<i32, Ix>| scan_with_sums(sum(), division, xs, sums);
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
    let xs = compiler.upload(&numbers(n))?;
    let check = move |found: &Array<Dim1, i32>| Ok(same(&found.to_vec()?, &expected(&numbers(n))));
    Ok(ready(2 * n * size_of::<i32>(), move || run(&xs), check))
}

/// Elements of a chunk that a network scans.
const CHUNK: usize = 512;

/// A program of a network.
fn of_network(compiler: &Compiler, n: usize, name: &str, network: Network) -> Result<Box<dyn Prepared>> {
    let f = move |xs: Pull<i32, Ix>| scan_chunks(network, sum(), CHUNK, xs);
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
                let f = |xs: Pull<i32, Ix>| scanl(Network::Sklansky, sum(), 32, xs);
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
