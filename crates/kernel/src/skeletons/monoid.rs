//! Elements whose scalars are data, as scans handle them: an operator with its neutral element, memory that holds elements,
//! and scans over the lanes of a warp.

use super::replace::Operator;
use crate::effects;
use crate::item::{Ix, Scalars};
use pumice_program::{CollectiveOp, MemoryId, WARP};
use pumice_scalar::{Exp, Op, ScalarType, Term};

/// An associative operator with its neutral element. It need not commute.
#[derive(Clone)]
pub struct Monoid {
    /// The operator.
    pub operator: Operator,
    /// Its neutral element.
    pub neutral: Scalars,
    /// Whether the operator can be applied to any values: it cannot fail and comes to an end. Then it is applied also where
    /// its result is not needed, which saves branches.
    pub total: bool,
}

impl Monoid {
    /// Combines two elements.
    pub(super) fn combine(&self, a: &Scalars, b: &Scalars) -> Scalars {
        (self.operator)(a.clone(), b.clone())
    }

    /// Combines `a` with `b` where a condition holds, and returns `b` elsewhere.
    pub(super) fn combine_if(&self, condition: Exp<bool>, a: &Scalars, b: &Scalars) -> Scalars {
        match self.total {
            true => select(condition, &self.combine(a, b), b),
            false => choose(condition, || self.combine(a, b), || b.clone()),
        }
    }

    /// The operator with its sides exchanged: what a scan from the right combines with.
    pub(super) fn flipped(self) -> Monoid {
        let operator = self.operator;
        Monoid { operator: std::rc::Rc::new(move |a, b| operator(b, a)), ..self }
    }

    /// The scalar types of an element.
    pub(super) fn types(&self) -> Vec<ScalarType> {
        self.neutral.0.iter().map(|term| term.ty()).collect()
    }
}

/// One of two elements, both of which are computed.
pub(super) fn select(condition: Exp<bool>, then: &Scalars, otherwise: &Scalars) -> Scalars {
    let pairs = then.0.iter().zip(&otherwise.0);
    Scalars(pairs.map(|(a, b)| Term::apply(Op::Select, a.ty(), &[condition.term(), *a, *b])).collect())
}

/// One of two elements; only that one is computed.
pub(super) fn choose(
    condition: Exp<bool>,
    then: impl FnOnce() -> Scalars,
    otherwise: impl FnOnce() -> Scalars,
) -> Scalars {
    crate::pull::choose::<crate::Dynamic>(condition, then, otherwise)
}

/// Computes an element here, once.
pub(super) fn now(value: &Scalars) -> Scalars {
    Scalars(effects::compute(&value.0))
}

/// The value of the lane so many below; the lowest ones keep their own.
pub(super) fn shuffle_up(value: &Scalars, distance: i32) -> Scalars {
    exchange(CollectiveOp::ShuffleUp, value, Exp::from(distance))
}

/// The value of the lane so many above; the highest ones keep their own.
pub(super) fn shuffle_down(value: &Scalars, distance: i32) -> Scalars {
    exchange(CollectiveOp::ShuffleDown, value, Exp::from(distance))
}

/// The value of the lane with this number, modulo 32.
pub(super) fn shuffle(value: &Scalars, lane: Ix) -> Scalars {
    exchange(CollectiveOp::Shuffle, value, lane.cast::<i32>())
}

fn exchange(op: CollectiveOp, value: &Scalars, lane: Exp<i32>) -> Scalars {
    let exchange = |term: &Term| effects::collective(op, term.ty(), &[*term, lane.term()]);
    Scalars(value.0.iter().map(exchange).collect())
}

/// Scans several values over teams of `width` neighbouring lanes (a power of two, at most 32): each lane gets its value with
/// those of the lanes below it in its team. The values take their steps together, so that one does not wait for another's
/// exchange.
pub(super) fn scan_lanes(monoid: &Monoid, lane: Ix, width: i64, values: Vec<Scalars>) -> Vec<Scalars> {
    let mut sums = values;
    let mut distance = 1;
    while distance < width.min(i64::from(WARP)) {
        let below: Vec<Scalars> = sums.iter().map(|sum| shuffle_up(sum, distance as i32)).collect();
        let has_below = lane.ge(distance);
        let step = |(sum, below): (&Scalars, &Scalars)| now(&monoid.combine_if(has_below, below, sum));
        sums = sums.iter().zip(&below).map(step).collect();
        distance *= 2;
    }
    sums
}

/// From scans of teams of lanes to what stands before each lane in its team.
pub(super) fn before_lanes(monoid: &Monoid, lane: Ix, width: i64, scanned: &[Scalars]) -> Vec<Scalars> {
    if width == 1 {
        return scanned.iter().map(|_| monoid.neutral.clone()).collect();
    }
    let below = scanned.iter().map(|sum| shuffle_up(sum, 1));
    below.map(|below| select(lane.eq(0), &monoid.neutral, &below)).collect()
}

/// Memory of elements, one per scalar, that is read and written where that stands.
#[derive(Clone)]
pub(super) struct Cells(pub Vec<(MemoryId, ScalarType)>);

impl Cells {
    /// Memory that the threads of the block share. It is not initialised.
    pub fn shared(types: &[ScalarType], length: i64) -> Cells {
        let count = effects::cells(usize::try_from(length).unwrap_or(0));
        Cells(types.iter().map(|ty| (effects::allocate_shared(*ty, count), *ty)).collect())
    }

    /// Memory that every thread has for itself: registers, where indices are constants. It is not initialised.
    pub fn private(types: &[ScalarType], length: i64) -> Cells {
        let count = effects::cells(usize::try_from(length).unwrap_or(0));
        Cells(types.iter().map(|ty| (effects::allocate_private(*ty, count), *ty)).collect())
    }

    /// Reads an element as it is now.
    pub fn read(&self, index: impl Into<Ix>) -> Scalars {
        let index = index.into().term();
        Scalars(self.0.iter().map(|(memory, ty)| effects::read_now(*memory, *ty, index)).collect())
    }

    /// Writes an element.
    pub fn write(&self, index: impl Into<Ix>, value: &Scalars) {
        let index = index.into().term();
        for ((memory, _), term) in self.0.iter().zip(&value.0) {
            effects::store(*memory, index, *term);
        }
    }
}

/// The block's threads do `body`, each once.
pub(super) fn each_thread(threads: u32, body: impl FnOnce(Ix)) {
    effects::parallel(Exp::<i64>::from(i64::from(threads)).term(), |thread| body(Exp::from_term(thread)));
}

/// Does something where a condition holds.
pub(super) fn only_if(condition: Exp<bool>, body: impl FnOnce()) {
    effects::either(condition.term(), body, || {});
}
