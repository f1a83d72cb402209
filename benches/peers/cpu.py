"""The array libraries a Python user would pick instead of Pumice, on the CPU: NumPy, Numba and JAX.

Run:  python3 cpu.py [part of a workload's name]        (pip install numpy numba jax; each may be missing)

Prints a JSON array of rows (see README.md) on stdout and what it is doing on stderr. Every result is checked
before it is timed. Threads: Numba obeys NUMBA_NUM_THREADS, NumPy and JAX use what they want.
"""

import os
import sys
import time

# Before JAX is imported: this program measures the CPU even where JAX could use a GPU.
os.environ["JAX_PLATFORMS"] = "cpu"

sys.dont_write_bytecode = True

try:
    import numpy as np

    import common
except ImportError as missing:
    print(f"note: no Python peers on the CPU: {missing}", file=sys.stderr)
    print("[]")
    sys.exit(0)

VECTOR_LENGTH = 1 << 24
OPTION_COUNT = 1 << 22
MATRIX_SIDE = 4096


def time_once_ms(run):
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def median_ms(run):
    run()
    repetitions = common.repetitions_for(time_once_ms(run))
    return common.median([time_once_ms(run) for _ in range(repetitions)])


# NumPy ------------------------------------------------------------------------------------------------------


def mandelbrot_numpy(cx, cy):
    zeros = np.zeros(common.PICTURE_SHAPE, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        return common.mandelbrot(cx, cy, zeros, zeros, np.zeros(common.PICTURE_SHAPE, np.int32))


def measure_numpy(inputs, report):
    peer = common.Peer("NumPy", inputs, report, median_ms)
    x, y, matrix = inputs.x, inputs.y, inputs.matrix(MATRIX_SIDE, MATRIX_SIDE)
    # An output that exists already, as every other peer has it.
    output = np.empty_like(x)
    transposed = np.empty_like(matrix)

    def copy():
        np.copyto(output, x)
        return output

    def saxpy():
        np.multiply(x, np.float32(common.SAXPY_FACTOR), out=output)
        np.add(output, y, out=output)
        return output

    def transpose():
        np.copyto(transposed, matrix.T)
        return transposed

    peer.copy(copy)
    peer.saxpy(saxpy)
    peer.dot(lambda: np.dot(x, y))
    peer.sum(lambda: np.sum(x))
    peer.row_sums(MATRIX_SIDE, MATRIX_SIDE, lambda: matrix.sum(axis=1))
    peer.black_scholes(lambda: common.black_scholes(np, *inputs.options))
    cx, cy = common.picture_axes()
    peer.mandelbrot(lambda: mandelbrot_numpy(cx, cy))
    peer.transpose(MATRIX_SIDE, MATRIX_SIDE, transpose)


# Numba ------------------------------------------------------------------------------------------------------


def measure_numba(inputs, report):
    import math

    import numba

    peer = common.Peer("Numba", inputs, report, median_ms)
    parallel = numba.njit(parallel=True, fastmath=True)
    inlined = numba.njit(fastmath=True)
    # A bare Python number is a double to Numba and would make the whole expression one.
    f32 = np.float32
    factor, rate, volatility = f32(common.SAXPY_FACTOR), f32(common.RISK_FREE_RATE), f32(common.VOLATILITY)
    drift = f32(common.RISK_FREE_RATE + 0.5 * common.VOLATILITY**2)
    half, one, two, four = f32(0.5), f32(1), f32(2), f32(4)
    normal_scale, normal_slope = f32(0.39894228040143267794), f32(0.2316419)
    a1, a2, a3, a4, a5 = (
        f32(0.31938153),
        f32(-0.356563782),
        f32(1.781477937),
        f32(-1.821255978),
        f32(1.330274429),
    )
    width, height, cap = common.PICTURE_WIDTH, common.PICTURE_HEIGHT, common.ITERATION_CAP

    @parallel
    def copy(x, output):
        for i in numba.prange(x.size):
            output[i] = x[i]

    @parallel
    def saxpy(x, y, output):
        for i in numba.prange(x.size):
            output[i] = factor * x[i] + y[i]

    @parallel
    def dot(x, y):
        total = f32(0)
        for i in numba.prange(x.size):
            total += x[i] * y[i]
        return total

    @parallel
    def total_of(x):
        total = f32(0)
        for i in numba.prange(x.size):
            total += x[i]
        return total

    @parallel
    def row_sums(matrix, sums):
        for row in numba.prange(matrix.shape[0]):
            total = f32(0)
            for column in range(matrix.shape[1]):
                total += matrix[row, column]
            sums[row] = total

    @inlined
    def cumulative_normal(d):
        k = one / (one + normal_slope * abs(d))
        polynomial = k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5))))
        tail = normal_scale * math.exp(-half * d * d) * polynomial
        return one - tail if d > 0 else tail

    @parallel
    def black_scholes(x, y, z, call, put):
        for i in numba.prange(x.size):
            price = x[i] * f32(25) + f32(5)
            strike = y[i] * f32(99) + f32(1)
            years = z[i] * f32(9.75) + f32(0.25)
            deviation = volatility * math.sqrt(years)
            d1 = (math.log(price / strike) + drift * years) / deviation
            d2 = d1 - deviation
            normal1 = cumulative_normal(d1)
            normal2 = cumulative_normal(d2)
            discounted = strike * math.exp(-rate * years)
            call[i] = price * normal1 - discounted * normal2
            put[i] = discounted * (one - normal2) - price * (one - normal1)

    @parallel
    def mandelbrot(cx, cy, counts):
        for row in numba.prange(height):
            for column in range(width):
                x = f32(0)
                y = f32(0)
                count = 0
                while count < cap and x * x + y * y <= four:
                    x, y = x * x - y * y + cx[column], two * x * y + cy[row]
                    count += 1
                counts[row, column] = count

    @parallel
    def transpose(matrix, transposed):
        tile = 16
        for first_row in numba.prange(matrix.shape[0] // tile):
            for first_column in range(0, matrix.shape[1], tile):
                for column in range(first_column, first_column + tile):
                    for row in range(first_row * tile, (first_row + 1) * tile):
                        transposed[column, row] = matrix[row, column]

    matrix = inputs.matrix(MATRIX_SIDE, MATRIX_SIDE)
    output = np.empty_like(inputs.x)
    sums = np.empty(MATRIX_SIDE, np.float32)
    call, put = np.empty(OPTION_COUNT, np.float32), np.empty(OPTION_COUNT, np.float32)
    counts = np.empty((height, width), np.int32)
    transposed = np.empty_like(matrix)
    cx, cy = common.picture_axes()

    def writing(result, function, *arguments):
        """A workload that runs `function`, which fills `result`."""

        def run():
            function(*arguments)
            return result

        return run

    peer.copy(writing(output, copy, inputs.x, output))
    peer.saxpy(writing(output, saxpy, inputs.x, inputs.y, output))
    peer.dot(lambda: dot(inputs.x, inputs.y))
    peer.sum(lambda: total_of(inputs.x))
    peer.row_sums(MATRIX_SIDE, MATRIX_SIDE, writing(sums, row_sums, matrix, sums))
    peer.black_scholes(writing((call, put), black_scholes, *inputs.options, call, put))
    peer.mandelbrot(writing(counts, mandelbrot, cx, cy, counts))
    peer.transpose(MATRIX_SIDE, MATRIX_SIDE, writing(transposed, transpose, matrix, transposed))


# JAX --------------------------------------------------------------------------------------------------------


def measure_jax(inputs, report):
    import jax
    import jax.numpy as jnp

    peer = common.Peer("JAX", inputs, report, median_ms)

    def compiled(function, *arguments):
        """A workload that runs `function` compiled, on arguments that JAX already holds."""
        jitted = jax.jit(function)
        held = [jnp.asarray(argument) for argument in arguments]
        return lambda: jax.block_until_ready(jitted(*held))

    # Straight-line code makes the whole picture one fused pass; a loop of JAX's own goes over memory each time
    # round and was three to twelve times slower.
    def mandelbrot(cx, cy):
        zeros = jnp.zeros(common.PICTURE_SHAPE, jnp.float32)
        return common.mandelbrot(cx, cy, zeros, zeros, jnp.zeros(common.PICTURE_SHAPE, jnp.int32))

    matrix = inputs.matrix(MATRIX_SIDE, MATRIX_SIDE)
    peer.copy(compiled(jnp.copy, inputs.x))
    peer.saxpy(compiled(lambda x, y: common.SAXPY_FACTOR * x + y, inputs.x, inputs.y))
    peer.dot(compiled(jnp.dot, inputs.x, inputs.y))
    peer.sum(compiled(jnp.sum, inputs.x))
    peer.row_sums(MATRIX_SIDE, MATRIX_SIDE, compiled(lambda m: m.sum(axis=1), matrix))
    peer.black_scholes(compiled(lambda x, y, z: common.black_scholes(jnp, x, y, z), *inputs.options))
    peer.mandelbrot(compiled(mandelbrot, *common.picture_axes()))
    # An addition of nothing: without it a transposition is only a change of layout.
    peer.transpose(MATRIX_SIDE, MATRIX_SIDE, compiled(lambda m: m.T + np.float32(0), matrix))


if __name__ == "__main__":
    common.measure_all(
        "cpu",
        VECTOR_LENGTH,
        OPTION_COUNT,
        [("NumPy", measure_numpy), ("Numba", measure_numba), ("JAX", measure_jax)],
    )
