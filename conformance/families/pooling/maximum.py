"""Expected values of maxima: the largest element of each window, and its index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array
from conformance.families.pooling.facts import DataEnvironment
from conformance.families.pooling.rounded_answer import open_bits
from conformance.model import Answer
from conformance.spec.case_environment import EnvironmentOverlay
from conformance.spec.model import OutputSpec


def answer(
    env: DataEnvironment, output: OutputSpec, dtype: str, open_mask: NDArray[np.bool_]
) -> Answer:
    """One output of a maximum: the value, or the index with every allowed choice."""
    shape = (*env.data.shape[:2], *env.out)
    mask = open_bits(open_mask, shape)
    if output.holds == "index":
        expected = _indices(env, dtype)
        choices = _choices(env, expected)
        expected, mask, choices = (laid_out(env, one) for one in (expected, mask, choices))
        return Answer(output.name, dtype, expected, open=mask, choices=choices)
    largest = values(env)
    if not DTYPES[dtype].is_float:
        return Answer(output.name, dtype, largest, open=mask)
    lo = hi = largest
    if env["subnormals"] == "flushed":
        zero = DTYPES[dtype].numpy.type(0)
        tiny = np.ldexp(1.0, DTYPES[dtype].emin)
        vanishes = np.abs(_unflushed(env).astype(np.float64)) < tiny
        lo = np.where(vanishes, np.minimum(_unflushed(env), zero), largest)
        hi = np.where(vanishes, np.maximum(_unflushed(env), zero), largest)
    expected = largest.astype(np.float64)
    return Answer(output.name, dtype, expected, rounded=largest, lo=lo, hi=hi, open=mask)


def values(env: DataEnvironment) -> Array:
    """The largest element of each window."""
    return _on_grid(env, env.largest).copy()


def indices(env: DataEnvironment, dtype: str) -> Array:
    """The index of each window's largest element, by the rules ``ties`` and ``index``.

    They are (N, C, *out), or by the rule ``index_axes`` with ``out`` reversed.
    """
    return laid_out(env, _indices(env, dtype))


def laid_out(env: DataEnvironment, array: Any) -> Any:
    """An array (N, C, *out, ...) with its axes in the order of the rule ``index_axes``."""
    if array is None or env["index_axes"] == "own":
        return array
    spatial = range(2, 2 + len(env.out))
    return array.transpose(0, 1, *reversed(spatial), *range(spatial.stop, array.ndim))


def _indices(env: DataEnvironment, dtype: str) -> Array:
    index = _on_grid(env, np.asarray(env["index"], dtype=np.int64))
    return index.astype(DTYPES[dtype].numpy)


def _on_grid(env: DataEnvironment, array: Array) -> Array:
    """An array with an element for each of the output: (N, C, *out)."""
    shape = (*env.data.shape[:2], *env.out)
    # Most are whole, and to broadcast one takes longer than to look.
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _unflushed(env: DataEnvironment) -> Array:
    data = np.where(env.decoded.nan, env.dtype.bottom, env.data)
    largest = env.reduce(env.dtype.ordinals(data), np.maximum, np.iinfo(np.int64).min)
    return env.dtype.from_ordinals(largest)


def _choices(env: DataEnvironment, expected: Array) -> Array | None:
    """The indices allowed for each element, where a set is: (N, C, *out, most), filled with -1.

    Among ties any, by the rule; where subnormals may be flushed, any of those that then are equal.
    """
    mask = env.maxima_mask
    if env["begins"] != "nothing":
        mask = mask & env.exceeds_start[..., None]
    if env["ties"] != "any":
        if env["subnormals"] != "flushed" or not env.decoded.subnormal.any():
            return None
        vanishes = (env["subnormal_taps"] > 0) & (env.largest == 0)
        flat, counted = env.table
        chosen = (flat == env.chosen[..., None]) & counted
        mask = np.where(vanishes[..., None], mask, chosen)
    most = int(mask.sum(axis=-1).max(initial=0))
    if most <= 1:
        return None
    # The entries that count, first: a stable sort keeps them in row-major order.
    order = np.argsort(~mask, axis=-1, kind="stable")[..., :most]
    flat, _ = env.table
    listed = np.take_along_axis(np.broadcast_to(flat, mask.shape), order, axis=-1)
    allowed = np.take_along_axis(mask, order, axis=-1)
    choices = np.where(allowed, _indexed(env, listed), -1)
    # Where no tap is allowed, the search never left its start: its index alone is.
    choices[..., 0] = np.where(allowed[..., 0], choices[..., 0], expected)
    return _each_once(choices.astype(expected.dtype))


def _each_once(choices: Array) -> Array | None:
    """Places that a rule gives the same index are one choice; None where no element has two."""
    order = np.argsort(choices, axis=-1, kind="stable")
    in_order = np.take_along_axis(choices, order, axis=-1)
    repeated = np.zeros(choices.shape, np.bool_)
    repeated[..., 1:] = in_order[..., 1:] == in_order[..., :-1]
    again = np.zeros(choices.shape, np.bool_)
    np.put_along_axis(again, order, repeated, axis=-1)
    choices = np.where(again, -1, choices)
    first = np.argsort(choices == -1, axis=-1, kind="stable")
    most = int((choices != -1).sum(axis=-1).max(initial=0))
    return None if most <= 1 else np.take_along_axis(choices, first, axis=-1)[..., :most]


def _indexed(env: DataEnvironment, flat: NDArray[np.int64]) -> NDArray[Any]:
    """The ``index`` rule applied to other positions than the chosen one: (N, C, *out, most)."""
    first = np.moveaxis(flat, -1, 0)
    index = env.definitions["index"].evaluate(
        EnvironmentOverlay(env, position=env.coordinates(first))
    )
    return np.moveaxis(np.broadcast_to(np.asarray(index), first.shape), 0, -1)
