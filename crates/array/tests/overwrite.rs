//! Results of a loop's step that are written over the state that it was given: plans for a device like a GPU, and for a CPU.

mod support;

use pumice_array::*;
use pumice_kernel::Profile;
use std::sync::Arc;
use support::gpu;

fn vector(number: u32) -> Acc<Vector<f32>> {
    Acc::<Vector<f32>>::argument(number)
}

/// Returns for each result of a step whether it is in the memory of an argument, on both devices.
fn overwritten(results: &[Arc<Described>], options: &PlanOptions) -> Vec<bool> {
    let program = CheckedProgram::new(ArrayProgram::of(results)).unwrap();
    let count = results.len() as u32;
    let arguments = (0..count).map(|number| (number, vec![5000])).collect();
    let knowledge = Knowledge { overwritten: 0..count, ..Knowledge::of(arguments, &[]) };
    let cpu = Profile { coalesces: false, vector_bytes: 0, ..gpu() };
    let [on_gpu, on_cpu] = [gpu(), cpu].map(|profile| {
        let plan = Plan::new(&program, &profile, &knowledge, options).unwrap();
        let is_input = |result: &ResultArray| {
            let input = plan.inputs().iter().find(|input| input.buffers == result.buffers);
            let allocated = plan
                .steps()
                .iter()
                .any(|step| matches!(step, Step::Allocate(number) if result.buffers.contains(number)));
            assert_eq!(input.is_none(), allocated, "{plan}");
            input.is_some()
        };
        plan.results().iter().map(is_input).collect::<Vec<bool>>()
    });
    assert_eq!(on_gpu, on_cpu);
    on_gpu
}

fn usual(results: &[Arc<Described>]) -> Vec<bool> {
    overwritten(results, &PlanOptions::default())
}

#[test]
fn what_is_changed_element_by_element_is_written_over() {
    let step = vector(0).map(|x| x * 0.5 + 1.0);
    let step = [step.described().clone()];
    assert_eq!(usual(&step), [true]);
    assert_eq!(overwritten(&step, &PlanOptions { overwrite: false, ..PlanOptions::default() }), [false]);
    // Pairs have two columns.
    let pairs = Acc::<Vector<(f32, i32)>>::argument(0).map(|(x, k)| (x + 1.0, k + x.cast::<i32>()));
    assert_eq!(usual(&[pairs.described().clone()]), [true]);
    // Two arrays of which each needs the other as it was.
    let (xs, ys) = (vector(0), vector(1));
    let (a, b) = (xs.clone().zip_with(ys.clone(), |x, y| x + y), ys.zip_with(xs, |y, x| y - x));
    assert_eq!(usual(&[a.described().clone(), b.described().clone()]), [true, true]);
}

#[test]
fn what_is_needed_as_it_was_is_left_alone() {
    let xs = vector(0);
    let neighbours = xs.clone().imap(|i, x| x + xs.at((i + 1) % 5000));
    assert_eq!(usual(&[neighbours.described().clone()]), [false]);
    let turned = Acc::<Vector<(f32, f32)>>::argument(0).map(|(a, b)| (b, a));
    assert_eq!(usual(&[turned.described().clone()]), [false]);
    // The array itself is the other result, and stays where it is.
    let next = xs.clone().map(|x| x + 1.0);
    assert_eq!(usual(&[next.described().clone(), xs.described().clone()]), [false, true]);
    // One array in place of two.
    assert_eq!(usual(&[next.described().clone(), next.described().clone()]), [false, false]);
    // A second kernel reads what the first one would write over.
    let scanned = xs.scanl1(|a, b| a + b);
    assert_eq!(usual(&[next.described().clone(), scanned.described().clone()]), [false, false]);
    // Another length.
    let shorter = vector(0).take(10);
    assert_eq!(usual(&[shorter.described().clone()]), [false]);
}
