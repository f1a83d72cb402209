//! Whole programs as a device like a GPU would run them: plans, made without one.

mod support;

use pumice::Boundary;
use pumice::prelude::*;
use pumice_array::{ArrayProgram, CheckedProgram, Described, Knowledge, Plan, PlanArgument, PlanOptions};
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
    let nearest = plan.launches().next().unwrap_or_else(|| panic!("{plan}"));
    let threads = nearest.blocks().unwrap_or(0) * u64::from(nearest.program.threads);
    assert_eq!((nearest.skeleton.as_str(), threads), ("fold", 1 << 20), "{plan}");
}

#[test]
fn a_stencil_is_written_and_folded_by_one_kernel() {
    let direction = Acc::<Matrix<f64>>::argument(0);
    let image = direction.clone().stencil(Boundary::Constant(0.0), |u| {
        4.0 * u.at([0, 0]) - u.at([-1, 0]) - u.at([1, 0]) - u.at([0, -1]) - u.at([0, 1])
    });
    let length = direction.zip_with(image.clone(), |d, q| d * q).flatten().sum();
    let plan = plan(&[image.described().clone(), length.described().clone()], &[&[2048, 2048]]);
    let skeletons: Vec<&str> = plan.launches().map(|launch| launch.skeleton.as_str()).collect();
    assert_eq!(skeletons, ["write_rows, folded block by block", "fold"], "{plan}");
}

#[test]
fn a_round_of_conjugate_gradients_moves_nine_matrices() {
    let matrix = Acc::<Matrix<f64>>::argument;
    let (u, residual, direction) = (matrix(0), matrix(1), matrix(2));
    let square = Acc::<Scalar<f64>>::argument(3);
    let dot = |a: &Acc<Matrix<f64>>, b: &Acc<Matrix<f64>>| {
        a.clone().zip_with(b.clone(), |x, y| x * y).flatten().sum()
    };
    let image = direction.clone().stencil(Boundary::Constant(0.0), |u| {
        4.0 * u.at([0, 0]) - u.at([-1, 0]) - u.at([1, 0]) - u.at([0, -1]) - u.at([0, 1])
    });
    let step = square.clone().zip_with(dot(&direction, &image), |square, length| square / length);
    let u = u.zip_with(direction.clone(), |u, d| u + step.the() * d);
    let residual = residual.zip_with(image, |r, q| r - step.the() * q);
    let now = dot(&residual, &residual);
    let ratio = now.clone().zip_with(square, |now, before| now / before);
    let direction = residual.clone().zip_with(direction, |r, d| r + ratio.the() * d);
    let results = [u.described(), residual.described(), direction.described(), now.described()];
    let extents: &[usize] = &[2048, 2048];
    let plan = plan(&results.map(Clone::clone), &[extents, extents, extents, &[]]);
    // Matrices that kernels are given, each of which is read or written once.
    let is_matrix = |argument: &PlanArgument| match argument {
        PlanArgument::Buffer(buffer) => plan.buffers()[*buffer].length == 2048 * 2048,
        _ => false,
    };
    let matrices = plan.launches().map(|launch| launch.arguments.iter().filter(|it| is_matrix(it)).count());
    // The direction for the inner product; residual and direction for the next residual; and with that, what solution and direction
    // were and become.
    assert_eq!(matrices.sum::<usize>(), 1 + 3 + 5, "{plan}");
}

#[test]
fn a_round_of_page_rank_writes_what_links_and_later_kernels_read() {
    const DAMPING: f32 = 0.85;
    let offsets = Acc::<Vector<i64>>::argument(0);
    let sources = Acc::<Vector<i32>>::argument(1);
    let links = Acc::<Vector<u32>>::argument(2);
    let ranks = Acc::<Vector<f32>>::argument(3);
    let equal = 1.0 / ranks.size().cast::<f32>();
    let lost = sum![rank | rank <- ranks | links <- links, links == 0];
    let shares = comp![rank / (links as f32) | rank <- ranks | links <- links];
    let followed = comp![
        sum![shares[source as i64] | source <- sources[start..end]] | start <- offsets | end <- offsets[1..]
    ];
    let next =
        comp![DAMPING * (followed + equal * lost.the()) + (1.0 - DAMPING) * equal | followed <- followed];
    let change = sum![(new - old).abs() | new <- next | old <- ranks];
    let pages = 1 << 20;
    let plan = plan(
        &[next.described().clone(), change.described().clone()],
        &[&[pages + 1], &[16 * pages], &[pages], &[pages]],
    );
    // Pairs of ranks and links are needed for the lost ranks and for the shares, by one kernel, which writes shares alone.
    let written =
        plan.buffers().iter().skip(4).filter(|buffer| buffer.length == pages && buffer.ty.bytes() == 4);
    assert_eq!(written.count(), 2, "shares and new ranks\n{plan}");
}
