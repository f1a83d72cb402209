//! Compaction: the elements of which a flag holds, in order and without gaps; or those first, and then the others.
//!
//! A block finds for each kept element of its tile how many are kept before it, by a scan of counts. How many are kept in
//! the tiles before it learns as a scan does: from those tiles in one pass ([`super::look_back`]), or from a scan of the
//! tiles' counts, which a kernel before has found. The elements go through shared memory, so that neighbouring threads write
//! neighbouring elements. A CPU's worker goes through a stretch in order.

use super::compact_tiles::CompactTile;
use super::fold::{Fold, FoldPlan};
use super::look_back::{ScanState, StateSize, ticket};
use super::monoid::{Monoid, now, only_if};
use super::scan::{ScanPhases, ScanPlan, ScanTask, ScanWay, Write};
use crate::item::{Dynamic, Ix, Scalars};
use crate::size::divide_rounding_up;
use crate::{Grid, Profile, Push, effects, named};
use pumice_program::WARP;
use pumice_scalar::{Constant, Exp, Op, Primitive, ScalarType};
use std::rc::Rc;

/// Task of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactTask {
    /// Number of elements.
    pub length: i64,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
    /// About how many instructions it takes to compute an element and its flag.
    pub cost: u32,
}

/// Division of the work of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompactPlan {
    /// As a scan of one row would be divided, by tiles or stretches.
    pub scan: ScanPlan,
}

/// The most elements of a thread: their flags are bits of a word.
const FLAGS: i64 = 32;

/// The types of a count.
pub(super) const COUNT: [ScalarType; 1] = [ScalarType::I64];

impl CompactPlan {
    /// Divides a compaction.
    pub fn new(profile: &Profile, task: &CompactTask) -> CompactPlan {
        let columns = task.length;
        let mut types = task.types.clone();
        if types.is_empty() {
            types.push(ScalarType::Bool);
        }
        let scan =
            ScanTask { rows: 1, columns: columns.max(1 << 20), types, cost: task.cost, commutes: true };
        let long = ScanPlan::new(profile, &scan);
        let plan = match long.way {
            ScanWay::Stretches => {
                let cut = ScanPlan::new(profile, &ScanTask { columns, ..scan });
                let tiles = if cut.phases == ScanPhases::Three { cut.tiles } else { 1 };
                ScanPlan { tiles, ..cut }
            }
            ScanWay::Tiles | ScanWay::Lanes { .. } => {
                // The staged elements must fit, and a thread's flags into a word.
                let bytes = task.types.iter().map(|ty| ty.bytes()).sum::<usize>().max(1) as i64;
                let most = i64::from(profile.shared_bytes) / 2 / bytes / i64::from(long.threads * long.items);
                let most = most.min(FLAGS / i64::from(long.items)).max(1);
                let groups = i64::from(long.groups).min(most) as u32;
                let tile = i64::from(long.threads * long.items * groups);
                let tiles = divide_rounding_up(columns.max(1), tile);
                let fold = FoldPlan {
                    lanes: long.threads,
                    threads: long.threads,
                    items: long.items,
                    unroll: groups,
                    chunks: u32::try_from(tiles).unwrap_or(u32::MAX),
                    fixed_columns: None,
                    commutes: true,
                    shuffles: profile.native_warps && long.threads.is_multiple_of(WARP),
                };
                let fold = long.threads.is_power_of_two().then_some(fold);
                let phases = if tiles == 1 { ScanPhases::Alone } else { long.phases };
                ScanPlan { groups, tile, tiles, phases, sums: fold, ..long }
            }
        };
        CompactPlan { scan: plan }
    }

    /// The memory that tiles tell each other their counts through.
    pub fn state(&self) -> Option<StateSize> {
        match self.scan.phases {
            ScanPhases::LookBack => Some(StateSize::new(&COUNT, true, self.scan.threads, 1, self.scan.tiles)),
            ScanPhases::Alone | ScanPhases::Three => None,
        }
    }

    /// The scan of the tiles' counts, with the total behind it: the second of three kernels.
    pub fn counts_task(&self) -> ScanTask {
        ScanTask { rows: 1, columns: self.scan.tiles, types: COUNT.to_vec(), cost: 1, commutes: true }
    }
}

/// The addition of counts.
pub fn counting() -> Monoid {
    adding(ScalarType::I64)
}

