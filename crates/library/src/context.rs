//! A device with a file's functions on it, and the last error of each thread. Knows no pointers.

use crate::function::LibraryFunction;
use pumice::Compiler;
use pumice::layers::runtime::devices::{Cpu, KernelsAhead};
use pumice::layers::runtime::{self, Device, DeviceName};
use pumice::pum::Module;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// Return values of the C functions. The header has the same numbers (`pumice_lang::bindings`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It worked.
    Ok = 0,
    /// An argument is wrong.
    Invalid = 1,
    /// A check in the program failed.
    Failed = 2,
    /// The device cannot be used.
    Device = 3,
    /// A fault of Pumice.
    Internal = 4,
}

/// An error: its status and its message.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Kind of the error.
    pub status: Status,
    message: String,
}

/// A value, or an error.
pub type Outcome<T> = Result<T, Failed>;

impl Failed {
    /// An argument is wrong.
    pub fn invalid(message: String) -> Failed {
        Failed { status: Status::Invalid, message }
    }

    /// Pumice is wrong.
    pub fn internal(message: String) -> Failed {
        Failed { status: Status::Internal, message }
    }
}

impl From<pumice::Error> for Failed {
    fn from(error: pumice::Error) -> Failed {
        use pumice::Error;
        let status = match &error {
            Error::Invalid(_) | Error::UnknownDevice { .. } => Status::Invalid,
            Error::Failure(_) | Error::Deadline { .. } | Error::Cancelled | Error::Fault(_) => Status::Failed,
            _ => Status::Device,
        };
        Failed { status, message: error.to_string() }
    }
}

/// A device with a file's functions on it. It can be used by several threads.
pub struct Context {
    opened: Outcome<Opened>,
    /// The last error of each thread that has not been asked for yet.
    errors: Mutex<HashMap<ThreadId, Failed>>,
}

struct Opened {
    module: Module,
    compiler: Compiler,
    functions: Mutex<HashMap<String, Arc<LibraryFunction>>>,
}

impl Context {
    /// Checks a file and opens a device. If that fails, every use of the context returns the error.
    pub fn new(texts: &[(&str, &str)], kernels: KernelsAhead, device: Option<&str>) -> Context {
        let open = || {
            let compiler = Compiler::with(open(device, kernels)?);
            Ok(Opened { module: Module::load(texts)?, compiler, functions: Mutex::default() })
        };
        let opened: Outcome<Opened> = open().map_err(|error: pumice::Error| Failed::from(error));
        let errors = opened.as_ref().err().map(|failed| (std::thread::current().id(), failed.clone()));
        Context { errors: Mutex::new(errors.into_iter().collect()), opened }
    }

    /// A function, compiled for the device when it is first called.
    pub fn function(&self, name: &str) -> Outcome<Arc<LibraryFunction>> {
        let opened = self.opened.as_ref().map_err(Clone::clone)?;
        if let Some(function) = lock(&opened.functions).get(name) {
            return Ok(function.clone());
        }
        // Not under the lock: functions that were called before need not wait.
        let function = Arc::new(LibraryFunction::new(&opened.compiler, &*opened.module.function(name)?)?);
        Ok(lock(&opened.functions).entry(name.to_string()).or_insert(function).clone())
    }

    /// Keeps an error as the last one of this thread.
    pub fn keep_error(&self, failed: Failed) {
        lock(&self.errors).insert(std::thread::current().id(), failed);
    }

    /// Takes the text of this thread's last error; `None` if there is none, or if it was taken before.
    pub fn take_error(&self) -> Option<CString> {
        let failed = lock(&self.errors).remove(&std::thread::current().id())?;
        CString::new(failed.message.replace('\0', "\u{fffd}")).ok()
    }
}

/// Opens a device. The processor has the kernels that were compiled ahead, and can be used for them where there is no compiler.
fn open(name: Option<&str>, kernels: KernelsAhead) -> pumice::Result<Arc<dyn Device>> {
    let is_processor = |name: &DeviceName| name.kind() == "cpu";
    match name.map_or_else(runtime::default_device, runtime::open) {
        Ok(device) if !is_processor(&device.name()) => Ok(device),
        Err(error @ pumice::Error::UnknownDevice { .. }) => Err(error),
        Err(pumice::Error::DeviceUnavailable { device, reason }) if device != "cpu" => {
            Err(pumice::Error::DeviceUnavailable { device, reason })
        }
        _ => Ok(Arc::new(Cpu::with_kernels(kernels)?)),
    }
}

/// The lock, also after a thread panicked while it had it: every value behind one is whole at all times.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
