//! The interior of an array: elements so far from the borders that a function's comparisons with borders are decided.
//!
//! A stencil clamps the index of every neighbour, and only the elements near a border need that. [`interior`] finds the
//! margins within which a function's questions about its index (minima, maxima and comparisons with numbers and extents)
//! matter, and the function without them. It knows nothing of stencils: functions that are fused into one, and those that users write by
//! hand, are treated alike.

use pumice_scalar::{Constant, Function, Id, Node, Op, Replacement, ScalarType, Variable};
use std::collections::HashMap;

/// A function of an element's index that is right inside of margins.
pub struct Interior {
    /// The function; all its loads are guarded.
    pub function: Function,
    /// By dimension, how far from either border an index must be: from `margin` to below `extent - margin`.
    pub margins: Vec<i64>,
}

/// Margins larger than this are not worth the second function.
const MOST: i64 = 32;

/// Returns whether a function asks anything about integers that [`interior`] could know.
pub fn asks(function: &Function) -> bool {
    function.nodes().iter().any(|node| match node {
        Node::Apply { op, operands, .. } if *op == Op::Min || *op == Op::Max || op.compares() => {
            let first = operands.as_slice().first();
            first.and_then(|id| function.nodes()[id.0 as usize].ty()) == Some(ScalarType::I64)
        }
        _ => false,
    })
}

/// Returns the interior of an array, given the function of its elements from one parameter per dimension, and the
/// classes of its extents. Nothing if the function asks nothing that depends on how far a border is.
pub fn interior(function: &Function, classes: &[usize]) -> Option<Interior> {
    let mut analysis = Analysis {
        function,
        classes,
        sums: Vec::with_capacity(function.nodes().len()),
        replacements: HashMap::new(),
        margins: vec![0; classes.len()],
    };
    for number in 0..function.nodes().len() {
        let sum = analysis.node(Id(number as u32));
        analysis.sums.push(sum);
    }
    let Analysis { replacements, margins, .. } = analysis;
    if margins.iter().all(|margin| *margin == 0) {
        return None;
    }
    // SAFETY: the replacements hold for indices inside of the margins, and `write_rows` asks for no others.
    let function = unsafe { function.replace(&replacements) };
    Some(Interior { function, margins })
}

/// An integer of the form `base + constant`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sum {
    base: Base,
    constant: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Zero,
    /// The index in a dimension.
    Index(usize),
    /// An extent, by class.
    Extent(usize),
}

struct Analysis<'a> {
    function: &'a Function,
    classes: &'a [usize],
    /// By node, where it is a sum.
    sums: Vec<Option<Sum>>,
    replacements: HashMap<Id, Replacement>,
    margins: Vec<i64>,
}

