//! A photograph as files have it, with red, green and blue in 8 bits each, made clearer: details are sharpened, colours made stronger,
//! levels spread, and a mask says where edges are.
//!
//! Pictures are bytes from beginning to end; wider numbers are only used inside of a function on levels. Those are written in plain
//! Rust with `#[embed]`, and are called by the same pipeline on the host ([`plain`]), so that both give the same bytes.

use pumice::Boundary;
use pumice::prelude::*;

/// Levels of red, green and blue.
pub type Rgb = [u8; 3];

/// The numbers of the parts of a colour.
const PARTS: [usize; 3] = [0, 1, 2];
/// Offsets that the blur and the mask read.
const BLURRED: [i64; 5] = [-2, -1, 0, 1, 2];
const BESIDE: [i64; 3] = [-1, 0, 1];

/// Returns the photograph made clearer, and a mask of its edges, 255 where levels change by at least `steepest` and else 0. The
/// difference from the blurred picture is added, times `sharpness` percent, and the difference of a colour from grey is taken times `saturation`
/// percent.
///
/// ```
/// use pumice_algorithms::whole::photo::{self, plain};
/// let develop = pumice::Compiler::on("sim")?.compile(photo::develop)?;
/// let picture = plain::picture(6, 9, 1);
/// let (clear, edges) = develop.run((&pumice::Matrix::from_slice([6, 9], &picture)?, 80, 130, 90))?;
/// assert_eq!((clear.to_vec()?, edges.to_vec()?), plain::develop(&picture, 6, 9, 80, 130, 90));
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn develop(
    picture: Acc<Matrix<Rgb>>,
    sharpness: Exp<i32>,
    saturation: Exp<i32>,
    steepest: Exp<i32>,
) -> (Acc<Matrix<Rgb>>, Acc<Matrix<u8>>) {
    let blurred = blur(picture.clone());
    let strong = picture.zip_with(blurred.clone(), |pixel, blurred| {
        let sharp = PARTS.map(|part| sharpened(pixel[part], blurred[part], sharpness));
        saturated(sharp, saturation)
    });
    let range = strong.clone().map(extremes).flatten().fold((u8::MAX, 0), wider);
    let clear = strong.map(|pixel| pixel.map(|level| spread(level, range.the())));
    (clear, edges(blurred.map(grey), steepest))
}

/// The picture without its details.
fn blur(picture: Acc<Matrix<Rgb>>) -> Acc<Matrix<Rgb>> {
    let weighed = |near: [[Exp<u8>; 3]; 5]| PARTS.map(|part| blended(near.map(|pixel| pixel[part])));
    let across = picture.stencil(Boundary::Clamp, |near| weighed(BLURRED.map(|x| near.at([0, x]))));
    across.stencil(Boundary::Clamp, |near| weighed(BLURRED.map(|y| near.at([y, 0]))))
}

/// Marks the places at which levels change.
fn edges(levels: Acc<Matrix<u8>>, steepest: Exp<i32>) -> Acc<Matrix<u8>> {
    levels.stencil(Boundary::Clamp, |near| edge(BESIDE.map(|y| BESIDE.map(|x| near.at([y, x]))), steepest))
}

/// The mean of levels that stand in a row, those in the middle more than others.
#[embed]
fn blended(levels: [u8; 5]) -> u8 {
    let [a, b, c, d, e] = levels;
    let sum = (a as u16 + e as u16) + 4 * (b as u16 + d as u16) + 6 * c as u16;
    // To the nearest.
    ((sum + 8) >> 4) as u8
}

/// A level whose difference from the blurred one is increased.
#[embed]
fn sharpened(level: u8, blurred: u8, percent: i32) -> u8 {
    let (level, blurred) = (level as i32, blurred as i32);
    limited(level + (level - blurred) * percent / 100)
}

/// Returns the brightness of a colour.
#[embed]
fn grey(colour: Rgb) -> u8 {
    let [red, green, blue] = colour;
    ((77 * red as u16 + 150 * green as u16 + 29 * blue as u16) >> 8) as u8
}

/// A colour whose difference from grey is increased.
#[embed]
fn saturated(colour: Rgb, percent: i32) -> Rgb {
    let grey = grey(colour) as i32;
    let [red, green, blue] = colour;
    [
        limited(grey + (red as i32 - grey) * percent / 100),
        limited(grey + (green as i32 - grey) * percent / 100),
        limited(grey + (blue as i32 - grey) * percent / 100),
    ]
}

#[embed]
fn limited(level: i32) -> u8 {
    level.clamp(0, 255) as u8
}

