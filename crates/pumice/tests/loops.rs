//! Loops and branches over arrays: what they cost, how they are shown, and what is refused.

use pumice::kernel::{Grid, Ix, Pull, Push, apply};
use pumice::layers::runtime::device_names;
use pumice::{Compiler, Error, prelude::*};
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The devices that work here, where the host runs all loops (`small_loops.rs` is about those that are one kernel).
fn compilers() -> impl Iterator<Item = Compiler> {
    device_names().into_iter().filter_map(|name| Some(Compiler::on(&name).ok()?.small_loops(false)))
}

/// One test at a time: a device counts its waits for all threads of the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loop of two arrays.
fn halved(xs: Acc<Vector<i32>>, n: Exp<i64>) -> (Acc<Vector<i32>>, Acc<Scalar<i64>>) {
    awhile(
        (xs, unit(0)),
        |(_, done)| done.map(|i| i.lt(n)),
        |(xs, done)| (xs.map(|x| x / 2), done.map(|i| i + 1)),
    )
}

#[test]
fn a_loop_of_two_arrays_is_run_once_and_waits_once_a_round() -> pumice::Result<()> {
    let _alone = alone();
    for compiler in compilers() {
        let (device, name) = (compiler.device(), compiler.device().name().to_string());
        let xs = compiler.upload(vec![1 << 20; 1000])?;
        let one = compiler.compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| halved(xs, n).0)?;
        let both = compiler.compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| {
            let (xs, done) = halved(xs, n);
            xs.map(|x| x + done.the().cast::<i32>())
        })?;
        let waits =
            |program: &pumice::Compiled<_, Acc<Vector<i32>>>, n: i64| -> pumice::Result<(u64, Vec<i32>)> {
                program.run((&xs, n))?;
                let before = device.waits();
                let result = program.run((&xs, n))?;
                let waits = device.waits() - before;
                Ok((waits, result.to_vec()?))
            };
        let ((few, _), (many, found)) = (waits(&one, 2)?, waits(&one, 12)?);
        assert_eq!(found, [1 << 8; 1000], "{name}");
        assert_eq!(many - few, 10, "{name} waits more than once a round");
        let (with_both, found) = waits(&both, 12)?;
        assert_eq!((with_both, found), (many, vec![(1 << 8) + 12; 1000]), "{name} runs a loop twice");
    }
    Ok(())
}

#[test]
fn a_length_that_does_not_depend_on_the_state_is_not_read() -> pumice::Result<()> {
    let _alone = alone();
    for compiler in compilers() {
        let (device, name) = (compiler.device(), compiler.device().name().to_string());
        // The sum of all numbers below n times 100, stretch by stretch.
        let program = compiler.compile(|n: Exp<i64>| {
            let (sum, _) = awhile(
                (unit(0), unit(0)),
                |(_, start)| start.map(|start| start.lt(n * 100)),
                |(sum, start)| {
                    let (from, to) = (start.the(), start.the() + 100);
                    let stretch = generate(to - from, |i| from + i).sum();
                    (sum.zip_with(stretch, |a, b| a + b), start.map(|start| start + 100))
                },
            );
            sum
        })?;
        let waits = |n: i64| -> pumice::Result<(u64, i64)> {
            program.run(n)?;
            let before = device.waits();
            let result = program.run(n)?;
            let waits = device.waits() - before;
            Ok((waits, result.to_value()?))
        };
        let ((few, _), (many, found)) = (waits(2)?, waits(12)?);
        assert_eq!(found, (0..1200).sum::<i64>(), "{name}");
        assert_eq!(many - few, 10, "{name} waits more than once a round");
    }
    Ok(())
}

