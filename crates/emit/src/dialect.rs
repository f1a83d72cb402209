//! Differences between the dialects. The writer asks a [`Language`] and never which one it is; a language writes
//! pieces of text and knows nothing of the program as a whole.

use pumice_program::{Access, Capabilities, CollectiveOp, Scope, Warps};
use pumice_scalar::{Op, ScalarType};

use crate::EmitOptions;
use crate::atomics::Atomic;
use crate::collectives::Exchange;
use crate::helpers::{Helper, Library};
use crate::text::Text;

/// A line of text that is easily read.
const LINE: usize = 100;

/// One argument of the entry point.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// Name in the text.
    pub(crate) name: String,
    /// The type of the value, or of the memory's elements.
    pub(crate) ty: ScalarType,
    /// Allowed accesses to the memory; `None` for a scalar.
    pub(crate) access: Option<Access>,
    /// Whether the memory is not written by others in between, as far as this text can tell.
    pub(crate) alone: bool,
}

/// An array that each thread has for itself.
#[derive(Clone, Debug)]
pub(crate) struct PrivateArray {
    /// Name in the text.
    pub(crate) name: String,
    /// The type of its elements.
    pub(crate) ty: ScalarType,
    /// Number of elements per thread.
    pub(crate) length: u32,
}

/// An array that the threads of a block share.
#[derive(Clone, Debug)]
pub(crate) struct SharedArray {
    /// Name in the text.
    pub(crate) name: String,
    /// The type of its elements.
    pub(crate) ty: ScalarType,
    /// Number of elements.
    pub(crate) length: u32,
    /// Offset of its first byte, where all shared memory is one array. Arrays that are never live at once may
    /// overlap.
    pub(crate) offset: u32,
}

/// Names that a program needs to be stopped.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The name of the stop record.
    pub(crate) record: String,
    /// The name of the time at which to stop, where the device has a clock.
    pub(crate) end: String,
    /// The name of the memory through which the threads of a block agree, where they need some.
    pub(crate) agreed: String,
}

/// Interface of a kernel: its entry point, arguments and memory.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// The entry point's name.
    pub(crate) entry: String,
    /// The arguments.
    pub(crate) arguments: Vec<Argument>,
    /// The block's memory.
    pub(crate) shared: Vec<SharedArray>,
    /// The bytes of all of it.
    pub(crate) shared_bytes: u32,
    /// Whether its size is given at the launch, because it is larger than the text may declare.
    pub(crate) shared_is_dynamic: bool,
    /// The threads' own memory.
    pub(crate) private: Vec<PrivateArray>,
    /// Memory for the exchange of values, where threads have no warps.
    pub(crate) exchange: Option<Exchange>,
    /// Name of all shared memory together.
    pub(crate) arena: String,
    /// Names that it needs to be stopped, if it can be.
    pub(crate) stop: Option<Stop>,
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Blocks for which there should be registers at once.
    pub(crate) resident: u32,
    /// Whether a double occurs anywhere.
    pub(crate) doubles: bool,
    /// Whether there are numbers of 8 or 16 bits.
    pub(crate) small: bool,
    /// Whether something of 64 bits is done atomically.
    pub(crate) wide_atomics: bool,
    /// Whether that is more than a sum or an exchange.
    pub(crate) extended_atomics: bool,
    /// Whether it orders what others see of its writes.
    pub(crate) orders_memory: bool,
}

impl Kernel {
    /// Returns the parameters of the entry point: on one line if they fit, else one per line.
    pub(crate) fn parameters(&self, parameter: impl Fn(&Argument) -> String) -> String {
        let parameters: Vec<String> = self.arguments.iter().map(parameter).collect();
        let line = parameters.join(", ");
        if line.len() + self.entry.len() <= LINE {
            line
        } else {
            format!("\n    {}", parameters.join(",\n    "))
        }
    }
}

/// Implementation of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// A call of a function that the dialect has.
    Builtin(String),
    /// A call of a helper that the prelude defines.
    Helper,
}

/// Returns the name that C's library, and with it every dialect, has for an operation on floats.
pub(crate) fn function_name(op: Op) -> &'static str {
    match op {
        Op::Abs => "fabs",
        Op::Rem => "fmod",
        Op::MulAdd => "fma",
        Op::ExpM1 => "expm1",
        Op::Ln1p => "log1p",
        Op::Gamma => "tgamma",
        Op::LnGamma => "lgamma",
        Op::RoundTiesEven => "rint",
        op => op.name(),
    }
}

/// Implementation of a block-level parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// One worker runs all threads of a block: a loop, in lanes where the body loops itself.
    Lanes,
    /// Every thread runs the text.
    Numbered {
        /// Expression of the thread's number.
        thread: &'static str,
        /// Whether the threads of a warp wait for and exchange values with each other, independently of other warps. If not,
        /// the block does so in their place.
        warps: bool,
    },
}

