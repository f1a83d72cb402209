// Exponentials and hyperbolic functions of doubles. Sections are as in pair.c.

//@ exp_rest_f64: mad_f64
// (e^r - 1) / r, for |r| <= ln 2 / 2.
static inline double exp_rest_f64(double r) {
    double p = 0x1.ad598086cca93p-26;
    p = mad_f64(p, r, 0x1.28afa6a803a11p-22);
    p = mad_f64(p, r, 0x1.71df48d6e272p-19);
    p = mad_f64(p, r, 0x1.a019974bb04e1p-16);
    p = mad_f64(p, r, 0x1.a01a0111bdf42p-13);
    p = mad_f64(p, r, 0x1.6c16c18560c89p-10);
    p = mad_f64(p, r, 0x1.111111112f87ap-7);
    p = mad_f64(p, r, 0x1.5555555550179p-5);
    p = mad_f64(p, r, 0x1.55555555554b3p-3);
    p = mad_f64(p, r, 0x1.000000000000bp-1);
    return mad_f64(p, r, 1.0);
}

//@ exp_parts_f64: exp_rest_f64 scale_f64 near_mad_f64 sum_f64
// e^(h + l) as a number around 1, what is left to it, and a power of two.
typedef struct { double value; double less; Whole power; } Scaled;
static inline Scaled exp_parts_f64(double h, double l) {
    Scaled e;
    e.power = whole_f64(h, 0x1.71547652b82fep0, 2046.0);
    double r = mad_f64(e.power.value, -0x1.62e42feep-1, h);
    Pair s = sum_f64(r, mad_f64(e.power.value, -0x1.a39ef35793c76p-33, l));
    Pair p = near_mad_f64(exp_rest_f64(s.high), s.high, 1.0);
    e.value = p.high;
    e.less = mad_f64(s.low, p.high, p.low);
    return e;
}

//@ exp_f64: exp_rest_f64 scale_f64
static inline double exp_f64(double x) {
    Whole n = whole_f64(x, 0x1.71547652b82fep0, 2046.0);
    double r = mad_f64(n.value, -0x1.62e42feep-1, x);
    r = mad_f64(n.value, -0x1.a39ef35793c76p-33, r);
    double y = scale_f64(mad_f64(exp_rest_f64(r), r, 1.0), n);
    y = x > -746.0 ? y : 0.0;
    return x < 710.0 ? y : x + __builtin_inf();
}

//@ exp2_rest_f64: mad_f64
// (2^r - 1) / r, for |r| <= 1/2.
static inline double exp2_rest_f64(double r) {
    double z = r * r;
    double w = z * z;
    // By pairs, which wait less for each other; but the first term last, for its rounding's sake.
    double a = mad_f64(0x1.c6b08d7049fe8p-5, r, 0x1.ebfbdff82c5a4p-3);
    double b = mad_f64(0x1.5d87fe78cd796p-10, r, 0x1.3b2ab6fba00f9p-7);
    double c = mad_f64(0x1.ffcbfba956ba3p-17, r, 0x1.4309130edff1p-13);
    double d = mad_f64(0x1.b5267d0faae8ap-24, r, 0x1.62bfc78a24a05p-20);
    double e = mad_f64(0x1.e79bacc8767f4p-32, r, 0x1.e61b72965442p-28);
    d = mad_f64(e, z, d);
    double p = mad_f64(mad_f64(d, z, c), w, mad_f64(b, z, a));
    return mad_f64(p, r, 0x1.62e42fefa39efp-1);
}

//@ exp2_parts_f64: exp2_rest_f64 exp_parts_f64
// 2^(h + l) as a number around 1, what is left to it, and a power of two.
static inline Scaled exp2_parts_f64(double h, double l) {
    Scaled e;
    e.power = whole_f64(h, 1.0, 2046.0);
    double r = (h - e.power.value) + l;
    Pair p = near_mad_f64(exp2_rest_f64(r), r, 1.0);
    e.value = p.high;
    e.less = p.low;
    return e;
}

//@ exp2_of_f64: exp2_rest_f64 scale_f64
// 2^(h + l).
static inline double exp2_of_f64(double h, double l) {
    Whole n = whole_f64(h, 1.0, 2046.0);
    double r = (h - n.value) + l;
    double y = scale_f64(mad_f64(exp2_rest_f64(r), r, 1.0), n);
    y = h > -1100.0 ? y : 0.0;
    return h < 1100.0 ? y : h + __builtin_inf();
}

//@ exp2_f64: exp2_of_f64
static inline double exp2_f64(double x) { return exp2_of_f64(x, -0.0); }

//@ exp10_f64: exp2_of_f64 residue_f64
static inline double exp10_f64(double x) {
    double h = x * 0x1.a934f0979a371p1;
    return exp2_of_f64(h, mad_f64(x, 0x1.7f2495fb7fa6dp-53, residue_f64(x, 0x1.a934f0979a371p1, h)));
}

//@ hyperbolic_f64: mad_f64 whole_f64
// The hyperbolic functions of what is left of a number without a multiple of ln 2.
typedef struct { Whole power; double rest; double sinh; double cosh; } Hyperbolic;
static inline Hyperbolic hyperbolic_f64(double x) {
    Hyperbolic y;
    y.power = whole_f64(x, 0x1.71547652b82fep0, 2046.0);
    double n = y.power.value;
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
    double u = power_f64(y.power.value > 1000.0 ? -1000.0 : -y.power.value);
    Pair one = sum_f64(1.0, -u);
    Pair s = sum_f64(one.high, y.rest);
    double e = scale_f64(s.high + (s.low + (one.low + (y.sinh + y.cosh))), y.power);
    return x == 0.0 ? x : e;
}

//@ halves_f64: power_f64
// (1 - 2^-2n) / 2 and (1 + 2^-2n) / 2, and what is left to each.
typedef struct { double less; double more; double less_low; double more_low; } Halves;
static inline Halves halves_f64(double n) {
    double u = power_f64(n > 400.0 ? -800.0 : -2.0 * n);
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
    Pair s = sinh_parts_f64(y, halves_f64(y.power.value));
    return __builtin_copysign(scale_f64(s.high + s.low, y.power), x);
}

//@ cosh_f64: cosh_parts_f64 scale_f64
static inline double cosh_f64(double x) {
    double a = __builtin_fabs(x);
    a = a > 712.0 ? 712.0 : a;
    Hyperbolic y = hyperbolic_f64(a);
    Pair c = cosh_parts_f64(y, halves_f64(y.power.value));
    return scale_f64(c.high + c.low, y.power);
}

//@ tanh_f64: sinh_parts_f64 cosh_parts_f64 quotient_f64
static inline double tanh_f64(double x) {
    double a = __builtin_fabs(x);
    a = a > 20.0 ? 20.0 : a;
    Hyperbolic y = hyperbolic_f64(a);
    Halves h = halves_f64(y.power.value);
    Pair q = quotient_f64(sinh_parts_f64(y, h), cosh_parts_f64(y, h));
    return __builtin_copysign(a < 0x1p-500 ? a : q.high + q.low, x);
}
