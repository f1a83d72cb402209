// Functions of angles in doubles, and their inverses: without branches and without calls, so that loops over them vectorise,
// and within 2 units in the last place. Sections and pairs are as in pair.c.

//@ turn_f64: mad_f64 residue_f64 sum_f64 near_sum_f64 whole_f64 bits_f64_i64 bits_i64_f64
// A double as a multiple of pi/2 and a rest of at most pi/4, which is a pair.
typedef struct { Pair rest; u64 quadrant; } Turn;
// The multiples of 2^16 of 2/pi, modulo 4, as sums of four doubles.
static const double first_f64[61] = {
    0x1.45f306dc9c883p-1, 0x1.836e4e44152ap0, 0x1.27220a94fe13bp1, 0x1.529fc2757d1f5p-4, 0x1.fc2757d1f534ep0,
    0x1.abe8fa9a6ee07p1, 0x1.f534ddc0db629p0, 0x1.bb81b6c52b328p-1, 0x1.b6c52b3278872p-1, 0x1.4acc9e21c821p1,
    0x1.3c439041fe516p0, 0x1.c820ff28b1d5fp1, 0x1.fe5163abdebbcp0, 0x1.63abdebbc561bp0, 0x1.ef5de2b0db923p1,
    0x1.e2b0db92371d2p1, 0x1.b7246e3a424ddp0, 0x1.b8e909374b802p-2, 0x1.2126e97003249p1, 0x1.d2e006492eea1p0,
    0x1.924bba8274648p-6, 0x1.2eea09d1921dp0, 0x1.04e8c90e7f0efp1, 0x1.921cfe1deb1cbp0, 0x1.fc3bd63962535p-1,
    0x1.eb1cb129a73efp0, 0x1.62534e7dd1047p-1, 0x1.a73ee88235f53p0, 0x1.74411afa975dap1, 0x1.1afa975da2427p1,
    0x1.2ebb4484e99c7p0, 0x1.a24274ce38136p1, 0x1.d338e04d68bfp-1, 0x1.c09ad17df904ep-2, 0x1.5a2fbf209cc8fp1,
    0x1.bf209cc8eb1ccp1, 0x1.3991d63983534p0, 0x1.d639835339f4ap0, 0x1.835339f49c846p0, 0x1.9cfa4e422fc5ep1,
    0x1.3908bf177bf25p-1, 0x1.7e2ef7e4a0ec8p-2, 0x1.defc941d8ffc5p1, 0x1.283b1ff897ffep0, 0x1.8ffc4bffef02dp1,
    0x1.2fffbc0b301fep-1, 0x1.ef02cc07f7979p1, 0x1.980fef2f118b6p0, 0x1.f79788c5ad053p1, 0x1.88c5ad05368fbp1,
    0x1.ad05368fb69b4p1, 0x1.368fb69b3f679p1, 0x1.b69b3f6793e58p1, 0x1.3f6793e584dbap1, 0x1.93e584dba7a32p1,
    0x1.84dba7a31fb35p1, 0x1.a7a31fb34f2ffp1, 0x1.1fb34f2ff516cp1, 0x1.4f2ff516ba93ep1, 0x1.f516ba93dd63fp1,
    0x1.7527bac7ebe5fp0,
};
static const double second_f64[61] = {
    -0x1.6b01ec5417056p-55, -0x1.ec54170565912p-55, -0x1.05c1596447e49p-53, 0x1.a6ee06db14acdp-59,
    -0x1.1f924eb53361ep-55, -0x1.275a99b0ef1bfp-54, 0x1.664f10e4107f9p-54, -0x1.de37df00d74e3p-55,
    0x1.07f9458eaf7afp-58, -0x1.ae9c5421443aap-56, 0x1.d5ef5de2b0db9p-55, -0x1.443a9e48db91cp-56,
    0x1.586dc91b8e909p-54, 0x1.c91b8e909374cp-54, 0x1.c74849ba5c00dp-53, 0x1.26e9700324977p-55,
    0x1.700324977504fp-55, -0x1.b6d115f62e6dep-56, 0x1.dd413a32439fcp-53, -0x1.8b9b78c078854p-54,
    0x1.cfe1deb1cb12ap-60, -0x1.e214e34ed658cp-56, 0x1.63962534e7dd1p-53, 0x1.29a73ee88235fp-56,
    -0x1.822efb9415a29p-57, -0x1.df7282b4512eep-54, -0x1.0568a25dbd8b3p-55, -0x1.44bb7b16638fep-56,
    0x1.213a671c09ad1p-54, 0x1.338e04d68befdp-53, 0x1.35a2fbf209cc9p-59, -0x1.741037d8cdc54p-53,
    -0x1.bec66e29c67cbp-56, 0x1.91d639835339fp-56, -0x1.38cf9598c16c7p-53, 0x1.a99cfa4e422fcp-55,
    -0x1.82d8dee81d108p-54, -0x1.bdd03a21036bep-55, -0x1.d1081b5f13802p-58, -0x1.036be27003b4p-55,
    0x1.d8ffc4bffef03p-59, -0x1.da00087e99fcp-62, -0x1.00043f4cfe022p-53, -0x1.fa67f010d0ee7p-56,
    -0x1.fc04343b9d298p-54, -0x1.a1dce94beb25cp-57, -0x1.ce94beb25c126p-53, -0x1.7d64b824b2605p-54,
    0x1.a3eda6cfd9e5p-53, 0x1.a6cfd9e4f9613p-53, -0x1.30d834f648b0cp-56, 0x1.f2c26dd3d18fep-54,
    0x1.36e9e8c7ecd3dp-53, 0x1.e8c7ecd3cbfd4p-53, -0x1.32c3402ba515bp-57, -0x1.a015d28ad8454p-56,
    0x1.45aea4f758fd8p-53, -0x1.5b08a7028341dp-53, -0x1.4e050683a130cp-54, 0x1.7cbe2f67a0e74p-53,
    0x1.7b3d0739f78a5p-56,
};
static const double third_f64[61] = {
    -0x1.6447e493ad4cep-109, 0x1.b6c52b3278872p-113, -0x1.d6a66c3bc6fbep-108, -0x1.8778df7c035d4p-113,
    0x1.c820ff28b1d5fp-111, 0x1.fe5163abdebbcp-112, 0x1.163abdebbc562p-108, 0x1.7bd778ac36e49p-109,
    -0x1.d4f246dc8e2dfp-115, 0x1.b7246e3a424ddp-112, 0x1.1b8e909374b8p-110, -0x1.6f6c8b47fe6dbp-110,
    0x1.ba5c00c925dd4p-109, -0x1.ff9b6d115f62ep-108, -0x1.b688afb1736f2p-107, 0x1.413a32439fc3cp-109,
    -0x1.cdbc603c429c7p-109, -0x1.80f10a71a76b3p-111, 0x1.deb1cb129a73fp-108, 0x1.cb129a73ee882p-108,
    -0x1.63045df7282b4p-114, -0x1.177dca0ad144cp-112, 0x1.1afa975da2427p-111, 0x1.4baed1213a672p-110,
    0x1.a24274ce38136p-111, 0x1.3a671c09ad17ep-110, -0x1.c7eca5d040df6p-111, 0x1.ad17df904e647p-110,
    0x1.f7e413991d63ap-108, -0x1.f633714e33e56p-107, -0x1.4e33e566305b2p-115, 0x1.cc1a99cfa4e42p-107,
    0x1.9cfa4e422fc5ep-111, 0x1.272117e2ef7e5p-110, 0x1.17e2ef7e4a0ecp-110, 0x1.77bf250763ff1p-109,
    -0x1.b5f13801da001p-110, -0x1.3801da00087eap-110, 0x1.2fffbc0b301fep-113, -0x1.0fd33f8086877p-115,
    -0x1.9fc04343b9d29p-114, -0x1.0d0ee74a5f593p-116, 0x1.788c5ad05369p-107, -0x1.297d64b824b26p-110,
    0x1.4da3eda6cfd9ep-109, -0x1.25930261b069fp-113, 0x1.b3f6793e584dcp-107, 0x1.e4f96136e9e8cp-109,
    -0x1.a7b24585ce04dp-107, 0x1.ba7a31fb34f3p-107, 0x1.8fd9a797fa8b6p-110, -0x1.961a015d28ad8p-108,
    -0x1.00ae9456c229cp-107, 0x1.6ba93dd63f5f3p-107, -0x1.14e050683a131p-114, 0x1.faf97c5ecf41dp-110,
    -0x1.a0e84c2f8c608p-108, -0x1.30be31821d6b6p-110, 0x1.ce7de294a4baap-110, -0x1.0eb5ada2b2809p-109,
    0x1.497535fdafd89p-111,
};
static const double fourth_f64[61] = {
    0x1.e21c820ff28b2p-163, 0x1.07f9458eaf7afp-170, -0x1.ae9c5421443aap-168, 0x1.d5ef5de2b0db9p-167,
    -0x1.443a9e48db91cp-168, 0x1.586dc91b8e909p-166, -0x1.236e4716f6c8bp-162, -0x1.1c5bdb22d1ffap-164,
    0x1.374b801924bbbp-170, 0x1.700324977504fp-167, 0x1.924bba8274648p-166, -0x1.115f62e6de302p-164,
    0x1.3a32439fc3bd6p-165, -0x1.b78c0788538d4p-162, 0x1.fc3bd63962535p-161, -0x1.4e34ed658c117p-164,
    0x1.894d39f74411bp-163, 0x1.cfba208d7d4bbp-166, -0x1.77dca0ad144bbp-164, 0x1.afa975da24275p-163,
    -0x1.44bb7b16638fep-168, 0x1.213a671c09ad1p-166, 0x1.338e04d68befdp-165, -0x1.fb29741037d8dp-165,
    -0x1.741037d8cdc54p-165, -0x1.bec66e29c67cbp-168, -0x1.9b8a719f2b318p-166, 0x1.639835339f49dp-164,
    -0x1.f2b3182d8dee8p-162, -0x1.8c16c6f740e88p-161, 0x1.08bf177bf2507p-169, 0x1.7e2ef7e4a0ec8p-162,
    -0x1.036be27003b4p-167, -0x1.7c4e007680022p-164, 0x1.ff897ffde0598p-164, 0x1.7ffde05980fefp-164,
    0x1.e05980fef2f12p-164, 0x1.80fef2f118b5ap-164, -0x1.a1dce94beb25cp-169, -0x1.d297d64b824b2p-170,
    -0x1.f592e092c9813p-168, 0x1.f6d367ecf27cbp-172, -0x1.25930261b069fp-161, -0x1.30d834f648b0cp-168,
    0x1.3e584dba7a32p-163, 0x1.b74f463f669e6p-168, -0x1.61738132c3403p-161, 0x1.fb34f2ff516bbp-163,
    0x1.3cbfd45aea4f7p-161, -0x1.5d28ad8453814p-164, -0x1.5b08a7028341dp-165, -0x1.14e050683a131p-162,
    -0x1.41a0e84c2f8c6p-164, -0x1.d0985f18c10ebp-165, 0x1.0739f78a5292fp-168, -0x1.821d6b5b4565p-166,
    -0x1.d6b5b45650128p-162, 0x1.2ea6bfb5fb12p-164, -0x1.404a04ee072a3p-164, -0x1.0277039517bd5p-163,
    -0x1.ca8bdea7f33eep-170,
};
static inline Turn turn_f64(double x) {
    // x = m 2^16k. From 2^52 on m is an integer, which times a multiple of 4 is one, too. Smaller numbers need no table.
    i64 e = (i64)((u64)bits_f64_i64(x) >> 52 & 0x7ff) - 1075;
    int large = e > 0;
    u64 h = (u64)(large ? e : 0);
    u64 k = h >> 4;
    double m = x * bits_i64_f64((i64)((1023 - (h & ~(u64)15)) << 52));
    double first = large ? first_f64[k] : 0x1.45f306dc9c883p-1;
    double second = large ? second_f64[k] : -0x1.6b01ec5417056p-55;
    double third = large ? third_f64[k] : -0x1.6447e493ad4cep-109;
    double fourth = large ? fourth_f64[k] : 0x1.e21c820ff28b2p-163;
    double a = m * first;
    double b = residue_f64(m, first, a);
    double c = m * second;
    double d = residue_f64(m, second, c);
    double f = m * third;
    double g = mad_f64(m, fourth, residue_f64(m, third, f));
    a = mad_f64(-4.0, __builtin_rint(0.25 * m * first), a);
    Whole n = whole_f64(a + (b + c), 1.0, 0.0);
    // Of what is left, the first is exact: where the others are large, a is an integer.
    Pair s = sum_f64(b, c);
    Pair t = sum_f64(a - n.value, s.high);
    Pair w = sum_f64(d, f);
    Pair p = sum_f64(s.low, w.high);
    Pair v = sum_f64(t.high, p.high);
    v.low += t.low + (p.low + (w.low + g));
    Turn y;
    y.rest.high = v.high * 0x1.921fb54442d18p0;
    y.rest.low = mad_f64(v.high, 0x1.1a62633145c07p-54, v.low * 0x1.921fb54442d18p0);
    y.rest.low += residue_f64(v.high, 0x1.921fb54442d18p0, y.rest.high);
    y.quadrant = n.bits;
    return y;
}

