//! Deadlines of runs: the stop record of a run, which its launches share, and what devices do with it.
//!
//! The record says whether to stop, how long the run may take, and, from its first launch on, when that is over by the
//! clock of the side that watches: the device's own where it has one, else the host's. A launch that finds the run stopped does
//! nothing. Results of a stopped run are errors, like those of one that failed.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pumice_program::STOP_WORDS;

use crate::device::{Device, DeviceMemory};
use crate::error::{Error, Result};
use crate::pool::Pooled;

/// Bytes of a stop record.
pub(crate) const STOP_BYTES: usize = 8 * STOP_WORDS;

/// A run's deadline.
#[derive(Clone)]
pub(crate) struct Deadline {
    /// The stop record.
    pub(crate) record: Arc<Pooled>,
    /// Time limit of the run.
    pub(crate) limit: Duration,
    /// Description of the run: operations with their places, or a kernel's name.
    pub(crate) place: Arc<str>,
}

impl Deadline {
    /// Writes the record for a run that is about to begin.
    pub(crate) fn arm(&self, device: &dyn Device) -> Result<()> {
        // Far enough from the end of the numbers that a clock's can be added.
        let limit = i64::try_from(self.limit.as_nanos()).unwrap_or(i64::MAX).min(i64::MAX / 2);
        write(device, self.record.memory()?, [0, limit, 0])
    }

    /// Waits for the run and says whether it was stopped.
    pub(crate) fn check(&self, device: &dyn Device) -> Result<()> {
        match read(device, self.record.memory()?)? {
            [0, ..] => Ok(()),
            _ => Err(Error::Deadline { limit: self.limit, place: (*self.place).into() }),
        }
    }
}

/// Begins a launch that the host watches: returns how much time is left to it, or nothing if the run is stopped.
pub(crate) fn begin(device: &dyn Device, record: &DeviceMemory) -> Result<Option<Duration>> {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    // This waits for the work before, whose time does not count.
    let [stopped, limit, known] = read(device, record)?;
    let elapsed = EPOCH.get_or_init(Instant::now).elapsed().as_nanos();
    // Never 0, which says that the run has not begun.
    let now = i64::try_from(elapsed).unwrap_or(i64::MAX / 2).saturating_add(1);
    let end = if known == 0 { now.saturating_add(limit) } else { known };
    if stopped != 0 || now >= end {
        return stop(device, record).map(|()| None);
    }
    if known == 0 {
        write(device, record, [0, limit, end])?;
    }
    Ok(u64::try_from(end - now).ok().map(Duration::from_nanos))
}

/// Says in a record that the run is stopped.
pub(crate) fn stop(device: &dyn Device, record: &DeviceMemory) -> Result<()> {
    device.upload(record, &1i64.to_le_bytes())
}

fn read(device: &dyn Device, record: &DeviceMemory) -> Result<[i64; STOP_WORDS]> {
    let mut bytes = [0u8; STOP_BYTES];
    device.download(record, &mut bytes)?;

    let mut words = [0; STOP_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = i64::from_le_bytes(*bytes);
    }
    Ok(words)
}

fn write(device: &dyn Device, record: &DeviceMemory, words: [i64; STOP_WORDS]) -> Result<()> {
    device.upload(record, words.map(i64::to_le_bytes).as_flattened())
}
