//! Functions that are called with plain values or with expressions: the support code of `#[embed]` functions beyond the scalar language.
//!
//! [`Argument`] and [`Kind`] are the types in their signatures; the rest is called by code that the macro writes.

use crate::Op;
use crate::arena::{self, Term, inspect};
use crate::composed::zero;
use crate::control::cond;
use crate::elt::{Elt, Lift, Primitive};
use crate::exp::{Exp, constant};
use crate::graph::{Graph, Id, Node};
use crate::number::Integer;
pub use crate::plain::PlainOrdered;
use std::cell::Cell;
use std::collections::HashSet;

/// Whether something is a plain value or an expression.
///
/// The kind of a call's result is joined from those of its arguments: an expression if any of them is one.
///
/// ```
/// use pumice::embedding::{Argument, Kind};
/// use pumice::prelude::*;
///
/// #[embed]
/// fn halved(x: f32) -> f32 {
///     x / 2.0
/// }
///
/// /// A function by hand that hands on what it is given.
/// fn quartered<K: Kind>(x: impl Argument<f32, K>) -> K::Of<f32> {
///     halved(halved(x))
/// }
///
/// assert_eq!(quartered(6.0), 1.5);
/// assert_eq!(pumice::run(use_(&[6f32]).map(quartered))?.to_vec()?, [1.5]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub trait Kind: Sized {
    /// The form of a value of type `T`.
    type Of<T: Elt>: Argument<T, Self>;
    /// The kind of a value that is computed from both: plain only if both are.
    type Join<K: Kind>: Kind;

    /// Evaluates the function of this name for arguments of this kind; `plain` has a value wherever all arguments have one.
    #[doc(hidden)]
    fn call<T: Elt>(
        name: &str,
        plain: impl FnOnce() -> Option<T>,
        lifted: impl FnOnce() -> T::Exp,
    ) -> Self::Of<T>;
}

/// The [`Kind`] of plain values.
#[derive(Clone, Copy, Debug)]
pub enum Plain {}

/// The [`Kind`] of expressions.
#[derive(Clone, Copy, Debug)]
pub enum Lifted {}

impl Kind for Plain {
    type Of<T: Elt> = T;
    type Join<K: Kind> = K;

    fn call<T: Elt>(_: &str, plain: impl FnOnce() -> Option<T>, _: impl FnOnce() -> T::Exp) -> T {
        match plain() {
            Some(value) => value,
            // A call is of this kind only if each argument is, and `Argument<T, Plain>` is implemented for `T` alone.
            None => unreachable!("a plain argument has no value"),
        }
    }
}

impl Kind for Lifted {
    type Of<T: Elt> = T::Exp;
    type Join<K: Kind> = Lifted;

    fn call<T: Elt>(name: &str, _: impl FnOnce() -> Option<T>, lifted: impl FnOnce() -> T::Exp) -> T::Exp {
        match enter() {
            Some(_call) => lifted(),
            None => endless(name),
        }
    }
}

/// An argument of an `#[embed]` function's parameter of type `T`: a plain value, or an expression.
///
/// The kind is a parameter, so that both implementations hold for every element type. See [`Kind`] for an example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a value nor an expression of type `{T}`",
    label = "expected a `{T}` or an expression of it",
    note = "the parts of a tuple are either all plain values or all expressions: `constant(1.0)` makes an expression"
)]
pub trait Argument<T: Elt, K: Kind>: Copy {
    /// Returns the plain value, if it is one.
    #[doc(hidden)]
    fn plain(self) -> Option<T>;
    /// Returns the expression, of a plain value a constant one.
    #[doc(hidden)]
    fn lifted(self) -> T::Exp;
}

impl<T: Elt> Argument<T, Plain> for T {
    fn plain(self) -> Option<T> {
        Some(self)
    }
    fn lifted(self) -> T::Exp {
        constant(self)
    }
}

impl<L: Lift> Argument<L::Elt, Lifted> for L {
    fn plain(self) -> Option<L::Elt> {
        None
    }
    fn lifted(self) -> L {
        self
    }
}

/// The kind of a value that is computed from values of these kinds.
macro_rules! joined {
    ($kind:ident) => { $kind };
    ($kind:ident $($others:ident)+) => { <$kind as Kind>::Join<joined!($($others)+)> };
}

