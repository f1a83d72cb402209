//! Program IR: one kernel, as data.
//!
//! A program runs `blocks` blocks of `threads` threads, and [`WARP`] threads with consecutive numbers are a warp. Its
//! body is written from a block's point of view: what stands outside a [`Stmt::Parallel`] is done once by the block as a
//! whole (every thread computes the same value), what stands inside is done by each thread of it. A parallel loop over
//! warps is written from a warp's point of view in the same way. Values are assigned once, loops carry values explicitly, control flow
//! is structured. This file holds the data only: [`crate::text`] prints it, [`mod@crate::verify`] says what is well formed,
//! and [`mod@crate::simulate`] says what it means.

use pumice_scalar::{Constant, Op, ScalarType};

/// A value: an index into [`Program::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// Properties of a value other than its definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VarInfo {
    /// Its type.
    pub ty: ScalarType,
    /// Name in text. It need not be unique: printers add the number where it matters.
    pub name: String,
    /// Whether the integer operation that defines it is known to stay within its type (and to divide by a positive number
    /// only) in every launch: then it needs no care about wrapping. Meaningful for a [`Stmt::Let`] only; only
    /// [`mark_exact`](crate::mark_exact) sets it, and [`legalise`](crate::legalise) where it widens operands; emitters know of
    /// wrapping by it alone.
    pub exact: bool,
}

/// A value or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The value of a variable.
    Var(Var),
    /// A constant.
    Constant(Constant),
}

/// Memory that a program uses: an index into [`Program::memories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u32);

/// An array in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Name in text; unique within the program.
    pub name: String,
    /// The type of its elements.
    pub ty: ScalarType,
    /// Address space.
    pub space: Space,
}

/// Address space of memory, which determines the threads that may access it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// The device's memory, given as an argument.
    Global {
        /// Allowed accesses. Memory that is written never overlaps other memory of the launch.
        access: Access,
    },
    /// Memory that the threads of one block share; each block has its own, with undefined contents at first.
    Shared {
        /// Number of elements.
        length: u32,
    },
    /// Memory that each thread of a block has for itself, through all the parallel loops of the block, with undefined
    /// contents at first: registers, where every index is a constant. Used inside parallel loops only.
    Private {
        /// Number of elements of one thread.
        length: u32,
    },
}

/// No launch may have more blocks than this; the runtime refuses it. (At a nanosecond per block it would take 20 minutes.) So
/// indices that are made from a block's index can be shown not to overflow.
pub const MAX_BLOCKS: i64 = 1 << 40;

/// Threads of a warp, on every device: a language's unit, which devices with another number imitate.
pub const WARP: u32 = 32;

/// Execution units that share the iterations of a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workers {
    /// The threads of a block: index `i` is done by thread `i % threads`. Not inside another parallel loop.
    Threads,
    /// The warps of a block, each as a whole: index `i` is done by warp `i % (threads / WARP)`. Not inside another
    /// parallel loop; the block's threads are a multiple of [`WARP`].
    Warps,
    /// The lanes of a warp: index `i` is done by lane `i % WARP`. Directly or indirectly inside a loop over warps, and
    /// not inside another loop over lanes.
    Lanes,
}

/// Execution scope of a barrier (the threads that wait) or of a fence (the threads that observe the order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The lanes of a warp.
    Warp,
    /// The threads of a block.
    Block,
    /// Every thread of the launch. Only for fences.
    Grid,
}

/// Atomic operation on one element of memory: no thread observes an intermediate state.
///
/// All but [`AtomicOp::Load`] and [`AtomicOp::Store`] are read-modify-writes, and are relaxed. A relaxed operation releases if a
/// [`Stmt::Fence`] precedes it, and acquires if one follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Adds; integers and floats.
    Add,
    /// Subtracts; integers.
    Sub,
    /// Takes the minimum, as [`Op::Min`] does; integers and floats.
    Min,
    /// Takes the maximum, as [`Op::Max`] does; integers and floats.
    Max,
    /// Bitwise and; integers.
    And,
    /// Bitwise or; integers.
    Or,
    /// Bitwise exclusive or; integers.
    Xor,
    /// Replaces it; any type but `bool`.
    Exchange,
    /// Replaces it by the second operand if it equals the first, bit by bit; any type but `bool`.
    CompareExchange,
    /// Only reads it. If ordered, it acquires: writes before the release that it reads from are visible afterwards. Any type but `bool`.
    Load(Order),
    /// Only writes it. If ordered, it releases: earlier writes of this thread are visible to a thread that acquires it. Any type but
    /// `bool`, which only a relaxed store takes.
    Store(Order),
}

