//! A pass: decides what can be decided before the launch.
//!
//! Programs are built for any arguments and planned for actual ones: what a range of arguments settles (that an index
//! check holds, that a loop goes round once, that a tail is empty) need not be found out by every thread. It uses
//! [`Intervals`] and, where those lose how values hang together, `prove.rs`.
//!
//! Needs: a program that the verifier accepts, and ranges that the scalar arguments of every launch keep to. Leaves: one that
//! does the same for arguments in these ranges, in which no condition, loop or check is left that they decide; parameters
//! that only failures needed are gone.

use std::collections::HashMap;

use pumice_scalar::{Constant, Op, ScalarType};

use crate::interval::{Intervals, Ranges};
use crate::ir::{Carried, Operand, Param, Program, Stmt, Var};
use crate::passes::dead::eliminate_dead;
use crate::prove::Prover;

/// Chains of values that stand for each other are shorter than this, in a program that the verifier accepts.
const MAX_CHAIN: usize = 8;

/// Decides what is the same for all scalar arguments in these ranges:
///
/// - comparisons and what is computed from them, the smaller and the larger of two, operations on constants, and sums and
///   products of integers with what does not change them;
/// - which side of an `if` or a `select` is taken;
/// - which loops do nothing, and which go round exactly once;
/// - which checks hold, and which repeat another one.
///
/// Dead statements are removed. If no check is left, the failure record goes too, and with it its
/// parameters: the memory, and the base if nothing else reads it. Returns the positions of those among the original
/// parameters, in order; all others stay, in the same order and with the same variables (memories are renumbered). A caller
/// that has a list of arguments already drops those at the positions returned. The program must be one that the verifier
/// accepts.
pub fn settle(program: &mut Program, ranges: &Ranges) -> Vec<usize> {
    let intervals = Intervals::of(program, ranges);
    let mut settler = Settler {
        program,
        intervals: &intervals,
        prover: Prover::new(program, &intervals),
        known: HashMap::new(),
        conditions: HashMap::new(),
        checked: Vec::new(),
    };
    let (mut prologue, mut body) = (Vec::new(), Vec::new());
    settler.list(&program.prologue, &mut prologue);
    let blocks = settler.value(program.blocks);
    settler.index(program.block, Operand::Constant(0i64.into()), blocks);
    settler.list(&program.body, &mut body);
    (program.prologue, program.blocks, program.body) = (prologue, blocks, body);
    eliminate_dead(program);
    drop_failure(program)
}

struct Settler<'a> {
    /// The program before.
    program: &'a Program,
    intervals: &'a Intervals,
    prover: Prover<'a>,
    /// Replacements of variables at the current statement.
    known: HashMap<Var, Operand>,
    /// Definitions of the conditions that are not decided.
    conditions: HashMap<Var, (Op, Vec<Operand>)>,
    /// Conditions that were checked before the current statement, wherever it is reached.
    checked: Vec<Operand>,
}

