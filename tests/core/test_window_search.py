"""The search of windows, one dimension after the other."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.core import index_space, window_search
from conformance.core.evaluate import Evaluation
from conformance.core.magnitude import Magnitude
from conformance.core.operator_reader import read_operator
from conformance.core.real import Machine
from conformance.core.window_search import LEFT_OUT, Window, order_of, ranked
from conformance.dtypes import DTYPES

# Two by two windows at a stride of 2 over three by three, with a padding of 1 before each axis.
I0, I1 = np.arange(2).reshape(2, 1, 1, 1), np.arange(2).reshape(1, 2, 1, 1)
K0, K1 = np.arange(2).reshape(1, 1, 2, 1), np.arange(2).reshape(1, 1, 1, 2)
AT = [I0 * 2 + K0 - 1, I1 * 2 + K1 - 1]
EXTENTS = (2, 2, 2, 2)


def window() -> Window:
    result = Window.of(AT, (3, 3), EXTENTS, rows=2)
    assert result is not None
    return result


@pytest.mark.parametrize("most", [window_search.MOST, 1])
def test_best_taps_and_their_positions(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(window_search, "MOST", most)
    order = np.array([[5, 1, 9], [7, 8, 8], [3, 8, 2]])
    number, positions = window().best(order, last=False)
    assert number.tolist() == [[3, 3], [1, 0]]
    assert [p.tolist() for p in positions] == [[[0, 0], [1, 1]], [[0, 2], [0, 1]]]
    assert order[tuple(positions)].tolist() == [[5, 9], [7, 8]]
    # Of the three eights the last one is in the row below.
    assert window().best(order, last=True)[0].tolist() == [[3, 3], [1, 2]]


def test_taps_outside_are_not_counted_and_no_better_than_the_lowest_element() -> None:
    assert window().count().tolist() == [[1, 2], [2, 4]]
    assert not window().is_inside
    lowest = np.full((3, 3), LEFT_OUT + 1)
    assert window().best(lowest, last=False)[0].tolist() == [[3, 2], [1, 0]]


def test_taps_that_all_lie_outside_leave_the_first() -> None:
    beyond = Window.of([np.arange(3).reshape(1, 3) + 7], (4,), (1, 3), rows=1)
    assert beyond is not None
    number, positions = beyond.best(np.arange(4), last=False)
    assert (number.tolist(), positions[0].tolist(), beyond.count().tolist()) == ([0], [3], [0])


@pytest.mark.parametrize(
    "at",
    [
        pytest.param([I0 + K0, I0 + K1], id="shared index"),
        pytest.param([I0 + K1, I1 + K0], id="taps in another order"),
        pytest.param([I0, I1 + K1], id="a tap that no position depends on"),
    ],
)
def test_reads_that_are_no_window(at: list[np.ndarray]) -> None:
    assert Window.of(at, (3, 3), EXTENTS, rows=2) is None


def test_orders() -> None:
    array = np.array([1, -0.0, 0, np.nan, -np.inf, np.inf], np.float32)
    order = order_of(array, DTYPES["f32"], largest=True)
    assert np.argsort(order, kind="stable").tolist() == [4, 1, 2, 0, 5, 3]
    assert order[1] == order[2]
    reverse = order_of(array, DTYPES["f32"], largest=False)
    assert np.argsort(reverse, kind="stable").tolist() == [5, 0, 1, 2, 4, 3]
    assert ranked(np.array([1 << 80, -5, 1 << 80], object)).tolist() == [1, 0, 1]
    sizes = Magnitude(np.array([0.5, 0, np.inf, 0.75]), np.array([4000, 0, 0, 3999]))
    assert sizes.order().tolist() == [2, 0, 3, 1]


SUMS = """
op: own.Sums
types: {T: [f32]}
attributes: {taps: {min: 1}}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define:
  Y:
    at: {i: N + 2}
    over: {k: taps}
    outside: skip
    term: "X[i + k - 2] ** 2"
    combine: sum
    finish: total + terms
outputs: [{name: Y, type: T}]
"""


def test_taps_that_no_sum_reads_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"X": np.array([1, 2, 3, 1e-3], np.float32)}
    results = []
    for few in (1 << 30, 0):
        monkeypatch.setattr(index_space, "FEW", few)
        evaluation = Evaluation(read_operator(SUMS), {"taps": 4000}, data, Machine(DTYPES["f32"]))
        space = evaluation.space(evaluation.operator.define["Y"]).without_unread()
        assert space.shape == (6, 4000 if few else 6)
        (output,), (interval,) = evaluation.outputs(), evaluation.intervals()
        results.append([output.tolist(), interval.lo.tolist(), interval.hi.tolist()])
    assert results[0] == results[1]
    assert results[1][0][:3] == [
        18 + np.float32(1e-6),
        18 + np.float32(1e-6),
        18 + np.float32(1e-6),
    ]
