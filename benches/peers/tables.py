"""Tables and graphs by the libraries a Python user would pick, on the CPU: Polars groups and joins, SciPy searches a graph.

Run:  python3 tables.py [part of a workload's name]        (pip install numpy polars scipy; each of the latter may be missing)

Prints rows as cpu.py does, and times in the same way. A result is checked against NumPy before it is timed.
"""

import sys

sys.dont_write_bytecode = True

try:
    import numpy as np

    import common
    from cpu import median_ms
except ImportError as missing:
    print(f"note: no Python peers for tables: {missing}", file=sys.stderr)
    print("[]")
    sys.exit(0)

ROWS = 10_000_000
KEYS = [1000, 1_000_000]
SCALE = 20
EDGES = 16 << SCALE
SEARCH = f"breadth-first R-MAT {SCALE}"


def expect(workload, implementation, condition):
    if not condition:
        raise common.WrongResult(f"{workload}, {implementation}: another result than NumPy's")


# Tables -----------------------------------------------------------------------------------------------------


def hashed(n, stream):
    return common.hash32(np.arange(n, dtype=np.uint32) + np.uint32((stream * 0x9E3779B9) % (1 << 32)))


def rows_of(keys):
    """A key and a number for each row."""
    return (hashed(ROWS, 3) % np.uint32(keys)).astype(np.int64), (hashed(ROWS, 4) >> np.uint32(20)).astype(np.int64)


def measure_polars(report):
    import polars as pl

    def measure(workload, run, check):
        if report.wants(workload):
            check(run())
            report.add(workload, "Polars", ROWS, median_ms(run))

    for count in KEYS:
        keys, numbers = rows_of(count)
        frame = pl.DataFrame({"key": keys, "x": numbers})
        sums = np.bincount(keys, weights=numbers, minlength=count)

        def check_sums(found, workload=f"group sums i64 {count}", sums=sums):
            found = found.sort("key")
            expect(workload, "Polars", np.array_equal(found["x"].to_numpy(), sums[found["key"].to_numpy()].astype(np.int64)))

        def check_extremes(found, workload=f"group extremes i64 {count}"):
            expect(workload, "Polars", found["min"].min() == numbers.min() and found["max"].max() == numbers.max())

        both = [pl.col("x").min().alias("min"), pl.col("x").max().alias("max")]
        measure(f"group sums i64 {count}", lambda: frame.group_by("key").agg(pl.col("x").sum()), check_sums)
        measure(f"group extremes i64 {count}", lambda: frame.group_by("key").agg(both), check_extremes)

    count = KEYS[1]
    keys, numbers = rows_of(2 * count)
    index = np.arange(count, dtype=np.int64)
    frame = pl.DataFrame({"key": keys, "x": numbers})
    table = pl.DataFrame({"key": index * 2 * 7919 % (2 * count), "y": index})

    def check_join(found):
        expect(f"join i64 {count}", "Polars", found.height == np.count_nonzero(keys % 2 == 0))

    measure(f"join i64 {count}", lambda: frame.join(table, on="key").select("x", "y"), check_join)


# Graphs -----------------------------------------------------------------------------------------------------


def draws(count):
    """So many numbers below 100 of SplitMix64, in the order in which it gives them."""
    with np.errstate(over="ignore"):
        mixed = np.uint64(1) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    low, high = mixed & np.uint64(0xFFFFFFFF), mixed >> np.uint64(32)
    return ((high * np.uint64(100) + (low * np.uint64(100) >> np.uint64(32))) >> np.uint64(32)).astype(np.uint8)


def power_law():
    """The graph of the workload: each bit of an edge's vertices is drawn with the chances of Graph 500."""
    from scipy.sparse import coo_array

    drawn = draws(EDGES * SCALE).reshape(EDGES, SCALE)
    u, v = np.zeros(EDGES, np.int32), np.zeros(EDGES, np.int32)
    for bit in range(SCALE):
        u = 2 * u + (drawn[:, bit] >= 76)
        v = 2 * v + (((drawn[:, bit] >= 57) & (drawn[:, bit] < 76)) | (drawn[:, bit] >= 95))
    u, v = u[u != v], v[u != v]
    ends = (np.concatenate([u, v]).astype(np.int32), np.concatenate([v, u]).astype(np.int32))
    graph = coo_array((np.ones(ends[0].size, np.float64), ends), shape=(1 << SCALE, 1 << SCALE)).tocsr()
    graph.data[:] = 1
    return graph


def measure_scipy(report):
    from scipy.sparse.csgraph import breadth_first_order

    if not report.wants(SEARCH):
        return
    graph = power_law()
    common.note(f"{SEARCH}: {graph.nnz} neighbours")

    def run():
        return breadth_first_order(graph, 0, directed=True, return_predecessors=True)

    order, before = run()
    expect(SEARCH, "SciPy", order[0] == 0 and np.all(before[order[1:]] >= 0))
    report.add(SEARCH, "SciPy", 1 << SCALE, median_ms(run))


if __name__ == "__main__":
    common.measure_reports("cpu", [("Polars", measure_polars), ("SciPy", measure_scipy)])
