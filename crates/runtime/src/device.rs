//! The one trait that the rest of the runtime knows of devices, and the handles that pass through it.
//!
//! A device allocates memory, copies, compiles programs to binaries, and launches them in order. It does not know
//! arrays, plans, caches or pools. Handles are opaque and remember their device: a handle given to another device is
//! an [`Error::WrongDevice`], never undefined behaviour.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use pumice_array::Resources;
use pumice_emit::EmitOptions;
use pumice_kernel::Profile;
use pumice_program::{Access, Param, Program, Space, Verified};
use pumice_scalar::{Constant, ScalarType};

use crate::error::{Error, Result};
use crate::identity::{DeviceId, DeviceName};
use crate::profile::Stamp;
use crate::work::{self, Memo, Work};

/// Guard that keeps memory of the host prepared for a device; see [`Device::pin`].
pub type Pin = Box<dyn Any + Send + Sync>;

/// Something that runs programs.
///
/// Work happens in the order of the calls. It may still be under way when a call returns; [`download`](Self::download)
/// and [`synchronize`](Self::synchronize) wait for it. Calls may come from any thread, but two threads that use the
/// *same* memory at once, one of them writing, must order themselves: on a CPU nothing else does.
pub trait Device: Send + Sync {
    /// Returns its identity, which its memory and kernels carry.
    fn id(&self) -> DeviceId;

    /// Returns the name by which it is chosen: `sim`, `cpu`, `opencl:0`, `cuda:1`.
    fn name(&self) -> DeviceName {
        self.id().name()
    }

    /// Returns a description for people: model, driver, compiler.
    fn description(&self) -> String;

    /// Returns everything besides the program and the options that a binary depends on: compiler, flags, processor, driver.
    /// It is part of a kernel's key, so it must be quick, and must not start processes.
    fn fingerprint(&self) -> String;

    /// Returns the facts that skeletons choose by.
    fn profile(&self) -> &Profile;

    /// Whether memory may be larger than was asked for, so that fewer sizes are in use. Not where a device checks bounds.
    fn rounds_sizes(&self) -> bool {
        true
    }

    /// Returns the bytes of memory that it has in all, where that is known.
    fn memory_limit(&self) -> Option<usize> {
        None
    }

    /// Reserves memory, of no particular content, aligned for every scalar and vector type. `bytes` may be 0.
    fn allocate(&self, bytes: usize) -> Result<DeviceMemory>;

    /// Copies `from` to the beginning of `to`. The bytes have been read when it returns.
    fn upload(&self, to: &DeviceMemory, from: &[u8]) -> Result<()>;

    /// Copies the beginning of `from` to `to`, after all work before it.
    fn download(&self, from: &DeviceMemory, to: &mut [u8]) -> Result<()> {
        self.download_from(from, 0, to)
    }

    /// Copies the bytes of `from` that begin at `first` to `to`, after all work before it. No others travel.
    fn download_from(&self, from: &DeviceMemory, first: usize, to: &mut [u8]) -> Result<()>;

    /// Prepares memory of the host so that the device reaches it by itself, as long as what is returned lives: transfers from and to it
    /// then take the host no time. Nothing where that is not so, or is so of all memory.
    ///
    /// # Safety
    /// The memory is not freed before what is returned is dropped.
    unsafe fn pin(&self, _memory: &mut [u8]) -> Option<Pin> {
        None
    }

    /// Copies the first `bytes` bytes of one memory to another (or to itself, which changes nothing), after all work before
    /// it.
    fn copy(&self, from: &DeviceMemory, to: &DeviceMemory, bytes: usize) -> Result<()> {
        // Through the host; devices that can do better do.
        let mut between = crate::host_memory::zeroed(bytes)?;
        self.download(from, &mut between)?;
        self.upload(to, &between)
    }

    /// Sets the first `bytes` bytes to zero.
    fn zero(&self, memory: &DeviceMemory, bytes: usize) -> Result<()>;

    /// Compiles programs to binaries that can be kept on disk, in their order. Several at once are quicker than one by one
    /// where starting the compiler takes long; if one cannot be compiled, none is.
    fn build_unit(&self, programs: &[&Verified], options: &EmitOptions) -> Result<Vec<Vec<u8>>>;

