"""Strata of definitions, by roles."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.binding import Binding
from conformance.core.loader import load_operator, shipped_names
from conformance.core.strata import inapplicable_strata, strata_of, strata_with
from conformance.errors import SpecError

FILE = """
format: 1
about: An example.
families:
  products:
    about: Products.
    roles: {rows: [M], depth: [K, length], columns: [N]}
    strata:
      rows-{n}:
        each: {n: [3, 4]}
        when: rows == {n} and depth > 1
        draw: {rows: ["{n}"], depth: ["rows + 1"]}
        why: It is common.
        sources: [https://example.org/kernel]
"""


def strata_in(op: str, shapes: dict[str, tuple[int, ...]], **attributes: object) -> set[str]:
    operator = load_operator(op)
    binding = Binding(operator, attributes, shapes)
    return {stratum.name for stratum in strata_with(strata_of(operator), binding)}


def test_a_depthwise_convolution_is_in_its_strata() -> None:
    strata = strata_in("onnx.Conv-22", {"X": (1, 8, 7, 7), "W": (8, 1, 3, 3)}, group=8)
    assert {"depthwise", "depthwise-3-stride-1"} <= strata
    assert not {"square-3-stride-1", "groups", "depthwise-3-stride-2"} & strata


def test_dialects_with_other_names_have_the_same_strata() -> None:
    given = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    onnx = strata_in("onnx.Conv-22", {"X": (1, 8, 7, 7), "W": (8, 4, 3, 3)}, group=2)
    shapes = {"X": (1, 8, 7, 7), "W": (2, 4, 4, 3, 3)}
    assert strata_in("GroupConvolution-1", shapes, **given) == onnx
    assert "groups-of-4" in onnx


def test_a_role_without_a_value_is_in_no_stratum() -> None:
    assert strata_in("onnx.MatMul-13", {"A": (4,), "B": (4, 1)}) == set()
    assert "inner-product" in strata_in("onnx.MatMul-13", {"A": (1, 4), "B": (4, 1)})


@pytest.mark.parametrize("op", shipped_names())
def test_each_operator_has_the_strata_of_one_family(op: str) -> None:
    operator = load_operator(op)
    reasons = inapplicable_strata(operator)
    assert len(strata_of(operator)) >= 10
    assert all(reason.startswith("the operator has no ") for reason in reasons.values())
    assert all(stratum.sources for stratum in strata_of(operator))


def test_templates_are_filled(tmp_path: Path) -> None:
    file = tmp_path / "strata.yaml"
    file.write_text(FILE)
    assert [s.name for s in strata_of(load_operator("onnx.Gemm-13"), file)] == ["rows-3", "rows-4"]
    reasons = inapplicable_strata(load_operator("onnx.Conv-22"), file)
    assert reasons["rows-3"] == "the operator has no depth (K, length)"


@pytest.mark.parametrize(
    ("old", "new"), [("format: 1", "format: 2"), ("why:", "because:"), ("[3, 4]", "[x]")]
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "strata.yaml"
    file.write_text(FILE.replace(old, new))
    with pytest.raises(SpecError):
        strata_of(load_operator("onnx.Gemm-13"), file)
