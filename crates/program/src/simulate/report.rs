//! Counts and GPU costs of a launch, as numbers and as a table.
//!
//! Only data and its presentation: [`super::costs`] does the counting.

use std::fmt;
use std::ops::AddAssign;

/// Bytes of a sector, the piece in which global memory is moved.
pub const SECTOR: u64 = 32;

/// Counts and costs of a launch. Each block is run once, so these are those of one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Blocks that ran.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Warps of all blocks.
    pub warps: u64,
    /// Statements executed, and rounds of loops: what a warp does counts once, and so does what a block does as a whole.
    pub steps: u64,
    /// Checks that failed.
    pub failures: u64,
    /// Bytes of shared memory that a block takes, as [`crate::memory::plan`] places them.
    pub shared_bytes: u64,
    /// Elements of private memory that a thread has.
    pub private_cells: u64,
    /// Total costs.
    pub costs: Costs,
    /// Costs per place, in the order of the program. A place is the comment in force, and empty
    /// before the first one; places without costs are absent.
    pub places: Vec<PlaceCosts>,
}

/// Costs of the statements of one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceCosts {
    /// The comment that says where in the source they come from.
    pub place: String,
    /// Their costs.
    pub costs: Costs,
}

/// Costs on a GPU, besides arithmetic. What a block does as a whole counts for each of its warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// Loads from global memory.
    pub global_loads: GlobalCosts,
    /// Stores to global memory.
    pub global_stores: GlobalCosts,
    /// Loads from shared memory.
    pub shared_loads: SharedCosts,
    /// Stores to shared memory.
    pub shared_stores: SharedCosts,
    /// Atomic operations on global memory.
    pub global_atomics: AtomicCosts,
    /// Atomic operations on shared memory.
    pub shared_atomics: AtomicCosts,
    /// Conditions and tests of loops, each counted once per warp.
    pub branches: u64,
    /// Branches on which the lanes of a warp diverge.
    pub divergent: u64,
    /// Barriers of blocks, each counted once per block.
    pub block_barriers: u64,
    /// Barriers of warps.
    pub warp_barriers: u64,
    /// Shuffles and votes, each counted once per warp.
    pub collectives: u64,
}

/// Costs of accesses to global memory. An access of a warp or block as a whole counts as one element per request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalCosts {
    /// Accesses, each counted once per warp; several consecutive elements per lane are one access.
    pub requests: u64,
    /// Elements that lanes access.
    pub elements: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sectors of [`SECTOR`] bytes that are moved: for each request, the different ones.
    pub sectors: u64,
}

impl GlobalCosts {
    /// Returns the number of sectors that would suffice if all elements were different and contiguous.
    pub fn ideal_sectors(&self) -> u64 {
        self.bytes.div_ceil(SECTOR)
    }

    /// Returns the share of the moved bytes that was requested: 1 if neighbouring lanes access neighbouring elements, more if
    /// several lanes access the same ones. 1 if nothing is moved.
    pub fn efficiency(&self) -> f64 {
        if self.sectors == 0 { 1.0 } else { self.bytes as f64 / (self.sectors * SECTOR) as f64 }
    }
}

/// Costs of accesses to shared memory. It has 32 banks of 4 bytes; a wavefront is what they serve at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCosts {
    /// Accesses, each counted once per warp; several consecutive elements per lane are one access.
    pub requests: u64,
    /// Elements that lanes access.
    pub elements: u64,
    /// Wavefronts that serve these accesses.
    pub wavefronts: u64,
    /// Wavefronts above those that as wide an access takes anyway: lanes that want different words of one bank.
    pub conflicts: u64,
}

/// Costs of atomic operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicCosts {
    /// Operations, each counted once per warp.
    pub requests: u64,
    /// Elements that lanes change.
    pub elements: u64,
    /// Elements that another lane of the same request changes first: each has to wait for the one before.
    pub collisions: u64,
    /// Sectors of global memory, as for loads.
    pub sectors: u64,
}

impl AddAssign for GlobalCosts {
    fn add_assign(&mut self, other: GlobalCosts) {
        self.requests += other.requests;
        self.elements += other.elements;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
    }
}

impl AddAssign for SharedCosts {
    fn add_assign(&mut self, other: SharedCosts) {
        self.requests += other.requests;
        self.elements += other.elements;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }
}

impl AddAssign for AtomicCosts {
    fn add_assign(&mut self, other: AtomicCosts) {
        self.requests += other.requests;
        self.elements += other.elements;
        self.collisions += other.collisions;
        self.sectors += other.sectors;
    }
}

