//! The dialect of NVIDIA's GPUs: CUDA C++ as NVRTC compiles it, without any header.

use pumice_program::{Access, AtomicOp, Atomics, Capabilities, CollectiveOp, Order, Scope};
use pumice_scalar::{Op, ScalarType};

use crate::EmitOptions;
use crate::atomics::Atomic;
use crate::dialect::{
    Function, Kernel, Language, Stop, Threads, define_small_types, function_name, vector_type,
};
use crate::text::Text;

/// The function that every kernel calls first. Newer GPUs start a kernel before those that it needs have ended, if the launch allows that:
/// its blocks wait here until their results are in memory. The kernels that need this one may be started from here on.
const AWAIT: &str = "static __device__ __forceinline__ void await_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
    asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");
    asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");
#endif
}";

/// The functions that stop a kernel by the device's clock. The first thread that comes begins the time; a thread that finds
/// it over says so in the record.
const STOP: &str = "static __device__ __forceinline__ i64 now_i64() {
    i64 now;
    asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));
    return now;
}
static __device__ i64 stop_time_i64(i64 *record) {
    i64 known = ((volatile i64 *)record)[2];
    if (known != 0) return known;
    i64 end = now_i64() + record[1];
    known = (i64)atomicCAS((u64 *)record + 2, 0ull, (u64)end);
    return known != 0 ? known : end;
}
static __device__ __forceinline__ bool stopped_i64(i64 *record, i64 end) {
    if (now_i64() < end) return false;
    *(volatile i64 *)record = 1;
    return true;
}";

/// The dialect.
pub(crate) struct Cuda;

impl Language for Cuda {
    fn capabilities(&self) -> Capabilities {
        let atomics = Atomics { float_min_max: false, small: false, ..Capabilities::ALL.atomics };
        Capabilities { atomics, small: false, ..Capabilities::ALL }
    }

    fn preamble(&self, kernels: &[&Kernel], _options: &EmitOptions, text: &mut Text) {
        text.line("typedef int i32;");
        text.line("typedef unsigned u32;");
        text.line("typedef long long i64;");
        text.line("typedef unsigned long long u64;");
        define_small_types(kernels, text);
        AWAIT.lines().for_each(|line| text.line(line));
        if kernels.iter().any(|kernel| kernel.stop.is_some()) {
            STOP.lines().for_each(|line| text.line(line));
        }
    }

