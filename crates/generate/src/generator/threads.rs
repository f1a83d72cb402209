//! Statements at thread scope: parallel loops and their bodies.

use pumice_program::{CollectiveOp, MemoryId, Operand, Scope, Stmt, Var, WARP, Workers};
use pumice_scalar::{Op, ScalarType};

use super::Generator;
use crate::{
    CELL_OPS, CELLS, EXTREME_OPS, EXTREMES, FOUT, FS, INPUTS, MINE, OUT, SHARED, SHARED_COUNT, THREADS,
    TOTALS, XS, constant,
};
use ScalarType::{Bool, F32, I32, I64, U32};

impl Generator<'_> {
    /// A parallel loop that may read some shared memories and write one.
    pub(super) fn parallel(&mut self, out: &mut Vec<Stmt>) {
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

    // Statements at thread scope.

    /// Four times the number of the thread among those of all blocks: the first of its own outputs.
    pub(super) fn wide_index(&mut self, out: &mut Vec<Stmt>, index: Var) -> Operand {
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

    pub(super) fn thread_statement_with(&mut self, out: &mut Vec<Stmt>, index: Var, first: Operand) {
        if self.choices.one_in(3) {
            // All lanes get here: no control flow around it diverges.
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

    pub(super) fn collective(&mut self, out: &mut Vec<Stmt>) {
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
    pub(super) fn extended_statement(&mut self, out: &mut Vec<Stmt>) {
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
                let cells =
                    [(TOTALS, I64, &CELL_OPS[..]), (CELLS, I32, &CELL_OPS), (EXTREMES, F32, &EXTREME_OPS)];
                let (memory, ty, ops) = self.choices.pick(&cells);
                let cell = self.choices.below(ops.len());
                let operands = vec![self.operand(ty)];
                let index = constant(I32, cell as i128);
                out.push(Stmt::Atomic { var: None, op: ops[cell], memory, index, operands });
            }
        }
    }

    pub(super) fn thread_statement(&mut self, out: &mut Vec<Stmt>) {
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
    pub(super) fn load(&mut self, out: &mut Vec<Stmt>, index: Var) {
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
    pub(super) fn store(&mut self, out: &mut Vec<Stmt>, first: Operand, several: bool) {
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
