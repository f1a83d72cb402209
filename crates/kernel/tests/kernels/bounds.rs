//! Kernels stay in bounds, whatever lengths they are given: an index that is out of bounds is a check that fails, an
//! error before the launch or a mistake while the kernel is built. Every kernel here runs on the simulator, as it was
//! described and after the passes for its arguments.

use proptest::prelude::*;
use pumice_kernel::{
    Binding, Block, Grid, Ix, KernelArgument, KernelFunction, KernelResult, Layout, Loops, Mutable, Passes,
    Profile, Pull, Push, Round, Rows, SimArgument, SimResult, Thread, Warp, Window, accumulate, define,
    force_scalar, force_windows, generate, iota, power, replicate, simulate_bound, while_,
};
use pumice_program::{FailureRecord, FaultKind, Program, verify};
use pumice_scalar::{Elt, Exp, ScalarType};

const PROFILE: Profile = Profile {
    threads: 32,
    shared_bytes: 48 << 10,
    max_blocks: 1 << 20,
    busy_blocks: 8,
    ..Profile::large_gpu()
};

/// Results and memories that are longer than this are not simulated.
const LONGEST: usize = 1 << 16;

/// The result of a kernel with blocks of 32 threads on 0, 1, … and some integers, or what is wrong with it.
fn run<P, F>(f: F, length: usize, scalars: &[i64]) -> Result<Vec<i32>, String>
where
    F: KernelFunction<P>,
    F::Result: KernelResult<Elt = i32>,
{
    let definition = define("k", 32, f).map_err(|error| error.to_string())?;
    definition.fits(&PROFILE).map_err(|error| error.to_string())?;
    let actual: Vec<KernelArgument> = std::iter::once(KernelArgument::Length(length))
        .chain(scalars.iter().map(|value| KernelArgument::Scalar((*value).into())))
        .collect();
    let ready = definition.specialise(&actual, &PROFILE, Passes::default());
    let ready = ready.map_err(|error| error.to_string())?;
    let count = ready.length.unwrap_or(0);
    if count > LONGEST {
        return Err(format!("{count} elements are too many to simulate"));
    }
    let plain = verify(definition.kernel().program.clone()).map_err(|error| error.to_string())?;
    let run = |program: &Program, bindings: &[Binding]| {
        let simulated = run_program(program, bindings, length, scalars, count);
        simulated.map_err(|failure| {
            failure
                .message(&definition.kernel().sites)
                .map_or_else(|| "a failure of nobody".into(), |told| told.to_string())
        })
    };
    let described = run(&plain, definition.bindings());
    let passed = run(&ready.program, &ready.bindings);
    assert_eq!(described.is_ok(), passed.is_ok(), "{described:?} before the passes, {passed:?} after");
    passed
}

/// The result of a program, or the failure that it records.
fn run_program(
    program: &Program,
    bindings: &[Binding],
    length: usize,
    scalars: &[i64],
    count: usize,
) -> Result<Vec<i32>, FailureRecord> {
    let input: Vec<u8> = (0..length as i32).flat_map(i32::to_le_bytes).collect();
    let scalars = scalars.iter().map(|value| SimArgument::Scalar((*value).into()));
    let arguments: Vec<SimArgument> =
        std::iter::once(SimArgument::Array { columns: vec![input], length }).chain(scalars).collect();
    let result = SimResult { types: &[ScalarType::I32], length: count, complete: false };
    let options =
        pumice_program::simulate::Options { steps: 4_000_000, races: false, costs: false, until: None };
    let simulated = simulate_bound(program, bindings, &arguments, result, &options).expect("arguments");
    if let Err(fault) = simulated.report {
        // Garbage is no harm, and neither is work without end.
        assert!(matches!(fault.kind, FaultKind::Runaway | FaultKind::Unwritten), "{fault}\n{program}");
    }
    if let Some(failure) = simulated.failure {
        return Err(failure);
    }
    Ok(i32::from_columns(&mut simulated.result.iter().map(Vec::as_slice), count).expect("memory"))
}

/// That a kernel is refused, or fails, and says what is wrong.
#[track_caller]
fn refused<P, F>(f: F, length: usize, scalars: &[i64], parts: &[&str])
where
    F: KernelFunction<P>,
    F::Result: KernelResult<Elt = i32>,
{
    let error = run(f, length, scalars).expect_err("it was not caught");
    for part in parts {
        assert!(error.contains(part), "no {part:?} in: {error}");
    }
}

type Numbers = Pull<i32, Ix>;

