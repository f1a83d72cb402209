//! Looking at what a description gives without describing anything: how long an array is, what its elements consist of.

use super::{Builder, List, during, framed};
use crate::error::BuildError;
use pumice_program::{Failure, MemoryId};
use std::collections::HashMap;

/// Returns the result of `f` and discards its effects: to look at a result before it is described for good.
pub fn probe<R>(f: impl FnOnce() -> R) -> R {
    during(Builder::snapshot, Builder::restore, || framed(List::Probe, f).0)
}

/// The state that [`probe`] restores: all that a description changes but expressions and variables.
#[derive(Default)]
struct Snapshot {
    memories: usize,
    memory_numbers: HashMap<String, u32>,
    params: usize,
    sites: usize,
    failure: Option<Failure>,
    distributed: bool,
    mistake: Option<BuildError>,
}

impl Builder {
    fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            memories: self.program.memories.len(),
            memory_numbers: self.memory_numbers.clone(),
            params: self.program.params.len(),
            sites: self.sites.len(),
            failure: self.program.failure,
            distributed: self.distributed,
            mistake: self.mistake.clone(),
        }
    }

    fn restore(&mut self, before: Snapshot) {
        // Their numbers are not used again: one that was kept would mean another memory.
        for (number, memory) in self.program.memories.iter_mut().enumerate().skip(before.memories) {
            self.spare.insert(MemoryId(number as u32));
            self.memory_names.remove(&memory.name);
            memory.name = format!("spare {number}");
        }
        self.memory_numbers = before.memory_numbers;
        self.program.params.truncate(before.params);
        self.program.failure = before.failure;
        for site in self.sites.drain(before.sites.min(self.sites.len())..) {
            self.site_numbers.remove(&site);
        }
        self.distributed = before.distributed;
        self.mistake = before.mistake;
    }
}
