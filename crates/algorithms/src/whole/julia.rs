//! Julia sets as pictures: how many steps z² + c takes until it is far away, from each point of a part of the plane.

use pumice::prelude::*;

/// Distance from the middle of the picture to its right edge.
const REACH: f32 = 1.6;

/// Draws the Julia set of a complex number: `height` rows of `width` numbers of steps, of which there are at most `most`.
///
/// ```
/// use pumice_algorithms::whole::julia;
/// let steps = pumice::Compiler::on("sim")?.compile(julia::steps)?;
/// let found = steps.run((-0.8, 0.156, 8, 4, 50))?;
/// assert_eq!(found.to_vec()?, julia::plain::steps(-0.8, 0.156, 8, 4, 50));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn steps(
    real: Exp<f32>,
    imaginary: Exp<f32>,
    width: Exp<i64>,
    height: Exp<i64>,
    most: Exp<i32>,
) -> Acc<Matrix<i32>> {
    generate((height, width), |(row, column)| {
        let pixel = 2.0 * REACH / width.cast::<f32>();
        let x = (column.cast::<f32>() + 0.5) * pixel - REACH;
        let y = (height.cast::<f32>() * 0.5 - row.cast::<f32>() - 0.5) * pixel;
        let (_, _, steps) = while_(
            (x, y, Exp::from(0)),
            |(x, y, steps)| (x * x + y * y).le(4.0) & steps.lt(most),
            |(x, y, steps)| (x * x - y * y + real, 2.0 * x * y + imaginary, steps + 1),
        );
        steps
    })
}

/// Colours numbers of steps: points that escape soon are dark blue, those that take longer become bright; points that stay are
/// black.
///
/// ```
/// use pumice::prelude::*;
/// use pumice_algorithms::whole::julia;
/// let colours = julia::coloured(fill((1, 1), 50), 50.into());
/// assert_eq!(pumice::run(colours)?.to_vec()?, [0]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn coloured(steps: Acc<Matrix<i32>>, most: Exp<i32>) -> Acc<Matrix<u32>> {
    steps.map(|steps| {
        let part = |from: i32, by: i32| (from + by * steps).min(255).cast::<u32>();
        let colour = (part(0, 3) << 16) | (part(7, 4) << 8) | part(50, 6);
        steps.ge(most).select(constant(0), colour)
    })
}

/// The same in plain Rust.
pub mod plain {
    use super::REACH;

    /// The numbers of steps.
    pub fn steps(real: f32, imaginary: f32, width: i64, height: i64, most: i32) -> Vec<i32> {
        let pixel = 2.0 * REACH / width as f32;
        let point = |row: i64, column: i64| {
            let mut x = (column as f32 + 0.5) * pixel - REACH;
            let mut y = (height as f32 * 0.5 - row as f32 - 0.5) * pixel;
            let mut steps = 0;
            while x * x + y * y <= 4.0 && steps < most {
                (x, y) = (x * x - y * y + real, 2.0 * x * y + imaginary);
                steps += 1;
            }
            steps
        };
        (0..height * width).map(|pixel| point(pixel / width, pixel % width)).collect()
    }

    /// The colours of numbers of steps.
    pub fn coloured(steps: &[i32], most: i32) -> Vec<u32> {
        let part = |steps: i32, from: i32, by: i32| (from + by * steps).min(255) as u32;
        let colour = |steps: i32| (part(steps, 0, 3) << 16) | (part(steps, 7, 4) << 8) | part(steps, 50, 6);
        steps.iter().map(|steps| if *steps >= most { 0 } else { colour(*steps) }).collect()
    }
}
