//! Combining elements into targets by index: what `permute`, `scatter` and histograms do with what they are given.
//!
//! A [`Combiner`] listens to any producer. The operator is associative and commutative, so elements may come in any order;
//! it is given as data, and what devices do natively is recognised in it.

mod operator;
mod table;
mod update;

use super::{Listener, Operator, Rounds};
use crate::builder::with;
use crate::check;
use crate::effects;
use crate::item::{Ix, Scalars, Storable};
use crate::place::on_behalf;
use crate::{Mutable, Profile};
pub use operator::is_exact_in_any_order;
use operator::{ColumnUpdate, column_updates};
use pumice_program::MemoryId;
use pumice_scalar::{Exp, Function, Place, ScalarType, cond};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use table::{Copies, Table};

/// Method of combining elements into their targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// By an atomic operation per column, in global memory.
    Native,
    /// By compare-and-swap of the columns that no atomic operation updates.
    CompareAndSwap,
    /// Under a lock.
    Lock,
    /// By plain reads and writes: each element has a target of its own.
    Alone,
    /// In a table of the block's own, which is combined into the targets when the block is done.
    Privatised,
}

impl fmt::Display for Combine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Combine::Native => "native atomics",
            Combine::CompareAndSwap => "compare-and-swap",
            Combine::Lock => "locks",
            Combine::Alone => "plain writes",
            Combine::Privatised => "private tables",
        })
    }
}

impl Combine {
    /// Whether elements can be combined like this by an operator of (new element, old element).
    pub fn is_possible(self, operator: &Function) -> bool {
        column_updates(operator).is_some_and(|updates| self.fits(operator, &updates))
    }

    fn fits(self, operator: &Function, updates: &[ColumnUpdate]) -> bool {
        use ColumnUpdate::*;
        let all = |accepts: fn(&ColumnUpdate) -> bool| updates.iter().all(accepts);
        // Two columns that are replaced one after the other could be two elements' in the end.
        let one_replaced = updates.iter().filter(|update| **update == Replace).count() <= 1;
        // A truth value is a byte, which devices write at once and do not compare.
        let compares_bool =
            operator.parameters().iter().zip(updates).any(|pair| pair == (&ScalarType::Bool, &Computed));
        match self {
            Combine::Native => {
                all(|update| matches!(update, Atomic(_) | Replace | ReplaceIf(_) | Keep)) && one_replaced
            }
            Combine::CompareAndSwap => all(|update| *update != Entangled) && one_replaced && !compares_bool,
            Combine::Lock | Combine::Alone => true,
            Combine::Privatised => all(|update| matches!(update, Atomic(_) | Keep)),
        }
    }

    /// Chooses how to combine.
    pub fn choose(profile: &Profile, task: &CombineTask<'_>) -> Combine {
        CombinePlan::new(profile, task).how
    }
}

/// Task of a combination.
#[derive(Clone, Copy, Debug)]
pub struct CombineTask<'a> {
    /// The operator of (new element, old element).
    pub operator: &'a Function,
    /// Whether no two elements have the same target.
    pub distinct: bool,
    /// Number of targets.
    pub targets: i64,
    /// Number of elements, or what it is at most.
    pub elements: i64,
    /// Instructions, roughly, that computing an element takes.
    pub cost: u32,
    /// Method to use if the operator allows it; otherwise, and where this is `None`, one is chosen.
    pub wanted: Option<Combine>,
}

/// Method of a combination, and the division of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CombinePlan {
    /// The method.
    pub how: Combine,
    /// Reason for it.
    pub why: &'static str,
    /// Division of a pull array that hands the elements on. The targets are cut into as many parts as this has, each with blocks of its own:
    /// every one looks at all elements.
    pub rounds: Rounds,
    /// Blocks that share the elements.
    pub blocks: u32,
    /// Targets of a block's table; 0 if there are none.
    pub table: u32,
    /// Copies of each target in a table, a power of two.
    pub copies: u32,
    /// Whether elements are asked about before they are handed on, many at once.
    pub asks_first: bool,
    /// The number of locks, a power of two; 0 if there are none. The target `i` has the lock `i` modulo this; tables are combined
    /// into the targets in as many stretches, each under one.
    pub locks: u32,
}

