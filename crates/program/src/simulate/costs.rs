//! Counts the costs of a GPU: sectors of global memory, wavefronts of shared memory, collisions, divergence.
//!
//! It observes the machine and never changes it. The rules are those of GPUs with 32 lanes per warp, sectors of 32
//! bytes, and 32 banks of 4 bytes; global memory starts at a multiple of a sector, and shared memory lies where
//! [`crate::memory::plan`] places it.

use super::lanes::{LANES, Mask, active};
use super::report::{AtomicCosts, Costs, GlobalCosts, PlaceCosts, SECTOR, SharedCosts};
use crate::ir::{Program, Space, WARP};

/// Banks of shared memory.
const BANKS: usize = 32;

/// Costs counted so far.
pub(super) struct Counter {
    /// By number of place.
    places: Vec<Costs>,
    /// By number of memory: where it starts in shared memory.
    offsets: Vec<usize>,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
    /// Warps of a block.
    warps: u64,
}

/// Memory access of the lanes of a warp.
pub(super) struct Request<'a> {
    /// The number of the place in the source.
    pub place: usize,
    /// The number of the memory.
    pub memory: usize,
    /// Whether it is global memory; otherwise it is shared.
    pub global: bool,
    /// The index of the first element, by lane.
    pub indices: &'a [usize; LANES],
    /// Elements of one lane.
    pub count: usize,
    /// Bytes of an element.
    pub size: usize,
    /// The lanes that access memory.
    pub mask: Mask,
    /// Number of warps that make the same access.
    pub times: u64,
}

impl Counter {
    /// Creates a counter with all costs zero.
    pub fn new(program: &Program, places: usize) -> Counter {
        let (offsets, shared_bytes) = match crate::memory::plan(program, u32::MAX) {
            Ok(layout) => {
                let offsets = layout.offsets.iter().map(|offset| offset.unwrap_or(0) as usize).collect();
                (offsets, u64::from(layout.bytes))
            }
            Err(error) => (vec![0; program.memories.len()], error.needed),
        };
        let warps = program.threads.div_ceil(WARP).into();
        Counter { places: vec![Costs::default(); places], offsets, shared_bytes, warps }
    }

    /// Returns the number of warps that execute what a block does as a whole.
    pub fn warps(&self) -> u64 {
        self.warps
    }

    /// Returns the costs of a place, to be changed.
    pub fn at(&mut self, place: usize) -> &mut Costs {
        &mut self.places[place]
    }

    /// Counts a condition or the test of a loop.
    pub fn branch(&mut self, place: usize, times: u64, diverges: bool) {
        let costs = &mut self.places[place];
        costs.branches += times;
        costs.divergent += if diverges { times } else { 0 };
    }

    /// A load or a store.
    pub fn access(&mut self, request: &Request, writes: bool) {
        let elements = u64::from(request.mask.count_ones()) * request.count as u64 * request.times;
        if request.global {
            let costs = GlobalCosts {
                requests: request.times,
                elements,
                bytes: elements * request.size as u64,
                sectors: sectors(request) * request.times,
            };
            let costs_here = &mut self.places[request.place];
            *(if writes { &mut costs_here.global_stores } else { &mut costs_here.global_loads }) += costs;
        } else {
            let (wavefronts, ideal) = wavefronts(request, self.offsets[request.memory]);
            let costs = SharedCosts {
                requests: request.times,
                elements,
                wavefronts: wavefronts * request.times,
                conflicts: (wavefronts - ideal) * request.times,
            };
            let costs_here = &mut self.places[request.place];
            *(if writes { &mut costs_here.shared_stores } else { &mut costs_here.shared_loads }) += costs;
        }
    }

    /// An atomic operation.
    pub fn atomic(&mut self, request: &Request) {
        let elements = u64::from(request.mask.count_ones());
        let distinct = distinct(&mut Keys::new(request, |index| index)) as u64;
        let mut costs = AtomicCosts { requests: 1, elements, collisions: elements - distinct, sectors: 0 };
        let costs_here = &mut self.places[request.place];
        if request.global {
            costs.sectors = sectors(request);
            costs_here.global_atomics += costs;
        } else {
            costs_here.shared_atomics += costs;
        }
    }