#[test]
fn an_endless_loop_is_stopped_and_the_next_one_runs() -> pumice::Result<()> {
    let _alone = alone();
    // Long enough for the loops that end, on a machine that others use.
    let limit = Duration::from_secs(2);
    for compiler in compilers() {
        let name = compiler.device().name().to_string();
        let program = compiler.deadline(limit).compile(|xs: Acc<Vector<i32>>| {
            // For a negative number, that takes as many rounds as there are numbers.
            awhile(xs, |xs| xs.any(|x| x.ne(0)), |xs| xs.map(|x| x - 1))
        })?;
        assert_eq!(program.run([3, 3])?.to_vec()?, [0, 0], "{name}");
        let start = Instant::now();
        let stopped = program.run([3, -1]).and_then(|result| result.to_vec().map_err(Error::from));
        let Err(error @ Error::Deadline { .. }) = stopped else { panic!("{stopped:?} on {name}") };
        assert!(error.to_string().contains("awhile at crates/pumice/tests/loops.rs:"), "{error}");
        assert_eq!(error.operation(), Some("awhile"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(60), "{:?} on {name}", start.elapsed());
        assert_eq!(program.run([5, 5])?.to_vec()?, [0, 0], "{name}");
    }
    Ok(())
}

#[test]
fn the_state_of_a_loop_does_not_leave_it() -> pumice::Result<()> {
    let _alone = alone();
    let kept = RefCell::new(None);
    let compiled = Compiler::on("sim")?.compile(|xs: Acc<Vector<i32>>| {
        let looped = iterate(2, xs, |xs| {
            *kept.borrow_mut() = Some(xs.clone());
            xs.map(|x| x + 1)
        });
        looped.zip_with(kept.take().unwrap(), |x, y| x + y)
    });
    let Err(error) = compiled else { panic!("it was compiled") };
    let message = "the state of a loop is used outside of the loop's functions in state at \
                   crates/pumice/tests/loops.rs:";
    assert!(error.to_string().starts_with(message), "{error}");
    Ok(())
}

#[test]
fn loops_nest_only_so_deep() -> pumice::Result<()> {
    let _alone = alone();
    fn nested(depth: usize, xs: Acc<Vector<i32>>) -> Acc<Vector<i32>> {
        match depth {
            0 => xs.map(|x| x + 1),
            _ => iterate(1, xs, |xs| nested(depth - 1, xs)),
        }
    }
    let compiler = Compiler::on("sim")?;
    let most = compiler.compile(|xs: Acc<Vector<i32>>| nested(32, xs))?;
    assert_eq!(most.run([1, 2])?.to_vec()?, [2, 3]);
    let Err(error) = compiler.compile(|xs: Acc<Vector<i32>>| nested(33, xs)) else {
        panic!("it was compiled")
    };
    assert!(error.to_string().contains("loops and branches nest more than 32 deep in iterate at"), "{error}");
    Ok(())
}

#[test]
fn the_plans_of_a_loop_are_explained() -> pumice::Result<()> {
    let _alone = alone();
    let program = Compiler::on("sim")?.small_loops(false).compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| {
        let (xs, done) = halved(xs.map(|x| x * 3), n);
        xs.map(|x| x - done.the().cast::<i32>())
    })?;
    let text = program.explain((&[1, 2, 3], 4))?.to_string();
    let parts = [
        "// map at crates/pumice/tests/loops.rs",
        "run awhile at crates/pumice/tests/loops.rs:23, and plan the rest with what it gives",
        "// condition of awhile at crates/pumice/tests/loops.rs",
        "// step of awhile at crates/pumice/tests/loops.rs",
        "// the rest\ninput (",
        "return [3] (",
    ];
    // In this order.
    let mut rest = &text[..];
    for part in parts {
        let position = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place in\n{text}"));
        rest = &rest[position + part.len()..];
    }
    assert_eq!(text.matches("\nkernel ").count(), 6, "{text}");
    Ok(())
}

#[test]
fn a_side_that_would_not_fit_is_explained_and_harmless() -> pumice::Result<()> {
    let _alone = alone();
    let program = Compiler::on("sim")?.compile(|xs: Acc<Vector<i32>>, small: Exp<bool>| {
        acond(unit(small), || xs.clone().reshape(2), || xs.clone())
    })?;
    assert_eq!(program.run((&[1, 2, 3], false))?.to_vec()?, [1, 2, 3]);
    let text = program.explain((&[1, 2, 3], false))?;
    assert!(text.contains("if this is run, it fails: extents [3] and [2]"), "{text}");
    Ok(())
}

#[test]
fn kernels_of_users_are_part_of_loops() -> pumice::Result<()> {
    let _alone = alone();
    fn next(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
        xs.map(|x| x * 2 + 1).push()
    }
    for compiler in compilers() {
        let program = compiler
            .compile(|xs: Acc<Vector<i32>>, n: Exp<i64>| iterate(n, xs, |xs| apply("next", 64, next, xs)))?;
        assert_eq!(program.run((&[0, 1], 10))?.to_vec()?, [1023, 2047], "{}", compiler.device().name());
    }
    Ok(())
}
