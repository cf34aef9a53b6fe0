"""`conformance show` prints a part of a large window, which has the taps that tell most."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from conformance.cli.window_grid import grid


def window(values, divisor=None, rows=1):
    width = len(values) // rows
    coordinates = (tuple(range(rows)), tuple(range(width)))
    return SimpleNamespace(
        coordinates=coordinates,
        values={(i // width, i % width): value for i, value in enumerate(values)},
        taps=len(values),
        divisor=divisor,
    )


def columns(lines):
    return [int(number) for number in lines[0].split()[1:]]


def shown(values, expected, got=None, **more):
    return columns(list(grid(window(values, **more), expected, got)))


@pytest.mark.parametrize(
    ("expected", "got", "at"),
    [(20.0, None, 20), (20.0, 11.0, 20), (20.0, 11.0, 11), (float("nan"), 3.0, 3)],
)
def test_of_a_maximum_the_taps_expected_and_got(expected, got, at):
    assert at in shown([float(n) for n in range(30)], expected, got)


@pytest.mark.parametrize("sign", [1, -1])
def test_of_a_mean_the_tap_that_the_sum_lacks_or_has_twice(sign):
    values = [2.0**n for n in range(30)]
    mean = sum(values) / 30
    assert 13 in shown(values, mean, mean - sign * values[13] / 30, divisor=30)


def test_both_ends_where_nothing_tells_more():
    assert shown([1.0] * 30, 1.0, 0.9) == [0, 1, 2, 3, 4, 5, 29]
    assert shown([1.0] * 5, 1.0) == [0, 1, 2, 3, 4]


def test_the_row_of_a_tap_is_kept_too():
    lines = list(grid(window([float(n) for n in range(300)], rows=100), 270.0))
    assert any(line.split()[0] == "90" for line in lines)
    assert "    ... 48 of 300 taps are shown" in lines


def test_not_a_number_is_found():
    assert 15 in shown([1.0] * 15 + [float("nan")] + [1.0] * 14, float("nan"), 1.0)


def test_no_tap_on_data():
    seen = window([1.0, 2.0])
    seen.values, seen.taps = {}, 0
    assert "    0 of 2 taps are on data; a dot is padding" in list(grid(seen, 0.0, 1.0))
