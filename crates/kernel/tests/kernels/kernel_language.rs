//! BuiltKernel-language programs, built and run on the simulator, which finds races and out-of-bounds accesses on the way.

use pumice_kernel::skeletons::{Fold, FoldPlan, FoldTask, WritePlan, can_write_tiles, write, write_tiles};
use pumice_kernel::{
    Block, BuiltKernel, Forces, Grid, Ix, Profile, Pull, Push, Size, Storable, build, memory_parameter,
    scalar_parameter,
};
use pumice_program::{Access, MemoryId, SimMemory, simulate, verify};
use pumice_scalar::{Constant, Elt, Exp, ScalarType};
use std::rc::Rc;

/// As the design gives it: a Rust loop, unrolled while the kernel is built.
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

fn sum_blocks(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    xs.split_up(32).map(|chunk| reduce::<Block, _>(chunk, |a, b| a + b)).concat()
}

/// Writes a result; the simulator, where these kernels run, sees to it that the memory is long enough.
fn write_to<T: Storable, S: Size>(push: &Push<Grid, T, S>, out: MemoryId) {
    // SAFETY: nothing else has this memory, and the simulator checks every access.
    unsafe { push.write_to(&[out]) };
}

/// A kernel from `input: i32` and `n` to `out: i32`.
fn kernel(threads: u32, f: impl FnOnce(Pull<i32, Ix>, MemoryId)) -> BuiltKernel {
    build("test", threads, || {
        // SAFETY: `run` passes these, the input with as many elements as it says.
        let (input, out) = unsafe {
            let out = memory_parameter("out", ScalarType::I32, Access::Write);
            let input = memory_parameter("input", ScalarType::I32, Access::Read);
            let n: Ix = Exp::from_term(scalar_parameter("n", ScalarType::I64));
            (Pull::from_memory(n, vec![(input, ScalarType::I32)]), out)
        };
        f(input, out);
    })
    .expect("the kernel is well formed")
}

fn run(kernel: BuiltKernel, input: &[i32], out: usize) -> Vec<i32> {
    let program = verify(kernel.program).expect("skeletons make valid programs");
    let mut columns = Vec::new();
    i32::add_columns(input, &mut columns);
    let mut memories =
        vec![SimMemory::unwritten(out * 4), SimMemory::from_bytes(columns.remove(0).into_owned())];
    let mut scalars = vec![Constant::from(input.len() as i64)];
    // Where failed checks are recorded, for kernels that have some.
    if program.failure.is_some() {
        memories.push(SimMemory::from_bytes(vec![0; 24]));
        scalars.push(Constant::from(0i64));
    }
    simulate(&program, &mut memories, &scalars, &Default::default())
        .unwrap_or_else(|fault| panic!("{fault}\n{program}"));
    i32::from_columns(&mut std::iter::once(memories[0].bytes()), out).expect("memory")
}

#[test]
fn the_designs_example_sums_blocks() {
    let input: Vec<i32> = (0..100).collect();
    let sums = kernel(16, |xs, out| write_to(&sum_blocks(xs), out));
    let expected: Vec<i32> = input.chunks_exact(32).map(|chunk| chunk.iter().sum()).collect();
    assert_eq!(run(sums, &input, 3), expected);
}

#[test]
fn even_odds_and_zip_take_apart_and_together() {
    let pairs = kernel(8, |xs, out| {
        let (even, odd) = xs.even_odds();
        write_to(&even.zip_with(odd, |a, b| a * b).push::<Grid>(), out);
    });
    assert_eq!(run(pairs, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5), [2, 12, 30, 56, 90]);
}

/// Two devices: one like a GPU, one like a CPU, both with blocks so small that every path is taken.
fn profiles() -> [Profile; 2] {
    let gpu = Profile {
        threads: 8,
        lanes: 4,
        max_threads: 8,
        shared_bytes: 4096,
        max_blocks: 1 << 20,
        busy_blocks: 6,
        ..Profile::large_gpu()
    };
    let cpu = Profile { threads: 16, lanes: 4, vector_bytes: 0, coalesces: false, ..gpu.clone() };
    [gpu, cpu]
}

#[test]
fn writing_takes_every_size() {
    for profile in profiles() {
        let plan = WritePlan::new(&profile, 4, 1);
        for n in [0, 1, 7, 8, 31, 32, 33, 64, 100] {
            let input: Vec<i32> = (0..n).map(|i| i * i).collect();
            let doubled = kernel(plan.threads, |xs, out| write_to(&write(xs.map(|x| x + x), plan), out));
            let expected: Vec<i32> = input.iter().map(|x| x + x).collect();
            assert_eq!(run(doubled, &input, n as usize), expected, "{n} elements, {plan:?}");
        }
    }
}