#[test]
fn negative_counts_take_and_drop_nothing() {
    let drop = |xs: Numbers, count: Ix| xs.drop(count).push::<Grid>();
    let take =
        |xs: Numbers, count: Ix| xs.take(count).append(replicate(Exp::from(1), Exp::from(7))).push::<Grid>();
    let split = |xs: Numbers, count: Ix| {
        let (low, high) = xs.split_at(count);
        high.append(low).push::<Grid>()
    };
    for count in [i64::MIN, -5, -1] {
        assert_eq!(run(drop, 3, &[count]), Ok(vec![0, 1, 2]));
        assert_eq!(run(take, 3, &[count]), Ok(vec![7]));
        assert_eq!(run(split, 3, &[count]), Ok(vec![0, 1, 2]));
    }
    assert_eq!(run(drop, 3, &[i64::MAX]), Ok(vec![]));
    assert_eq!(run(take, 3, &[i64::MAX]), Ok(vec![0, 1, 2, 7]));
    assert_eq!(run(split, 3, &[2]), Ok(vec![2, 0, 1]));
}

#[test]
fn an_index_into_an_empty_array_reads_nothing() {
    refused(
        |xs: Numbers| replicate(1usize, xs.head()).push::<Grid>(),
        0,
        &[],
        &["index 0 out of bounds", "head"],
    );
    refused(|xs: Numbers| replicate(1usize, xs.last()).push::<Grid>(), 0, &[], &["index -1 out of bounds"]);
    // Where element 0 of the rest would be, there is nothing any more.
    let beyond = |xs: Numbers| {
        let all = xs.len();
        replicate(1usize, xs.drop(all).at(0)).push::<Grid>()
    };
    refused(beyond, 5, &[], &["index 0 out of bounds for length 0 in at"]);
    // Nor in arrays of arrays,
    let parts = |xs: Numbers| xs.split_up(8).at(0).push::<Block>();
    let parts =
        move |xs: Numbers| Pull::<Push<Block, i32>>::new(1, move |_| parts(xs.clone())).concat::<Grid>();
    refused(parts, 0, &[], &["index 0 out of bounds for length 0 in at"]);
    // even if making one reads something,
    let forced = |xs: Numbers| {
        let parts = xs.split_up(8).map(|part| part.push::<Block>().force());
        Pull::<Push<Block, i32>>::new(1, move |_| parts.at(3).push::<Block>()).concat::<Grid>()
    };
    refused(forced, 0, &[], &["index 3 out of bounds for length 0 in at"]);
    assert_eq!(run(forced, 32, &[]), Ok((24..32).collect()));
    // nor where something is computed at once.
    let at_once = |xs: Numbers, index: Ix| {
        let xs = xs.map(force_scalar);
        generate(1usize, move |_| xs.at(index)).push::<Grid>()
    };
    refused(at_once, 0, &[0], &["index 0 out of bounds"]);
    assert_eq!(run(at_once, 3, &[2]), Ok(vec![2]));
    let gather = |xs: Numbers, index: Ix| xs.gather(replicate(2usize, index)).push::<Grid>();
    refused(gather, 0, &[0], &["index 0 out of bounds for length 0 in gather"]);
}

#[test]
fn a_side_that_is_not_taken_does_nothing() {
    let shifted = |xs: Numbers| xs.map(force_scalar).shift(2, 9.into()).push::<Grid>();
    assert_eq!(run(shifted, 4, &[]), Ok(vec![9, 9, 0, 1]));
    let padded = |xs: Numbers| xs.map(force_scalar).padded(6usize, 9.into()).push::<Grid>();
    assert_eq!(run(padded, 4, &[]), Ok(vec![0, 1, 2, 3, 9, 9]));
    let both =
        |xs: Numbers| xs.clone().map(force_scalar).append(xs.map(|x| force_scalar(x * 10))).push::<Grid>();
    assert_eq!(run(both, 3, &[]), Ok(vec![0, 1, 2, 0, 10, 20]));
    let or = |xs: Numbers| {
        let length = xs.len();
        let xs = xs.map(force_scalar);
        generate(length, move |i| xs.at_or(i * 2 - 1, 9.into())).push::<Grid>()
    };
    assert_eq!(run(or, 4, &[]), Ok(vec![9, 1, 3, 9]));
}

