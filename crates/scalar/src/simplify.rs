//! Simplification of one node over simplified operands: constants, identities, a canonical order of operands.
//!
//! Every rule keeps the value to the bit (floats included), except that an expression whose evaluation fails a check
//! may have any value. Nothing here looks further than a few operands down, so building stays linear.

use crate::Op;
use crate::graph::{Graph, Id, Node, Operands};
use crate::types::{Constant, ScalarType};

/// Result of simplifying a node.
pub enum Simplified {
    /// A node that is in the graph already.
    Known(Id),
    /// A node to add.
    Node(Node),
}

/// Simplifies a node.
pub fn simplify(graph: &mut Graph, node: Node) -> Simplified {
    match node {
        Node::Apply { op, ty, operands } => apply(graph, op, ty, operands.as_slice()),
        Node::Check { condition, .. } if graph.constant(condition).is_some_and(Constant::is_true) => {
            Simplified::Known(condition)
        }
        Node::Project { of, index, ty } => project(graph, of, index, ty),
        node => Simplified::Node(node),
    }
}

/// A value of a branch whose condition is known, or whose sides agree, needs no branch.
fn project(graph: &mut Graph, of: Id, index: u32, ty: ScalarType) -> Simplified {
    if let Node::Branch { condition, then, otherwise } = graph.node(of) {
        let (then, otherwise) = (then[index as usize], otherwise[index as usize]);
        match graph.constant(*condition) {
            Some(condition) => return Simplified::Known(if condition.is_true() { then } else { otherwise }),
            None if then == otherwise => return Simplified::Known(then),
            None => {}
        }
    }
    Simplified::Node(Node::Project { of, index, ty })
}

fn apply(graph: &mut Graph, op: Op, ty: ScalarType, operands: &[Id]) -> Simplified {
    let constants: Vec<Option<Constant>> = operands.iter().map(|&id| graph.constant(id)).collect();
    if let Some(all) = constants.iter().copied().collect::<Option<Vec<_>>>() {
        return Simplified::Node(Node::Constant(op.evaluate(ty, &all)));
    }
    let mut ids = [Id(0); 3];
    ids[..operands.len()].copy_from_slice(operands);
    let mut right = constants.get(1).copied().flatten();
    // Constants last, otherwise the older node first: then `a + b` and `b + a` are one node.
    if op.commutes() && (constants[0].is_some() || (right.is_none() && ids[1] < ids[0])) {
        ids.swap(0, 1);
        right = constants[0].or(right);
    }
    let operands = &ids[..operands.len()];
    let rewritten = match operands {
        [a] => unary(graph, op, ty, *a),
        [a, b] => match right {
            Some(constant) => with_constant(graph, op, ty, *a, constant),
            None => binary(graph, op, ty, *a, *b),
        },
        [c, a, b] => select(graph, op, ty, *c, *a, *b),
        _ => None,
    };
    rewritten.unwrap_or(Simplified::Node(Node::Apply { op, ty, operands: Operands::new(operands) }))
}

fn unary(graph: &Graph, op: Op, ty: ScalarType, a: Id) -> Option<Simplified> {
    let known = |id| Some(Simplified::Known(id));
    if let (Op::Cast | Op::Bitcast, Some(from)) = (op, graph.node(a).ty())
        && from == ty
    {
        return known(a);
    }
    let Node::Apply { op: inner, operands, .. } = graph.node(a) else { return None };
    let x = operands.as_slice()[0];
    match (op, inner) {
        (Op::Not, Op::Not) | (Op::Neg, Op::Neg) => known(x),
        (Op::Abs, Op::Neg | Op::Abs) => Some(rewrite(Op::Abs, ty, &[x])),
        // Widening and back again.
        (Op::Cast, Op::Cast) => {
            let (from, between) = (graph.node(x).ty()?, graph.node(a).ty()?);
            // A number of bits fits every integer type.
            if is_count(graph, x) && between.is_integer() && ty.is_integer() {
                return if from == ty { known(x) } else { Some(rewrite(Op::Cast, ty, &[x])) };
            }
            let widens =
                from.is_integer() && between.is_integer() && from.bytes() < between.bytes() && from == ty;
            if widens { known(x) } else { None }
        }
        _ => None,
    }
}

