//! Look-back of a sort: a tile learns, value by value of a digit, how many elements stand before its own. It tells its counts, and goes back
//! from tile to tile until one knows all before it.
//!
//! A count stands in one word with what it is, so nothing else need be ordered. Sums of counts do not depend on the order of execution.

use super::SortState;
use crate::effects;
use crate::item::Ix;
use crate::skeletons::monoid::only_if;
use pumice_program::{AtomicOp, Order};
use pumice_scalar::{Exp, ScalarType, Term};

/// A word that says how many elements of the tile there are.
const OF_TILE: u64 = 1;
/// A word that says how many there are up to the end of the tile.
const UP_TO: u64 = 2;

/// The type of a word that can count the elements of a row beside two bits that say what it counts.
pub(super) fn word_type(columns: i64) -> ScalarType {
    if columns < 1 << 30 { ScalarType::U32 } else { ScalarType::U64 }
}

/// Look-back of a tile: its questions to the tiles before it in its row.
pub(super) struct DigitLookBack<'a> {
    pub state: SortState,
    /// The values of a digit.
    pub values: i64,
    /// The number of the tile among all, and in its row.
    pub number: Ix,
    pub tile: Ix,
    /// Number of elements of the row with a smaller value.
    pub starts: &'a dyn Fn(Ix) -> Ix,
}

impl DigitLookBack<'_> {
    fn bits(&self) -> u32 {
        8 * self.state.ty.bytes() as u32 - 2
    }

    fn word(&self, number: Ix, value: Ix) -> Term {
        (self.state.first + 1 + number * self.values + value).term()
    }

    fn store(&self, value: Ix, what: Exp<u64>, count: Ix) {
        let SortState { words, ty, .. } = self.state;
        let word = (what << u64::from(self.bits())) | count.cast::<u64>();
        let op = AtomicOp::Store(Order::Relaxed);
        effects::atomic(op, words, ty, self.word(self.number, value), &[word.term().cast(ty)], false);
    }

    /// Tells how many elements of the tile have a value. In one thread.
    pub fn tell(&self, value: Ix, count: Ix) {
        let what = self.tile.eq(0).select(Exp::<u64>::from(UP_TO), Exp::from(OF_TILE));
        self.store(value, what, count);
    }

    /// Returns the number of elements of the row before those of the tile with a value, of which there are so many. In one thread,
    /// after it has told that.
    pub fn ask(&self, value: Ix, count: Ix) -> Ix {
        let SortState { words, ty, .. } = self.state;
        let (zero, is_asked) = (Exp::<i64>::from(0), self.tile.gt(0));
        // One tile at a time: more questions at once keep the answers from coming.
        let found = effects::repeat_while(
            &[(self.number - 1).term(), zero.term(), is_asked.term()],
            |state| state.get(2).copied().unwrap_or_else(|| Exp::from(false).term()),
            |state| {
                let [number, sum, _] = *state else { return state.to_vec() };
                let (number, sum): (Ix, Ix) = (Exp::from_term(number), Exp::from_term(sum));
                let load = AtomicOp::Load(Order::Relaxed);
                let word = effects::atomic(load, words, ty, self.word(number, value), &[], true);
                let Some(word) = word else { return state.to_vec() };
                let word = Exp::<u64>::from_term(word.cast(ScalarType::U64));
                let what = word >> u64::from(self.bits());
                let count = (word & ((1 << self.bits()) - 1)).cast::<i64>();
                let next = what.ne(0).select(number - 1, number);
                // A word that says nothing yet counts nothing.
                vec![next.term(), (sum + count).term(), what.ne(UP_TO).term()]
            },
        );
        let before: Ix = found.get(1).map_or(zero, |sum| Exp::from_term(*sum));
        only_if(is_asked, || self.store(value, Exp::from(UP_TO), before + count));
        (self.starts)(value) + before
    }
}
