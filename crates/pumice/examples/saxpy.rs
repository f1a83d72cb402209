//! `a x + y`: a scalar is an argument like any other, and another value of it needs no other kernel.
//!
//! ```text
//!  2 x + y = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0]
//! 10 x + y = [100.0, 109.0, 118.0, 127.0, 136.0, 145.0, 154.0, 163.0]
//! ```

#[macro_use]
mod print;

use pumice::prelude::*;

fn saxpy(a: Exp<f32>, xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    xs.zip_with(ys, |x, y| a * x + y)
}

fn main() -> pumice::Result<()> {
    let xs: Vector<f32> = (0..8).map(|i| i as f32).collect::<Vec<_>>().into();
    let ys: Vector<f32> = (0..8).map(|i| 100.0 - i as f32).collect::<Vec<_>>().into();

    let f = pumice::compile(saxpy)?;
    for a in [2.0, 10.0] {
        let zs = f.run((a, &xs, &ys))?;
        println!("{a:>2} x + y = {zs}");

        let expected: Vec<f32> = (0..8).map(|i| a * i as f32 + (100.0 - i as f32)).collect();
        assert_eq!(zs.to_vec()?, expected);
    }
    Ok(())
}
