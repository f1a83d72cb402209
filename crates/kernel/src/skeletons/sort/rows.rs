//! Rows of any lengths, one after the other in a vector: a block sorts those that begin in its window, in its own memory.
//!
//! A thread sorts a few neighbouring elements, and neighbouring runs are merged, two and two, until there is one. An element stays in its
//! row, so only the row that has elements of both runs is merged, and where rows are short most of this does nothing.
//! A CPU's worker goes from row to row. Rows with too many elements for a block stay as they are, and so does what is in no row.

use super::Less;
use super::runs::split;
use crate::item::{Dynamic, Ix, Scalars};
use crate::skeletons::compact::{element, number};
use crate::skeletons::ends::{Ends, numbers};
use crate::skeletons::expand::{each_lane, each_warp};
use crate::skeletons::monoid::{Cells, choose, each_thread, now, only_if, select};
use crate::skeletons::scan::Write;
use crate::{Grid, Profile, Push, effects, named, parts_for, quotient};
use pumice_program::WARP;
use pumice_scalar::{Exp, ScalarType, Term};
use std::rc::Rc;

/// Rows of a vector that are sorted.
pub struct SortRows {
    /// The number of elements.
    pub length: Ix,
    /// What is before the first row, the rows, and what is behind the last one.
    pub ends: Ends,
    /// An element.
    pub at: Rc<dyn Fn(Ix) -> Scalars>,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
    /// Whether one element comes before another.
    pub less: Less,
}

/// How rows are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortRowsPlan {
    /// Threads of a block.
    pub threads: u32,
    /// Neighbouring elements of a thread. Odd, so that threads which take theirs one after the other use different banks of memory.
    pub items: i64,
    /// Indices where the rows of a block begin.
    pub window: i64,
    /// The most elements of a row that is sorted.
    pub most: i64,
    /// Whether the lanes of a warp wait for each other alone.
    pub warps: bool,
}

/// Bytes of the longest row that a block sorts.
const ROW_BYTES: i64 = 1 << 14;
/// The longest row that a block sorts.
const MOST: i64 = 1 << 12;
/// The most bytes of an element that is in the memory of a block.
const ELEMENT_BYTES: i64 = 1 << 8;
/// The fewest elements of a worker's window.
const WINDOW: i64 = 1 << 12;
/// Bytes of the memory of one block, of which a multiprocessor has room for several.
const ROOM: i64 = 72 << 10;
/// Bytes of it that are left to who listens.
const SPARED: i64 = 1 << 10;
/// Threads of a block that finds cuts.
const CUT_THREADS: i64 = 128;
const LANES: i64 = WARP as i64;
/// Elements that a worker sorts by insertion.
const RUN: i64 = 8;

impl SortRowsPlan {
    /// The most elements of a row of such elements that is sorted on any device: a power of two, or none if they are too large.
    pub fn limit(types: &[ScalarType]) -> i64 {
        match bytes(types) {
            bytes if bytes > ELEMENT_BYTES => 0,
            bytes => (1 << (ROW_BYTES / bytes).ilog2()).min(MOST),
        }
    }

    /// Divides rows, of which those with no more elements than `most` are sorted.
    pub fn new(profile: &Profile, types: &[ScalarType], most: i64) -> SortRowsPlan {
        let most = most.min(SortRowsPlan::limit(types)).max(1);
        if !profile.coalesces {
            return SortRowsPlan { threads: 1, items: 1, window: WINDOW.max(most), most, warps: false };
        }
        // A block has room for the rows that begin in its window, the last of which may end behind it.
        let room = (i64::from(profile.shared_bytes) - SPARED).min(ROOM);
        let tile = |(threads, items): &(u32, i64)| i64::from(*threads) * items;
        let fits = |division: &(u32, i64)| {
            let (threads, _) = *division;
            threads <= profile.max_threads
                && tile(division) * bytes(types) + i64::from(threads) * TABLE_BYTES <= room
        };
        // Elements of many scalars have no room in registers.
        let items = if bytes(types) <= 8 { 13 } else { 7 };
        let divisions =
            [(32, 3), (64, 3), (128, 3), (128, items), (256, items), (512, items), (1024, items), (1024, 13)];
        let fitting = || divisions.into_iter().filter(fits);
        let enough = fitting().find(|division| division.1 >= items && tile(division) >= 3 * most);
        let (threads, items) = enough.or_else(|| fitting().max_by_key(tile)).unwrap_or((32, 1));
        let window = (tile(&(threads, items)) - most).max(1);
        SortRowsPlan { threads, items, window, most, warps: profile.native_warps }
    }
}

