//! The `cpu` device: programs as C, compiled by the system's compiler, run by rayon's workers.
//!
//! A launch is finished when it returns. The device may start processes only to compile: opening it, loading a kept
//! binary and launching must stay quick enough for a command-line tool.

mod ahead;
mod compiler;
mod library;
mod memory;
mod process;
mod processor;
mod scratch;
mod workers;

pub use self::ahead::KernelsAhead;
pub use self::workers::{Turn, take_turn};

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use pumice_emit::{Dialect, EmitOptions};
use pumice_kernel::Profile;
use pumice_program::Verified;

use self::compiler::Compiler;
use self::library::{Entry, Loaded};
use self::memory::Block;
pub use self::process::set_default_compile_seconds;
use self::processor::Processor;
use crate::deadline;
use crate::device::{CompiledKernel, Device, DeviceMemory, LaunchArgument, Signature, WaitCounter};
use crate::error::{Error, Result};
use crate::identity::{DeviceId, DeviceName};

const NAME: DeviceName = DeviceName::of_kind("cpu");

/// Least time that the workers must save to be woken: about what waking them costs.
const INLINE: Duration = Duration::from_micros(20);

/// The most private memory that the threads of a block have together. Each worker keeps as much.
const PRIVATE_BYTES: u64 = 64 << 20;

/// Ranges of blocks for each worker: enough that one which is held up can leave some to the others.
const RANGES: u64 = 4;

/// The processor of this machine.
pub struct Cpu {
    id: DeviceId,
    /// Or why there is none.
    compiler: std::result::Result<Compiler, String>,
    ahead: KernelsAhead,
    processor: Processor,
    profile: Profile,
    fingerprint: String,
    waits: WaitCounter,
}

impl Cpu {
    /// Opens the device. It needs a C compiler.
    pub fn open() -> Result<Cpu> {
        Ok(Cpu::new(Ok(Compiler::find()?), KernelsAhead::default()))
    }

    fn new(compiler: std::result::Result<Compiler, String>, ahead: KernelsAhead) -> Cpu {
        let processor = Processor::detect();
        let profile = match ahead.is_empty() {
            true => profile(RANGES * workers::count() as u64),
            false => KernelsAhead::profile(),
        };
        let compiled_by = compiler.as_ref().map_or_else(|_| "nothing".to_string(), Compiler::fingerprint);
        // Kernels that were compiled ahead are not those of a program that compiles its own.
        let kernels = if ahead.is_empty() { "" } else { "some ahead; " };
        let fingerprint = format!("{kernels}{compiled_by}; {}", processor.fingerprint());
        let (id, waits) = (DeviceId::new(NAME), WaitCounter::default());
        Cpu { id, compiler, ahead, processor, profile, fingerprint, waits }
    }

    /// Runs all blocks, and tells them to stop when the time is over that the record allows.
    fn run_until(
        &self,
        code: &Code,
        blocks: u64,
        arguments: Addresses<'_>,
        record: &DeviceMemory,
    ) -> Result<()> {
        let Some(remaining) = deadline::begin(self, record)? else { return Ok(()) };
        let address = record.handle::<Block>(self.id)?.address().cast();
        // SAFETY: the record is aligned, large enough (its words were just read), and lives as long as the argument. While
        // the kernel runs, this word is only accessed atomically.
        let stop = unsafe { AtomicI64::from_ptr(address) };
        std::thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let timer = move || {
                if is_done.recv_timeout(remaining) == Err(mpsc::RecvTimeoutError::Timeout) {
                    stop.store(1, Ordering::Relaxed);
                }
            };
            let timer = std::thread::Builder::new().name("pumice-deadline".into()).spawn_scoped(scope, timer);
            timer.map_err(|error| Error::host(NAME, "starting a thread that watches the deadline", error))?;
            code.run(blocks, arguments);
            drop(done);
            Ok(())
        })
    }

    fn load_entry(&self, signature: Signature, entry: &str, binary: &[u8]) -> Result<CompiledKernel> {
        let loaded = Loaded::new(&signature.name, entry, binary)?;
        let code = Code { loaded, long: AtomicBool::new(false) };
        Ok(CompiledKernel::new(self.id, signature, code))
    }
}

