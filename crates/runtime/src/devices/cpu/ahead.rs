//! Kernels that were compiled ahead, for all processors of a family: programs carry them along, and need no compiler where they run.
//!
//! They are found by what they were compiled of, as those of the kernel table are, and trusted as little as those: a damaged one is left out.

use std::collections::BTreeMap;

use pumice_emit::{Dialect, EmitOptions};
use pumice_kernel::Profile;
use pumice_program::Verified;

use super::{Compiler, Cpu, NAME, PRIVATE_BYTES};
use crate::error::{Error, Result};
use crate::kernel_table::{KEY, ahead_key, sealed, unsealed};
use crate::parallel;

/// Processors that the compiler is told to write for, in place of "this one": those with AVX2, which all have been sold with for ten years.
#[cfg(target_arch = "x86_64")]
pub(super) const FAMILY: &[&str] = &["-march=x86-64-v3"];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const FAMILY: &[&str] = &[];

/// The blocks that keep the workers of any machine busy: how work is divided is part of kernels, so it cannot depend on the machine.
const BUSY_BLOCKS: u64 = 128;

/// Kernels for `cpu` that were compiled ahead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelsAhead {
    kernels: BTreeMap<String, Vec<u8>>,
}

impl KernelsAhead {
    /// Profile of the plans whose kernels are compiled ahead.
    pub fn profile() -> Profile {
        super::profile(BUSY_BLOCKS)
    }

    /// Compiles programs of plans for [`KernelsAhead::profile`]; it needs a C compiler.
    pub fn compile(programs: &[&Verified], options: &EmitOptions) -> Result<KernelsAhead> {
        let cpu = Cpu::for_family()?;
        let by_key: BTreeMap<String, &Verified> =
            programs.iter().map(|program| (key(program, options), *program)).collect();
        let wanted: Vec<&Verified> = by_key.values().copied().collect();
        // One by one: all code of a unit would be in the binary of each of its kernels.
        let build = |number: usize| cpu.compile_unit(&wanted[number..=number], options);
        let built = parallel::collect(wanted.len(), build, || Ok(()))?;
        Ok(KernelsAhead { kernels: by_key.into_keys().zip(built.into_iter().flatten()).collect() })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// As bytes, which [`KernelsAhead::from_bytes`] makes the same of.
    pub fn to_bytes(&self) -> Vec<u8> {
        let entries = self.kernels.iter().flat_map(|(key, binary)| {
            let entry = sealed(key, binary);
            [key.as_bytes(), &(entry.len() as u64).to_le_bytes(), &entry].concat()
        });
        entries.collect()
    }

    /// The kernels of such bytes; those that are not whole are left out.
    pub fn from_bytes(mut bytes: &[u8]) -> KernelsAhead {
        let mut kernels = BTreeMap::new();
        while let Some((key, entry, rest)) = first_entry(bytes) {
            if let Some(binary) = unsealed(key, entry) {
                kernels.insert(key.to_string(), binary.to_vec());
            }
            bytes = rest;
        }
        KernelsAhead { kernels }
    }

    /// The kernel of a program, if it is among them and this is a processor of the family.
    pub(super) fn get(&self, program: &Verified, options: &EmitOptions) -> Option<&[u8]> {
        if self.kernels.is_empty() || !is_of_family() {
            return None;
        }
        self.kernels.get(&key(program, options)).map(Vec::as_slice)
    }
}

fn key(program: &Verified, options: &EmitOptions) -> String {
    ahead_key(&format!("{:?} {FAMILY:?}", Dialect::C), &program.key_text(), options)
}

/// The key and the content of the first entry, and what stands behind it.
fn first_entry(bytes: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let (key, rest) = bytes.split_at_checked(KEY)?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (entry, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((std::str::from_utf8(key).ok()?, entry, rest))
}

/// Whether this processor has what kernels of the family use.
#[cfg(target_arch = "x86_64")]
fn is_of_family() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2")
        && has!("bmi1")
        && has!("bmi2")
        && has!("f16c")
        && has!("fma")
        && has!("lzcnt")
        && has!("movbe")
}

/// Whether this processor has what kernels of the family use: compilers assume no more than every processor has.
#[cfg(not(target_arch = "x86_64"))]
fn is_of_family() -> bool {
    true
}

impl Cpu {
    /// Opens the device with kernels that were compiled ahead. Others are compiled, where there is a C compiler; without kernels there must be
    /// one.
    pub fn with_kernels(ahead: KernelsAhead) -> Result<Cpu> {
        if ahead.is_empty() {
            return Cpu::open();
        }
        let missing = |error| match error {
            Error::DeviceUnavailable { reason, .. } => reason,
            error => error.to_string(),
        };
        Ok(Cpu::new(Compiler::find().map_err(missing), ahead))
    }

    /// The device, which compiles for all processors of the family.
    fn for_family() -> Result<Cpu> {
        Ok(Cpu::new(Ok(Compiler::find()?.for_family()), KernelsAhead::default()))
    }

    /// The compiler, or an error that says which kernel needs one.
    pub(super) fn compiler_for(&self, programs: &[&Verified]) -> Result<&Compiler> {
        self.compiler.as_ref().map_err(|missing| {
            let kernel = programs.first().map_or("", |program| &program.name);
            let reason = format!(
                "kernel `{kernel}` was not compiled ahead, and {missing}; `pumice build --size` compiles for arrays of other sizes"
            );
            Error::DeviceUnavailable { device: NAME.to_string(), reason }
        })
    }

    /// Compiles programs together.
    pub(super) fn compile_unit(&self, programs: &[&Verified], options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        let compiler = self.compiler_for(programs)?;
        let profile = &self.profile;
        let sources = super::super::emit(programs, Dialect::C, options, profile, |_| PRIVATE_BYTES)?;
        super::super::compile_unit(programs, &sources, |name, source| {
            compiler.compile(name, &source.text, options.fast_math, source.effort)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::devices::tests::add;

    #[test]
    fn kernels_go_through_bytes_and_damaged_ones_are_left_out() -> Result<()> {
        let (program, options) = (add(), EmitOptions::default());
        let kernels = KernelsAhead::compile(&[&program, &program], &options)?;
        assert_eq!(kernels.len(), 1);
        let bytes = kernels.to_bytes();
        assert_eq!(KernelsAhead::from_bytes(&bytes), kernels);
        for at in [0, KEY, KEY + 8, KEY + 40, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(KernelsAhead::from_bytes(&damaged).get(&program, &options).is_none(), "{at}");
        }
        assert!(KernelsAhead::from_bytes(&bytes[..bytes.len() - 1]).is_empty());
        Ok(())
    }

    #[test]
    fn a_processor_needs_no_compiler_for_kernels_that_were_compiled_ahead() -> Result<()> {
        let (program, options) = (add(), EmitOptions::default());
        let ahead = KernelsAhead::compile(&[&program], &options)?;
        let cpu = Cpu::new(Err("no C compiler was found".into()), ahead);
        if is_of_family() {
            assert!(!cpu.build(&program, &options)?.is_empty());
        }
        let other = EmitOptions { fast_math: true };
        let message = cpu.build(&program, &other).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            message.contains("kernel `add` was not compiled ahead, and no C compiler was found"),
            "{message}"
        );
        Ok(())
    }
}
