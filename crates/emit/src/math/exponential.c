// Exponentials and hyperbolic functions of doubles. Sections are as in pair.c.

//@ exp_parts_f64: mad_f64
// e^(h + l) as a number around 1, what is left to it, and a power of two, for |h| <= 1100.
typedef struct { double value; double less; double exponent; } Scaled;
static inline Scaled exp_parts_f64(double h, double l) {
    double n = __builtin_rint(h * 0x1.71547652b82fep0);
    double r = mad_f64(n, -0x1.62e42feep-1, h);
    r = mad_f64(n, -0x1.a39ef35793c76p-33, r) + l;
    double p = 0x1.af860af2dc807p-26;
    p = mad_f64(p, r, 0x1.28b0a6d80b4bfp-22);
    p = mad_f64(p, r, 0x1.71dddf796baedp-19);
    p = mad_f64(p, r, 0x1.a0199630f4a0ep-16);
    p = mad_f64(p, r, 0x1.a01a01bb0704ap-13);
    p = mad_f64(p, r, 0x1.6c16c185cabeep-10);
    p = mad_f64(p, r, 0x1.111111110d5cdp-7);
    p = mad_f64(p, r, 0x1.555555554ff92p-5);
    p = mad_f64(p, r, 0x1.5555555555561p-3);
    p = mad_f64(p, r, 0x1.000000000000cp-1);
    p = mad_f64(r * r, p, r);
    Scaled e;
    e.value = 1.0 + p;
    e.less = (1.0 - e.value) + p;
    e.exponent = n;
    return e;
}

//@ exp_f64: exp_parts_f64 scale_f64
static inline double exp_f64(double x) {
    // Beyond these, 0 and infinity. Comparisons keep NaN.
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    Scaled e = exp_parts_f64(x, -0.0);
    return scale_f64(e.value, e.exponent);
}

//@ exp2_parts_f64: mad_f64 residue_f64 exp_parts_f64
// 2^(h + l) likewise.
static inline Scaled exp2_parts_f64(double h, double l) {
    double n = __builtin_rint(h);
    double r = (h - n) + l;
    double p = 0x1.e79b8ca4b3e94p-32;
    p = mad_f64(p, r, 0x1.e61b7112212c5p-28);
    p = mad_f64(p, r, 0x1.b5267d254be6dp-24);
    p = mad_f64(p, r, 0x1.62bfc78b1af3bp-20);
    p = mad_f64(p, r, 0x1.ffcbfba94bcb8p-17);
    p = mad_f64(p, r, 0x1.4309130edf845p-13);
    p = mad_f64(p, r, 0x1.5d87fe78cd7bep-10);
    p = mad_f64(p, r, 0x1.3b2ab6fba00fbp-7);
    p = mad_f64(p, r, 0x1.c6b08d7049fe7p-5);
    p = mad_f64(p, r, 0x1.ebfbdff82c5a4p-3);
    p = mad_f64(p, r, 0x1.62e42fefa39efp-1);
    double t = p * r;
    Scaled e;
    e.value = mad_f64(p, r, 1.0);
    e.less = ((1.0 - e.value) + t) + residue_f64(p, r, t);
    e.exponent = n;
    return e;
}

//@ exp2_f64: exp2_parts_f64 scale_f64
static inline double exp2_f64(double x) {
    x = x < -1080.0 ? -1080.0 : x;
    x = x > 1030.0 ? 1030.0 : x;
    Scaled e = exp2_parts_f64(x, -0.0);
    return scale_f64(e.value, e.exponent);
}

//@ exp10_f64: exp2_parts_f64 scale_f64 residue_f64
static inline double exp10_f64(double x) {
    x = x < -330.0 ? -330.0 : x;
    x = x > 310.0 ? 310.0 : x;
    double h = x * 0x1.a934f0979a371p1;
    double l = residue_f64(x, 0x1.a934f0979a371p1, h) + x * 0x1.7f2495fb7fa6dp-53;
    Scaled e = exp2_parts_f64(h, l);
    return scale_f64(e.value, e.exponent);
}

