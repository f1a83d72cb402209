//! Work as a graph of the driver's: prepared once and started with one call. Loops in it are made by the GPU itself.
//!
//! A graph holds addresses, so it is for one binding of a plan to memory. It is made when the same binding comes the second time
//! (loops: the first time); memory that a run releases is mostly what the next one gets, so that is the rule.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use pumice_program::Access;

use super::driver::Handle;
use super::gpu::{Gpu, Module};
use super::memory::Buffer;
use crate::device::{CompiledKernel, DeviceMemory, LaunchArgument, LaunchParameter};
use crate::error::{Error, Result};
use crate::identity::DeviceId;
use crate::work::{Rounds, Test, Work};

/// The kernel that decides whether a loop goes on. The driver knows the function that it declares.
pub const GO_ON: &str = r#"
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
extern "C" __global__ void pumice_go_on(unsigned long long handle, unsigned long long loop, unsigned long long ends_loop,
                                        const unsigned char *condition, const long long *one, const long long *other) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    bool goes_on = *condition != 0 && (one == nullptr || *one == 0) && (other == nullptr || *other == 0);
    cudaGraphSetConditional(handle, goes_on);
    if (ends_loop && !goes_on) cudaGraphSetConditional(loop, 0);
}
"#;

/// Its name.
pub const GO_ON_NAME: &str = "pumice_go_on";

/// The kernel that clears several small memories: the nodes of as many clearings, side by side, take a GPU longer than most kernels do.
pub const CLEAR: &str = r#"
static __device__ void clear(unsigned char *memory, unsigned long long bytes) {
    unsigned long long first = blockIdx.x * 256u + threadIdx.x, step = gridDim.x * 256u;
    for (unsigned long long i = first; i < bytes / 4; i += step) ((unsigned *)memory)[i] = 0;
    for (unsigned long long i = bytes / 4 * 4 + first; i < bytes; i += step) memory[i] = 0;
}
extern "C" __global__ void __launch_bounds__(256)
pumice_clear(unsigned char *one, unsigned long long bytes_of_one, unsigned char *two, unsigned long long bytes_of_two,
             unsigned char *three, unsigned long long bytes_of_three) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    clear(one, bytes_of_one);
    clear(two, bytes_of_two);
    clear(three, bytes_of_three);
}
"#;

/// Its name.
pub const CLEAR_NAME: &str = "pumice_clear";

/// The first architecture whose kernels can be started before those that they need have ended: all kernels call what waits for these first.
pub const STARTS_EARLY: u32 = 90;

/// Number of memories that it clears, the most bytes of each, and the bytes that a block clears in a moment.
const CLEARED: usize = 3;
const MOST_CLEARED: usize = 1 << 16;
const CLEARED_BY_BLOCK: usize = 1 << 12;

/// Work that is kept: its key, and its graph if there is one.
struct Kept {
    key: Vec<u64>,
    graph: Option<Graph>,
}

/// Everything that a graph is made with.
pub struct Maker<'a> {
    /// The GPU.
    pub gpu: &'a Arc<Gpu>,
    /// The device whose memory and kernels are used.
    pub device: DeviceId,
    /// Gives the kernel [`GO_ON`].
    pub go_on: &'a dyn Fn() -> Result<&'a Module>,
    /// Gives the kernel [`CLEAR`].
    pub clear: &'a dyn Fn() -> Result<&'a Module>,
    /// The most blocks of a launch.
    pub max_blocks: u64,
    /// Whether kernels may be started early: they were compiled for [`STARTS_EARLY`], so that they wait for those that they need.
    pub starts_early: bool,
}

