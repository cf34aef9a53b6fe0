"""Mutants that take the padding or dilation of another axis, against windows found by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.specification import case_from_inputs, find_spec, mutants_of

AVERAGE = "AvgPool-16"
SIZES = (5, 6, 7)
KERNEL = (2, 3, 3)
STRIDES = (1, 2, 2)
BEGIN, END = (1, 0, 2), (0, 2, 1)
DILATIONS = (3, 2, 1)
SHAPES = frozenset((1, 1, *sizes) for sizes in product(range(1, 10), repeat=3))
"""Shapes in which the outputs of a mutant are worked out, though it has no such number of them."""


def given(axes: int) -> tuple[Array, dict[str, Any]]:
    """Data without two equal elements, and attributes that differ on every axis."""
    values = np.arange(prod(SIZES[:axes]), dtype="f8").reshape(1, 1, *SIZES[:axes]) ** 2
    return values, {
        "kernel": list(KERNEL[:axes]),
        "strides": list(STRIDES[:axes]),
        "dilations": list(DILATIONS[:axes]),
        "pads_begin": list(BEGIN[:axes]),
        "pads_end": list(END[:axes]),
        "exclude-pad": False,
    }


def averages(values: Array, out: Sequence[int], begin: Sequence[int], step: Sequence[int]) -> Array:
    """The mean of each of ``out`` windows an axis, padding counted, that start ``begin`` before the
    data and whose taps lie ``step`` apart."""
    found = np.zeros(out)
    sizes, axes = values.shape[2:], range(len(out))
    for index in product(*map(range, out)):
        for tap in product(*map(range, KERNEL[: len(out)])):
            at = tuple(index[a] * STRIDES[a] - begin[a] + tap[a] * step[a] for a in axes)
            if all(0 <= p < size for p, size in zip(at, sizes, strict=True)):
                found[index] += values[0, 0][at]
    return (found / prod(KERNEL[: len(out)]))[None, None]


def windows(begin: Sequence[int], end: Sequence[int]) -> list[int]:
    """How many windows there are on each axis."""
    return [
        (SIZES[a] + begin[a] + end[a] - DILATIONS[a] * (KERNEL[a] - 1) - 1) // STRIDES[a] + 1
        for a in range(len(begin))
    ]


def outputs(axes: int, mutant: str) -> tuple[Array, Array]:
    """The right output, and that of a mutant."""
    values, attributes = given(axes)
    spec = find_spec(AVERAGE)
    change = {fault.id: fault.change for fault in mutants_of(spec)}[mutant]
    case = case_from_inputs(spec, [values], attributes)
    subject = subject_of(spec, case, [values], SHAPES)
    return subject.outputs[0], subject.under(implementation_of(spec, change))[0]


@pytest.mark.parametrize(
    ("mutant", "order"),
    [
        ("windows-start-by-reversed-pads", (1, 0)),
        ("windows-start-by-reversed-pads", (2, 1, 0)),
        ("windows-start-by-pads-of-first-two-axes-swapped", (1, 0, 2)),
        ("windows-start-by-pads-of-last-two-axes-swapped", (0, 2, 1)),
    ],
)
def test_windows_start_by_the_padding_of_another_axis(mutant: str, order: Sequence[int]) -> None:
    axes = len(order)
    right, found = outputs(axes, mutant)
    values, out = given(axes)[0], windows(BEGIN[:axes], END[:axes])
    assert right.tolist() == averages(values, out, BEGIN, DILATIONS).tolist()
    assert found.tolist() == averages(values, out, [BEGIN[a] for a in order], DILATIONS).tolist()
    assert found.shape == right.shape
    assert found.tolist() != right.tolist()


@pytest.mark.parametrize(
    ("mutant", "order"),
    [("pads-first-two-axes-swapped", (1, 0, 2)), ("pads-last-two-axes-swapped", (0, 2, 1))],
)
def test_pads_that_are_misread_change_the_shape(mutant: str, order: Sequence[int]) -> None:
    right, found = outputs(3, mutant)
    begin, end = [BEGIN[a] for a in order], [END[a] for a in order]
    expected = averages(given(3)[0], windows(begin, end), begin, DILATIONS)
    assert found.tolist() == expected.tolist()
    assert found.shape != right.shape


@pytest.mark.parametrize("axes", [2, 3])
def test_taps_lie_apart_by_the_dilations_of_the_opposite_axis(axes: int) -> None:
    right, found = outputs(axes, "windows-spread-by-reversed-dilations")
    values, out = given(axes)[0], windows(BEGIN[:axes], END[:axes])
    expected = averages(values, out, BEGIN, DILATIONS[:axes][::-1])
    assert found.tolist() == expected.tolist()
    assert found.shape == right.shape
    assert found.tolist() != right.tolist()
