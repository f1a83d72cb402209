//! From programs to their kernels: out of memory, out of the folder, or compiled, several at a time.
//!
//! Programs that have to be compiled are handed to the device in units, because starting a compiler takes longer than a
//! small kernel. The thread that builds a kernel holds the lock of its place, and others that want it wait for that; all
//! locks of a unit are taken in the order of their keys, and a thread works on one unit at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, MutexGuard};
use std::thread::available_parallelism;

use pumice_emit::{Effort, EmitOptions};
use pumice_program::Verified;
use pumice_scalar::Place;

use super::entry::hashed;
use super::loaded::Slot;
use super::{BUILT, DISK, KernelTable, MEMORY, lock};
use crate::device::{CompiledKernel, Device};
use crate::error::{Error, Result};
use crate::parallel;
use crate::profile::{self, Activity, Facts, Span};

/// Identity of the emitter: binaries of another emitter are not used. The build script makes a hash of its sources;
/// without that the version has to do, which is right for released versions.
const EMITTER: &str = match option_env!("PUMICE_EMITTER") {
    Some(hash) => hash,
    None => env!("CARGO_PKG_VERSION"),
};

/// The most programs of a unit. All of a unit's code is in the binary of each of its kernels, and an error in one of
/// them has the others compiled again.
const UNIT: usize = 16;

/// A program whose kernel is wanted.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    program: &'a Verified,
    key: &'a str,
    /// The operation that it is for.
    place: Option<Place>,
}

impl KernelTable {
    /// The kernel of a program on a device: from this process, from disk, or compiled. `key_text` stands for the program:
    /// two programs with the same text must mean the same, so it has everything but source places and comments.
    pub fn get_or_build(
        &self,
        device: &dyn Device,
        program: &Verified,
        key_text: &str,
        options: &EmitOptions,
    ) -> Result<Arc<CompiledKernel>> {
        let (key, place) = (key(device, key_text, options), profile::current());
        let mut kernels = self.unit(device, &[Wanted { program, key: &key, place }], options)?;
        kernels.pop().ok_or_else(lost)
    }