impl Settler<'_> {
    fn ty(&self, operand: Operand) -> ScalarType {
        match operand {
            Operand::Var(var) => {
                self.program.vars.get(var.0 as usize).map_or(ScalarType::Bool, |info| info.ty)
            }
            Operand::Constant(constant) => constant.ty(),
        }
    }

    /// Returns the replacement of an operand at the current statement.
    fn value(&self, operand: Operand) -> Operand {
        let mut operand = operand;
        for _ in 0..MAX_CHAIN {
            let Operand::Var(var) = operand else {
                return operand;
            };
            match self.known.get(&var) {
                Some(&value) => operand = value,
                None => break,
            }
        }
        let (low, high) = self.intervals.operand(operand);
        match self.ty(operand) {
            ScalarType::Bool if low == high => Operand::Constant((low != 0).into()),
            _ => operand,
        }
    }

    fn values(&self, operands: &[Operand]) -> Vec<Operand> {
        operands.iter().map(|&operand| self.value(operand)).collect()
    }

    /// Takes note of an index from `low` to below `high`, which is not empty where the index can be read.
    fn index(&mut self, var: Var, low: Operand, high: Operand) {
        self.prover.define_index(var, low, high);
        self.prover.assume(Op::Lt, &[low, high], true);
    }

    /// Takes note of a condition and what follows from it; gives the variables that are known now and were not.
    fn assume(&mut self, condition: Operand, holds: bool) -> Vec<Var> {
        let mut assumed = Vec::new();
        let mut todo = vec![(condition, holds)];
        while let Some((condition, holds)) = todo.pop() {
            let Operand::Var(var) = self.value(condition) else {
                continue;
            };
            self.known.insert(var, Operand::Constant(holds.into()));
            assumed.push(var);
            match self.conditions.get(&var) {
                Some((Op::And, operands)) if holds => todo.extend(operands.iter().map(|&at| (at, true))),
                Some((Op::Or, operands)) if !holds => todo.extend(operands.iter().map(|&at| (at, false))),
                Some((Op::Not, operands)) => todo.extend(operands.iter().map(|&at| (at, !holds))),
                Some((op, operands)) if op.compares() => self.prover.assume(*op, operands, holds),
                _ => {}
            }
        }
        assumed
    }

    fn forget(&mut self, assumed: Vec<Var>) {
        for var in assumed {
            self.known.remove(&var);
        }
    }

    fn list(&mut self, list: &[Stmt], out: &mut Vec<Stmt>) {
        for stmt in list {
            self.statement(stmt, out);
        }
    }

    fn statement(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            Stmt::If { .. } => self.branch(stmt, out),
            Stmt::For { .. } => self.for_loop(stmt, out),
            Stmt::While { .. } => self.while_loop(stmt, out),
            Stmt::Parallel { .. } => self.parallel(stmt, out),
            _ => self.simple(stmt, out),
        }
    }

    fn branch(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let Stmt::If { condition, then, otherwise, results } = stmt else { return };
        let condition = self.value(*condition);
        if let Some(holds) = truth(condition) {
            self.list(if holds { then } else { otherwise }, out);
            for joined in results {
                let value = self.value(if holds { joined.then } else { joined.otherwise });
                self.known.insert(joined.var, value);
            }
            return;
        }
        let mut results = results.clone();
        let then = self.inner(then, Some((condition, true)), |settler| {
            results.iter_mut().for_each(|joined| joined.then = settler.value(joined.then));
        });
        let otherwise = self.inner(otherwise, Some((condition, false)), |settler| {
            results.iter_mut().for_each(|joined| joined.otherwise = settler.value(joined.otherwise));
        });
        out.push(Stmt::If { condition, then, otherwise, results });
    }

    fn for_loop(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let Stmt::For { var, start, end, step, carried, body } = stmt else { return };
        let [start, end, step] = [*start, *end, *step].map(|operand| self.value(operand));
        let mut carried = self.initials(carried);
        if self.prover.differ(start, end, 0) {
            carried.iter().for_each(|carried| self.stands_for(carried.initial, carried.var));
            return;
        }
        let once = self.intervals.operand(step).0 > 0
            && self.prover.differ(end, start, 1)
            && self.prover.within_a_step(start, end, step);
        if once {
            self.stands_for(start, *var);
            carried.iter().for_each(|carried| self.stands_for(carried.initial, carried.var));
            self.list(body, out);
            self.nexts(&mut carried);
            carried.iter().for_each(|carried| self.stands_for(carried.next, carried.var));
            return;
        }
        let mark = self.prover.mark();
        self.index(*var, start, end);
        let body = self.inner(body, None, |settler| settler.nexts(&mut carried));
        self.prover.leave(mark);
        out.push(Stmt::For { var: *var, start, end, step, carried, body });
    }

    fn while_loop(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let Stmt::While { carried, header, condition, body } = stmt else { return };
        let mut carried = self.initials(carried);
        let mark = self.prover.mark();
        let mut new_header = Vec::new();
        self.list(header, &mut new_header);
        let condition = self.value(*condition);
        let body = self.inner(body, Some((condition, true)), |settler| settler.nexts(&mut carried));
        self.prover.leave(mark);
        out.push(Stmt::While { carried, header: new_header, condition, body });
    }

    fn parallel(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let Stmt::Parallel { workers, var, extent, body } = stmt else { return };
        let extent = self.value(*extent);
        let zero = Operand::Constant(Constant::zero(self.ty(extent)));
        if self.prover.differ(zero, extent, 0) {
            return;
        }
        let mark = self.prover.mark();
        self.index(*var, zero, extent);
        let body = self.inner(body, None, |_| ());
        self.prover.leave(mark);
        out.push(Stmt::Parallel { workers: *workers, var: *var, extent, body });
    }

    /// A statement without others inside. It is apart from those that have some because, not optimised, it needs a lot
    /// of stack.
    fn simple(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Comment(_) | Stmt::Sync { .. } | Stmt::Fence { .. } => out.push(stmt.clone()),
            Stmt::Let { var, op, operands } => {
                let operands = self.values(operands);
                match self.settled(*var, *op, &operands) {
                    Some(value) => {
                        self.known.insert(*var, value);
                    }
                    None => {
                        self.prover.define(*var, *op, &operands);
                        if self.ty(Operand::Var(*var)) == ScalarType::Bool {
                            self.conditions.insert(*var, (*op, operands.clone()));
                        }
                        out.push(Stmt::Let { var: *var, op: *op, operands });
                    }
                }
            }
            Stmt::Load { vars, memory, index } => {
                out.push(Stmt::Load { vars: vars.clone(), memory: *memory, index: self.value(*index) });
            }
            Stmt::Store { memory, index, values } => {
                let (index, values) = (self.value(*index), self.values(values));
                out.push(Stmt::Store { memory: *memory, index, values });
            }
            Stmt::Atomic { var, op, memory, index, operands } => {
                let (index, operands) = (self.value(*index), self.values(operands));
                out.push(Stmt::Atomic { var: *var, op: *op, memory: *memory, index, operands });
            }
            Stmt::Collective { var, op, operands } => {
                out.push(Stmt::Collective { var: *var, op: *op, operands: self.values(operands) });
            }
            Stmt::Fail { unless, site, index, bound } => {
                let unless = self.value(*unless);
                // The same condition was checked before: if it does not hold, the failure is recorded already.
                if truth(unless) != Some(true) && !self.checked.contains(&unless) {
                    self.checked.push(unless);
                    let (index, bound) = (self.value(*index), self.value(*bound));
                    out.push(Stmt::Fail { unless, site: *site, index, bound });
                }
            }
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } | Stmt::Parallel { .. } => {}
        }
    }

    /// A list inside the current one, in which a condition holds (or does not); `end` is done with what is known in it.
    fn inner(
        &mut self,
        list: &[Stmt],
        condition: Option<(Operand, bool)>,
        end: impl FnOnce(&mut Self),
    ) -> Vec<Stmt> {
        let mark = self.prover.mark();
        let assumed = condition.map_or(Vec::new(), |(condition, holds)| self.assume(condition, holds));
        let mut out = Vec::new();
        let checked = self.checked.len();
        self.list(list, &mut out);
        end(self);
        self.checked.truncate(checked);
        self.forget(assumed);
        self.prover.leave(mark);
        out
    }

    fn stands_for(&mut self, value: Operand, var: Var) {
        self.known.insert(var, value);
    }

    fn initials(&self, carried: &[Carried]) -> Vec<Carried> {
        carried.iter().map(|carried| Carried { initial: self.value(carried.initial), ..*carried }).collect()
    }

    fn nexts(&self, carried: &mut [Carried]) {
        carried.iter_mut().for_each(|carried| carried.next = self.value(carried.next));
    }

    /// Returns the replacement of an operation's result, if it is decided.
    fn settled(&self, var: Var, op: Op, operands: &[Operand]) -> Option<Operand> {
        let ty = self.ty(Operand::Var(var));
        let (low, high) = self.intervals.var(var);
        if ty == ScalarType::Bool && low == high {
            return Some(Operand::Constant((low != 0).into()));
        }
        let constants: Option<Vec<Constant>> = operands.iter().map(|&operand| constant(operand)).collect();
        if let Some(constants) = constants {
            // Floats are for the device to compute.
            let floats = ty.is_float() || constants.iter().any(|constant| constant.ty().is_float());
            return (!floats).then(|| Operand::Constant(op.evaluate(ty, &constants)));
        }
        match (op, operands) {
            (Op::And | Op::Or, &[a, b]) if ty == ScalarType::Bool => {
                // The value that decides: `false` for `and`, `true` for `or`.
                let decides = op == Op::Or;
                match (truth(a), truth(b)) {
                    (Some(a), _) if a != decides => Some(b),
                    (_, Some(b)) if b != decides => Some(a),
                    (None, None) => None,
                    _ => Some(Operand::Constant(decides.into())),
                }
            }
            (Op::Select, &[condition, a, b]) => match truth(condition) {
                Some(holds) => Some(if holds { a } else { b }),
                None => (a == b).then_some(a),
            },
            (Op::Min | Op::Max, &[a, b]) if ty.is_integer() => match () {
                () if self.prover.differ(b, a, 0) => Some(if op == Op::Min { a } else { b }),
                () if self.prover.differ(a, b, 0) => Some(if op == Op::Min { b } else { a }),
                () => None,
            },
            (Op::Add | Op::Mul, &[a, b]) if ty.is_integer() => {
                let neutral = i128::from(op == Op::Mul);
                let is_neutral = |operand| constant(operand).and_then(Constant::as_integer) == Some(neutral);
                if is_neutral(b) { Some(a) } else { is_neutral(a).then_some(b) }
            }
            (Op::Sub, &[a, b]) if ty.is_integer() => {
                (constant(b).and_then(Constant::as_integer) == Some(0)).then_some(a)
            }
            _ if op.compares() => {
                self.prover.compare(op, operands).map(|holds| Operand::Constant(holds.into()))
            }
            _ => None,
        }
    }
}

