//! The file tests of Program IR, on the devices: the same text, inputs and expectations as on the simulator.

use pumice_program::file_test::{self, Expectation};
use pumice_program::{Param, verify};
use pumice_runtime::{Device, EmitOptions, Error, LaunchArgument, open};
use std::path::Path;

/// Runs every file of a folder whose result is defined, and says how many cases there were.
fn run_files(device: &dyn Device, folder: &str) -> Result<usize, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_none_or(|extension| extension != "pum-ir") {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let test = file_test::read(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        if !test.cases.iter().all(|case| matches!(case.expectation, Expectation::Contents(_))) {
            continue; // What a broken kernel does on a device is undefined.
        }
        let program = verify(test.program).map_err(|error| error.to_string())?;
        let binary = device.build(&program, &EmitOptions::default()).map_err(|error| error.to_string())?;
        // SAFETY: it was built the line before.
        let kernel = unsafe { device.load(&program, &binary) }.map_err(|error| error.to_string())?;
        for case in &test.cases {
            let run = || -> Result<Vec<Vec<u8>>, Error> {
                let mut contents = case.bytes();
                let mut memories = Vec::new();
                for bytes in &contents {
                    let memory = device.allocate(bytes.len())?;
                    device.upload(&memory, bytes)?;
                    memories.push(memory);
                }
                let (mut memory, mut scalar) = (memories.iter(), case.scalars.iter());
                let argument = |param: &Param| match param {
                    Param::Memory(_) => memory.next().map(LaunchArgument::Memory),
                    Param::Scalar(_) => scalar.next().copied().map(LaunchArgument::Scalar),
                };
                let arguments: Vec<LaunchArgument<'_>> = program.params.iter().filter_map(argument).collect();
                let blocks =
                    program.blocks_for(&case.scalars).map_err(|e| Error::Invalid(e.to_string().into()))?;
                // SAFETY: the simulator ran the same case and found every access in bounds.
                unsafe { device.launch(&kernel, blocks, &arguments)? };
                for (memory, bytes) in memories.iter().zip(&mut contents) {
                    device.download(memory, bytes)?;
                }
                Ok(contents)
            };
            let name = format!("{} {}", path.display(), case.name);
            let contents = run().map_err(|error| format!("{name}: {error}"))?;
            case.compare(&contents).map_err(|difference| format!("{name}: {difference}"))?;
            cases += 1;
        }
    }
    Ok(cases)
}

const PROGRAM: &str = "../program/tests/files";

/// Warps, private memory, atomics and collectives.
const EMIT: &str = "../emit/tests/programs";

fn on(name: &str, folders: &[&str], required: bool) -> Result<(), String> {
    match open(name) {
        Ok(device) => {
            for folder in folders {
                let cases = run_files(&*device, folder)?;
                assert!(cases > 5, "only {cases} cases ran");
            }
            Ok(())
        }
        Err(error) if required && std::env::var_os("CI").is_some() => Err(error.to_string()),
        Err(error) => {
            println!("skipped: {error}");
            Ok(())
        }
    }
}

#[test]
fn on_sim() -> Result<(), String> {
    on("sim", &[PROGRAM, EMIT], true)
}

#[test]
fn on_cpu() -> Result<(), String> {
    on("cpu", &[PROGRAM, EMIT], true)
}

#[test]
fn on_opencl() -> Result<(), String> {
    on("opencl", &[PROGRAM, EMIT], true)
}

/// Runs the files on a GPU, if there is one.
#[test]
fn on_cuda() -> Result<(), String> {
    on("cuda", &[PROGRAM, EMIT], false)
}
