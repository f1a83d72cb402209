#!/usr/bin/env python3
"""Writes mathematical functions of doubles, computed in 1600 bits and rounded once.

    pip install mpmath
    python3 table.py one > one.txt
    python3 table.py two > two.txt

A line has the arguments and, in the order of the first line, the result of each function, as the bits of doubles.
"""
import random
import struct
import sys
from fractions import Fraction

from mpmath import mp, mpf

mp.prec = 1600
random.seed(1)
INF, NAN = float("inf"), float("nan")


def bits(x):
    return "nan" if x != x else struct.pack(">d", x).hex()


def from_bits(n):
    return struct.unpack(">d", struct.pack(">Q", n))[0]


def rounded(y):
    """A result of mpmath as the nearest double."""
    if mp.isnan(y) or isinstance(y, mp.mpc):
        return NAN
    if mp.isinf(y):
        return INF if y > 0 else -INF
    if y == 0:
        return 0.0
    sign, mantissa, exponent, count = y._mpf_
    if exponent + count > 1030:
        return -INF if sign else INF
    if exponent + count < -1100:
        return -0.0 if sign else 0.0
    try:
        return (-1) ** sign * float(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
    except OverflowError:
        return -INF if sign else INF


def unary(f, at_inf, at_minus_inf, low=-INF, high=INF, odd=False):
    def value(x):
        if x != x:
            return NAN
        if x == 0 and odd:
            return x
        if x == INF:
            return at_inf
        if x == -INF:
            return at_minus_inf
        if not low <= x <= high:
            return NAN
        return rounded(f(mpf(x)))

    return value


def log(f):
    return lambda x: -INF if x == 0 else unary(f, INF, NAN, low=0)(x)


def power(x, y):
    if y == 0 or x == 1:
        return 1.0
    if x != x or y != y:
        return NAN
    whole = abs(y) == INF or y == int(y)
    odd = abs(y) != INF and whole and int(y) % 2 == 1
    sign = -1.0 if odd and bits(x)[0] in "89abcdef" else 1.0
    a = abs(x)
    if a == 1 and abs(y) == INF:
        return 1.0
    if a in (0, INF) or abs(y) == INF:
        grows = (a > 1) == (y > 0)
        return sign * (INF if grows else 0.0)
    if x < 0 and not whole:
        return NAN
    return sign * abs(rounded(mp.power(mpf(a), mpf(y))))


def angle(y, x):
    if x != x or y != y:
        return NAN
    negative = lambda v: bits(v)[0] in "89abcdef"
    sign = -1.0 if negative(y) else 1.0
    a, b = abs(y), abs(x)
    if a == INF or b == INF:
        t = mp.pi / 4 if a == b else mp.pi / 2 if a == INF else mpf(0)
    elif a == 0 and b == 0:
        t = mpf(0)
    else:
        t = mp.atan2(mpf(a), mpf(b))
    return sign * rounded(mp.pi - t if negative(x) else t)


def hypotenuse(x, y):
    if abs(x) == INF or abs(y) == INF:
        return INF
    if x != x or y != y:
        return NAN
    return rounded(mp.sqrt(mpf(x) ** 2 + mpf(y) ** 2))


def gamma(x):
    if x == 0:
        return INF if bits(x)[0] == "0" else -INF
    if x != x or x == -INF or (x < 0 and x == int(x)):
        return NAN
    if x > 180:
        return INF
    if x < -200:
        return -0.0 if int(x) % 2 == 0 else 0.0
    return rounded(mp.gamma(mpf(x)))


def ln_gamma(x):
    if x != x:
        return NAN
    if abs(x) == INF or x == 0 or (x < 0 and x == int(x)):
        return INF
    return rounded(mp.re(mp.loggamma(mpf(x))))


half_pis = [float(k * mp.pi / 2) for k in (1, 2, 3, 11, 22, 1000, 10**6, 2**20, 10**9, 2**40, 10**15)]
# The doubles that are nearest to a multiple of pi/2, for their size.
huge = [6381956970095103 * 2.0**797, 5.319372648326541e255, 1e22, 1e300, 2.0**1023, 1.7976931348623157e308]
near_one = [1 + k * 2.0**-52 for k in (1, 2, 3, 1000, 10**9)] + [1 - k * 2.0**-53 for k in (1, 2, 3, 1000, 10**9)]
common = [0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-20, 1e-8, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 1e300,
          1.7976931348623157e308, INF]
ends = [709.782712893384, 709.79, 708.4, 745.13, 745.2, 710.47, 710.4758600739439, 1023.99999999, 1024.0, 1022.5, 1074.0,
        1075.5, 22.0, 19.06, 0.34657359, 0.6931471805599453]
# The ends of exp10, erfc and gamma, and the zeros of the logarithm of gamma.
ends += [308.25471555991674, 308.26, 307.6, 323.3, 26.5, 27.2, 27.3, 5.9, 6.1, 0.75, 171.62, 171.63, 170.5, 184.5, 1.01, 2.01,
         1.126, 2.5, 7.99, 8.0, 0.41421356237309503, 2.414213562373095]


def random_doubles(count):
    return [from_bits(random.getrandbits(63)) for _ in range(count)]


def spread(low, high, count):
    return [random.uniform(low, high) for _ in range(count)]


FUNCTIONS = {
    "exp": unary(mp.exp, INF, 0.0),
    "exp2": unary(lambda x: mp.power(2, x), INF, 0.0),
    "log": log(mp.log),
    "log2": log(lambda x: mp.log(x) / mp.log(2)),
    "log10": log(lambda x: mp.log(x) / mp.log(10)),
    "sin": unary(mp.sin, NAN, NAN, odd=True),
    "cos": unary(mp.cos, NAN, NAN),
    "tan": unary(mp.tan, NAN, NAN, odd=True),
    "asin": unary(mp.asin, NAN, NAN, -1, 1, odd=True),
    "acos": unary(mp.acos, NAN, NAN, -1, 1),
    "atan": unary(mp.atan, float(mp.pi / 2), float(-mp.pi / 2), odd=True),
    "sinh": unary(mp.sinh, INF, -INF, odd=True),
    "cosh": unary(mp.cosh, INF, INF),
    "tanh": unary(mp.tanh, 1.0, -1.0, odd=True),
    "cbrt": unary(lambda x: mp.sign(x) * mp.cbrt(abs(x)), INF, -INF, odd=True),
    "exp10": unary(lambda x: mp.power(10, x), INF, 0.0),
    "exp_m1": unary(mp.expm1, INF, -1.0, odd=True),
    "ln_1p": lambda x: -INF if x == -1 else unary(mp.log1p, INF, NAN, low=-1, odd=True)(x),
    "asinh": unary(mp.asinh, INF, -INF, odd=True),
    "acosh": unary(mp.acosh, INF, NAN, low=1),
    "atanh": lambda x: x * INF if abs(x) == 1 else unary(mp.atanh, NAN, NAN, -1, 1, odd=True)(x),
    "erf": unary(lambda x: mp.erf(min(max(x, -30), 30)), 1.0, -1.0, odd=True),
    "erfc": unary(lambda x: mp.erfc(min(max(x, -30), 30)), 0.0, 2.0),
    "gamma": gamma,
    "ln_gamma": ln_gamma,
}


def one():
    print(*FUNCTIONS)
    positive = spread(0, 700, 16) + spread(0, 20, 20) + spread(0, 1, 30) + spread(0, 1e6, 6) + random_doubles(20)
    positive += [10.0**k for k in (1, 2, 22, 100)] + near_one + half_pis + huge
    arguments = [v for x in common + ends for v in (x, -x)] + [NAN]
    arguments += positive + [-x for x in positive[::2]]
    for x in dict.fromkeys(arguments):
        print(bits(x), *(bits(function(x)) for function in FUNCTIONS.values()))


def two():
    print("pow atan2 hypot")
    named = [0.0, 0.5, 1.0, 2.0, 3.0, 1e-300, 1e300, 1 + 2.0**-52, 9007199254740993.0, INF]
    named = [v for x in named for v in (x, -x)] + [NAN]
    pairs = [(x, y) for x in named for y in named if random.random() < 0.6]
    pairs += [(random.uniform(0, 20), random.uniform(-8, 8)) for _ in range(60)]
    pairs += [(1 + random.uniform(-1, 1) * 1e-9, random.uniform(-1, 1) * 5e11) for _ in range(20)]
    pairs += [(random.uniform(0, 1e3), random.uniform(-100, 100)) for _ in range(40)]
    for x, y in pairs:
        print(bits(x), bits(y), bits(power(x, y)), bits(angle(x, y)), bits(hypotenuse(x, y)))


{"one": one, "two": two}[sys.argv[1]]()
