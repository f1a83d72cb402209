//! The emitter: Program IR in, source text of one C-family dialect out.
//!
//! One writer walks the program ([`emit`]); what the dialects do differently stands in one file a dialect. Emission
//! knows nothing of running: it may not look for compilers, devices or files, and it never reads the environment.
//!
//! # Calling conventions
//!
//! | dialect | entry point |
//! |---|---|
//! | [`Dialect::C`] | `void NAME(void *const *args, int64_t first_block, int64_t last_block)`; `args[k]` is the data of a memory argument, or points to the value of a scalar argument (a `bool` is one byte) |
//! | [`Dialect::OpenCl`] | `__kernel void NAME(…)`, one argument a parameter, scalars by value (a `bool` is a `uchar`), work-groups of exactly `threads` |
//! | [`Dialect::Cuda`] | `extern "C" __global__ void NAME(…)`, one argument a parameter, scalars by value (a `bool` is an `unsigned char`), blocks of exactly `threads` |
//!
//! Shared memory above 48 KiB is not declared in CUDA C: the launch must ask for it ([`Source::dynamic_shared`]).
//!
//! On the GPU dialects the kernel loops over blocks with the grid's stride, so any grid of at least one block computes
//! everything. Data pointers are aligned to 64 bytes.

#![forbid(unsafe_code)]

mod access;
mod atomics;
mod c;
mod collectives;
mod cuda;
mod cursors;
mod dialect;
mod effort;
mod expression;
mod flow;
mod halves;
mod helpers;
mod joint;
mod lanes;
mod names;
mod opencl;
mod stop;
mod text;
mod threads;
mod truth;
mod unit;
mod uses;
mod writer;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use pumice_program::{Capabilities, MemoryError, Target, Unsupported, Verified};

pub use effort::Effort;

/// The languages that programs are emitted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// C11 with the extensions that gcc and clang share.
    C,
    /// OpenCL C 1.2.
    OpenCl,
    /// CUDA C++, without any header.
    Cuda,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 3] = [Dialect::C, Dialect::OpenCl, Dialect::Cuda];

    /// The name on the command line, also the usual file extension (`c`, `opencl`, `cuda`).
    pub fn name(self) -> &'static str {
        match self {
            Dialect::C => "c",
            Dialect::OpenCl => "opencl",
            Dialect::Cuda => "cuda",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Options of emission that the user may choose.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct EmitOptions {
    /// Allows deviations from IEEE 754: contraction, reassociation and approximate functions.
    pub fast_math: bool,
}

/// The text of one program in one dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The text.
    pub text: Arc<str>,
    /// The name of the entry point in it: the program's name, unless that is a word of the dialect.
    pub entry: String,
    /// Dialect of the text.
    pub dialect: Dialect,
    /// Optimisation effort for its compiler.
    pub effort: Effort,
    /// Whether threads wait for each other on both sides of a branch or in a `while` loop, which some compilers do not optimise
    /// rightly.
    pub waits_conditionally: bool,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of memory that the threads of a block share, in all.
    pub shared_bytes: u32,
    /// Bytes of these that the launch must request, because the text does not declare them: none, or all.
    pub dynamic_shared: u32,
}

/// Error of emission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// Its shared memory does not fit anywhere.
    Memory(MemoryError),
    /// The program needs something that the dialect cannot express.
    Unsupported(Unsupported),
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::Memory(error) => error.fmt(f),
            EmitError::Unsupported(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EmitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            EmitError::Memory(error) => Some(error),
            EmitError::Unsupported(error) => Some(error),
        }
    }
}

/// Returns what can be said in a dialect: the capabilities of a device that has all that its language has.
pub fn capabilities(dialect: Dialect) -> Capabilities {
    language(dialect).capabilities()
}

/// Writes a program in a dialect. What the dialect does not have is lowered first ([`pumice_program::legalise`]).
///
/// Whether the shared memory fits a device is for the device to say ([`pumice_program::plan`]); here it only has to
/// fit 32-bit offsets.
pub fn emit(program: &Verified, dialect: Dialect, options: &EmitOptions) -> Result<Source, EmitError> {
    let language = language(dialect);
    let program = legal(program, dialect)?;
    let piece = unit::write(&program, &program.name, &layout(&program)?, language, options);
    let text = unit::unite(std::slice::from_ref(&piece), language, options);
    Ok(piece.source(text, dialect))
}