/// Functions rather than closures in the user's crate, which rustc would check one by one. They take pointers to functions, so that embedded
/// functions with the same types share the code.
macro_rules! calls {
    ($($call:ident: $($kind:ident $element:ident $form:ident $argument:ident)+;)*) => { $(
        /// Calls an embedded function of as many parameters as the name says, for plain values or for expressions.
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments)]
        pub fn $call<R: Elt, $($kind: Kind, $element: Elt, $form: Argument<$element, $kind>),+>(
            name: &str,
            plain: fn($($element),+) -> R,
            lifted: fn($($element::Exp),+) -> R::Exp,
            $($argument: $form),+
        ) -> <joined!($($kind)+) as Kind>::Of<R> {
            <joined!($($kind)+) as Kind>::call(
                name,
                || Some(plain($($argument.plain()?),+)),
                || lifted($($argument.lifted()),+),
            )
        }
    )* };
}
calls! {
    call_1: K0 A0 F0 a0;
    call_2: K0 A0 F0 a0 K1 A1 F1 a1;
    call_3: K0 A0 F0 a0 K1 A1 F1 a1 K2 A2 F2 a2;
    call_4: K0 A0 F0 a0 K1 A1 F1 a1 K2 A2 F2 a2 K3 A3 F3 a3;
    call_5: K0 A0 F0 a0 K1 A1 F1 a1 K2 A2 F2 a2 K3 A3 F3 a3 K4 A4 F4 a4;
    call_6: K0 A0 F0 a0 K1 A1 F1 a1 K2 A2 F2 a2 K3 A3 F3 a3 K4 A4 F4 a4 K5 A5 F5 a5;
}

/// Functions that call each other without end are noticed at this depth.
const DEEPEST_CALL: u32 = 100;

thread_local! {
    /// Number of embedded functions that are being evaluated on expressions, and whether they were found to be endless.
    static CALLS: Cell<(u32, bool)> = const { Cell::new((0, false)) };
}

/// A call of an embedded function on expressions, which ends when this is dropped.
#[doc(hidden)]
#[derive(Debug)]
pub struct Call(());

impl Drop for Call {
    fn drop(&mut self) {
        let (depth, endless) = CALLS.get();
        CALLS.set((depth - 1, endless && depth > 1));
    }
}

/// Begins a call of an embedded function on expressions, unless functions call each other without end.
#[doc(hidden)]
pub fn enter() -> Option<Call> {
    let (depth, endless) = CALLS.get();
    if endless || depth == DEEPEST_CALL {
        // All calls up to the first one end here, or those of a function that calls itself twice would go on for ever.
        CALLS.set((depth, true));
        return None;
    }
    CALLS.set((depth + 1, false));
    Some(Call(()))
}

/// Returns the result of a function that calls itself: a mistake that is reported when the program is compiled.
#[doc(hidden)]
pub fn endless<L: Lift>(name: &str) -> L {
    let message =
        format!("`{name}` is called inside itself: an embedded function cannot be recursive, write a loop");
    L::from_terms(&mut L::Elt::types().into_iter().map(|ty| Term::invalid(ty, &*message)))
}

/// Returns a literal as an expression.
#[doc(hidden)]
pub fn literal<T: Primitive>(value: T) -> Exp<T> {
    Exp::from(value)
}

/// Returns the value whose scalars are zero: for variables that have none yet.
#[doc(hidden)]
pub fn unset<L: Lift>() -> L {
    zero()
}

/// Looking at more nodes than this would take long in large functions.
const FURTHEST: usize = 256;

/// Returns `true` if values may be computed wherever a condition is, needed or not. Apart from values that the condition needs itself,
/// nothing in them can fail or read memory, and the nodes added for them since the graph had `mark` nodes cost little.
fn is_simple(condition: Term, values: &[Term], mark: usize) -> bool {
    /// More than this is worth a branch.
    const DEAREST: u32 = 16;
    let (condition, mut open) = (condition.id(), values.iter().map(|value| value.id()).collect::<Vec<Id>>());
    inspect(|graph| {
        let computed = needed(graph, condition);
        let (mut seen, mut cost) = (HashSet::new(), 0);
        while let Some(id) = open.pop() {
            if computed.contains(&id) || !seen.insert(id) {
                continue;
            }
            let (node, is_new) = (graph.node(id), id.0 as usize >= mark);
            match node {
                Node::Apply { op, ty, .. } if is_new => cost += op.cost(*ty),
                Node::Constant(_) | Node::Variable(..) | Node::LoopVariable { .. } => {}
                // A loop is never the same as another one, so one from before is computed before.
                Node::Loop { .. } if !is_new => continue,
                Node::Apply { .. } | Node::Project { .. } => {}
                Node::Branch { .. } if !is_new => {}
                _ => return false,
            }
            if cost > DEAREST || seen.len() > FURTHEST {
                return false;
            }
            node.for_each_operand(|operand| open.push(operand));
        }
        true
    })
}

/// Returns the nodes that are always computed with a condition: all that it needs, except sides of branches and rounds of loops.
fn needed(graph: &Graph, condition: Id) -> HashSet<Id> {
    let (mut needed, mut open) = (HashSet::new(), vec![condition]);
    while let Some(id) = open.pop() {
        if needed.len() == FURTHEST || !needed.insert(id) {
            continue;
        }
        match graph.node(id) {
            Node::Branch { condition, .. } => open.push(*condition),
            Node::Loop { initial, .. } => open.extend(initial.iter()),
            node => node.for_each_operand(|operand| open.push(operand)),
        }
    }
    needed
}

