//! Updates by an operator of each column of an element, as far as its graph shows them: an atomic operation that devices
//! have, a replacement, nothing, or some function of that column alone.

use pumice_program::AtomicOp;
use pumice_scalar::{Constant, Function, Id, Node, Op, ScalarType, Variable};

/// Update of one column of a target by an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnUpdate {
    /// An atomic operation on the new scalar and the old one.
    Atomic(AtomicOp),
    /// The new scalar takes the old one's place.
    Replace,
    /// The new scalar takes the old one's place if it is this truth value.
    ReplaceIf(bool),
    /// The old scalar stays.
    Keep,
    /// Another function of the new scalar and the old one.
    Computed,
    /// A function of other columns too.
    Entangled,
}

/// Analyses an operator of (new element, old element): one entry per column, or `None` if it is not a function of two
/// elements of one type.
pub(super) fn column_updates(operator: &Function) -> Option<Vec<ColumnUpdate>> {
    let (types, count) = (operator.parameters(), operator.parameters().len() / 2);
    let (new, old) = types.split_at_checked(count)?;
    if new != old || operator.result_types() != new {
        return None;
    }
    let columns = operator.results().iter().enumerate();
    Some(columns.map(|(column, result)| column_update(operator, column, count, *result)).collect())
}

/// Whether elements that an operator combines give the same bits in whatever order they come: each column by an atomic operation of devices,
/// none of which adds floats.
pub fn is_exact_in_any_order(operator: &Function) -> bool {
    let is_exact = |(ty, update): (&ScalarType, ColumnUpdate)| match update {
        ColumnUpdate::Atomic(op) => op != AtomicOp::Add || !ty.is_float(),
        _ => false,
    };
    let updates = column_updates(operator);
    updates.is_some_and(|updates| operator.parameters().iter().zip(updates).all(is_exact))
}

fn column_update(operator: &Function, column: usize, count: usize, result: Id) -> ColumnUpdate {
    let parameter = |id: Id| match operator.nodes()[id.0 as usize] {
        Node::Variable(Variable::Parameter(index), _) => Some(index as usize),
        _ => None,
    };
    let (new, old) = (column, count + column);
    match parameter(result) {
        Some(index) if index == new => return ColumnUpdate::Replace,
        Some(index) if index == old => return ColumnUpdate::Keep,
        _ => {}
    }
    if let Node::Apply { op, operands, ty } = &operator.nodes()[result.0 as usize]
        && let [a, b] = operands.as_slice()
        && let (Some(a), Some(b)) = (parameter(*a), parameter(*b))
        && [(new, old), (old, new)].contains(&(a, b))
    {
        match (op, ty) {
            (Op::Or, ScalarType::Bool) => return ColumnUpdate::ReplaceIf(true),
            (Op::And, ScalarType::Bool) => return ColumnUpdate::ReplaceIf(false),
            _ => {}
        }
        if let Some(op) = atomic(*op).filter(|op| op.accepts(*ty)) {
            return ColumnUpdate::Atomic(op);
        }
    }
    match parameters_of(operator, result).iter().all(|index| [new, old].contains(index)) {
        true => ColumnUpdate::Computed,
        false => ColumnUpdate::Entangled,
    }
}

/// The parameters that a result depends on.
fn parameters_of(operator: &Function, result: Id) -> Vec<usize> {
    let mut needed = vec![false; result.0 as usize + 1];
    needed[result.0 as usize] = true;
    let mut parameters = Vec::new();
    for (number, node) in operator.nodes().iter().enumerate().take(needed.len()).rev() {
        if needed[number] {
            node.for_each_operand(|id| needed[id.0 as usize] = true);
            if let Node::Variable(Variable::Parameter(index), _) = node {
                parameters.push(*index as usize);
            }
        }
    }
    parameters
}

/// The atomic operation that does the same.
fn atomic(op: Op) -> Option<AtomicOp> {
    Some(match op {
        Op::Add => AtomicOp::Add,
        Op::Min => AtomicOp::Min,
        Op::Max => AtomicOp::Max,
        Op::And => AtomicOp::And,
        Op::Or => AtomicOp::Or,
        Op::Xor => AtomicOp::Xor,
        _ => return None,
    })
}

