//! Execution scopes: the grid's blocks, a block's threads and warps, a warp's lanes; their barriers and fences.

use super::{block_threads, block_warps, either};
use crate::bounds::bounds;
use crate::builder::{ExecutionScope, List, bind_within, during, framed, fresh, materialise, with};
use crate::device_length::largest;
use crate::skeletons::between_hooks;
use pumice_program::{Interval, Scope, Stmt, WARP, Workers};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term};

/// The threads of the block wait for each other.
pub fn sync() {
    barrier(Scope::Block, ExecutionScope::Block, "a block waits for its threads");
}

/// The lanes of the warp wait for each other.
pub fn sync_warp() {
    barrier(Scope::Warp, ExecutionScope::Warp, "a warp waits for its lanes");
}

fn barrier(scope: Scope, executed_by: ExecutionScope, what: &str) {
    with(|builder| {
        if builder.scope != executed_by {
            builder.mistake(format!("{what} where {} is at work", describe(builder.scope)));
        }
        builder.push(Stmt::Sync { scope });
    });
}

/// Orders memory: what this thread wrote before is visible before what it writes after.
pub fn fence(scope: Scope) {
    with(|builder| {
        if builder.scope != ExecutionScope::Thread {
            builder.mistake(format!("a fence where {} is at work", describe(builder.scope)));
        }
        builder.push(Stmt::Fence { scope });
    });
}

/// Names an execution scope in messages.
pub(crate) fn describe(scope: ExecutionScope) -> &'static str {
    match scope {
        ExecutionScope::Host => "nobody",
        ExecutionScope::Block => "a block as a whole",
        ExecutionScope::Warp => "a warp as a whole",
        ExecutionScope::Thread => "a single thread",
    }
}

/// The indices below an extent.
pub(super) fn indices(extent: Term) -> Interval {
    let largest =
        if extent.ty() == ScalarType::I64 { bounds(Exp::from_term(extent)).1 } else { i64::MAX.into() };
    (0, largest.saturating_sub(1))
}

/// The grid: `body` describes what the block with a given index does. Once a kernel. Where the number of blocks depends on
/// a length that only the device knows, as many are launched as there can be, and those that are too many do nothing.
pub fn distribute(blocks: Term, body: impl FnOnce(Term)) {
    distribute_before_hooks(blocks, |block| between_hooks(Exp::from_term(block), || body(block)));
}

/// As [`distribute`], where `body` itself does the part of its work that hands elements on between the hooks of the listeners. A block may leave
/// that part out.
pub fn distribute_before_hooks(blocks: Term, body: impl FnOnce(Term)) {
    let launched = largest(blocks);
    let indices = indices(launched);
    let too_many = launched.id() != blocks.id();
    let wanted = blocks;
    let blocks = materialise(&[launched]);
    let var = fresh(ScalarType::I64, "block");
    let ((), statements) = doing(ExecutionScope::Block, || {
        framed(List::Outermost, || {
            // No statement stands around a block's, so the first of them says where it comes from.
            with(|builder| builder.forget_place());
            let block = bind_within(var, ScalarType::I64, indices);
            let work = || body(block);
            match too_many {
                true => either(block.compare(Op::Lt, wanted), work, || {}),
                false => work(),
            }
        })
    });
    with(|builder| {
        if builder.scope != ExecutionScope::Host {
            builder.mistake(format!("a grid inside a grid, where {} is at work", describe(builder.scope)));
        }
        if std::mem::replace(&mut builder.distributed, true) {
            builder.mistake("a kernel distributes over the grid more than once");
        }
        builder.program.blocks = blocks.first().copied().unwrap_or(builder.program.blocks);
        builder.program.block = var;
        builder.program.body = statements;
    });
}

fn doing<R>(scope: ExecutionScope, f: impl FnOnce() -> R) -> R {
    during(
        |builder| Some(std::mem::replace(&mut builder.scope, scope)),
        |builder, before| builder.scope = before.unwrap_or(ExecutionScope::Host),
        f,
    )
}

