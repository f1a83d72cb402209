//! A matrix times a vector: the vector is laid under every row, multiplied, and the rows are summed. Neither the copies
//! nor the products are ever in memory: it is one kernel.
//!
//! ```text
//! [[0.0, 1.0, 0.0],
//!  [0.0, 0.0, 1.0],
//!  [1.0, 0.0, 0.0]] turns [1.0, 2.0, 3.0] into [2.0, 3.0, 1.0]
//! a 300 x 200 matrix of ones turns 0, 1, 2, ... 199 into 300 times 19900
//! ```

#[macro_use]
mod print;

use pumice::prelude::*;

fn matrix_vector(m: Acc<Matrix<f32>>, v: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    let (rows, _) = m.shape();
    m.zip_with(v.replicate_rows(rows), |a, x| a * x).sum()
}

fn main() -> pumice::Result<()> {
    let f = pumice::compile(matrix_vector)?;

    let turn: Matrix<f32> = Array::from_vec([3, 3], vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])?;
    let v = Vector::from(vec![1.0, 2.0, 3.0]);
    let turned = f.run((&turn, &v))?;
    println!("{turn} turns {v} into {turned}");
    assert_eq!(turned.to_vec()?, [2.0, 3.0, 1.0]);

    // Inputs can come from programs as well. They stay on the device in between.
    let ones = pumice::run(generate((300, 200), |_| constant(1.0f32)))?;
    let numbers = pumice::run(generate(200, |i| i.cast::<f32>()))?;
    let sums = f.run((&ones, &numbers))?.to_vec()?;
    println!("a 300 x 200 matrix of ones turns 0, 1, 2, ... 199 into {} times {}", sums.len(), sums[0]);
    assert_eq!(sums, [19900.0; 300]);
    Ok(())
}
