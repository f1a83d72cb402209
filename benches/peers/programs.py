"""What programs_cpu.py and programs_gpu.py share: the whole programs that are measured, with their inputs and checks, and those of them
that are written in JAX.

Measures nothing itself. Names, sizes, inputs and results are those of `pumice bench`, to the letter.
"""

import functools

import numpy as np

import common

BINS = 64
COORDINATES, CENTRES = 16, 32
STEP, SOFTENING, OPERATIONS_OF_PAIR = 0.01, 1e-4, 20
LINKS, DAMPING = 16, 0.85
ROUNDS_OF_GRADIENTS, BYTES_OF_ROUND = 200, 72
KERNELS, SMALL, FACTOR = 20, 1000, 0.75


class Program:
    """A workload: its name, elements, least work, and what makes its inputs and checks its results.

    `make` returns a tuple of NumPy arrays; `check` takes these and a list of results as NumPy arrays, and raises if they are wrong.
    """

    def __init__(self, name, n, work, make, check):
        self.name, self.n, self.work, self.check = name, n, work, check
        # Made when it is first measured, and shared by all libraries.
        self.inputs = functools.lru_cache(maxsize=1)(make)


def programs(vector, bodies, side, rounds):
    """All programs by a short name: for vectors of this length, so many bodies, a grid of this side, loops of so many rounds."""
    points, pages = 1 << 20, 1 << 20
    links, looped = LINKS * pages, [1 << 20, 1000]
    return {
        "statistics": Program(
            "statistics f32",
            vector,
            moved(4 * vector),
            lambda: (common.uniform(vector, 0),),
            check_statistics,
        ),
        "k-means": Program(
            f"k-means {points}x{COORDINATES} k {CENTRES}",
            points,
            moved(4 * points * COORDINATES),
            lambda: make_points(points),
            check_k_means,
        ),
        "n-body": Program(
            f"n-body {bodies}",
            bodies,
            {"operations": OPERATIONS_OF_PAIR * bodies * bodies},
            lambda: make_bodies(bodies),
            check_n_body,
        ),
        "PageRank": Program(
            f"PageRank {pages} {links}",
            links,
            moved(4 * links + 8 * (pages + 1) + 12 * pages),
            lambda: make_web(pages),
            check_page_rank,
        ),
        "conjugate gradients": Program(
            f"conjugate gradients {side}x{side}",
            side * side,
            moved(ROUNDS_OF_GRADIENTS * BYTES_OF_ROUND * side * side),
            lambda: (common.uniform(side * side, 0).astype(np.float64).reshape(side, side) - 0.5,),
            check_gradients,
        ),
        "small kernels": Program(
            f"{KERNELS} small kernels",
            SMALL,
            moved(8 * SMALL * KERNELS),
            lambda: (common.uniform(SMALL, 0),),
            functools.partial(check_maps, KERNELS),
        ),
        **{
            f"loop {n}": Program(
                f"awhile {rounds} steps {n}",
                n,
                moved(8 * n * rounds),
                lambda n=n: (np.resize(common.uniform(min(n, 1000), 0), n), np.int32(rounds)),
                functools.partial(check_maps, rounds),
            )
            for n in looped
        },
    }


def moved(count):
    return {"fewest_bytes": count}


def measurements(all_programs, implementation, median_ms, starts, to_numpy=np.asarray):
    """One (name, measure) for each program that a library has, so that one that fails does not take the others with it.

    `starts` has for a program's short name a function from its inputs to a workload: a function without arguments that returns a list
    of results. What it cannot import it raises from there.
    """

    def measure(report, short, start):
        program = all_programs[short]
        if report.wants(program.name):
            run = start(*program.inputs())
            try:
                program.check(program.inputs(), [to_numpy(result) for result in run()])
            except AssertionError as wrong:
                raise common.WrongResult(f"{program.name}, {implementation}: {wrong}") from wrong
            report.add(program.name, implementation, program.n, median_ms(run), work=program.work)

    return [
        (f"{implementation} ({short})", functools.partial(measure, short=short, start=start))
        for short, start in starts.items()
    ]


def of_libraries(libraries):
    """The measurements of each (name, make) of `libraries`; of one that is missing or broken, one that says so."""
    found = []
    for name, make in libraries:
        try:
            found.extend(make())
        except Exception as reason:  # whatever a library throws: raised again where it is told
            found.append((name, functools.partial(leave_out, reason)))
    return found


def leave_out(reason, _report):
    raise reason


# Inputs -----------------------------------------------------------------------------------------------------


def make_points(count):
    points = common.uniform(count * COORDINATES, 0).reshape(count, COORDINATES)
    return points, points[:CENTRES].copy()


