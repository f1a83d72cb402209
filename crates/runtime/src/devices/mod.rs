//! The devices: which there are (`open.rs`), one module per kind, and what those share on the way from programs to
//! binaries. Nothing outside this folder may name a vendor's library.

mod cpu;
pub mod cuda;
mod open;
#[cfg(feature = "opencl")]
mod opencl;
mod sim;

use std::borrow::Cow;

use pumice_emit::{Dialect, EmitOptions, Source};
use pumice_kernel::Profile;
use pumice_program::{Program, Space, Verified};

pub use self::cpu::{Cpu, KernelsAhead, Turn, set_default_compile_seconds, take_turn};
pub use self::open::{KINDS, default_device, device_names, open, survey};
pub use self::sim::{Recorded, Sim};
use crate::error::{Error, Result};
use crate::identity::DeviceName;

/// Returns a program as a device can run it; refuses one that needs more than it has. What comes out of the pipeline is
/// legal already and stays as it is.
fn legal<'p>(program: &'p Verified, profile: &Profile) -> Result<Cow<'p, Verified>> {
    pumice_program::legal(program, &profile.target())
        .map_err(|error| Error::Invalid(error.to_string().into()))
}

/// Refuses a program whose threads need more private memory than this, all threads of a block together.
fn check_private(program: &Verified, limit: u64) -> Result<()> {
    let bytes = |memory: &pumice_program::Memory| match memory.space {
        Space::Private { length } => u64::from(length) * memory.ty.bytes() as u64,
        Space::Global { .. } | Space::Shared { .. } => 0,
    };
    let each = program.memories.iter().map(bytes).fold(0, u64::saturating_add);
    let (name, threads) = (&program.name, program.threads);
    let all = each.saturating_mul(threads.into());
    if all > limit {
        return Err(Error::Invalid(format!(
            "kernel `{name}` needs {all} bytes of private memory for a block ({each} for each of {threads} threads), \
             and the limit is {limit}"
        ).into()));
    }
    Ok(())
}

/// The sources of programs in a dialect, all in one text, for a device that has what they need. The threads of a block
/// have at most `private` bytes of private memory together.
fn emit(
    programs: &[&Verified],
    dialect: Dialect,
    options: &EmitOptions,
    profile: &Profile,
    private: impl Fn(&Verified) -> u64,
) -> Result<Vec<Source>> {
    for program in programs {
        check_private(program, private(program))?;
    }
    let legal = programs.iter().map(|program| legal(program, profile)).collect::<Result<Vec<_>>>()?;
    let programs: Vec<&Verified> = legal.iter().map(AsRef::as_ref).collect();
    let sources = match programs.as_slice() {
        [program] => pumice_emit::emit(program, dialect, options).map(|source| vec![source]),
        programs => pumice_emit::emit_unit(programs, dialect, options),
    };
    sources.map_err(|error| Error::Invalid(error.to_string().into()))
}

/// Compiles sources that share a text, and gives each the code with its own entry point. `compile` is told a name for
/// its errors.
fn compile_unit(
    programs: &[&Verified],
    sources: &[Source],
    compile: impl FnOnce(&str, &Source) -> Result<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    let (Some(program), Some(source)) = (programs.first(), sources.first()) else { return Ok(Vec::new()) };
    let code = compile(&program.name, source)?;
    Ok(sources.iter().map(|source| pack(&source.entry, &code)).collect())
}

/// A binary as it is kept: the entry point's name, which emission may have changed, and the code.
fn pack(entry: &str, code: &[u8]) -> Vec<u8> {
    [entry.as_bytes(), &[0], code].concat()
}

