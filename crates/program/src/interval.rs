//! Interval analysis: for every integer (or `bool`) variable, bounds on the values that it can have in any run whose
//! scalar arguments are in given ranges.
//!
//! Bounds are sound and not always tight. They say nothing of floats. A value that is never computed (in a loop that
//! does not run) may have any bounds. The program must be one that the verifier accepts; of any other the bounds mean
//! nothing, but computing them does not panic.

use std::collections::BTreeMap;

use pumice_scalar::{Constant, Op, ScalarType};

use crate::ir::{Carried, MAX_BLOCKS, Operand, Param, Program, Stmt, Var};

/// The smallest and the largest value.
pub type Interval = (i128, i128);

/// Known ranges of scalar arguments. A variable that is absent can have every value of its type.
pub type Ranges = BTreeMap<Var, Interval>;

/// Loops that are nested deeper than this are not iterated: each level multiplies the work.
const MAX_ITERATED_DEPTH: usize = 3;

/// Rounds of a loop after which its carried values count as unknown.
const MAX_ROUNDS: usize = 6;

/// Bounds for the variables of a program.
#[derive(Clone, Debug)]
pub struct Intervals {
    /// By variable number.
    bounds: Vec<Interval>,
}

impl Intervals {
    /// Analyses a program.
    pub fn of(program: &Program, ranges: &Ranges) -> Intervals {
        let bounds = program.vars.iter().map(|info| info.ty.range()).collect();
        let mut analysis = Analysis { program, intervals: Intervals { bounds }, depth: 0 };
        for param in &program.params {
            if let Param::Scalar(var) = param
                && let (Some(info), Some(&(low, high))) = (program.vars.get(var.0 as usize), ranges.get(var))
            {
                let full = info.ty.range();
                let narrowed = (low.clamp(full.0, full.1), high.clamp(full.0, full.1));
                if narrowed.0 <= narrowed.1 {
                    analysis.set(*var, narrowed);
                }
            }
        }
        analysis.list(&program.prologue);
        let blocks = analysis.get(program.blocks);
        analysis.set(program.block, below(0, blocks.1.min(MAX_BLOCKS.into())));
        analysis.list(&program.body);
        analysis.intervals
    }

    /// The bounds of a variable; the widest there are for floats and for numbers that no variable has.
    pub fn var(&self, var: Var) -> Interval {
        self.bounds.get(var.0 as usize).copied().unwrap_or((i128::MIN, i128::MAX))
    }

    /// Whether the sum, difference, product or negation that defines a variable of this type stays within it. This is the
    /// one place where that is decided: what can wrap has the bounds of its type.
    pub fn stays_within(&self, var: Var, ty: ScalarType) -> bool {
        self.var(var) != ty.range()
    }

    /// The bounds of an operand.
    pub fn operand(&self, operand: Operand) -> Interval {
        match operand {
            Operand::Var(var) => self.var(var),
            Operand::Constant(constant) => match constant.as_integer() {
                Some(value) => (value, value),
                None => (i128::MIN, i128::MAX),
            },
        }
    }
}

struct Analysis<'a> {
    program: &'a Program,
    intervals: Intervals,
    /// Number of loops around the current statement.
    depth: usize,
}