/// Profile for plans, with so many blocks to keep the workers busy.
fn profile(busy_blocks: u64) -> Profile {
    Profile {
        threads: 2048,
        lanes: 32,
        max_threads: 4096,
        shared_bytes: 8 << 20,
        max_blocks: i64::MAX as u64,
        busy_blocks,
        vector_bytes: 0,
        coalesces: false,
        forward_progress: false,
        native_warps: false,
        capabilities: pumice_emit::capabilities(Dialect::C),
    }
}

impl Device for Cpu {
    fn id(&self) -> DeviceId {
        self.id
    }

    fn description(&self) -> String {
        let workers = workers::count();
        let plural = if workers == 1 { "" } else { "s" };
        let compiler = self.compiler.as_ref().map_or_else(|_| "no compiler".to_string(), Compiler::command);
        format!("{}, {workers} worker{plural}, {compiler}", self.processor.model())
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn memory_limit(&self) -> Option<usize> {
        Some(memory::limit())
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        Ok(DeviceMemory::new(self.id, bytes, Block::new(bytes)?))
    }

    fn raw_queue(&self) -> Result<Option<u64>> {
        // Work is done when a call returns.
        Ok(Some(0))
    }

    fn raw_memory(&self, memory: &DeviceMemory) -> Result<Option<u64>> {
        Ok(Some(memory.handle::<Block>(self.id)?.address() as u64))
    }

    fn upload(&self, to: &DeviceMemory, from: &[u8]) -> Result<()> {
        to.check_copy("an upload", from.len())?;
        self.waits.count();
        to.handle::<Block>(self.id)?.write(from);
        Ok(())
    }

    fn download_from(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        from.check_part("a download", first, to.len())?;
        self.waits.count();
        from.handle::<Block>(self.id)?.read(first, to);
        Ok(())
    }

    fn copy(&self, from: &DeviceMemory, to: &DeviceMemory, bytes: usize) -> Result<()> {
        from.check_copy("a copy", bytes)?;
        to.check_copy("a copy", bytes)?;
        to.handle::<Block>(self.id)?.write_from(from.handle::<Block>(self.id)?, bytes);
        Ok(())
    }

    fn zero(&self, memory: &DeviceMemory, bytes: usize) -> Result<()> {
        memory.check_copy("clearing", bytes)?;
        memory.handle::<Block>(self.id)?.clear(bytes);
        Ok(())
    }

    fn build_unit(&self, programs: &[&Verified], options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        let ahead: Vec<Option<&[u8]>> =
            programs.iter().map(|program| self.ahead.get(program, options)).collect();
        let others = programs.iter().zip(&ahead).filter(|(_, ahead)| ahead.is_none());
        let others: Vec<&Verified> = others.map(|(program, _)| *program).collect();
        let compiled = if others.is_empty() { Vec::new() } else { self.compile_unit(&others, options)? };
        let mut compiled = compiled.into_iter();
        Ok(ahead
            .into_iter()
            .filter_map(|ahead| ahead.map(<[u8]>::to_vec).or_else(|| compiled.next()))
            .collect())
    }

    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel> {
        let (entry, code) = super::unpack(NAME, program, binary)?;
        self.load_entry(Signature::of(program), entry, code)
    }

    unsafe fn launch(
        &self,
        kernel: &CompiledKernel,
        blocks: u64,
        arguments: &[LaunchArgument<'_>],
    ) -> Result<()> {
        let code = kernel.handle::<Code>(self.id)?;
        kernel.check_arguments(arguments)?;
        if blocks > self.profile.max_blocks {
            return kernel.refuse(format!("{blocks} blocks are more than {}", self.profile.max_blocks));
        }
        // Values first and addresses after them: the addresses of the values must not change any more.
        let value = |argument: &LaunchArgument<'_>| match argument {
            LaunchArgument::Scalar(constant) => constant.bits().to_ne_bytes(),
            LaunchArgument::Memory(_) => [0; 8],
        };
        let values: Vec<Value> = arguments.iter().map(|argument| Value(value(argument))).collect();
        let mut addresses = Vec::with_capacity(arguments.len());
        for (argument, value) in arguments.iter().zip(&values) {
            addresses.push(match argument {
                LaunchArgument::Memory(memory) => {
                    memory.handle::<Block>(self.id)?.address().cast_const().cast()
                }
                LaunchArgument::Scalar(constant) => value.address(constant.ty().bytes()),
            });
        }
        match kernel.stop_record(arguments) {
            Some(record) => self.run_until(code, blocks, Addresses(&addresses), record),
            None => {
                code.run(blocks, Addresses(&addresses));
                Ok(())
            }
        }
    }

    fn synchronize(&self) -> Result<()> {
        self.waits.count();
        Ok(())
    }

    fn waits(&self) -> u64 {
        self.waits.total()
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.waits.count();
        let start = Instant::now();
        work()?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }
}

/// A scalar argument's bits, in the host's order and aligned for every type.
#[repr(C, align(8))]
struct Value([u8; 8]);

impl Value {
    /// Where the value of a type of so many bytes begins: its bits are the low ones.
    fn address(&self, bytes: usize) -> *const c_void {
        let skip = if cfg!(target_endian = "big") { 8 - bytes } else { 0 };
        self.0[skip..].as_ptr().cast()
    }
}

/// The arguments as the entry point takes them.
#[derive(Clone, Copy)]
struct Addresses<'a>(&'a [*const c_void]);

