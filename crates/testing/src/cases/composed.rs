//! Composed elements: structs and enums of users, generic ones, arrays of a fixed length, complex numbers,
//! results, and tuples of twelve; mapped, reduced, combined, ordered and carried from round to round.

use crate::data::{Sample, mix, values};
use crate::{Harness, Outcome};
use num_complex::Complex;
use pumice::prelude::*;
use std::ops::Add;

/// No element, one, an odd number, and more than three blocks of every device.
const SIZES: [usize; 4] = [0, 1, 257, 20_000];

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Particle {
    position: [f32; 2],
    charge: i32,
    fixed: bool,
}

impl Sample for Particle {
    fn sample(bits: u64) -> Self {
        let (position, charge, fixed) = Sample::sample(bits);
        Particle { position, charge, fixed }
    }
}

impl Add for ParticleExp {
    type Output = ParticleExp;
    fn add(self, other: ParticleExp) -> ParticleExp {
        let ([a, b], [x, y]) = (self.position, other.position);
        ParticleExp {
            position: [a + x, b + y],
            charge: self.charge + other.charge,
            fixed: self.fixed | other.fixed,
        }
    }
}

impl Add for Particle {
    type Output = Particle;
    fn add(self, other: Particle) -> Particle {
        let ([a, b], [x, y]) = (self.position, other.position);
        Particle {
            position: [a + x, b + y],
            charge: self.charge.wrapping_add(other.charge),
            fixed: self.fixed | other.fixed,
        }
    }
}

const NOTHING: Particle = Particle { position: [0.0, 0.0], charge: 0, fixed: false };

pub fn structs_are_reduced_and_ordered(h: &Harness) -> Outcome {
    let folded = h.compile(|xs: Acc<Vector<Particle>>| xs.fold(NOTHING, |a, b| a + b))?;
    let scanned = h.compile(|xs: Acc<Vector<Particle>>| xs.scanl(NOTHING, |a, b| a + b))?;
    let sorted = h.compile(|xs: Acc<Vector<Particle>>| xs.sort_by_key(|p| (p.fixed, p.charge)))?;
    for n in SIZES {
        let xs = values::<Particle>(31, n);
        let mut sums = vec![NOTHING];
        sums.extend(xs.iter().scan(NOTHING, |sum, x| {
            *sum = *sum + *x;
            Some(*sum)
        }));
        folded.check(&xs, &sums[n..]).map_err(|m| format!("{n} folded: {m}"))?;
        scanned.check(&xs, &sums).map_err(|m| format!("{n} scanned: {m}"))?;
        let mut expected = xs.clone();
        expected.sort_by_key(|p| (p.fixed, p.charge));
        sorted.check(&xs, &expected).map_err(|m| format!("{n} sorted: {m}"))?;
    }
    Ok(())
}

pub fn structs_are_combined_and_kept(h: &Harness) -> Outcome {
    // No device has an atomic operation that adds these.
    let combined = h.compile(|xs: Acc<Vector<Particle>>| {
        xs.permute(|new, old| new + old, fill(7, NOTHING), |i| (i % 7).ne(3).select(some(i % 7), none()))
    })?;
    let kept = h.compile(|xs: Acc<Vector<Particle>>, rounds: Exp<i64>| {
        let moved =
            |p: ParticleExp| p.fixed.select(p, ParticleExp { position: p.position.map(|x| x + 1.0), ..p });
        iterate(rounds, xs, |xs| xs.map(moved)).map(|p| cond(p.charge.ge(0), || some(p), none))
    })?;
    for n in SIZES {
        let xs = values::<Particle>(32, n);
        let sum = |k: usize| xs.iter().skip(k).step_by(7).fold(NOTHING, |a, b| a + *b);
        let sums: Vec<Particle> = (0..7).map(|k| if k == 3 { NOTHING } else { sum(k) }).collect();
        combined.check(&xs, &sums).map_err(|m| format!("{n} combined: {m}"))?;
        let after = |p: &Particle| {
            let position = p.position.map(|x| if p.fixed { x } else { x + 3.0 });
            (p.charge >= 0).then_some(Particle { position, ..*p })
        };
        let expected: Vec<Option<Particle>> = xs.iter().map(after).collect();
        kept.check((&xs, 3), &expected).map_err(|m| format!("{n} kept: {m}"))?;
    }
    Ok(())
}

/// The smallest and the largest of some values.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub struct Span<T> {
    low: T,
    high: T,
}

