#!/usr/bin/env python3
"""Prints the polynomials of the functions of doubles beside this file, highest power first, with their largest errors.

    pip install mpmath
    python3 coefficients.py

Each is minimax for a weight, by Remez' algorithm, and then rounded to doubles. A weight turns an error of the polynomial
into one of the function that it belongs to.
"""
from mpmath import cos, lu_solve, matrix, mp, mpf, pi

mp.prec = 300
SAMPLES = 600
LN2 = mp.log(2)
TINY = mpf(2) ** -60


def extrema(errors):
    """The places of the largest error of each sign in turn."""
    found, start = [], 0
    while start < len(errors):
        end = start
        while end < len(errors) and (errors[end] > 0) == (errors[start] > 0):
            end += 1
        found.append(max(range(start, end), key=lambda i: abs(errors[i])))
        start = end
    return found


def remez(f, low, high, degree, weight):
    low, high = mpf(low), mpf(high)
    count = degree + 2
    chebyshev = lambda t: (low + high) / 2 - (high - low) / 2 * cos(t)
    points = [chebyshev(pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    grid = [chebyshev(pi * mpf(i) / SAMPLES) for i in range(SAMPLES + 1)]
    exact, weights = [f(x) for x in grid], [weight(x) for x in grid]
    for _ in range(12):
        rows = [[x**k for k in range(degree + 1)] + [(-1) ** i / weight(x)] for i, x in enumerate(points)]
        solution = lu_solve(matrix(rows), matrix([f(x) for x in points]))
        coefficients = [solution[k] for k in range(degree + 1)]
        errors = [(y - mp.polyval(coefficients[::-1], x)) * w for x, y, w in zip(grid, exact, weights)]
        places = extrema(errors)
        while len(places) > count:
            places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
        if len(places) < count:
            break
        sizes = [abs(errors[i]) for i in places]
        if max(sizes) < 1.01 * min(sizes):
            break
        points = [grid[i] for i in places]
    return coefficients, max(abs(error) for error in errors)


def of_square(f, series):
    """A function of the square of its argument; near to 0, where it would cancel, by its series."""
    return lambda z: series(z) if z < mpf(2) ** -40 else f(mp.sqrt(z))


def without_limit(f, limit):
    return lambda x: limit if abs(x) < mpf(2) ** -170 else f(x)


def logarithm(s):
    """log((1 + s) / (1 - s)) = 2 s + s^3 times this."""
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / s**3


def logarithm_tail(s):
    return (logarithm(s) - mpf(2) / 3) / s**2 / LN2


def erfc_scaled(t):
    x = 4 * (1 + t) / (1 - t)
    with mp.workprec(1600):
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def stirling(w):
    z = 1 / w
    return (mp.loggamma(z) - ((z - mpf(1) / 2) * mp.log(z) - z + mp.log(2 * pi) / 2)) * z


def ln_gamma_near(zero):
    return without_limit(lambda t: mp.loggamma(zero + t) / t, mp.digamma(zero))


QUARTER = (pi / 4 * mpf("1.0001")) ** 2
HALF_LN2 = (LN2 / 2 * mpf("1.0001")) ** 2
ROOT = 2 / mp.sqrt(pi)
FIRST = lambda z: z + TINY
SECOND = lambda z: z * z + TINY

POLYNOMIALS = [
    ("e^r = 1 + r p(r)", without_limit(lambda r: mp.expm1(r) / r, mpf(1)), -LN2 / 2 * mpf("1.0001"), LN2 / 2 * mpf("1.0001"), 10,
     lambda r: abs(r) / mp.exp(r) + TINY),
    ("2^r = 1 + r p(r)", without_limit(lambda r: mp.expm1(r * LN2) / r, LN2), -0.5001, 0.5001, 10,
     lambda r: abs(r) / mp.power(2, r) + TINY),
    ("log: p(s^2)", of_square(logarithm, lambda z: mpf(2) / 3 + 2 * z / 5 + 2 * z * z / 7), 0, 0.02945, 6, FIRST),
    ("log2: p(s^2)", of_square(logarithm_tail, lambda z: (mpf(2) / 5 + 2 * z / 7 + 2 * z * z / 9) / LN2), 0, 0.02945, 6, SECOND),
    ("sin r = r + r^3 p(r^2)", of_square(lambda r: (mp.sin(r) - r) / r**3, lambda z: -mpf(1) / 6 + z / 120 - z * z / 5040), 0,
     QUARTER, 5, FIRST),
    ("cos r = 1 - r^2/2 + r^4 p(r^2)",
     of_square(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4, lambda z: mpf(1) / 24 - z / 720 + z * z / 40320), 0, QUARTER, 5, SECOND),
    ("sinh r = r + r^3 p(r^2)", of_square(lambda r: (mp.sinh(r) - r) / r**3, lambda z: mpf(1) / 6 + z / 120 + z * z / 5040), 0,
     HALF_LN2, 4, FIRST),
    ("cosh r = 1 + r^2/2 + r^4 p(r^2)",
     of_square(lambda r: (mp.cosh(r) - 1 - r * r / 2) / r**4, lambda z: mpf(1) / 24 + z / 720 + z * z / 40320), 0, HALF_LN2, 4, SECOND),
    ("atan u = u + u^3 p(u^2)", of_square(lambda u: (mp.atan(u) - u) / u**3, lambda z: -mpf(1) / 3 + z / 5 - z * z / 7), 0,
     (mp.tan(pi / 8) * mpf("1.0001")) ** 2, 10, FIRST),
    ("asin u = u + u^3 p(u^2)", of_square(lambda u: (mp.asin(u) - u) / u**3, lambda z: mpf(1) / 6 + 3 * z / 40 + 5 * z * z / 112), 0,
     mpf("0.2501"), 12, FIRST),
    ("erf x = 2/sqrt(pi) x + x^3 p(x^2)",
     of_square(lambda x: (mp.erf(x) / x - ROOT) / x**2, lambda z: -ROOT / 3 + ROOT * z / 10 - ROOT * z * z / 42), 0, 0.5626, 9, FIRST),
    ("(1 + 2 x) e^(x^2) erfc x = p((x - 4) / (x + 4))", erfc_scaled, -1, mpf(24) / 32, 22, lambda t: 1 / erfc_scaled(t)),
    ("Stirling: p(1 / z^2)", of_square(stirling, lambda u: mpf(1) / 12 - u / 360 + u * u / 1260), 0, mpf(1) / 64, 6,
     lambda u: mp.sqrt(u) + mpf(2) ** -40),
    ("ln_gamma (1 + t) = t p(t)", ln_gamma_near(1), -0.126, 0.126, 14, lambda t: mpf(1)),
    ("ln_gamma (2 + t) = t p(t)", ln_gamma_near(2), -0.126, 0.126, 11, lambda t: mpf(1)),
]

for name, f, low, high, degree, weight in POLYNOMIALS:
    coefficients, error = remez(f, low, high, degree, weight)
    print(f"{name}: 2^{float(mp.log(error, 2)):.1f}")
    for coefficient in reversed(coefficients):
        print("   ", float(coefficient).hex())
