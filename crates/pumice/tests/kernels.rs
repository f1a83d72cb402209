//! Kernels in the kernel language, as typed values, on every device that works here.

use pumice::kernel::{Block, Forces, Grid, Ix, Loops, Mutable, Pull, Push, Storable};
use pumice::{Array, Compiler, Dim1, Error, Exp, Result};

/// The devices to test, the simulator first.
fn compilers() -> Vec<Compiler> {
    let all = ["sim", "cpu", "opencl"].into_iter().filter_map(|name| Compiler::on(name).ok());
    let all: Vec<Compiler> = all.collect();
    assert!(all.len() >= 2, "the simulator and the processor work everywhere");
    all
}

/// Sizes around the edges of blocks of 32 threads, and some that take several.
const SIZES: [usize; 10] = [0, 1, 2, 7, 31, 32, 33, 64, 97, 130];

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| (i * 37) % 101 - 50).collect()
}

#[test]
fn arrays_of_every_size_are_doubled_and_reversed() -> Result<()> {
    let doubled = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.map(|x| x + x).push() };
    let reversed = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.reverse().push() };
    for compiler in compilers() {
        let double = compiler.kernel("double", 32, doubled)?;
        let reverse = compiler.kernel("reverse", 32, reversed)?;
        for n in SIZES {
            let xs = numbers(n);
            let expected: Vec<i32> = xs.iter().rev().map(|x| x * 2).collect();
            // The array between the two stays on the device.
            let between = double.run(&xs)?;
            assert_eq!(reverse.run(&between)?.to_vec()?, expected, "{n} on {}", compiler.device().name());
            assert_eq!(between.to_vec()?, xs.iter().map(|x| x * 2).collect::<Vec<_>>());
        }
    }
    Ok(())
}

fn reduce<L: Forces, T: Storable>(
    mut xs: Pull<T>,
    f: impl Fn(T::Form, T::Form) -> T::Form + Copy + 'static,
) -> Push<L, T> {
    while xs.len() > 1 {
        let (low, high) = xs.halve();
        xs = low.zip_with(high, f).push::<L>().force();
    }
    xs.push()
}

/// The sums of blocks of 64 elements; what is missing in the last one counts as 0.
fn block_sums(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    let blocks = (xs.len() + 63) / 64;
    let padded = xs.padded(blocks * 64, 0.into());
    padded.split_up(64).map(|part| reduce::<Block, _>(part, |a, b| a + b)).concat()
}

#[test]
fn blocks_are_summed_with_static_lengths_inside() -> Result<()> {
    for compiler in compilers() {
        let sums = compiler.kernel("block_sums", 32, block_sums)?;
        for n in SIZES {
            let xs = numbers(n);
            let expected: Vec<i32> = xs.chunks(64).map(|part| part.iter().sum()).collect();
            assert_eq!(sums.run(&xs)?.to_vec()?, expected, "{n} on {}", compiler.device().name());
        }
    }
    Ok(())
}

#[test]
fn a_host_loop_reduces_until_one_element_is_left() -> Result<()> {
    for compiler in compilers() {
        let sums = compiler.kernel("block_sums", 32, block_sums)?;
        let xs = numbers(10_000);
        let mut rest = sums.run(&xs)?;
        let mut launches = 1;
        while rest.len() > 1 {
            rest = sums.run(rest)?;
            launches += 1;
        }
        assert_eq!(launches, 3);
        assert_eq!(rest.to_vec()?, [xs.iter().sum::<i32>()], "on {}", compiler.device().name());
    }
    Ok(())
}

#[test]
fn tuples_are_columns_and_scalars_are_plain_values() -> Result<()> {
    type Pair = (i32, f32);
    let f = |xs: Pull<Pair, Ix>, add: Exp<i32>, scale: Exp<f32>| -> Push<Grid, (f32, i32, bool), Ix> {
        xs.map(move |(i, x)| (x * scale, i + add, x.gt(1.0))).push()
    };
    for compiler in compilers() {
        let kernel = compiler.kernel("columns", 32, f)?;
        for n in [0, 1, 33, 100] {
            let xs: Vec<Pair> = (0..n).map(|i| (i, i as f32 * 0.5)).collect();
            for scale in [2.0f32, -1.5] {
                let expected: Vec<_> = xs.iter().map(|(i, x)| (x * scale, i + 7, *x > 1.0)).collect();
                assert_eq!(kernel.run((&xs, 7, scale))?.to_vec()?, expected);
            }
        }
    }
    Ok(())
}