impl Analysis<'_> {
    fn ty(&self, var: Var) -> ScalarType {
        self.program.vars.get(var.0 as usize).map_or(ScalarType::Bool, |info| info.ty)
    }

    fn get(&self, operand: Operand) -> Interval {
        self.intervals.operand(operand)
    }

    fn set(&mut self, var: Var, interval: Interval) {
        if let Some(bounds) = self.intervals.bounds.get_mut(var.0 as usize) {
            *bounds = interval;
        }
    }

    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(_)
            | Stmt::Store { .. }
            | Stmt::Sync { .. }
            | Stmt::Fence { .. }
            | Stmt::Fail { .. } => {}
            Stmt::Atomic { var, .. } => {
                if let Some(var) = *var {
                    self.set(var, self.ty(var).range());
                }
            }
            Stmt::Collective { var, op, operands } => {
                // A shuffle gives some lane's value; a vote anything.
                let interval = match operands.first() {
                    Some(&value) if op.is_shuffle() => self.get(value),
                    _ => self.ty(*var).range(),
                };
                self.set(*var, interval);
            }
            Stmt::Load { vars, .. } => {
                for &var in vars {
                    self.set(var, self.ty(var).range());
                }
            }
            Stmt::Let { var, op, operands } => {
                let types: Vec<ScalarType> = operands
                    .iter()
                    .map(|&operand| match operand {
                        Operand::Var(var) => self.ty(var),
                        Operand::Constant(constant) => constant.ty(),
                    })
                    .collect();
                let intervals: Vec<Interval> = operands.iter().map(|&operand| self.get(operand)).collect();
                self.set(*var, of_op(*op, self.ty(*var), &types, &intervals));
            }
            Stmt::If { condition, then, otherwise, results } => {
                self.list(then);
                self.list(otherwise);
                for joined in results {
                    let (then, otherwise) = (self.get(joined.then), self.get(joined.otherwise));
                    let interval = match self.get(*condition) {
                        (1, _) => then,
                        (_, 0) => otherwise,
                        _ => union(then, otherwise),
                    };
                    self.set(joined.var, interval);
                }
            }
            Stmt::For { var, start, end, carried, body, .. } => {
                let index = below(self.get(*start).0, self.get(*end).1);
                self.iterate(carried, |analysis| {
                    analysis.set(*var, index);
                    analysis.list(body);
                });
            }
            Stmt::While { carried, header, body, .. } => self.iterate(carried, |analysis| {
                analysis.list(header);
                analysis.list(body);
            }),
            Stmt::Parallel { var, extent, body, .. } => {
                self.set(*var, below(0, self.get(*extent).1));
                self.list(body);
            }
        }
    }

    /// Finds bounds for carried values that one round of the loop does not leave.
    fn iterate(&mut self, carried: &[Carried], round: impl Fn(&mut Self)) {
        let deep = self.depth >= MAX_ITERATED_DEPTH;
        for carried in carried {
            let interval = if deep { self.ty(carried.var).range() } else { self.get(carried.initial) };
            self.set(carried.var, interval);
        }
        self.depth += 1;
        // The last round has nothing left to find out, in a program that the verifier accepts.
        for rounds in 1..=MAX_ROUNDS + 1 {
            round(self);
            let mut stable = true;
            for carried in carried {
                let known = self.intervals.var(carried.var);
                let next = self.get(carried.next);
                let full = self.ty(carried.var).range();
                // The first round shows values that do not build on each other. A bound that moves after that goes all
                // the way, so that there is an end; but what shrinks, as lengths do, is not negative for that.
                let new = match rounds {
                    1 => union(known, next),
                    MAX_ROUNDS.. => full,
                    _ => (
                        match next.0 < known.0 {
                            true if next.0 >= 0 => 0,
                            true => full.0,
                            false => known.0,
                        },
                        if next.1 > known.1 { full.1 } else { known.1 },
                    ),
                };
                if new != known {
                    stable = false;
                    self.set(carried.var, new);
                }
            }
            if stable {
                break;
            }
        }
        self.depth -= 1;
    }
}

/// From `low` to below `high`; where that is empty, just `low`.
fn below(low: i128, high: i128) -> Interval {
    (low, low.max(high.saturating_sub(1)))
}

