"""Coordinates that machines compute in f32: where an error decides, either outcome passes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from conformance.core.answers import answers
from conformance.core.evaluate import Evaluation
from conformance.core.loader import load_operator
from conformance.dtypes import Array
from conformance.errors import InvalidCase
from conformance.grade.compare import compare
from conformance.model import Answer
from conformance.specification import case_from_inputs

OPERATOR = load_operator("onnx.Resize-13")
F32 = np.float32
NEAREST: dict[str, Callable[[Any], Any]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda x: np.ceil(x - x.dtype.type(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + x.dtype.type(0.5)),
}


def answer(
    data: Array, scales: list[float] | None, sizes: list[int] | None = None, **attributes: Any
) -> Answer:
    given = None if scales is None else np.array(scales, F32)
    lengths = None if sizes is None else np.array(sizes, np.int64)
    inputs = [data, None, given, lengths]
    case = case_from_inputs(OPERATOR, inputs, attributes)
    (result,) = answers(OPERATOR, case, inputs)
    return result


def wrong(expected: Answer, got: Array) -> int:
    return compare(expected, got.astype(expected.dtype.replace("f", "float")), "standard").count


def undecided(expected: Answer) -> float:
    """The share of elements that may be one or another."""
    if expected.choices is None:
        return 0.0
    return float((expected.choices != expected.choices[..., :1]).any(-1).mean())


def coordinates(way: str, size: int, out: int, scale: float | None) -> Array:
    """Half-pixel coordinates of an axis, by an honest machine of some way."""
    at = np.arange(out)
    if way == "f64":
        return (at + 0.5) / (out / size if scale is None else float(F32(scale))) - 0.5
    half = F32(0.5)
    pace = F32(out) / F32(size) if scale is None else F32(scale)
    if way == "divided":
        return (at.astype(F32) + half) / pace - half
    if way == "inverse":
        return (at.astype(F32) + half) * (F32(1) / pace) - half
    assert way == "apart"  # the product is multiplied out
    return at.astype(F32) / pace + (half / pace - half)


WAYS = ("f64", "divided", "inverse", "apart")
LENGTHS = [
    (7, 20, None),
    (20, 6, None),
    (7, 1, None),
    (7, 4, None),
    (7, 16, 2.3),
    (9, 13, 1.5),
    (30, 18, 0.6),
    (224, 299, None),
    (5, 15, 3.0),
]


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("mode", NEAREST)
@pytest.mark.parametrize("way", WAYS)
def test_honest_machines_find_an_element_that_is_accepted(
    way: str, mode: str, lengths: tuple[int, int, float | None]
) -> None:
    size, out, scale = lengths
    data = np.arange(1, size + 1, dtype=F32)
    place = NEAREST[mode](coordinates(way, size, out, scale)).astype(int)
    sizes, scales = (None, [scale]) if scale else ([out], None)
    expected = answer(data, scales, sizes, nearest_mode=mode)  # type: ignore[arg-type]
    assert wrong(expected, data[np.clip(place, 0, size - 1)]) == 0


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("way", WAYS)
def test_honest_machines_lie_within_what_is_accepted_between(
    way: str, lengths: tuple[int, int, float | None]
) -> None:
    size, out, scale = lengths
    data = (1000 + 7 * np.arange(size) ** 2 % 31).astype(F32)
    x = coordinates(way, size, out, scale).astype(F32)
    low = np.floor(x).astype(int)
    share = x - low.astype(F32)
    before, after = (data[np.clip(place, 0, size - 1)] for place in (low, low + 1))
    sizes, scales = (None, [scale]) if scale else ([out], None)
    expected = answer(data, scales, sizes, mode="linear")  # type: ignore[arg-type]
    assert wrong(expected, before * (1 - share) + after * share) == 0
    assert wrong(expected, before + (after - before) * share) == 0


@pytest.mark.parametrize(
    ("lengths", "share"),
    [((224, 299), 1 / 299), ((7, 20), 0), ((7, 14), 0), ((14, 7), 0), ((20, 6), 1 / 3)],
)
def test_few_elements_are_undecided(lengths: tuple[int, int], share: float) -> None:
    size, out = lengths
    assert undecided(answer(np.arange(size, dtype=F32), None, [out])) == pytest.approx(share)


@pytest.mark.parametrize("dtype", [np.float16, F32, np.float64, np.int8, np.uint8])
def test_undecided_elements_are_one_of_two_on_each_axis(dtype: Any) -> None:
    # The second of three is halfway between two, by a scale that has no exact reciprocal.
    data = np.arange(-1, 35).reshape(6, 6).astype(dtype)
    expected = answer(data, [1.5, 1.5])
    assert expected.choices is not None
    assert expected.choices.shape == (9, 9, 4)
    assert {*expected.choices[1, 1].tolist()} == {
        data[y, x].item() for y, x in product((0, 1), repeat=2)
    }
    assert {*expected.choices[1, 0].tolist()} == {data[0, 0].item(), data[1, 0].item()}
    for place, count in (((0, 1), 0), ((1, 0), 0), ((1, 1), 0), ((2, 1), 1), ((2, 2), 1)):
        got = expected.expected.astype(dtype)
        got[1, 1] = data[place]
        assert compare(expected, got, "standard").count == count


def test_ties_of_powers_of_two_are_decided() -> None:
    for mode, first in (("round_prefer_floor", [0, 2]), ("round_prefer_ceil", [1, 3])):
        expected = answer(np.arange(4, dtype=F32), [0.5], nearest_mode=mode)
        assert (expected.choices, expected.expected.tolist()) == (None, first)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_a_shift_by_one_is_refused_nearly_everywhere(mode: str) -> None:
    data = (np.arange(224) * 37 % 101).astype(F32)
    expected = answer(data, None, [299], mode=mode)
    right = expected.rounded
    assert right is not None
    differing = np.roll(right, 1) != right
    count = wrong(expected, np.roll(right, 1))
    assert count >= 0.99 * np.count_nonzero(differing)


def test_intervals_follow_differences_and_not_magnitudes() -> None:
    widths = []
    for base in (0, 2**20):
        data = (base + np.arange(224) * 37 % 101).astype(np.float64)
        expected = answer(data, None, [299], mode="linear")
        assert expected.hi is not None
        assert expected.lo is not None
        widths.append((expected.hi - expected.lo).max())
    assert widths[1] == pytest.approx(widths[0], rel=0.01)


def test_fractions_of_a_tensor_are_those_stored() -> None:
    expected = answer(np.arange(5, dtype=F32), [0.6], mode="linear")
    x = Fraction(5, 2) / Fraction(float(F32(0.6))) - Fraction(1, 2)
    assert expected.expected[2] == float(x)
    with pytest.raises(InvalidCase, match="scales-are-positive"):
        answer(np.arange(5, dtype=F32), [-1.0])
    with pytest.raises(InvalidCase, match="no finite number"):
        answer(np.arange(5, dtype=F32), [np.nan])


def test_only_operators_with_coordinates_are_evaluated_for_them() -> None:
    assert OPERATOR.has_coordinates
    operator = load_operator("onnx.Softmax-13")
    assert not operator.has_coordinates
    evaluation = Evaluation(operator, {}, {"input": np.ones((2, 3), F32)})
    evaluation.result = None  # type: ignore[assignment,method-assign]  # which fails if called
    assert evaluation.others(operator.outputs[0]) == []