#[test]
fn lengths_may_come_from_scalars_of_any_type() -> Result<()> {
    let iota = |n: Exp<i64>| -> Push<Grid, i64, Ix> { Pull::new(n, |i| i * i).push() };
    let ramp = |n: Exp<f64>| -> Push<Grid, i64, Ix> { Pull::new(n.cast::<i64>(), |i| i).push() };
    let fixed = || -> Push<Grid, i64> { Pull::<i64>::new(5, |i| i + 1).push() };
    for compiler in compilers() {
        let (iota, ramp) = (compiler.kernel("iota", 32, iota)?, compiler.kernel("ramp", 32, ramp)?);
        for n in [0i64, 1, 5, 100] {
            assert_eq!(iota.run(n)?.to_vec()?, (0..n).map(|i| i * i).collect::<Vec<_>>());
            assert_eq!(ramp.run(n as f64)?.to_vec()?, (0..n).collect::<Vec<_>>());
        }
        assert_eq!(compiler.kernel("fixed", 2, fixed)?.run(())?.to_vec()?, [1, 2, 3, 4, 5]);
        for n in [-1i64, i64::MAX] {
            let error = iota.run(n).map(drop).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("kernel `iota`"), "{error}");
        }
    }
    Ok(())
}

/// Adds 1 to every element in place.
fn increment(xs: Mutable<i32>) {
    Grid::for_each(xs.len(), &|i| {
        let x = xs.read(i);
        xs.write(i, x + 1);
    });
}

#[test]
fn memory_changes_in_place_and_never_through_another_handle() -> Result<()> {
    for compiler in compilers() {
        let increment = compiler.kernel("increment", 32, increment)?;
        for n in SIZES {
            let xs = numbers(n);
            let plus = |by: i32| xs.iter().map(|x| x + by).collect::<Vec<i32>>();
            // An array of the host: its copy on the device for others must not change with it.
            let mut mine = Array::<Dim1, i32>::from(xs.as_slice());
            let kept = mine.clone();
            let double =
                compiler.kernel("copy", 32, |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.push() })?;
            assert_eq!(double.run(&kept)?.to_vec()?, xs);
            assert!(increment.run(&mut mine)?.is_empty());
            increment.run((&mut mine,))?;
            assert_eq!(mine.to_vec()?, plus(2));
            assert_eq!(double.run(&kept)?.to_vec()?, xs);
            // On the device, and held twice.
            let snapshot = mine.clone();
            increment.run(&mut mine)?;
            assert_eq!(snapshot.to_vec()?, plus(2));
            assert_eq!(mine.to_vec()?, plus(3));
            assert_eq!(double.run(&snapshot)?.to_vec()?, plus(2));
            // What was fetched before a change is not what is fetched after.
            increment.run(&mut mine)?;
            assert_eq!(mine.to_vec()?, plus(4));
        }
    }
    Ok(())
}

#[test]
fn an_array_may_be_read_and_changed_by_one_launch() -> Result<()> {
    let add = |xs: Mutable<i32>, ys: Pull<i32, Ix>| {
        Grid::for_each(xs.len(), &|i| {
            let x = xs.read(i);
            xs.write(i, x + ys.at(i));
        });
    };
    for compiler in compilers() {
        let add = compiler.kernel("add", 32, add)?;
        let mut xs = compiler.upload(numbers(100))?;
        let ys = xs.clone();
        add.run((&mut xs, &ys))?;
        assert_eq!(xs.to_vec()?, numbers(100).iter().map(|x| 2 * x).collect::<Vec<_>>());
        assert_eq!(ys.to_vec()?, numbers(100));
    }
    Ok(())
}

#[test]
fn an_index_out_of_bounds_is_an_error_with_its_place() -> Result<()> {
    let gather = |xs: Pull<i32, Ix>, at: Pull<i64, Ix>| -> Push<Grid, i32, Ix> { xs.gather(at).push() };
    let at =
        |xs: Pull<i32, Ix>, i: Exp<i64>| -> Push<Grid, i32> { Pull::<i32>::new(1, move |_| xs.at(i)).push() };
    for compiler in compilers() {
        let gather = compiler.kernel("gather", 32, gather)?;
        assert_eq!(gather.run((&[5, 6, 7], &[2, 0]))?.to_vec()?, [7, 5]);
        let wrong = gather.run((&numbers(10), &[0, 12]))?;
        let message = |array: &Array<Dim1, i32>| array.to_vec().err().map(|error| error.to_string());
        let found = message(&wrong).unwrap_or_default();
        assert!(found.starts_with("index 12 out of bounds for length 10 in gather at "), "{found}");
        assert!(found.contains("tests/kernels.rs:"), "{found}");
        // What is computed from it fails in the same way.
        let after = compiler
            .kernel("double", 32, |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.map(|x| x + x).push() })?;
        assert_eq!(message(&after.run(&wrong)?).unwrap_or_default(), found);
        let at = compiler.kernel("at", 1, at)?;
        assert_eq!(at.run((&[1, 2, 3], 2))?.to_vec()?, [3]);
        for index in [3, -1] {
            let found = message(&at.run((&[1, 2, 3], index))?).unwrap_or_default();
            assert!(
                found.starts_with(&format!("index {index} out of bounds for length 3 in at at ")),
                "{found}"
            );
        }
        // The changed array carries the failure too.
        let poke = compiler.kernel("poke", 32, |xs: Mutable<i32>| {
            Grid::for_each(xs.len(), &|i| xs.write(i + 1, 0.into()));
        })?;
        let mut xs = compiler.upload([1, 2, 3])?;
        poke.run(&mut xs)?;
        let found = message(&xs).unwrap_or_default();
        assert!(found.starts_with("index 3 out of bounds for length 3 in write at "), "{found}");
    }
    Ok(())
}

