//! Numbers: literals, operators, comparisons of all values that can be compared, and choices between values.

use super::builtins::Call;
use super::layout::{columns, from_terms, zero};
use super::value::{Array, Local, Scalar, Sum, Value};
use super::{Evaluator, Mode, Outcome};
use crate::ast::Operator;
use crate::source::Span;
use crate::types::Type;
use pumice_kernel as kernel;
use pumice_scalar::{Constant, FailureKind, Op, ScalarType, Site, Term, branch};
use std::rc::Rc;

/// Returns a whole number as an index.
pub(super) fn whole(value: i64) -> Term {
    Term::from(Constant::from(value))
}

impl Evaluator {
    /// Applies an operation to numbers of a type.
    pub(super) fn operate(&self, op: Op, ty: ScalarType, operands: &[Scalar]) -> Value {
        let terms: Vec<Term> = operands.iter().map(|operand| operand.term).collect();
        Value::scalar(Term::apply(op, ty, &terms), operands.iter().all(|operand| operand.outside))
    }

    /// Returns a number, or an error if the value is not one.
    pub(super) fn scalar(&self, value: &Value, span: Span) -> Outcome<Scalar> {
        match value {
            Value::Scalar(scalar) => Ok(*scalar),
            _ => Err(self.wrong(span, "a number is wanted here")),
        }
    }

    /// Applies a binary operator to both operands.
    pub(super) fn binary(
        self: &Rc<Self>,
        operator: Operator,
        left: &Value,
        right: &Value,
        span: Span,
    ) -> Outcome<Value> {
        use Operator::*;
        let arithmetic = |op: Op| -> Outcome<Value> {
            let (a, b) = (self.scalar(left, span)?, self.scalar(right, span)?);
            Ok(self.operate(op, a.term.ty(), &[a, b]))
        };
        match operator {
            Add => arithmetic(Op::Add),
            Subtract => arithmetic(Op::Sub),
            Multiply => arithmetic(Op::Mul),
            Divide | Div => self.divided(Op::Div, left, right, span),
            Remainder | Mod => self.divided(Op::Rem, left, right, span),
            BitOr | Or => arithmetic(Op::Or),
            BitXor => arithmetic(Op::Xor),
            BitAnd | And => arithmetic(Op::And),
            ShiftLeft => arithmetic(Op::Shl),
            ShiftRight => arithmetic(Op::Shr),
            Equal => self.equal(left, right, span),
            NotEqual => self.equal(left, right, span).and_then(|same| self.not(&same, span)),
            Less => self.less(left, right, false, span),
            LessEqual => self.less(left, right, true, span),
            Greater => self.less(right, left, false, span),
            GreaterEqual => self.less(right, left, true, span),
            Pipe => self.apply(right, left.clone(), span),
            Compose => {
                Ok(Value::Function(Rc::new(super::value::Function::Composed(left.clone(), right.clone()))))
            }
        }
    }

    pub(super) fn not(&self, value: &Value, span: Span) -> Outcome<Value> {
        let value = self.scalar(value, span)?;
        Ok(self.operate(Op::Not, ScalarType::Bool, &[value]))
    }

    /// Divides. Division of integers is checked, unless the divisor is a constant other than zero.
    fn divided(&self, op: Op, left: &Value, right: &Value, span: Span) -> Outcome<Value> {
        let (a, b) = (self.scalar(left, span)?, self.scalar(right, span)?);
        let ty = a.term.ty();
        let quotient = a.term.binary(op, b.term);
        let zero = Term::from(Constant::zero(ty));
        let outside = a.outside && b.outside;
        if ty.is_float() || b.term.constant().is_some_and(|divisor| divisor != Constant::zero(ty)) {
            return Ok(Value::scalar(quotient, outside));
        }
        let name = if op == Op::Div { "division" } else { "remainder" };
        let site = Site { place: self.place(name, span), kind: FailureKind::DivisionByZero };
        let safe = b.term.compare(Op::Ne, zero).check(site, whole(0), whole(0));
        Ok(Value::scalar(Term::apply(Op::Select, ty, &[safe, quotient, zero]), outside))
    }

