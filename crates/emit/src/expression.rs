//! Operations as C expressions: precedence, literals, and arithmetic without undefined behaviour.
//!
//! No operand's text is written twice, so an expression can be put in place of a value that is used once.

use pumice_program::{Operand, Var};
use pumice_scalar::{Constant, Op, ScalarType};

use crate::dialect::Function;
use crate::helpers::Helper;
use crate::writer::Writer;

/// Integers up to here are doubles too.
const EXACT_IN_DOUBLES: i128 = 1 << 53;

/// Precedence of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    Conditional,
    Or,
    Xor,
    And,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Atom,
}

/// A piece of text that computes a value.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    /// The text.
    pub(crate) text: String,
    /// Precedence.
    pub(crate) binding: Binding,
    /// Number of operations.
    pub(crate) size: u32,
    /// The variables that it reads.
    pub(crate) reads: Vec<Var>,
}

impl Expression {
    /// Creates an expression that needs no parentheses.
    pub(crate) fn atom(text: impl Into<String>) -> Expression {
        Expression { text: text.into(), binding: Binding::Atom, size: 0, reads: vec![] }
    }

    /// The text, in parentheses unless it binds at least so tightly.
    pub(crate) fn within(&self, binding: Binding) -> String {
        if self.binding >= binding { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// A constant as the dialects write it. With `typed`, the literal alone has the constant's type; otherwise it may
/// rely on what it is combined with.
pub(crate) fn literal(constant: Constant, typed: bool) -> String {
    let Some(value) = constant.as_integer() else {
        return float_literal(constant);
    };
    match constant.ty() {
        ScalarType::Bool => if constant.is_true() { "1" } else { "0" }.to_owned(),
        ScalarType::I32 if value == i32::MIN.into() => "(-2147483647 - 1)".to_owned(),
        ScalarType::I64 if value == i64::MIN.into() => "((i64)-9223372036854775807 - 1)".to_owned(),
        ScalarType::U32 => format!("{value}u"),
        ScalarType::I64 if typed => format!("(i64){value}"),
        ScalarType::U64 if typed || value > u32::MAX.into() => format!("(u64){value}u"),
        ScalarType::U64 => format!("{value}u"),
        _ => value.to_string(),
    }
}

fn float_literal(constant: Constant) -> String {
    // Rust prints the shortest digits that read back as the same float.
    match constant.ty() {
        ScalarType::F32 => format!("{:?}f", f32::from_bits(constant.bits() as u32)),
        ty if ty.is_half() => format!("{:#06x}", constant.bits()),
        _ => format!("{:?}", f64::from_bits(constant.bits())),
    }
}

fn unsigned(ty: ScalarType) -> ScalarType {
    if ty.bytes() == 8 { ScalarType::U64 } else { ScalarType::U32 }
}

impl Writer<'_> {
    /// A constant as an expression.
    pub(crate) fn constant(&mut self, constant: Constant, typed: bool) -> Expression {
        if !constant.ty().is_half() && constant.as_float().is_some_and(|value| !value.is_finite()) {
            // No dialect has literals for these.
            let bits = if constant.ty().bytes() == 8 { ScalarType::I64 } else { ScalarType::I32 };
            let value = Expression::atom(format!("({bits}){:#x}u", constant.bits()));
            return self.bitcast(constant.ty(), bits, value);
        }
        let text = literal(constant, typed);
        let binding = if text.starts_with('-') || text.starts_with("(u64)") || text.starts_with("(i64)") {
            Binding::Unary
        } else {
            Binding::Atom
        };
        Expression { binding, ..Expression::atom(text) }
    }

    /// Returns the expression of an operation.
    pub(crate) fn operation(&mut self, var: Var, op: Op, operands: &[Operand]) -> Expression {
        let ty = self.program.var_type(var);
        let constants: Vec<Constant> = operands
            .iter()
            .filter_map(|operand| match operand {
                Operand::Constant(constant) => Some(*constant),
                Operand::Var(_) => None,
            })
            .collect();
        // Literals rely on the variables beside them for their types, so there must be one.
        if constants.len() == operands.len() && !op.is_approximate() {
            return self.constant(op.evaluate(ty, &constants), true);
        }
        let values: Vec<Expression> = operands.iter().map(|&operand| self.value(operand)).collect();
        let exact = self.program.vars[var.0 as usize].exact;
        let mut result = self.combine(ty, op, operands, &values, exact);
        result.size = 1 + values.iter().map(|value| value.size).sum::<u32>();
        result.reads = values.into_iter().flat_map(|value| value.reads).collect();
        result
    }

    /// Writes an operation; an exact one is known not to wrap, or to divide by a positive number.
    fn combine(
        &mut self,
        ty: ScalarType,
        op: Op,
        operands: &[Operand],
        values: &[Expression],
        exact: bool,
    ) -> Expression {
        let from = self.program.operand_type(operands[0]);
        let float = from.is_float();
        match op {
            Op::Add | Op::Sub | Op::Mul if float || exact => self.arithmetic(op, &values[0], &values[1]),
            Op::Add | Op::Sub | Op::Mul => self.wrapping(ty, op, operands, values),
            Op::Div if float => self.infix("/", Binding::Product, values),
            Op::Div | Op::Rem if !float => self.division(ty, op, operands, values, exact),
            Op::Neg if float || exact => self.prefix("-", &values[0]),
            Op::Neg => {
                let zero = self.constant(Constant::zero(unsigned(ty)), true);
                let value = self.as_type(unsigned(ty), operands[0], &values[0]);
                let difference = self.infix("-", Binding::Sum, &[zero, value]);
                self.converted(ty, &difference)
            }
            Op::And => self.infix("&", Binding::And, values),
            Op::Or => self.infix("|", Binding::Or, values),
            Op::Xor => self.infix("^", Binding::Xor, values),
            Op::Not if ty == ScalarType::Bool => self.prefix("!", &values[0]),
            Op::Not => self.prefix("~", &values[0]),
            Op::Shl | Op::Shr => self.shift(ty, op, operands, values),
            Op::Eq => self.infix("==", Binding::Equality, values),
            Op::Ne => self.infix("!=", Binding::Equality, values),
            Op::Lt => self.infix("<", Binding::Relation, values),
            Op::Le => self.infix("<=", Binding::Relation, values),
            Op::Select => {
                let branch = |writer: &mut Self, k: usize| match operands[k] {
                    Operand::Constant(constant) => writer.constant(constant, true),
                    Operand::Var(_) => values[k].clone(),
                };
                let (then, otherwise) = (branch(self, 1), branch(self, 2));
                let text = format!(
                    "{} ? {} : {}",
                    values[0].within(Binding::Or),
                    then.within(Binding::Or),
                    otherwise.within(Binding::Or)
                );
                Expression { binding: Binding::Conditional, ..Expression::atom(text) }
            }
            Op::Cast => self.cast(ty, from, &values[0]),
            Op::Bitcast => self.bitcast(ty, from, values[0].clone()),
            Op::Abs | Op::Min | Op::Max if !float => self.helper(Helper::Operation(op, ty), values),
            Op::CountOnes | Op::LeadingZeros | Op::TrailingZeros => {
                self.helper(Helper::Operation(op, ty), values)
            }
            _ => match self.language.function(op, ty, self.options) {
                Function::Builtin(name) => call(&name, values),
                Function::Helper => self.helper(Helper::Operation(op, ty), values),
            },
        }
    }

    fn infix(&self, symbol: &str, binding: Binding, values: &[Expression]) -> Expression {
        // Sums and products read from the left without parentheses, comparisons take sums; all else is set apart,
        // because few remember how bit operations bind.
        let (left, right) = match binding {
            Binding::Sum => (Binding::Sum, Binding::Product),
            Binding::Product => (Binding::Product, Binding::Unary),
            Binding::Relation | Binding::Equality => (Binding::Sum, Binding::Sum),
            _ => (Binding::Unary, Binding::Unary),
        };
        let text = format!("{} {symbol} {}", values[0].within(left), values[1].within(right));
        Expression { binding, ..Expression::atom(text) }
    }

    fn prefix(&self, symbol: &str, value: &Expression) -> Expression {
        let operand = value.within(Binding::Unary);
        // Never `--`.
        let text = if operand.starts_with(['-', '+']) {
            format!("{symbol}({operand})")
        } else {
            format!("{symbol}{operand}")
        };
        Expression { binding: Binding::Unary, ..Expression::atom(text) }
    }

    fn arithmetic(&self, op: Op, a: &Expression, b: &Expression) -> Expression {
        let values = [a.clone(), b.clone()];
        match op {
            Op::Add => self.infix("+", Binding::Sum, &values),
            Op::Sub => self.infix("-", Binding::Sum, &values),
            _ => self.infix("*", Binding::Product, &values),
        }
    }

    /// Integer arithmetic that wraps: in the unsigned type.
    fn wrapping(
        &mut self,
        ty: ScalarType,
        op: Op,
        operands: &[Operand],
        values: &[Expression],
    ) -> Expression {
        if !ty.is_signed() {
            return self.arithmetic(op, &values[0], &values[1]);
        }
        let a = self.as_type(unsigned(ty), operands[0], &values[0]);
        let b = self.as_type(unsigned(ty), operands[1], &values[1]);
        let result = self.arithmetic(op, &a, &b);
        self.converted(ty, &result)
    }

    fn division(
        &mut self,
        ty: ScalarType,
        op: Op,
        operands: &[Operand],
        values: &[Expression],
        exact: bool,
    ) -> Expression {
        let symbol = if op == Op::Div { "/" } else { "%" };
        let (a, b) = (self.intervals.operand(operands[0]), self.intervals.operand(operands[1]));
        let positive = exact && !self.is_doubted(operands[1]);
        // Compilers make a shift of a division by a power of two.
        let shifts = a.0 >= 0 && b.0 == b.1 && b.0 > 0 && b.0 & (b.0 - 1) == 0;
        let small = ty.bytes() == 4 || a.0.abs().max(a.1.abs()) < EXACT_IN_DOUBLES;
        if self.in_threads && self.language.divides_in_doubles() && small && !shifts {
            return self.helper(Helper::DivideInDoubles { op, ty, positive }, values);
        }
        if ty.is_signed() && a.0 >= 0 && positive {
            // Unsigned division is the cheaper one, above all by a power of two.
            let a = self.as_type(unsigned(ty), operands[0], &values[0]);
            let b = self.as_type(unsigned(ty), operands[1], &values[1]);
            let result = self.infix(symbol, Binding::Product, &[a, b]);
            return self.converted(ty, &result);
        }
        if positive {
            return self.infix(symbol, Binding::Product, values);
        }
        self.helper(Helper::Operation(op, ty), values)
    }

    /// Whether an operand can have a value that the program never has: lanes that are not live, and threads whose
    /// predicate is false, compute with such.
    pub(crate) fn is_doubted(&self, operand: Operand) -> bool {
        (self.mask().is_some() && self.lanes.varies(operand)) || self.predication.doubts(operand)
    }

    fn shift(&mut self, ty: ScalarType, op: Op, operands: &[Operand], values: &[Expression]) -> Expression {
        let bits = 8 * ty.bytes() as i128;
        let range = self.intervals.operand(operands[1]);
        let distance = match operands[1] {
            Operand::Constant(constant) => {
                let distance = constant.as_integer().unwrap_or_default() & (bits - 1);
                Expression::atom(distance.to_string())
            }
            Operand::Var(_) if range.0 >= 0 && range.1 < bits => values[1].clone(),
            Operand::Var(_) => {
                let mask = Expression::atom((bits - 1).to_string());
                self.infix("&", Binding::And, &[values[1].clone(), mask])
            }
        };
        if op == Op::Shr || !ty.is_signed() {
            let symbol = if op == Op::Shr { ">>" } else { "<<" };
            // A literal alone may be too narrow to be shifted.
            let value = match operands[0] {
                Operand::Constant(constant) => self.constant(constant, true),
                Operand::Var(_) => values[0].clone(),
            };
            return self.infix(symbol, Binding::Shift, &[value, distance]);
        }
        let value = match operands[0] {
            // A literal alone has the type that it is shifted in.
            Operand::Constant(constant) => {
                let bits = Constant::from_bits(unsigned(ty), constant.bits());
                self.constant(bits, true)
            }
            Operand::Var(_) => self.converted(unsigned(ty), &values[0]),
        };
        let shifted = self.infix("<<", Binding::Shift, &[value, distance]);
        self.converted(ty, &shifted)
    }

    /// An integer operand in another integer type.
    fn as_type(&mut self, ty: ScalarType, operand: Operand, value: &Expression) -> Expression {
        match operand {
            Operand::Constant(constant) => {
                let value = constant.as_integer().unwrap_or_default();
                self.constant(Constant::from_integer(ty, value), false)
            }
            Operand::Var(_) => self.converted(ty, value),
        }
    }

    fn converted(&self, ty: ScalarType, value: &Expression) -> Expression {
        let text = format!("({}){}", self.language.register(ty), value.within(Binding::Unary));
        Expression { binding: Binding::Unary, ..Expression::atom(text) }
    }

    fn cast(&mut self, to: ScalarType, from: ScalarType, value: &Expression) -> Expression {
        if to == from {
            return value.clone();
        }
        // Others are lowered to these two.
        if to.is_half() || from.is_half() {
            let widens = from.is_half();
            let ty = if widens { from } else { to };
            return self.helper(Helper::Half { ty, widens }, std::slice::from_ref(value));
        }
        if to == ScalarType::Bool {
            let zero = self.constant(Constant::zero(from), false);
            return self.infix("!=", Binding::Equality, &[value.clone(), zero]);
        }
        if from.is_float() && !to.is_float() {
            return self.helper(Helper::Saturate { to, from }, std::slice::from_ref(value));
        }
        self.converted(to, value)
    }

    fn bitcast(&mut self, to: ScalarType, from: ScalarType, value: Expression) -> Expression {
        if to == from {
            return value;
        }
        // Floats of 16 bits are their bits.
        if to.is_half() || from.is_half() || (!to.is_float() && !from.is_float()) {
            return self.converted(to, &value);
        }
        match self.language.bitcast(to, from) {
            Some(name) => call(name, &[value]),
            None => self.helper(Helper::Bits { to, from }, &[value]),
        }
    }

    fn helper(&mut self, helper: Helper, values: &[Expression]) -> Expression {
        if let Helper::Operation(op, _) = helper {
            self.function_calls += usize::from(op.is_approximate());
        }
        self.helpers.insert(helper);
        call(&helper.name(), values)
    }
}

fn call(name: &str, values: &[Expression]) -> Expression {
    let values: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
    Expression::atom(format!("{name}({})", values.join(", ")))
}