fn union(one: Interval, other: Interval) -> Interval {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The bounds of an operation's result.
pub fn of_op(op: Op, result: ScalarType, types: &[ScalarType], operands: &[Interval]) -> Interval {
    let full = result.range();
    let fits = operands.len() == op.arity() && op.accepts(result, types);
    let floats = result.is_float() || types.iter().any(|ty| ty.is_float());
    if !fits || (floats && !matches!(op, Op::Select)) {
        return full;
    }
    // In a program that the verifier accepts, they are within their types already.
    let within = |(&interval, ty): (&Interval, &ScalarType)| {
        let (low, high) = ty.range();
        (interval.0.clamp(low, high), interval.1.clamp(low, high))
    };
    let operands: Vec<Interval> = operands.iter().zip(types).map(within).collect();
    let operand = |position: usize| operands.get(position).copied().unwrap_or(full);
    let (a, b) = (operand(0), operand(1));
    // On one value each, the semantics itself says; but for what has an exact rule below: bounds other than those of the
    // type show that it does not wrap, which `mark_exact` relies on.
    let ruled = matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::Select);
    if !ruled && operands.iter().all(|interval| interval.0 == interval.1) {
        let constants =
            types.iter().zip(&operands).map(|(&ty, interval)| Constant::from_integer(ty, interval.0));
        let constant = op.evaluate(result, &constants.collect::<Vec<Constant>>());
        return constant.as_integer().map_or(full, |value| (value, value));
    }
    let exact = match op {
        Op::Add => (a.0.saturating_add(b.0), a.1.saturating_add(b.1)),
        Op::Sub => (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0)),
        Op::Mul => corners(a, b, i128::saturating_mul),
        Op::Div => divide(a, b),
        Op::Rem => remainder(a, b),
        Op::Neg => (a.1.saturating_neg(), a.0.saturating_neg()),
        Op::Abs => {
            let (low, high) = (a.0.saturating_abs(), a.1.saturating_abs());
            let smallest = if a.0 <= 0 && a.1 >= 0 { 0 } else { low.min(high) };
            (smallest, low.max(high))
        }
        Op::Min => (a.0.min(b.0), a.1.min(b.1)),
        Op::Max => (a.0.max(b.0), a.1.max(b.1)),
        Op::And => match (a.0 >= 0, b.0 >= 0) {
            (true, true) => (0, a.1.min(b.1)),
            (true, false) => (0, a.1),
            (false, true) => (0, b.1),
            // Negative only if both are, and then with no more digits than the one that has most.
            (false, false) => (-1 - ones_up_to(-1 - a.0.min(b.0)), a.1.max(b.1)),
        },
        Op::Or => match (a.0 >= 0 && b.0 >= 0, a.1 < 0 || b.1 < 0) {
            (true, _) => (a.0.max(b.0), ones_up_to(a.1.max(b.1))),
            // A negative one sets all bits above its own.
            (false, true) => (a.0.min(b.0), -1),
            (false, false) => (a.0.min(b.0), ones_up_to(a.1.max(b.1))),
        },
        Op::Xor if a.0 >= 0 && b.0 >= 0 => (0, ones_up_to(a.1.max(b.1))),
        Op::Xor => {
            let digits = [a.0, a.1, b.0, b.1].map(|value| ones_up_to(value.max(-1 - value)));
            let largest = digits.into_iter().max().unwrap_or(0);
            (-1 - largest, largest)
        }
        Op::Not if result == ScalarType::Bool => (1 - a.1, 1 - a.0),
        Op::Not if result.is_signed() => (-1 - a.1, -1 - a.0),
        Op::Not => (full.1 - a.1, full.1 - a.0),
        Op::Shl if in_width(b, result) => {
            // The distance is below 64 and the value within 64 bits.
            corners(a, b, |value, distance| value << distance)
        }
        Op::Shr if in_width(b, result) => corners(a, b, |value, distance| value >> distance),
        Op::Shr if a.0 >= 0 => (0, a.1),
        Op::CountOnes | Op::LeadingZeros | Op::TrailingZeros => (0, 8 * result.bytes() as i128),
        Op::Eq if a.1 < b.0 || b.1 < a.0 => (0, 0),
        Op::Ne if a.1 < b.0 || b.1 < a.0 => (1, 1),
        Op::Lt if a.1 < b.0 => (1, 1),
        Op::Lt if a.0 >= b.1 => (0, 0),
        Op::Le if a.1 <= b.0 => (1, 1),
        Op::Le if a.0 > b.1 => (0, 0),
        Op::Select if result.is_float() => full,
        Op::Select => match a {
            (1, _) => b,
            (_, 0) => operand(2),
            _ => union(b, operand(2)),
        },
        Op::Cast if result == ScalarType::Bool => match a {
            (0, 0) => (0, 0),
            (low, high) if low > 0 || high < 0 => (1, 1),
            _ => (0, 1),
        },
        Op::Cast => a,
        _ => full,
    };
    // What leaves the type wraps, and can then be anything.
    if exact.0 < full.0 || exact.1 > full.1 { full } else { exact }
}

/// The bounds of a function that grows or falls in each argument alone: it is at its smallest and largest in corners.
fn corners(a: Interval, b: Interval, function: fn(i128, i128) -> i128) -> Interval {
    let values = [function(a.0, b.0), function(a.0, b.1), function(a.1, b.0), function(a.1, b.1)];
    values.into_iter().fold((values[0], values[0]), |known, value| union(known, (value, value)))
}