#[test]
fn matrices_that_are_not_as_wide_as_they_say() {
    // The rows have two elements.
    let turned =
        |xs: Numbers, columns: Ix| xs.rows(2.into()).transpose(columns).join(3.into()).push::<Grid>();
    assert_eq!(run(turned, 6, &[2]), Ok(vec![0, 2, 4, 1, 3, 5]));
    refused(turned, 6, &[3], &["index 2 out of bounds for length 2 in transpose", "bounds.rs"]);
    let joined = |xs: Numbers, columns: Ix| xs.rows(2.into()).join(columns).push::<Grid>();
    assert_eq!(run(joined, 4, &[2]), Ok(vec![0, 1, 2, 3]));
    refused(joined, 4, &[5], &["index 2 out of bounds for length 2 in join"]);
    assert_eq!(run(joined, 4, &[-3]), Ok(vec![]));
    let tiles = |xs: Numbers, columns: Ix| {
        let tiles = xs.rows(2.into()).split_2d(columns, 4);
        Pull::<i32>::new(4, move |i| tiles.at(0).at(0).at(i / 4).at(i % 4)).push::<Grid>()
    };
    refused(tiles, 6, &[4], &["index 2 out of bounds for length 2 in split_2d"]);
    // More tiles across than there are.
    let more = |xs: Numbers, columns: Ix| {
        let matrix = xs.rows(4.into()).split_2d(4.into(), 2);
        matrix.concat_2d(2, 2.into(), columns)
    };
    assert_eq!(run(more, 8, &[4]), Ok((0..8).collect()));
    refused(more, 8, &[9], &["out of bounds", "concat_2d"]);
    // Longer rows, and the other way round.
    refused(
        |xs: Numbers, rows: Ix| xs.rows(4.into()).split_2d(4.into(), 2).concat_2d(2, rows, 4.into()),
        8,
        &[5],
        &["out of bounds", "concat_2d"],
    );
    // As large as no matrix is: the product wraps to a small number.
    let huge = 1i64 << 33;
    let large = |xs: Numbers, rows: Ix, columns: Ix| {
        xs.rows(4.into()).split_2d(4.into(), 2).concat_2d(2, rows, columns)
    };
    refused(large, 8, &[huge, huge], &["cannot have"]);
    refused(large, 8, &[huge + 1, huge], &["cannot have"]);
    assert_eq!(run(large, 8, &[-4, -4]), Ok(vec![]));
    let joined = |xs: Numbers, rows: Ix, columns: Ix| replicate(rows, xs).join(columns).push::<Grid>();
    refused(joined, 8, &[huge, huge], &["cannot have"]);
}

fn forced(xs: Numbers, rows: Ix, columns: Ix, layout: Layout) -> Push<Grid, i32, Ix> {
    let matrix = xs.rows(3.into());
    let tiles = Pull::<Push<Block, i32>, Ix>::new(1.into(), move |_| {
        let tile = matrix.clone().force_2d_as(rows, columns, 4, layout);
        Pull::<i32>::new(12, move |i| tile.clone().at(i / 3).at(i % 3)).push::<Block>()
    });
    tiles.concat()
}

#[test]
fn tiles_that_are_not_as_large_as_they_say() {
    for layout in [Layout::Plain, Layout::Padded, Layout::Swizzled] {
        let f = move |xs: Numbers, rows: Ix, columns: Ix| forced(xs, rows, columns, layout);
        assert_eq!(run(f, 12, &[4, 3]), Ok((0..12).collect()));
        refused(f, 12, &[4, 4], &["index 3 out of bounds for length 3 in force_2d"]);
        refused(f, 9, &[4, 3], &["index 3 out of bounds for length 3 in force_2d"]);
        refused(f, 12, &[-1, 3], &["out of bounds"]);
    }
    let window = Window { rows: 4, columns: 4, items: 2, transposed: false, padding: 1 };
    let f = move |xs: Numbers, columns: Ix, first_row: Ix, first_column: Ix| {
        let matrix: Rows<i32> = xs.rows(4.into());
        let tiles = Pull::<Push<Block, i32>, Ix>::new(1.into(), move |_| {
            let [tile] = force_windows([matrix.window(columns, (first_row, first_column), window)], 9.into());
            Pull::<i32>::new(16, move |i| tile.at(i / 4).at(i % 4)).push::<Block>()
        });
        tiles.concat::<Grid>()
    };
    assert_eq!(run(f, 16, &[4, 0, 0]), Ok((0..16).collect()));
    assert_eq!(run(f, 16, &[4, 3, 3]).unwrap()[..5], [15, 9, 9, 9, 9]);
    refused(f, 16, &[8, 0, 4], &["index 4 out of bounds for length 4 in window"]);
    refused(f, 16, &[9, 0, 1], &["index 4 out of bounds for length 4 in window"]);
    for far in [i64::MAX, i64::MAX - 1, i64::MIN, -4, i64::MAX - 3] {
        assert_eq!(run(f, 16, &[4, far, 0]), Ok(vec![9; 16]), "row {far}");
        assert_eq!(run(f, 16, &[4, 0, far]), Ok(vec![9; 16]), "column {far}");
        assert!(run(f, 16, &[i64::MIN, 0, far]).is_ok());
    }
}

