//! Writing several pull arrays to places of one array in a single kernel: blocks are divided among the parts, and a block
//! asks once which part it belongs to. Nothing is asked for each element.

use super::WritePlan;
use crate::item::{Ix, Storable};
use crate::level::Within;
use crate::{Block, Grid, Pull, Push, either, named, parts_for};
use pumice_scalar::Exp;
use std::rc::Rc;

/// One of the arrays that are written together.
pub struct JoinPart<T: Storable> {
    /// Its elements.
    pub elements: Pull<T, Ix>,
    /// Gives the index in the whole of an index in this part.
    pub place: Rc<dyn Fn(Ix) -> Ix>,
}

/// Writes all parts to their places in an array of this length, each block a tile of one of them.
///
/// # Safety
/// For each index of a part, its `place` gives one below `length`, and no two indices of all parts have the same. Where the parts
/// are not the whole, other kernels write the rest.
pub unsafe fn join<T: Storable>(parts: Vec<JoinPart<T>>, length: Ix, plan: WritePlan) -> Push<Grid, T, Ix> {
    Push::trusted(length, move |write| {
        // By part, the block behind its last one.
        let ends = parts.iter().scan(Exp::from(0), |end, part| {
            *end += parts_for(part.elements.len(), plan.tile());
            Some(*end)
        });
        let ends: Vec<Ix> = ends.collect();
        let blocks = ends.last().copied().unwrap_or(Exp::from(0));
        <Block as Within<Grid>>::parts(blocks, &|block| {
            write_block(&parts, &ends, Exp::from(0), block, plan, write)
        });
    })
}

/// Writes the tile of a block that belongs to one of these parts, of which the first begins with the block `first`.
fn write_block<T: Storable>(
    parts: &[JoinPart<T>],
    ends: &[Ix],
    first: Ix,
    block: Ix,
    plan: WritePlan,
    write: &dyn Fn(Ix, T::Form),
) {
    let ([part, parts @ ..], [end, ends @ ..]) = (parts, ends) else { return };
    let tile = || {
        let number = named(block - first, "tile");
        let start = number * plan.tile() as i64;
        let tile = part.elements.clone().tiles(plan.tile()).get(number);
        let push = tile.push_items(plan.threads as usize, plan.items as usize);
        push.write(&|i, value| write((part.place)(start + i), value));
    };
    match parts {
        [] => tile(),
        _ => either(block.lt(*end).term(), tile, || write_block(parts, ends, *end, block, plan, write)),
    }
}