//@ sin_of_f64: pair_f64 mad_f64
// The sine of a rest, as a pair.
static inline Pair sin_of_f64(Pair r) {
    double z = r.high * r.high;
    double w = z * z;
    double p = mad_f64(0x1.5d93014582cd8p-33, z, -0x1.ae5e663b91a9dp-26);
    p = mad_f64(p, w, mad_f64(0x1.71de3577b7ce1p-19, z, -0x1.a01a019c119a7p-13));
    p = mad_f64(p, w, mad_f64(0x1.111111110f87ap-7, z, -0x1.5555555555549p-3));
    Pair s;
    s.high = r.high;
    s.low = mad_f64(p * z, r.high, mad_f64(-0.5 * z, r.low, r.low));
    return s;
}

//@ cos_of_f64: pair_f64 mad_f64
// The cosine of a rest, as a pair.
static inline Pair cos_of_f64(Pair r) {
    double z = r.high * r.high;
    double w = z * z;
    double p = mad_f64(-0x1.8fae9d21afe3cp-37, z, 0x1.1ee9ebea890e4p-29);
    p = mad_f64(p, w, mad_f64(-0x1.27e4f809f2b27p-22, z, 0x1.a01a019cb1c09p-16));
    p = mad_f64(p, w, mad_f64(-0x1.6c16c16c1517ep-10, z, 0x1.555555555554cp-5));
    double h = 0.5 * z;
    Pair c;
    c.high = 1.0 - h;
    c.low = ((1.0 - c.high) - h) + mad_f64(p, w, -(r.high * r.low));
    return c;
}

