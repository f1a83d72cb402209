"""The array libraries a Python user would pick instead of Pumice, on an NVIDIA GPU: PyTorch and JAX.

Run:  python3 gpu.py [part of a workload's name]        (each library may be missing)

Prints a JSON array of rows (see README.md) on stdout and what it is doing on stderr. Every result is checked
before it is timed. Inputs lie on the GPU before the clock starts. PyTorch is timed by device events; JAX does
not offer them, so its times are wall-clock times and include the launch.
"""

import os
import sys
import time

sys.dont_write_bytecode = True

# Before JAX is imported: it would otherwise take most of the memory that PyTorch has yet to give back.
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

try:
    import numpy as np

    import common
except ImportError as missing:
    print(f"note: no Python peers on the GPU: {missing}", file=sys.stderr)
    print("[]")
    sys.exit(0)

VECTOR_LENGTH = 1 << 26
OPTION_COUNT = 1 << 24
MATRIX_SIDE = 8192
ROW_LENGTHS = [1 << 2, 1 << 6, 1 << 10, 1 << 13, 1 << 20]
WARM_UP_RUNS = 3


# PyTorch ----------------------------------------------------------------------------------------------------


def import_torch():
    import torch

    if not torch.cuda.is_available():
        raise common.Unavailable("it finds no CUDA device")
    return torch


def torch_median_ms(torch):
    def time_once_ms(run):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)

    def median_ms(run):
        for _ in range(WARM_UP_RUNS):
            run()
        torch.cuda.synchronize()
        repetitions = common.repetitions_for(time_once_ms(run))
        return common.median([time_once_ms(run) for _ in range(repetitions)])

    return median_ms


class TorchArrays:
    """The inputs on the GPU, as PyTorch holds them."""

    def __init__(self, torch, inputs):
        self.x = torch.from_numpy(inputs.x).cuda()
        self.y = torch.from_numpy(inputs.y).cuda()
        self.options = [torch.from_numpy(option).cuda() for option in inputs.options]
        self.cx, self.cy = (torch.from_numpy(axis).cuda() for axis in common.picture_axes())


def torch_mandelbrot(torch, cx, cy):
    zeros = torch.zeros(common.PICTURE_SHAPE, dtype=torch.float32, device="cuda")
    counts = torch.zeros(common.PICTURE_SHAPE, dtype=torch.int32, device="cuda")
    return common.mandelbrot(cx, cy, zeros, zeros, counts)


def measure_torch_eager(inputs, report):
    torch = import_torch()
    peer = common.Peer("PyTorch", inputs, report, torch_median_ms(torch), lambda tensor: tensor.cpu().numpy())
    arrays = TorchArrays(torch, inputs)
    x, y = arrays.x, arrays.y
    output = torch.empty_like(x)

    peer.copy(lambda: output.copy_(x))
    peer.saxpy(lambda: torch.add(y, x, alpha=common.SAXPY_FACTOR, out=output))
    peer.dot(lambda: torch.dot(x, y))
    peer.sum(lambda: x.sum())
    for columns in ROW_LENGTHS:
        matrix = x.view(-1, columns)
        peer.row_sums(matrix.shape[0], columns, lambda matrix=matrix: matrix.sum(-1))
    peer.black_scholes(lambda: common.black_scholes(torch, *arrays.options))
    peer.mandelbrot(lambda: torch_mandelbrot(torch, arrays.cx, arrays.cy))
    square = x.view(MATRIX_SIDE, MATRIX_SIDE)
    peer.transpose(MATRIX_SIDE, MATRIX_SIDE, lambda: square.t().contiguous())


def measure_torch_compiled(inputs, report):
    torch = import_torch()
    peer = common.Peer(
        "PyTorch, compiled", inputs, report, torch_median_ms(torch), lambda tensor: tensor.cpu().numpy()
    )
    arrays = TorchArrays(torch, inputs)

    def compiled(function, *arguments):
        # One shape at a time: PyTorch would otherwise make the second shape a slower, general one.
        run = torch.compile(function, dynamic=False)
        return lambda: run(*arguments)

    peer.saxpy(compiled(lambda x, y: common.SAXPY_FACTOR * x + y, arrays.x, arrays.y))
    peer.dot(compiled(lambda x, y: (x * y).sum(), arrays.x, arrays.y))
    peer.sum(compiled(lambda x: x.sum(), arrays.x))
    for columns in ROW_LENGTHS:
        matrix = arrays.x.view(-1, columns)
        peer.row_sums(matrix.shape[0], columns, compiled(lambda m: m.sum(-1), matrix))
    peer.black_scholes(compiled(lambda x, y, z: common.black_scholes(torch, x, y, z), *arrays.options))
    peer.mandelbrot(compiled(lambda cx, cy: torch_mandelbrot(torch, cx, cy), arrays.cx, arrays.cy))
    square = arrays.x.view(MATRIX_SIDE, MATRIX_SIDE)
    peer.transpose(MATRIX_SIDE, MATRIX_SIDE, compiled(lambda m: m.t().contiguous(), square))


# JAX --------------------------------------------------------------------------------------------------------


def wall_time_once_ms(run):
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def wall_median_ms(run):
    for _ in range(WARM_UP_RUNS):
        run()
    repetitions = common.repetitions_for(wall_time_once_ms(run))
    return common.median([wall_time_once_ms(run) for _ in range(repetitions)])


def measure_jax(inputs, report):
    import jax
    import jax.numpy as jnp

    if jax.default_backend() != "gpu":
        raise common.Unavailable(f"its device is {jax.default_backend()}, not a GPU")
    peer = common.Peer("JAX, wall clock", inputs, report, wall_median_ms)

    def compiled(function, *arguments):
        """A workload that runs `function` compiled, on arguments that the GPU already holds."""
        jitted = jax.jit(function)
        held = [jax.device_put(argument) for argument in arguments]
        return lambda: jax.block_until_ready(jitted(*held))

    def mandelbrot(cx, cy):
        zeros = jnp.zeros(common.PICTURE_SHAPE, jnp.float32)
        return common.mandelbrot(cx, cy, zeros, zeros, jnp.zeros(common.PICTURE_SHAPE, jnp.int32))

    peer.copy(compiled(jnp.copy, inputs.x))
    peer.saxpy(compiled(lambda x, y: common.SAXPY_FACTOR * x + y, inputs.x, inputs.y))
    peer.dot(compiled(lambda x, y: (x * y).sum(), inputs.x, inputs.y))
    peer.sum(compiled(jnp.sum, inputs.x))
    for columns in ROW_LENGTHS:
        rows = VECTOR_LENGTH // columns
        peer.row_sums(rows, columns, compiled(lambda m: m.sum(axis=1), inputs.matrix(rows, columns)))
    peer.black_scholes(compiled(lambda x, y, z: common.black_scholes(jnp, x, y, z), *inputs.options))
    peer.mandelbrot(compiled(mandelbrot, *common.picture_axes()))
    square = inputs.matrix(MATRIX_SIDE, MATRIX_SIDE)
    # An addition of nothing: without it a transposition is only a change of layout.
    peer.transpose(MATRIX_SIDE, MATRIX_SIDE, compiled(lambda m: m.T + np.float32(0), square))


if __name__ == "__main__":
    common.measure_all(
        "cuda",
        VECTOR_LENGTH,
        OPTION_COUNT,
        [
            ("PyTorch", measure_torch_eager),
            ("PyTorch, compiled", measure_torch_compiled),
            ("JAX", measure_jax),
        ],
    )
