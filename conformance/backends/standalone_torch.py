"""Calls PyTorch's functions. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import torch


def run_function(
    inputs: Any,
    function: str,
    arguments: Any,
    keywords: dict[str, Any],
    pads: Any,
    index_type: Any,
    kernels: str,
    device: str,
    threads: Any,
    mark: Any = nullcontext,
) -> list[Any]:
    """Return the outputs of a function of torch.nn.functional on the first input.

    Args:
        pads: zeros to add to the data first, in PyTorch's order.
        index_type: the type of the indices which come with the values; None if none do.
        kernels: ``eager``, ``onednn`` for data in its layout, or the name of a compiler.
        threads: the number of threads; None leaves it to PyTorch.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    data = to_torch(inputs[0])
    with mark():
        pool_by = choose_kernels(kernels)
        result = pool_by(data.to(device), function, arguments, keywords, pads)
        # A device works on its own: what it refuses may be told only when it is waited for.
        results = [tensor.cpu() for tensor in ([result] if index_type is None else result)]
    if index_type is None:
        return [to_numpy(results[0])]
    return [to_numpy(results[0]), results[1].numpy().astype(index_type)]


def pool(data: Any, function: str, arguments: Any, keywords: Any, pads: Any) -> Any:
    """Call the function, on padded data if there are pads."""
    padded = torch.nn.functional.pad(data, pads) if pads else data
    return getattr(torch.nn.functional, function)(padded, *arguments, **keywords)


def pool_by_onednn(data: Any, function: str, arguments: Any, keywords: Any, pads: Any) -> Any:
    """Call the function on data in oneDNN's layout."""
    padded = torch.nn.functional.pad(data, pads) if pads else data
    return pool(padded.to_mkldnn(), function, arguments, keywords, ()).to_dense()


def choose_kernels(kernels: str) -> Any:
    """Return :func:`pool` with some kernels, compiled if they are a compiler's."""
    if kernels == "eager":
        return pool
    if kernels == "onednn":
        return pool_by_onednn
    # PyTorch compiles a function only a few times over, so earlier graphs are forgotten.
    torch.compiler.reset()
    return torch.compile(pool, backend=kernels, fullgraph=True)


def to_torch(array: Any) -> Any:
    """Return a tensor on an array's elements; bf16, which numpy lacks, passes as int16."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def to_numpy(tensor: Any) -> Any:
    """Return an array on a tensor's elements."""
    if tensor.dtype != torch.bfloat16:
        return tensor.numpy()
    import ml_dtypes

    return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
