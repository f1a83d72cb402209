//! Indices as sums: which two differ by a constant, and what powers of two divide them.
//!
//! An integer is written as a constant plus multiples of *atoms*: values that this analysis does not look into. All of
//! it is modulo the width of the type, as integers wrap. Two atoms that are computed in the same way are the same. The
//! program must be one that the verifier accepts.

use std::collections::{BTreeMap, HashMap};

use pumice_scalar::{Constant, Op, ScalarType};

use crate::ir::{Operand, Program, Stmt, Var};

/// Longer sums count as atoms.
const MAX_TERMS: usize = 8;

/// The power of two that divides zero; no other is larger.
const MOST: u32 = 64;

/// Multiples of atoms: what two indices have in common that differ by a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Terms {
    ty: ScalarType,
    /// By atom; none is zero.
    factors: BTreeMap<u32, i128>,
}

/// Multiples of atoms, and a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    pub terms: Terms,
    pub constant: i128,
}

/// Operand of an atom's definition, to recognise atoms that are computed alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Recipe {
    Var(Var),
    Constant(Constant),
    Sum(Sum),
}

/// The integers of a program as sums.
pub(crate) struct Sums {
    vars: HashMap<Var, Sum>,
    atoms: HashMap<(Op, ScalarType, Vec<Recipe>), u32>,
    /// By atom: the exponent of a power of two that divides it.
    powers: Vec<u32>,
}

impl Sums {
    /// Analyses a program, of some of whose variables it is known that they are multiples of a number.
    pub fn of(program: &Program, multiples: &BTreeMap<Var, u64>) -> Sums {
        let mut sums = Sums { vars: HashMap::new(), atoms: HashMap::new(), powers: Vec::new() };
        for (&var, multiple) in multiples {
            if let Some(info) = program.vars.get(var.0 as usize).filter(|info| info.ty.is_integer()) {
                let sum = sums.new_atom(info.ty, multiple.trailing_zeros());
                sums.vars.insert(var, sum);
            }
        }
        sums.list(program, &program.prologue);
        sums.list(program, &program.body);
        sums
    }

    /// An operand as a sum, if it is an integer.
    pub fn operand(&mut self, program: &Program, operand: Operand) -> Option<Sum> {
        match operand {
            Operand::Constant(constant) if constant.ty().is_integer() => {
                let terms = Terms { ty: constant.ty(), factors: BTreeMap::new() };
                Some(Sum { terms, constant: constant.as_integer()? })
            }
            Operand::Constant(_) => None,
            Operand::Var(var) => {
                if let Some(sum) = self.vars.get(&var) {
                    return Some(sum.clone());
                }
                let ty = program.vars.get(var.0 as usize)?.ty;
                if !ty.is_integer() {
                    return None;
                }
                let sum = self.new_atom(ty, 0);
                self.vars.insert(var, sum.clone());
                Some(sum)
            }
        }
    }

    /// The exponent of the largest power of two that surely divides the terms together.
    pub fn power_of_terms(&self, terms: &Terms) -> u32 {
        let each = terms.factors.iter().map(|(&atom, factor)| {
            let atom = self.powers.get(atom as usize).copied().unwrap_or(0);
            (atom + factor.trailing_zeros()).min(MOST)
        });
        each.min().unwrap_or(MOST)
    }

    /// The exponent of the largest power of two that surely divides a sum.
    pub fn power(&self, sum: &Sum) -> u32 {
        self.power_of_terms(&sum.terms).min(power_of(sum.constant))
    }

    fn new_atom(&mut self, ty: ScalarType, power: u32) -> Sum {
        let atom = self.powers.len() as u32;
        // Zero, which everything divides, is as good as any multiple that the type can hold.
        self.powers.push(power.min(8 * ty.bytes() as u32 - 1));
        Sum { terms: Terms { ty, factors: BTreeMap::from([(atom, 1)]) }, constant: 0 }
    }

