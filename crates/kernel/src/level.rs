//! The levels of the machine: what may nest in what, and what a loop, memory and a barrier are at each.
//!
//! A level is data, [`AnyLevel`], and each operation at a level is written once, over that. For programs in Rust the levels are
//! types as well: a function that is generic in its level (`L: Loops`, `L: Forces`, `L: Within<A>`) runs at every level that
//! can do what it needs, and rustc refuses the others. Front ends that learn of levels only when a kernel is built use
//! `AnyLevel` as the type; what rustc would refuse is then a [`crate::BuildError`] in the same words.

use crate::builder::with;
use crate::effects;
use crate::item::Ix;
use crate::place::{at_place, here};
use crate::size::parts_for;
use pumice_program::MemoryId;
use pumice_scalar::{Exp, ScalarType};
use std::fmt;

/// A level of the machine, as data.
///
/// ```
/// use pumice::kernel::{AnyLevel, Ix, Pull, preview};
/// let (inner, outer) = (AnyLevel::Thread, AnyLevel::Block);
/// let turned = preview(32, &[1, 2, 3, 4], move |xs: Pull<i32, Ix>| {
///     let pairs = move |four: Pull<i32>| {
///         four.split_up(2).map(move |two| two.reverse().push_at(inner)).concat_at(outer)
///     };
///     xs.split_up(4).map(pairs).concat_at(AnyLevel::Grid).at_level()
/// })?;
/// assert_eq!(turned, [2, 1, 4, 3]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnyLevel {
    /// One thread: loops are sequential.
    Thread,
    /// The 32 lanes of a warp: they advance together and can exchange values.
    Warp,
    /// The threads of a block: they share memory and can wait for each other.
    Block,
    /// All blocks of a kernel.
    Grid,
}

impl fmt::Display for AnyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A level of the machine at which a program can run.
///
/// ```
/// use pumice::kernel::{AnyLevel, Block, Level};
/// assert_eq!((Block::FIXED, AnyLevel::FIXED), (Some(AnyLevel::Block), None));
/// ```
pub trait Level: crate::item::sealed::Level + 'static {
    /// The level; nothing if it is data, known when the kernel is built.
    const FIXED: Option<AnyLevel>;
}

/// One thread: loops are sequential.
///
/// ```
/// use pumice::kernel::{Ix, Pull, Thread, preview};
/// let turned = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
///     xs.split_up(2).map(|two| two.reverse().push::<Thread>()).concat()
/// })?;
/// assert_eq!(turned, [2, 1, 4, 3]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Thread {}
/// The 32 lanes of a warp: they advance together and can exchange values.
///
/// ```
/// use pumice::kernel::{Ix, Pull, Warp, preview, warp};
/// let numbers: Vec<i32> = (0..32).collect();
/// let neighbours = preview(32, &numbers, |xs: Pull<i32, Ix>| {
///     xs.split_up(32).map(|part| part.map(|x| warp::shuffle_xor(x, 1)).push::<Warp>()).concat()
/// })?;
/// assert_eq!(neighbours[..4], [1, 0, 3, 2]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Warp {}
/// The threads of a block: they share memory and can wait for each other.
///
/// ```
/// use pumice::kernel::{Block, Ix, Pull, preview};
/// let turned = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
///     xs.split_up(4).map(|part| part.push::<Block>().force().reverse().push::<Block>()).concat()
/// })?;
/// assert_eq!(turned, [4, 3, 2, 1]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Block {}
/// All blocks of a kernel.
///
/// ```
/// use pumice::kernel::{Grid, Ix, Pull, Push, preview};
/// fn reversed(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
///     xs.reverse().push()
/// }
/// assert_eq!(preview(32, &[1, 2, 3], reversed)?, [3, 2, 1]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Grid {}