fn spans<T: Sample + pumice::Number + PartialOrd>(h: &Harness, least: T, most: T) -> Outcome {
    let span = h.compile(move |xs: Acc<Vector<T>>| {
        xs.map(|x| SpanExp { low: x, high: x }).fold(Span { low: most, high: least }, |a, b| SpanExp {
            low: a.low.min(b.low),
            high: a.high.max(b.high),
        })
    })?;
    for n in SIZES {
        let xs = values::<T>(33, n);
        let joined = xs.iter().fold(Span { low: most, high: least }, |span, x| Span {
            low: if *x < span.low { *x } else { span.low },
            high: if *x > span.high { *x } else { span.high },
        });
        span.check(&xs, &[joined]).map_err(|m| format!("{n} of {}: {m}", std::any::type_name::<T>()))?;
    }
    Ok(())
}

pub fn generic_structs(h: &Harness) -> Outcome {
    spans::<i64>(h, i64::MIN, i64::MAX)?;
    spans::<f32>(h, f32::NEG_INFINITY, f32::INFINITY)
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
pub enum Event {
    Nothing,
    Moved { by: (i32, f32) },
    Counted(i32, u64),
    Scaled(f32),
}

impl Sample for Event {
    fn sample(bits: u64) -> Self {
        match bits % 4 {
            0 => Event::Nothing,
            1 => Event::Moved { by: Sample::sample(mix(bits)) },
            2 => Event::Counted(Sample::sample(mix(bits)), bits),
            _ => Event::Scaled(Sample::sample(mix(bits))),
        }
    }
}

/// Returns the last of two events that is not nothing: associative, but not commutative.
fn later(a: EventExp, b: EventExp) -> EventExp {
    cond(b.is_nothing(), || a, || b)
}

pub fn enums(h: &Harness) -> Outcome {
    let turned = h.compile(|xs: Acc<Vector<Event>>| {
        xs.map(|event| {
            event.match_(
                || EventExp::counted(-1, 7),
                |(x, y)| cond(x.gt(0), || EventExp::scaled(y), EventExp::nothing),
                |count, big| EventExp::moved((count + 1, big.cast::<u32>().cast::<f32>())),
                |factor| EventExp::scaled(factor * 2.0),
            )
        })
    })?;
    let last = h.compile(|xs: Acc<Vector<Event>>| xs.fold(Event::Nothing, later))?;
    for n in SIZES {
        let xs = values::<Event>(34, n);
        let turn = |event: &Event| match *event {
            Event::Nothing => Event::Counted(-1, 7),
            Event::Moved { by: (x, y) } if x > 0 => Event::Scaled(y),
            Event::Moved { .. } => Event::Nothing,
            Event::Counted(count, big) => Event::Moved { by: (count.wrapping_add(1), big as u32 as f32) },
            Event::Scaled(factor) => Event::Scaled(factor * 2.0),
        };
        turned
            .check(&xs, &xs.iter().map(turn).collect::<Vec<_>>())
            .map_err(|m| format!("{n} turned: {m}"))?;
        let expected = xs.iter().rfind(|event| **event != Event::Nothing).copied().unwrap_or(Event::Nothing);
        last.check(&xs, &[expected]).map_err(|m| format!("{n} folded: {m}"))?;
    }
    Ok(())
}

pub fn arrays_of_fixed_length(h: &Harness) -> Outcome {
    let turned = h.compile(|xs: Acc<Vector<[f32; 3]>>, is: Acc<Vector<u32>>| {
        xs.zip_with(is, |xs, i| {
            (xs.at((i % 3).cast::<i64>()), xs.with((i % 2).cast::<i64>(), xs[2]), [xs[2], xs[0]])
        })
    })?;
    let summed = h.compile(|xs: Acc<Vector<[f32; 3]>>| {
        xs.fold([0.0; 3], |[a, b, c], [x, y, z]| [a + x, b + y, c + z])
    })?;
    for n in SIZES {
        let (xs, is) = (values::<[f32; 3]>(35, n), values::<u32>(36, n));
        let turn = |(xs, i): (&[f32; 3], &u32)| {
            let mut changed = *xs;
            changed[*i as usize % 2] = xs[2];
            (xs[*i as usize % 3], changed, [xs[2], xs[0]])
        };
        let expected: Vec<_> = xs.iter().zip(&is).map(turn).collect();
        turned.check((&xs, &is), &expected).map_err(|m| format!("{n} turned: {m}"))?;
        let sum: [f32; 3] = std::array::from_fn(|part| xs.iter().fold(0.0, |sum, x| sum + x[part]));
        summed.check(&xs, &[sum]).map_err(|m| format!("{n} summed: {m}"))?;
    }
    Ok(())
}

pub fn an_index_beyond_a_fixed_length(h: &Harness) -> Outcome {
    let program = h.compile(|is: Acc<Vector<i64>>| is.map(|i| [constant(1), constant(2)].at(i)))?;
    program.check(&[1, 0], &[2, 1])?;
    for index in [-1, 2] {
        let found = program.run(&[0, index]);
        h.expect_failure(found, &["at", "out of bounds"])?;
    }
    Ok(())
}

pub fn complex_numbers(h: &Harness) -> Outcome {
    type Z = Complex<f32>;
    let arithmetic = h.compile(|xs: Acc<Vector<Z>>, ys: Acc<Vector<Z>>| {
        xs.zip_with(ys, |x, y| (x * y + x - y, x.conj() * 2.0, x / 4.0, 1.0 - y, x.norm_sqr(), x.powi(2)))
    })?;
    let summed = h.compile(|xs: Acc<Vector<Z>>| xs.fold(Z::new(0.0, 0.0), |a, b| a + b))?;
    for n in SIZES {
        let (xs, ys) = (values::<Z>(37, n), values::<Z>(38, n));
        let plain = |(x, y): (&Z, &Z)| (x * y + x - y, x.conj() * 2.0, x / 4.0, 1.0 - y, x.norm_sqr(), x * x);
        let expected: Vec<_> = xs.iter().zip(&ys).map(plain).collect();
        arithmetic.check((&xs, &ys), &expected).map_err(|m| format!("{n} elements: {m}"))?;
        summed.check(&xs, &[xs.iter().sum()]).map_err(|m| format!("{n} summed: {m}"))?;
    }
    Ok(())
}

pub fn results(h: &Harness) -> Outcome {
    type Tried = Result<i32, u32>;
    let program = h.compile(|xs: Acc<Vector<Tried>>| {
        xs.map(|x| {
            let halved = x.and_then(|x| cond((x % 2).eq(0), || ok(x / 2), || err(x.cast::<u32>())));
            (halved, x.map_err(|e| e + 1).map(|x| -x), x.ok(), x.err(), x.unwrap_or(5), x.eq(Ok(0)))
        })
    })?;
    // The first error, or the sum: associative where it stops at an error.
    let first =
        h.compile(|xs: Acc<Vector<Tried>>| xs.fold(Ok(0), |a, b| a.and_then(|a| b.map(|b| a + b))))?;
    for n in SIZES {
        let xs = values::<Tried>(39, n);
        let plain = |x: &Tried| {
            let halved = x.and_then(|x| if x % 2 == 0 { Ok(x / 2) } else { Err(x as u32) });
            let turned = x.map_err(|e| e.wrapping_add(1)).map(i32::wrapping_neg);
            (halved, turned, x.ok(), x.err(), x.unwrap_or(5), *x == Ok(0))
        };
        program
            .check(&xs, &xs.iter().map(plain).collect::<Vec<_>>())
            .map_err(|m| format!("{n} elements: {m}"))?;
        let sum = xs.iter().try_fold(0i32, |sum, x| x.map(|x| sum.wrapping_add(x)));
        first.check(&xs, &[sum]).map_err(|m| format!("{n} folded: {m}"))?;
    }
    Ok(())
}

type Twelve = (f32, f64, i32, i64, u32, u64, bool, i32, (u32, bool), f32, Option<i64>, u64);

pub fn tuples_of_twelve(h: &Harness) -> Outcome {
    let program = h.compile(|xs: Acc<Vector<Twelve>>| {
        xs.map(|(a, b, c, d, e, f, g, h, (i, j), k, l, m)| {
            (m, l, -k, (!j, i), h + 1, g, f, e, d, c, b, a * 2.0)
        })
    })?;
    for n in SIZES {
        let xs = values::<Twelve>(40, n);
        let turn = |&(a, b, c, d, e, f, g, h, (i, j), k, l, m): &Twelve| {
            (m, l, -k, (!j, i), h.wrapping_add(1), g, f, e, d, c, b, a * 2.0)
        };
        program.check(&xs, &xs.iter().map(turn).collect::<Vec<_>>())?;
    }
    Ok(())
}
