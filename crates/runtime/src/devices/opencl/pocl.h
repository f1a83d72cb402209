// What kernels use of OpenCL C. PoCL parses 18,000 lines of declarations for each program, twice, unless their guard is defined: most of the
// time in which it compiles a kernel. Types and most macros come from elsewhere.

// Emitted text is not read by who could mend it.
#pragma clang diagnostic ignored "-Weverything"

#define INFINITY (__builtin_inff())

#define OVERLOADED __attribute__((overloadable))
#define FUNCTION OVERLOADED __attribute__((const))

size_t FUNCTION get_local_id(uint);
size_t FUNCTION get_group_id(uint);
size_t FUNCTION get_num_groups(uint);
void OVERLOADED __attribute__((convergent)) barrier(uint);
void OVERLOADED mem_fence(uint);

#define UNARY(name) float FUNCTION name(float); double FUNCTION name(double);
#define BINARY(name) float FUNCTION name(float, float); double FUNCTION name(double, double);
UNARY(acos) UNARY(acosh) UNARY(asin) UNARY(asinh) UNARY(atan) UNARY(atanh) UNARY(cbrt) UNARY(ceil) UNARY(cos) UNARY(cosh)
UNARY(erf) UNARY(erfc) UNARY(exp) UNARY(exp10) UNARY(exp2) UNARY(expm1) UNARY(fabs) UNARY(floor) UNARY(lgamma) UNARY(log) UNARY(log10)
UNARY(log1p) UNARY(log2) UNARY(rint) UNARY(round) UNARY(sin) UNARY(sinh) UNARY(sqrt) UNARY(tan) UNARY(tanh) UNARY(tgamma)
UNARY(trunc)
BINARY(atan2) BINARY(copysign) BINARY(fmax) BINARY(fmin) BINARY(fmod) BINARY(hypot) BINARY(pow)
float FUNCTION fma(float, float, float);
double FUNCTION fma(double, double, double);

#define NATIVE(name) float FUNCTION native_##name(float);
NATIVE(cos) NATIVE(exp) NATIVE(exp2) NATIVE(log) NATIVE(log10) NATIVE(log2) NATIVE(sin) NATIVE(sqrt) NATIVE(tan)

#define COUNT(name) int FUNCTION name(int); uint FUNCTION name(uint); long FUNCTION name(long); ulong FUNCTION name(ulong);
COUNT(clz) COUNT(popcount)

#define IN_SPACE(space, name, type) type OVERLOADED name(volatile space type *, type);
#define ATOMIC(name, type) IN_SPACE(__global, name, type) IN_SPACE(__local, name, type)
#define ATOMICS(name, type) \
    ATOMIC(name##_add, type) ATOMIC(name##_sub, type) ATOMIC(name##_min, type) ATOMIC(name##_max, type) \
    ATOMIC(name##_and, type) ATOMIC(name##_or, type) ATOMIC(name##_xor, type) ATOMIC(name##_xchg, type) \
    type OVERLOADED name##_cmpxchg(volatile __global type *, type, type); \
    type OVERLOADED name##_cmpxchg(volatile __local type *, type, type);
ATOMICS(atomic, int) ATOMICS(atomic, uint) ATOMICS(atom, long) ATOMICS(atom, ulong)