fn divide(a: Interval, b: Interval) -> Interval {
    let quotient = |value: i128, divisor: i128| value.checked_div(divisor).unwrap_or(0);
    let mut parts = Vec::new();
    if b.0 <= 0 && b.1 >= 0 {
        parts.push((0, 0));
    }
    if b.0 < 0 {
        parts.push(corners(a, (b.0, b.1.min(-1)), quotient));
    }
    if b.1 > 0 {
        parts.push(corners(a, (b.0.max(1), b.1), quotient));
    }
    parts.into_iter().reduce(union).unwrap_or((0, 0))
}

fn remainder(a: Interval, b: Interval) -> Interval {
    // The result is smaller than the divisor and not larger than the dividend, and has the dividend's sign. By zero it
    // is zero.
    let largest = (b.0.saturating_abs().max(b.1.saturating_abs()) - 1).max(0);
    let smallest_divisor =
        if b.0 <= 0 && b.1 >= 0 { 0 } else { b.0.saturating_abs().min(b.1.saturating_abs()) };
    if a.0.saturating_abs().max(a.1.saturating_abs()) < smallest_divisor {
        return a;
    }
    (a.0.clamp(-largest, 0), a.1.clamp(0, largest))
}

/// The largest number with as many bits as this one, which is not negative.
fn ones_up_to(value: i128) -> i128 {
    match value {
        0 => 0,
        _ => (i128::MAX as u128 >> (value as u128).leading_zeros().saturating_sub(1)) as i128,
    }
}

