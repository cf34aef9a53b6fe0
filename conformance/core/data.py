"""Data of a case: each tensor is filled by a pattern of its own, if it has no entries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.core.binding import Binding
from conformance.core.operator import Operator, Tensor
from conformance.core.patterns import GENERAL, PATTERNS, can_hold, fill
from conformance.core.varied_data import MARK, is_pattern, plain_pattern, varied
from conformance.dtypes import DTYPES, Array, DType
from conformance.errors import EvaluationError, InvalidCase
from conformance.model import Case

OF_PLACES = ("ramp", "whole")
"""Patterns of tensors of places: mostly different ones, and such of which some are alike."""

SEPARATOR = "+"
"""What stands between the patterns of a case, one for each tensor."""


def inputs_of(operator: Operator, case: Case) -> list[Array | None]:
    """Return the tensors of a case in the operator's order.

    Those that are not given are None.
    Raises :class:`~conformance.errors.InvalidCase` for a pattern that there is not, or that an
    element type cannot hold.
    """
    filled, patterns = filled_tensors(operator), case.pattern.split(SEPARATOR)
    if len(patterns) != len(filled) or not all(map(is_pattern, patterns)):
        expected = f"{len(filled)} of {', '.join(PATTERNS)}"
        raise InvalidCase(f"the pattern is {case.pattern!r}, not {expected}")
    pattern_by_name = {t.name: name for t, name in zip(filled, patterns, strict=True)}
    first = next((name for name in pattern_by_name if name in case.shapes), "")
    arrays: list[Array | None] = []
    for tensor in operator.inputs:
        name, dtype = tensor.name, _dtype(tensor, case.types)
        if name in case.operands:
            arrays.append(np.array(case.operands[name], dtype.numpy))
        elif name in case.shapes:
            pattern = plain_pattern(pattern_by_name[name])
            if not can_hold(dtype, pattern):
                raise InvalidCase(f"{name} is of {dtype.name}, which cannot hold {pattern}")
            key = case.seed if name == first else _key(case.seed, name)
            array = varied(fill(pattern, key, case.shapes[name], dtype), pattern_by_name[name], key)
            arrays.append(
                array if tensor.ends is None else within_ends(array, operator, tensor, case)
            )
        else:
            arrays.append(None)
    return arrays


def within_ends(array: Array, operator: Operator, tensor: Tensor, case: Case) -> Array:
    """Return whole numbers, each moved between the ends of its tensor.

    It is moved by a multiple of their distance. Ends per axis are of the first places of the last
    dimension. In a negative test they may have no value.
    """
    assert tensor.ends is not None
    binding = Binding(operator, case.attributes, case.shapes, case.operands, tolerant=True)
    try:
        low, high = (_along_last(binding.evaluate(end), array) for end in tensor.ends)
    except (EvaluationError, InvalidCase):
        return array
    moved = low + array.astype(np.int64) % np.maximum(high - low + 1, 1)
    return np.asarray(moved, array.dtype)


def _along_last(end: Any, array: Array) -> Array:
    """An end for each place of the last dimension, those of the axes again beyond them."""
    if not isinstance(end, tuple):
        return np.asarray(end, np.int64)
    return np.resize(np.array(end, np.int64), array.shape[-1:])


def plain_patterns(case: Case) -> list[str]:
    """List the patterns of a case, one for each tensor, without their variations."""
    return [plain_pattern(pattern) for pattern in case.pattern.split(SEPARATOR)]


def varied_case(operator: Operator, case: Case, tensor: str, variation: str) -> Case:
    """Return a case whose data differ from its own in one tensor, by a variation."""
    names = [filled.name for filled in filled_tensors(operator)]
    patterns = case.pattern.split(SEPARATOR)
    at = names.index(tensor)
    patterns[at] = f"{plain_pattern(patterns[at])}{MARK}{variation}"
    return replace(case, pattern=SEPARATOR.join(patterns))


def _key(seed: int, name: str) -> int:
    """The key of a tensor's own stream of words; that of the first is the seed itself."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:16], "big")


def patterns_of(operator: Operator, types: Mapping[str, str]) -> list[tuple[str, ...]]:
    """List the patterns of each tensor that is filled, a plain one first.

    ``types`` are the element types, by variable. Integers hold no fractions and no NaN.
    """
    return [
        tuple(p for p in _patterns(tensor) if can_hold(_dtype(tensor, types), p))
        for tensor in filled_tensors(operator)
    ]


def _patterns(tensor: Tensor) -> tuple[str, ...]:
    return tensor.patterns or (GENERAL if tensor.ends is None else OF_PLACES)


def filled_tensors(operator: Operator) -> list[Tensor]:
    """List the tensors that patterns fill, in the operator's order."""
    return [tensor for tensor in operator.inputs if tensor.entries is None]


def _dtype(tensor: Tensor, types: Mapping[str, str]) -> DType:
    return DTYPES[types.get(tensor.type, tensor.type)]