/// Memory ordering of an atomic access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// A load acquires and a store releases.
    Ordered,
    /// Other memory is not ordered, without a [`Stmt::Fence`].
    Relaxed,
}

/// Collective operation of a warp. Every lane that takes part in the parallel loop must reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CollectiveOp {
    /// The value of the lane whose number is the second operand, modulo [`WARP`].
    Shuffle,
    /// The value of the lane whose number is lower by the second operand; lanes that have none keep their own.
    ShuffleUp,
    /// The value of the lane whose number is higher by the second operand; lanes that have none keep their own.
    ShuffleDown,
    /// The value of the lane whose number differs in the bits of the second operand.
    ShuffleXor,
    /// Whether the condition holds for all lanes that take part.
    All,
    /// Whether it holds for any.
    Any,
    /// A `u32` with a bit for each lane: whether it takes part and the condition holds for it.
    Ballot,
}

/// Accesses that a program may make to global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read only.
    Read,
    /// Write only.
    Write,
    /// Read and write.
    ReadWrite,
}

/// One argument of a program, in the order in which they are passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Param {
    /// Global memory.
    Memory(MemoryId),
    /// A scalar, bound to a variable.
    Scalar(Var),
}

/// Record of failed checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// Global memory of three `i64`, zero at first: code, index, bound. The first failure is kept: the thread that changes the
    /// code from zero (atomically) writes the other two.
    pub memory: MemoryId,
    /// A scalar `i64` argument that is added to a site's number plus one to make the code, so that the launches of one
    /// run share the memory.
    pub base: Var,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name of the entry point: a C identifier.
    pub name: String,
    /// The arguments.
    pub params: Vec<Param>,
    /// Every value.
    pub vars: Vec<VarInfo>,
    /// Every array in memory.
    pub memories: Vec<Memory>,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks for which a multiprocessor should have registers at once; 1 leaves it to the compiler. It changes no result.
    pub resident: u32,
    /// Computed once, before the blocks: [`Stmt::Let`] and [`Stmt::Comment`] over scalar arguments only, so that the
    /// host can compute it too.
    pub prologue: Vec<Stmt>,
    /// Number of blocks, an `i64` from the arguments and the prologue.
    pub blocks: Operand,
    /// The index of the block, from 0 up to (not including) `blocks`.
    pub block: Var,
    /// Statements that each block executes.
    pub body: Vec<Stmt>,
    /// Failure record; present if and only if there is a [`Stmt::Fail`].
    pub failure: Option<Failure>,
    /// The stop record, if the program can be stopped: global memory of [`STOP_WORDS`](crate::STOP_WORDS) `i64`, which no
    /// statement uses. A device that finds the first word to be other than 0 leaves `while` loops, and begins no further
    /// block; what the program computes is then of no meaning.
    pub stop: Option<MemoryId>,
}

/// A value that a loop carries from one iteration to the next. It can be read in the loop and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carried {
    /// The value, in the loop and (the last one) after it.
    pub var: Var,
    /// Its value before the first iteration.
    pub initial: Operand,
    /// Its value for the next iteration, in terms of what the body computed. All carried values change at once.
    pub next: Operand,
}

/// A value that an `if` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Joined {
    /// The value, after the `if`.
    pub var: Var,
    /// Its value if the condition holds, from the first branch.
    pub then: Operand,
    /// Its value otherwise, from the second.
    pub otherwise: Operand,
}