/// Bytes of a block's memory that a thread needs besides elements.
const TABLE_BYTES: i64 = 8;

fn bytes(types: &[ScalarType]) -> i64 {
    types.iter().map(|ty| ty.bytes()).sum::<usize>().max(1) as i64
}

/// Elements that a block has: the first, their number, and the first and the last stretch of which they are.
struct Window {
    first: Ix,
    count: Ix,
    stretches: (Ix, Ix),
}

impl SortRows {
    /// For each window, and behind the last one, the index from which on a block has the elements, and the number of the stretch there: what
    /// [`SortRows::push`] is given.
    pub fn cuts(self, window: Ix, most: Ix) -> Push<Grid, Dynamic, Ix> {
        let count = self.windows(window) + 1;
        Push::trusted(count, move |write| {
            effects::distribute(parts_for(count, CUT_THREADS as usize).term(), |block| {
                let first = named(Exp::<i64>::from_term(block) * CUT_THREADS, "first");
                effects::parallel((count - first).min(CUT_THREADS).term(), |thread| {
                    let number = first + Exp::from_term(thread);
                    write(number, self.cut(number, window, most));
                });
            });
        })
    }

    /// Hands on all elements, those of a row in order.
    pub fn push(
        self,
        plan: SortRowsPlan,
        (window, most): (Ix, Ix),
        cuts: impl Fn(Ix) -> Scalars + 'static,
    ) -> Push<Grid, Dynamic, Ix> {
        Push::trusted(self.length, move |write| {
            effects::distribute(self.windows(window).term(), |block| {
                let block = Exp::<i64>::from_term(block);
                let [[first, low], [end, high]] = [block, block + 1].map(|cut| {
                    let [place, stretch] = numbers(&now(&cuts(cut)).0);
                    // Whatever is read, what follows stays within bounds.
                    [named(place.clamp(0, self.length), "cut"), stretch.clamp(0, self.ends.count - 1)]
                });
                let count = named((end - first).clamp(0, window + (most - 1)), "count");
                let window = Window { first, count, stretches: (named(low, "low"), named(high, "high")) };
                let write = |index: Ix, element: Scalars| write(index.clamp(0, self.length - 1), element);
                match plan.threads {
                    1 => self.by_worker(plan, &window, most, &write),
                    _ => self.by_block(plan, &window, most, &write),
                }
                effects::sync();
            });
        })
    }

    fn windows(&self, window: Ix) -> Ix {
        quotient(self.length + (window - 1), window.max(1))
    }

    /// Whether a stretch, from one index to another, is a row that is sorted.
    fn is_sorted(&self, stretch: Ix, [begin, end]: [Ix; 2], most: Ix) -> Exp<bool> {
        stretch.gt(0) & stretch.lt(self.ends.count - 1) & (end - begin).le(most)
    }

    /// Start and end of a stretch.
    fn limits(&self, stretch: Ix) -> [Ix; 2] {
        [self.ends.begin(stretch), named(self.ends.end(stretch), "end")]
    }

