//! Workloads of irregular nested work: expansions whose elements are counted at random targets, primes, and triples.
//!
//! The distributions of sizes and targets are those of the thesis on fusing expand with permute: "(100% 0-10)->R" has sources
//! of 0 to 10 elements, each of which goes to one of 1000 targets at random; "0.01R+0.99N" sends one of a hundred anywhere.

use super::inputs::hash;
use super::reference::check_exactly;
use super::workloads::Workload;
use pumice::OptionExp;
use pumice::kernel::skeletons::Division;
use pumice::prelude::*;
use std::cell::OnceCell;
use std::rc::Rc;

/// The number of targets.
const BINS: usize = 1000;
/// Limit on the elements of an expansion; workloads with more are skipped.
const MOST: u64 = 900_000_000;

/// Distribution of the sizes of sources, and how many elements in 1024 go to a random target.
#[derive(Clone, Copy)]
struct Distribution {
    name: &'static str,
    /// Percentage of sources in the first range of sizes (least and largest); the others are in the second.
    percent: u32,
    first: (u32, u32),
    second: (u32, u32),
    kept: u64,
}

const fn spread(
    name: &'static str,
    percent: u32,
    first: (u32, u32),
    second: (u32, u32),
    kept: u64,
) -> Distribution {
    Distribution { name, percent, first, second, kept }
}

const DISTRIBUTIONS: [Distribution; 7] = [
    spread("(100% 0-10)->R", 100, (0, 10), (0, 0), 1024),
    spread("(100% 0-100)->R", 100, (0, 100), (0, 0), 1024),
    spread("(100% 1000-3000)->R", 100, (1000, 3000), (0, 0), 1024),
    spread("(75% 1-1; 25% 0-0)->R", 75, (1, 1), (0, 0), 1024),
    spread("(90% 0-10; 10% 3000-3500)->R", 90, (0, 10), (3000, 3500), 1024),
    spread("(90% 0-10; 10% 3000-3500)->0.75R+0.25N", 90, (0, 10), (3000, 3500), 768),
    spread("(100% 0-10)->0.01R+0.99N", 100, (0, 10), (0, 0), 10),
];

/// Implementation of an expansion.
#[derive(Clone, Copy)]
enum Way {
    Automatic,
    Divided(Division, &'static str),
    Unfused,
}

const WAYS: [Way; 8] = [
    Way::Divided(Division::Thread, "by threads"),
    Way::Divided(Division::Warp, "by warps"),
    Way::Divided(Division::Block, "by blocks"),
    Way::Divided(Division::Several, "by prefix sums"),
    Way::Divided(Division::Shares, "by shares"),
    Way::Divided(Division::Balanced, "balanced"),
    Way::Divided(Division::Mixed, "mixed"),
    Way::Unfused,
];

/// Further numbers of sources for which all ways are compared.
const FEW: [usize; 3] = [1, 100, 10_000];

/// Returns the workloads for these numbers of sources; with `all_ways` each in every way and for few sources too, else in the default way.
pub fn workloads(sources: &[usize], all_ways: bool) -> Vec<Workload> {
    let mut all = Vec::new();
    let few = FEW.iter().filter(|_| all_ways);
    for count in few.chain(sources) {
        for distribution in DISTRIBUTIONS {
            if distribution.elements(*count) > MOST {
                continue;
            }
            // Counting takes longer on the host than on devices, so all ways share the expected counts.
            let expected: Expected = Rc::default();
            all.push(counted(distribution, *count, Way::Automatic, &expected));
            if all_ways {
                all.extend(WAYS.map(|way| counted(distribution, *count, way, &expected)));
            }
        }
    }
    all
}

impl Distribution {
    /// Returns the approximate number of elements of this many sources.
    fn elements(&self, sources: usize) -> u64 {
        let of = |(low, high): (u32, u32), percent: u32| u64::from(low + high) * u64::from(percent);
        sources as u64 * (of(self.first, self.percent) + of(self.second, 100 - self.percent)) / 200
    }

    fn sizes(&self, sources: usize) -> Vec<i32> {
        let size = |i: u32| {
            let (choice, g) = (hash(i * 2 + 1, 0), hash(i * 2 + 7, 0));
            let (low, high) = if choice % 100 < self.percent { self.first } else { self.second };
            (low + g % (high - low + 1)) as i32
        };
        (0..sources as u32).map(size).collect()
    }
}

fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ x >> 32
}

const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Expected number of elements per target, computed once.
type Expected = Rc<OnceCell<Vec<u32>>>;

fn count(sizes: &[i32], kept: u64) -> Vec<u32> {
    let mut counts = vec![0u32; BINS];
    for (source, size) in (0u64..).zip(sizes) {
        for number in 0..*size as u64 {
            let h = mix((source << 32 | number).wrapping_add(SALT));
            if h & 1023 < kept {
                counts[((h >> 32) as u32 % BINS as u32) as usize] += 1;
            }
        }
    }
    counts
}

fn counted(distribution: Distribution, sources: usize, way: Way, expected: &Expected) -> Workload {
    let Distribution { name, kept, .. } = distribution;
    let expected = expected.clone();
    let name = match way {
        Way::Automatic => format!("expand {name}"),
        Way::Divided(_, way) => format!("expand {name} {way}"),
        Way::Unfused => format!("expand {name} unfused"),
    };
    Workload::new(name, sources, 4 * sources + 4 * BINS, move |timing| {
        let sizes = distribution.sizes(sources);
        let expected = expected.get_or_init(|| count(&sizes, kept));
        let program = move |sizes: Acc<Vector<i32>>| {
            let targets = sizes.indexed().expand(
                |(_, size)| size.cast::<i64>(),
                move |(source, _), number| {
                    let h = source.cast::<u64>() << 32 | number.cast::<u64>();
                    let h = h + SALT;
                    let h = (h ^ h >> 32) * 0xd6e8_feb8_6659_fd93u64;
                    let h = h ^ h >> 32;
                    let target = ((h >> 32).cast::<u32>() % BINS as u32).cast::<i64>();
                    OptionExp::present_if((h & 1023).lt(kept), target)
                },
            );
            targets.histogram(BINS, |target| target)
        };
        let timing = match way {
            Way::Automatic => timing.clone(),
            Way::Divided(division, _) => timing.with(|compiler| compiler.division(division)),
            Way::Unfused => timing.with(|compiler| compiler.fuse(false)),
        };
        timing.median(program, Vector::from(sizes.as_slice()), |found| check_exactly(&found, expected))
    })
}
