//! A campaign: batches of random programs until the time is over. Programs that fail are isolated, shrunk and reported.

use super::child::{Children, Report};
use crate::error::{Error, Result};
use crate::temporary::TemporaryFolder;
use pumice_testing::random::{Recipe, shrink};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Most programs of one child, which keeps every kernel that it compiled in memory.
pub const LARGEST_BATCH: u64 = 4000;

/// Target duration of a batch. Starting a child costs up to a second.
const BATCH_TIME: Duration = Duration::from_secs(10);

/// Most children at a time.
const MOST_CHILDREN: usize = 16;

/// Limits on shrinking a failing program: attempts and time.
const SHRINK_TRIES: usize = 600;
const SHRINK_TIME: Duration = Duration::from_secs(60);

/// The campaign stops after this many failures: more would teach nothing new.
const MOST_FAILURES: u64 = 20;

/// Random programs on one device.
pub struct Campaign {
    /// The device.
    pub device: String,
    /// The seed of all programs.
    pub seed: u64,
    /// No batch is started after this time.
    pub time: Duration,
    /// Limit on the number of programs, whatever the time.
    pub programs: Option<u64>,
}

/// A program that failed.
pub struct Failure {
    /// Its number in the sequence of the seed.
    pub number: u64,
    /// The program, as small as it could be made.
    pub recipe: Recipe,
    /// The failure.
    pub message: String,
}

impl Failure {
    /// Returns the failure in one line.
    pub fn summary(&self) -> String {
        format!("program {}: {}", self.number, self.message)
    }
}

/// Totals of a campaign.
#[derive(Debug, Default)]
pub struct Totals {
    /// Number of programs that were run.
    pub programs: u64,
    /// Number of programs that failed.
    pub failed: u64,
    /// Duration of the campaign.
    pub time: Duration,
}

/// A message of a worker: this many programs are done, or one failed.
enum News {
    Done(u64),
    Failed(Failure),
}

impl Campaign {
    /// Runs the campaign, and calls `told` with every failure.
    pub fn run(&self, mut told: impl FnMut(&Failure) -> Result<()>) -> Result<Totals> {
        let folder = TemporaryFolder::new("random").map_err(Error::Failed)?;
        let children = Children { device: &self.device, seed: self.seed, folder: folder.path() };
        let start = Instant::now();
        // The first batches are small, and show how large a batch may be.
        let next = Mutex::new((0u64, 16u64));
        let (stop, failures) = (AtomicBool::new(false), AtomicU64::new(0));
        let (sender, news) = mpsc::channel();
        let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_CHILDREN));
        let work = |sender: mpsc::Sender<News>| {
            while !stop.load(Ordering::Relaxed) && start.elapsed() < self.time {
                let numbers = {
                    let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                    let end = next.0.saturating_add(next.1).min(self.programs.unwrap_or(u64::MAX));
                    std::mem::replace(&mut next.0, end)..end
                };
                if numbers.is_empty() {
                    break;
                }
                let (count, batch_start) = (numbers.end - numbers.start, Instant::now());
                for (number, message) in failing(&numbers, &|numbers| children.run(numbers)) {
                    if failures.fetch_add(1, Ordering::Relaxed) >= MOST_FAILURES {
                        stop.store(true, Ordering::Relaxed);
                    }
                    let (recipe, message) = smaller(&children, number, message);
                    // The receiver is gone if a file could not be written.
                    let _ = sender.send(News::Failed(Failure { number, recipe, message }));
                }
                let _ = sender.send(News::Done(count));
                let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                next.1 = batch_size(count, batch_start.elapsed());
            }
        };
        let mut totals = Totals::default();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            for item in news {
                match item {
                    News::Done(count) => totals.programs += count,
                    News::Failed(failure) => {
                        totals.failed += 1;
                        told(&failure).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                    }
                }
            }
            Ok::<(), Error>(())
        })?;
        totals.time = start.elapsed();
        Ok(totals)
    }
}

