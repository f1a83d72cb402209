//! Limits on the nesting of conditions and loops and on the size of a kernel, and the messages about a kernel that is not
//! possible. All of it in a thread with the stack that Rust gives to threads.

use pumice_kernel::{
    Block, BuildError, Definition, Grid, Ix, Loops, Mutable, Passes, Profile, Pull, Within, cond, define,
    preview, ready, seq_for, seq_until,
};
use pumice_program::MAX_NESTING;
use pumice_scalar::{Exp, cond as choose, constant, while_};
use std::time::Instant;

fn in_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(f).expect("a thread starts");
    thread.join().expect("it neither panics nor runs out of stack");
}

fn gpu() -> Profile {
    Profile { shared_bytes: 48 << 10, ..Profile::large_gpu() }
}

/// The kernel takes the passes, and its text can be read again.
#[track_caller]
fn possible(definition: Result<Definition, BuildError>) {
    let definition = definition.unwrap_or_else(|error| panic!("{error}"));
    let program = definition.kernel().program.clone();
    let ready = ready(program, &gpu(), Passes::default(), &Default::default());
    let ready = ready.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(pumice_program::parse(&ready.program.to_string()).as_ref(), Ok(&*ready.program));
}

#[track_caller]
fn too_deep(definition: Result<Definition, BuildError>, operation: &str) {
    let message = definition.expect_err("it is too deep").to_string();
    for part in
        ["nested more than 200 deep", &format!(" in {operation} at crates/kernel/tests/kernels/depth.rs:")]
    {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

/// A kernel of one thread that changes memory.
fn one_thread(f: impl Fn(&Mutable<i32>)) -> Result<Definition, BuildError> {
    define("deep", 32, move |memory: Mutable<i32>| {
        Block::distribute(1.into(), &|_| Block::for_each(1.into(), &|_| f(&memory)));
    })
}

#[test]
fn a_table_of_cases_may_have_any_length() {
    let cases = |x: Exp<i32>, count: i32| {
        (0..count).rev().fold(constant(-1), |rest, k| choose(x.eq(k), || constant(k * 3), || rest))
    };
    in_a_small_stack(move || {
        let found = preview(32, &[0, 63, 64, 999, 1000], move |xs: Pull<i32, Ix>| {
            xs.map(move |x| cases(x, 1000)).push::<Grid>()
        });
        assert_eq!(found.unwrap(), [0, 189, 192, 2997, -1]);
        possible(define("cases", 32, move |xs: Pull<i32, Ix>| {
            xs.map(move |x| cases(x, 20_000)).push::<Grid>()
        }));
    });
}

#[test]
fn conditions_on_what_may_fail_are_nested_up_to_the_limit() {
    let divisions = |levels: i32| {
        define("divisions", 32, move |xs: Pull<i32, Ix>| {
            let nested = move |x: Exp<i32>| {
                (0..levels).fold(x, |rest, k| choose(x.gt(k), || constant(100) / (rest - k), || constant(k)))
            };
            xs.map(nested).push::<Grid>()
        })
    };
    in_a_small_stack(move || {
        // The loop over threads and the test for the end of the array are around them.
        possible(divisions(MAX_NESTING as i32 - 3));
        too_deep(divisions(20_000), "push");
    });
}

#[test]
fn nested_conditions_with_effects() {
    fn nest(memory: &Mutable<i32>, levels: usize) {
        match levels {
            0 => memory.write(0, 1.into()),
            _ => {
                let value = memory.read(0);
                cond(value.gt(levels as i32), || nest(memory, levels - 1), || memory.write(1, value));
            }
        }
    }
    in_a_small_stack(|| {
        possible(one_thread(|memory| nest(memory, MAX_NESTING - 5)));
        for levels in [MAX_NESTING, 20_000] {
            let message = one_thread(|memory| nest(memory, levels)).expect_err("it is too deep").to_string();
            assert!(message.contains("nested more than 200 deep"), "{message}");
        }
    });
}

#[test]
fn nested_loops() {
    fn counted(memory: &Mutable<i32>, levels: usize, sum: Exp<i32>) -> Exp<i32> {
        let inner = |sum, i: Ix| counted(memory, levels - 1, sum + i.cast());
        if levels == 0 { sum + 1 } else { seq_for::<i32>(memory.len(), 1, sum, inner) }
    }
    fn until(levels: usize, sum: Exp<i32>) -> Exp<i32> {
        let inner = |sum| until(levels - 1, sum + 1);
        if levels == 0 { sum + 1 } else { seq_until::<i32>(sum, |sum| sum.gt(levels as i32), inner) }
    }
    fn pure(levels: usize, sum: Exp<i32>) -> Exp<i32> {
        let inner = |sum| pure(levels - 1, sum + 1);
        if levels == 0 { sum + 1 } else { while_(sum, |sum| sum.lt(levels as i32), inner) }
    }
    in_a_small_stack(|| {
        let most = MAX_NESTING - 3;
        possible(one_thread(|memory| memory.write(0, counted(memory, most, 0.into()))));
        possible(one_thread(|memory| memory.write(0, until(most, 0.into()))));
        possible(one_thread(|memory| memory.write(0, pure(most, memory.read(0)))));
        let deep = MAX_NESTING + 1;
        too_deep(one_thread(|memory| memory.write(0, counted(memory, 20_000, 0.into()))), "seq_for");
        too_deep(one_thread(|memory| memory.write(0, until(20_000, 0.into()))), "seq_until");
        too_deep(one_thread(|memory| memory.write(0, pure(deep, memory.read(0)))), "write");
    });
}

#[test]
fn building_takes_time_in_proportion_to_the_kernel() {
    let seconds = |updates: i64| {
        let start = Instant::now();
        let built = one_thread(|memory| {
            for k in 0..updates {
                memory.write(Exp::from(k % 7), memory.read(k % 64) * 3 + k as i32);
            }
        });
        built.unwrap_or_else(|error| panic!("{error}"));
        start.elapsed().as_secs_f64()
    };
    let (few, many) = (seconds(1_000), seconds(16_000));
    // 16 times as much; it was 250 times as long when each update looked at all that came before.
    assert!(many < 80.0 * few.max(0.01), "{few} s for 1,000 updates, {many} s for 16,000");
}

#[test]
fn a_block_may_force_thousands_of_arrays() {
    let start = Instant::now();
    possible(define("forces", 32, |xs: Pull<i32, Ix>| {
        let blocks = xs.split_up(32).map(|part| {
            (0..4_000).fold(part, |part, k| part.map(move |x| x + k).push::<Block>().force()).push::<Block>()
        });
        blocks.concat()
    }));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
