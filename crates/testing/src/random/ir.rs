//! Random kernels in Program IR on a device, after the passes, compared with the simulator before them.

use super::choices::Choices;
use super::compare::same;
use crate::harness::Outcome;
use pumice::layers::kernel::{Known, Passes, Ready, ready};
use pumice::layers::program::{Param, Program, SimMemory, Verified, simulate};
use pumice::layers::runtime::{CompiledKernel, Device, DeviceMemory, Engine, LaunchArgument};
use pumice::layers::scalar::Constant;
use std::sync::Arc;

/// Returns the program that these bytes make; the first two determine the launch and the passes.
pub fn program(bytes: &[u8]) -> Program {
    pumice_generate::program(bytes.get(2..).unwrap_or_default())
}

/// A kernel that is ready for a device.
pub struct PlannedKernel {
    before: Program,
    ready: Ready,
    /// The program that the device compiles.
    pub program: Arc<Verified>,
    scalars: Vec<Constant>,
}

impl PlannedKernel {
    /// Makes a kernel and runs passes over it.
    pub fn new(bytes: &[u8], engine: &Engine) -> Result<PlannedKernel, String> {
        let mut choices = Choices::new(bytes);
        let scalars = pumice_generate::scalars(choices.below(50) as i64);
        let passes = choices.below(4);
        let passes = Passes { vectorise: passes & 1 == 0, narrow: passes & 2 == 0 };
        let before = program(bytes);
        let mut known = Known::default();
        let params = before.params.iter().filter_map(|param| match param {
            Param::Scalar(var) => Some(*var),
            Param::Memory(_) => None,
        });
        for (var, value) in params.zip(&scalars) {
            let value = value.as_integer().ok_or("a scalar argument is no integer")?;
            known.integer(var, value.min(0), value);
        }
        let ready = ready(before.clone(), engine.device().profile(), passes, &known);
        let ready = ready.map_err(|error| format!("it is wrong after the passes: {error}"))?;
        let program = Arc::new(ready.program.clone());
        Ok(PlannedKernel { before, ready, program, scalars })
    }

    /// Runs the kernel and compares its memory afterwards with the simulator's.
    pub fn agrees(&self, engine: &Arc<Engine>, kernel: &CompiledKernel) -> Outcome {
        let mut expected = pumice_generate::memories();
        // Some lack a barrier on purpose; their results are undefined.
        if simulate(&self.before, &mut expected, &self.scalars, &Default::default()).is_err() {
            return Ok(());
        }
        let found = self.run(&**engine.device(), kernel).map_err(|error| error.to_string())?;
        let memories = self.before.params.iter().filter_map(|param| match param {
            Param::Memory(id) => Some(*id),
            Param::Scalar(_) => None,
        });
        for ((id, expected), found) in memories.zip(&expected).zip(&found) {
            let memory = self.before.memory(id);
            let found: Vec<Constant> =
                found.chunks(memory.ty.bytes()).map(|bytes| Constant::from_bytes(memory.ty, bytes)).collect();
            // It is unspecified which of several failures is recorded, so only compares whether there is one.
            let is_record = self.before.failure.is_some_and(|failure| failure.memory == id);
            let count = if is_record { 1 } else { found.len() };
            for (index, found) in found.iter().enumerate().take(count) {
                let Some(expected) = expected.get(memory.ty, index) else { continue };
                let is_same = match is_record {
                    true => (expected.bits() == 0) == (found.bits() == 0),
                    false => same(*found, expected),
                };
                if !is_same {
                    let name = &memory.name;
                    return Err(format!("{name}[{index}]: {found:?} instead of {expected:?}"));
                }
            }
        }
        Ok(())
    }

    /// Launches the kernel; returns the memories afterwards.
    fn run(&self, device: &dyn Device, kernel: &CompiledKernel) -> pumice::Result<Vec<Vec<u8>>> {
        let upload = |memory: &SimMemory| -> pumice::Result<DeviceMemory> {
            let on_device = device.allocate(memory.len())?;
            if memory.is_empty() {
                return Ok(on_device);
            }
            device.upload(&on_device, memory.bytes())?;
            Ok(on_device)
        };
        let memories = pumice_generate::memories().iter().map(upload).collect::<pumice::Result<Vec<_>>>()?;
        let (mut next_memory, mut next_scalar) = (memories.iter(), self.scalars.iter());
        let before = self.before.params.iter().filter_map(|param| match param {
            Param::Memory(_) => next_memory.next().map(LaunchArgument::Memory),
            Param::Scalar(_) => next_scalar.next().map(|value| LaunchArgument::Scalar(*value)),
        });
        let arguments = self.ready.bind(before, LaunchArgument::Scalar);
        let scalars: Vec<Constant> = arguments
            .iter()
            .filter_map(|argument| match argument {
                LaunchArgument::Scalar(value) => Some(*value),
                LaunchArgument::Memory(_) => None,
            })
            .collect();
        let blocks = self
            .program
            .blocks_for(&scalars)
            .map_err(|error| pumice::Error::Invalid(error.to_string().into()))?;
        // SAFETY: the simulator ran the program with these arguments and found every access inside its memory; the passes
        // add none, and each memory is passed once.
        unsafe { device.launch(kernel, blocks, &arguments)? };
        let download = |memory: &DeviceMemory| {
            let mut bytes = vec![0; memory.bytes()];
            device.download(memory, &mut bytes).map(|()| bytes)
        };
        memories.iter().map(download).collect()
    }
}
