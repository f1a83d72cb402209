//! Work that several threads share for the time of one call: at most a thread per core, and the calling thread alone where
//! the system gives no others.
//!
//! For work that waits, such as that of compilers. It is not Rayon's, whose workers should not wait.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism, scope};

use crate::error::{Error, Result};

/// Calls `work` with each number below `count` and returns the results in order. `meanwhile` runs on the calling thread,
/// which joins in when that is done. After an error no further work is begun, and the error of the lowest number is returned.
pub(crate) fn collect<T: Send + Sync>(
    count: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
    meanwhile: impl FnOnce() -> Result<()>,
) -> Result<Vec<T>> {
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    collect_on(cores, Builder::new, count, work, meanwhile)
}

fn collect_on<T: Send + Sync>(
    threads: usize,
    builder: impl Fn() -> Builder,
    count: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
    meanwhile: impl FnOnce() -> Result<()>,
) -> Result<Vec<T>> {
    let results: Vec<OnceLock<Result<T>>> = (0..count).map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let stop = || next.store(count, Ordering::Relaxed);
    let take_part = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = results.get(number) else { return };
            let result = work(number);
            if result.is_err() {
                stop();
            }
            // It is empty: each number is drawn once.
            let _ = place.set(result);
        }
    };
    scope(|scope| {
        let others = (1..threads.min(count)).map_while(|_| builder().spawn_scoped(scope, take_part).ok());
        let others: Vec<_> = others.collect();
        let outcome = meanwhile();
        if outcome.is_err() {
            stop();
        }
        take_part();
        for thread in others {
            // One that panicked leaves the place of its work empty.
            let _ = thread.join();
        }
        outcome
    })?;
    // Numbers are drawn in order, so those below one that failed have their results.
    let panicked = || Err(Error::Invalid("a thread that compiles kernels panicked".into()));
    results.into_iter().map(|result| result.into_inner().unwrap_or_else(panicked)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::thread::{ThreadId, current};
    use std::time::Duration;

    fn workers(threads: usize, builder: impl Fn() -> Builder) -> HashSet<ThreadId> {
        let seen = Mutex::new(HashSet::new());
        let work = |number: usize| {
            std::thread::sleep(Duration::from_millis(1));
            seen.lock().map(|mut seen| seen.insert(current().id())).ok();
            Ok(number)
        };
        let results = collect_on(threads, builder, 50, work, || Ok(()));
        assert_eq!(results, Ok((0..50).collect()));
        seen.into_inner().unwrap_or_default()
    }

    #[test]
    fn there_are_no_more_threads_than_asked_for() {
        let seen = workers(3, Builder::new);
        assert!((2..=3).contains(&seen.len()) && seen.contains(&current().id()), "{seen:?}");
        assert_eq!(workers(1, Builder::new), HashSet::from([current().id()]));
    }

    #[test]
    fn where_no_thread_can_be_started_the_caller_does_the_work() {
        // No address space has room for such a stack.
        let seen = workers(8, || Builder::new().stack_size(1 << 60));
        assert_eq!(seen, HashSet::from([current().id()]));
    }

    #[test]
    fn the_first_error_is_returned_and_no_work_begun_after_it() {
        let begun = AtomicUsize::new(0);
        let work = |number: usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            match number {
                3.. => Err(Error::Invalid(format!("number {number}").into())),
                _ => Ok(()),
            }
        };
        assert_eq!(collect(1000, work, || Ok(())), Err(Error::Invalid("number 3".into())));
        assert!(begun.load(Ordering::Relaxed) < 500);
        let failed = Error::Invalid("the upload".into());
        let slow = |_| {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        assert_eq!(collect_on(2, Builder::new, 1000, slow, || Err(failed.clone())), Err(failed.clone()));
    }

    #[test]
    fn a_thread_that_panics_is_an_error() {
        let caller = current().id();
        let work = |_| {
            assert_eq!(current().id(), caller, "only on the other thread");
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        let wait = || {
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        };
        let result = collect_on(2, Builder::new, 10, work, wait);
        assert_eq!(result, Err(Error::Invalid("a thread that compiles kernels panicked".into())));
    }
}
