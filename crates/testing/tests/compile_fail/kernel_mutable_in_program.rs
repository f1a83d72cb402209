use pumice::kernel::{Grid, Mutable, Pull, Push, apply};
use pumice::prelude::*;

fn change(xs: Mutable<f32>) -> Push<Grid, f32> {
    xs.write(0, 1.0.into());
    Pull::<f32>::new(1, |_| 1.0.into()).push()
}

fn program(xs: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    apply("change", 32, change, (xs,))
}

fn main() {}
