//! Profiles of runs: the time of each kernel and transfer, and its share of the device's measured limits (`ceilings.rs`).
//!
//! Reports are made of the slices that `pumice_runtime::profile` collects. Ordinary runs execute nothing of this module.

mod ceilings;

pub use ceilings::Ceilings;

use pumice_array::{Explanation, Measured, Resources};
use pumice_runtime::profile::{Activity, Slice};
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// Profile of a run; see [`Compiled::profile`](crate::Compiled::profile).
#[derive(Clone)]
#[non_exhaustive]
pub struct RunReport {
    /// The launches and their reasons. Kernels have their times ([`ExplainedKernel::measured`](crate::ExplainedKernel::measured)).
    pub explanation: Explanation,
    /// The time of a run with kernels compiled and inputs on the device, until all results are on the host.
    pub took: Duration,
    /// The time that planning took, before the first run.
    pub planning: Duration,
    /// The time that compilers took before the first run, on all threads together, or loading kernels from disk.
    pub compilation: Duration,
    /// Arrays that the first run brought to the device.
    pub uploads: Transfers,
    /// Arrays that a run brings to the host.
    pub downloads: Transfers,
    /// Everything that the device did in a run, in its order.
    pub queue: Vec<QueueTime>,
    /// Measured limits of the device; `None` on the simulator, whose time means nothing.
    pub ceilings: Option<Ceilings>,
}

/// Transfers between host and device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// Number of transfers.
    pub count: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Their time. A device's work that has to be done before is part of it.
    pub took: Duration,
}

/// Time of a kernel, or of a copy or clearing of memory, on a device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueueTime {
    /// The kernel's name.
    pub name: String,
    /// Place of the operation that the kernel is for.
    pub place: String,
    /// Total time of all launches.
    pub took: Duration,
    /// Number of launches.
    pub launches: u64,
    /// Bytes of the arrays that it reads and writes, in all launches.
    pub bytes: u64,
}

impl RunReport {
    /// Builds the report of a program from the slices of two runs: the first one prepares, the second one is timed.
    pub(crate) fn new(
        explanation: Explanation,
        took: Duration,
        first: &[Slice],
        again: &[Slice],
        ceilings: Option<Ceilings>,
    ) -> RunReport {
        let time = |wanted: Activity| {
            let slices = first.iter().filter(|slice| slice.activity == wanted);
            slices.map(|slice| slice.duration).sum()
        };
        let (planning, compilation) = (time(Activity::Planning), time(Activity::Compilation));
        let is_upload = |slice: &&Slice| matches!(slice.activity, Activity::Upload(_));
        let is_download = |slice: &&Slice| matches!(slice.activity, Activity::Download(_));
        let uploads = Transfers::of(first.iter().filter(is_upload));
        let downloads = Transfers::of(again.iter().filter(is_download));
        let queue = in_queue(again);
        let mut report =
            RunReport { explanation, took, planning, compilation, uploads, downloads, queue, ceilings };
        let copied = ceilings.map(|ceilings| ceilings.copy_bytes_per_second);
        for kernel in report.explanation.kernels_mut() {
            let mine = |time: &&QueueTime| time.name == kernel.name && time.place == kernel.place;
            kernel.measured = report.queue.iter().find(mine).map(|time| time.measured(copied));
        }
        report
    }

    /// Adds the resources that a device reports for a compiled kernel.
    pub(crate) fn add_resources(&mut self, name: &str, place: &str, resources: Resources) {
        for kernel in self.explanation.kernels_mut() {
            if kernel.name == name && kernel.place == place {
                kernel.resources = Some(resources);
            }
        }
    }
}

/// Adds up the work in a device's queue by kernel and operation, in the order of their first launches.
fn in_queue(slices: &[Slice]) -> Vec<QueueTime> {
    let (mut times, mut known): (Vec<QueueTime>, HashMap<(&str, &str), usize>) = Default::default();
    for slice in slices.iter().filter(|slice| matches!(slice.activity, Activity::Queue(_))) {
        let (name, place) = (slice.facts.name.as_str(), slice.facts.place.as_str());
        let position = *known.entry((name, place)).or_insert_with(|| {
            let (name, place) = (name.to_string(), place.to_string());
            times.push(QueueTime { name, place, took: Duration::ZERO, launches: 0, bytes: 0 });
            times.len() - 1
        });
        if let Some(time) = times.get_mut(position) {
            time.took += slice.duration;
            time.launches += 1;
            time.bytes += slice.facts.bytes_read + slice.facts.bytes_written;
        }
    }
    times
}

impl Transfers {
    fn of<'a>(slices: impl Iterator<Item = &'a Slice>) -> Transfers {
        slices.fold(Transfers::default(), |all, slice| Transfers {
            count: all.count + 1,
            bytes: all.bytes + slice.facts.bytes_read,
            took: all.took + slice.duration,
        })
    }
}

impl QueueTime {
    /// Returns launches, time and bandwidth, and the share of a device that copies `copied` bytes per second.
    fn measured(&self, copied: Option<f64>) -> Measured {
        let rate = per_second(self.bytes, self.took);
        Measured {
            launches: self.launches,
            milliseconds: self.took.as_secs_f64() * 1e3,
            gigabytes_per_second: rate / 1e9,
            share: copied.map(|copied| rate / copied),
        }
    }
}

/// Bytes per second; 0 where no time is known.
fn per_second(bytes: u64, took: Duration) -> f64 {
    if took.is_zero() { 0.0 } else { bytes as f64 / took.as_secs_f64() }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explanation.summary())?;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        writeln!(f, "\na run took {:.3} ms", milliseconds(self.took))?;
        let on_device: Duration = self.queue.iter().map(|time| time.took).sum();
        let launches: u64 = self.queue.iter().map(|time| time.launches).sum();
        writeln!(f, "  on the device {:.3} ms, {launches} pieces of work", milliseconds(on_device))?;
        for (what, transfers) in [("uploads before", self.uploads), ("downloads", self.downloads)] {
            let rate = per_second(transfers.bytes, transfers.took) / 1e9;
            let (count, time) = (transfers.count, milliseconds(transfers.took));
            writeln!(f, "  {what}: {count}, {} bytes in {time:.3} ms, {rate:.1} GB/s", transfers.bytes)?;
        }
        let (planning, compilation) = (milliseconds(self.planning), milliseconds(self.compilation));
        writeln!(f, "  before the first run: planned in {planning:.3} ms, compiled in {compilation:.3} ms")?;
        match &self.ceilings {
            Some(ceilings) => writeln!(f, "  the device: {ceilings}"),
            None => writeln!(f, "  the device is a simulation, whose time means nothing"),
        }
    }
}
