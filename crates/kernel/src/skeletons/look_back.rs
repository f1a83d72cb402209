//! Look-back of a single-pass scan: each tile of a row tells its sum, and asks the tiles before it for theirs.
//!
//! A row's tiles are in groups of as many as a block has threads. A tile tells its own sum, and each of its threads asks one
//! of the tiles before it in the group, so that all are asked at once. The last tile of a group then knows the group's sum and
//! tells it, and every tile asks all groups before its own at once, each thread some neighbouring ones. No tile waits for a
//! tile that waits for others outside of its own group, so no chain goes along the row. The elements are combined in the same
//! order in every run, whichever block is quicker, and the same input gives the same bits.
//!
//! A block may wait only for blocks that have started: tiles are numbered in the order in which blocks start (see
//! [`ticket`]), and this may be used only where [`crate::Profile::forward_progress`] holds.

use super::monoid::{Cells, Monoid, choose, each_thread, now, only_if, scan_lanes, select};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::size::{quotient, remainder};
use pumice_program::{AtomicOp, MemoryId, Order, WARP};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term};

/// Memory through which tiles tell each other their sums.
#[derive(Clone, Debug)]
pub struct ScanState {
    /// Words of 64 bits, all zero before the kernel: a counter of tiles begun, a word per tile and a word per group.
    pub words: MemoryId,
    /// Where sums do not fit into words: a memory per scalar, with an element per tile and per group.
    pub sums: Vec<MemoryId>,
}

/// The memory that a [`ScanState`] needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSize {
    /// Number of words, which are zeroed before each launch.
    pub words: i64,
    /// Number of sums, and the types of their scalars; none where they fit into words.
    pub sums: i64,
    /// See `sums`.
    pub types: Vec<ScalarType>,
}

/// The bit of a word that says that there is a sum.
const TOLD: u64 = 1 << 63;

/// Returns the number of bits of a word that a scalar takes. A count is never negative.
fn bits(ty: ScalarType, counts: bool) -> u32 {
    match ty {
        ScalarType::Bool => 1,
        ScalarType::I64 if counts => 63,
        other => 8 * other.bytes() as u32,
    }
}

/// Whether an element fits into a word beside the bit that says that it is there.
fn fits(types: &[ScalarType], counts: bool) -> bool {
    types.iter().map(|ty| bits(*ty, counts)).sum::<u32>() <= 63
}

/// Look-back of a tile: its questions to the tiles before it in its row.
pub(super) struct LookBack {
    state: ScanState,
    /// The sums, and how they are combined.
    monoid: Monoid,
    kind: LookBackKind,
    turn: Turn,
    /// By warp: the sum of what its threads were told by tiles of the group.
    found: Cells,
    /// By warp: the sum of what its threads were told by groups.
    found_groups: Cells,
}

/// Properties that all tiles of a scan have in common.
#[derive(Clone, Copy)]
pub(super) struct LookBackKind {
    /// Whether the sums are numbers that are never negative.
    pub counts: bool,
    /// Threads of a block: the number of tiles in a group.
    pub threads: u32,
    /// Whether a row can have more than one group.
    pub groups: bool,
}

impl StateSize {
    /// The memory for so many rows of so many tiles each.
    pub(super) fn new(types: &[ScalarType], counts: bool, threads: u32, rows: i64, tiles: i64) -> StateSize {
        let groups = (tiles + i64::from(threads) - 1) / i64::from(threads.max(1));
        let sums = rows.max(0).saturating_mul(tiles.saturating_add(groups));
        match fits(types, counts) {
            true => StateSize { words: sums.saturating_add(1), sums: 0, types: Vec::new() },
            false => StateSize { words: sums.saturating_add(1), sums, types: types.to_vec() },
        }
    }
}

/// Returns the number of the tile that this block is to do, of so many: one that no other block has begun. The first of the
/// words counts the tiles that were begun.
pub(super) fn ticket(words: MemoryId, tiles: Ix) -> Ix {
    take_ticket(words, ScalarType::U64, Exp::from(0), tiles)
}

/// As [`ticket`], with a counter of this type at a place.
pub(super) fn take_ticket(words: MemoryId, ty: ScalarType, place: Ix, tiles: Ix) -> Ix {
    let cell = Cells::shared(&[ty], 1);
    effects::parallel(Exp::<i64>::from(1).term(), |_| {
        let one = [Exp::<u64>::from(1).term().cast(ty)];
        let before = effects::atomic(AtomicOp::Add, words, ty, place.term(), &one, true);
        cell.write(0, &Scalars(before.into_iter().collect()));
    });
    effects::sync();
    let ticket =
        cell.read(0).0.first().map_or(Exp::from(0), |term| Exp::from_term(term.cast(ScalarType::I64)));
    // The words were zero, so it is below the number of tiles: the clamp is for analyses of its range.
    let number: Ix = ticket.clamp(0, tiles - 1);
    effects::compute(&[number.term()]).first().map_or(number, |term| Exp::from_term(*term))
}

