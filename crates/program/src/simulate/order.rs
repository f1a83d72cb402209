//! The happens-before order of threads and blocks, for [`super::races`]: sets of accesses, sets of blocks, and their
//! propagation by barriers within a block.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::WARP;

/// Knowledge to which more can be added.
pub(super) trait Join: Default {
    /// Adds the other's knowledge.
    fn join(&mut self, other: Self);
}

/// Knowledge of the threads of a block, each for itself; barriers make it known to others.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread<T> {
    block: T,
    warps: BTreeMap<u32, T>,
    threads: BTreeMap<u32, T>,
}

impl<T: Join> Spread<T> {
    /// Returns what a thread has learnt since the last barrier.
    pub fn own(&mut self, thread: u32) -> &mut T {
        self.threads.entry(thread).or_default()
    }

    /// Returns all that a thread knows.
    pub fn of(&mut self, thread: u32) -> impl Iterator<Item = &mut T> {
        let (warp, own) = (self.warps.get_mut(&(thread / WARP)), self.threads.get_mut(&thread));
        [Some(&mut self.block), warp, own].into_iter().flatten()
    }

    /// Whether a predicate holds of anything that a thread knows.
    pub fn any(&self, thread: u32, holds: impl Fn(&T) -> bool) -> bool {
        let (warp, own) = (self.warps.get(&(thread / WARP)), self.threads.get(&thread));
        [Some(&self.block), warp, own].into_iter().flatten().any(holds)
    }

    /// Passes on all knowledge to the whole block, at its barrier.
    pub fn sync_block(&mut self) {
        let (warps, threads) = (std::mem::take(&mut self.warps), std::mem::take(&mut self.threads));
        warps.into_values().chain(threads.into_values()).for_each(|known| self.block.join(known));
    }

    /// Passes on the knowledge of a warp's threads to the whole warp, at its barrier.
    pub fn sync_warp(&mut self, warp: u32) {
        if self.threads.is_empty() {
            return;
        }
        for thread in warp * WARP..(warp + 1) * WARP {
            if let Some(known) = self.threads.remove(&thread) {
                self.warps.entry(warp).or_default().join(known);
            }
        }
    }
}

impl Join for bool {
    fn join(&mut self, other: bool) {
        *self |= other;
    }
}

/// Current time of a thread, with its last barriers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub thread: u32,
    pub now: u32,
    /// Time of its warp's last barrier.
    pub barrier: u32,
    /// Time of the block's last barrier.
    pub phase: u32,
}

/// A set of a block's accesses.
#[derive(Clone, Debug, Default)]
pub(super) struct Deeds {
    /// All accesses before this time.
    all: u32,
    /// By warp: accesses of its lanes before this time.
    warps: BTreeMap<u32, u32>,
    /// By thread: its accesses up to this time.
    threads: BTreeMap<u32, u32>,
}

impl Deeds {
    /// Adds the accesses of a thread so far, and those that barriers order before them.
    pub fn add(&mut self, moment: Moment) {
        let Moment { thread, now, barrier, phase } = moment;
        self.add_all(phase);
        self.add_warp(thread / WARP, barrier);
        self.add_thread(thread, now);
    }

    fn add_all(&mut self, before: u32) {
        if before > self.all {
            self.all = before;
            self.warps.retain(|_, time| *time > before);
            self.threads.retain(|_, time| *time >= before);
        }
    }

    fn add_warp(&mut self, warp: u32, before: u32) {
        if before > self.all {
            let time = self.warps.entry(warp).or_default();
            *time = before.max(*time);
        }
    }

    fn add_thread(&mut self, thread: u32, until: u32) {
        if until >= self.all {
            let time = self.threads.entry(thread).or_default();
            *time = until.max(*time);
        }
    }

    /// Whether an access at a time by a thread of a warp (or by all of them, or by those of several warps) is in the set.
    pub fn contains(&self, time: u32, warp: Option<u32>, thread: Option<u32>) -> bool {
        let of_warp = || warp.and_then(|warp| self.warps.get(&warp)).is_some_and(|&before| time < before);
        let own = || thread.and_then(|thread| self.threads.get(&thread)).is_some_and(|&until| time <= until);
        time < self.all || own() || of_warp()
    }
}

impl Join for Deeds {
    fn join(&mut self, other: Deeds) {
        self.add_all(other.all);
        other.warps.into_iter().for_each(|(warp, before)| self.add_warp(warp, before));
        other.threads.into_iter().for_each(|(thread, until)| self.add_thread(thread, until));
    }
}

/// A set of blocks: those below some number, and some others.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    below: u32,
    others: BTreeSet<u32>,
}

impl Blocks {
    pub fn contains(&self, block: u32) -> bool {
        block < self.below || self.others.contains(&block)
    }

    pub fn insert(&mut self, block: u32) {
        if block >= self.below {
            self.others.insert(block);
        }
        while self.others.remove(&self.below) {
            self.below += 1;
        }
    }

    pub fn extend(&mut self, other: &Blocks) {
        if other.below > self.below {
            self.below = other.below;
            self.others = self.others.split_off(&other.below);
        }
        other.others.iter().for_each(|&block| self.insert(block));
        while self.others.remove(&self.below) {
            self.below += 1;
        }
    }
}

impl Join for Blocks {
    fn join(&mut self, other: Blocks) {
        self.extend(&other);
    }
}
