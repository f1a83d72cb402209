//! What a kernel does, statement by statement: loops at a level, memory, barriers, atomics, what warps do together.
//!
//! These functions add to the program being built and check that they stand where they may; a mistake is noted and
//! reported when the kernel is finished. They work on untyped terms and do not check indices: the typed language
//! ([`crate::Pull`], [`crate::Push`], [`crate::Mutable`]) is for that.

use crate::bounds::bounds;
use crate::builder::{Doer, List, bind, bind_within, during, framed, fresh, materialise, with};
use crate::device_length::largest;
use crate::skeletons::between_hooks;
use pumice_program::{
    AtomicOp, Carried, CollectiveOp, Interval, Joined, MemoryId, Operand, Scope, Space, Stmt, Var, WARP,
    Workers,
};
use pumice_scalar::{Constant, Exp, Op, ScalarType, Term, branch};

/// Says where the following comes from.
pub fn comment(text: impl Into<String>) {
    let text = text.into();
    with(|builder| builder.push(Stmt::Comment(text)));
}

/// Threads of a block of the kernel being built.
pub fn block_threads() -> u32 {
    with(|builder| builder.program.threads).max(1)
}

/// Warps of a block of the kernel being built.
pub fn block_warps() -> u32 {
    (block_threads() / WARP).max(1)
}

/// An element of memory that was written before and is not written again. The index is in bounds, or that is asked before.
pub fn read(memory: MemoryId, ty: ScalarType, index: Term) -> Term {
    let (guarded, guards) = with(|builder| (builder.guarded, builder.guards.clone()));
    // SAFETY: kernels are described by safe code through `Pull` and its like, which hand on indices that are in bounds where
    // the value is demanded, and by `crate::raw`, where somebody has promised that.
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

/// What `f` makes; what is read in it is in bounds only where a condition holds that is asked later, so it is never read
/// before that.
pub fn guarded<R>(f: impl FnOnce() -> R) -> R {
    during(
        |builder| std::mem::replace(&mut builder.guarded, true),
        |builder, before| builder.guarded = before,
        f,
    )
}

/// What `f` makes and does, where whatever it reads is read only if a condition holds, and is zero otherwise.
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

/// The values of one of two sides; only that one is evaluated, and what it does is done only then. The second side is given
/// the values of the first, for their types.
pub fn choose(
    condition: Term,
    then: impl FnOnce() -> Vec<Term>,
    otherwise: impl FnOnce(&[Term]) -> Vec<Term>,
) -> Vec<Term> {
    /// The values, and their operands if anything was done on the way.
    type Side = (Vec<Term>, Option<Vec<Operand>>);
    fn side(terms: impl FnOnce() -> Vec<Term>) -> (Side, Vec<Stmt>) {
        framed(List::Side, || {
            let terms = guarded(terms);
            let acts = with(|builder| builder.acts());
            let operands = acts.then(|| materialise(&terms));
            (terms, operands)
        })
    }
    let (then, then_list) = side(then);
    let (otherwise, otherwise_list) = side(|| otherwise(&then.0));
    let types = types_of(&then.0);
    expect_types(&types, &otherwise.0, "the sides of a condition differ");
    if then.1.is_none() && otherwise.1.is_none() {
        return branch(condition, &then.0, &otherwise.0);
    }
    let finished = |(terms, operands): Side, list| match operands {
        Some(operands) => (operands, list),
        None => framed(List::Side, || materialise(&terms)),
    };
    let Some(&condition) = materialise(&[condition]).first() else { return then.0 };
    let (values, then) = finished(then, then_list);
    let (other_values, otherwise) = finished(otherwise, otherwise_list);
    let vars: Vec<Var> = types.iter().map(|ty| fresh(*ty, "v")).collect();
    let joined = vars.iter().zip(values.iter().zip(&other_values));
    let results =
        joined.map(|(var, (then, otherwise))| Joined { var: *var, then: *then, otherwise: *otherwise });
    let results = results.collect();
    with(|builder| builder.push(Stmt::If { condition, then, otherwise, results }));
    vars.into_iter().zip(types).map(|(var, ty)| bind(var, ty)).collect()
}

/// Values of nothing: where an index is not in bounds.
pub fn zeros(like: &[Term]) -> Vec<Term> {
    like.iter().map(|term| Constant::zero(term.ty()).into()).collect()
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
            if builder.doer != Doer::Thread {
                builder.mistake(format!("memory is written where {} is at work", describe(builder.doer)));
            }
            builder.push(Stmt::Store { memory, index, values: vec![value] });
        });
    }
}

/// Writes the scalars of an element, one a memory.
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