impl Maker<'_> {
    /// Starts work as a graph, if it came before or has loops; otherwise, or if the driver makes no graph of it, returns false, and
    /// the caller does the work piece by piece.
    pub fn start(&self, work: &[Work<'_>], kept: &mut Option<Box<dyn Any + Send>>) -> Result<bool> {
        let mut key = Vec::new();
        self.add_key(work, &mut key)?;
        let same =
            kept.as_deref().and_then(|kept| kept.downcast_ref()).filter(|kept: &&Kept| kept.key == key);
        let has_loop = work.iter().any(|piece| matches!(piece, Work::Rounds(_)));
        match same {
            Some(Kept { graph: Some(graph), .. }) => return graph.start().map(|()| true),
            None if !has_loop => {
                *kept = Some(Box::new(Kept { key, graph: None }));
                return Ok(false);
            }
            _ => {}
        }
        // A driver that refuses is asked again only if other work comes.
        let Ok(graph) = self.graph(work) else {
            *kept = Some(Box::new(Kept { key, graph: None }));
            return Ok(false);
        };
        let started = graph.start();
        *kept = Some(Box::new(Kept { key, graph: Some(graph) }));
        started.map(|()| true)
    }

    /// All that a graph of this work would hold.
    fn add_key(&self, work: &[Work<'_>], key: &mut Vec<u64>) -> Result<()> {
        let address = |memory: &DeviceMemory| self.address(memory);
        let test = |test: &Test<'_>, key: &mut Vec<u64>| {
            key.push(address(test.condition)?);
            for record in test.failures {
                key.push(record.map_or(Ok(0), address)?);
            }
            Ok::<_, Error>(())
        };
        key.push(work.len() as u64);
        for piece in work {
            match piece {
                Work::Zero { memory, bytes } => key.extend([0, address(memory)?, *bytes as u64]),
                Work::Copy { from, to, bytes } => {
                    key.extend([1, address(from)?, address(to)?, *bytes as u64])
                }
                Work::Launch { kernel, blocks, arguments, .. } => {
                    let function = kernel.handle::<Module>(self.device)?.function();
                    key.extend([2, function as u64, *blocks, arguments.len() as u64]);
                    for argument in arguments {
                        key.push(match argument {
                            LaunchArgument::Memory(memory) => address(memory)?,
                            LaunchArgument::Scalar(value) => value.bits(),
                        });
                    }
                }
                Work::Rounds(rounds) => {
                    key.push(3);
                    test(&rounds.at_first, key)?;
                    test(&rounds.at_second, key)?;
                    for work in [&rounds.there, &rounds.back, &rounds.settle] {
                        self.add_key(work, key)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn address(&self, memory: &DeviceMemory) -> Result<u64> {
        Ok(memory.handle::<Buffer>(self.device)?.address())
    }

    fn graph(&self, work: &[Work<'_>]) -> Result<Graph> {
        self.gpu.enter()?;
        let functions = self.gpu.graphs()?;
        let mut graph = Graph {
            gpu: self.gpu.clone(),
            graph: ptr::null_mut(),
            executable: ptr::null_mut(),
            kernels: Vec::new(),
        };
        // SAFETY: the context is current, and the call writes one handle.
        let status = unsafe { (functions.create)(&mut graph.graph, 0) };
        self.gpu.check("cuGraphCreate", status)?;
        let mut nodes = Nodes::of(graph.graph);
        self.add(work, &mut nodes, &mut graph.kernels)?;
        // SAFETY: the graph is whole, and the call writes one handle.
        let status = unsafe { (functions.instantiate)(&mut graph.executable, graph.graph, 0) };
        self.gpu.check("cuGraphInstantiateWithFlags", status)?;
        Ok(graph)
    }

    /// Adds work to a graph.
    fn add(
        &self,
        work: &[Work<'_>],
        nodes: &mut Nodes,
        kernels: &mut Vec<Arc<CompiledKernel>>,
    ) -> Result<()> {
        let address = |memory: &DeviceMemory| self.address(memory);
        let mut rest = work;
        while let [piece, later @ ..] = rest {
            let small = rest.iter().take_while(|piece| is_small_clearing(piece)).take(CLEARED).count();
            // Without that kernel, they are cleared one by one.
            if small > 1
                && let Ok(clear) = (self.clear)()
            {
                self.add_clearings(&rest[..small], nodes, clear)?;
                rest = &rest[small..];
                continue;
            }
            rest = later;
            match piece {
                Work::Zero { bytes: 0, .. }
                | Work::Copy { bytes: 0, .. }
                | Work::Launch { blocks: 0, .. } => {}
                Work::Zero { memory, bytes } => {
                    memory.check_copy("clearing", *bytes)?;
                    let to = address(memory)?;
                    let context = self.gpu.context();
                    let clear =
                        Clear { to, pitch: 0, value: 0, element: 1, width: *bytes, height: 1, context };
                    let needs = Needs { writes: &[to], ..Needs::default() };
                    self.add_node(nodes, needs, node_type::MEMSET, |parameters| parameters.clear = clear)?;
                }
                Work::Copy { from, to, bytes } => {
                    from.check_copy("a copy", *bytes)?;
                    to.check_copy("a copy", *bytes)?;
                    let (from, to) = (address(from)?, address(to)?);
                    if from == to {
                        continue;
                    }
                    let copy = Copy {
                        flags: [0; 2],
                        context: self.gpu.context(),
                        from: Side::at(from),
                        to: Side::at(to),
                        extents: [*bytes, 1, 1],
                    };
                    let needs = Needs { reads: &[from], writes: &[to], ..Needs::default() };
                    self.add_node(nodes, needs, node_type::MEMCPY, |parameters| parameters.copy = copy)?;
                }
                Work::Launch { kernel, blocks, arguments, .. } => {
                    kernel.check_arguments(arguments)?;
                    let module = kernel.handle::<Module>(self.device)?;
                    let (mut values, mut reads, mut writes) = (Vec::new(), Vec::new(), Vec::new());
                    for (argument, parameter) in arguments.iter().zip(&kernel.signature().parameters) {
                        values.push(match argument {
                            LaunchArgument::Memory(memory) => address(memory)?,
                            LaunchArgument::Scalar(value) => value.bits(),
                        });
                        if let (LaunchArgument::Memory(memory), LaunchParameter::Buffer(access)) =
                            (argument, parameter)
                        {
                            let list = if *access == Access::Read { &mut reads } else { &mut writes };
                            list.push(address(memory)?);
                        }
                    }
                    let grid = (*blocks).min(self.max_blocks) as c_uint;
                    let needs = Needs { reads: &reads, writes: &writes, ..Needs::default() };
                    self.add_launch(nodes, needs, module, [grid, kernel.signature().threads], values)?;
                    kernels.push(Arc::clone(kernel));
                }
                Work::Rounds(rounds) => self.add_rounds(rounds, nodes, kernels)?,
            }
        }
        Ok(())
    }

    /// Adds a few clearings as one launch.
    fn add_clearings(&self, clearings: &[Work<'_>], nodes: &mut Nodes, clear: &Module) -> Result<()> {
        let (mut values, mut writes, mut most) = (vec![0; 2 * CLEARED], Vec::new(), 0);
        for (pair, piece) in values.chunks_mut(2).zip(clearings) {
            if let Work::Zero { memory, bytes } = piece {
                memory.check_copy("clearing", *bytes)?;
                let to = self.address(memory)?;
                pair.copy_from_slice(&[to, *bytes as u64]);
                writes.push(to);
                most = most.max(*bytes);
            }
        }
        let blocks = most.div_ceil(CLEARED_BY_BLOCK) as c_uint;
        let needs = Needs { writes: &writes, ..Needs::default() };
        self.add_launch(nodes, needs, clear, [blocks, 256], values)?;
        Ok(())
    }

    /// Adds a loop: rounds there and back in turn, as a body that ends with either.
    fn add_rounds(
        &self,
        rounds: &Rounds<'_>,
        nodes: &mut Nodes,
        kernels: &mut Vec<Arc<CompiledKernel>>,
    ) -> Result<()> {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        self.touched(rounds, &mut reads, &mut writes)?;
        let goes_on = self.condition(nodes.graph)?;
        let test = self.add_test(nodes, &rounds.at_first, goes_on, None)?;
        let needs = Needs { reads: &reads, writes: &writes, after: Some(test), ..Needs::default() };
        let [body] = self.add_conditional(nodes, goes_on, condition::WHILE, needs)?;
        let mut body = Nodes::of(body);
        self.add(&rounds.there, &mut body, kernels)?;
        let goes_back = self.condition(body.graph)?;
        let test = self.add_test(&mut body, &rounds.at_second, goes_back, Some(goes_on))?;
        let needs = Needs { reads: &reads, writes: &writes, after: Some(test), ..Needs::default() };
        let [back, settle] = self.add_conditional(&mut body, goes_back, condition::IF, needs)?;
        let mut back = Nodes::of(back);
        self.add(&rounds.back, &mut back, kernels)?;
        self.add_test(&mut back, &rounds.at_first, goes_on, None)?;
        self.add(&rounds.settle, &mut Nodes::of(settle), kernels)
    }

    /// The memory that a loop reads and writes, itself or in its rounds.
    fn touched(&self, rounds: &Rounds<'_>, reads: &mut Vec<u64>, writes: &mut Vec<u64>) -> Result<()> {
        let address = |memory: &DeviceMemory| self.address(memory);
        for test in [&rounds.at_first, &rounds.at_second] {
            reads.push(address(test.condition)?);
        }
        for piece in [&rounds.there, &rounds.back, &rounds.settle].into_iter().flatten() {
            match piece {
                Work::Zero { memory, .. } => writes.push(address(memory)?),
                Work::Copy { from, to, .. } => {
                    reads.push(address(from)?);
                    writes.push(address(to)?);
                }
                Work::Launch { arguments, .. } => {
                    for argument in arguments {
                        if let LaunchArgument::Memory(memory) = argument {
                            writes.push(address(memory)?);
                        }
                    }
                }
                Work::Rounds(rounds) => self.touched(rounds, reads, writes)?,
            }
        }
        Ok(())
    }

    /// A handle of a decision in a graph.
    fn condition(&self, graph: Handle) -> Result<u64> {
        let mut handle = 0;
        // SAFETY: the graph is being made, and the call writes one handle.
        let status = unsafe { (self.gpu.graphs()?.condition)(&mut handle, graph, self.gpu.context(), 0, 0) };
        self.gpu.check("cuGraphConditionalHandleCreate", status)?;
        Ok(handle)
    }

    /// Adds the kernel that makes a decision, and ends a loop if it is against going on.
    fn add_test(
        &self,
        nodes: &mut Nodes,
        test: &Test<'_>,
        decision: u64,
        ends: Option<u64>,
    ) -> Result<Handle> {
        let condition = self.address(test.condition)?;
        let [one, other] = test.failures.map(|record| record.map_or(Ok(0), |record| self.address(record)));
        let (one, other) = (one?, other?);
        let values = vec![decision, ends.unwrap_or(0), ends.is_some().into(), condition, one, other];
        let needs = Needs { reads: &[condition, one, other], ..Needs::default() };
        self.add_launch(nodes, needs, (self.go_on)()?, [1, 1], values)
    }

    /// Adds a decision with this many graphs, which are empty.
    fn add_conditional<const N: usize>(
        &self,
        nodes: &mut Nodes,
        decision: u64,
        kind: c_int,
        needs: Needs<'_>,
    ) -> Result<[Handle; N]> {
        let (count, context) = (N as c_uint, self.gpu.context());
        let decide = Decide { decision, kind, count, graphs: ptr::null(), context };
        let set = |parameters: &mut Parameters| parameters.decide = decide;
        let (_, made) = self.add_node(nodes, needs, node_type::CONDITIONAL, set)?;
        // SAFETY: the node is a decision, and the driver has written where its graphs are, as many as were asked for.
        let graphs = unsafe { made.decide.graphs.cast::<[Handle; N]>().as_ref() };
        graphs.copied().ok_or_else(|| Error::Invalid("the driver made a decision without graphs".into()))
    }

    fn add_launch(
        &self,
        nodes: &mut Nodes,
        needs: Needs<'_>,
        module: &Module,
        [blocks, threads]: [c_uint; 2],
        mut values: Vec<u64>,
    ) -> Result<Handle> {
        let mut addresses: Vec<*mut c_void> =
            values.iter_mut().map(|value| (value as *mut u64).cast()).collect();
        let launch = LaunchNode {
            function: module.function(),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared: module.shared(),
            arguments: addresses.as_mut_ptr(),
            extra: ptr::null_mut(),
            kernel: ptr::null_mut(),
            context: ptr::null_mut(),
        };
        let set = |parameters: &mut Parameters| parameters.launch = launch;
        // A large one that came early would have most of its blocks on those multiprocessors that are idle first.
        let comes_early = self.starts_early && blocks <= self.gpu.facts().multiprocessors;
        let needs = Needs { comes_early, ..needs };
        Ok(self.add_node(nodes, needs, node_type::KERNEL, set)?.0)
    }

    /// Adds a node after those that it needs.
    fn add_node(
        &self,
        nodes: &mut Nodes,
        needs: Needs<'_>,
        kind: c_int,
        set: impl FnOnce(&mut Parameters),
    ) -> Result<(Handle, Parameters)> {
        let before = nodes.before(&needs);
        let edges: Vec<Edge> = before.iter().map(|earlier| nodes.edge(*earlier, needs.comes_early)).collect();
        // Bytes that a kind of node does not use are to be zero.
        let parameters = Parameters { whole: [0; 29] };
        let mut all = NodeParameters { kind, reserved: [0; 3], parameters, end: 0 };
        set(&mut all.parameters);
        let mut node = ptr::null_mut();
        // SAFETY: the parameters are those of this kind of node, and what they point to is alive; the driver copies it. The nodes
        // before it are in the same graph.
        let status = unsafe {
            let (edges, count) = (edges.as_ptr().cast(), before.len());
            (self.gpu.graphs()?.add_node)(&mut node, nodes.graph, before.as_ptr(), edges, count, &mut all)
        };
        self.gpu.check("cuGraphAddNode", status)?;
        nodes.add(&needs, node, Made { is_kernel: kind == node_type::KERNEL, before });
        Ok((node, all.parameters))
    }
}

/// Whether a piece of work clears a few bytes. Memory begins at multiples of what the driver aligns it to, so words can be written.
fn is_small_clearing(piece: &Work<'_>) -> bool {
    matches!(piece, Work::Zero { bytes: 1..=MOST_CLEARED, .. })
}

/// Dependencies of a node: memory that it reads, memory that it writes (and may read), a node before it; and whether it may be started
/// before kernels that it needs have ended, since it waits for that itself.
#[derive(Clone, Copy, Default)]
struct Needs<'a> {
    reads: &'a [u64],
    writes: &'a [u64],
    after: Option<Handle>,
    comes_early: bool,
}

/// A graph that is being made: which of its nodes last wrote memory, and which have read it since.
struct Nodes {
    graph: Handle,
    written: HashMap<u64, Handle>,
    read: HashMap<u64, Vec<Handle>>,
    /// The nodes so far.
    made: HashMap<Handle, Made>,
}

/// A node of a graph that is being made.
struct Made {
    is_kernel: bool,
    /// The nodes that it comes after.
    before: Vec<Handle>,
}

impl Nodes {
    fn of(graph: Handle) -> Nodes {
        Nodes { graph, written: HashMap::new(), read: HashMap::new(), made: HashMap::new() }
    }

    /// The nodes that must be done before one with these needs, less those that another of them comes after.
    fn before(&self, Needs { reads, writes, after, .. }: &Needs<'_>) -> Vec<Handle> {
        let written = reads.iter().chain(*writes).filter_map(|memory| self.written.get(memory));
        let read = writes.iter().filter_map(|memory| self.read.get(memory)).flatten();
        let mut before: Vec<Handle> = written.chain(read).chain(after).copied().collect();
        before.sort_unstable();
        before.dedup();
        let is_implied = |node: &Handle| {
            before.iter().any(|other| self.made.get(other).is_some_and(|other| other.before.contains(node)))
        };
        before.iter().copied().filter(|node| !is_implied(node)).collect()
    }

    /// How a node that may come early depends on this one. Only kernels let others come before they end.
    fn edge(&self, node: Handle, comes_early: bool) -> Edge {
        let is_kernel = self.made.get(&node).is_some_and(|made| made.is_kernel);
        if comes_early && is_kernel { Edge::EARLY } else { Edge::default() }
    }

    fn add(&mut self, Needs { reads, writes, .. }: &Needs<'_>, node: Handle, made: Made) {
        self.made.insert(node, made);
        for memory in *writes {
            self.written.insert(*memory, node);
            self.read.remove(memory);
        }
        for memory in reads.iter().filter(|memory| !writes.contains(memory)) {
            self.read.entry(*memory).or_default().push(node);
        }
    }
}

/// A graph that can be started.
struct Graph {
    gpu: Arc<Gpu>,
    graph: Handle,
    executable: Handle,
    /// The kernels in it, which are loaded as long as it may run.
    kernels: Vec<Arc<CompiledKernel>>,
}

// SAFETY: graphs belong to a context and not to a thread; a mutex sees to it that one thread at a time uses one.
unsafe impl Send for Graph {}

impl Graph {
    fn start(&self) -> Result<()> {
        self.gpu.enter()?;
        // SAFETY: the context is current, the graph was made in it, and its kernels are loaded. The work that it was made of is the
        // work that it is started for, whose memory the caller holds.
        let status = unsafe { (self.gpu.graphs()?.launch)(self.executable, self.gpu.stream) };
        self.gpu.check("cuGraphLaunch", status)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // It may still be running. What fails here fails because the driver is gone already.
        let (Ok(()), Ok(functions)) = (self.gpu.synchronize(), self.gpu.graphs()) else { return };
        // SAFETY: the context is current, both were made in it, and neither is in use.
        unsafe {
            if !self.executable.is_null() {
                (functions.destroy_executable)(self.executable);
            }
            if !self.graph.is_null() {
                (functions.destroy)(self.graph);
            }
        }
        self.kernels.clear();
    }
}

/// The kinds of nodes that are made; `cuda.h` lists all.
mod node_type {
    pub const KERNEL: i32 = 0;
    pub const MEMCPY: i32 = 1;
    pub const MEMSET: i32 = 2;
    pub const CONDITIONAL: i32 = 13;
}

/// The kinds of decisions that are made.
mod condition {
    pub const IF: i32 = 0;
    pub const WHILE: i32 = 1;
}

// Declarations of the driver's header for `cuGraphAddNode`.

/// How a node depends on another one: zeroes say that it starts when the other has ended.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Edge {
    from_port: u8,
    to_port: u8,
    kind: u8,
    reserved: [u8; 5],
}

impl Edge {
    /// A kernel starts when all blocks of the other one have allowed it, and waits for the end of that itself.
    const EARLY: Edge = Edge { from_port: 1, to_port: 0, kind: 1, reserved: [0; 5] };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeParameters {
    kind: c_int,
    reserved: [c_int; 3],
    parameters: Parameters,
    end: i64,
}

const _: () = assert!(size_of::<NodeParameters>() == 256);

#[repr(C)]
#[derive(Clone, Copy)]
union Parameters {
    whole: [i64; 29],
    launch: LaunchNode,
    clear: Clear,
    copy: Copy,
    decide: Decide,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct LaunchNode {
    function: Handle,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: Handle,
    context: Handle,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Clear {
    to: u64,
    pitch: usize,
    value: c_uint,
    element: c_uint,
    width: usize,
    height: usize,
    context: Handle,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Copy {
    flags: [c_int; 2],
    context: Handle,
    from: Side,
    to: Side,
    extents: [usize; 3],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Side {
    origin: [usize; 4],
    kind: c_int,
    host: *const c_void,
    address: u64,
    array: Handle,
    reserved: Handle,
    pitch: usize,
    height: usize,
}

impl Side {
    fn at(address: u64) -> Side {
        const DEVICE_MEMORY: c_int = 2;
        let null = ptr::null_mut();
        Side {
            origin: [0; 4],
            kind: DEVICE_MEMORY,
            host: null,
            address,
            array: null,
            reserved: null,
            pitch: 0,
            height: 0,
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Decide {
    decision: u64,
    kind: c_int,
    count: c_uint,
    graphs: *const Handle,
    context: Handle,
}
