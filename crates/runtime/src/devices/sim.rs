//! The `sim` device: programs run by the simulator, every index in turn, with checks that no other device makes.
//!
//! The other devices are compared with it, so it must not share anything with them: no emitter, no compiler.
//! It compiles nothing; a binary is the program's text. One that is made with [`Sim::observing`] stands in for a device
//! with any profile and remembers what was launched on it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pumice_emit::EmitOptions;
use pumice_kernel::Profile;
use pumice_program::simulate::Report;
use pumice_program::{Access, FaultKind, Param, Program, SimMemory, Space, Verified, simulate};
use pumice_scalar::ScalarType;

use crate::deadline;
use crate::device::{CompiledKernel, Device, DeviceMemory, LaunchArgument, Signature, WaitCounter};
use crate::error::{Error, Result};
use crate::host_memory;
use crate::identity::{DeviceId, DeviceName};

const NAME: DeviceName = DeviceName::of_kind("sim");

/// The simulator as a device.
pub struct Sim {
    id: DeviceId,
    profile: Profile,
    /// Launches, if they are recorded.
    recorded: Option<Mutex<Vec<Recorded>>>,
    /// One call at a time: a launch takes the memories out of their places and puts them back.
    turn: Mutex<()>,
    waits: WaitCounter,
    /// Bytes that were copied to the host.
    downloaded: AtomicU64,
    /// The most bytes that may be allocated, and those that are, if there is a limit.
    memory: Option<(usize, Arc<AtomicUsize>)>,
}

/// The device memory that a handle stands for.
struct Place {
    memory: Mutex<SimMemory>,
    /// Counts the bytes as long as they are allocated.
    _allocated: Option<Allocated>,
}

/// Bytes that count among those of a simulator with a limit.
struct Allocated {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Drop for Allocated {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A launch that a simulator saw.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The program.
    pub program: Arc<Verified>,
    /// Its counts and costs.
    pub report: Report,
    /// Elements of memory that it only writes which no thread wrote: in the memory that has most of them.
    pub unwritten: usize,
}

impl Sim {
    /// Opens the device, which works everywhere.
    pub fn open() -> Result<Sim> {
        // A GPU in small, so that programs are made as for a GPU, and several blocks are few elements.
        Ok(Sim::with(Sim::small_profile(), None))
    }

    /// A simulator that stands in for a device with this profile, and remembers every launch with what it would cost.
    ///
    /// ```
    /// use pumice::layers::runtime::{Engine, devices::Sim};
    /// use std::sync::Arc;
    /// let sim = Arc::new(Sim::observing(Sim::gpu_profile()));
    /// let engine = Engine::of(sim.clone());
    /// // Programs that run on the engine's device are then in
    /// assert!(sim.recorded().is_empty());
    /// ```
    pub fn observing(profile: Profile) -> Sim {
        Sim::with(profile, Some(Mutex::default()))
    }

    /// A simulator with so many bytes of memory, to see what a program does where there is little.
    ///
    /// ```
    /// use pumice::layers::runtime::devices::Sim;
    /// use pumice::{Compiler, Error, prelude::*};
    /// use std::sync::Arc;
    /// let compiler = Compiler::with(Arc::new(Sim::with_memory(1000)));
    /// assert_eq!(compiler.run(fill(100, 1i32).scanl1(|a, b| a + b))?.len(), 100);
    /// assert!(matches!(compiler.run(fill(1000, 1i32)), Err(Error::OutOfMemory { bytes: 4000, .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_memory(bytes: usize) -> Sim {
        Sim { memory: Some((bytes, Arc::default())), ..Sim::with(Sim::small_profile(), None) }
    }

    fn with(profile: Profile, recorded: Option<Mutex<Vec<Recorded>>>) -> Sim {
        let (id, waits, downloaded) = (DeviceId::new(NAME), WaitCounter::default(), AtomicU64::new(0));
        Sim { id, profile, recorded, turn: Mutex::new(()), waits, downloaded, memory: None }
    }