/// The threads of the block wait for each other.
pub fn sync() {
    barrier(Scope::Block, Doer::Block, "a block waits for its threads");
}

/// The lanes of the warp wait for each other.
pub fn sync_warp() {
    barrier(Scope::Warp, Doer::Warp, "a warp waits for its lanes");
}

fn barrier(scope: Scope, doer: Doer, what: &str) {
    with(|builder| {
        if builder.doer != doer {
            builder.mistake(format!("{what} where {} is at work", describe(builder.doer)));
        }
        builder.push(Stmt::Sync { scope });
    });
}

/// What this thread wrote before is visible before what it writes after.
pub fn fence(scope: Scope) {
    with(|builder| {
        if builder.doer != Doer::Thread {
            builder.mistake(format!("a fence where {} is at work", describe(builder.doer)));
        }
        builder.push(Stmt::Fence { scope });
    });
}

/// What does a piece of work, in the words of messages.
pub(crate) fn describe(doer: Doer) -> &'static str {
    match doer {
        Doer::Host => "nobody",
        Doer::Block => "a block as a whole",
        Doer::Warp => "a warp as a whole",
        Doer::Thread => "a single thread",
    }
}

/// The indices below an extent.
fn indices(extent: Term) -> Interval {
    let largest =
        if extent.ty() == ScalarType::I64 { bounds(Exp::from_term(extent)).1 } else { i64::MAX.into() };
    (0, largest.saturating_sub(1))
}

/// The grid: `body` describes what the block with a given index does. Once a kernel. Where the number of blocks depends on
/// a length that only the device knows, as many are launched as there can be, and those that are too many do nothing.
pub fn distribute(blocks: Term, body: impl FnOnce(Term)) {
    let launched = largest(blocks);
    let indices = indices(launched);
    let too_many = launched.id() != blocks.id();
    let wanted = blocks;
    let blocks = materialise(&[launched]);
    let var = fresh(ScalarType::I64, "block");
    let ((), statements) = doing(Doer::Block, || {
        framed(List::Outermost, || {
            // No statement stands around a block's, so the first of them says where it comes from.
            with(|builder| builder.forget_place());
            let block = bind_within(var, ScalarType::I64, indices);
            let work = || between_hooks(Exp::from_term(block), || body(block));
            match too_many {
                true => either(block.compare(Op::Lt, wanted), work, || {}),
                false => work(),
            }
        })
    });
    with(|builder| {
        if builder.doer != Doer::Host {
            builder.mistake(format!("a grid inside a grid, where {} is at work", describe(builder.doer)));
        }
        if std::mem::replace(&mut builder.distributed, true) {
            builder.mistake("a kernel distributes over the grid more than once");
        }
        builder.program.blocks = blocks.first().copied().unwrap_or(builder.program.blocks);
        builder.program.block = var;
        builder.program.body = statements;
    });
}

fn doing<R>(doer: Doer, f: impl FnOnce() -> R) -> R {
    during(
        |builder| Some(std::mem::replace(&mut builder.doer, doer)),
        |builder, before| builder.doer = before.unwrap_or(Doer::Host),
        f,
    )
}

