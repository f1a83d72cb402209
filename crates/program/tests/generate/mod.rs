//! Random programs that are well formed by construction, and whose runs have no faults unless a barrier was left out
//! on purpose. Everything follows from a list of bytes, so that proptest can shrink it.

use pumice_program::{
    Access, AtomicOp, Carried, CollectiveOp, Failure, Joined, Memory, MemoryId, Operand, Param, Program,
    Scope, SimMemory, Space, Stmt, Var, WARP, Workers,
};
use pumice_scalar::{Constant, Op, ScalarType};

use ScalarType::{Bool, F32, I32, I64, U32};

/// Threads of a block, and elements of each shared memory.
pub const THREADS: i64 = 64;
/// Elements of the inputs.
pub const INPUTS: usize = 4 * THREADS as usize;
/// The most blocks.
pub const MAX_BLOCKS: usize = 3;
/// The range of the scalar `n`.
pub const N_RANGE: (i128, i128) = (0, 1000);

const XS: MemoryId = MemoryId(0);
const FS: MemoryId = MemoryId(1);
const OUT: MemoryId = MemoryId(2);
const FOUT: MemoryId = MemoryId(3);
const FAILURE: MemoryId = MemoryId(4);
const SHARED: u32 = 5;
const SHARED_COUNT: u32 = 4;
// Only in extended programs: cells for all blocks and for one, and elements of a thread.
const TOTALS: MemoryId = MemoryId(SHARED + SHARED_COUNT);
const CELLS: MemoryId = MemoryId(SHARED + SHARED_COUNT + 1);
const MINE: MemoryId = MemoryId(SHARED + SHARED_COUNT + 2);
/// What is done to each cell: one thing each, so that the order does not matter.
const CELL_OPS: [AtomicOp; 4] = [AtomicOp::Add, AtomicOp::Max, AtomicOp::Or, AtomicOp::Xor];

/// What was decided, and what is decided next.
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

struct Generator<'a> {
    choices: Choices<'a>,
    program: Program,
    /// What can be read here.
    visible: Vec<Var>,
    /// Shared memories of which every element was written.
    written: Vec<bool>,
    /// Shared memories that were read and written since the last barrier.
    touched: Vec<(bool, bool)>,
    depth: usize,
    in_thread: bool,
}

/// A program.
pub fn program(bytes: &[u8]) -> Program {
    let global = |name: &str, ty, access| Memory { name: name.into(), ty, space: Space::Global { access } };
    let mut memories = vec![
        global("xs", I64, Access::Read),
        global("fs", F32, Access::Read),
        global("out", I64, Access::Write),
        global("fout", F32, Access::ReadWrite),
        global("failure", I64, Access::ReadWrite),
    ];
    for number in 0..SHARED_COUNT {
        let space = Space::Shared { length: THREADS as u32 };
        memories.push(Memory { name: format!("s{number}"), ty: F32, space });
    }
    let length = CELL_OPS.len() as u32;
    memories.push(global("totals", I64, Access::ReadWrite));
    memories.push(Memory { name: "cells".into(), ty: I32, space: Space::Shared { length } });
    memories.push(Memory { name: "mine".into(), ty: F32, space: Space::Private { length: 2 } });
    let program = Program {
        name: "random".into(),
        params: Vec::new(),
        vars: Vec::new(),
        memories,
        threads: THREADS as u32,
        prologue: Vec::new(),
        blocks: constant(I64, 2),
        block: Var(0),
        body: Vec::new(),
        failure: None,
        stop: None,
    };
    let mut generator = Generator {
        choices: Choices { bytes, at: 0 },
        program,
        visible: Vec::new(),
        written: vec![false; SHARED_COUNT as usize],
        touched: vec![(false, false); SHARED_COUNT as usize],
        depth: 0,
        in_thread: false,
    };
    generator.generate();
    generator.program
}

