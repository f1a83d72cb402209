//! Comparator networks as data, from which the sorting kernels of [`crate::sort`] and the pictures of [`crate::drawing`] are
//! made.
//!
//! A network on 2^n wires is a list of [`Stage`]s. In a stage every wire has one partner, found by flipping some bits of its
//! number, and the smaller of the two elements ends up on the lower wire. A network works on longer arrays too: it is then
//! done to every part of 2^n elements.
//!
//! Networks are described by lists of stages, as in section 3 of "Expressive Array Constructs in an Embedded GPU Kernel
//! Programming Language", or by [`Network`], which composes, as section 4 of that paper asks for. Both come down to the
//! same stages, and so to the same code.

/// A column of comparators: each element is compared with one partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    mask: u32,
}

impl Stage {
    /// The stage in which partners differ in these bits, of which there is at least one: none is taken for the lowest.
    pub fn flipping(mask: u32) -> Stage {
        Stage { mask: if mask == 0 { 1 } else { mask } }
    }

    /// Partners are 2^`i` apart: bit `i` is flipped.
    pub fn ilv(i: u32) -> Stage {
        Stage::ilv_vee(i, 0)
    }

    /// Parts of 2^(`i` + 1) elements, in each of which the first's partner is the last, the second's the last but one, and
    /// so on: bits 0 to `i` are flipped.
    pub fn vee(i: u32) -> Stage {
        Stage::ilv_vee(0, i)
    }

    /// 2^`i` interleaved arrays, in each of which parts of 2^(`j` + 1) elements are like those of [`Stage::vee`]: bits `i`
    /// to `i + j` are flipped.
    pub fn ilv_vee(i: u32, j: u32) -> Stage {
        Stage { mask: ones(j + 1) << i }
    }

    /// The bits that partners differ in.
    pub fn mask(self) -> u32 {
        self.mask
    }

    /// The partner of a wire.
    pub fn partner(self, wire: u32) -> u32 {
        wire ^ self.mask
    }

    /// The highest of the bits that partners differ in. The lower of two partners, which gets the smaller element, is the
    /// one without it.
    pub fn top(self) -> u32 {
        self.mask.ilog2()
    }

    /// The comparators on 2^`n` wires: lower and upper wire of each.
    pub fn comparators(self, n: u32) -> impl Iterator<Item = (u32, u32)> {
        let lower = move |wire: &u32| wire & (1 << self.top()) == 0;
        (0..1 << n).filter(lower).map(move |wire| (wire, self.partner(wire)))
    }

    /// Applies the stage in plain Rust, as a reference for the kernels. The length is a multiple of that of
    /// the parts that the stage works on.
    pub fn apply<T: Ord>(self, xs: &mut [T]) {
        for lower in (0..xs.len()).filter(|wire| wire & (1 << self.top()) == 0) {
            let upper = lower ^ self.mask as usize;
            if upper < xs.len() && xs[upper] < xs[lower] {
                xs.swap(lower, upper);
            }
        }
    }
}

/// The lowest `count` bits.
pub(crate) fn ones(count: u32) -> u32 {
    u32::MAX.checked_shr(32u32.saturating_sub(count)).unwrap_or(0)
}

/// `bmerge`: Batcher's bitonic merger, which sorts an array that rises and then falls.
pub fn bmerge(n: u32) -> Vec<Stage> {
    (1..=n).map(|i| Stage::ilv(n - i)).collect()
}

/// `tmerge`: the bitonic merger with one half turned round, which sorts two sorted halves.
pub fn tmerge(n: u32) -> Vec<Stage> {
    let first = (n > 0).then(|| Stage::vee(n - 1));
    first.into_iter().chain((2..=n).map(|i| Stage::ilv(n - i))).collect()
}

/// `tsort`: a tree of `tmerge`.
pub fn tsort(n: u32) -> Vec<Stage> {
    (1..=n).flat_map(tmerge).collect()
}

