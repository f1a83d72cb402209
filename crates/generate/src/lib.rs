//! Random programs in Program IR that are well formed by construction, and whose runs have no faults unless a barrier was
//! left out on purpose. Everything follows from a list of bytes, so that proptest can shrink it. The tests of Program IR, of
//! the emitter and of the devices share it.

#![forbid(unsafe_code)]

mod generator;

use pumice_program::{
    Access, AtomicOp, Memory, MemoryId, Operand, Param, Program, SimMemory, Space, Stmt, Var,
};
use pumice_scalar::{Constant, ScalarType};

use ScalarType::{F32, I32, I64};
use generator::Generator;

/// Threads of a block, and elements of each shared memory.
pub const THREADS: i64 = 64;
/// Elements of the inputs.
pub const INPUTS: usize = 4 * THREADS as usize;
/// The most blocks.
pub const MAX_BLOCKS: usize = 3;
/// The range of the scalar `n`.
pub const N_RANGE: (i128, i128) = (0, 1000);

pub(crate) const XS: MemoryId = MemoryId(0);
pub(crate) const FS: MemoryId = MemoryId(1);
pub(crate) const OUT: MemoryId = MemoryId(2);
pub(crate) const FOUT: MemoryId = MemoryId(3);
pub(crate) const FAILURE: MemoryId = MemoryId(4);
pub(crate) const SHARED: u32 = 5;
pub(crate) const SHARED_COUNT: u32 = 4;
// Only in extended programs: cells for all blocks and for one, and elements of a thread.
pub(crate) const TOTALS: MemoryId = MemoryId(SHARED + SHARED_COUNT);
pub(crate) const CELLS: MemoryId = MemoryId(SHARED + SHARED_COUNT + 1);
pub(crate) const MINE: MemoryId = MemoryId(SHARED + SHARED_COUNT + 2);
pub(crate) const EXTREMES: MemoryId = MemoryId(SHARED + SHARED_COUNT + 3);
/// Atomic operation of each cell: only one per cell, so that the order does not matter.
pub(crate) const CELL_OPS: [AtomicOp; 4] = [AtomicOp::Add, AtomicOp::Max, AtomicOp::Or, AtomicOp::Xor];
/// The same for cells of floats; sums would depend on the order.
pub(crate) const EXTREME_OPS: [AtomicOp; 2] = [AtomicOp::Min, AtomicOp::Max];

/// Returns the program that these bytes make.
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
    memories.push(global("extremes", F32, Access::ReadWrite));
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
        resident: 1,
        stop: None,
    };
    Generator::new(bytes, program).generate()
}

/// Returns the memories for a run, in the order of the parameters.
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
    memories.push(SimMemory::from_constants(&[8.0f32, -8.0].map(Constant::from)));
    memories
}

/// Returns the scalars for a run.
pub fn scalars(n: i64) -> Vec<Constant> {
    vec![n.into(), (-3i32).into(), 100i64.into()]
}

/// Returns the program with extents that only the launch knows in place of the constant ones, and adds those to the scalars
/// of a run.
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

pub(crate) fn constant(ty: ScalarType, value: i128) -> Operand {
    Operand::Constant(Constant::from_integer(ty, value))
}
