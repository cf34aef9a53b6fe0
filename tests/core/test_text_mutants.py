"""Mutants by construction: what they change, their ids, and that each of them makes sense."""

from __future__ import annotations

from collections import Counter

import pytest
from core_operators import operator

from conformance.core.changes import changed
from conformance.core.implementation import Implementation
from conformance.core.loader import load_operator, shipped_names
from conformance.core.mutant_changes import TextChange
from conformance.core.mutants import mutants_of
from conformance.core.operator_reader import read_operator
from conformance.core.text_mutants import text_mutants

LATEST = (
    "Convolution-1",
    "GroupConvolution-1",
    "MatMul-1",
    "onnx.Conv-22",
    "onnx.ConvTranspose-22",
    "onnx.Gemm-13",
    "onnx.MatMul-13",
)
SMALL = """
op: Small-1
types: {T: [f32]}
attributes:
  pads_begin: {per: axis, default: 0, min: 0}
  pads_end: {per: axis, default: 0, min: 0}
  flip: {type: bool, default: false}
dims: {size: {per: axis}}
inputs: [{name: X, type: T, shape: [size]}]
let:
  low: pads_begin
  out: size + pads_end // 2
define:
  Y:
    at: {i: out}
    outside: 0
    value: "where(flip, X[i - low], X[i])"
outputs: [{name: Y, type: T}]
"""


def names(text: str) -> set[str]:
    return {mutant.change.name for mutant in text_mutants(read_operator(text))}


def test_the_changes_of_a_small_text() -> None:
    assert names(SMALL) >= {
        "let.low: pads_begin => pads_end",
        "let.low: pads_begin => 0 * pads_begin + 0",
        "let.low: pads_begin => reverse(pads_begin)",
        "let.low: pads_begin => pads_begin + 1",
        "let.out: size + pads_end // 2 => size",
        "let.out: pads_end // 2 => ceil_div(pads_end, 2)",
        "let.out: size + pads_end // 2 => size - pads_end // 2",
        "define.Y.value: where(flip, X[i - low], X[i]) => X[i]",
        "define.Y.value: X[i - low] => X[clamp(i - low, 0, size - 1)]",
        "define.Y.value: X[i] => X[size - 1 - i]",
        "define.Y.value: X[i] => X[0 * i]",
        "define.Y.outside: 0 => 1",
        "attributes.flip: ignored",
        "attributes.flip.default: false => true",
        "attributes.pads_begin: first axis for all",
    }


def test_what_means_the_same_is_no_further_mutant() -> None:
    # 'size' without 1 and 1 too small are the same.
    text = SMALL.replace("size + pads_end // 2", "size + 1")
    less = [
        name
        for name in names(text)
        if name in ("let.out: size + 1 => size", "let.out: size + 1 => size + 1 - 1")
    ]
    assert less == ["let.out: size + 1 => size"]


def test_ids_stay_when_another_part_of_the_text_changes() -> None:
    before = names(SMALL)
    after = names(SMALL.replace("size + pads_end // 2", "size + 2 * pads_end"))
    assert {name for name in before ^ after if not name.startswith("let.out")} == set()
    assert any(name.startswith("let.out") for name in before & after)


def test_a_sentence_says_what_the_kernel_does() -> None:
    mutants = {m.change.name: m for m in text_mutants(load_operator("onnx.Conv-22"))}
    mutant = mutants["let.pad_begin: given_begin => given_end"]
    assert mutant.says == "The value pad_begin is computed with given_end instead of given_begin."
    assert mutant.look == "where the value pad_begin is computed"


@pytest.mark.parametrize("op", shipped_names())
def test_the_mutants_of_an_operator(op: str) -> None:
    mutants = mutants_of(load_operator(op))
    assert [name for name, n in Counter(m.id for m in mutants).items() if n > 1] == []
    assert 40 <= len(mutants) <= 1000
    assert all(mutant.description.endswith(".") and mutant.where_to_look for mutant in mutants)
    for mutant in mutants:
        if isinstance(mutant.change, TextChange):
            Implementation(load_operator(op)).under([mutant.change])


@pytest.mark.parametrize("name", ["LayerNormalization", "ArgMax", "AveragePool", "MaxPool"])
def test_mutants_of_other_texts_make_sense_too(name: str) -> None:
    for mutant in text_mutants(operator(name)):
        changed(operator(name), *mutant.change.changes)
