//! Fusion, counted in launches: plans for a device like a GPU, made without one.

mod support;

use pumice_array::*;
use pumice_scalar::{Constant, Exp, cond};
use std::collections::HashMap;
use support::gpu;

fn try_plan<A>(
    program: &Acc<A>,
    arguments: HashMap<u32, Vec<usize>>,
    scalars: &[Constant],
    options: &PlanOptions,
) -> Result<Plan, Error> {
    let program = CheckedProgram::new(ArrayProgram::of(std::slice::from_ref(program.described())))?;
    Plan::new(&program, &gpu(), &Knowledge::of(arguments, scalars), options)
}

fn plan_with<D: Shape, T: pumice_scalar::Elt>(
    program: &Acc<Array<D, T>>,
    extents: &[&[usize]],
    options: &PlanOptions,
) -> Plan {
    let arguments: HashMap<u32, Vec<usize>> =
        extents.iter().enumerate().map(|(number, extents)| (number as u32, extents.to_vec())).collect();
    let scalars = [Constant::from(0i64); 4];
    try_plan(program, arguments, &scalars, options).unwrap_or_else(|error| panic!("{error}"))
}

fn plan<D: Shape, T: pumice_scalar::Elt>(program: &Acc<Array<D, T>>, extents: &[&[usize]]) -> Plan {
    plan_with(program, extents, &PlanOptions::default())
}

fn vector(number: u32) -> Acc<Vector<f32>> {
    Acc::<Vector<f32>>::argument(number)
}

fn matrix(number: u32) -> Acc<Matrix<f32>> {
    Acc::<Matrix<f32>>::argument(number)
}

/// Counts the occurrences of a word in a plan's kernels.
fn count(plan: &Plan, word: &str) -> usize {
    plan.launches().map(|launch| launch.program.to_string().matches(word).count()).sum()
}

#[test]
fn a_chain_of_maps_is_one_kernel() {
    let chain = (0..20).fold(vector(0), |xs, k| xs.map(move |x| x * 1.5 + k as f32));
    assert_eq!(plan(&chain, &[&[1000]]).launches().count(), 1);
    let unfused = plan_with(&chain, &[&[1000]], &PlanOptions { fuse: false, ..PlanOptions::default() });
    assert_eq!(unfused.launches().count(), 20);
}

#[test]
fn what_only_a_permute_begins_with_is_not_copied() {
    let sums = |begin: Acc<Vector<f32>>| vector(1).permute(|new, old| new + old, begin, |i| i / 2);
    let copies = |program: Acc<Vector<f32>>| {
        let plan = plan(&program, &[&[1000], &[1000]]);
        plan.steps().iter().filter(|step| matches!(step, Step::Copy { .. })).count()
    };
    assert_eq!(copies(sums(vector(0).sort())), 0);
    // What is looked at afterwards, too, is kept.
    let begin = vector(0).sort();
    assert_eq!(copies(sums(begin.clone()).zip_with(begin, |sum, x| sum - x)), 1);
}

#[test]
fn a_dot_product_stores_no_product() {
    let dot = vector(0).zip_with(vector(1), |x, y| x * y).sum();
    let small = plan(&dot, &[&[5000], &[5000]]);
    assert_eq!(small.launches().count(), 1, "{small}");
    let large = plan(&dot, &[&[1 << 26], &[1 << 26]]);
    assert_eq!(large.launches().count(), 2, "the chunks' sums are summed once more\n{large}");
    let written: usize = large.buffers().iter().skip(2).map(|buffer| buffer.length).sum();
    assert!(written < 5000, "{large}");
}

#[test]
fn maps_and_reshapes_after_a_fold_are_part_of_it() {
    let norms = matrix(0).map(|x| x * x).sum().map(|x| x.sqrt()).reshape((2, 50)).map(|x| 1.0 / x);
    let plan = plan(&norms, &[&[100, 64]]);
    assert_eq!(plan.launches().count(), 1, "{plan}");
}