/// Returns the name of a type, by the typedefs of the preamble.
pub(crate) fn scalar_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Bool => "bool",
        ScalarType::I32 => "i32",
        ScalarType::I64 => "i64",
        ScalarType::U32 => "u32",
        ScalarType::U64 => "u64",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
        ScalarType::I8 => "i8",
        ScalarType::I16 => "i16",
        ScalarType::U8 => "u8",
        ScalarType::U16 => "u16",
        // Their bits.
        ScalarType::F16 => "f16",
        ScalarType::BF16 => "bf16",
    }
}

/// Writes the names of small types, where programs have such.
pub(crate) fn define_small_types(kernels: &[&Kernel], text: &mut Text) {
    if kernels.iter().any(|kernel| kernel.small) {
        text.line("typedef signed char i8;");
        text.line("typedef unsigned char u8;");
        text.line("typedef short i16;");
        text.line("typedef unsigned short u16, f16, bf16;");
    }
}

/// Returns the type of a vector of `count` elements in a GPU's dialect, if one access can have as many bytes: shared memory is
/// aligned to 16. The dialects differ in what they call an integer of 64 bits, `wide`.
pub(crate) fn vector_type(ty: ScalarType, count: usize, wide: &str) -> Option<String> {
    if ty.bytes() * count > 16 {
        return None;
    }
    if is_packed(ty, count) {
        let words = match ty.bytes() * count {
            2 => "u16",
            4 => "u32",
            8 => "uint2",
            _ => "uint4",
        };
        return Some(words.to_owned());
    }
    let element = match ty {
        ScalarType::Bool => "uchar",
        ScalarType::I32 => "int",
        ScalarType::U32 => "uint",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
        ScalarType::I64 => return Some(format!("{wide}{count}")),
        ScalarType::U64 => return Some(format!("u{wide}{count}")),
        // They are packed.
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::F16
        | ScalarType::BF16 => {
            return None;
        }
    };
    Some(format!("{element}{count}"))
}

/// Whether a vector of elements is accessed as words that have several of them: no dialect has vectors of 16 bytes.
pub(crate) fn is_packed(ty: ScalarType, count: usize) -> bool {
    ty.is_small() || (ty == ScalarType::Bool && count > 4)
}

/// A C-family dialect.
pub(crate) trait Language {
    /// Returns the capabilities of the dialect. Programs are legalised for them before they are written.
    fn capabilities(&self) -> Capabilities;

