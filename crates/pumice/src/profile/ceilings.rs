//! Measured limits of a device: how many bytes it copies per second, and how many operations on floats it does per second. Each is
//! measured by a program of its own, once for a device with its driver and compiler, and kept beside its compiled kernels.

use crate::Compiler;
use pumice_array::{Acc, Scalar, Vector, generate};
use pumice_runtime::{Device, Engine, Result};
use pumice_scalar::Exp;
use std::fmt;
use std::sync::Arc;

/// Measured limits of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// Bytes that a kernel reads and writes per second if it only copies an array.
    pub copy_bytes_per_second: f64,
    /// Additions and multiplications of `f32` per second in a kernel that does little else; each counts, as none are contracted.
    pub operations_per_second: f64,
}

/// Number of times that a measurement is repeated; the best one counts.
const RUNS: usize = 3;
/// Arrays grow until one run takes this long: a shorter run would measure launch overhead.
const LONG_ENOUGH_MS: f64 = 2.0;
/// The lengths of arrays, as powers of two.
const LENGTHS: std::ops::RangeInclusive<u32> = 18..=27;
/// Rounds of an element, with two operations for each of so many values that do not wait for each other.
const ROUNDS: i32 = 16;
const VALUES: usize = 8;

impl Ceilings {
    /// Returns the limits of a device: as they were measured before, or as they are measured now, which takes about a second. `None` on the
    /// simulator, whose time means nothing.
    ///
    /// ```
    /// use pumice::{Ceilings, Compiler};
    /// assert!(Ceilings::of(Compiler::on("sim")?.device())?.is_none());
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn of(device: &Arc<dyn Device>) -> Result<Option<Ceilings>> {
        if device.name().kind() == "sim" {
            return Ok(None);
        }
        let engine = Engine::of(device.clone());
        // The number is of the programs below: another measurement has another one.
        let key = ["ceilings 1".to_string(), device.name().to_string(), device.fingerprint()];
        if let Some(known) = engine.kernels().recall(&key).and_then(|note| Ceilings::read(&note)) {
            return Ok(Some(known));
        }
        let measured = Ceilings::measure(&Compiler::with(device.clone()))?;
        engine.kernels().remember(&key, &measured.note());
        Ok(Some(measured))
    }

    fn measure(compiler: &Compiler) -> Result<Ceilings> {
        let copy = compiler.compile(|xs: Acc<Vector<f32>>| xs.map(|x| -x))?;
        let copied = best(|length| {
            let xs = compiler.run(generate(length as usize, |i| i.cast::<f32>()))?;
            Ok((8.0 * length as f64, copy.time(&xs, RUNS)?))
        })?;
        let compute = compiler.compile(work)?;
        let computed = best(|length| {
            let operations = 2.0 * VALUES as f64 * f64::from(ROUNDS) * length as f64;
            Ok((operations, compute.time(length, RUNS)?))
        })?;
        Ok(Ceilings { copy_bytes_per_second: copied, operations_per_second: computed })
    }

    fn note(&self) -> Vec<u8> {
        [self.copy_bytes_per_second, self.operations_per_second].map(f64::to_le_bytes).concat()
    }

    /// Reads stored limits; `None` unless both are finite and positive.
    fn read(note: &[u8]) -> Option<Ceilings> {
        let (copied, computed) = (note.first_chunk::<8>()?, note.get(8..)?.first_chunk::<8>()?);
        let [copied, computed] = [copied, computed].map(|bytes| f64::from_le_bytes(*bytes));
        let is_sound = |number: f64| number.is_finite() && number > 0.0;
        let ceilings = Ceilings { copy_bytes_per_second: copied, operations_per_second: computed };
        (is_sound(copied) && is_sound(computed)).then_some(ceilings)
    }
}

/// Much to compute, and one element to write.
fn work(length: Exp<i64>) -> Acc<Scalar<f32>> {
    let element = |i: Exp<i64>| {
        let first = i.cast::<f32>();
        let values: Vec<Exp<f32>> = (0..VALUES).map(|number| first + number as f32).collect();
        rounds(values).into_iter().reduce(|a, b| a + b).unwrap_or(first)
    };
    generate(length, element).fold(0.0, |a, b| a + b)
}

/// All rounds of values that do not wait for each other, written out.
fn rounds(mut values: Vec<Exp<f32>>) -> Vec<Exp<f32>> {
    for _ in 0..ROUNDS {
        values = values.into_iter().map(|value| value * 0.999 + 0.5).collect();
    }
    values
}

/// Returns the largest amount of work done per second, over arrays that grow until a run takes long enough. `measure` returns the work
/// of one run, and the milliseconds of some runs.
fn best(mut measure: impl FnMut(i64) -> Result<(f64, Vec<f64>)>) -> Result<f64> {
    let mut best = 0.0f64;
    for length in LENGTHS.step_by(3) {
        let (done, times) = measure(1 << length)?;
        let fastest = times.into_iter().fold(f64::INFINITY, f64::min);
        if fastest > 0.0 {
            best = best.max(done / (fastest / 1e3));
        }
        if fastest >= LONG_ENOUGH_MS {
            break;
        }
    }
    Ok(best)
}

impl fmt::Display for Ceilings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (copied, computed) = (self.copy_bytes_per_second / 1e9, self.operations_per_second / 1e9);
        write!(f, "copies {copied:.1} GB/s, computes {computed:.0} GFLOP/s in f32")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_make_no_sense_are_measured_again() {
        let ceilings = Ceilings { copy_bytes_per_second: 1.5e9, operations_per_second: 2.5e12 };
        assert_eq!(Ceilings::read(&ceilings.note()), Some(ceilings));
        assert_eq!(ceilings.to_string(), "copies 1.5 GB/s, computes 2500 GFLOP/s in f32");
        let broken = Ceilings { copy_bytes_per_second: f64::NAN, ..ceilings };
        assert_eq!((Ceilings::read(&broken.note()), Ceilings::read(&[0; 15])), (None, None));
    }
}