#[test]
fn tiles_are_of_every_size() {
    let profiles = profiles().map(|profile| Profile { threads: 32, shared_bytes: 1 << 16, ..profile });
    for profile in profiles {
        for (rows, columns) in [(32, 32), (32, 33), (65, 40), (33, 100)] {
            assert!(can_write_tiles(&profile, rows, columns, 4));
            let input: Vec<i32> = (0..(rows * columns) as i32).collect();
            let turned = kernel(profile.threads, |xs, out| {
                let at = move |row: Ix, column: Ix| xs.at(column * rows + row);
                write_to(&write_tiles::<i32>(&profile, rows.into(), columns.into(), Rc::new(at)), out);
            });
            let element = |i: i64| input[(i % columns * rows + i / columns) as usize];
            let expected: Vec<i32> = (0..rows * columns).map(element).collect();
            let found = run(turned, &input, input.len());
            assert_eq!(found, expected, "{rows} by {columns}, coalesces: {}", profile.coalesces);
        }
    }
}

#[test]
fn folding_takes_every_size_and_keeps_the_order() {
    for profile in profiles() {
        for (rows, columns) in
            [(1, 0), (3, 0), (1, 1), (5, 3), (40, 4), (7, 17), (3, 64), (2, 257), (1, 5000)]
        {
            for (commutes, columns_are_contiguous) in
                [(true, false), (false, false), (true, true), (false, true)]
            {
                let task = FoldTask {
                    rows,
                    columns,
                    bytes: 4,
                    commutes,
                    columns_are_contiguous,
                    chooses: !commutes,
                };
                let plan = FoldPlan { chunks: 1, ..FoldPlan::new(&profile, task) };
                let input: Vec<i32> = (0..rows * columns).map(|i| (i * 7 % 23) as i32 - 3).collect();
                // Not commutative: keep the left one unless it is zero. Commutative: the sum.
                let folded = kernel(plan.threads, |xs, out| {
                    let at = move |row: Ix, column: Ix| xs.at(row * columns + column);
                    let operator = move |a: Exp<i32>, b: Exp<i32>| match commutes {
                        true => a + b,
                        false => a.eq(0).select(b, a),
                    };
                    let fold = Fold::<i32, _> {
                        rows: Exp::from(rows),
                        columns: Exp::from(columns),
                        cut: None,
                        at: Rc::new(at),
                        operator,
                        neutral: Exp::from(0),
                        total: true,
                    };
                    write_to(&fold.push(plan), out);
                });
                let row = |row: i64| {
                    let row = &input[(row * columns) as usize..((row + 1) * columns) as usize];
                    match commutes {
                        true => row.iter().sum(),
                        false => row.iter().copied().find(|x| *x != 0).unwrap_or(0),
                    }
                };
                let expected: Vec<i32> = (0..rows).map(row).collect();
                assert_eq!(run(folded, &input, rows as usize), expected, "{rows} x {columns}, {plan:?}");
            }
        }
    }
}

#[test]
fn a_kernel_without_a_grid_is_refused() {
    assert!(build("nothing", 32, || {}).is_err());
}

#[test]
fn elements_as_several_and_with_their_partners() {
    for length in [0, 1, 7, 130] {
        let xs: Vec<i32> = (0..length).map(|x| x * 3 % 11).collect();
        let both = kernel(32, |input, out| {
            let numbered = input.push::<Grid>().imap(|i, x| x * 100 + i.cast::<i32>());
            write_to(&numbered.unpack(2, |x| vec![x, x + 1]), out);
        });
        let numbered = xs.iter().zip(0..).map(|(x, i)| x * 100 + i);
        let expected: Vec<i32> = numbered.flat_map(|x| [x, x + 1]).collect();
        assert_eq!(run(both, &xs, expected.len()), expected);
    }
    for (blocks, mask) in [(0, 1), (1, 0b11), (5, 0b110)] {
        let xs: Vec<i32> = (0..blocks * 8).map(|x| x * 5 % 13).collect();
        let stage = kernel(32, |input, out| {
            let eights = input.split_up(8);
            let exchanged =
                eights.map(move |eight| eight.pairwise::<Block, _>(mask, |a, b| a.min(b), |a, b| a.max(b)));
            write_to(&exchanged.concat::<Grid>(), out);
        });
        let top = 1 << mask.ilog2();
        let value = |i: usize| {
            let (own, other) = (xs[i], xs[i ^ mask as usize]);
            if i & top == 0 { own.min(other) } else { own.max(other) }
        };
        assert_eq!(run(stage, &xs, xs.len()), (0..xs.len()).map(value).collect::<Vec<i32>>());
    }
}
