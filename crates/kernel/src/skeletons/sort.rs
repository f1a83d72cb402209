//! Sorting the rows of a matrix, stably: what to do, how it is divided, and the kernels that do it.
//!
//! Elements whose order is that of unsigned integers are sorted by their digits, the lowest first. A pass over a digit moves
//! every element behind those with a smaller digit and those with the same one that stand before it. A block has a tile
//! ([`tiles`]); how many elements of each digit stand in the tiles before its own it learns from those tiles in the same kernel
//! ([`look_back`]), where blocks make progress, else from a scan of all tiles' counts. A CPU's worker goes through a stretch in
//! order ([`stretches`]); of many elements it sorts those with the same highest digit by itself ([`buckets`]). Rows that fit one tile are sorted by all digits in one kernel.
//!
//! For any other order, short runs are sorted by counting for each element how many come before it, and runs are merged
//! ([`runs`]). Short rows are one run each, whatever their order.

mod buckets;
mod look_back;
mod rank;
mod rows;
mod runs;
mod stretches;
mod tiles;

pub use rows::{SortRows, SortRowsPlan};
pub use runs::{Less, Runs, merge, sort_runs};

use super::look_back::take_ticket;
use super::monoid::Cells;
use super::scan::ElementAt;
use crate::item::{Dynamic, Ix, Scalars};
use crate::size::{divide_rounding_up, quotient, remainder};
use crate::{Grid, Profile, Push, effects, named};
use look_back::DigitLookBack;
use pumice_program::{MemoryId, WARP};
use pumice_scalar::{Exp, Op, ScalarType, Term};
use std::rc::Rc;
use tiles::{Before, SortTile};

/// Task of a sort by digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortTask {
    /// Number of rows.
    pub rows: i64,
    /// Elements of a row.
    pub columns: i64,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
}

/// Execution units that sort a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortWay {
    /// One block, by all digits.
    Alone,
    /// Blocks, one per tile, which ask each other for their counts.
    LookBack,
    /// Blocks, one per tile, after a scan of the counts of all tiles.
    Counts,
    /// A CPU's workers, each of which goes through a stretch of the row in order, after a scan of their counts.
    Stretches,
}

/// Division of a sort by digits. Extents are not fixed in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortPlan {
    /// Execution units that sort a row.
    pub way: SortWay,
    /// Threads of a block.
    pub threads: u32,
    /// Elements that a thread has of a tile.
    pub items: u32,
    /// The bits of a digit.
    pub bits: u32,
    /// Elements of a tile. With [`SortWay::Stretches`] it is computed of a row's actual length, otherwise it is fixed in the kernel.
    pub tile: i64,
    /// Tiles of a row.
    pub tiles: i64,
    /// Whether the numbers of a row's elements need 64 bits.
    pub wide: bool,
    /// Whether lanes find by votes which of them have the same digit; otherwise each thread counts for itself.
    pub votes: bool,
    /// Whether, with [`SortWay::Stretches`], workers sort elements with the same highest digit by themselves, if no value of it has too
    /// many.
    pub buckets: bool,
}

/// Words of 32 bits that a thread has in registers: its elements, and a word about each.
const THREAD_WORDS: i64 = 44;
/// The most elements that a thread has.
const THREAD_ELEMENTS: i64 = 22;
/// Threads of a block, where lanes vote.
const THREADS: u32 = 384;
/// The fewest elements of a stretch.
const STRETCH: i64 = 1 << 12;
/// Elements of a row from which on larger digits are worth while, on a CPU.
const MANY: i64 = 1 << 18;
/// Elements of a row that no cache of a worker has room for.
const TOO_MANY_FOR_CACHE: i64 = 1 << 22;

