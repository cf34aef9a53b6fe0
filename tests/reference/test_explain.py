"""The window of one output element, as data that pictures are drawn from."""

from __future__ import annotations

import json
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiers
from numpy.typing import NDArray

from conformance.families.pooling.picture import described, window
from conformance.model import Case, Vector
from conformance.spec.loader import find_spec, load_spec_text
from conformance.suite.entries import Entry

ENTRIES = [
    entry
    for entry in tiers.smoke().manifest.vectors
    if entry.reject is None and entry.op != "torch.lp_pool-2"  # odd powers of negatives are its own
]
EACH = pytest.mark.parametrize(
    "entry",
    tiers.sweep(ENTRIES, lambda one: [(one.op, one.dtype), (one.op, tiers.rank(one))]),
    ids=lambda entry: entry.id,
)


def first(op: str) -> Vector:
    return tiers.smoke().read(next(entry for entry in ENTRIES if entry.op == op))


def all_described(vector: Vector, limit: int = 24) -> list[tuple[tuple[int, ...], dict[str, Any]]]:
    spec, data = find_spec(vector.case.op), vector.inputs[0]
    indices = list(np.ndindex(vector.answers[0].expected.shape))[:limit]
    found = [
        (index, described(window(spec, vector.case, [data], index), [data])) for index in indices
    ]
    return [(index, one) for index, one in found if one is not None]


def taken(one: dict[str, Any]) -> list[float]:
    """The values that count, read from the description alone."""
    counted = [
        [at for at, counts in zip(positions, flags, strict=True) if counts]
        for positions, flags in zip(one["positions"], one["counts"], strict=True)
    ]
    values = []
    for place in product(*counted):
        value: Any = one["input"]
        for at in place:
            value = value[at]
        values.append(value)
    return values


def of_these(case: Case, values: NDArray[np.float64], one: dict[str, Any]) -> np.float64:
    """What the operator makes of the values that count: a mean, a norm or the largest."""
    if "divisor" in one:
        return np.float64(np.sum(values) / one["divisor"])
    if "LpPool" in case.op:
        p = case.attributes.get("p", 2)
        largest = np.abs(values).max(initial=0) or 1.0  # else powers overflow or vanish
        return np.float64(largest * np.sum(np.abs(values / largest) ** p) ** (1 / p))
    return np.float64(np.max(values))


@EACH
def test_the_expected_value_follows_from_the_description_alone(entry: Entry) -> None:
    vector = tiers.smoke().read(entry)
    answer = vector.answers[0]
    for index, one in all_described(vector):
        if answer.open is not None and answer.open[index]:
            continue
        values = np.array(taken(one))
        with np.errstate(all="ignore"):
            value = of_these(vector.case, values, one)
        if not (np.isfinite(values).all() and np.abs(values).max(initial=0) < 1e30):
            continue  # float64 sums lose what the reference keeps
        if answer.rounded is None:
            value = round(value)  # of integers, to the nearest, of two the even one
        scale = np.abs(values).max(initial=0) * 1e-9
        assert value == pytest.approx(float(answer.expected[index]), rel=1e-9, abs=scale)


@EACH
def test_the_parts_of_a_description_agree(entry: Entry) -> None:
    vector = tiers.smoke().read(entry)
    axes = vector.inputs[0].ndim - 2
    for _, one in all_described(vector):
        assert json.loads(json.dumps(one, allow_nan=True)).keys() == one.keys()
        assert list(map(len, one["counts"])) == list(map(len, one["positions"]))
        assert np.shape(one["input"]) == vector.inputs[0].shape[2:]
        assert len(one["pads"]) == axes


def avg_pool(**attributes: Any) -> dict[str, Any]:
    from conformance.spec.case_environment import case_from_inputs

    data = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 5)
    given = {"kernel": [3], "strides": [2], "exclude-pad": False, "rounding_type": "ceil"}
    given |= {"pads_begin": [1], "pads_end": [0]} | attributes
    case = case_from_inputs(find_spec("AvgPool-1"), [data], given)
    found = described(window(find_spec("AvgPool-1"), case, [data], (0, 0, 0)), [data])
    assert found is not None
    return found


def test_a_window_in_padding_by_hand() -> None:
    assert avg_pool() == {
        "input": [1.0, 2.0, 3.0, 4.0, 5.0],
        "positions": [[-1, 0, 1]],
        "counts": [[False, True, True]],
        "pads": [[1, 0]],
        "divisor": 3,
    }


@pytest.mark.parametrize(
    ("auto_pad", "pads"), [("same_lower", [1, 0]), ("same_upper", [0, 1]), ("valid", [0, 0])]
)
def test_padding_is_what_applies_not_what_the_attributes_say(
    auto_pad: str, pads: list[int]
) -> None:
    given = {"auto_pad": auto_pad, "kernel": [2], "pads_begin": [7], "pads_end": [9]}
    assert avg_pool(**given)["pads"] == [pads]


def test_an_operator_without_padding_or_divisor() -> None:
    vector = first("AdaptiveMaxPool-8")
    (_, one), *_ = all_described(vector)
    assert one["pads"] == [[0, 0]] * (vector.inputs[0].ndim - 2)
    assert "divisor" not in one


def test_a_window_without_taps_has_no_description() -> None:
    text = Path(find_spec("AdaptiveAvgPool-8").file).read_text("utf-8")
    taps = next(line for line in text.splitlines() if line.startswith("  taps:"))
    spec = load_spec_text(text.replace(taps, "  taps: i * 0"))
    vector = first("AdaptiveAvgPool-8")
    data = vector.inputs[0]
    seen = window(spec, vector.case, [data], (0,) * data.ndim)
    assert prod(len(at) for at in seen.coordinates) == 0
    assert described(seen, [data]) is None