#[test]
fn tiles_of_threads_stay_in_the_matrix() {
    let f = |rows: i64, columns: i64, tiles: i64| {
        move |_: Numbers| {
            let tile = move |tile: Ix| {
                let round = |_: Ix| -> Round<Exp<i32>> { Box::new(|_, values| values) };
                accumulate(4, 1.into(), |thread| vec![(thread + tile * 10).cast::<i32>()], round)
            };
            let across = move |_: Ix| Pull::<Pull<Pull<i32>>, Ix>::new(tiles.into(), tile);
            let all: Rows<Pull<Pull<i32>>> = Pull::new(tiles.into(), across);
            all.concat_owned((2, 2), rows.into(), columns.into(), |thread, _| (thread / 2, thread % 2))
        }
    };
    assert_eq!(run(f(2, 4, 2), 0, &[]), Ok(vec![0, 1, 10, 11, 2, 3, 12, 13]));
    assert_eq!(run(f(1, 3, 2), 0, &[]), Ok(vec![0, 1, 10]));
    refused(f(4, 6, 2), 0, &[], &["index 2 out of bounds for length 2 in concat_owned"]);
    assert_eq!(run(f(-4, -6, 2), 0, &[]), Ok(vec![]));
}

#[test]
fn what_is_whole_stays_where_it_is() {
    use std::{cell::RefCell, rc::Rc};
    // An array that is of 32 elements in one branch only is kept for afterwards.
    let kept = |xs: Numbers| {
        let blocks = xs.tiles(32).map(|tile| {
            let kept: Rc<RefCell<Option<Pull<i32>>>> = Rc::default();
            let keep = kept.clone();
            tile.do_whole(32, move |whole| drop(keep.replace(Some(whole))), |_| {});
            kept.take().unwrap_or_else(|| replicate(32, Exp::from(0))).push::<Block>()
        });
        blocks.concat::<Grid>()
    };
    assert_eq!(run(kept, 64, &[]), Ok((0..64).collect()));
    refused(kept, 40, &[], &["out of bounds for length 8 in do_whole"]);
    // The same with an element.
    let kept = |xs: Numbers| {
        let blocks = xs.tiles(32).map(|tile| {
            let kept: Rc<RefCell<Option<Exp<i32>>>> = Rc::default();
            let keep = kept.clone();
            tile.do_whole(32, move |whole| *keep.borrow_mut() = Some(whole.at(31)), |_| {});
            let last = kept.take().unwrap_or_else(|| Exp::from(0));
            replicate(1usize, last).push::<Block>()
        });
        blocks.concat::<Grid>()
    };
    assert_eq!(run(kept, 64, &[]), Ok(vec![31, 63]));
    refused(kept, 40, &[], &["index 31 out of bounds for length 8 in do_whole"]);
    // Cases of another length than they should be.
    let longer = |xs: Numbers| {
        let length = xs.len();
        let tiles = xs.tiles(8).map(|tile| {
            let here = tile.len();
            tile.if_whole(8, here, |whole| whole.clone().append(whole).push::<Block>(), |rest| rest.push())
        });
        tiles.concat_tiles(8, length)
    };
    refused(longer, 16, &[], &["not of the length given"]);
}

#[test]
fn tiles_beyond_the_end() {
    let f = |xs: Numbers, length: Ix| xs.tiles(8).map(|tile| tile.push::<Block>()).concat_tiles(8, length);
    assert_eq!(run(f, 20, &[20]), Ok((0..20).collect()));
    for length in [12, 8, 0, -3, i64::MIN] {
        let result = run(f, 20, &[length]);
        assert!(
            result.as_ref().is_err_and(|error| error.contains("out of bounds") || error.contains("cannot"))
        );
    }
    // Fewer tiles than there are places leave them alone.
    assert_eq!(run(f, 8, &[12]).map(|result| result.len()), Ok(12));
    // So many that where they start wraps.
    let many = |xs: Numbers, count: Ix| {
        let tile = move |i: Ix| xs.clone().index(i).push::<Block>();
        Pull::<Push<Block, i32>, Ix>::new(count, tile).concat_tiles(1 << 29, 8.into())
    };
    refused(many, 8, &[1 << 19], &["out of bounds"]);
}

trait Index {
    fn index(self, i: Ix) -> Pull<i32>;
}
impl Index for Numbers {
    fn index(self, i: Ix) -> Pull<i32> {
        replicate(8, self.at_or(i, 0.into()))
    }
}

