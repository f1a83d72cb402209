//! Programs that make pictures.

use super::made;
use crate::{Harness, Outcome, Tolerance};
use pumice::prelude::*;
use pumice_algorithms::whole::{equalise, julia, particles, photo, ray_tracer};

/// An empty picture, one level of grey, and a picture with noise.
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

/// An empty picture, a pixel, and a picture; sharpened and blurred, with stronger and with weaker colours.
pub fn developed_photographs(h: &Harness) -> Outcome {
    for (height, width, sharpness, saturation) in
        [(0, 4, 80, 140), (1, 1, 80, 140), (33, 50, 80, 140), (33, 50, -100, 50)]
    {
        let picture = photo::plain::picture(height, width, 1);
        let (clear, edges) = photo::plain::develop(&picture, height, width, sharpness, saturation, 90);
        let picture = made(Matrix::from_vec([height, width], picture))?;
        let arguments = (&picture, sharpness, saturation, 90);
        let Some(found) = h.results(photo::develop, arguments)? else { continue };
        h.expect(&found.0, &clear, Tolerance::Exact)?;
        h.expect(&found.1, &edges, Tolerance::Exact)?;
    }
    Ok(())
}

/// No particle, and sparks that become smoke and vanish; drawn as a picture, with some particles outside of it.
pub fn burning_particles(h: &Harness) -> Outcome {
    let (burning, last) = (h.compile(particles::burning)?, h.compile(particles::last)?);
    let drawn = h.compile(particles::drawn)?;
    for (count, steps) in [(0, 3), (300, 0), (300, 150)] {
        let places = particles::plain::free_places(count);
        let expected = particles::plain::burning(&places, steps);
        burning.check((&places, steps as i64), &expected)?;
        last.check(&expected, &[particles::plain::last(&expected)])?;
        drawn.check((&expected, 30, 20), &particles::plain::drawn(&expected, 30, 20))?;
    }
    Ok(())
}

/// The plane alone, and spheres that reflect each other.
pub fn traced_rays(h: &Harness) -> Outcome {
    let program = h.compile(ray_tracer::trace)?;
    for (count, depth) in [(0, 0), (7, 3)] {
        let spheres = ray_tracer::plain::row_of_spheres(count);
        let expected = ray_tracer::plain::trace(&spheres, 40, 33, depth);
        program.check((&spheres, 40, 33, depth), &expected)?;
    }
    Ok(())
}
