//! A pull array as the producer of elements for consumers that have work to do per block: few blocks, each of which goes
//! round and round over its share.

use super::listen::{Listener, checking};
use crate::effects;
use crate::item::{Ix, Scalars, Storable};
use crate::level::{Block, Grid, Loops, Within};
use crate::push::now;
use crate::{Profile, Pull, Push, named, quotient, remainder};
use pumice_scalar::Exp;

/// Division of a pull array that is handed on in rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rounds {
    /// Threads of a block.
    pub threads: u32,
    /// Neighbouring elements that a thread takes together.
    pub items: u32,
    /// Groups of neighbouring elements that a thread takes in one round.
    pub unroll: u32,
    /// Number of blocks that hand on the same elements, side by side, for a consumer that divides its own work: block `b` is
    /// number `b` modulo this among them. 1 if every element is handed on once.
    pub parts: u32,
    /// Whether a block's share is one stretch of the elements, which suits a CPU's caches, or every so many tiles of them.
    pub stretch: bool,
    /// Blocks for which a multiprocessor should have registers at once; 1 leaves it to the compiler.
    pub resident: u32,
}

impl Rounds {
    /// Returns the division for elements that are all alike, on a device like this. A CPU's thread goes alone through a stretch of
    /// memory; neighbouring threads of a GPU take neighbouring pieces, as wide as an access.
    pub fn new(profile: &Profile) -> Rounds {
        match profile.coalesces {
            true => Rounds {
                threads: profile.threads,
                items: (profile.vector_bytes / 4).clamp(1, 4),
                unroll: 4,
                parts: 1,
                stretch: false,
                resident: 1,
            },
            false => Rounds { threads: 1, items: 8, unroll: 1, parts: 1, stretch: true, resident: 1 },
        }
    }

    /// The same for elements whose widest scalar has so many bytes: neighbours of a thread are no more than one access holds. With
    /// more of them, neighbouring threads would no longer access neighbouring memory.
    pub fn for_bytes(self, profile: &Profile, bytes: usize) -> Rounds {
        match profile.coalesces {
            true => {
                Rounds { items: self.items.min(profile.vector_bytes / bytes.max(1) as u32).max(1), ..self }
            }
            false => self,
        }
    }

    /// Elements that a block takes in one round.
    pub fn tile(&self) -> u64 {
        u64::from(self.threads) * u64::from(self.items) * u64::from(self.unroll)
    }

    /// Hands on a pull array with this many blocks per part. Every thread of a block has the same number of rounds, and in
    /// each all of its elements are computed before the first is handed on, so that loads are not held up by what
    /// consumers do.
    pub fn push<T: Storable>(self, xs: Pull<T, Ix>, blocks: Ix) -> Push<Grid, T, Ix> {
        let (threads, items, unroll) =
            (i64::from(self.threads), i64::from(self.items), i64::from(self.unroll));
        let (parts, size) = (i64::from(self.parts), threads * items * unroll);
        let length = xs.len();
        Push::trusted(length, move |write| {
            if self.resident > 1 {
                effects::resident(self.resident);
            }
            let blocks = named(blocks.max(1), "blocks");
            let whole_tiles = named(length / size, "whole_tiles");
            Block::parts(blocks * parts, &|block| {
                let first_tile = if parts == 1 { block } else { named(block / parts, "first_tile") };
                let share = named(quotient(whole_tiles + (blocks - 1), blocks), "share");
                let rounds = match self.stretch {
                    true => (whole_tiles - first_tile * share).min(share).max(0),
                    false => quotient(whole_tiles - first_tile + (blocks - 1), blocks).max(0),
                };
                let rounds = named(rounds, "rounds");
                Block::each(Exp::from(threads), &|thread| {
                    let (zero, one) = (Exp::<i64>::from(0).term(), Exp::<i64>::from(1).term());
                    effects::sequential(zero..rounds.term(), one, &[], |round, _| {
                        let round = Exp::<i64>::from_term(round);
                        let tile = match self.stretch {
                            true => first_tile * share + round,
                            false => first_tile + round * blocks,
                        };
                        let start = named(tile * size + thread * items, "from");
                        if let Some(listener) = checking().filter(|_| self.stretch) {
                            hand_on_checked(&xs, write, &*listener, start, items * unroll);
                            return Vec::new();
                        }
                        let groups = (0..unroll).map(|group| group * threads * items);
                        let places = groups.flat_map(|group| (0..items).map(move |item| group + item));
                        let indices: Vec<Ix> = places.map(|place| start + place).collect();
                        let elements: Vec<T::Form> =
                            indices.iter().map(|index| now::<T>(&xs.get(*index))).collect();
                        for (index, element) in indices.into_iter().zip(elements) {
                            write(index, element);
                        }
                        Vec::new()
                    });
                });
                // A block that has no more to do than others has what is behind the last whole tile.
                let done = named(whole_tiles * size, "done");
                let mine = match self.stretch {
                    true => first_tile.eq(blocks - 1),
                    false => remainder(whole_tiles, blocks).eq(first_tile),
                };
                let left = named(mine.select(length - done, Exp::from(0)), "left");
                Block::each(left, &|number| write(done + number, xs.get(done + number)));
            });
        })
    }
}

/// Elements that are handed on between two of a loop's tests.
const UNROLL: i64 = 8;

/// Hands on so many elements from one on: all of them are asked about first, in a loop that a compiler makes vectors of, and
/// if the listener accepts them, none is checked when it comes.
fn hand_on_checked<T: Storable>(
    xs: &Pull<T, Ix>,
    write: &dyn Fn(Ix, T::Form),
    listener: &dyn Listener,
    start: Ix,
    count: i64,
) {
    let number = |value: i64| Exp::<i64>::from(value).term();
    let yes = Exp::from(true).term();
    let accepted = effects::sequential(number(0)..number(count), number(1), &[yes], |at, all| {
        let index = start + Exp::from_term(at);
        let accepts = listener.accepts(index, Scalars(T::terms(&xs.get(index))));
        all.iter().map(|all| (Exp::<bool>::from_term(*all) & accepts).term()).collect()
    });
    let one_by_one = |step: i64| {
        effects::sequential(number(0)..number(count), number(step), &[], |at, _| {
            for item in 0..step {
                let index = start + Exp::from_term(at) + item;
                write(index, xs.get(index));
            }
            Vec::new()
        });
    };
    let unroll = if count % UNROLL == 0 { UNROLL } else { 1 };
    effects::either(
        accepted.first().copied().unwrap_or(yes),
        || {
            listener.trust(true);
            one_by_one(unroll);
            listener.trust(false);
        },
        || one_by_one(1),
    );
}