#[test]
fn an_array_used_twice_is_computed_once_or_is_cheap() {
    // At one index in one kernel: one node, however dear.
    let dear = vector(0).map(|x| x.sin().exp());
    let same_index = dear.clone().zip_with(dear.clone().map(|x| x + 1.0), |a, b| a * b);
    let same = plan(&same_index, &[&[100_001]]);
    assert_eq!(same.launches().count(), 1, "{same}");
    assert_eq!(count(&same, "= exp "), 5, "once for each of four elements a thread, once for the rest");
    // At different indices: in memory if it is dear ...
    let reversed = |xs: Acc<Vector<f32>>| {
        let n = xs.size();
        xs.backpermute(n, move |i| n - 1 - i)
    };
    let twice = plan(&dear.clone().zip_with(reversed(dear), |a, b| a * b), &[&[1000]]);
    assert_eq!(twice.launches().count(), 2, "{twice}");
    // ... and computed again if it is cheap.
    let cheap = vector(0).map(|x| x + 1.0);
    let again = plan(&cheap.clone().zip_with(reversed(cheap), |a, b| a * b), &[&[1000]]);
    assert_eq!(again.launches().count(), 1, "{again}");
    // What is replicated is used many times.
    let rows = |xs: Acc<Vector<f32>>| matrix(1).zip_with(xs.replicate_rows(10), |a, x| a * x);
    assert_eq!(plan(&rows(vector(0).map(|x| x.exp())), &[&[50], &[10, 50]]).launches().count(), 2);
    assert_eq!(plan(&rows(vector(0)), &[&[50], &[10, 50]]).launches().count(), 1);
}

#[test]
fn folds_of_folds_need_their_input_in_memory() {
    let total = matrix(0).sum().map(|x| x * 2.0).sum();
    assert_eq!(plan(&total, &[&[30, 40]]).launches().count(), 2);
    let beside = matrix(0).sum();
    let both = beside.clone().zip_with(beside.map(|x| x + 1.0), |a, b| a * b);
    assert_eq!(plan(&both, &[&[30, 40]]).launches().count(), 2);
}

#[test]
fn element_wise_kernels_use_wide_accesses_and_narrow_indices() {
    let saxpy = vector(0).zip_with(vector(1), |x, y| 2.5 * x + y);
    let plan = plan(&saxpy, &[&[1 << 20], &[1 << 20]]);
    let text = plan.launches().next().unwrap().program.to_string();
    let four_wide = |line: &&str| line.contains("= load") && line.matches(": f32").count() == 4;
    assert_eq!(text.lines().filter(four_wide).count(), 2, "{text}");
    assert!(text.contains("parallel %t.") && text.contains("i32 < 256:i32"), "{text}");
    // Beyond what 32 bits can count, indices are 64 bits wide.
    let large = plan_with(&saxpy, &[&[1 << 32], &[1 << 32]], &PlanOptions::default());
    let text = large.launches().next().unwrap().program.to_string();
    assert!(text.contains("mul! %block") && text.contains("i64 = mul!"), "{text}");
}

#[test]
fn nothing_is_launched_for_nothing() {
    let empty = plan(&vector(0).map(|x| x + 1.0), &[&[0]]);
    assert_eq!(empty.launches().count(), 0);
    let rows = plan(&matrix(0).sum(), &[&[0, 7]]);
    assert_eq!(rows.launches().count(), 0);
    // Rows without elements have a sum.
    assert_eq!(plan(&matrix(0).sum(), &[&[7, 0]]).launches().count(), 1);
}

#[test]
fn kernels_are_the_same_for_other_extents() {
    let program = matrix(0).map(|x| x * 3.0).sum();
    let key = |rows, columns| {
        let plan = plan(&program, &[&[rows, columns]]);
        plan.launches().map(|launch| launch.program.key_text()).collect::<Vec<_>>()
    };
    assert_eq!(key(10_000, 1000), key(20_000, 1004));
    let write = vector(0).map(|x| x * 3.0);
    let key =
        |n| plan(&write, &[&[n]]).launches().map(|launch| launch.program.key_text()).collect::<Vec<_>>();
    assert_eq!(key(10_000), key(77_777));
}

#[test]
fn checks_that_are_proved_are_not_made() {
    let reversed = plan(&vector(0).backpermute(1000, |i| 999 - i), &[&[1000]]);
    assert!(reversed.sites().is_empty());
    let shifted = plan(&vector(0).backpermute(1000, |i| i + 1), &[&[1000]]);
    assert_eq!(shifted.sites().len(), 1);
}

#[test]
fn shapes_that_do_not_fit_are_errors_that_name_the_place() {
    let message = |program: &Acc<Vector<f32>>, extents: &[&[usize]]| {
        let arguments: HashMap<u32, Vec<usize>> =
            extents.iter().enumerate().map(|(number, extents)| (number as u32, extents.to_vec())).collect();
        match try_plan(program, arguments, &[], &PlanOptions::default()) {
            Ok(plan) => panic!("accepted: {plan}"),
            Err(error) => error.to_string(),
        }
    };
    let zipped = message(&vector(0).zip_with(vector(1), |x, y| x + y), &[&[3], &[4]]);
    assert!(
        zipped.contains("[3] and [4]") && zipped.contains("zip_with at ") && zipped.contains("fusion.rs:"),
        "{zipped}"
    );
    let reshaped = message(&vector(0).reshape(7), &[&[3]]);
    assert!(reshaped.contains("[3] and [7]") && reshaped.contains("reshape"), "{reshaped}");
    let negative = message(&generate(Exp::from(-1i64), |i| i.cast::<f32>()), &[]);
    assert!(negative.contains("not possible") && negative.contains("generate"), "{negative}");
}

