//! Loops over arrays that fit one block: they are one kernel, and the host neither launches nor waits in between.

use pumice::layers::runtime::device_names;
use pumice::{Compiler, Error, prelude::*};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The devices that work here.
fn compilers() -> impl Iterator<Item = Compiler> {
    device_names().into_iter().filter_map(|name| Compiler::on(&name).ok())
}

/// One test at a time: a device counts its waits for all threads of the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A map and a test in each round.
fn approached(xs: Acc<Vector<f32>>, n: Exp<i64>) -> (Acc<Vector<f32>>, Acc<Scalar<i64>>) {
    awhile(
        (xs, unit(0)),
        |(_, done)| done.map(|i| i.lt(n)),
        |(xs, done)| (xs.map(|x| x * 0.5 + 1.0), done.map(|i| i + 1)),
    )
}

#[test]
fn a_loop_is_one_launch_with_what_comes_before_and_after_it() -> pumice::Result<()> {
    let _alone = alone();
    for compiler in compilers() {
        let name = compiler.device().name().to_string();
        // What the loop begins with is computed in its kernel, and both arrays come out of it.
        let program =
            compiler.compile(|xs: Acc<Vector<f32>>, n: Exp<i64>| approached(xs.map(|x| x + 1.0), n))?;
        let arguments = (&vec![1.0f32; 1000], 10_000);
        let launches = program.skeletons(arguments)?;
        let skeletons: Vec<&str> = launches.iter().map(|launch| &launch.skeleton[..]).collect();
        assert_eq!(skeletons, ["loop in one kernel of one block"], "{name}");
        let waits = |rounds: i64| -> pumice::Result<(u64, Vec<f32>, i64)> {
            program.run((arguments.0, rounds))?;
            let before = compiler.device().waits();
            let (xs, done) = program.run((arguments.0, rounds))?;
            Ok((compiler.device().waits() - before, xs.to_vec()?, done.to_value()?))
        };
        let ((few, ..), (many, xs, done)) = (waits(2)?, waits(10_000)?);
        assert_eq!((xs, done), (vec![2.0; 1000], 10_000), "{name}");
        assert_eq!(many, few, "{name} waits in a loop of one block");
        // Several loops one after the other, and what reads a length behind them: each is run once.
        let program = compiler.compile(|xs: Acc<Vector<f32>>, n: Exp<i64>| {
            let (xs, done) = approached(approached(xs, n).0, n);
            let kept = xs.clone().imap(|i, x| (i % 3).eq(0).select(x, constant(0.0))).filter(|x| x.gt(0.0));
            let count = kept.size();
            generate(count * 2, |i| xs.at(i % 2) + done.the().cast::<f32>())
        })?;
        assert_eq!(program.run((&[7.0; 30], 40))?.to_vec()?, [42.0; 20], "{name}");
        let loops = program.skeletons((&[7.0; 30], 40))?;
        let loops = loops.iter().filter(|launch| launch.skeleton.starts_with("loop")).count();
        assert_eq!(loops, 2, "{name}");
    }
    Ok(())
}

#[test]
fn state_is_in_shared_memory_and_a_round_has_one_barrier() -> pumice::Result<()> {
    let program = Compiler::on("sim")?.compile(approached)?;
    let launches = program.skeletons((&vec![1.0; 1000], 10_000))?;
    let text = launches[0].program.to_string();
    assert_eq!(launches[0].program.threads, 1024);
    assert!(text.contains("shared f32[2048]"), "{text}");
    assert!(!text.contains("shared i64"), "the counter is in registers:\n{text}");
    let body = text.split("test %").nth(1).and_then(|rest| rest.split("next %").next()).unwrap_or(&text);
    assert_eq!(body.matches("sync").count(), 1, "{text}");
    // Other sizes of the same order find the kernel compiled.
    let other = program.skeletons((&vec![1.0; 600], 10_000))?;
    assert_eq!(launches[0].program.key_text(), other[0].program.key_text());
    Ok(())
}

#[test]
fn explain_says_why_a_loop_is_run_by_the_host() -> pumice::Result<()> {
    let compiler = Compiler::on("sim")?;
    let explained = |program: pumice::Result<pumice::Compiled<_, Acc<Vector<i32>>>>, size: usize| {
        program?.explain(vec![1i32; size])
    };
    let sorted = |xs: Acc<Vector<i32>>| iterate(3, xs, |xs| xs.sort().map(|x| x ^ 3));
    let mapped = |xs: Acc<Vector<i32>>| iterate(3, xs, |xs| xs.map(|x| x + 1));
    let shorter = |xs: Acc<Vector<i32>>| iterate(3, xs, |xs| xs.tail());
    let by_host = "the host runs the loop, which is not one kernel of one block: ";
    for (text, reason) in [
        (explained(compiler.compile(sorted), 10)?, "it has an operation that takes kernels of its own"),
        (explained(compiler.compile(mapped), 10_000)?, "its rounds are enough work for more than one block"),
        (explained(compiler.compile(shorter), 10)?, "the extents of its arrays change from round to round"),
        (
            explained(compiler.clone().small_loops(false).compile(mapped), 10)?,
            "loops in one block are switched off",
        ),
    ] {
        assert!(text.contains(&format!("{by_host}{reason}")), "{text}");
    }
    let text = explained(compiler.compile(mapped), 10)?;
    assert!(text.contains("by loop in one kernel of one block"), "{text}");
    Ok(())
}

#[test]
fn an_endless_loop_in_one_kernel_is_stopped_and_the_next_one_runs() -> pumice::Result<()> {
    let _alone = alone();
    for compiler in compilers() {
        let name = compiler.device().name().to_string();
        let program = compiler.deadline(Duration::from_secs(1)).compile(|xs: Acc<Vector<i32>>| {
            // As many rounds as there are numbers, for a negative one.
            awhile(xs, |xs| xs.any(|x| x.ne(0)), |xs| xs.map(|x| x - 1))
        })?;
        assert_eq!(program.skeletons([3, 3])?.len(), 1, "{name}");
        let start = Instant::now();
        let stopped = program.run([3, -1]).and_then(|result| result.to_vec().map_err(Error::from));
        assert!(stopped.is_err(), "{stopped:?} on {name}");
        assert!(start.elapsed() < Duration::from_secs(60), "{:?} on {name}", start.elapsed());
        assert_eq!(program.run([5, 5])?.to_vec()?, [0, 0], "{name}");
    }
    Ok(())
}

#[test]
fn a_failure_before_a_loop_is_told_and_the_loop_does_not_begin() -> pumice::Result<()> {
    let _alone = alone();
    for compiler in compilers() {
        let name = compiler.device().name().to_string();
        // On the zeros of a failed read, the loop would go round for ever.
        let program = compiler.compile(|table: Acc<Vector<i64>>, i: Exp<i64>| {
            let ends = table.clone().map(|x| x + table.at(i)).compute();
            awhile(unit(0), |x| unit(ends.at(x.the()).ne(9)), |x| x.map(|x| (x + 1) % 3))
        })?;
        assert_eq!(program.run((&[1i64, 2, 7], 1))?.to_value()?, 2, "{name}");
        let failed =
            program.run((&[1i64, 2, 7], 4)).and_then(|result| result.to_value().map_err(Error::from));
        let Err(error) = failed else { panic!("{failed:?} on {name}") };
        assert!(error.to_string().contains("index 4 out of bounds for length 3 in at"), "{error} on {name}");
    }
    Ok(())
}
