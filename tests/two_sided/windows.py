"""What a question asks to average: the taps and the divisor of every window, and no sums.

Where the windows lie is computed by the second implementation, ``tests/reference/second.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import second
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, DType, name_of
from conformance.errors import InvalidCase
from conformance.specification import case_from_inputs, find_spec, violations

Array = NDArray[Any]
Backend = Callable[[str, list[Array], dict[str, Any]], list[Array]]

MEANS = ("AvgPool-1", "AdaptiveAvgPool-8")


@dataclass(frozen=True)
class Windows:
    """The windows of one question.

    ``terms`` has shape (N, C, *out, *taps) and the input's type, 0 where a tap is not on data;
    ``divisor`` has shape (1, 1, *out), whole numbers of at least 1; ``counted`` has for each axis
    where a tap is on data, of shape (out, taps).
    """

    terms: Array
    divisor: NDArray[np.int64]
    counted: tuple[NDArray[np.bool_], ...]
    dtype: DType

    @property
    def axes(self) -> int:
        return self.divisor.ndim - 2

    @property
    def counts(self) -> list[NDArray[np.int64]]:
        """The taps on data of each axis, of shape (1, 1, *out)."""
        several = np.meshgrid(*(mask.sum(axis=1) for mask in self.counted), indexing="ij")
        return [count[None, None] for count in several]


KEPT = 1 << 16
"""Terms of a question up to which its windows are kept for the next evaluation that is asked it."""

_known: dict[object, Windows] = {}


def asked(op: str, inputs: list[Array], attributes: dict[str, Any]) -> Windows:
    """The windows of a question, which many evaluations are asked. Raises InvalidCase."""
    tensors = [(one.dtype.str, one.shape, one.tobytes()) for one in inputs]
    question = (op, *tensors, repr(sorted(attributes.items())))
    if question in _known:
        return _known[question]
    windows = windows_of(op, inputs, attributes)
    windows.terms.flags.writeable = False
    if windows.terms.size <= KEPT:
        _known[question] = windows
    return windows


def windows_of(op: str, inputs: list[Array], attributes: dict[str, Any]) -> Windows:
    """The windows of a question. Raises InvalidCase where it must be rejected."""
    spec = find_spec(op)
    broken = violations(spec, case_from_inputs(spec, inputs, attributes))
    if broken:
        raise InvalidCase(broken[0].message, tuple(v.condition for v in broken))
    data = inputs[0]
    sizes = data.shape[2:]
    if op == "AvgPool-1":
        spans = second.average_spans(sizes, attributes, frozenset())
        exclude = attributes["exclude-pad"]
        padded = any(pad for both in second.all_pads(sizes, attributes) for pad in both)
    else:
        spans = second.adaptive_spans(sizes, inputs[1].tolist())
        exclude = padded = False
    divisors = [
        second.divisor_of(window, exclude, padded, frozenset()) or 1 for window in product(*spans)
    ]
    places, counted = zip(*map(_taps, spans), strict=True)
    # The flat place of every tap of every window, and whether it is on data: (*out, *taps).
    apart = [_apart(axis, len(spans), table) for axis, table in enumerate(places)]
    flat = reduce(lambda total, part: total * part[0] + part[1], zip(sizes, apart, strict=True), 0)
    on_data = math.prod(_apart(axis, len(spans), mask) for axis, mask in enumerate(counted))
    terms = data.reshape(*data.shape[:2], math.prod(sizes))[:, :, flat]
    return Windows(
        terms=np.where(on_data, terms, data.dtype.type(0)),
        divisor=np.array(divisors, np.int64).reshape(1, 1, *map(len, spans)),
        counted=counted,
        dtype=DTYPES[name_of(data.dtype)],
    )


def _taps(spans: Sequence[second.Span]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The places of the taps on data of one axis, and which are any; at least one for a window."""
    begin = np.array([span.taps.start for span in spans])[:, None]
    count = np.array([len(span.taps) for span in spans])[:, None]
    step = np.arange(max(1, count.max(initial=0)))
    counted = step < count
    return np.where(counted, begin + step, 0), counted


def _apart(axis: int, axes: int, table: Array) -> Array:
    """A table of an axis, of shape (out, taps), among those of all axes."""
    shape = [1] * (2 * axes)
    shape[axis], shape[axes + axis] = table.shape
    return table.reshape(shape)
