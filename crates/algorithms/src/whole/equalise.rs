//! Histogram equalisation: the levels of a picture are spread so that about equally many pixels are below and above each. A
//! histogram, a scan of it, and a look-up for each pixel.

use pumice::prelude::*;

/// Number of levels of brightness.
pub const LEVELS: usize = 256;

/// Spreads the levels of a picture: its darkest one becomes 0 and its brightest one 255. A picture of one level becomes dark. A
/// level of 256 or more is an error that names this place.
///
/// ```
/// use pumice::Matrix;
/// use pumice_algorithms::whole::equalise;
/// let equalise = pumice::Compiler::on("sim")?.compile(equalise::equalise)?;
/// let image = Matrix::from_vec([2, 3], vec![100, 101, 101, 102, 103, 103])?;
/// assert_eq!(equalise.run(&image)?.to_vec()?, [0, 102, 102, 153, 255, 255]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn equalise(image: Acc<Matrix<u32>>) -> Acc<Matrix<u32>> {
    let counts = image.clone().histogram(LEVELS, |level| level.cast::<i64>());
    // How many pixels are at most as bright.
    let below = counts.scanl1(|a, b| a + b);
    let darkest = below.clone().filter(|count| count.gt(0)).fold(u32::MAX, |a, b| a.min(b));
    let pixels = image.size().cast::<u64>();
    let spread = below.map(|count| {
        let darkest = darkest.the().cast::<u64>();
        // Levels darker than all pixels are not looked up.
        let (above, all) = (count.cast::<u64>().max(darkest) - darkest, pixels - darkest);
        // To the nearest.
        ((above * (LEVELS as u64 - 1) + all / 2) / all.max(1)).cast::<u32>()
    });
    image.map(|level| spread.at(level.cast::<i64>()))
}

/// Pictures that are made by plain Rust, and the same in it.
pub mod plain {
    use super::LEVELS;
    use crate::irregular::Numbers;

    /// A foggy picture, row by row: rings that are hardly brighter than their surroundings, and noise.
    pub fn foggy(width: usize, height: usize, seed: u64) -> Vec<u32> {
        let mut numbers = Numbers::new(seed);
        let mut level = |x: usize, y: usize| {
            let (dx, dy) = (2.0 * x as f64 / width as f64 - 1.0, 2.0 * y as f64 / height as f64 - 1.0);
            let ring = ((dx * dx + dy * dy) * 20.0) as u32 % 2;
            96 + 24 * ring + (8.0 * dx.abs()) as u32 + numbers.below(9) as u32
        };
        (0..width * height).map(|pixel| level(pixel % width, pixel / width)).collect()
    }

    /// Spreads the levels of a picture.
    pub fn equalise(image: &[u32]) -> Vec<u32> {
        let mut below = [0u64; LEVELS];
        for level in image {
            below[*level as usize] += 1;
        }
        for level in 1..below.len() {
            below[level] += below[level - 1];
        }
        let darkest = below.iter().copied().find(|count| *count > 0).unwrap_or(0);
        let all = image.len() as u64 - darkest;
        let spread = |level: &u32| ((below[*level as usize] - darkest) * 255 + all / 2) / all.max(1);
        image.iter().map(|level| spread(level) as u32).collect()
    }
}
