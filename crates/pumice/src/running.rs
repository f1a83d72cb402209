//! Runs on a thread of their own, which can be waited for, polled or cancelled.
//!
//! Each run has a thread of its own, which ends with it. That thread waits for compilers and for the device, so it is none of
//! Rayon's; and where a worker of Rayon's waits for a run, it takes up other tasks of its pool, because the run may need them.

use crate::arguments::Arguments;
use crate::compile::Compiled;
use crate::results::ProgramResult;
use pumice_array::Cause;
use pumice_runtime::{DeviceName, Error, Result, Turn, take_turn};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::Builder;
use std::time::Duration;

impl<P, R: ProgramResult> Compiled<P, R> {
    /// Starts a run on a thread of its own, and returns at once. Its result is that of [`Compiled::run`]: arrays stay on the
    /// device, and a failed check is reported when they are looked at. The run is done when the device is.
    ///
    /// The handle can be waited for, or awaited in any executor: it wakes its task by itself. If it is dropped, or
    /// [cancelled](Running::cancel), no further work begins.
    ///
    /// There is one thread for each run that is under way, from the system ([`std::thread`]), not from a pool: it prepares the
    /// arguments, compiles kernels where they are new, launches, and waits. Runs that are started one after the other may be done
    /// in any order.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let squares = pumice::Compiler::on("cpu")?.compile(|xs: Acc<Vector<i64>>| xs.map(|x| x * x))?;
    /// let (first, second) = (squares.run_async(&[1, 2, 3]), squares.run_async(&[4]));
    /// assert_eq!(second.wait()?.to_vec()?, [16]);
    /// assert_eq!(first.wait()?.to_vec()?, [1, 4, 9]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run_async(&self, arguments: impl Arguments<P>) -> Running<R::Value> {
        let (untyped, inputs) = (self.untyped.clone(), arguments.collect());
        Running::start(untyped.device().name(), move |cancelled| {
            let arrays = untyped.run_unless(cancelled, &inputs)?;
            untyped.device().synchronize()?;
            drop(inputs);
            untyped.engine().forget_copies();
            R::value(&mut arrays.into_iter())
        })
    }
}

/// A run on a thread of its own, which gives a `V`, as returned by [`Compiled::run_async`]. It is a [`Future`] too.
///
/// ```
/// use pumice::prelude::*;
/// use std::{pin::pin, sync::Arc, task::{Context, Poll, Wake}, thread};
///
/// // The smallest executor there is: it sleeps until it is woken.
/// struct Unpark(thread::Thread);
/// impl Wake for Unpark {
///     fn wake(self: Arc<Self>) {
///         self.0.unpark();
///     }
/// }
/// fn block_on<F: Future>(future: F) -> F::Output {
///     let (mut future, waker) = (pin!(future), Arc::new(Unpark(thread::current())).into());
///     loop {
///         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
///             Poll::Ready(output) => return output,
///             Poll::Pending => thread::park(),
///         }
///     }
/// }
///
/// let sum = pumice::Compiler::on("cpu")?.compile(|xs: Acc<Vector<i64>>| xs.sum())?;
/// let total = block_on(async { sum.run_async(&[1, 2, 3]).await?.to_value().map_err(pumice::Error::from) })?;
/// assert_eq!(total, 6);
/// # Ok::<(), pumice::Error>(())
/// ```
#[must_use = "a run whose handle is dropped is cancelled"]
pub struct Running<V> {
    shared: Arc<Shared<V>>,
}

struct Shared<V> {
    state: Mutex<State<V>>,
    done: Condvar,
    cancelled: AtomicBool,
}

enum State<V> {
    /// Not done yet, with the waker of the task that polls, if one does.
    Running(Option<Waker>),
    Done(Result<V>),
    /// Done, and the result was taken.
    Given,
}

impl<V> Shared<V> {
    /// No lock is held while anything but the state is looked at.
    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, outcome: Result<V>) {
        let before = std::mem::replace(&mut *self.lock(), State::Done(outcome));
        self.done.notify_all();
        if let State::Running(Some(waker)) = before {
            waker.wake();
        }
    }

    /// The outcome, if the run is done.
    fn take(&self) -> Option<Result<V>> {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Given) {
            State::Done(outcome) => Some(outcome),
            State::Given => Some(Err(Error::Invalid("a run's result was taken before".into()))),
            running => {
                *state = running;
                None
            }
        }
    }
}