impl Level for Thread {
    const FIXED: Option<AnyLevel> = Some(AnyLevel::Thread);
}
impl Level for Warp {
    const FIXED: Option<AnyLevel> = Some(AnyLevel::Warp);
}
impl Level for Block {
    const FIXED: Option<AnyLevel> = Some(AnyLevel::Block);
}
impl Level for Grid {
    const FIXED: Option<AnyLevel> = Some(AnyLevel::Grid);
}
impl Level for AnyLevel {
    const FIXED: Option<AnyLevel> = None;
}

/// The level that a type says.
pub(crate) fn fixed<L: Level>() -> AnyLevel {
    L::FIXED.unwrap_or_else(|| {
        with(|builder| {
            builder.mistake("an operation at a level that is data is not told which: `push_at`, `concat_at` and the like are");
        });
        AnyLevel::Thread
    })
}

/// A level at which a loop over an array's elements can be written.
///
/// ```
/// use pumice::kernel::{Grid, Loops, Mutable, define};
/// fn clear<L: Loops>(xs: &Mutable<i32>) {
///     L::for_each(xs.len(), &|i| xs.write(i, 0.into()));
/// }
/// define("clear", 32, |xs: Mutable<i32>| clear::<Grid>(&xs))?;
/// # Ok::<(), pumice::kernel::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "elements cannot be pushed at `{Self}`",
    note = "the levels are `Thread`, `Warp`, `Block` and `Grid`"
)]
pub trait Loops: Level + Sized {
    /// Does `body` for every index below `extent`, as this level does it.
    #[track_caller]
    fn for_each(extent: Ix, body: &dyn Fn(Ix)) {
        at_place(here("for_each"), || Self::each(extent, body));
    }

    /// As [`Loops::for_each`], for operations that have said where the user wrote them.
    #[doc(hidden)]
    fn each(extent: Ix, body: &dyn Fn(Ix)) {
        fixed::<Self>().each(extent, body);
    }
}

/// A level whose programs can be the parts of one at the level `A`.
///
/// ```
/// use pumice::kernel::{Block, Grid, Ix, Loops, Pull, Push, Thread, Within, preview};
/// // Parts of two elements at any level below the grid.
/// fn turned<L: Loops + Within<Grid>>(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
///     xs.split_up(2).map(|two| two.reverse().push::<L>()).concat()
/// }
/// assert_eq!(preview(32, &[1, 2, 3, 4], turned::<Thread>)?, [2, 1, 4, 3]);
/// assert_eq!(preview(32, &[1, 2, 3, 4], turned::<Block>)?, [2, 1, 4, 3]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a `{Self}` is not a part of this level",
    label = "`{Self}`s cannot be put together here",
    note = "threads are parts of a warp, a block or a grid; warps of a block or a grid; blocks of a grid"
)]
pub trait Within<A: Level>: Level + Sized {
    /// Runs one `body` for each index below `extent`, each at this level.
    #[track_caller]
    fn distribute(extent: Ix, body: &dyn Fn(Ix)) {
        at_place(here("distribute"), || Self::parts(extent, body));
    }

    /// As [`Within::distribute`], for operations that have said where the user wrote them.
    #[doc(hidden)]
    fn parts(extent: Ix, body: &dyn Fn(Ix)) {
        fixed::<Self>().parts(fixed::<A>(), extent, body);
    }
}

/// A level with memory of its own to force an array into.
///
/// ```
/// use pumice::kernel::{Block, Forces, Ix, Pull, preview};
/// fn squared<L: Forces>(xs: Pull<i32>) -> Pull<i32> {
///     xs.map(|x| x * x).push::<L>().force()
/// }
/// let squares = preview(32, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
///     xs.split_up(4).map(|part| squared::<Block>(part).push::<Block>()).concat()
/// })?;
/// assert_eq!(squares, [1, 4, 9, 16]);
/// # Ok::<(), pumice::kernel::PreviewError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "an array cannot be forced at `{Self}`",
    label = "force a part of it, at `Block`, `Warp` or `Thread`",
    note = "a thread, a warp and a block have memory of their own; a grid's array is in memory when its kernel is over: cut it \
            up first (`split_up`, `tiles`), or give it back and read it in another kernel"
)]
pub trait Forces: Loops {
    /// Waits until what was written can be read.
    fn sync() {
        fixed::<Self>().sync();
    }
}

