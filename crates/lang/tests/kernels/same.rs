//! The programs of the FCL paper and of Obsidian's, in both languages: one kernel comes of them.

use super::super::PAPER;
use super::normal::normal;
use pumice_algorithms::obsidian::{self, whole_blocks};
use pumice_algorithms::sort::{Small, on_blocks};
use pumice_algorithms::{bitonic, combinators::Threading, fcl, histogram, networks, scan};
use pumice_array::operations::KernelCall;
use pumice_kernel::{
    Block, Definition, Grid, Item, Ix, KernelArgument, KernelFunction, Loops, Mutable, Passes, Profile, Pull,
    Push, SimArgument, SimResult, Size, define, generate, simulate_bound, while_,
};
use pumice_lang::evaluate::{Options, compile};
use pumice_lang::program::Program;
use pumice_lang::types::check;
use pumice_program::simulate;
use pumice_scalar::Exp;
use std::sync::Arc;

/// The kernel of a program's function `it`, with blocks of so many threads.
#[track_caller]
fn kernel_of(text: &str, threads: u32) -> Arc<Definition> {
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let program = Program::load("test.pum", text, &none)
        .map_err(|(sources, errors)| errors[0].render(&sources, false))
        .unwrap_or_else(|error| panic!("{error}"));
    let program = Arc::new(program);
    let checked = check(&program).map_err(|errors| errors[0].render(&program.sources, false));
    let checked = Arc::new(checked.unwrap_or_else(|error| panic!("{error}")));
    let entry = checked.entry("it").expect("it is there");
    let options = Options { block_size: threads, ..Options::default() };
    let compiled = compile(&program, &checked, entry, &[], options)
        .map_err(|error| error.render(&program.sources, false))
        .unwrap_or_else(|error| panic!("{error}"));
    let call =
        compiled.program.nodes().iter().find_map(|node| node.operation.as_any().downcast_ref::<KernelCall>());
    call.expect("there is a kernel").definition.clone().expect("the kernel is built")
}

/// Returns the text of a kernel after the passes, for arrays of these lengths.
fn text_of(definition: &Definition, lengths: &[usize]) -> String {
    let arguments: Vec<KernelArgument> = lengths.iter().copied().map(KernelArgument::Length).collect();
    let specialised = definition.specialise(&arguments, &Profile::large_gpu(), Passes::default());
    specialised.expect("it is specialised").program.to_string()
}

/// Returns the simulator's costs of a kernel on an array of so many `i64`, line by line.
pub fn report(text: &str, threads: u32, length: usize) -> String {
    let kernel = kernel_of(text, threads);
    let column = (0..length as i64).flat_map(i64::to_le_bytes).collect();
    let arguments = [SimArgument::Array { columns: vec![column], length }];
    let types = kernel.outcome().expect("it gives an array").types.clone();
    let result = SimResult { types: &types, length, complete: false };
    let options = simulate::Options::default();
    let simulated = simulate_bound(&kernel.kernel().program, kernel.bindings(), &arguments, result, &options);
    simulated.expect("all parameters are given").report.expect("nothing is wrong").to_string()
}

#[track_caller]
pub fn same_kernel<P>(text: &str, threads: u32, lengths: &[usize], rust: impl KernelFunction<P>) {
    let own = kernel_of(text, threads);
    let rust = define("kernel", threads, rust).expect("the kernel in Rust is built");
    let (own, rust) = (text_of(&own, lengths), text_of(&rust, lengths));
    // The texts may differ only in what the normal form leaves out.
    if normal(&own) != normal(&rust) {
        panic!(
            "the kernels differ: {text}\n{}\n\nin Rust:\n{}\n\n{own}\n\n{rust}",
            normal(&own),
            normal(&rust)
        );
    }
}

