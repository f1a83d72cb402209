//! The dot product: two operations, one kernel, one pass over memory.
//!
//! ```text
//! dot product: 666.17
//! device:      ...
//! first run:   ... (compiled, or found on disk)
//! cached run:  ...
//! ```

#[macro_use]
mod print;

use pumice::prelude::*;
use std::time::Instant;

fn dotp(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
    xs.zip_with(ys, |x, y| x * y).fold(0.0, |a, b| a + b)
}

fn main() -> pumice::Result<()> {
    let xs: Vec<f32> = (0..1000).map(|i| i as f32 * 0.001).collect();
    let ys: Vec<f32> = (0..1000).map(|i| 2.0 - i as f32 * 0.001).collect();

    let start = Instant::now();
    let f = pumice::compile(dotp)?;
    let result = f.run((&xs, &ys))?.to_value()?;
    let first = start.elapsed();

    let start = Instant::now();
    let again = f.run((&xs, &ys))?.to_value()?;
    let cached = start.elapsed();

    println!("dot product: {result:.2}");
    println!("device:      {}", f.device().description());
    println!("first run:   {first:.2?} (compiled, or found on disk)");
    println!("cached run:  {cached:.2?}");

    // Sums of floats depend on their order, and the order on the device; but it is the same every time.
    assert!((result - 666.1665).abs() < 0.01);
    assert_eq!(result, again);
    Ok(())
}