    fn helper(&self) -> &'static str {
        "static __device__ __forceinline__"
    }

    fn open(&self, kernel: &Kernel, text: &mut Text) {
        let parameters = kernel.parameters(|argument| {
            let (element, name) = (self.element(argument.ty), &argument.name);
            match argument.access {
                Some(Access::Read) => format!("const {element} *__restrict__ {name}"),
                Some(_) if argument.alone => format!("{element} *__restrict__ {name}"),
                Some(_) => format!("{element} *{name}"),
                None => format!("{element} {name}"),
            }
        });
        let bounds = match kernel.resident {
            0 | 1 => kernel.threads.to_string(),
            blocks => format!("{}, {blocks}", kernel.threads),
        };
        text.line(&format!("extern \"C\" __global__ void __launch_bounds__({bounds})"));
        text.open(&format!("{}({parameters})", kernel.entry));
        text.line("await_earlier_kernels();");
        let arena = &kernel.arena;
        if kernel.shared_is_dynamic {
            text.line(&format!("extern __shared__ __align__(16) unsigned char {arena}[];"));
        } else if kernel.shared_bytes > 0 {
            text.line(&format!("__shared__ __align__(16) unsigned char {arena}[{}];", kernel.shared_bytes));
        }
        for array in &kernel.shared {
            let (element, name) = (self.element(array.ty), &array.name);
            text.line(&format!("{element} *{name} = ({element} *)({arena} + {});", array.offset));
        }
        if let Some(Stop { record, end, .. }) = &kernel.stop {
            text.line(&format!("i64 {end} = stop_time_i64({record});"));
        }
    }

    fn open_blocks(&self, _kernel: &Kernel, block: &str, blocks: &str, text: &mut Text) {
        text.open(&format!("for (i64 {block} = blockIdx.x; {block} < {blocks}; {block} += gridDim.x)"));
    }

    fn open_own_block(&self, ty: &str, block: &str, blocks: &str, text: &mut Text) -> bool {
        text.line(&format!("{ty} {block} = ({ty})blockIdx.x;"));
        text.open(&format!("if ({block} < {blocks})"));
        true
    }

    fn unroll_some(&self) -> Option<&'static str> {
        Some("#pragma unroll 4")
    }

    fn threads(&self) -> Threads {
        Threads::Numbered { thread: "threadIdx.x", warps: self.has_warps() }
    }

    fn barrier(&self) -> Option<&'static str> {
        Some("__syncthreads();")
    }

    fn warp_barrier(&self) -> Option<&'static str> {
        Some("__syncwarp();")
    }

    fn fence(&self, scope: Scope) -> Option<&'static str> {
        Some(match scope {
            // A warp's lanes may be apart here, so it cannot be `__syncwarp`.
            Scope::Warp | Scope::Block => "__threadfence_block();",
            Scope::Grid => "__threadfence();",
        })
    }

    fn shuffle(&self, op: CollectiveOp) -> &'static str {
        match op {
            CollectiveOp::ShuffleUp => "__shfl_up_sync",
            CollectiveOp::ShuffleDown => "__shfl_down_sync",
            CollectiveOp::ShuffleXor => "__shfl_xor_sync",
            _ => "__shfl_sync",
        }
    }

    fn vote(&self, op: CollectiveOp) -> &'static str {
        match op {
            CollectiveOp::All => "__all_sync",
            CollectiveOp::Any => "__any_sync",
            _ => "__ballot_sync",
        }
    }

    fn atomic(&self, atomic: Atomic) -> Function {
        use ScalarType::*;
        let Some(name) = atomic_function(atomic.op).filter(|_| !atomic.ty.is_small()) else {
            return Function::Helper;
        };
        let direct = match atomic.op {
            AtomicOp::Add => atomic.ty != I64,
            AtomicOp::Min | AtomicOp::Max => true,
            AtomicOp::Exchange => !matches!(atomic.ty, I64 | F64),
            AtomicOp::Sub => atomic.ty.bytes() == 4,
            AtomicOp::CompareExchange => matches!(atomic.ty, I32 | U32 | U64),
            _ => atomic.ty != I64,
        };
        if direct { Function::Builtin(name.to_owned()) } else { Function::Helper }
    }

    fn atomic_body(&self, atomic: Atomic) -> String {
        let Atomic { op, ty, shared } = atomic;
        let register = self.register(ty);
        // The letter by which assembly text asks for a register of the type.
        let (kind, letter) = match ty {
            ScalarType::F32 => ("f32", "f"),
            ScalarType::F64 => ("f64", "d"),
            // There are no registers of 8 bits.
            ty if ty.bytes() == 1 => ("b8", "h"),
            ty if ty.bytes() == 2 => ("b16", "h"),
            ty if ty.bytes() == 8 => ("b64", "l"),
            _ => ("b32", "r"),
        };
        let (scope, address) = if shared {
            ("cta.shared", "\"r\"((u32)__cvta_generic_to_shared(p))")
        } else {
            ("gpu", "\"l\"(p)")
        };
        let (held, back) = match letter {
            "h" => ("unsigned short", format!("({register})")),
            _ => (register, String::new()),
        };
        match op {
            AtomicOp::Exchange | AtomicOp::CompareExchange if ty.is_small() => {
                atomic.body_on_words(self.element(ty), "", "atomicCAS")
            }
            AtomicOp::Load(order) => format!(
                "{held} v;
    asm volatile(\"ld.{}.{scope}.{kind} %0, [%1];\" : \"={letter}\"(v) : {address} : \"memory\");
    return {back}v;",
                if order == Order::Ordered { "acquire" } else { "relaxed" }
            ),
            AtomicOp::Store(order) => format!(
                "asm volatile(\"st.{}.{scope}.{kind} [%0], %1;\" :: {address}, \"{letter}\"({}v) : \"memory\");",
                if order == Order::Ordered { "release" } else { "relaxed" },
                if letter == "h" { "(unsigned short)" } else { "" }
            ),
            AtomicOp::Sub => format!("return ({register})atomicAdd((u64 *)p, 0 - (u64)v);"),
            AtomicOp::Exchange if ty == ScalarType::F64 => {
                "return __longlong_as_double((i64)atomicExch((u64 *)p, (u64)__double_as_longlong(v)));"
                    .to_owned()
            }
            AtomicOp::CompareExchange if ty.is_float() => {
                let (bits, to, from) = match ty {
                    ScalarType::F32 => ("u32", "__float_as_uint", "__uint_as_float"),
                    _ => ("u64", "(u64)__double_as_longlong", "__longlong_as_double"),
                };
                format!("return {from}(atomicCAS(({bits} *)p, {to}(expected), {to}(v)));")
            }
            AtomicOp::CompareExchange => {
                format!("return ({register})atomicCAS((u64 *)p, (u64)expected, (u64)v);")
            }
            op => {
                let name = atomic_function(op).unwrap_or_default();
                format!("return ({register}){name}((u64 *)p, (u64)v);")
            }
        }
    }

    fn unroll(&self) -> Option<&'static str> {
        Some("#pragma unroll")
    }

    fn static_shared_bytes(&self) -> u32 {
        48 << 10
    }

    fn space(&self, _shared: bool) -> &'static str {
        ""
    }

    fn vector(&self, ty: ScalarType, count: usize) -> Option<String> {
        vector_type(ty, count, "longlong")
    }

    fn make_vector(&self, vector: &str, values: &[String]) -> String {
        format!("make_{vector}({})", values.join(", "))
    }

    fn function(&self, op: Op, ty: ScalarType, _options: &EmitOptions) -> Function {
        // Fast variants are the compiler's to choose: `--use_fast_math`.
        let name = match op {
            // Both are an instruction, which orders zeros as the language does.
            Op::Min => "fmin",
            Op::Max => "fmax",
            op => function_name(op),
        };
        let suffix = if ty == ScalarType::F32 { "f" } else { "" };
        Function::Builtin(format!("{name}{suffix}"))
    }

    fn half_body(&self, ty: ScalarType, widens: bool) -> Option<String> {
        let assembly = match (ty, widens) {
            (ScalarType::F16, true) => "float b;\n    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(b) : \"h\"(a));",
            (ScalarType::F16, false) => "f16 b;\n    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(a));",
            _ => return None,
        };
        Some(format!("{assembly}\n    return b;"))
    }

    fn bitcast(&self, to: ScalarType, from: ScalarType) -> Option<&'static str> {
        use ScalarType::*;
        Some(match (to, from) {
            (F32, I32) => "__int_as_float",
            (F32, U32) => "__uint_as_float",
            (I32, F32) => "__float_as_int",
            (U32, F32) => "__float_as_uint",
            (F64, I64 | U64) => "__longlong_as_double",
            (I64, F64) => "__double_as_longlong",
            (U64, F64) => "(u64)__double_as_longlong",
            _ => return None,
        })
    }

    fn count_bits(&self, op: Op, ty: ScalarType, value: &str) -> String {
        let name = if op == Op::CountOnes { "__popc" } else { "__clz" };
        let suffix = if ty.bytes() == 8 { "ll" } else { "" };
        format!("{name}{suffix}({value})")
    }

    fn truncate(&self, to: ScalarType, from: ScalarType, value: &str) -> String {
        let from = if from == ScalarType::F32 { "float" } else { "double" };
        let to = match to {
            ScalarType::I32 => "int",
            ScalarType::U32 => "uint",
            ScalarType::U64 => "ull",
            _ => "ll",
        };
        format!("__{from}2{to}_rz({value})")
    }

    fn truncation_saturates(&self) -> bool {
        true
    }

    fn is_stopped(&self, stop: &Stop) -> String {
        format!("stopped_i64({}, {})", stop.record, stop.end)
    }

    fn are_stopped(&self, stop: &Stop, members: Option<&str>) -> (Vec<String>, String) {
        let test = self.is_stopped(stop);
        let condition = match members {
            Some(members) => format!("__any_sync({members}, {test})"),
            None => format!("__syncthreads_or({test})"),
        };
        (Vec::new(), condition)
    }

    fn keep_failure(&self) -> &'static str {
        "if (atomicCAS((u64 *)failure, 0ull, (u64)code) == 0ull) {"
    }
}

/// The function that does something atomically to integers.
fn atomic_function(op: AtomicOp) -> Option<&'static str> {
    Some(match op {
        AtomicOp::Add => "atomicAdd",
        AtomicOp::Sub => "atomicSub",
        AtomicOp::Min => "atomicMin",
        AtomicOp::Max => "atomicMax",
        AtomicOp::And => "atomicAnd",
        AtomicOp::Or => "atomicOr",
        AtomicOp::Xor => "atomicXor",
        AtomicOp::Exchange => "atomicExch",
        AtomicOp::CompareExchange => "atomicCAS",
        AtomicOp::Load(_) | AtomicOp::Store(_) => return None,
    })
}
