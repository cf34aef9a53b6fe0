"""What ``show --element`` prints of a definition, and what a finding keeps for its picture."""

# ruff: noqa: RUF001 - mathematical signs are meant

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from conformance.cli.element_grid import grids
from conformance.cli.vector_text import element
from conformance.core.element_picture import vector_picture
from conformance.core.loader import load_operator
from conformance.log.detail import parse_detail
from conformance.model import Case, Finding, Result, Status, Vector, Witness
from conformance.run.illustrate import Illustrator
from conformance.specification import build

CONV = load_operator("onnx.Conv-22")


def vector() -> Vector:
    shapes = {"X": (1, 1, 3, 4), "W": (1, 1, 2, 2), "B": (1,)}
    case = Case(CONV.op, {"T": "f32"}, shapes, {"pads": [1, 1, 0, 0]}, {}, "whole+whole+whole", 1)
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4) / 4
    w = np.array([[[[1, -1], [2, 0.5]]]], np.float32)
    return replace(build(CONV, case), inputs=(x, w, np.ones(1, np.float32)))


def test_a_convolution_in_its_corner() -> None:
    assert list(grids(vector_picture(CONV, vector(), "Y", (0, 0, 0, 1)))) == [
        "    X (1×1×3×4): 2 elements read, 2 positions outside.",
        "    X[0, 0, :, :]",
        "    at    0       1     2      3",
        "    -1  [.]     [.]    .      . ".rstrip(),
        "     0  [0]  [0.25]  0.5   0.75",
        "     1   1    1.25   1.5   1.75",
        "     2   2    2.25   2.5   2.75",
        "    W (1×1×2×2): 2 elements read.",
        "    W[0, 0, :, :]",
        "    at    0      1",
        "     0   1     -1",
        "     1  [2]  [0.5]",
        "    B (1): 1 element read.",
        "    B[:]",
        "      0",
        "    [1]",
        "    Y[0, 0, 0, 1] is made of X[0, 0, 0, 0] × W[0, 0, 1, 0] + "
        "X[0, 0, 0, 1] × W[0, 0, 1, 1].",
    ]


def test_it_stands_above_the_values_of_an_element() -> None:
    lines = list(element(CONV, vector(), (0, 0, 0, 1)))
    assert lines[:2] == [
        "  element 0,0,0,1",
        "    X (1×1×3×4): 2 elements read, 2 positions outside.",
    ]
    assert any(line.lstrip().startswith("expected") for line in lines)


def test_what_an_operator_has_not_is_not_drawn() -> None:
    assert vector_picture(CONV, vector(), "Z", (0, 0, 0, 0)) is None
    assert vector_picture(CONV, vector(), "Y", (0, 0, 0, 9)) is None
    broken = replace(vector(), inputs=(), absent=(0, 1, 2))
    assert vector_picture(CONV, broken, "Y", (0, 0, 0, 0)) is None


def finding(index: tuple[int, ...]) -> Finding:
    witness = Witness("Y", index, "1", "1", "1", "1", "2", 1.0, 1, 12)
    values: dict[str, Any] = {"witness": witness, "reproduce": "", "detail": {}}
    return Finding(CONV.op, "wrong", "", ("a",), (), "a", "", **values)


def test_a_finding_keeps_what_its_worst_element_reads() -> None:
    suite: Any = SimpleNamespace(get=lambda _id: vector(), specs={CONV.op: CONV})
    result = Result("a", CONV.op, Status.FAIL)
    shown = Illustrator(suite, "must", {}).illustrated(finding((0, 0, 0, 1)), result)
    assert set(shown.detail) == {"reads"}
    picture = parse_detail(shown.detail).reads
    assert picture == vector_picture(CONV, vector(), "Y", (0, 0, 0, 1))
