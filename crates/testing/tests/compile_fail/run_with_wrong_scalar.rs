//! A scalar argument has exactly its parameter's type.

use pumice::prelude::*;

fn scale(a: Exp<f32>, xs: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.map(|x| a * x)
}

fn main() -> pumice::Result<()> {
    let scale = pumice::compile(scale)?;
    scale.run((2i32, &vec![1.0f32]))?;
    Ok(())
}