#[test]
fn what_matters_is_compared() {
    let text = |expression: &str| normal(&text_of(&kernel_of(&of_one("", expression), 32), &[128]));
    let reversed = text("push <grid> (reverse xs)");
    assert!(reversed.contains("store @out["), "{reversed}");
    assert_eq!(reversed, text("push <grid> (generate (length xs) (fn i => index xs (length xs - (1 + i))))"));
    for other in [
        "push <grid> xs",
        "push <grid> (generate (length xs) (fn i => index xs ((length xs - i - 1) band 127)))",
        "push <grid> (map (fn x => x + 1) (reverse xs))",
        "splitUp 32 xs |> map (fn part => push <block> (reverse part)) |> concat 32",
    ] {
        assert_ne!(reversed, text(other), "{other}");
    }
    let through = |times: &str| text(&format!("splitUp 32 xs |> map (push <block> . {times}) |> concat 32"));
    assert_ne!(through("force . push <block>"), through("force . push <block> . force . push <block>"));
}

/// A program of one array.
pub fn of_one(program: &str, expression: &str) -> String {
    format!("{program}\nsig it : [i32] -> [i32]<grid>\nfun it xs = {expression}\n")
}

/// A program of two arrays.
fn of_two(expression: &str) -> String {
    format!("sig it : [i32] -> [i32] -> [i32]<grid>\nfun it xs ys = {expression}\n")
}

#[test]
fn the_papers_functions() {
    // The paper's functions, to the letter.
    fn reverse<T: Item, S: Size>(xs: Pull<T, S>) -> Pull<T, S> {
        let n = xs.len();
        Pull::new(n, move |i| xs.at(n.to_ix() - i - 1))
    }
    fn split_up<T: Item>(size: usize, xs: Pull<T, Ix>) -> Pull<Pull<T>, Ix> {
        let n = size as i64;
        Pull::new(xs.len() / n, move |i| {
            let xs = xs.clone();
            Pull::new(size, move |j| xs.at(i * n + j))
        })
    }
    same_kernel(&of_one(PAPER, "push <grid> (reverse xs)"), 32, &[1000], |xs: Pull<i32, Ix>| {
        reverse(xs).push::<Grid>()
    });
    let doubled = of_one(PAPER, "push <grid> (generate (length xs) (fn i => index xs i * 2))");
    same_kernel(&doubled, 32, &[1000], |xs: Pull<i32, Ix>| {
        generate(xs.len(), move |i| xs.at(i) * 2).push::<Grid>()
    });
    same_kernel(
        &of_one(PAPER, "revDistribute 64 xs"),
        32,
        &[640],
        |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            let parts = reverse(split_up(64, xs).map(|part| reverse(part).push::<Block>()));
            let length = parts.len() * 64;
            parts.concat_by(64, length)
        },
    );
    same_kernel(
        &of_one(PAPER, "reduceGrid (+) xs"),
        32,
        &[640],
        |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            let sums = split_up(64, xs).map(|mut part| {
                let step = |part: Pull<i32>| {
                    let half = part.len() / 2;
                    let (low, high) = (part.clone(), part.clone());
                    let low = Pull::<i32>::new(half, move |i| low.at(i));
                    let high = Pull::<i32>::new(part.len() - half, move |i| high.at(half as i64 + i));
                    low.zip_with(high, |a, b| a + b).push::<Block>().force()
                };
                part = step(part);
                while part.len() != 1 {
                    part = step(part);
                }
                part.push::<Block>()
            });
            let length = sums.len();
            sums.concat_by(1, length)
        },
    );
    same_kernel(&of_one("", "pushBy <grid> 4 (reverse xs)"), 256, &[1000], fcl::reverse::<i32>);
}

#[test]
fn loops_of_the_kernel() {
    let halved = "
fun step xs = let (low, high) = halve xs in push <block> (zipWith (+) low high)
fun halved part =
  let last = while (fn xs => index xs 0 < 1000) step (push <block> part)
  in push <block> (generate 1 (fn _ => index last 0))";
    let program = of_one(halved, "splitUp 64 xs |> map halved |> concat 1");
    same_kernel(&program, 32, &[640], |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let halved = |part: Pull<i32>| {
            let step = |xs: Pull<i32, Ix>| {
                let half = xs.len() / 2;
                let (low, high) = (xs.clone(), xs.clone());
                let low = Pull::<i32, Ix>::new(half, move |i| low.at(i));
                let high = Pull::<i32, Ix>::new(xs.len() - half, move |i| high.at(half + i));
                low.zip_with(high, |a, b| a + b).push::<Block>()
            };
            let first = part.push::<Block>().dynamic();
            let last = while_(64, first, |xs| xs.at(0).lt(1000), step);
            Pull::new(1, move |_| last.at(0)).push::<Block>()
        };
        whole_blocks(xs, 64).map(halved).concat()
    });
    let turned = "