    fn list(&mut self, program: &Program, list: &[Stmt]) {
        for stmt in list {
            if let Stmt::For { var, start, step, .. } = stmt
                && let Some(info) = program.vars.get(var.0 as usize)
            {
                let sums = [*start, *step].map(|operand| self.operand(program, operand));
                let power = sums.iter().flatten().map(|sum| self.power(sum)).min().unwrap_or(0);
                let sum = self.new_atom(info.ty, power);
                self.vars.insert(*var, sum);
            }
            for child in stmt.children() {
                self.list(program, child);
            }
            match stmt {
                Stmt::Let { var, op, operands } => self.define(program, *var, *op, operands),
                Stmt::If { results, .. } => {
                    for joined in results {
                        let sides =
                            [joined.then, joined.otherwise].map(|operand| self.operand(program, operand));
                        if let [Some(then), Some(otherwise)] = sides {
                            let power = self.power(&then).min(self.power(&otherwise));
                            let sum = self.new_atom(then.terms.ty, power);
                            self.vars.insert(joined.var, sum);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn define(&mut self, program: &Program, var: Var, op: Op, operands: &[Operand]) {
        let Some(ty) = program.vars.get(var.0 as usize).map(|info| info.ty).filter(|ty| ty.is_integer())
        else {
            return;
        };
        let sums: Vec<Option<Sum>> = operands.iter().map(|&operand| self.operand(program, operand)).collect();
        let sum = match linear(op, ty, &sums) {
            Some(sum) => sum,
            None => {
                let mut recipes: Vec<Recipe> = operands
                    .iter()
                    .zip(&sums)
                    .map(|(operand, sum)| match (sum, operand) {
                        (Some(sum), _) => Recipe::Sum(sum.clone()),
                        (None, Operand::Var(var)) => Recipe::Var(*var),
                        (None, Operand::Constant(constant)) => Recipe::Constant(*constant),
                    })
                    .collect();
                if op.commutes()
                    && let [Some(first), Some(second)] = &sums[..]
                    && (&first.terms, first.constant) > (&second.terms, second.constant)
                {
                    recipes.swap(0, 1);
                }
                let power = self.power_of_op(op, &sums);
                match self.atoms.get(&(op, ty, recipes.clone())) {
                    Some(&atom) => {
                        Sum { terms: Terms { ty, factors: BTreeMap::from([(atom, 1)]) }, constant: 0 }
                    }
                    None => {
                        self.atoms.insert((op, ty, recipes), self.powers.len() as u32);
                        self.new_atom(ty, power)
                    }
                }
            }
        };
        self.vars.insert(var, sum);
    }

    /// The exponent of a power of two that divides the result of an operation that is not linear.
    fn power_of_op(&self, op: Op, operands: &[Option<Sum>]) -> u32 {
        let power = |position: usize| match operands.get(position) {
            Some(Some(sum)) => self.power(sum),
            _ => 0,
        };
        let constant = |position: usize| match operands.get(position) {
            Some(Some(sum)) if sum.terms.factors.is_empty() => Some(sum.constant),
            _ => None,
        };
        match op {
            Op::Mul => (power(0) + power(1)).min(MOST),
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Min | Op::Max | Op::Rem => power(0).min(power(1)),
            Op::And => power(0).max(power(1)),
            Op::Select => power(1).min(power(2)),
            Op::Neg | Op::Abs | Op::Shl => power(0),
            Op::Shr => match constant(1) {
                Some(distance @ 0..=31) => power(0).saturating_sub(distance as u32),
                _ => 0,
            },
            Op::Div => match constant(1) {
                // Exact if the divisor is a power of two that divides.
                Some(divisor) if divisor > 0 && divisor & (divisor - 1) == 0 => {
                    power(0).saturating_sub(divisor.trailing_zeros())
                }
                _ => 0,
            },
            // Between widths: the low bits stay, and extending adds none.
            Op::Cast if matches!(operands, [Some(_)]) => power(0).min(31),
            _ => 0,
        }
    }
}

/// An operation on sums that gives a sum.
fn linear(op: Op, ty: ScalarType, operands: &[Option<Sum>]) -> Option<Sum> {
    let operand = |position: usize| operands.get(position)?.as_ref().filter(|sum| sum.terms.ty == ty);
    let constant = |position: usize| {
        operand(position).filter(|sum| sum.terms.factors.is_empty()).map(|sum| sum.constant)
    };
    let width = 8 * ty.bytes() as i128;
    match op {
        Op::Add => add(operand(0)?, operand(1)?, 1),
        Op::Sub => add(operand(0)?, operand(1)?, -1),
        Op::Neg => Some(scale(operand(0)?, -1)),
        Op::Mul => match (constant(0), constant(1)) {
            (_, Some(factor)) => Some(scale(operand(0)?, factor)),
            (Some(factor), None) => Some(scale(operand(1)?, factor)),
            (None, None) => None,
        },
        Op::Shl => match constant(1)? {
            distance if (0..width).contains(&distance) => Some(scale(operand(0)?, 1 << distance)),
            _ => None,
        },
        _ => None,
    }
}

/// The first plus `factor` (which is small) times the second.
fn add(first: &Sum, second: &Sum, factor: i128) -> Option<Sum> {
    let ty = first.terms.ty;
    let mut factors = first.terms.factors.clone();
    for (&atom, &count) in &second.terms.factors {
        let known = factors.get(&atom).copied().unwrap_or(0);
        factors.insert(atom, wrap(ty, known + factor * count));
    }
    factors.retain(|_, factor| *factor != 0);
    let constant = wrap(ty, first.constant + factor * second.constant);
    (factors.len() <= MAX_TERMS).then_some(Sum { terms: Terms { ty, factors }, constant })
}

fn scale(sum: &Sum, factor: i128) -> Sum {
    let ty = sum.terms.ty;
    // Both are within 64 bits.
    let scaled = |value: i128| wrap(ty, value.wrapping_mul(factor));
    let mut factors: BTreeMap<u32, i128> =
        sum.terms.factors.iter().map(|(&atom, &count)| (atom, scaled(count))).collect();
    factors.retain(|_, factor| *factor != 0);
    Sum { terms: Terms { ty, factors }, constant: scaled(sum.constant) }
}

/// The value that a type has instead of one outside its range.
fn wrap(ty: ScalarType, value: i128) -> i128 {
    Constant::from_integer(ty, value).as_integer().unwrap_or_default()
}

fn power_of(constant: i128) -> u32 {
    if constant == 0 { MOST } else { constant.trailing_zeros() }
}
