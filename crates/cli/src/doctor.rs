//! `pumice doctor`: which devices work here, and why the others do not.
//!
//! A device works if it compiles and runs a program; that it can be opened is not enough. Nothing is changed but the
//! cache of kernels.

use crate::cache;
use crate::error::{Error, Result};
use crate::print;
use crate::progress::Progress;
use pumice::layers::runtime::{
    Device, Engine, KernelTable, default_device, device_names,
    devices::{cuda::nvrtc, set_default_compile_seconds},
    open,
};
use pumice::prelude::*;
use pumice::{Ceilings, Compiler};
use std::sync::Arc;
use std::time::Instant;

/// Default time limit of a compiler in this command, unless `PUMICE_COMPILE_SECONDS` sets another.
const COMPILE_SECONDS: u64 = 10;

/// Examines every device.
pub fn run() -> Result<()> {
    // The user is waiting, so a compiler that hangs is given up early.
    set_default_compile_seconds(COMPILE_SECONDS);
    let mut progress = Progress::new();
    let mut usable = 0;
    let names = device_names();
    for (number, name) in names.iter().enumerate() {
        progress.step(number, names.len(), name);
        let line = match open(name) {
            Err(pumice::Error::DeviceUnavailable { reason, .. }) => {
                entry(name, &format!("not usable: {reason}"))
            }
            Err(error) => entry(name, &format!("not usable: {error}")),
            Ok(device) => match try_out(&device) {
                Ok(note) => {
                    usable += 1;
                    let ceilings = ceilings(&device);
                    entry(name, &format!("usable: {}\n{note}{ceilings}", device.description()))
                }
                Err(error) => entry(name, &format!("not usable: {}\n{error}", device.description())),
            },
        };
        progress.clear();
        print(&line)?;
    }
    let why = match std::env::var_os("PUMICE_DEVICE").filter(|name| !name.is_empty()) {
        Some(_) => "chosen by PUMICE_DEVICE",
        None => "the best that works; PUMICE_DEVICE chooses another",
    };
    let chosen = match default_device() {
        Ok(device) => format!("{} ({why})", device.name()),
        Err(error) => format!("none: {error}"),
    };
    print(&entry("default", &chosen))?;
    print(&entry("nvrtc", &nvrtc()))?;
    print(&entry("cache", &cache()))?;
    match usable {
        0 => Err(Error::Failed("no device can be used".into())),
        _ => Ok(()),
    }
}

/// Returns the devices that work here.
pub fn working() -> Vec<Arc<dyn Device>> {
    let opened = device_names().into_iter().filter_map(|name| open(&name).ok());
    opened.filter(|device| try_out(device).is_ok()).collect()
}

/// Formats a name and a text; further lines are indented as the first is, unless the name is very long.
fn entry(name: &str, text: &str) -> String {
    const WIDTH: usize = 9;
    let text = text.trim_end().replace('\n', &format!("\n{:WIDTH$}", ""));
    format!("{name:<0$} {text}\n", WIDTH - 1)
}

/// Compiles a program and runs it; returns the times of both as text.
fn try_out(device: &Arc<dyn Device>) -> Result<String> {
    const N: i64 = 1000;
    let compiler = Compiler::with(device.clone());
    let program = compiler.compile(|n: Exp<i64>| generate(n, |i| i).sum())?;
    let start = Instant::now();
    // Bypasses the disk cache, which would hide a compiler that no longer works.
    for launch in program.plan(N)?.launches() {
        device.build(&launch.program, &Default::default())?;
    }
    let compiled = start.elapsed();
    let start = Instant::now();
    let sum = program.run(N)?.to_value().map_err(pumice::Error::from)?;
    let ran = start.elapsed();
    if sum != N * (N - 1) / 2 {
        return Err(Error::Failed(format!("the sum of the numbers below {N} came out as {sum}")));
    }
    Ok(format!("compiled a program in {compiled:.0?}, ran it in {ran:.0?}"))
}

/// Returns the measured ceilings of the device as one more line. They are measured once, and kept.
fn ceilings(device: &Arc<dyn Device>) -> String {
    match Ceilings::of(device) {
        Ok(Some(ceilings)) => format!("\n{ceilings}"),
        Ok(None) => String::new(),
        Err(error) => format!("\nits speed cannot be measured: {error}"),
    }
}

/// Returns the version of CUDA's compiler, which needs no GPU, or why it cannot be used.
fn nvrtc() -> String {
    match nvrtc::nvrtc() {
        Ok(nvrtc) => nvrtc.version(),
        Err(pumice::Error::DeviceUnavailable { reason, .. }) => reason,
        Err(error) => error.to_string(),
    }
}

/// Returns the folder of compiled kernels, and the problems with it.
fn cache() -> String {
    let opened = device_names().into_iter().filter_map(|name| open(&name).ok());
    let mut notes: Vec<String> =
        opened.flat_map(|device| Engine::of(device).kernels().diagnostics()).collect();
    let table = KernelTable::new();
    let place = cache::place(&table);
    notes.extend(table.diagnostics());
    notes.sort();
    notes.dedup();
    std::iter::once(place).chain(notes).collect::<Vec<_>>().join("\n")
}