//@ sin_f64: turn_f64 sin_of_f64 cos_of_f64
static inline double sin_f64(double x) {
    Turn t = turn_f64(x);
    Pair s = sin_of_f64(t.rest);
    Pair c = cos_of_f64(t.rest);
    double y = t.quadrant & 1 ? c.high + c.low : s.high + s.low;
    y = t.quadrant & 2 ? -y : y;
    // Minus zero stays what it is.
    return __builtin_fabs(x) < 0x1p-27 ? x : y;
}

//@ cos_f64: turn_f64 sin_of_f64 cos_of_f64
static inline double cos_f64(double x) {
    Turn t = turn_f64(x);
    Pair s = sin_of_f64(t.rest);
    Pair c = cos_of_f64(t.rest);
    double y = t.quadrant & 1 ? s.high + s.low : c.high + c.low;
    return (t.quadrant + 1) & 2 ? -y : y;
}

//@ tan_f64: turn_f64 sin_of_f64 cos_of_f64 quotient_f64
static inline double tan_f64(double x) {
    Turn t = turn_f64(x);
    Pair s = sin_of_f64(t.rest);
    Pair c = cos_of_f64(t.rest);
    int odd = (t.quadrant & 1) != 0;
    Pair n;
    Pair d;
    n.high = odd ? -c.high : s.high;
    n.low = odd ? -c.low : s.low;
    d.high = odd ? s.high : c.high;
    d.low = odd ? s.low : c.low;
    d = near_sum_f64(d.high, d.low);
    Pair q = quotient_f64(n, d);
    return __builtin_fabs(x) < 0x1p-28 ? x : q.high + q.low;
}

