//! Whole programs as a device like a GPU would run them: plans, made without one.

mod support;

use pumice::prelude::*;
use pumice_array::{ArrayProgram, CheckedProgram, Described, Knowledge, Plan, PlanOptions};
use std::collections::HashMap;
use std::sync::Arc;
use support::gpu;

fn plan(results: &[Arc<Described>], arguments: &[&[usize]]) -> Plan {
    let options = PlanOptions::default();
    let program = CheckedProgram::new(ArrayProgram::of(results)).and_then(|program| program.ready(&options));
    let extents = arguments.iter().enumerate().map(|(number, extents)| (number as u32, extents.to_vec()));
    let knowledge = Knowledge::of(extents.collect::<HashMap<_, _>>(), &[]);
    let plan = program.and_then(|program| Plan::new(&program, &gpu(), &knowledge, &options));
    plan.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_nearest_centre_of_a_point_is_found_by_one_thread() {
    let points = Acc::<Matrix<f32>>::argument(0);
    let centres = Acc::<Matrix<f32>>::argument(1);
    let (count, clusters) = (points.shape().0, centres.shape().0);
    let distance = |(i, j): (Exp<i64>, Exp<i64>)| {
        (0..16usize).fold(constant(0f32), |sum, d| {
            let way = points.at((i, d)) - centres.at((j, d));
            sum + way * way
        })
    };
    let labels = generate((count, clusters), distance).argmin();
    let sums = points.permute(|a, b| a + b, fill(centres.shape(), 0.0), |(i, d)| (labels.at(i), d));
    let counts = labels.histogram(clusters, |label| label);
    let moved = sums.zip_with(centres, |sum, before| (sum, before)).imap(|(j, _), (sum, before)| {
        let count = counts.at(j);
        count.gt(0).select(sum / count.cast::<f32>(), before)
    });
    let plan = plan(&[moved.described().clone()], &[&[1 << 20, 16], &[32, 16]]);
    println!("{plan}");
    for launch in plan.launches() {
        println!("{}", launch.program);
    }
}
