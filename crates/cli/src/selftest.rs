//! `pumice selftest`: the conformance suite on one device, or its kernels through one compiler.
//!
//! Scripts read the last line, `N passed, N failed`; it is printed whenever the suite could be started.

use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::{print, target};
use pumice::layers::array::PlanOptions;
use pumice::layers::emit::{self, Dialect};
use pumice::layers::kernel::Profile;
use pumice::layers::program::Verified;
use pumice::layers::runtime::devices::cuda::nvrtc::{self, Nvrtc};
use pumice::layers::runtime::{Device, Engine, open};
use pumice_testing::{Case, Outcome, cases, large_cases};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

/// What `pumice selftest` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    device: DeviceOption,
    /// Only cases whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    filter: String,
    /// Only cases whose name contains none of these.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    skip: Vec<String>,
    /// Only one of N parts, to run them side by side: 1/2 and 2/2.
    #[arg(long, value_name = "K/N", value_parser = parse_shard)]
    shard: Option<(usize, usize)>,
    /// With every array written to memory.
    #[arg(long)]
    unfused: bool,
    /// Instead of the suite, arrays of more than 2^31 elements: takes 32 GB of the device's memory.
    #[arg(long)]
    large: bool,
    /// Run nothing, but compile every kernel that users get: cuda, opencl or c.
    #[arg(long, value_name = "TARGET", value_parser = target::dialect, conflicts_with_all = ["device", "unfused", "large"])]
    compile_only: Option<Dialect>,
}

/// Runs or compiles the suite.
pub fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { filter, skip, .. } = arguments;
    let all = if arguments.large { large_cases() } else { cases() };
    let is_chosen =
        |case: &Case| case.name.contains(filter) && !skip.iter().any(|skipped| case.name.contains(skipped));
    let mut chosen: Vec<Case> = all.into_iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(Error::Usage(format!("no case has a name that contains `{filter}`")));
    }
    if let Some(shard) = arguments.shard {
        chosen = part(chosen, shard);
    }
    if let Some(dialect) = arguments.compile_only {
        return compile(&chosen, dialect);
    }
    let fuse = !arguments.unfused;
    let compiler = arguments.device.compiler()?.fuse(fuse);
    // The simulator compiles nothing.
    if !arguments.large && compiler.device().name().kind() != "sim" {
        prepare(&chosen, compiler.device(), &PlanOptions { fuse, ..PlanOptions::default() });
    }
    let failed = each(&chosen, |case| case.run(&compiler))?;
    finish(chosen.len(), failed)
}

/// Compiles the kernels of all cases together, which takes less time than one by one. What fails here fails again in its
/// case, where it is told.
fn prepare(chosen: &[Case], device: &Arc<dyn Device>, options: &PlanOptions) {
    let planned = chosen.iter().filter(|case| case.plans_quickly());
    let kernels = planned.filter_map(|case| case.kernels(device.profile(), options).ok());
    let programs: Vec<Arc<Verified>> = kernels.flatten().collect();
    let programs: Vec<(&Verified, _)> = programs.iter().map(|program| (&**program, None)).collect();
    let engine = Engine::of(device.clone());
    for unit in programs.chunks(64) {
        let built =
            engine.kernels().get_or_build_all(&**device, unit, &emit::EmitOptions::default(), || Ok(()));
        drop(built);
    }
}