/// A step of a program. A value is visible after its definition, in the same list of statements and the lists inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// Source location of the statements that follow. Not part of a program's identity.
    Comment(String),
    /// `var = op operands`; the result type is the variable's.
    Let {
        /// The value defined.
        var: Var,
        /// The operation.
        op: Op,
        /// The operands.
        operands: Vec<Operand>,
    },
    /// Reads one element, or 2 or 4 consecutive ones at an index that is a multiple of their number.
    Load {
        /// The values defined, one per element.
        vars: Vec<Var>,
        /// The memory that is read.
        memory: MemoryId,
        /// The index of the first element, of any integer type.
        index: Operand,
    },
    /// Writes one element, or 2 or 4 consecutive ones at an index that is a multiple of their number. Only inside
    /// [`Stmt::Parallel`].
    Store {
        /// The memory that is written.
        memory: MemoryId,
        /// The index of the first element, of any integer type.
        index: Operand,
        /// The elements.
        values: Vec<Operand>,
    },
    /// Executes one of two lists of statements.
    If {
        /// A `bool`.
        condition: Operand,
        /// Executed if it holds.
        then: Vec<Stmt>,
        /// Executed otherwise.
        otherwise: Vec<Stmt>,
        /// The values that come out.
        results: Vec<Joined>,
    },
    /// `for var in (start..end).step_by(step)`, in order.
    For {
        /// The loop's index.
        var: Var,
        /// First index.
        start: Operand,
        /// End of the range, exclusive.
        end: Operand,
        /// Step, a positive number.
        step: Operand,
        /// Loop-carried values.
        carried: Vec<Carried>,
        /// Statements of each iteration.
        body: Vec<Stmt>,
    },
    /// Repeats: computes `header`, leaves the loop unless `condition` holds, executes `body`.
    While {
        /// Loop-carried values.
        carried: Vec<Carried>,
        /// Computed before each test; its values are visible in the body.
        header: Vec<Stmt>,
        /// A `bool`.
        condition: Operand,
        /// Statements of each iteration.
        body: Vec<Stmt>,
    },
    /// The workers do this for each `var` from 0 up to (not including) `extent`, in any order; an extent larger than the
    /// number of workers is looped over.
    Parallel {
        /// Execution units that share the iterations.
        workers: Workers,
        /// The index.
        var: Var,
        /// Number of iterations, of the index's type.
        extent: Operand,
        /// Statements of each iteration.
        body: Vec<Stmt>,
    },
    /// Threads wait for each other; what they wrote before is visible after. A block's barrier stands outside every
    /// [`Stmt::Parallel`]; a warp's stands inside a loop over warps, outside those over lanes, and no
    /// parallel loop around it has an extent that differs from warp to warp.
    Sync {
        /// Execution scope: a warp or a block.
        scope: Scope,
    },
    /// Memory fence: writes of this thread before it are visible before its writes after it, and reads after it happen after those
    /// before it. So a read-modify-write that follows a fence releases what comes before the fence, and one that a fence
    /// follows has acquired from there on. Only inside a loop over threads or lanes.
    Fence {
        /// Execution scope: the threads that observe the order.
        scope: Scope,
    },
    /// Accesses one element of memory atomically. Only inside a loop over threads or lanes, and not for private memory.
    Atomic {
        /// The element before; always absent for [`AtomicOp::Store`] and always present for [`AtomicOp::Load`].
        var: Option<Var>,
        /// The operation.
        op: AtomicOp,
        /// The memory that is accessed.
        memory: MemoryId,
        /// The index of the element, of any integer type.
        index: Operand,
        /// The operands besides the element.
        operands: Vec<Operand>,
    },
    /// Exchanges values among the lanes of a warp. Only inside a loop over threads or lanes, and reached by all lanes of a
    /// warp or by none: no condition or loop around it differs from lane to lane.
    Collective {
        /// The result.
        var: Var,
        /// The operation.
        op: CollectiveOp,
        /// The value or condition; for a shuffle also the lane, or distance, an `i32`.
        operands: Vec<Operand>,
    },
    /// Records a failure unless the condition holds, and goes on: what depends on the condition must be guarded by it.
    /// Only inside [`Stmt::Parallel`].
    Fail {
        /// A `bool`.
        unless: Operand,
        /// The number of the place in the user's program.
        site: u32,
        /// The offending value, an `i64`.
        index: Operand,
        /// Exclusive upper bound of that value, an `i64`.
        bound: Operand,
    },
}

impl AtomicOp {
    /// All atomic operations.
    pub const ALL: [AtomicOp; 13] = [
        AtomicOp::Add,
        AtomicOp::Sub,
        AtomicOp::Min,
        AtomicOp::Max,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Exchange,
        AtomicOp::CompareExchange,
        AtomicOp::Load(Order::Ordered),
        AtomicOp::Load(Order::Relaxed),
        AtomicOp::Store(Order::Ordered),
        AtomicOp::Store(Order::Relaxed),
    ];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "add",
            AtomicOp::Sub => "sub",
            AtomicOp::Min => "min",
            AtomicOp::Max => "max",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Exchange => "exchange",
            AtomicOp::CompareExchange => "compare_exchange",
            AtomicOp::Load(Order::Ordered) => "load",
            AtomicOp::Load(Order::Relaxed) => "load_relaxed",
            AtomicOp::Store(Order::Ordered) => "store",
            AtomicOp::Store(Order::Relaxed) => "store_relaxed",
        }
    }

    /// Whether it reads the element.
    pub fn reads(self) -> bool {
        !matches!(self, AtomicOp::Store(_))
    }

    /// Whether it writes the element.
    pub fn writes(self) -> bool {
        !matches!(self, AtomicOp::Load(_))
    }

    /// Returns the memory ordering of the operation.
    pub fn order(self) -> Order {
        match self {
            AtomicOp::Load(order) | AtomicOp::Store(order) => order,
            _ => Order::Relaxed,
        }
    }

    /// Returns the number of operands besides memory and index.
    pub fn operands(self) -> usize {
        match self {
            AtomicOp::Load(_) => 0,
            AtomicOp::CompareExchange => 2,
            _ => 1,
        }
    }

    /// Whether it can be done to elements of this type.
    pub fn accepts(self, ty: ScalarType) -> bool {
        match self {
            AtomicOp::Sub | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => ty.is_integer(),
            AtomicOp::Store(Order::Relaxed) => true,
            _ => ty != ScalarType::Bool,
        }
    }
}

