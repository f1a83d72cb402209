//! The dialect of OpenCL devices: OpenCL C 1.2.

use pumice_program::{Access, AtomicOp, Atomics, Capabilities, Order, Scope, Warps};
use pumice_scalar::{Op, ScalarType};

use crate::EmitOptions;
use crate::atomics::Atomic;
use crate::dialect::{
    Function, Kernel, Language, Stop, Threads, define_small_types, function_name, vector_type,
};
use crate::text::Text;

/// Orders a work-item's accesses to memory, for its group.
const FENCE: &str = "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";

/// Orders them for all groups.
const GRID_FENCE: &str = "ORDER_MEMORY;";

/// OpenCL 1 has no fence for all groups, and NVIDIA's compiler takes it at its word (`membar.cta`): of 20,000 updates under locks one was lost in
/// every tenth run, where several processes shared the device.
const DEFINE_GRID_FENCE: [&str; 5] = [
    "#ifdef __NV_CL_C_VERSION",
    "#define ORDER_MEMORY asm volatile(\"membar.gl;\" ::: \"memory\")",
    "#else",
    "#define ORDER_MEMORY mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
    "#endif",
];

/// Makes the work-items of a group wait for each other.
const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";

/// The dialect.
pub(crate) struct OpenCl;

impl Language for OpenCl {
    fn capabilities(&self) -> Capabilities {
        let atomics =
            Atomics { small: false, float_add: false, float_min_max: false, ..Capabilities::ALL.atomics };
        Capabilities { atomics, small: false, warps: Warps::ThroughShared, ..Capabilities::ALL }
    }