/// Reads a shard: the third of four is `3/4`. Counted from 0.
fn parse_shard(text: &str) -> std::result::Result<(usize, usize), String> {
    let numbers =
        text.split_once('/').and_then(|(k, n)| Some((k.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    match numbers {
        Some((k, n)) if 1 <= k && k <= n => Ok((k - 1, n)),
        _ => Err("that is no part such as 1/2".to_string()),
    }
}

/// One of `n` parts. Neighbours are alike and take alike long, so they go to different parts.
fn part<T>(all: Vec<T>, (k, n): (usize, usize)) -> Vec<T> {
    all.into_iter().enumerate().filter(|(number, _)| number % n == k).map(|(_, item)| item).collect()
}

/// Compiles the kernels of every case, each once; with fast math too, where that makes another source.
fn compile(chosen: &[Case], dialect: Dialect) -> Result<()> {
    let compiler = KernelCompiler::find(dialect)?;
    let mut seen = HashSet::new();
    let failed = each(chosen, |case| {
        let mut programs = case.kernels(&compiler.profile(), &PlanOptions::default())?;
        programs.retain(|program| seen.insert(program.key_text()));
        compiler.compile_all(&programs)
    })?;
    print(&format!("{} different kernels, compiled for {dialect}\n", seen.len()))?;
    finish(chosen.len(), failed)
}

/// Does something with every case, prints what went wrong, and returns how often it did.
fn each(chosen: &[Case], mut work: impl FnMut(&Case) -> Outcome) -> Result<usize> {
    let mut progress = Progress::new();
    let mut failed = 0;
    for (number, case) in chosen.iter().enumerate() {
        progress.step(number, chosen.len(), &case.name);
        if let Err(message) = work(case) {
            failed += 1;
            progress.clear();
            print(&format!("FAILED {}: {message}\n", case.name))?;
        }
    }
    Ok(failed)
}

/// Prints the last line.
fn finish(all: usize, failed: usize) -> Result<()> {
    print(&format!("{} passed, {failed} failed\n", all - failed))?;
    if failed == 0 { Ok(()) } else { Err(Error::Told) }
}

/// What compiles the kernels of a dialect.
enum KernelCompiler {
    /// CUDA's, which needs no GPU.
    Nvrtc(&'static Nvrtc),
    /// A device's own.
    Device(Dialect, Arc<dyn Device>),
}

impl KernelCompiler {
    fn find(dialect: Dialect) -> Result<KernelCompiler> {
        Ok(match dialect {
            Dialect::Cuda => KernelCompiler::Nvrtc(nvrtc::nvrtc()?),
            Dialect::OpenCl => KernelCompiler::Device(dialect, open("opencl")?),
            Dialect::C => KernelCompiler::Device(dialect, open("cpu")?),
        })
    }

    fn profile(&self) -> Profile {
        match self {
            KernelCompiler::Nvrtc(_) => target::profile(Dialect::Cuda),
            KernelCompiler::Device(_, device) => device.profile().clone(),
        }
    }

    fn dialect(&self) -> Dialect {
        match self {
            KernelCompiler::Nvrtc(_) => Dialect::Cuda,
            KernelCompiler::Device(dialect, _) => *dialect,
        }
    }

    /// Compiles programs side by side, some of them as one text.
    fn compile_all(&self, programs: &[Arc<Verified>]) -> Outcome {
        let units: Vec<&[Arc<Verified>]> = programs.chunks(UNIT).collect();
        let threads =
            std::thread::available_parallelism().map_or(1, |threads| threads.get().min(units.len()));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut rest = std::iter::from_fn(|| units.get(next.fetch_add(1, Ordering::Relaxed)));
            rest.try_for_each(|unit| self.compile_unit(unit))
        };
        std::thread::scope(|scope| {
            // Where a thread cannot be had, the others and this one do its work.
            let others: Vec<_> =
                (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, work).ok()).collect();
            let join = |thread: ScopedJoinHandle<'_, Outcome>| {
                thread.join().unwrap_or_else(|_| Err("a compiler panicked".into()))
            };
            let own = work();
            others.into_iter().map(join).fold(own, Outcome::and)
        })
    }

    /// Compiles programs as one text. If that fails, each is compiled by itself, so that one knows which one it was.
    fn compile_unit(&self, programs: &[Arc<Verified>]) -> Outcome {
        let mut programs: Vec<&Verified> = programs.iter().map(|program| &**program).collect();
        for fast_math in [false, true] {
            let options = emit::EmitOptions { fast_math };
            if fast_math {
                let text = |program: &Verified, fast_math: bool| {
                    let source = emit::emit(program, self.dialect(), &emit::EmitOptions { fast_math });
                    source.map(|source| source.text).ok()
                };
                programs.retain(|program| text(program, true) != text(program, false));
            }
            if let Err(error) = self.compile(&programs, &options) {
                programs.iter().try_for_each(|program| self.compile(&[*program], &options))?;
                return Err(error);
            }
        }
        Ok(())
    }

    fn compile(&self, programs: &[&Verified], options: &emit::EmitOptions) -> Outcome {
        let [first, ..] = programs else { return Ok(()) };
        match self {
            KernelCompiler::Device(_, device) => device.build_unit(programs, options).map(drop),
            KernelCompiler::Nvrtc(nvrtc) => {
                let sources = emit::emit_unit(programs, Dialect::Cuda, options);
                let sources = sources.map_err(|error| error.to_string())?;
                let Some(source) = sources.first() else { return Ok(()) };
                let (architecture, fast_math) = (nvrtc::DEFAULT_ARCHITECTURE, options.fast_math);
                nvrtc.compile(&first.name, &source.text, architecture, fast_math, source.effort).map(drop)
            }
        }
        .map_err(|error| error.to_string())
    }
}

/// Programs that are compiled as one text.
const UNIT: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_everything_once() {
        let mut all: Vec<u32> = (1..=3).flat_map(|k| part((0..10).collect(), (k - 1, 3))).collect();
        assert_eq!(all[..4], [0, 3, 6, 9]);
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<u32>>());
    }

    #[test]
    fn a_part_is_one_of_those_that_there_are() {
        assert_eq!(parse_shard("2/3").ok(), Some((1, 3)));
        for wrong in ["", "1", "0/2", "3/2", "1/0", "a/2", "-1/2"] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }
}
