"""The drawing of a window."""

from __future__ import annotations

import pytest

from conformance.report.window import MAX_CELLS, MAX_SLICES, drawing


def kinds(panel):
    """The panel as text: # in the window, . data beside it, o a place without data."""
    signs = {"tap": "#", "data": ".", "pad": "o"}
    cells = {(cell.row, cell.column): signs[cell.kind] for cell in panel.cells}
    return [
        "".join(cells.get((row, column), " ") for column in range(len(panel.columns)))
        for row in range(max(1, len(panel.rows)))
    ]


def grid(rows, columns):
    return [[10 * y + x for x in range(columns)] for y in range(rows)]


def test_row_in_the_middle():
    found = drawing({"input": [1.5, 2, "nan", -4e30, 5], "start": [1], "taps": [3], "divisor": 3})
    (panel,) = found.panels
    assert kinds(panel) == [".###."]
    assert panel.columns == (0, 1, 2, 3, 4)
    assert [cell.text for cell in panel.cells] == ["1.5", "2", "nan", "-4e+30", "5"]
    assert found.sentence == "The window spans positions 1 to 3; the data has 5. The divisor is 3."
    assert not found.clipped


def test_window_that_overhangs_a_corner():
    found = drawing({"input": grid(3, 3), "start": [-1, 1], "taps": [2, 4]})
    (panel,) = found.panels
    assert kinds(panel) == [" oooo", ".##oo", "...  "]
    assert (panel.rows, panel.columns) == ((-1, 0, 1), (0, 1, 2, 3, 4))
    assert "divisor" not in found.sentence


def test_window_beyond_the_data():
    (panel,) = drawing({"input": [1, 2], "start": [4], "taps": [2]}).panels
    assert kinds(panel) == ["oo"]


def test_slices_of_a_volume():
    found = drawing({"input": [grid(2, 2)] * 2, "start": [1, 0, 0], "taps": [2, 2, 2]})
    assert [panel.caption for panel in found.panels] == ["slice 1", "slice 2"]
    assert [kinds(panel) for panel in found.panels] == [["##", "##"], ["oo", "oo"]]


def test_large_windows_are_clipped():
    found = drawing({"input": [0] * 4000, "start": [0], "taps": [2**31 - 1]})
    assert len(found.panels[0].cells) == MAX_CELLS
    assert found.clipped
    volume = drawing({"input": [[[0]]], "start": [0, 0, 0], "taps": [10**9] * 3})
    assert len(volume.panels) == MAX_SLICES
    assert volume.clipped


@pytest.mark.parametrize(
    "window",
    [
        None,
        [],
        {},
        {"input": [1], "start": [0], "taps": [0]},
        {"input": [1], "start": [0, 0], "taps": [1]},
        {"input": [1], "start": ["0"], "taps": [1]},
        {"input": [1], "start": [0], "taps": [2**40]},
        {"input": [[1], [1, 2]], "start": [0, 0], "taps": [1, 1]},
        {"input": [[[[1]]]], "start": [0, 0, 0, 0], "taps": [1, 1, 1, 1]},
        {"input": [], "start": [0], "taps": [1]},
        {"input": 1, "start": [], "taps": []},
        {"input": [{}], "start": [0], "taps": [1]},
    ],
)
def test_anything_else_is_not_drawn(window):
    assert drawing(window) is None
