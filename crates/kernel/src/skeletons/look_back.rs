//! How tiles of a row learn what stands before them in one pass: each tells its sum, and asks those before it.
//!
//! A row's tiles are in groups of as many as a block has threads. A tile tells its own sum, and each of its threads asks one
//! of the tiles before it in the group, so that all are asked at once. The last tile of a group tells the sum of everything up
//! to there, which is what the next group starts from. So the elements are combined in the same order in every run,
//! whichever block is quicker, and the same input gives the same bits. The chain from group to group is short: a step for a
//! million elements or so.
//!
//! A block may wait only for blocks that have started: tiles are numbered in the order in which blocks start (see
//! [`ticket`]), and where [`crate::Profile::forward_progress`] does not hold nobody may use this.

use super::monoid::{Cells, Monoid, choose, only_if, scan_lanes};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::size::{quotient, remainder};
use pumice_program::{AtomicOp, MemoryId, WARP};
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
    /// How many words, which are zeroed before each launch.
    pub words: i64,
    /// How many sums, and the types of their scalars; none where they fit into words.
    pub sums: i64,
    /// See `sums`.
    pub types: Vec<ScalarType>,
}

/// The bit of a word that says that there is a sum.
const TOLD: u64 = 1 << 63;

/// How many bits of a word a scalar takes. A count is never negative.
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

/// What is asked of tiles of rows, all of which have as many.
#[derive(Clone)]
pub(super) struct LookBack {
    pub state: ScanState,
    /// The sums, and how they are combined.
    pub monoid: Monoid,
    /// Whether the sums are numbers that are never negative.
    pub counts: bool,
    /// Threads of a block: the number of tiles in a group.
    pub threads: u32,
    /// Whether a row can have more than one group.
    pub groups: bool,
    pub rows: Ix,
    /// Tiles of a row.
    pub tiles: Ix,
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

/// The number of the tile that this block is to do, of so many: the block takes one that nobody has begun.
pub(super) fn ticket(words: MemoryId, tiles: Ix) -> Ix {
    let cell = Cells::shared(&[ScalarType::U64], 1);
    effects::parallel(Exp::<i64>::from(1).term(), |_| {
        let one = [Exp::<u64>::from(1).term()];
        let zero = Exp::<i64>::from(0).term();
        let before = effects::atomic(AtomicOp::Add, words, ScalarType::U64, zero, &one, true);
        cell.write(0, &Scalars(before.into_iter().collect()));
    });
    effects::sync();
    let ticket =
        cell.read(0).0.first().copied().map_or(Exp::from(0), |term| Exp::<u64>::from_term(term).cast());
    // The words were zero, so it is below the number of tiles: this is for whoever reasons about its range.
    let number: Ix = ticket.clamp(0, tiles - 1);
    effects::compute(&[number.term()]).first().map_or(number, |term| Exp::from_term(*term))
}

/// A tile among those of its row.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// Its number among all tiles.
    number: Ix,
    /// How many tiles stand before it in its group.
    before: Ix,
    /// The number of its group among the row's.
    group: Ix,
    /// The word of its group.
    group_word: Ix,
}

impl LookBack {
    /// Where the tile stands that has this number in this row.
    pub fn turn(&self, row: Ix, tile: Ix) -> Turn {
        let size = Exp::from(i64::from(self.threads));
        let number = row * self.tiles + tile;
        if !self.groups {
            return Turn { number, before: tile, group: 0.into(), group_word: 0.into() };
        }
        let groups = (self.tiles + (i64::from(self.threads) - 1)) / i64::from(self.threads);
        let group = crate::named(quotient(tile, size), "group");
        let group_word = self.rows * self.tiles + row * groups + group + 1;
        Turn { number, before: crate::named(remainder(tile, size), "before"), group, group_word }
    }

    /// Tells the tile's sum. For all threads of the block.
    pub fn tell_own(&self, turn: Turn, thread: Ix, sum: &Scalars) {
        only_if(thread.eq(0), || self.tell(turn.number + 1, sum));
    }

    /// Asks the tiles before it in the group, and writes the sum of what each warp has found to `found`. For all threads of
    /// the block; a barrier must follow.
    pub fn ask(&self, turn: Turn, thread: Ix, found: &Cells) {
        let Turn { number, before, .. } = turn;
        let asked = self.wait(thread.lt(before), number - before + thread + 1);
        let warp = i64::from(WARP);
        let lane = thread % warp;
        let sums = scan_lanes(&self.monoid, lane, warp, vec![asked]);
        only_if(lane.eq(warp - 1), || sums.iter().for_each(|sum| found.write(thread / warp, sum)));
    }

    /// Everything before the tile, from what the warps have `found`. For all threads of the block.
    pub fn answer(&self, turn: Turn, thread: Ix, sum: &Scalars, found: &Cells) -> Scalars {
        let warps = i64::from(self.threads / WARP);
        let parts = (1..warps).map(|warp| found.read(warp));
        let mut prefix = parts.fold(found.read(0), |sum, part| self.monoid.combine(&sum, &part));
        if self.groups {
            let Turn { before, group, group_word, .. } = turn;
            // The groups before.
            let earlier = self.wait(group.gt(0), group_word - 1);
            prefix = super::monoid::now(&self.monoid.combine(&earlier, &prefix));
            let last = thread.eq(0) & before.eq(i64::from(self.threads) - 1);
            only_if(last, || self.tell(group_word, &self.monoid.combine(&prefix, sum)));
        }
        prefix
    }

    /// Makes a sum known to other blocks, with the word of this number.
    fn tell(&self, word: Ix, sum: &Scalars) {
        let types = self.monoid.types();
        let content = match fits(&types, self.counts) {
            true => pack(&sum.0, self.counts),
            false => {
                self.sums().write(word - 1, sum);
                Exp::<u64>::from(TOLD).term()
            }
        };
        let operands = [content];
        effects::atomic(AtomicOp::Store, self.state.words, ScalarType::U64, word.term(), &operands, false);
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
                let now = effects::atomic(AtomicOp::Load, words, ty, word.term(), &[], true);
                vec![now.unwrap_or(first.term())]
            },
        );
        let types = self.monoid.types();
        match fits(&types, self.counts) {
            true => {
                let content = found.first().copied().unwrap_or(first.term());
                super::monoid::select(wanted, &unpack(content, &types, self.counts), &self.monoid.neutral)
            }
            false => choose(wanted, || self.sums().read(word - 1), || self.monoid.neutral.clone()),
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
        };
        let field = Exp::<u64>::from_term(field);
        word = word | if offset == 0 { field } else { field << u64::from(offset) };
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
        }
    };
    Scalars(types.iter().map(field).collect())
}