def make_bodies(count):
    places = common.uniform(3 * count, 0).reshape(count, 3)
    return places, np.zeros_like(places), common.uniform(count, 1) / np.float32(count)


def hashed(n, stream):
    return common.hash32(np.arange(n, dtype=np.uint32) + np.uint32((stream * 0x9E3779B9) % (1 << 32)))


def make_web(pages):
    """Where the links to each page begin, the pages that they come from, how many each page has, and ranks."""
    count = LINKS * pages
    source, first, second = (hashed(count, stream) % np.uint32(pages) for stream in range(3))
    source = (source + (source % 8 == 0)).astype(np.int32)
    target = first & second
    order = np.argsort(target, kind="stable")
    offsets = np.zeros(pages + 1, np.int64)
    np.cumsum(np.bincount(target, minlength=pages), out=offsets[1:])
    links = np.bincount(source, minlength=pages).astype(np.uint32)
    ranks = (common.uniform(pages, 3) + np.float32(0.5)) / np.float32(pages)
    return offsets, source[order], links, ranks


# Checks -----------------------------------------------------------------------------------------------------


def expect_close(what, got, expected, tolerance):
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    assert got.shape == expected.shape, f"{what} has shape {got.shape}, expected {expected.shape}"
    error = np.max(np.abs(got - expected) / (1 + np.abs(expected)))
    # A NaN is not below anything.
    assert error <= tolerance, f"{what} is off by {error:.3g}"


def check_statistics(inputs, results):
    (x,) = inputs
    mean, variance, least, most, counts = results
    expect_close("the mean", mean, np.mean(x, dtype=np.float64), 1e-3)
    expect_close("the variance", variance, np.var(x, dtype=np.float64), 1e-3)
    assert (least, most) == (x.min(), x.max()), f"extremes are {least} and {most}"
    expected = np.bincount((x * np.float32(BINS)).astype(np.int64), minlength=BINS)
    assert np.array_equal(np.asarray(counts, np.int64), expected), "the histogram is wrong"


def check_k_means(inputs, results):
    points, centres = (array.astype(np.float64) for array in inputs)
    distances = (centres * centres).sum(1) - 2 * points @ centres.T
    labels = distances.argmin(1)
    sums = np.stack([np.bincount(labels, weights=column, minlength=CENTRES) for column in points.T], 1)
    expect_close("a centre", results[0], sums / np.bincount(labels, minlength=CENTRES)[:, None], 1e-3)


def check_n_body(inputs, results):
    places, velocities, masses = (array.astype(np.float64) for array in inputs)
    places = places + velocities * (STEP / 2)
    forces = np.empty_like(places)
    for first in range(0, len(places), 256):
        ways = places[None, :, :] - places[first : first + 256, None, :]
        squares = (ways * ways).sum(2) + SOFTENING
        forces[first : first + 256] = (ways * (masses / (squares * np.sqrt(squares)))[:, :, None]).sum(1)
    velocities = velocities + forces * STEP
    expect_close("a place", results[0], places + velocities * (STEP / 2), 1e-4)
    expect_close("a velocity", results[1], velocities, 1e-4)


def check_page_rank(inputs, results):
    offsets, sources, links, ranks = inputs
    pages, ranks = len(ranks), ranks.astype(np.float64)
    targets = np.repeat(np.arange(pages), np.diff(offsets))
    shares = ranks / np.maximum(links, 1)
    followed = np.bincount(targets, weights=shares[sources], minlength=pages)
    lost = ranks[links == 0].sum()
    expected = DAMPING * (followed + lost / pages) + (1 - DAMPING) / pages
    expect_close("a rank, of the mean,", np.asarray(results[0], np.float64) * pages, expected * pages, 1e-3)
    expect_close("the change", results[1], np.abs(expected - ranks).sum(), 1e-3)


def laplace_numpy(u):
    image = 4 * u
    image[1:] -= u[:-1]
    image[:-1] -= u[1:]
    image[:, 1:] -= u[:, :-1]
    image[:, :-1] -= u[:, 1:]
    return image


@functools.lru_cache(maxsize=1)
def expected_gradients(side):
    f = common.uniform(side * side, 0).astype(np.float64).reshape(side, side) - 0.5
    u, residual, direction = np.zeros_like(f), f.copy(), f.copy()
    square = np.vdot(f, f)
    for _ in range(ROUNDS_OF_GRADIENTS):
        image = laplace_numpy(direction)
        step = square / np.vdot(direction, image)
        u += step * direction
        residual -= step * image
        now = np.vdot(residual, residual)
        direction = residual + now / square * direction
        square = now
    return u


