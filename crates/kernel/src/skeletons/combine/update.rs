//! Combining an element into one target: by atomic operations, by compare-and-swap, or under a lock.
//!
//! Columns that the operator treats separately are updated one after the other, each at once. Elements whose columns depend
//! on each other need a lock.

use super::operator::ColumnUpdate;
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::skeletons::Operator;
use crate::skeletons::monoid::only_if;
use pumice_program::{AtomicOp, MemoryId, Order, Scope};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term};

/// The columns that elements are combined into.
pub(super) type Cells = [(MemoryId, ScalarType)];

/// Combines an element column by column. The index is in bounds.
pub(super) fn by_columns(
    operator: &Operator,
    updates: &[ColumnUpdate],
    cells: &Cells,
    index: Term,
    new: &Scalars,
) {
    for (column, ((memory, ty), update)) in cells.iter().zip(updates).enumerate() {
        let Some(value) = new.0.get(column).copied() else { return };
        let atomic = |op| {
            effects::atomic(op, *memory, *ty, index, &[value], false);
        };
        match update {
            ColumnUpdate::Atomic(op) => atomic(*op),
            ColumnUpdate::Replace => atomic(AtomicOp::Store(Order::Relaxed)),
            ColumnUpdate::ReplaceIf(wanted) => {
                let is_wanted = value.compare(Op::Eq, Constant::from(*wanted).into());
                only_if(Exp::from_term(is_wanted), || atomic(AtomicOp::Store(Order::Relaxed)));
            }
            ColumnUpdate::Keep => {}
            ColumnUpdate::Computed | ColumnUpdate::Entangled => {
                compare_and_swap(*memory, *ty, index, |old| combined(operator, cells, column, value, old));
            }
        }
    }
}

/// One column of what the operator gives, which depends on no other column.
fn combined(operator: &Operator, cells: &Cells, column: usize, new: Term, old: Term) -> Term {
    let element = |scalar: Term| {
        let zero = |ty: &ScalarType| Term::from(Constant::zero(*ty));
        let columns = cells.iter().enumerate();
        Scalars(columns.map(|(number, (_, ty))| if number == column { scalar } else { zero(ty) }).collect())
    };
    operator(element(new), element(old)).0.get(column).copied().unwrap_or(old)
}

/// Replaces a scalar by `f` of it, beginning again whenever another thread has replaced it meanwhile. A scalar
/// that would stay as it is, is not written.
fn compare_and_swap(memory: MemoryId, ty: ScalarType, index: Term, f: impl Fn(Term) -> Term) {
    let atomic = |op, operands: &[Term]| {
        effects::atomic(op, memory, ty, index, operands, true).unwrap_or_else(|| Constant::zero(ty).into())
    };
    let old = atomic(AtomicOp::Load(Order::Relaxed), &[]);
    let new = f(old);
    effects::repeat_while(
        &[old, new, differ(old, new).term()],
        |carried| carried[2],
        |carried| {
            let found = atomic(AtomicOp::CompareExchange, &[carried[0], carried[1]]);
            let new = f(found);
            let again = differ(found, carried[0]) & differ(new, found);
            vec![found, new, again.term()]
        },
    );
}

/// Whether two scalars differ in any bit.
pub(super) fn differ(a: Term, b: Term) -> Exp<bool> {
    let bits = |term: Term| match term.ty() {
        float if float.is_float() => Term::apply(Op::Bitcast, float.unsigned(), &[term]),
        _ => term,
    };
    Exp::from_term(bits(a).compare(Op::Ne, bits(b)))
}

/// Combines an element with the old one as a whole. Nobody else may update this target meanwhile, whose index is in bounds.
pub(super) fn alone(
    operator: &Operator,
    updates: &[ColumnUpdate],
    cells: &Cells,
    index: Term,
    new: &Scalars,
) {
    if updates.iter().all(|update| *update == ColumnUpdate::Replace) {
        for ((memory, _), new) in cells.iter().zip(&new.0) {
            effects::store(*memory, index, *new);
        }
        return;
    }
    let old = cells.iter().map(|(memory, ty)| effects::read_now(*memory, *ty, index));
    let results = effects::compute(&operator(new.clone(), Scalars(old.collect())).0);
    for ((memory, _), result) in cells.iter().zip(results) {
        effects::store(*memory, index, result);
    }
}

/// Works under a lock: a cell that is 0 while the lock is free. Its index is in bounds.
///
/// Threads of a warp may advance together, so none of them waits for the lock by itself: each round, the thread that gets it does
/// all of its work and gives it back before the others ask again.
pub(super) fn under_lock((locks, lock): (MemoryId, Ix), work: impl Fn()) {
    let lock = lock.term();
    let (free, taken) = (Term::from(Constant::from(0i32)), Term::from(Constant::from(1i32)));
    let waits = |waits: bool| vec![Term::from(Constant::from(waits))];
    effects::repeat_while(
        &waits(true),
        |carried| carried[0],
        |_| {
            let exchange = AtomicOp::CompareExchange;
            let before = effects::atomic(exchange, locks, ScalarType::I32, lock, &[free, taken], true);
            let Some(before) = before else { return waits(false) };
            let work = || {
                // Makes the writes of the lock's previous owner visible.
                effects::fence(Scope::Grid);
                work();
                effects::fence(Scope::Grid);
                effects::atomic(AtomicOp::Exchange, locks, ScalarType::I32, lock, &[free], false);
                waits(false)
            };
            effects::choose(before.compare(Op::Eq, free), work, |_| waits(true))
        },
    );
}
