// Mathematical functions for the C dialect: without branches and without calls, so that loops over them vectorise.
// Within 1 unit in the last place of the exact result on every input, including infinities, NaN and subnormal numbers
// (tests/math.rs). A program's prelude takes only the sections that it needs; `//@` names a section and what it builds
// on. Written for the types and the `bits_*` functions of the prelude.
//
// Functions of f32 other than exp and log compute in doubles: half as many lanes, but short polynomials (minimax, by
// Remez' algorithm) and no care with rounding; rare ones are those of doubles, rounded. C must not use `fma` where it is
// not an instruction, as it would be a call. Functions of doubles are in the other files.

//@ min_f32: bits_f32_i32 bits_i32_f32
// Of a NaN and a number, the number; -0.0 is smaller than 0.0, and equal floats differ in nothing but the sign of zero.
// Selects, unlike `fminf`, vectorise without fast-math, and the first of them is one instruction of x86.
static inline float min_f32(float a, float b) {
    float m = a < b ? a : b;
    m = a == b ? bits_i32_f32(bits_f32_i32(a) | bits_f32_i32(b)) : m;
    return b == b ? m : a;
}

//@ max_f32: bits_f32_i32 bits_i32_f32
static inline float max_f32(float a, float b) {
    float m = a > b ? a : b;
    m = a == b ? bits_i32_f32(bits_f32_i32(a) & bits_f32_i32(b)) : m;
    return b == b ? m : a;
}

//@ min_f64: bits_f64_i64 bits_i64_f64
static inline double min_f64(double a, double b) {
    double m = a < b ? a : b;
    m = a == b ? bits_i64_f64(bits_f64_i64(a) | bits_f64_i64(b)) : m;
    return b == b ? m : a;
}

//@ max_f64: bits_f64_i64 bits_i64_f64
static inline double max_f64(double a, double b) {
    double m = a > b ? a : b;
    m = a == b ? bits_i64_f64(bits_f64_i64(a) & bits_f64_i64(b)) : m;
    return b == b ? m : a;
}

//@ round_f32
// Adding the largest number below a half: a half itself would round 0.49999997 up.
static inline float round_f32(float a) { return __builtin_truncf(a + __builtin_copysignf(0x1.fffffep-2f, a)); }

//@ round_f64
static inline double round_f64(double a) { return __builtin_trunc(a + __builtin_copysign(0x1.fffffffffffffp-2, a)); }

//@ mad_f32
static inline float mad_f32(float a, float b, float c) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

//@ mad_f64
static inline double mad_f64(double a, double b, double c) {
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

//@ power_f32: bits_i32_f32
// 2^n for -126 <= n <= 127.
static inline float power_f32(i32 n) { return bits_i32_f32((n + 127) << 23); }

//@ power_f64: bits_f64_i64 bits_i64_f64
// 2^n for an integer -1022 <= n <= 1023. A double around 2^52 has no fraction, and its lowest bits are those of an integer.
static inline double power_f64(double n) { return bits_i64_f64((i64)((u64)bits_f64_i64(n + (0x1.8p52 + 1023.0)) << 52)); }

//@ scale_f32: power_f32 bits_f32_i32 bits_i32_f32
// a * 2^n, also where 2^n is no float: in two steps, of which only the last can round. With fast maths a is around 1,
// and n is from -126 to 127.
static inline float scale_f32(float a, float n) {
#ifdef __FAST_MATH__
    return bits_i32_f32((i32)((u32)bits_f32_i32(a) + ((u32)(i32)n << 23)));
#else
    i32 k = (i32)(n == n ? n : 0.0f);
    i32 h = k >> 1;
    return a * power_f32(h) * power_f32(k - h);
#endif
}

//@ exp_f32: mad_f32 scale_f32
static inline float exp_f32(float x) {
#ifdef __FAST_MATH__
    // Beyond these, about the smallest and the largest normal number.
    x = x < -87.6f ? -87.6f : x;
    x = x > 88.37f ? 88.37f : x;
#else
    // Beyond these, 0 and infinity. Comparisons keep NaN.
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
#endif
    // x = n ln 2 + r
    float n = __builtin_rintf(x * 1.44269504f);
    float r = mad_f32(n, -0.693359375f, x);
    r = mad_f32(n, 2.12194440e-4f, r);
    float p = 0x1.a1b8c4p-13f;
    p = mad_f32(p, r, 0x1.6d9736p-10f);
    p = mad_f32(p, r, 0x1.11107cp-7f);
    p = mad_f32(p, r, 0x1.555480p-5f);
    p = mad_f32(p, r, 0x1.555556p-3f);
    p = mad_f32(p, r, 0.5f);
    p = mad_f32(r * r, p, r) + 1.0f;
    return scale_f32(p, n);
}

//@ fused_f32
// a * b + c, rounded once, or nearly so.
static inline float fused_f32(float a, float b, float c) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__)
    return __builtin_fmaf(a, b, c);