fn workers(workers: Workers, extent: Term, name: &str, body: impl FnOnce(Term)) {
    let (within, inside) = match workers {
        Workers::Threads => (Doer::Block, Doer::Thread),
        Workers::Warps => (Doer::Block, Doer::Warp),
        Workers::Lanes => (Doer::Warp, Doer::Thread),
    };
    with(|builder| {
        if builder.doer != within {
            let (wanted, found) = (describe(within), describe(builder.doer));
            builder.mistake(format!(
                "work is shared by the {} of a {} where {found} is at work, not {wanted}",
                match workers {
                    Workers::Threads => "threads",
                    Workers::Warps => "warps",
                    Workers::Lanes => "lanes",
                },
                if within == Doer::Warp { "warp" } else { "block" },
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
        // The number of the warp that is at work: what its own memory is found by.
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

/// The number of the warp that is at work among the warps of its block.
pub fn own_warp() -> Term {
    with(|builder| {
        if builder.warp.is_none() {
            builder.mistake("a warp's own memory is used where no warp is at work");
        }
        builder.warp
    })
    .unwrap_or_else(|| Constant::from(0i64).into())
}

/// The values that a loop carries.
fn new_carried(initial: &[Term]) -> Vec<(Var, ScalarType)> {
    initial.iter().map(|term| (fresh(term.ty(), "acc"), term.ty())).collect()
}

fn bind_all(vars: &[(Var, ScalarType)]) -> Vec<Term> {
    vars.iter().map(|(var, ty)| bind(*var, *ty)).collect()
}

fn carried(vars: &[(Var, ScalarType)], initial: &[Operand], next: &[Operand]) -> Vec<Carried> {
    let carried = vars.iter().zip(initial.iter().zip(next));
    carried.map(|((var, _), (initial, next))| Carried { var: *var, initial: *initial, next: *next }).collect()
}

/// What a loop carries into the next round.
fn next_values(initial: &[Term], next: &[Term]) -> Vec<Operand> {
    expect_types(&types_of(initial), next, "a loop carries values of other types from round to round");
    materialise(next)
}

/// Between two rounds of a loop: the next one may write what slower threads still read in this one.
fn between_rounds() {
    with(|builder| {
        if builder.writes_shared() {
            match builder.doer {
                Doer::Block => builder.push(Stmt::Sync { scope: Scope::Block }),
                Doer::Warp => builder.push(Stmt::Sync { scope: Scope::Warp }),
                Doer::Host | Doer::Thread => {}
            }
        }
    });
}

/// A sequential loop that carries values.
pub fn sequential(
    range: std::ops::Range<Term>,
    step: Term,
    initial: &[Term],
    body: impl FnOnce(Term, &[Term]) -> Vec<Term>,
) -> Vec<Term> {
    let least = bounds(Exp::from_term(range.start)).0;
    let largest = indices(range.end).1;
    let upwards = step.integer().is_some_and(|step| step > 0);
    let mut all = vec![range.start, range.end, step];
    all.extend_from_slice(initial);
    let operands = materialise(&all);
    let (Some(&[start, end, step]), Some(initial_values)) = (operands.first_chunk(), operands.get(3..))
    else {
        return initial.to_vec();
    };
    if !with(|builder| builder.has_room()) {
        return initial.to_vec();
    }
    let var = fresh(ScalarType::I64, "k");
    let vars = new_carried(initial);
    let (next, body) = framed(List::Loop, || {
        let index = match upwards {
            true => bind_within(var, ScalarType::I64, (least, largest)),
            false => bind(var, ScalarType::I64),
        };
        let values = bind_all(&vars);
        let next = next_values(initial, &body(index, &values));
        between_rounds();
        next
    });
    let carried = carried(&vars, initial_values, &next);
    with(|builder| builder.push(Stmt::For { var, start, end, step, carried, body }));
    bind_all(&vars)
}

/// A loop that carries values while a condition on them holds.
pub fn repeat_while(
    initial: &[Term],
    condition: impl FnOnce(&[Term]) -> Term,
    body: impl FnOnce(&[Term]) -> Vec<Term>,
) -> Vec<Term> {
    let initial_values = materialise(initial);
    if !with(|builder| builder.has_room()) {
        return initial.to_vec();
    }
    let vars = new_carried(initial);
    let ((condition, next, body), header) = framed(List::Loop, || {
        let values = bind_all(&vars);
        let condition = materialise(&[condition(&values)]);
        let (next, body) = framed(List::Body, || {
            let next = next_values(initial, &body(&values));
            between_rounds();
            next
        });
        (condition, next, body)
    });
    let condition = condition.first().copied().unwrap_or(Operand::Constant(false.into()));
    let carried = carried(&vars, &initial_values, &next);
    with(|builder| builder.push(Stmt::While { carried, header, condition, body }));
    bind_all(&vars)
}

/// Does one of two things.
pub fn either(condition: Term, then: impl FnOnce(), otherwise: impl FnOnce()) {
    match condition.constant() {
        Some(known) if known.is_true() => return then(),
        Some(_) => return otherwise(),
        None => {}
    }
    let Some(&condition) = materialise(&[condition]).first() else { return };
    if !with(|builder| builder.has_room()) {
        return;
    }
    let ((), then) = framed(List::Side, then);
    let ((), otherwise) = framed(List::Side, otherwise);
    with(|builder| builder.push(Stmt::If { condition, then, otherwise, results: Vec::new() }));
}

/// Changes an element of memory at once; gives the element before, where somebody wants it.
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
        if builder.doer != Doer::Thread {
            builder.mistake(format!("memory is updated where {} is at work", describe(builder.doer)));
        }
        builder.push(Stmt::Atomic { var, op, memory, index, operands: operands.to_vec() });
    });
    var.map(|var| bind(var, ty))
}

/// What the lanes of a warp do together.
pub fn collective(op: CollectiveOp, ty: ScalarType, operands: &[Term]) -> Term {
    let operands = materialise(operands);
    let var = fresh(ty, op.name());
    with(|builder| {
        if builder.doer != Doer::Thread {
            let doer = describe(builder.doer);
            builder.mistake(format!("values are exchanged among lanes where {doer} is at work"));
        }
        builder.push(Stmt::Collective { var, op, operands });
    });
    bind(var, ty)
}
