//! Arrays that one kernel computes because they hear the same elements, counted in launches: plans for a device like a GPU, made
//! without one.

mod support;

use pumice_array::*;
use pumice_kernel::skeletons::Division;
use std::sync::Arc;
use support::gpu;

/// The plan of several results of a vector of so many elements.
fn plan(results: &[Arc<Described>], size: usize) -> Plan {
    plan_of(results, vec![vec![size]])
}

/// Like [`plan`], for arguments of these extents.
fn plan_of(results: &[Arc<Described>], extents: Vec<Vec<usize>>) -> Plan {
    plan_with(results, extents, PlanOptions::default())
}

fn plan_with(results: &[Arc<Described>], extents: Vec<Vec<usize>>, options: PlanOptions) -> Plan {
    let program = CheckedProgram::new(ArrayProgram::of(results)).and_then(|program| program.ready(&options));
    let knowledge = Knowledge::of((0..).zip(extents).collect(), &[]);
    let plan = program.and_then(|program| Plan::new(&program, &gpu(), &knowledge, &options));
    plan.unwrap_or_else(|error| panic!("{error}"))
}

fn skeletons(plan: &Plan) -> Vec<&str> {
    plan.launches().map(|launch| launch.skeleton.as_str()).collect()
}

/// Counts the elements in memory besides the first buffer.
fn written(plan: &Plan) -> usize {
    plan.buffers().iter().skip(1).map(|buffer| buffer.length).sum()
}

#[test]
fn statistics_of_an_array_and_its_histogram_are_one_pass() {
    let xs = Acc::<Vector<f32>>::argument(0);
    let bins = xs.clone().histogram(64, |x| (x * 64.0).cast::<i64>());
    let results = [
        xs.clone().mean().described().clone(),
        xs.clone().variance().described().clone(),
        xs.clone().min().described().clone(),
        xs.max().described().clone(),
        bins.described().clone(),
    ];
    let plan = plan(&results, 1 << 26);
    assert_eq!(skeletons(&plan), ["combine, folded block by block, private tables", "fold"], "{plan}");
}

#[test]
fn those_who_hear_an_expansion_are_one_kernel_and_nothing_of_it_is_in_memory() {
    let sources = Acc::<Vector<i64>>::argument(0);
    let elements = sources.expand(|size| size, |size, number| size * 7 + number);
    let results = [
        elements.clone().sum().described().clone(),
        elements.clone().filter(|x| (x & 1).eq(0)).count(|x| x.gt(9)).described().clone(),
        elements.histogram(10, |x| x % 10).described().clone(),
    ];
    let plan = plan(&results, 100_000);
    let heard =
        |how: &str| format!("expand, {how}, no element in memory, folded block by block, private tables");
    let small = heard(
        "small sources by threads, larger ones by warps, large ones by all blocks \
         (since the device has warps; each size is met when its source is)",
    );
    assert_eq!(skeletons(&plan), [&small, &heard("large sources by all blocks"), "fold"], "{plan}");
    // A word per source for the queue, and something per block.
    assert!(written(&plan) < 120_000, "{plan}");
}

#[test]
fn an_expansion_in_equal_shares_has_a_sum_for_each_source_in_memory_and_no_element() {
    let balanced = PlanOptions { division: Some(Division::Balanced), ..PlanOptions::default() };
    let elements = Acc::<Vector<i64>>::argument(0).expand(|size| size, |size, number| size * 7 + number);
    let again = elements.clone().expand(|x| x & 3, |x, number| x + number).filter(|x| x.gt(5));
    let results = [elements.histogram(10, |x| x % 10).described().clone(), again.sum().described().clone()];
    let plan = plan_with(&results, vec![vec![100_000]], balanced);
    let shares = "expand, equal shares of all elements, whose sources are found by search (as asked for), \
                  no element in memory, private tables, folded block by block";
    let [sums @ .., heard, "fold"] = &skeletons(&plan)[..] else { panic!("{plan}") };
    assert!(sums.iter().all(|kernel| kernel.starts_with("scan")) && *heard == shares, "{plan}");
    assert!(written(&plan) < 120_000 && plan.reads().is_none(), "{plan}");
}

