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

use crate::bitonic::bitonic_block;
use crate::combinators::{Threading, computed};
use crate::networks::{Stage, bmerge, bpmerge, tmerge, tsort, vsort};
use crate::numbers::numbers;
use crate::program::{Prepared, Program, Tunable, Work, ready, same};
use pumice::kernel::{Block, Grid, Ix, Kernel, Loops, Pull, Push, Within, force_scalar, quotient};
use pumice::{Array, Compiler, Dim1, Elt, Error, Exp, IntoArray, Number, Result};
use std::collections::HashMap;
use std::rc::Rc;

/// What can be sorted: numbers that are in a total order.
pub trait Key: Number + Elt<Exp = Exp<Self>> + Ord {
    /// A number that no other is larger than.
    const LARGEST: Self;
}
macro_rules! keys { ($($t:ident)*) => { $(impl Key for $t { const LARGEST: $t = $t::MAX; })* }; }
keys!(i32 u32 i64 u64);

/// What a block does to its elements.
pub type BlockFunction<T> = Rc<dyn Fn(Pull<T>) -> Push<Block, T>>;

/// The small sorters of the paper's tables, and the one that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Small {
    /// The tree of bitonic mergers, one index a thread.
    Tsort1,
    /// The same, two indices a thread.
    Tsort2,
    /// The tree of balanced periodic mergers, one index a thread.
    Vsort1,
    /// The same, as many indices a thread as its registers hold.
    Vsort,
    /// Bitonic sort by hand.
    Bitonic,
}

impl Small {
    /// All of them.
    pub const ALL: [Small; 5] = [Small::Tsort1, Small::Tsort2, Small::Vsort1, Small::Vsort, Small::Bitonic];

    /// The name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Small::Tsort1 => "tsort1",
            Small::Tsort2 => "tsort2",
            Small::Vsort1 => "vsort1",
            Small::Vsort => "vsort",
            Small::Bitonic => "bitonic",
        }
    }

    /// How its work is divided among threads; those of [`Small::Vsort`] have 2^`registers` elements each.
    pub fn threading(self, registers: u32) -> Threading {
        match self {
            Small::Tsort1 | Small::Vsort1 | Small::Bitonic => Threading::One,
            Small::Tsort2 => Threading::Two,
            Small::Vsort => Threading::Registers(registers),
        }
    }

    /// The sorter of 2^`n` elements, as a function of a block.
    pub fn block<T: Key>(self, n: u32, registers: u32) -> BlockFunction<T> {
        let threading = self.threading(registers);
        match self {
            Small::Tsort1 | Small::Tsort2 => Rc::new(threading.network(tsort(n), n)),
            Small::Vsort1 | Small::Vsort => Rc::new(threading.network(vsort(n), n)),
            Small::Bitonic => Rc::new(bitonic_block),
        }
    }
}

/// Does something to every block of 2^`n` elements of an array, the last of which may be shorter.
pub fn on_blocks<T: Key>(n: u32, f: BlockFunction<T>) -> impl Fn(Pull<T, Ix>) -> Push<Grid, T, Ix> {
    move |xs| {
        let (size, length, f) = (1i64 << n, xs.len(), f.clone());
        let blocks = Push::clipped(length, move |write| {
            Block::distribute((length + (size - 1)) / size, &|block| {
                let (xs, start) = (xs.clone(), block * size);
                let elements: Pull<T> =
                    Pull::new(1 << n, move |i| xs.at_or(start + i, Exp::from(T::LARGEST)));
                complete(f(elements)).write(&|i, element| write(start + i, element));
            });
        });
        // SAFETY: there is a block for every element, and each writes all of its own that are in the array.
        unsafe { blocks.assume_complete() }
    }
}

/// A block's array that writes every element: by way of its memory, if it may not by itself.
fn complete<T: Key>(block: Push<Block, T>) -> Push<Block, T> {
    if block.is_complete() { block } else { block.force().push() }
}

