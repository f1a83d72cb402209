//! Threads: those that use the runtime at once, and those that the runtime starts.

use pumice::{Compiler, prelude::*};
use pumice_kernel::Profile;
use pumice_program::Verified;
use pumice_runtime::devices::Sim;
use pumice_runtime::{CompiledKernel, Device, DeviceId, DeviceMemory, EmitOptions, LaunchArgument, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::available_parallelism;
use std::time::Duration;

/// The longest that a test may take. One that hangs is then a failure.
const LONGEST: Duration = Duration::from_secs(120);

/// The compiler for the CPU, or nothing where there is no C compiler. In CI there must be one.
fn cpu() -> Option<Compiler> {
    let error = match Compiler::on("cpu") {
        Ok(compiler) => return Some(compiler),
        Err(error) => error,
    };
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
    eprintln!("skipped: {error}");
    None
}

/// Does the work on another thread, and fails if it takes too long.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody listens any more if it was too late.
        let _ = sender.send(work());
    });
    receiver.recv_timeout(LONGEST).expect("the work hangs, or a thread panicked")
}

#[test]
fn tasks_of_a_pool_may_look_at_one_large_result_at_once() -> pumice::Result<()> {
    const LENGTH: i64 = 4 << 20;
    let Some(compiler) = cpu() else { return Ok(()) };
    in_time(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("a pool of 8 threads");
        let count = compiler.compile(|n: Exp<i64>| generate(n, |i| i))?;
        for _ in 0..3 {
            let result = count.run(LENGTH)?;
            let look = || {
                let values = result.to_vec()?;
                assert_eq!((values.len() as i64, values.last()), (LENGTH, Some(&(LENGTH - 1))));
                Ok::<(), pumice::Error>(())
            };
            // Each task looks and leaves another to the other threads, which are free to take parts of the download meanwhile.
            fn tasks(depth: u32, look: &(impl Fn() -> pumice::Result<()> + Sync)) -> pumice::Result<()> {
                if depth == 0 {
                    return look();
                }
                let (here, there) = rayon::join(look, || tasks(depth - 1, look));
                here.and(there)
            }
            pool.install(|| tasks(6, &look))?;
        }
        Ok(())
    })
}

/// The simulator, which counts how many of its compilers work at once.
struct Counting {
    sim: Sim,
    at_work: AtomicUsize,
    most: AtomicUsize,
    built: AtomicUsize,
}

impl Device for Counting {
    fn id(&self) -> DeviceId {
        self.sim.id()
    }
    fn description(&self) -> String {
        self.sim.description()
    }
    fn fingerprint(&self) -> String {
        // No other process knows it, so that nothing comes from disk.
        format!("counting {} {:p}", std::process::id(), self)
    }
    fn profile(&self) -> &Profile {
        self.sim.profile()
    }
    fn rounds_sizes(&self) -> bool {
        self.sim.rounds_sizes()
    }
    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        self.sim.allocate(bytes)
    }
    fn upload(&self, to: &DeviceMemory, from: &[u8]) -> Result<()> {
        self.sim.upload(to, from)
    }
    fn download_from(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        self.sim.download_from(from, first, to)
    }
    fn zero(&self, memory: &DeviceMemory, bytes: usize) -> Result<()> {
        self.sim.zero(memory, bytes)
    }
    fn build_unit(&self, programs: &[&Verified], options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        let at_work = self.at_work.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(at_work, Ordering::SeqCst);
        // Long enough for others to begin, if they could.
        std::thread::sleep(Duration::from_millis(2));
        let binaries = self.sim.build_unit(programs, options);
        self.at_work.fetch_sub(1, Ordering::SeqCst);
        self.built.fetch_add(programs.len(), Ordering::SeqCst);
        binaries
    }
    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel> {
        // SAFETY: as the caller promises.
        unsafe { self.sim.load(program, binary) }
    }
    unsafe fn launch(
        &self,
        kernel: &CompiledKernel,
        blocks: u64,
        arguments: &[LaunchArgument<'_>],
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.sim.launch(kernel, blocks, arguments) }
    }
    fn synchronize(&self) -> Result<()> {
        self.sim.synchronize()
    }
    fn waits(&self) -> u64 {
        self.sim.waits()
    }
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        self.sim.time(work)
    }
}

#[test]
fn a_program_of_many_launches_compiles_on_as_many_threads_as_there_are_cores() -> Result<()> {
    const LAUNCHES: i32 = 150;
    let (at_work, most, built) = Default::default();
    let device = Arc::new(Counting { sim: Sim::open()?, at_work, most, built });
    let many = Compiler::with(device.clone()).fuse(false).compile(|xs: Acc<Vector<i32>>| {
        let sums = (0..LAUNCHES).map(|number| xs.clone().map(move |x| x * number).sum());
        sums.reduce(|a, b| a.zip_with(b, |a, b| a + b)).unwrap_or_else(|| xs.sum())
    })?;
    let sum = many.run([1, 2, 3])?.to_value()?;
    assert_eq!(sum, 6 * LAUNCHES * (LAUNCHES - 1) / 2);
    let (most, built) = (device.most.load(Ordering::SeqCst), device.built.load(Ordering::SeqCst));
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    assert!(most <= cores && built >= 140, "{most} compilers at once on {cores} cores, {built} in all");
    Ok(())
}