/// Blocks of the profile's threads that one multiprocessor has at a time, where as many are launched as keep all busy.
const RESIDENT: u64 = 8;
/// Threads of a multiprocessor where several listen, fewer than it could have: each has registers for all that it keeps.
const THREADS_BESIDE_OTHERS: u32 = 1536;
/// More copies than this gain nothing: a warp has so many threads, and memory so many banks.
const MOST_COPIES: u64 = 32;
/// Maximum size and number of a GPU's tables.
#[derive(Clone, Copy)]
struct MostTables {
    /// Cells of a table, unless a single copy of all targets has more.
    cells: u64,
    /// Blocks with tables that a multiprocessor has at a time.
    resident: u64,
}

const COPIED: MostTables = MostTables { cells: u64::MAX, resident: RESIDENT };
/// For an expansion: its number of elements is not known, and some may go nowhere. Clearing tables, and combining them into the targets,
/// would take longer than few elements do, so tables are smaller and fewer, of larger blocks.
const FEW_TABLES: MostTables = MostTables { cells: 1 << 12, resident: RESIDENT / 2 };
/// A table is worth its clearing and its combination into the targets if a block has so many elements per target.
const ELEMENTS_PER_TARGET: u64 = 4;
/// Blocks for each of a CPU's workers among those that keep it busy.
const BLOCKS_PER_WORKER: u64 = 4;
/// A CPU has more tables than workers only if each takes so many elements per target: they even out the work, but every
/// target of a table is combined into the result by an atomic operation, which costs as much as dozens of elements.
const ELEMENTS_PER_MERGED_TARGET: u64 = 128;
/// Bytes of tables that stay in the fastest memory of a CPU.
const CACHED_BYTES: u64 = 16 << 10;
/// Bytes of tables that stay in the memory that is next to it.
const NEAR_BYTES: u64 = 256 << 10;
/// Looking at all elements this often is still better than atomic operations in global memory; not if an element costs more
/// than a few instructions.
const MOST_PARTS: u64 = 4;
const CHEAP: u32 = 32;
/// Elements that are asked about together: enough for a few vectors of the widest kind.
const ASKED_AT_ONCE: u32 = 32;
/// Locks beyond this number are only memory to clear.
const MOST_LOCKS: u64 = 1 << 16;
/// A CPU's tables of more targets than this are combined into the result under locks: so many atomic operations would take longer.
const MERGED_BY_ATOMICS: u32 = 1 << 12;
/// Stretches in which tables are combined into the result: for a worker that waits there are many others.
const STRETCHES: u32 = 256;

impl CombinePlan {
    /// Decides how to combine, and divides the work.
    pub fn new(profile: &Profile, task: &CombineTask<'_>) -> CombinePlan {
        let updates = column_updates(task.operator).unwrap_or_default();
        let tables = Tables::new(profile, task, &updates, COPIED);
        CombinePlan::with(profile, task, &updates, tables)
    }

    /// As [`CombinePlan::new`], for a pull array to which others listen too.
    pub fn beside_others(profile: &Profile, task: &CombineTask<'_>) -> CombinePlan {
        let updates = column_updates(task.operator).unwrap_or_default();
        let tables = Tables::new(profile, task, &updates, COPIED).filter(Tables::is_small);
        let at_once = tables.as_ref().map_or(1, |tables| tables.at_once);
        let plan = CombinePlan::with(profile, task, &updates, tables);
        let items = Rounds::new(profile).items.min(plan.rounds.items);
        // There are as many blocks as run at once. If registers for all listeners left room for fewer, the rest would come after
        // them, alone. What costs more than a few instructions needs its registers.
        let is_planned = plan.how == Combine::Privatised && profile.coalesces && task.cost <= CHEAP;
        let (resident, blocks) = match is_planned {
            true => {
                let resident = (THREADS_BESIDE_OTHERS / plan.rounds.threads).clamp(1, at_once);
                let most = (profile.busy_blocks * u64::from(resident) / RESIDENT).max(1);
                (resident, u64::from(plan.blocks).min(most) as u32)
            }
            false => (1, plan.blocks),
        };
        CombinePlan { asks_first: false, blocks, rounds: Rounds { items, resident, ..plan.rounds }, ..plan }
    }

    /// As [`CombinePlan::new`], for a producer with blocks of its own, which are too many to have tables.
    pub fn without_tables(profile: &Profile, task: &CombineTask<'_>) -> CombinePlan {
        let updates = column_updates(task.operator).unwrap_or_default();
        let plan = CombinePlan::with(profile, task, &updates, None);
        CombinePlan { rounds: Rounds { items: 1, unroll: 1, ..plan.rounds }, ..plan }
    }

