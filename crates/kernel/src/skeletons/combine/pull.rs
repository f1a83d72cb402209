//! A pull array as the producer of elements that are combined: an even loop of every thread over its share.

use super::{CombinePlan, Combiner};
use crate::effects;
use crate::item::{Ix, Scalars};
use crate::level::{Block, Loops, Within};
use crate::{named, quotient, remainder};
use pumice_scalar::{Exp, Term};
use std::rc::Rc;

/// Elements by number: where each goes, if anywhere, and its value.
pub struct CombinePull {
    /// How many elements there are.
    pub length: Ix,
    /// How many blocks share them; 1 at least.
    pub blocks: Ix,
    /// Whether the element with a number goes anywhere (always, where this is `None`), its target, and its value.
    pub at: Rc<dyn Fn(Ix) -> (Option<Exp<bool>>, Ix, Scalars)>,
}

impl CombinePull {
    /// Describes the whole kernel: every block takes every `blocks`-th tile of the elements, for one part of the targets.
    pub fn combine(self, plan: &CombinePlan, combiner: &Combiner) {
        let (threads, items, unroll) =
            (i64::from(plan.threads), i64::from(plan.items), i64::from(plan.unroll));
        let parts = i64::from(plan.parts);
        let size = threads * items * unroll;
        let (length, at) = (self.length, self.at);
        let blocks = self.blocks.max(1);
        let whole_tiles = named(length / size, "whole_tiles");
        Block::parts(blocks * parts, &|block| {
            let (first_tile, part) = match parts {
                1 => (block, Exp::from(0)),
                parts => (block / parts, block % parts),
            };
            let running = combiner.start(part);
            let element = |lane: Ix, (goes, index, value): (Option<Exp<bool>>, Ix, Scalars)| match goes {
                None => running.element(lane, index, &value),
                Some(goes) => {
                    effects::either(goes.term(), || running.element(lane, index, &value), || {});
                }
            };
            // Every thread has as many rounds as its block; there may be none.
            let rounds = quotient(whole_tiles - first_tile + (blocks - 1), blocks).max(0);
            let rounds = named(rounds, "rounds");
            Block::each(Exp::from(threads), &|thread| {
                let (zero, one) = (Exp::<i64>::from(0).term(), Exp::<i64>::from(1).term());
                effects::sequential(zero..rounds.term(), one, &[], |round, _| {
                    let tile = first_tile + Exp::<i64>::from_term(round) * blocks;
                    let start = named(tile * size + thread * items, "from");
                    // All elements are computed before any is combined: no load is moved past an atomic operation.
                    let numbers = (0..unroll)
                        .flat_map(|group| (0..items).map(move |item| group * threads * items + item));
                    let elements: Vec<_> = numbers.map(|number| now(at(start + number))).collect();
                    elements.into_iter().for_each(|each| element(thread, each));
                    Vec::new()
                });
            });
            // The elements behind the last whole tile are the work of one block, which has less than others.
            let done = named(whole_tiles * size, "done");
            let mine = remainder(whole_tiles, blocks).eq(first_tile);
            let left = named(mine.select(length - done, Exp::from(0)), "left");
            Block::each(left, &|number| element(number, at(done + number)));
            running.finish();
        });
    }
}

/// Computes an element here, and once.
fn now((goes, index, Scalars(value)): (Option<Exp<bool>>, Ix, Scalars)) -> (Option<Exp<bool>>, Ix, Scalars) {
    let all: Vec<Term> =
        [index.term()].into_iter().chain(goes.map(|goes| goes.term())).chain(value).collect();
    let mut all = effects::compute(&all).into_iter();
    let index = all.next().map_or(index, Exp::from_term);
    let goes = goes.and_then(|_| all.next()).map(Exp::from_term);
    (goes, index, Scalars(all.collect()))
}