/// A pass over a large array: stages of a merger whose partners are far from each other.
///
/// It does consecutive stages of which the first has partners `stride` apart, the second half of that, and so on. A block
/// has tiles of 2^`rows` × 2^`columns` elements: the columns of a row are neighbours in memory, and rows are as far apart as
/// the last stage's partners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exchange {
    /// Whether the first stage is that of two sorted runs, where partners are in mirrored places: a `vee`.
    pub mirrored: bool,
    /// How many stages there are.
    pub rows: u32,
    /// How many elements are next to each other, as a power of two. With 0, a thread has a tile alone, in registers.
    pub columns: u32,
    /// How many elements of a larger tile a thread has at a time, as a power of two.
    pub registers: u32,
}

/// Threads of a block of a pass whose threads have tiles of their own.
const ALONE: u32 = 256;

impl Exchange {
    /// `vSwap`: the first stage of a merger.
    pub const V_SWAP: Exchange = Exchange::alone(true, 1);
    /// `iSwap`: any other stage.
    pub const I_SWAP: Exchange = Exchange::alone(false, 1);
    /// `iSwap2`: two of them.
    pub const I_SWAP2: Exchange = Exchange::alone(false, 2);
    /// `iSwap3`: three of them.
    pub const I_SWAP3: Exchange = Exchange::alone(false, 3);

    /// The pass in which every thread has a tile alone.
    pub const fn alone(mirrored: bool, rows: u32) -> Exchange {
        Exchange { mirrored, rows, columns: 0, registers: rows }
    }

    /// A name for the kernel.
    pub fn name(self) -> String {
        match (self.mirrored, self.rows, self.columns) {
            (true, 1, 0) => "vSwap".into(),
            (false, 1, 0) => "iSwap".into(),
            (false, rows @ (2 | 3), 0) => format!("iSwap{rows}"),
            (mirrored, rows, columns) => {
                format!("{}Swap{rows}_{columns}", if mirrored { "v" } else { "i" })
            }
        }
    }

    /// The division of a tile among the threads of a block.
    fn threading(self) -> Threading {
        Threading::Registers(self.registers)
    }

    /// Threads of a block.
    pub fn threads(self) -> u32 {
        match self.columns {
            0 => ALONE,
            columns => self.threading().threads(self.rows + columns),
        }
    }

    /// The stages on the elements of a tile, row after row.
    fn stages(self) -> Vec<Stage> {
        let first = if self.mirrored {
            Stage::vee(self.rows + self.columns - 1)
        } else {
            Stage::ilv(self.rows + self.columns - 1)
        };
        let others = (0..self.rows - 1).rev().map(|row| Stage::ilv(row + self.columns));
        std::iter::once(first).chain(others).collect()
    }

    /// The pass, of an array and the stride of the first stage.
    ///
    /// # Safety
    ///
    /// In every launch, the stride is a power of two, and at least 2^(`rows` + `columns` - 1): then each element is in one
    /// tile. With others, elements of the result are whatever the memory held.
    pub unsafe fn kernel<T: Key>(self) -> impl Fn(Pull<T, Ix>, Ix) -> Push<Grid, T, Ix> {
        move |xs, stride| {
            let length = xs.len();
            let exchanged = Push::clipped(length, move |write| {
                let tiles = Tiles::new(self, length, stride);
                let read = |index: Ix| xs.at_or(index, Exp::from(T::LARGEST));
                match self.columns {
                    0 => Grid::for_each(tiles.count, &|tile| {
                        let base = tiles.base(tile);
                        let index = |element: u32| tiles.index(base, Exp::from(i64::from(element)));
                        let mut elements: Vec<Exp<T>> =
                            (0..1 << self.rows).map(|element| read(index(element))).collect();
                        for stage in self.stages() {
                            for (lower, upper) in stage.comparators(self.rows) {
                                let (a, b) = (elements[lower as usize], elements[upper as usize]);
                                (elements[lower as usize], elements[upper as usize]) = (a.min(b), a.max(b));
                            }
                        }
                        let elements = computed(elements);
                        for (number, element) in elements.into_iter().enumerate() {
                            write(index(number as u32), element);
                        }
                    }),
                    columns => Block::distribute(tiles.count, &|tile| {
                        let (xs, base) = (xs.clone(), tiles.base(tile));
                        let bits = self.rows + columns;
                        let elements: Pull<T> = Pull::new(1 << bits, move |element| {
                            xs.at_or(tiles.index(base, element), Exp::from(T::LARGEST))
                        });
                        let done = complete(self.threading().network(self.stages(), bits)(elements));
                        done.write(&|element, value| write(tiles.index(base, element), value));
                    }),
                }
            });
            // SAFETY: the tiles have every element between them, as the caller says, and each writes all of its own.
            unsafe { exchanged.assume_complete() }
        }
    }
}

