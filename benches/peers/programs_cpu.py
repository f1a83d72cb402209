"""Whole programs by the libraries a Python user would pick instead of Pumice, on the CPU: Numba, JAX and SciPy.

Run:  python3 programs_cpu.py [part of a workload's name]        (pip install numpy numba jax scipy; each may be missing)

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
    import programs
    from cpu import VECTOR_LENGTH, median_ms
except ImportError as missing:
    print(f"note: no Python peers for programs on the CPU: {missing}", file=sys.stderr)
    print("[]")
    sys.exit(0)

ALL = programs.programs(vector=VECTOR_LENGTH, bodies=4096, side=512, rounds=1000)


# Numba ------------------------------------------------------------------------------------------------------


def numba_starts():
    import math

    import numba

    parallel = numba.njit(parallel=True, fastmath=True)
    f32, f64 = np.float32, np.float64
    parts = numba.get_num_threads()
    bins, coordinates, clusters = programs.BINS, programs.COORDINATES, programs.CENTRES
    step, half, softening = f32(programs.STEP), f32(programs.STEP / 2), f32(programs.SOFTENING)
    damping, factor, one = f32(programs.DAMPING), f32(programs.FACTOR), f32(1)

    @parallel
    def statistics(x, tables, extremes, sums):
        for part in numba.prange(parts):
            total, squares, least, most = f64(0), f64(0), x[0], x[0]
            table = tables[part]
            table[:] = 0
            for i in range(x.size * part // parts, x.size * (part + 1) // parts):
                value = x[i]
                total += value
                squares += value * value
                least, most = min(least, value), max(most, value)
                table[int(value * f32(bins))] += 1
            sums[part, 0], sums[part, 1], extremes[part, 0], extremes[part, 1] = total, squares, least, most

    @parallel
    def k_means(points, centres, sums, counts):
        for part in numba.prange(parts):
            own_sums, own_counts = sums[part], counts[part]
            own_sums[:], own_counts[:] = 0, 0
            for i in range(points.shape[0] * part // parts, points.shape[0] * (part + 1) // parts):
                nearest, best = 0, f32(np.inf)
                for j in range(clusters):
                    distance = f32(0)
                    for d in range(coordinates):
                        way = points[i, d] - centres[j, d]
                        distance += way * way
                    if distance < best:
                        nearest, best = j, distance
                own_counts[nearest] += 1
                for d in range(coordinates):
                    own_sums[nearest, d] += points[i, d]

    @parallel
    def n_body(x, y, z, masses, forces):
        for i in numba.prange(masses.size):
            a, b, c = f32(0), f32(0), f32(0)
            for j in range(masses.size):
                u, v, w = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                square = u * u + v * v + w * w + softening
                weight = masses[j] / (square * math.sqrt(square))
                a += u * weight
                b += v * weight
                c += w * weight
            forces[i, 0], forces[i, 1], forces[i, 2] = a, b, c

    @parallel
    def page_rank(offsets, sources, links, ranks, shares, following):
        pages = ranks.size
        lost = f32(0)
        for page in numba.prange(pages):
            if links[page] == 0:
                lost += ranks[page]
                shares[page] = f32(0)
            else:
                shares[page] = ranks[page] / f32(links[page])
        always = damping * lost / f32(pages) + (one - damping) / f32(pages)
        change = f32(0)
        for page in numba.prange(pages):
            followed = f32(0)
            for link in range(offsets[page], offsets[page + 1]):
                followed += shares[sources[link]]
            following[page] = damping * followed + always
            change += abs(following[page] - ranks[page])
        return change

    @parallel
    def image_of(direction, image):
        side = direction.shape[0]
        total = f64(0)
        for row in numba.prange(side):
            for column in range(side):
                value = 4 * direction[row, column]
                if row > 0:
                    value -= direction[row - 1, column]
                if row + 1 < side:
                    value -= direction[row + 1, column]
                if column > 0:
                    value -= direction[row, column - 1]
                if column + 1 < side:
                    value -= direction[row, column + 1]
                image[row, column] = value
                total += value * direction[row, column]
        return total

    @parallel
    def advance(u, residual, direction, image, length):
        total = f64(0)
        for row in numba.prange(u.shape[0]):
            for column in range(u.shape[1]):
                u[row, column] += length * direction[row, column]
                residual[row, column] -= length * image[row, column]
                total += residual[row, column] * residual[row, column]
        return total

    @parallel
    def turn(direction, residual, ratio):
        for row in numba.prange(direction.shape[0]):
            for column in range(direction.shape[1]):
                direction[row, column] = residual[row, column] + ratio * direction[row, column]

    @parallel
    def map_once(x, output):
        for i in numba.prange(x.size):
            output[i] = x[i] * factor + one

    def start_statistics(x):
        tables = np.empty((parts, bins), np.int32)
        extremes, sums = np.empty((parts, 2), f32), np.empty((parts, 2), f64)

        def run():
            statistics(x, tables, extremes, sums)
            mean, squares = sums.sum(0) / x.size
            return mean, squares - mean * mean, extremes[:, 0].min(), extremes[:, 1].max(), tables.sum(0)

        return run

    def start_k_means(points, centres):
        sums = np.empty((parts, clusters, coordinates), f32)
        counts = np.empty((parts, clusters), np.int64)

        def run():
            k_means(points, centres, sums, counts)
            count = counts.sum(0)[:, None]
            return [np.where(count > 0, sums.sum(0) / np.maximum(count, 1), centres)]

        return run

    def start_n_body(places, velocities, masses):
        forces = np.empty_like(places)

        def run():
            half_way = places + velocities * half
            x, y, z = (np.ascontiguousarray(column) for column in half_way.T)
            n_body(x, y, z, masses, forces)
            faster = velocities + forces * step
            return half_way + faster * half, faster

        return run

    def start_page_rank(offsets, sources, links, ranks):
        shares, following = np.empty_like(ranks), np.empty_like(ranks)
        return lambda: (following, page_rank(offsets, sources, links, ranks, shares, following))

    def start_gradients(f):
        def run():
            u, residual, direction, image = np.zeros_like(f), f.copy(), f.copy(), np.empty_like(f)
            square = np.vdot(f, f)
            for _ in range(programs.ROUNDS_OF_GRADIENTS):
                length = square / image_of(direction, image)
                now = advance(u, residual, direction, image, length)
                turn(direction, residual, now / square)
                square = now
            return [u]

        return run

    def start_loop(x, rounds):
        buffers = [np.empty_like(x), np.empty_like(x)]

        def run():
            now = x
            for number in range(rounds):
                map_once(now, buffers[number % 2])
                now = buffers[number % 2]
            return [now]

        return run

    return {
        "statistics": start_statistics,
        "k-means": start_k_means,
        "n-body": start_n_body,
        "PageRank": start_page_rank,
        "conjugate gradients": start_gradients,
        "small kernels": lambda x: start_loop(x, programs.KERNELS),
        f"loop {1 << 20}": start_loop,
        "loop 1000": start_loop,
    }


# SciPy ------------------------------------------------------------------------------------------------------


def scipy_starts():
    from scipy.sparse import csr_array

    def start_page_rank(offsets, sources, links, ranks):
        pages = ranks.size
        web = csr_array((np.ones(sources.size, np.float32), sources, offsets), shape=(pages, pages))

        def run():
            shares = ranks / np.maximum(links, 1).astype(np.float32)
            lost = ranks[links == 0].sum()
            following = np.float32(programs.DAMPING) * (web @ shares + lost / pages)
            following += np.float32((1 - programs.DAMPING) / pages)
            return following, np.abs(following - ranks).sum()

        return run

    return {"PageRank": start_page_rank}


# JAX --------------------------------------------------------------------------------------------------------


def jax_starts():
    import jax

    return programs.jax_starts(jax)


if __name__ == "__main__":
    libraries = [
        (name, lambda name=name, starts=starts: programs.measurements(ALL, name, median_ms, starts()))
        for name, starts in [("Numba", numba_starts), ("SciPy", scipy_starts), ("JAX", jax_starts)]
    ]
    common.measure_reports("cpu", programs.of_libraries(libraries))
