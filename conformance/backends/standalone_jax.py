"""Pools and products by JAX. Scripts contain this text, so it imports nothing of ours."""

from contextlib import nullcontext
from typing import Any

import jax
import numpy as np

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)  # else f64 becomes f32


def max_pool(inputs: Any, window: Any, mark: Any = nullcontext) -> list[Any]:
    """Return the largest element of each window."""
    return [reduce_windows(inputs[0], jax.lax.max, -np.inf, window, mark)]


def avg_pool(inputs: Any, window: Any, divisor: Any, mark: Any = nullcontext) -> list[Any]:
    """Divide the sum of each window by ``divisor``; None means its number of elements."""
    total = reduce_windows(inputs[0], jax.lax.add, 0, window, mark)
    if divisor is not None:
        return [total / total.dtype.type(divisor)]
    count = reduce_windows(np.ones_like(inputs[0]), jax.lax.add, 0, window, mark)
    with np.errstate(invalid="ignore"):  # a window without data has no mean
        return [total / count]


def reduce_windows(data: Any, reduce: Any, start: float, window: Any, mark: Any) -> Any:
    """Reduce each window, from a value to start with."""
    first = data.dtype.type(start)
    with mark():
        return np.asarray(jax.lax.reduce_window(data, first, reduce, *window))


def convolve(
    inputs: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    dilations: Any,
    groups: int,
    bias: Any,
    mark: Any = nullcontext,
) -> list[Any]:
    """Convolve the first input with the second in the shape ``filters``.

    ``bias`` is the number of the input that is added to channels, None if there is none.
    """
    image, weights = batched(inputs[0], filters), inputs[1].reshape(filters)
    with mark():
        result = jax.lax.conv_general_dilated(
            image,
            weights,
            strides,
            padding,
            rhs_dilation=dilations,
            feature_group_count=groups,
            preferred_element_type=wide_type(image),
        )
        return [finished(result, inputs, filters, bias)]


def convolve_transposed(
    inputs: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    dilations: Any,
    bias: Any,
    mark: Any = nullcontext,
) -> list[Any]:
    """Return a transposed convolution; ``padding`` is that of what it reverses."""
    image, weights = batched(inputs[0], filters), inputs[1].reshape(filters)
    letters = "DHW"[-len(strides) :]
    with mark():
        result = jax.lax.conv_transpose(
            image,
            weights,
            strides,
            padding,
            rhs_dilation=dilations,
            dimension_numbers=(f"NC{letters}", f"OI{letters}", f"NC{letters}"),
            transpose_kernel=True,
            preferred_element_type=wide_type(image),
            use_consistent_padding=True,
        )
        return [finished(result, inputs, filters, bias)]


def multiply(
    inputs: Any,
    transposed: Any,
    addend: Any,
    alpha: float,
    beta: float,
    mark: Any = nullcontext,
) -> list[Any]:
    """Multiply two inputs, and ``alpha``; add ``beta`` times the input ``addend``.

    ``transposed`` says of both factors whether their last two axes are exchanged.
    """
    left, right = (
        data.swapaxes(-1, -2) if turned else data
        for data, turned in zip(inputs, transposed)  # noqa: B905 - 3.9
    )
    with mark():
        total = jax.numpy.matmul(left, right, preferred_element_type=wide_type(left))
        if alpha != 1:
            total = total * np.float32(alpha)
        if addend is not None:
            total = total + (inputs[addend] if beta == 1 else inputs[addend] * np.float32(beta))
        return [np.asarray(total.astype(left.dtype))]


def batched(data: Any, filters: Any) -> Any:
    """Return images with a dimension for the batch, which they may lack."""
    return data if data.ndim == len(filters) else data.reshape(1, *data.shape)


def finished(result: Any, inputs: Any, filters: Any, bias: Any) -> Any:
    """Add the bias, and return the type and the rank of the image."""
    if bias is not None:
        result = result + inputs[bias].reshape(-1, *[1] * (len(filters) - 2))
    array = np.asarray(result.astype(inputs[0].dtype))
    return array if inputs[0].ndim == len(filters) else array[0]


def wide_type(data: Any) -> Any:
    """Return float32 for narrower types, in which a sum would round more than once."""
    return np.float32 if data.dtype.itemsize == 2 else None
