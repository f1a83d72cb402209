//! The dialect of CPUs: C11 with what gcc and clang share. One call runs a range of blocks; the threads of a block are
//! a loop.

use std::sync::LazyLock;

use pumice_program::{Access, AtomicOp, Atomics, Capabilities, Order, Scope, Warps};
use pumice_scalar::{Op, ScalarType};

use crate::EmitOptions;
use crate::atomics::Atomic;
use crate::dialect::{self, Function, Kernel, Language, PrivateArray, Stop, Threads};
use crate::helpers::{Helper, Library, library};
use crate::text::Text;

/// Mathematical functions, a file for each subject.
const MATH_FILES: [&str; 6] = [
    include_str!("math/single.c"),
    include_str!("math/pair.c"),
    include_str!("math/exponential.c"),
    include_str!("math/logarithm.c"),
    include_str!("math/angle.c"),
    include_str!("math/special.c"),
];

static MATH: LazyLock<Library> = LazyLock::new(|| MATH_FILES.into_iter().flat_map(library).collect());

/// Private memory of a block up to this size is on the stack of its worker, which may be as small as 2 MiB.
const STACK_BYTES: u64 = 64 << 10;

/// The same for memory that the threads of a block share, all of it together.
const SHARED_STACK_BYTES: u32 = 256 << 10;

/// The most calls of mathematical functions that are inlined whatever it costs: some seconds for gcc.
const MOST_INLINED: usize = 64;

/// The dialect.
pub(crate) struct C;

impl Language for C {
    fn capabilities(&self) -> Capabilities {
        let atomics = Atomics { small: false, ..Capabilities::ALL.atomics };
        Capabilities { atomics, small: false, warps: Warps::OneWorker, ..Capabilities::ALL }
    }

