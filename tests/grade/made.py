"""Answers and vectors made by hand, small enough to see through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES
from conformance.model import Answer, Case, Vector


def values(dtype: str, numbers: Sequence[float]) -> Any:
    return np.array(numbers, dtype=np.float64).astype(DTYPES[dtype].numpy)


def steps(dtype: str, array: Any, by: int) -> Any:
    """The values that lie ``by`` representable values above; infinities and NaN stay."""
    row = DTYPES[dtype]
    finite = np.isfinite(array)
    moved = row.from_ordinals(row.ordinals(np.where(finite, array, row.numpy.type(0))) + by)
    return np.where(finite, moved, array)


def answer(
    numbers: Sequence[float],
    dtype: str = "f32",
    *,
    within: int = 2,
    native: int | None = None,
    open_at: Mapping[int, int] | None = None,
    name: str = "result",
) -> Answer:
    """An answer that accepts ``within`` neighbours on both sides, ``native`` at native."""
    rounded = values(dtype, numbers)
    mask = None
    if open_at is not None:
        mask = np.zeros(rounded.shape, np.uint8)
        for at, bits in open_at.items():
            mask[at] = bits
    return Answer(
        name=name,
        dtype=dtype,
        expected=rounded.astype(np.float64),
        rounded=rounded,
        lo=steps(dtype, rounded, -within),
        hi=steps(dtype, rounded, within),
        lo_native=None if native is None else steps(dtype, rounded, -native),
        hi_native=None if native is None else steps(dtype, rounded, native),
        open=mask,
    )


def indices(numbers: Sequence[int], choices: Any = None, dtype: str = "i64") -> Answer:
    numpy = DTYPES[dtype].numpy
    return Answer(
        name="indices",
        dtype=dtype,
        expected=np.array(numbers, numpy),
        choices=None if choices is None else np.array(choices, numpy),
    )


def vector(
    *answers: Answer,
    level: str = "must",
    readings: Mapping[str, tuple[Answer, ...]] | None = None,
    reject: str | None = None,
) -> Vector:
    case = Case(
        op="AvgPool-1",
        types={"T": "f32"},
        shapes={"data": (1, 1, 3)},
        attributes={"kernel": [2]},
        reject=reject,
    )
    return Vector(
        id=case.id,
        case=case,
        level=level,
        edges=("an-edge",),
        description="",
        source="made by hand",
        inputs=(np.arange(3, dtype=np.float32).reshape(1, 1, 3),),
        answers=answers,
        readings=readings or {},
    )
