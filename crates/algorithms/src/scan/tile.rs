//! Tiles of a scan: the part of the array that a block scans.
//!
//! A block of a large scan needs the sum of everything before its tile. It comes from elsewhere: from the scan of
//! all tiles' sums here, or from earlier blocks in [`super::look_back`].

use super::{Monoid, Operator};
use crate::fcl::WIDE;
use pumice::kernel::{Block, Grid, Ix, Loops, Mutable, Pull, Push, cond, replicate, warp};
use pumice::{Elt, Exp};

/// Division of a scan's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Threads of a block, a multiple of 32.
    pub threads: usize,
    /// Groups of four neighbours that a thread has; a block's warps have no more than 32 together.
    pub rows: usize,
}

pub(super) const LANES: usize = warp::WARP as usize;

impl Division {
    /// A division that suits a GPU.
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

/// A tile that is being scanned: the elements that its threads keep, and the sums of its parts in the block's memory.
///
/// A tile is `rows` rows, in each of which a thread has four neighbours. So it is read and written wide, and only
/// one sum per warp and row is exchanged through memory.
pub(super) struct Tile<T: Elt, F> {
    monoid: Monoid<T, F>,
    division: Division,
    /// By thread: its elements, each with all those before it in its warp's part of the row.
    own: Mutable<T>,
    /// By row and warp: the sum of the part, 32 with neutral elements at the end.
    pub(super) totals: Pull<T>,
}

pub(super) fn lane(thread: Ix) -> Ix {
    thread % LANES as i64
}

/// Every lane's value with those of the lanes below.
pub(super) fn scan_lanes<T: Elt>(f: impl Operator<T>, lane: Ix, own: T::Exp) -> T::Exp {
    let distances = std::iter::successors(Some(1), |distance| Some(distance * 2));
    distances.take_while(|distance| *distance < LANES as i64).fold(own, |sum, distance| {
        let below = warp::shuffle_up(sum, distance as i32);
        lane.ge(distance).select(f(below, sum), sum)
    })
}

/// Turns an inclusive scan of the lanes into an exclusive one.
fn before<T: Elt>(lane: Ix, neutral: T::Exp, scanned: T::Exp) -> T::Exp {
    let below = warp::shuffle_up(scanned, 1);
    lane.eq(0).select(neutral, below)
}

impl<T: Elt, F: Operator<T>> Tile<T, F> {
    /// Loads a tile and scans the parts of its warps.
    pub(super) fn load(monoid: Monoid<T, F>, division: Division, tile: Pull<T, Ix>) -> Self {
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

    /// The scan of the tile, with the sum of everything before it: the only element of `prefix`, a block's array.
    pub(super) fn scan(self, tile: Pull<T, Ix>, prefix: Pull<T, Ix>) -> Push<Block, T, Ix> {
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
        // SAFETY: `each` goes over all groups of `WIDE` neighbours of a tile, and over all of a group.
        let whole = unsafe { whole.assume_complete() };
        let rest = Push::<Block, T, Ix>::new(here, move |write| {
            Block::for_each(threads, &|thread| {
                each(thread, &|i, x| cond(i.lt(here), || write(i, x), || {}));
            });
        });
        // SAFETY: as above, and no tile is longer than the division says.
        let rest = unsafe { rest.assume_complete() };
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