impl Loops for Thread {}
impl Loops for Warp {}
impl Loops for Block {}
impl Loops for Grid {}
impl Loops for AnyLevel {}

impl Within<Warp> for Thread {}
impl Within<Block> for Thread {}
impl Within<Grid> for Thread {}
impl Within<Block> for Warp {}
impl Within<Grid> for Warp {}
impl Within<Grid> for Block {}
impl<A: Level> Within<A> for AnyLevel {}

impl Forces for Thread {}
impl Forces for Warp {}
impl Forces for Block {}
impl Forces for AnyLevel {}

impl AnyLevel {
    /// Does `body` for every index below `extent`, as this level does it.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Mutable, define};
    /// define("clear", 32, |xs: Mutable<i32>| AnyLevel::Grid.for_each(xs.len(), &|i| xs.write(i, 0.into())))?;
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    #[track_caller]
    pub fn for_each(self, extent: Ix, body: &dyn Fn(Ix)) {
        at_place(here("for_each"), || self.each(extent, body));
    }

    /// Runs one `body` for each index below `extent`, each at this level, as parts of a program at the level `outer`.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Mutable, define};
    /// define("first", 32, |xs: Mutable<i32>| {
    ///     AnyLevel::Block.distribute(AnyLevel::Grid, xs.len(), &|block| {
    ///         AnyLevel::Block.for_each(1.into(), &|_| xs.write(block, 0.into()));
    ///     });
    /// })?;
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    #[track_caller]
    pub fn distribute(self, outer: AnyLevel, extent: Ix, body: &dyn Fn(Ix)) {
        at_place(here("distribute"), || self.parts(outer, extent, body));
    }

    /// As [`AnyLevel::for_each`], for operations that have said where the user wrote them.
    pub(crate) fn each(self, extent: Ix, body: &dyn Fn(Ix)) {
        match self {
            AnyLevel::Thread => in_sequence(extent, body),
            AnyLevel::Warp => effects::lanes(extent.term(), |index| body(Exp::from_term(index))),
            AnyLevel::Block => effects::parallel(extent.term(), |index| body(Exp::from_term(index))),
            AnyLevel::Grid => in_blocks(extent, effects::block_threads(), &|here, first| {
                effects::parallel(here.term(), |index| body(first + Exp::<i64>::from_term(index)));
            }),
        }
    }

    /// Does `group` for the first of every `items` neighbouring indices below `length`, and `single` for each index that is
    /// left over. A group is done by one thread. At the grid, only the last block may have less than a group for each thread;
    /// its threads take one index at a time.
    pub(crate) fn for_groups(self, length: Ix, items: usize, group: &dyn Fn(Ix), single: &dyn Fn(Ix)) {
        if self == AnyLevel::Grid {
            return groups_in_blocks(length, items, group, single);
        }
        let items = crate::size::whole(items).max(1);
        let groups = length / items;
        self.each(groups, &|number| group(number * items));
        let done = groups * items;
        if (length - done).term().integer() != Some(0) {
            self.each(length - done, &|index| single(done + index));
        }
    }

    /// As [`AnyLevel::distribute`], for operations that have said where the user wrote them.
    pub(crate) fn parts(self, outer: AnyLevel, extent: Ix, body: &dyn Fn(Ix)) {
        match (self, outer) {
            (AnyLevel::Thread, AnyLevel::Warp | AnyLevel::Block | AnyLevel::Grid) => outer.each(extent, body),
            (AnyLevel::Warp, AnyLevel::Block) => {
                effects::warps(extent.term(), |index| body(Exp::from_term(index)));
            }
            (AnyLevel::Warp, AnyLevel::Grid) => in_blocks(extent, effects::block_warps(), &|here, first| {
                effects::warps(here.term(), |index| body(first + Exp::<i64>::from_term(index)));
            }),
            (AnyLevel::Block, AnyLevel::Grid) => {
                effects::distribute(extent.term(), |index| body(Exp::from_term(index)));
            }
            _ => with(|builder| {
                builder.mistake(format!(
                    "a `{self}` is not a part of this level, a `{outer}`: threads are parts of a warp, a block or a grid; \
                     warps of a block or a grid; blocks of a grid"
                ));
            }),
        }
    }