impl AddAssign for Costs {
    fn add_assign(&mut self, other: Costs) {
        self.global_loads += other.global_loads;
        self.global_stores += other.global_stores;
        self.shared_loads += other.shared_loads;
        self.shared_stores += other.shared_stores;
        self.global_atomics += other.global_atomics;
        self.shared_atomics += other.shared_atomics;
        self.branches += other.branches;
        self.divergent += other.divergent;
        self.block_barriers += other.block_barriers;
        self.warp_barriers += other.warp_barriers;
        self.collectives += other.collectives;
    }
}

/// Some columns of the table, with a heading above them.
struct Group {
    title: &'static str,
    columns: &'static [&'static str],
    cells: fn(&Costs) -> Vec<String>,
}

fn global(costs: &GlobalCosts) -> Vec<String> {
    let efficiency = match costs.requests {
        0 => String::new(),
        _ => format!("{:.0}%", 100.0 * costs.efficiency()),
    };
    vec![costs.requests.to_string(), costs.sectors.to_string(), efficiency]
}

fn shared(costs: &SharedCosts) -> Vec<String> {
    [costs.requests, costs.wavefronts, costs.conflicts].map(|count| count.to_string()).to_vec()
}

fn atomic(costs: &AtomicCosts) -> Vec<String> {
    [costs.requests, costs.elements, costs.collisions, costs.sectors].map(|count| count.to_string()).to_vec()
}

const GROUPS: [Group; 9] = [
    Group {
        title: "global loads",
        columns: &["requests", "sectors", "useful"],
        cells: |costs| global(&costs.global_loads),
    },
    Group {
        title: "global stores",
        columns: &["requests", "sectors", "useful"],
        cells: |costs| global(&costs.global_stores),
    },
    Group {
        title: "shared loads",
        columns: &["requests", "wavefronts", "conflicts"],
        cells: |costs| shared(&costs.shared_loads),
    },
    Group {
        title: "shared stores",
        columns: &["requests", "wavefronts", "conflicts"],
        cells: |costs| shared(&costs.shared_stores),
    },
    Group {
        title: "global atomics",
        columns: &["requests", "elements", "collisions", "sectors"],
        cells: |costs| atomic(&costs.global_atomics),
    },
    Group {
        title: "shared atomics",
        columns: &["requests", "elements", "collisions"],
        cells: |costs| atomic(&costs.shared_atomics)[..3].to_vec(),
    },
    Group {
        title: "branches",
        columns: &["all", "divergent"],
        cells: |costs| vec![costs.branches.to_string(), costs.divergent.to_string()],
    },
    Group {
        title: "barriers",
        columns: &["block", "warp"],
        cells: |costs| vec![costs.block_barriers.to_string(), costs.warp_barriers.to_string()],
    },
    Group { title: "collectives", columns: &["all"], cells: |costs| vec![costs.collectives.to_string()] },
];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { blocks, threads, warps, steps, failures, shared_bytes, private_cells, .. } = self;
        write!(f, "blocks {blocks}, threads {threads}, warps {warps}, steps {steps}")?;
        if *shared_bytes > 0 {
            write!(f, ", shared bytes {shared_bytes}")?;
        }
        if *private_cells > 0 {
            write!(f, ", private elements {private_cells}")?;
        }
        if *failures > 0 {
            write!(f, ", failed checks {failures}")?;
        }
        writeln!(f)?;
        if self.places.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<(&str, &Costs)> = Vec::new();
        for place in &self.places {
            rows.push((if place.place.is_empty() { "-" } else { &place.place }, &place.costs));
        }
        if rows.len() > 1 {
            rows.push(("total", &self.costs));
        }
        // Two lines of headings, then a line per place; what is zero everywhere is left out.
        let names = ["", "place"].into_iter().chain(rows.iter().map(|(name, _)| *name));
        let mut lines: Vec<String> = names.map(str::to_owned).collect();
        pad(&mut lines);
        for group in &GROUPS {
            if (group.cells)(&self.costs) == (group.cells)(&Costs::default()) {
                continue;
            }
            let mut columns: Vec<String> = vec![String::new(); lines.len() - 1];
            for (number, &name) in group.columns.iter().enumerate() {
                let cells = rows.iter().map(|(_, costs)| (group.cells)(costs).swap_remove(number));
                let cells: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
                let width = cells.iter().map(String::len).max().unwrap_or(0);
                for (line, cell) in columns.iter_mut().zip(cells) {
                    let space = if number == 0 { "" } else { "  " };
                    *line += &format!("{space}{cell:>width$}");
                }
            }
            let title = std::iter::once(group.title.to_owned());
            for (line, cells) in lines.iter_mut().zip(title.chain(columns)) {
                *line += " | ";
                *line += &cells;
            }
            pad(&mut lines);
        }
        lines.iter().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }
}

/// Makes lines equally long.
fn pad(lines: &mut [String]) {
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    for line in lines {
        line.extend(std::iter::repeat_n(' ', width - line.chars().count()));
    }
}
