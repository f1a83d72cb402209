//! One value alone is only enough for one parameter.

use pumice::prelude::*;

fn add(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.zip_with(ys, |x, y| x + y)
}

fn main() -> pumice::Result<()> {
    let add = pumice::compile(add)?;
    let xs = vec![1.0f32];
    add.run(&xs)?;
    Ok(())
}
