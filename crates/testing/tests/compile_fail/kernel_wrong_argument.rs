use pumice::Compiler;
use pumice::kernel::{Grid, Ix, Pull, Push};
use pumice::prelude::*;

fn scaled(xs: Pull<f32, Ix>, factor: Exp<f32>) -> Push<Grid, f32, Ix> {
    xs.map(move |x| x * factor).push()
}

fn main() -> pumice::Result<()> {
    let kernel = Compiler::new()?.kernel("scaled", 64, scaled)?;
    kernel.run((&[1.0, 2.0], 3))?;
    Ok(())
}