fn in_width(distance: Interval, ty: ScalarType) -> bool {
    distance.0 >= 0 && distance.1 < 8 * ty.bytes() as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a type that are likely to show mistakes: around zero and around the ends.
    fn values(ty: ScalarType) -> Vec<i128> {
        let (low, high) = ty.range();
        let mut all: Vec<i128> = (-9..10).chain([31, 32, 33, 63, 64, 100, 255]).collect();
        for distance in 0..3 {
            all.extend([low + distance, high - distance, high / 2 + distance, low / 2 - distance]);
        }
        all.retain(|value| (low..=high).contains(value));
        all.sort_unstable();
        all.dedup();
        all
    }

    fn check(op: Op, result: ScalarType, types: &[ScalarType], operands: &[Interval]) {
        let bounds = of_op(op, result, types, operands);
        let full = result.range();
        assert!(
            full.0 <= bounds.0 && bounds.0 <= bounds.1 && bounds.1 <= full.1,
            "{op:?} {operands:?} {bounds:?}"
        );
        let mut choices: Vec<Vec<Constant>> = vec![vec![]];
        for (&ty, interval) in types.iter().zip(operands) {
            let inside: Vec<i128> =
                values(ty).into_iter().filter(|value| (interval.0..=interval.1).contains(value)).collect();
            choices = choices
                .into_iter()
                .flat_map(|chosen| {
                    inside.iter().map(move |&value| {
                        let mut chosen = chosen.clone();
                        chosen.push(Constant::from_integer(ty, value));
                        chosen
                    })
                })
                .collect();
        }
        for chosen in choices {
            let value = op.evaluate(result, &chosen).as_integer().unwrap();
            assert!(
                bounds.0 <= value && value <= bounds.1,
                "{op:?} of {chosen:?} in {operands:?} is {value}, not in {bounds:?}"
            );
        }
    }

    fn intervals(ty: ScalarType) -> Vec<Interval> {
        let all = values(ty);
        let few: Vec<i128> = all.iter().copied().step_by(3).chain(all.last().copied()).collect();
        let mut pairs = Vec::new();
        for (position, &low) in few.iter().enumerate() {
            pairs.extend(few[position..].iter().step_by(2).map(|&high| (low, high)));
        }
        pairs
    }

    #[test]
    fn bounds_contain_every_result() {
        let integers: Vec<ScalarType> = ScalarType::ALL.into_iter().filter(|ty| !ty.is_float()).collect();
        for &op in Op::ALL {
            for &ty in &integers {
                for &result in &integers {
                    let types = vec![ty; op.arity()];
                    if !op.accepts(result, &types) || op == Op::Select {
                        continue;
                    }
                    match op.arity() {
                        1 => intervals(ty).into_iter().for_each(|a| check(op, result, &types, &[a])),
                        2 => {
                            for a in intervals(ty).into_iter().step_by(2) {
                                for b in intervals(ty).into_iter().step_by(3) {
                                    check(op, result, &types, &[a, b]);
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    #[test]
    fn select_takes_what_its_condition_allows() {
        let types = [ScalarType::Bool, ScalarType::I32, ScalarType::I32];
        let of = |condition| of_op(Op::Select, ScalarType::I32, &types, &[condition, (1, 2), (5, 6)]);
        assert_eq!([of((1, 1)), of((0, 0)), of((0, 1))], [(1, 2), (5, 6), (1, 6)]);
    }

    #[test]
    fn bits_keep_within_bounds() {
        let of = |op, a, b| of_op(op, ScalarType::I32, &[ScalarType::I32; 2], &[a, b]);
        let any = ScalarType::I32.range();
        assert_eq!(of(Op::And, any, (7, 7)), (0, 7));
        assert_eq!(of(Op::And, (-3, 9), (-8, -8)), (-8, 9));
        assert_eq!(of(Op::Xor, (0, 63), (5, 5)), (0, 63));
        assert_eq!(of(Op::Xor, (-9, 3), (2, 2)), (-16, 15));
        assert_eq!(of(Op::Or, (0, 60), (4, 4)), (4, 63));
        assert_eq!(of(Op::Or, any, (-4, -2)), (any.0, -1));
        assert_eq!(of(Op::Shl, (0, 7), (3, 3)), (0, 56));
        assert_eq!(of(Op::Shr, (-9, 63), (3, 3)), (-2, 7));
        assert_eq!(of(Op::Rem, (-9, 63), (8, 8)), (-7, 7));
        assert_eq!(of(Op::Rem, (0, 63), (1, 8)), (0, 7));
        assert_eq!(of(Op::Div, (-9, 63), (2, 8)), (-4, 31));
    }

    fn bounds(program: &str, ranges: &[(u32, Interval)], name: &str) -> Interval {
        let program = crate::parse(program).unwrap();
        crate::check(&program).unwrap();
        let ranges = ranges.iter().map(|&(number, interval)| (Var(number), interval)).collect();
        let var = program.vars.iter().position(|info| info.name == name).unwrap();
        Intervals::of(&program, &ranges).var(Var(var as u32))
    }

    const LOOPS: &str = "kernel k params %n: i64 threads 256
        prologue { %r: i64 = add %n, 255:i64 %blocks: i64 = div %r, 256:i64 }
        blocks %block: i64 < %blocks
        body {
          %first: i64 = mul %block, 256:i64
          parallel %i: i64 < 256:i64 {
            %at: i64 = add %first, %i
            for %k: i64 in %at..%n step 4:i64 carry %sum: i64 = 0:i64, %up: i64 = 3:i64 , %flag: bool = true {
              %sum2: i64 = add %sum, %k
              %up2: i64 = rem %k, 8:i64
              next %sum2, %up2, false
            }
            %c: bool = lt %at, %n
            %j: i64 = if %c { %t: i64 = add %at, 1:i64 yield %t } else { yield -1:i64 }
          }
        }";

    #[test]
    fn loops_and_branches_have_bounds() {
        let of = |name| bounds(LOOPS, &[(0, (0, 1000))], name);
        assert_eq!(of("blocks"), (0, 4));
        assert_eq!(of("block"), (0, 3));
        assert_eq!(of("i"), (0, 255));
        assert_eq!(of("at"), (0, 1023));
        assert_eq!(of("k"), (0, 999));
        assert_eq!(of("sum"), ScalarType::I64.range());
        assert_eq!(of("up"), (0, 7));
        assert_eq!(of("flag"), (0, 1));
        assert_eq!(of("j"), (-1, 1024));
    }

    #[test]
    fn unknown_arguments_have_the_range_of_their_type() {
        assert_eq!(bounds(LOOPS, &[], "n"), ScalarType::I64.range());
        assert_eq!(bounds(LOOPS, &[], "r"), ScalarType::I64.range());
    }
}
