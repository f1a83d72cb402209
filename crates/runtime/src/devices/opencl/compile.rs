//! From OpenCL C to kernels: sources are built to binaries by the driver, and binaries are loaded. For PoCL the source is the binary.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use opencl3::error_codes::ClError;
use opencl3::kernel;
use opencl3::program::{self, CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG};
use opencl3::types::cl_int;
use pumice_emit::{Dialect, Effort, EmitOptions};

use super::objects::{Built, Entry};
use super::{OpenClDevice, POCL};
use crate::device::{CompiledKernel, Signature};
use crate::error::{Error, Result};

/// Declarations in place of PoCL's own, and the option that leaves those out.
const DECLARATIONS: &str = include_str!("pocl.h");
const LEAVE_OUT_DECLARATIONS: &str = "-D_OPENCL_H_";

/// A kernel that is ready to be launched.
pub(super) struct Code {
    pub(super) entry: Mutex<Entry>,
    _built: Built,
}

/// Record that is kept of a program for PoCL: the compiler's options and the source. PoCL keeps what it compiles by itself, and if it is
/// asked for a binary, it compiles each kernel once more, for blocks of any size.
fn kept_source(binary: &[u8]) -> Option<(&CStr, &str)> {
    let options = CStr::from_bytes_until_nul(binary).ok()?;
    let source = str::from_utf8(&binary[options.count_bytes() + 1..]).ok()?;
    Some((options, source))
}

/// Options for the driver. None has a NUL: an environment variable cannot.
fn c_string(options: &str) -> CString {
    CString::new(options).unwrap_or_default()
}

impl OpenClDevice {
    /// The compiler's options: those that the emitter's OpenCL C was written for, what this device can do besides, and what the user
    /// adds by `PUMICE_OPENCL_FLAGS`.
    pub(super) fn options(&self, fast_math: bool, effort: Effort) -> String {
        let mut options = pumice_emit::compiler_flags(Dialect::OpenCl, &EmitOptions { fast_math }, effort);
        if self.rounds_correctly && !fast_math {
            options.push("-cl-fp32-correctly-rounded-divide-sqrt");
        }
        let added = std::env::var("PUMICE_OPENCL_FLAGS").unwrap_or_default();
        options.extend(added.split_whitespace());
        options.join(" ")
    }

    pub(super) fn compile(
        &self,
        kernel: &str,
        source: &str,
        fast_math: bool,
        effort: Effort,
    ) -> Result<Vec<u8>> {
        let options = self.options(fast_math, effort);
        if self.platform == POCL {
            return self.compile_for_pocl(kernel, source, &options);
        }
        let built = self.build(kernel, source, &c_string(&options))?;
        let binaries = program::get_program_info(built.0, CL_PROGRAM_BINARIES)
            .map_err(self.failed("clGetProgramInfo"))?;
        // The conversion panics for other questions than this one, whose answer is of this type.
        let mut binaries = Vec::<Vec<u8>>::from(binaries).into_iter();
        let reason = "the driver does not give binaries".into();
        let missing = Error::Binary { device: self.id.name(), kernel: kernel.into(), reason, place: None };
        binaries.find(|binary| !binary.is_empty()).ok_or(missing)
    }

    /// Makes sure that a source is a program, which is kept as its own binary.
    fn compile_for_pocl(&self, kernel: &str, source: &str, options: &str) -> Result<Vec<u8>> {
        let kept = |options: &CStr, source: &str| [options.to_bytes_with_nul(), source.as_bytes()].concat();
        if self.declares.load(Ordering::Relaxed) {
            let source = format!("{DECLARATIONS}#line 1\n{source}");
            let options = c_string(&format!("{LEAVE_OUT_DECLARATIONS} {options}"));
            match self.build(kernel, &source, &options) {
                Ok(_) => return Ok(kept(&options, &source)),
                Err(error) => tracing::info!(kernel, %error, "PoCL's own declarations are taken"),
            }
        }
        let options = c_string(options);
        self.build(kernel, source, &options)?;
        // The source is a program, so it was the declarations: other versions of PoCL may not go with them.
        self.declares.store(false, Ordering::Relaxed);
        Ok(kept(&options, source))
    }

    fn build(&self, kernel: &str, source: &str, options: &CStr) -> Result<Built> {
        let built = program::create_program_with_source(self.context.0, &[source]);
        let built = Built(built.map_err(self.failed("clCreateProgramWithSource"))?);
        self.finish(&built, options).map_err(|code| Error::Compiler {
            device: self.id.name(),
            compiler: format!("{} {}", self.platform, self.driver),
            kernel: kernel.into(),
            log: self.log(&built, code),
            place: None,
        })?;
        Ok(built)
    }

    fn finish(&self, built: &Built, options: &CStr) -> Result<(), cl_int> {
        program::build_program(built.0, &[self.info.id()], options, None, ptr::null_mut())
    }

    /// Returns what the compiler wrote, or the name of its error if that was nothing.
    fn log(&self, built: &Built, code: cl_int) -> String {
        let log = program::get_program_build_data(built.0, self.info.id(), CL_PROGRAM_BUILD_LOG);
        let log = log.unwrap_or_default();
        match String::from_utf8_lossy(&log).trim_matches(|c: char| c.is_whitespace() || c == '\0') {
            "" => ClError(code).to_string(),
            log => log.to_owned(),
        }
    }

    pub(super) fn load_entry(
        &self,
        signature: Signature,
        entry: &str,
        binary: &[u8],
    ) -> Result<CompiledKernel> {
        let refuse = |reason: String| Error::Binary {
            device: self.id.name(),
            kernel: signature.name.clone(),
            reason,
            place: None,
        };
        let (built, options) = match kept_source(binary) {
            Some((options, source)) if self.platform == POCL => {
                (program::create_program_with_source(self.context.0, &[source]), options)
            }
            // SAFETY: context and device are valid. Drivers check what they are given; what comes from disk was checked
            // against its hash, so it is what a driver of the same version made.
            _ => unsafe {
                (program::create_program_with_binary(self.context.0, &[self.info.id()], &[binary]), c"")
            },
        };
        let built = Built(built.map_err(|code| refuse(ClError(code).to_string()))?);
        self.finish(&built, options).map_err(|code| refuse(self.log(&built, code)))?;
        let name = CString::new(entry).map_err(|e| refuse(e.to_string()))?;
        let entry =
            kernel::create_kernel(built.0, &name).map_err(|code| refuse(ClError(code).to_string()))?;
        Ok(CompiledKernel::new(self.id, signature, Code { entry: Mutex::new(Entry(entry)), _built: built }))
    }
}