impl CollectiveOp {
    /// All collective operations.
    pub const ALL: [CollectiveOp; 7] = [
        CollectiveOp::Shuffle,
        CollectiveOp::ShuffleUp,
        CollectiveOp::ShuffleDown,
        CollectiveOp::ShuffleXor,
        CollectiveOp::All,
        CollectiveOp::Any,
        CollectiveOp::Ballot,
    ];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveOp::Shuffle => "shuffle",
            CollectiveOp::ShuffleUp => "shuffle_up",
            CollectiveOp::ShuffleDown => "shuffle_down",
            CollectiveOp::ShuffleXor => "shuffle_xor",
            CollectiveOp::All => "all",
            CollectiveOp::Any => "any",
            CollectiveOp::Ballot => "ballot",
        }
    }

    /// Whether it moves values, and so has a lane or a distance as its second operand.
    pub fn is_shuffle(self) -> bool {
        !matches!(self, CollectiveOp::All | CollectiveOp::Any | CollectiveOp::Ballot)
    }
}

impl Program {
    /// The type of a value.
    pub fn var_type(&self, var: Var) -> ScalarType {
        self.vars[var.0 as usize].ty
    }

    /// The type of an operand.
    pub fn operand_type(&self, operand: Operand) -> ScalarType {
        match operand {
            Operand::Var(var) => self.var_type(var),
            Operand::Constant(constant) => constant.ty(),
        }
    }

    /// The memory with this number.
    pub fn memory(&self, id: MemoryId) -> &Memory {
        &self.memories[id.0 as usize]
    }

    /// Adds a value.
    pub fn add_var(&mut self, ty: ScalarType, name: impl Into<String>) -> Var {
        self.vars.push(VarInfo { ty, name: name.into(), exact: false });
        Var(self.vars.len() as u32 - 1)
    }

    /// Changes the numbers of memories wherever one is mentioned.
    pub(crate) fn each_memory(&mut self, action: &impl Fn(&mut MemoryId)) {
        for param in &mut self.params {
            if let Param::Memory(memory) = param {
                action(memory);
            }
        }
        self.failure.iter_mut().for_each(|failure| action(&mut failure.memory));
        self.stop.iter_mut().for_each(action);
        each_memory_of(&mut self.body, action);
    }

    /// Removes a memory that nothing mentions; those after it move up.
    pub(crate) fn remove_memory(&mut self, gone: MemoryId) {
        if (gone.0 as usize) < self.memories.len() {
            self.memories.remove(gone.0 as usize);
        }
        self.each_memory(&|memory| memory.0 -= u32::from(memory.0 > gone.0));
    }
}

fn each_memory_of(list: &mut [Stmt], action: &impl Fn(&mut MemoryId)) {
    for stmt in list {
        if let Stmt::Load { memory, .. } | Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } = stmt {
            action(memory);
        }
        for child in stmt.children_mut() {
            each_memory_of(child, action);
        }
    }
}

