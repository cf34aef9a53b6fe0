"""A kernel on GPU arrays as a backend: AdaptiveMaxPool-8 in CUDA, written with numba.

    conformance check --backend clients/python/cuda_pool.py --op AdaptiveMaxPool-8

Data have the channels last, and indices count over the image (HWC), as such kernels do; the host
converts both, since they are declared. With NUMBA_ENABLE_CUDASIM=1 numba simulates a GPU: slow, but
without one.
"""

import os
import sys

import numba
import numpy as np
from numba import cuda

from conformance.backends import Capabilities, Option, Unsupported, framework

THREADS = 64


@cuda.jit
def kernel(data, values, indices):
    """One thread for each element of the output (N, H, W, C)."""
    element = cuda.grid(1)
    if element >= values.size:
        return
    c = element % values.shape[3]
    x = element // values.shape[3] % values.shape[2]
    y = element // values.shape[3] // values.shape[2] % values.shape[1]
    n = element // values.shape[3] // values.shape[2] // values.shape[1]
    height, width = data.shape[1], data.shape[2]
    top, left = y * height // values.shape[1], x * width // values.shape[2]
    bottom = ((y + 1) * height + values.shape[1] - 1) // values.shape[1]
    right = ((x + 1) * width + values.shape[2] - 1) // values.shape[2]
    best, at = data[n, top, left, c], (top * width + left) * data.shape[3] + c
    for i in range(top, bottom):
        for j in range(left, right):
            if data[n, i, j, c] > best:
                best, at = data[n, i, j, c], (i * width + j) * data.shape[3] + c
    values[n, y, x, c] = best
    indices[n, y, x, c] = at


def adaptive_max_pool(data, output_size, index_type):
    """The library: takes and gives arrays on the GPU."""
    if data.ndim != 4 or len(output_size) != 2 or min(output_size) < 0:
        raise ValueError("an image has two axes, and an output size for each")
    if index_type not in ("i32", "i64"):
        raise ValueError(f"no indices of type {index_type}")
    shape = (data.shape[0], *map(int, output_size), data.shape[3])
    # What the kernel does not write must show, and not be a right result of the call before.
    values = cuda.to_device(np.full(shape, np.nan, data.dtype))
    indices = cuda.to_device(np.full(shape, -1, {"i32": np.int32, "i64": np.int64}[index_type]))
    if values.size:
        kernel[-(-values.size // THREADS), THREADS](data, values, indices)
    return values, indices


class CudaPool:
    """AdaptiveMaxPool-8 on a GPU."""

    name, version = "cuda-pool", "1"
    marked = True
    options = (Option("device", "The number of the GPU.", default=0, type=int),)
    capabilities = Capabilities(
        operators=("AdaptiveMaxPool-8",),
        dtypes=("f32", "f64"),
        layout=("NHWC",),
        index_layout=("HWC",),
    )

    def __init__(self, device=0):
        if not cuda.is_available():
            raise RuntimeError("numba finds no GPU; NUMBA_ENABLE_CUDASIM=1 simulates one")
        cuda.select_device(device)

    def environment(self):
        """The GPU, and what compiled the kernel."""
        simulated = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
        device = "simulated" if simulated else cuda.get_current_device().name.decode()
        return {"device": device, "numba": numba.__version__}

    def run(self, op, inputs, attributes):
        """Copy to the GPU, run, copy back. Within the mark exceptions are the library's."""
        if op not in self.capabilities.operators:
            raise Unsupported(f"{op} is not implemented")
        data, output_size = cuda.to_device(inputs[0]), inputs[1]
        index_type = attributes.get("index_element_type", "i64")
        with framework():
            outputs = adaptive_max_pool(data, output_size, index_type)
        try:
            cuda.synchronize()
        except Exception as error:  # a fault: nothing runs in this process any more
            print(error, file=sys.stderr, flush=True)
            os._exit(1)  # a crash, which costs one vector; the next one gets a new process
        return [one.copy_to_host() for one in outputs]
