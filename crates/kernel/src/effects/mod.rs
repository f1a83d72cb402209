//! Effects of a kernel, statement by statement: loops at a level, memory, barriers, atomics, warp collectives.
//!
//! These functions add to the program being built and check that they stand where they may; a mistake is noted and
//! reported when the kernel is finished. They work on untyped terms and do not check indices: the typed language
//! ([`crate::Pull`], [`crate::Push`], [`crate::Mutable`]) is for that.
//!
//! Here are memory and values; `scopes.rs` says what a grid, block, warp and thread do, `control.rs` has loops and conditions.

mod control;
mod scopes;

pub use control::{choose, either, repeat_while, sequential};
pub(crate) use scopes::{describe, execute_as};
pub use scopes::{
    distribute, distribute_before_hooks, fence, lanes, own_warp, parallel, sync, sync_warp, warps,
};

use crate::builder::{ExecutionScope, bind, during, fresh, materialise, with};
use pumice_program::{AtomicOp, CollectiveOp, MemoryId, Operand, Space, Stmt, WARP};
use pumice_scalar::{Constant, Op, ScalarType, Term, branch};

/// Adds a comment that says where the following statements come from.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Loops, Mutable, comment, define};
/// let clear = define("clear", 32, |xs: Mutable<i32>| {
///     comment("nothing is left");
///     Grid::for_each(xs.len(), &|i| xs.write(i, 0.into()));
/// })?;
/// assert!(clear.kernel().program.to_string().contains("nothing is left"));
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
pub fn comment(text: impl Into<String>) {
    let text = text.into();
    with(|builder| builder.push(Stmt::Comment(text)));
}

/// Threads of a block of the kernel being built.
///
/// ```
/// use pumice::kernel::{Ix, Pull, block_threads, preview};
/// let threads = preview(64, &[0, 0], |xs: Pull<i64, Ix>| xs.map(|x| x + i64::from(block_threads())).push())?;
/// assert_eq!(threads, [64, 64]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
pub fn block_threads() -> u32 {
    with(|builder| builder.program.threads).max(1)
}

/// Asks the compiler to leave registers for so many blocks of the kernel being built on one multiprocessor.
pub fn resident(blocks: u32) {
    with(|builder| builder.program.resident = blocks);
}

/// Warps of a block of the kernel being built.
///
/// ```
/// use pumice::kernel::{Ix, Pull, block_warps, preview};
/// let warps = preview(64, &[0], |xs: Pull<i64, Ix>| xs.map(|x| x + i64::from(block_warps())).push())?;
/// assert_eq!(warps, [2]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
pub fn block_warps() -> u32 {
    (block_threads() / WARP).max(1)
}

/// Returns an element of memory that was written before and is not written again. The index is in bounds, or that is asked before.
pub fn read(memory: MemoryId, ty: ScalarType, index: Term) -> Term {
    let (guarded, guards) = with(|builder| (builder.guarded, builder.guards.clone()));
    // SAFETY: kernels are described by safe code through `Pull` and its like, which hand on indices that are in bounds where
    // the value is demanded, and by `crate::raw`, whose callers have promised that.
    let load = |guarded| unsafe { Term::load(memory.0.into(), ty, index, guarded) };
    match guards.into_iter().reduce(|all, guard| all.binary(Op::And, guard)) {
        None => load(guarded),
        Some(guard) => {
            let zero = Constant::zero(ty).into();
            branch(guard, &[load(true)], &[zero]).first().copied().unwrap_or(zero)
        }
    }
}

/// An element of memory as it is now.
pub fn read_now(memory: MemoryId, ty: ScalarType, index: Term) -> Term {
    let Some(&index) = materialise(&[index]).first() else { return Constant::zero(ty).into() };
    let var = fresh(ty, "now");
    with(|builder| {
        builder.check_private(memory);
        builder.push(Stmt::Load { vars: vec![var], memory, index });
    });
    bind(var, ty)
}

/// Runs `f` with its loads marked as guarded: their indices are in bounds only under a condition that is tested later, so they
/// are never moved before it.
pub fn guarded<R>(f: impl FnOnce() -> R) -> R {
    during(
        |builder| std::mem::replace(&mut builder.guarded, true),
        |builder, before| builder.guarded = before,
        f,
    )
}

/// Runs `f` with its loads predicated: where the condition does not hold, nothing is read and the value is zero.
pub fn under<R>(condition: Term, f: impl FnOnce() -> R) -> R {
    during(
        |builder| {
            builder.guards.push(condition);
            builder.guards.len() - 1
        },
        |builder, before| builder.guards.truncate(before),
        f,
    )
}

/// Values of nothing: where an index is not in bounds.
pub fn zeros(like: &[Term]) -> Vec<Term> {
    like.iter().map(|term| Constant::zero(term.ty()).into()).collect()
}

