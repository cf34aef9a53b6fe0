"""Definitions in ``spec show`` and ``spec docs``: everything that a file says, and only as text."""

# ruff: noqa: RUF001 - mathematical signs are meant

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pages import Page, check_safe, check_structure

from conformance.cli import main
from conformance.cli.definition_text import SECTIONS, definition_text
from conformance.core.loader import load_operator, shipped_names
from conformance.core.operator_reader import read_operator
from conformance.docs.definition_facts import DefinitionFacts
from conformance.docs.html import definition_page, index_page

SAMPLE = Path(__file__).parents[2] / "reports" / "sample" / "torch" / "run.jsonl.gz"
HOSTILE = "<script>alert(1)</script>"

OWN = """
op: own.Scale
summary: SUMMARY
document: {title: TITLE, url: "javascript:alert(1)"}
types: {T: [f32, i32]}
attributes:
  factors: {list: true, type: f32}
  mode: {type: word, values: [up, down], default: up}
  times: {default: 1, min: 0, max: 9}
dims:
  size: {per: axis}
  K: {}
inputs:
  - {name: X, type: T, shape: [K, size], or: [[size]]}
  - {name: S, type: T, shape: [K, size], broadcast: true, absent: 1}
let: {up: mode == up and length(factors) == 0}
require: {few: size <= 9}
reject: {few: {level: should, why: FEW}}
define:
  Y:
    at: {k: K, i: size}
    value: "where(up, X[k, i] * S[k, i] ** times, X[k, i] / S[k, i])"
outputs:
  - {name: Y, type: T, omit: [K == 1]}
interpretations:
  turned:
    question: QUESTION
    adopted: ADOPTED
    answer: ANSWER
    why: WHY
    where: any(size > 1)
    change: {define.Y.value: {"X[k, i]": "X[k, i] + 1"}}
errata:
  E1: {text: TEXT, holds: HOLDS, why: REASON}
"""
TEXTS = [
    "SUMMARY",
    "FEW",
    "TITLE",
    "QUESTION",
    "ADOPTED",
    "ANSWER",
    "WHY",
    "TEXT",
    "HOLDS",
    "REASON",
]


def own(text: str = OWN) -> DefinitionFacts:
    return DefinitionFacts(read_operator(text, "own.yaml"))


def shipped(op: str) -> DefinitionFacts:
    return DefinitionFacts(load_operator(op))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["spec", *map(str, arguments)], env={"COLUMNS": "100"})


def test_the_terminal_says_all_of_a_file() -> None:
    # Each word of a file's prose stands at a place of its own.
    assert list(definition_text(own(), SECTIONS, 100)) == [
        "own.Scale",
        "  SUMMARY",
        "  TITLE",
        "  javascript:alert(1)",
        "  defined in own.yaml",
        "",
        "Inputs and outputs",
        "  X                       input: T [K, size] or [size]",
        "  S                       input: T [K, size], stretched to this shape; read as 1 if not "
        "given",
        "  Y                       output: T [K, size]; without the dimension k where K = 1",
        "  T                       type: f32, i32",
        "  size                    dimension: given by the inputs' shapes, one per axis",
        "  K                       dimension: given by the inputs' shapes",
        "",
        "Attributes",
        "  factors                 list of f32: any number; required",
        "  mode                    word: up, down; up if not given",
        "  times                   int: 0 to 9; 1 if not given",
        "",
        "Definition",
        "  up                      = mode = up and length(factors) = 0",
        "  Y                       Y[k, i] = (X[k, i] × S[k, i]^times if up; else X[k, i] / "
        "S[k, i])",
        "                          for 0 ≤ k < K, 0 ≤ i < size per axis",
        "",
        "Conditions",
        "  few                     size ≤ 9, on every axis (level should)",
        "                          FEW",
        "",
        "Errata",
        '  E1                      says "TEXT"',
        "                          holds: HOLDS",
        "                          REASON",
        "",
        "Interpretations (implementation-defined behaviour)",
        "  turned                  QUESTION",
        "                          expected: ADOPTED; also allowed: ANSWER (level should)",
        "                          WHY",
        "                          then X[k, i] in define.Y.value is X[k, i] + 1",
        "                          where any(1 < size)",
        "",
        "Profiles",
        "  none",
    ]


def test_sections_of_a_shipped_definition() -> None:
    shown = run("show", "MatMul-1", "--section", "conditions")
    assert shown.output.splitlines()[-2:] == ["Conditions", "  none"]
    assert "Y[b, i, j] = ∑(k) A[b, i, k] × B[b, k, j]" in run("show", "onnx.MatMul-13").output


def test_a_tensor_that_decides_shapes_and_words_for_numbers() -> None:
    shown = run("show", "ConvolutionBackpropData-1", "--section", "interface").output
    assert "input: T_IND [length(size)], a number per axis: at least " in shown
    shown = run("show", "torch.conv-2", "--section", "attributes").output
    assert "int, one per axis: at least 0, or valid (0), same (-1)" in shown


def test_a_section_or_a_log_that_definitions_have_not() -> None:
    result = run("show", "MatMul-1", "--section", "edges")
    assert result.exit_code == 2
    assert "it has no section 'edges'" in result.output
    assert "run logs say nothing of it yet" in run("show", "MatMul-1", SAMPLE).output


@pytest.mark.parametrize("op", shipped_names())
def test_pages_are_whole_and_need_nothing(op: str) -> None:
    facts = shipped(op)
    page = definition_page(facts)
    check_safe(page, inline=("style",))
    check_structure(page)
    text = Page(page).text
    names = [*facts.operator.tensors, *facts.operator.attributes, *facts.operator.require]
    assert [name for name in (*names, *facts.operator.let) if name not in text] == []
    assert "<math" in page


def test_a_page_says_all_of_a_file() -> None:
    text = Page(definition_page(own())).text
    assert [word for word in TEXTS if word not in text] == []
    assert "Then X[k, i] in define.Y.value is X[k, i] + 1" in text


def test_hostile_text_is_text() -> None:
    hostile = OWN
    for word in TEXTS:
        hostile = re.sub(rf" {word}\b", f' "{HOSTILE}"', hostile)
    facts = own(hostile)
    for page in (definition_page(facts), index_page((), definitions=(facts,))):
        check_safe(page, inline=("style",))
        assert HOSTILE in Page(page).text
        assert 'href="javascript' not in page


def test_pages_by_name_and_by_file(tmp_path: Path) -> None:
    file = tmp_path / "own.Scale.yaml"
    file.write_text(OWN, "utf-8")
    result = run("docs", "--out", tmp_path / "pages", "--op", file, "--op", "MatMul-1")
    assert result.exit_code == 0, result.output
    assert "and 2 operator pages" in result.output
    names = sorted(path.name for path in (tmp_path / "pages").iterdir())
    assert names == ["MatMul-1.html", "index.html", "own.Scale.html"]
    index = Page((tmp_path / "pages" / "index.html").read_text("utf-8"))
    assert {"./MatMul-1.html", "./own.Scale.html"} <= {a["href"] for a in index.all("a")}


def test_two_files_of_a_name(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(OWN, "utf-8")
    files = [word for name in ("a.yaml", "b.yaml") for word in ("--op", tmp_path / name)]
    result = run("docs", "--out", tmp_path / "pages", *files)
    assert result.exit_code == 2
    assert "both specify own.Scale" in result.output
