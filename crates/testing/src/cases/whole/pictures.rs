//! Programs that make pictures.

use super::made;
use crate::{Harness, Outcome};
use pumice::prelude::*;
use pumice_algorithms::whole::{equalise, julia, ray_tracer};

/// Nothing, one level, and a picture with noise.
pub fn equalised_pictures(h: &Harness) -> Outcome {
    let program = h.compile(equalise::equalise)?;
    for (width, height, levels) in
        [(0, 5, vec![]), (1, 1, vec![7]), (50, 41, equalise::plain::foggy(50, 41, 1))]
    {
        let expected = equalise::plain::equalise(&levels);
        let image = made(Matrix::from_vec([height, width], levels))?;
        program.check_shaped(&image, [height, width], &expected)?;
    }
    h.expect_error(equalise::equalise, &made(Matrix::from_vec([1, 2], vec![3, 256]))?, &["256", "histogram"])
}

pub fn julia_sets(h: &Harness) -> Outcome {
    let program = h.compile(|real, imaginary, width, height, most| {
        julia::coloured(julia::steps(real, imaginary, width, height, most), most)
    })?;
    for (width, height) in [(0, 1), (45, 31)] {
        let (real, imaginary, most) = (-0.8, 0.156, 60);
        let steps = julia::plain::steps(real, imaginary, width, height, most);
        program.check((real, imaginary, width, height, most), &julia::plain::coloured(&steps, most))?;
    }
    Ok(())
}

/// The plane alone, and spheres that are mirrored in each other.
pub fn traced_rays(h: &Harness) -> Outcome {
    let program = h.compile(ray_tracer::trace)?;
    for (count, depth) in [(0, 0), (7, 3)] {
        let spheres = ray_tracer::plain::row_of_spheres(count);
        let expected = ray_tracer::plain::trace(&spheres, 40, 33, depth);
        program.check((&spheres, 40, 33, depth), &expected)?;
    }
    Ok(())
}
