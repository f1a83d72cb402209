//! Whether a run has failed: the device's record of failed checks, read together with the result.

use crate::deadline::Deadline;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::pool::Pooled;
use pumice_program::{FAILURE_BYTES, FailureRecord};
use pumice_scalar::Site;
use std::sync::{Arc, OnceLock};

/// The outcome of a run, which is known once a result is read.
pub struct Status {
    device: Arc<dyn Device>,
    /// The memory in which failures are recorded, if the run can fail.
    record: Option<Arc<Pooled>>,
    sites: Arc<[Site]>,
    /// The deadline of the run, if it has one.
    deadline: Option<Deadline>,
    /// The runs that this one's inputs come from.
    before: Vec<Arc<Status>>,
    depth: usize,
    outcome: OnceLock<Result<()>>,
}

/// Maximum number of runs whose status is not checked; after that the runtime checks it, or the chain would grow for ever.
const MOST_WAITING: usize = 64;

impl Status {
    /// The status of a run that records failures here and takes its inputs from other runs.
    pub fn new(
        device: Arc<dyn Device>,
        record: Option<Arc<Pooled>>,
        sites: Arc<[Site]>,
        before: impl IntoIterator<Item = Arc<Status>>,
    ) -> Arc<Status> {
        Status::with_deadline(device, record, sites, before, None)
    }

    /// The status of a run that may have a deadline.
    pub(crate) fn with_deadline(
        device: Arc<dyn Device>,
        record: Option<Arc<Pooled>>,
        sites: Arc<[Site]>,
        before: impl IntoIterator<Item = Arc<Status>>,
        deadline: Option<Deadline>,
    ) -> Arc<Status> {
        let mut before: Vec<Arc<Status>> = before.into_iter().filter(|status| !status.is_fine()).collect();
        let mut depth = before.iter().map(|status| status.depth + 1).max().unwrap_or(0);
        let outcome = OnceLock::new();
        if depth > MOST_WAITING {
            if let Err(error) = before.iter().try_for_each(|status| status.check()) {
                let _ = outcome.set(Err(error));
            }
            // All that the runs before it had to tell is in the outcome.
            (before, depth) = (Vec::new(), 0);
        }
        Arc::new(Status { device, record, sites, deadline, before, depth, outcome })
    }

    /// Whether it is known already, or certain, that nothing failed.
    fn is_fine(&self) -> bool {
        match self.outcome.get() {
            Some(outcome) => outcome.is_ok(),
            None => self.record.is_none() && self.deadline.is_none() && self.before.is_empty(),
        }
    }

    /// Waits for the run and says whether it, or one before it, failed.
    pub fn check(&self) -> Result<()> {
        if let Some(outcome) = self.outcome.get() {
            return outcome.clone();
        }
        // Not in `get_or_init`, as nothing may be locked while a device works (see `DeviceArray::columns`). A thread that looks
        // at the same time finds the same.
        let outcome = self.find();
        let _ = self.outcome.set(outcome.clone());
        outcome
    }

    fn find(&self) -> Result<()> {
        self.before.iter().try_for_each(|status| status.check())?;
        if let Some(deadline) = &self.deadline {
            deadline.check(&*self.device)?;
        }
        let Some(record) = &self.record else { return Ok(()) };
        let mut bytes = [0u8; FAILURE_BYTES];
        self.device.download(record.memory()?, &mut bytes)?;
        let Some(failure) = FailureRecord::read(&bytes) else { return Ok(()) };
        Err(match failure.message(&self.sites) {
            Some(message) => Error::Failure(message),
            None => {
                Error::Invalid(format!("the device recorded an unknown failure ({})", failure.code).into())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_all_runs_after_it_and_no_chain_of_runs_grows_for_ever() -> Result<()> {
        let device = crate::open("sim")?;
        let pool = crate::pool::Pool::new(device.clone());
        let record = pool.take(FAILURE_BYTES, || {})?;
        device.upload(record.memory()?, &[1; FAILURE_BYTES])?;
        let failed = Status::new(device.clone(), Some(record), [].into(), []);
        let first = Arc::downgrade(&failed);
        let mut last = failed;
        for _ in 0..=2 * MOST_WAITING {
            last = Status::new(device.clone(), None, [].into(), [last]);
        }
        assert!(matches!(last.check(), Err(Error::Invalid(_))));
        assert!(first.upgrade().is_none(), "the first run is still remembered");
        Ok(())
    }
}
