//! The sorting kernels on the simulator, which says so if threads race.

mod support;

use pumice::kernel::{Block, Grid, Ix, Pull, Push};
use pumice_algorithms::combinators::{Threading, ilv_vee1, ilv_vee2, ilv1, ilv2, vee1, vee2};
use pumice_algorithms::networks::{Stage, bmerge, bpmerge, tmerge, tsort, vsort};
use pumice_algorithms::numbers::numbers;
use pumice_algorithms::sort::{Exchange, Launch, Method, Small, on_blocks};
use support::{Arguments, array, costs, run, sorted};

/// Blocks of a network on 2^n elements.
fn network(
    stages: Vec<Stage>,
    n: u32,
    threading: Threading,
) -> impl Fn(Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
    move |xs| xs.split_up(1 << n).map(threading.network(stages.clone(), n)).concat()
}

/// A pass, launched with strides that it takes.
fn kernel_of(pass: Exchange) -> impl Fn(Pull<i32, Ix>, Ix) -> Push<Grid, i32, Ix> {
    // SAFETY: the strides here are powers of two and large enough.
    unsafe { pass.kernel::<i32>() }
}

#[test]
fn kernels_do_what_the_stages_say() {
    let all = [Threading::One, Threading::Two, Threading::Registers(2), Threading::Registers(4)];
    for (n, threading) in [4, 6].into_iter().flat_map(|n| all.map(|threading| (n, threading))) {
        for stages in [bmerge(n), tmerge(n), tsort(n), bpmerge(n), vsort(n)] {
            let xs = numbers(3 << n);
            let mut expected = xs.clone();
            stages.iter().for_each(|stage| stage.apply(&mut expected));
            let f = network(stages, n, threading);
            assert_eq!(run("network", threading.threads(n), f, &array(&xs)), expected, "{n} {threading:?}");
        }
    }
}

/// The combinators take any two functions.
#[test]
fn combinators_are_general() {
    type E = pumice::Exp<i32>;
    let (f, g) = (|a: E, b: E| a + b, |a: E, b: E| a * b);
    let xs = numbers(64);
    let expected = |stage: Stage| -> Vec<i32> {
        let element = |i: u32| {
            let (a, b) = (xs[i as usize], xs[stage.partner(i) as usize]);
            if i >> stage.top() & 1 == 0 { a.wrapping_add(b) } else { a.wrapping_mul(b) }
        };
        (0..64).map(element).collect()
    };
    macro_rules! check {
        ($one:ident $two:ident ($($i:expr),*) $stage:expr) => {
            let one = move |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
                xs.split_up(16).map(move |xs| $one::<i32, i32>($($i,)* f, g, xs).push::<Block>()).concat()
            };
            let two = move |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
                xs.split_up(16).map(move |xs| $two::<i32, i32>($($i,)* f, g, xs)).concat()
            };
            assert_eq!(run("one", 16, one, &array(&xs)), expected($stage));
            assert_eq!(run("two", 8, two, &array(&xs)), expected($stage));
        };
    }
    for i in 0..4 {
        check!(ilv1 ilv2 (i) Stage::ilv(i));
        check!(vee1 vee2 (i) Stage::vee(i));
        for j in 0..4 - i {
            check!(ilv_vee1 ilv_vee2 (i, j) Stage::ilv_vee(i, j));
        }
    }
}

/// The paper's lists of steps, by the paper's names.
#[test]
fn steps_are_composed() {
    use pumice::kernel::Layout;
    use pumice_algorithms::combinators::{self as steps, Step, compose};
    let xs = numbers(3 * 32);
    type Steps = fn(u32) -> Vec<Step<i32>>;
    let all: [(Steps, Vec<Stage>); 10] = [
        (steps::bmerge, bmerge(5)),
        (steps::bmerge2, bmerge(5)),
        (steps::tmerge, tmerge(5)),
        (steps::tmerge2, tmerge(5)),
        (steps::tsort1, tsort(5)),
        (steps::tsort2, tsort(5)),
        (steps::bpmerge2, bpmerge(5)),
        (steps::vsort1, vsort(5)),
        (steps::vsort2, vsort(5)),
        (steps::vsort, vsort(5)),
    ];
    for (steps, stages) in all {
        let mut expected = xs.clone();
        stages.iter().for_each(|stage| stage.apply(&mut expected));
        let f = move |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
            xs.split_up(32).map(move |block| compose(steps(5), Layout::Plain, block)).concat()
        };
        assert_eq!(run("steps", 32, f, &array(&xs)), expected);
    }
}

#[test]
fn small_sorters_sort_blocks_of_512() {
    for small in Small::ALL {
        let xs = numbers(3 * 512 - 100);
        let expected: Vec<i32> = xs.chunks(512).flat_map(sorted).collect();
        let f = on_blocks(9, small.block::<i32>(9, 4));
        assert_eq!(run(small.name(), small.threading(4).threads(9), f, &array(&xs)), expected, "{small:?}");
    }
}