impl SortPlan {
    /// Divides a sort.
    pub fn new(profile: &Profile, task: &SortTask) -> SortPlan {
        let (rows, columns) = (task.rows.max(1), task.columns.max(1));
        let wide = columns >= i64::from(i32::MAX);
        if !profile.coalesces || profile.max_threads < WARP {
            let busy = i64::try_from(profile.busy_blocks).unwrap_or(i64::MAX).clamp(1, 1 << 16);
            let wanted = (busy / rows).clamp(1, divide_rounding_up(columns, STRETCH));
            let tile = divide_rounding_up(columns, wanted);
            let tiles = divide_rounding_up(columns, tile);
            // Few passes are better than many, but a table of counts that is larger than the row is not worth while.
            let bits = match columns {
                MANY.. => 11,
                256.. => 8,
                _ => 4,
            };
            let way = SortWay::Stretches;
            let buckets = rows == 1 && columns >= TOO_MANY_FOR_CACHE;
            return SortPlan { way, threads: 1, items: 1, bits, tile, tiles, wide, votes: false, buckets };
        }
        let bytes = task.types.iter().map(|ty| ty.bytes()).sum::<usize>().max(1) as i64;
        let votes = profile.native_warps;
        let bits = if votes { 8 } else { 4 };
        let threads = if votes { THREADS } else { profile.threads };
        let threads = (threads.min(profile.max_threads) / WARP * WARP).max(WARP);
        let most = if votes { THREAD_ELEMENTS } else { THREAD_ELEMENTS / 2 };
        let items = (THREAD_WORDS / ((bytes + 3) / 4 + 1)).clamp(1, most);
        let room = i64::from(profile.shared_bytes) * 3 / 4 - i64::from(threads) * 64;
        let items = items.min(room / bytes / i64::from(threads)).max(1);
        let tile = i64::from(threads) * items;
        let tiles = divide_rounding_up(columns, tile);
        let way = match tiles {
            1 => SortWay::Alone,
            _ if profile.forward_progress => SortWay::LookBack,
            _ => SortWay::Counts,
        };
        let plan =
            SortPlan { way, threads, items: items as u32, bits, tile, tiles, wide, votes, buckets: false };
        if tiles > 1 {
            return plan;
        }
        // Few elements a thread, and then half the threads, as long as they suffice.
        let items = divide_rounding_up(columns, i64::from(threads)).clamp(1, items);
        let mut threads = i64::from(threads);
        while columns <= (threads / 2) * items && threads % (2 * i64::from(WARP)) == 0 {
            threads /= 2;
        }
        SortPlan { threads: threads as u32, items: items as u32, tile: threads * items, ..plan }
    }

    /// Returns the number of values of a digit.
    pub fn values(&self) -> i64 {
        1 << self.bits
    }

    /// Returns the number of passes that sort by keys of so many bits.
    pub fn passes(&self, key_bits: u32) -> u32 {
        key_bits.div_ceil(self.bits)
    }

    /// Returns the number of words through which the tiles of one pass tell each other their counts, and their type, of 32 or 64 bits.
    pub fn words(&self, task: &SortTask) -> (i64, ScalarType) {
        let words = task.rows.saturating_mul(self.tiles).saturating_mul(self.values()).saturating_add(1);
        (words, look_back::word_type(task.columns))
    }
}

/// The key of an element: an unsigned integer.
pub type KeyOf = Rc<dyn Fn(&Scalars) -> Term>;

/// A digit of a key: so many bits of it, from one on.
#[derive(Clone)]
pub struct Digit {
    /// The key.
    pub key: KeyOf,
    /// The number of the digit's lowest bit.
    pub shift: Exp<u32>,
    /// The same number, as another argument of the launch: a compiler that knows them to be the same keeps the digits of all
    /// elements in registers, which run out, instead of computing them once more.
    pub shift_again: Exp<u32>,
    /// Whether computing the digit once more costs less than keeping it.
    pub is_cheap: bool,
}

impl Digit {
    /// The same, with its shift computed here, once.
    fn now(&self) -> Digit {
        let shifts = effects::compute(&[self.shift.term(), self.shift_again.term()]);
        let [shift, shift_again] = match shifts[..] {
            [shift, again] => [shift, again].map(Exp::from_term),
            _ => [self.shift, self.shift_again],
        };
        Digit { shift, shift_again, ..self.clone() }
    }

    /// The digit of an element.
    fn of(&self, plan: SortPlan, element: &Scalars) -> Exp<u32> {
        let key = (self.key)(element);
        let shifted = match self.shift.term().integer() {
            Some(0) => key,
            _ => key.binary(Op::Shr, self.shift.term().cast(key.ty())),
        };
        Exp::<u32>::from_term(shifted.cast(ScalarType::U32)) & (plan.values() - 1) as u32
    }

    /// The digit of an element whose digit was computed before.
    fn again(&self, plan: SortPlan, element: &Scalars) -> Exp<u32> {
        Digit { shift: self.shift_again, ..self.clone() }.of(plan, element)
    }
}