impl Analysis<'_> {
    fn sum(&self, id: Id) -> Option<Sum> {
        self.sums[id.0 as usize]
    }

    /// A condition that is decided.
    fn truth(&self, id: Id) -> Option<bool> {
        let id = match self.replacements.get(&id) {
            Some(Replacement::Node(other)) => *other,
            _ => id,
        };
        match (self.replacements.get(&id), &self.function.nodes()[id.0 as usize]) {
            (Some(Replacement::Constant(constant)), _) | (None, Node::Constant(constant)) => {
                (constant.ty() == ScalarType::Bool).then(|| constant.is_true())
            }
            _ => None,
        }
    }

    fn decide(&mut self, id: Id, holds: bool) {
        self.replacements.insert(id, Replacement::Constant(Constant::from(holds)));
    }

    /// Replaces a node by another one; returns the value of that.
    fn stands_for(&mut self, other: Id, id: Id) -> Option<Sum> {
        // The replacement of that one, if there is one: so there are no chains.
        let replacement = self.replacements.get(&other).copied().unwrap_or(Replacement::Node(other));
        self.replacements.insert(id, replacement);
        self.sum(other)
    }

    /// Looks at a node after its operands; returns it as a sum if it is one.
    fn node(&mut self, id: Id) -> Option<Sum> {
        let nodes = self.function.nodes();
        match &nodes[id.0 as usize] {
            Node::Constant(constant) if constant.ty() == ScalarType::I64 => {
                let constant = i64::try_from(constant.as_integer()?).ok()?;
                small(constant).then_some(Sum { base: Base::Zero, constant })
            }
            Node::Variable(Variable::Parameter(number), ScalarType::I64) => {
                let dimension = *number as usize;
                let base = Base::Index(dimension);
                (dimension < self.classes.len()).then_some(Sum { base, constant: 0 })
            }
            // The others may be of arrays that are in no memory, and so of any size.
            Node::Variable(Variable::Extent { array, .. }, _) => {
                let class = *array as usize;
                self.classes.contains(&class).then_some(Sum { base: Base::Extent(class), constant: 0 })
            }
            Node::Apply { op, operands, .. } => self.apply(id, *op, operands.as_slice()),
            Node::Check { condition, .. } => {
                if self.truth(*condition) == Some(true) {
                    self.decide(id, true);
                }
                None
            }
            Node::Project { of, index, .. } => {
                let Node::Branch { condition, then, otherwise } = &nodes[of.0 as usize] else { return None };
                let side = if self.truth(*condition)? { then } else { otherwise };
                self.stands_for(*side.get(*index as usize)?, id)
            }
            _ => None,
        }
    }

    fn apply(&mut self, id: Id, op: Op, operands: &[Id]) -> Option<Sum> {
        match (op, operands) {
            (Op::Add | Op::Sub, [a, b]) => {
                let (a, b) = (self.sum(*a)?, self.sum(*b)?);
                let (base, constant) = match (op, a.base, b.base) {
                    (Op::Add, _, Base::Zero) => (a.base, a.constant + b.constant),
                    (Op::Add, Base::Zero, _) => (b.base, a.constant + b.constant),
                    (Op::Sub, _, Base::Zero) => (a.base, a.constant - b.constant),
                    _ => return None,
                };
                small(constant).then_some(Sum { base, constant })
            }
            (Op::Min | Op::Max, [a, b]) => {
                let ((x, y), smallest) = ((self.sum(*a)?, self.sum(*b)?), op == Op::Min);
                let first = match () {
                    () if self.at_most(x, y, 0) => smallest,
                    () if self.at_most(y, x, 0) => !smallest,
                    () => return None,
                };
                self.stands_for(if first { *a } else { *b }, id)
            }
            (Op::Lt | Op::Le | Op::Eq | Op::Ne, [a, b]) => {
                let (a, b) = (self.sum(*a)?, self.sum(*b)?);
                let holds = match op {
                    Op::Lt if self.at_most(a, b, 1) => true,
                    Op::Lt if self.at_most(b, a, 0) => false,
                    Op::Le if self.at_most(a, b, 0) => true,
                    Op::Le if self.at_most(b, a, 1) => false,
                    Op::Eq | Op::Ne if self.at_most(a, b, 1) || self.at_most(b, a, 1) => op == Op::Ne,
                    _ => return None,
                };
                self.decide(id, holds);
                None
            }
            (Op::And | Op::Or, [a, b]) => {
                match (op, self.truth(*a), self.truth(*b)) {
                    (Op::And, Some(true), Some(true)) => self.decide(id, true),
                    (Op::And, Some(false), _) | (Op::And, _, Some(false)) => self.decide(id, false),
                    (Op::Or, Some(false), Some(false)) => self.decide(id, false),
                    (Op::Or, Some(true), _) | (Op::Or, _, Some(true)) => self.decide(id, true),
                    _ => {}
                }
                None
            }
            (Op::Not, [a]) => {
                if let Some(holds) = self.truth(*a) {
                    self.decide(id, !holds);
                }
                None
            }
            (Op::Select, [condition, a, b]) => {
                let holds = self.truth(*condition)?;
                self.stands_for(if holds { *a } else { *b }, id)
            }
            _ => None,
        }
    }

    /// Whether `a + by` is at most `b` inside of the margins, which are widened for that.
    fn at_most(&mut self, a: Sum, b: Sum, by: i64) -> bool {
        let surplus = a.constant + by - b.constant;
        match (a.base, b.base) {
            _ if a.base == b.base => surplus <= 0,
            // An element's array is not empty.
            (Base::Zero, Base::Extent(_)) => surplus <= 1,
            (Base::Zero, Base::Index(dimension)) => self.widen(dimension, surplus),
            // The largest index is one less than the extent.
            (Base::Index(dimension), Base::Extent(class)) => {
                self.classes[dimension] == class && self.widen(dimension, surplus - 1)
            }
            _ => false,
        }
    }

    fn widen(&mut self, dimension: usize, margin: i64) -> bool {
        if margin > MOST {
            return false;
        }
        self.margins[dimension] = self.margins[dimension].max(margin);
        true
    }
}