    /// Where the elements of a block begin, and which stretch is there: rows are of the block in whose window they begin. What is not
    /// sorted is cut at the window.
    fn cut(&self, block: Ix, window: Ix, most: Ix) -> Scalars {
        let index = named((block * window).min(self.length), "index");
        let stretch = self.ends.search(index);
        let [begin, end] = self.limits(stretch);
        let goes_on = begin.lt(index) & self.is_sorted(stretch, [begin, end], most);
        // Whatever ends there are, blocks have all elements, and none has more than there is room for.
        let end = end.clamp(index, index + (most - 1)).min(self.length);
        Scalars(vec![goes_on.select(end, index).term(), stretch.term()])
    }

    fn by_block(&self, plan: SortRowsPlan, window: &Window, most: Ix, write: Write<'_>) {
        let (threads, items) = (plan.threads, plan.items);
        let Window { first, count, .. } = *window;
        let tile = Cells::shared(&self.types, i64::from(threads) * items);
        let each_of_all = |f: &dyn Fn(Ix)| {
            each_thread(threads, |thread| {
                for item in 0..items {
                    let place = named(thread + item * i64::from(threads), "place");
                    only_if(place.lt(count), || f(place));
                }
            });
        };
        each_of_all(&|place| tile.write(place, &now(&(self.at)(first + place))));
        effects::sync();
        // For each thread's first element, the part of its row that the block has, if that begins before.
        let rows = Cells::shared(&[ScalarType::I32; 2], threads.into());
        each_thread(threads, |thread| {
            let from = named(thread * items, "from");
            only_if(from.lt(count), || {
                let own = (0..items).map(|item| tile.read((from + item).min(count - 1)));
                let (row, joins) = self.rows_of_thread(plan, window, from, most);
                rows.write(thread, &Scalars(row.map(|place| place.term()).to_vec()));
                let sorted = self.in_registers(own.collect(), &joins);
                for (item, element) in (0..).zip(&sorted) {
                    let place = from + item;
                    only_if(place.lt(count), || tile.write(place, element));
                }
            });
        });
        effects::sync();
        self.merge_all(plan, count, &tile, &rows);
        each_of_all(&|place| write(first + place, tile.read(place)));
    }

    /// Where the row of a thread's first element begins and ends in the window, if it begins before that element and is sorted; and for each
    /// of its other elements whether it is in the same sorted row as the one before.
    fn rows_of_thread(
        &self,
        plan: SortRowsPlan,
        window: &Window,
        from: Ix,
        most: Ix,
    ) -> ([At; 2], Vec<Exp<bool>>) {
        let Window { first, count, stretches } = *window;
        let index = named(first + from, "index");
        let stretch = self.ends.between(index, stretches);
        let [begin, end] = self.limits(stretch);
        let is_sorted = flag_once(self.is_sorted(stretch, [begin, end], most));
        let goes_on = is_sorted & begin.lt(index);
        let row = [(begin - first).clamp(0, from), (end - first).clamp(from, count)];
        let row = row.map(|place| at_once(goes_on.select(place, from).cast()));
        // A bit for each element with which a row begins, and for each of a row that is not sorted.
        let items = plan.items as i32;
        let bits = |sorted: Exp<bool>, from: At, to: At| {
            let up_to = |place: At| (Exp::<u32>::from(1) << place.cast::<u32>()) - 1;
            let all = up_to(to) - up_to(from);
            sorted.select(Exp::<u32>::from(1) << from.cast::<u32>(), all)
        };
        let place_of = |end: Ix| at_once((end - index).clamp(0, i64::from(items)).cast());
        let to = place_of(end);
        let starts = effects::repeat_while(
            &[stretch.term(), to.term(), bits(is_sorted, Exp::from(0), to).term()],
            |state| Exp::<i32>::from_term(state[1]).lt(items).term(),
            |state| {
                let (stretch, from) = (Exp::<i64>::from_term(state[0]), Exp::<i32>::from_term(state[1]));
                let begin = named(index + from.cast::<i64>(), "begin");
                let next = self.ends.ahead(begin, (stretch + 1).min(stretches.1), stretches.1);
                let end = named(self.ends.end(next), "end");
                // Whatever ends there are, it goes on.
                let to = place_of(end).max(from + 1);
                let more = bits(self.is_sorted(next, [begin, end], most), from, to);
                vec![next.term(), to.term(), (Exp::<u32>::from_term(state[2]) | more).term()]
            },
        );
        let starts = Exp::<u32>::from_term(starts[2]);
        let joins = (1..plan.items).map(|item| {
            let is_start = ((starts >> item as u32) & 1).ne(0);
            !is_start & (from + item).lt(count)
        });
        (row, joins.collect())
    }

