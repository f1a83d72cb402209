//! Time of the first run of a program with twenty kernels, from its description to its result: with an empty folder of compiled
//! kernels, and with one that has them all. Each run is a process of its own, because a process keeps its kernels in memory.

use super::reference::check_exactly;
use super::timing::{Timing, median};
use super::workloads::Workload;
use crate::error::{Error, Result};
use crate::print;
use crate::temporary::TemporaryFolder;
use pumice::layers::runtime::{Counts, Device, Engine};
use pumice::prelude::*;
use pumice::{Boundary, Compiler};
use pumice_algorithms::Work;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

const KERNELS: u64 = 20;
const ELEMENTS: usize = 1000;
const ROWS: usize = 10;
const ROUNDS: i32 = 5;
const RUNS: usize = 3;

/// A result whose error is a message for users.
type Told<T> = std::result::Result<T, String>;

/// Returns both workloads.
pub fn workloads() -> Vec<Workload> {
    let of = |name: &str, measure: fn(&Timing) -> Told<f64>| {
        Workload::of_work(name, ELEMENTS, Work::Unknown, measure)
    };
    vec![
        of("first run of 20 kernels", |timing| {
            // Each run has an empty folder of its own.
            (0..runs(timing)).map(|_| start(&folder()?, timing, 0)).collect::<Told<_>>().map(median)
        }),
        of("first run of 20 kernels, kept", |timing| {
            let folder = folder()?;
            start(&folder, timing, 0)?;
            (0..runs(timing)).map(|_| start(&folder, timing, KERNELS)).collect::<Told<_>>().map(median)
        }),
    ]
}

/// Makes a folder for compiled kernels.
fn folder() -> Told<TemporaryFolder> {
    TemporaryFolder::new("first-run")
}

fn runs(timing: &Timing) -> usize {
    if timing.is_quick() { 1 } else { RUNS }
}

/// Carries out `pumice bench --first-run`: one run, then prints its milliseconds and the number of kernels that came from disk.
pub fn run(device: &Arc<dyn Device>) -> Result<()> {
    let start = Instant::now();
    let found = Compiler::with(device.clone()).compile(different_kernels)?.run(numbers())?;
    let found = found.to_vec().map_err(|error| Error::Failed(error.to_string()))?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    check_exactly(&found, &expected()).map_err(Error::Failed)?;
    let Counts { disk, built, .. } = Engine::of(device.clone()).kernels().counts();
    if disk + built != KERNELS {
        return Err(Error::Failed(format!("there are {} different kernels, not {KERNELS}", disk + built)));
    }
    print(&format!("{time} {disk}\n"))
}

/// Describes rounds of four kernels, which differ in their constants from round to round.
fn different_kernels(xs: Acc<Vector<i32>>) -> Acc<Vector<i32>> {
    (0..ROUNDS).fold(xs, |xs, round| {
        let mapped = xs.reverse().map(|x| x * (2 * round + 3) + round).compute();
        let sums = mapped.clone().map(|x| x ^ round).reshape((ROWS, ELEMENTS / ROWS)).sum();
        let gathered = generate(ELEMENTS, |i| {
            let near = mapped.at((i * 7 + i64::from(round)) % ELEMENTS as i64);
            near + sums.at(i % ROWS as i64)
        });
        gathered
            .compute()
            .stencil(Boundary::Wrap, |near| near.at([-1]) + near.at([1]) * (round + 2))
            .compute()
    })
}

fn numbers() -> Vec<i32> {
    (0..ELEMENTS as i32).collect()
}

fn expected() -> Vec<i32> {
    (0..ROUNDS).fold(numbers(), |xs, round| {
        let map = |x: &i32| x.wrapping_mul(2 * round + 3).wrapping_add(round);
        let mapped: Vec<i32> = xs.iter().rev().map(map).collect();
        let sum = |row: &[i32]| row.iter().fold(0i32, |sum, x| sum.wrapping_add(*x ^ round));
        let sums: Vec<i32> = mapped.chunks(ELEMENTS / ROWS).map(sum).collect();
        let gather = |i: usize| mapped[(i * 7 + round as usize) % ELEMENTS].wrapping_add(sums[i % ROWS]);
        let gathered: Vec<i32> = (0..ELEMENTS).map(gather).collect();
        let beside = |i: usize| {
            let (before, after) = (gathered[(i + ELEMENTS - 1) % ELEMENTS], gathered[(i + 1) % ELEMENTS]);
            before.wrapping_add(after.wrapping_mul(round + 2))
        };
        (0..ELEMENTS).map(beside).collect()
    })
}

/// Runs the program in a process of its own; an error unless it finds exactly `from_disk` kernels in this folder.
fn start(folder: &TemporaryFolder, timing: &Timing, from_disk: u64) -> Told<f64> {
    let failed = |reason: String| format!("a process for a first run failed: {reason}");
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let device = timing.compiler().device().name().to_string();
    let kept: [(&str, &Path); 2] = [("PUMICE_CACHE_DIR", folder.path()), ("POCL_CACHE_DIR", folder.path())];
    let mut command = Command::new(program);
    command.args(["bench", "--first-run", "--device", &device]).envs(kept).env_remove("PUMICE_CACHE_BYTES");
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    let numbers = said.trim_end().split_once(' ');
    match numbers.map(|(time, disk)| (time.parse::<f64>(), disk.parse::<u64>())) {
        Some((Ok(time), Ok(disk))) if disk == from_disk => Ok(time),
        Some((Ok(_), Ok(disk))) => Err(format!("{disk} kernels were on disk, not {from_disk}")),
        _ => Err(failed(format!("{}: {complained}", output.status))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_kernels_and_they_are_right() -> pumice::Result<()> {
        let program = Compiler::on("sim")?.compile(different_kernels)?;
        assert_eq!(program.skeletons(numbers())?.len() as u64, KERNELS);
        assert_eq!(program.run(numbers())?.to_vec()?, expected());
        Ok(())
    }
}
