// Pairs of doubles, for functions that need more digits than a double has on the way; and roots, which need little else.
// Without branches and without calls, so that loops over these functions vectorise, and within 2 units in the last place.
// `//@` names a section and what it builds on; a program's prelude takes only those that it needs. The polynomials of all files
// are minimax, by Remez' algorithm (coefficients.py).

//@ pair_f64
// A value as the sum of two doubles, of which the second is small beside the first.
typedef struct { double high; double low; } Pair;

//@ residue_f64
// What rounding took from a product: a * b - p, exactly, where p is a * b rounded.
static inline double residue_f64(double a, double b, double p) {
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    return __builtin_fma(a, b, -p);
#else
    // Halves of the factors, whose products are exact.
    double s = 0x1.0000002p27 * a;
    double t = 0x1.0000002p27 * b;
    double a1 = s - (s - a);
    double b1 = t - (t - b);
    double a2 = a - a1;
    double b2 = b - b1;
    return ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
#endif
}

//@ remains_f64: residue_f64
// What remains of c without a * b, which must be near to it.
static inline double remains_f64(double c, double a, double b) {
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    return __builtin_fma(-a, b, c);
#else
    double p = a * b;
    return (c - p) - residue_f64(a, b, p);
#endif
}

//@ sum_f64: pair_f64
// The sum of two doubles, exactly.
static inline Pair sum_f64(double a, double b) {
    Pair s;
    s.high = a + b;
    double c = s.high - a;
    s.low = (a - (s.high - c)) + (b - c);
    return s;
}

//@ near_sum_f64: pair_f64
// The same, where the first is 0 or not smaller than the second.
static inline Pair near_sum_f64(double a, double b) {
    Pair s;
    s.high = a + b;
    s.low = (a - s.high) + b;
    return s;
}

//@ near_mad_f64: pair_f64 near_sum_f64 residue_f64
// a * b + c as a pair, where c is 0 or at least twice the product.
static inline Pair near_mad_f64(double a, double b, double c) {
    Pair s;
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    s.high = __builtin_fma(a, b, c);
    s.low = __builtin_fma(a, b, c - s.high);
#else
    double p = a * b;
    s = near_sum_f64(c, p);
    s.low += residue_f64(a, b, p);
#endif
    return s;
}

//@ product_f64: pair_f64 residue_f64 near_sum_f64 mad_f64
// The product of two pairs.
static inline Pair product_f64(Pair a, Pair b) {
    double p = a.high * b.high;
    return near_sum_f64(p, mad_f64(a.high, b.low, mad_f64(a.low, b.high, residue_f64(a.high, b.high, p))));
}

//@ quotient_f64: pair_f64 remains_f64 mad_f64
// The quotient of two pairs.
static inline Pair quotient_f64(Pair a, Pair b) {
    double r = 1.0 / b.high;
    Pair q;
    q.high = a.high * r;
    q.low = (remains_f64(a.high, q.high, b.high) + mad_f64(-q.high, b.low, a.low)) * r;
    return q;
}

//@ whole_f64: mad_f64 bits_f64_i64
// The integer n that is nearest to a * b, and bits of which the lowest are those of n + bias: rounding is done, and no conversion
// needed, by an addition to 2^52, where doubles have no fraction. Beyond 2^50 it means nothing.
typedef struct { double value; u64 bits; } Whole;
static inline Whole whole_f64(double a, double b, double bias) {
    Whole n;
#ifdef __FAST_MATH__
    n.value = __builtin_rint(a * b);
    n.bits = (u64)bits_f64_i64(n.value + (0x1.8p52 + bias));
#else
    double t = mad_f64(a, b, 0x1.8p52 + bias);
    n.value = t - (0x1.8p52 + bias);
    n.bits = (u64)bits_f64_i64(t);
#endif
    return n;
}

//@ scale_f64: whole_f64 bits_f64_i64 bits_i64_f64
// a * 2^n for |n| < 2000, also where 2^n is no double: in two steps, of which only the last can round. The bias is 2046.
static inline double scale_f64(double a, Whole n) {
    u64 half = (u64)bits_f64_i64(mad_f64(n.value, 0.5, 0x1.8p52 + 1023.0));
    return a * bits_i64_f64((i64)(half << 52)) * bits_i64_f64((i64)((n.bits - half) << 52));
}

//@ root_f64: pair_f64 remains_f64
// The square root of a pair that is not negative.
static inline Pair root_f64(Pair a) {
    Pair r;
    r.high = __builtin_sqrt(a.high);
    double d = r.high + r.high;
    r.low = (remains_f64(a.high, r.high, r.high) + a.low) / (d == 0.0 ? 1.0 : d);
    return r;
}

//@ cbrt_f64: bits_f64_i64 bits_i64_f64 residue_f64
static inline double cbrt_f64(double x) {
    double a = __builtin_fabs(x);
    double b = a * (a > 0x1p900 ? 0x1p-300 : a < 0x1p-600 ? 0x1p600 : 1.0);
    // A third of the exponent, and about that of the fraction.
    i32 i = (i32)(bits_f64_i64(b) >> 32);
    i32 k = (i32)((double)i * 0x1.5555555555555p-2) + 715094163;
    double y = bits_i64_f64((i64)k << 32);
    // Halley's method, which triples the number of digits; then Newton's, with what rounding took away.
    double c = y * y * y;
    y *= (c + 2.0 * b) / (2.0 * c + b);
    c = y * y * y;
    y *= (c + 2.0 * b) / (2.0 * c + b);
    double s = y * y;
    double t = s * y;
    double d = ((t - b) + residue_f64(s, y, t)) + y * residue_f64(y, y, s);
    y = y - d / (3.0 * s);
    y *= a > 0x1p900 ? 0x1p100 : a < 0x1p-600 ? 0x1p-200 : 1.0;
    return (a < __builtin_inf()) & (a != 0.0) ? __builtin_copysign(y, x) : x;
}

//@ hypot_f64: residue_f64 root_f64 sum_f64
static inline double hypot_f64(double x, double y) {
    double a = __builtin_fabs(x);
    double b = __builtin_fabs(y);
    double high = a < b ? b : a;
    double scale = high > 0x1p500 ? 0x1p-600 : high < 0x1p-500 ? 0x1p600 : 1.0;
    double back = high > 0x1p500 ? 0x1p600 : high < 0x1p-500 ? 0x1p-600 : 1.0;
    double p = a * scale;
    double q = b * scale;
    double p2 = p * p;
    double q2 = q * q;
    Pair s = sum_f64(p2, q2);
    s.low += residue_f64(p, p, p2) + residue_f64(q, q, q2);
    Pair r = root_f64(s);
    double h = (r.high + r.low) * back;
    return (a == __builtin_inf()) | (b == __builtin_inf()) ? __builtin_inf() : h;
}