    /// Sorts a few elements of which neighbours may be in the same row.
    fn in_registers(&self, mut own: Vec<Scalars>, joins: &[Exp<bool>]) -> Vec<Scalars> {
        let joins: Vec<Exp<bool>> = joins.iter().map(|joins| flag_once(*joins)).collect();
        for round in 0..own.len() {
            for after in (1 + round % 2..own.len()).step_by(2) {
                let [left, right] = [own[after - 1].clone(), own[after].clone()];
                let falls = flag_once(joins[after - 1] & (self.less)(&right, &left));
                own[after - 1] = now(&select(falls, &right, &left));
                own[after] = now(&select(falls, &left, &right));
            }
        }
        own
    }

    /// Merges neighbouring runs of threads, two and two, over twice the distance each time.
    fn merge_all(&self, plan: SortRowsPlan, count: Ix, tile: &Cells, rows: &Cells) {
        let merge = Merge {
            items: plan.items,
            count: at_once(count.cast()),
            tile,
            rows,
            range: Cells::private(&[ScalarType::I32; 2], 1),
            merged: Cells::private(&self.types, plan.items),
        };
        let levels = i64::from(plan.threads.ilog2());
        let of_warps = if plan.warps { i64::from(WARP.ilog2()) } else { 0 };
        let each_level = |levels: std::ops::Range<i64>, body: &dyn Fn(At)| {
            let [start, end, one] =
                [levels.start, levels.end, 1].map(|number| Exp::<i64>::from(number).term());
            // What a round writes is there in the next one.
            effects::sequential(start..end, one, &[], |level, _| {
                body(Exp::<i64>::from_term(level).cast());
                Vec::new()
            });
        };
        if of_warps > 0 {
            each_warp(plan.threads, |warp| {
                let thread = |lane: Ix| (warp * LANES + lane).cast::<i32>();
                each_level(0..of_warps, &|level| {
                    each_lane(|lane| self.merge_of_thread(&merge, thread(lane), level));
                    effects::sync_warp();
                    each_lane(|_| merge.write_back());
                });
            });
            effects::sync();
        }
        each_level(of_warps..levels, &|level| {
            each_thread(plan.threads, |thread| self.merge_of_thread(&merge, thread.cast(), level));
            effects::sync();
            each_thread(plan.threads, |_| merge.write_back());
        });
    }

    /// Computes what a thread has of two neighbouring runs of so many threads, a power of two, once they are merged.
    fn merge_of_thread(&self, merge: &Merge<'_>, thread: At, level: At) {
        let items = merge.items as i32;
        let none = Exp::<i32>::from(0).term();
        merge.range.write(0, &Scalars(vec![none, none]));
        let pair = at_once((thread >> (level + 1)) << (level + 1));
        let second = at_once(pair + (Exp::<i32>::from(1) << level));
        let middle = at_once(second * items);
        only_if(middle.lt(merge.count), || {
            let [begin, end] = ats(&merge.rows.read(second.cast::<i64>()).0);
            // What of the row is in both runs.
            let low = at_once(begin.max(pair * items).min(middle));
            let behind = (pair + (Exp::<i32>::from(2) << level)) * items;
            let high = at_once(end.min(behind.min(merge.count)).max(middle));
            let from = at_once((thread * items).max(low));
            let to = at_once(((thread + 1) * items).min(high));
            only_if(low.lt(middle) & from.lt(to), || {
                merge.range.write(0, &Scalars(vec![from.term(), to.term()]));
                self.merge(merge, [low, middle, high], from);
            });
        });
    }