    fn element(&self, ty: ScalarType) -> &'static str {
        match ty {
            ScalarType::Bool => "uchar",
            _ => self.register(ty),
        }
    }

    fn preamble(&self, kernels: &[&Kernel], options: &EmitOptions, text: &mut Text) {
        if kernels.iter().any(|kernel| kernel.doubles) {
            text.line("#pragma OPENCL EXTENSION cl_khr_fp64 : enable");
        }
        if kernels.iter().any(|kernel| kernel.wide_atomics) {
            text.line("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable");
        }
        if kernels.iter().any(|kernel| kernel.extended_atomics) {
            text.line("#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable");
        }
        if !options.fast_math {
            text.line("#pragma OPENCL FP_CONTRACT OFF");
        }
        text.line("typedef int i32;");
        text.line("typedef uint u32;");
        text.line("typedef long i64;");
        text.line("typedef ulong u64;");
        if kernels.iter().any(|kernel| kernel.orders_memory) {
            DEFINE_GRID_FENCE.iter().for_each(|line| text.line(line));
        }
        define_small_types(kernels, text);
    }

    fn helper(&self) -> &'static str {
        "static inline"
    }

    fn open(&self, kernel: &Kernel, text: &mut Text) {
        let parameters = kernel.parameters(|argument| {
            let (element, name) = (self.element(argument.ty), &argument.name);
            match argument.access {
                Some(Access::Read) => format!("__global const {element} *restrict {name}"),
                Some(_) if argument.alone => format!("__global {element} *restrict {name}"),
                Some(_) => format!("__global {element} *{name}"),
                None => format!("{element} {name}"),
            }
        });
        text.line(&format!("__kernel __attribute__((reqd_work_group_size({}, 1, 1)))", kernel.threads));
        text.open(&format!("void {}({parameters})", kernel.entry));
        let arena = &kernel.arena;
        if kernel.shared_bytes > 0 {
            text.line(&format!(
                "__local uchar {arena}[{}] __attribute__((aligned(16)));",
                kernel.shared_bytes
            ));
        }
        for array in &kernel.shared {
            let (element, name) = (self.element(array.ty), &array.name);
            text.line(&format!(
                "__local {element} *{name} = (__local {element} *)({arena} + {});",
                array.offset
            ));
        }
        if let Some(stop) = &kernel.stop {
            text.line(&format!("__local int {};", stop.agreed));
        }
        if let Some(exchange) = &kernel.exchange {
            text.line(&format!("__local u64 {}[{}];", exchange.cells, exchange.count));
            text.line(&format!("u32 {} = get_local_id(0);", exchange.thread));
        }
    }

    fn open_blocks(&self, _kernel: &Kernel, block: &str, blocks: &str, text: &mut Text) {
        text.open(&format!(
            "for (i64 {block} = get_group_id(0); {block} < {blocks}; {block} += get_num_groups(0))"
        ));
    }

    fn threads(&self) -> Threads {
        Threads::Numbered { thread: "get_local_id(0)", warps: self.has_warps() }
    }

    fn barrier(&self) -> Option<&'static str> {
        Some(BARRIER)
    }

    fn barrier_around_ends(&self) -> Option<&'static str> {
        // PoCL makes a copy of what follows a barrier in a branch, up to the next barrier that all paths have, and gets
        // that wrong where it has loops or branches of its own. With a barrier before and after the end there is nothing to copy.
        self.barrier()
    }

    fn loads_are_stale(&self) -> bool {
        // OpenCL 1 orders memory for a group only. NVIDIA's loads come from a cache that other groups' writes do not reach.
        true
    }

    fn fence(&self, scope: Scope) -> Option<&'static str> {
        Some(if scope == Scope::Grid { GRID_FENCE } else { FENCE })
    }

    fn atomic(&self, atomic: Atomic) -> Function {
        let direct = !atomic.ty.is_float()
            && !atomic.ty.is_small()
            && !matches!(atomic.op, AtomicOp::Load(_) | AtomicOp::Store(_));
        if direct { Function::Builtin(atomic_function(atomic, atomic.op)) } else { Function::Helper }
    }

    fn atomic_body(&self, atomic: Atomic) -> String {
        let (space, bits, register) = (self.space(atomic.shared), atomic.bits(), self.register(atomic.ty));
        let call = |op: AtomicOp, values: &str| {
            format!("{}((volatile {space}{bits} *)p, {values})", atomic_function(atomic, op))
        };
        let as_bits = |value: &str| match self.bitcast(bits, atomic.ty) {
            Some(name) if atomic.ty != bits => format!("{name}({value})"),
            _ => value.to_owned(),
        };
        let back = |value: &str| match self.bitcast(atomic.ty, bits) {
            Some(name) if atomic.ty != bits => format!("{name}({value})"),
            _ => value.to_owned(),
        };
        let fence = |order: Order| if order == Order::Ordered { GRID_FENCE } else { "" };
        let (element, small) = (self.element(atomic.ty), atomic.ty.is_small());
        match atomic.op {
            AtomicOp::Load(order) if small => {
                let load = format!("{element} v = *(volatile {space}{element} *)p;");
                lines(&[&load, fence(order), "return v;"])
            }
            AtomicOp::Store(order) if small => {
                lines(&[fence(order), &format!("*(volatile {space}{element} *)p = v;")])
            }
            AtomicOp::Exchange | AtomicOp::CompareExchange if small => {
                atomic.body_on_words(element, space, "atomic_cmpxchg")
            }
            // Adding nothing reads what is there, from wherever the others' changes are.
            AtomicOp::Load(order) => {
                let value = back(&call(AtomicOp::Add, "0"));
                lines(&[&format!("{register} v = {value};"), fence(order), "return v;"])
            }
            // Nothing is atomic with a byte, but writing it.
            AtomicOp::Store(_) if atomic.ty == ScalarType::Bool => {
                format!("*(volatile {space}uchar *)p = v;")
            }
            AtomicOp::Store(order) => {
                lines(&[fence(order), &format!("{};", call(AtomicOp::Exchange, &as_bits("v")))])
            }
            AtomicOp::CompareExchange => {
                let values = format!("{}, {}", as_bits("expected"), as_bits("v"));
                format!("return {};", back(&call(AtomicOp::CompareExchange, &values)))
            }
            _ => format!("return {};", back(&call(AtomicOp::Exchange, &as_bits("v")))),
        }
    }

    fn space(&self, shared: bool) -> &'static str {
        if shared { "__local " } else { "__global " }
    }

    fn vector(&self, ty: ScalarType, count: usize) -> Option<String> {
        vector_type(ty, count, "long")
    }

    fn make_vector(&self, vector: &str, values: &[String]) -> String {
        format!("({vector})({})", values.join(", "))
    }

    fn function(&self, op: Op, ty: ScalarType, options: &EmitOptions) -> Function {
        let name = match op {
            Op::Min | Op::Max if !options.fast_math => return Function::Helper,
            Op::Exp | Op::Sinh | Op::Cosh if ty == ScalarType::F64 && !options.fast_math => {
                return Function::Helper;
            }
            Op::Min => "fmin",
            Op::Max => "fmax",
            Op::Exp | Op::Exp2 | Op::Log | Op::Log2 | Op::Log10 | Op::Sin | Op::Cos | Op::Tan | Op::Sqrt
                if options.fast_math && ty == ScalarType::F32 =>
            {
                return Function::Builtin(format!("native_{}", op.name()));
            }
            op => function_name(op),
        };
        Function::Builtin(name.to_owned())
    }

    fn float_body(&self, op: Op, ty: ScalarType) -> String {
        let (bits, float) = if ty.bytes() == 8 { ("as_long", "as_double") } else { ("as_int", "as_float") };
        // `fmin` and `fmax` may give either zero. Floats that are equal differ in the sign of zero at most.
        let ordered = |symbol: &str, name: &str| {
            format!("return a == b ? {float}({bits}(a) {symbol} {bits}(b)) : {name}(a, b);")
        };
        // PoCL's overflow too early, or give NaN, from 709.78 on, where the result still fits: it is the square of the
        // root then.
        let by_root = |name: &str, size: &str, result: &str| {
            format!(
                "double r = {name}(a);\n    if ({size} > 709.0 && !(fabs(r) < INFINITY)) {{\n        double h = exp(0.5 * {size});\n        r = {result};\n    }}\n    return r;"
            )
        };
        match op {
            Op::Min => ordered("|", "fmin"),
            Op::Max => ordered("&", "fmax"),
            Op::Exp => by_root("exp", "a", "h * h"),
            Op::Sinh => by_root("sinh", "fabs(a)", "copysign(0.5 * h * h, a)"),
            Op::Cosh => by_root("cosh", "fabs(a)", "0.5 * h * h"),
            // Every other operation is a function of the language.
            _ => String::new(),
        }
    }

    fn bitcast(&self, to: ScalarType, _from: ScalarType) -> Option<&'static str> {
        Some(match to {
            ScalarType::Bool => "as_uchar",
            ScalarType::I32 => "as_int",
            ScalarType::I64 => "as_long",
            ScalarType::U32 => "as_uint",
            ScalarType::U64 => "as_ulong",
            ScalarType::F32 => "as_float",
            ScalarType::F64 => "as_double",
            ScalarType::I8 => "as_char",
            ScalarType::U8 => "as_uchar",
            ScalarType::I16 => "as_short",
            ScalarType::U16 | ScalarType::F16 | ScalarType::BF16 => "as_ushort",
        })
    }

    fn count_bits(&self, op: Op, _ty: ScalarType, value: &str) -> String {
        let name = if op == Op::CountOnes { "popcount" } else { "clz" };
        format!("{name}({value})")
    }

    fn is_stopped(&self, stop: &Stop) -> String {
        // The host sets it while the kernel runs.
        format!("*(volatile __global i64 *){} != 0", stop.record)
    }

    fn are_stopped(&self, stop: &Stop, _members: Option<&str>) -> (Vec<String>, String) {
        let barrier = BARRIER.to_owned();
        let decide = format!("if (get_local_id(0) == 0) {} = {};", stop.agreed, self.is_stopped(stop));
        (vec![barrier.clone(), decide, barrier], stop.agreed.clone())
    }

    fn keep_failure(&self) -> &'static str {
        "if (atom_cmpxchg((volatile __global long *)failure, 0L, code) == 0) {"
    }
}

/// Lines of a helper's body, without the empty ones.
fn lines(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.is_empty()).collect();
    lines.join("\n    ")
}

/// The function that does something atomically to integers as wide as an element.
fn atomic_function(atomic: Atomic, op: AtomicOp) -> String {
    let prefix = if atomic.ty.bytes() == 8 { "atom" } else { "atomic" };
    let name = match op {
        AtomicOp::Exchange => "xchg",
        AtomicOp::CompareExchange => "cmpxchg",
        op => op.name(),
    };
    format!("{prefix}_{name}")
}