#[test]
fn large_programs_build_plan_and_drop_without_recursion() {
    let start = std::time::Instant::now();
    let constants: Vec<Exp<f32>> = (0..10).map(|k| Exp::from(k as f32)).collect();
    // 10^4 array nodes with 10 scalar nodes each.
    let large =
        (0..10_000).fold(vector(0), |xs, k| xs.map(|x| constants.iter().fold(x, |y, c| y * *c + k as f32)));
    let planned = plan(&large, &[&[1000]]);
    assert_eq!(planned.launches().count(), 1);
    drop(large);
    // Under a second when optimised; anything quadratic would take minutes.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn conditions_that_are_nested_too_deeply_are_refused_with_the_place() {
    let nested = |levels: i32| {
        Acc::<Vector<i32>>::argument(0).map(move |x| {
            (0..levels).fold(x, |rest, k| cond(x.gt(k), || Exp::from(100) / (rest - k), || Exp::from(k)))
        })
    };
    assert_eq!(plan(&nested(150), &[&[1000]]).launches().count(), 1);
    let arguments = HashMap::from([(0, vec![1000])]);
    let error = try_plan(&nested(20_000), arguments, &[], &PlanOptions::default());
    let message = error.err().map(|error| error.to_string()).unwrap_or_default();
    for part in ["nested more than 200 deep", "in map at crates/array/tests/fusion.rs:"] {
        assert!(message.contains(part), "{message}");
    }
    // What is pure needs no nesting.
    let cases = Acc::<Vector<i32>>::argument(0)
        .map(|x| (0..20_000).fold(Exp::from(-1), |rest, k| cond(x.eq(k), || Exp::from(k * 3), || rest)));
    assert_eq!(plan(&cases, &[&[1000]]).launches().count(), 1);
}

#[test]
fn a_fold_whose_elements_come_apart_is_a_product() {
    let pattern = |f: fn(Exp<f32>, Exp<f32>) -> Exp<f32>| {
        let (a, b) = (matrix(0), matrix(1));
        let ((rows, _), (_, columns)) = (a.shape(), b.shape());
        let (a, b) = (a.replicate((All, columns, All)), b.transpose().replicate((rows, All, All)));
        a.zip_with(b, f).fold(0.0, |x, y| x + y).map(|x| x + 1.0)
    };
    let by_product = |plan: &Plan| plan.to_string().contains("by product");
    let extents: [&[usize]; 2] = [&[300, 100], &[100, 200]];
    let product = plan(&pattern(|x, y| x * y), &extents);
    assert!(by_product(&product) && product.launches().count() == 1, "{product}");
    let distances = plan(&pattern(|x, y| (x - y) * (x - y)), &extents);
    assert!(by_product(&distances), "{distances}");
    // Too few rows, short inner rows, and elements that are made of one side only.
    for extents in [[&[4usize, 100][..], &[100, 200]], [&[300, 16], &[16, 200]]] {
        let rows = plan(&pattern(|x, y| x * y), &extents);
        assert!(!by_product(&rows), "{rows}");
    }
    let one_side = plan(&pattern(|x, _| x), &extents);
    assert!(!by_product(&one_side), "{one_side}");
}

#[test]
fn pulls_one_after_the_other_are_one_kernel() {
    let parts = |count: usize| vec![vector(0).map(|x| x * 2.0); count];
    let launches = |parts: Vec<Acc<Vector<f32>>>| plan(&concat(0, parts), &[&[4096]]).launches().count();
    assert_eq!(launches(parts(8)), 1);
    assert_eq!(launches(parts(9)), 2);
    // A part that is handed on by a kernel of its own, among others that are not.
    let mut mixed = parts(4);
    mixed.insert(2, vector(0).scanl1(|a, b| a + b));
    assert_eq!(launches(mixed), 2);
    // Every length is a multiple of four, so each part is written four at a time.
    let joined = plan(&concat(0, parts(3)), &[&[4096]]);
    let text: String = joined.launches().map(|launch| launch.program.to_string()).collect();
    let is_wide = |line: &&str| line.trim_start().starts_with("store") && line.matches(',').count() == 3;
    assert_eq!(text.lines().filter(is_wide).count(), 3);
}