    /// Computes so many elements of two merged runs, from one on.
    fn merge(&self, merge: &Merge<'_>, [low, middle, high]: [At; 3], from: At) {
        let Merge { items, tile, merged, .. } = merge;
        let at = |place: At| now(&tile.read(place.min(high - 1).cast::<i64>()));
        let before = at_once(from - low);
        let least = at_once((before - (high - middle)).max(0));
        let most = at_once(before.min(middle - low));
        let left =
            split(least, most, |left| !(self.less)(&at(middle + (before - 1 - left)), &at(low + left)));
        let (mut a, mut b) = (at_once(low + left), at_once(middle + (before - left)));
        let [mut left, mut right] = [at(a), at(b)];
        for item in 0..*items {
            let from_right = b.lt(high) & (a.ge(middle) | (self.less)(&right, &left));
            let from_right = flag_once(from_right);
            merged.write(item, &select(from_right, &right, &left));
            if item + 1 == *items {
                break;
            }
            let next = at(from_right.select(b, a) + 1);
            left = select(from_right, &left, &next);
            right = select(from_right, &next, &right);
            (a, b) = (at_once(from_right.select(a, a + 1)), at_once(from_right.select(b + 1, b)));
        }
    }

    /// A worker, which goes from row to row.
    fn by_worker(&self, plan: SortRowsPlan, window: &Window, most: Ix, write: Write<'_>) {
        let Window { first, count, stretches } = *window;
        let behind = named(first + count, "behind");
        // Twice the room: a pass of merges reads one half and writes the other.
        let limit = SortRowsPlan::limit(&self.types);
        debug_assert!(plan.most <= limit, "rows that are sorted fit");
        let room = Cells::shared(&self.types, 2 * limit);
        let one = Exp::<i64>::from(1).term();
        each_thread(1, |_| {
            effects::repeat_while(
                &[first.term(), stretches.0.term()],
                |state| {
                    let [from, _] = numbers(state);
                    from.lt(behind).term()
                },
                |state| {
                    let [from, stretch] = numbers(state);
                    let stretch = self.ends.ahead(from, stretch, stretches.1);
                    let limits = self.limits(stretch);
                    // A row has an element here, whatever its ends say.
                    let to = named(limits[1].max(from + 1).min(behind), "to");
                    let is_sorted = self.is_sorted(stretch, limits, most) & (to - from).gt(1);
                    effects::either(
                        is_sorted.term(),
                        || self.sort_by_worker(&room, limit, from, (to - from).min(limit), write),
                        || {
                            effects::sequential(from.term()..to.term(), one, &[], |index, _| {
                                let index = Exp::from_term(index);
                                write(index, (self.at)(index));
                                Vec::new()
                            });
                        },
                    );
                    vec![to.term(), stretch.term()]
                },
            );
        });
    }