/// Memories for a run.
pub fn memories() -> Vec<SimMemory> {
    // Small ones, and some that fit no `i32`.
    let scale = |i: i64| if i % 3 == 0 { 1_000_000_007 } else { 1 };
    let xs: Vec<Constant> =
        (0..INPUTS as i64).map(|i| Constant::from((i - 20) * (i * i - 7) * scale(i))).collect();
    let fs: Vec<Constant> = (0..INPUTS).map(|i| Constant::from(i as f32 * 0.75 - 8.0)).collect();
    let outputs = MAX_BLOCKS * THREADS as usize * 4;
    let mut memories = vec![
        SimMemory::from_constants(&xs),
        SimMemory::from_constants(&fs),
        SimMemory::unwritten(outputs * 8),
        SimMemory::unwritten(outputs * 4),
        SimMemory::from_bytes(vec![0; 24]),
    ];
    memories.push(SimMemory::from_bytes(vec![0; 8 * CELL_OPS.len()]));
    memories
}

/// Scalars for a run.
pub fn scalars(n: i64) -> Vec<Constant> {
    vec![n.into(), (-3i32).into(), 100i64.into()]
}

/// The program with extents that only the launch knows, in place of the constant ones; adds them to the scalars of a run.
#[allow(dead_code)] // Not every test that includes this file asks for it.
pub fn with_unknown_extents(program: &Program, scalars: &mut Vec<Constant>) -> Program {
    fn list(program: &mut Program, statements: &mut [Stmt], scalars: &mut Vec<Constant>) {
        for stmt in statements {
            if let Stmt::Parallel { extent, .. } = stmt
                && let Operand::Constant(constant) = *extent
            {
                let param = program.add_var(constant.ty(), "extent");
                program.params.push(Param::Scalar(param));
                scalars.push(constant);
                *extent = Operand::Var(param);
            }
            for child in stmt.children_mut() {
                list(program, child, scalars);
            }
        }
    }
    let mut result = program.clone();
    let mut body = std::mem::take(&mut result.body);
    list(&mut result, &mut body, scalars);
    result.body = body;
    result
}

fn constant(ty: ScalarType, value: i128) -> Operand {
    Operand::Constant(Constant::from_integer(ty, value))
}

