//! Many threads on one device, with programs of their own and programs that they share: results are right, whatever the others
//! do, and in the end no device memory is held. Alone in its process, because memory is counted for all of it.

use pumice::layers::runtime::{Device, Engine, devices::Sim, open};
use pumice::{Compiler, Error, prelude::*};
use std::sync::Arc;
use std::time::{Duration, Instant};

const THREADS: i64 = 8;

fn check(holds: bool, what: &str) -> pumice::Result<()> {
    if holds { Ok(()) } else { Err(Error::Invalid(what.into())) }
}

/// Several results and a loop, one with several plans.
fn shared(xs: Acc<Vector<i64>>, n: Exp<i64>) -> (Acc<Vector<i64>>, Acc<Scalar<i64>>) {
    let doubled = iterate(2, xs.clone(), |xs| xs.map(|x| x + x));
    (doubled, xs.filter(|x| x.lt(n)).sum())
}

fn stress(device: Arc<dyn Device>, rounds: i64) -> pumice::Result<()> {
    let (engine, compiler) = (Engine::of(device.clone()), Compiler::with(device));
    let before = engine.memory_in_use();
    let together = compiler.compile(shared)?;
    let work = |thread: i64| -> pumice::Result<()> {
        // The same text as another thread's: plans are shared, programs are not.
        let kind = thread % 3;
        let own = compiler.compile(|xs: Acc<Vector<i64>>| xs.map(|x| x * (kind + 2)))?;
        for round in 0..rounds {
            let length = 1 + (37 * thread + 11 * round) % 90;
            let xs: Vec<i64> = (0..length).collect();
            let (doubled, sum) = together.run((&xs, thread))?;
            let running = own.run_async(&xs);
            let cancelled = together.run_async((&xs, round));
            match (thread + round) % 4 {
                0 => cancelled.cancel(),
                1 => drop(cancelled),
                2 => {
                    let (first, _) = cancelled.wait()?;
                    check(first.to_vec()?.last() == Some(&(4 * (length - 1))), "an asynchronous run")?;
                }
                // Only one of its results is looked at.
                _ => drop(cancelled.wait()?.0),
            }
            drop(doubled);
            check(sum.to_value()? == xs.iter().filter(|x| **x < thread).sum::<i64>(), "a shared program")?;
            let expected: Vec<i64> = xs.iter().map(|x| x * (kind + 2)).collect();
            check(running.wait()?.to_vec()? == expected, "a program of its own")?;
        }
        let chunks = (0..4).map(|number| vec![number; 10]);
        let sums = own.map_stream(chunks).take(2 + thread as usize % 3);
        for (number, chunk) in (0..).zip(sums) {
            check(chunk?.to_vec()? == [number * (kind + 2); 10], "a stream")?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        let panicked = |_| Err(Error::Invalid("a thread panicked".into()));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
    })?;
    drop(together);
    // Runs that were cancelled end in their own time.
    let start = Instant::now();
    while engine.memory_in_use() != before && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(engine.memory_in_use(), before, "memory of {}", compiler.device().name());
    Ok(())
}

#[test]
fn threads_share_a_device_and_leave_no_memory_behind() -> pumice::Result<()> {
    // So little memory that the pool is emptied on the way.
    stress(Arc::new(Sim::with_memory(1 << 17)), 10)?;
    stress(open("cpu")?, 20)
}