#else
    return (float)((double)a * (double)b + (double)c);
#endif
}

//@ exp2_f32: mad_f32 fused_f32 scale_f32
static inline float exp2_f32(float x) {
#ifdef __FAST_MATH__
    x = x < -126.4f ? -126.4f : x;
    x = x > 127.4f ? 127.4f : x;
#else
    x = x < -151.0f ? -151.0f : x;
    x = x > 129.0f ? 129.0f : x;
#endif
    float n = __builtin_rintf(x);
    float r = x - n;
    float p = 0x1.00f1bep-16f;
    p = mad_f32(p, r, 0x1.445f1ap-13f);
    p = mad_f32(p, r, 0x1.5d8722p-10f);
    p = mad_f32(p, r, 0x1.3b29f0p-7f);
    p = mad_f32(p, r, 0x1.c6b08ep-5f);
    p = mad_f32(p, r, 0x1.ebfbe0p-3f);
    p = mad_f32(p, r, 0x1.62e430p-1f);
    return scale_f32(fused_f32(p, r, 1.0f), n);
}

//@ log_f32: mad_f32 bits_f32_i32 bits_i32_f32
static inline float log_f32(float x) {
#ifdef __FAST_MATH__
    int small = 0;
    float y = x;
#else
    // Subnormal numbers are made normal first.
    int small = x < 0x1p-126f;
    float y = small ? x * 0x1p23f : x;
#endif
    i32 i = bits_f32_i32(y);
    // y = m 2^k with m around 1
    i32 k = (i - 0x3f3504f3) >> 23;
    float m = bits_i32_f32((i32)((u32)i - ((u32)k << 23)));
    float e = (float)(small ? k - 23 : k);
    float f = m - 1.0f;
    float p = 7.0376836292e-2f;
    p = mad_f32(p, f, -1.1514610310e-1f);
    p = mad_f32(p, f, 1.1676998740e-1f);
    p = mad_f32(p, f, -1.2420140846e-1f);
    p = mad_f32(p, f, 1.4249322787e-1f);
    p = mad_f32(p, f, -1.6668057665e-1f);
    p = mad_f32(p, f, 2.0000714765e-1f);
    p = mad_f32(p, f, -2.4999993993e-1f);
    p = mad_f32(p, f, 3.3333331174e-1f);
    float z = f * f;
    p = p * f * z;
    p = mad_f32(e, -2.12194440e-4f, p);
    p = mad_f32(z, -0.5f, p);
    p = f + p;
    p = mad_f32(e, 0.693359375f, p);
    float infinity = __builtin_inff();
    p = x == 0.0f ? -infinity : p;
#ifdef __FAST_MATH__
    return p;
#else
    p = x < infinity ? p : x;
    return x < 0.0f ? infinity - infinity : p;
#endif
}

//@ exp_core_f64: mad_f64 whole_f64 bits_i64_f64
// exp(x) to 2^-28, for |x| <= 700.
static inline double exp_core_f64(double x) {
    Whole n = whole_f64(x, 0x1.71547652b82fep0, 1023.0);
    double r = mad_f64(n.value, -0x1.62e42fefa39efp-1, x);
    double p = 0x1.6db4e99555f74p-10;
    p = mad_f64(p, r, 0x1.123bdeccf9fadp-7);
    p = mad_f64(p, r, 0x1.55545d025adf3p-5);
    p = mad_f64(p, r, 0x1.55548e350a35ap-3);
    p = mad_f64(p, r, 0x1.00000052357fbp-1);
    p = mad_f64(r * r, p, r) + 1.0;
    return p * bits_i64_f64((i64)(n.bits << 52));
}

