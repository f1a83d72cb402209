//! Explanations of a program's plans: their operations, launches and arrays in memory, with the reasons.
//!
//! One structure ([`Explanation`]) is made of plans, and printed as text (`text.rs`), JSON (`json.rs`) and a drawing (`svg.rs`). Reasons
//! come from the plan, which records them where it decides; nothing is inferred here.

mod json;
mod svg;
mod text;

use crate::foresee::Foreseen;
use crate::in_memory::InMemory;
use crate::plan::{Launch, Plan, Read};
use pumice_program::Space;
use pumice_scalar::{Place, ScalarType};

/// Explanation of a program's plans: the kernels, the arrays in memory, and the reasons. `Display` prints a summary, the steps of each plan and
/// the kernels; [`summary`](Explanation::summary), [`json`](Explanation::json) and [`svg`](Explanation::svg) are the other forms.
///
/// ```
/// use pumice::prelude::*;
/// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.map(|x| x + 1.0).sum())?;
/// let explained = f.explain(&[1.0, 2.0])?;
/// let kernel = &explained.parts[0].kernels[0];
/// assert_eq!(kernel.operations.iter().map(|place| place.operation()).collect::<Vec<_>>(), ["map", "sum"]);
/// assert_eq!((kernel.bytes_read, kernel.bytes_written), (8, 4));
/// assert!(explained.summary().contains("it is a result"));
/// # Ok::<(), pumice::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Explanation {
    /// The device that the plans are for, in words; nothing where that is unknown.
    pub device: Option<String>,
    /// The plans: of the program, of the programs of its loops and branches, and of the operations behind those.
    pub parts: Vec<ExplainedPlan>,
}

/// One plan of a program.
#[derive(Clone)]
#[non_exhaustive]
pub struct ExplainedPlan {
    /// The nested program that it is for, with the loops and branches around it, outermost first; empty for the program itself.
    pub within: Vec<String>,
    /// The error that a run of this part would return, which is why there is no plan.
    pub error: Option<String>,
    /// The arrays in memory.
    pub arrays: Vec<ExplainedArray>,
    /// The kernels, in the order of their launches.
    pub kernels: Vec<ExplainedKernel>,
    /// The host's actions after the kernels, before the next plan is made.
    pub then: Vec<String>,
    plan: Option<Plan>,
}

/// An array in memory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedArray {
    /// The operation that it is the result of; for memory of no array the first kernel that uses it.
    pub place: String,
    /// The scalar types of an element.
    pub types: Vec<ScalarType>,
    /// Its extents, or the most that they can be.
    pub extents: Vec<usize>,
    /// Whether the device finds one of its extents.
    pub is_bound: bool,
    /// The bytes that it takes.
    pub bytes: u64,
    /// Why it is in memory, as a word; see [`InMemory::name`](crate::InMemory::name). Besides those there are `scratch`, memory that the
    /// kernels of one operation share, and `cell`, a length that the device finds.
    pub reason: &'static str,
    /// Why it is in memory, as a sentence.
    pub why: String,
}

/// A kernel of a plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedKernel {
    /// Its name.
    pub name: String,
    /// The operation that it is for.
    pub place: String,
    /// The operations that are computed in it, in the order of the program.
    pub operations: Vec<Place>,
    /// The skeleton that it was made by, and how its consumers do their work.
    pub skeleton: String,
    /// Why that skeleton, and why it is divided like this.
    pub why: Vec<String>,
    /// Number of blocks.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// The arrays that it reads, by their position in the plan.
    pub reads: Vec<usize>,
    /// The arrays that it writes, by their position in the plan.
    pub writes: Vec<usize>,
    /// The bytes of the arrays that it reads.
    pub bytes_read: u64,
    /// The bytes of the arrays that it writes.
    pub bytes_written: u64,
    /// Shared memory of a block that the program declares, in bytes.
    pub shared_bytes: u64,
    /// Resources that the device reports for the compiled kernel.
    pub resources: Option<Resources>,
    /// Measured time, if it has run.
    pub measured: Option<Measured>,
}

/// Resources of a compiled kernel, as far as its device reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: Option<u64>,
    /// Private memory of a thread, in bytes: values that do not fit its registers.
    pub private_bytes: Option<u64>,
}

/// Measured time of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Number of launches.
    pub launches: u64,
    /// Milliseconds of all launches.
    pub milliseconds: f64,
    /// Bytes of its arrays per second, in units of 10^9.
    pub gigabytes_per_second: f64,
    /// That as a share of the bytes that the device copies per second, if that was measured.
    pub share: Option<f64>,
}

impl Explanation {
    /// Explains plans that were foreseen.
    pub fn of(foreseen: Vec<Foreseen>) -> Explanation {
        Explanation { device: None, parts: foreseen.into_iter().map(explained).collect() }
    }

    /// Returns whether its text has this in it: in a test, that a program is as it was meant.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let program = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<f32>>| xs.map(|x| x * x).sum())?;
    /// let explained = program.explain(&vec![1.0; 1000])?;
    /// assert!(explained.contains("sum") && !explained.contains("sort"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn contains(&self, text: &str) -> bool {
        self.to_string().contains(text)
    }

    /// The kernels of all plans.
    pub fn kernels_mut(&mut self) -> impl Iterator<Item = &mut ExplainedKernel> {
        self.parts.iter_mut().flat_map(|part| &mut part.kernels)
    }
}

fn explained(Foreseen { within, plan }: Foreseen) -> ExplainedPlan {
    let none = ExplainedPlan {
        within,
        error: None,
        arrays: Vec::new(),
        kernels: Vec::new(),
        then: Vec::new(),
        plan: None,
    };
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => return ExplainedPlan { error: Some(error.to_string()), ..none },
    };
    let (arrays, array_of) = arrays(&plan);
    let kernels = plan.launches().map(|launch| kernel(&plan, launch, &array_of)).collect();
    ExplainedPlan { arrays, kernels, then: then(&plan), plan: Some(plan), ..none }
}

