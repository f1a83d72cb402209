//! A scan in one pass: each tile computes its prefix from the sums that the tiles before it publish ("decoupled
//! look-back").

use super::tile::{Division, LANES, Tile, lane, scan_lanes};
use super::{Monoid, Operator};
use pumice::kernel::{Block, Forces, Grid, Ix, Loops, Mutable, Pull, Push, cond, replicate, seq_until, warp};
use pumice::{Elt, Exp, Primitive};

/// A primitive of 32 bits, which fits into half of an atomic word.
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

/// Status in the upper half of a word whose lower half is the tile's own sum; 0 means that nothing is published yet.
const OWN_SUM: u64 = 1 << 32;
/// Status of a word whose sum includes everything before the tile.
const WHOLE_SUM: u64 = 2 << 32;

/// The scan of an array in one pass (`scan`): a tile looks back at the sums that the tiles before it publish, until it meets one
/// whose sum includes everything before it. Only where [`pumice::kernel::Profile::forward_progress`] holds.
///
/// `state` is all zeros before: a counter of tiles begun, and one word per tile.
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

/// Computes the prefix of a tile. The block publishes the tile's own sum, reads the words of the tiles before, 32 at a time, and
/// publishes the sum with the prefix.
///
/// Threads wait for words one by one. Everything else the whole block does together, in rounds: on devices that emulate
/// warps, a warp that went on alone would exchange values with lanes at another place in the program.
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