    /// Sorts so many elements from one on: short runs by insertion, and merges those.
    fn sort_by_worker(&self, room: &Cells, limit: i64, first: Ix, count: Ix, write: Write<'_>) {
        let count = named(count, "count");
        let (zero, one) = (Exp::<i64>::from(0), Exp::<i64>::from(1).term());
        effects::sequential(zero.term()..count.term(), one, &[], |place, _| {
            let place = Exp::<i64>::from_term(place);
            let own = now(&(self.at)(first + place));
            let start = named(place - (place & (RUN - 1)), "start");
            let before = |place: Ix| named((place - 1).max(0), "before");
            let found = effects::repeat_while(
                &[place.term()],
                |state| {
                    let [place] = numbers(state);
                    let comes_first = || element((self.less)(&own, &room.read(before(place))));
                    let comes_first = choose(place.gt(start), comes_first, || element(Exp::from(false)));
                    number::<bool>(&comes_first).term()
                },
                |state| {
                    let [place] = numbers(state);
                    room.write(place, &room.read(before(place)));
                    vec![before(place).term()]
                },
            );
            let [found] = numbers(&found);
            room.write(found, &own);
            Vec::new()
        });
        let sorted = effects::repeat_while(
            &[Exp::<i64>::from(RUN).term(), zero.term()],
            |state| {
                let [width, _] = numbers(state);
                width.lt(count).term()
            },
            |state| {
                let [width, from] = numbers(state);
                let to = named(Exp::<i64>::from(limit) - from, "to");
                let pair = named(width + width, "pair");
                effects::repeat_while(
                    &[zero.term()],
                    |state| {
                        let [start] = numbers(state);
                        start.lt(count).term()
                    },
                    |state| {
                        let [start] = numbers(state);
                        let middle = named((start + width).min(count), "middle");
                        let end = named((start + pair).min(count), "end");
                        let at = |place: Ix| now(&room.read(from + place.min(count - 1)));
                        let [left, right] = [at(start), at(middle)];
                        let mut state = vec![start.term(), middle.term()];
                        state.extend([left, right].into_iter().flat_map(|element| element.0));
                        effects::sequential(start.term()..end.term(), one, &state, |place, state| {
                            let [a, b] = numbers(&state[..2]);
                            let (left, right) = state[2..].split_at(self.types.len());
                            let (left, right) = (Scalars(left.to_vec()), Scalars(right.to_vec()));
                            let from_right = b.lt(end) & (a.ge(middle) | (self.less)(&right, &left));
                            let from_right = flag_once(from_right);
                            room.write(to + Exp::from_term(place), &select(from_right, &right, &left));
                            let next = at(from_right.select(b, a) + 1);
                            let (left, right) =
                                (select(from_right, &left, &next), select(from_right, &next, &right));
                            let (a, b) = (from_right.select(a, a + 1), from_right.select(b + 1, b));
                            [vec![a.term(), b.term()], left.0, right.0].concat()
                        });
                        vec![end.term()]
                    },
                );
                vec![pair.term(), to.term()]
            },
        );
        let [_, from] = numbers(&sorted);
        effects::sequential(zero.term()..count.term(), one, &[], |place, _| {
            let place = Exp::<i64>::from_term(place);
            write(first + place, now(&room.read(from + place)));
            Vec::new()
        });
    }
}

/// What merges of all threads of a block have in common.
struct Merge<'a> {
    items: i64,
    count: At,
    tile: &'a Cells,
    rows: &'a Cells,
    /// The places of a thread's elements that have changed, and these elements.
    range: Cells,
    merged: Cells,
}

impl Merge<'_> {
    /// Writes what a thread has merged.
    fn write_back(&self) {
        let [from, to] = ats(&self.range.read(0).0);
        only_if(from.lt(to), || {
            for item in 0..self.items {
                let place = at_once(from + item as i32);
                only_if(place.lt(to), || self.tile.write(place.cast::<i64>(), &self.merged.read(item)));
            }
        });
    }
}

/// A place in a window. Loops are quicker with numbers of 32 bits.
type At = Exp<i32>;

fn ats<const N: usize>(terms: &[Term]) -> [At; N] {
    std::array::from_fn(|at| terms.get(at).map_or(Exp::from(0), |term| Exp::from_term(*term)))
}

/// A place that is computed here, once.
fn at_once(place: At) -> At {
    number::<i32>(&now(&element(place)))
}

/// A condition that is computed here, once.
fn flag_once(flag: Exp<bool>) -> Exp<bool> {
    number::<bool>(&now(&element(flag)))
}
