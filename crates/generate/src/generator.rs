//! The state of a program that is being generated, and the statements at block scope: computations, control flow, barriers.

mod threads;

use pumice_program::{Carried, Failure, Joined, Operand, Param, Program, Scope, Stmt, Var, Workers};
use pumice_scalar::{Op, ScalarType};

use crate::{
    CELL_OPS, CELLS, EXTREMES, FAILURE, FOUT, FS, INPUTS, MINE, OUT, SHARED_COUNT, THREADS, TOTALS, XS,
    constant,
};
use ScalarType::{Bool, F32, I32, I64, U32};

/// A cursor over the input bytes; each byte decides one choice.
struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % bound.max(1)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// A program that is being made.
pub(crate) struct Generator<'a> {
    choices: Choices<'a>,
    program: Program,
    /// Variables in scope.
    visible: Vec<Var>,
    /// Shared memories of which every element was written.
    written: Vec<bool>,
    /// Shared memories that were read and written since the last barrier.
    touched: Vec<(bool, bool)>,
    depth: usize,
    in_thread: bool,
}

impl<'a> Generator<'a> {
    /// Starts with a program that has its memories and nothing else.
    pub(crate) fn new(bytes: &'a [u8], program: Program) -> Generator<'a> {
        Generator {
            choices: Choices { bytes, at: 0 },
            program,
            visible: Vec::new(),
            written: vec![false; SHARED_COUNT as usize],
            touched: vec![(false, false); SHARED_COUNT as usize],
            depth: 0,
            in_thread: false,
        }
    }
}

impl Generator<'_> {
    /// Writes the program.
    pub(crate) fn generate(mut self) -> Program {
        let n = self.var(I64, "n");
        let m = self.var(I32, "m");
        let base = self.var(I64, "base");
        self.program.params = vec![
            Param::Memory(XS),
            Param::Scalar(n),
            Param::Memory(FS),
            Param::Memory(OUT),
            Param::Memory(FOUT),
            Param::Scalar(m),
            Param::Memory(FAILURE),
            Param::Scalar(base),
        ];
        self.program.params.extend([TOTALS, EXTREMES].map(Param::Memory));
        self.visible = vec![n, m, base];
        let mut prologue = Vec::new();
        for _ in 0..self.choices.below(3) {
            self.computation(&mut prologue);
        }
        if self.choices.one_in(2) {
            // Not more than there is room for.
            let n = self.operand(I64);
            let few = self.let_(&mut prologue, I64, Op::And, vec![n, constant(I64, 1)]);
            let blocks = self.let_(&mut prologue, I64, Op::Add, vec![few, constant(I64, 2)]);
            self.program.blocks = blocks;
        }
        self.program.prologue = prologue;
        self.program.block = self.var(I64, "block");
        self.visible.push(self.program.block);
        let mut body = Vec::new();
        self.begin(&mut body);
        while !self.choices.done() {
            self.block_statement(&mut body);
        }
        self.end(&mut body);
        self.program.body = body;
        if has_fail(&self.program.body) {
            self.program.failure = Some(Failure { memory: FAILURE, base });
        }
        self.program
    }

    fn var(&mut self, ty: ScalarType, name: &str) -> Var {
        self.program.add_var(ty, name)
    }

    fn let_(&mut self, out: &mut Vec<Stmt>, ty: ScalarType, op: Op, operands: Vec<Operand>) -> Operand {
        let var = self.var(ty, op.name());
        out.push(Stmt::Let { var, op, operands });
        self.visible.push(var);
        Operand::Var(var)
    }

    /// Something of this type that can be read here.
    fn operand(&mut self, ty: ScalarType) -> Operand {
        let of_type: Vec<Var> =
            self.visible.iter().copied().filter(|&var| self.program.var_type(var) == ty).collect();
        if of_type.is_empty() || self.choices.one_in(4) {
            let small = self.choices.below(24) as i128 - 8;
            return match ty {
                F32 => Operand::Constant((small as f32 * 0.5).into()),
                _ if self.choices.one_in(16) => {
                    let (low, high) = ty.range();
                    constant(ty, if small < 0 { low } else { high })
                }
                _ if self.choices.one_in(6) => {
                    constant(ty, self.choices.pick(&[31, 32, 33, 40, 63, 64, 255, 65536]))
                }
                _ => constant(ty, small),
            };
        }
        // The latest are the most likely.
        let back = self.choices.below(of_type.len().min(6));
        Operand::Var(of_type[of_type.len() - 1 - back])
    }

