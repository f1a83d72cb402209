//! Memory planning: where each shared memory lies among the bytes that a block's threads share.
//!
//! Two memories may have the same bytes if their lifetimes have no phase in common, where a phase is what happens
//! between two barriers of the block: within one, threads are in no order, so the last reader of one memory and the
//! first writer of another must have a barrier between them. A warp's barrier orders that warp only, so it ends no phase.
//! Lifetimes are found by data flow over the program's control flow. A plan
//! never changes a program, and must be right for every program that the verifier accepts: what is not understood
//! counts as alive.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use pumice_scalar::Op;

use crate::ir::{MemoryId, Operand, Program, Scope, Space, Stmt, Var, Workers};

/// Every memory starts at a multiple of this: that of the widest vector access.
const ALIGNMENT: u64 = 16;

/// Placement of a program's shared memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// By memory number: the first byte, for shared memory that is used.
    pub offsets: Vec<Option<u32>>,
    /// Size of all of them together, in bytes.
    pub bytes: u32,
}

impl Layout {
    /// The first byte of a memory; `None` if it is not shared or not used.
    pub fn offset(&self, memory: MemoryId) -> Option<u32> {
        self.offsets.get(memory.0 as usize).copied().flatten()
    }
}

/// A program needs more shared memory than there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryError {
    /// The name of the program.
    pub program: String,
    /// Bytes that it needs at the same time.
    pub needed: u64,
    /// Bytes that there are.
    pub limit: u64,
    /// The memories that it uses, with their bytes.
    pub memories: Vec<(String, u64)>,
}

