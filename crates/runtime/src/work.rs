//! Work for a device, as data: what a plan does, or the rounds of a loop, so that a device can take it as a whole.
//!
//! A device that knows all that comes can prepare it once and start it with one call, and go through a loop without asking the
//! host. It keeps what it prepares in a [`Memo`], which the caller that gives it the work holds.

use crate::device::{CompiledKernel, Device, DeviceMemory, LaunchArgument};
use crate::error::Result;
use crate::profile::{self, Facts};
use pumice_array::{Launch, Plan, Step};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};

/// One piece of work. Pieces happen in order, as far as one needs what another wrote.
pub enum Work<'a> {
    /// The first bytes of memory become zero.
    Zero {
        /// The memory.
        memory: &'a DeviceMemory,
        /// Number of bytes.
        bytes: usize,
    },
    /// The first bytes of one memory are copied to another.
    Copy {
        /// The memory that is read.
        from: &'a DeviceMemory,
        /// The memory that is written.
        to: &'a DeviceMemory,
        /// Number of bytes.
        bytes: usize,
    },
    /// A kernel runs.
    Launch {
        /// The kernel.
        kernel: &'a Arc<CompiledKernel>,
        /// Number of blocks.
        blocks: u64,
        /// Its arguments.
        arguments: Vec<LaunchArgument<'a>>,
        /// The launch of a plan that it is, for profiles.
        of: Option<Launched<'a>>,
    },
    /// A loop runs.
    Rounds(Rounds<'a>),
}

/// A launch of a plan.
#[derive(Clone, Copy)]
pub struct Launched<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The position of the launch among its steps.
    pub step: usize,
}

impl Launched<'_> {
    fn launch(&self) -> Option<&Launch> {
        match self.plan.steps().get(self.step)? {
            Step::Launch(launch) => Some(launch),
            _ => None,
        }
    }

    /// Adds what the plan knows of it.
    fn describe(&self, facts: &mut Facts) {
        if let Some(launch) = self.launch() {
            (facts.bytes_read, facts.bytes_written) = self.plan.traffic(launch);
            let operations: Vec<String> = launch.fused.iter().map(ToString::to_string).collect();
            facts.detail = operations.join(", ");
        }
    }
}

/// The rounds of a loop, whose state is in one place before an even number of them and in another before an odd one.
pub struct Rounds<'a> {
    /// Whether a round is made of the first state.
    pub at_first: Test<'a>,
    /// The round that makes the second state of the first.
    pub there: Vec<Work<'a>>,
    /// Whether a round is made of the second state.
    pub at_second: Test<'a>,
    /// The round that makes the first state of the second.
    pub back: Vec<Work<'a>>,
    /// Brings the second state to the first one's place, if the loop ends there.
    pub settle: Vec<Work<'a>>,
}

/// Whether a loop goes on: its condition says so, and nothing failed.
pub struct Test<'a> {
    /// One truth value.
    pub condition: &'a DeviceMemory,
    /// Records of failures: the first word of each is 0 as long as nothing failed.
    pub failures: [Option<&'a DeviceMemory>; 2],
}

impl Test<'_> {
    /// Waits for the work before it and reads the outcome.
    fn holds(&self, device: &(impl Device + ?Sized)) -> Result<bool> {
        let mut condition = [0u8];
        device.download(self.condition, &mut condition)?;
        if condition == [0] {
            return Ok(false);
        }
        for record in self.failures.iter().flatten() {
            let mut code = [0u8; 8];
            device.download(record, &mut code)?;
            if code != [0; 8] {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// State that a device keeps of work that it may be given again.
#[derive(Default)]
pub struct Memo(Mutex<Option<Box<dyn Any + Send>>>);

impl Memo {
    /// Returns the state, unless another thread is about to do the same work.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Option<Box<dyn Any + Send>>>> {
        self.0.try_lock().ok()
    }
}

/// Does work piece by piece. An error of `go_on`, which is asked before each, ends it.
///
/// # Safety
/// As for [`Device::perform`].
pub unsafe fn in_order(
    device: &(impl Device + ?Sized),
    work: &[Work<'_>],
    go_on: &dyn Fn() -> Result<()>,
) -> Result<()> {
    for piece in work {
        go_on()?;
        match piece {
            Work::Zero { memory, bytes } => {
                let facts = || Facts { bytes_written: *bytes as u64, ..Facts::of("zero") };
                profile::queued(device, || device.zero(memory, *bytes), facts)?;
            }
            Work::Copy { from, to, bytes } => {
                let moved = *bytes as u64;
                let facts = || Facts { bytes_read: moved, bytes_written: moved, ..Facts::of("copy") };
                profile::queued(device, || device.copy(from, to, *bytes), facts)?;
            }
            Work::Launch { kernel, blocks, arguments, of } => {
                let facts = || {
                    let (name, threads) = (kernel.name(), kernel.signature().threads);
                    let mut facts = Facts { blocks: *blocks, threads, ..Facts::of(name) };
                    of.iter().for_each(|launched| launched.describe(&mut facts));
                    facts
                };
                let place = of.as_ref().and_then(Launched::launch).map(|launch| launch.place);
                // SAFETY: as the caller promises.
                let launch = || unsafe { device.launch(kernel, *blocks, arguments) };
                profile::at(place, || profile::queued(device, launch, facts))?;
            }
            Work::Rounds(Rounds { at_first, there, at_second, back, settle }) => {
                while at_first.holds(device)? {
                    // SAFETY: as the caller promises.
                    unsafe { in_order(device, there, go_on)? };
                    let goes_on = at_second.holds(device)?;
                    let next = if goes_on { back } else { settle };
                    // SAFETY: as the caller promises.
                    unsafe { in_order(device, next, go_on)? };
                    if !goes_on {
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}
