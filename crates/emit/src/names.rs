//! Names for values, memories and the writer's own variables: identifiers of every dialect, each given once.
//!
//! Words that one dialect reserves are avoided in all of them, so that a program reads the same in each.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that cannot be (or had better not be) the name of a variable: keywords, types, and functions and constants
/// that the emitted text or its environment uses.
const RESERVED: &str = "
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
    asm typeof alignas alignof bool complex imaginary noreturn static_assert thread_local true false
    and and_eq bitand bitor catch char16_t char32_t char8_t class co_await co_return co_yield compl concept const_cast
    consteval constexpr constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept
    not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_cast template this
    throw try typeid typename using virtual wchar_t xor xor_eq final override import module
    linux unix i386 NULL main errno assert
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t
    i8 i16 u8 u16 f16 bf16 i32 i64 u32 u64 f32 f64 LANES LANES_WIDE args first_block last_block
    kernel global local constant private generic read_only write_only read_write half quad uchar ushort uint ulong
    image1d_t image2d_t image3d_t image1d_array_t image2d_array_t image1d_buffer_t sampler_t event_t queue_t pipe
    get_global_id get_local_id get_group_id get_num_groups get_local_size get_global_size get_work_dim
    get_global_offset barrier ORDER_MEMORY await_earlier_kernels mem_fence read_mem_fence write_mem_fence CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE
    vload2 vload3 vload4 vload8 vload16 vstore2 vstore3 vstore4 vstore8 vstore16 prefetch printf
    atom_add atom_sub atom_min atom_max atom_and atom_or atom_xor atom_cmpxchg atom_xchg
    threadIdx blockIdx blockDim gridDim warpSize dim3 texture surface
    clock clock64 trap memcpy memset memmove malloc free
    abs labs llabs min max clamp mix step smoothstep sign select any all dot cross distance length normalize
    degrees radians mad mad24 mul24 mul_hi mad_hi mad_sat add_sat sub_sat hadd rhadd rotate popcount clz ctz
    bitselect shuffle shuffle2 isequal isnotequal isless isgreater isordered isunordered signbit
    isnan isinf isfinite isnormal fabs fmin fmax fmod fma floor ceil round trunc rint sqrt rsqrt cbrt hypot
    exp exp2 exp10 expm1 log log2 log10 log1p logb pow pown powr rootn
    sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sinpi cospi tanpi asinpi acospi atanpi sincos
    erf erfc tgamma lgamma copysign remainder remquo fdim frexp ldexp modf nextafter nan ilogb fract maxmag
    minmag
    cyl_bessel_i0 cyl_bessel_i1 erfcinv erfcx erfinv fdivide j0 j0f j1 j1f jn jnf y0 y0f y1 y1f yn ynf
    llrint llround lrint lround nearbyint nexttoward scalbln scalbn saturate sincospi
    norm norm3d norm4d normcdf normcdfinv rnorm rnorm3d rnorm4d rcbrt rhypot umin umax llmin llmax ullmin ullmax
    Quadrant Pair Scaled Hyperbolic Halves Binary Turn Factorial
    std va_arg va_copy va_end va_list va_start clock_t libraryPropertyType
    INFINITY NAN HUGE_VAL HUGE_VALF MAXFLOAT FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON INT_MAX INT_MIN
    UINT_MAX LONG_MAX LONG_MIN ULONG_MAX CHAR_BIT M_E M_PI M_LOG2E M_LOG10E M_LN2 M_LN10
";

static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| RESERVED.split_whitespace().collect());

/// The longest name that is taken from a program as it is: OpenCL promises to keep 256 characters apart, PoCL makes the names
/// of files and folders of a kernel's, and numbers may be put behind one.
const LONGEST: usize = 100;

/// Length of the readable part of a longer name, before its hash.
const READABLE: usize = 80;

