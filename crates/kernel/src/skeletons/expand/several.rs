//! Sources of a block, one per thread, whose elements all its threads take evenly: sizes are added up in shared memory, and
//! the source of an element is found by halving.

use super::{Expansion, Write};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::named;
use crate::skeletons::monoid::{Cells, each_thread, now};
use pumice_scalar::{Exp, ScalarType};

/// Hands on the elements of as many sources as a block has threads, from one on.
pub(super) fn by_prefix_sums(expansion: &Expansion, first: Ix, threads: u32, write: Write<'_>) {
    let count = i64::from(threads);
    let ends = ends(expansion, first, threads);
    let total = named(number(&ends.read(count - 1)), "total");
    each_thread(threads, |thread| {
        let step = Exp::<i64>::from(count).term();
        effects::sequential(thread.term()..total.term(), step, &[], |index, _| {
            let index = Exp::<i64>::from_term(index);
            // The first source that ends behind the index: as many halvings as find one of so many.
            let mut source: Ix = Exp::from(0);
            let mut half = i64::from(threads.next_power_of_two()) / 2;
            while half > 0 {
                let next = source + half;
                // One before the last is the most that is asked for.
                let is_before = next.le(count) & number(&ends.read((next - 1).min(count - 1))).le(index);
                source = named(is_before.select(next, source), "number");
                half /= 2;
            }
            let begin = source.gt(0).select(number(&ends.read((source - 1).max(0))), Exp::from(0));
            let (at, element) = (named(first + source, "source"), named(index - begin, "element"));
            write(index, (expansion.get)(&now(&(expansion.source)(at)), element));
            Vec::new()
        });
    });
    effects::sync();
}

/// Where the elements of each of a block's sources end, in shared memory.
fn ends(expansion: &Expansion, first: Ix, threads: u32) -> Cells {
    let mut ends = Cells::shared(&[ScalarType::I64], threads.into());
    each_thread(threads, |thread| {
        let at = first + thread;
        let size = effects::choose(
            at.lt(expansion.sources).term(),
            || vec![expansion.source_at(at).1.term()],
            effects::zeros,
        );
        ends.write(thread, &Scalars(size));
    });
    effects::sync();
    let mut distance = 1;
    while distance < i64::from(threads) {
        let next = Cells::shared(&[ScalarType::I64], threads.into());
        each_thread(threads, |thread| {
            let own = number(&ends.read(thread));
            let before = number(&ends.read((thread - distance).max(0)));
            let sum = own + thread.ge(distance).select(before, Exp::from(0));
            next.write(thread, &Scalars(vec![sum.term()]));
        });
        effects::sync();
        (ends, distance) = (next, distance * 2);
    }
    ends
}

fn number(scalars: &Scalars) -> Ix {
    scalars.0.first().map_or(Exp::from(0), |term| Exp::from_term(*term))
}