//@ atan_of_f64: mad_f64 near_sum_f64 residue_f64
// k pi/4 and the arc tangent of u, times the sign, for |u| <= tan(pi/8).
static inline double atan_of_f64(Pair u, double k, double sign) {
    double z = u.high * u.high;
    double w = z * z;
    double even = -0x1.259703c593dd8p-6;
    even = mad_f64(even, w, -0x1.9cdb13988668dp-5);
    even = mad_f64(even, w, -0x1.10ebd9a6ff617p-4);
    even = mad_f64(even, w, -0x1.745cf9066eff7p-4);
    even = mad_f64(even, w, -0x1.24924922b0c06p-3);
    even = mad_f64(even, w, -0x1.555555555553dp-2);
    double odd = 0x1.37ea738e71e5p-5;
    odd = mad_f64(odd, w, 0x1.df112c07060b8p-5);
    odd = mad_f64(odd, w, 0x1.3b111c0e2c8b3p-4);
    odd = mad_f64(odd, w, 0x1.c71c70e77a916p-4);
    odd = mad_f64(odd, w, 0x1.99999999958ddp-3);
    double p = mad_f64(mad_f64(odd, z, even) * z, u.high, u.low);
    double high = k * 0x1.921fb54442d18p-1;
    double low = residue_f64(k, 0x1.921fb54442d18p-1, high) + k * 0x1.1a62633145c07p-55;
    Pair s = near_sum_f64(high, sign * u.high);
    return s.high + (s.low + mad_f64(sign, p, low));
}

