// Logarithms, powers, and the inverses of hyperbolic functions, of doubles. Sections are as in pair.c.

//@ binary_normal_f64: bits_f64_i64 bits_i64_f64
// A positive normal number as 2^(exponent + more) (1 + fraction), with the sum in the brackets from sqrt(1/2) to sqrt(2).
typedef struct { double exponent; double fraction; } Binary;
static inline Binary binary_normal_f64(double x, double more) {
    // Moved so that the exponent changes at sqrt(1/2), whose bits these are.
    u64 i = (u64)bits_f64_i64(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    Binary b;
#ifdef __FAST_MATH__
    b.exponent = (double)((i32)(i >> 52) - 1023) - more;
#else
    // These bits are 2^52 and the integer: a conversion that takes an instruction. Fast maths might subtract later.
    b.exponent = bits_i64_f64((i64)(i >> 52 | 0x4330000000000000)) - (0x1p52 + 1023.0 + more);
#endif
    b.fraction = bits_i64_f64((i64)((i & 0xfffffffffffff) + 0x3fe6a09e667f3bcd)) - 1.0;
    return b;
}

//@ binary_f64: binary_normal_f64
// A positive number likewise; subnormal ones are made normal first.
static inline Binary binary_f64(double x) {
    int small = x < 0x1p-1022;
    return binary_normal_f64(small ? x * 0x1p54 : x, small ? 54.0 : 0.0);
}

//@ log_rest_f64: mad_f64
// f less the logarithm of 1 + f, and something small to add. That logarithm is 2 atanh s = f - s (f - s^2 (2/3 + ...)), with
// s = f / (2 + f).
static inline double log_rest_f64(double f, double more) {
    double s = f / (2.0 + f);
    double z = s * s;
    double p = 0x1.2f08f3aec17a4p-3;
    p = mad_f64(p, z, 0x1.39a1648289189p-3);
    p = mad_f64(p, z, 0x1.74664212e36a6p-3);
    p = mad_f64(p, z, 0x1.c71c51fad54ebp-3);
    p = mad_f64(p, z, 0x1.2492494201d6ep-2);
    p = mad_f64(p, z, 0x1.999999997fca1p-2);
    p = mad_f64(p, z, 0x1.5555555555593p-1);
    return mad_f64(s, mad_f64(-p, z, f), more);
}

//@ log_core_of_f64: log_rest_f64 binary_f64
// The natural logarithm of 2^exponent (1 + fraction), and something small to add.
static inline double log_core_of_f64(Binary b, double more) {
    double u = log_rest_f64(b.fraction, mad_f64(b.exponent, -0x1.a39ef35793c76p-33, -more));
    return mad_f64(b.exponent, 0x1.62e42feep-1, b.fraction - u);
}

//@ log_f64: log_core_of_f64 log_ends_f64
static inline double log_f64(double x) { return log_ends_f64(x, log_core_of_f64(binary_f64(x), 0.0)); }

//@ log_of_pair_f64: log_core_of_f64 sum_f64
// The natural logarithm of a positive pair.
static inline double log_of_pair_f64(Pair a) { return log_core_of_f64(binary_f64(a.high), a.low / a.high); }

//@ ln_1p_f64: log_of_pair_f64
static inline double ln_1p_f64(double x) {
    double p = log_of_pair_f64(sum_f64(1.0, x));
    p = x < __builtin_inf() ? p : x;
    p = x == -1.0 ? -__builtin_inf() : p;
    p = x < -1.0 ? __builtin_inf() - __builtin_inf() : p;
    // Minus zero stays what it is.
    return x == 0.0 ? x : p;
}

//@ log2_of_f64: mad_f64 binary_f64 near_mad_f64 remains_f64
// The binary logarithm of a positive number, to 2^-65.
static inline Pair log2_of_f64(double x) {
    Binary m = binary_f64(x);
    double f = m.fraction;
    // s = f / (2 + f), and log(1 + f) = 2 s + s^3 (2/3 + ...); the reciprocal of 2 + f is (1 - s) / 2.
    double s = f / (2.0 + f);
    double twice = s + s;
    double s2 = remains_f64(f - twice, s, f) * mad_f64(s, -0.5, 0.5);
    double z = s * s;
    double z2 = mad_f64(twice, s2, residue_f64(s, s, z));
    double q = z * z;
    double a = mad_f64(0x1.a61762a759696p-2, z, 0x1.2776c50ef9d24p-1);
    double b = mad_f64(0x1.0c9a63cfa52e6p-2, z, 0x1.484b1421accb6p-2);
    double c = mad_f64(0x1.87b080b64fae5p-3, z, 0x1.c69f8ec4cff02p-3);
    c = mad_f64(0x1.85eb8f7490ec5p-3, q, c);
    double p = mad_f64(mad_f64(c, q, b), q, a);
    Pair u = near_mad_f64(p, z, 0x1.ec709dc3a03fdp-1);
    u.low += 0x1.d27f05548af0cp-55;
    Pair g = near_mad_f64(z, u.high, 0x1.71547652b82fep1);
    g.low += mad_f64(z, u.low, mad_f64(z2, u.high, 0x1.777d0ffda0d24p-55));
    Pair y = near_mad_f64(s, g.high, m.exponent);
    y.low = mad_f64(s, g.low, mad_f64(s2, g.high, y.low));
    return y;
}

//@ log_to_f64: log_rest_f64 near_sum_f64 residue_f64
// whole + rest + (factor + factor2) log(1 + f), of which the first is not smaller than the last, unless it is 0.
static inline double log_to_f64(double f, double whole, double rest, double factor, double factor2) {
    double t = f * factor;
    double low = mad_f64(f, factor2, residue_f64(f, factor, t) + rest);
    low = mad_f64(-log_rest_f64(f, -0.0), factor, low);
    Pair y = near_sum_f64(whole, t);
    return y.high + (y.low + low);
}

//@ log_ends_f64
// A logarithm of x; where x has none, what it has instead.
static inline double log_ends_f64(double x, double y) {
    y = x < __builtin_inf() ? y : x;
    y = x == 0.0 ? -__builtin_inf() : y;
    return x < 0.0 ? __builtin_inf() - __builtin_inf() : y;
}

//@ log2_f64: log_to_f64 binary_f64 log_ends_f64
static inline double log2_f64(double x) {
    Binary b = binary_f64(x);
    return log_ends_f64(x, log_to_f64(b.fraction, b.exponent, -0.0, 0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56));
}

//@ log10_f64: log_to_f64 binary_f64 log_ends_f64
static inline double log10_f64(double x) {
    Binary b = binary_f64(x);
    // The first part of the logarithm of 2 has so few bits that its multiples are exact.
    double whole = b.exponent * 0x1.34413508p-2;
    double rest = b.exponent * 0x1.f79fef311f12bp-34;
    return log_ends_f64(x, log_to_f64(b.fraction, whole, rest, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
}

//@ pow_f64: log2_of_f64 exp2_rest_f64 scale_f64 remains_f64 bits_f64_i64 bits_i64_f64
static inline double pow_f64(double x, double y) {
    double a = __builtin_fabs(x);
    Pair l = log2_of_f64(a);
    Whole n = whole_f64(y, l.high, 2046.0);
    double r = mad_f64(y, l.low, remains_f64(-n.value, -y, l.high));
    double p = scale_f64(mad_f64(exp2_rest_f64(r), r, 1.0), n);
    // How far the power is from an even number. Of negative numbers there are whole powers only, and odd ones are negative.
    double rest = __builtin_fabs(mad_f64(-2.0, __builtin_rint(0.5 * y), y));
    int none = (x < 0.0) & (a < __builtin_inf()) & (rest > 0.0) & (rest < 1.0);
    i64 sign = rest == 1.0 ? bits_f64_i64(x) : 0;
    // What is too large or too small, or has no logarithm. Of t = 0 and of zero times infinity, one.
    double t = y * l.high;
    int moves = __builtin_islessgreater(t, 0.0);
    double end = moves ? (t > 0.0 ? __builtin_inf() : 0.0) : 1.0;
    end = __builtin_isunordered(x, y) ? x + y : end;
    end = (x == 1.0) | (y == 0.0) ? 1.0 : end;
    end = none ? __builtin_inf() - __builtin_inf() : end;
    p = (a > 0.0) & (a < __builtin_inf()) & (__builtin_fabs(t) < 1100.0) & moves & !none ? p : end;
    return bits_i64_f64(bits_f64_i64(p) | (i64)((u64)sign & 0x8000000000000000));
}

//@ asinh_f64: log_of_pair_f64 residue_f64 root_f64 mad_f64
static inline double asinh_f64(double x) {
    double a = __builtin_fabs(x);
    // Beyond, the logarithm of 2 a.
    int large = a > 0x1p30;
    double b = large ? 1.0 : a;
    double p = b * b;
    Pair q = sum_f64(1.0, p);
    q.low += residue_f64(b, b, p);
    Pair r = root_f64(q);
    Pair s = sum_f64(r.high, b);
    s.low += r.low;
    s.high = large ? a : s.high;
    s.low = large ? 0.0 : s.low;
    Binary m = binary_f64(s.high);
    m.exponent += large ? 1.0 : 0.0;
    double y = log_core_of_f64(m, s.low / s.high);
    // Where that would cancel, the series.
    double z = b * b;
    double t = mad_f64(z, mad_f64(z, mad_f64(z, -0x1.6db6db6db6db7p-5, 0x1.3333333333333p-4), -0x1.5555555555555p-3), 0.0);
    y = a < 0x1p-7 ? mad_f64(t, b, b) : y;
    return __builtin_copysign(a < __builtin_inf() ? y : a, x);
}

//@ acosh_f64: log_of_pair_f64 residue_f64 root_f64
static inline double acosh_f64(double x) {
    int large = x > 0x1p30;
    // With t = x - 1, the logarithm of 1 + t + sqrt(t (2 + t)).
    double t = large ? 1.0 : x - 1.0;
    Pair d = sum_f64(2.0, t);
    Pair p;
    p.high = t * d.high;
    p.low = residue_f64(t, d.high, p.high) + t * d.low;
    Pair r = root_f64(p);
    Pair u = sum_f64(r.high, t);
    u.low += r.low;
    Pair s = sum_f64(1.0, u.high);
    s.low += u.low;
    s.high = large ? x : s.high;
    s.low = large ? 0.0 : s.low;
    Binary m = binary_f64(s.high);
    m.exponent += large ? 1.0 : 0.0;
    double y = log_core_of_f64(m, s.low / s.high);
    y = x < __builtin_inf() ? y : x;
    return x < 1.0 ? __builtin_inf() - __builtin_inf() : y;
}

//@ atanh_f64: log_of_pair_f64 quotient_f64
static inline double atanh_f64(double x) {
    double a = __builtin_fabs(x);
    Pair n;
    n.high = a + a;
    n.low = 0.0;
    Pair q = quotient_f64(n, sum_f64(1.0, -a));
    Pair s = sum_f64(1.0, q.high);
    s.low += q.low;
    double y = 0.5 * log_of_pair_f64(s);
    y = a < 0x1p-30 ? a : y;
    y = a == 1.0 ? __builtin_inf() : y;
    return __builtin_copysign(a > 1.0 ? __builtin_inf() - __builtin_inf() : y, x);
}