/// Writes several programs in one text, which takes a compiler much less time than a text each. Their entry points have
/// different names; the text stands in each of the sources.
pub fn emit_unit(
    programs: &[&Verified],
    dialect: Dialect,
    options: &EmitOptions,
) -> Result<Vec<Source>, EmitError> {
    let language = language(dialect);
    let piece = |(number, program): (usize, &&Verified)| {
        let entry = format!("{}_{number}", program.name);
        let program = legal(program, dialect)?;
        Ok(unit::write(&program, &entry, &layout(&program)?, language, options))
    };
    let pieces = programs.iter().enumerate().map(piece).collect::<Result<Vec<_>, _>>()?;
    let text = unit::unite(&pieces, language, options);
    Ok(pieces.into_iter().map(|piece| piece.source(text.clone(), dialect)).collect())
}

fn legal(program: &Verified, dialect: Dialect) -> Result<Cow<'_, Verified>, EmitError> {
    let target = Target { capabilities: capabilities(dialect), ..Target::ALL };
    pumice_program::legal(program, &target).map_err(EmitError::Unsupported)
}

fn layout(program: &Verified) -> Result<pumice_program::Layout, EmitError> {
    pumice_program::plan(program, u32::MAX).map_err(EmitError::Memory)
}

/// Returns the bytes of shared memory that a launch must request, as [`Source::dynamic_shared`] says: for callers that have a program's
/// binary and not its source.
pub fn dynamic_shared(program: &Verified, dialect: Dialect) -> Result<u32, EmitError> {
    let bytes = layout(&*legal(program, dialect)?)?.bytes;
    Ok(if bytes > language(dialect).static_shared_bytes() { bytes } else { 0 })
}

/// Further flags for C that only gcc knows; clang refuses them. Without `-fno-thread-jumps`, gcc turns selects into jumps,
/// and loops over these do not vectorise. Without `-fno-loop-unroll-and-jam` it does two rounds of a loop around lanes at
/// once, and no longer keeps the values of lanes in registers. With fast math it would take estimates for roots as well as for
/// quotients; a processor finds roots beside its multiplications. Its usual register allocation takes time that grows with the
/// square of a program's size.
pub fn gcc_flags(effort: Effort) -> Vec<&'static str> {
    let mut flags = vec!["-fno-thread-jumps", "-fno-loop-unroll-and-jam"];
    if cfg!(target_arch = "x86_64") {
        flags.push("-mrecip=vec-div,!vec-sqrt");
    }
    if effort == Effort::Reduced {
        flags.push("-fira-algorithm=priority");
    }
    flags
}

fn language(dialect: Dialect) -> &'static dyn dialect::Language {
    match dialect {
        Dialect::C => &c::C,
        Dialect::OpenCl => &opencl::OpenCl,
        Dialect::Cuda => &cuda::Cuda,
    }
}

/// The flags under which a dialect's compiler keeps the language's semantics (and, for C, vectorises): what the
/// emitted text was designed for and tested with. Flags about targets and outputs are the caller's.
///
/// For C, compile with these and `-c`, and link in a second step: gcc's `-ffast-math -shared` in one step changes the
/// floating-point mode of the process that loads the result. Link with `-lm`. If the compiler is gcc, add [`gcc_flags`].
pub fn compiler_flags(dialect: Dialect, options: &EmitOptions, effort: Effort) -> Vec<&'static str> {
    let mut flags = effort.flags(dialect).to_vec();
    match (dialect, options.fast_math) {
        (Dialect::C, fast) => {
            flags.push("-march=native");
            if cfg!(target_arch = "x86_64") {
                flags.push("-mprefer-vector-width=512");
            }
            // Without these, straight-line code with selects does not vectorise.
            flags.extend(["-fno-math-errno", "-fno-trapping-math"]);
            flags.push(if fast { "-ffast-math" } else { "-ffp-contract=off" });
        }
        (Dialect::OpenCl, true) => flags.extend(["-cl-std=CL1.2", "-cl-fast-relaxed-math"]),
        (Dialect::OpenCl, false) => flags.push("-cl-std=CL1.2"),
        (Dialect::Cuda, true) => flags.push("--use_fast_math"),
        (Dialect::Cuda, false) => flags.push("--fmad=false"),
    }
    flags
}