//@ log_core_f64: mad_f64 binary_normal_f64
// log(x) to 2^-44, for x > 0 and normal; -infinity for 0, infinity for infinity.
static inline double log_core_f64(double x) {
    Binary b = binary_normal_f64(x, 0.0);
    double z = b.fraction / (b.fraction + 2.0);
    double w = z * z;
    double p = 0x1.911f03c29ab56p-3;
    p = mad_f64(p, w, 0x1.c62a77fbfeb1cp-3);
    p = mad_f64(p, w, 0x1.249413a823ebcp-2);
    p = mad_f64(p, w, 0x1.999996a58289fp-2);
    p = mad_f64(p, w, 0x1.555555561f860p-1);
    p = mad_f64(p * w, z, z + z);
    p = mad_f64(b.exponent, 0x1.62e42fefa39efp-1, p);
    p = x < __builtin_inf() ? p : x;
    return x == 0.0 ? -__builtin_inf() : p;
}

//@ log2_f32: log_core_f64
static inline float log2_f32(float x) {
    float p = (float)(log_core_f64((double)x) * 0x1.71547652b82fep0);
    return x < 0.0f ? __builtin_inff() - __builtin_inff() : p;
}

//@ log10_f32: log_core_f64
static inline float log10_f32(float x) {
    float p = (float)(log_core_f64((double)x) * 0x1.bcb7b1526e50ep-2);
    return x < 0.0f ? __builtin_inff() - __builtin_inff() : p;
}

//@ sinh_f32: exp_core_f64
static inline float sinh_f32(float x) {
    double a = __builtin_fabsf(x);
    a = a > 100.0 ? 100.0 : a;
    double e = exp_core_f64(a);
    double s = 0.5 * (e - 1.0 / e);
    // Where that would cancel, the series.
    s = a < 0.25 ? a * (1.0 + a * a * (1.0 / 6 + a * a * (1.0 / 120 + a * a * (1.0 / 5040)))) : s;
    return __builtin_copysignf((float)s, x);
}

//@ cosh_f32: exp_core_f64
static inline float cosh_f32(float x) {
    double a = __builtin_fabsf(x);
    a = a > 100.0 ? 100.0 : a;
    double e = exp_core_f64(a);
    return (float)(0.5 * (e + 1.0 / e));
}

//@ tanh_f32: exp_core_f64
static inline float tanh_f32(float x) {
    double a = __builtin_fabsf(x);
    a = a > 10.0 ? 10.0 : a;
    double t = 1.0 - 2.0 / (exp_core_f64(a + a) + 1.0);
    double z = a * a;
    t = a < 0.125 ? a * (1.0 + z * (-1.0 / 3 + z * (2.0 / 15 + z * (-17.0 / 315 + z * (62.0 / 2835))))) : t;
    return __builtin_copysignf((float)t, x);
}

//@ quadrant_f64: mad_f64 bits_f32_i32
// A float as a multiple of pi/2 and a rest of at most pi/4.
typedef struct { double rest; i32 quadrant; } Quadrant;
// The bits of 2/pi from the first, second and third place on that a number's exponent asks for.
static const u32 first_u32[16] = {
    0x000000a2, 0x0000a2f9, 0x00a2f983, 0xa2f9836e, 0xf9836e4e, 0x836e4e44, 0x6e4e4415, 0x4e441529,
    0x441529fc, 0x1529fc27, 0x29fc2757, 0xfc2757d1, 0x2757d1f5, 0x57d1f534, 0xd1f534dd, 0xf534ddc0,
};
static const u32 second_u32[16] = {
    0xf9836e4e, 0x836e4e44, 0x6e4e4415, 0x4e441529, 0x441529fc, 0x1529fc27, 0x29fc2757, 0xfc2757d1,
    0x2757d1f5, 0x57d1f534, 0xd1f534dd, 0xf534ddc0, 0x34ddc0db, 0xddc0db62, 0xc0db6295, 0xdb629599,
};
static const u32 third_u32[16] = {
    0x441529fc, 0x1529fc27, 0x29fc2757, 0xfc2757d1, 0x2757d1f5, 0x57d1f534, 0xd1f534dd, 0xf534ddc0,
    0x34ddc0db, 0xddc0db62, 0xc0db6295, 0xdb629599, 0x6295993c, 0x95993c43, 0x993c4390, 0x3c439041,
};
static inline Quadrant quadrant_f64(float x) {
    double n = __builtin_rint((double)x * 0x1.45f306dc9c883p-1);
    double r = mad_f64(n, -0x1.921fb54p0, (double)x);
    r = mad_f64(n, -0x1.10b4611a62633p-30, r);
    // Large numbers: 24 bits of the number times the 96 bits of 2/pi that matter, in fixed point.
    i32 i = bits_f32_i32(x);
    int large = (i & 0x7fffffff) >= 0x4b800000;
    i32 k = (i >> 26) & 15;
    u32 m = ((u32)(i & 0x7fffff) | 0x800000u) << ((i >> 23) & 7);
    u64 product = ((u64)(m * first_u32[k]) << 32) + (u64)m * second_u32[k] + (((u64)m * third_u32[k]) >> 32);
    u64 whole = (product + ((u64)1 << 61)) >> 62;
    double far = (double)(i64)(product - (whole << 62)) * 0x1.921fb54442d18p-62;
    i32 quadrant = (i32)whole;
    i32 near = (i32)(large | (n != n) ? 0.0 : n);
    Quadrant q;
    q.rest = large ? (x < 0.0f ? -far : far) : r;
    q.quadrant = large ? (x < 0.0f ? -quadrant : quadrant) : near;
    // Infinity has no angle.
    q.rest = x - x == 0.0f ? q.rest : (double)(x - x);
    return q;
}