// SAFETY: the addresses stay valid as long as the arguments are borrowed, and are of no thread in particular. That the
// blocks of a kernel may run at once is what its program says.
unsafe impl Sync for Addresses<'_> {}

/// A loaded kernel, and what its launches were like.
struct Code {
    loaded: Loaded,
    /// Whether the last launch was long enough to deserve the workers.
    long: AtomicBool,
}

impl Code {
    /// Runs all blocks, and returns when they are done.
    ///
    /// Waking the workers takes longer than a small kernel. Nobody knows beforehand which kernels are small, so the
    /// caller's thread begins by itself, and calls the workers when the work has outlasted the price of waking them.
    fn run(&self, blocks: u64, arguments: Addresses<'_>) {
        let entry = self.loaded.entry();
        let start = Instant::now();
        let mut done = 0;
        if !self.long.load(Ordering::Relaxed) || blocks == 1 {
            let mut step = 1;
            while done < blocks && (blocks == 1 || start.elapsed() < INLINE) {
                let end = blocks.min(done + step);
                call(entry, arguments, done, end);
                done = end;
                step *= 2;
            }
        }
        let rest = blocks - done;
        if rest > 0 {
            let ranges = rest.min(RANGES * workers::count() as u64) as usize;
            // Wide enough for the product; the quotient is at most `rest`.
            let bound = |range: usize| done + (u128::from(rest) * range as u128 / ranges as u128) as u64;
            workers::for_each(ranges, |range| call(entry, arguments, bound(range), bound(range + 1)));
        }
        self.long.store(start.elapsed() >= INLINE, Ordering::Relaxed);
    }
}

