//! Elements of a result that no thread writes are zero, on every device and whatever the memory held before.

use pumice::kernel::skeletons::{Skeletons, write_skeleton};
use pumice::kernel::{Block, Grid, Ix, Loops, Pull, Push, apply, generate, while_};
use pumice::{Acc, Compiler, Vector};

const LENGTH: usize = 1000;

/// The devices that this machine has, each with memory in its pool that other kernels have written.
fn devices() -> Vec<Compiler> {
    let open = |name: &&str| Compiler::on(name).ok();
    let compilers: Vec<Compiler> = ["sim", "cpu", "opencl", "cuda"].iter().filter_map(open).collect();
    assert!(compilers.len() > 1, "not even `cpu` is here");
    compilers
}

fn dirty(compiler: &Compiler) -> pumice::Result<()> {
    let fill = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> { xs.map(|_| pumice::Exp::<i32>::from(-1)).push() };
    let fill = compiler.kernel("fill", 64, fill)?;
    // Several, all of which go back to the pool together.
    let many: Vec<_> = (0..4).map(|_| fill.run(vec![1; LENGTH])).collect::<pumice::Result<_>>()?;
    for one in &many {
        assert_eq!(one.to_vec()?, [-1; LENGTH]);
    }
    Ok(())
}

#[test]
fn a_kernels_result_is_zero_where_nobody_writes() -> pumice::Result<()> {
    let spread = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        xs.imap(|i, x| (i * 3, x)).scatter(Ix::from(LENGTH as i64))
    };
    let clipped = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let length = xs.len();
        Push::clipped(Ix::from(LENGTH as i64), move |write| {
            Grid::for_each(length, &|i| write(i * 3, xs.at(i)));
        })
    };
    let evens = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        // Fewer elements than the stride: 4 of every 12.
        xs.split_up(4)
            .map(|part| part.push::<Block>())
            .interleave(Ix::from(LENGTH as i64), |part, i| part * 12 + i * 3)
    };
    let xs: Vec<i32> = (1..=332).collect();
    let mut expected = vec![0; LENGTH];
    xs.iter().enumerate().for_each(|(i, x)| expected[i * 3] = *x);
    for compiler in devices() {
        let name = compiler.device().name();
        for kernel in [
            compiler.kernel("spread", 64, spread)?,
            compiler.kernel("clipped", 64, clipped)?,
            compiler.kernel("evens", 32, evens)?,
        ] {
            dirty(&compiler)?;
            assert_eq!(kernel.run(&xs)?.to_vec()?, expected, "{name}");
            // And where no block runs at all.
            dirty(&compiler)?;
            let none: &[i32] = &[];
            assert_eq!(kernel.run(none)?.to_vec()?, vec![0; LENGTH], "{name}");
        }
    }
    Ok(())
}

#[test]
fn so_is_one_inside_an_array_program_and_one_of_a_users_skeleton() -> pumice::Result<()> {
    fn spread(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
        xs.imap(|i, x| (i * 2, x)).scatter(Ix::from(LENGTH as i64))
    }
    let program = |xs: Acc<Vector<i32>>| apply("spread", 64, spread, (xs,)).map(|x| x + 1);
    let odd = write_skeleton("odd", 64, |xs, _| {
        let length = xs.len();
        Push::new(length, move |write| {
            let xs = xs.clone();
            Grid::for_each(length / 2, &|i| write(i * 2, xs.at(i * 2)));
        })
    });
    let xs: Vec<i32> = (1..=500).collect();
    for compiler in devices() {
        let name = compiler.device().name();
        let compiled = compiler.compile(program)?;
        let holed =
            compiler.clone().skeletons(Skeletons { write: Some(odd.clone()), ..Skeletons::default() });
        let holed = holed.compile(|xs: Acc<Vector<i32>>| xs.map(|x| x * 2))?;
        dirty(&compiler)?;
        let found = compiled.run(&xs)?.to_vec()?;
        let expected = |i: usize| if i.is_multiple_of(2) { xs[i / 2] + 1 } else { 1 };
        assert_eq!(found, (0..LENGTH).map(expected).collect::<Vec<_>>(), "{name}");
        dirty(&compiler)?;
        let found = holed.run(vec![3; LENGTH])?.to_vec()?;
        assert_eq!(found, [6, 0].repeat(LENGTH / 2), "{name}");
    }
    Ok(())
}

