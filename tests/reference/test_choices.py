"""The indices that are allowed for one element: each once, and all that the rule gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dtypes import DTYPES
from conformance.families.pooling.maximum import _each_once
from conformance.reference import answers, facts
from conformance.reference.readings import readings
from conformance.spec.case_environment import case_from_inputs
from conformance.spec.loader import find_spec

ELEMENTS = st.integers(2, 8).flatmap(
    lambda most: st.lists(
        st.lists(st.integers(0, 5), min_size=1, max_size=most).map(
            lambda some: some + [-1] * (most - len(some))
        ),
        min_size=1,
        max_size=6,
    )
)


@pytest.mark.exhaustive
@given(ELEMENTS)
def test_each_is_listed_once_in_its_order(rows: list[list[int]]) -> None:
    wanted = [list(dict.fromkeys(one for one in row if one != -1)) for row in rows]
    found = _each_once(np.array(rows))
    if found is None:
        assert max(map(len, wanted)) == 1
        return
    assert found.shape[-1] == max(map(len, wanted))
    for row, want in zip(found.tolist(), wanted, strict=True):
        assert row == want + [-1] * (len(row) - len(want))


def test_places_of_one_index_are_one_choice() -> None:
    """With axis 3 an index starts again in each row: elements below each other share it."""
    spec = find_spec("MaxPool-8")
    data = np.array([[7, 1], [7, 7]], DTYPES["f32"].numpy).reshape(1, 1, 2, 2)
    given_ = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    case = case_from_inputs(spec, [data], given_ | {"axis": 3})
    base = answers(spec, case, [data])
    (_, indices) = readings(spec, facts(spec, case, [data]), base)["any-maximum"]
    assert indices.choices is not None
    assert indices.choices.reshape(-1).tolist() == [0, 1]