/// Whether a node counts bits.
fn is_count(graph: &Graph, id: Id) -> bool {
    matches!(graph.node(id), Node::Apply { op: Op::CountOnes | Op::LeadingZeros | Op::TrailingZeros, .. })
}

fn with_constant(graph: &mut Graph, op: Op, ty: ScalarType, a: Id, constant: Constant) -> Option<Simplified> {
    let known = Some(Simplified::Known(a));
    if let Some(value) = constant.as_float() {
        return match op {
            Op::Mul | Op::Div if value == 1.0 => known,
            // -0.0 is the neutral element of float addition; 0.0 would turn -0.0 into 0.0.
            Op::Add if value == 0.0 && value.is_sign_negative() => known,
            Op::Sub if value == 0.0 && value.is_sign_positive() => known,
            _ => None,
        };
    }
    let value = constant.as_integer()?;
    let operand_type = constant.ty();
    let all_ones = Constant::from_integer(operand_type, -1) == constant;
    let whole = |value: i128| Some(Simplified::Node(Node::Constant(Constant::from_integer(ty, value))));
    match (op, value) {
        (Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::Shr, 0) => return known,
        (Op::Mul | Op::Div, 1) => return known,
        (Op::Mul | Op::And, 0) => return whole(0),
        (Op::Rem, 1) => return whole(0),
        (Op::And, _) if all_ones => return known,
        (Op::Or, _) if all_ones => return Some(Simplified::Node(Node::Constant(constant))),
        (Op::Eq, 1) if operand_type == ScalarType::Bool => return known,
        (Op::Eq, 0) if operand_type == ScalarType::Bool => return Some(rewrite(Op::Not, ty, &[a])),
        // Subtracting a constant is adding another: then constants gather.
        (Op::Sub, _) => {
            let negative = graph.intern(Node::Constant(Constant::from_integer(ty, value.wrapping_neg())));
            return Some(again(graph, Op::Add, ty, &[a, negative]));
        }
        _ => {}
    }
    // (x + c) + d = x + (c + d), and so for multiplication, the bit operations, and the smaller and larger of two.
    if matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max)
        && let Node::Apply { op: inner, operands, .. } = graph.node(a)
        && *inner == op
        && let [x, c] = *operands.as_slice()
        && let Some(c) = graph.constant(c)
    {
        let both = graph.intern(Node::Constant(op.evaluate(ty, &[c, constant])));
        return Some(again(graph, op, ty, &[x, both]));
    }
    None
}

fn binary(graph: &mut Graph, op: Op, ty: ScalarType, a: Id, b: Id) -> Option<Simplified> {
    let truth = |value: bool| Some(Simplified::Node(Node::Constant(value.into())));
    let operand_type = graph.node(a).ty()?;
    if a == b {
        let float = operand_type.is_float();
        return match op {
            Op::Min | Op::Max | Op::And | Op::Or => Some(Simplified::Known(a)),
            Op::Sub | Op::Xor if !float => Some(Simplified::Node(Node::Constant(Constant::zero(ty)))),
            Op::Eq | Op::Le if !float => truth(true),
            Op::Ne | Op::Lt if !float => truth(false),
            _ => None,
        };
    }
    // (x + y) - x = y: the length of a stretch from a start to an end so much further.
    if op == Op::Sub
        && ty.is_integer()
        && let Some((x, y)) = parts(graph, Op::Add, a)
        && (x == b || y == b)
    {
        return Some(Simplified::Known(if x == b { y } else { x }));
    }
    if op == Op::Add && ty.is_integer() {
        // (x / c) * c + x % c = x: the result of flattening an index that was unflattened.
        let quotient_part = |graph: &Graph, product: Id, remainder: Id| {
            let (quotient, divisor) = parts(graph, Op::Mul, product)?;
            let (dividend, modulus) = parts(graph, Op::Rem, remainder)?;
            let matches = |quotient: Id, divisor: Id| {
                divisor == modulus && parts(graph, Op::Div, quotient) == Some((dividend, modulus))
            };
            (matches(quotient, divisor) || matches(divisor, quotient)).then_some(Simplified::Known(dividend))
        };
        if let Some(found) = quotient_part(graph, a, b).or_else(|| quotient_part(graph, b, a)) {
            return Some(found);
        }
        // Constants go outwards, so that neighbouring elements' indices differ by a constant only: (x + c) + y.
        for (sum, other) in [(a, b), (b, a)] {
            if let Some((x, c)) = parts(graph, Op::Add, sum)
                && graph.constant(c).is_some()
            {
                let inner = graph.apply(Op::Add, ty, &[x, other]);
                return Some(again(graph, Op::Add, ty, &[inner, c]));
            }
        }
    }
    None
}

