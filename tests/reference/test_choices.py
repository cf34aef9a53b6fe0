"""The indices that are allowed for one element: each once, and all that are of the largest."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from conformance.core.answers import answers, readings
from conformance.model import Answer, Case
from conformance.specification import case_from_inputs, find_spec


def indices_of(op: str, inputs: list[Any], attributes: dict[str, Any]) -> tuple[Answer, Answer]:
    """The indices that are expected, and those under any choice of equal elements."""
    spec = find_spec(op)
    case = case_from_inputs(spec, inputs, attributes)
    base = answers(spec, case, inputs)
    return base[1], readings(spec, case, inputs, base)["any-maximum"][1]


def test_places_of_one_index_are_one_choice() -> None:
    """With axis 3 an index starts again in each row: elements below each other share it."""
    data = np.array([[7, 1], [7, 7]], np.float32).reshape(1, 1, 2, 2)
    given = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    _, indices = indices_of("MaxPool-8", [data], {**given, "axis": 3})
    assert indices.choices is not None
    assert indices.choices.reshape(-1).tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_each_of_equal_elements_is_allowed_once_and_no_other(seed: int) -> None:
    data = np.random.default_rng(seed).integers(0, 3, (1, 2, 5, 6)).astype(np.float32)
    given = {"kernel": [2, 3], "strides": [1, 2], "pads_begin": [1, 0], "pads_end": [0, 1]}
    expected, indices = indices_of("MaxPool-8", [data], given)
    assert indices.choices is not None
    for place in np.ndindex(*expected.expected.shape):
        first = place[2] - 1, 2 * place[3]
        taps = [
            (first[0] + a, first[1] + b)
            for a, b in product(range(2), range(3))
            if 0 <= first[0] + a < 5 and first[1] + b < 6
        ]
        largest = max(data[0, place[1]][at] for at in taps)
        wanted = [at for at in taps if data[0, place[1]][at] == largest]
        flat = [place[1] * 30 + row * 6 + column for row, column in wanted]
        listed = indices.choices[place].tolist()
        assert sorted(one for one in listed if one != -1) == flat
        assert int(expected.expected[place]) == flat[0]


def test_the_first_of_equals_is_among_those_allowed_of_many() -> None:
    """More elements than numpy works on at once."""
    spec = find_spec("AdaptiveMaxPool-8")
    case = Case(
        op=spec.op,
        types={"T": "f32", "T_SHAPE": "i64"},
        shapes={"data": (1, 1, 4097, 4, 1)},
        attributes={"index_element_type": "i64"},
        operands={"output_size": (4098, 2, 1)},
        pattern="steady",
    )
    level = (np.arange(4097 * 4) * 3 % 7 // 2).astype(np.float32).reshape(1, 1, 4097, 4, 1)
    inputs = [level, np.array([4098, 2, 1])]
    base = answers(spec, case, inputs)
    indices = readings(spec, case, inputs, base)["any-maximum"][1]
    assert indices.choices is not None
    assert (indices.choices == base[1].expected[..., None]).any(axis=-1).all()
    assert (level.ravel()[base[1].expected] == base[0].expected).all()