/// Memory of the block that says whether a failure is recorded in what `f` describes, besides the record that the host reads: its
/// only element is zero before, and one afterwards if there was a failure. `f` is given the memory.
pub fn flag_failures<R>(f: impl FnOnce(MemoryId) -> R) -> R {
    let flag = allocate_shared(ScalarType::U32, 1);
    parallel(Constant::from(1i64).into(), |index| store(flag, index, Constant::from(0u32).into()));
    sync();
    during(
        |builder| builder.failure_flag.replace(flag),
        |builder, before| builder.failure_flag = before,
        || f(flag),
    )
}

/// Writes an element.
pub fn store(memory: MemoryId, index: Term, value: Term) {
    if let Some(ty) = with(|builder| builder.program.memories.get(memory.0 as usize).map(|memory| memory.ty))
    {
        expect_types(&[ty], &[value], "an element is written");
    }
    let operands = materialise(&[value, index]);
    if let [value, index] = operands[..] {
        with(|builder| {
            if builder.scope != ExecutionScope::Thread {
                builder.mistake(format!("memory is written where {} is at work", describe(builder.scope)));
            }
            builder.push(Stmt::Store { memory, index, values: vec![value] });
        });
    }
}

/// Writes the scalars of an element, one per memory.
pub fn store_element(memories: &[MemoryId], index: Term, terms: &[Term]) {
    if memories.len() != terms.len() {
        let (wanted, found) = (memories.len(), terms.len());
        with(|builder| {
            builder.mistake(format!("an element of {found} columns is written to memory of {wanted}"));
        });
    }
    for (memory, term) in memories.iter().zip(terms) {
        store(*memory, index, *term);
    }
}

/// Notes a mistake unless values are of these types: those of elements whose columns are data may not be.
fn expect_types(wanted: &[ScalarType], found: &[Term], what: &str) {
    if !wanted.iter().copied().eq(found.iter().map(|term| term.ty())) {
        let names = |types: &mut dyn Iterator<Item = ScalarType>| {
            types.map(ScalarType::name).collect::<Vec<_>>().join(", ")
        };
        let (wanted, found) =
            (names(&mut wanted.iter().copied()), names(&mut found.iter().map(|term| term.ty())));
        with(|builder| builder.mistake(format!("{what}: ({found}) where ({wanted}) is wanted")));
    }
}

fn types_of(terms: &[Term]) -> Vec<ScalarType> {
    terms.iter().map(|term| term.ty()).collect()
}

/// Computes values now, once, and gives them as values.
pub fn compute(terms: &[Term]) -> Vec<Term> {
    let operands = materialise(terms);
    let value = |(term, operand): (&Term, &Operand)| match operand {
        Operand::Var(var) => bind(*var, term.ty()),
        Operand::Constant(constant) => (*constant).into(),
    };
    terms.iter().zip(&operands).map(value).collect()
}

/// The number of cells of memory that are to hold so many; more than a program can address are a mistake.
pub fn cells(length: usize) -> u32 {
    u32::try_from(length).unwrap_or_else(|_| {
        with(|builder| builder.mistake(format!("an array of {length} elements in a kernel's own memory")));
        0
    })
}

/// Memory that the threads of a block share.
pub fn allocate_shared(ty: ScalarType, length: u32) -> MemoryId {
    allocate("shared", ty, Space::Shared { length })
}

/// Memory that every thread of a block has for itself.
pub fn allocate_private(ty: ScalarType, length: u32) -> MemoryId {
    allocate("own", ty, Space::Private { length })
}

fn allocate(name: &str, ty: ScalarType, space: Space) -> MemoryId {
    with(|builder| Some(builder.memory(name, ty, space))).unwrap_or(MemoryId(0))
}

/// Changes an element of memory atomically; returns the element before, where it is wanted.
pub fn atomic(
    op: AtomicOp,
    memory: MemoryId,
    ty: ScalarType,
    index: Term,
    operands: &[Term],
    wanted: bool,
) -> Option<Term> {
    let what = format!("`atomic {}`", op.name());
    if !op.accepts(ty) {
        with(|builder| builder.mistake(format!("{what} is not there for elements of {ty}")));
        return wanted.then(|| Constant::zero(ty).into());
    }
    expect_types(&vec![ty; op.operands()], operands, &what);
    let mut all = vec![index];
    all.extend_from_slice(operands);
    let all = materialise(&all);
    let (&index, operands) = all.split_first()?;
    let var = wanted.then(|| fresh(ty, "before"));
    with(|builder| {
        if builder.scope != ExecutionScope::Thread {
            builder.mistake(format!("memory is updated where {} is at work", describe(builder.scope)));
        }
        builder.push(Stmt::Atomic { var, op, memory, index, operands: operands.to_vec() });
    });
    var.map(|var| bind(var, ty))
}

/// Adds a collective operation of a warp's lanes: a shuffle or a vote.
pub fn collective(op: CollectiveOp, ty: ScalarType, operands: &[Term]) -> Term {
    let operands = materialise(operands);
    let var = fresh(ty, op.name());
    with(|builder| {
        if builder.scope != ExecutionScope::Thread {
            let scope = describe(builder.scope);
            builder.mistake(format!("values are exchanged among lanes where {scope} is at work"));
        }
        builder.push(Stmt::Collective { var, op, operands });
    });
    bind(var, ty)
}