/// A tile among those of its row.
#[derive(Clone, Copy)]
struct Turn {
    /// Its number among all tiles.
    number: Ix,
    /// Number of tiles before it in its group.
    before: Ix,
    /// The number of its group among the row's.
    group: Ix,
    /// The word of its group.
    group_word: Ix,
}

impl Turn {
    fn new(kind: LookBackKind, [rows, tiles]: [Ix; 2], [row, tile]: [Ix; 2]) -> Turn {
        let threads = i64::from(kind.threads);
        let number = row * tiles + tile;
        if !kind.groups {
            return Turn { number, before: tile, group: 0.into(), group_word: 0.into() };
        }
        let groups = (tiles + (threads - 1)) / threads;
        let group = crate::named(quotient(tile, threads.into()), "group");
        let group_word = rows * tiles + row * groups + group + 1;
        Turn { number, before: crate::named(remainder(tile, threads.into()), "before"), group, group_word }
    }
}

impl LookBack {
    /// Asks for the tile with this number in this row, of so many rows and tiles a row.
    pub fn new(
        state: &ScanState,
        monoid: Monoid,
        kind: LookBackKind,
        matrix: [Ix; 2],
        tile: [Ix; 2],
    ) -> LookBack {
        let cells = || Cells::shared(&monoid.types(), (kind.threads / WARP).into());
        let (found, found_groups) = (cells(), if kind.groups { cells() } else { Cells(Vec::new()) });
        let (state, turn) = (state.clone(), Turn::new(kind, matrix, tile));
        LookBack { state, monoid, kind, turn, found, found_groups }
    }

    /// Tells the tile's sum. For all threads of the block.
    pub fn tell_own(&self, thread: Ix, sum: &Scalars) {
        only_if(thread.eq(0), || self.tell(self.turn.number + 1, sum));
    }

    /// Asks the tiles before it in the group. For all threads of the block; a barrier must follow.
    pub fn ask(&self, thread: Ix) {
        let Turn { number, before, .. } = self.turn;
        let told = self.wait(thread.lt(before), number - before + thread + 1);
        self.gather(thread, told, &self.found);
    }

    /// Asks the groups before its own, after [`LookBack::ask`] and its barrier. `sum` is the tile's own.
    pub fn ask_groups(&self, sum: impl Fn() -> Scalars) {
        if !self.kind.groups {
            return;
        }
        let Turn { before, group, group_word, .. } = self.turn;
        let threads = i64::from(self.kind.threads);
        each_thread(self.kind.threads, |thread| {
            let is_last = thread.eq(0) & before.eq(threads - 1);
            only_if(is_last, || {
                self.tell(group_word, &self.monoid.combine(&self.sum_of(&self.found), &sum()));
            });
            let share = (group + (threads - 1)) / threads;
            let first = crate::named(thread * share, "first_group");
            let (end, one) = ((first + share).min(group), Exp::<i64>::from(1).term());
            let neutral = &self.monoid.neutral.0;
            let told = effects::sequential(first.term()..end.term(), one, neutral, |earlier, sum| {
                let word = group_word - group + Exp::from_term(earlier);
                self.monoid.combine(&Scalars(sum.to_vec()), &self.wait(true.into(), word)).0
            });
            self.gather(thread, Scalars(told), &self.found_groups);
        });
        effects::sync();
    }

    /// Returns the sum of everything before the tile, after [`LookBack::ask_groups`]. For all threads of the block.
    pub fn answer(&self) -> Scalars {
        let in_group = self.sum_of(&self.found);
        match self.kind.groups {
            true => now(&self.monoid.combine(&self.sum_of(&self.found_groups), &in_group)),
            false => in_group,
        }
    }

    /// Writes the sum of what each warp was told.
    fn gather(&self, thread: Ix, told: Scalars, found: &Cells) {
        let warp = i64::from(WARP);
        let lane = thread % warp;
        let sums = scan_lanes(&self.monoid, lane, warp, vec![told]);
        only_if(lane.eq(warp - 1), || sums.iter().for_each(|sum| found.write(thread / warp, sum)));
    }

