"""The picture of a window: what it shows, what it leaves out, and what it refuses."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.picture import (
    MAX_CELLS,
    MAX_SLICES,
    axis_breaks,
    mutant_window_picture,
    positions_to_draw,
    window_picture,
)
from conformance.report.picture_window import MAX_TAPS, Axis, parse_window

SIGNS = {
    "tap data": "#",
    "tap pad": "o",
    "tap data out": "x",
    "data": ".",
    "pad": "_",
}


def grid(rows, columns):
    return [[10 * y + x for x in range(columns)] for y in range(rows)]


def drawn(window):
    """The cells of a picture as text, row by row, and its labels; slices after each other."""
    found = window_picture(window)
    root = ElementTree.fromstring(found.svg)
    rows, labels = [], []
    for panel in root:
        line, at = "", None
        for part in panel:
            kind = part.get("class")
            if part.tag == "rect" and kind in SIGNS:
                if at not in (None, part.get("y")):
                    rows.append(line)
                    line = ""
                at = part.get("y")
                line += SIGNS[kind]
            elif kind == "axis":
                labels.append(part.text)
        rows.append(line)
    return rows, labels


def texts(window):
    root = ElementTree.fromstring(window_picture(window).svg)
    return [part.text for part in root.iter("text") if part.get("class") != "axis"]


class TestWhatIsDrawn:
    def test_row_in_the_middle(self):
        window = {"input": [1.5, 2, "nan", -4e30, 5], "positions": [[1, 2, 3]], "divisor": 3}
        assert drawn(window) == ([".###."], ["0", "1", "2", "3", "4"])
        assert texts(window) == ["1.5", "2", "nan", "-4e+30", "5"]
        assert window_picture(window).sentence == (
            "The window spans positions 1 to 3; the data has 5. All its 3 taps read data. "
            "The divisor is 3."
        )

    def test_window_that_overhangs_a_corner(self):
        window = {"input": grid(3, 3), "positions": [[-1, 0], [1, 2, 3, 4]]}
        rows, _ = drawn(window)
        assert rows == ["_oooo", ".##oo", "...__", "...__"]
        assert window_picture(window).sentence == (
            "The window spans positions -1 to 0 by 1 to 4; the data has 3 by 3. "
            "2 of its 8 taps read data, 6 lie on padding."
        )

    def test_padding_of_the_operator(self):
        rows, labels = drawn({"input": [1, 2], "positions": [[0]], "pads": [[1, 2]]})
        assert (rows, labels) == (["_#.__"], ["-1", "0", "1", "2", "3"])

    def test_taps_that_do_not_count(self):
        window = {"input": [7, 8, 9], "positions": [[0, 1, 2]], "counts": [[True, False, True]]}
        assert drawn(window)[0] == ["#x#"]
        assert window_picture(window).sentence.endswith("All its 3 taps read data; 2 count.")

    def test_taps_apart_and_repeated(self):
        assert drawn({"input": [0] * 5, "positions": [[0, 2, 4]]})[0] == ["#.#.#"]
        twice = {"input": [7, 8, 9], "positions": [[0, 0, 1]]}
        assert texts(twice) == ["7 \u00d72", "8", "9"]
        assert "0 to 1 (some more than once)" in window_picture(twice).sentence

    def test_slices_of_a_volume(self):
        window = {"input": [grid(2, 2)] * 2, "positions": [[1, 2], [0, 1], [0, 1]]}
        rows, labels = drawn(window)
        assert rows == ["##", "##", "oo", "oo"]
        assert "slice 1" in labels
        assert "slice 2, padding" in labels

    def test_window_without_taps(self):
        window = {"input": grid(2, 2), "positions": [[0, 1], []]}
        assert drawn(window)[0] == ["..", ".."]
        assert window_picture(window).sentence == "The window has no taps; the data has 2 by 2."
        assert 'class="window"' not in window_picture(window).svg

    def test_label_says_the_sentence(self):
        found = window_picture({"input": [1], "positions": [[0]]})
        root = ElementTree.fromstring(found.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == found.sentence

    def test_values_are_text(self):
        window = {"input": ["<b>&\u202e"], "positions": [[0]]}
        assert texts(window) == ["<b>&\\u20…"]


UNDER = {"positions": [[1, 2]], "counts": [[True, True]], "divisor": 2}


class TestTheFaultsWindow:
    def test_is_drawn_over_the_same_data(self):
        window = {"input": [5, 6, 7], "positions": [[0, 1, 2]], "divisor": 3, "under": UNDER}
        assert drawn(window)[0] == ["###"]
        assert drawn({**window, **UNDER})[0] == [".##"]
        assert mutant_window_picture(window).sentence.startswith(
            "The window spans positions 1 to 2;"
        )
        assert mutant_window_picture(window).sentence.endswith("The divisor is 2.")

    @pytest.mark.parametrize("under", [None, [], {}, {"positions": [[0], [0]]}, "x"])
    def test_is_left_out_where_it_is_not_told(self, under):
        window = {"input": [5, 6, 7], "positions": [[0, 1, 2]], "under": under}
        assert mutant_window_picture(window) is None
        assert window_picture(window) is not None


class TestElision:
    @given(
        size=st.integers(1, 60) | st.integers(1, 10**6),
        start=st.integers(-5, 70),
        taps=st.integers(0, 40),
        step=st.integers(1, 3),
        begin=st.integers(-2, 9),
        end=st.integers(-2, 9),
    )
    def test_the_window_and_its_border_are_shown(self, size, start, taps, step, begin, end):
        positions = tuple(start + step * n for n in range(taps))
        axis = Axis(size, positions, (True,) * taps, begin, end)
        found = positions_to_draw(axis)
        assert list(found) == sorted(set(found))
        assert len(found) <= 2 * MAX_CELLS
        low, high = min([0, *positions]), max([size - 1, *positions])
        if positions:
            assert {positions[0], positions[-1]} <= set(found)
            around = {positions[0] - 1, positions[-1] + 1}
            assert {p for p in around if low <= p <= high} <= set(found)
        if taps and positions[-1] - positions[0] + 3 <= MAX_CELLS:
            assert set(positions) <= set(found)
        gaps = axis_breaks(found, axis)
        inner = [n for n in gaps if 0 < n < len(found)]
        assert inner == [n for n in range(1, len(found)) if found[n] - found[n - 1] > 1]
        assert all(found[n] - found[n - 1] > 2 for n in inner)

    def test_of_a_long_window_a_tap_that_does_not_count_stays_in_view(self):
        counts = [at != 20 for at in range(40)]
        window = {"input": list(range(40)), "positions": [list(range(40))], "counts": [counts]}
        assert "20" in drawn(window)[1]

    def test_a_long_axis_breaks_visibly(self):
        window = {"input": list(range(4000)), "positions": [list(range(2000, 2005))]}
        svg = window_picture(window).svg
        assert svg.count('class="break"') == 2
        labels = drawn(window)[1]
        assert labels[0] == "0"
        assert labels[-1] == "3999"
        assert {"1999", "2000", "2004", "2005"} <= set(labels)

    def test_pictures_stay_small(self):
        window = {"input": [[0.0] * 60] * 60, "positions": [list(range(10, 50))] * 2}
        svg = window_picture(window).svg
        assert len(svg) < 60_000
        assert svg.count("<rect") <= (MAX_CELLS + 2) ** 2 + 1
        volume = {"input": [[[0]]], "positions": [list(range(1000))] * 3}
        assert window_picture(volume).svg.count("<g ") == MAX_SLICES
        assert "996 slices left out; slice 999, padding" in window_picture(volume).svg


REFUSED = [
    None,
    [],
    {},
    {"input": [1]},
    {"input": [1], "positions": []},
    {"input": [1], "positions": [[2**40]]},
    {"input": [1], "positions": [[0] * (MAX_TAPS + 1)]},
    {"input": [1], "positions": [["0"]]},
    {"input": [1], "positions": [0]},
    {"input": [[1], [1, 2]], "positions": [[0], [0]]},
    {"input": [[[[1]]]], "positions": [[0]] * 4},
    {"input": [], "positions": [[0]]},
    {"input": 1, "positions": []},
    {"input": [{}], "positions": [[0]]},
    {"input": [1], "positions": [[True]]},
]


@pytest.mark.parametrize("window", REFUSED)
def test_anything_else_is_not_drawn(window):
    assert window_picture(window) is None
    assert parse_window(window) is None


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
small = st.lists(st.lists(st.integers(-3, 9) | json, max_size=4), max_size=3)
windows = st.fixed_dictionaries(
    {"input": small | json},
    optional={
        name: small | st.lists(st.integers(-3, 9), max_size=3) | json
        for name in ("positions", "counts", "pads", "divisor")
    },
)


@given(windows, windows | json)
def test_no_json_breaks_it(window, under):
    for found in (window_picture(window), mutant_window_picture({**window, "under": under})):
        if found is not None:
            ElementTree.fromstring(found.svg)
            assert found.sentence.isprintable()
            assert not re.search(r"style=|id=|href=|url\(", found.svg)
