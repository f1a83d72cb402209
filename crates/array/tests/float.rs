//! Placement of arrays that a loop does not change, or that only one side of a branch needs, read off plans that are made
//! without a device.

mod support;

use pumice_array::*;
use std::collections::HashMap;
use std::sync::Arc;
use support::gpu;

type Xs = Acc<Vector<f32>>;

/// For each plan, the nested program that it is for and the operations of its kernels.
fn kernels(result: &Arc<Described>, options: &PlanOptions) -> Vec<(String, Vec<String>)> {
    let program = CheckedProgram::new(ArrayProgram::of(std::slice::from_ref(result)));
    let program = program.and_then(|program| program.ready(options));
    let knowledge = Knowledge::of(HashMap::from([(0, vec![5000]), (1, vec![5000])]), &[]);
    let plans = program.and_then(|program| foresee(&program, &gpu(), &knowledge, options));
    let plans = plans.unwrap_or_else(|error| panic!("{error}"));
    let kernels = plans.into_iter().filter_map(|foreseen| {
        let plan = foreseen.plan.unwrap_or_else(|error| panic!("{error}"));
        let names = plan.launches().map(|launch| launch.place.operation().to_owned());
        let names: Vec<String> = names.collect();
        let within = foreseen.within.iter().map(|within| within.split(" at ").next().unwrap_or(""));
        (!names.is_empty()).then(|| (within.collect::<Vec<_>>().join(" in "), names))
    });
    kernels.collect()
}

fn floated(result: &Arc<Described>) -> Vec<(String, Vec<String>)> {
    kernels(result, &PlanOptions::default())
}

fn written(result: &Arc<Described>) -> Vec<(String, Vec<String>)> {
    kernels(result, &PlanOptions { float: false, ..PlanOptions::default() })
}

fn of(expected: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let owned = |(within, names): &(&str, &[&str])| {
        ((*within).to_owned(), names.iter().map(|name| (*name).to_owned()).collect())
    };
    expected.iter().map(owned).collect()
}

#[test]
fn what_a_loop_of_some_rounds_does_not_change_is_computed_before_it() {
    let xs = Xs::argument(0);
    let result = iterate(3, xs.clone(), |ys| {
        let sorted = xs.clone().sort();
        ys.zip_with(sorted.reverse(), |y, s| y + s)
    });
    let plans = floated(result.described());
    assert_eq!(plans.last(), Some(&of(&[("step of iterate", &["zip_with"])])[0]), "{plans:?}");
    assert!(plans[0].1.contains(&"sort".to_owned()), "{plans:?}");
    let plans = written(result.described());
    assert!(plans[1].1.contains(&"sort".to_owned()), "{plans:?}");
}

#[test]
fn what_may_fail_is_computed_before_the_first_round_if_there_is_one() {
    let (xs, places) = (Xs::argument(0), Acc::<Vector<i64>>::argument(1));
    let result = awhile(
        xs.clone(),
        |ys| ys.sum().map(|sum| sum.lt(100.0)),
        |ys| {
            let picked = xs.clone().gather(places.clone());
            ys.map(move |y| y + picked.clone().sum().the())
        },
    );
    let plans = floated(result.described());
    let once = "before the first round of awhile";
    assert!(plans.iter().any(|(within, names)| within == once && names[0] == "sum"), "{plans:?}");
    assert_eq!(plans.last(), Some(&of(&[("step of awhile", &["map"])])[0]), "{plans:?}");
}

#[test]
fn what_is_fused_into_a_round_stays_there() {
    let xs = Xs::argument(0);
    let result = iterate(3, xs.clone(), |ys| ys.zip_with(xs.clone().map(|x| x.sqrt() + 1.0), |y, x| y + x));
    assert_eq!(floated(result.described()), written(result.described()));
}

#[test]
fn the_condition_of_a_loop_is_asked_at_least_once() {
    let xs = Xs::argument(0);
    let (result, _) = awhile(
        (xs.clone(), unit(0i64)),
        |(_, n)| {
            let most = xs.clone().map(|x| x.cast::<i64>()).max();
            n.map(move |n| n.lt(most.the()))
        },
        |(ys, n)| (ys.map(|y| y * 2.0), n.map(|n| n + 1)),
    );
    let plans = floated(result.described());
    let condition = plans.iter().find(|(within, _)| within == "condition of awhile");
    assert_eq!(condition.map(|(_, names)| names.len()), Some(1), "{plans:?}");
}

#[test]
fn loops_in_loops_are_left_as_far_as_possible() {
    let xs = Xs::argument(0);
    let result = iterate(3, xs.clone(), |ys| {
        iterate(2, ys, |zs| {
            let total = xs.clone().map(|x| x * x).sum();
            zs.map(move |z| z + total.the())
        })
    });
    let plans = floated(result.described());
    assert!(plans[0].0.is_empty() && plans[0].1.iter().any(|name| name == "sum"), "{plans:?}");
    let inner = plans.last().map(|(within, names)| (within.as_str(), names.len()));
    assert_eq!(inner, Some(("step of iterate in step of iterate", 1)), "{plans:?}");
}

#[test]
fn what_only_one_side_needs_is_computed_there() {
    let xs = Xs::argument(0);
    let fine = xs.clone().map(|x| x.gt(0.0)).all(|fine| fine);
    let doubled = xs.clone().map(|x| x * 2.0);
    let (sorted, both) = (doubled.clone().sort(), doubled.scanl1(|a, b| a + b));
    let result =
        acond(fine, || sorted.zip_with(both.clone(), |s, b| s + b), || both.clone().map(|b| b + 1.0));
    let plans = floated(result.described());
    assert!(plans[0].1.iter().all(|name| name != "sort"), "{plans:?}");
    assert!(plans[1].0 == "then of acond" && plans[1].1.iter().any(|name| name == "sort"), "{plans:?}");
    assert!(plans[0].1.iter().any(|name| name == "scanl1"), "both sides need it: {plans:?}");
    let plans = written(result.described());
    assert!(plans[0].1.iter().any(|name| name == "sort"), "{plans:?}");
}

#[test]
fn an_extent_alone_needs_no_array_in_memory() {
    let xs = Xs::argument(0);
    let doubled = xs.clone().map(|x| x * 2.0).filter(|x| x.gt(0.0)).map(|x| x + 1.0);
    let longer = xs.clone().append(xs.clone().map(|x| x.sqrt()));
    let result = iterate(3, xs.clone(), |ys| {
        let (size, other) = (longer.size(), longer.size());
        iterate(2, ys.map(move |y| y + size.cast::<f32>()), |zs| zs.map(move |z| z * other.cast::<f32>()))
    });
    let result = result.zip_with(doubled.sum().replicate(xs.size()), |x, y| x + y);
    let plans = floated(result.described());
    assert_eq!(plans[0], of(&[("", &["rounds"])])[0], "{plans:?}");
}