fn constant(operand: Operand) -> Option<Constant> {
    match operand {
        Operand::Constant(constant) => Some(constant),
        Operand::Var(_) => None,
    }
}

/// Returns the value of a condition that is a constant.
fn truth(operand: Operand) -> Option<bool> {
    constant(operand).filter(|constant| constant.ty() == ScalarType::Bool).map(Constant::is_true)
}

/// Removes the failure record if no check is left; returns the positions of the parameters that are gone.
fn drop_failure(program: &mut Program) -> Vec<usize> {
    let Some(failure) = program.failure.filter(|_| !program.body.iter().any(fails)) else {
        return Vec::new();
    };
    program.failure = None;
    let base = Operand::Var(failure.base);
    let read =
        program.blocks == base || program.prologue.iter().chain(&program.body).any(|stmt| reads(stmt, base));
    let spare = |param: &Param| match *param {
        Param::Memory(memory) => memory == failure.memory,
        Param::Scalar(var) => var == failure.base && !read,
    };
    let params = program.params.iter().enumerate();
    let gone: Vec<usize> = params.filter(|(_, param)| spare(param)).map(|(position, _)| position).collect();
    program.params.retain(|param| !spare(param));
    program.remove_memory(failure.memory);
    gone
}

fn fails(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Fail { .. }) || stmt.children().into_iter().flatten().any(fails)
}