    /// As [`CombinePlan::new`], for a producer that goes round in as few blocks as [`CombinePlan::division`] says.
    pub fn going_round(profile: &Profile, task: &CombineTask<'_>) -> CombinePlan {
        let updates = column_updates(task.operator).unwrap_or_default();
        let tables = Tables::new(profile, task, &updates, FEW_TABLES).filter(Tables::is_small);
        let plan = CombinePlan::with(profile, task, &updates, tables);
        CombinePlan { rounds: Rounds { items: 1, unroll: 1, ..plan.rounds }, ..plan }
    }

    /// The threads of a block, and the most blocks, that suit its tables; on a CPU, that suit one element after the other.
    pub fn division(&self) -> Option<(u32, u32)> {
        let is_asked = self.how == Combine::Privatised || self.rounds.stretch;
        is_asked.then_some((self.rounds.threads, self.blocks))
    }

    fn with(
        profile: &Profile,
        task: &CombineTask<'_>,
        updates: &[ColumnUpdate],
        tables: Option<Tables>,
    ) -> CombinePlan {
        let possible =
            |how: &Combine| how.fits(task.operator, updates) && (*how != Combine::Alone || task.distinct);
        const WANTED: &str = "the compiler's options ask for it";
        let (how, why) = match task.wanted.filter(possible) {
            _ if task.distinct => (Combine::Alone, "each element has a target of its own"),
            Some(Combine::Privatised) if tables.is_some() => (Combine::Privatised, WANTED),
            Some(how) if how != Combine::Privatised => (how, WANTED),
            _ if possible(&Combine::Privatised) && tables.as_ref().is_some_and(|tables| tables.pays) => (
                Combine::Privatised,
                "there are many elements for each target, and a block's table of targets fits",
            ),
            _ if possible(&Combine::Native) => {
                (Combine::Native, "the device has the operator, and tables in a block's memory would not pay")
            }
            _ if possible(&Combine::CompareAndSwap) => (
                Combine::CompareAndSwap,
                "no atomic operation is this operator, and each column is updated by itself",
            ),
            _ => (Combine::Lock, "the operator updates several columns of an element together"),
        };
        let elements = task.elements.max(0) as u64;
        let plain = CombinePlan {
            how,
            why,
            rounds: Rounds::new(profile),
            blocks: 1,
            table: 0,
            copies: 1,
            asks_first: false,
            locks: 0,
        };
        let mut plan = match (how, tables) {
            (Combine::Privatised, Some(Tables { size, copies, parts, threads, blocks, .. })) => {
                // An element is computed twice then.
                let asks_first = plain.rounds.stretch && parts == 1 && task.cost <= CHEAP;
                let items = if asks_first { ASKED_AT_ONCE } else { plain.rounds.items };
                let rounds = Rounds { threads, parts, items, ..plain.rounds };
                let locks = if rounds.stretch && size > MERGED_BY_ATOMICS { STRETCHES } else { 0 };
                CombinePlan { table: size, copies, blocks, asks_first, rounds, locks, ..plain }
            }
            (Combine::Lock, _) => {
                let locks = (task.targets.max(1) as u64).next_power_of_two().min(MOST_LOCKS) as u32;
                CombinePlan { locks, rounds: Rounds { items: 1, unroll: 1, ..plain.rounds }, ..plain }
            }
            _ => plain,
        };
        if how != Combine::Privatised {
            // Every block is short, so that none is left with much to do in the end.
            let most = if profile.coalesces { MOST_BLOCKS } else { profile.busy_blocks };
            plan.blocks = elements.div_ceil(plan.rounds.tile()).clamp(1, most.max(1)) as u32;
        }
        plan
    }
}

/// More blocks than this go round instead.
const MOST_BLOCKS: u64 = 1 << 20;

/// Tables that a task can have on a device.
struct Tables {
    size: u32,
    copies: u32,
    parts: u32,
    threads: u32,
    blocks: u32,
    /// Blocks that a multiprocessor is to have at a time.
    at_once: u32,
    /// Whether they are better than atomic operations in global memory.
    pays: bool,
    /// Whether they are larger than the fast caches of a CPU.
    is_large: bool,
}