fn select(graph: &mut Graph, op: Op, ty: ScalarType, c: Id, a: Id, b: Id) -> Option<Simplified> {
    if op != Op::Select {
        return None;
    }
    match graph.constant(c) {
        Some(condition) => return Some(Simplified::Known(if condition.is_true() { a } else { b })),
        // A check must be evaluated even if its outcome does not matter to the value.
        None if a == b && !matches!(graph.node(c), Node::Check { .. }) => return Some(Simplified::Known(a)),
        None => {}
    }
    if let Node::Apply { op: Op::Not, operands, .. } = graph.node(c) {
        let positive = operands.as_slice()[0];
        return Some(again(graph, Op::Select, ty, &[positive, b, a]));
    }
    // Two truth values that differ are the condition, or its opposite.
    if let (ScalarType::Bool, Some(first), Some(_)) = (ty, graph.constant(a), graph.constant(b))
        && a != b
    {
        let is_same = first.is_true();
        return Some(if is_same { Simplified::Known(c) } else { again(graph, Op::Not, ty, &[c]) });
    }
    // A choice by the same condition is decided already.
    let (first, second) = (
        chosen(graph, c, a).map_or(a, |(first, _)| first),
        chosen(graph, c, b).map_or(b, |(_, second)| second),
    );
    ((first, second) != (a, b)).then(|| again(graph, Op::Select, ty, &[c, first, second]))
}

/// The values that a node chooses from, if it does so by this condition.
fn chosen(graph: &Graph, condition: Id, id: Id) -> Option<(Id, Id)> {
    match graph.node(id) {
        Node::Apply { op: Op::Select, operands, .. } => match operands.as_slice() {
            [by, first, second] if *by == condition => Some((*first, *second)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the value of a node where a condition holds, if that condition decides it. The value may be one that must not be evaluated elsewhere.
pub fn given(graph: &Graph, condition: Id, id: Id) -> Option<Id> {
    if let Node::Project { of, index, .. } = graph.node(id)
        && let Node::Branch { condition: by, then, .. } = graph.node(*of)
        && *by == condition
    {
        return then.get(*index as usize).copied();
    }
    chosen(graph, condition, id).map(|(first, _)| first)
}

/// Returns the operands of a node that is this binary operation.
fn parts(graph: &Graph, op: Op, id: Id) -> Option<(Id, Id)> {
    match graph.node(id) {
        Node::Apply { op: found, operands, .. } if *found == op => match operands.as_slice() {
            [a, b] => Some((*a, *b)),
            _ => None,
        },
        _ => None,
    }
}

fn rewrite(op: Op, ty: ScalarType, operands: &[Id]) -> Simplified {
    Simplified::Node(Node::Apply { op, ty, operands: Operands::new(operands) })
}

/// The rewritten operation may simplify further.
fn again(graph: &mut Graph, op: Op, ty: ScalarType, operands: &[Id]) -> Simplified {
    Simplified::Known(graph.apply(op, ty, operands))
}
