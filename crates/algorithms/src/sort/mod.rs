//! Sorting of large arrays by networks: small sorters and mergers that work in a block's memory, and passes over the whole
//! array between them. The structure is that of figures 6 and 7 of "Expressive Array Constructs in an Embedded GPU Kernel
//! Programming Language"; all of it is in the kernel language here, the passes too, which the paper writes in CUDA.
//!
//! The array is divided into blocks. [`Launch::Sort`] sorts every block. Then ever longer runs are merged, two by two, by the
//! network `tmerge`: its stages between elements of different blocks are passes over the array ([`Launch::Exchange`]), and
//! the rest, which stay within a block, are a small merger ([`Launch::Merge`]).
//!
//! The lengths that networks know are powers of two. Every comparator puts the smaller element at the lower index, so
//! elements that are larger than all others, if they are at the end at first, stay there. Hence an array of another length is
//! sorted as if it went on with such elements up to the next power of two: they are made up where they would be read, and not
//! written.

mod exchange;
mod programs;
mod small;

pub use exchange::Exchange;
pub use programs::programs;
pub use small::{Small, on_blocks};

use crate::combinators::Threading;
use crate::networks::bmerge;
use pumice::kernel::{Block, Grid, Ix, Kernel, Pull, Push};
use pumice::{Array, Compiler, Dim1, Elt, Error, Exp, IntoArray, Number, Result};
use std::collections::HashMap;
use std::rc::Rc;

/// Types that can be sorted: numbers that are in a total order.
pub trait Key: Number + Elt<Exp = Exp<Self>> + Ord {
    /// A number that no other is larger than.
    const LARGEST: Self;
}
macro_rules! keys { ($($t:ident)*) => { $(impl Key for $t { const LARGEST: $t = $t::MAX; })* }; }
keys!(i32 u32 i64 u64);

/// A function of a block's elements.
pub type BlockFunction<T> = Rc<dyn Fn(Pull<T>) -> Push<Block, T>>;

/// A step of a large sort: a kernel that reads one array and writes the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Launch {
    /// Sorts the blocks.
    Sort,
    /// Some stages of a merger, the first with this stride.
    Exchange(Exchange, u64),
    /// Sorts blocks that rise and then fall.
    Merge,
}

/// Composition of a large sort from kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    /// The sorter of blocks.
    pub small: Small,
    /// Elements that a thread has in its registers where it may have many, as a power of two.
    pub registers: u32,
    /// The size of a block, as a power of two.
    pub block: u32,
    /// Division of a merger's stages between blocks.
    pub passes: Passes,
}

/// Division of a merger's stages between blocks into passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passes {
    /// As the paper does it: `vSwap`, then `iSwap3` as often as it goes, and `iSwap2` or `iSwap` for the rest.
    Paper,
    /// Up to this many stages in a pass, by blocks of 2^tile elements.
    Tiled {
        /// Stages of a pass at most.
        stages: u32,
        /// Elements of a tile, as a power of two.
        tile: u32,
    },
}

impl Method {
    /// The structure of the paper with one of its small sorters, of 512 elements.
    pub const fn paper(small: Small) -> Method {
        Method { small, registers: 4, block: 9, passes: Passes::Paper }
    }

    /// The method that we think best: blocks of 4096 elements, and up to eight stages in a pass.
    pub const TUNED: Method = Method {
        small: Small::Vsort,
        registers: 4,
        block: 12,
        passes: Passes::Tiled { stages: 8, tile: 12 },
    };

    /// Returns the division of the small merger's work among threads.
    pub fn merger(self) -> Threading {
        match self.passes {
            Passes::Paper => Threading::Two,
            Passes::Tiled { .. } => Threading::Registers(self.registers),
        }
    }

    /// The small sorter.
    pub fn sort_kernel<T: Key>(self) -> impl Fn(Pull<T, Ix>) -> Push<Grid, T, Ix> {
        on_blocks(self.block, self.small.block(self.block, self.registers))
    }

    /// Threads of the small sorter's blocks.
    pub fn sort_threads(self) -> u32 {
        self.small.threading(self.registers).threads(self.block)
    }

    /// The small merger.
    pub fn merge_kernel<T: Key>(self) -> impl Fn(Pull<T, Ix>) -> Push<Grid, T, Ix> {
        on_blocks(self.block, Rc::new(self.merger().network(bmerge(self.block), self.block)))
    }