impl Tables {
    /// Whether one of them is for all targets, and pays also if others have tables too, or elements are fewer than they could be.
    fn is_small(&self) -> bool {
        self.parts == 1 && !self.is_large
    }

    fn new(
        profile: &Profile,
        task: &CombineTask<'_>,
        updates: &[ColumnUpdate],
        most: MostTables,
    ) -> Option<Tables> {
        let columns = task.operator.parameters().iter().zip(updates);
        let columns = columns.filter(|(_, update)| **update != ColumnUpdate::Keep);
        let bytes: u64 = columns.map(|(ty, _)| ty.bytes() as u64).sum::<u64>().max(1);
        let (targets, elements) = (task.targets.max(1) as u64, task.elements.max(0) as u64);
        let room = u64::from(profile.shared_bytes) / bytes;
        let parts = targets.div_ceil(room.max(1));
        let repeats = profile.coalesces && task.cost <= CHEAP && parts <= MOST_PARTS;
        if room == 0 || (parts > 1 && !repeats) {
            return None;
        }
        // Kernels are the same for similar numbers of targets.
        let size = targets.div_ceil(parts).next_power_of_two().min(room);
        let (copies, threads, at_once, most_blocks) = match profile.coalesces {
            true => {
                // As many copies as leave room for several blocks, of which smaller ones are more.
                let few = u64::from(profile.shared_bytes) * 2 / RESIDENT / (size * bytes);
                let copies = few.min(most.cells / size).clamp(1, MOST_COPIES);
                let copies = if copies.is_power_of_two() { copies } else { copies.next_power_of_two() / 2 };
                let at_once = u64::from(profile.shared_bytes) / (size * bytes * copies);
                let at_once = at_once.clamp(1, most.resident);
                let threads = u64::from(profile.threads) * RESIDENT / at_once;
                let threads = threads.min(profile.max_threads.into()) as u32 / 32 * 32;
                (copies, threads.max(1), at_once, (profile.busy_blocks * at_once / RESIDENT).max(1))
            }
            false => {
                let copies = if size * bytes * 4 <= CACHED_BYTES { 4 } else { 1 };
                let workers = (profile.busy_blocks / BLOCKS_PER_WORKER).max(1);
                let affordable = elements / (ELEMENTS_PER_MERGED_TARGET * size);
                let blocks = affordable.clamp(workers, profile.busy_blocks.max(workers));
                (copies, Rounds::new(profile).threads, 1, blocks)
            }
        };
        let worth = elements / (ELEMENTS_PER_TARGET * size);
        let blocks = (most_blocks / parts).clamp(1, worth.max(1)).min(MOST_BLOCKS) as u32;
        let whole = |value: u64| value.min(u32::MAX.into()) as u32;
        let tables = (whole(size), whole(copies), whole(parts));
        // A table that no fast cache holds gains only that its worker needs no atomic operations, if all workers have one.
        let is_large = !profile.coalesces && size * bytes > NEAR_BYTES;
        let least = if is_large { profile.busy_blocks / BLOCKS_PER_WORKER } else { 1 };
        let pays = worth >= least.max(1);
        let (size, copies, parts, at_once) = (tables.0, tables.1, tables.2, whole(at_once));
        Some(Tables { size, copies, parts, threads, blocks, at_once, pays, is_large })
    }
}

/// Route of an element, given its index and value as the producer hands them on: whether it goes anywhere (`None` if it always does),
/// its target, and its value.
pub type Route = Rc<dyn Fn(Ix, Scalars) -> (Option<Exp<bool>>, Ix, Scalars)>;

/// Combines elements into the targets in global memory: a [`Listener`].
pub struct Combiner {
    plan: CombinePlan,
    operator: Operator,
    updates: Vec<ColumnUpdate>,
    cells: Vec<(MemoryId, ScalarType)>,
    targets: Ix,
    locks: Option<(MemoryId, Ix)>,
    route: Route,
    place: Place,
    /// The table of the block that is described, if it has one.
    table: RefCell<Option<Table>>,
    /// Whether the elements that come have been checked.
    trusted: Cell<bool>,
}

