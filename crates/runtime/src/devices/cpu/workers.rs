//! The threads that share a CPU's work: Rayon's, or the calling thread alone where the system gives no others.
//!
//! Nothing else in this device may call Rayon: its global pool panics if its threads cannot be started.
//!
//! A worker that waits for its part of the work takes up any other task of its pool meanwhile, also one of the user's that
//! calls the runtime again. So no lock may be held, nor a `OnceLock` be initialised, around [`for_each`].

use std::error::Error as _;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// Returns the number of threads that [`for_each`] uses when it is called from this thread.
pub fn count() -> usize {
    if can_share() { rayon::current_num_threads() } else { 1 }
}

/// Calls `work` with each number below `count`, on all workers, and returns when all calls have.
pub fn for_each(count: usize, work: impl Fn(usize) + Sync) {
    if can_share() {
        (0..count).into_par_iter().with_max_len(1).for_each(&work);
    } else {
        (0..count).for_each(work);
    }
}

/// Work for its pool that a thread can do while it waits for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is no worker of any pool.
    NotAWorker,
    /// It has done a task of its pool.
    Worked,
    /// Its pool had nothing to do.
    Idle,
}

/// Does a task of this thread's pool, if it is a worker of one.
pub fn take_turn() -> Turn {
    match rayon::yield_now() {
        None => Turn::NotAWorker,
        Some(rayon::Yield::Executed) => Turn::Worked,
        Some(rayon::Yield::Idle) => Turn::Idle,
    }
}

/// Whether this thread is a worker of a pool, or there is a global pool.
fn can_share() -> bool {
    static GLOBAL: OnceLock<bool> = OnceLock::new();
    let start = || match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // A pool that somebody else started has no cause; one whose threads cannot be started has the system's.
        Err(error) => error.source().is_none(),
    };
    rayon::current_thread_index().is_some() || *GLOBAL.get_or_init(start)
}