/// Whether sums of such a number and an index cannot wrap, also if the sum is one step further.
fn small(constant: i64) -> bool {
    constant.unsigned_abs() < 1 << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use pumice_scalar::{Exp, Term, function};

    /// A dimension whose extent is of this class, and the next one.
    const CLASSES: [usize; 2] = [7, 9];

    fn extent(class: usize) -> Exp<i64> {
        Exp::from_term(Term::variable(
            Variable::Extent { array: class as u64, dimension: 0 },
            ScalarType::I64,
        ))
    }

    /// The margins of a function of row and column, and whether it comes out as another one.
    #[track_caller]
    fn becomes(
        f: impl Fn(Exp<i64>, Exp<i64>) -> Exp<i64>,
        margins: [i64; 2],
        plain: impl Fn(Exp<i64>, Exp<i64>) -> Exp<i64>,
    ) {
        let of = |f: &dyn Fn(Exp<i64>, Exp<i64>) -> Exp<i64>| {
            function(&[ScalarType::I64; 2], |index| {
                vec![f(Exp::from_term(index[0]), Exp::from_term(index[1])).term()]
            })
        };
        let found = interior(&of(&f), &CLASSES).expect("an interior");
        assert_eq!(found.margins, margins);
        assert_eq!(found.function.to_string(), of(&plain).to_string());
    }

    fn clamp(at: Exp<i64>, class: usize) -> Exp<i64> {
        at.max(0).min(extent(class) - 1)
    }

    #[test]
    fn clamps_go_with_the_offset_as_margin() {
        becomes(|i, j| clamp(i - 1, 7) * 10 + clamp(j + 2, 9), [1, 2], |i, j| (i - 1) * 10 + (j + 2));
        // A stencil of a stencil.
        becomes(|_, j| clamp(clamp(j - 1, 9) - 2, 9), [0, 3], |_, j| j - 3);
    }

    #[test]
    fn conditions_are_decided() {
        let wrapped = |j: Exp<i64>| (j + extent(9)) % extent(9);
        becomes(
            |_, j| ((j - 1).ge(0) & (j - 1).lt(extent(9))).select(j - 1, wrapped(j - 1)),
            [0, 1],
            |_, j| j - 1,
        );
        becomes(|i, j| i.eq(0).select(j, i), [1, 0], |i, _| i);
        becomes(|i, j| (i + 1).ge(extent(7)).select(j, i), [1, 0], |i, _| i);
    }

    #[test]
    fn what_has_no_margin_stays() {
        let asked = |f: &dyn Fn(Exp<i64>, Exp<i64>) -> Exp<i64>| {
            let f = |index: &[Term]| vec![f(Exp::from_term(index[0]), Exp::from_term(index[1])).term()];
            interior(&function(&[ScalarType::I64; 2], f), &CLASSES).is_some()
        };
        // Bits are no truth values.
        becomes(|i, j| (i - 1).max(0) + (j & 6), [1, 0], |i, j| (i - 1) + (j & 6));
        // The extent of another dimension or array, a border that is far away, something that is no index, and nothing.
        assert!(!asked(&|i, _| (i + 1).min(extent(9) - 1)));
        assert!(!asked(&|i, _| (i + 1).min(extent(3) - 1)));
        assert!(!asked(&|i, _| i.max(1000)));
        assert!(!asked(&|i, _| (i * 2).max(1)));
        assert!(!asked(&|i, j| i + j));
    }
}
