"""What cpu.py and gpu.py share: workload names, inputs, formulas, checks, and the rows they print.

Imports nothing but the standard library and NumPy: the libraries that are measured stay with the programs that
measure them, and so does the clock.
"""

import json
import math
import sys

import numpy as np

SAXPY_FACTOR = 2.5
RISK_FREE_RATE = 0.02
VOLATILITY = 0.3
PICTURE_WIDTH = 2048
PICTURE_HEIGHT = 2048
PICTURE_SHAPE = (PICTURE_HEIGHT, PICTURE_WIDTH)
ITERATION_CAP = 64

COPY = "copy f32"
SAXPY = "saxpy f32"
DOT = "dot f32"
SUM = "sum f32"
BLACK_SCHOLES = "black-scholes f32"
PREFIX_SUMS_I32 = "prefix sums i32"
PREFIX_SUMS_F32 = "prefix sums f32"
SELECT = "select 1 in 4 i32"
SORT_I32 = "sort i32"
SORT_F32 = "sort f32"
FILTERED_SUM = "filtered sum f32"
MEAN_AND_VARIANCE = "mean and variance f32"
BITS_OF_BINS = [8, 16, 20]
MANDELBROT = f"mandelbrot {PICTURE_WIDTH}x{PICTURE_HEIGHT} cap {ITERATION_CAP}"


def row_sums_name(rows, columns):
    return f"row sums f32 {rows}x{columns}"


def transpose_name(rows, columns):
    return f"transpose f32 {rows}x{columns}"


def row_prefix_sums_name(rows, columns):
    return f"row prefix sums f32 {rows}x{columns}"


def bins_name(bits):
    return f"bins i32 {1 << bits}"


def fewest_bytes(workload, n, rows=0):
    """The bytes that any implementation must move: each input read once, each output written once."""
    arrays_moved = {
        COPY: 2,
        SAXPY: 3,
        DOT: 2,
        SUM: 1,
        BLACK_SCHOLES: 5,
        MANDELBROT: 1,
        PREFIX_SUMS_I32: 2,
        PREFIX_SUMS_F32: 2,
        SORT_I32: 2,
        SORT_F32: 2,
        FILTERED_SUM: 1,
        MEAN_AND_VARIANCE: 1,
    }
    if workload.startswith("row prefix sums"):
        return 8 * n
    if workload.startswith("group"):
        return 16 * n
    if workload.startswith("join"):
        return 24 * n
    if workload.startswith("breadth-first"):
        return 128 * n
    if workload.startswith("bins"):
        return 4 * n
    if workload == SELECT:
        return 5 * n
    if workload.startswith("row sums"):
        return 4 * (n + rows)
    if workload.startswith("transpose"):
        return 8 * n
    return 4 * n * arrays_moved[workload]


def note(text):
    print(f"note: {text}", file=sys.stderr, flush=True)