/// The smallest and the largest level of a colour.
#[embed]
fn extremes(colour: Rgb) -> (u8, u8) {
    let [red, green, blue] = colour;
    (red.min(green).min(blue), red.max(green).max(blue))
}

/// The range that has both.
#[embed]
fn wider(a: (u8, u8), b: (u8, u8)) -> (u8, u8) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Stretches a level of a range to the full range of levels.
#[embed]
fn spread(level: u8, range: (u8, u8)) -> u8 {
    let (darkest, brightest) = (range.0 as u32, range.1 as u32);
    // One level alone stays dark.
    let width = (brightest - darkest).max(1);
    (((level as u32 - darkest) * 255 + width / 2) / width) as u8
}

/// Whether levels change in the middle of nine: 255 or 0.
#[embed]
fn edge(near: [[u8; 3]; 3], steepest: i32) -> u8 {
    let [above, at, below] = near;
    let across = weighed(above[2], at[2], below[2]) - weighed(above[0], at[0], below[0]);
    let down = weighed(below[0], below[1], below[2]) - weighed(above[0], above[1], above[2]);
    if across.abs() + down.abs() >= steepest { 255 } else { 0 }
}

#[embed]
fn weighed(a: u8, b: u8, c: u8) -> i32 {
    a as i32 + 2 * b as i32 + c as i32
}

/// A photograph that is made by plain Rust, and the same in it.
pub mod plain {
    use super::{
        BESIDE, BLURRED, PARTS, Rgb, blended, edge, extremes, grey, saturated, sharpened, spread, wider,
    };
    use crate::irregular::Numbers;

    /// A hazy photograph: balls before a sky that gets lighter to the ground, and noise.
    pub fn picture(height: usize, width: usize, seed: u64) -> Vec<Rgb> {
        const BALLS: [(f64, f64, f64, Rgb); 4] = [
            (0.30, 0.45, 0.22, [150, 92, 86]),
            (0.62, 0.30, 0.16, [96, 138, 92]),
            (0.75, 0.65, 0.26, [94, 104, 152]),
            (0.45, 0.80, 0.12, [150, 142, 90]),
        ];
        let mut numbers = Numbers::new(seed);
        let mut pixel = |i: usize| {
            let (y, x) = ((i / width) as f64 / height as f64, (i % width) as f64 / width as f64);
            let sky = [104.0 + 30.0 * y, 112.0 + 26.0 * y, 138.0 + 10.0 * y];
            let mut colour = sky;
            for (left, top, radius, ball) in BALLS {
                let (dx, dy) = ((x - left) / radius, (y - top) / radius);
                let height = 1.0 - dx * dx - dy * dy;
                if height > 0.0 {
                    let light = 0.75 + 0.25 * height;
                    colour = ball.map(|level| f64::from(level) * light);
                }
            }
            let noise = numbers.below(7) as f64 - 3.0;
            colour.map(|level| (level + noise) as u8)
        };
        (0..height * width).map(&mut pixel).collect()
    }

    /// The photograph made clearer, and its edges.
    pub fn develop(
        picture: &[Rgb],
        height: usize,
        width: usize,
        sharpness: i32,
        saturation: i32,
        steepest: i32,
    ) -> (Vec<Rgb>, Vec<u8>) {
        let near = |i: usize, dy: i64, dx: i64| {
            let y = (i / width).saturating_add_signed(dy as isize).min(height - 1);
            y * width + (i % width).saturating_add_signed(dx as isize).min(width - 1)
        };
        let weighed = |near: [Rgb; 5]| PARTS.map(|part| blended(near.map(|pixel| pixel[part])));
        let all = 0..height * width;
        let across: Vec<Rgb> =
            all.clone().map(|i| weighed(BLURRED.map(|x| picture[near(i, 0, x)]))).collect();
        let blurred: Vec<Rgb> =
            all.clone().map(|i| weighed(BLURRED.map(|y| across[near(i, y, 0)]))).collect();
        let strong = picture.iter().zip(&blurred).map(|(pixel, blurred)| {
            saturated(PARTS.map(|part| sharpened(pixel[part], blurred[part], sharpness)), saturation)
        });
        let strong: Vec<Rgb> = strong.collect();
        let range = strong.iter().map(|pixel| extremes(*pixel)).fold((u8::MAX, 0), wider);
        let clear = strong.iter().map(|pixel| pixel.map(|level| spread(level, range))).collect();
        let levels: Vec<u8> = blurred.iter().map(|pixel| grey(*pixel)).collect();
        let edges = all.map(|i| edge(BESIDE.map(|y| BESIDE.map(|x| levels[near(i, y, x)])), steepest));
        (clear, edges.collect())
    }
}
