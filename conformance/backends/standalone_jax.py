"""Pools by JAX's reduce_window. Scripts contain this text, so it imports nothing of ours."""

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
