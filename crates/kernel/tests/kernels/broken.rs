//! A collection of broken kernels: each is caught, when it is built or when it is simulated, and the message says where.

use pumice_kernel::{
    Block, Grid, Ix, Loops, Mutable, Pull, Push, Thread, Warp, Within, cond, define, fence_grid, generate,
    preview, replicate, warp,
};
use pumice_program::{Fault, FaultKind, SimMemory, parse, simulate, verify};
use pumice_scalar::{Constant, Exp, ScalarType};

/// Returns the message with which a kernel on 0, 1, … 63 with blocks of 32 threads is refused.
#[track_caller]
fn refused(kernel: impl Fn(Pull<i32, Ix>) -> Push<Grid, i32, Ix>) -> String {
    let input: Vec<i32> = (0..64).collect();
    match preview(32, &input, kernel) {
        Ok(result) => panic!("it was not caught: {result:?}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn a_missing_force() {
    let written = line!() + 4;
    let message = refused(|xs| {
        let blocks = xs.split_up(64).map(|part| {
            // SAFETY: it is not: the simulator is to find that out.
            let written = unsafe { part.push::<Block>().unsafe_write() };
            written.reverse().push::<Block>()
        });
        blocks.concat()
    });
    // Both places: the write and the read.
    let place = |line: u32| format!("push at crates/kernel/tests/kernels/broken.rs:{line}");
    says(&message, &["race", &place(written), &place(written + 1)]);
}

#[test]
fn an_overlapping_scatter() {
    let message = refused(|xs| {
        let length = xs.len();
        xs.imap(|i, x| (i / 2, x)).scatter(length)
    });
    says(&message, &["race", "scatter at crates/kernel/tests/kernels/broken.rs"]);
}

#[test]
fn a_scatter_that_overlaps_between_blocks() {
    let message = refused(|xs| {
        let length = xs.len();
        xs.imap(|i, x| (i % 32, x)).scatter(length)
    });
    says(&message, &["race", "block", "scatter at crates/kernel/tests/kernels/broken.rs"]);
}

#[test]
fn a_halo_out_of_bounds() {
    let message = refused(|xs| {
        let length = xs.len();
        generate(length, move |i| xs.at(i - 1) + xs.at(i) + xs.at(i + 1)).push()
    });
    says(&message, &["index -1 out of bounds for length 64 in at at crates/kernel/tests/kernels/broken.rs"]);
}

#[test]
fn a_write_out_of_bounds() {
    let message = refused(|xs| xs.push::<Grid>().ix_map(|i| i + 1));
    says(
        &message,
        &["index 64 out of bounds for length 64 in ix_map at crates/kernel/tests/kernels/broken.rs"],
    );
}

#[test]
fn a_barrier_under_a_condition_on_the_thread() {
    let message = refused(|xs| {
        let blocks = xs.split_up(32).map(|part| {
            let whole = part.clone();
            part.map(move |x| {
                let whole = whole.clone();
                cond(x.gt(3), move || drop(whole.push::<Block>().force()), || {});
                x
            })
            .push::<Block>()
        });
        blocks.concat()
    });
    says(&message, &["a single thread is at work", "crates/kernel/tests/kernels/broken.rs"]);
}

#[test]
fn a_barrier_under_a_condition_in_program_ir() {
    let text = "kernel k memory @out: global write i64 params @out threads 4 blocks %block: i64 < 1:i64
        body {
          parallel %i: i64 < 4:i64 {
            // the guilty one
            %c: bool = lt %i, 2:i64
            if %c { sync }
            store @out[%i] = %i
          }
        }";
    let program = parse(text).expect("it is well formed but for the barrier");
    assert!(pumice_program::verify(program.clone()).is_err());
    let fault = simulate(&program, &mut [SimMemory::unwritten(32)], &[], &Default::default());
    let fault = fault.expect_err("it is caught");
    assert_eq!((fault.kind, fault.place.as_deref()), (FaultKind::Barrier, Some("the guilty one")));
}

#[test]
fn an_update_that_is_not_atomic() {
    let message = refused(|xs| {
        let blocks = xs.split_up(64).map(|part| {
            let total = Mutable::shared(replicate(1, Exp::<i32>::from(0)));
            let cell = total.clone();
            let add = part.map(move |x| {
                cell.write(0, cell.read(0) + x);
                x
            });
            add.push::<Block>()
        });
        blocks.concat()
    });
    says(&message, &["race", "write at crates/kernel/tests/kernels/broken.rs"]);
}

#[test]
fn an_array_that_outgrows_its_memory() {
    let message = refused(|xs| {
        let length = xs.len();
        let blocks = xs.tiles(32).map(|tile| tile.push::<Block>().force_within(16).push::<Block>());
        blocks.concat_by(32, length)
    });
    says(&message, &["index 16 out of bounds for length 16 in force"]);
}

#[test]
fn a_shuffle_under_a_condition_on_the_lane() {
    let written = line!() + 5;
    let message = refused(|xs| {
        let warps = xs.split_up(32).map(|part| {
            part.map(|x| {
                let exchange = move || {
                    warp::shuffle_down(x, 1);
                };
                cond(x.gt(3), exchange, || {});
                x
            })
            .push::<Warp>()
        });
        warps.concat()
    });
    // Both places: the collective, and the condition that decides which threads reach it.
    let place =
        |operation: &str, line: u32| format!("({operation} at crates/kernel/tests/kernels/broken.rs:{line})");
    says(&message, &["from thread to thread", &place("shuffle_down", written), &place("cond", written + 2)]);
    assert!(!message.contains('%') && !message.contains("`if`"), "no names of ours: {message}");
}

#[test]
fn memory_that_nobody_wrote() {
    let message = refused(|xs| {
        // Only the even elements are written, and all are read.
        let blocks = xs.split_up(64).map(|part| {
            let half = Push::<Block, i32>::new(64, move |write| {
                part.clone().every_nth(2).push::<Block>().write(&|i, x| write(i * 2, x));
            });
            // SAFETY: it is not: the simulator is to find that out.
            let half = unsafe { half.assume_complete() };
            half.force().push::<Block>()
        });
        blocks.concat()
    });
    says(&message, &["nobody has written"]);
}

#[test]
fn levels_in_the_wrong_place() {
    // Two grids in one kernel.
    let message = refused(|xs| xs.clone().push::<Grid>().append(xs.push::<Grid>()));
    says(&message, &["more than once"]);
    // A block's work inside a thread's.
    let message = refused(|xs| {
        let rows = xs.split_up(32).map(|part| {
            let whole = part.clone();
            part.map(move |x| x + whole.clone().push::<Block>().force().at(0)).push::<Thread>()
        });
        rows.concat()
    });
    says(&message, &["where a single thread is at work"]);
    // Warps in a block that has none.
    let message =
        preview(20, &[1, 2, 3], |xs: Pull<i32, Ix>| xs.split_up(1).map(|one| one.push::<Warp>()).concat());
    says(&message.expect_err("it is caught").to_string(), &["20 threads"]);
}

/// Every block writes a part and counts; the last one adds up the parts.
fn last_block(before: bool, after: bool) -> Result<i32, Box<Fault>> {
    let definition =
        define("total", 32, move |xs: Pull<i32, Ix>, parts: Mutable<i32>, done: Mutable<i64>| {
            let tiles = xs.tiles(4);
            Block::distribute(tiles.len(), &|block| {
                Block::for_each(1.into(), &|_| {
                    parts.write(block + 1, tiles.at(block).seq_reduce(0.into(), |a, b| a + b));
                    if before {
                        fence_grid();
                    }
                    let count = done.atomic_add(0, 1);
                    let sum = || {
                        if after {
                            fence_grid();
                        }
                        let from = parts.clone();
                        let all = Pull::<i32, Ix>::new(tiles.len(), move |i| from.read(i + 1));
                        parts.write(0, all.seq_reduce(0.into(), |a, b| a + b));
                    };
                    cond(count.eq(tiles.len() - 1), sum, || {});
                });
            });
        });
    let program = verify(definition.unwrap().kernel().program.clone()).unwrap();
    let xs: Vec<Constant> = (1..=12i32).map(Constant::from).collect();
    let zeros = |count: usize| SimMemory::from_bytes(vec![0; count]);
    let mut memories = [SimMemory::from_constants(&xs), zeros(16), zeros(8), zeros(24)];
    let scalars: Vec<Constant> = [12i64, 4, 1, 0].into_iter().map(Constant::from).collect();
    simulate(&program, &mut memories, &scalars, &Default::default())?;
    Ok(memories[1].get(ScalarType::I32, 0).unwrap().bits() as i32)
}

#[test]
fn a_missing_fence_beside_a_count() {
    assert_eq!(last_block(true, true).map_err(|fault| fault.to_string()), Ok(78));
    for (before, after) in [(false, true), (true, false)] {
        let fault = last_block(before, after).expect_err("it is caught");
        assert_eq!(fault.kind, FaultKind::Race);
        let here = "crates/kernel/tests/kernels/broken.rs";
        says(
            &fault.to_string(),
            &[&format!("read at {here}"), &format!("write at {here}"), "orders the two blocks"],
        );
    }
}

/// A kernel of one block, which does `f`.
#[track_caller]
fn block_refused(f: impl Fn(Mutable<i32>) + 'static) -> String {
    let built = define("k", 32, move |memory: Mutable<i32>| {
        Block::distribute(1.into(), &|_| f(memory.clone()));
    });
    built.expect_err("it is caught").to_string()
}

#[test]
fn messages_name_the_operation_and_the_line_as_the_user_wrote_them() {
    let first = line!();
    let cases: [(&str, &str, String); 9] = [
        ("atomic_add", "a block as a whole", block_refused(|memory| drop(vec![memory.atomic_add(0, 1)]))),
        ("acquire", "a block as a whole", block_refused(|memory| drop(vec![memory.acquire(0)]))),
        ("write", "a block as a whole", block_refused(|memory| memory.write(0, 1.into()))),
        ("fence_grid", "a block as a whole", block_refused(|_| fence_grid())),
        (
            "shuffle_up",
            "a block as a whole",
            block_refused(|_| drop(vec![warp::shuffle_up(Exp::from(1), 1)])),
        ),
        ("vote_any", "a block as a whole", block_refused(|m| drop(vec![warp::vote_any(m.len().gt(1))]))),
        ("for_each", "not a warp", block_refused(|_| Warp::for_each(1.into(), &|_| {}))),
        ("for_each", "a grid inside a grid", block_refused(|_| Grid::for_each(1.into(), &|_| {}))),
        ("distribute", "a grid inside a grid", block_refused(|_| Block::distribute(1.into(), &|_| {}))),
    ];
    let last = line!();
    for (operation, words, message) in &cases {
        says(message, &[words]);
        let (_, line) = message
            .split_once(&format!(" in {operation} at crates/kernel/tests/kernels/broken.rs:"))
            .unwrap_or_else(|| panic!("no place of {operation} in: {message}"));
        let line: u32 = line.parse().expect("the message ends with the line");
        assert!((first..last).contains(&line) && !message.contains('%'), "{message}");
    }
}

#[test]
fn a_failed_update_is_called_what_the_user_called_it() {
    let definition = define("k", 32, |memory: Mutable<i32>| {
        Block::distribute(1.into(), &|_| {
            Block::for_each(1.into(), &|_| drop(vec![memory.atomic_add(9, 1), memory.atomic_max(9, 1)]));
        });
    });
    let definition = definition.unwrap();
    let operations: Vec<&str> = definition.kernel().sites.iter().map(|site| site.place.operation()).collect();
    assert_eq!(operations, ["atomic_add", "atomic_max"]);
}

#[test]
fn a_threads_own_memory_where_a_block_is_at_work() {
    let line = line!() + 4;
    let message = refused(|xs| {
        let blocks = xs.split_up(32).map(|part| {
            let own = Mutable::own(replicate(1, Exp::<i32>::from(0)));
            let first = own.read(0);
            part.map(move |x| x + first).push::<Block>()
        });
        blocks.concat()
    });
    let place = format!("in read at crates/kernel/tests/kernels/broken.rs:{line}");
    says(&message, &["memory that each thread has for itself", "a block as a whole is at work", &place]);
}

#[test]
fn a_value_outside_its_loop() {
    let message = refused(|xs| {
        let blocks = xs.split_up(32).map(|part| {
            let kept = std::rc::Rc::new(std::cell::Cell::new(None));
            let keep = kept.clone();
            part.clone()
                .imap(move |i, x| {
                    keep.set(Some(i));
                    x
                })
                .push::<Block>()
                .force();
            let index = kept.get().unwrap_or(0.into());
            part.map(move |x| x + index.cast::<i32>()).push::<Block>()
        });
        blocks.concat()
    });
    says(&message, &["outside the loop", "in push at crates/kernel/tests/kernels/broken.rs:"]);
    assert!(!message.contains("Local"), "{message}");
}