/// Returns the number of programs that take about [`BATCH_TIME`].
fn batch_size(count: u64, took: Duration) -> u64 {
    let factor = BATCH_TIME.as_secs_f64() / took.as_secs_f64().max(0.01);
    // Grows gradually: the first programs may have been unusual.
    ((count as f64 * factor.min(8.0)) as u64).clamp(4, LARGEST_BATCH)
}

/// Returns the programs of a batch that fail. A batch that ends early is halved and each half run again, until the
/// program that ends it stands alone.
fn failing(numbers: &Range<u64>, run: &dyn Fn(Range<u64>) -> Report) -> Vec<(u64, String)> {
    match run(numbers.clone()) {
        Report::Ran(failed) => failed,
        Report::Broken(how) | Report::Late(how) if numbers.end - numbers.start == 1 => {
            vec![(numbers.start, how)]
        }
        report => {
            let middle = numbers.start + (numbers.end - numbers.start) / 2;
            let halves = [numbers.start..middle, middle..numbers.end];
            let found: Vec<(u64, String)> = halves.iter().flat_map(|half| failing(half, run)).collect();
            match report {
                Report::Broken(how) if found.is_empty() => vec![(
                    numbers.start,
                    format!("only together with those up to {}: {how}", numbers.end - 1),
                )],
                // A batch that was late may only have been slow: none of its programs hangs alone.
                _ => found,
            }
        }
    }
}

/// Shrinks a failing program.
fn smaller(children: &Children<'_>, number: u64, message: String) -> (Recipe, String) {
    let recipe = Recipe::from_seed(children.seed, number);
    let (start, mut last) = (Instant::now(), message);
    let bytes = shrink(&recipe.bytes, SHRINK_TRIES, |bytes| {
        let candidate = Recipe { kind: recipe.kind, bytes: bytes.to_vec() };
        let failed = (start.elapsed() < SHRINK_TIME).then(|| children.run_one(&candidate)).flatten();
        failed.map(|message| last = message).is_some()
    });
    (Recipe { kind: recipe.kind, bytes }, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_traced_to_its_program() {
        let crashes = |numbers: Range<u64>| match numbers.contains(&13) || numbers.contains(&90) {
            true => Report::Broken("abort".into()),
            false if numbers.contains(&40) => Report::Ran(vec![(40, "1 instead of 2".into())]),
            false => Report::Ran(vec![]),
        };
        let found = failing(&(0..100), &crashes);
        let expected = [(13, "abort"), (40, "1 instead of 2"), (90, "abort")];
        assert_eq!(found, expected.map(|(number, message)| (number, message.to_owned())));
    }

    #[test]
    fn a_crash_that_needs_many_programs_is_told() {
        let crashes = |numbers: Range<u64>| match numbers.end - numbers.start > 10 {
            true => Report::Broken("abort".into()),
            false => Report::Ran(vec![]),
        };
        let slow = |numbers: Range<u64>| match numbers.end - numbers.start > 10 {
            true => Report::Late("slow".into()),
            false => Report::Ran(vec![]),
        };
        assert_eq!(failing(&(0..40), &slow), []);
        let hangs = |numbers: Range<u64>| match numbers.contains(&5) {
            true => Report::Late("hangs".into()),
            false => Report::Ran(vec![]),
        };
        assert_eq!(failing(&(0..40), &hangs), [(5, "hangs".to_owned())]);
        assert_eq!(failing(&(0..11), &crashes), [(0, "only together with those up to 10: abort".to_owned())]);
    }

    #[test]
    fn batches_take_about_the_same_time() {
        assert_eq!(batch_size(100, Duration::from_secs(20)), 50);
        assert_eq!(batch_size(16, Duration::from_millis(1)), 128);
        assert_eq!(batch_size(4, Duration::from_secs(600)), 4);
        assert_eq!(batch_size(LARGEST_BATCH, Duration::from_millis(1)), LARGEST_BATCH);
    }
}
