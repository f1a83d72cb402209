"""Whole programs by the libraries a Python user would pick instead of Pumice, on an NVIDIA GPU: PyTorch and JAX.

Run:  python3 programs_gpu.py [part of a workload's name]        (each library may be missing)

Prints rows as gpu.py does, and checks and times in the same way.
"""

import sys

sys.dont_write_bytecode = True

try:
    import numpy as np

    import common
    import programs
    from gpu import VECTOR_LENGTH, import_torch, torch_median_ms, wall_median_ms
except ImportError as missing:
    print(f"note: no Python peers for programs on the GPU: {missing}", file=sys.stderr)
    print("[]")
    sys.exit(0)

ALL = programs.programs(vector=VECTOR_LENGTH, bodies=1 << 14, side=2048, rounds=10_000)


# PyTorch: functions on tensors, which are run as they are and compiled --------------------------------------


def torch_statistics(torch, x):
    variance, mean = torch.var_mean(x, correction=0)
    least, most = torch.aminmax(x)
    return mean, variance, least, most, torch.histc(x, bins=programs.BINS, min=0, max=1)


def torch_k_means(torch, points, centres):
    labels = ((centres * centres).sum(1) - 2 * (points @ centres.T)).argmin(1)
    chosen = torch.nn.functional.one_hot(labels, programs.CENTRES).to(torch.float32)
    counts = chosen.sum(0)[:, None]
    return [torch.where(counts > 0, (chosen.T @ points) / counts, centres)]


def torch_n_body(torch, places, velocities, masses):
    places = places + velocities * (programs.STEP / 2)
    ways = [places[None, :, d] - places[:, None, d] for d in range(3)]
    squares = ways[0] * ways[0] + ways[1] * ways[1] + ways[2] * ways[2] + programs.SOFTENING
    factors = masses[None, :] / (squares * torch.sqrt(squares))
    forces = torch.stack([(way * factors).sum(1) for way in ways], 1)
    velocities = velocities + forces * programs.STEP
    return places + velocities * (programs.STEP / 2), velocities


def torch_page_rank(torch, web, links, ranks):
    pages = ranks.numel()
    lost = torch.where(links == 0, ranks, 0.0).sum()
    shares = ranks / links.clamp(min=1)
    following = programs.DAMPING * (torch.mv(web, shares) + lost / pages) + (1 - programs.DAMPING) / pages
    return following, (following - ranks).abs().sum()


def torch_gradients_round(torch, u, residual, direction, square):
    around = torch.nn.functional.pad(direction, (1, 1, 1, 1))
    image = 4 * direction - around[:-2, 1:-1] - around[2:, 1:-1] - around[1:-1, :-2] - around[1:-1, 2:]
    step = square / (direction * image).sum()
    u, residual = u + step * direction, residual - step * image
    now = (residual * residual).sum()
    return u, residual, residual + now / square * direction, now


def torch_starts(torch, compile_function):
    """The programs in PyTorch; `compile_function` is applied to each of their functions."""

    def on_gpu(*arrays):
        return [torch.from_numpy(np.ascontiguousarray(array)).cuda() for array in arrays]

    def applied(function):
        run = compile_function(lambda *tensors: function(torch, *tensors))

        def start(*arrays):
            tensors = on_gpu(*arrays)
            return lambda: run(*tensors)

        return start

    def start_page_rank(offsets, sources, links, ranks):
        begins, sources, links, ranks = on_gpu(
            offsets.astype(np.int32), sources, links.astype(np.float32), ranks
        )
        size = (ranks.numel(), ranks.numel())
        web = torch.sparse_csr_tensor(begins, sources, torch.ones_like(sources, dtype=torch.float32), size)
        return lambda: torch_page_rank(torch, web, links, ranks)

    def start_gradients(f):
        (f,) = on_gpu(f)
        next_round = compile_function(lambda *state: torch_gradients_round(torch, *state))

        def run():
            state = (torch.zeros_like(f), f, f, (f * f).sum())
            for _ in range(programs.ROUNDS_OF_GRADIENTS):
                state = next_round(*state)
            return [state[0]]

        return run

    return {
        "statistics": applied(torch_statistics),
        "k-means": applied(torch_k_means),
        "n-body": applied(torch_n_body),
        "PageRank": start_page_rank,
        "conjugate gradients": start_gradients,
    }


def torch_map(torch, one, x):
    """One kernel: 1 + x · factor."""
    return torch.add(one, x, alpha=programs.FACTOR)


def start_eager_kernels(torch):
    def start(x):
        x = torch.from_numpy(x).cuda()
        one = torch.ones_like(x)

        def run():
            now = x
            for _ in range(programs.KERNELS):
                now = torch_map(torch, one, now)
            return [now]

        return run

    return start


def start_graph_of_kernels(torch):
    def start(x):
        run = start_eager_kernels(torch)(x)
        # Work before a capture is done on another stream, as PyTorch asks for.
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            run()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = run()

        def replay():
            graph.replay()
            return results

        return replay

    return start


def measure_torch_eager():
    torch = import_torch()
    starts = torch_starts(torch, lambda function: function)
    starts["small kernels"] = start_eager_kernels(torch)
    return programs.measurements(ALL, "PyTorch", torch_median_ms(torch), starts, to_numpy)


def measure_torch_compiled():
    torch = import_torch()
    starts = torch_starts(torch, lambda function: torch.compile(function, dynamic=False))
    # Its product is a library's either way.
    del starts["PageRank"]
    return programs.measurements(ALL, "PyTorch, compiled", torch_median_ms(torch), starts, to_numpy)


def measure_torch_graph():
    torch = import_torch()
    starts = {"small kernels": start_graph_of_kernels(torch)}
    return programs.measurements(ALL, "PyTorch, CUDA graph", torch_median_ms(torch), starts, to_numpy)


def to_numpy(tensor):
    return tensor.cpu().numpy()


# JAX --------------------------------------------------------------------------------------------------------


def measure_jax():
    import jax

    if jax.default_backend() != "gpu":
        raise common.Unavailable(f"its device is {jax.default_backend()}, not a GPU")
    return programs.measurements(ALL, "JAX, wall clock", wall_median_ms, programs.jax_starts(jax))


if __name__ == "__main__":
    libraries = [
        ("PyTorch", measure_torch_eager),
        ("PyTorch, compiled", measure_torch_compiled),
        ("PyTorch, CUDA graph", measure_torch_graph),
        ("JAX", measure_jax),
    ]
    common.measure_reports("cuda", programs.of_libraries(libraries))
