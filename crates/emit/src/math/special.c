// The error function and the gamma function of doubles: without branches and without calls, so that loops over them
// vectorise. Sections and pairs are as in pair.c.

//@ tail_f64: exp_parts_f64 residue_f64 mad_f64 sum_f64 near_sum_f64 quotient_f64
// 1 less the error function of a number from 0 to 28.
static inline Scaled tail_f64(double a) {
    double p = a * a;
    Scaled e = exp_parts_f64(-p, -residue_f64(a, a, p));
    // (1 + 2 a) exp(a^2) erfc(a), of which t takes all of a from -1 to 1.
    double t = (a - 4.0) / (a + 4.0);
    // In two halves, which need not wait for each other.
    double z = t * t;
    double even = -0x1.cbf2600d68feap-27;
    even = mad_f64(even, z, 0x1.ec09a15784d36p-24);
    even = mad_f64(even, z, -0x1.bfe132c70bb35p-21);
    even = mad_f64(even, z, 0x1.7fae6515f2a9fp-18);
    even = mad_f64(even, z, -0x1.9969d6555d89p-16);
    even = mad_f64(even, z, -0x1.a1de83cc2dacdp-13);
    even = mad_f64(even, z, 0x1.49c67191a3c5ep-8);
    even = mad_f64(even, z, 0x1.3079edf9f9b84p-5);
    even = mad_f64(even, z, 0x1.7fee004df6ac3p-4);
    even = mad_f64(even, z, 0x1.16ecefcfa6043p-4);
    double odd = -0x1.d82398e3f5ba4p-30;
    odd = mad_f64(odd, z, -0x1.0b45dfaefe0f8p-27);
    odd = mad_f64(odd, z, 0x1.0bf50a2feb64ep-24);
    odd = mad_f64(odd, z, 0x1.44393cd3cde4ep-22);
    odd = mad_f64(odd, z, -0x1.78a8729e7e315p-17);
    odd = mad_f64(odd, z, 0x1.3be0d2db25861p-13);
    odd = mad_f64(odd, z, -0x1.8d4a9fee9cffcp-11);
    odd = mad_f64(odd, z, -0x1.09623880781dep-6);
    odd = mad_f64(odd, z, -0x1.0fb06dfe58c53p-4);
    odd = mad_f64(odd, z, -0x1.9ddb23c3e8a53p-4);
    double q = mad_f64(odd, t, even);
    q = mad_f64(q, t, 0x1.f7f5df66fd71fp-7);
    q = mad_f64(q, t, -0x1.1df1ad154a29cp-3);
    Pair n = near_sum_f64(0x1.3ba5916e9fd7fp0, q * t);
    Pair d = sum_f64(2.0 * a, 1.0);
    Pair f = quotient_f64(n, d);
    double y = e.value * f.high;
    e.value = y + (residue_f64(e.value, f.high, y) + (e.value * f.low + e.less * f.high));
    return e;
}

//@ erf_low_f64: mad_f64
// The error function less the first term of its series, from -0.75 to 0.75.
static inline double erf_low_f64(double x) {
    double z = x * x;
    double p = 0x1.8acb8eb472555p-27;
    p = mad_f64(p, z, -0x1.566bbb49f579fp-23);
    p = mad_f64(p, z, 0x1.b9133d00a3ee5p-20);
    p = mad_f64(p, z, -0x1.f4c642420587cp-17);
    p = mad_f64(p, z, 0x1.f9a2b4f91ec7dp-14);
    p = mad_f64(p, z, -0x1.c02db150208d5p-11);
    p = mad_f64(p, z, 0x1.565bcd045df09p-8);
    p = mad_f64(p, z, -0x1.b82ce3125d82p-6);
    p = mad_f64(p, z, 0x1.ce2f21a042622p-4);
    p = mad_f64(p, z, -0x1.812746b0379e3p-2);
    return x * mad_f64(p, z, 0x1.1ae3a914fed8p-56);
}

//@ erf_f64: tail_f64 erf_low_f64 scale_f64 mad_f64
static inline double erf_f64(double x) {
    double a = __builtin_fabs(x);
    a = a > 6.0 ? 6.0 : a;
    Scaled s = tail_f64(a);
    double y = 1.0 - scale_f64(s.value, s.power);
    // Where that would cancel, the series.
    double near = mad_f64(a, 0x1.20dd750429b6dp0, erf_low_f64(a));
    return __builtin_copysign(a < 0.75 ? near : y, x);
}

//@ erfc_f64: tail_f64 erf_low_f64 scale_f64 sum_f64 residue_f64
static inline double erfc_f64(double x) {
    double a = __builtin_fabs(x);
    a = a > 28.0 ? 28.0 : a;
    Scaled s = tail_f64(a);
    double y = scale_f64(s.value, s.power);
    y = x < 0.0 ? 2.0 - y : y;
    double p = x * 0x1.20dd750429b6dp0;
    Pair n = sum_f64(1.0, -p);
    double near = n.high + (n.low - (residue_f64(x, 0x1.20dd750429b6dp0, p) + erf_low_f64(x)));
    return a < 0.6 ? near : y;
}

