//! Profiles: what the host and the devices do, as slices of time with the user's operations and lines.
//!
//! Slices are recorded while they have a consumer: `PUMICE_PROFILE` names a file (`trace.rs`), a thread collects those of a run
//! ([`collect`]), or a subscriber of `tracing` listens. Otherwise recording costs one load of a number. A device's own slices are between
//! two marks in its queue ([`Stamp`]), whose times are known later; they are told when the host has waited for the device anyway.
//! Nothing here may change what is computed, and nothing that goes wrong here is an error of a run.

mod stamp;
mod trace;

pub use stamp::Stamp;

use crate::device::Device;
use crate::error::Result;
use crate::identity::DeviceName;
use pumice_scalar::Place;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Activity of a slice; slices of one activity and thread are a row of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// A run, from the call to the last launch.
    Run,
    /// A plan is made.
    Planning,
    /// Kernels are compiled, or loaded from disk.
    Compilation,
    /// Elements are brought to a device.
    Upload(DeviceName),
    /// Elements are brought to the host.
    Download(DeviceName),
    /// A device works on what is in its queue.
    Queue(DeviceName),
}

impl Activity {
    /// A word for the kind of activity.
    pub fn name(&self) -> &'static str {
        match self {
            Activity::Run => "run",
            Activity::Planning => "planning",
            Activity::Compilation => "compilation",
            Activity::Upload(_) => "upload",
            Activity::Download(_) => "download",
            Activity::Queue(_) => "queue",
        }
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Activity::Run => f.write_str("host"),
            Activity::Planning | Activity::Compilation => f.write_str(self.name()),
            Activity::Upload(device) => write!(f, "uploads to {device}"),
            Activity::Download(device) => write!(f, "downloads from {device}"),
            Activity::Queue(device) => write!(f, "queue of {device}"),
        }
    }
}

/// Facts about a slice besides its time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The name: of a kernel, or of what is done.
    pub name: String,
    /// The user's operation and line; empty where there is none.
    pub place: String,
    /// Bytes that are read, or transferred.
    pub bytes_read: u64,
    /// Bytes that are written by a kernel.
    pub bytes_written: u64,
    /// Blocks of a launch.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// More, for people.
    pub detail: String,
}

impl Facts {
    /// Facts about something of this name, which is done for the operation that this thread works for.
    pub(crate) fn of(name: &str) -> Facts {
        Facts { name: name.into(), place: place(), ..Facts::default() }
    }
}

/// Something that took time.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The activity.
    pub activity: Activity,
    /// The thread that did it, or that put it into a queue of a device that works within its calls.
    pub thread: Option<ThreadId>,
    /// Start.
    pub start: Instant,
    /// Duration.
    pub duration: Duration,
    /// Facts about it besides its time.
    pub facts: Facts,
}

/// Slices of a run.
type Collector = Arc<Mutex<Vec<Slice>>>;

/// Number of consumers of slices: the trace, and threads that collect.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Slices of queues whose times are not known yet.
static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());

/// More pending slices than these are waited for: each holds two marks of a driver.
const MOST_PENDING: usize = 4096;

thread_local! {
    static COLLECTING: RefCell<Option<Collector>> = const { RefCell::new(None) };
    static PLACE: Cell<Option<Place>> = const { Cell::new(None) };
}

struct Pending {
    activity: Activity,
    start: Stamp,
    end: Stamp,
    facts: Facts,
    collector: Option<Collector>,
}

/// Begins a trace if `PUMICE_PROFILE` asks for one. Called whenever a device is put to work.
pub(crate) fn begin() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Some(path) = std::env::var_os("PUMICE_PROFILE").filter(|path| !path.is_empty())
            && trace::open(path.into())
        {
            WANTED.fetch_add(1, Ordering::Relaxed);
        }
    });
}

/// Whether slices of queues have a consumer.
pub(crate) fn is_on() -> bool {
    WANTED.load(Ordering::Relaxed) != 0
}