//@ direction_f64: atan_of_f64 near_sum_f64 quotient_f64
// The angle of the point (x, y), of which neither is negative; pi less that, if it is `behind`.
static inline double direction_f64(double y, double x, int behind) {
    int steep = x < y;
    double n = steep ? x : y;
    double d = steep ? y : x;
    // Infinities, zeros, and numbers whose reciprocals are none.
    n = d == __builtin_inf() ? (n == __builtin_inf() ? 1.0 : 0.0) : n;
    d = (d == __builtin_inf()) | (d == 0.0) ? 1.0 : d;
    double scale = d > 0x1p900 ? 0x1p-200 : d < 0x1p-900 ? 0x1p150 : 1.0;
    n *= scale;
    d *= scale;
    // Above tan(pi/8), the angle less pi/4.
    int middle = n > 0.41421356237309503 * d;
    Pair less = near_sum_f64(-d, n);
    Pair more = near_sum_f64(d, n);
    Pair a;
    Pair b;
    a.high = middle ? less.high : n;
    a.low = middle ? less.low : 0.0;
    b.high = middle ? more.high : d;
    b.low = middle ? more.low : 0.0;
    double k = middle ? 1.0 : 0.0;
    k = steep ? 2.0 - k : k;
    k = behind ? 4.0 - k : k;
    Pair u = quotient_f64(a, b);
    // What is left to the quotient of a tiny number is no double.
    u.low = __builtin_fabs(a.high) < 0x1p-900 ? 0.0 : u.low;
    return atan_of_f64(u, k, steep != behind ? -1.0 : 1.0);
}