fn reads(stmt: &Stmt, operand: Operand) -> bool {
    stmt.operands().contains(&operand)
        || stmt.children().into_iter().flatten().any(|stmt| reads(stmt, operand))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body after the pass, one statement a line, for `n` in 1..=1000 and `m` in 0..=7.
    fn settled(body: &str) -> String {
        let text = format!(
            "kernel k memory @xs: global read i64 memory @failure: global readwrite i64 memory @out: global write i64
             params @xs, @failure, @out, %base: i64, %n: i64, %m: i64 failure @failure + %base threads 64
             prologue {{ %rounded: i64 = add %n, 255:i64 %blocks: i64 = div %rounded, 256:i64 }}
             blocks %block: i64 < %blocks
             body {{ {body} parallel %last: i64 < 1:i64 {{ %x: i64 = load @xs[0:i64] %inside: bool = lt %x, %n
               fail 0 unless %inside, index %x, bound %n store @out[%x] = 0:i64 }} }}"
        );
        let mut program = crate::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        crate::check(&program).unwrap();
        let var = |name: &str| {
            Var(program.vars.iter().position(|info| info.name == name).unwrap_or_default() as u32)
        };
        let ranges = Ranges::from([(var("n"), (1, 1000)), (var("m"), (0, 7))]);
        settle(&mut program, &ranges);
        crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        program.body.pop();
        program.body.iter().map(|stmt| lines(&program, stmt)).collect()
    }

    fn lines(program: &Program, stmt: &Stmt) -> String {
        let mut text = program.statement_text(stmt) + "\n";
        for child in stmt.children() {
            child.iter().for_each(|stmt| text += &lines(program, stmt));
        }
        // Without numbers.
        text.split('.').map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())).collect()
    }

    #[track_caller]
    fn becomes(body: &str, expected: &str) {
        assert_eq!(settled(body).trim_end(), expected);
    }

    /// Whether a comparison in a thread is decided, and how.
    #[track_caller]
    fn decided(setup: &str, condition: &str, expected: Option<bool>) {
        let text = settled(&format!(
            "{setup} {condition} %v: i64 = select %t, 1:i64, 0:i64 store @out[%at] = %v }}"
        ));
        let found = match () {
            () if text.contains("= 1:i64") => Some(true),
            () if text.contains("= 0:i64") => Some(false),
            () => None,
        };
        assert_eq!(found, expected, "{condition}\n{text}");
    }

    #[test]
    fn a_condition_is_checked_once() {
        let fail = |site: u32| format!("fail {site} unless %t, index %y, bound %n");
        let (load, store) = ("%y: i64 = load @xs[%i] %t: bool = lt %y, %n", "store @out[%i] = %y");
        let (first, second) = (fail(1), fail(2));
        let text = settled(&format!(
            "parallel %i: i64 < 64:i64 {{ {load} {first} if %t {{ {second} {store} }} {second} {store} }}"
        ));
        assert_eq!((text.matches("fail 1").count(), text.matches("fail 2").count()), (1, 0), "{text}");
        // What is checked on one side is not on the other, nor afterwards.
        let text = settled(&format!(
            "parallel %i: i64 < 64:i64 {{ {load} %u: bool = lt %i, %m if %u {{ {first} {store} }} else {{ {second} {store} }} {second} {store} }}"
        ));
        assert_eq!((text.matches("fail 1").count(), text.matches("fail 2").count()), (1, 2), "{text}");
    }

    #[test]
    fn intervals_decide() {
        let setup = "parallel %i: i64 < 64:i64 { %at: i64 = add %i, 0:i64";
        decided(setup, "%t: bool = lt %i, 64:i64", Some(true));
        decided(setup, "%t: bool = lt %i, 63:i64", None);
        decided(setup, "%t: bool = lt 63:i64, %i", Some(false));
        decided(setup, "%r: i64 = rem %i, 8:i64 %t: bool = lt %r, 8:i64", Some(true));
        decided(setup, "%r: i64 = and %i, 7:i64 %t: bool = le %r, 7:i64", Some(true));
        decided(setup, "%r: i64 = xor %i, 31:i64 %t: bool = lt %r, 64:i64", Some(true));
        decided(setup, "%r: i64 = shr %i, 3:i64 %t: bool = lt %r, 8:i64", Some(true));
        decided(setup, "%r: i64 = min %i, %n %t: bool = lt %r, 64:i64", Some(true));
        decided(setup, "%a: bool = lt %n, %m %b: bool = lt %i, 64:i64 %t: bool = and %a, %b", None);
        decided(setup, "%a: bool = lt %n, %m %b: bool = lt %i, 64:i64 %t: bool = or %a, %b", Some(true));
        decided(setup, "%a: bool = lt %n, %m %b: bool = lt 64:i64, %i %t: bool = and %a, %b", Some(false));
        decided(setup, "%b: bool = lt 64:i64, %i %t: bool = not %b", Some(true));
        decided(setup, "%t: bool = eq %i, 64:i64", Some(false));
        decided(setup, "%t: bool = ne %i, 64:i64", Some(true));
    }

    #[test]
    fn a_tail_is_within_its_array() {
        let setup = "%start: i64 = mul %block, 256:i64 %rest: i64 = sub %n, %start
            %length: i64 = min 256:i64, %rest
            parallel %i: i64 < %length { %at: i64 = add %start, %i";
        decided(setup, "%t: bool = lt %at, %n", Some(true));
        decided(setup, "%t: bool = le %n, %at", Some(false));
        decided(setup, "%t: bool = le 0:i64, %at", Some(true));
        decided(setup, "%u: i64 = add %at, 1:i64 %t: bool = lt %u, %n", None);
        decided(setup, "%u: i64 = add %at, 1:i64 %t: bool = le %u, %n", Some(true));
        decided(setup, "%t: bool = lt %i, %rest", Some(true));
        // There is something left for every block.
        decided(setup, "%t: bool = lt %start, %n", Some(true));
        decided(setup, "%t: bool = lt 0:i64, %length", Some(true));
        // Computed anew, or in another order.
        decided(setup, "%r: i64 = sub %n, %start %t: bool = lt %i, %r", Some(true));
        decided(setup, "%s: i64 = shl %block, 8:i64 %u: i64 = add %i, %s %t: bool = lt %u, %n", Some(true));
        decided(setup, "%u: i32 = cast %at %w: i32 = cast %n %t: bool = lt %u, %w", Some(true));
        // Without the minimum nothing is known.
        let setup = setup.replace("%i: i64 < %length", "%i: i64 < 256:i64");
        decided(&setup, "%t: bool = lt %at, %n", None);
        decided(&setup, "%t: bool = le 0:i64, %at", Some(true));
    }

    /// Whether the comparison `%in` of a list is decided, and how.
    #[track_caller]
    fn decided_in(list: &str, expected: Option<bool>) {
        let store = "%v: i64 = select %in, 1:i64, 0:i64 store @out[%at] = %v";
        let text = settled(&list.replace("STORE", store));
        assert!(text.contains("store"), "{list}");
        let found = text.contains("= 1:i64").then_some(true).or(text.contains("= 0:i64").then_some(false));
        assert_eq!(found, expected, "{list}\n{text}");
    }

    #[test]
    fn a_whole_tile_is_within_its_array() {
        let tile = |beyond: i64| {
            format!(
                "%start: i64 = mul %block, 256:i64 %rest: i64 = sub %n, %start
                 %length: i64 = min 256:i64, %rest %whole: bool = eq %length, 256:i64
                 if %whole {{ parallel %i: i64 < 128:i64 {{ %at: i64 = add %start, %i
                 %u: i64 = add %at, {beyond}:i64 %in: bool = lt %u, %n STORE }} }}"
            )
        };
        decided_in(&tile(128), Some(true));
        decided_in(&tile(129), None);
    }

    #[test]
    fn tiles_of_a_matrix_are_within_its_array() {
        // Tiles of 4 × 4 of a matrix of 8 × 8: not all that are asked for are there.
        let setup = "%first_row: i64 = mul %block, 4:i64 %first_column: i64 = mul %m, 4:i64
            %rest: i64 = sub 8:i64, %first_row %height: i64 = min %rest, 4:i64
            %right: i64 = sub 8:i64, %first_column %width: i64 = min %right, 4:i64";
        let whole = "%high: bool = eq %height, 4:i64 %wide: bool = eq %width, 4:i64
            %whole: bool = and %high, %wide
            if %whole { parallel %t: i64 < 8:i64 { %r: i64 = div %t, 4:i64 %c: i64 = rem %t, 4:i64
            %y: i64 = add %r, 2:i64";
        let edge = "parallel %t: i64 < 16:i64 { %y: i64 = div %t, 4:i64 %c: i64 = rem %t, 4:i64
            %low: bool = lt %y, %height %left: bool = lt %c, %width %both: bool = and %low, %left
            if %both {";
        let place = "%row: i64 = add %first_row, %y %column: i64 = add %first_column, %c
            %before: i64 = mul %row, 8:i64 %at: i64 = add %before, %column";
        for (part, beyond, expected) in
            [(whole, 0, Some(true)), (whole, 1, None), (edge, 0, Some(true)), (edge, 1, None)]
        {
            let test = format!("%z: i64 = add %at, {beyond}:i64 %in: bool = lt %z, 64:i64");
            decided_in(&format!("{setup} {part} {place} {test} STORE }} }}"), expected);
        }
    }

    #[test]
    fn windows_of_a_matrix_are_within_its_array() {
        // A window of 4 × 4 of a matrix of 10 columns, in a loop over windows below each other.
        let setup = "%rows: i64 = div %n, 10:i64 %sum: i64 = add %rows, 3:i64 %rounds: i64 = div %sum, 4:i64
            %across: i64 = rem %block, 3:i64 %first_column: i64 = mul %across, 4:i64 %limit: i64 = sub %rows, 4:i64
            for %k: i64 in 0:i64..%rounds step 1:i64 { %first_row: i64 = mul %k, 4:i64";
        let whole = "%high: bool = le %first_row, %limit %wide: bool = le %first_column, 6:i64
            %whole: bool = and %high, %wide
            if %whole { parallel %t: i64 < 16:i64 { %y: i64 = div %t, 4:i64 %c: i64 = rem %t, 4:i64
            %row: i64 = add %first_row, %y %column: i64 = add %first_column, %c";
        let edge = "parallel %t: i64 < 16:i64 { %y: i64 = div %t, 4:i64 %c: i64 = rem %t, 4:i64
            %row: i64 = add %first_row, %y %column: i64 = add %first_column, %c
            %low: bool = lt %row, %rows %left: bool = lt %column, 10:i64 %both: bool = and %low, %left
            if %both {";
        let place = "%before: i64 = mul %row, 10:i64 %at: i64 = add %before, %column";
        for (part, beyond, expected) in
            [(whole, 0, Some(true)), (whole, 1, None), (edge, 0, Some(true)), (edge, 1, None)]
        {
            let test = format!("%z: i64 = add %at, {beyond}:i64 %in: bool = lt %z, %n");
            decided_in(&format!("{setup} {part} {place} {test} STORE }} }} }}"), expected);
        }
    }

    #[test]
    fn a_length_that_a_loop_halves_stays_one() {
        let round = |test: &str| {
            format!(
                "while carry %length: i64 = 256:i64 {{ %more: bool = ne %length, 1:i64 }} test %more {{
                   %half: i64 = div %length, 2:i64 %rest: i64 = sub %length, %half
                   %same: bool = eq %half, %rest %next: i64 = select %same, %half, 0:i64
                   parallel %i: i64 < %next {{ %at: i64 = add %half, %i {test} STORE }}
                   next %next }}"
            )
        };
        decided_in(&round("%in: bool = lt %at, %length"), Some(true));
        decided_in(&round("%u: i64 = add %at, 1:i64 %in: bool = lt %u, %length"), None);
        decided_in(&round("%in: bool = le 0:i64, %at"), Some(true));
    }

    #[test]
    fn indices_of_arguments_are_bounded_by_them() {
        let setup = "%product: i64 = mul %n, %m parallel %i: i64 < %product { %at: i64 = add %i, 0:i64";
        decided(setup, "%t: bool = lt %i, %product", Some(true));
        decided(setup, "%p: i64 = mul %n, %m %t: bool = lt %i, %p", Some(true));
        decided(setup, "%r: i64 = rem %i, %n %t: bool = lt %r, %n", Some(true));
        // By something that may be zero the remainder is zero.
        decided(setup, "%r: i64 = rem %i, %m %t: bool = lt %r, %m", None);
        decided(setup, "%q: i64 = div %i, %n %p: i64 = mul %q, %n %t: bool = le %p, %i", Some(true));
        decided(setup, "%q: i64 = div %i, 3:i64 %p: i64 = mul %q, 3:i64 %t: bool = le %p, %i", Some(true));
        decided(setup, "%q: i64 = div %i, 3:i64 %p: i64 = mul %q, 3:i64 %t: bool = lt %p, %i", None);
        decided(setup, "%q: i64 = div %i, 3:i64 %p: i64 = mul %q, 4:i64 %t: bool = le %p, %i", None);
        decided(setup, "%q: i64 = max %i, %n %t: bool = le %n, %q", Some(true));
    }

    #[test]
    fn sums_and_products_with_nothing_are_gone() {
        becomes(
            "parallel %i: i64 < 64:i64 { %y: i64 = load @xs[%i] %a: i64 = add %y, 0:i64 %b: i64 = mul 1:i64, %a
               %c: i64 = sub %b, 0:i64 %d: i64 = sub 0:i64, %c store @out[%i] = %d }",
            "parallel %i: i64 < 64:i64\n%y: i64 = load @xs[%i]\n%d: i64 = sub 0:i64, %y\nstore @out[%i] = %d",
        );
    }

    #[test]
    fn what_may_wrap_proves_nothing() {
        let setup = "parallel %i: i64 < 64:i64 { %at: i64 = add %i, 0:i64 %y: i64 = load @xs[%i]";
        decided(setup, "%u: i64 = add %y, 1:i64 %t: bool = lt %y, %u", None);
        decided(setup, "%z: i64 = and %y, 255:i64 %u: i64 = add %z, 1:i64 %t: bool = lt %z, %u", Some(true));
        decided(setup, "%z: i32 = cast %y %u: i64 = cast %z %t: bool = eq %u, %y", None);
    }

    #[test]
    fn a_condition_holds_in_its_branch() {
        let setup = "parallel %i: i64 < 64:i64 { %at: i64 = add %i, 0:i64 %y: i64 = load @xs[%i]
            %c: bool = lt %y, %n %low: bool = le 0:i64, %y %both: bool = and %low, %c";
        let inside = |condition: &str, test: &str, expected: Option<bool>| {
            let text = settled(&format!(
                "{setup} if {condition} {{ {test} %v: i64 = select %t, 1:i64, 0:i64 store @out[%at] = %v }} }}"
            ));
            let found =
                text.contains("= 1:i64").then_some(true).or(text.contains("= 0:i64").then_some(false));
            assert_eq!(found, expected, "{condition} {test}\n{text}");
        };
        inside("%c", "%t: bool = lt %y, %n", Some(true));
        inside("%c", "%t: bool = not %c", Some(false));
        inside("%c", "%t: bool = le %n, %y", Some(false));
        inside("%c", "%t: bool = le %y, 1000:i64", Some(true));
        inside("%c", "%t: bool = le 0:i64, %y", None);
        inside("%both", "%t: bool = le 0:i64, %y", Some(true));
        inside("%both", "%t: bool = and %c, %low", Some(true));
        inside("%both { } else", "%t: bool = lt %y, %n", None);
        inside("%c { } else", "%t: bool = lt %y, %n", Some(false));
        inside("%c { } else", "%t: bool = le 1:i64, %y", Some(true));
        // And not after it.
        let text = settled(&format!(
            "{setup} if %c {{ store @out[0:i64] = 1:i64 }} if %c {{ store @out[%at] = 2:i64 }} }}"
        ));
        assert_eq!(text.matches("if %c").count(), 2, "{text}");
    }

    #[test]
    fn what_a_branch_computes_says_nothing_after_it() {
        // In the branch the minimum is `y`, which is small there; the same product after it is of any `y`.
        let setup = "parallel %i: i64 < 64:i64 { %at: i64 = add %i, 0:i64
            %l: i64 = load @xs[%i] %y: i64 = and %l, 127:i64 %z: i64 = and %i, 7:i64 %c: bool = le %y, %z
            if %c { %w: i64 = min %y, %z %p: i64 = mul %w, %m store @out[%p] = %p }";
        decided(setup, "%q: i64 = mul %y, %m %t: bool = lt %q, 50:i64", None);
        decided(setup, "%q: i64 = mul %z, %m %t: bool = lt %q, 50:i64", Some(true));
    }

    #[test]
    fn a_loop_knows_its_condition() {
        let text = settled(
            "parallel %i: i64 < 64:i64 { while carry %k: i64 = 0:i64 { %t: bool = lt %k, %n } test %t {
               %u: bool = lt %k, 1000:i64 %v: i64 = select %u, 1:i64, 0:i64 store @out[%i] = %v
               %more: i64 = add %k, 1:i64 next %more } }",
        );
        assert!(text.contains("store @out[%i] = 1:i64"), "{text}");
    }

    #[test]
    fn the_side_that_is_taken_stays() {
        becomes(
            "parallel %i: i64 < 64:i64 {
               %c: bool = lt %i, 64:i64
               %y: i64 = if %c { %z: i64 = add %i, 1:i64 yield %z } else { %w: i64 = load @xs[%n] yield %w }
               store @out[%i] = %y }",
            "parallel %i: i64 < 64:i64\n%z: i64 = add %i, 1:i64\nstore @out[%i] = %z",
        );
        becomes(
            "parallel %i: i64 < 64:i64 { %a: i64 = min %i, 63:i64 %b: i64 = max %a, %n %c: i64 = max 0:i64, %a
               store @out[%b] = %c }",
            "parallel %i: i64 < 64:i64\n%b: i64 = max %i, %n\nstore @out[%b] = %i",
        );
    }

    #[test]
    fn loops_that_do_nothing_go_and_others_are_done_once() {
        let body = |start: &str, end: &str, step: &str| {
            settled(&format!(
                "for %k: i64 in {start}..{end} step {step} carry %s: i64 = %n, %t: i64 = %m {{
                   %s2: i64 = sub %k, %s
                   parallel %j: i64 < %n {{ store @out[%j] = %s2 }}
                   next %t, %s2
                 }}
                 parallel %i: i64 < 1:i64 {{ store @out[%s] = %t }}"
            ))
        };
        let never = "parallel %i: i64 < 1:i64\nstore @out[%n] = %m\n";
        assert_eq!(body("5:i64", "5:i64", "1:i64"), never);
        assert_eq!(body("%n", "%block", "1:i64"), never);
        let once = "%s2: i64 = sub 0:i64, %n\nparallel %j: i64 < %n\nstore @out[%j] = %s2\n\
                    parallel %i: i64 < 1:i64\nstore @out[%m] = %s2\n";
        assert_eq!(body("0:i64", "1:i64", "1:i64"), once);
        assert_eq!(body("0:i64", "%n", "1000:i64"), once);
        assert_eq!(body("%m", "8:i64", "8:i64"), once.replace("0:i64, %n", "%m, %n"));
        assert!(body("0:i64", "%n", "999:i64").starts_with("for"));
        assert!(body("0:i64", "%m", "1000:i64").starts_with("for"));
        assert!(body("0:i64", "2:i64", "1:i64").starts_with("for"));
        // A loop over blocks of a row that may be shorter than one.
        assert!(body("0:i64", "8:i64", "%m").starts_with("for"));
        becomes("%none: i64 = sub %m, 7:i64 parallel %i: i64 < %none { store @out[%i] = 1:i64 }", "");
    }

    #[test]
    fn without_checks_the_place_for_failures_goes() {
        let text = |bound: &str, value: &str| {
            format!(
                "kernel k memory @failure: global readwrite i64 memory @s: shared i64[4] memory @out: global write i64
                 params %base: i64, @failure, @out, %n: i64 failure @failure + %base threads 4
                 blocks %block: i64 < 1:i64
                 body {{ parallel %i: i64 < 4:i64 {{
                   %in: bool = lt %i, {bound} fail 3 unless %in, index %i, bound {bound}
                   store @s[%i] = {value} }}
                   sync
                   parallel %j: i64 < 4:i64 {{ %x: i64 = load @s[%j] store @out[%j] = %x }} }}"
            )
        };
        let settled = |bound: &str, value: &str| {
            let mut program = crate::parse(&text(bound, value)).unwrap();
            crate::check(&program).unwrap();
            let gone = settle(&mut program, &Ranges::new());
            crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
            let memories: Vec<String> = program.memories.iter().map(|memory| memory.name.clone()).collect();
            (gone, program.params.len(), memories.join(" "), program.failure.is_some())
        };
        assert_eq!(settled("4:i64", "%n"), (vec![0, 1], 2, "s out".into(), false));
        // Another statement reads the base.
        assert_eq!(settled("4:i64", "%base"), (vec![1], 3, "s out".into(), false));
        assert_eq!(settled("%n", "%n"), (vec![], 4, "failure s out".into(), true));
    }
}
