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


def run_product(
    inputs: Any,
    function: str,
    tensors: Any,
    keywords: dict[str, Any],
    pads: Any,
    kernels: str,
    device: str,
    threads: Any,
    mark: Any = nullcontext,
) -> list[Any]:
    """Return the output of a function of torch.nn.functional, or of torch, on several tensors.

    Args:
        tensors: for each argument the number of an input, the shape to bring it to (None for its
            own), and whether to exchange its last two axes; None for no tensor.
        pads: zeros to add to the first tensor before, in PyTorch's order.
        kernels: ``eager``, or the name of a compiler.
        threads: the number of threads; None leaves it to PyTorch.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    arguments: list[Any] = []
    for tensor in tensors:
        if tensor is None:
            arguments.append(None)
            continue
        index, shape, transposed = tensor
        argument = to_torch(inputs[index])
        argument = argument if shape is None else argument.reshape(shape)
        arguments.append(argument.mT if transposed else argument)
    with mark():
        multiply_by = compiled(multiply, kernels)
        on_device = [None if tensor is None else tensor.to(device) for tensor in arguments]
        return [to_numpy(multiply_by(on_device, function, keywords, pads).cpu())]


def multiply(tensors: Any, function: str, keywords: Any, pads: Any) -> Any:
    """Call the function, with the first tensor padded if there are pads."""
    first, *others = tensors
    padded = torch.nn.functional.pad(first, pads) if pads else first
    library = torch.nn.functional if hasattr(torch.nn.functional, function) else torch
    return getattr(library, function)(padded, *others, **keywords)


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
    return pool_by_onednn if kernels == "onednn" else compiled(pool, kernels)


def compiled(function: Any, kernels: str) -> Any:
    """Compile a function by a compiler; ``eager`` leaves it as it is."""
    if kernels == "eager":
        return function
    # PyTorch compiles a function only a few times over, so earlier graphs are forgotten.
    torch.compiler.reset()
    return torch.compile(function, backend=kernels, fullgraph=True)


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