/// The smallest of a key (at twice its number; its complement) and the largest (behind it), as [`Sort::find_limits`] leaves them.
pub type LimitAt = Rc<dyn Fn(i64) -> Exp<u64>>;

/// The digit of a pass by stretches, which is found on the device.
#[derive(Clone)]
pub struct FoundDigit {
    /// The keys, of which the first matters most.
    pub keys: Vec<KeyOf>,
    /// The limits of the keys; `None` if the only pass takes the only digit.
    pub limits: Option<LimitAt>,
    /// Number of passes after this one: an argument of the launch, so that passes share kernels.
    pub after: Ix,
    /// The elements as the passes before have moved them; `None` if there are none.
    pub moved: Option<ElementAt>,
    /// A condition without which there is nothing to do.
    pub only: Option<Exp<bool>>,
}

/// The digit that a pass with counts takes.
pub enum PassDigit {
    /// This one.
    Fixed(Digit),
    /// A digit that is found on the device, for [`SortWay::Stretches`].
    Found(FoundDigit),
}

/// A matrix whose rows are sorted.
#[derive(Clone)]
pub struct Sort {
    /// Number of rows.
    pub rows: Ix,
    /// Elements of a row.
    pub columns: Ix,
    /// Tiles of a row, as the plan says.
    pub tiles: Ix,
    /// Elements of a tile, as the plan says; matters for [`SortWay::Stretches`] only.
    pub tile: Ix,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
    /// The elements.
    pub at: ElementAt,
    /// [`SortPlan::values`], as an argument of the launch. A compiler that knows which bit of a number is asked about shifts
    /// the number, and asks about its last bit.
    pub values: Exp<u32>,
}

/// Memory through which the tiles of a pass tell each other their counts.
#[derive(Clone, Copy, Debug)]
pub struct SortState {
    /// The words of all passes.
    pub words: MemoryId,
    /// Their type.
    pub ty: ScalarType,
    /// The first word of this pass.
    pub first: Ix,
}

/// A number of a row and a place in it.
pub type CountAt = Rc<dyn Fn(Ix, Ix) -> Ix>;

impl Sort {
    /// Counts for all rows and several digits how many elements have each value: row by row, digit by digit, a count for each
    /// value. A block does so for some tiles of a row and adds what it has found.
    ///
    /// # Safety
    ///
    /// In every launch the memory has an element of `i64` for each count, which is zero before, and nothing else uses it.
    pub unsafe fn count_all(self, plan: SortPlan, digits: &[Digit], counts: MemoryId) {
        tiles::count_all(&self, plan, digits, counts);
    }

    /// Finds the smallest and the largest of each key, for passes by stretches.
    ///
    /// # Safety
    ///
    /// In every launch the memory has two elements of `u64` for each key, which are zero before, and nothing else uses it.
    pub unsafe fn find_limits(self, keys: &[KeyOf], limits: MemoryId) {
        self.each_tile(|row, tile| stretches::find_limits(&self, keys, [row, tile], limits));
    }

    /// Notes in a cell whether the elements of the only row should be sorted by buckets: 1 if so. `before` is as for the move by the
    /// highest digit.
    ///
    /// # Safety
    ///
    /// In every launch the memory has an element of `u64` with that number, and nothing else uses it.
    pub unsafe fn choose_buckets(
        self,
        plan: SortPlan,
        digit: FoundDigit,
        before: CountAt,
        cell: (MemoryId, i64),
    ) {
        effects::distribute(Exp::<i64>::from(1).term(), |_| {
            buckets::choose(&self, plan, &digit, &|value| before(Exp::from(0), value * self.tiles), cell);
        });
    }

    /// Sorts the buckets of the only row, whose elements the first memory has. `before` is as for the move by the highest digit.
    ///
    /// # Safety
    ///
    /// In every launch both memories, which have one for each scalar of an element, have an element for each of the row, and
    /// nothing else uses them.
    pub unsafe fn push_buckets(
        self,
        plan: SortPlan,
        digit: FoundDigit,
        before: CountAt,
        memories: [Vec<MemoryId>; 2],
    ) -> Push<Grid, Dynamic, Ix> {
        let memories = memories.map(|each| Cells(each.into_iter().zip(self.types.iter().copied()).collect()));
        Push::trusted(self.columns, move |write| {
            effects::distribute(self.tiles.term(), |block| {
                let starts = |value: Ix| before(Exp::from(0), value * self.tiles);
                let block = Exp::from_term(block);
                buckets::sort_buckets(&self, plan, &digit, block, &starts, &memories, write);
            });
        })
    }