    fn pairs(&self, left: &Value, right: &Value, span: Span) -> Outcome<Vec<(Scalar, Scalar)>> {
        match (left, right) {
            (Value::Scalar(a), Value::Scalar(b)) => Ok(vec![(*a, *b)]),
            (Value::Tuple(a), Value::Tuple(b)) => {
                let parts = a.iter().zip(b.iter()).map(|(a, b)| self.pairs(a, b, span));
                Ok(parts.collect::<Outcome<Vec<_>>>()?.concat())
            }
            (Value::Record(a), Value::Record(b)) => {
                let parts = a.iter().zip(b.iter()).map(|((_, a), (_, b))| self.pairs(a, b, span));
                Ok(parts.collect::<Outcome<Vec<_>>>()?.concat())
            }
            _ => Err(self.wrong(span, "these cannot be compared")),
        }
    }

    fn equal(&self, left: &Value, right: &Value, span: Span) -> Outcome<Value> {
        if let (Value::Sum(a), Value::Sum(b)) = (left, right) {
            return self.equal_sums(a, b, span);
        }
        let pairs = self.pairs(left, right, span)?;
        let outside = pairs.iter().all(|(a, b)| a.outside && b.outside);
        let same = pairs.iter().map(|(a, b)| a.term.compare(Op::Eq, b.term));
        let same =
            same.reduce(|all, one| all.binary(Op::And, one)).unwrap_or_else(|| Constant::from(true).into());
        Ok(Value::scalar(same, outside))
    }

    /// Compares two values of a sum: they are equal if they are of one constructor and its fields are equal.
    fn equal_sums(&self, a: &Sum, b: &Sum, span: Span) -> Outcome<Value> {
        let mut same = a.tag.term.compare(Op::Eq, b.tag.term);
        let mut outside = a.tag.outside && b.tag.outside;
        for (number, (a_fields, b_fields)) in a.fields.iter().zip(&b.fields).enumerate() {
            let other = a.tag.term.compare(Op::Ne, Constant::from(number as i32).into());
            for (a, b) in a_fields.iter().zip(b_fields) {
                let fields = self.scalar(&self.equal(a, b, span)?, span)?;
                outside &= fields.outside;
                same = same.binary(Op::And, other.binary(Op::Or, fields.term));
            }
        }
        Ok(Value::scalar(same, outside))
    }

    /// Whether one comes before the other in the order of tuples.
    fn less(&self, left: &Value, right: &Value, or_equal: bool, span: Span) -> Outcome<Value> {
        let pairs = self.pairs(left, right, span)?;
        let outside = pairs.iter().all(|(a, b)| a.outside && b.outside);
        let last = pairs.len().saturating_sub(1);
        let mut less = Term::from(Constant::from(or_equal));
        for (number, (a, b)) in pairs.iter().enumerate().rev() {
            let op = if number == last && or_equal { Op::Le } else { Op::Lt };
            // Truth values are compared as numbers.
            let number_of =
                |term: Term| if term.ty() == ScalarType::Bool { term.cast(ScalarType::I32) } else { term };
            let (a, b) = (number_of(a.term), number_of(b.term));
            let here = a.compare(op, b);
            less = match number == last {
                true => here,
                false => here.binary(Op::Or, a.compare(Op::Eq, b).binary(Op::And, less)),
            };
        }
        Ok(Value::scalar(less, outside))
    }

    /// Chooses one of two values of a type; only that one is computed.
    pub(super) fn choose(
        self: &Rc<Self>,
        condition: Scalar,
        ty: &Type,
        yes: &dyn Fn() -> Outcome<Value>,
        no: &dyn Fn() -> Outcome<Value>,
        span: Span,
    ) -> Outcome<Value> {
        if let Some(known) = condition.term.constant() {
            return if known == Constant::from(true) { yes() } else { no() };
        }
        if self.mode.get() == Mode::Host
            && let Some(chosen) = self.choose_arrays(condition, ty, yes, no, span)?
        {
            return Ok(chosen);
        }
        if self.mode.get() == Mode::Kernel && columns(ty, self.sums()).is_some() {
            return self.choose_in_kernel(condition.term, ty, yes, no, span);
        }
        let (yes, no) = (self.sometimes(yes)?, self.sometimes(no)?);
        if let (Some(then), Some(otherwise)) = (yes.terms(), no.terms()) {
            let chosen = branch(condition.term, &then, &otherwise);
            let outside = condition.outside && self.is_outside(&yes) && self.is_outside(&no);
            return from_terms(ty, self.sums(), outside, &mut chosen.into_iter())
                .ok_or_else(|| self.wrong(span, "the two sides differ"));
        }
        match (&yes, &no) {
            (Value::Array(a), Value::Array(b)) => self.choose_pulls(condition, a, b, span),
            (Value::Tuple(a), Value::Tuple(b)) => {
                let Type::Tuple(types) = ty else { return Err(self.wrong(span, "the two sides differ")) };
                let parts = a.iter().zip(b.iter()).zip(types).map(|((a, b), ty)| {
                    self.choose(condition, ty, &|| Ok(a.clone()), &|| Ok(b.clone()), span)
                });
                Ok(Value::Tuple(parts.collect::<Outcome<_>>()?))
            }
            _ => {
                let message = "which of two such values it is would be known only while the program runs";
                let help = "choose between numbers or pull arrays, or by something that is known when the program is built";
                Err(Box::new(crate::diagnostic::Diagnostic::new(span, message).help(help)))
            }
        }
    }

