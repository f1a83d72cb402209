//! An argument has exactly its parameter's element type.

use pumice::prelude::*;

fn add(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.zip_with(ys, |x, y| x + y)
}

fn main() -> pumice::Result<()> {
    let add = pumice::compile(add)?;
    let (xs, ys) = (vec![1.0f32], vec![2i32]);
    add.run((&xs, &ys))?;
    Ok(())
}