/// Returns the number of nodes of the graph. Nodes that are added later, for an expression that need not be evaluated, have larger numbers.
#[doc(hidden)]
pub fn mark() -> usize {
    inspect(|graph| graph.nodes().len())
}

// Sides of branches and rounds of loops are values rather than closures: closures would be compiled one by one, and take most of the time
// that a program with many embedded functions takes to compile.

/// Returns one of two values. Only that one is computed, unless computing both makes no difference.
#[doc(hidden)]
pub fn branch<L: Lift>(condition: Exp<bool>, mark: usize, then: L, otherwise: L) -> L {
    let (then, otherwise) = (then.terms(), otherwise.terms());
    L::from_terms(&mut chosen(condition.term(), mark, &then, &otherwise).into_iter())
}

fn chosen(condition: Term, mark: usize, then: &[Term], otherwise: &[Term]) -> Vec<Term> {
    let values: Vec<Term> = then.iter().chain(otherwise).copied().collect();
    if !is_simple(condition, &values, mark) {
        return arena::branch(condition, then, otherwise);
    }
    let select = |(a, b): (&Term, &Term)| Term::apply(Op::Select, a.ty(), &[condition, *a, *b]);
    then.iter().zip(otherwise).map(select).collect()
}

/// Returns `a && b`, where `b` is evaluated only if `a` holds, unless that makes no difference.
#[doc(hidden)]
pub fn and(a: Exp<bool>, mark: usize, b: Exp<bool>) -> Exp<bool> {
    match is_simple(a.term(), &[b.term()], mark) {
        true => a & b,
        false => cond(a, || b, || literal(false)),
    }
}

/// Returns `a || b`, where `b` is evaluated only if `a` does not hold, unless that makes no difference.
#[doc(hidden)]
pub fn or(a: Exp<bool>, mark: usize, b: Exp<bool>) -> Exp<bool> {
    match is_simple(a.term(), &[b.term()], mark) {
        true => a | b,
        false => cond(a, || literal(true), || b),
    }
}

/// A loop that is being written.
#[doc(hidden)]
#[derive(Debug)]
pub struct Repetition<L> {
    number: u32,
    initial: L,
}

/// Begins a loop: returns it, and the variables in it.
#[doc(hidden)]
pub fn repeat<L: Lift>(initial: L) -> (Repetition<L>, L) {
    let (number, variables) = arena::open_loop(&initial.terms());
    (Repetition { number, initial }, L::from_terms(&mut variables.into_iter()))
}

impl<L: Lift> Repetition<L> {
    /// Ends the loop, given its condition and the next values of its variables: returns their last values.
    #[doc(hidden)]
    pub fn end(self, condition: Exp<bool>, next: L) -> L {
        let values = arena::close_loop(self.number, &self.initial.terms(), condition.term(), &next.terms());
        L::from_terms(&mut values.into_iter())
    }
}

/// Returns `a == b` for elements of any type: those of a variant's scalars that it has not are zero.
#[doc(hidden)]
pub fn equal<L: Lift>(a: L, b: L) -> Exp<bool> {
    let pairs = a.terms().into_iter().zip(b.terms());
    let equal = pairs.map(|(a, b)| Exp::<bool>::from_term(a.compare(Op::Eq, b)));
    equal.reduce(|all, next| all & next).unwrap_or_else(|| literal(true))
}

/// Returns `a != b` for elements of any type.
#[doc(hidden)]
pub fn differ<L: Lift>(a: L, b: L) -> Exp<bool> {
    let pairs = a.terms().into_iter().zip(b.terms());
    let differ = pairs.map(|(a, b)| Exp::<bool>::from_term(a.compare(Op::Ne, b)));
    differ.reduce(|any, next| any | next).unwrap_or_else(|| literal(false))
}

/// Returns `a << b` for a distance of any integer type.
#[doc(hidden)]
pub fn shift_left<T: Integer, D: Integer>(a: Exp<T>, b: Exp<D>) -> Exp<T> {
    a << b.cast::<T>()
}

/// Returns `a >> b` for a distance of any integer type.
#[doc(hidden)]
pub fn shift_right<T: Integer, D: Integer>(a: Exp<T>, b: Exp<D>) -> Exp<T> {
    a >> b.cast::<T>()
}

/// Returns `T::from(value)`: a conversion that loses nothing.
#[doc(hidden)]
pub fn convert<T: Primitive + From<S>, S: Primitive>(value: Exp<S>) -> Exp<T> {
    value.cast()
}
