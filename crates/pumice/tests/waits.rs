//! The host waits for a device only when it reads a result.

use pumice::layers::runtime::{Device, device_names};
use pumice::{Compiler, prelude::*};
use std::sync::{Mutex, PoisonError};

/// Runs a test on every device that works here, with what counts its waits.
fn on_every_device(test: impl Fn(&Compiler) -> pumice::Result<()>) -> pumice::Result<()> {
    // A device counts for all threads of the process.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let compilers = device_names().into_iter().filter_map(|name| Compiler::on(&name).ok());
    compilers.into_iter().try_for_each(|compiler| test(&compiler))
}

#[test]
fn runs_on_resident_arrays_wait_only_when_somebody_looks() -> pumice::Result<()> {
    on_every_device(|compiler| {
        let device: &dyn Device = &**compiler.device();
        // Several kernels, one of which can fail.
        let variance = compiler.compile(|xs: Acc<Vector<i32>>| {
            let sum = xs.clone().sum();
            let squares = xs.map(|x| 720 / (x + 1)).sum();
            sum.zip_with(squares, |a, b| a + b)
        })?;
        let xs = compiler.upload(vec![2; 10_000])?;
        variance.run(&xs)?;
        let before = device.waits();
        let result = variance.run(&xs)?;
        variance.run(&xs)?;
        assert_eq!(device.waits(), before, "{} waits in a run", device.name());
        assert_eq!(result.to_value()?, 10_000 * (2 + 240));
        assert!(device.waits() > before, "{} does not wait for its result", device.name());
        Ok(())
    })
}

#[test]
fn what_follows_a_filter_does_not_wait_for_its_length() -> pumice::Result<()> {
    on_every_device(|compiler| {
        let device: &dyn Device = &**compiler.device();
        let xs = compiler.upload((0..10_000).collect::<Vec<i32>>())?;
        let sum = compiler.compile(|xs: Acc<Vector<i32>>| xs.filter(|x| (x % 4).eq(0)).sum())?;
        let again = compiler.compile(|xs: Acc<Vector<i32>>| {
            xs.filter(|x| (x % 4).eq(0)).map(|x| x / 4).filter(|x| (x % 2).eq(0)).fold(0, |a, b| a.max(b))
        })?;
        for (program, expected) in [(&sum, 12_495_000), (&again, 2498)] {
            program.run(&xs)?;
            let before = device.waits();
            let result = program.run(&xs)?;
            assert_eq!(device.waits(), before, "{} waits for a length", device.name());
            assert_eq!(result.to_value()?, expected, "on {}", device.name());
        }
        Ok(())
    })
}