    /// Returns the total costs, and those by place (places without costs are absent).
    pub fn finish(&self, names: &[&str]) -> (Costs, Vec<PlaceCosts>) {
        let mut total = Costs::default();
        let mut places = Vec::new();
        for (costs, name) in self.places.iter().zip(names) {
            if *costs != Costs::default() {
                total += *costs;
                places.push(PlaceCosts { place: (*name).to_owned(), costs: *costs });
            }
        }
        (total, places)
    }
}

/// Elements of private memory that a thread has.
pub(super) fn private_cells(program: &Program) -> u64 {
    let each = program.memories.iter().map(|memory| match memory.space {
        Space::Private { length } => u64::from(length),
        Space::Global { .. } | Space::Shared { .. } => 0,
    });
    each.sum()
}

/// A number for each active lane.
struct Keys {
    keys: [usize; LANES],
    count: usize,
}

impl Keys {
    fn new(request: &Request, key: impl Fn(usize) -> usize) -> Keys {
        let mut keys = Keys { keys: [0; LANES], count: 0 };
        for lane in active(request.mask) {
            keys.keys[keys.count] = key(request.indices[lane]);
            keys.count += 1;
        }
        keys
    }

    fn all(&mut self) -> &mut [usize] {
        &mut self.keys[..self.count]
    }
}

/// Returns the number of different keys, and sorts them.
fn distinct(keys: &mut Keys) -> usize {
    distinct_in(keys.all())
}

fn distinct_in(keys: &mut [usize]) -> usize {
    // Mostly, neighbouring lanes access neighbouring elements.
    if !keys.is_sorted() {
        keys.sort_unstable();
    }
    keys.chunk_by(|one, other| one == other).count()
}

/// The different sectors that a request touches. Several elements are at a multiple of their number, so they are in one.
fn sectors(request: &Request) -> u64 {
    let size = request.size;
    distinct(&mut Keys::new(request, |index| index * size / SECTOR as usize)) as u64
}

/// Returns the number of wavefronts that a request to shared memory takes, and the least that one of its width takes.
fn wavefronts(request: &Request, offset: usize) -> (u64, u64) {
    let size = request.size;
    let words = (size * request.count / 4).max(1);
    let mut keys = Keys::new(request, |index| (offset + index * size) / 4);
    if words == 1
        && let Some(quick) = without_conflicts(keys.all())
    {
        return quick;
    }
    // Lanes access the same words or have none in common.
    let mut copy = Keys { ..keys };
    if distinct(&mut copy) * words <= BANKS {
        return (busiest(copy.all(), words), 1);
    }
    // So many lanes at once: half of the warp for 8 bytes each, a quarter for 16.
    let together = (LANES / words).max(1);
    let mut result = (0, 0);
    let mut taken = 0;
    for first in (0..LANES).step_by(together) {
        let lanes = request.mask >> first & (Mask::MAX >> (LANES - together));
        let count = lanes.count_ones() as usize;
        if count > 0 {
            let group = &mut keys.keys[taken..taken + count];
            taken += count;
            distinct_in(group);
            result.0 += busiest(group, words);
            result.1 += 1;
        }
    }
    result
}

/// The answer for words, if no bank is asked for two different ones.
fn without_conflicts(words: &[usize]) -> Option<(u64, u64)> {
    let mut owners = [usize::MAX; BANKS];
    for &word in words {
        let owner = &mut owners[word % BANKS];
        if *owner != usize::MAX && *owner != word {
            return None;
        }
        *owner = word;
    }
    Some((1, 1))
}

/// The most different words of one bank, given the sorted first words of accesses.
fn busiest(firsts: &[usize], words: usize) -> u64 {
    let mut counts = [0u64; BANKS];
    for group in firsts.chunk_by(|one, other| one == other) {
        for word in group[0]..group[0] + words {
            counts[word % BANKS] += 1;
        }
    }
    counts.into_iter().max().unwrap_or(0)
}
