//! The dialect of CPUs: C11 with what gcc and clang share. One call runs a range of blocks; the threads of a block are
//! a loop.

use std::sync::LazyLock;

use pumice_program::Access;
use pumice_scalar::{Op, ScalarType};

use crate::Options;
use crate::dialect::{Function, Kernel, Language, Threads};
use crate::helpers::{Helper, Library, library};
use crate::text::Text;

static MATH: LazyLock<Library> = LazyLock::new(|| library(include_str!("math.c")));

/// The dialect.
pub(crate) struct C;

impl Language for C {
    fn register(&self, ty: ScalarType) -> &'static str {
        match ty {
            // As wide as most values beside it, so that a truth value takes a lane like theirs.
            ScalarType::Bool => "int",
            ScalarType::I32 => "i32",
            ScalarType::I64 => "i64",
            ScalarType::U32 => "u32",
            ScalarType::U64 => "u64",
            ScalarType::F32 => "float",
            ScalarType::F64 => "double",
        }
    }

    fn preamble(&self, _kernel: &Kernel, _options: &Options, text: &mut Text) {
        text.line("typedef int i32;");
        text.line("typedef unsigned u32;");
        text.line("typedef long long i64;");
        text.line("typedef unsigned long long u64;");
    }

    fn helper(&self) -> &'static str {
        "static inline"
    }

    fn open(&self, kernel: &Kernel, text: &mut Text) {
        text.open(&format!("void {}(void *const *args, i64 first_block, i64 last_block)", kernel.entry));
        for (k, argument) in kernel.arguments.iter().enumerate() {
            let name = &argument.name;
            let element = self.element(argument.ty);
            match argument.access {
                Some(access) => {
                    let constant = if access == Access::Read { "const " } else { "" };
                    text.line(&format!(
                        "{constant}{element} *restrict {name} = __builtin_assume_aligned(args[{k}], 64);"
                    ));
                }
                None => text
                    .line(&format!("{} {name} = *(const {element} *)args[{k}];", self.register(argument.ty))),
            }
        }
    }

    fn loops_over_all_blocks(&self) -> bool {
        // The caller says which.
        false
    }

    fn open_blocks(&self, kernel: &Kernel, block: &str, _blocks: &str, text: &mut Text) {
        text.open(&format!("for (i64 {block} = first_block; {block} < last_block; {block}++)"));
        for array in &kernel.shared {
            text.line(&format!(
                "{} {}[{}] __attribute__((aligned(64)));",
                self.element(array.ty),
                array.name,
                array.length
            ));
        }
    }

    fn threads(&self) -> Threads {
        Threads::Lanes
    }

    fn barrier(&self) -> Option<&'static str> {
        // The end of a loop over threads is one.
        None
    }

    fn space(&self, _shared: bool) -> &'static str {
        ""
    }

    fn vector(&self, _ty: ScalarType, _count: usize) -> Option<String> {
        // The compiler makes vectors of neighbouring threads instead.
        None
    }

    fn make_vector(&self, _vector: &str, values: &[String]) -> String {
        values.join(", ")
    }

    fn function(&self, op: Op, ty: ScalarType, _options: &Options) -> Function {
        if MATH.contains_key(Helper::Operation(op, ty).name().as_str()) {
            return Function::Helper;
        }
        let name = match op {
            Op::Abs => "fabs",
            Op::Rem => "fmod",
            Op::MulAdd => "fma",
            op => op.name(),
        };
        let suffix = if ty == ScalarType::F32 { "f" } else { "" };
        Function::Builtin(format!("__builtin_{name}{suffix}"))
    }

    fn bitcast(&self, _to: ScalarType, _from: ScalarType) -> Option<&'static str> {
        None
    }

    fn count_bits(&self, op: Op, ty: ScalarType, value: &str) -> String {
        let name = if op == Op::CountOnes { "popcount" } else { "clz" };
        let suffix = if ty.bytes() == 8 { "ll" } else { "" };
        format!("__builtin_{name}{suffix}({value})")
    }

    fn divides_in_doubles(&self) -> bool {
        // CPUs have vector instructions for it, and none for integer division.
        true
    }

    fn library(&self) -> Option<&'static Library> {
        Some(&MATH)
    }

    fn keep_failure(&self) -> &'static str {
        "i64 none = 0;
    if (__atomic_compare_exchange_n(failure, &none, code, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {"
    }
}
