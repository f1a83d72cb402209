"""Scans, selections, sorts and histograms by the array libraries a Python user would pick, on the CPU: NumPy, Numba and JAX.

Run:  python3 irregular.py [part of a workload's name]        (pip install numpy numba jax; each may be missing)

Prints rows as cpu.py does, and checks and times in the same way.
"""

import os
import sys

# Before JAX is imported: this program measures the CPU even where JAX could use a GPU.
os.environ["JAX_PLATFORMS"] = "cpu"

sys.dont_write_bytecode = True

try:
    import numpy as np

    import common
    from cpu import MATRIX_SIDE, OPTION_COUNT, VECTOR_LENGTH, median_ms
except ImportError as missing:
    print(f"note: no Python peers on the CPU: {missing}", file=sys.stderr)
    print("[]")
    sys.exit(0)


# NumPy ------------------------------------------------------------------------------------------------------


def measure_numpy(inputs, report):
    peer = common.Peer("NumPy", inputs, report, median_ms)
    x, numbers, words = inputs.x, inputs.numbers(), inputs.words()
    matrix = inputs.matrix(MATRIX_SIDE, MATRIX_SIDE)
    sums, int_sums, row_sums = np.empty_like(x), np.empty_like(numbers), np.empty_like(matrix)

    peer.prefix_sums_i32(lambda: np.cumsum(numbers, out=int_sums))
    peer.prefix_sums_f32(lambda: np.cumsum(x, out=sums))
    peer.row_prefix_sums(MATRIX_SIDE, MATRIX_SIDE, lambda: np.cumsum(matrix, axis=1, out=row_sums))
    peer.select(lambda: words[words & 3 == 0])
    peer.sort_i32(lambda: np.sort(words))
    peer.sort_f32(lambda: np.sort(x))
    peer.filtered_sum(lambda: np.sum(x, where=x < np.float32(0.25)))
    peer.mean_and_variance(lambda: (np.mean(x), np.var(x)))
    for bits in common.BITS_OF_BINS:
        keys = inputs.keys(bits)
        peer.bins(bits, lambda keys=keys, bits=bits: np.bincount(keys, minlength=1 << bits))


# Numba ------------------------------------------------------------------------------------------------------


def measure_numba(inputs, report):
    import numba

    peer = common.Peer("Numba", inputs, report, median_ms)
    parallel = numba.njit(parallel=True, fastmath=True)
    f32, i32 = np.float32, np.int32
    parts = numba.get_num_threads()

    # Each thread has one range; where its results begin is known after a first pass over all ranges.
    @parallel
    def prefix_sums(x, totals, output):
        for part in numba.prange(parts):
            total = x.dtype.type(0)
            for i in range(x.size * part // parts, x.size * (part + 1) // parts):
                total += x[i]
            totals[part] = total
        for part in numba.prange(parts):
            total = x.dtype.type(0)
            for before in range(part):
                total += totals[before]
            for i in range(x.size * part // parts, x.size * (part + 1) // parts):
                total += x[i]
                output[i] = total

    @parallel
    def row_prefix_sums(matrix, output):
        for row in numba.prange(matrix.shape[0]):
            total = f32(0)
            for column in range(matrix.shape[1]):
                total += matrix[row, column]
                output[row, column] = total

    @parallel
    def select(x, counts, output):
        for part in numba.prange(parts):
            count = 0
            for i in range(x.size * part // parts, x.size * (part + 1) // parts):
                count += x[i] & 3 == 0
            counts[part] = count
        for part in numba.prange(parts):
            place = 0
            for before in range(part):
                place += counts[before]
            for i in range(x.size * part // parts, x.size * (part + 1) // parts):
                if x[i] & 3 == 0:
                    output[place] = x[i]
                    place += 1

    @parallel
    def filtered_sum(x):
        total = f32(0)
        for i in numba.prange(x.size):
            if x[i] < f32(0.25):
                total += x[i]
        return total

    @parallel
    def moments(x):
        total = f32(0)
        squares = f32(0)
        for i in numba.prange(x.size):
            total += x[i]
            squares += x[i] * x[i]
        return total, squares

    @parallel
    def bins(keys, tables, output):
        for part in numba.prange(parts):
            table = tables[part]
            table[:] = 0
            for i in range(keys.size * part // parts, keys.size * (part + 1) // parts):
                table[keys[i]] += 1
        for bin in numba.prange(output.size):
            total = i32(0)
            for part in range(parts):
                total += tables[part, bin]
            output[bin] = total

    x, numbers, words = inputs.x, inputs.numbers(), inputs.words()
    matrix = inputs.matrix(MATRIX_SIDE, MATRIX_SIDE)
    sums, int_sums, row_sums = np.empty_like(x), np.empty_like(numbers), np.empty_like(matrix)
    selected, counts = np.empty_like(words), np.zeros(parts, np.int64)
    float_totals, int_totals = np.zeros(parts, f32), np.zeros(parts, i32)

    def run_select():
        select(words, counts, selected)
        return selected[: counts.sum()]

    def run_mean_and_variance():
        total, squares = moments(x)
        mean = total / x.size
        return mean, squares / x.size - mean * mean

    def writing(result, function, *arguments):
        """A workload that runs `function`, which fills `result`."""

        def run():
            function(*arguments)
            return result

        return run

    peer.prefix_sums_i32(writing(int_sums, prefix_sums, numbers, int_totals, int_sums))
    peer.prefix_sums_f32(writing(sums, prefix_sums, x, float_totals, sums))
    peer.row_prefix_sums(MATRIX_SIDE, MATRIX_SIDE, writing(row_sums, row_prefix_sums, matrix, row_sums))
    peer.select(run_select)
    peer.filtered_sum(lambda: filtered_sum(x))
    peer.mean_and_variance(run_mean_and_variance)
    for bits in common.BITS_OF_BINS:
        tables, output = np.empty((parts, 1 << bits), i32), np.empty(1 << bits, i32)
        peer.bins(bits, writing(output, bins, inputs.keys(bits), tables, output))


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

    words = jnp.asarray(inputs.words())
    matrix = inputs.matrix(MATRIX_SIDE, MATRIX_SIDE)
    peer.prefix_sums_i32(compiled(jnp.cumsum, inputs.numbers()))
    peer.prefix_sums_f32(compiled(jnp.cumsum, inputs.x))
    peer.row_prefix_sums(MATRIX_SIDE, MATRIX_SIDE, compiled(lambda m: jnp.cumsum(m, axis=1), matrix))
    # Not compiled: a compiled function must know how many there are, and then took fifty times as long.
    peer.select(lambda: jax.block_until_ready(words[words & 3 == 0]))
    peer.filtered_sum(compiled(lambda x: jnp.sum(x, where=x < 0.25), inputs.x))
    peer.mean_and_variance(compiled(lambda x: (jnp.mean(x), jnp.var(x)), inputs.x))
    for bits in common.BITS_OF_BINS:
        peer.bins(bits, compiled(lambda k, bits=bits: jnp.bincount(k, length=1 << bits), inputs.keys(bits)))


if __name__ == "__main__":
    common.measure_all(
        "cpu",
        VECTOR_LENGTH,
        OPTION_COUNT,
        [("NumPy", measure_numpy), ("Numba", measure_numba), ("JAX", measure_jax)],
    )