    /// Counts bytes that are to be allocated, unless there is no room for them.
    fn count(&self, bytes: usize) -> Result<Option<Allocated>> {
        let Some((limit, all)) = &self.memory else { return Ok(None) };
        let add = |all: usize| all.checked_add(bytes).filter(|sum| sum <= limit);
        match all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(_) => Ok(Some(Allocated { bytes, all: all.clone() })),
            Err(_) => Err(Error::out_of_memory(NAME, bytes)),
        }
    }

    /// The launches so far, in order. Launches of no blocks are not among them, and nothing is unless this simulator
    /// [observes](Sim::observing).
    pub fn recorded(&self) -> Vec<Recorded> {
        self.recorded.as_ref().map_or(Vec::new(), |recorded| lock(recorded).clone())
    }

    /// Forgets the launches so far.
    pub fn forget(&self) {
        if let Some(recorded) = &self.recorded {
            lock(recorded).clear();
        }
    }

    /// Returns the bytes that were copied to the host so far, of arrays, lengths and records of failures.
    ///
    /// ```
    /// use pumice::layers::runtime::devices::Sim;
    /// use pumice::{Compiler, prelude::*};
    /// use std::sync::Arc;
    /// let sim = Arc::new(Sim::open()?);
    /// let numbers = Compiler::with(sim.clone()).run(fill(1000, 7i32))?;
    /// let before = sim.downloaded();
    /// assert_eq!(numbers.slice(10..20)?.to_vec()?, [7; 10]);
    /// assert_eq!(sim.downloaded() - before, 40);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn downloaded(&self) -> u64 {
        self.downloaded.load(Ordering::Relaxed)
    }

    /// Returns the profile of a large GPU ([`Profile::large_gpu`]).
    pub fn gpu_profile() -> Profile {
        Profile::large_gpu()
    }

    fn small_profile() -> Profile {
        Profile { threads: 64, max_blocks: u64::from(u32::MAX) - 1, busy_blocks: 8, ..Profile::large_gpu() }
    }
}

impl Device for Sim {
    fn id(&self) -> DeviceId {
        self.id
    }

    fn description(&self) -> String {
        "the simulator: slow, and checks for races, bounds, barriers and unwritten memory".into()
    }

