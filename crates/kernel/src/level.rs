//! The levels of the machine, as types: what may nest in what, and what a loop, memory and a barrier are at each.
//!
//! A function that is generic in its level (`L: Loops`, `L: Forces`, `L: Within<A>`) runs at every level that can do
//! what it needs; rustc refuses the others.

use crate::effects;
use crate::item::Ix;
use crate::place::at_place;
use crate::size::parts_for;
use pumice_program::MemoryId;
use pumice_scalar::{Exp, Place, ScalarType};

/// A level of the machine at which a program can run.
pub trait Level: crate::item::sealed::Level + 'static {
    /// Its name.
    const NAME: &'static str;
}

/// One thread: loops are sequential.
#[derive(Clone, Copy, Debug)]
pub enum Thread {}
/// The 32 lanes of a warp: they advance together and can exchange values.
#[derive(Clone, Copy, Debug)]
pub enum Warp {}
/// The threads of a block: they share memory and can wait for each other.
#[derive(Clone, Copy, Debug)]
pub enum Block {}
/// All blocks of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Grid {}

impl Level for Thread {
    const NAME: &'static str = "thread";
}
impl Level for Warp {
    const NAME: &'static str = "warp";
}
impl Level for Block {
    const NAME: &'static str = "block";
}
impl Level for Grid {
    const NAME: &'static str = "grid";
}

/// A level at which a loop over an array's elements can be written.
#[diagnostic::on_unimplemented(
    message = "elements cannot be pushed at `{Self}`",
    note = "the levels are `Thread`, `Warp`, `Block` and `Grid`"
)]
pub trait Loops: Level {
    /// Does `body` for every index below `extent`, as this level does it.
    #[track_caller]
    fn for_each(extent: Ix, body: &dyn Fn(Ix)) {
        at_place(Place::caller("for_each"), || Self::each(extent, body));
    }

    /// As [`Loops::for_each`], for operations that have said where the user wrote them.
    #[doc(hidden)]
    fn each(extent: Ix, body: &dyn Fn(Ix));

    /// Does `group` for the first of every `items` neighbouring indices below `length`, and `single` for each index that
    /// is left over. A group is done by one thread.
    fn for_groups(length: Ix, items: usize, group: &dyn Fn(Ix), single: &dyn Fn(Ix)) {
        let items = crate::size::whole(items).max(1);
        let groups = length / items;
        Self::each(groups, &|number| group(number * items));
        let done = groups * items;
        if (length - done).term().integer() != Some(0) {
            Self::each(length - done, &|index| single(done + index));
        }
    }
}

/// A level whose programs can be the parts of one at the level `A`.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` is not a part of this level",
    label = "`{Self}`s cannot be put together here",
    note = "threads are parts of a warp, a block or a grid; warps of a block or a grid; blocks of a grid"
)]
pub trait Within<A: Level>: Level {
    /// Runs one `body` for each index below `extent`, each at this level.
    #[track_caller]
    fn distribute(extent: Ix, body: &dyn Fn(Ix)) {
        at_place(Place::caller("distribute"), || Self::parts(extent, body));
    }

    /// As [`Within::distribute`], for operations that have said where the user wrote them.
    #[doc(hidden)]
    fn parts(extent: Ix, body: &dyn Fn(Ix));
}

/// A level with memory of its own to force an array into.
#[diagnostic::on_unimplemented(
    message = "an array cannot be forced at `{Self}`",
    label = "force a part of it, at `Block`, `Warp` or `Thread`",
    note = "a thread, a warp and a block have memory of their own; a grid's array is in memory when its kernel is over: cut it \
            up first (`split_up`, `tiles`), or give it back and read it in another kernel"
)]
pub trait Forces: Loops {
    /// Memory for some elements, and where this level's own part of it starts.
    fn allocate(ty: ScalarType, length: u32) -> (MemoryId, Ix);
    /// Waits until what was written can be read.
    fn sync();
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

impl Loops for Thread {
    fn each(extent: Ix, body: &dyn Fn(Ix)) {
        in_sequence(extent, body);
    }
}

impl Loops for Warp {
    fn each(extent: Ix, body: &dyn Fn(Ix)) {
        effects::lanes(extent.term(), |index| body(Exp::from_term(index)));
    }
}

impl Loops for Block {
    fn each(extent: Ix, body: &dyn Fn(Ix)) {
        effects::parallel(extent.term(), |index| body(Exp::from_term(index)));
    }
}

impl Loops for Grid {
    fn each(extent: Ix, body: &dyn Fn(Ix)) {
        in_blocks(extent, effects::block_threads(), &|here, first| {
            effects::parallel(here.term(), |index| body(first + Exp::<i64>::from_term(index)));
        });
    }

    /// Only the last block may have less than a group for each thread; its threads take one index at a time.
    fn for_groups(length: Ix, items: usize, group: &dyn Fn(Ix), single: &dyn Fn(Ix)) {
        let (threads, items) = (effects::block_threads(), effects::cells(items).max(1));
        let full = effects::cells(threads as usize * items as usize);
        in_blocks(length, full, &|here, first| {
            let groups = || {
                effects::parallel(whole(threads.into()), |index| {
                    group(first + Exp::<i64>::from_term(index) * i64::from(items));
                });
            };
            let singles =
                || effects::parallel(here.term(), |index| single(first + Exp::<i64>::from_term(index)));
            effects::either(here.eq(i64::from(full)).term(), groups, singles);
        });
    }
}

impl Within<Warp> for Thread {
    fn parts(extent: Ix, body: &dyn Fn(Ix)) {
        Warp::each(extent, body);
    }
}

impl Within<Block> for Thread {
    fn parts(extent: Ix, body: &dyn Fn(Ix)) {
        Block::each(extent, body);
    }
}

impl Within<Grid> for Thread {
    fn parts(extent: Ix, body: &dyn Fn(Ix)) {
        Grid::each(extent, body);
    }
}

impl Within<Block> for Warp {
    fn parts(extent: Ix, body: &dyn Fn(Ix)) {
        effects::warps(extent.term(), |index| body(Exp::from_term(index)));
    }
}

impl Within<Grid> for Warp {
    fn parts(extent: Ix, body: &dyn Fn(Ix)) {
        in_blocks(extent, effects::block_warps(), &|here, first| {
            effects::warps(here.term(), |index| body(first + Exp::<i64>::from_term(index)));
        });
    }
}

impl Within<Grid> for Block {
    fn parts(extent: Ix, body: &dyn Fn(Ix)) {
        effects::distribute(extent.term(), |index| body(Exp::from_term(index)));
    }
}

impl Forces for Thread {
    fn allocate(ty: ScalarType, length: u32) -> (MemoryId, Ix) {
        (effects::allocate_private(ty, length), Exp::from(0))
    }
    fn sync() {}
}

impl Forces for Warp {
    fn allocate(ty: ScalarType, length: u32) -> (MemoryId, Ix) {
        let all = effects::cells(length as usize * effects::block_warps() as usize);
        let memory = effects::allocate_shared(ty, all);
        (memory, Exp::<i64>::from_term(effects::own_warp()) * i64::from(length))
    }
    fn sync() {
        effects::sync_warp();
    }
}

impl Forces for Block {
    fn allocate(ty: ScalarType, length: u32) -> (MemoryId, Ix) {
        (effects::allocate_shared(ty, length), Exp::from(0))
    }
    fn sync() {
        effects::sync();
    }
}