    /// The kernels of several programs on a device, in their order. With each program comes the operation that it is for, which slices
    /// and errors name. Those that have to be compiled are compiled several at a time, on as many threads as there are cores; `meanwhile`
    /// runs on the calling thread.
    pub fn get_or_build_all(
        &self,
        device: &dyn Device,
        programs: &[(&Verified, Option<Place>)],
        options: &EmitOptions,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<Vec<Arc<CompiledKernel>>> {
        let keys: Vec<String> =
            programs.iter().map(|(program, _)| key(device, &program.key_text(), options)).collect();
        // Each once: a thread must not wait for itself.
        let by_key: BTreeMap<&str, (&Verified, Option<Place>)> =
            keys.iter().map(String::as_str).zip(programs.iter().copied()).collect();
        let wanted = by_key.into_iter().map(|(key, (program, place))| Wanted { program, key, place });
        let wanted: Vec<Wanted<'_>> = wanted.collect();
        let cores = available_parallelism().map_or(1, |cores| cores.get());
        let units: Vec<&[Wanted<'_>]> = wanted.chunks(wanted.len().div_ceil(cores).clamp(1, UNIT)).collect();
        let built =
            parallel::collect(units.len(), |unit| self.unit(device, units[unit], options), meanwhile)?;
        let kernels: BTreeMap<&str, Arc<CompiledKernel>> =
            wanted.iter().map(|wanted| wanted.key).zip(built.into_iter().flatten()).collect();
        keys.iter().map(|key| kernels.get(key.as_str()).cloned().ok_or_else(lost)).collect()
    }

    /// The kernels of programs whose keys are different and in order.
    fn unit(
        &self,
        device: &dyn Device,
        wanted: &[Wanted<'_>],
        options: &EmitOptions,
    ) -> Result<Vec<Arc<CompiledKernel>>> {
        let slots: Vec<Arc<Slot>> =
            wanted.iter().map(|wanted| lock(&self.loaded).slot(device.id(), wanted.key)).collect();
        let kernels = {
            let mut places: Vec<MutexGuard<'_, Option<Arc<CompiledKernel>>>> =
                slots.iter().map(|slot| lock(slot)).collect();
            self.fill(device, wanted, &mut places, options)
                .and_then(|()| places.iter().map(|place| (**place).clone().ok_or_else(lost)).collect())
        };
        // Nobody holds the place of a kernel that could not be built, so that it goes too.
        drop(slots);
        self.evict(self.limits.kernels);
        kernels
    }

    /// Puts a kernel in every place that has none.
    fn fill(
        &self,
        device: &dyn Device,
        wanted: &[Wanted<'_>],
        places: &mut [MutexGuard<'_, Option<Arc<CompiledKernel>>>],
        options: &EmitOptions,
    ) -> Result<()> {
        let folder = self.usable_folder();
        let mut missing = Vec::new();
        for (number, wanted) in wanted.iter().enumerate() {
            if places[number].is_some() {
                self.count(MEMORY);
            } else if let Some(kernel) =
                folder.as_deref().and_then(|folder| self.kept(device, wanted, folder))
            {
                *places[number] = Some(Arc::new(kernel));
            } else {
                missing.push(number);
            }
        }
        let unknown: Vec<Wanted<'_>> = missing.iter().map(|number| wanted[*number]).collect();
        let span = Span::begin();
        let built = build_all(device, &unknown, options);
        if !unknown.is_empty() {
            span.end(Activity::Compilation, || facts(device, &unknown, "compiled"));
        }
        for (number, binary) in missing.into_iter().zip(built) {
            let (Wanted { program, key, place }, binary) = (wanted[number], binary?);
            // SAFETY: it was just built of this program.
            let mut kernel = unsafe { device.load(program, &binary) };
            // There may be no room for one more.
            if kernel.is_err() && self.evict(0) > 0 {
                // SAFETY: as above.
                kernel = unsafe { device.load(program, &binary) };
            }
            *places[number] = Some(Arc::new(kernel.map_err(|error| error.at(place))?));
            self.count(BUILT);
            if let Some(folder) = &folder {
                self.write(folder, key, &binary);
            }
        }
        Ok(())
    }

    /// The kernel that is kept in the folder, if there is one that the device takes.
    fn kept(&self, device: &dyn Device, wanted: &Wanted<'_>, folder: &Path) -> Option<CompiledKernel> {
        let span = Span::begin();
        let binary = self.read(folder, wanted.key)?;
        // SAFETY: the entry is whole, the user's own, and has the key of this program on this device.
        match unsafe { device.load(wanted.program, &binary) } {
            Ok(kernel) => {
                span.end(Activity::Compilation, || facts(device, &[*wanted], "loaded from disk"));
                self.count(DISK);
                Some(kernel)
            }
            Err(error) => {
                // Whole, but the device does not take it any more: as good as corrupt.
                self.diagnose(format!("a kept kernel was built again: {error}"));
                None
            }
        }
    }
}

/// Compiles programs: small ones together, large ones and those that cannot be compiled together one by one.
fn build_all(device: &dyn Device, wanted: &[Wanted<'_>], options: &EmitOptions) -> Vec<Result<Vec<u8>>> {
    let alone = |wanted: &Wanted<'_>| profile::at(wanted.place, || device.build(wanted.program, options));
    let small = wanted.iter().all(|wanted| Effort::of(wanted.program) == Effort::Full);
    let programs: Vec<&Verified> = wanted.iter().map(|wanted| wanted.program).collect();
    match wanted {
        // The error of a unit does not say whose it is.
        [_, _, ..] if small => match device.build_unit(&programs, options) {
            Ok(binaries) if binaries.len() == wanted.len() => binaries.into_iter().map(Ok).collect(),
            _ => wanted.iter().map(alone).collect(),
        },
        _ => wanted.iter().map(alone).collect(),
    }
}

/// Returns the facts about kernels that were made, for a profile.
fn facts(device: &dyn Device, wanted: &[Wanted<'_>], how: &str) -> Facts {
    let names: Vec<&str> = wanted.iter().map(|wanted| wanted.program.name.as_str()).collect();
    let mut places: Vec<String> =
        wanted.iter().filter_map(|wanted| wanted.place).map(|place| place.to_string()).collect();
    places.sort();
    places.dedup();
    let (name, place, detail) = (names.join(", "), places.join(", "), format!("{how} for {}", device.name()));
    Facts { name, place, detail, ..Facts::default() }
}

fn lost() -> Error {
    Error::Invalid("a kernel was lost while it was compiled".into())
}

/// The key of a kernel, as the name of a file.
fn key(device: &dyn Device, key_text: &str, options: &EmitOptions) -> String {
    let options = format!("{options:?}");
    hashed(&[EMITTER, device.name().kind(), &device.fingerprint(), &options, key_text])
}

/// The key of a kernel that is compiled ahead: what it is compiled for stands in place of a device.
pub(crate) fn ahead_key(compiled_for: &str, key_text: &str, options: &EmitOptions) -> String {
    hashed(&[EMITTER, compiled_for, &format!("{options:?}"), key_text])
}