//@ sin_core_f64: mad_f64
// sin(r) to 2^-37, for |r| <= pi/4.
static inline double sin_core_f64(double r) {
    double z = r * r;
    double p = 0x1.6cd859b36aa25p-19;
    p = mad_f64(p, z, -0x1.a00f9dabf260cp-13);
    p = mad_f64(p, z, 0x1.11110896520a7p-7);
    p = mad_f64(p, z, -0x1.5555554cb9f21p-3);
    return mad_f64(p * z, r, r);
}

//@ cos_core_f64: mad_f64
// cos(r) to 2^-33, for |r| <= pi/4.
static inline double cos_core_f64(double r) {
    double z = r * r;
    double p = 0x1.9a02326796ae8p-16;
    p = mad_f64(p, z, -0x1.6c0c8b3550484p-10);
    p = mad_f64(p, z, 0x1.55554ab3351fcp-5);
    return mad_f64(z * z, p, mad_f64(z, -0.5, 1.0));
}

//@ sin_f32: quadrant_f64 sin_core_f64 cos_core_f64
static inline float sin_f32(float x) {
    Quadrant q = quadrant_f64(x);
    double s = sin_core_f64(q.rest);
    double c = cos_core_f64(q.rest);
    double y = q.quadrant & 1 ? c : s;
    // Minus zero stays what it is.
    return x == 0.0f ? x : (float)(q.quadrant & 2 ? -y : y);
}

//@ cos_f32: quadrant_f64 sin_core_f64 cos_core_f64
static inline float cos_f32(float x) {
    Quadrant q = quadrant_f64(x);
    double s = sin_core_f64(q.rest);
    double c = cos_core_f64(q.rest);
    double y = q.quadrant & 1 ? s : c;
    return (float)((q.quadrant + 1) & 2 ? -y : y);
}

//@ tan_f32: quadrant_f64 sin_core_f64 cos_core_f64
static inline float tan_f32(float x) {
    Quadrant q = quadrant_f64(x);
    double s = sin_core_f64(q.rest);
    double c = cos_core_f64(q.rest);
    return x == 0.0f ? x : (float)(q.quadrant & 1 ? -c / s : s / c);
}