/// The addition of integers of a type.
pub(super) fn adding(ty: ScalarType) -> Monoid {
    let add =
        |a: Scalars, b: Scalars| Scalars(a.0.iter().zip(&b.0).map(|(a, b)| a.binary(Op::Add, *b)).collect());
    let neutral = Scalars(vec![Constant::zero(ty).into()]);
    Monoid { operator: Rc::new(add), neutral, total: true }
}

/// The only scalar of an element that is one number.
pub(super) fn number<T: Primitive>(element: &Scalars) -> Exp<T> {
    let zero = || Exp::from_term(Constant::zero(T::TYPE).into());
    element.0.first().map_or_else(zero, |term| Exp::from_term(*term))
}

/// A number as an element.
pub(super) fn element<T: Primitive>(number: Exp<T>) -> Scalars {
    Scalars(vec![number.term()])
}

/// A compaction.
#[derive(Clone)]
pub struct Compact {
    /// Number of elements.
    pub length: Ix,
    /// Tiles, as the plan says: one at least.
    pub tiles: Ix,
    /// Elements of a tile, as the plan says; matters for [`ScanWay::Stretches`] only.
    pub tile: Ix,
    /// An element with its flag.
    pub at: Rc<dyn Fn(Ix) -> (Exp<bool>, Scalars)>,
    /// Number of elements that are kept, if the others are to stand behind them.
    pub kept: Option<Ix>,
    /// Receives the number of kept elements, in one thread. With three kernels the scan of the counts has it.
    pub count: Option<Rc<dyn Fn(Ix)>>,
}

/// Source of the number of elements that are kept before a tile.
pub(super) enum Before {
    Nothing,
    LookBack(ScanState),
    Counts(Rc<dyn Fn(Ix) -> Scalars>),
}

impl Compact {
    /// Compacts in one kernel; with [`ScanPhases::LookBack`] through a state. As many elements are written as there are kept
    /// ones, or all with [`Compact::kept`]. The length of the array is the bound. One thread may hand an
    /// index on several times, and then the last element is the one that counts.
    ///
    /// # Safety
    ///
    /// In every launch the memory of the state is as large as [`CompactPlan::state`] says, its words are zero, and nothing
    /// else uses it. Nothing reads elements that are not written. The flag of an element is the same whenever it is computed,
    /// and [`Compact::kept`] is the number of elements whose flag holds.
    pub unsafe fn push(self, plan: CompactPlan, state: Option<ScanState>) -> Push<Grid, Dynamic, Ix> {
        let before = match (plan.scan.phases, state) {
            (ScanPhases::LookBack, Some(state)) => Before::LookBack(state),
            _ => Before::Nothing,
        };
        self.push_after(plan.scan, before)
    }

    /// Compacts, given how many elements are kept before each tile.
    ///
    /// # Safety
    ///
    /// As for [`Compact::push`]; and `counts` is the scan of [`Compact::tile_counts`] with the total behind it
    /// ([`super::ScanKind::Extended`]).
    pub unsafe fn push_with_counts(
        self,
        plan: CompactPlan,
        counts: Rc<dyn Fn(Ix) -> Scalars>,
    ) -> Push<Grid, Dynamic, Ix> {
        self.push_after(plan.scan, Before::Counts(counts))
    }

    fn push_after(self, plan: ScanPlan, before: Before) -> Push<Grid, Dynamic, Ix> {
        Push::trusted(self.length, move |write| {
            effects::distribute(self.tiles.term(), |block| {
                let number = match &before {
                    Before::LookBack(state) if plan.tickets => named(ticket(state.words, self.tiles), "tile"),
                    _ => Exp::from_term(block),
                };
                match plan.way {
                    ScanWay::Stretches => self.write_stretch(number, &before, write),
                    ScanWay::Tiles | ScanWay::Lanes { .. } => {
                        CompactTile::new(&self, plan, number).write(&before, write);
                    }
                }
            });
        })
    }