/// Where the tiles of a pass lie.
///
/// The bits of an index are, from the lowest: the column; where the tile lies between two rows; the row; and where the tile
/// lies otherwise. A tile of a mirrored pass has its upper half of rows at mirrored places between two rows, where the
/// partners of the lower half are.
#[derive(Clone, Copy)]
struct Tiles {
    pass: Exchange,
    /// The distance of two rows.
    row: Ix,
    /// How many tiles there are.
    count: Ix,
}

impl Tiles {
    fn new(pass: Exchange, length: Ix, stride: Ix) -> Tiles {
        let row = stride >> i64::from(pass.rows - 1);
        let runs = quotient(length + ((stride << 1) - 1), stride << 1);
        Tiles { pass, row, count: runs * (row >> i64::from(pass.columns)) }
    }

    /// The first element of a tile.
    fn base(self, tile: Ix) -> Ix {
        let (rows, columns) = (i64::from(self.pass.rows), i64::from(self.pass.columns));
        let between = self.row >> columns;
        // By division, from which it is known how large the parts are: so no bounds need to be checked for most lengths.
        let (high, low) = (quotient(tile, between), tile & (between - 1));
        force_scalar((low << columns) + high * (self.row << rows))
    }

    /// An element of the tile that starts at an index.
    fn index(self, base: Ix, element: Ix) -> Ix {
        let (rows, columns) = (i64::from(self.pass.rows), i64::from(self.pass.columns));
        let column = element & ((1 << columns) - 1);
        let index = base + column + (element >> columns) * self.row;
        if !self.pass.mirrored {
            return index;
        }
        let between = (self.row - 1) & !((1 << columns) - 1);
        match element.term().integer() {
            Some(element) if element >> (rows + columns - 1) == 0 => index,
            Some(_) => index ^ between,
            None => index ^ ((element >> (rows + columns - 1)) * between),
        }
    }
}

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

/// How a large sort is made of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    /// The sorter of blocks.
    pub small: Small,
    /// How many elements a thread has in its registers, as a power of two, where it may have many.
    pub registers: u32,
    /// The size of a block, as a power of two.
    pub block: u32,
    /// How a merger's stages between blocks are divided.
    pub passes: Passes,
}

/// How a merger's stages between blocks are divided into passes.
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

    /// What we think best: blocks of 4096 elements, and up to eight stages in a pass.
    pub const TUNED: Method = Method {
        small: Small::Vsort,
        registers: 4,
        block: 12,
        passes: Passes::Tiled { stages: 8, tile: 12 },
    };

    /// How the small merger's work is divided among threads.
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

    /// What it takes to sort so many elements, in order.
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
            return Err(Error::Invalid(format!("{length} elements for a sorter of {longest}")));
        }
        for launch in self.method.launches(length) {
            xs = match launch {
                Launch::Sort => self.sort.run(&xs)?,
                Launch::Merge => self.merge.run(&xs)?,
                Launch::Exchange(pass, stride) => match self.exchanges.get(&pass) {
                    Some(kernel) => kernel.run((&xs, stride as i64))?,
                    None => return Err(Error::Invalid(format!("a sorter without {}", pass.name()))),
                },
            };
        }
        Ok(xs)
    }
}

/// A program that sorts a whole array.
fn whole(compiler: &Compiler, method: Method, size: usize) -> Result<Box<dyn Prepared>> {
    let sorter = Sorter::<i32>::new(compiler, method, size)?;
    let mut xs = numbers(size);
    let input = compiler.upload(&xs)?;
    xs.sort_unstable();
    Ok(ready(
        Work::Bytes(8 * size),
        move || sorter.sort(&input),
        move |found| Ok(same(&found.to_vec()?, &xs)),
    ))
}