#[test]
fn so_are_forced_arrays() -> pumice::Result<()> {
    // First other data in the same shared memory, then an array with holes.
    let in_block = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let block = |part: Pull<i32>| {
            let others = part.map(|_| pumice::Exp::<i32>::from(-1)).push::<Block>().force();
            let sums = generate(64usize, move |i| others.at(i) + others.at(63 - i)).push::<Block>().force();
            let firsts = generate(32usize, move |i| (i * 2, sums.at(i * 2) + i.cast::<i32>()));
            firsts.scatter::<Block, usize>(64).force().push::<Block>()
        };
        xs.split_up(64).map(block).concat()
    };
    let in_thread = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        xs.map(|x| {
            let own =
                generate(4usize, move |i| (i * 2, x)).scatter::<pumice::kernel::Thread, usize>(8).force();
            own.seq_reduce(0.into(), |a, b| a + b)
        })
        .push()
    };
    let in_loop = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let block = |part: Pull<i32>| {
            // Every second element, until the first alone is left.
            let step = |xs: Pull<i32, Ix>| {
                let length = xs.len();
                generate(length / 2, move |i| (i, xs.at(i * 2))).scatter::<Block, Ix>(length - 1)
            };
            let last = while_(64, part.push::<Block>().dynamic(), |xs| xs.len().gt(60), step);
            generate(60usize, move |i| last.at(i)).push::<Block>()
        };
        xs.split_up(64).map(block).concat()
    };
    let xs = vec![5; 256];
    for compiler in devices() {
        let name = compiler.device().name();
        let expected = |i: usize| if i.is_multiple_of(2) { (i % 64 / 2) as i32 - 2 } else { 0 };
        let found = compiler.kernel("in_block", 64, in_block)?.run(&xs)?.to_vec()?;
        assert_eq!(found, (0..256).map(expected).collect::<Vec<_>>(), "{name}");
        let found = compiler.kernel("in_thread", 64, in_thread)?.run(&xs)?.to_vec()?;
        assert_eq!(found, vec![20; 256], "{name}");
        let found = compiler.kernel("in_loop", 64, in_loop)?.run(&xs)?.to_vec()?;
        // 64, 63 (32 of them), 62 (16), 61 (8), 60 (4).
        let one: Vec<i32> = (0..60).map(|i| if i < 4 { 5 } else { 0 }).collect();
        assert_eq!(found, one.repeat(4), "{name}");
    }
    Ok(())
}

#[test]
fn arrays_that_are_plainly_complete_are_not_zeroed_first() {
    use pumice::kernel::define;
    let complete = |f: fn(Pull<i32, Ix>) -> Push<Grid, i32, Ix>| {
        define("k", 64, f).ok().and_then(|kernel| kernel.outcome().map(|outcome| outcome.complete))
    };
    assert_eq!(complete(|xs| xs.push()), Some(true));
    assert_eq!(complete(|xs| xs.push_by(4)), Some(true));
    assert_eq!(complete(|xs| xs.split_up(4).map(|part| part.push::<Block>()).concat()), Some(true));
    let tiles = |xs: Pull<i32, Ix>| {
        let length = xs.len();
        xs.tiles(64)
            .map(|tile| tile.push::<Block>().force_within(64).reverse().push::<Block>())
            .concat_by(64, length)
    };
    assert_eq!(complete(tiles), Some(true));
    let if_whole = |xs: Pull<i32, Ix>| {
        let length = xs.len();
        let tile = |tile: Pull<i32, Ix>| {
            let here = tile.len();
            tile.if_whole(64, here, |tile| tile.push_by::<Block>(4), |tile| tile.push::<Block>())
        };
        xs.tiles(64).map(tile).concat_tiles(64, length)
    };
    assert_eq!(complete(if_whole), Some(true));
    let shorter = |xs: Pull<i32, Ix>| {
        let length = xs.len();
        xs.tiles(64).map(|tile| tile.take(3).push::<Block>()).concat_by(64, length)
    };
    assert_eq!(complete(shorter), Some(false));
    let inner = |xs: Pull<i32, Ix>| {
        let part = |part: Pull<i32>| part.imap(|i, x| (i / 2, x)).scatter::<Block, usize>(4);
        xs.split_up(4).map(part).concat()
    };
    assert_eq!(complete(inner), Some(false));
}
