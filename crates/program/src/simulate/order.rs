//! What threads and blocks know of each other, for [`super::races`]: sets of things done, sets of blocks, and how barriers
//! pass something on within a block.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::WARP;

/// Something of which more can be known.
pub(super) trait Join: Default {
    /// Both.
    fn join(&mut self, other: Self);
}

/// What threads of a block know, each for itself; barriers make it known to others.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread<T> {
    block: T,
    warps: BTreeMap<u32, T>,
    threads: BTreeMap<u32, T>,
}

impl<T: Join> Spread<T> {
    /// What a thread has learnt since the last barrier.
    pub fn own(&mut self, thread: u32) -> &mut T {
        self.threads.entry(thread).or_default()
    }

    /// All that a thread knows.
    pub fn of(&mut self, thread: u32) -> impl Iterator<Item = &mut T> {
        let (warp, own) = (self.warps.get_mut(&(thread / WARP)), self.threads.get_mut(&thread));
        [Some(&mut self.block), warp, own].into_iter().flatten()
    }

    /// Whether something holds of anything that a thread knows.
    pub fn any(&self, thread: u32, holds: impl Fn(&T) -> bool) -> bool {
        let (warp, own) = (self.warps.get(&(thread / WARP)), self.threads.get(&thread));
        [Some(&self.block), warp, own].into_iter().flatten().any(holds)
    }

    /// A barrier of the block.
    pub fn sync_block(&mut self) {
        let (warps, threads) = (std::mem::take(&mut self.warps), std::mem::take(&mut self.threads));
        warps.into_values().chain(threads.into_values()).for_each(|known| self.block.join(known));
    }

    /// A barrier of a warp.
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

/// Where a thread is in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub thread: u32,
    pub now: u32,
    /// When its warp's last barrier was.
    pub barrier: u32,
    /// When the block's was.
    pub phase: u32,
}

/// Things that a block did.
#[derive(Clone, Debug, Default)]
pub(super) struct Deeds {
    /// All before this time.
    all: u32,
    /// By warp: what its lanes did before.
    warps: BTreeMap<u32, u32>,
    /// By thread: what it did until then.
    threads: BTreeMap<u32, u32>,
}

impl Deeds {
    /// What a thread did and what barriers put before that.
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

    /// Whether what a thread of a warp (or all of them, or those of several) did at a time is among them.
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