/// Runs some blocks on this thread.
fn call(entry: Entry, arguments: Addresses<'_>, first: u64, end: u64) {
    // SAFETY: the arguments were checked against the signature that the kernel was compiled for, their addresses are
    // valid (see `Addresses`), and an emitted kernel checks every index that is not proved to be inside. The casts
    // keep the values: `launch` refused larger ones.
    unsafe { entry(arguments.0.as_ptr(), first as i64, end as i64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::LaunchParameter;
    use pumice_emit::Effort;
    use pumice_program::Access;
    use pumice_scalar::ScalarType;
    use rayon::prelude::*;

    const SAXPY: &str = "#include <stdint.h>
        void saxpy(void *const *args, int64_t first_block, int64_t last_block) {
            float *z = args[0]; const float *x = args[1]; float a = *(const float *)args[2];
            int64_t n = *(const int64_t *)args[3]; uint8_t twice = *(const uint8_t *)args[4];
            for (int64_t b = first_block; b < last_block; b++)
                for (int64_t i = b * 64; i < b * 64 + 64 && i < n; i++) z[i] += a * x[i] * (twice ? 2 : 1);
        }";

    fn saxpy(cpu: &Cpu, fast_math: bool) -> Result<CompiledKernel> {
        let scalar = LaunchParameter::Scalar;
        let parameters = vec![
            LaunchParameter::Buffer(Access::ReadWrite),
            LaunchParameter::Buffer(Access::ReadWrite),
            scalar(ScalarType::F32),
            scalar(ScalarType::I64),
            scalar(ScalarType::Bool),
        ];
        let binary = cpu.compiler_for(&[])?.compile("saxpy", SAXPY, fast_math, Effort::Full)?;
        cpu.load_entry(
            Signature { name: "saxpy".into(), threads: 64, parameters, stop: None },
            "saxpy",
            &binary,
        )
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    #[test]
    fn every_block_runs_once_whoever_runs_it() -> Result<()> {
        let cpu = Cpu::open()?;
        let kernel = saxpy(&cpu, false)?;
        for n in [0usize, 1, 63, 64, 65, 1000, 100_000, 3_000_000] {
            let x: Vec<u8> = (0..n).flat_map(|i| ((i % 1000) as f32).to_le_bytes()).collect();
            let (source, target) = (cpu.allocate(4 * n)?, cpu.allocate(4 * n)?);
            cpu.upload(&source, &x)?;
            // Several times: the workers join from the second on, if they do.
            for round in 1..=3 {
                let arguments = [
                    LaunchArgument::Memory(&target),
                    LaunchArgument::Memory(&source),
                    LaunchArgument::Scalar(0.5f32.into()),
                    LaunchArgument::Scalar((n as i64).into()),
                    LaunchArgument::Scalar(true.into()),
                ];
                unsafe { cpu.launch(&kernel, n.div_ceil(64) as u64, &arguments) }?;
                let mut result = vec![0; 4 * n];
                cpu.download(&target, &mut result)?;
                let wrong =
                    floats(&result).into_iter().enumerate().find(|(i, z)| *z != (round * (i % 1000)) as f32);
                assert_eq!(wrong, None, "n = {n}, round {round}");
            }
        }
        Ok(())
    }

    #[test]
    fn fast_math_leaves_the_hosts_subnormal_numbers_alone() -> Result<()> {
        let cpu = Cpu::open()?;
        let kernel = saxpy(&cpu, true)?;
        // As runtime values, so that the addition is not done by the Rust compiler.
        let subnormal = std::hint::black_box(f32::from_bits(1));
        assert!(subnormal + subnormal > 0.0, "loading a kernel turned on flush-to-zero");
        let held: Vec<f32> = (0..64).into_par_iter().map(|_| std::hint::black_box(subnormal) * 3.0).collect();
        assert!(
            held.iter().all(|x| x.to_bits() == 3),
            "loading a kernel turned on flush-to-zero in the workers"
        );
        drop(kernel);
        Ok(())
    }

    #[test]
    fn kernels_of_one_name_stay_apart() -> Result<()> {
        let cpu = Cpu::open()?;
        let signature = Signature {
            name: "set".into(),
            threads: 1,
            parameters: vec![LaunchParameter::Buffer(Access::ReadWrite)],
            stop: None,
        };
        let memory = cpu.allocate(4)?;
        let mut kernels = Vec::new();
        for value in [7u32, 8, 9] {
            let source =
                format!("void set(void *const *args, long f, long l) {{ *(unsigned *)args[0] = {value}; }}");
            let binary = cpu.compiler_for(&[])?.compile("set", &source, false, Effort::Full)?;
            kernels.push((value, cpu.load_entry(signature.clone(), "set", &binary)?));
        }
        // Loaded again after the first was dropped: descriptors and addresses are used again.
        let (_, first) = kernels.remove(0);
        drop(first);
        for (value, kernel) in &kernels {
            unsafe { cpu.launch(kernel, 1, &[LaunchArgument::Memory(&memory)]) }?;
            let mut result = [0; 4];
            cpu.download(&memory, &mut result)?;
            assert_eq!(u32::from_le_bytes(result), *value);
        }
        Ok(())
    }

    #[test]
    fn what_does_not_belong_is_refused() -> Result<()> {
        let cpu = Cpu::open()?;
        let kernel = saxpy(&cpu, false)?;
        let other = DeviceMemory::new(DeviceId::new(DeviceName::numbered("cuda", 0)), 8, 0u64);
        let own = cpu.allocate(8)?;
        let scalars = [
            LaunchArgument::Scalar(1f32.into()),
            LaunchArgument::Scalar(1i64.into()),
            LaunchArgument::Scalar(true.into()),
        ];
        let arguments =
            [&[LaunchArgument::Memory(&own), LaunchArgument::Memory(&other)], &scalars[..]].concat();
        let wrong =
            Error::WrongDevice { what: "memory", device: NAME, found: DeviceName::numbered("cuda", 0) };
        assert_eq!(unsafe { cpu.launch(&kernel, 1, &arguments) }, Err(wrong.clone()));
        assert_eq!(cpu.upload(&other, &[0; 8]), Err(wrong));
        assert!(matches!(cpu.upload(&own, &[0; 9]), Err(Error::Invalid(_))));
        assert!(matches!(cpu.download(&own, &mut [0; 9]), Err(Error::Invalid(_))));
        assert!(matches!(cpu.zero(&own, 9), Err(Error::Invalid(_))));
        let (small, wrong) = (
            cpu.allocate(4)?,
            Error::WrongDevice { what: "memory", device: NAME, found: DeviceName::numbered("cuda", 0) },
        );
        assert_eq!(cpu.copy(&own, &other, 8), Err(wrong.clone()));
        assert_eq!(cpu.copy(&other, &own, 8), Err(wrong));
        assert!(matches!(cpu.copy(&own, &small, 8), Err(Error::Invalid(_))));
        assert!(matches!(cpu.copy(&small, &own, 8), Err(Error::Invalid(_))));
        assert!(matches!(unsafe { cpu.launch(&kernel, 1, &scalars) }, Err(Error::Launch { .. })));
        let binary = cpu.load_entry(kernel.signature().clone(), "saxpy", b"not a library");
        assert!(matches!(binary, Err(Error::Binary { .. })));
        let binary = cpu.compiler_for(&[])?.compile("saxpy", SAXPY, false, Effort::Full)?;
        let missing = cpu.load_entry(kernel.signature().clone(), "other", &binary);
        assert!(matches!(missing, Err(Error::Binary { .. })));
        Ok(())
    }

    #[test]
    fn zero_blocks_are_no_work() -> Result<()> {
        let cpu = Cpu::open()?;
        let kernel = saxpy(&cpu, false)?;
        let own = cpu.allocate(0)?;
        let memory = LaunchArgument::Memory(&own);
        let scalars = [
            LaunchArgument::Scalar(1f32.into()),
            LaunchArgument::Scalar(1i64.into()),
            LaunchArgument::Scalar(true.into()),
        ];
        unsafe { cpu.launch(&kernel, 0, &[&[memory, memory], &scalars[..]].concat()) }
    }
}