/// Hands out names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The last number that was put behind a name.
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Returns a name that is not taken yet, as close to `hint` as may be.
    pub(crate) fn fresh(&mut self, hint: &str) -> String {
        let base = identifier(hint);
        let mut name = base.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(base.clone()).or_insert(0);
            *number += 1;
            // Two underscores in a row belong to the compiler.
            let separator = if base.ends_with('_') { "" } else { "_" };
            name = format!("{base}{separator}{number}");
        }
        name
    }
}

/// An identifier made from a hint: legal in every dialect and reserved in none.
pub(crate) fn identifier(hint: &str) -> String {
    let mut name = String::with_capacity(hint.len());
    for c in hint.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        // Two underscores in a row belong to the compiler, here too.
        if c != '_' || !name.ends_with('_') {
            name.push(c);
        }
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert(0, 'v');
    }
    if name.len() > LONGEST {
        // All of it is ASCII by now.
        name.truncate(READABLE);
        name.truncate(name.trim_end_matches('_').len());
        name.push_str(&format!("_{:016x}", hash(hint)));
    }
    if is_reserved(&name) {
        name.push('_');
    }
    name
}

/// A hash that is the same in every process, so that a program's text is too: FNV-1a.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Whether some dialect uses this word.
pub(crate) fn is_reserved(name: &str) -> bool {
    let is_cuda = ["cuda", "atomic"].iter().any(|prefix| name.starts_with(prefix));
    is_cuda || WORDS.contains(name) || is_vector(name) || is_float_function(name) || is_helper(name)
}

/// `float4` and the like, also `make_float4`, `convert_float4`, `as_float4`, `vload4`.
fn is_vector(name: &str) -> bool {
    let name = ["make_", "convert_", "as_", "native_", "half_"]
        .into_iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let kinds = [
        "bool",
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
        "half",
    ];
    kinds.contains(&kind) && matches!(&name[kind.len()..], "" | "1" | "2" | "3" | "4" | "8" | "16")
}

/// The `f`-suffixed forms of the mathematical functions.
fn is_float_function(name: &str) -> bool {
    name.strip_suffix('f').is_some_and(|stem| stem.len() > 2 && WORDS.contains(stem))
}

/// The writer's helper functions end in the type that they are for.
fn is_helper(name: &str) -> bool {
    ["_i32", "_i64", "_u32", "_u64", "_f32", "_f64"].iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_hint_makes_a_plain_identifier(hint in any::<String>()) {
            let name = identifier(&hint);
            prop_assert!(name.starts_with(|c: char| c.is_ascii_alphabetic()), "{name}");
            prop_assert!(name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()), "{name}");
            prop_assert!(!name.contains("__") && !is_reserved(&name), "{name}");
        }
    }

    #[test]
    fn long_names_keep_their_beginning_and_stay_apart() {
        let mut names = Names::default();
        let long = "sum_of_".repeat(2_000);
        let (one, other) = (names.fresh(&long), names.fresh(&format!("{long}squares")));
        assert!(one.starts_with("sum_of_sum_of_") && one.len() <= LONGEST && other.len() <= LONGEST);
        assert_ne!(one, other);
        assert_eq!(one, Names::default().fresh(&long));
        assert_eq!(identifier(&"x".repeat(LONGEST)), "x".repeat(LONGEST));
    }

    #[test]
    fn names_are_legal_and_given_once() {
        let mut names = Names::default();
        assert_eq!(names.fresh("x"), "x");
        assert_eq!(names.fresh("x"), "x_1");
        assert_eq!(names.fresh("x_1"), "x_1_1");
        assert_eq!(names.fresh(""), "v");
        assert_eq!(names.fresh("2nd value"), "v2nd_value");
        assert_eq!(names.fresh("__x"), "v_x");
        assert_eq!(names.fresh("größe"), "gr_e");
        for word in
            ["kernel", "float4", "threadIdx", "half", "expf", "make_int2", "min_f32", "linux", "private"]
        {
            assert_eq!(names.fresh(word), format!("{word}_"));
        }
    }
}