    fn computation(&mut self, out: &mut Vec<Stmt>) {
        let ty = self.choices.pick(&[I64, I64, I64, I32, U32, F32, Bool]);
        let ops: Vec<Op> = match ty {
            I64 | I32 | U32 => {
                use Op::*;
                let mut ops = vec![
                    Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Not, Shl, Shr, Select, Cast, CountOnes,
                ];
                ops.extend([Add, Mul, Cast]);
                if ty.is_signed() {
                    ops.extend([Neg, Abs]);
                }
                ops
            }
            F32 => vec![Op::Add, Op::Mul, Op::Sub, Op::Select, Op::Cast, Op::Sqrt, Op::Min],
            _ => vec![Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::And, Op::Not],
        };
        let op = self.choices.pick(&ops);
        let operands = match op {
            Op::Select => vec![self.operand(Bool), self.operand(ty), self.operand(ty)],
            Op::Cast => {
                let from = self.choices.pick(&[I64, I32, U32, F32, Bool]);
                vec![self.operand(from)]
            }
            _ if op.compares() => {
                let of = self.choices.pick(&[I64, I64, I32, F32]);
                vec![self.operand(of), self.operand(of)]
            }
            _ => (0..op.arity()).map(|_| self.operand(ty)).collect(),
        };
        self.let_(out, ty, op, operands);
    }

    /// Runs `inside` for a list whose definitions are visible in it only.
    fn scoped(&mut self, inside: impl FnOnce(&mut Self, &mut Vec<Stmt>)) -> Vec<Stmt> {
        let (visible, written) = (self.visible.len(), self.written.clone());
        let mut list = Vec::new();
        self.depth += 1;
        inside(self, &mut list);
        self.depth -= 1;
        self.visible.truncate(visible);
        self.written = written;
        list
    }

    /// Something that control flow does around lists that `fill` makes, with values that come out of it.
    fn control(&mut self, out: &mut Vec<Stmt>, fill: fn(&mut Self, &mut Vec<Stmt>)) {
        let ty = self.choices.pick(&[I64, I64, F32, I32]);
        match self.choices.below(3) {
            0 => {
                let condition = self.operand(Bool);
                let var = self.var(ty, "joined");
                let mut sides = Vec::new();
                for _ in 0..2 {
                    let mut given = constant(ty, 0);
                    let list = self.scoped(|generator, list| {
                        generator.some(list, fill);
                        given = generator.operand(ty);
                    });
                    sides.push((list, given));
                }
                let (Some((otherwise, other_value)), Some((then, value))) = (sides.pop(), sides.pop()) else {
                    return;
                };
                let results = vec![Joined { var, then: value, otherwise: other_value }];
                out.push(Stmt::If { condition, then, otherwise, results });
                self.visible.push(var);
            }
            1 => {
                let var = self.var(I64, "k");
                let start = self.choices.below(4) as i128 * 2;
                let end = constant(I64, start + self.choices.below(5) as i128);
                let (start, step) = (constant(I64, start), constant(I64, 1 + self.choices.below(2) as i128));
                let initial = self.operand(ty);
                let carried = self.var(ty, "carried");
                let mut next = initial;
                let body = self.scoped(|generator, list| {
                    generator.visible.extend([var, carried]);
                    generator.some(list, fill);
                    next = generator.operand(ty);
                });
                let carried = vec![Carried { var: carried, initial, next }];
                self.visible.push(carried[0].var);
                out.push(Stmt::For { var, start, end, step, carried, body });
            }
            _ => {
                let counter = self.var(I64, "counter");
                let initial = self.operand(ty);
                let carried = self.var(ty, "carried");
                let limit = constant(I64, self.choices.below(4) as i128);
                let mut next = [initial; 2];
                let mut condition = initial;
                let mut body = Vec::new();
                let header = self.scoped(|generator, header| {
                    generator.visible.extend([counter, carried]);
                    generator.computation(header);
                    condition = generator.let_(header, Bool, Op::Lt, vec![Operand::Var(counter), limit]);
                    body = generator.scoped(|generator, list| {
                        generator.some(list, fill);
                        let step = vec![Operand::Var(counter), constant(I64, 1)];
                        next = [generator.let_(list, I64, Op::Add, step), generator.operand(ty)];
                    });
                });
                let carried = vec![
                    Carried { var: counter, initial: constant(I64, 0), next: next[0] },
                    Carried { var: carried, initial, next: next[1] },
                ];
                self.visible.extend([carried[0].var, carried[1].var]);
                out.push(Stmt::While { carried, header, condition, body });
            }
        }
    }