    /// Chooses one of two values in a kernel: effects on memory of a side happen only if it is chosen.
    fn choose_in_kernel(
        self: &Rc<Self>,
        condition: Term,
        ty: &Type,
        yes: &dyn Fn() -> Outcome<Value>,
        no: &dyn Fn() -> Outcome<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let side = |side: &dyn Fn() -> Outcome<Value>| {
            let terms = side().and_then(|value| self.stored(&value, span));
            self.keep(terms, || self.zero(ty).terms().unwrap_or_default())
        };
        let is_program = columns(ty, self.sums()).is_some_and(|columns| columns.is_empty());
        let chosen = if is_program {
            kernel::either(condition, || drop(side(yes)), || drop(side(no)));
            Vec::new()
        } else {
            kernel::choose(condition, || side(yes), |_| side(no))
        };
        let chosen = self.kept(chosen)?;
        from_terms(ty, self.sums(), false, &mut chosen.into_iter())
            .ok_or_else(|| self.wrong(span, "the two sides differ"))
    }

    /// `select`: one of two values, both of which are computed.
    pub(super) fn select(&self, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [condition, yes, no] = &call.arguments[..] else {
            return Err(self.wrong(span, "a condition is wanted here"));
        };
        let condition = self.scalar(condition, span)?;
        if let Some(known) = condition.term.constant() {
            return Ok(if known == Constant::from(true) { yes.clone() } else { no.clone() });
        }
        let outside = condition.outside && self.is_outside(yes) && self.is_outside(no);
        let (yes, no) = (self.stored(yes, span)?, self.stored(no, span)?);
        let pairs = yes.into_iter().zip(no);
        let terms = pairs.map(|(yes, no)| Term::apply(Op::Select, yes.ty(), &[condition.term, yes, no]));
        let ty = self.element_type(call)?.0;
        from_terms(&ty, self.sums(), outside, &mut terms.collect::<Vec<_>>().into_iter())
            .ok_or_else(|| self.wrong(span, "a value of no type"))
    }

    /// Chooses one of two pulls, as a pull.
    fn choose_pulls(self: &Rc<Self>, condition: Scalar, a: &Array, b: &Array, span: Span) -> Outcome<Value> {
        let (first, second) = (self.extents(a, span)?, self.extents(b, span)?);
        let extents: Vec<Term> = first
            .iter()
            .zip(&second)
            .map(|(a, b)| Term::apply(Op::Select, ScalarType::I64, &[condition.term, a.term, b.term]))
            .collect();
        let (this, a, b) = (self.clone(), a.clone(), b.clone());
        let element = a.element().clone();
        let get = {
            let element = element.clone();
            Rc::new(move |index: &[Term]| {
                let yes = || this.get(&a, index, None, span);
                let no = || this.get(&b, index, None, span);
                this.choose(condition, &element, &yes, &no, span)
            })
        };
        self.pull(Local { element, extents, get, most: None }, span)
    }

    /// Returns a literal of a type.
    pub(super) fn literal(&self, ty: &Type, value: Constant, span: Span) -> Outcome<Value> {
        match ty {
            Type::Scalar(scalar) => Ok(Value::scalar(Term::from(value).cast(*scalar), true)),
            _ => Err(self.wrong(span, format!("a number where `{ty}` is wanted"))),
        }
    }

    /// Returns a value whose scalars are zero, or `()` if the type cannot be stored.
    pub(super) fn zero(&self, ty: &Type) -> Value {
        zero(ty, self.sums()).unwrap_or_else(|| Value::Tuple(Rc::from([])))
    }
}