    /// The number of kept elements of each tile: the first of three kernels.
    pub fn tile_counts(self, plan: CompactPlan) -> Push<Grid, Dynamic, Ix> {
        let tiles = self.tiles;
        let at = self.at.clone();
        let flag = move |index: Ix| at(index).0.select(Exp::<i64>::from(1), Exp::from(0));
        let Some(fold) = plan.scan.sums else {
            let length = self.length;
            return Push::trusted(tiles, move |write| {
                effects::distribute(tiles.term(), |block| {
                    let number: Ix = Exp::from_term(block);
                    let start = named(number * plan.scan.tile, "start");
                    let end = (start + plan.scan.tile).min(length);
                    effects::parallel(Exp::<i64>::from(1).term(), |_| {
                        let zero = [Exp::<i64>::from(0).term()];
                        let one = Exp::<i64>::from(1).term();
                        let count =
                            effects::sequential(start.term()..end.term(), one, &zero, |index, count| {
                                let flag = flag(Exp::from_term(index));
                                count
                                    .iter()
                                    .map(|count| (Exp::<i64>::from_term(*count) + flag).term())
                                    .collect()
                            });
                        write(number, Scalars(count));
                    });
                });
            });
        };
        let steps = match plan.scan.way {
            ScanWay::Stretches => named(crate::size::quotient(self.tile, Exp::from(fold.step())), "steps"),
            ScanWay::Tiles | ScanWay::Lanes { .. } => Exp::from(1),
        };
        let counting = counting();
        let fold_all = Fold::<Dynamic, _> {
            rows: Exp::from(1),
            columns: self.length,
            cut: Some((tiles, steps)),
            at: Rc::new(move |_, column| Scalars(vec![flag(column).term()])),
            operator: move |a: Scalars, b: Scalars| counting.combine(&a, &b),
            neutral: Scalars(vec![Exp::<i64>::from(0).term()]),
            total: true,
        };
        fold_all.push(fold)
    }

    /// The index of an element of the result, from how many are kept before it and how many are not.
    pub(super) fn index(&self, is_kept: Exp<bool>, kept: Ix, others: Ix) -> Ix {
        match self.kept {
            None => kept,
            Some(all) => is_kept.select(kept, all + others),
        }
    }

    /// Goes through a stretch in order, in one thread.
    fn write_stretch(&self, number: Ix, before: &Before, write: Write<'_>) {
        let whole = self.tiles.term().integer() == Some(1);
        let start = if whole { Exp::from(0) } else { named(number * self.tile, "start") };
        let end = if whole { self.length } else { named((start + self.tile).min(self.length), "end") };
        effects::parallel(Exp::<i64>::from(1).term(), |_| {
            let kept = match (before, self.kept) {
                (Before::Counts(counts), None) => {
                    return self.write_counted(start, end, [counts(number), counts(number + 1)], write);
                }
                (Before::Counts(counts), Some(_)) => now(&counts(number)),
                (Before::Nothing | Before::LookBack(_), _) => element(Exp::<i64>::from(0)),
            };
            let one = Exp::<i64>::from(1).term();
            let range = start.term()..end.max(start).term();
            let kept = effects::sequential(range, one, &kept.0, |index, kept| {
                let index: Ix = Exp::from_term(index);
                let kept: Ix = kept.first().map_or(Exp::from(0), |kept| Exp::from_term(*kept));
                let (flag, element) = (self.at)(index);
                // As many elements were counted, so that this changes nothing but what can be seen of the range.
                let at = self.index(flag, kept, index - kept).clamp(0, self.length - 1);
                match self.kept {
                    None => only_if(flag, || write(at, element)),
                    Some(_) => write(at, element),
                }
                vec![(kept + flag.select(Exp::<i64>::from(1), Exp::from(0))).term()]
            });
            if let (Some(count), Some(kept)) = (&self.count, kept.first()) {
                only_if(number.eq(self.tiles - 1), || count(Exp::from_term(*kept)));
            }
        });
    }

    /// Goes through a stretch of which it is known where its first kept element goes and where its last one ends. Each
    /// element is written, and those that are not kept are written over: a branch per element would be guessed wrong
    /// often.
    fn write_counted(&self, start: Ix, end: Ix, counts: [Scalars; 2], write: Write<'_>) {
        let [first, last] = counts.map(|count| number::<i64>(&now(&count)).clamp(0, self.length));
        effects::repeat_while(
            &[start.term(), first.term()],
            |state| match *state {
                [index, kept] => {
                    let (index, kept): (Ix, Ix) = (Exp::from_term(index), Exp::from_term(kept));
                    (index.lt(end) & kept.lt(last)).term()
                }
                _ => Exp::<bool>::from(false).term(),
            },
            |state| {
                let [index, kept] = *state else { return state.to_vec() };
                let (index, kept): (Ix, Ix) = (Exp::from_term(index), Exp::from_term(kept));
                let (flag, element) = (self.at)(index);
                let flag = number::<bool>(&now(&Scalars(vec![flag.term()])));
                write(kept, element);
                let kept = kept + flag.select(Exp::<i64>::from(1), Exp::from(0));
                vec![(index + 1).term(), kept.term()]
            },
        );
    }
}