/// A program that does something to blocks of 2^`n` elements: a sorter, or a merger of blocks that rise and then fall.
fn small(
    compiler: &Compiler,
    name: &str,
    (n, threads): (u32, u32),
    f: BlockFunction<i32>,
    merges: bool,
    size: usize,
) -> Result<Box<dyn Prepared>> {
    let kernel = compiler.kernel(name, threads, on_blocks(n, f))?;
    let mut xs = numbers(size);
    if merges {
        for block in xs.chunks_mut(1 << n) {
            let middle = block.len().min(1 << (n - 1));
            block[..middle].sort_unstable();
            block[middle..].sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    let input = compiler.upload(&xs)?;
    xs.chunks_mut(1 << n).for_each(|block| block.sort_unstable());
    Ok(ready(Work::Bytes(8 * size), move || kernel.run(&input), move |found| Ok(same(&found.to_vec()?, &xs))))
}

/// What stages do to blocks of 2^`n` elements, in plain Rust; the last block goes on with largest elements.
fn expected(stages: &[Stage], n: u32, xs: &[i32]) -> Vec<i32> {
    let mut all = xs.to_vec();
    all.resize(xs.len().next_multiple_of(1 << n), i32::LARGEST);
    all.chunks_mut(1 << n).for_each(|block| stages.iter().for_each(|stage| stage.apply(block)));
    all.truncate(xs.len());
    all
}

/// A program that does the stages of a network to blocks of the paper's size.
fn network(
    compiler: &Compiler,
    name: &str,
    threading: Threading,
    stages: Vec<Stage>,
    size: usize,
) -> Result<Box<dyn Prepared>> {
    let f: BlockFunction<i32> = Rc::new(threading.network(stages.clone(), PAPER));
    let kernel = compiler.kernel(name, threading.threads(PAPER), on_blocks(PAPER, f))?;
    let xs = numbers(size);
    let input = compiler.upload(&xs)?;
    let check = move |found: &Array<Dim1, i32>| Ok(same(&found.to_vec()?, &expected(&stages, PAPER, &xs)));
    Ok(ready(Work::Bytes(8 * size), move || kernel.run(&input), check))
}

/// A program that is one pass over an array.
fn pass(compiler: &Compiler, pass: Exchange, size: usize) -> Result<Box<dyn Prepared>> {
    // SAFETY: the stride is a power of two below.
    let kernel = unsafe { pass.kernel::<i32>() };
    let kernel = compiler.kernel(&pass.name(), pass.threads(), kernel)?;
    let xs = numbers(size);
    let input = compiler.upload(&xs)?;
    // The merger of the two halves of the array, or of a little one.
    let n = size.next_power_of_two().ilog2().max(pass.rows);
    let stride = 1i64 << (n - 1);
    let check = move |found: &Array<Dim1, i32>| {
        let first = if pass.mirrored { Stage::vee(n - 1) } else { Stage::ilv(n - 1) };
        let others = (1..pass.rows).map(|row| Stage::ilv(n - 1 - row));
        let stages: Vec<Stage> = std::iter::once(first).chain(others).collect();
        Ok(same(&found.to_vec()?, &expected(&stages, n, &xs)))
    };
    Ok(ready(Work::Bytes(8 * size), move || kernel.run((&input, stride)), check))
}

/// The size of the paper's blocks, as a power of two.
const PAPER: u32 = 9;

/// How many elements a thread has, as a power of two.
const REGISTERS: Tunable = Tunable { name: "registers", values: &[2, 3, 4, 5], default: 4 };

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    const NAMELESS: Program = Program {
        name: "",
        about: "",
        small: 1500,
        large: &[1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24],
        sizes: &[0, 1, 16, 512, 513, 2048, 3000],
        tunable: &[],
        prepare: |_, _, _| Ok(ready(Work::Unknown, || Ok(()), |()| Ok(Ok(())))),
    };
    macro_rules! paper {
        ($($small:ident $name:literal $whole:literal $about:literal;)*) => {
            [$(
                Program {
                    name: $name,
                    about: concat!("sorts blocks of 512: ", $about),
                    large: &[1 << 24],
                    tunable: if matches!(Small::$small, Small::Vsort) { &[REGISTERS] } else { &[] },
                    prepare: |compiler, size, settings| {
                        let registers = settings.get("registers") as u32;
                        let threads = Small::$small.threading(registers).threads(PAPER);
                        let f = Small::$small.block(PAPER, registers);
                        small(compiler, $name, (PAPER, threads), f, false, size)
                    },
                    ..NAMELESS
                },
                Program {
                    name: $whole,
                    about: concat!("sorts an array, blocks of 512 by ", $about),
                    prepare: |compiler, size, _| whole(compiler, Method::paper(Small::$small), size),
                    ..NAMELESS
                },
            )*]
        };
    }
    let paper = paper! {
        Tsort1 "tsort1" "sort-tsort1" "a tree of bitonic mergers, one index a thread";
        Tsort2 "tsort2" "sort-tsort2" "a tree of bitonic mergers, two indices a thread";
        Vsort1 "vsort1" "sort-vsort1" "a tree of balanced mergers, one index a thread";
        Vsort "vsort" "sort-vsort" "a tree of balanced mergers, many indices a thread";
        Bitonic "bitonic" "sort-bitonic" "bitonic sort written by hand";
    };
    macro_rules! networks {
        ($($name:literal $threading:ident $stages:ident $about:literal;)*) => {
            [$(Program {
                name: $name,
                about: concat!("the stages of ", $about, " on blocks of 512"),
                large: &[1 << 24],
                prepare: |compiler, size, _| {
                    network(compiler, $name, Threading::$threading, $stages(PAPER), size)
                },
                ..NAMELESS
            }),*]
        };
    }
    let networks = networks! {
        "bmerge" One bmerge "the bitonic merger, one index a thread,";
        "tmerge" One tmerge "the merger of two sorted halves, one index a thread,";
        "bpmerge2" Two bpmerge "the balanced periodic merger, two indices a thread,";
    };
    macro_rules! passes {
        ($($name:literal $pass:ident $about:literal;)*) => {
            [$(Program {
                name: $name,
                about: concat!($about, " of a merger of a whole array"),
                large: &[1 << 24],
                sizes: &[0, 1, 7, 512, 1000, 3000],
                prepare: |compiler, size, _| pass(compiler, Exchange::$pass, size),
                ..NAMELESS
            }),*]
        };
    }
    let passes = passes! {
        "vSwap" V_SWAP "the first stage";
        "iSwap" I_SWAP "a later stage";
        "iSwap2" I_SWAP2 "two later stages";
        "iSwap3" I_SWAP3 "three later stages";
    };
    let mergers = [
        Program {
            name: "bitonicMerge",
            about: "merges blocks of 16 that rise and then fall, one index a thread",
            large: &[1 << 24],
            // A block that is not whole goes on with largest elements, and so does not fall to its end.
            sizes: &[0, 16, 48, 1600],
            small: 160,
            prepare: |compiler, size, _| {
                let f = Rc::new(Threading::One.network(bmerge(4), 4));
                small(compiler, "bitonicMerge", (4, Threading::One.threads(4)), f, true, size)
            },
            ..NAMELESS
        },
        Program {
            name: "bmerge2",
            about: "merges blocks of 512 that rise and then fall, two indices a thread",
            large: &[1 << 24],
            sizes: &[0, 512, 2048, 512 * 9],
            small: 1536,
            prepare: |compiler, size, _| {
                let f = Rc::new(Threading::Two.network(bmerge(PAPER), PAPER));
                small(compiler, "bmerge2", (PAPER, Threading::Two.threads(PAPER)), f, true, size)
            },
            ..NAMELESS
        },
    ];
    let tuned = Program {
        name: "sort",
        about: "sorts an array, with large blocks and many stages in a pass",
        sizes: &[0, 1, 512, 4096, 4097, 20_000],
        small: 5000,
        tunable: &[
            REGISTERS,
            Tunable { name: "block", values: &[10, 11, 12], default: 12 },
            Tunable { name: "stages", values: &[4, 5, 6, 7, 8, 9], default: 8 },
        ],
        prepare: |compiler, size, settings| {
            let [registers, block, stages] =
                ["registers", "block", "stages"].map(|name| settings.get(name) as u32);
            let passes = Passes::Tiled { stages, tile: block };
            whole(compiler, Method { registers, block, passes, ..Method::TUNED }, size)
        },
        ..NAMELESS
    };
    paper.into_iter().chain(networks).chain(mergers).chain(passes).chain([tuned]).collect()
}