#[test]
fn parts_of_different_lengths() {
    use std::{cell::Cell, rc::Rc};
    // Each time that it is asked, the part is longer.
    let growing = || {
        let asked = Rc::new(Cell::new(0));
        move |_: Ix| {
            asked.set(asked.get() + 1);
            replicate(asked.get(), Exp::<i32>::from(1)).push::<Thread>()
        }
    };
    let side_by_side = move |_: Numbers| Pull::<Push<Thread, i32>>::new(3, growing()).concat::<Grid>();
    refused(side_by_side, 3, &[], &["side by side"]);
    let in_sequence = move |_: Numbers| {
        let block = move |_: Ix| Pull::<Push<Thread, i32>>::new(3, growing()).seq_concat();
        Pull::<Push<Thread, i32>>::new(1, block).concat::<Grid>()
    };
    refused(in_sequence, 3, &[], &["side by side"]);
    let halves = |_: Numbers| {
        let asked = Rc::new(Cell::new(4));
        let part = move |part: Pull<i32>| {
            asked.set(asked.get() - 1);
            part.take(asked.get())
        };
        iota(8usize).map(|i| i.cast::<i32>()).bin_split(1, part).push::<Grid>()
    };
    refused(halves, 3, &[], &["out of bounds for length 2 in bin_split"]);
}

#[test]
fn negative_lengths_are_empty() {
    // A negative length, and one after it: as a pull, and as a push.
    let pull = |xs: Numbers, length: Ix| {
        let nothing = generate(length, |_| Exp::<i32>::from(5));
        nothing.append(xs).push::<Grid>()
    };
    let push = |xs: Numbers, length: Ix| {
        let blocks = xs.tiles(32).map(move |tile| {
            let nothing = generate(length, |_| Exp::<i32>::from(5)).push::<Block>();
            nothing.append(tile.push())
        });
        blocks.concat_by::<Grid, usize>(32, 4usize)
    };
    for length in [-1, -3, i64::MIN, i64::MIN + 2, i64::MIN / 2] {
        assert_eq!(run(pull, 4, &[length]), Ok(vec![0, 1, 2, 3]), "{length}");
        assert_eq!(run(push, 4, &[length]), Ok(vec![0, 1, 2, 3]), "{length}");
        let pairs = |xs: Numbers, length: Ix| {
            xs.pair().take(length).unpair().append(replicate(Exp::from(2), Exp::from(7))).push::<Grid>()
        };
        assert_eq!(run(pairs, 4, &[length]), Ok(vec![7, 7]), "{length}");
        let forced = |xs: Numbers, length: Ix| {
            let blocks = xs.tiles(32).map(move |tile| {
                let forced = tile.take(length).push::<Block>().force_within(8);
                forced.padded(4usize, 9.into()).push::<Block>()
            });
            blocks.concat::<Grid>()
        };
        assert_eq!(run(forced, 4, &[length]), Ok(vec![9; 4]), "{length}");
        refused(
            |_: Numbers, length: Ix| iota(length).map(|i| i.cast::<i32>()).push::<Grid>(),
            4,
            &[length],
            &["cannot have"],
        );
    }
}

#[test]
fn lengths_that_wrap() {
    // 2^55 elements a part, and 2^9 parts.
    let parts = |_: Numbers, count: Ix| {
        let part = |_: Ix| replicate(1usize << 55, Exp::<i32>::from(1)).push::<Thread>();
        Pull::<Push<Thread, i32>, Ix>::new(count, part).concat::<Grid>()
    };
    refused(parts, 3, &[512], &["cannot have"]);
    let twice = |_: Numbers, count: Ix| {
        generate(count, |i| (i.cast::<i32>(), i.cast::<i32>())).push::<Grid>().unpair()
    };
    refused(twice, 3, &[i64::MAX], &["cannot have"]);
    assert_eq!(run(twice, 3, &[i64::MIN]), Ok(vec![]));
    // Lengths while the kernel is built.
    let long = |_: Numbers| {
        let block = |_: Ix| {
            replicate(1usize << 33, Exp::<i32>::from(1)).push::<Block>().force().take(4).push::<Block>()
        };
        Pull::<Push<Block, i32>>::new(1, block).concat::<Grid>()
    };
    refused(long, 3, &[], &["an array of 8589934592 elements in a kernel's own memory"]);
    let own = |_: Numbers| {
        let block = |_: Ix| {
            let own = Mutable::shared(replicate((1usize << 32) + 1, Exp::<i32>::from(1)));
            own.freeze().take(1).push_by::<Block>(1).force_within(1).padded(1usize, 0.into()).push::<Block>()
        };
        Pull::<Push<Block, i32>>::new(1, block).concat::<Grid>()
    };
    refused(own, 3, &[], &["elements in a kernel's own memory"]);
    let warps = |_: Numbers| {
        let warp = |_: Ix| {
            replicate((1usize << 32) - 1, Exp::<i32>::from(1)).push::<Warp>().force().take(1).push::<Warp>()
        };
        Pull::<Push<Warp, i32>>::new(1, warp).concat::<Grid>()
    };
    assert!(run(warps, 3, &[]).is_err());
    refused(|xs: Numbers| xs.every_nth(usize::MAX).push::<Grid>(), 3, &[], &["no array has"]);
    refused(|xs: Numbers| xs.shift(usize::MAX, 0.into()).push::<Grid>(), 3, &[], &["no array has"]);
    refused(
        |xs: Numbers| xs.tiles(usize::MAX).map(|tile| tile.len().cast::<i32>()).push::<Grid>(),
        3,
        &[],
        &["no array has"],
    );
    refused(|_: Numbers| iota(usize::MAX).map(|i| i.cast::<i32>()).push::<Grid>(), 3, &[], &["no array has"]);
    refused(
        |xs: Numbers| xs.rows(2.into()).split_2d(2.into(), 1 << 40).concat_2d(1 << 40, 2.into(), 2.into()),
        4,
        &[],
        &["on a side"],
    );
    refused(|xs: Numbers| xs.push_by::<Grid>(1 << 40), 4, &[], &["groups of"]);
    let twice = |xs: Numbers| {
        let blocks = xs.tiles(8).map(|tile| {
            while_(usize::MAX, tile.push::<Block>(), |xs| xs.len().gt(1), |xs| xs.halve().0.push())
                .push::<Block>()
        });
        blocks.concat_by::<Grid, usize>(8, 1usize)
    };
    assert!(run(twice, 8, &[]).is_err());
}

