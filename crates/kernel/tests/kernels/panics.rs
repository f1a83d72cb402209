//! A panic in a user's function, once it is caught, leaves nothing behind: not in the kernel that was being built, if the
//! function caught it itself, and not in the next one.

use pumice_kernel::{
    Block, Grid, Ix, Loops, Mutable, Pull, Push, Thread, Warp, Within, accumulate, cond, define, generate,
    power, preview, seq_for, seq_until, warp, while_,
};
use pumice_program::{SimMemory, simulate, verify};
use pumice_scalar::{Constant, Exp, ScalarType, cond as choose, function};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn doubled() -> Vec<i32> {
    let input: Vec<i32> = (0..64).collect();
    let kernel = |xs: Pull<i32, Ix>| {
        let blocks = xs.split_up(32).map(|part| part.map(|x| x * 2).push::<Block>().force().push::<Block>());
        blocks.concat()
    };
    preview(32, &input, kernel).unwrap_or_else(|error| panic!("{error}"))
}

fn oops<T>() -> T {
    std::panic::panic_any("the user's mistake")
}

type Case = (&'static str, fn(Pull<i32, Ix>) -> Push<Grid, i32, Ix>);

/// Kernels that panic somewhere inside.
const CASES: [Case; 14] = [
    ("map", |xs| xs.map(|_| oops::<Exp<i32>>()).push()),
    ("pull", |xs| generate(xs.len(), |_| oops::<Exp<i32>>()).push()),
    ("block", |xs| xs.split_up(32).map(|part| part.map(|_| oops::<Exp<i32>>()).push::<Block>()).concat()),
    ("warp", |xs| xs.split_up(32).map(|part| part.map(|_| oops::<Exp<i32>>()).push::<Warp>()).concat()),
    ("thread", |xs| xs.split_up(32).map(|part| part.map(|_| oops::<Exp<i32>>()).push::<Thread>()).concat()),
    ("force", |xs| {
        let forced = xs.split_up(32).map(|part| part.map(|_| oops::<Exp<i32>>()).push::<Block>().force());
        forced.map(|part: Pull<i32>| part.push::<Block>()).concat()
    }),
    ("probe", |xs| {
        let length = xs.len();
        let parts = xs.split_up(32).map(|_| -> Push<Block, i32, Ix> { oops() });
        parts.concat_by(32, length)
    }),
    ("cond", |xs| {
        xs.map(|x| {
            cond(x.gt(1), oops, || {});
            x
        })
        .push()
    }),
    ("else", |xs| xs.map(|x| choose(x.gt(1), || x, oops)).push()),
    ("seq_for", |xs| xs.map(|x| seq_for::<i32>(9.into(), 1, x, |_, _| oops())).push()),
    ("seq_until", |xs| xs.map(|x| seq_until::<i32>(x, |_| oops(), |x| x)).push()),
    ("while_", |xs| {
        let parts = xs
            .tiles(32)
            .map(|part| while_(32, part.push::<Block>(), |xs| xs.len().gt(1), |_| oops()).push::<Block>());
        parts.concat_by(32, Ix::from(64))
    }),
    ("power", |xs| {
        let parts =
            xs.tiles(32).map(|part| power(32, 3.into(), part.push::<Block>(), |_, _| oops()).push::<Block>());
        parts.concat_by(32, Ix::from(64))
    }),
    ("shuffle", |xs| {
        let lanes = |x: Exp<i32>| warp::shuffle(x, oops::<Exp<i32>>());
        xs.split_up(32).map(move |part| part.map(lanes).push::<Warp>()).concat()
    }),
];

#[test]
fn the_next_kernel_builds_as_if_nothing_had_happened() {
    let expected = doubled();
    for (name, kernel) in CASES {
        let caught = catch_unwind(|| preview(32, &[1; 64], kernel).map(drop));
        assert!(caught.is_err(), "{name}: the panic arrives");
        assert_eq!(doubled(), expected, "{name}");
    }
    let accumulated = catch_unwind(|| {
        define("broken", 32, |xs: Pull<i32, Ix>| {
            let sums = xs.tiles(8).map(|_| {
                let own = accumulate(4, 2.into(), |_| vec![Exp::from(0)], |_| oops());
                own.map(|own| own.push::<Thread>()).concat::<Block>()
            });
            sums.concat_by(4, 4usize)
        })
        .map(drop)
    });
    assert!(accumulated.is_err());
    assert_eq!(doubled(), expected);
}

/// Catches the panic of a function that is in the middle of describing a kernel.
fn caught(f: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

#[test]
fn a_kernel_goes_on_after_a_panic_that_it_catches() {
    let describe = |broken: bool| {
        let definition = define("k", 32, move |memory: Mutable<i32>, xs: Pull<i32, Ix>| {
            if broken {
                caught(|| Block::distribute(1.into(), &|_| oops()));
                caught(|| drop(define("inner", 32, |_: Mutable<i32>| oops::<()>())));
            }
            Block::distribute(1.into(), &|_| {
                if broken {
                    caught(|| Block::for_each(4.into(), &|_| oops()));
                    caught(|| <Warp as Within<Block>>::distribute(4.into(), &|_| oops()));
                }
                Block::for_each(4.into(), &|i| {
                    let value = xs.at(i);
                    if broken {
                        caught(|| cond(value.gt(1), oops, || {}));
                        caught(|| drop(vec![seq_for::<i32>(9.into(), 1, value, |_, _| oops())]));
                        caught(|| drop(vec![seq_until::<i32>(value, |x| x.gt(3), |_| oops())]));
                        caught(|| drop(function(&[], |_| oops())));
                    }
                    memory.write(i, value + 1);
                });
            });
        });
        let definition = definition.unwrap_or_else(|error| panic!("{error}"));
        let program = verify(definition.kernel().program.clone()).unwrap_or_else(|error| panic!("{error}"));
        let xs: Vec<Constant> = (5..9i32).map(Constant::from).collect();
        let zeros = |count: usize| SimMemory::from_bytes(vec![0; count]);
        let mut memories = [zeros(16), SimMemory::from_constants(&xs), zeros(24)];
        let scalars: Vec<Constant> = [4i64, 4, 0].into_iter().map(Constant::from).collect();
        simulate(&program, &mut memories, &scalars, &Default::default())
            .unwrap_or_else(|fault| panic!("{fault}"));
        (0..4).map(|i| memories[0].get(ScalarType::I32, i).unwrap().bits() as i32).collect::<Vec<i32>>()
    };
    assert_eq!(describe(false), [6, 7, 8, 9]);
    assert_eq!(describe(true), [6, 7, 8, 9]);
}
