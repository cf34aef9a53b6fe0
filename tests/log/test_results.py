"""Results in little memory are the results that were added."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.log import results as kept
from conformance.log.results import OutputLimit, Results, without_outputs
from conformance.model import FAILED, Result, Returned, Status

NAMES = st.sampled_from(["", "a", "ramp", "kernel-1", "ü\n"])
VALUES = st.integers() | st.booleans() | st.sampled_from(["1", "01e5", "#", "é 7"])
ASKED = st.none() | st.fixed_dictionaries(
    {"types": st.just({"T": "f32"}), "shapes": st.dictionaries(NAMES, st.lists(VALUES))}
)


@st.composite
def results(draw: st.DrawFn) -> Result:
    some: dict[str, Any] = {
        "id": draw(st.text(max_size=9)),
        "op": draw(NAMES),
        "status": draw(st.sampled_from(Status)),
        "edges": tuple(draw(st.lists(NAMES, max_size=3))),
        "message": draw(st.text(max_size=9)),
        "reading": draw(st.none() | NAMES),
        "precision": draw(st.none() | NAMES),
        "dtype": draw(NAMES),
        "size": draw(st.integers(0, 2**70)),
        "reject": draw(st.none() | NAMES),
        "seconds": draw(st.floats(0, 9)),
        "shows": draw(st.dictionaries(NAMES, st.tuples(NAMES), max_size=2)),
        "known": draw(st.none() | NAMES),
        "rank": draw(st.integers(0, 9)),
        "within": draw(st.none() | st.tuples(st.integers(), st.integers())),
        "left_out": tuple(draw(st.lists(NAMES, max_size=2))),
        "wrong": draw(NAMES),
        "asked": draw(ASKED),
        "returned": draw(st.none() | st.just((Returned("f32", (1,), b"x"),))),
    }
    return Result(**some)


@given(st.lists(results(), max_size=12), st.integers(0, 12), st.integers(2, 12))
def test_what_is_read_is_what_was_added(found: list[Result], plain: int, shared: int) -> None:
    """However many are kept plain, and however little room there is for what they share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "UNPACKED", plain)
        patch.setattr(kept, "_MOST_SHARED", shared)
        some = Results(found)
        assert list(some) == list(some.plain()) == found
        assert len(some) == len(found)
        assert [some[i] for i in range(len(some))] == found
        assert list(some[1:5]) == found[1:5]
        assert isinstance(some.plain(), tuple) == (len(found) <= plain)
        for row in some._rows[:plain]:
            assert isinstance(row, Result)
        for row in some._rows:
            assert isinstance(row, Result) or len(found) > kept.UNPACKED


@pytest.mark.parametrize("odd", [{"x": object()}, {"x": (1, 2)}, {"x": "#1"}])
def test_what_is_unusual_is_kept_as_it_is(odd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "UNPACKED", 0)
    one = Result("a", "Op", Status.PASS, asked=odd)
    assert Results([one])[0] is one


def test_a_packed_result_takes_a_quarter_of_a_kilobyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "UNPACKED", 0)
    asked = {
        "types": {"T": "f32"},
        "shapes": {"data": [2, 3, 17, 19]},
        "attributes": {
            "kernel": [3, 5], "strides": [1, 2], "pads_begin": [1, 0], "pads_end": [0, 1],
            "exclude-pad": True, "rounding_type": "floor", "auto_pad": "explicit",
        },
        "pattern": "normal",
        "seed": 31337,
    }  # fmt: skip
    edges = tuple(f"edge-number-{i}" for i in range(12))
    some = Results(
        Result(f"f32-2x3x17x19-normal-{i:08x}", "AvgPool-1", Status.PASS, edges, asked=asked)
        for i in range(100)
    )
    assert sum(map(sys.getsizeof, some._rows)) / 100 < 260


def test_only_the_first_failures_of_an_operator_keep_their_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept, "OUTPUTS", 2)
    arrays = (Returned("f32", (1,), b"x"),)
    outputs = OutputLimit()
    found = []
    for op in ("A", "B"):
        for i in range(4):
            status = (Status.FAIL, Status.ERROR)[i % 2]
            one = Result(
                str(i), op, status, returned=arrays, inputs=arrays, expected=arrays, message="m"
            )
            found.append((one, outputs.bounded(one)))
            passed = Result("p", op, Status.PASS)
            assert outputs.bounded(passed) is passed
    for i, (one, bounded) in enumerate(found):
        dropped = {"returned": None, "inputs": None, "expected": None}
        assert bounded == (one if i % 4 < 2 else replace(one, **dropped))  # type: ignore[arg-type]
        assert bounded.status in FAILED
    assert without_outputs([2, 0, 2]) == ""
    assert "first 2 failures of each operator" in without_outputs([0, 3])