/// The operation of the scalar language that an atomic one does, and its neutral element. Bits stay as they are when the
/// neutral element is combined with anything: so it is -0.0 for sums of floats, and NaN for their minima and maxima,
/// which prefer a number.
pub(super) fn neutral(op: AtomicOp, ty: ScalarType) -> Option<(Op, Constant)> {
    let nan = || Constant::from_float(ty, f64::NAN);
    let whole = |value| Constant::from_integer(ty, value);
    Some(match op {
        AtomicOp::Add if ty.is_float() => (Op::Add, Constant::from_float(ty, -0.0)),
        AtomicOp::Add => (Op::Add, whole(0)),
        AtomicOp::Min => (Op::Min, if ty.is_float() { nan() } else { whole(ty.range().1) }),
        AtomicOp::Max => (Op::Max, if ty.is_float() { nan() } else { whole(ty.range().0) }),
        AtomicOp::And => (Op::And, whole(-1)),
        AtomicOp::Or => (Op::Or, whole(0)),
        AtomicOp::Xor => (Op::Xor, whole(0)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice_scalar::{Elt, Exp, Lift, cond, function};

    fn updates<T: Elt>(f: impl FnOnce(T::Exp, T::Exp) -> T::Exp) -> Option<Vec<ColumnUpdate>> {
        let types = [T::types(), T::types()].concat();
        let operator = function(&types, |terms| {
            let mut terms = terms.iter().copied();
            let (new, old) = (T::Exp::from_terms(&mut terms), T::Exp::from_terms(&mut terms));
            f(new, old).terms()
        });
        column_updates(&operator)
    }

    #[test]
    fn operators_are_recognised_column_by_column() {
        use ColumnUpdate::*;
        assert_eq!(updates::<i32>(|a, b| a + b), Some(vec![Atomic(AtomicOp::Add)]));
        assert_eq!(updates::<f64>(|a, b| b + a), Some(vec![Atomic(AtomicOp::Add)]));
        assert_eq!(updates::<u64>(|a, b| a.max(b)), Some(vec![Atomic(AtomicOp::Max)]));
        assert_eq!(updates::<i32>(|new, _| new), Some(vec![Replace]));
        assert_eq!(updates::<i32>(|_, old| old), Some(vec![Keep]));
        assert_eq!(updates::<i32>(|a, b| a * b), Some(vec![Computed]));
        assert_eq!(updates::<i32>(|_, old| old + 1), Some(vec![Computed]));
        assert_eq!(updates::<bool>(|a, b| a | b), Some(vec![ReplaceIf(true)]));
        assert_eq!(updates::<bool>(|a, b| a ^ b), Some(vec![Computed]));
        let pair = updates::<(u32, f32)>(|(a, b), (c, d)| (a ^ c, b * d));
        assert_eq!(pair, Some(vec![Atomic(AtomicOp::Xor), Computed]));
        // The value that belongs to the larger key: a branch computes both columns together.
        let keyed = updates::<(i32, f32)>(|(k, x), (l, y)| cond(k.gt(l), || (k, x), || (l, y)));
        assert_eq!(keyed, Some(vec![Entangled, Entangled]));
        let swapped = updates::<(i32, i32)>(|(a, b), (c, d)| (b + d, a + c));
        assert_eq!(swapped, Some(vec![Entangled, Entangled]));
    }

    #[test]
    fn what_is_no_operator_on_elements_is_refused() {
        assert_eq!(column_updates(&function(&[ScalarType::I32], |terms| terms.to_vec())), None);
        assert_eq!(
            column_updates(&function(&[ScalarType::I32, ScalarType::F32], |terms| terms[..1].to_vec())),
            None
        );
        let other_result =
            function(&[ScalarType::I32; 2], |terms| Exp::<i32>::from_term(terms[0]).cast::<f32>().terms());
        assert_eq!(column_updates(&other_result), None);
    }

    #[test]
    fn neutral_elements_change_no_bit() {
        let ops = [AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor];
        for ty in ScalarType::ALL {
            for op in ops.into_iter().filter(|op| op.accepts(ty)) {
                let (scalar, neutral) = neutral(op, ty).unwrap();
                for bits in [0, 1, 1 << 31, 1 << 63, u64::MAX >> 1, 0x7f80_0000, 0x7ff0 << 48] {
                    let value = Constant::from_bits(ty, bits);
                    if value.as_float().is_none_or(|value| !value.is_nan()) {
                        assert_eq!(scalar.evaluate(ty, &[neutral, value]), value, "{op:?} {value:?}");
                        assert_eq!(scalar.evaluate(ty, &[value, neutral]), value, "{op:?} {value:?}");
                    }
                }
            }
        }
    }
}