#[test]
fn what_a_device_cannot_run_is_refused() -> Result<()> {
    let copy = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.push() };
    let large = |xs: Pull<i64, Ix>| -> Push<Grid, i64, Ix> {
        xs.split_up(1 << 21).map(|part| part.push::<Block>().force().reverse().push::<Block>()).concat()
    };
    for compiler in compilers() {
        for (threads, text) in [(0, "no threads"), (1 << 20, "1048576 threads")] {
            let error = compiler.kernel("copy", threads, copy).map(drop).err();
            let error = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(text) && error.contains("`copy`"), "{error}");
        }
        let error = compiler.kernel("large", 32, large).map(drop).err();
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("`large`") && error.contains("shared memory"), "{error}");
        let named = compiler.kernel("not a name", 32, copy).map(drop);
        assert!(matches!(named, Err(Error::Invalid(_))), "{named:?}");
        let empty = compiler.kernel("nothing", 32, || {}).map(drop).err();
        let empty = empty.map(|error| error.to_string()).unwrap_or_default();
        assert!(empty.starts_with("kernel nothing at crates/pumice/tests/kernels.rs:"), "{empty}");
    }
    Ok(())
}

#[test]
fn kernels_are_timed_and_shown() -> Result<()> {
    for compiler in compilers() {
        let sums = compiler.kernel("block_sums", 32, block_sums)?;
        let xs = compiler.upload(numbers(1000))?;
        assert_eq!(sums.time(&xs, 3)?.len(), 3);
        let ms = compiler.time(|| sums.run(&xs).map(drop))?;
        assert!(ms >= 0.0);
        assert_eq!(sums.program().name, "block_sums");
        assert!(sums.program_for(&xs)?.to_string().contains("kernel block_sums"));
        assert_eq!(sums.definition().parameters().len(), 1);
    }
    Ok(())
}

#[test]
fn a_kernel_runs_from_several_threads() -> Result<()> {
    for compiler in compilers() {
        let sums = &compiler.kernel("block_sums", 32, block_sums)?;
        std::thread::scope(|scope| {
            let work = |n: usize| {
                let xs = numbers(n);
                let expected: Vec<i32> = xs.chunks(64).map(|part| part.iter().sum()).collect();
                scope.spawn(move || Ok::<bool, Error>(sums.run(&xs)?.to_vec()? == expected))
            };
            let all: Vec<_> = (0..4).map(|i| work(100 + 31 * i)).collect();
            all.into_iter().all(|thread| thread.join().is_ok_and(|result| result == Ok(true)))
        })
        .then_some(())
        .ok_or_else(|| Error::Invalid("a thread got something else".into()))?;
    }
    Ok(())
}

#[test]
fn a_simulator_with_a_profile_records_what_is_launched() -> Result<()> {
    use pumice::layers::runtime::devices::Sim;
    use pumice::prelude::*;
    let sim = std::sync::Arc::new(Sim::observing(Sim::gpu_profile()));
    let compiler = Compiler::with(sim.clone());
    let sums = compiler.kernel("block_sums", 32, block_sums)?;
    let first = sums.run(numbers(1000))?;
    sums.run(&first)?;
    let recorded = sim.recorded();
    assert_eq!(recorded.len(), 2);
    assert_eq!((recorded[0].report.blocks, recorded[1].report.blocks), (16, 1));
    assert!(recorded.iter().all(|launch| launch.program.name == "block_sums"));
    sim.forget();
    // Array programs are recorded too, as they are for this profile.
    let doubled = compiler.run(use_(numbers(5000)).map(|x| x + x))?;
    assert_eq!(doubled.to_vec()?[1], numbers(2)[1] * 2);
    let recorded = sim.recorded();
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0].program.threads, 256);
    // An array of one simulator is not another's.
    let other = std::sync::Arc::new(Sim::observing(Sim::gpu_profile()));
    let again = Compiler::with(other.clone()).kernel("block_sums", 32, block_sums)?.run(&first)?;
    assert_eq!(again.to_vec()?, [numbers(1000).iter().sum::<i32>()]);
    assert_eq!(other.recorded().len(), 1);
    Ok(())
}