    fn register(&self, ty: ScalarType) -> &'static str {
        match ty {
            // As wide as most values beside it, so that a truth value takes a lane like theirs.
            ScalarType::Bool => "int",
            _ => dialect::scalar_type(ty),
        }
    }

    fn preamble(&self, kernels: &[&Kernel], _options: &EmitOptions, text: &mut Text) {
        text.line("typedef int i32;");
        text.line("typedef unsigned u32;");
        text.line("typedef long long i64;");
        text.line("typedef unsigned long long u64;");
        dialect::define_small_types(kernels, text);
    }

    fn helper(&self) -> &'static str {
        "static inline"
    }

    fn before_helpers(&self, function_calls: usize, text: &mut Text) {
        // Compilers copy long functions into one caller, but not into several, and a loop with a call does not vectorise.
        if (1..=MOST_INLINED).contains(&function_calls) {
            text.line("#define inline inline __attribute__((always_inline))");
        }
    }

    fn open(&self, kernel: &Kernel, text: &mut Text) {
        text.open(&format!("void {}(void *const *args, i64 first_block, i64 last_block)", kernel.entry));
        for (k, argument) in kernel.arguments.iter().enumerate() {
            let name = &argument.name;
            let element = self.element(argument.ty);
            match argument.access {
                Some(access) => {
                    let constant = if access == Access::Read { "const " } else { "" };
                    let restrict = if access == Access::Read || argument.alone { "restrict " } else { "" };
                    text.line(&format!(
                        "{constant}{element} *{restrict}{name} = __builtin_assume_aligned(args[{k}], 64);"
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
        // What is too large for the stack of a worker is kept by it. One worker does one block at a time.
        let kept = if kernel.shared_bytes > SHARED_STACK_BYTES { "static _Thread_local " } else { "" };
        for array in &kernel.shared {
            let (element, name, length) = (self.element(array.ty), &array.name, array.length);
            // Through such a pointer gcc sees that lanes' values, which are arrays too, do not change with it, and keeps them in
            // registers while a loop goes through shared memory. No other name begins with an underscore.
            text.line(&format!("{kept}{element} _of_{name}[{length}] __attribute__((aligned(64)));"));
            text.line(&format!("{element} *restrict {name} = _of_{name};"));
        }
    }

    fn threads(&self) -> Threads {
        Threads::Lanes
    }

    fn barrier(&self) -> Option<&'static str> {
        // The end of a loop over threads is one.
        None
    }

    fn fence(&self, scope: Scope) -> Option<&'static str> {
        // A block has one worker, which sees what it has written.
        (scope == Scope::Grid).then_some("__atomic_thread_fence(__ATOMIC_SEQ_CST);")
    }

    fn atomic_body(&self, atomic: Atomic) -> String {
        if atomic.shared { shared_body(atomic) } else { global_body(atomic) }
    }

    fn atomic_needs(&self, atomic: Atomic) -> Option<Helper> {
        extremum(atomic).map(|op| Helper::Operation(op, atomic.ty))
    }

    fn private(&self, array: &PrivateArray, threads: u32) -> String {
        let PrivateArray { name, ty, length } = array;
        let bytes = ty.bytes() as u64 * u64::from(*length) * u64::from(threads);
        let storage = if bytes > STACK_BYTES { "static _Thread_local " } else { "" };
        let element = self.element(*ty);
        format!("{storage}{element} {name}[{length}][{threads}] __attribute__((aligned(64)));")
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

    fn function(&self, op: Op, ty: ScalarType, _options: &EmitOptions) -> Function {
        if MATH.contains_key(Helper::Operation(op, ty).name().as_str()) {
            return Function::Helper;
        }
        let name = dialect::function_name(op);
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

    fn is_stopped(&self, stop: &Stop) -> String {
        // The host sets it while the kernel runs.
        format!("__atomic_load_n({}, __ATOMIC_RELAXED) != 0", stop.record)
    }

    fn keep_failure(&self) -> &'static str {
        "i64 none = 0;
    if (__atomic_compare_exchange_n(failure, &none, code, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {"
    }
}

/// The operation on floats whose helper an atomic one calls.
fn extremum(atomic: Atomic) -> Option<Op> {
    match atomic.op {
        AtomicOp::Min if atomic.ty.is_float() => Some(Op::Min),
        AtomicOp::Max if atomic.ty.is_float() => Some(Op::Max),
        _ => None,
    }
}

/// Returns the body of an atomic operation on shared memory, which only the block's worker accesses.
fn shared_body(atomic: Atomic) -> String {
    let Atomic { op, ty, .. } = atomic;
    let bits = atomic.bits();
    let changed = match op {
        AtomicOp::Min | AtomicOp::Max if ty.is_float() => {
            let helper = C.atomic_needs(atomic).map(Helper::name).unwrap_or_default();
            format!("{helper}(old, v)")
        }
        AtomicOp::Add | AtomicOp::Sub if !ty.is_float() => {
            let symbol = if op == AtomicOp::Add { "+" } else { "-" };
            format!("({ty})(({bits})old {symbol} ({bits})v)")
        }
        AtomicOp::Add => "old + v".to_owned(),
        AtomicOp::Min => "v < old ? v : old".to_owned(),
        AtomicOp::Max => "old < v ? v : old".to_owned(),
        AtomicOp::And => "old & v".to_owned(),
        AtomicOp::Or => "old | v".to_owned(),
        AtomicOp::Xor => "old ^ v".to_owned(),
        AtomicOp::CompareExchange if ty.is_float() => {
            "__builtin_memcmp(&old, &expected, sizeof old) == 0 ? v : old".to_owned()
        }
        AtomicOp::CompareExchange => "old == expected ? v : old".to_owned(),
        AtomicOp::Load(_) => return "return *p;".to_owned(),
        AtomicOp::Store(_) => return "*p = v;".to_owned(),
        _ => "v".to_owned(),
    };
    let ty = C.register(ty);
    format!("{ty} old = *p; *p = {changed}; return old;")
}

/// Returns the body of an atomic operation on global memory. Only an ordered load or store orders other memory.
fn global_body(atomic: Atomic) -> String {
    let ty = C.register(atomic.ty);
    let relaxed = "__ATOMIC_RELAXED";
    let fetch = |name: &str| format!("return __atomic_fetch_{name}(p, v, {relaxed});");
    let load = format!("{ty} old;\n    __atomic_load(p, &old, {relaxed});");
    let unless_exchanged =
        |new: &str| format!("!__atomic_compare_exchange(p, &old, &{new}, 1, {relaxed}, {relaxed})");
    match atomic.op {
        AtomicOp::Min | AtomicOp::Max if atomic.ty.is_float() => {
            let helper = C.atomic_needs(atomic).map(Helper::name).unwrap_or_default();
            let compute = format!("new = {helper}(old, v)");
            let changes = "__builtin_memcmp(&new, &old, sizeof old) != 0";
            format!(
                "{load}\n    {ty} {compute};\n    while ({changes} && {}) {compute};\n    return old;",
                unless_exchanged("new")
            )
        }
        AtomicOp::Add if atomic.ty.is_float() => format!(
            "{load}\n    {ty} sum;\n    do sum = old + v; while ({});\n    return old;",
            unless_exchanged("sum")
        ),
        AtomicOp::Add => fetch("add"),
        AtomicOp::Sub => fetch("sub"),
        AtomicOp::And => fetch("and"),
        AtomicOp::Or => fetch("or"),
        AtomicOp::Xor => fetch("xor"),
        AtomicOp::Min => {
            format!("{load}\n    while (v < old && {});\n    return old;", unless_exchanged("v"))
        }
        AtomicOp::Max => {
            format!("{load}\n    while (old < v && {});\n    return old;", unless_exchanged("v"))
        }
        AtomicOp::Exchange => {
            format!("{ty} old;\n    __atomic_exchange(p, &v, &old, {relaxed});\n    return old;")
        }
        AtomicOp::CompareExchange => format!(
            "__atomic_compare_exchange(p, &expected, &v, 0, {relaxed}, {relaxed});\n    return expected;"
        ),
        AtomicOp::Load(order) => {
            let order = if order == Order::Ordered { "__ATOMIC_ACQUIRE" } else { relaxed };
            format!("{ty} v;\n    __atomic_load(p, &v, {order});\n    return v;")
        }
        AtomicOp::Store(order) => {
            let order = if order == Order::Ordered { "__ATOMIC_RELEASE" } else { relaxed };
            format!("__atomic_store(p, &v, {order});")
        }
    }
}