#[test]
fn a_condition_that_changes_its_mind() {
    // What is kept is asked twice, and by then the answer is another.
    let f = |xs: Numbers| {
        let blocks = xs.split_up(8).map(|part| {
            let asked = Mutable::shared(replicate(8, Exp::<i32>::from(0)));
            let keep = move |x: Exp<i32>| asked.atomic_add(x.cast::<i64>(), 1).gt(0);
            let kept = part.filter::<Block>(keep);
            replicate(1usize, Exp::<i32>::from(1)).push::<Block>().dynamic().append(kept)
        });
        blocks.concat_by::<Grid, usize>(16, 8usize)
    };
    assert!(run(f, 8, &[]).is_ok());
}

#[test]
fn changing_memory_that_has_no_elements() {
    for index in [0, -1, 7] {
        let f = move |add: Mutable<i32>| {
            Grid::for_each(Exp::from(4), &|i| {
                add.atomic_add(index, 1);
                let before = add.read(index);
                add.write(index, before + i.cast::<i32>());
                add.release(index, 3);
            });
        };
        let kernel = define("k", 32, f).unwrap_or_else(|error| panic!("{error}"));
        let program = verify(kernel.kernel().program.clone()).unwrap_or_else(|error| panic!("{error}"));
        let failed = run_changing(&program, kernel.bindings());
        assert!(failed, "index {index}");
    }
}

/// Whether a program that changes an empty array records a failure.
fn run_changing(program: &Program, bindings: &[Binding]) -> bool {
    let empty = [SimArgument::Array { columns: vec![Vec::new()], length: 0 }];
    let result = SimResult { types: &[], length: 0, complete: true };
    let options = pumice_program::simulate::Options { races: false, ..Default::default() };
    let simulated = simulate_bound(program, bindings, &empty, result, &options).expect("arguments");
    simulated.report.unwrap_or_else(|fault| panic!("{fault}\n{program}"));
    simulated.failure.is_some()
}

#[test]
fn what_was_only_looked_at_is_not_used() {
    use std::{cell::RefCell, rc::Rc};
    // The first part is made twice: to find out how long it is, and for good. Memory of the first time is kept.
    let f = |xs: Numbers| {
        let kept: Rc<RefCell<Option<Pull<i32>>>> = Rc::default();
        let parts = xs.split_up(8).map(move |part| {
            let forced = part.push::<Block>().force();
            let array = kept.borrow_mut().get_or_insert(forced).clone();
            let few = Pull::<i32>::new(2, |i| i.cast::<i32>()).push::<Block>().force();
            Pull::<i32>::new(8, move |i| array.at(i) + few.at(i % 2)).push::<Block>()
        });
        parts.concat::<Grid>()
    };
    refused(f, 16, &[], &["made only to find out how long it is"]);
}

#[test]
fn parameters_are_those_of_the_function() {
    let f = |xs: Numbers| {
        let push = xs.push::<Grid>();
        // SAFETY: it is not: this parameter has no binding, and that is found out.
        unsafe { pumice_kernel::scalar_parameter("more", ScalarType::I64) };
        push
    };
    refused(f, 4, &[], &["parameters that its function has not"]);
}

#[test]
fn a_scalar_function_is_no_place_for_a_kernel() {
    // Expressions of the inner function are forgotten at its end; what was written into the kernel would mean others.
    let f = |xs: Numbers| {
        let inner = xs.clone();
        pumice_scalar::function(&[], move |_| vec![force_scalar(inner.at(0)).term()]);
        xs.push::<Grid>()
    };
    refused(f, 4, &[], &["inside a scalar function"]);
}