/// Sorts with the kernels of a method, one launch after the other.
fn sort(method: Method, xs: &[i32]) -> Vec<i32> {
    method.launches(xs.len()).into_iter().fold(xs.to_vec(), |xs, launch| match launch {
        Launch::Sort => run("sort", method.sort_threads(), method.sort_kernel::<i32>(), &array(&xs)),
        Launch::Merge => run("merge", method.merge_threads(), method.merge_kernel::<i32>(), &array(&xs)),
        Launch::Exchange(pass, stride) => {
            let arguments = Arguments { arrays: vec![&xs], scalars: vec![stride as i64] };
            run(&pass.name(), pass.threads(), kernel_of(pass), &arguments)
        }
    })
}

#[test]
fn large_sorts_sort() {
    // Small blocks, so that there are many passes; and the real ones.
    let tiled = |block, stages, tile| Method {
        block,
        passes: pumice_algorithms::sort::Passes::Tiled { stages, tile },
        ..Method::TUNED
    };
    let small = |small| Method { block: 4, ..Method::paper(small) };
    for length in [0, 1, 2, 15, 16, 17, 100, 512, 1000, 1024, 1025] {
        let xs = numbers(length);
        for method in
            [small(Small::Vsort), small(Small::Bitonic), tiled(4, 3, 5), tiled(5, 8, 7), tiled(6, 2, 6)]
        {
            assert_eq!(sort(method, &xs), sorted(&xs), "{length} by {method:?}");
        }
    }
    for length in [512, 1 << 10, 1 << 11, 3000, 1 << 13] {
        let xs = numbers(length);
        assert_eq!(sort(Method::paper(Small::Tsort2), &xs), sorted(&xs), "{length}");
    }
    for length in [4096, 5000, 1 << 13, 10_001] {
        let xs = numbers(length);
        assert_eq!(sort(Method::TUNED, &xs), sorted(&xs), "{length}");
    }
}

#[test]
fn equal_largest_and_smallest_elements_are_sorted_too() {
    let mut xs = numbers(700);
    xs.iter_mut().step_by(3).for_each(|x| *x = i32::MAX);
    xs.iter_mut().skip(1).step_by(7).for_each(|x| *x = i32::MIN);
    xs.iter_mut().skip(2).step_by(5).for_each(|x| *x = 7);
    assert_eq!(sort(Method::paper(Small::Vsort), &xs), sorted(&xs));
}

/// A large sort costs as many passes over the whole array as it has launches.
#[test]
fn passes_of_large_sorts() {
    let count = |method: Method, n: u32| method.launches(1 << n).len();
    assert_eq!(count(Method::paper(Small::Vsort), 24), 71);
    assert_eq!(count(Method::TUNED, 24), 29);
    let names: Vec<String> = Method::paper(Small::Vsort)
        .launches(1 << 15)
        .into_iter()
        .map(|launch| match launch {
            Launch::Exchange(pass, stride) => format!("{} {}", pass.name(), stride / 512),
            other => format!("{other:?}"),
        })
        .skip(12)
        .collect();
    assert_eq!(
        names,
        ["vSwap 16", "iSwap3 8", "iSwap 1", "Merge", "vSwap 32", "iSwap3 16", "iSwap2 2", "Merge"]
    );
    assert_eq!(Exchange::V_SWAP.threads(), 256);
}

/// Costs of the tuned sort's kernels: no bank conflicts, no divergent branches, and memory is moved in whole
/// sectors.
#[test]
fn tuned_kernels_use_memory_well() {
    let method = Method::TUNED;
    let xs = numbers(1 << 16);
    let pass = Exchange { mirrored: true, rows: 8, columns: 4, registers: 4 };
    let strided = Arguments { arrays: vec![&xs], scalars: vec![1 << 15] };
    for (name, found) in [
        ("sort", costs("sort", method.sort_threads(), method.sort_kernel::<i32>(), &array(&xs[..1 << 13]))),
        ("merge", costs("merge", method.merge_threads(), method.merge_kernel::<i32>(), &array(&xs))),
        ("pass", costs("pass", pass.threads(), kernel_of(pass), &strided)),
        ("vSwap", costs("vSwap", 256, kernel_of(Exchange::V_SWAP), &strided)),
        ("iSwap3", costs("iSwap3", 256, kernel_of(Exchange::I_SWAP3), &strided)),
    ] {
        let costs = found.costs;
        assert_eq!((costs.global_loads.efficiency(), costs.global_stores.efficiency()), (1.0, 1.0), "{name}");
        assert_eq!((costs.shared_loads.conflicts, costs.shared_stores.conflicts), (0, 0), "{name}");
        assert_eq!(costs.divergent, 0, "{name}");
    }
}

/// Of the small sorters, `vsort` has the least to do: what the paper's second table measures.
#[test]
fn small_sorters_in_order() {
    let xs = numbers(1 << 12);
    let cost = |small: Small| {
        let f = on_blocks(9, small.block::<i32>(9, 4));
        let found = costs(small.name(), small.threading(4).threads(9), f, &array(&xs));
        let wavefronts = found.costs.shared_loads.wavefronts + found.costs.shared_stores.wavefronts;
        (found.steps, wavefronts)
    };
    let [bitonic, tsort1, tsort2, vsort] =
        [Small::Bitonic, Small::Tsort1, Small::Tsort2, Small::Vsort].map(cost);
    assert!(4 * vsort.0 < bitonic.0 && 4 * vsort.1 < bitonic.1, "{vsort:?} {bitonic:?}");
    assert!(vsort < tsort2 && tsort2 < tsort1 && tsort1 < bitonic);
}