    fn some(&mut self, list: &mut Vec<Stmt>, fill: fn(&mut Self, &mut Vec<Stmt>)) {
        let most = if self.in_thread { 3 } else { 6 };
        for _ in 0..1 + self.choices.below(most) {
            fill(self, list);
        }
    }

    // Statements at block scope.

    /// Initialises the memories that may be read before any other write.
    fn begin(&mut self, out: &mut Vec<Stmt>) {
        let index = self.var(I32, "i");
        let zero = constant(I32, 0);
        let store = |memory, index, value| Stmt::Store { memory, index, values: vec![value] };
        let body = vec![store(CELLS, Operand::Var(index), zero)];
        let extent = constant(I32, CELL_OPS.len() as i128);
        out.push(Stmt::Parallel { workers: Workers::Threads, var: index, extent, body });
        let index = self.var(I64, "i");
        let body = vec![
            store(MINE, zero, Operand::Constant(0.5f32.into())),
            store(MINE, constant(I32, 1), Operand::Constant(1.5f32.into())),
        ];
        let extent = constant(I64, THREADS.into());
        out.push(Stmt::Parallel { workers: Workers::Threads, var: index, extent, body });
        out.push(Stmt::Sync { scope: Scope::Block });
    }

    /// Copies the block's cells to the output.
    fn end(&mut self, out: &mut Vec<Stmt>) {
        out.push(Stmt::Sync { scope: Scope::Block });
        let index = self.var(I64, "i");
        let body = self.scoped(|generator, list| {
            let first = generator.wide_index(list, index);
            let var = generator.var(I32, "cell");
            list.push(Stmt::Load { vars: vec![var], memory: CELLS, index: Operand::Var(index) });
            let value = generator.let_(list, I64, Op::Cast, vec![Operand::Var(var)]);
            list.push(Stmt::Store { memory: OUT, index: first, values: vec![value] });
        });
        let extent = constant(I64, CELL_OPS.len() as i128);
        out.push(Stmt::Parallel { workers: Workers::Threads, var: index, extent, body });
    }

    fn block_statement(&mut self, out: &mut Vec<Stmt>) {
        match self.choices.below(8) {
            0 => self.computation(out),
            1 if self.choices.one_in(2) => {
                out.push(Stmt::Comment(format!("step {}\\ {}", self.choices.below(100), "\n")));
            }
            1 | 2 if self.depth < 2 => {
                // Conservatively counts all shared memories as read and written, before and after the nested statements.
                self.touched.fill((true, true));
                self.control(out, Self::block_statement);
                self.touched.fill((true, true));
            }
            3 => {
                let element = self.operand(I64);
                let index = self.let_(out, I64, Op::And, vec![element, constant(I64, INPUTS as i128 - 1)]);
                let var = self.var(I64, "uniform");
                out.push(Stmt::Load { vars: vec![var], memory: XS, index });
                self.visible.push(var);
            }
            _ => self.parallel(out),
        }
    }
}

fn has_fail(list: &[Stmt]) -> bool {
    list.iter().any(|stmt| {
        matches!(stmt, Stmt::Fail { .. }) || stmt.children().into_iter().any(|list| has_fail(list))
    })
}