#[test]
fn groups_at_the_grid() {
    let f = |xs: Numbers| xs.push_by::<Grid>(4);
    for length in [0, 1, 3, 4, 127, 128, 129, 500, 512] {
        assert_eq!(run(f, length, &[]), Ok((0..length as i32).collect()), "{length}");
    }
    let fixed = |_: Numbers| iota(130usize).map(|i| i.cast::<i32>()).push_by::<Grid>(4);
    assert_eq!(run(fixed, 0, &[]), Ok((0..130).collect()));
    let negative = |_: Numbers, length: Ix| iota(length).map(|i| i.cast::<i32>()).push_by::<Grid>(4);
    refused(negative, 0, &[-7], &["cannot have"]);
}

#[test]
fn loops_keep_to_their_capacity() {
    let grow = |xs: Numbers, times: Ix| {
        let blocks = xs.tiles(4).map(move |tile| {
            let step = |_: Ix, xs: Numbers| xs.clone().push::<Block>().append(xs.push());
            power(8, times, tile.push::<Block>(), step).take(4).push::<Block>()
        });
        blocks.concat_by::<Grid, usize>(4, 4usize)
    };
    assert_eq!(run(grow, 4, &[1]), Ok(vec![0, 1, 2, 3]));
    refused(grow, 4, &[2], &["index 8 out of bounds for length 8"]);
    assert_eq!(run(grow, 4, &[i64::MIN]), Ok(vec![0, 1, 2, 3]));
}

/// An operation on a pull array, with numbers that may be absurd.
#[derive(Clone, Debug)]
enum Step {
    Take(usize),
    Drop(usize),
    Reverse,
    High,
    Low,
    Odds,
    Evens,
    EveryNth(usize),
    Shift(usize),
    AppendSelf,
    AppendGenerated(usize),
    Pairs,
    Parts(usize, usize),
    Coalesced(usize, usize),
    Tiles(usize, usize),
    Transposed(usize, usize),
    Joined(usize, usize),
    Split(usize, usize, usize),
    Padded(usize),
    Gathered(usize),
    At(usize),
    Together,
    AtOnce,
    Forced(usize),
    Windowed(usize, usize, usize),
}

/// Number of run-time numbers; the fields of a step say which of them it takes.
const NUMBERS: usize = 4;

fn step() -> impl Strategy<Value = Step> {
    let n = 0..NUMBERS;
    let size = prop_oneof![0usize..5, Just(8), Just(31)];
    prop_oneof![
        n.clone().prop_map(Step::Take),
        n.clone().prop_map(Step::Drop),
        Just(Step::Reverse),
        Just(Step::High),
        Just(Step::Low),
        Just(Step::Odds),
        Just(Step::Evens),
        size.clone().prop_map(Step::EveryNth),
        size.clone().prop_map(Step::Shift),
        Just(Step::AppendSelf),
        n.clone().prop_map(Step::AppendGenerated),
        Just(Step::Pairs),
        (size.clone(), n.clone()).prop_map(|(size, n)| Step::Parts(size, n)),
        (size.clone(), n.clone()).prop_map(|(size, n)| Step::Coalesced(size, n)),
        (size.clone(), n.clone()).prop_map(|(size, n)| Step::Tiles(size, n)),
        (n.clone(), n.clone()).prop_map(|(a, b)| Step::Transposed(a, b)),
        (n.clone(), n.clone()).prop_map(|(a, b)| Step::Joined(a, b)),
        (n.clone(), n.clone(), size.clone()).prop_map(|(a, b, size)| Step::Split(a, b, size)),
        n.clone().prop_map(Step::Padded),
        n.clone().prop_map(Step::Gathered),
        n.clone().prop_map(Step::At),
        Just(Step::Together),
        Just(Step::AtOnce),
        n.clone().prop_map(Step::Forced),
        (n.clone(), n.clone(), n).prop_map(|(a, b, c)| Step::Windowed(a, b, c)),
    ]
}

fn number() -> impl Strategy<Value = i64> {
    let absurd = prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(i64::MIN + 1),
        Just(i64::MAX - 1),
        Just(1 << 62),
        Just(1 << 33),
        Just(-(1 << 33)),
        any::<i64>()
    ];
    prop_oneof![3 => -3i64..12, 1 => absurd]
}