#[test]
fn an_expansion_of_an_expansion_is_one_kernel() {
    let sources = Acc::<Vector<i64>>::argument(0);
    let pairs = sources.expand(|n| n, |n, number| (n, number));
    let all = pairs.expand(|(n, x)| n - x, |(n, x), number| n * x + number);
    let plan = plan(&[all.sum().described().clone()], 100_000);
    assert_eq!(skeletons(&plan).len(), 3, "small sources, large ones, results of blocks\n{plan}");
    assert!(written(&plan) < 120_000, "{plan}");
}

#[test]
fn arrays_that_load_an_element_in_common_are_written_together() {
    let xs = Acc::<Vector<f32>>::argument(0);
    let (roots, squares) = (xs.clone().map(|x| x.sqrt()), xs.clone().map(|x| x * x));
    let both = plan(&[roots.described().clone(), squares.described().clone()], 5000);
    assert_eq!(skeletons(&both), ["write"], "{both}");
    let turned =
        plan(&[roots.described().clone(), xs.clone().reverse().map(|x| x + 1.0).described().clone()], 5000);
    assert_eq!(skeletons(&turned).len(), 2, "{turned}");
    let with_sum = plan(&[squares.described().clone(), xs.sum().described().clone()], 1 << 20);
    assert_eq!(skeletons(&with_sum), ["combine, folded block by block", "fold"], "{with_sum}");
}

#[test]
fn an_array_is_written_and_heard_by_one_kernel() {
    let xs = Acc::<Vector<f32>>::argument(0);
    let ys = xs.map(|x| x.sqrt() + 1.0);
    let sum = ys.clone().map(|y| y * y).sum();
    let both = plan(&[ys.described().clone(), sum.described().clone()], 1 << 20);
    assert_eq!(skeletons(&both), ["combine, folded block by block", "fold"], "{both}");
    let shifted = ys.clone().zip_with(ys.clone().reverse(), |a, b| a * b).sum();
    let apart = plan(&[ys.described().clone(), shifted.described().clone()], 1 << 20);
    assert_eq!(skeletons(&apart)[0], "write", "the sum reads elements that others have written\n{apart}");
    let twice = ys.clone().map(|y| y * 2.0);
    let written = plan(&[ys.described().clone(), twice.described().clone()], 1 << 20);
    assert_eq!(skeletons(&written), ["write"], "{written}");
    let matrix = ys.clone().reshape((1 << 10, 1 << 10)).map(|y| y + 1.0);
    let total = matrix.clone().flatten().sum();
    let reshaped = plan(&[matrix.described().clone(), total.described().clone()], 1 << 20);
    assert_eq!(skeletons(&reshaped), ["combine, folded block by block", "fold"], "{reshaped}");
}

#[test]
fn what_nothing_reads_waits_for_others_that_load_the_same_elements() {
    let arguments = [0, 1, 2].map(Acc::<Vector<f32>>::argument);
    let [sums, steps, rests] = arguments;
    let factor = rests.clone().map(|x| x * x).sum();
    let next = sums.zip_with(steps.clone(), |x, step| x + step);
    // Reads the factor, as the sums could, and nothing else that they read.
    let rests = rests.map(|x| x * factor.the());
    let square = rests.clone().map(|x| x * x).sum();
    let steps = steps.zip_with(rests.clone(), |step, x| x + step * square.the());
    let results = [next.described().clone(), rests.described().clone(), steps.described().clone()];
    let plan = plan_of(&results, vec![vec![1 << 20]; 3]);
    let expected = ["fold", "fold", "combine, folded block by block", "fold", "write"];
    assert_eq!(skeletons(&plan), expected, "{plan}");
}