impl Combiner {
    /// Makes a combiner of an operator of (new element, old element), given as data to be recognised, and as what it is in
    /// the kernel. Where the plan has locks, there is a cell for each,
    /// all of them 0. `place` is where the user has written what combines: an index that is not below the number of targets
    /// is a failure there.
    pub fn new<T: Storable>(
        plan: CombinePlan,
        (function, operator): (&Function, Operator),
        targets: &Mutable<T>,
        locks: Option<&Mutable<i32>>,
        route: Route,
        place: Place,
    ) -> Combiner {
        let cells = targets.cells().to_vec();
        let updates = column_updates(function).unwrap_or_default();
        let fits = plan.how.fits(function, &updates)
            && cells.iter().map(|(_, ty)| *ty).eq(function.result_types())
            && updates.len() == cells.len();
        let locks = locks.and_then(|locks| Some((locks.cells().first()?.0, locks.len())));
        let has_locks = locks.is_some() && plan.locks.is_power_of_two();
        let complete = has_locks || (plan.how != Combine::Lock && plan.locks == 0);
        if !fits || !complete {
            let how = plan.how;
            with(|builder| builder.mistake(format!("these elements cannot be combined by {how}")));
        }
        let (targets, table) = (targets.len(), RefCell::new(None));
        let trusted = Cell::new(false);
        Combiner { plan, operator, updates, cells, targets, locks, route, place, table, trusted }
    }

    /// Combines an element into a target that there is. `lane` is a number that neighbouring threads have neighbouring
    /// ones of.
    fn combine(&self, lane: Ix, target: Ix, value: &Scalars) {
        let Combiner { plan, operator, updates, cells, locks, place, .. } = self;
        match (&*self.table.borrow(), locks) {
            (Some(table), _) => table.element(lane, target, value, self.trusted.get()),
            (None, Some((memory, length))) if plan.how == Combine::Lock => {
                let lock = target & i64::from(plan.locks.max(1) - 1);
                check::if_within(lock, *length, *place, |lock| {
                    update::under_lock((*memory, lock), || {
                        update::alone(operator, updates, cells, target.term(), value)
                    });
                });
            }
            _ if plan.how == Combine::Alone => update::alone(operator, updates, cells, target.term(), value),
            _ => update::by_columns(operator, updates, cells, target.term(), value),
        }
    }
}

impl Listener for Combiner {
    fn start(&self, block: Ix) {
        if self.plan.how != Combine::Privatised {
            return;
        }
        let CombinePlan { table, copies, rounds, .. } = self.plan;
        let part = if rounds.parts == 1 { Exp::from(0) } else { block % i64::from(rounds.parts) };
        let first = part * i64::from(table);
        // A CPU's thread knows the copy of each element that it takes, and has no banks.
        let layout = if rounds.stretch { Copies::Apart } else { Copies::Interleaved };
        let table = on_behalf(self.place, || {
            Table::new(&self.cells, &self.updates, (table, copies), layout, first, self.targets)
        });
        *self.table.borrow_mut() = Some(table);
    }

    fn element(&self, index: Ix, value: Scalars) {
        let (goes, target, value) = (self.route)(index, value);
        // Threads that run together have different copies of a target, and so have neighbours of one thread.
        let lane = match self.plan.rounds.stretch {
            true => index,
            false => index >> i64::from(self.plan.rounds.items.max(1).ilog2()),
        };
        let combine = || match self.trusted.get() {
            true => self.combine(lane, target, &value),
            false => {
                let combine = |target| self.combine(lane, target, &value);
                check::if_within(target, self.targets, self.place, combine);
            }
        };
        on_behalf(self.place, || match goes {
            None => combine(),
            Some(goes) => effects::either(goes.term(), combine, || {}),
        });
    }

    fn checks(&self) -> bool {
        self.plan.asks_first
    }

    fn accepts(&self, index: Ix, value: Scalars) -> Exp<bool> {
        let (goes, target, _) = (self.route)(index, value);
        let inside = target.ge(0) & target.lt(self.targets);
        // The target of an element that goes nowhere is not computed, as it may fail.
        goes.map_or(inside, |goes| cond(goes, || inside, || Exp::from(true)))
    }

    fn trust(&self, trusted: bool) {
        self.trusted.set(trusted);
    }

    fn finish(&self, block: Ix) {
        let Some(table) = self.table.borrow_mut().take() else { return };
        let CombinePlan { blocks, locks: count, .. } = self.plan;
        on_behalf(self.place, || match self.locks {
            Some((locks, _)) if count > 0 => table.finish_in_stretches(block, blocks, (locks, count)),
            _ => table.finish(),
        });
    }
}