    /// Counts how many elements of each tile have each value of a digit: row by row, value by value, a count for each tile.
    pub fn tile_counts(self, plan: SortPlan, digit: PassDigit) -> Push<Grid, Dynamic, Ix> {
        let values = plan.values();
        let length = crate::bounds::area(self.rows, self.tiles * values);
        Push::trusted(length, move |write| {
            self.each_tile(|row, tile| {
                let start = named(row * self.tiles * values + tile, "start");
                let write = |value: Ix, count: Ix| {
                    write(start + value * self.tiles, Scalars(vec![count.term()]));
                };
                match &digit {
                    PassDigit::Found(digit) => stretches::count(&self, plan, digit, [row, tile], &write),
                    PassDigit::Fixed(digit) => tiles::count(&self, plan, digit, [row, tile], &write),
                }
            });
        })
    }

    /// Moves the elements by a digit, given how many stand before those of each value and tile in their row: the scan of
    /// [`Sort::tile_counts`].
    pub fn push_with_counts(
        self,
        plan: SortPlan,
        digit: PassDigit,
        before: CountAt,
    ) -> Push<Grid, Dynamic, Ix> {
        let length = crate::bounds::area(self.rows, self.columns);
        Push::trusted(length, move |write| {
            self.each_tile(|row, tile| {
                let before = |value: Ix| before(row, value * self.tiles + tile);
                match &digit {
                    PassDigit::Found(digit) => {
                        stretches::write(&self, plan, digit, [row, tile], &before, write);
                    }
                    PassDigit::Fixed(digit) => {
                        SortTile::new(&self, plan, [row, tile]).write(digit, &Before::Counts(&before), write)
                    }
                }
            });
        })
    }

    /// Moves the elements by a digit. Tiles ask each other for their counts, and `starts` says how many elements of a row have
    /// smaller values: the scan of [`Sort::count_all`].
    ///
    /// # Safety
    ///
    /// In every launch the words of the state, as many as [`SortPlan::words`] says from its first on, are there and zero, and
    /// nothing else uses them. `starts` is for the same elements and this digit.
    pub unsafe fn push_with_look_back(
        self,
        plan: SortPlan,
        digit: Digit,
        state: SortState,
        starts: CountAt,
    ) -> Push<Grid, Dynamic, Ix> {
        let length = crate::bounds::area(self.rows, self.columns);
        Push::trusted(length, move |write| {
            let all = crate::bounds::area(self.rows, self.tiles);
            effects::distribute(all.term(), |_| {
                let number = named(take_ticket(state.words, state.ty, state.first, all), "number");
                let [row, tile] = self.row_and_tile(number);
                let starts = |value: Ix| starts(row, value);
                let asks = DigitLookBack { state, values: plan.values(), number, tile, starts: &starts };
                SortTile::new(&self, plan, [row, tile]).write(&digit, &Before::LookBack(asks), write);
            });
        })
    }

    /// Sorts each row in one block by several keys, of which the first matters most. Each has so many bits.
    pub fn push_alone(self, plan: SortPlan, keys: Vec<(u32, KeyOf)>) -> Push<Grid, Dynamic, Ix> {
        let length = crate::bounds::area(self.rows, self.columns);
        Push::trusted(length, move |write| {
            self.each_tile(|row, tile| SortTile::new(&self, plan, [row, tile]).sort(&keys, write));
        })
    }

    /// A block for each tile, with its row and its number in it.
    fn each_tile(&self, block: impl Fn(Ix, Ix)) {
        effects::distribute(crate::bounds::area(self.rows, self.tiles).term(), |number| {
            let [row, tile] = self.row_and_tile(Exp::from_term(number));
            block(row, tile);
        });
    }

    fn row_and_tile(&self, number: Ix) -> [Ix; 2] {
        match (self.rows.term().integer(), self.tiles.term().integer()) {
            (Some(1), _) => [Exp::from(0), number],
            (_, Some(1)) => [number, Exp::from(0)],
            _ => [named(quotient(number, self.tiles), "row"), named(remainder(number, self.tiles), "tile")],
        }
    }
}