/// Collects the slices of what this thread does meanwhile, and of what devices do for it.
///
/// ```
/// use pumice::layers::runtime::profile::{Activity, collect};
/// use pumice::{Compiler, prelude::*};
/// let compiler = Compiler::on("sim")?;
/// let (sum, slices) = collect(|| compiler.run(generate(10, |i| i).sum())?.to_value().map_err(pumice::Error::from));
/// assert_eq!(sum?, 45);
/// assert!(slices.iter().any(|slice| matches!(slice.activity, Activity::Queue(_)) && slice.facts.name == "sum"));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn collect<R>(work: impl FnOnce() -> R) -> (R, Vec<Slice>) {
    /// Ends collecting also if the work panics.
    struct Ends(Option<Collector>);
    impl Drop for Ends {
        fn drop(&mut self) {
            COLLECTING.set(self.0.take());
            WANTED.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let collector = Collector::default();
    WANTED.fetch_add(1, Ordering::Relaxed);
    let ends = Ends(COLLECTING.replace(Some(collector.clone())));
    let result = work();
    settle();
    drop(ends);
    let slices = std::mem::take(&mut *lock(&collector));
    (result, slices)
}

/// Does something for an operation of the user's: slices of it name the operation, and so does an error that knows of none. Without a
/// place, it is done for the operation around it.
///
/// ```
/// use pumice::layers::runtime::{Engine, devices::Sim, profile};
/// use pumice::{Place, prelude::*};
/// let engine = Engine::of(std::sync::Arc::new(Sim::with_memory(1000)));
/// let prices = Place::new("prices", "shop.rs", 3, 7);
/// let large = Vector::from(vec![0u8; 2000]);
/// let error = profile::at(prices, || engine.upload(large.data())).map(drop).expect_err("2000 bytes");
/// assert_eq!(error.place(), Some(prices));
/// ```
pub fn at<T>(place: impl Into<Option<Place>>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    /// Goes back also if the work panics.
    struct Before(Option<Place>);
    impl Drop for Before {
        fn drop(&mut self) {
            PLACE.set(self.0);
        }
    }
    let before = Before(PLACE.get());
    let place = place.into().or(before.0);
    PLACE.set(place);
    work().map_err(|error| error.at(place))
}

/// The operation that this thread does something for.
pub(crate) fn current() -> Option<Place> {
    PLACE.get()
}

/// The operation that this thread does something for, in words; empty where there is none.
pub(crate) fn place() -> String {
    current().map_or(String::new(), |place| place.to_string())
}

/// Time that the host spends on something, from now on.
#[must_use]
pub struct Span(Option<Instant>);

impl Span {
    /// Begins a span, if it has a consumer.
    pub fn begin() -> Span {
        let is_logged = || tracing::enabled!(target: "pumice", tracing::Level::DEBUG);
        Span((is_on() || is_logged()).then(Instant::now))
    }

    /// Ends it.
    pub fn end(self, activity: Activity, facts: impl FnOnce() -> Facts) {
        if let Some(start) = self.0 {
            let thread = Some(std::thread::current().id());
            let collector = COLLECTING.with_borrow(Clone::clone);
            tell(Slice { activity, thread, start, duration: start.elapsed(), facts: facts() }, collector);
        }
    }
}

/// Puts work into a device's queue, between two marks if the time that it takes there is recorded.
pub(crate) fn queued(
    device: &(impl Device + ?Sized),
    work: impl FnOnce() -> Result<()>,
    facts: impl FnOnce() -> Facts,
) -> Result<()> {
    if !is_on() {
        return work();
    }
    let start = device.stamp();
    work()?;
    let (Ok(start), Ok(end)) = (start, device.stamp()) else { return Ok(()) };
    let (activity, facts) = (Activity::Queue(device.name()), facts());
    let collector = COLLECTING.with_borrow(Clone::clone);
    let pending = Pending { activity, start, end, facts, collector };
    if pending.end.is_known() {
        pending.tell(Some(std::thread::current().id()));
        return Ok(());
    }
    let count = {
        let mut all = lock(&PENDING);
        all.push(pending);
        all.len()
    };
    if count >= MOST_PENDING {
        settle();
    }
    Ok(())
}

/// Tells the slices of queues, and waits for those that are not done.
pub(crate) fn settle() {
    if is_on() {
        // Not under the lock: devices are waited for.
        let pending = std::mem::take(&mut *lock(&PENDING));
        pending.into_iter().for_each(|pending| pending.tell(None));
    }
}

impl Pending {
    /// Passes the slice on, if its times can be found. A failure on the device is reported when a result is read.
    fn tell(self, thread: Option<ThreadId>) {
        let Pending { activity, start, end, facts, collector } = self;
        if let (Ok(start), Ok(end)) = (start.instant(), end.instant()) {
            let duration = end.saturating_duration_since(start);
            tell(Slice { activity, thread, start, duration, facts }, collector);
        }
    }
}

/// Passes a slice on to all consumers.
fn tell(slice: Slice, collector: Option<Collector>) {
    log(&slice);
    trace::write(&slice);
    if let Some(collector) = collector {
        lock(&collector).push(slice);
    }
}

/// Passes a slice on to subscribers of `tracing`.
fn log(slice: &Slice) {
    let Facts { name, place, bytes_read, bytes_written, blocks, threads, detail } = &slice.facts;
    let took = slice.duration;
    match slice.activity {
        Activity::Run => tracing::debug!(target: "pumice::run", name, place, ?took),
        Activity::Planning => tracing::debug!(target: "pumice::plan", name, place, detail, ?took),
        Activity::Compilation => tracing::debug!(target: "pumice::compile", name, place, detail, ?took),
        Activity::Upload(device) => {
            tracing::debug!(target: "pumice::transfer", upload_to = %device, place, bytes = bytes_read, ?took);
        }
        Activity::Download(device) => {
            tracing::debug!(target: "pumice::transfer", download_from = %device, place, bytes = bytes_read, ?took);
        }
        Activity::Queue(device) => {
            tracing::trace!(target: "pumice::queue", %device, name, place, blocks, threads, bytes_read, bytes_written, ?took);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