//@ atan2_f64: direction_f64
static inline double atan2_f64(double y, double x) {
    // The sign of zero counts too.
    double p = direction_f64(__builtin_fabs(y), __builtin_fabs(x), __builtin_copysign(1.0, x) < 0.0);
    return (x == x) & (y == y) ? __builtin_copysign(p, y) : x + y;
}

//@ atan_f64: atan_of_f64 near_sum_f64 quotient_f64
static inline double atan_f64(double x) {
    double a = __builtin_fabs(x);
    // Beyond, a right angle.
    a = a > 0x1p60 ? 0x1p60 : a;
    // Above 1 it is the complement of the reciprocal's; above tan(pi/8), the angle less pi/4.
    int steep = a > 1.0;
    double n = steep ? 1.0 : a;
    double d = steep ? a : 1.0;
    int middle = n > 0.41421356237309503 * d;
    Pair less = near_sum_f64(-d, n);
    Pair more = near_sum_f64(d, n);
    Pair t;
    Pair b;
    t.high = middle ? less.high : n;
    t.low = middle ? less.low : 0.0;
    b.high = middle ? more.high : d;
    b.low = middle ? more.low : 0.0;
    double k = middle ? 1.0 : 0.0;
    k = steep ? 2.0 - k : k;
    double p = atan_of_f64(quotient_f64(t, b), k, steep ? -1.0 : 1.0);
    return __builtin_copysign(a < 0x1p-30 ? a : p, x);
}

//@ arc_f64: root_f64 near_sum_f64 mad_f64
// k + k2 + factor asin u, where u is a, or above 1/2 the root of (1 - a) / 2: asin a = pi/2 - 2 asin u. Without a k, factor is positive.
static inline double arc_f64(double a, double k, double k2, double factor) {
    int large = a > 0.5;
    double z = large ? mad_f64(a, -0.5, 0.5) : a * a;
    Pair s;
    s.high = z;
    s.low = 0.0;
    s = root_f64(s);
    double u = large ? s.high : a;
    double u2 = large ? s.low : 0.0;
    double w = z * z;
    double even = 0x1.0be618e22d6c6p-5;
    even = mad_f64(even, w, 0x1.6506934c7283ep-6);
    even = mad_f64(even, w, 0x1.618bee9af73dfp-7);
    even = mad_f64(even, w, 0x1.ca214c94ccf29p-7);
    even = mad_f64(even, w, 0x1.6e8bdfecdc48ep-6);
    even = mad_f64(even, w, 0x1.6db6db722c323p-5);
    even = mad_f64(even, w, 0x1.5555555555578p-3);
    double odd = -0x1.59fc6daa28a48p-6;
    odd = mad_f64(odd, w, 0x1.e14ac406bb671p-9);
    odd = mad_f64(odd, w, 0x1.75775044c512p-7);
    odd = mad_f64(odd, w, 0x1.1c49dd9e3d62ep-6);
    odd = mad_f64(odd, w, 0x1.f1c71a8b5b2d1p-6);
    odd = mad_f64(odd, w, 0x1.333333332df01p-4);
    double p = mad_f64(odd, z, even) * z;
    Pair y = near_sum_f64(k, factor * u);
    return y.high + (y.low + mad_f64(factor, mad_f64(p, u, u2), k2));
}

//@ asin_f64: arc_f64
static inline double asin_f64(double x) {
    double a = __builtin_fabs(x);
    int large = a > 0.5;
    double y = arc_f64(a, large ? 0x1.921fb54442d18p0 : 0.0, large ? 0x1.1a62633145c07p-54 : 0.0, large ? -2.0 : 1.0);
    return __builtin_copysign(y, x);
}

//@ acos_f64: arc_f64
static inline double acos_f64(double x) {
    double a = __builtin_fabs(x);
    int large = a > 0.5;
    // Of 0, 1 or 2 right angles.
    double k = large ? (x < 0.0 ? 2.0 : 0.0) : 1.0;
    double factor = x < 0.0 ? 1.0 : -1.0;
    return arc_f64(a, k * 0x1.921fb54442d18p0, k * 0x1.1a62633145c07p-54, large ? -2.0 * factor : factor);
}
