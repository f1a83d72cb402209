//! Random programs in Program IR on `opencl`, against the simulator.
//!
//! A driver's compiler may abort the process, so programs run in child processes, each with some of them; a child that
//! dies has named the program that it was about to run.

#[allow(dead_code)]
#[path = "../../program/tests/generate/mod.rs"]
mod generate;

use pumice_emit::Dialect;
use pumice_program::{Param, Program, SimMemory, simulate, verify};
use pumice_runtime::{Argument, Device, Error, Options, open};
use pumice_scalar::{Constant, ScalarType};
use std::process::Command;

const CHILD: &str = "PUMICE_RANDOM_CHILD";
/// Programs of a child.
const BATCH: u64 = 50;

/// The bytes that a number stands for.
fn bytes(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as u8
    };
    let length = 60 + usize::from(next());
    (0..length).map(|_| next()).collect()
}

/// What a program leaves in its memories, and what it should; `None` if it races, which is nothing that a device defines.
fn check(device: &dyn Device, program: &Program, scalars: &[Constant]) -> Result<Option<()>, String> {
    let mut expected = generate::memories();
    let initial: Vec<Vec<u8>> = expected.iter().map(|memory| memory.bytes().to_vec()).collect();
    if simulate(program, &mut expected, scalars, &Default::default()).is_err() {
        return Ok(None);
    }
    let verified = verify(program.clone()).map_err(|error| error.to_string())?;
    let run = || -> Result<Vec<Vec<u8>>, Error> {
        let binary = device.build(&verified, &Options::default())?;
        // SAFETY: it was built the line before.
        let kernel = unsafe { device.load(&verified, &binary) }?;
        let mut memories = Vec::new();
        for bytes in &initial {
            let memory = device.allocate(bytes.len())?;
            device.upload(&memory, bytes)?;
            memories.push(memory);
        }
        let (mut memory, mut scalar) = (memories.iter(), scalars.iter());
        let arguments: Vec<Argument<'_>> = program
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Memory(_) => memory.next().map(Argument::Memory),
                Param::Scalar(_) => scalar.next().copied().map(Argument::Scalar),
            })
            .collect();
        let blocks = program.blocks_for(scalars).map_err(|error| Error::Invalid(error.to_string()))?;
        // SAFETY: the simulator ran the same and found every access in bounds.
        unsafe { device.launch(&kernel, blocks, &arguments)? };
        let mut contents = initial.clone();
        for (memory, bytes) in memories.iter().zip(&mut contents) {
            device.download(memory, bytes)?;
        }
        Ok(contents)
    };
    let found = run().map_err(|error| error.to_string())?;
    for (number, (memory, (expected, found))) in
        program.memories.iter().zip(expected.iter().zip(&found)).enumerate()
    {
        // Which of several failures is recorded depends on who comes first.
        let ignored = program.failure.is_some_and(|failure| failure.memory.0 as usize == number);
        let position = if ignored { None } else { difference(expected, memory.ty, found) };
        if let Some(position) = position {
            return Err(format!("memory {} differs at {position}", memory.name));
        }
    }
    Ok(Some(()))
}

/// The first element that was written and differs; any NaN is as good as another.
fn difference(expected: &SimMemory, ty: ScalarType, found: &[u8]) -> Option<usize> {
    let elements = expected.bytes().chunks(ty.bytes()).zip(found.chunks(ty.bytes()));
    let differs = |(index, (a, b)): &(usize, (&[u8], &[u8]))| {
        let (a, b) = (Constant::from_bytes(ty, a), Constant::from_bytes(ty, b));
        let nan = |constant: Constant| constant.as_float().is_some_and(f64::is_nan);
        expected.is_written(ty, *index) == Some(true) && a != b && !(nan(a) && nan(b))
    };
    elements.enumerate().find(differs).map(|(index, _)| index)
}

/// The program with a number, and the scalars of its run.
fn program(number: u64) -> (Program, Vec<Constant>) {
    let mut scalars = generate::scalars(number as i64 % 50);
    let program = generate::program(&bytes(number));
    match number % 2 {
        0 => (program, scalars),
        _ => (generate::with_unknown_extents(&program, &mut scalars), scalars),
    }
}

/// What a driver is given for the program with a number.
fn source(number: u64) -> String {
    let source = verify(program(number).0)
        .ok()
        .and_then(|program| pumice_emit::emit(&program, Dialect::OpenCl, &Default::default()).ok());
    source.map(|source| source.text.to_string()).unwrap_or_default()
}

/// Runs in a child: programs from a number on.
fn run_batch(first: u64, count: u64) {
    let device = open("opencl").unwrap_or_else(|error| panic!("{error}"));
    for number in first..first + count {
        let (program, scalars) = program(number);
        println!("program {number}");
        match check(&*device, &program, &scalars) {
            Ok(_) => {}
            Err(message) => println!("wrong {number}: {message}"),
        }
    }
}

/// `PUMICE_RANDOM=100` takes a hundred times as many programs.
#[test]
fn random_programs_neither_abort_nor_differ() {
    if let Ok(child) = std::env::var(CHILD) {
        let (first, count) = child.split_once(' ').unwrap_or_default();
        return run_batch(first.parse().unwrap_or(0), count.parse().unwrap_or(0));
    }
    if let Err(error) = open("opencl") {
        return eprintln!("skipped: {error}");
    }
    let times: u64 = std::env::var("PUMICE_RANDOM").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let mut bad = Vec::new();
    let mut first = 0;
    let end = BATCH * times;
    while first < end {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "random_programs_neither_abort_nor_differ", "--nocapture"])
            .env(CHILD, format!("{first} {}", BATCH.min(end - first)))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        bad.extend(said.lines().filter(|line| line.starts_with("wrong")).map(str::to_owned));
        let last = said.lines().rev().find_map(|line| line.strip_prefix("program ")?.parse::<u64>().ok());
        let last = last.unwrap_or(first);
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            let why = why.lines().last().unwrap_or_default();
            bad.push(format!("program {last}: {}: {why}\n{}", output.status, source(last)));
        }
        first = last + 1;
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