    fn fingerprint(&self) -> String {
        match &self.recorded {
            None => NAME.to_string(),
            // What fits one profile need not fit another.
            Some(_) => format!("{NAME} {:?}", self.profile),
        }
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn rounds_sizes(&self) -> bool {
        false
    }

    fn memory_limit(&self) -> Option<usize> {
        self.memory.as_ref().map(|(limit, _)| *limit)
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        // The simulator's own allocation would end the process if there were no room.
        // With it comes a bit per byte.
        let whole = bytes.saturating_add(bytes / 8);
        if whole > host_memory::physical() || Vec::<u8>::new().try_reserve_exact(whole).is_err() {
            return Err(Error::out_of_memory(NAME, bytes));
        }
        let _allocated = self.count(bytes)?;
        let memory = Mutex::new(SimMemory::unwritten(bytes));
        Ok(DeviceMemory::new(self.id, bytes, Place { memory, _allocated }))
    }

    fn upload(&self, to: &DeviceMemory, from: &[u8]) -> Result<()> {
        to.check_copy("an upload", from.len())?;
        self.waits.count();
        let _turn = lock(&self.turn);
        lock(&to.handle::<Place>(self.id)?.memory).write_bytes(0, from);
        Ok(())
    }

    fn download_from(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()> {
        from.check_part("a download", first, to.len())?;
        self.waits.count();
        self.downloaded.fetch_add(to.len() as u64, Ordering::Relaxed);
        let _turn = lock(&self.turn);
        let memory = lock(&from.handle::<Place>(self.id)?.memory);
        to.copy_from_slice(&memory.bytes()[first..first + to.len()]);
        Ok(())
    }

    fn zero(&self, memory: &DeviceMemory, bytes: usize) -> Result<()> {
        memory.check_copy("clearing", bytes)?;
        let zeros = host_memory::zeroed(bytes)?;
        let _turn = lock(&self.turn);
        lock(&memory.handle::<Place>(self.id)?.memory).write_bytes(0, &zeros);
        Ok(())
    }

    fn build_unit(&self, programs: &[&Verified], _options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        let text = |program: &&Verified| {
            super::legal(program, &self.profile)?;
            Ok(program.key_text().into_bytes())
        };
        programs.iter().map(text).collect()
    }

    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel> {
        // The program that is given has the comments, which say where a fault comes from.
        if binary != program.key_text().as_bytes() {
            let reason = "it is the text of another program".into();
            return Err(Error::Binary { device: NAME, kernel: program.name.clone(), reason, place: None });
        }
        Ok(CompiledKernel::new(self.id, Signature::of(program), Arc::new(program.clone())))
    }

    unsafe fn launch(
        &self,
        kernel: &CompiledKernel,
        blocks: u64,
        arguments: &[LaunchArgument<'_>],
    ) -> Result<()> {
        let program = kernel.handle::<Arc<Verified>>(self.id)?;
        kernel.check_arguments(arguments)?;
        let refuse = |reason: String| Error::Launch {
            device: NAME,
            kernel: kernel.name().into(),
            reason,
            place: None,
        };
        let (mut handles, mut scalars) = (Vec::new(), Vec::new());
        for argument in arguments {
            match argument {
                LaunchArgument::Memory(memory) => handles.push(&memory.handle::<Place>(self.id)?.memory),
                LaunchArgument::Scalar(value) => scalars.push(*value),
            }
        }
        let expected = program.blocks_for(&scalars).map_err(|error| refuse(error.to_string()))?;
        if blocks != expected {
            return Err(refuse(format!("{blocks} blocks were asked for, and its arguments make {expected}")));
        }
        if blocks == 0 {
            return Ok(());
        }
        let only_read: Vec<bool> =
            program.params.iter().filter_map(|param| is_only_read(program, *param)).collect();

        let remaining = match kernel.stop_record(arguments) {
            None => None,
            Some(record) => match deadline::begin(self, record)? {
                None => return Ok(()),
                remaining => remaining,
            },
        };
        let turn = lock(&self.turn);
        // Time spent waiting for others does not count.
        let until = remaining.and_then(|remaining| Instant::now().checked_add(remaining));
        // Memory that is passed twice is copied, as it can be in one place only. That changes nothing if it is only
        // read; a program cannot expect anything of memory that it also writes under another name.
        let first = |number: usize| handles.iter().position(|other| std::ptr::eq(*other, handles[number]));
        let mut memories: Vec<SimMemory> = Vec::with_capacity(handles.len());
        for number in 0..handles.len() {
            match first(number) {
                Some(earlier) if earlier < number => {
                    if !(only_read[earlier] && only_read[number]) {
                        put_back(&handles, memories);
                        return Err(refuse("memory that it writes was passed for two parameters".into()));
                    }
                    memories.push(memories[earlier].clone());
                }
                _ => memories.push(std::mem::replace(&mut *lock(handles[number]), SimMemory::unwritten(0))),
            }
        }
        // An observer wants to know what this launch writes of its results, whatever they held before.
        let ids = program.params.iter().filter_map(|param| match param {
            Param::Memory(id) => Some(program.memory(*id)),
            Param::Scalar(_) => None,
        });
        let results = ids.enumerate().filter(|(_, memory)| {
            self.recorded.is_some() && memory.space == Space::Global { access: Access::Write }
        });
        let results: Vec<(usize, ScalarType, SimMemory)> = results
            .map(|(number, memory)| {
                let fresh = SimMemory::unwritten(memories[number].len());
                (number, memory.ty, std::mem::replace(&mut memories[number], fresh))
            })
            .collect();
        let options = simulate::Options { costs: self.recorded.is_some(), until, ..Default::default() };
        let result = simulate(program, &mut memories, &scalars, &options);
        let mut unwritten = 0;
        for (number, ty, before) in results {
            unwritten = unwritten.max(restore_unwritten(&mut memories[number], &before, ty));
        }
        put_back(&handles, memories);
        drop(turn);
        if let (Err(fault), Some(record)) = (&result, kernel.stop_record(arguments))
            && fault.kind == FaultKind::Deadline
        {
            return deadline::stop(self, record);
        }
        let report = result.map_err(|fault| Error::Fault(fault.to_string().into()))?;
        if let Some(recorded) = &self.recorded {
            lock(recorded).push(Recorded { program: program.clone(), report, unwritten });
        }
        Ok(())
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

/// Puts memories into their places, from the last to the first: of those that were passed twice, the first counts.
fn put_back(handles: &[&Mutex<SimMemory>], memories: Vec<SimMemory>) {
    for (place, memory) in handles.iter().zip(memories).rev() {
        *lock(place) = memory;
    }
}

/// Resets elements that were not written to what they were before, and returns how many there are.
fn restore_unwritten(memory: &mut SimMemory, before: &SimMemory, ty: ScalarType) -> usize {
    let mut count = 0;
    for index in 0..memory.elements(ty) {
        if memory.is_written(ty, index) == Some(false) {
            count += 1;
            if let (Some(true), Some(element)) = (before.is_written(ty, index), before.get(ty, index)) {
                memory.write_bytes(index * ty.bytes(), &element.to_bytes());
            }
        }
    }
    count
}

/// Whether a parameter is memory that is only read; nothing for scalars.
fn is_only_read(program: &Program, param: Param) -> Option<bool> {
    let Param::Memory(id) = param else { return None };
    Some(matches!(program.memory(id).space, Space::Global { access: Access::Read }))
}

/// The lock, also after a thread panicked while it had it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::tests::add as program;

    #[test]
    fn a_program_runs_from_its_text() -> Result<()> {
        let sim = Sim::open()?;
        let program = program();
        let kernel = unsafe { sim.load(&program, &sim.build(&program, &EmitOptions::default())?) }?;
        for n in [0usize, 1, 4, 5, 15] {
            let values: Vec<u8> = (0..n).flat_map(|i| (i as f32).to_le_bytes()).collect();
            let (xs, out) = (sim.allocate(4 * n)?, sim.allocate(4 * n)?);
            sim.upload(&xs, &values)?;
            let memories = [&xs, &xs, &out].map(LaunchArgument::Memory);
            let arguments = [&memories[..], &[LaunchArgument::Scalar((n as i64).into())]].concat();
            unsafe { sim.launch(&kernel, n.div_ceil(4) as u64, &arguments) }?;
            let mut result = vec![0; 4 * n];
            sim.download(&out, &mut result)?;
            let expected: Vec<u8> = (0..n).flat_map(|i| (2.0 * i as f32).to_le_bytes()).collect();
            assert_eq!(result, expected);
            // What went in is still there, though it was passed twice.
            sim.download(&xs, &mut result)?;
            assert_eq!(result, values);
        }
        Ok(())
    }

    #[test]
    fn faults_and_wrong_launches_are_errors() -> Result<()> {
        let sim = Sim::open()?;
        let program = program();
        let kernel = unsafe { sim.load(&program, &sim.build(&program, &EmitOptions::default())?) }?;
        let (xs, out, n) = (sim.allocate(16)?, sim.allocate(16)?, LaunchArgument::Scalar(4i64.into()));
        fn pass<'a>(memories: [&'a DeviceMemory; 3], n: LaunchArgument<'a>) -> Vec<LaunchArgument<'a>> {
            [&memories.map(LaunchArgument::Memory)[..], &[n]].concat()
        }
        // Nobody wrote the input.
        assert!(matches!(
            unsafe { sim.launch(&kernel, 1, &pass([&xs, &xs, &out], n)) },
            Err(Error::Fault(_))
        ));
        sim.zero(&xs, 16)?;
        assert!(matches!(
            unsafe { sim.launch(&kernel, 2, &pass([&xs, &xs, &out], n)) },
            Err(Error::Launch { .. })
        ));
        assert!(matches!(
            unsafe { sim.launch(&kernel, 1, &pass([&xs, &out, &out], n)) },
            Err(Error::Launch { .. })
        ));
        unsafe { sim.launch(&kernel, 1, &pass([&xs, &xs, &out], n)) }?;
        // Too short.
        let short = sim.allocate(12)?;
        assert!(matches!(
            unsafe { sim.launch(&kernel, 1, &pass([&xs, &xs, &short], n)) },
            Err(Error::Fault(_))
        ));
        assert!(matches!(unsafe { sim.load(&program, b"kernel other") }, Err(Error::Binary { .. })));
        assert!(matches!(sim.allocate(usize::MAX), Err(Error::OutOfMemory { .. })));
        Ok(())
    }
}