def median(values):
    return sorted(values)[len(values) // 2]


def repetitions_for(once_ms):
    """As many repetitions as fit into about a second, but always enough for a median to mean something."""
    return max(5, min(101, int(1000 / (once_ms + 1e-3))))


class Report:
    """Collects rows for one device and prints them as JSON; says which workloads were asked for."""

    def __init__(self, device, wanted):
        self.device = device
        self.wanted = wanted
        self.rows = []

    def wants(self, workload):
        return self.wanted in workload

    def add(self, workload, implementation, n, median_ms, rows=0, work=None):
        """A row; `work` is its field for bytes or operations, where they are not those of `fewest_bytes`."""
        self.rows.append(
            {
                "workload": workload,
                "device": self.device,
                "implementation": implementation,
                "n": n,
                "median_ms": median_ms,
                **(work or {"fewest_bytes": fewest_bytes(workload, n, rows)}),
            }
        )
        note(f"{workload}, {implementation}: {median_ms:.3f} ms")

    def print_json(self):
        print("[" + ",".join("\n  " + json.dumps(row) for row in self.rows) + "\n]", flush=True)


# Inputs -----------------------------------------------------------------------------------------------------


def hash32(x):
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def uniform(n, stream):
    """n numbers in [0, 1); the same ones in every peer program."""
    offset = (stream * 0x9E3779B9) % (1 << 32)
    index = np.arange(n, dtype=np.uint32) + np.uint32(offset)
    return (hash32(index) >> np.uint32(8)).astype(np.float32) * np.float32(1 / 16777216)


def hashes(n):
    return hash32(np.arange(n, dtype=np.uint32))


def picture_axes():
    """The real parts of the picture's columns and the imaginary parts of its rows."""
    columns = np.arange(PICTURE_WIDTH, dtype=np.float32)
    rows = np.arange(PICTURE_HEIGHT, dtype=np.float32)
    cx = np.float32(-2) + np.float32(3) * columns / np.float32(PICTURE_WIDTH)
    cy = np.float32(-1) + np.float32(2) * rows / np.float32(PICTURE_HEIGHT)
    return cx, cy


class Inputs:
    """The arrays that all peers read."""

    def __init__(self, vector_length, option_count):
        self.x = uniform(vector_length, 0)
        self.y = uniform(vector_length, 1)
        self.options = (
            self.x[:option_count].copy(),
            self.y[:option_count].copy(),
            uniform(option_count, 2),
        )

    def matrix(self, rows, columns):
        return self.x.reshape(rows, columns)

    def numbers(self):
        """Whole numbers whose sums fit into 32 bits."""
        return (hashes(self.x.size) >> np.uint32(28)).astype(np.int32)

    def words(self):
        """Whole numbers of 32 bits, of which one in four is a multiple of four."""
        return hashes(self.x.size).view(np.int32)

    def keys(self, bits):
        """Numbers of bins."""
        return (hashes(self.x.size) >> np.uint32(32 - bits)).astype(np.int32)


# Formulas, written once for every library that has NumPy's names --------------------------------------------


def cumulative_normal(xp, d):
    """By the polynomial of Abramowitz and Stegun, 26.2.17."""
    k = 1 / (1 + 0.2316419 * xp.abs(d))
    polynomial = k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = 0.39894228040143267794 * xp.exp(-0.5 * d * d) * polynomial
    return xp.where(d > 0, 1 - tail, tail)


def black_scholes(xp, x, y, z):
    price = x * 25 + 5
    strike = y * 99 + 1
    years = z * 9.75 + 0.25
    deviation = VOLATILITY * xp.sqrt(years)
    drift = RISK_FREE_RATE + 0.5 * VOLATILITY * VOLATILITY
    d1 = (xp.log(price / strike) + drift * years) / deviation
    d2 = d1 - deviation
    normal1 = cumulative_normal(xp, d1)
    normal2 = cumulative_normal(xp, d2)
    discounted = strike * xp.exp(-RISK_FREE_RATE * years)
    call = price * normal1 - discounted * normal2
    put = discounted * (1 - normal2) - price * (1 - normal1)
    return call, put


def mandelbrot_step(cx, cy, x, y, counts):
    """One iteration of every point: where it goes, and its count if it was still inside.

    A point that has left keeps computing and overflows, but never counts as inside again.
    """
    xx = x * x
    yy = y * y
    inside = xx + yy <= 4
    return xx - yy + cx, 2 * x * y + cy, counts + inside


def mandelbrot(cx, cy, x, y, counts):
    """All iterations as straight-line code. `x`, `y` and `counts` are pictures of zeros."""
    for _ in range(ITERATION_CAP):
        x, y, counts = mandelbrot_step(cx[None, :], cy[:, None], x, y, counts)
    return counts


# Checks -----------------------------------------------------------------------------------------------------


class Unavailable(Exception):
    """A library is installed but cannot use the device."""


class WrongResult(Exception):
    """A peer computed something else than the reference; its time would mean nothing."""


def sampled(values):
    """About a million elements of an array, in double precision. The stride is odd, to meet every lane."""
    stride = (values.size >> 20) | 1
    return (values[::stride] if values.ndim > 0 else values).astype(np.float64)


def expect_close(workload, implementation, got, expected, tolerance):
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        raise WrongResult(f"{workload}, {implementation}: shape {got.shape}, expected {expected.shape}")
    got, expected = sampled(got), sampled(expected)
    error = np.abs(got - expected) / (1 + np.abs(expected))
    # Negated, so that a NaN fails too.
    if not np.all(error <= tolerance):
        raise WrongResult(f"{workload}, {implementation}: off by {np.max(error):.3g}")


def expected_black_scholes(x, y, z):
    """In double precision and with the error function instead of the polynomial; for samples only."""
    x, y, z = (np.asarray(values, dtype=np.float64) for values in (x, y, z))
    price, strike, years = x * 25 + 5, y * 99 + 1, z * 9.75 + 0.25
    deviation = VOLATILITY * np.sqrt(years)
    d1 = (np.log(price / strike) + (RISK_FREE_RATE + 0.5 * VOLATILITY**2) * years) / deviation
    d2 = d1 - deviation
    normal = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    discounted = strike * np.exp(-RISK_FREE_RATE * years)
    call = price * normal(d1) - discounted * normal(d2)
    put = discounted * normal(-d2) - price * normal(-d1)
    return call, put


def check_black_scholes(implementation, got, x, y, z, samples=4096):
    expected = expected_black_scholes(x[:samples], y[:samples], z[:samples])
    for one_got, one_expected in zip(got, expected):
        expect_close(BLACK_SCHOLES, implementation, one_got[:samples], one_expected, 5e-5)


def expected_count(cx, cy):
    x = y = 0.0
    count = 0
    while count < ITERATION_CAP and x * x + y * y <= 4:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        count += 1
    return count


def check_mandelbrot(implementation, counts, stride=1009):
    """A share of points, not each one: at the set's edge the last bit decides, and roundings differ."""
    cx, cy = (axis.astype(np.float64) for axis in picture_axes())
    flat = np.asarray(counts).reshape(-1)
    sampled = range(0, PICTURE_WIDTH * PICTURE_HEIGHT, stride)
    different = sum(flat[i] != expected_count(cx[i % PICTURE_WIDTH], cy[i // PICTURE_WIDTH]) for i in sampled)
    if different * 200 > len(sampled):
        raise WrongResult(f"{MANDELBROT}, {implementation}: {different} of {len(sampled)} counts are wrong")


class Peer:
    """One library on one device: checks what it is given and then times it, under the library's name.

    A workload is a function without arguments that returns its result; `median_ms` knows when its work is done,
    `to_numpy` fetches a result from where it lies.
    """

    def __init__(self, implementation, inputs, report, median_ms, to_numpy=np.asarray):
        self.implementation = implementation
        self.inputs = inputs
        self.report = report
        self.median_ms = median_ms
        self.to_numpy = to_numpy

    def _measure(self, workload, n, run, check, rows=0):
        if self.report.wants(workload):
            check(run())
            self.report.add(workload, self.implementation, n, self.median_ms(run), rows)

    def _measure_array(self, workload, run, make_expected, tolerance, rows=0):
        def check(got):
            expect_close(workload, self.implementation, self.to_numpy(got), make_expected(), tolerance)

        self._measure(workload, self.inputs.x.size, run, check, rows)

    def copy(self, run):
        self._measure_array(COPY, run, lambda: self.inputs.x, 0)

    def saxpy(self, run):
        def make_expected():
            return SAXPY_FACTOR * self.inputs.x.astype(np.float64) + self.inputs.y

        self._measure_array(SAXPY, run, make_expected, 1e-6)

    def dot(self, run):
        def make_expected():
            return np.dot(self.inputs.x.astype(np.float64), self.inputs.y.astype(np.float64))

        self._measure_array(DOT, run, make_expected, 1e-3)

    def sum(self, run):
        self._measure_array(SUM, run, lambda: np.sum(self.inputs.x, dtype=np.float64), 1e-3)

    def row_sums(self, rows, columns, run):
        def make_expected():
            return np.sum(self.inputs.matrix(rows, columns), axis=1, dtype=np.float64)

        self._measure_array(row_sums_name(rows, columns), run, make_expected, 1e-4, rows)

    def transpose(self, rows, columns, run):
        def make_expected():
            return self.inputs.matrix(rows, columns).T

        self._measure_array(transpose_name(rows, columns), run, make_expected, 0)

    def prefix_sums_i32(self, run):
        self._measure_array(PREFIX_SUMS_I32, run, lambda: np.cumsum(self.inputs.numbers(), dtype=np.int64), 0)

    def prefix_sums_f32(self, run):
        self._measure_array(PREFIX_SUMS_F32, run, lambda: np.cumsum(self.inputs.x, dtype=np.float64), 1e-2)

    def row_prefix_sums(self, rows, columns, run):
        def make_expected():
            return np.cumsum(self.inputs.matrix(rows, columns), axis=1, dtype=np.float64)

        self._measure_array(row_prefix_sums_name(rows, columns), run, make_expected, 1e-3)

    def select(self, run):
        def make_expected():
            words = self.inputs.words()
            return words[words & 3 == 0]

        self._measure_array(SELECT, run, make_expected, 0)

    def sort_i32(self, run):
        self._measure_array(SORT_I32, run, lambda: np.sort(self.inputs.words(), kind="stable"), 0)

    def sort_f32(self, run):
        self._measure_array(SORT_F32, run, lambda: np.sort(self.inputs.x, kind="stable"), 0)

    def filtered_sum(self, run):
        def make_expected():
            return np.sum(self.inputs.x[self.inputs.x < 0.25], dtype=np.float64)

        self._measure_array(FILTERED_SUM, run, make_expected, 1e-3)

    def mean_and_variance(self, run):
        def check(got):
            expected = (np.mean(self.inputs.x, dtype=np.float64), np.var(self.inputs.x, dtype=np.float64))
            for one_got, one_expected in zip(got, expected):
                got_value = self.to_numpy(one_got)
                expect_close(MEAN_AND_VARIANCE, self.implementation, got_value, one_expected, 1e-3)

        self._measure(MEAN_AND_VARIANCE, self.inputs.x.size, run, check)

    def bins(self, bits, run):
        def make_expected():
            return np.bincount(self.inputs.keys(bits), minlength=1 << bits)

        self._measure_array(bins_name(bits), run, make_expected, 0)

    def black_scholes(self, run):
        def check(got):
            prices = [self.to_numpy(one) for one in got]
            check_black_scholes(self.implementation, prices, *self.inputs.options)

        self._measure(BLACK_SCHOLES, self.inputs.options[0].size, run, check)

    def mandelbrot(self, run):
        def check(got):
            check_mandelbrot(self.implementation, self.to_numpy(got))

        self._measure(MANDELBROT, PICTURE_WIDTH * PICTURE_HEIGHT, run, check)


def measure_all(device, vector_length, option_count, libraries):
    """Runs each (name, measure) of `libraries` on the inputs and prints what they measured; leaves the process."""
    inputs = Inputs(vector_length, option_count)
    measure_reports(device, [(name, lambda report, measure=measure: measure(inputs, report)) for name, measure in libraries])


def measure_reports(device, libraries):
    """Runs each (name, measure) of `libraries` and prints what they measured; leaves the process.

    A library that is missing is named and left out. One that fails or computes something wrong is named, too,
    and makes the exit status say so.
    """
    report = Report(device, sys.argv[1] if len(sys.argv) > 1 else "")
    has_failed = False
    for name, measure in libraries:
        try:
            measure(report)
        except (ImportError, Unavailable) as reason:
            note(f"{name} is left out: {reason}")
        except WrongResult as wrong:
            note(f"{name} is wrong: {wrong}")
            has_failed = True
        except Exception as error:  # whatever a library throws: the others' rows are still worth having
            note(f"{name} failed: {type(error).__name__}: {error}")
            has_failed = True
    report.print_json()
    sys.exit(1 if has_failed else 0)