fun turned size xs =
  let n = length xs
  in tiles size xs
     |> map (fn chunk => push <block> (reverse chunk))
     |> interleave n (fn chunk i => n - min ((chunk + 1) * size) n + i)";
    same_kernel(&of_one(turned, "turned 64 xs"), 32, &[640], |xs: Pull<i32, Ix>| fcl::rev_distribute(64, xs));
    same_kernel(&of_one(turned, "turned 64 xs"), 32, &[700], |xs: Pull<i32, Ix>| fcl::rev_distribute(64, xs));
    let sums = "fun sums part = push <grid> (map (fn chunk => sum chunk) part)";
    same_kernel(
        &of_one(sums, "sums (splitUp 50 xs)"),
        32,
        &[700],
        |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            whole_blocks(xs, 50).map(|part| part.seq_reduce(0.into(), |a, b| a + b)).push()
        },
    );
}

#[test]
fn obsidians_first_programs() {
    let sums = "fun sums xs = if length xs < 2 then xs else sums (force (push <block> (map (fn (a, b) => a + b) (pair xs))))";
    let blocks = |size: usize, f: &str| format!("splitUp {size} xs |> map ({f}) |> concat");
    same_kernel(
        &of_one(sums, &format!("{} 1", blocks(8, "fn b => push <block> (sums b)"))),
        4,
        &[100],
        obsidian::sum,
    );
    let fused = "fn b => push <block> (map (fn x => x + 1) (map (fn x => x * 2) b))";
    same_kernel(&of_one("", &format!("{} 32", blocks(32, fused))), 32, &[100], obsidian::map_fusion);
    let unfused = "fn b => push <block> (map (fn x => x + 1) (force (push <block> (map (fn x => x * 2) b))))";
    same_kernel(&of_one("", &format!("{} 32", blocks(32, unfused))), 32, &[100], obsidian::map_unfused);
    let alone =
        "fun reduceS f xs = if length xs < 2 then xs else let (a, b) = halve xs in reduceS f (zipWith f a b)";
    let add = |a: Exp<i32>, b| a + b;
    let reduced = format!("{} 1", blocks(8, "fn b => push <block> (reduceS (+) b)"));
    same_kernel(&of_one(alone, &reduced), 1, &[100], obsidian::reduce_s(8, add));
    let forced = "fun reduceF f xs = if length xs < 2 then xs else let (a, b) = halve xs in reduceF f (force (push <block> (zipWith f a b)))";
    let reduced = format!("{} 1", blocks(8, "fn b => push <block> (reduceF (+) b)"));
    same_kernel(&of_one(forced, &reduced), 4, &[100], obsidian::reduce(8, add));
}

#[test]
fn obsidians_programs_of_two_arrays() {
    let blocks = |size: usize, f: &str| {
        format!("zipWith ({f}) (splitUp {size} xs) (splitUp {size} ys) |> concat {}", 2 * size)
    };
    let program = of_two(&blocks(16, "fn x y => push <block> (append x y)"));
    same_kernel(&program, 32, &[100, 100], obsidian::cat_arrays);
    let program = of_two(&blocks(16, "fn x y => appendPush (push <block> x) (push <block> y)"));
    same_kernel(&program, 16, &[100, 100], obsidian::cat_array_ps);
    let program = of_two(&blocks(32, "fn x y => push <block> (unpair (zip x y))"));
    same_kernel(&program, 64, &[100, 100], obsidian::zip_unpair);
    let program = of_two(&blocks(32, "fn x y => unpairPush (push <block> (zip x y))"));
    same_kernel(&program, 32, &[100, 100], obsidian::zip_unpair_p);
}