    /// The sum of what all warps were told.
    fn sum_of(&self, found: &Cells) -> Scalars {
        let parts = (1..i64::from(self.kind.threads / WARP)).map(|warp| found.read(warp));
        parts.fold(found.read(0), |sum, part| self.monoid.combine(&sum, &part))
    }

    /// Makes a sum known to other blocks, with the word of this number.
    fn tell(&self, word: Ix, sum: &Scalars) {
        let types = self.monoid.types();
        let content = match fits(&types, self.kind.counts) {
            true => pack(&sum.0, self.kind.counts),
            false => {
                self.sums().write(word - 1, sum);
                Exp::<u64>::from(TOLD).term()
            }
        };
        let operands = [content];
        effects::atomic(
            AtomicOp::Store(self.order()),
            self.state.words,
            ScalarType::U64,
            word.term(),
            &operands,
            false,
        );
    }

    /// Waits for the sum with this word where `wanted`; elsewhere it is neutral.
    fn wait(&self, wanted: Exp<bool>, word: Ix) -> Scalars {
        let first = wanted.select(Exp::<u64>::from(0), Exp::<u64>::from(TOLD));
        let told = |word: Term| Exp::<u64>::from_term(word) & TOLD;
        let found = effects::repeat_while(
            &[first.term()],
            |carried| carried.first().map_or(Exp::from(false), |word| told(*word).eq(0)).term(),
            |_| {
                let (words, ty) = (self.state.words, ScalarType::U64);
                let now = effects::atomic(AtomicOp::Load(self.order()), words, ty, word.term(), &[], true);
                vec![now.unwrap_or(first.term())]
            },
        );
        let types = self.monoid.types();
        match fits(&types, self.kind.counts) {
            true => {
                let content = found.first().copied().unwrap_or(first.term());
                select(wanted, &unpack(content, &types, self.kind.counts), &self.monoid.neutral)
            }
            false => choose(wanted, || self.sums().read(word - 1), || self.monoid.neutral.clone()),
        }
    }

    /// A word that has the sum in it says nothing about other memory.
    fn order(&self) -> Order {
        match fits(&self.monoid.types(), self.kind.counts) {
            true => Order::Relaxed,
            false => Order::Ordered,
        }
    }

    fn sums(&self) -> Cells {
        Cells(self.state.sums.iter().copied().zip(self.monoid.types()).collect())
    }
}

/// An element in a word, with the bit that says that it is there.
fn pack(scalars: &[Term], counts: bool) -> Term {
    let mut word = Exp::<u64>::from(TOLD);
    let mut offset = 0;
    for term in scalars {
        let field = match term.ty() {
            ScalarType::Bool => {
                Exp::<bool>::from_term(*term).select(Exp::<u64>::from(1), Exp::from(0)).term()
            }
            ScalarType::F32 => Term::apply(Op::Bitcast, ScalarType::U32, &[*term]).cast(ScalarType::U64),
            ScalarType::F64 => Term::apply(Op::Bitcast, ScalarType::U64, &[*term]),
            ScalarType::I32 => term.cast(ScalarType::U32).cast(ScalarType::U64),
            ScalarType::U32 | ScalarType::I64 | ScalarType::U64 => term.cast(ScalarType::U64),
            small => Term::apply(Op::Bitcast, small.unsigned(), &[*term]).cast(ScalarType::U64),
        };
        let field = Exp::<u64>::from_term(field);
        word |= if offset == 0 { field } else { field << u64::from(offset) };
        offset += bits(term.ty(), counts);
    }
    word.term()
}

/// The element in a word.
fn unpack(word: Term, types: &[ScalarType], counts: bool) -> Scalars {
    let word = Exp::<u64>::from_term(word);
    let mut offset = 0;
    let field = |ty: &ScalarType| {
        let field = if offset == 0 { word } else { word >> u64::from(offset) };
        offset += bits(*ty, counts);
        let half = || field.term().cast(ScalarType::U32);
        match ty {
            ScalarType::Bool => (field & 1).ne(0).term(),
            ScalarType::F32 => Term::apply(Op::Bitcast, ScalarType::F32, &[half()]),
            ScalarType::I32 => half().cast(ScalarType::I32),
            ScalarType::U32 => half(),
            ScalarType::I64 | ScalarType::U64 => (field & !TOLD).term().cast(*ty),
            // Takes a whole word, so it is never in one.
            ScalarType::F64 => Constant::zero(*ty).into(),
            small => Term::apply(Op::Bitcast, *small, &[field.term().cast(small.unsigned())]),
        }
    };
    Scalars(types.iter().map(field).collect())
}
