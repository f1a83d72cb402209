// Logarithms, powers, and the inverses of hyperbolic functions, of doubles. Sections are as in pair.c.

//@ binary_f64: bits_f64_i64 bits_i64_f64
// A positive number as 2^exponent (1 + fraction), with the sum in the brackets around 1.
typedef struct { double exponent; double fraction; } Binary;
static inline Binary binary_f64(double x) {
    // Subnormal numbers are made normal first.
    int small = x < 0x1p-1022;
    i64 i = bits_f64_i64(small ? x * 0x1p54 : x);
    i32 k = (i32)((i - 0x3fe6a09e667f3bcd) >> 52);
    Binary b;
    b.exponent = (double)(small ? k - 54 : k);
    b.fraction = bits_i64_f64((i64)((u64)i - ((u64)(i64)k << 52))) - 1.0;
    return b;
}

//@ log_core_of_f64: mad_f64 binary_f64
// The natural logarithm of 2^exponent (1 + fraction), and something small to add.
static inline double log_core_of_f64(Binary b, double more) {
    double f = b.fraction;
    double h = 0.5 * f * f;
    double s = f / (2.0 + f);
    double z = s * s;
    double p = 0x1.2f08ece6db268p-3;
    p = mad_f64(p, z, 0x1.39a165345422dp-3);
    p = mad_f64(p, z, 0x1.7466420bd5a2dp-3);
    p = mad_f64(p, z, 0x1.c71c51faf7a7cp-3);
    p = mad_f64(p, z, 0x1.2492494201afap-2);
    p = mad_f64(p, z, 0x1.999999997fca3p-2);
    p = mad_f64(p, z, 0x1.5555555555593p-1);
    return b.exponent * 0x1.62e42feep-1
        - ((h - mad_f64(s, mad_f64(p, z, h), mad_f64(b.exponent, 0x1.a39ef35793c76p-33, more))) - f);
}

//@ log_f64: log_core_of_f64
static inline double log_f64(double x) {
    double p = log_core_of_f64(binary_f64(x), 0.0);
    p = x < __builtin_inf() ? p : x;
    p = x == 0.0 ? -__builtin_inf() : p;
    return x < 0.0 ? __builtin_inf() - __builtin_inf() : p;
}

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

//@ log2_of_f64: mad_f64 binary_f64 near_sum_f64 remains_f64
// The binary logarithm of a positive number, to 2^-65.
static inline Pair log2_of_f64(double x) {
    Binary b = binary_f64(x);
    double f = b.fraction;
    // s = f / (2 + f), and log(1 + f) = 2 s + s^3 (2/3 + ...)
    Pair d = near_sum_f64(2.0, f);
    double r = 1.0 / d.high;
    double s = f * r;
    double s2 = mad_f64(-s, d.low, remains_f64(f, s, d.high)) * r;
    double z = s * s;
    double z2 = mad_f64(s + s, s2, residue_f64(s, s, z));
    double p = 0x1.85eb75873978ap-3;
    p = mad_f64(p, z, 0x1.87b0834c9228ap-3);
    p = mad_f64(p, z, 0x1.c69f8eab83aa6p-3);
    p = mad_f64(p, z, 0x1.0c9a63cfdf96ep-2);
    p = mad_f64(p, z, 0x1.484b1421ac4f6p-2);
    p = mad_f64(p, z, 0x1.a61762a75969cp-2);
    p = mad_f64(p, z, 0x1.2776c50ef9d24p-1);
    Pair c = near_sum_f64(0x1.ec709dc3a03fdp-1, p * z);
    c.low += 0x1.d27f05548af0cp-55;
    double w = z * c.high;
    double w2 = mad_f64(z, c.low, mad_f64(z2, c.high, residue_f64(z, c.high, w)));
    Pair g = near_sum_f64(0x1.71547652b82fep1, w);
    g.low += w2 + 0x1.777d0ffda0d24p-55;
    double t = s * g.high;
    double t2 = mad_f64(s, g.low, mad_f64(s2, g.high, residue_f64(s, g.high, t)));
    Pair y = near_sum_f64(b.exponent, t);
    y.low += t2;
    return y;
}

//@ log2_parts_f64: log2_of_f64
// The same of a number that is not negative.
static inline Pair log2_parts_f64(double x) {
    Pair y = log2_of_f64(x);
    int finite = (x < __builtin_inf()) & (x > 0.0);
    y.high = finite ? y.high : x == 0.0 ? -__builtin_inf() : x;
    y.low = finite ? y.low : 0.0;
    return y;
}

//@ log2_f64: log2_parts_f64
static inline double log2_f64(double x) {
    Pair y = log2_parts_f64(x);
    double p = y.high + y.low;
    return x < 0.0 ? __builtin_inf() - __builtin_inf() : p;
}

//@ log10_f64: log2_parts_f64 residue_f64
static inline double log10_f64(double x) {
    Pair l = log2_parts_f64(x);
    double p = l.high * 0x1.34413509f79ffp-2;
    double q = p + (residue_f64(l.high, 0x1.34413509f79ffp-2, p) + (l.high * -0x1.9dc1da994fd21p-59 + l.low * 0x1.34413509f79ffp-2));
    q = x < __builtin_inf() ? q : x;
    q = x == 0.0 ? -__builtin_inf() : q;
    return x < 0.0 ? __builtin_inf() - __builtin_inf() : q;
}

//@ pow_f64: log2_parts_f64 exp2_parts_f64 scale_f64 residue_f64
static inline double pow_f64(double x, double y) {
    double a = __builtin_fabs(x);
    Pair l = log2_parts_f64(a);
    double t = y * l.high;
    double t2 = mad_f64(y, l.low, residue_f64(y, l.high, t));
    t2 = __builtin_fabs(t) < 1100.0 ? t2 : 0.0;
    double u = t < -1100.0 ? -1100.0 : t;
    u = u < 1100.0 ? u : 1100.0;
    Scaled s = exp2_parts_f64(u, t2);
    double p = scale_f64(s.value, s.exponent);
    // Zero times infinity: one to any power, and any number to the power zero.
    p = t == t ? p : 1.0;
    double half = 0.5 * y;
    int whole = __builtin_trunc(y) == y;
    int odd = whole & (__builtin_trunc(half) != half);
    p = odd ? __builtin_copysign(p, x) : p;
    p = (x < 0.0) & !whole & (a < __builtin_inf()) ? __builtin_inf() - __builtin_inf() : p;
    p = (x == x) & (y == y) ? p : x + y;
    return (x == 1.0) | (y == 0.0) ? 1.0 : p;
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