impl MemoryError {
    /// Returns the reason, as the end of a sentence that begins with the kernel.
    pub(crate) fn reason(&self) -> String {
        let MemoryError { needed, limit, memories, .. } = self;
        let sizes: Vec<String> = memories.iter().map(|(name, bytes)| format!("`{name}` {bytes}")).collect();
        let sizes = sizes.join(", ");
        format!("needs {needed} bytes of shared memory, and the limit is {limit} ({sizes})")
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}` {}", self.program, self.reason())
    }
}

impl std::error::Error for MemoryError {}

/// Places a program's shared memories in at most `limit` bytes.
pub fn plan(program: &Program, limit: u32) -> Result<Layout, MemoryError> {
    let lifetimes = lifetimes(program);
    let sizes: Vec<u64> = program
        .memories
        .iter()
        .map(|memory| match memory.space {
            Space::Shared { length } => {
                let bytes = u64::from(length) * memory.ty.bytes() as u64;
                // Small elements are exchanged with the word that they are in, so the last ones have all of it.
                if memory.ty.is_small() { bytes.next_multiple_of(4) } else { bytes }
            }
            Space::Global { .. } | Space::Private { .. } => 0,
        })
        .collect();
    // Large ones first: small ones fit in the gaps.
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&number| !lifetimes[number].is_empty()).collect();
    order.sort_by_key(|&number| (std::cmp::Reverse(sizes[number]), number));
    let mut starts: Vec<Option<u64>> = vec![None; sizes.len()];
    // By phase: the bytes that are taken in it.
    let mut placed: HashMap<usize, Vec<(u64, u64)>> = HashMap::new();
    let mut total = 0;
    for &number in &order {
        let phases = lifetimes[number].iter();
        let mut taken: Vec<(u64, u64)> =
            phases.filter_map(|phase| placed.get(phase)).flatten().copied().collect();
        taken.sort_unstable();
        taken.dedup();
        let mut start = 0u64;
        for (from, to) in taken {
            if start + sizes[number] > from {
                start = start.max(to.next_multiple_of(ALIGNMENT));
            }
        }
        starts[number] = Some(start);
        for phase in &lifetimes[number] {
            placed.entry(*phase).or_default().push((start, start + sizes[number]));
        }
        total = total.max(start + sizes[number]);
    }
    match u32::try_from(total) {
        Ok(bytes) if bytes <= limit => {
            // Every start is at most the total.
            Ok(Layout {
                offsets: starts.iter().map(|start| start.map(|start| start as u32)).collect(),
                bytes,
            })
        }
        _ => Err(MemoryError {
            program: program.name.clone(),
            needed: total,
            limit: limit.into(),
            memories: order
                .iter()
                .map(|&number| (program.memories[number].name.clone(), sizes[number]))
                .collect(),
        }),
    }
}

/// By memory number: the phases in which shared memory is accessed or holds something that is still to be read.
fn lifetimes(program: &Program) -> Vec<BTreeSet<usize>> {
    let mut flow = Flow { program, nodes: Vec::new() };
    let start = flow.add(Node::default());
    flow.list(&program.body, start);
    let (live_before, live_after) = flow.live();
    let (written_before, written_after) = flow.written(&live_after);
    let phases = flow.phases();
    let mut lifetimes = vec![BTreeSet::new(); program.memories.len()];
    for (number, node) in flow.nodes.iter().enumerate() {
        let (before, after) = phases[number];
        let needed_before =
            live_before[number].intersection(&written_before[number]).map(|&memory| (memory, before));
        let needed_after =
            live_after[number].intersection(&written_after[number]).map(|&memory| (memory, after));
        let accessed = node.loads.union(&node.stores).map(|&memory| (memory, before));
        for (memory, phase) in needed_before.chain(needed_after).chain(accessed) {
            lifetimes[memory].insert(phase);
        }
    }
    lifetimes
}

type Memories = BTreeSet<usize>;

/// Accesses, barrier and successors of one point of the control flow.
#[derive(Clone, Debug, Default)]
struct Node {
    loads: Memories,
    stores: Memories,
    /// Memories of which every element is stored.
    overwrites: Memories,
    sync: bool,
    next: Vec<usize>,
}

/// The control flow of a program, as far as shared memory goes. A parallel loop (over warps too, with all that is in it)
/// is one node: there are no barriers of the block in it, and its indices are in no order.
struct Flow<'a> {
    program: &'a Program,
    nodes: Vec<Node>,
}

impl Flow<'_> {
    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn link(&mut self, from: usize, to: usize) {
        self.nodes[from].next.push(to);
    }

    /// Adds a node after another one.
    fn after(&mut self, from: usize, node: Node) -> usize {
        let number = self.add(node);
        self.link(from, number);
        number
    }

    /// Adds a list after a node; gives the node at its end.
    fn list(&mut self, list: &[Stmt], mut at: usize) -> usize {
        for stmt in list {
            match stmt {
                Stmt::Sync { scope: Scope::Block } => {
                    at = self.after(at, Node { sync: true, ..Node::default() });
                }
                Stmt::Load { .. } | Stmt::Store { .. } | Stmt::Atomic { .. } | Stmt::Parallel { .. } => {
                    let mut node = Node::default();
                    self.access(stmt, &mut node);
                    if let Stmt::Parallel { workers: Workers::Threads, var, extent, body } = stmt {
                        node.overwrites = self.overwritten(*var, *extent, body);
                    }
                    at = self.after(at, node);
                }
                Stmt::If { then, otherwise, .. } => {
                    let join = self.add(Node::default());
                    for side in [then, otherwise] {
                        let end = self.list(side, at);
                        self.link(end, join);
                    }
                    at = join;
                }
                Stmt::For { body, .. } => {
                    let head = self.after(at, Node::default());
                    let end = self.list(body, head);
                    self.link(end, head);
                    at = head;
                }
                Stmt::While { header, body, .. } => {
                    let head = self.after(at, Node::default());
                    let test = self.list(header, head);
                    let end = self.list(body, test);
                    self.link(end, head);
                    at = test;
                }
                Stmt::Comment(_)
                | Stmt::Let { .. }
                | Stmt::Fail { .. }
                | Stmt::Sync { .. }
                | Stmt::Fence { .. }
                | Stmt::Collective { .. } => {}
            }
        }
        at
    }

    fn shared(&self, id: MemoryId) -> Option<(usize, u32)> {
        match self.program.memories.get(id.0 as usize)?.space {
            Space::Shared { length } => Some((id.0 as usize, length)),
            Space::Global { .. } | Space::Private { .. } => None,
        }
    }

    /// Notes every access of a statement and of those inside it.
    fn access(&self, stmt: &Stmt, node: &mut Node) {
        match stmt {
            Stmt::Load { memory, .. } => node.loads.extend(self.shared(*memory).map(|(number, _)| number)),
            Stmt::Store { memory, .. } => node.stores.extend(self.shared(*memory).map(|(number, _)| number)),
            Stmt::Atomic { memory, op, .. } => {
                let number = self.shared(*memory).map(|(number, _)| number);
                node.loads.extend(number.filter(|_| op.reads()));
                node.stores.extend(number.filter(|_| op.writes()));
            }
            _ => {}
        }
        for child in stmt.children() {
            for stmt in child {
                self.access(stmt, node);
            }
        }
    }

    /// Returns the memories of which a parallel loop stores every element, whatever it loads: those that have as many elements
    /// as the loop has indices, stored unconditionally at the index (or `k` elements at `k` times the index).
    fn overwritten(&self, var: Var, extent: Operand, body: &[Stmt]) -> Memories {
        let Operand::Constant(extent) = extent else {
            return Memories::new();
        };
        let extent = extent.as_integer().unwrap_or(0);
        let full = body.iter().filter_map(|stmt| match stmt {
            Stmt::Store { memory, index, values } => {
                let (number, length) = self.shared(*memory)?;
                let factor = times_index(body, var, *index)?;
                (factor == values.len() as i128 && extent.checked_mul(factor)? >= length.into())
                    .then_some(number)
            }
            _ => None,
        });
        full.collect()
    }

    /// Per node, the memories that may be loaded from before they are overwritten, seen from before and after it.
    fn live(&self) -> (Vec<Memories>, Vec<Memories>) {
        let mut before = vec![Memories::new(); self.nodes.len()];
        let mut after = before.clone();
        loop {
            let mut changed = false;
            for (number, node) in self.nodes.iter().enumerate().rev() {
                let out: Memories = node.next.iter().flat_map(|&next| before[next].iter().copied()).collect();
                let into: Memories = out.difference(&node.overwrites).chain(&node.loads).copied().collect();
                changed |= into != before[number] || out != after[number];
                (before[number], after[number]) = (into, out);
            }
            if !changed {
                return (before, after);
            }
        }
    }

    /// Per node, the memories that may have been stored to and are alive, seen from before and after it. (Where one is
    /// alive, it was so ever since the last store on the way: what is dead need not be carried along.)
    fn written(&self, live_after: &[Memories]) -> (Vec<Memories>, Vec<Memories>) {
        let mut before = vec![Memories::new(); self.nodes.len()];
        let mut after = before.clone();
        loop {
            let mut changed = false;
            for (number, node) in self.nodes.iter().enumerate() {
                let mut out: Memories = before[number].union(&node.stores).copied().collect();
                out.retain(|memory| live_after[number].contains(memory));
                for &next in &node.next {
                    let known = before[next].len();
                    before[next].extend(&out);
                    changed |= before[next].len() != known;
                }
                changed |= out != after[number];
                after[number] = out;
            }
            if !changed {
                return (before, after);
            }
        }
    }

    /// Per node, the phases before and after it. Points that may be in one phase in some run have the same number.
    fn phases(&self) -> Vec<(usize, usize)> {
        let mut parents: Vec<usize> = (0..2 * self.nodes.len()).collect();
        for (number, node) in self.nodes.iter().enumerate() {
            if !node.sync {
                unite(&mut parents, 2 * number, 2 * number + 1);
            }
            for &next in &node.next {
                unite(&mut parents, 2 * number + 1, 2 * next);
            }
        }
        let mut phase = |point| root(&mut parents, point);
        (0..self.nodes.len()).map(|number| (phase(2 * number), phase(2 * number + 1))).collect()
    }
}

fn root(parents: &mut [usize], mut point: usize) -> usize {
    while parents[point] != point {
        parents[point] = parents[parents[point]];
        point = parents[point];
    }
    point
}

fn unite(parents: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(parents, one), root(parents, other));
    parents[one] = other;
}

/// The constant that `operand` is times the variable, if it is one.
fn times_index(body: &[Stmt], var: Var, operand: Operand) -> Option<i128> {
    let mut factor: i128 = 1;
    let mut operand = operand;
    // Programs do not have longer chains.
    for _ in 0..4 {
        if operand == Operand::Var(var) {
            return Some(factor);
        }
        let (op, operands) = body.iter().find_map(|stmt| match stmt {
            Stmt::Let { var, op, operands } if Operand::Var(*var) == operand => Some((*op, operands)),
            _ => None,
        })?;
        let constant = |position: usize| match operands.get(position)? {
            Operand::Constant(constant) => constant.as_integer(),
            Operand::Var(_) => None,
        };
        operand = *operands.first()?;
        factor = match op {
            Op::Cast => factor,
            Op::Mul => factor.checked_mul(constant(1)?)?,
            Op::Shl => factor.checked_mul(1i128.checked_shl(u32::try_from(constant(1)?).ok()?)?)?,
            _ => return None,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn layout(memories: &str, body: &str) -> Layout {
        let text = format!("kernel k\n{memories}\nthreads 8\nblocks %b: i64 < 1:i64\nbody {{\n{body}\n}}\n");
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        crate::check(&program).unwrap();
        plan(&program, 1 << 20).unwrap()
    }

    const THREE: &str = "memory @a: shared f32[8]\nmemory @b: shared f32[8]\nmemory @c: shared f32[8]";
    const WRITE_A: &str = "parallel %i0: i64 < 8:i64 { store @a[%i0] = 1.0:f32 }";
    const A_TO_B: &str = "parallel %i1: i64 < 8:i64 { %x1: f32 = load @a[%i1] store @b[%i1] = %x1 }";
    const B_TO_C: &str = "parallel %i2: i64 < 8:i64 { %x2: f32 = load @b[%i2] store @c[%i2] = %x2 }";
    const READ_C: &str = "parallel %i3: i64 < 8:i64 { %x3: f32 = load @c[%i3] }";

    #[test]
    fn a_memory_takes_the_place_of_one_that_is_done_with() {
        let layout = layout(THREE, &format!("{WRITE_A} sync {A_TO_B} sync {B_TO_C} sync {READ_C}"));
        assert_eq!(layout, Layout { offsets: vec![Some(0), Some(32), Some(0)], bytes: 64 });
    }

    #[test]
    fn thousands_of_memories_are_placed_in_no_time() {
        let count = 4_000;
        let memories: String = (0..count).map(|k| format!("memory @m{k}: shared f32[8]\n")).collect();
        let step = |k: usize| {
            let (from, load) = match k {
                0 => ("1.0:f32".to_string(), String::new()),
                _ => (format!("%x{k}"), format!("%x{k}: f32 = load @m{}[%i{k}]", k - 1)),
            };
            format!("parallel %i{k}: i64 < 8:i64 {{ {load} store @m{k}[%i{k}] = {from} }} sync\n")
        };
        let body: String = (0..count).map(step).collect();
        let start = std::time::Instant::now();
        assert_eq!(layout(&memories, &body).bytes, 64);
        // It took 20 seconds when each point of the program had a set of all memories written before it.
        assert!(start.elapsed().as_secs() < 8, "{:?}", start.elapsed());
    }

    #[test]
    fn without_a_barrier_between_nothing_is_reused() {
        let layout = layout(THREE, &format!("{WRITE_A} sync {A_TO_B} {B_TO_C} sync {READ_C}"));
        assert_eq!(layout.bytes, 96);
    }

    #[test]
    fn a_barrier_in_one_branch_only_does_not_count() {
        let some = layout(
            THREE,
            &format!(
                "%c: bool = lt %b, 1:i64 {WRITE_A} sync {A_TO_B} if %c {{ sync }} else {{ }} {B_TO_C} sync {READ_C}"
            ),
        );
        assert_eq!(some.bytes, 96);
        let both = layout(
            THREE,
            &format!(
                "%c: bool = lt %b, 1:i64 {WRITE_A} sync {A_TO_B} if %c {{ sync }} else {{ sync }} {B_TO_C} sync {READ_C}"
            ),
        );
        assert_eq!(both.bytes, 64);
    }

    #[test]
    fn what_is_read_after_a_loop_lives_through_it() {
        let body = format!(
            "{WRITE_A} sync for %k: i64 in 0:i64..3:i64 step 1:i64 {{ \
             parallel %i1: i64 < 8:i64 {{ store @b[%i1] = 2.0:f32 }} sync \
             parallel %i2: i64 < 8:i64 {{ %x2: f32 = load @b[%i2] store @c[%i2] = %x2 }} sync }} \
             parallel %i3: i64 < 8:i64 {{ %x3: f32 = load @a[%i3] }}"
        );
        assert_eq!(layout(THREE, &body).bytes, 96);
    }

    #[test]
    fn what_an_iteration_leaves_for_the_next_lives_through_the_loop() {
        // `a` is read at the start of each iteration, and written at the end of the one before.
        let body = "for %k: i64 in 0:i64..3:i64 step 1:i64 { \
             parallel %i1: i64 < 8:i64 { store @b[%i1] = 2.0:f32 } sync \
             parallel %i2: i64 < 8:i64 { %x2: f32 = load @b[%i2] } sync \
             parallel %i3: i64 < 8:i64 { store @c[%i3] = 2.0:f32 } sync \
             parallel %i4: i64 < 8:i64 { %x4: f32 = load @c[%i4] \
               %first: bool = lt %k, 1:i64 if %first { } else { %x5: f32 = load @a[%i4] } } sync \
             parallel %i6: i64 < 8:i64 { store @a[%i6] = 2.0:f32 } sync }";
        let layout = layout(THREE, body);
        assert_eq!(layout.bytes, 64, "{layout:?}");
        assert_eq!(layout.offsets[1], layout.offsets[2]);
        assert_ne!(layout.offsets[0], layout.offsets[1]);
    }

    #[test]
    fn what_an_iteration_writes_only_in_part_lives_through_the_loop() {
        let body = |extent: &str| {
            format!(
                "for %k: i64 in 0:i64..3:i64 step 1:i64 {{ \
                 parallel %i1: i64 < {extent}:i64 {{ store @a[%i1] = 2.0:f32 }} sync \
                 parallel %i2: i64 < {extent}:i64 {{ %x2: f32 = load @a[%i2] }} sync \
                 parallel %i3: i64 < {extent}:i64 {{ store @b[%i3] = 2.0:f32 }} sync \
                 parallel %i4: i64 < {extent}:i64 {{ %x4: f32 = load @b[%i4] }} sync }}"
            )
        };
        assert_eq!(layout(THREE, &body("8")).bytes, 32);
        assert_eq!(layout(THREE, &body("7")).bytes, 64);
    }

    #[test]
    fn the_end_of_an_iteration_and_the_start_of_the_next_are_one_phase() {
        let body = "for %k: i64 in 0:i64..3:i64 step 1:i64 { \
             parallel %i1: i64 < 8:i64 { store @a[%i1] = 2.0:f32 } sync \
             parallel %i2: i64 < 8:i64 { %x2: f32 = load @a[%i2] } sync \
             parallel %i3: i64 < 8:i64 { store @b[%i3] = 2.0:f32 } sync \
             parallel %i4: i64 < 8:i64 { %x4: f32 = load @b[%i4] } }";
        assert_eq!(layout(THREE, body).bytes, 64);
    }

    /// Like [`layout`], with whole warps.
    fn warp_layout(body: &str) -> Layout {
        let text = format!("kernel k\n{THREE}\nthreads 64\nblocks %b: i64 < 1:i64\nbody {{\n{body}\n}}\n");
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        crate::check(&program).unwrap();
        plan(&program, 1 << 20).unwrap()
    }

    #[test]
    fn a_barrier_of_a_warp_ends_no_phase() {
        let store = |name: &str, number: u32| {
            format!("lanes %l{number}: i64 < 8:i64 {{ store @{name}[%l{number}] = 1.0:f32 }}")
        };
        let load = |name: &str, number: u32| {
            format!("lanes %l{number}: i64 < 8:i64 {{ %x{number}: f32 = load @{name}[%l{number}] }}")
        };
        let [a0, a1, b2, b3] = [store("a", 0), load("a", 1), store("b", 2), load("b", 3)];
        // One warp may be done with the first when another still reads it.
        let one = format!("warps %w: i64 < 2:i64 {{ {a0} sync warp {a1} sync warp {b2} sync warp {b3} }}");
        assert_eq!(warp_layout(&one).bytes, 64);
        let two = |between: &str| {
            let first = format!("warps %w: i64 < 2:i64 {{ {a0} sync warp {a1} sync warp }}");
            format!("{first} {between} warps %v: i64 < 2:i64 {{ sync warp {b2} sync warp {b3} }}")
        };
        assert_eq!(warp_layout(&two("")).bytes, 64);
        assert_eq!(warp_layout(&two("sync")).bytes, 32);
    }

    #[test]
    fn a_warp_reads_as_a_whole() {
        let body = |between: &str| {
            format!(
                "{WRITE_A} sync warps %w: i64 < 2:i64 {{ %y: f32 = load @a[%w] \
                 lanes %l: i64 < 1:i64 {{ store @b[%w] = %y }} }} {between} \
                 parallel %i: i64 < 8:i64 {{ store @c[%i] = 1.0:f32 }} sync \
                 parallel %j: i64 < 2:i64 {{ %x: f32 = load @b[%j] %z: f32 = load @c[%j] }}"
            )
        };
        assert_eq!(warp_layout(&body("")).bytes, 96);
        let reused = warp_layout(&body("sync"));
        assert_eq!(reused.bytes, 64);
        assert_eq!(reused.offsets[0], reused.offsets[2]);
    }

    #[test]
    fn atomics_read_and_write() {
        let body = |atomic: &str| {
            format!(
                "parallel %i0: i64 < 8:i64 {{ atomic store @a[%i0], 0.0:f32 }} sync \
                 parallel %i1: i64 < 8:i64 {{ store @b[%i1] = 1.0:f32 }} sync \
                 parallel %i2: i64 < 8:i64 {{ %x2: f32 = load @b[%i2] {atomic} }}"
            )
        };
        assert_eq!(layout(THREE, &body("")).bytes, 32);
        // What it finds was written before, so it must be there all the time.
        assert_eq!(layout(THREE, &body("atomic add @a[0:i64], %x2")).bytes, 64);
        assert_eq!(layout(THREE, &body("%y: f32 = atomic exchange @a[0:i64], %x2")).bytes, 64);
        assert_eq!(layout(THREE, &body("%y: f32 = atomic load @a[0:i64]")).bytes, 64);
        // It does not write every element, so what is there before stays there.
        let body = "for %k: i64 in 0:i64..3:i64 step 1:i64 { \
             parallel %i1: i64 < 8:i64 { atomic add @a[%i1], 2.0:f32 } sync \
             parallel %i3: i64 < 8:i64 { store @b[%i3] = 2.0:f32 } sync \
             parallel %i4: i64 < 8:i64 { %x4: f32 = load @b[%i4] } sync }";
        assert_eq!(layout(THREE, body).bytes, 64);
    }

    #[test]
    fn a_sum_that_a_loop_gathers_lives_around_it() {
        // Nothing in the loop overwrites `a`, and it is read only after it.
        let body = "parallel %i0: i64 < 8:i64 { store @a[%i0] = 0.0:f32 } sync \
             for %k: i64 in 0:i64..3:i64 step 1:i64 { \
               parallel %i1: i64 < 8:i64 { store @b[%i1] = 1.0:f32 } sync \
               parallel %i2: i64 < 8:i64 { %x2: f32 = load @b[%i2] atomic add @a[%i2], %x2 } sync } sync \
             parallel %i3: i64 < 8:i64 { %x3: f32 = load @a[%i3] store @c[%i3] = %x3 } sync \
             parallel %i4: i64 < 8:i64 { %x4: f32 = load @c[%i4] }";
        let layout = layout(THREE, body);
        assert_ne!(layout.offsets[0], layout.offsets[1]);
        assert_eq!(layout.bytes, 64, "{layout:?}");
    }

    #[test]
    fn too_much_is_refused_with_the_sizes() {
        let text = "kernel big\nmemory @a: shared f64[100]\nthreads 1\nblocks %b: i64 < 1:i64\nbody {
            parallel %i: i64 < 100:i64 { store @a[%i] = 0.0:f64 } }";
        let error = plan(&parse(text).unwrap(), 799).unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel `big` needs 800 bytes of shared memory, and the limit is 799 (`a` 800)"
        );
        assert!(plan(&parse(text).unwrap(), 800).is_ok());
    }
}
