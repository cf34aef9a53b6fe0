"""The picture of what an element reads: its cells, its breaks, and what it does not believe."""

# ruff: noqa: RUF001 - mathematical signs are meant

from __future__ import annotations

import copy
from typing import Any
from xml.etree import ElementTree

import diagnosed
import pytest

from conformance.log.detail import ElementPicture, parse_detail
from conformance.report.element_picture import element_pictures, element_sentence

SIGNS = {"tap data": "#", "tap pad": "o", "data": ".", "pad": "_"}


def parsed(**changes: Any) -> ElementPicture:
    """The sample, with other members of the only slice of its first input."""
    data = copy.deepcopy(diagnosed.READS)
    data["tensors"][0]["slices"][0] |= changes
    picture = parse_detail({"reads": data}).reads
    assert picture is not None
    return picture


def drawn(picture: ElementPicture, number: int) -> tuple[list[str], list[str | None], int]:
    """The cells of an input row by row, the labels, and how many breaks there are."""
    root = ElementTree.fromstring(element_pictures(picture)[number].svg)
    rows: dict[str | None, str] = {}
    for rect in root.iter("rect"):
        y = rect.get("y")
        rows[y] = rows.get(y, "") + SIGNS[rect.get("class", "")]
    labels = [text.text for text in root.iter("text") if text.get("class") == "axis"]
    return list(rows.values()), labels, len(list(root.iter("polyline")))


def test_an_image_at_its_border() -> None:
    rows, labels, breaks = drawn(parsed(), 0)
    assert rows == ["_ooo_", ".###.", ".###."]
    assert labels == ["X[0, 1, :, :]", "0", "1", "2", "3", "4", "-1", "0", "1"]
    assert breaks == 0


def test_a_vector_of_which_a_part_is_left_out() -> None:
    rows, labels, breaks = drawn(parsed(), 1)
    assert (rows, labels, breaks) == ([".#."], ["B[:]", "0", "1", "3"], 2)


def test_an_element_that_is_read_twice() -> None:
    root = ElementTree.fromstring(element_pictures(parsed())[0].svg)
    assert "4 ×2" in [text.text for text in root.iter("text")]


@pytest.mark.parametrize(
    "changes",
    [
        {"at": [0]},
        {"rows": [0, 0, 1]},
        {"columns": [4, 3, 2, 1, 0]},
        {"counts": [[1]]},
        {"values": [["1"]]},
        {"columns": []},
    ],
)
def test_numbers_that_do_not_fit_together_are_not_drawn(changes: dict[str, Any]) -> None:
    assert len(element_pictures(parsed(**changes))) == 1


def test_without_terms_there_is_no_sentence() -> None:
    assert element_sentence(None) == ""
    reads = parse_detail({"reads": {**diagnosed.READS, "terms": []}}).reads
    assert element_sentence(reads) == ""