/// The arrays of a plan, and by buffer the position of its array.
fn arrays(plan: &Plan) -> (Vec<ExplainedArray>, Vec<Option<usize>>) {
    let (mut arrays, mut array_of) = (Vec::new(), vec![None; plan.buffers().len()]);
    let types = |buffers: &[usize]| buffers.iter().map(|buffer| plan.buffers()[*buffer].ty).collect();
    let bytes = |buffers: &[usize]| {
        let bytes = buffers.iter().map(|buffer| plan.buffers()[*buffer].bytes() as u64);
        bytes.fold(0, u64::saturating_add)
    };
    for array in plan.arrays() {
        array.buffers.iter().for_each(|buffer| array_of[*buffer] = Some(arrays.len()));
        arrays.push(ExplainedArray {
            place: array.place.to_string(),
            types: types(&array.buffers),
            extents: array.extents.clone(),
            is_bound: !array.cells.is_empty(),
            bytes: bytes(&array.buffers),
            reason: array.why.name(),
            why: match (array.why, plan.reads()) {
                (InMemory::Result, Some(_)) => "the program goes on with it after this plan".into(),
                (why, _) => why.to_string(),
            },
        });
        for cell in &array.cells {
            array_of[*cell] = Some(arrays.len());
            arrays.push(ExplainedArray {
                place: array.place.to_string(),
                types: types(&[*cell]),
                extents: Vec::new(),
                is_bound: false,
                bytes: bytes(&[*cell]),
                reason: "cell",
                why: "it is a number of elements that only the device knows".into(),
            });
        }
    }
    for launch in plan.launches() {
        for used in
            plan.uses(launch).into_iter().filter(|used| array_of[used.buffer].is_none()).collect::<Vec<_>>()
        {
            array_of[used.buffer] = Some(arrays.len());
            arrays.push(ExplainedArray {
                place: launch.place.to_string(),
                types: types(&[used.buffer]),
                extents: vec![plan.buffers()[used.buffer].length],
                is_bound: false,
                bytes: bytes(&[used.buffer]),
                reason: "scratch",
                why: "kernels of this operation pass results on, or blocks of one tell each other".into(),
            });
        }
    }
    (arrays, array_of)
}

fn kernel(plan: &Plan, launch: &Launch, array_of: &[Option<usize>]) -> ExplainedKernel {
    let uses = plan.uses(launch);
    let positions = |reads: bool| {
        let used = uses.iter().filter(|used| if reads { used.reads } else { used.writes });
        let mut positions: Vec<usize> = used.filter_map(|used| array_of[used.buffer]).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    };
    let (bytes_read, bytes_written) = plan.traffic(launch);
    let shared = |memory: &pumice_program::Memory| match memory.space {
        Space::Shared { length } => u64::from(length) * memory.ty.bytes() as u64,
        Space::Global { .. } | Space::Private { .. } => 0,
    };
    ExplainedKernel {
        name: launch.program.name.clone(),
        place: launch.place.to_string(),
        operations: launch.fused.clone(),
        skeleton: launch.skeleton.clone(),
        why: launch.why.clone(),
        // A plan with too many blocks is refused when it is run.
        blocks: launch.blocks().unwrap_or(u64::MAX),
        threads: launch.program.threads,
        reads: positions(true),
        writes: positions(false),
        bytes_read,
        bytes_written,
        shared_bytes: launch.program.memories.iter().map(shared).sum(),
        resources: None,
        measured: None,
    }
}

/// Describes the host's actions after a plan.
fn then(plan: &Plan) -> Vec<String> {
    let sentence = match plan.reads() {
        None => return Vec::new(),
        Some(Read::Extents(_)) => "the host reads a length, because an extent depends on it",
        Some(Read::Value(_)) => "the host reads an element, because an extent is computed from it",
        Some(Read::Count(_)) => {
            "the host reads a count, because memory for as many as there could be is too much"
        }
        Some(Read::Inputs(_)) => "the host looks whether a check failed, because the loop might not end then",
        Some(Read::Given(_)) => "the rest is planned with what the loop gives",
        Some(Read::Run { place, by_host, .. }) => {
            let why =
                by_host.map(|reason| format!(", since the loop is not one kernel of one block: {reason}"));
            return vec![format!("the host runs {place}{}", why.unwrap_or_default())];
        }
    };
    vec![sentence.to_string()]
}

/// Prints a number of blocks and of their threads.
fn in_blocks(blocks: u64, threads: u32) -> String {
    let block = if blocks == 1 { "block" } else { "blocks" };
    let thread = if threads == 1 { "thread" } else { "threads" };
    format!("{blocks} {block} of {threads} {thread}")
}

/// A number of bytes for people.
fn in_bytes(bytes: u64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let unit = units.into_iter().find(|(_, size)| bytes as f64 >= *size);
    unit.map_or(format!("{bytes} B"), |(unit, size)| format!("{:.1} {unit}", bytes as f64 / size))
}

impl ExplainedArray {
    /// Its type as text: `f32[3, 4]`, `(i32, f64)[up to 100]`.
    pub fn type_text(&self) -> String {
        let types: Vec<String> = self.types.iter().map(ScalarType::to_string).collect();
        let element = if types.len() == 1 { types.concat() } else { format!("({})", types.join(", ")) };
        let extents: Vec<String> = self.extents.iter().map(usize::to_string).collect();
        let most = if self.is_bound { "up to " } else { "" };
        match &extents[..] {
            [] => element,
            extents => format!("{element}[{most}{}]", extents.join(", ")),
        }
    }
}