/// A function of blocks of sixteen, in both languages.
#[track_caller]
fn same_block(function: &str, threads: u32, rust: impl Fn(Pull<i32>) -> Push<Block, i32> + Clone + 'static) {
    let program = of_one("import sorters", &format!("splitUp 16 xs |> map ({function}) |> concat 16"));
    same_kernel(&program, threads, &[100], move |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        whole_blocks(xs, 16).map(rust.clone()).concat()
    });
}

#[test]
fn sorters() {
    type Network = (&'static str, fn(u32) -> Vec<networks::Stage>);
    let all: [Network; 5] = [
        ("bmerge", networks::bmerge),
        ("tmerge", networks::tmerge),
        ("tsort", networks::tsort),
        ("bpmerge", networks::bpmerge),
        ("vsort", networks::vsort),
    ];
    for (name, network) in all {
        for (threading, how, threads) in [(Threading::One, "one", 16), (Threading::Two, "two", 8)] {
            let function = format!("sorters::{name} (sorters::{how} <block>) 4");
            same_block(&function, threads, threading.network::<i32>(network(4), 4));
        }
    }
}

#[test]
fn sorters_of_arrays_of_any_length() {
    for (small, name) in [
        (Small::Tsort1, "tsort (sorters::one"),
        (Small::Tsort2, "tsort (sorters::two"),
        (Small::Vsort1, "vsort (sorters::one"),
    ] {
        let call = format!("sorters::sortTiles maxValue 16 (sorters::{name} <block>) 4) xs");
        let threads = small.threading(0).threads(4);
        for length in [96, 100, 5] {
            let sorted = on_blocks::<i32>(4, small.block(4, 0));
            same_kernel(&of_one("import sorters", &call), threads, &[length], sorted);
        }
    }
}

#[test]
fn scans() {
    let add = |a: Exp<i32>, b: Exp<i32>| a + b;
    same_block("sklansky <block> (+)", 16, move |xs| scan::sklansky(add, xs));
    same_block("koggeStone <block> (+)", 16, move |xs| scan::kogge_stone(add, xs));
    same_block("brentKung <block> (+)", 16, move |xs| scan::brent_kung(add, xs));
}

#[test]
fn kernels_that_change_memory() {
    let sort = "
fun bitonicBlock arr =
  let n = length arr
      shared = memory <block> arr
      swapIf wrong i j =
        let here = read shared i
            there = read shared j
        in if wrong here there
           then let _ = write shared i there in write shared j here
           else ()
      exchange size distance i =
        let j = i xor distance
        in if j > i
           then (if (i band size) == 0 then swapIf (>) i j else swapIf (<) i j)
           else ()
      merge size distance =
        if distance < 1
        then ()
        else
          let _ = force (push <block> (generate n (exchange size distance)))
          in merge size (distance / 2)
      sorted size =
        if size > n
        then ()
        else
          let _ = merge size (size / 2)
          in sorted (2 * size)
      _ = sorted 2
  in push <block> (generate n (read shared))
";
    let program = of_one(sort, "splitUp 16 xs |> map bitonicBlock |> concat 16");
    same_kernel(&program, 16, &[100], |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        whole_blocks(xs, 16).map(bitonic::bitonic_block).concat()
    });
    let count = "sig it : [i32] -> [i32] -> [i32]
fun it bins xs =
  inPlace
    (fn m => push <grid> (map (fn x => ignore (atomicAdd m (i64 (u32 x) % lengthMem m) 1)) xs))
    bins";
    same_kernel(count, 256, &[16, 1000], histogram::histogram_global);
    let reverse = "sig it : [i32] -> [i32]
fun it xs =
  let swap m i =
        let last = lengthMem m - 1
            here = read m i
            there = read m (last - i)
            _ = write m i there
        in write m (last - i) here
  in inPlace (fn m => push <grid> (generate (lengthMem m / 2) (swap m))) xs";
    same_kernel(reverse, 256, &[1000], |m: Mutable<i32>| {
        Grid::for_each(m.len() / 2, &|i| {
            let last = m.len() - 1;
            let (here, there) = (m.read(i), m.read(last - i));
            m.write(i, there);
            m.write(last - i, here);
        });
    });
}
