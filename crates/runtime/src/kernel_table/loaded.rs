//! The kernels that a process has loaded, and which of them go when there are too many.
//!
//! A loaded kernel takes address space and mappings, of which a process has only so many. Kernels that are held elsewhere stay,
//! because removing them here would free nothing and could load them twice; of the others the most recently used ones stay.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::lock;
use crate::device::CompiledKernel;
use crate::identity::DeviceId;

/// The place of one kernel. The thread that builds it holds the lock, and others that want it wait for that.
pub(super) type Slot = Mutex<Option<Arc<CompiledKernel>>>;

/// The places by the devices' identities and the kernels' keys: devices of one model share binaries, and load them for
/// themselves.
#[derive(Default)]
pub(super) struct Loaded {
    slots: HashMap<(u64, String), Used>,
    /// Goes up with every use.
    clock: u64,
}

struct Used {
    slot: Arc<Slot>,
    last: u64,
}

impl Loaded {
    /// Returns the place of a kernel, which counts as a use.
    pub(super) fn slot(&mut self, device: DeviceId, key: &str) -> Arc<Slot> {
        let key = (device.opening(), key.to_owned());
        self.clock += 1;
        let clock = self.clock;
        if let Some(used) = self.slots.get_mut(&key) {
            used.last = clock;
            return used.slot.clone();
        }
        let slot = Arc::<Slot>::default();
        self.slots.insert(key, Used { slot: slot.clone(), last: clock });
        slot
    }

    /// Returns the number of kernels, with those that are being built.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Takes out kernels that nothing else holds, the least recently used ones first, until no more than `most` are left, and all
    /// places whose kernel could not be built. The caller drops them when nothing is locked: unloading takes its time.
    #[must_use]
    pub(super) fn evict(&mut self, most: usize) -> Vec<Arc<Slot>> {
        let mut unheld = Vec::new();
        for (key, used) in &self.slots {
            // Places are given out by `slot` alone, so one that only we hold stays ours for the time of this call.
            if Arc::strong_count(&used.slot) > 1 {
                continue;
            }
            match &*lock(&used.slot) {
                None => unheld.push((0, key.clone())),
                Some(kernel) if Arc::strong_count(kernel) == 1 => unheld.push((used.last, key.clone())),
                Some(_) => {}
            }
        }
        unheld.sort_unstable();
        let surplus = self.slots.len().saturating_sub(most);
        let unneeded = |(place, (last, _)): &(usize, (u64, (u64, String)))| *place < surplus || *last == 0;
        let evicted = unheld.into_iter().enumerate().take_while(unneeded);
        evicted.filter_map(|(_, (_, key))| self.slots.remove(&key)).map(|used| used.slot).collect()
    }
}