//@ angle_f64: mad_f64
// The angle of the point (x, y) to 2^-34.
static inline double angle_f64(double y, double x) {
    double a = __builtin_fabs(x);
    double b = __builtin_fabs(y);
    double high = a < b ? b : a;
    double low = a < b ? a : b;
    double t = low / high;
    t = low == high ? 1.0 : t;
    t = high == 0.0 ? 0.0 : t;
    double z = t * t;
    double p = -0x1.74eda92b6d672p-11;
    p = mad_f64(p, z, 0x1.47a292e5f39aep-8);
    p = mad_f64(p, z, -0x1.0dde4459e5357p-6);
    p = mad_f64(p, z, 0x1.1c4ceb70b6c11p-5);
    p = mad_f64(p, z, -0x1.c0239a9d69489p-5);
    p = mad_f64(p, z, 0x1.29c10368735a0p-4);
    p = mad_f64(p, z, -0x1.702e50904e5b3p-4);
    p = mad_f64(p, z, 0x1.c675a1391b226p-4);
    p = mad_f64(p, z, -0x1.248a9cf88898ep-3);
    p = mad_f64(p, z, 0x1.99993e98cd956p-3);
    p = mad_f64(p, z, -0x1.55555498b2340p-2);
    p = mad_f64(p * z, t, t);
    p = a < b ? 0x1.921fb54442d18p0 - p : p;
    // The sign of zero counts too.
    p = __builtin_copysign(1.0, x) < 0.0 ? 0x1.921fb54442d18p1 - p : p;
    p = __builtin_copysign(p, y);
    return (x == x) & (y == y) ? p : x + y;
}

//@ atan2_f32: angle_f64
static inline float atan2_f32(float y, float x) { return (float)angle_f64((double)y, (double)x); }

//@ atan_f32: angle_f64
static inline float atan_f32(float x) { return (float)angle_f64((double)x, 1.0); }

//@ asin_f32: angle_f64
static inline float asin_f32(float x) {
    double a = (double)x;
    return (float)angle_f64(a, __builtin_sqrt((1.0 - a) * (1.0 + a)));
}

//@ acos_f32: angle_f64
static inline float acos_f32(float x) {
    double a = (double)x;
    return (float)angle_f64(__builtin_sqrt((1.0 - a) * (1.0 + a)), a);
}

//@ pow_f32: log_core_f64 exp_core_f64
static inline float pow_f32(float x, float y) {
    float a = __builtin_fabsf(x);
    double t = (double)y * log_core_f64((double)a);
    t = t < -200.0 ? -200.0 : t;
    t = t > 200.0 ? 200.0 : t;
    float p = (float)exp_core_f64(t);
    // One to any power, and any number to the power zero.
    p = (a == 1.0f) & (y - y != 0.0f) & (y == y) ? 1.0f : p;
    float half = 0.5f * y;
    int whole = __builtin_truncf(y) == y;
    int odd = whole & (__builtin_truncf(half) != half);
    p = odd ? __builtin_copysignf(p, x) : p;
    p = (x < 0.0f) & !whole & (a < __builtin_inff()) ? __builtin_inff() - __builtin_inff() : p;
    p = (x == x) & (y == y) ? p : x + y;
    return (x == 1.0f) | (y == 0.0f) ? 1.0f : p;
}

//@ cbrt_f32: cbrt_f64
static inline float cbrt_f32(float x) { return (float)cbrt_f64((double)x); }

//@ exp10_f32: exp10_f64
static inline float exp10_f32(float x) { return (float)exp10_f64((double)x); }

//@ exp_m1_f32: exp_m1_f64
static inline float exp_m1_f32(float x) { return (float)exp_m1_f64((double)x); }

//@ ln_1p_f32: ln_1p_f64
static inline float ln_1p_f32(float x) { return (float)ln_1p_f64((double)x); }

//@ asinh_f32: asinh_f64
static inline float asinh_f32(float x) { return (float)asinh_f64((double)x); }

//@ acosh_f32: acosh_f64
static inline float acosh_f32(float x) { return (float)acosh_f64((double)x); }

//@ atanh_f32: atanh_f64
static inline float atanh_f32(float x) { return (float)atanh_f64((double)x); }

//@ erf_f32: erf_f64
static inline float erf_f32(float x) { return (float)erf_f64((double)x); }

//@ erfc_f32: erfc_f64
static inline float erfc_f32(float x) { return (float)erfc_f64((double)x); }

//@ gamma_f32: gamma_f64
static inline float gamma_f32(float x) { return (float)gamma_f64((double)x); }

//@ ln_gamma_f32: ln_gamma_f64
static inline float ln_gamma_f32(float x) { return (float)ln_gamma_f64((double)x); }

//@ hypot_f32
static inline float hypot_f32(float x, float y) {
    double a = (double)x;
    double b = (double)y;
    float h = (float)__builtin_sqrt(a * a + b * b);
    float infinity = __builtin_inff();
    return (__builtin_fabsf(x) == infinity) | (__builtin_fabsf(y) == infinity) ? infinity : h;
}