//@ hyperbolic_f64: mad_f64
// The hyperbolic functions of what is left of a number without a multiple of ln 2.
typedef struct { double exponent; double rest; double sinh; double cosh; } Hyperbolic;
static inline Hyperbolic hyperbolic_f64(double x) {
    double n = __builtin_rint(x * 0x1.71547652b82fep0);
    double h = mad_f64(n, -0x1.62e42feep-1, x);
    double t = n * 0x1.a39ef35793c76p-33;
    double r = h - t;
    double low = (h - r) - t;
    double z = r * r;
    double s = 0x1.af5ec00891cd4p-26;
    s = mad_f64(s, z, 0x1.71ddf85308949p-19);
    s = mad_f64(s, z, 0x1.a01a01afe562ap-13);
    s = mad_f64(s, z, 0x1.111111110f6aep-7);
    s = mad_f64(s, z, 0x1.5555555555559p-3);
    double c = 0x1.1f8b7b515b215p-29;
    c = mad_f64(c, z, 0x1.27e4cc4e2a048p-22);
    c = mad_f64(c, z, 0x1.a01a01ad63d31p-16);
    c = mad_f64(c, z, 0x1.6c16c16c1504bp-10);
    c = mad_f64(c, z, 0x1.5555555555558p-5);
    Hyperbolic y;
    y.exponent = n;
    y.rest = r;
    // sinh less the rest, and cosh less 1.
    y.sinh = mad_f64(s * z, r, low);
    y.cosh = mad_f64(r, low, mad_f64(c, z, 0.5) * z);
    return y;
}

//@ exp_m1_f64: hyperbolic_f64 sum_f64 power_f64 scale_f64
static inline double exp_m1_f64(double x) {
    double a = x < -40.0 ? -40.0 : x;
    a = a > 710.0 ? 710.0 : a;
    Hyperbolic y = hyperbolic_f64(a);
    // 2^n (1 - 2^-n + e^r - 1)
    double n = y.exponent == y.exponent ? y.exponent : 0.0;
    double u = power_f64((i32)(n > 1000.0 ? -1000.0 : -n));
    Pair one = sum_f64(1.0, -u);
    Pair s = sum_f64(one.high, y.rest);
    double e = scale_f64(s.high + (s.low + (one.low + (y.sinh + y.cosh))), y.exponent);
    return x == 0.0 ? x : e;
}

//@ halves_f64: power_f64
// (1 - 2^-2n) / 2 and (1 + 2^-2n) / 2, and what is left to each.
typedef struct { double less; double more; double less_low; double more_low; } Halves;
static inline Halves halves_f64(double n) {
    n = n == n ? n : 0.0;
    double u = power_f64((i32)(n > 400.0 ? -800.0 : -2.0 * n));
    Halves h;
    u = 0.5 * u;
    h.less = 0.5 - u;
    h.more = 0.5 + u;
    h.less_low = (0.5 - h.less) - u;
    h.more_low = (0.5 - h.more) + u;
    return h;
}

//@ sinh_parts_f64: hyperbolic_f64 halves_f64 near_sum_f64 residue_f64
// sinh / 2^n of a number that is not negative.
static inline Pair sinh_parts_f64(Hyperbolic y, Halves h) {
    double t = h.more * y.rest;
    Pair s = near_sum_f64(h.less, t);
    s.low += (residue_f64(h.more, y.rest, t) + h.less_low) + (h.less * y.cosh + h.more * y.sinh);
    return s;
}

//@ cosh_parts_f64: hyperbolic_f64 halves_f64 near_sum_f64
// cosh / 2^n of a number that is not negative.
static inline Pair cosh_parts_f64(Hyperbolic y, Halves h) {
    Pair s = near_sum_f64(h.more, h.less * y.rest);
    return near_sum_f64(s.high, (s.low + h.more_low) + (h.more * y.cosh + h.less * y.sinh));
}

//@ sinh_f64: sinh_parts_f64 scale_f64
static inline double sinh_f64(double x) {
    double a = __builtin_fabs(x);
    a = a > 712.0 ? 712.0 : a;
    Hyperbolic y = hyperbolic_f64(a);
    Pair s = sinh_parts_f64(y, halves_f64(y.exponent));
    return __builtin_copysign(scale_f64(s.high + s.low, y.exponent), x);
}

//@ cosh_f64: cosh_parts_f64 scale_f64
static inline double cosh_f64(double x) {
    double a = __builtin_fabs(x);
    a = a > 712.0 ? 712.0 : a;
    Hyperbolic y = hyperbolic_f64(a);
    Pair c = cosh_parts_f64(y, halves_f64(y.exponent));
    return scale_f64(c.high + c.low, y.exponent);
}

//@ tanh_f64: sinh_parts_f64 cosh_parts_f64 quotient_f64
static inline double tanh_f64(double x) {
    double a = __builtin_fabs(x);
    a = a > 20.0 ? 20.0 : a;
    Hyperbolic y = hyperbolic_f64(a);
    Halves h = halves_f64(y.exponent);
    Pair q = quotient_f64(sinh_parts_f64(y, h), cosh_parts_f64(y, h));
    return __builtin_copysign(a < 0x1p-500 ? a : q.high + q.low, x);
}