#[test]
fn a_stencil_that_is_heard_and_read_once_is_computed_twice_and_not_written() {
    let side = 1 << 10;
    let xs = Acc::<Matrix<f64>>::argument(0);
    let image = xs.clone().stencil(Boundary::Constant(0.0), |x| x.at([0, 1]) + x.at([1, 0]) - x.at([0, 0]));
    let dot = xs.zip_with(image.clone(), |x, y| x * y).flatten().sum();
    let scaled = image.clone().map(|y| y * dot.the());
    let once = plan_of(&[scaled.described().clone()], vec![vec![side, side]]);
    let large = |plan: &Plan| plan.buffers().iter().filter(|buffer| buffer.length == side * side).count();
    assert_eq!(skeletons(&once), ["write_rows, folded block by block", "fold", "write_rows"], "{once}");
    assert_eq!(large(&once), 2, "the argument and the result\n{once}");
    // Where it is a result, or read twice, it is in memory.
    let results = [scaled.described().clone(), image.described().clone()];
    assert_eq!(large(&plan_of(&results, vec![vec![side, side]])), 3);
    let turned = image.map(|y| y - dot.the()).transpose();
    let results = [scaled.described().clone(), turned.described().clone()];
    assert_eq!(large(&plan_of(&results, vec![vec![side, side]])), 4);
}

#[test]
fn what_is_described_twice_is_computed_once() {
    let xs = Acc::<Vector<f32>>::argument(0);
    let sorted = || xs.clone().map(|x| x * 2.0).sort();
    let results = [sorted().reverse().described().clone(), sorted().sum().described().clone()];
    let both = plan(&results, 1 << 20);
    let sorts = skeletons(&both).iter().filter(|skeleton| skeleton.contains("sort")).count();
    let once = plan(&[sorted().described().clone()], 1 << 20);
    assert_eq!(sorts, skeletons(&once).iter().filter(|skeleton| skeleton.contains("sort")).count(), "{both}");
}

#[test]
fn small_arrays_of_one_size_are_one_kernel_whatever_they_read() {
    let (xs, ys) = (Acc::<Vector<f32>>::argument(0), unit(7i64));
    let scalars = [
        unit(1.5f32).described().clone(),
        xs.clone().slice(2).map(|x| x * 2.0).described().clone(),
        ys.map(|y| y + 1).described().clone(),
    ];
    let small = plan(&scalars, 5000);
    assert_eq!(skeletons(&small), ["write"], "{small}");
    let vectors = |size: usize| {
        let (up, down) = (enum_from(size, 0i64, 1), fill(size, 2.5f32));
        [up.described().clone(), down.described().clone()]
    };
    assert_eq!(skeletons(&plan(&vectors(1000), 5)), ["write"]);
    assert_eq!(skeletons(&plan(&vectors(5000), 5)).len(), 2, "each has enough to do");
}

#[test]
fn scalars_that_a_loop_begins_with_and_makes_anew_cost_one_kernel() {
    let (sum, count, last) = awhile(
        (unit(0i64), unit(0i32), unit(1.0f32)),
        |(sum, _, _)| sum.map(|sum| sum.lt(100)),
        |(sum, count, last)| (sum.map(|s| s + 7), count.map(|c| c + 1), last.map(|l| l * 0.5)),
    );
    let results = [sum.described().clone(), count.described().clone(), last.described().clone()];
    let options = PlanOptions { small_loops: false, ..PlanOptions::default() };
    let program = CheckedProgram::new(ArrayProgram::of(&results)).and_then(|program| program.ready(&options));
    let plans = program.and_then(|program| foresee(&program, &gpu(), &Knowledge::default(), &options));
    let plans = plans.unwrap_or_else(|error| panic!("{error}"));
    let launches =
        plans.iter().map(|foreseen| foreseen.plan.as_ref().map_or(0, |plan| skeletons(plan).len()));
    assert_eq!(launches.collect::<Vec<_>>(), [1, 1, 1, 0], "before, the condition, a round, after");
}
