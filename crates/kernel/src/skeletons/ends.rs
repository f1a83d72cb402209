//! Stretches of a vector, one after the other and perhaps without elements, given where each ends: which one has an element.

use crate::item::Ix;
use crate::{effects, named};
use pumice_scalar::{Exp, Op, Term};
use std::rc::Rc;

/// Stretches by their ends.
#[derive(Clone)]
pub struct Ends {
    /// The number of stretches, at least one.
    pub count: Ix,
    /// The index behind the last element of one: how many elements there are up to there.
    pub end: Rc<dyn Fn(Ix) -> Ix>,
}

impl Ends {
    /// Where one ends.
    pub(super) fn end(&self, stretch: Ix) -> Ix {
        (self.end)(stretch)
    }

    /// The index of the first element of one.
    pub(super) fn begin(&self, stretch: Ix) -> Ix {
        named(stretch.gt(0).select(self.end((stretch - 1).max(0)), Exp::from(0)), "begin")
    }

    /// The stretch that has an element.
    pub(super) fn search(&self, index: Ix) -> Ix {
        self.between(index, (Exp::from(0), self.count - 1))
    }

    /// The stretch that has an element: one of these two, or between them.
    pub(super) fn between(&self, index: Ix, (low, high): (Ix, Ix)) -> Ix {
        let found = effects::repeat_while(
            &[low.term(), high.term()],
            |ends| ends[0].compare(Op::Lt, ends[1]),
            |ends| {
                let [low, high] = numbers(ends);
                let middle = named((low + high) >> 1, "middle");
                let is_before = self.end(middle).le(index);
                vec![is_before.select(middle + 1, low).term(), is_before.select(high, middle).term()]
            },
        );
        let [found] = numbers(&found);
        named(found, "stretch")
    }

    /// The stretch that has an element, which is this one, the last one or between them: looked for over twice the distance each time, and
    /// by halving from there.
    pub(super) fn ahead(&self, index: Ix, stretch: Ix, last: Ix) -> Ix {
        let found = effects::repeat_while(
            &[stretch.term(), stretch.term(), Exp::<i64>::from(1).term()],
            |state| {
                let [_, high, _] = numbers(state);
                (high.lt(last) & self.end(high).le(index)).term()
            },
            |state| {
                let [_, high, step] = numbers(state);
                vec![(high + 1).term(), (high + step).min(last).term(), (step * 2).term()]
            },
        );
        let [low, high, _] = numbers(&found);
        self.between(index, (low, high))
    }
}

/// Numbers that a loop or a condition gives.
pub(super) fn numbers<const N: usize>(terms: &[Term]) -> [Ix; N] {
    std::array::from_fn(|at| terms.get(at).map_or(Exp::from(0), |term| Exp::from_term(*term)))
}