def check_gradients(inputs, results):
    expected = expected_gradients(len(inputs[0]))
    farthest = np.max(np.abs(np.asarray(results[0]) - expected))
    assert farthest <= 1e-6 * (1 + np.max(np.abs(expected))), f"the solution is off by {farthest:.3g}"


def check_maps(rounds, inputs, results):
    expected = inputs[0]
    for _ in range(rounds if expected.size <= 1000 else min(rounds, 100)):
        # After a hundred rounds, all numbers are where they stay.
        expected = expected * np.float32(FACTOR) + np.float32(1)
    expect_close("an element", results[0], expected, 1e-6)


# JAX --------------------------------------------------------------------------------------------------------


def jax_starts(jax):
    """The programs in JAX, on its default device."""
    import jax.numpy as jnp

    def compiled(function, *arguments):
        jitted = jax.jit(function)
        held = [jax.device_put(argument) for argument in arguments]
        return lambda: jax.block_until_ready(jitted(*held))

    def statistics(x):
        counts = jnp.bincount((x * BINS).astype(jnp.int32), length=BINS)
        return jnp.mean(x), jnp.var(x), jnp.min(x), jnp.max(x), counts

    def k_means(points, centres):
        products = jnp.matmul(points, centres.T, precision="highest")
        labels = jnp.argmin((centres * centres).sum(1) - 2 * products, axis=1)
        # Sums as a product with ones and zeros.
        chosen = jax.nn.one_hot(labels, CENTRES, dtype=jnp.float32)
        sums = jnp.matmul(chosen.T, points, precision="highest")
        counts = chosen.sum(0)[:, None]
        return (jnp.where(counts > 0, sums / counts, centres),)

    def n_body(places, velocities, masses):
        places = places + velocities * (STEP / 2)
        ways = [places[None, :, d] - places[:, None, d] for d in range(3)]
        squares = sum(way * way for way in ways) + SOFTENING
        factors = masses[None, :] / (squares * jnp.sqrt(squares))
        forces = jnp.stack([(way * factors).sum(1) for way in ways], 1)
        velocities = velocities + forces * STEP
        return places + velocities * (STEP / 2), velocities

    def page_rank(targets, sources, links, ranks):
        pages = ranks.size
        lost = jnp.sum(jnp.where(links == 0, ranks, 0))
        shares = ranks / jnp.maximum(links, 1).astype(jnp.float32)
        followed = jax.ops.segment_sum(shares[sources], targets, pages, indices_are_sorted=True)
        following = DAMPING * (followed + lost / pages) + (1 - DAMPING) / pages
        return following, jnp.abs(following - ranks).sum()

    def start_page_rank(offsets, sources, links, ranks):
        targets = np.repeat(np.arange(ranks.size, dtype=np.int32), np.diff(offsets))
        return compiled(page_rank, targets, sources, links, ranks)

    def laplace(u):
        around = jnp.pad(u, 1)
        return 4 * u - around[:-2, 1:-1] - around[2:, 1:-1] - around[1:-1, :-2] - around[1:-1, 2:]

    def gradients(f):
        def next_round(_, state):
            u, residual, direction, square = state
            image = laplace(direction)
            step = square / jnp.vdot(direction, image)
            u, residual = u + step * direction, residual - step * image
            now = jnp.vdot(residual, residual)
            return u, residual, residual + now / square * direction, now

        start = (jnp.zeros_like(f), f, f, jnp.vdot(f, f))
        return jax.lax.fori_loop(0, ROUNDS_OF_GRADIENTS, next_round, start)[:1]

    def start_gradients(f):
        try:
            from jax.experimental import enable_x64
        except ImportError:
            # Where it has moved to.
            enable_x64 = jax.enable_x64
        with enable_x64(True):
            run = compiled(gradients, f)

        def run_in_double():
            with enable_x64(True):
                return run()

        return run_in_double

    def loop(x, rounds):
        def next_round(state):
            x, number = state
            return x * np.float32(FACTOR) + np.float32(1), number + 1

        return jax.lax.while_loop(lambda state: state[1] < rounds, next_round, (x, jnp.int32(0)))[:1]

    starts = {
        "statistics": lambda x: compiled(statistics, x),
        "k-means": lambda points, centres: compiled(k_means, points, centres),
        "n-body": lambda *bodies: compiled(n_body, *bodies),
        "PageRank": start_page_rank,
        "conjugate gradients": start_gradients,
    }
    starts.update({f"loop {n}": lambda x, rounds: compiled(loop, x, rounds) for n in (1 << 20, 1000)})
    return starts