/// `bpmerge`: the balanced periodic merger of Dowd, Perl, Rudolph and Saks, which sorts two interleaved sorted arrays.
pub fn bpmerge(n: u32) -> Vec<Stage> {
    (1..=n).map(|i| Stage::vee(n - i)).collect()
}

/// `vsort`: a tree of `bpmerge` whose smaller mergers are interleaved.
pub fn vsort(n: u32) -> Vec<Stage> {
    (1..=n).flat_map(|i| (1..=i).map(move |j| Stage::ilv_vee(n - i, i - j))).collect()
}

/// A network that is composed of smaller ones.
///
/// ```
/// use pumice_algorithms::networks::{Network, bpmerge, vsort, vsort_r};
/// // The sorter of the paper's discussion, unrolled and combined by the machine.
/// assert_eq!(vsort_r(9).stages(), vsort(9));
/// // A comparator on elements that are far from each other, with the parts between them turned round.
/// assert_eq!(Network::Two.vee(3).stages(), bpmerge(4)[..1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing.
    Id,
    /// A comparator: two neighbours in order.
    Two,
    /// One after the other.
    Seq(Vec<Network>),
    /// A network on elements that are 2^i apart: on each of 2^i interleaved arrays.
    Ilv(u32, Box<Network>),
    /// A network on parts of 2^i elements, where partners are in mirrored places of theirs.
    Vee(u32, Box<Network>),
}

impl Network {
    /// This one, and then another.
    pub fn then(self, next: Network) -> Network {
        match self {
            Network::Seq(mut all) => {
                all.push(next);
                Network::Seq(all)
            }
            first => Network::Seq(vec![first, next]),
        }
    }

    /// This one on each of 2^`i` interleaved arrays.
    pub fn ilv(self, i: u32) -> Network {
        Network::Ilv(i, Box::new(self))
    }

    /// This one on parts of 2^`i` elements, where partners are in mirrored places of theirs.
    pub fn vee(self, i: u32) -> Network {
        Network::Vee(i, Box::new(self))
    }

    /// The stages.
    pub fn stages(&self) -> Vec<Stage> {
        let inside = |network: &Network, i: u32, flipped: u32| {
            network.stages().into_iter().map(move |stage| Stage { mask: stage.mask << i | flipped }).collect()
        };
        match self {
            Network::Id => Vec::new(),
            Network::Two => vec![Stage::ilv(0)],
            Network::Seq(all) => all.iter().flat_map(Network::stages).collect(),
            Network::Ilv(i, network) => inside(network, *i, 0),
            Network::Vee(i, network) => inside(network, *i, ones(*i)),
        }
    }
}

/// [`bmerge`] by recursion: a comparator on the halves, and two smaller mergers side by side.
pub fn bmerge_r(n: u32) -> Network {
    match n {
        0 => Network::Id,
        _ => Network::Two.ilv(n - 1).then(bmerge_r(n - 1)),
    }
}

/// [`tmerge`] by recursion.
pub fn tmerge_r(n: u32) -> Network {
    match n {
        0 => Network::Id,
        _ => Network::Two.vee(n - 1).then(bmerge_r(n - 1)),
    }
}

/// [`tsort`] by recursion: two smaller sorters side by side, and a merger.
pub fn tsort_r(n: u32) -> Network {
    match n {
        0 => Network::Id,
        _ => tsort_r(n - 1).then(tmerge_r(n)),
    }
}

/// [`bpmerge`] by recursion.
pub fn bpmerge_r(n: u32) -> Network {
    match n {
        0 => Network::Id,
        _ => Network::Two.vee(n - 1).then(bpmerge_r(n - 1)),
    }
}

/// [`vsort`] by recursion: two smaller sorters interleaved, and a merger.
pub fn vsort_r(n: u32) -> Network {
    match n {
        0 => Network::Id,
        _ => vsort_r(n - 1).ilv(1).then(bpmerge_r(n)),
    }
}
