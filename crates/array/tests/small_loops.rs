//! Loops that are one kernel of one block: plans for a device like a GPU, made without one.

mod support;

use pumice_array::*;
use pumice_scalar::Exp;
use std::collections::HashMap;
use support::gpu;

/// The plan of a result of a vector of so many elements.
fn plan<D: Shape, T: pumice_scalar::Elt>(
    result: &Acc<Array<D, T>>,
    size: usize,
    options: &PlanOptions,
) -> Plan {
    let program = CheckedProgram::new(ArrayProgram::of(&[result.described().clone()]));
    let knowledge = Knowledge::of(HashMap::from([(0, vec![size])]), &[]);
    let plan = program
        .and_then(|program| program.ready(options))
        .and_then(|program| Plan::new(&program, &gpu(), &knowledge, options));
    plan.unwrap_or_else(|error| panic!("{error}"))
}

/// The launches of a plan to its end.
fn launches<D: Shape, T: pumice_scalar::Elt>(result: &Acc<Array<D, T>>, size: usize) -> usize {
    let plan = plan(result, size, &PlanOptions::default());
    assert!(plan.reads().is_none(), "{plan}");
    assert!(plan.launches().all(|launch| launch.blocks().is_ok_and(|blocks| blocks == 1)), "{plan}");
    plan.launches().count()
}

fn argument() -> Acc<Vector<f32>> {
    Acc::argument(0)
}

#[test]
fn a_loop_with_all_that_a_block_can_do_is_one_launch() {
    let counted = awhile(
        (argument(), unit(0)),
        |(_, i)| i.map(|i| i.lt(10_000)),
        |(xs, i)| (xs.map(|x| x * 0.5), i.map(|i| i + 1)),
    );
    assert_eq!(launches(&counted.0, 1000), 1);
    let folded = awhile(argument(), |xs| xs.sum().map(|sum| sum.gt(1.0)), |xs| xs.map(|x| x * 0.5));
    assert_eq!(launches(&folded, 1000), 1);
    let scanned = iterate(5, argument(), |xs| xs.scanl1(|a, b| a + b).reverse());
    assert_eq!(launches(&scanned, 1000), 1);
    let nested = iterate(5, argument(), |xs| {
        let most = xs.clone().max();
        iterate(3, xs, |xs| xs.map(|x| x / most.the()))
    });
    assert_eq!(launches(&nested, 1000), 1);
}

#[test]
fn loops_that_need_the_host_say_why() {
    let reason = |result: &Acc<Vector<f32>>, size: usize, options: &PlanOptions| {
        let plan = plan(result, size, options);
        match plan.reads() {
            Some(Read::Run { by_host, .. }) => by_host.unwrap_or("it is no loop"),
            _ => "it is a kernel",
        }
    };
    let options = PlanOptions::default();
    let mapped = iterate(5, argument(), |xs| xs.map(|x| x * 0.5));
    assert_eq!(reason(&mapped, 1000, &options), "it is a kernel");
    assert_eq!(reason(&mapped, 5000, &options), "its rounds are enough work for more than one block");
    let off = PlanOptions { small_loops: false, ..options.clone() };
    assert_eq!(reason(&mapped, 1000, &off), "loops in one block are switched off");
    let slow = |x: Exp<f32>| pumice_scalar::while_(x, |x| x.lt(1e9), |x| x * 1.5);
    let slow = iterate(5, argument(), |xs| xs.map(slow));
    assert_eq!(reason(&slow, 1000, &options), "its rounds are enough work for more than one block");
    let wide = iterate(5, argument().map(|x| (x, x, x, (x, x, x, x))), |xs| xs.map(|x| x)).map(|x| x.0);
    assert_eq!(reason(&wide, 1000, &options), "its arrays do not fit the memory of a block");
    let shorter = iterate(5, argument(), |xs| xs.tail());
    assert_eq!(reason(&shorter, 1000, &options), "the extents of its arrays change from round to round");
    let filtered = iterate(5, argument(), |xs| xs.filter(|x| x.gt(0.0)));
    assert!(reason(&filtered, 1000, &options).contains("found on the device"));
    let xs = argument();
    let branch = acond(unit(xs.size().gt(0)), || xs.clone(), || xs.clone());
    assert_eq!(reason(&branch, 1000, &options), "it is no loop");
}