/// The entry point's name and the code of what [`pack`] made.
fn unpack<'a>(device: DeviceName, program: &Program, binary: &'a [u8]) -> Result<(&'a str, &'a [u8])> {
    let end = binary.iter().position(|byte| *byte == 0);
    let parts = end.and_then(|end| Some((std::str::from_utf8(&binary[..end]).ok()?, &binary[end + 1..])));
    let reason = "it does not begin with the name of an entry point".into();
    parts.ok_or(Error::Binary { device, kernel: program.name.clone(), reason, place: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{CompiledKernel, Device, LaunchArgument};
    use crate::kernel_table::KernelTable;
    use std::sync::Arc;

    /// The devices that work here.
    pub(super) fn every_device() -> impl Iterator<Item = Arc<dyn Device>> {
        device_names().into_iter().filter_map(|name| open(&name).ok())
    }

    const ADD: &str = "kernel add
memory @xs: global read f32
memory @ys: global read f32
memory @out: global write f32
params @xs, @ys, @out, %n.0: i64
threads 4
prologue {
  %rounded.1: i64 = add %n.0, 3:i64
  %blocks.2: i64 = div %rounded.1, 4:i64
}
blocks %block.3: i64 < %blocks.2
body {
  parallel %t.4: i64 < 4:i64 {
    %start.5: i64 = mul %block.3, 4:i64
    %i.6: i64 = add %start.5, %t.4
    %inside.7: bool = lt %i.6, %n.0
    if %inside.7 {
      %x.8: f32 = load @xs[%i.6]
      %y.9: f32 = load @ys[%i.6]
      %z.10: f32 = add %x.8, %y.9
      store @out[%i.6] = %z.10
    }
  }
}
";

    /// A program that adds two vectors, four elements a block.
    pub(super) fn add() -> Verified {
        let program = pumice_program::parse(ADD).unwrap_or_else(|error| panic!("{error:?}"));
        pumice_program::verify(program).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs a program like [`ADD`] on vectors of these lengths and compares with `expected`, by index.
    fn check(device: &dyn Device, kernel: &CompiledKernel, expected: impl Fn(f32) -> f32) -> Result<()> {
        for n in [0usize, 1, 4, 5, 1000] {
            let bytes = |f: &dyn Fn(f32) -> f32| -> Vec<u8> {
                (0..n).flat_map(|i| f(i as f32).to_le_bytes()).collect()
            };
            let (xs, ys, out) = (device.allocate(4 * n)?, device.allocate(4 * n)?, device.allocate(4 * n)?);
            device.upload(&xs, &bytes(&|i| i))?;
            device.upload(&ys, &bytes(&|i| 0.5 * i))?;
            let memories = [&xs, &ys, &out].map(LaunchArgument::Memory);
            let arguments = [&memories[..], &[LaunchArgument::Scalar((n as i64).into())]].concat();
            unsafe { device.launch(kernel, n.div_ceil(4) as u64, &arguments) }?;
            let mut result = vec![0; 4 * n];
            device.download(&out, &mut result)?;
            assert!(result == bytes(&expected), "{} of {n} on {}", kernel.name(), device.name());
        }
        Ok(())
    }

    #[test]
    fn a_program_gives_the_same_on_every_device_that_works_here() -> Result<()> {
        let (program, table) = (add(), KernelTable::with_folder(None));
        for device in every_device() {
            for fast_math in [false, true] {
                let options = EmitOptions { fast_math };
                let kernel = table.get_or_build(&*device, &program, &program.key_text(), &options)?;
                check(&*device, &kernel, |i| 1.5 * i)?;
            }
        }
        Ok(())
    }

    #[test]
    fn programs_that_are_compiled_together_are_still_themselves() -> Result<()> {
        let other = |text: String| {
            let program = pumice_program::parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
            pumice_program::verify(program).unwrap_or_else(|error| panic!("{error}"))
        };
        // Of one name, and with functions of the prelude that both need.
        let larger = || other(ADD.replace("= add %x.8", "= max %x.8"));
        let smaller = || other(ADD.replace("= add %x.8", "= min %x.8"));
        let programs = [add(), larger(), smaller(), larger()];
        let programs: Vec<&Verified> = programs.iter().collect();
        let table = KernelTable::with_folder(None);
        for device in every_device() {
            let binaries = device.build_unit(&programs, &EmitOptions::default())?;
            assert_eq!(binaries.len(), programs.len());
            let wanted: Vec<_> = programs.iter().map(|program| (*program, None)).collect();
            let kernels = table.get_or_build_all(&*device, &wanted, &EmitOptions::default(), || Ok(()))?;
            let expected: [fn(f32) -> f32; 4] = [|i| 1.5 * i, |i| i, |i| 0.5 * i, |i| i];
            for ((kernel, expected), (program, binary)) in
                kernels.iter().zip(expected).zip(programs.iter().zip(&binaries))
            {
                check(&*device, kernel, expected)?;
                // SAFETY: it was built of this program above.
                check(&*device, &unsafe { device.load(program, binary) }?, expected)?;
            }
        }
        Ok(())
    }

    #[test]
    fn memory_is_copied_on_every_device_that_works_here() -> Result<()> {
        for device in every_device() {
            for bytes in [0usize, 1, 1000, (4 << 20) + 13] {
                let pattern: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
                let (from, to) = (device.allocate(bytes + 8)?, device.allocate(bytes + 3)?);
                device.upload(&from, &[&pattern[..], &[9; 8]].concat())?;
                device.upload(&to, &vec![7; bytes + 3])?;
                device.copy(&from, &to, bytes)?;
                device.copy(&to, &to, bytes)?;
                let mut found = vec![0; bytes + 3];
                device.download(&to, &mut found)?;
                assert!(found == [&pattern[..], &[7; 3]].concat(), "{bytes} bytes on {}", device.name());
                let too_many = device.copy(&from, &to, bytes + 4);
                assert!(matches!(too_many, Err(Error::Invalid(_))), "{too_many:?} on {}", device.name());
            }
        }
        Ok(())
    }

    #[test]
    fn a_program_that_needs_too_much_is_refused_with_the_numbers() -> Result<()> {
        let parse = |text: &str| {
            let program = pumice_program::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
            pumice_program::verify(program).unwrap_or_else(|error| panic!("{error}"))
        };
        let crowded = parse(&ADD.replace("threads 4", "threads 100000"));
        let large = parse(
            "kernel large\nmemory @s: shared i64[2000000]\nthreads 1\nprologue {\n}\n\
             blocks %b.0: i64 < 1:i64\nbody {\n  parallel %i.1: i64 < 1:i64 {\n    store @s[%i.1] = %i.1\n  }\n}\n",
        );
        let private = parse(
            "kernel hoard\nmemory @s: private i64[10000000]\nthreads 8\nprologue {\n}\n\
             blocks %b.0: i64 < 1:i64\nbody {\n  parallel %i.1: i64 < 1:i64 {\n    store @s[%i.1] = %i.1\n  }\n}\n",
        );
        for device in every_device() {
            let message =
                |program| device.build(program, &EmitOptions::default()).err().map(|error| error.to_string());
            let private = message(&private).unwrap_or_default();
            let expected = "`hoard` needs 640000000 bytes of private memory for a block (80000000 for each of 8 threads)";
            assert!(
                device.name().kind() == "sim" || private.contains(expected),
                "{}: {private}",
                device.name()
            );
            let (crowded, large) =
                (message(&crowded).unwrap_or_default(), message(&large).unwrap_or_default());
            assert!(crowded.contains("`add` has 100000 threads in a block, and the limit is "), "{crowded}");
            assert!(
                large.contains("`large` needs 16000000 bytes of shared memory"),
                "{}: {large}",
                device.name()
            );
        }
        Ok(())
    }

    /// The programs whose sources are tested.
    fn programs_to_emit() -> Result<Vec<Verified>> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../emit/tests/programs");
        let host = |error: std::io::Error| Error::Invalid(error.to_string().into());
        let mut texts = vec![ADD.to_owned()];
        for entry in std::fs::read_dir(folder).map_err(host)? {
            texts.push(std::fs::read_to_string(entry.map_err(host)?.path()).map_err(host)?);
        }
        assert!(texts.len() > 10);
        let verified = |text: String| {
            let program = pumice_program::parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
            pumice_program::verify(program).unwrap_or_else(|error| panic!("{error}"))
        };
        Ok(texts.into_iter().map(verified).collect())
    }

    #[test]
    fn kernels_of_cuda_wait_for_earlier_ones_before_they_touch_memory() -> Result<()> {
        if cuda::nvrtc::nvrtc().is_err() {
            return Ok(());
        }
        for program in programs_to_emit()? {
            let source = pumice_emit::emit(&program, Dialect::Cuda, &EmitOptions::default());
            let source = source.map_err(|error| Error::Invalid(error.to_string().into()))?;
            // For a GPU that is newer than all that the compiler knows, it writes the text form.
            let text = cuda::nvrtc::compile("kernel", &source.text, 999, false, source.effort)?;
            let text = String::from_utf8_lossy(&text);
            let first = |words: &[&str]| words.iter().filter_map(|word| text.find(word)).min();
            let wait = first(&["griddepcontrol.wait"]);
            let touch = first(&[
                "ld.global",
                "ld.volatile",
                "ld.relaxed",
                "ld.acquire",
                "st.global",
                "atom.",
                "red.",
            ]);
            assert!(wait.is_some() && touch.is_none_or(|touch| wait < Some(touch)), "{text}");
        }
        Ok(())
    }

    #[test]
    fn the_cuda_source_of_every_program_compiles() -> Result<()> {
        if let Err(error) = cuda::nvrtc::nvrtc() {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
            return Ok(());
        }
        let programs = programs_to_emit()?;
        let stoppable = |program: &Verified| {
            pumice_program::make_stoppable(program).unwrap_or_else(|error| panic!("{error}"))
        };
        let stoppable: Vec<Verified> = programs.iter().map(stoppable).collect();
        let all: Vec<&Verified> = programs.iter().chain(&stoppable).collect();
        // Each by itself, and all together.
        for unit in all.chunks(1).chain([&all[..]]) {
            for fast_math in [false, true] {
                let sources = pumice_emit::emit_unit(unit, Dialect::Cuda, &EmitOptions { fast_math });
                let sources = sources.map_err(|error| Error::Invalid(error.to_string().into()))?;
                let architecture = cuda::nvrtc::DEFAULT_ARCHITECTURE;
                let binaries = compile_unit(unit, &sources, |name, source| {
                    cuda::nvrtc::compile(name, &source.text, architecture, fast_math, source.effort)
                })?;
                assert_eq!(binaries.len(), unit.len());
            }
        }
        Ok(())
    }

    #[test]
    fn binaries_carry_the_name_of_their_entry_point() -> Result<()> {
        let program = crate::device::tests::empty_program("kernel");
        assert_eq!(
            unpack(DeviceName::of_kind("cpu"), &program, &pack("kernel_", &[0, 1, 2]))?,
            ("kernel_", &[0, 1, 2][..])
        );
        for damaged in [&b""[..], b"kernel", b"\xff\0code"] {
            assert!(matches!(
                unpack(DeviceName::of_kind("cpu"), &program, damaged),
                Err(Error::Binary { .. })
            ));
        }
        Ok(())
    }
}