    /// Compiles a program to a binary that can be kept on disk.
    fn build(&self, program: &Verified, options: &EmitOptions) -> Result<Vec<u8>> {
        let lost = || Error::Invalid(format!("kernel `{}` was compiled to nothing", program.name).into());
        self.build_unit(&[program], options)?.pop().ok_or_else(lost)
    }

    /// Makes a kernel of a binary that [`build`](Self::build) or [`build_unit`](Self::build_unit) made of the same program.
    ///
    /// # Safety
    /// The binary is one that this device's `build` or `build_unit` made of this program: it is code that will run.
    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel>;

    /// Starts `blocks` blocks of a kernel. The arguments are in the order of the program's parameters; nothing happens
    /// if `blocks` is 0.
    ///
    /// # Safety
    /// Each memory is as large as the program's accesses to it go, and no memory that the program writes is another
    /// argument too. Nothing on a device checks that.
    unsafe fn launch(
        &self,
        kernel: &CompiledKernel,
        blocks: u64,
        arguments: &[LaunchArgument<'_>],
    ) -> Result<()>;

    /// Does work in order, of which the device may keep in `memo` what makes it quicker the next time: the same work often comes
    /// again. A device that can goes through [`Rounds`](crate::work::Rounds) without the host.
    ///
    /// # Safety
    /// As for [`launch`](Self::launch), for each launch among it.
    unsafe fn perform(&self, work: &[Work<'_>], _memo: &Memo) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { work::in_order(self, work, &|| Ok(())) }
    }

    /// Returns the handle of the queue in which its work is done in order, for code that is not ours and is called next in this
    /// thread: a `CUstream` whose context is made current, a `cl_command_queue`, or 0 on a CPU. Nothing where other code
    /// cannot work on the device.
    fn raw_queue(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the handle of memory for such code: an address of the device's (`CUdeviceptr`) or the host's, or a `cl_mem`.
    fn raw_memory(&self, _memory: &DeviceMemory) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Waits until all work is done, and reports what failed in it.
    fn synchronize(&self) -> Result<()>;

    /// Returns in how many calls so far the host waited for this device, as far as a driver shows that: uploads, downloads,
    /// [`synchronize`](Self::synchronize), [`time`](Self::time), launches that the host watches for their deadline, and
    /// memory or kernels that are given back to the driver. Devices that work within the call count the same calls, so
    /// that a test of what waits is the same everywhere.
    fn waits(&self) -> u64;

    /// Puts a mark behind the work so far, whose time is known once that is done. By default it is the time of the call, which is
    /// right for devices that work within their calls.
    fn stamp(&self) -> Result<Stamp> {
        Ok(Stamp::now())
    }

    /// Returns what a kernel needs, as far as the device tells.
    fn resources(&self, _kernel: &CompiledKernel) -> Result<Resources> {
        Ok(Resources::default())
    }

    /// Milliseconds that the launches of `work` took: by the device's own clock on a GPU, by the wall's elsewhere.
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64>;
}

/// One argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum LaunchArgument<'a> {
    /// Memory, for a buffer parameter.
    Memory(&'a DeviceMemory),
    /// A value, for a scalar parameter.
    Scalar(Constant),
}

/// Memory of a device. It is freed when this is dropped.
pub struct DeviceMemory {
    device: DeviceId,
    bytes: usize,
    handle: Box<dyn Any + Send + Sync>,
}

impl DeviceMemory {
    /// Wraps a device's own handle, whose `Drop` frees the memory.
    pub fn new(device: DeviceId, bytes: usize, handle: impl Any + Send + Sync) -> DeviceMemory {
        DeviceMemory { device, bytes, handle: Box::new(handle) }
    }

    /// The size that was asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the device that it belongs to.
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// The handle that `device` put in, or an error if this memory is another device's.
    pub fn handle<T: Any>(&self, device: DeviceId) -> Result<&T> {
        own("memory", self.device, &*self.handle, device)
    }

    /// An error unless a copy of `bytes` bytes stays inside.
    pub(crate) fn check_copy(&self, what: &str, bytes: usize) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(Error::Invalid(
            format!("{what} of {bytes} bytes, but the memory on `{}` has {}", self.device, self.bytes).into(),
        ))
    }

    /// An error unless `bytes` bytes that begin at `first` are inside.
    pub(crate) fn check_part(&self, what: &str, first: usize, bytes: usize) -> Result<()> {
        self.check_copy(what, first.saturating_add(bytes))
    }
}

impl fmt::Debug for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceMemory({}, {} bytes)", self.device, self.bytes)
    }
}