impl Generator<'_> {
    fn generate(&mut self) {
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
        self.program.params.push(Param::Memory(TOTALS));
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

    // What a block does.

    /// Writes what must have been written before anybody reads it.
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

    /// Writes what is in the cells of the block where it can be seen.
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
                // Whatever was touched in or around it is in the way of what comes next.
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

    /// A parallel loop that may read some shared memories and write one.
    fn parallel(&mut self, out: &mut Vec<Stmt>) {
        let writes = self.choices.one_in(2).then(|| self.choices.below(SHARED_COUNT as usize));
        let written: Vec<usize> = (0..self.written.len()).filter(|&number| self.written[number]).collect();
        let reads: Option<usize> =
            (!written.is_empty() && self.choices.below(3) > 0).then(|| self.choices.pick(&written));
        let reads = reads.filter(|&reads| Some(reads) != writes);
        let conflict = reads.is_some_and(|number| self.touched[number].1)
            || writes.is_some_and(|number| self.touched[number] != (false, false));
        let leave_out = self.choices.one_in(64);
        if (conflict && !leave_out) || self.choices.one_in(6) {
            out.push(Stmt::Sync { scope: Scope::Block });
            self.touched.fill((false, false));
        }
        let ty = self.choices.pick(&[I64, I64, I32]);
        let warps = (self.choices.one_in(3)).then(|| [self.var(ty, "warp"), self.var(ty, "lane")]);
        let index = self.var(ty, "i");
        self.in_thread = true;
        let body = self.scoped(|generator, list| {
            if let Some([warp, lane]) = warps {
                // The number of the thread.
                generator.visible.extend([warp, lane]);
                let operands = vec![Operand::Var(warp), constant(ty, WARP.into())];
                let row = generator.let_(list, ty, Op::Mul, operands);
                let operands = vec![row, Operand::Var(lane)];
                list.push(Stmt::Let { var: index, op: Op::Add, operands });
            }
            generator.visible.push(index);
            let first = generator.wide_index(list, index);
            if let Some(number) = reads {
                let any = generator.operand(ty);
                let at = generator.let_(list, ty, Op::And, vec![any, constant(ty, THREADS as i128 - 1)]);
                let var = generator.var(F32, "shared");
                list.push(Stmt::Load {
                    vars: vec![var],
                    memory: MemoryId(SHARED + number as u32),
                    index: at,
                });
                generator.visible.push(var);
            }
            for _ in 0..1 + generator.choices.below(4) {
                generator.thread_statement_with(list, index, first);
            }
            if let Some(number) = writes {
                let value = generator.operand(F32);
                let memory = MemoryId(SHARED + number as u32);
                let store = Stmt::Store { memory, index: Operand::Var(index), values: vec![value] };
                // Memory that holds something may be written in part only.
                match generator.written[number] && generator.choices.one_in(2) {
                    true => {
                        let middle = vec![Operand::Var(index), constant(ty, 7)];
                        let condition = generator.let_(list, Bool, Op::Lt, middle);
                        let (otherwise, results) = (Vec::new(), Vec::new());
                        list.push(Stmt::If { condition, then: vec![store], otherwise, results });
                    }
                    false => list.push(store),
                }
            }
            generator.store(list, first, false);
        });
        self.in_thread = false;
        match warps {
            None => {
                let extent = constant(ty, THREADS.into());
                out.push(Stmt::Parallel { workers: Workers::Threads, var: index, extent, body });
            }
            Some([warp, lane]) => {
                let extent = constant(ty, WARP.into());
                let mut inside = vec![Stmt::Parallel { workers: Workers::Lanes, var: lane, extent, body }];
                if self.choices.one_in(2) {
                    inside.insert(self.choices.below(2), Stmt::Sync { scope: Scope::Warp });
                }
                let extent = constant(ty, i128::from(THREADS) / i128::from(WARP));
                out.push(Stmt::Parallel { workers: Workers::Warps, var: warp, extent, body: inside });
            }
        }
        if let Some(number) = reads {
            self.touched[number].0 = true;
        }
        if let Some(number) = writes {
            self.touched[number].1 = true;
            self.written[number] = true;
        }
    }

    // What a thread does.

    /// Four times the number of the thread among those of all blocks: the first of its own outputs.
    fn wide_index(&mut self, out: &mut Vec<Stmt>, index: Var) -> Operand {
        let index = match self.program.var_type(index) {
            I64 => Operand::Var(index),
            _ => self.let_(out, I64, Op::Cast, vec![Operand::Var(index)]),
        };
        let block = Operand::Var(self.program.block);
        let row = self.let_(out, I64, Op::Mul, vec![block, constant(I64, THREADS.into())]);
        let thread = self.let_(out, I64, Op::Add, vec![row, index]);
        match self.choices.one_in(2) {
            true => self.let_(out, I64, Op::Mul, vec![thread, constant(I64, 4)]),
            false => self.let_(out, I64, Op::Shl, vec![thread, constant(I64, 2)]),
        }
    }

    fn thread_statement_with(&mut self, out: &mut Vec<Stmt>, index: Var, first: Operand) {
        if self.choices.one_in(3) {
            // All lanes get here: it is not inside what differs from one to another.
            return match self.choices.one_in(2) {
                true => self.collective(out),
                false => self.extended_statement(out),
            };
        }
        match self.choices.below(6) {
            0 => self.store(out, first, true),
            1 => self.load(out, index),
            2 => {
                let unless = self.operand(Bool);
                let (index, bound) = (self.operand(I64), self.operand(I64));
                out.push(Stmt::Fail { unless, site: self.choices.below(5) as u32, index, bound });
            }
            _ => self.thread_statement(out),
        }
    }

    fn collective(&mut self, out: &mut Vec<Stmt>) {
        let op = self.choices.pick(&CollectiveOp::ALL);
        let (ty, operands) = match op {
            CollectiveOp::All | CollectiveOp::Any => (Bool, vec![self.operand(Bool)]),
            CollectiveOp::Ballot => (U32, vec![self.operand(Bool)]),
            _ => {
                let ty = self.choices.pick(&[I64, I64, I32, U32, F32, Bool]);
                (ty, vec![self.operand(ty), self.operand(I32)])
            }
        };
        let var = self.var(ty, op.name());
        out.push(Stmt::Collective { var, op, operands });
        self.visible.push(var);
    }

    /// Something with a thread's own memory, or with cells that all threads change.
    fn extended_statement(&mut self, out: &mut Vec<Stmt>) {
        match self.choices.below(5) {
            0 => {
                let (index, value) = (constant(I64, self.choices.below(2) as i128), self.operand(F32));
                out.push(Stmt::Store { memory: MINE, index, values: vec![value] });
            }
            1 => {
                let any = self.operand(I64);
                let index = self.let_(out, I64, Op::And, vec![any, constant(I64, 1)]);
                let var = self.var(F32, "mine");
                out.push(Stmt::Load { vars: vec![var], memory: MINE, index });
                self.visible.push(var);
            }
            2 => {
                out.push(Stmt::Fence { scope: self.choices.pick(&[Scope::Warp, Scope::Block, Scope::Grid]) })
            }
            _ => {
                let (memory, ty) = self.choices.pick(&[(TOTALS, I64), (CELLS, I32)]);
                let cell = self.choices.below(CELL_OPS.len());
                let operands = vec![self.operand(ty)];
                let index = constant(I32, cell as i128);
                out.push(Stmt::Atomic { var: None, op: CELL_OPS[cell], memory, index, operands });
            }
        }
    }

    fn thread_statement(&mut self, out: &mut Vec<Stmt>) {
        if self.choices.one_in(5) {
            return self.extended_statement(out);
        }
        match self.choices.below(6) {
            0 if self.depth < 5 => self.control(out, Self::thread_statement),
            1 => {
                let memory = self.choices.pick(&[XS, FS]);
                let any = self.operand(I64);
                let at = self.let_(out, I64, Op::And, vec![any, constant(I64, INPUTS as i128 - 1)]);
                let ty = self.program.memory(memory).ty;
                let var = self.var(ty, "loaded");
                out.push(Stmt::Load { vars: vec![var], memory, index: at });
                self.visible.push(var);
            }
            _ => self.computation(out),
        }
    }

    /// Loads of neighbours, in some order.
    fn load(&mut self, out: &mut Vec<Stmt>, index: Var) {
        let ty = self.program.var_type(index);
        let memory = self.choices.pick(&[XS, FS]);
        let factor = self.choices.pick(&[4, 4, 2, 3]);
        let base = self.let_(out, ty, Op::Mul, vec![Operand::Var(index), constant(ty, factor)]);
        let mut offsets = vec![0, 1, 2, 3];
        for _ in 0..1 + self.choices.below(4) {
            let offset = offsets.remove(self.choices.below(offsets.len()));
            let at = self.let_(out, ty, Op::Add, vec![base, constant(ty, offset)]);
            let element = self.program.memory(memory).ty;
            let var = self.var(element, "near");
            out.push(Stmt::Load { vars: vec![var], memory, index: at });
            self.visible.push(var);
            if self.choices.one_in(3) {
                self.computation(out);
            }
        }
    }

    /// Stores to the thread's own outputs, in some order.
    fn store(&mut self, out: &mut Vec<Stmt>, first: Operand, several: bool) {
        let memory = self.choices.pick(&[OUT, FOUT]);
        let ty = self.program.memory(memory).ty;
        for _ in 0..if several { 1 + self.choices.below(6) } else { 1 } {
            let offset = self.choices.below(4) as i128;
            let at = self.let_(out, I64, Op::Add, vec![first, constant(I64, offset)]);
            let value = self.operand(ty);
            out.push(Stmt::Store { memory, index: at, values: vec![value] });
            if memory == FOUT && self.choices.one_in(4) {
                let var = self.var(F32, "again");
                out.push(Stmt::Load { vars: vec![var], memory, index: at });
                self.visible.push(var);
            }
        }
    }
}

fn has_fail(list: &[Stmt]) -> bool {
    list.iter().any(|stmt| {
        matches!(stmt, Stmt::Fail { .. }) || stmt.children().into_iter().any(|list| has_fail(list))
    })
}
