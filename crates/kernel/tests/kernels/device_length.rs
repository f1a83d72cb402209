//! Kernels on arrays whose length only the device knows, on the simulator.

use pumice_kernel::{
    Block, BuildError, BuiltKernel, Grid, Ix, Pull, Push, Warp, Within, build, length_parameter,
    memory_parameter, scalar_parameter, warp,
};
use pumice_program::{Access, MemoryId, SimMemory, simulate, verify};
use pumice_scalar::{Constant, Elt, Exp, ScalarType};

const BOUND: usize = 100;

/// A kernel on a part of `input` whose length is in a cell, to `out`.
fn kernel(f: impl FnOnce(Pull<i32, Ix>, MemoryId)) -> Result<BuiltKernel, BuildError> {
    build("test", 32, || {
        // SAFETY: `run` passes these; the input has as many elements as the bound says.
        let (input, out) = unsafe {
            let out = memory_parameter("out", ScalarType::I32, Access::Write);
            let input = memory_parameter("input", ScalarType::I32, Access::Read);
            let bound: Ix = Exp::from_term(scalar_parameter("bound", ScalarType::I64));
            let length = length_parameter("cell", bound);
            (Pull::from_memory(length, vec![(input, ScalarType::I32)]), out)
        };
        f(input, out);
    })
}

fn bytes<T: Elt>(values: &[T]) -> Vec<u8> {
    let mut columns = Vec::new();
    T::add_columns(values, &mut columns);
    columns.remove(0).into_owned()
}

/// Runs a kernel on 0, 1, … 99, with this in the cell. What is not written is -1.
fn run(kernel: &BuiltKernel, cell: i64) -> Vec<i32> {
    let program = verify(kernel.program.clone()).expect("a valid program");
    let input: Vec<i32> = (0..BOUND as i32).collect();
    let mut memories = vec![
        SimMemory::from_bytes(bytes(&[-1i32; BOUND])),
        SimMemory::from_bytes(bytes(&input)),
        SimMemory::from_bytes(bytes(&[cell])),
    ];
    let scalars = [Constant::from(BOUND as i64)];
    simulate(&program, &mut memories, &scalars, &Default::default())
        .unwrap_or_else(|fault| panic!("{fault}\n{program}"));
    i32::from_columns(&mut std::iter::once(memories[0].bytes()), BOUND).expect("memory")
}

/// Writes a result; the simulator sees to it that the memory is long enough.
fn write_to<T: pumice_kernel::Storable>(push: &Push<Grid, T, Ix>, out: MemoryId) {
    // SAFETY: nothing else has this memory, and the simulator checks every access.
    unsafe { push.write_to(&[out]) };
}

#[test]
fn exactly_the_elements_below_the_length_are_written() {
    let kernel = kernel(|xs, out| write_to(&xs.map(|x| x + 1).push(), out)).expect("it is built");
    for (cell, length) in [(0, 0), (1, 1), (31, 31), (32, 32), (33, 33), (100, 100), (1000, 100), (-5, 0)] {
        let found = run(&kernel, cell);
        let expected: Vec<i32> = (0..BOUND as i32).map(|i| if i < length { i + 1 } else { -1 }).collect();
        assert_eq!(found, expected, "{cell}");
    }
}

#[test]
fn the_launch_is_for_the_bound_and_blocks_beyond_the_length_do_nothing() {
    let kernel = kernel(|xs, out| write_to(&xs.push(), out)).expect("it is built");
    let blocks = kernel.program.blocks_for(&[Constant::from(BOUND as i64)]).expect("the host knows them");
    assert_eq!(blocks, BOUND.div_ceil(32) as u64);
    let text = kernel.program.to_string();
    assert!(text.contains("if %test"), "blocks are not left out:\n{text}");
}

#[test]
fn blocks_that_wait_and_warps_that_exchange_do_so_below_the_length() {
    let kernel = kernel(|xs, out| {
        let sums = xs.tiles(32).map(|tile| {
            let lanes = tile.padded(32usize, 0.into());
            let forced = lanes.map(|x| x * 2).push::<Block>().force();
            let warps = Pull::<Push<Warp, i32>>::new(1, move |_| {
                forced.clone().map(|x| warp::shuffle_xor(x, 1)).push::<Warp>()
            });
            let swapped: Push<Block, i32> = warps.concat();
            let first = swapped.force();
            Pull::<i32>::new(1, move |_| first.at(0) + first.at(1)).push::<Block>()
        });
        let results: Push<Grid, i32, Ix> = sums.concat();
        write_to(&results, out);
    })
    .expect("it is built");
    let found = run(&kernel, 40);
    assert_eq!(found[..3], [2, 2 * (32 + 33), -1]);
}

#[test]
fn a_number_of_blocks_that_may_shrink_where_the_length_grows_is_refused() {
    let message = |blocks: fn(Ix) -> Ix| {
        let built = kernel(|xs, _| Block::distribute(blocks(xs.len()), &|_| {}));
        built.expect_err("it is not refused").to_string()
    };
    let shrinking: [fn(Ix) -> Ix; 4] =
        [|n| Exp::from(100) - n, |n| n * -1, |n| n % 7, |n| n.eq(3).select(n, n + 1)];
    for shrinking in shrinking {
        let message = message(shrinking);
        assert!(message.contains("not seen to grow"), "{message}");
        assert!(message.contains("distribute"), "{message}");
        assert!(message.contains("device_length.rs"), "{message}");
    }
    for growing in [|n: Ix| (n + 31) / 32, |n: Ix| (n - 1).max(0) * 3, |n: Ix| n.min(7)] {
        let built = kernel(|xs, _| Block::distribute(growing(xs.len()), &|_| {}));
        assert!(built.is_ok(), "{:?}", built.err());
    }
}

#[test]
fn a_number_of_blocks_that_is_an_element_is_refused() {
    let built = kernel(|xs, _| Block::distribute(xs.head().cast(), &|_| {}));
    let message = built.expect_err("it is not refused").to_string();
    assert!(message.contains("distribute"), "{message}");
}

#[test]
fn lengths_that_must_fit_are_checked_on_the_device() {
    // Nothing can be said before the launch, so the kernel checks.
    let kernel = kernel(|xs, out| {
        let halves = xs.clone().split_up(2).map(|two| two.at(0) + two.at(1));
        Block::distribute(1.into(), &|_| {
            let tile = halves.clone().padded(50usize, 0.into()).push::<Block>();
            // SAFETY: the output is longer than that.
            unsafe { tile.write_to(&[out]) };
        });
    })
    .expect("it is built");
    assert!(kernel.program.failure.is_some(), "nothing is checked");
}