impl<V: Send + 'static> Running<V> {
    /// Starts a thread that works for a device, and looks from time to time whether it is to stop.
    pub(crate) fn start(
        device: DeviceName,
        work: impl FnOnce(&AtomicBool) -> Result<V> + Send + 'static,
    ) -> Running<V> {
        let (state, cancelled) = (Mutex::new(State::Running(None)), AtomicBool::new(false));
        let shared = Arc::new(Shared { state, done: Condvar::new(), cancelled });
        let theirs = shared.clone();
        let run = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| match theirs.cancelled.load(Ordering::Relaxed) {
                true => Err(Error::Cancelled),
                false => work(&theirs.cancelled),
            }));
            theirs.finish(outcome.unwrap_or_else(|panic| Err(panicked(&*panic))));
        };
        if let Err(error) = Builder::new().name("pumice run".into()).spawn(run) {
            let (action, reason) = ("starting a thread for a run".into(), error.to_string());
            let cause = Some(Cause::new(error));
            shared.finish(Err(Error::Host { device, action, reason, place: None, cause }));
        }
        Running { shared }
    }
}

impl<V> Running<V> {
    /// Waits until the run is done, and gives its result. A worker of Rayon's that calls this does other tasks of its pool
    /// meanwhile.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let sum = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<i64>>| (xs.clone().sum(), xs.max()))?;
    /// let (sum, largest) = sum.run_async(&[1, 2, 3]).wait()?;
    /// assert_eq!((sum.to_value()?, largest.to_value()?), (6, 3));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn wait(self) -> Result<V> {
        let is_running = |state: &mut State<V>| matches!(state, State::Running(_));
        loop {
            if let Some(outcome) = self.shared.take() {
                return outcome;
            }
            let (turn, done) = (take_turn(), &self.shared.done);
            // After waking, the loop looks again. So it does where waiting failed because another thread panicked.
            match turn {
                Turn::Worked => {}
                // There may be something to do for the pool before the run is done.
                Turn::Idle => {
                    drop(done.wait_timeout_while(self.shared.lock(), Duration::from_micros(200), is_running));
                }
                Turn::NotAWorker => drop(done.wait_while(self.shared.lock(), is_running)),
            }
        }
    }

    /// Whether the run is done, so that [`wait`](Running::wait) returns at once.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let run = pumice::Compiler::on("sim")?.compile(|n: Exp<i64>| fill(n, 1))?.run_async(3);
    /// while !run.is_done() {
    ///     std::thread::yield_now();
    /// }
    /// assert_eq!(run.wait()?.to_vec()?, [1, 1, 1]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn is_done(&self) -> bool {
        !matches!(*self.shared.lock(), State::Running(_))
    }

    /// Asks the run to end, and does not wait for that. No further work begins: kernels are not compiled or
    /// launched, a loop over arrays makes no further round. A kernel that was launched runs to its end.
    ///
    /// Waiting for the run then gives an [`Error::Cancelled`], or the result if nothing was left to be begun.
    ///
    /// ```
    /// use pumice::{Error, prelude::*};
    /// let endless = pumice::Compiler::on("sim")?.compile(|x: Exp<i64>| {
    ///     awhile(unit(x), |state| state.map(|x| x.ge(0)), |state| state.map(|x| (x + 1) & 7))
    /// })?;
    /// let run = endless.run_async(5);
    /// run.cancel();
    /// assert!(matches!(run.wait(), Err(Error::Cancelled)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Gives the result once; polling again after that is an error.
impl<V> Future for Running<V> {
    type Output = Result<V>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<V>> {
        if let State::Running(waker) = &mut *self.shared.lock() {
            match waker {
                Some(known) => known.clone_from(context.waker()),
                None => *waker = Some(context.waker().clone()),
            }
            return Poll::Pending;
        }
        self.shared.take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<V> Drop for Running<V> {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// The error of a run in which a function of the user's panicked.
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Error::Invalid(format!("a run panicked: {}", message.unwrap_or("without a message")).into())
}