    /// Threads of the small merger's blocks.
    pub fn merge_threads(self) -> u32 {
        self.merger().threads(self.block)
    }

    /// Returns the launches that sort so many elements, in order.
    pub fn launches(self, length: usize) -> Vec<Launch> {
        let size = 1u64 << self.block;
        // How often runs are merged two by two until there is one.
        let merges = (length as u64).div_ceil(size).max(1).next_power_of_two().ilog2();
        let mut launches = vec![Launch::Sort];
        for merge in 0..merges {
            // The first stage has partners 2^merge blocks apart, the next half of that, down to one block.
            let mut stages = merge + 1;
            for (number, rows) in self.divide(stages).into_iter().enumerate() {
                let columns = match self.passes {
                    Passes::Paper => 0,
                    // A row ends where the next one begins.
                    Passes::Tiled { tile, .. } => tile.saturating_sub(rows).min(self.block + stages - rows),
                };
                let pass = Exchange { mirrored: number == 0, rows, columns, registers: self.registers };
                launches.push(Launch::Exchange(pass, size << (stages - 1)));
                stages -= rows;
            }
            launches.push(Launch::Merge);
        }
        launches
    }

    /// Divides so many stages into passes.
    fn divide(self, stages: u32) -> Vec<u32> {
        match self.passes {
            Passes::Paper => {
                let rest = stages - 1;
                let threes = std::iter::repeat_n(3, (rest / 3) as usize);
                std::iter::once(1).chain(threes).chain(Some(rest % 3).filter(|rest| *rest > 0)).collect()
            }
            Passes::Tiled { stages: most, .. } => {
                let passes = stages.div_ceil(most.max(1));
                (0..passes).map(|pass| stages / passes + u32::from(pass < stages % passes)).collect()
            }
        }
    }
}

/// A pass, of an array and a stride.
type ExchangeKernel<T> = Kernel<(Pull<T, Ix>, Ix), T>;

/// Kernels that sort arrays of up to some length.
///
/// ```
/// use pumice::Compiler;
/// use pumice_algorithms::sort::{Method, Sorter};
/// let sorter = Sorter::new(&Compiler::on("sim")?, Method::TUNED, 1000)?;
/// assert_eq!(sorter.sort(&[3, 1, 2])?.to_vec()?, [1, 2, 3]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub struct Sorter<T: Key> {
    method: Method,
    longest: usize,
    sort: Kernel<(Pull<T, Ix>,), T>,
    merge: Kernel<(Pull<T, Ix>,), T>,
    exchanges: HashMap<Exchange, ExchangeKernel<T>>,
}

impl<T: Key> Sorter<T> {
    /// Makes the kernels. They are compiled when they are first needed.
    pub fn new(compiler: &Compiler, method: Method, longest: usize) -> Result<Sorter<T>> {
        let mut exchanges = HashMap::new();
        for launch in method.launches(longest) {
            if let Launch::Exchange(pass, _) = launch
                && !exchanges.contains_key(&pass)
            {
                // SAFETY: `launches` gives a pass the strides of a merger, which are powers of two, from the size of a
                // block times the pass's rows on.
                let kernel = unsafe { pass.kernel::<T>() };
                exchanges.insert(pass, compiler.kernel(&pass.name(), pass.threads(), kernel)?);
            }
        }
        let sort = compiler.kernel(method.small.name(), method.sort_threads(), method.sort_kernel::<T>())?;
        let merge = compiler.kernel("bmerge", method.merge_threads(), method.merge_kernel::<T>())?;
        Ok(Sorter { method, longest, sort, merge, exchanges })
    }

    /// Sorts.
    pub fn sort(&self, xs: impl IntoArray<Dim1, T>) -> Result<Array<Dim1, T>> {
        let mut xs = xs.into_array();
        let length = xs.len();
        if length > self.longest {
            let longest = self.longest;
            return Err(Error::Invalid(format!("{length} elements for a sorter of {longest}").into()));
        }
        for launch in self.method.launches(length) {
            xs = match launch {
                Launch::Sort => self.sort.run(&xs)?,
                Launch::Merge => self.merge.run(&xs)?,
                Launch::Exchange(pass, stride) => match self.exchanges.get(&pass) {
                    Some(kernel) => kernel.run((&xs, stride as i64))?,
                    None => return Err(Error::Invalid(format!("a sorter without {}", pass.name()).into())),
                },
            };
        }
        Ok(xs)
    }
}
