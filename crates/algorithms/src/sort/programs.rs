//! The sorters as programs with inputs and checks, under the names of the paper's tables.

use super::{BlockFunction, Exchange, Key, Method, Passes, Small, Sorter, on_blocks};
use crate::combinators::Threading;
use crate::networks::{Stage, bmerge, bpmerge, tmerge};
use crate::numbers::numbers;
use crate::program::{Prepared, Program, Tunable, Work, ready, same};
use pumice::{Array, Compiler, Dim1, Result};
use std::rc::Rc;

/// A program that sorts a whole array.
fn whole(compiler: &Compiler, method: Method, size: usize) -> Result<Box<dyn Prepared>> {
    let sorter = Sorter::<i32>::new(compiler, method, size)?;
    let mut xs = numbers(size);
    let input = compiler.upload(&xs)?;
    xs.sort_unstable();
    Ok(ready(
        Work::Bytes(8 * size),
        move || sorter.sort(&input),
        move |found| Ok(same(&found.to_vec()?, &xs)),
    ))
}

/// A program that does something to blocks of 2^`n` elements: a sorter, or a merger of blocks that rise and then fall.
fn small(
    compiler: &Compiler,
    name: &str,
    (n, threads): (u32, u32),
    f: BlockFunction<i32>,
    merges: bool,
    size: usize,
) -> Result<Box<dyn Prepared>> {
    let kernel = compiler.kernel(name, threads, on_blocks(n, f))?;
    let mut xs = numbers(size);
    if merges {
        for block in xs.chunks_mut(1 << n) {
            let middle = block.len().min(1 << (n - 1));
            block[..middle].sort_unstable();
            block[middle..].sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    let input = compiler.upload(&xs)?;
    xs.chunks_mut(1 << n).for_each(|block| block.sort_unstable());
    Ok(ready(Work::Bytes(8 * size), move || kernel.run(&input), move |found| Ok(same(&found.to_vec()?, &xs))))
}

/// Applies stages to blocks of 2^`n` elements in plain Rust; the last block is padded with largest elements.
fn expected(stages: &[Stage], n: u32, xs: &[i32]) -> Vec<i32> {
    let mut all = xs.to_vec();
    all.resize(xs.len().next_multiple_of(1 << n), i32::LARGEST);
    all.chunks_mut(1 << n).for_each(|block| stages.iter().for_each(|stage| stage.apply(block)));
    all.truncate(xs.len());
    all
}

/// A program that does the stages of a network to blocks of the paper's size.
fn network(
    compiler: &Compiler,
    name: &str,
    threading: Threading,
    stages: Vec<Stage>,
    size: usize,
) -> Result<Box<dyn Prepared>> {
    let f: BlockFunction<i32> = Rc::new(threading.network(stages.clone(), PAPER));
    let kernel = compiler.kernel(name, threading.threads(PAPER), on_blocks(PAPER, f))?;
    let xs = numbers(size);
    let input = compiler.upload(&xs)?;
    let check = move |found: &Array<Dim1, i32>| Ok(same(&found.to_vec()?, &expected(&stages, PAPER, &xs)));
    Ok(ready(Work::Bytes(8 * size), move || kernel.run(&input), check))
}

/// A program that is one pass over an array.
fn pass(compiler: &Compiler, pass: Exchange, size: usize) -> Result<Box<dyn Prepared>> {
    // SAFETY: the stride is a power of two below.
    let kernel = unsafe { pass.kernel::<i32>() };
    let kernel = compiler.kernel(&pass.name(), pass.threads(), kernel)?;
    let xs = numbers(size);
    let input = compiler.upload(&xs)?;
    // The merger of the two halves of the array, or of a little one.
    let n = size.next_power_of_two().ilog2().max(pass.rows);
    let stride = 1i64 << (n - 1);
    let check = move |found: &Array<Dim1, i32>| {
        let first = if pass.mirrored { Stage::vee(n - 1) } else { Stage::ilv(n - 1) };
        let others = (1..pass.rows).map(|row| Stage::ilv(n - 1 - row));
        let stages: Vec<Stage> = std::iter::once(first).chain(others).collect();
        Ok(same(&found.to_vec()?, &expected(&stages, n, &xs)))
    };
    Ok(ready(Work::Bytes(8 * size), move || kernel.run((&input, stride)), check))
}

/// The size of the paper's blocks, as a power of two.
const PAPER: u32 = 9;

/// Elements of a thread, as a power of two.
const REGISTERS: Tunable = Tunable { name: "registers", values: &[2, 3, 4, 5], default: 4 };

/// The programs of this file.
pub fn programs() -> Vec<Program> {
    const NAMELESS: Program = Program {
        name: "",
        about: "",
        small: 1500,
        large: &[1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24],
        sizes: &[0, 1, 16, 512, 513, 2048, 3000],
        tunable: &[],
        prepare: |_, _, _| Ok(ready(Work::Unknown, || Ok(()), |()| Ok(Ok(())))),
    };
    macro_rules! paper {
        ($($small:ident $name:literal $whole:literal $about:literal;)*) => {
            [$(
                Program {
                    name: $name,
                    about: concat!("sorts blocks of 512: ", $about),
                    large: &[1 << 24],
                    tunable: if matches!(Small::$small, Small::Vsort) { &[REGISTERS] } else { &[] },
                    prepare: |compiler, size, settings| {
                        let registers = settings.get("registers") as u32;
                        let threads = Small::$small.threading(registers).threads(PAPER);
                        let f = Small::$small.block(PAPER, registers);
                        small(compiler, $name, (PAPER, threads), f, false, size)
                    },
                    ..NAMELESS
                },
                Program {
                    name: $whole,
                    about: concat!("sorts an array, blocks of 512 by ", $about),
                    prepare: |compiler, size, _| whole(compiler, Method::paper(Small::$small), size),
                    ..NAMELESS
                },
            )*]
        };
    }
    let paper = paper! {
        Tsort1 "tsort1" "sort-tsort1" "a tree of bitonic mergers, one index a thread";
        Tsort2 "tsort2" "sort-tsort2" "a tree of bitonic mergers, two indices a thread";
        Vsort1 "vsort1" "sort-vsort1" "a tree of balanced mergers, one index a thread";
        Vsort "vsort" "sort-vsort" "a tree of balanced mergers, many indices a thread";
        Bitonic "bitonic" "sort-bitonic" "bitonic sort written by hand";
    };
    macro_rules! networks {
        ($($name:literal $threading:ident $stages:ident $about:literal;)*) => {
            [$(Program {
                name: $name,
                about: concat!("the stages of ", $about, " on blocks of 512"),
                large: &[1 << 24],
                prepare: |compiler, size, _| {
                    network(compiler, $name, Threading::$threading, $stages(PAPER), size)
                },
                ..NAMELESS
            }),*]
        };
    }
    let networks = networks! {
        "bmerge" One bmerge "the bitonic merger, one index a thread,";
        "tmerge" One tmerge "the merger of two sorted halves, one index a thread,";
        "bpmerge2" Two bpmerge "the balanced periodic merger, two indices a thread,";
    };
    macro_rules! passes {
        ($($name:literal $pass:ident $about:literal;)*) => {
            [$(Program {
                name: $name,
                about: concat!($about, " of a merger of a whole array"),
                large: &[1 << 24],
                sizes: &[0, 1, 7, 512, 1000, 3000],
                prepare: |compiler, size, _| pass(compiler, Exchange::$pass, size),
                ..NAMELESS
            }),*]
        };
    }
    let passes = passes! {
        "vSwap" V_SWAP "the first stage";
        "iSwap" I_SWAP "a later stage";
        "iSwap2" I_SWAP2 "two later stages";
        "iSwap3" I_SWAP3 "three later stages";
    };
    let mergers = [
        Program {
            name: "bitonicMerge",
            about: "merges blocks of 16 that rise and then fall, one index a thread",
            large: &[1 << 24],
            // A block that is not whole goes on with largest elements, and so does not fall to its end.
            sizes: &[0, 16, 48, 1600],
            small: 160,
            prepare: |compiler, size, _| {
                let f = Rc::new(Threading::One.network(bmerge(4), 4));
                small(compiler, "bitonicMerge", (4, Threading::One.threads(4)), f, true, size)
            },
            ..NAMELESS
        },
        Program {
            name: "bmerge2",
            about: "merges blocks of 512 that rise and then fall, two indices a thread",
            large: &[1 << 24],
            sizes: &[0, 512, 2048, 512 * 9],
            small: 1536,
            prepare: |compiler, size, _| {
                let f = Rc::new(Threading::Two.network(bmerge(PAPER), PAPER));
                small(compiler, "bmerge2", (PAPER, Threading::Two.threads(PAPER)), f, true, size)
            },
            ..NAMELESS
        },
    ];
    let tuned = Program {
        name: "sort",
        about: "sorts an array, with large blocks and many stages in a pass",
        sizes: &[0, 1, 512, 4096, 4097, 20_000],
        small: 5000,
        tunable: &[
            REGISTERS,
            Tunable { name: "block", values: &[10, 11, 12], default: 12 },
            Tunable { name: "stages", values: &[4, 5, 6, 7, 8, 9], default: 8 },
        ],
        prepare: |compiler, size, settings| {
            let [registers, block, stages] =
                ["registers", "block", "stages"].map(|name| settings.get(name) as u32);
            let passes = Passes::Tiled { stages, tile: block };
            whole(compiler, Method { registers, block, passes, ..Method::TUNED }, size)
        },
        ..NAMELESS
    };
    paper.into_iter().chain(networks).chain(mergers).chain(passes).chain([tuned]).collect()
}