impl Stmt {
    /// The lists of statements inside this one.
    pub fn children(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::For { body, .. } | Stmt::Parallel { body, .. } => vec![body],
            Stmt::While { header, body, .. } => vec![header, body],
            _ => vec![],
        }
    }

    /// The lists of statements inside this one, to be changed.
    pub fn children_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::For { body, .. } | Stmt::Parallel { body, .. } => vec![body],
            Stmt::While { header, body, .. } => vec![header, body],
            _ => vec![],
        }
    }

    /// Whether the lanes of a warp do something together in this statement or one inside it: a shuffle, a vote or a barrier
    /// of the warp.
    pub fn is_warp_collective(&self) -> bool {
        match self {
            Stmt::Collective { .. } | Stmt::Sync { scope: Scope::Warp } => true,
            stmt => stmt.children().into_iter().flatten().any(Stmt::is_warp_collective),
        }
    }

    /// The operands that the statement itself reads (not those of the statements inside it).
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Stmt::Comment(_) | Stmt::Sync { .. } | Stmt::Fence { .. } => vec![],
            Stmt::Let { operands, .. } | Stmt::Collective { operands, .. } => operands.clone(),
            Stmt::Load { index, .. } => vec![*index],
            Stmt::Atomic { index, operands, .. } => {
                std::iter::once(*index).chain(operands.iter().copied()).collect()
            }
            Stmt::Store { index, values, .. } => {
                std::iter::once(*index).chain(values.iter().copied()).collect()
            }
            Stmt::If { condition, results, .. } => std::iter::once(*condition)
                .chain(results.iter().flat_map(|joined| [joined.then, joined.otherwise]))
                .collect(),
            Stmt::For { start, end, step, carried, .. } => [*start, *end, *step]
                .into_iter()
                .chain(carried.iter().flat_map(|carried| [carried.initial, carried.next]))
                .collect(),
            Stmt::While { carried, condition, .. } => std::iter::once(*condition)
                .chain(carried.iter().flat_map(|carried| [carried.initial, carried.next]))
                .collect(),
            Stmt::Parallel { extent, .. } => vec![*extent],
            Stmt::Fail { unless, index, bound, .. } => vec![*unless, *index, *bound],
        }
    }

    /// As [`Stmt::operands`], to be changed, in the same order.
    pub fn operands_mut(&mut self) -> Vec<&mut Operand> {
        match self {
            Stmt::Comment(_) | Stmt::Sync { .. } | Stmt::Fence { .. } => vec![],
            Stmt::Let { operands, .. } | Stmt::Collective { operands, .. } => operands.iter_mut().collect(),
            Stmt::Load { index, .. } => vec![index],
            Stmt::Atomic { index, operands, .. } => std::iter::once(index).chain(operands).collect(),
            Stmt::Store { index, values, .. } => std::iter::once(index).chain(values).collect(),
            Stmt::If { condition, results, .. } => std::iter::once(condition)
                .chain(results.iter_mut().flat_map(|joined| [&mut joined.then, &mut joined.otherwise]))
                .collect(),
            Stmt::For { start, end, step, carried, .. } => [start, end, step]
                .into_iter()
                .chain(carried.iter_mut().flat_map(|carried| [&mut carried.initial, &mut carried.next]))
                .collect(),
            Stmt::While { carried, condition, .. } => std::iter::once(condition)
                .chain(carried.iter_mut().flat_map(|carried| [&mut carried.initial, &mut carried.next]))
                .collect(),
            Stmt::Parallel { extent, .. } => vec![extent],
            Stmt::Fail { unless, index, bound, .. } => vec![unless, index, bound],
        }
    }

    /// The values that the statement itself defines (not those of the statements inside it).
    pub fn defines(&self) -> Vec<Var> {
        match self {
            Stmt::Let { var, .. } | Stmt::Parallel { var, .. } | Stmt::Collective { var, .. } => vec![*var],
            Stmt::Atomic { var, .. } => var.iter().copied().collect(),
            Stmt::Load { vars, .. } => vars.clone(),
            Stmt::If { results, .. } => results.iter().map(|joined| joined.var).collect(),
            Stmt::For { var, carried, .. } => {
                std::iter::once(*var).chain(carried.iter().map(|carried| carried.var)).collect()
            }
            Stmt::While { carried, .. } => carried.iter().map(|carried| carried.var).collect(),
            _ => vec![],
        }
    }

    /// As [`Stmt::defines`], to be changed, in the same order.
    pub fn defines_mut(&mut self) -> Vec<&mut Var> {
        match self {
            Stmt::Let { var, .. } | Stmt::Parallel { var, .. } | Stmt::Collective { var, .. } => vec![var],
            Stmt::Atomic { var, .. } => var.iter_mut().collect(),
            Stmt::Load { vars, .. } => vars.iter_mut().collect(),
            Stmt::If { results, .. } => results.iter_mut().map(|joined| &mut joined.var).collect(),
            Stmt::For { var, carried, .. } => {
                std::iter::once(var).chain(carried.iter_mut().map(|carried| &mut carried.var)).collect()
            }
            Stmt::While { carried, .. } => carried.iter_mut().map(|carried| &mut carried.var).collect(),
            _ => vec![],
        }
    }
}