//@ more_f64: sum_f64
// A pair and a double.
static inline Pair more_f64(Pair a, double b) {
    Pair s = sum_f64(a.high, b);
    s.low += a.low;
    return s;
}

//@ factorial_f64: log2_of_f64 product_f64 more_f64 near_sum_f64 residue_f64 mad_f64
// The gamma function of 1 + a, of a number that is not negative: 2^power / product.
typedef struct { Pair power; Pair product; } Factorial;
static inline Factorial factorial_f64(double a) {
    // Stirling's series, from 8 on; smaller numbers are moved there, by the product of b + 1 to b + 7. Of those around b + 4, each
    // two are q and a constant.
    int small = a < 8.0;
    double b = small ? a : 0.0;
    Pair last = near_sum_f64(8.0, b);
    Pair q;
    q.high = b * last.high;
    q.low = mad_f64(b, last.low, residue_f64(b, last.high, q.high));
    Pair m = product_f64(more_f64(q, 7.0), more_f64(q, 12.0));
    m = product_f64(m, product_f64(more_f64(q, 15.0), sum_f64(b, 4.0)));
    Pair z = sum_f64(a, small ? 8.0 : 1.0);
    double w = 1.0 / z.high;
    double u = w * w;
    double s = 0x1.46e002882aec4p-8;
    s = mad_f64(s, u, -0x1.ee829464d6b22p-10);
    s = mad_f64(s, u, 0x1.b921c225048f2p-11);
    s = mad_f64(s, u, -0x1.3813342f5b004p-11);
    s = mad_f64(s, u, 0x1.a01a016069559p-11);
    s = mad_f64(s, u, -0x1.6c16c16c10eeep-9);
    s = mad_f64(s, u, 0x1.5555555555555p-4);
    Pair l = log2_of_f64(z.high);
    l.low += z.low * w * 0x1.71547652b82fep0;
    // (z - 1/2) log z - z + log(2 pi) / 2 + s / z
    Pair h = sum_f64(z.high, -0.5);
    h.low += z.low;
    double t = h.high * l.high;
    double t2 = residue_f64(h.high, l.high, t) + (h.high * l.low + h.low * l.high);
    double v = z.high * 0x1.71547652b82fep0;
    double v2 = residue_f64(z.high, 0x1.71547652b82fep0, v) + (z.high * 0x1.777d0ffda0d24p-56 + z.low * 0x1.71547652b82fep0);
    Pair d = sum_f64(t, -v);
    Pair e = sum_f64(d.high, 0x1.536439a4c6efcp0);
    double low = (e.low + d.low) + ((t2 - v2) + mad_f64(s * w, 0x1.71547652b82fep0, -0x1.49e49a361efebp-54));
    Factorial y;
    y.power = near_sum_f64(e.high, low);
    y.product.high = small ? m.high : 1.0;
    y.product.low = small ? m.low : 0.0;
    return y;
}

//@ half_turns_f64: sin_of_f64 cos_of_f64 residue_f64
// The absolute value of sin(pi a).
static inline Pair half_turns_f64(double a) {
    double f = __builtin_fabs(a - __builtin_rint(a));
    int steep = f > 0.25;
    double g = steep ? 0.5 - f : f;
    Pair r;
    r.high = g * 0x1.921fb54442d18p1;
    r.low = residue_f64(g, 0x1.921fb54442d18p1, r.high) + g * 0x1.1a62633145c07p-53;
    Pair s = sin_of_f64(r);
    Pair c = cos_of_f64(r);
    s.high = steep ? c.high : s.high;
    s.low = steep ? c.low : s.low;
    return near_sum_f64(s.high, s.low);
}

//@ gamma_f64: factorial_f64 half_turns_f64 exp2_parts_f64 scale_f64 quotient_f64
static inline double gamma_f64(double x) {
    double a = __builtin_fabs(x);
    // Beyond, infinity, or zero for negative numbers.
    a = a > 190.0 ? 190.5 : a;
    Factorial f = factorial_f64(a);
    Scaled e = exp2_parts_f64(f.power.high, f.power.low);
    // e / (product a), or pi product / (sin(pi a) e).
    int negative = x < -0x1p-400;
    Pair s = half_turns_f64(a);
    double factor = negative ? 0x1.921fb54442d18p1 : a;
    double factor_low = negative ? 0x1.1a62633145c07p-53 : 0.0;
    Pair p;
    p.high = f.product.high * factor;
    p.low = residue_f64(f.product.high, factor, p.high) + (f.product.high * factor_low + f.product.low * factor);
    Pair q;
    q.high = s.high * e.value;
    q.low = residue_f64(s.high, e.value, q.high) + (s.low * e.value + s.high * e.less);
    Pair n;
    Pair d;
    n.high = negative ? p.high : e.value;
    n.low = negative ? p.low : e.less;
    d.high = negative ? q.high : p.high;
    d.low = negative ? q.low : p.low;
    Pair y = quotient_f64(n, d);
    double g = scale_f64(y.high + y.low, whole_f64(e.power.value, negative ? -1.0 : 1.0, 2046.0));
    // The sign changes from one negative integer to the next.
    double down = __builtin_floor(x);
    double half = 0.5 * down;
    g = (x < 0.0) & (__builtin_floor(half) != half) ? -g : g;
    // Near to zero, its reciprocal.
    g = a < 0x1p-400 ? 1.0 / x : g;
    g = x == __builtin_inf() ? x : g;
    return negative & (down == x) ? __builtin_inf() - __builtin_inf() : g;
}

