//! Stages that one thread can do to a few elements: which ones, and to which elements.
//!
//! In a stage, an element meets the one whose index differs by the stage's mask. Indices with exclusive or are a vector space
//! over the field of two elements; so those that can meet in some stages, starting from one index, are that index plus the
//! span of the masks: a coset of it. If the span has 2^k elements, a thread that takes the 2^k elements of a coset can do all
//! the stages in registers, one after the other, without memory or barriers between them. [`fuse`] divides a network into such
//! groups, and [`Group`] says which elements a thread has.
//!
//! The basis of the span is kept reduced: each vector has a highest bit, its *pivot*, that no other vector has. Then
//!
//! - a coset has one index whose pivot bits are all zero, its base, so cosets are numbered by the other bits;
//! - the bits that choose an element of a coset are its pivot bits, in order;
//! - the highest bit of a mask is a pivot. So which of two partners gets the smaller element depends on their places in the
//!   coset alone: it is known while the kernel is built, and a stage on the coset's elements is a [`Stage`] again.

use crate::networks::Stage;

/// Consecutive stages that a thread can do to 2^k elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The reduced basis of the span, by rising pivots.
    basis: Vec<u32>,
    /// The stages, on the numbers of a coset's elements.
    stages: Vec<Stage>,
    /// The bits of an index that number the cosets: bit `k` of a coset's number is bit `free[k]` of its base.
    free: Vec<u32>,
}

/// The highest bit of a vector that is not zero.
fn pivot(vector: u32) -> u32 {
    vector.checked_ilog2().map_or(0, |bit| 1 << bit)
}

/// Reduces a vector by the basis: the result is zero if the vector is in the span.
fn reduced(basis: &[u32], vector: u32) -> u32 {
    basis.iter().fold(vector, |rest, other| if rest & pivot(*other) != 0 { rest ^ other } else { rest })
}

/// Adds a vector to a reduced basis, unless it is in the span.
fn extend(basis: &mut Vec<u32>, vector: u32) {
    let vector = reduced(basis, vector);
    if vector != 0 {
        for other in basis.iter_mut().filter(|other| **other & pivot(vector) != 0) {
            *other ^= vector;
        }
        basis.push(vector);
        basis.sort_unstable();
    }
}

/// Banks of shared memory are numbered with so many bits.
const BANK_BITS: u32 = 5;

impl Group {
    /// The group of stages on 2^`n` elements whose span is that of their masks, made larger to 2^`k` elements with high bits.
    fn new(n: u32, k: u32, mut basis: Vec<u32>, stages: &[Stage]) -> Group {
        for bit in (0..n).rev() {
            if basis.len() < k as usize {
                extend(&mut basis, 1 << bit);
            }
        }
        let pivots = basis.iter().fold(0, |bits, vector| bits | pivot(*vector));
        let place = |mask: u32| {
            let chosen = basis.iter().enumerate().filter(|(_, vector)| mask & pivot(**vector) != 0);
            chosen.fold(0, |bits, (number, _)| bits | 1 << number)
        };
        let stages = stages.iter().map(|stage| Stage::flipping(place(stage.mask()))).collect();
        let free = thread_bits((0..n).filter(|bit| pivots & 1 << bit == 0).collect());
        Group { basis, stages, free }
    }

    /// Returns the number of elements of a coset.
    pub fn elements(&self) -> u32 {
        1 << self.basis.len()
    }

    /// Returns the number of cosets.
    pub fn cosets(&self) -> u32 {
        1 << self.free.len()
    }

    /// The stages, on the numbers of a coset's elements.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns the bits in which an element's index differs from its coset's base.
    pub fn offset(&self, element: u32) -> u32 {
        let chosen = self.basis.iter().enumerate().filter(|(number, _)| element & 1 << number != 0);
        chosen.fold(0, |index, (_, vector)| index ^ vector)
    }

    /// Whether an element's offset can be added to every base: they have no bit in common.
    pub fn adds(&self, element: u32) -> bool {
        self.free.iter().all(|bit| self.offset(element) & 1 << bit == 0)
    }

    /// Maps the bits of a coset's number to those of its base: masks of bits of the number, and how far they move up (or down).
    pub fn moves(&self) -> Vec<(u32, i32)> {
        let mut moves: Vec<(u32, i32)> = Vec::new();
        for (number, bit) in self.free.iter().enumerate() {
            let distance = *bit as i32 - number as i32;
            match moves.last_mut() {
                Some((bits, last)) if *last == distance => *bits |= 1 << number,
                _ => moves.push((1 << number, distance)),
            }
        }
        moves
    }

    /// The base of the coset with a number.
    pub fn base(&self, coset: u32) -> u32 {
        let moved = |(bits, distance): (u32, i32)| match distance {
            0.. => (coset & bits) << distance,
            _ => (coset & bits) >> -distance,
        };
        self.moves().into_iter().map(moved).sum()
    }

    /// Does the stages to a coset's elements, where `comparator` gives the smaller and the larger of two.
    pub fn apply<T: Clone>(&self, elements: &mut [T], comparator: impl Fn(&T, &T) -> (T, T)) {
        for stage in &self.stages {
            for (lower, upper) in stage.comparators(self.basis.len() as u32) {
                let (lower, upper) = (lower as usize, upper as usize);
                (elements[lower], elements[upper]) = comparator(&elements[lower], &elements[upper]);
            }
        }
    }
}

/// The bits that number the cosets, in the order of the threads that take them: low ones first, so that neighbouring threads
/// have neighbouring elements, but the lanes of a warp differ in bits that lead to different banks of padded shared memory,
/// where an element's bank is its index plus that of its row of 32. Bits `b` and `b + 5` lead to the same.
fn thread_bits(free: Vec<u32>) -> Vec<u32> {
    let mut taken = 0u32;
    let (mut lanes, rest): (Vec<u32>, Vec<u32>) = free.into_iter().partition(|bit| {
        let bank = 1 << (bit % BANK_BITS);
        let fresh = *bit < 2 * BANK_BITS && taken & bank == 0;
        taken |= if fresh { bank } else { 0 };
        fresh
    });
    lanes.extend(rest);
    lanes
}

/// Divides the stages of a network on 2^`n` elements into groups, each of which a thread can do to 2^`k` elements. As many
/// consecutive stages are in a group as fit.
///
/// ```
/// use pumice_algorithms::fuse::fuse;
/// use pumice_algorithms::networks::vsort;
/// // With two elements a thread, every stage is a group; with sixteen, the first ten stages are in one.
/// let (two, sixteen) = (fuse(&vsort(9), 9, 1), fuse(&vsort(9), 9, 4));
/// assert_eq!((two.len(), sixteen.len()), (45, 10));
/// assert_eq!(sixteen[0].stages().len(), 10);
/// ```
pub fn fuse(stages: &[Stage], n: u32, k: u32) -> Vec<Group> {
    let k = k.clamp(1, n.max(1));
    let mut groups = Vec::new();
    let (mut basis, mut from) = (Vec::new(), 0);
    for (number, stage) in stages.iter().enumerate() {
        let mut larger = basis.clone();
        extend(&mut larger, stage.mask());
        if larger.len() > k as usize {
            groups.push(Group::new(n, k, basis, &stages[from..number]));
            from = number;
            larger = vec![stage.mask()];
        }
        basis = larger;
    }
    if from < stages.len() {
        groups.push(Group::new(n, k, basis, &stages[from..]));
    }
    groups
}
