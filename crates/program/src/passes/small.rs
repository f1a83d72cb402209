//! A part of legalisation: arithmetic on numbers of fewer than 32 bits, in 32 bits.
//!
//! Needs: a program that the verifier accepts.
//! Leaves: a program in which values of 8 and 16 bits are loaded, stored, exchanged, chosen and compared, and converted to
//! and from wider ones, and nothing else is done to them: of floats of 16 bits, only conversions from and to `f32` are left.
//!
//! Integers are extended, and what is computed is cut again: the low bits of a sum or product are the same in any width.
//! Floats are widened and the result is rounded, which is what [`Op::evaluate`] says.

use pumice_scalar::{Constant, Op, ScalarType};

use crate::ir::{Operand, Program, Stmt, Var};

/// Whether an operation is lowered where a target has no arithmetic on small numbers.
pub(super) fn is_lowered(program: &Program, var: Var, op: Op, operands: &[Operand]) -> bool {
    let Some(&first) = operands.first() else { return false };
    let (to, from) = (program.var_type(var), program.operand_type(first));
    match op {
        Op::Select | Op::Bitcast => false,
        Op::Cast if to == from => false,
        Op::Cast if from.is_half() => to != ScalarType::F32,
        Op::Cast if to.is_half() => from != ScalarType::F32,
        Op::Cast => from.is_float() && to.is_small(),
        Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne | Op::Lt | Op::Le => from.is_half(),
        _ => from.is_small(),
    }
}

/// Whether an operation is lowered to one in doubles.
pub(super) fn needs_doubles(program: &Program, var: Var, op: Op) -> bool {
    op == Op::MulAdd && program.var_type(var).is_half()
}

/// Lowers statements, and those inside them.
pub(super) fn lower(program: &mut Program, list: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(list.len());
    for mut stmt in list {
        for child in stmt.children_mut() {
            *child = lower(program, std::mem::take(child));
        }
        match stmt {
            Stmt::Let { var, op, operands } if is_lowered(program, var, op, &operands) => {
                Lowering { program, out: &mut out }.operation(var, op, &operands);
            }
            stmt => out.push(stmt),
        }
    }
    out
}

struct Lowering<'a> {
    program: &'a mut Program,
    out: &'a mut Vec<Stmt>,
}