//@ ln_gamma_f64: factorial_f64 half_turns_f64 residue_f64 quotient_f64
static inline double ln_gamma_f64(double x) {
    double a = __builtin_fabs(x);
    double b = a > 0x1p900 ? 0x1p900 : a;
    Factorial f = factorial_f64(b);
    // 2^power / (product a), or pi product / (sin(pi a) 2^power).
    int negative = x < -0x1p-400;
    double c = a < 0x1p-400 ? a * 0x1p600 : a;
    double more = b < 0x1p-400 ? 600.0 : 0.0;
    Pair q = quotient_f64(half_turns_f64(b), f.product);
    Pair m;
    m.high = f.product.high * c;
    m.low = mad_f64(f.product.low, c, residue_f64(f.product.high, c, m.high));
    m.high = negative ? q.high : m.high;
    m.low = negative ? q.low : m.low;
    double zero = m.high;
    m.high = zero == 0.0 ? 1.0 : zero;
    Pair l = log2_of_f64(m.high);
    l.low += m.low / m.high * 0x1.71547652b82fep0;
    double constant = negative ? 0x1.a6c873498ddf7p0 : more;
    double constant2 = negative ? 0x1.6c36cb93c202ap-54 : 0.0;
    Pair u = sum_f64(constant, -l.high);
    u.low += constant2 - l.low;
    double t = negative ? -f.power.high : f.power.high;
    double t2 = negative ? -f.power.low : f.power.low;
    Pair v = sum_f64(t, u.high);
    v.low += t2 + u.low;
    double h = v.high * 0x1.62e42fefa39efp-1;
    double y = h + (residue_f64(v.high, 0x1.62e42fefa39efp-1, h) + (v.high * 0x1.abc9e3b39803fp-56 + v.low * 0x1.62e42fefa39efp-1));
    // Near to the zeros at 1 and 2, their series.
    double i = x - 1.0;
    double one = -0x1.21ee79bf2b285p-4;
    one = mad_f64(one, i, 0x1.3454baaf8adc8p-4);
    one = mad_f64(one, i, -0x1.3aa5488d24d54p-4);
    one = mad_f64(one, i, 0x1.5509d69b69561p-4);
    one = mad_f64(one, i, -0x1.748df21f2d81ap-4);
    one = mad_f64(one, i, 0x1.9a03124954d6bp-4);
    one = mad_f64(one, i, -0x1.c8066cd0e13efp-4);
    one = mad_f64(one, i, 0x1.010b35b303188p-3);
    one = mad_f64(one, i, -0x1.2703a1def4f86p-3);
    one = mad_f64(one, i, 0x1.5b40cb10e42e1p-3);
    one = mad_f64(one, i, -0x1.a8b9c17aa4ef8p-3);
    one = mad_f64(one, i, 0x1.151322ac7d5bdp-2);
    one = mad_f64(one, i, -0x1.9a4d55beab2d9p-2);
    one = mad_f64(one, i, 0x1.a51a6625307d3p-1);
    one = mad_f64(one, i, -0x1.2788cfc6fb619p-1);
    double j = x - 2.0;
    double two = 0x1.5c2998582d559p-16;
    two = mad_f64(two, j, -0x1.7caa231957fc8p-15);
    two = mad_f64(two, j, 0x1.a122033ca9cadp-14);
    two = mad_f64(two, j, -0x1.d3f8f341875ebp-13);
    two = mad_f64(two, j, 0x1.0b36b16c978f6p-11);
    two = mad_f64(two, j, -0x1.38ac5d518768cp-10);
    two = mad_f64(two, j, 0x1.7add6ead16b19p-9);
    two = mad_f64(two, j, -0x1.e404fc21496bdp-8);
    two = mad_f64(two, j, 0x1.51322ac7d853bp-6);
    two = mad_f64(two, j, -0x1.13e001a55761fp-4);
    two = mad_f64(two, j, 0x1.4a34cc4a60fa6p-2);
    two = mad_f64(two, j, 0x1.b0ee6072093cep-2);
    y = __builtin_fabs(i) < 0.125 ? i * one + 0.0 : y;
    y = __builtin_fabs(j) < 0.125 ? j * two : y;
    y = b < a ? a * mad_f64(l.high, 0x1.62e42fefa39efp-1, -1.0) : y;
    // At zero and at negative integers there is no number.
    y = zero == 0.0 ? __builtin_inf() : y;
    return x == x ? y : x;
}
