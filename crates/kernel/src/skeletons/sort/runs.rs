//! Sorting by any order: short runs by counting, and the merging of neighbouring runs.
//!
//! Both are stable: of equal elements the one that stands first comes first.

use crate::item::{Dynamic, Ix, Scalars};
use crate::size::{quotient, remainder};
use crate::skeletons::compact::number;
use crate::skeletons::monoid::{now, select};
use crate::skeletons::scan::ElementAt;
use crate::{Grid, Push, effects, named};
use pumice_scalar::{Constant, Exp, Op, Primitive, Term};
use std::rc::Rc;

/// Whether one element comes before another.
pub type Less = Rc<dyn Fn(&Scalars, &Scalars) -> Exp<bool>>;

/// A matrix of which parts are sorted by an order.
#[derive(Clone)]
pub struct Runs {
    /// Number of rows.
    pub rows: Ix,
    /// Elements of a row.
    pub columns: Ix,
    /// The elements.
    pub at: ElementAt,
    /// Whether one element comes before another.
    pub less: Less,
    /// Threads of a block.
    pub threads: u32,
}

impl Runs {
    /// Does something in a thread for each of so many parts of each row.
    fn each(&self, parts: Ix, f: impl Fn(Ix, Ix)) {
        let threads = i64::from(self.threads);
        let all = named(crate::bounds::area(self.rows, parts), "all");
        effects::distribute(((all + (threads - 1)) / threads).term(), |block| {
            let first = named(Exp::<i64>::from_term(block) * threads, "first");
            effects::parallel((all - first).min(threads).term(), |thread| {
                let number = first + Exp::from_term(thread);
                match self.rows.term().integer() {
                    Some(1) => f(Exp::from(0), number),
                    _ => f(named(quotient(number, parts), "row"), named(remainder(number, parts), "part")),
                }
            });
        });
    }

    fn push(self, write: impl Fn(&Runs, &dyn Fn(Ix, Scalars)) + 'static) -> Push<Grid, Dynamic, Ix> {
        let length = crate::bounds::area(self.rows, self.columns);
        Push::trusted(length, move |out| write(&self, out))
    }
}

/// Adds up flags over a range.
fn count(range: std::ops::Range<Ix>, from: Ix, flag: impl FnOnce(Ix) -> Exp<bool>) -> Ix {
    let (one, range) = (Exp::<i64>::from(1), range.start.term()..range.end.term());
    let sum = effects::sequential(range, one.term(), &[from.term()], |place, sum| {
        let flag = flag(Exp::from_term(place)).select(one, Exp::from(0));
        sum.iter().map(|sum| (Exp::<i64>::from_term(*sum) + flag).term()).collect()
    });
    number::<i64>(&Scalars(sum))
}

/// Sorts each `run` neighbouring elements of a row: a thread has an element and counts those that come before it.
pub fn sort_runs(runs: Runs, run: i64) -> Push<Grid, Dynamic, Ix> {
    runs.push(move |runs, write| {
        runs.each(runs.columns, |row, column| {
            let own = now(&(runs.at)(row, column));
            let start = named(quotient(column, run.into()) * run, "start");
            let end = named((start + run).min(runs.columns), "end");
            let at = |place: Ix| now(&(runs.at)(row, place));
            let before = count(start..column, Exp::from(0), |place| !(runs.less)(&own, &at(place)));
            let before = count(column + 1..end, before, |place| (runs.less)(&at(place), &own));
            // No more than the others can come before it: the clamp is for analyses of the range.
            let place = (start + before).clamp(0, runs.columns - 1);
            write(row * runs.columns + place, own);
        });
    })
}

/// Merges neighbouring sorted runs of `width` elements in each row, two and two. A thread writes `share` elements, a divisor of
/// `2 * width`: it finds by halving where its share of both runs begins, and takes from them what comes first.
pub fn merge(runs: Runs, width: Ix, share: Ix) -> Push<Grid, Dynamic, Ix> {
    runs.push(move |runs, write| {
        let parts = named(quotient(runs.columns + share - 1, share), "parts");
        runs.each(parts, |row, part| {
            let begin = named(part * share, "begin");
            let pair = width + width;
            let start = named(quotient(begin, pair) * pair, "start");
            let middle = named((start + width).min(runs.columns), "middle");
            let end = named((start + pair).min(runs.columns), "end");
            let at = |place: Ix| now(&(runs.at)(row, place));
            let offset = begin - start;
            let split = split(
                named((offset - (end - middle)).max(0), "low"),
                named(offset.min(middle - start), "high"),
                |left| !(runs.less)(&at(middle + (offset - 1 - left)), &at(start + left)),
            );
            let [a, b] = [start + split, middle + (offset - split)];
            let last = (begin + share).min(end);
            take(runs, row, [a, middle, b, end], begin..last, write);
        });
    })
}

/// The least number, of those from `low` to `high`, of which a question is not answered with yes: it is so for all from there on.
pub(super) fn split<T: Primitive>(
    low: Exp<T>,
    high: Exp<T>,
    question: impl FnOnce(Exp<T>) -> Exp<bool>,
) -> Exp<T> {
    let one = Term::from(Constant::from_bits(T::TYPE, 1));
    let found = effects::repeat_while(
        &[low.term(), high.term()],
        |state| match *state {
            [low, high] => low.compare(Op::Lt, high),
            _ => Exp::from(false).term(),
        },
        |state| {
            let [low, high] = *state else { return state.to_vec() };
            let half = low.binary(Op::Add, high).binary(Op::Shr, one);
            let half = effects::compute(&[half]).first().copied().unwrap_or(low);
            let yes = question(Exp::from_term(half));
            let [low, high] = [[half.binary(Op::Add, one), low], [high, half]];
            [low, high].map(|[a, b]| Term::apply(Op::Select, T::TYPE, &[yes.term(), a, b])).to_vec()
        },
    );
    number::<T>(&Scalars(found))
}

/// Takes elements from two runs, of which each is given by its first and its end, and writes them to a range of the row.
fn take(
    runs: &Runs,
    row: Ix,
    [a, a_end, b, b_end]: [Ix; 4],
    range: std::ops::Range<Ix>,
    write: &dyn Fn(Ix, Scalars),
) {
    // The element at a place of a run, or any one where the run has come to its end.
    let at = |place: Ix| now(&(runs.at)(row, place.clamp(0, runs.columns - 1)));
    let first = [at(a), at(b)];
    let width = first[0].0.len();
    let mut state: Vec<Term> = vec![a.term(), b.term()];
    state.extend(first.iter().flat_map(|element| element.0.iter().copied()));
    let one = Exp::<i64>::from(1);
    effects::sequential(range.start.term()..range.end.term(), one.term(), &state, |place, state| {
        let (a, b): (Ix, Ix) = (Exp::from_term(state[0]), Exp::from_term(state[1]));
        let (left, right) = (Scalars(state[2..2 + width].to_vec()), Scalars(state[2 + width..].to_vec()));
        let from_right = b.lt(b_end) & (a.ge(a_end) | (runs.less)(&right, &left));
        let from_right = number::<bool>(&now(&Scalars(vec![from_right.term()])));
        let chosen = select(from_right, &right, &left);
        write(row * runs.columns + Exp::from_term(place), chosen);
        let next = at(from_right.select(b, a) + 1);
        let left = select(from_right, &left, &next);
        let right = select(from_right, &next, &right);
        let (a, b) = (from_right.select(a, a + 1), from_right.select(b + 1, b));
        [vec![a.term(), b.term()], left.0, right.0].concat()
    });
}