/// Returns a handle as what `device` put in, or an error if it is of another device, be it of the same kind.
fn own<'a, T: Any>(
    what: &'static str,
    found: DeviceId,
    handle: &'a (dyn Any + Send + Sync),
    device: DeviceId,
) -> Result<&'a T> {
    let handle = handle.downcast_ref().filter(|_| found == device);
    handle.ok_or(Error::WrongDevice { what, device: device.name(), found: found.name() })
}

/// A program, compiled and loaded.
pub struct CompiledKernel {
    device: DeviceId,
    signature: Signature,
    handle: Box<dyn Any + Send + Sync>,
}

impl CompiledKernel {
    /// Wraps a device's own handle, whose `Drop` unloads the kernel.
    pub fn new(device: DeviceId, signature: Signature, handle: impl Any + Send + Sync) -> CompiledKernel {
        CompiledKernel { device, signature, handle: Box::new(handle) }
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.signature.name
    }

    /// Returns the signature that a launch must match.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Returns the stop record among the arguments of a launch, if the program can be stopped.
    pub(crate) fn stop_record<'a>(&self, arguments: &[LaunchArgument<'a>]) -> Option<&'a DeviceMemory> {
        match arguments.get(self.signature.stop?)? {
            LaunchArgument::Memory(memory) => Some(memory),
            LaunchArgument::Scalar(_) => None,
        }
    }

    /// Returns the device that it belongs to.
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// The handle that `device` put in, or an error if this kernel is another device's.
    pub fn handle<T: Any>(&self, device: DeviceId) -> Result<&T> {
        own("a kernel", self.device, &*self.handle, device)
    }

    /// The error of a launch that cannot be.
    pub(crate) fn refuse<T>(&self, reason: String) -> Result<T> {
        Err(Error::Launch {
            device: self.device.name(),
            kernel: self.signature.name.clone(),
            reason,
            place: None,
        })
    }

    /// The threads of a block; an error if the device has no blocks of so many.
    pub(crate) fn check_threads(&self, profile: &Profile) -> Result<u32> {
        let threads = self.signature.threads;
        if threads > profile.max_threads {
            return self
                .refuse(format!("{threads} threads in a block are more than {}", profile.max_threads));
        }
        Ok(threads)
    }

    /// An error unless the arguments are those that the kernel was compiled for.
    pub(crate) fn check_arguments(&self, arguments: &[LaunchArgument<'_>]) -> Result<()> {
        let fail = |reason| self.refuse(reason);
        let parameters = &self.signature.parameters;
        if parameters.len() != arguments.len() {
            return fail(format!("it takes {} arguments, {} were given", parameters.len(), arguments.len()));
        }
        for (number, (parameter, argument)) in parameters.iter().zip(arguments).enumerate() {
            match (parameter, argument) {
                (LaunchParameter::Buffer(_), LaunchArgument::Memory(_)) => {}
                (LaunchParameter::Scalar(ty), LaunchArgument::Scalar(value)) if *ty == value.ty() => {}
                (LaunchParameter::Buffer(_), LaunchArgument::Scalar(value)) => {
                    return fail(format!("argument {number} must be memory, not the value {value:?}"));
                }
                (LaunchParameter::Scalar(ty), LaunchArgument::Memory(_)) => {
                    return fail(format!("argument {number} must be a value of type {ty}, not memory"));
                }
                (LaunchParameter::Scalar(ty), LaunchArgument::Scalar(value)) => {
                    return fail(format!("argument {number} must be of type {ty}, not {}", value.ty()));
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CompiledKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompiledKernel({}, {})", self.device, self.signature.name)
    }
}

/// Launch interface of a program: what a device must know to launch its binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The entry point.
    pub name: String,
    /// Threads of a block.
    pub threads: u32,
    /// The parameters in order.
    pub parameters: Vec<LaunchParameter>,
    /// The position of the stop record among them, if the program can be stopped. Devices without a clock of their own stop
    /// it from the host; a launch whose record says to stop does nothing.
    pub stop: Option<usize>,
}

impl Signature {
    /// The signature of a program.
    pub fn of(program: &Program) -> Signature {
        let kind = |param: &Param| match param {
            Param::Memory(memory) => LaunchParameter::Buffer(match program.memory(*memory).space {
                Space::Global { access } => access,
                _ => Access::ReadWrite,
            }),
            Param::Scalar(var) => LaunchParameter::Scalar(program.var_type(*var)),
        };
        let parameters = program.params.iter().map(kind).collect();
        let stop = program.params.iter().position(|param| match param {
            Param::Memory(memory) => program.stop == Some(*memory),
            Param::Scalar(_) => false,
        });
        Signature { name: program.name.clone(), threads: program.threads, parameters, stop }
    }
}

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchParameter {
    /// An address in the device's memory, and what the program does there.
    Buffer(Access),
    /// A value, passed by copy.
    Scalar(ScalarType),
}

/// Counts the calls in which the host waited for a device.
#[derive(Debug, Default)]
pub struct WaitCounter(AtomicU64);

impl WaitCounter {
    /// Counts one call.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many were counted so far.
    pub fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A program that does nothing.
    pub(crate) fn empty_program(name: &str) -> Verified {
        let text =
            format!("kernel {name}\nthreads 1\nprologue {{\n}}\nblocks %block.0: i64 < 1:i64\nbody {{\n}}\n");
        let program = pumice_program::parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
        pumice_program::verify(program).unwrap_or_else(|error| panic!("{error}"))
    }

    fn cpu() -> DeviceId {
        DeviceId::new(DeviceName::of_kind("cpu"))
    }

    fn kernel() -> CompiledKernel {
        let parameters =
            vec![LaunchParameter::Buffer(Access::Write), LaunchParameter::Scalar(ScalarType::F32)];
        CompiledKernel::new(cpu(), Signature { name: "k".into(), threads: 64, parameters, stop: None }, ())
    }

    #[test]
    fn arguments_must_fit_the_parameters() {
        let memory = DeviceMemory::new(cpu(), 4, ());
        let buffer = LaunchArgument::Memory(&memory);
        assert_eq!(kernel().check_arguments(&[buffer, LaunchArgument::Scalar(1.0f32.into())]), Ok(()));
        for (arguments, reason) in [
            (vec![buffer], "it takes 2 arguments, 1 were given"),
            (vec![buffer, buffer], "argument 1 must be a value of type f32, not memory"),
            (vec![buffer, LaunchArgument::Scalar(1i32.into())], "argument 1 must be of type f32, not i32"),
            (vec![LaunchArgument::Scalar(1i32.into()); 2], "argument 0 must be memory, not the value 1:i32"),
        ] {
            let Err(Error::Launch { reason: found, .. }) = kernel().check_arguments(&arguments) else {
                panic!("accepted {arguments:?}");
            };
            assert_eq!(found, reason);
        }
    }

    #[test]
    fn handles_remember_their_device() {
        let (one, other) = (cpu(), cpu());
        let memory = DeviceMemory::new(one, 4, 5u8);
        assert_eq!(memory.handle::<u8>(one), Ok(&5));
        let gpu = DeviceId::new(DeviceName::numbered("cuda", 1));
        let refusal = |device| memory.handle::<u8>(device).err().map(|error| error.to_string());
        assert_eq!(refusal(gpu).as_deref(), Some("memory of device `cpu` was given to device `cuda:1`"));
        assert_eq!(
            refusal(other).as_deref(),
            Some("memory of another device `cpu` was given to device `cpu`")
        );
        assert!(memory.handle::<u64>(one).is_err());
        assert!(memory.check_copy("an upload", 4).is_ok());
        assert!(matches!(memory.check_copy("an upload", 5), Err(Error::Invalid(_))));
    }
}