    /// Returns the type of a value in a register. A truth value is an integer or a `bool`, but always 0 or 1.
    fn register(&self, ty: ScalarType) -> &'static str {
        scalar_type(ty)
    }

    /// Returns the type of an element in memory.
    fn element(&self, ty: ScalarType) -> &'static str {
        match ty {
            ScalarType::Bool => "unsigned char",
            _ => self.register(ty),
        }
    }

    /// Writes the text before everything else: pragmas and types.
    fn preamble(&self, kernels: &[&Kernel], options: &EmitOptions, text: &mut Text);

    /// Returns the text before a helper function's type.
    fn helper(&self) -> &'static str;

    /// Writes the text before all helper functions, given the number of calls of mathematical ones.
    fn before_helpers(&self, _function_calls: usize, _text: &mut Text) {}

    /// Opens the entry point and binds its arguments.
    fn open(&self, kernel: &Kernel, text: &mut Text);

    /// Whether the text loops up to the last block; otherwise the caller gives the blocks.
    fn loops_over_all_blocks(&self) -> bool {
        true
    }

    /// Opens the loop over blocks: `block`, an `i64`, up to `blocks`. Declares shared memory in or before it.
    fn open_blocks(&self, kernel: &Kernel, block: &str, blocks: &str, text: &mut Text);

    /// Opens the body of the one block, below `blocks`, that a block of threads has in a launch of no more than `i32::MAX`
    /// blocks: `block`, a variable of this type. A loop that goes round once would cost registers. Returns whether it did so;
    /// where a grid may be smaller, only the loop will do.
    fn open_own_block(&self, _ty: &str, _block: &str, _blocks: &str, _text: &mut Text) -> bool {
        false
    }

    /// Whether warp collectives are instructions of the device.
    fn has_warps(&self) -> bool {
        self.capabilities().warps == Warps::Native
    }

    /// Returns the implementation of a block's threads.
    fn threads(&self) -> Threads;

    /// Returns the statement of a barrier of the block, if one is needed.
    fn barrier(&self) -> Option<&'static str>;

    /// Returns the same for the lanes of a warp; for the block, where they cannot wait by themselves.
    fn warp_barrier(&self) -> Option<&'static str> {
        self.barrier()
    }

    /// Returns the statement at the end of a side with a barrier of the block inside, and after its branch, if one is needed.
    fn barrier_around_ends(&self) -> Option<&'static str> {
        None
    }

    /// Whether a plain load after a fence of the grid may be stale: then loads state that other threads write the memory.
    fn loads_are_stale(&self) -> bool {
        false
    }

    /// Returns the statement of a fence, which orders a thread's writes, if one is needed.
    fn fence(&self, scope: Scope) -> Option<&'static str>;

    /// Returns the function of a shuffle, where warps are: of the lanes that take part, the value, and the distance.
    fn shuffle(&self, _op: CollectiveOp) -> &'static str {
        ""
    }

    /// Returns the function of a vote, where warps are: of the lanes that take part, and the condition.
    fn vote(&self, _op: CollectiveOp) -> &'static str {
        ""
    }

    /// Returns the implementation of an atomic operation.
    fn atomic(&self, _atomic: Atomic) -> Function {
        Function::Helper
    }

    /// Returns the body of an atomic operation's helper: of the address `p`, the value `v`, and what is `expected`.
    fn atomic_body(&self, atomic: Atomic) -> String;

    /// Returns the helper that this body calls, if it calls one.
    fn atomic_needs(&self, _atomic: Atomic) -> Option<Helper> {
        None
    }

    /// Returns the declaration of memory that each thread has for itself.
    fn private(&self, array: &PrivateArray, _threads: u32) -> String {
        format!("{} {}[{}];", self.element(array.ty), array.name, array.length)
    }

    /// Returns the text that makes the compiler unroll the loop that follows by a few rounds, for a loop whose number of rounds is not
    /// known and that it would not unroll by itself.
    fn unroll_some(&self) -> Option<&'static str> {
        None
    }

    /// Returns the text that makes the compiler unroll the loop that follows, if it is needed.
    fn unroll(&self) -> Option<&'static str> {
        None
    }

    /// Returns the most bytes of shared memory that the text may declare; larger memory is sized by the launch.
    fn static_shared_bytes(&self) -> u32 {
        u32::MAX
    }

    /// Returns the space of a pointer, where pointers have one: `__global ` or nothing.
    fn space(&self, shared: bool) -> &'static str;

    /// Returns the type of a vector of `count` elements, if one access of that size exists.
    fn vector(&self, ty: ScalarType, count: usize) -> Option<String>;

    /// Returns a vector made of values.
    fn make_vector(&self, vector: &str, values: &[String]) -> String;

    /// Returns the implementation of a mathematical operation on floats.
    fn function(&self, op: Op, ty: ScalarType, options: &EmitOptions) -> Function;

    /// Returns the body of the helper that converts the bits `a` of a float of 16 bits to an `f32` (`widens`), or the other way round, if
    /// the device has an instruction for it.
    fn half_body(&self, _ty: ScalarType, _widens: bool) -> Option<String> {
        None
    }

    /// Returns the body of the helper for an operation on floats `a` and `b`, where [`Language::function`] asks for one that the
    /// library does not have.
    fn float_body(&self, _op: Op, _ty: ScalarType) -> String {
        String::new()
    }

    /// Returns the function that reinterprets the bits as another type, if there is one.
    fn bitcast(&self, to: ScalarType, from: ScalarType) -> Option<&'static str>;

    /// Returns the number of one bits (or of leading zero bits, for a value that is not zero) of the unsigned `value`.
    fn count_bits(&self, op: Op, ty: ScalarType, value: &str) -> String;

    /// Returns a float converted to an integer, where every value that does not fit is caught already.
    fn truncate(&self, to: ScalarType, _from: ScalarType, value: &str) -> String {
        format!("({}){value}", self.register(to))
    }

    /// Whether a float that is too large or too small for the integer type already gives the nearest one.
    fn truncation_saturates(&self) -> bool {
        false
    }

    /// Whether integer division in threads is better done in doubles, where those are exact.
    fn divides_in_doubles(&self) -> bool {
        false
    }

    /// Returns the functions of the prelude that are written in the dialect itself.
    fn library(&self) -> Option<&'static Library> {
        None
    }

    /// Returns the condition under which one thread stops.
    fn is_stopped(&self, stop: &Stop) -> String;

    /// Returns the same for threads that must agree, all of which come here: those of a warp, whose lanes are a mask, or of the
    /// block. Statements, if some come first, and the condition.
    fn are_stopped(&self, stop: &Stop, _members: Option<&str>) -> (Vec<String>, String) {
        (Vec::new(), self.is_stopped(stop))
    }

    /// Returns the statement in the helper that keeps the first failure.
    fn keep_failure(&self) -> &'static str;
}
