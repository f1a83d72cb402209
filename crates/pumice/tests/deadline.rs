//! Runs that do not end by themselves, on every device that works here: they are stopped, and the device goes on.

use pumice::kernel::{Block, Grid, Ix, Mutable, Pull, Push, Warp, seq_until};
use pumice::{Compiler, Error, prelude::*};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(2);

/// Upper limit of the time that a stopped run may take, on a busy machine.
const MOST: Duration = Duration::from_secs(60);

/// The devices that work here, or the one that `PUMICE_DEVICE` names, with a deadline. (The OpenCL of a GPU may not see what
/// the host writes while a kernel runs: there the deadline is an error, and the kernel goes on.)
fn compilers() -> impl Iterator<Item = Compiler> {
    let chosen = std::env::var("PUMICE_DEVICE").ok();
    let devices = ["sim", "cpu", "opencl", "cuda"].into_iter();
    let devices = devices.filter(move |device| chosen.as_ref().is_none_or(|chosen| chosen == device));
    devices.filter_map(|device| Some(Compiler::on(device).ok()?.deadline(LIMIT)))
}

/// Checks that a result is the error of a run that was stopped, in time, and gives its message.
fn check_stopped<T: std::fmt::Debug>(start: Instant, result: Result<T, Error>, device: &str) -> String {
    let Err(error @ Error::Deadline { limit: LIMIT, .. }) = result else {
        panic!("{result:?} on {device}");
    };
    assert!(start.elapsed() < MOST, "{:?} on {device}", start.elapsed());
    error.to_string()
}

/// Runs a kernel that goes on for ever with 256 ones, and ends at once with 64 zeros.
fn check_kernel(
    name: &str,
    f: impl Fn(Pull<i32, Ix>) -> Push<Grid, i32, Ix> + Clone + 'static,
) -> pumice::Result<()> {
    for compiler in compilers() {
        let device = &compiler.device().name().to_string();
        let kernel = compiler.kernel(name, 64, f.clone())?;
        let start = Instant::now();
        let result = kernel.run(vec![1; 256])?.to_vec().map_err(Error::from);
        let message = check_stopped(start, result, device);
        assert!(message.ends_with(&format!("and was stopped in kernel `{name}`")), "{message}");
        let ended = kernel.run(vec![0; 64])?.to_vec();
        assert_eq!(ended.ok(), Some(vec![0; 64]), "{device}");
    }
    Ok(())
}

#[test]
fn an_endless_program_is_stopped_and_the_next_one_runs() -> pumice::Result<()> {
    for compiler in compilers() {
        let device = &compiler.device().name().to_string();
        let halves = compiler.compile(|xs: Acc<Vector<f32>>| {
            let endless = xs.map(|x| while_(x, |x| x.ge(0.0), |x| x * 0.5));
            endless.map(|x| x + 1.0).sum()
        })?;
        let start = Instant::now();
        let stopped = halves.run(vec![1.0; 1000])?;
        let message = check_stopped(start, stopped.to_value().map_err(Error::from), device);
        assert!(message.contains("deadline.rs:"), "{message}");
        // What is computed from it fails in the same way.
        let again = compiler.compile(|x: Acc<Scalar<f32>>| x.map(|x| x + 1.0))?;
        check_stopped(start, again.run(&stopped)?.to_value().map_err(Error::from), device);
        assert_eq!(halves.run(vec![-1.0; 1000])?.to_value()?, 0.0, "{device}");
        assert!(start.elapsed() < MOST);
    }
    Ok(())
}

#[test]
fn an_endless_loop_of_a_thread_is_stopped() -> pumice::Result<()> {
    check_kernel("threads", |xs| xs.map(|x| seq_until::<i32>(x, |x| x.eq(0), |x| x * 3)).push())
}

#[test]
fn an_endless_loop_of_a_block_with_barriers_is_stopped() -> pumice::Result<()> {
    check_kernel("blocks", |xs| {
        let length = xs.len();
        let step = |xs: Pull<i32, Ix>| xs.reverse().push::<Block>();
        let tiles = xs.tiles(64).map(move |tile| {
            pumice::kernel::while_(64, tile.push::<Block>(), |xs| xs.at(0).ne(0), step).push::<Block>()
        });
        tiles.concat_by(64, length)
    })
}

#[test]
fn an_endless_loop_of_a_warp_is_stopped() -> pumice::Result<()> {
    check_kernel("warps", |xs| {
        // All warps of a block must agree on the condition.
        let length = xs.len();
        let step = |xs: Pull<i32, Ix>| xs.reverse().push::<Warp>();
        let of_warp = move |lanes: Pull<i32>| {
            let last = pumice::kernel::while_(32, lanes.push::<Warp>().dynamic(), |_| length.gt(64), step);
            Pull::new(32, move |i| last.at(i)).push::<Warp>()
        };
        xs.split_up(64).map(move |part| part.split_up(32).map(of_warp).concat::<Block>()).concat()
    })
}

#[test]
fn an_array_that_a_stopped_kernel_changes_is_an_error() -> pumice::Result<()> {
    fn spin(sums: Mutable<i32>, xs: Pull<i32, Ix>) {
        use pumice::kernel::Loops;
        Grid::for_each(xs.len(), &|i| {
            let last = seq_until::<i32>(xs.at(i), |x| x.eq(0), |x| x * 3);
            sums.atomic_add(0, last + 1);
        });
    }
    for compiler in compilers() {
        let device = &compiler.device().name().to_string();
        let kernel = compiler.kernel("spin", 64, spin)?;
        let (mut sums, start) = (compiler.upload([0])?, Instant::now());
        kernel.run((&mut sums, vec![1; 100]))?;
        check_stopped(start, sums.to_vec().map_err(Error::from), device);
        let mut sums = compiler.upload([0])?;
        kernel.run((&mut sums, vec![0; 100]))?;
        assert_eq!(sums.to_vec()?, [100], "{device}");
    }
    Ok(())
}

#[test]
fn a_deadline_that_is_not_reached_changes_nothing() -> pumice::Result<()> {
    for compiler in compilers() {
        let compiler = compiler.deadline(Duration::MAX);
        let roots = compiler.compile(|xs: Acc<Vector<f64>>| {
            xs.map(|x| while_(x, |x| x.gt(1.0), |x| x.sqrt() - 0.125)).sum()
        })?;
        let without = Compiler::on("sim")?.compile(|xs: Acc<Vector<f64>>| {
            xs.map(|x| while_(x, |x| x.gt(1.0), |x| x.sqrt() - 0.125)).sum()
        })?;
        let xs: Vec<f64> = (0..1000).map(f64::from).collect();
        let (found, expected) = (roots.run(&xs)?.to_value()?, without.run(&xs)?.to_value()?);
        assert!((found - expected).abs() < 1e-9, "{found}, {expected}");
    }
    Ok(())
}