impl Step {
    /// The array after this step, in a block.
    fn apply(&self, xs: Numbers, numbers: [Ix; NUMBERS]) -> Numbers {
        let zero = || Exp::<i32>::from(0);
        match *self {
            Step::Take(n) => xs.take(numbers[n]),
            Step::Drop(n) => xs.drop(numbers[n]),
            Step::Reverse => xs.reverse(),
            Step::High => xs.halve().1,
            Step::Low => xs.halve().0,
            Step::Odds => xs.even_odds().1,
            Step::Evens => xs.even_odds().0,
            Step::EveryNth(size) => xs.every_nth(size),
            Step::Shift(size) => xs.shift(size, zero()),
            Step::AppendSelf => xs.clone().append(xs),
            Step::AppendGenerated(n) => {
                let length = numbers[n];
                generate(length, |i| i.cast::<i32>()).append(xs)
            }
            Step::Pairs => xs.pair().unpair(),
            Step::Parts(size, n) => {
                let parts = xs.split_up(size);
                let index = numbers[n];
                match size {
                    0 => parts.transpose(0).join(index),
                    _ => parts.at(index).clone().map(|x| x).rows_of(),
                }
            }
            Step::Coalesced(size, n) => {
                xs.coalesce_by(size, 2).map(|part| part.padded(3usize, 0.into()).at(2)).drop(numbers[n])
            }
            Step::Tiles(size, n) => xs.tiles(size).at(numbers[n]),
            Step::Transposed(a, b) => xs.rows(numbers[a]).transpose(numbers[b]).join(numbers[a]),
            Step::Joined(a, b) => xs.rows(numbers[a]).join(numbers[b]),
            Step::Split(a, b, size) => {
                let tiles = xs.rows(numbers[a]).split_2d(numbers[b], size);
                tiles.at(numbers[a]).at(numbers[b]).join(numbers[a])
            }
            Step::Padded(n) => xs.padded(numbers[n], zero()),
            Step::Gathered(n) => {
                let index = numbers[n];
                xs.gather(generate(index, move |i| i * index))
            }
            Step::At(n) => {
                let index = numbers[n];
                generate(Exp::from(3), move |i| xs.at(i + index))
            }
            Step::Together => xs.clone().zip_with(xs.reverse(), |a, b| a + b),
            Step::AtOnce => xs.map(force_scalar),
            Step::Forced(n) => xs.take(numbers[n]).push::<Thread>().force_within(4),
            Step::Windowed(..) => xs,
        }
    }
}

trait RowsOf {
    fn rows_of(self) -> Numbers;
}
impl RowsOf for Pull<i32> {
    fn rows_of(self) -> Numbers {
        let length = self.len();
        let array = self;
        generate(Exp::from(length as i64), move |i| array.at(i))
    }
}

/// A block's array, from a window of a matrix.
fn windowed(xs: Numbers, columns: Ix, first_row: Ix, first_column: Ix) -> Numbers {
    let window = Window { rows: 4, columns: 2, items: 1, transposed: true, padding: 0 };
    let [tile] =
        force_windows([xs.rows(columns).window(columns, (first_row, first_column), window)], 0.into());
    generate(Exp::from(8), move |i| tile.at(i / 4).at(i % 4))
}

proptest! {
    #![proptest_config(ProptestConfig {
        // `PROPTEST_CASES` may ask for more.
        cases: ProptestConfig::default().cases.max(500),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn pulls_stay_within_their_memory(
        steps in prop::collection::vec(step(), 0..6),
        numbers in prop::array::uniform4(number()),
        length in prop_oneof![Just(0usize), 1usize..40],
        whole in any::<bool>(),
    ) {
        let f = move |xs: Numbers, a: Ix, b: Ix, c: Ix, d: Ix| {
            let numbers = [a, b, c, d];
            let steps = steps.clone();
            let windowing = steps.iter().rposition(|step| matches!(step, Step::Windowed(..)));
            // One block; every thread of it reads the same, unless a window has been forced by all.
            let blocks = Pull::<Push<Block, i32>>::new(1, move |_| {
                let (mut array, mut after) = (xs.clone(), &steps[..]);
                if let Some(position) = windowing
                    && let Step::Windowed(a, b, c) = steps[position]
                {
                    let before = steps[..position].iter().filter(|step| !matches!(step, Step::Forced(_) | Step::AtOnce | Step::Windowed(..)));
                    array = before.fold(array, |array, step| step.apply(array, numbers));
                    array = windowed(array, numbers[a], numbers[b], numbers[c]);
                    after = &steps[position + 1..];
                }
                let (after, start) = (after.to_vec(), array);
                Pull::<i32>::new(16, move |i| {
                    let array = after.iter().fold(start.clone(), |array, step| step.apply(array, numbers));
                    if whole { array.at(i) } else { array.at_or(i, 0.into()) }
                })
                .push::<Block>()
            });
            blocks.concat::<Grid>()
        };
        // Whether it works or fails: the simulator has seen no access out of bounds.
        drop(run(f, length, &numbers));
    }
}