/// The execution scope that shares work among these workers, and that of each of them.
fn scopes_of(workers: Workers) -> (ExecutionScope, ExecutionScope) {
    match workers {
        Workers::Threads => (ExecutionScope::Block, ExecutionScope::Thread),
        Workers::Warps => (ExecutionScope::Block, ExecutionScope::Warp),
        Workers::Lanes => (ExecutionScope::Warp, ExecutionScope::Thread),
    }
}

/// Runs `f`, whose statements one of these workers executes. The caller adds the loop around them.
pub(crate) fn execute_as<R>(workers: Workers, f: impl FnOnce() -> R) -> R {
    doing(scopes_of(workers).1, f)
}

fn workers(workers: Workers, extent: Term, name: &str, body: impl FnOnce(Term)) {
    let (within, inside) = scopes_of(workers);
    with(|builder| {
        if builder.scope != within {
            let (wanted, found) = (describe(within), describe(builder.scope));
            builder.mistake(format!(
                "work is shared by the {} of a {} where {found} is at work, not {wanted}",
                match workers {
                    Workers::Threads => "threads",
                    Workers::Warps => "warps",
                    Workers::Lanes => "lanes",
                },
                if within == ExecutionScope::Warp { "warp" } else { "block" },
            ));
        }
    });
    let indices = indices(extent);
    let Some(&extent) = materialise(&[extent]).first() else { return };
    if !with(|builder| builder.has_room()) {
        return;
    }
    let var = fresh(ScalarType::I64, name);
    let ((), body) =
        doing(inside, || framed(List::Loop, || body(bind_within(var, ScalarType::I64, indices))));
    with(|builder| builder.push(Stmt::Parallel { workers, var, extent, body }));
}

/// The block's threads do `body` for every index below `extent`.
///
/// ```
/// use pumice::Exp;
/// use pumice::kernel::{Block, Mutable, Within, define, parallel};
/// define("clear", 32, |xs: Mutable<i32>| {
///     Block::distribute(1.into(), &|_| {
///         parallel(xs.len().term(), |i| xs.write(Exp::<i64>::from_term(i), 0.into()));
///     });
/// })?;
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
pub fn parallel(extent: Term, body: impl FnOnce(Term)) {
    workers(Workers::Threads, extent, "t", body);
}

/// The block's warps, each as a whole, do `body` for every index below `extent`.
pub fn warps(extent: Term, body: impl FnOnce(Term)) {
    let (count, threads) = (block_warps(), block_threads());
    if !threads.is_multiple_of(WARP) {
        with(|builder| builder.mistake(format!("a block of {threads} threads has no whole warps")));
    }
    let fits = extent.integer().is_some_and(|extent| extent <= count.into());
    workers(Workers::Warps, extent, "warp", |index| {
        // The number of the current warp, by which its own memory is found.
        let own = if fits { index } else { index.binary(Op::Rem, Constant::from(i64::from(count)).into()) };
        during(|builder| builder.warp.replace(own), |builder, before| builder.warp = before, || body(index));
        with(|builder| {
            // The next round of the same warp writes what this one's lanes may still read.
            if !fits && builder.writes_shared() {
                builder.push(Stmt::Sync { scope: Scope::Warp });
            }
        });
    });
}

/// The warp's lanes do `body` for every index below `extent`.
pub fn lanes(extent: Term, body: impl FnOnce(Term)) {
    workers(Workers::Lanes, extent, "lane", body);
}

/// Returns the number of the current warp among the warps of its block.
pub fn own_warp() -> Term {
    with(|builder| {
        if builder.warp.is_none() {
            builder.mistake("a warp's own memory is used where no warp is at work");
        }
        builder.warp
    })
    .unwrap_or_else(|| Constant::from(0i64).into())
}
