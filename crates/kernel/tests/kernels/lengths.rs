//! No operation drops elements unless its name says so: lengths that do not fit together are an error while the kernel is
//! built, when it is launched, or when it runs, whichever is first to know.

use pumice_kernel::{
    Block, Forces, Grid, Ix, KernelArgument, Layout, Passes, Profile, Pull, Push, Rows, Storable, define,
    generate, iota, preview, while_,
};
use pumice_scalar::Exp;

const PROFILE: Profile = Profile {
    threads: 32,
    shared_bytes: 48 << 10,
    max_blocks: 1 << 20,
    busy_blocks: 8,
    ..Profile::large_gpu()
};

type Numbers = Pull<i32, Ix>;

/// Checks that a kernel on 1, 1, … is refused, with a message that contains these parts.
#[track_caller]
fn refused(length: usize, parts: &[&str], f: impl Fn(Numbers) -> Push<Grid, i32, Ix>) {
    let message = match preview(32, &vec![1; length], f) {
        Ok(result) => panic!("it was not refused: {result:?}"),
        Err(error) => error.to_string(),
    };
    let place = "crates/kernel/tests/kernels/lengths.rs:";
    for part in parts.iter().chain([&place]) {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
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

fn sums(size: usize) -> impl Fn(Numbers) -> Push<Grid, i32, Ix> {
    move |xs| xs.split_up(size).map(|chunk| reduce::<Block, _>(chunk, |a, b| a + b)).concat()
}

#[test]
fn a_reduction_of_an_odd_length_is_refused_while_the_kernel_is_built() {
    assert_eq!(preview(32, &[1; 128], sums(128)), Ok(vec![128]));
    refused(100, &["arrays of 12 and of 13 elements in zip_with", "take(12)", "padded"], sums(100));
}

#[test]
fn parts_that_are_not_filled_are_refused_at_the_launch() {
    let message = ["100 elements do not fill parts of 32 in split_up", "tiles"];
    refused(100, &message, |xs| xs.split_up(32).map(|part| part.head()).push());
    refused(100, &["do not fill parts of 0"], |xs| xs.split_up(0).map(|_| Exp::from(1)).push());
    refused(5, &["5 elements do not fill parts of 2 in pair"], |xs| xs.pair().map(|(a, b)| a + b).push());
    refused(5, &["parts of 2 in coalesce"], |xs| xs.coalesce(2).map(|part| part.head()).push());
    refused(5, &["parts of 2 in coalesce_by"], |xs| xs.coalesce_by(2, 2).map(|part| part.head()).push());
    refused(6, &["3 elements do not fill parts of 2"], |xs| {
        xs.coalesce_by(3, 2).map(|part| part.head()).push()
    });
    refused(5, &["parts of 3 in rows"], |xs| xs.rows(3.into()).map(|row| row.head()).push());
    refused(5, &["parts of 0 in rows"], |xs| xs.rows(0.into()).map(|_| Exp::from(1)).push());
    refused(6, &["6 elements do not fill parts of 4 in bin_split"], |xs| {
        xs.split_up(6).map(|six| six.bin_split(2, |part| part).push::<Block>()).concat()
    });
    // Nothing is left over of nothing.
    assert_eq!(preview(32, &[], |xs: Numbers| xs.split_up(32).map(|part| part.head()).push()), Ok(vec![]));
    assert_eq!(preview(32, &[], |xs: Numbers| xs.rows(0.into()).map(|_| Exp::from(1)).push()), Ok(vec![]));
}

#[test]
fn arrays_of_different_lengths_are_refused_at_the_launch() {
    refused(9, &["arrays of 9 and of 8 elements in zip_with", "take(8)"], |xs| {
        xs.clone().zip_with(xs.drop(1), |a, b| a + b).push()
    });
    refused(9, &["arrays of 9 and of 7 elements in zip at"], |xs| {
        xs.clone().zip(xs.drop(2)).map(|(a, b)| a + b).push()
    });
    refused(9, &["in zip_with3"], |xs| {
        let length = xs.len();
        let third = generate(length + 1, |_| Exp::from(1));
        xs.clone().zip_with3(xs, third, |a, b, c| a + b + c).push()
    });
    refused(9, &["9 elements, and there is room for 8 in padded"], |xs| {
        xs.padded(8usize, 0.into()).push().dynamic()
    });
    let shorter = |xs: Numbers| xs.clone().take(8).zip_with(xs.drop(1), |a, b| a + b).push();
    assert_eq!(preview(32, &[1; 9], shorter), Ok(vec![2; 8]));
}

#[test]
fn a_launch_is_checked_without_the_device() {
    let add = |xs: Numbers, ys: Numbers| -> Push<Grid, i32, Ix> { xs.zip_with(ys, |a, b| a + b).push() };
    let definition = define("add", 32, add).unwrap();
    let specialised = |a, b| {
        definition.specialise(
            &[KernelArgument::Length(a), KernelArgument::Length(b)],
            &PROFILE,
            Passes::default(),
        )
    };
    let ready = specialised(1000, 1000).unwrap();
    assert_eq!((ready.length, ready.program.failure), (Some(1000), None));
    let error = specialised(1000, 999).unwrap_err().to_string();
    assert!(error.contains("arrays of 1000 and of 999 elements in zip_with at"), "{error}");
    assert!(definition.length_for(&[KernelArgument::Length(1), KernelArgument::Length(2)]).is_err());
    // The same where nothing is given back.
    let split = define("split", 32, |xs: Numbers, out: pumice_kernel::Mutable<i32>| {
        let parts = xs.split_up(4);
        <Grid as pumice_kernel::Loops>::for_each(parts.len(), &|i| out.write(i, parts.at(i).head()));
    });
    let split = split.unwrap();
    let specialised = |n| {
        split.specialise(&[KernelArgument::Length(n), KernelArgument::Length(8)], &PROFILE, Passes::default())
    };
    assert!(specialised(8).is_ok());
    assert!(specialised(9).unwrap_err().to_string().contains("9 elements do not fill parts of 4"));
}

#[test]
fn lengths_that_only_the_device_knows_are_checked_there() {
    let halved = |xs: Numbers| {
        let sums = xs.tiles(64).map(|tile| {
            let step = |xs: Pull<i32, Ix>| {
                let (low, high) = xs.halve();
                low.zip_with(high, |a, b| a + b).push::<Block>()
            };
            while_(64, tile.push(), |xs| xs.len().gt(1), step).take(1).push::<Block>()
        });
        let tiles = sums.len();
        sums.concat_by(1, tiles)
    };
    assert_eq!(preview(32, &[1; 128], halved), Ok(vec![64, 64]));
    refused(64 + 24, &["arrays of 1 and of 2 elements in zip_with"], halved);
    // Tiles of two arrays that are as long as each other, whatever the arrays are.
    let tiled = |xs: Numbers| {
        let length = xs.len();
        let others = iota(length).tiles(64);
        let tiles = xs
            .tiles(64)
            .zip_with(others, |a, b| a.zip_with(b.map(|i| i.cast::<i32>()), |a, b| a + b).push::<Block>());
        tiles.concat_tiles(64, length)
    };
    assert_eq!(preview(32, &[1; 100], tiled), Ok((1..=100).collect()));
    let definition = define("tiled", 32, tiled).unwrap();
    let ready = definition.specialise(&[KernelArgument::Length(100)], &PROFILE, Passes::default()).unwrap();
    assert_eq!(ready.program.failure, None, "{}", *ready.program);
}

#[test]
fn tiles_that_do_not_fit_into_memory_are_refused() {
    let forced = |side: i64| {
        move |xs: Numbers| {
            let matrix: Rows<i32> = xs.rows(4.into());
            let block = move |_: Ix| {
                let tile = matrix.clone().force_2d_as(side.into(), 4.into(), 2, Layout::Plain);
                generate(1usize, move |_| tile.at(0).at(0)).push::<Block>()
            };
            Pull::<Push<Block, i32>, Ix>::new(1.into(), block).concat()
        }
    };
    refused(16, &["4 elements, and there is room for 2 in force_2d"], forced(4));
}

/// `pumice::cond` chooses between values: what its sides do is done by all lanes.
#[test]
fn a_shuffle_in_a_choice_of_values_is_done_by_all_lanes() {
    let exchanged = |xs: Numbers| {
        let warps = xs.split_up(32).map(|part| {
            let lanes = part
                .imap(|i, x| pumice_scalar::cond(i.lt(8), || pumice_kernel::warp::shuffle_xor(x, 1), || x));
            lanes.push::<pumice_kernel::Warp>()
        });
        warps.concat()
    };
    let xs: Vec<i32> = (0..32).collect();
    let expected: Vec<i32> = xs.iter().map(|x| if *x < 8 { x ^ 1 } else { *x }).collect();
    assert_eq!(preview(32, &xs, exchanged), Ok(expected));
}

#[test]
fn parts_that_are_longer_than_their_stride_are_refused() {
    refused(8, &["4 elements, and there is room for 2 in concat"], |xs| {
        xs.split_up(4).map(|part| part.push::<Block>()).concat_by(2, 16usize).dynamic()
    });
}