impl Lowering<'_> {
    /// Computes a value, on the way to another.
    fn value(&mut self, ty: ScalarType, op: Op, operands: &[Operand]) -> Operand {
        let constants: Option<Vec<Constant>> = operands
            .iter()
            .map(|operand| match operand {
                Operand::Constant(constant) => Some(*constant),
                Operand::Var(_) => None,
            })
            .collect();
        // Not what devices may compute otherwise.
        if let (Some(constants), false) = (constants, op.is_approximate()) {
            return Operand::Constant(op.evaluate(ty, &constants));
        }
        let var = self.program.add_var(ty, "wide");
        self.out.push(Stmt::Let { var, op, operands: operands.to_vec() });
        Operand::Var(var)
    }

    fn cast(&mut self, ty: ScalarType, operand: Operand) -> Operand {
        match self.program.operand_type(operand) == ty {
            true => operand,
            false => self.value(ty, Op::Cast, &[operand]),
        }
    }

    fn define(&mut self, var: Var, op: Op, operands: &[Operand]) {
        self.out.push(Stmt::Let { var, op, operands: operands.to_vec() });
    }

    fn operation(&mut self, var: Var, op: Op, operands: &[Operand]) {
        let from = operands.first().map_or(ScalarType::Bool, |first| self.program.operand_type(*first));
        match op {
            Op::Cast => self.conversion(var, operands[0]),
            _ if from.is_half() => self.on_floats(var, op, operands),
            _ => self.on_integers(var, op, operands),
        }
    }

    fn on_integers(&mut self, var: Var, op: Op, operands: &[Operand]) {
        let ty = self.program.var_type(var);
        let bits = 8 * ty.bytes() as u32;
        let wide = if ty.is_signed() { ScalarType::I32 } else { ScalarType::U32 };
        let constant = |value: u32| Operand::Constant(Constant::from_integer(wide, value.into()));
        let result = match op {
            Op::CountOnes | Op::LeadingZeros | Op::TrailingZeros => {
                // Extended by zeros, whatever the sign.
                let unsigned = self.value(ty.unsigned(), Op::Bitcast, &[operands[0]]);
                let value = self.cast(ScalarType::U32, unsigned);
                let constant = |value: u32| Operand::Constant(value.into());
                match op {
                    Op::LeadingZeros => {
                        let zeros = self.value(ScalarType::U32, op, &[value]);
                        self.value(ScalarType::U32, Op::Sub, &[zeros, constant(32 - bits)])
                    }
                    Op::TrailingZeros => {
                        let ended = self.value(ScalarType::U32, Op::Or, &[value, constant(1 << bits)]);
                        self.value(ScalarType::U32, op, &[ended])
                    }
                    _ => self.value(ScalarType::U32, op, &[value]),
                }
            }
            Op::Shl | Op::Shr => {
                let [value, distance] = [0, 1].map(|k| self.cast(wide, operands[k]));
                let distance = self.value(wide, Op::And, &[distance, constant(bits - 1)]);
                self.value(wide, op, &[value, distance])
            }
            _ => {
                let operands: Vec<Operand> =
                    operands.iter().map(|&operand| self.cast(wide, operand)).collect();
                let result = self.value(wide, op, &operands);
                // No sum or product of 16 bits leaves 32.
                if let (Operand::Var(var), Op::Add | Op::Sub | Op::Mul | Op::Neg, true) =
                    (result, op, wide.is_signed())
                {
                    self.program.vars[var.0 as usize].exact = true;
                }
                result
            }
        };
        self.define(var, Op::Cast, &[result]);
    }

    fn on_floats(&mut self, var: Var, op: Op, operands: &[Operand]) {
        let wide = if op == Op::MulAdd { ScalarType::F64 } else { ScalarType::F32 };
        let operands: Vec<Operand> = operands
            .iter()
            .map(|&operand| {
                let single = self.cast(ScalarType::F32, operand);
                self.cast(wide, single)
            })
            .collect();
        if op.compares() {
            return self.define(var, op, &operands);
        }
        let result = self.value(wide, op, &operands);
        self.conversion(var, result);
    }

    /// A conversion from or to a float of 16 bits, or from a float to a small integer.
    fn conversion(&mut self, var: Var, operand: Operand) {
        let (to, from) = (self.program.var_type(var), self.program.operand_type(operand));
        if from.is_half() {
            let single = self.cast(ScalarType::F32, operand);
            return self.conversion(var, single);
        }
        let near = if to.is_half() {
            self.near_single(to, operand)
        } else if from.is_float() && to.is_small() {
            let whole = self.cast(ScalarType::I32, operand);
            let (low, high) = to.range();
            let [low, high] =
                [low, high].map(|end| Operand::Constant(Constant::from_integer(ScalarType::I32, end)));
            let above = self.value(ScalarType::I32, Op::Max, &[whole, low]);
            self.value(ScalarType::I32, Op::Min, &[above, high])
        } else {
            operand
        };
        self.define(var, Op::Cast, &[near]);
    }

    /// An `f32` that rounds to 16 bits as an operand of any type does.
    fn near_single(&mut self, to: ScalarType, operand: Operand) -> Operand {
        let from = self.program.operand_type(operand);
        let exact = from.bytes() < 4 || from == ScalarType::F32;
        // What an `f32` rounds is beyond all `f16`.
        let beyond = to == ScalarType::F16 && from.is_integer();
        if exact || beyond {
            return self.cast(ScalarType::F32, operand);
        }
        self.rounded_to_odd(operand)
    }

    /// The `f32` next to an operand whose last bit is one, unless there is one that equals it. To round it once more is to round
    /// the operand itself: what was lost is still seen in that bit.
    fn rounded_to_odd(&mut self, operand: Operand) -> Operand {
        use ScalarType::{Bool, F32, U32};
        let from = self.program.operand_type(operand);
        let [zero, one] = [0u32, 1].map(|value| Operand::Constant(value.into()));
        let nearest = self.cast(F32, operand);
        let back = self.cast(from, nearest);
        let bits = self.value(U32, Op::Bitcast, &[nearest]);
        let same = self.value(Bool, Op::Eq, &[back, operand]);
        let last = self.value(U32, Op::And, &[bits, one]);
        let odd = self.value(Bool, Op::Ne, &[last, zero]);
        let keep = self.value(Bool, Op::Or, &[same, odd]);
        let above = self.value(Bool, Op::Lt, &[operand, back]);
        let negative = match from.is_signed() || from.is_float() {
            true => self.value(Bool, Op::Lt, &[operand, Operand::Constant(Constant::zero(from))]),
            false => Operand::Constant(false.into()),
        };
        let outward = self.value(Bool, Op::Xor, &[above, negative]);
        let inner = self.value(U32, Op::Sub, &[bits, one]);
        let outer = self.value(U32, Op::Add, &[bits, one]);
        let other = self.value(U32, Op::Select, &[outward, inner, outer]);
        let chosen = self.value(U32, Op::Select, &[keep, bits, other]);
        self.value(F32, Op::Bitcast, &[chosen])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::{Capabilities, Target};
    use crate::passes::legalise::legalise;
    use crate::simulate::{Options, SimMemory, simulate};

    const BARE: Target =
        Target { capabilities: Capabilities { small: false, ..Capabilities::ALL }, ..Target::ALL };

    /// Numbers at the ends of types, midway between floats of 16 bits, and any others.
    fn values(ty: ScalarType) -> Vec<Constant> {
        let mut values: Vec<Constant> = Vec::new();
        if ty.is_half() {
            values.extend((0..1 << 16).step_by(61).map(|bits| Constant::from_bits(ty, bits)));
            values.extend(
                [0, 1, 0x7c00, 0xfc00, 0x7f80, 0x8000, 0x7e00].map(|bits| Constant::from_bits(ty, bits)),
            );
        } else if ty.is_float() {
            for base in [1.0, -3.0, 1e-8, 6e-5, 65504.0, 65519.99, 65520.0, 3e38, 1e300, 5e-41, f64::NAN] {
                for part in [0.0, 2f64.powi(-9), 2f64.powi(-11), 2f64.powi(-12), 1.0] {
                    for more in [0.0, 2f64.powi(-30), -2f64.powi(-30), 2f64.powi(-50)] {
                        values.push(Constant::from_float(ty, base * (1.0 + part + more)));
                    }
                }
            }
            values.extend([0.0, -0.0, f64::INFINITY].map(|value| Constant::from_float(ty, value)));
        } else {
            let (low, high) = ty.range();
            for shift in 0..8 * ty.bytes() {
                for more in [-1, 0, 1, (1i128 << shift) >> 8, ((1i128 << shift) >> 8) + 1] {
                    values.push(Constant::from_integer(ty, (1i128 << shift) + more));
                    values.push(Constant::from_integer(ty, -(1i128 << shift) - more));
                }
            }
            values.extend([low, high, 0].map(|value| Constant::from_integer(ty, value)));
        }
        values
    }

    fn same(one: Constant, other: Constant) -> bool {
        let nan = |value: Constant| value.as_float().is_some_and(f64::is_nan);
        one == other || nan(one) && nan(other)
    }

    /// Runs an operation, lowered, on rows of operands.
    fn lowered(op: Op, to: ScalarType, types: &[ScalarType], rows: &[Vec<Constant>]) -> Vec<Constant> {
        let names = ["a", "b", "c"];
        let memories: String =
            types.iter().zip(names).map(|(ty, name)| format!("memory @{name}: global read {ty} ")).collect();
        let loads: String =
            types.iter().zip(names).map(|(ty, name)| format!("%{name}: {ty} = load @{name}[%i] ")).collect();
        let used = &names[..types.len()];
        let params: String = used.iter().map(|name| format!("@{name}, ")).collect();
        let operands: Vec<String> = used.iter().map(|name| format!("%{name}")).collect();
        let text = format!(
            "kernel k {memories} memory @out: global write {to} params {params}@out threads 32 blocks %block: i64 < 1:i64
             body {{ parallel %i: i32 < {}:i32 {{ {loads} %r: {to} = {} {} store @out[%i] = %r }} }}",
            rows.len(),
            op.name(),
            operands.join(", ")
        );
        let mut program = crate::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        legalise(&mut program, &BARE).unwrap_or_else(|error| panic!("{error}"));
        crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        let again = program.clone();
        legalise(&mut program, &BARE).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(program, again, "a legal program changed");
        let mut memories: Vec<SimMemory> =
            types.iter().chain([&to]).map(|ty| SimMemory::unwritten(rows.len() * ty.bytes())).collect();
        for (index, row) in rows.iter().enumerate() {
            for (memory, value) in memories.iter_mut().zip(row) {
                assert!(memory.set(index, *value));
            }
        }
        simulate(&program, &mut memories, &[], &Options::default()).unwrap_or_else(|fault| panic!("{fault}"));
        let out = &memories[types.len()];
        (0..rows.len()).map(|index| out.get(to, index).unwrap_or(Constant::zero(to))).collect()
    }

    fn compare(op: Op, to: ScalarType, types: &[ScalarType], rows: &[Vec<Constant>]) {
        for (row, found) in rows.iter().zip(lowered(op, to, types, rows)) {
            let expected = op.evaluate(to, row);
            assert!(same(expected, found), "{} to {to} of {row:?}: {found:?}, not {expected:?}", op.name());
        }
    }

    #[test]
    fn conversions_are_lowered_to_what_they_mean() {
        for from in ScalarType::ALL {
            let rows: Vec<Vec<Constant>> = values(from).into_iter().map(|value| vec![value]).collect();
            for to in ScalarType::ALL.into_iter().filter(|to| to.is_small() || from.is_small()) {
                compare(Op::Cast, to, &[from], &rows);
            }
        }
    }

    #[test]
    fn operations_are_lowered_to_what_they_mean() {
        use ScalarType::*;
        for ty in [I8, I16, U8, U16, F16, BF16] {
            let all = values(ty);
            let pick = |row: usize, k: usize| all[(row * [1, 7919, 104_729][k] + row / 17) % all.len()];
            for &op in Op::ALL {
                let to = if op.compares() { Bool } else { ty };
                let types = vec![ty; op.arity()];
                if op.accepts(to, &types) {
                    let row = |row| (0..op.arity()).map(|k| pick(row, k)).collect();
                    let rows: Vec<Vec<Constant>> = (0..2000).map(row).collect();
                    compare(op, to, &types, &rows);
                }
            }
        }
    }
}
