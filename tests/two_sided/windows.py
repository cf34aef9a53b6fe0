"""What a question asks to average: the taps and the divisor of every window, and no sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, DType
from conformance.errors import InvalidCase
from conformance.families.pooling.facts import DataEnvironment
from conformance.reference import facts
from conformance.spec.case_environment import case_from_inputs
from conformance.spec.loader import find_spec
from conformance.spec.validity import violations

Array = NDArray[Any]
Backend = Callable[[str, list[Array], dict[str, Any]], list[Array]]

MEANS = ("AvgPool-1", "AdaptiveAvgPool-8")


@dataclass(frozen=True)
class Windows:
    """The windows of one question.

    ``terms`` has shape (N, C, *out, *taps) and the input's type, 0 where a tap is not on data;
    ``divisor`` has shape (1, 1, *out), whole numbers of at least 1; ``counts`` has for each axis
    the taps on data, broadcasting against ``divisor``.
    """

    terms: Array
    divisor: NDArray[np.int64]
    counts: tuple[NDArray[np.int64], ...]
    dtype: DType

    @property
    def axes(self) -> int:
        return self.divisor.ndim - 2


def environment(op: str, inputs: list[Array], attributes: dict[str, Any]) -> DataEnvironment:
    """The reference's view of a question. Raises InvalidCase where it must be rejected."""
    spec = find_spec(op)
    case = case_from_inputs(spec, inputs, attributes)
    broken = violations(spec, case)
    if broken:
        raise InvalidCase(broken[0].message, tuple(v.condition for v in broken))
    env = facts(spec, case, inputs)
    assert isinstance(env, DataEnvironment)
    return env


KEPT = 1 << 16
"""Terms of a question up to which its windows are kept for the next evaluation that is asked it."""

_known: dict[object, Windows] = {}


def asked(op: str, inputs: list[Array], attributes: dict[str, Any]) -> Windows:
    """The windows of a question, which many evaluations are asked. Raises InvalidCase."""
    tensors = [(one.dtype.str, one.shape, one.tobytes()) for one in inputs]
    question = (op, *tensors, repr(sorted(attributes.items())))
    if question in _known:
        return _known[question]
    windows = windows_of(environment(op, inputs, attributes))
    windows.terms.flags.writeable = False
    if windows.terms.size <= KEPT:
        _known[question] = windows
    return windows


def windows_of(env: DataEnvironment) -> Windows:
    """The windows of a valid question."""
    data = env.data
    out = env.out
    # Windows that are all empty have no taps; here they have one, of 0.
    taps = tuple(max(1, window.indices.shape[1]) for window in env.windows)
    flat, counted = env.table
    if not flat.shape[-1]:
        flat, counted = (np.zeros((*out, math.prod(taps)), kind) for kind in (np.int64, np.bool_))
    terms = data.reshape(*data.shape[:2], math.prod(data.shape[2:]))[:, :, flat]
    terms = np.where(counted, terms, data.dtype.type(0)).reshape(*data.shape[:2], *out, *taps)
    divisor = np.maximum(np.asarray(env["divisor"], np.int64), 1)
    return Windows(
        terms=terms,
        divisor=np.broadcast_to(divisor.reshape(divisor.shape[-len(out) :]), out)[None, None],
        counts=tuple(count[None, None] for count in env["on_data"]),
        dtype=DTYPES[env.dtype.name],
    )