    /// Memory for some elements, and where this level's own part of it starts.
    pub(crate) fn allocate(self, ty: ScalarType, length: u32) -> (MemoryId, Ix) {
        match self {
            AnyLevel::Thread => (effects::allocate_private(ty, length), Exp::from(0)),
            AnyLevel::Warp => {
                let all = effects::cells(length as usize * effects::block_warps() as usize);
                let memory = effects::allocate_shared(ty, all);
                (memory, Exp::<i64>::from_term(effects::own_warp()) * i64::from(length))
            }
            AnyLevel::Block => (effects::allocate_shared(ty, length), Exp::from(0)),
            AnyLevel::Grid => {
                with(|builder| {
                    builder.mistake(
                        "an array cannot be forced at `Grid`: force a part of it, at `Block`, `Warp` or `Thread`. A grid's \
                         array is in memory when its kernel is over: cut it up first (`split_up`, `tiles`), or give it back \
                         and read it in another kernel",
                    );
                });
                (effects::allocate_shared(ty, length), Exp::from(0))
            }
        }
    }

    /// Waits until what was written to this level's memory can be read.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::{AnyLevel, Ix, Loops, Block, Mutable, Pull, Within, define, replicate};
    /// define("turned", 32, |out: Mutable<i32>| {
    ///     Block::distribute(1.into(), &|_| {
    ///         let cells = Mutable::shared(replicate(32, Exp::<i32>::from(0)));
    ///         Block::for_each(32.into(), &|i| cells.write(i, i.cast::<i32>()));
    ///         AnyLevel::Block.sync();
    ///         Block::for_each(32.into(), &|i| out.write(i, cells.read(31 - i)));
    ///     });
    /// })?;
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn sync(self) {
        match self {
            AnyLevel::Thread | AnyLevel::Grid => {}
            AnyLevel::Warp => effects::sync_warp(),
            AnyLevel::Block => effects::sync(),
        }
    }
}

fn whole(value: i64) -> pumice_scalar::Term {
    Exp::<i64>::from(value).term()
}

/// A thread's loop with so few rounds is written out.
const FEW: i64 = 16;

/// Does `body` for every index below `extent`, one after the other.
fn in_sequence(extent: Ix, body: &dyn Fn(Ix)) {
    match extent.term().integer() {
        Some(known) if known <= FEW => (0..known).for_each(|index| body(index.into())),
        _ => {
            effects::sequential(whole(0)..extent.term(), whole(1), &[], |index, _| {
                body(Exp::from_term(index));
                Vec::new()
            });
        }
    }
}

/// Parts of a grid that are `per_block` to a block: gives `within` the number of a block's parts and the first of them.
fn in_blocks(extent: Ix, per_block: u32, within: &dyn Fn(Ix, Ix)) {
    let per = i64::from(per_block);
    effects::distribute(parts_for(extent, per_block as usize).term(), |block| {
        let first = Exp::<i64>::from_term(block) * per;
        within((extent - first).min(per), first);
    });
}

/// [`AnyLevel::for_groups`] of the grid.
fn groups_in_blocks(length: Ix, items: usize, group: &dyn Fn(Ix), single: &dyn Fn(Ix)) {
    let (threads, items) = (effects::block_threads(), effects::cells(items).max(1));
    let full = effects::cells(threads as usize * items as usize);
    in_blocks(length, full, &|here, first| {
        let groups = || {
            effects::parallel(whole(threads.into()), |index| {
                group(first + Exp::<i64>::from_term(index) * i64::from(items));
            });
        };
        let singles = || effects::parallel(here.term(), |index| single(first + Exp::<i64>::from_term(index)));
        effects::either(here.eq(i64::from(full)).term(), groups, singles);
    });
}
