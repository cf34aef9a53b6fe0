"""Pages of operators, and ``spec show``: everything that a definition says, and only as text."""

# ruff: noqa: RUF001 - mathematical signs are meant

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner, Result
from pages import Page, check_safe, check_structure

from conformance.cli import main
from conformance.cli.spec_text import SECTIONS, operator_text
from conformance.core.loader import load_operator, shipped_names
from conformance.core.operator_reader import read_operator
from conformance.docs.html import index_page, link, operator_page
from conformance.docs.operator_facts import OperatorFacts

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


def own(text: str = OWN) -> OperatorFacts:
    return OperatorFacts(read_operator(text, "own.yaml"))


def show(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["spec", "show", *arguments], env={"COLUMNS": "100"})


def test_the_terminal_says_all_of_a_file() -> None:
    # Each word of a file's prose stands at a place of its own.
    assert list(operator_text(own(), SECTIONS, 100)) == [
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


def test_sections_of_a_shipped_operator() -> None:
    shown = show("MatMul-1", "--section", "conditions")
    assert shown.output.splitlines()[-2:] == ["Conditions", "  none"]
    assert "Y[b, i, j] = ∑(k) A[b, i, k] × B[b, k, j]" in show("onnx.MatMul-13").output


def test_a_tensor_that_decides_shapes_and_words_for_numbers() -> None:
    shown = show("ConvolutionBackpropData-1", "--section", "interface").output
    assert "input: T_IND [length(size)], a number per axis: at least " in shown
    shown = show("torch.conv-2", "--section", "attributes").output
    assert "int, one per axis: at least 0, or valid (0), same (-1)" in shown


@pytest.mark.parametrize("op", shipped_names())
def test_pages_are_whole_and_need_nothing(op: str) -> None:
    operator = load_operator(op)
    page = operator_page(OperatorFacts(operator))
    check_safe(page, inline=("style",))
    check_structure(page)
    assert len(page.encode()) < 1_000_000
    assert "<math" in page
    text = Page(page).text
    said = [operator.data["summary"], *operator.tensors, *operator.spelled, *operator.let]
    said += operator.require
    for option in operator.interpretations:
        said += [option.name, option.adopted, option.answer, option.why]
    for erratum in operator.errata:
        said += [erratum.id, erratum.text, erratum.holds, erratum.why]
    assert [words for words in said if " ".join(words.split()) not in text] == []


@pytest.mark.parametrize("op", shipped_names())
def test_links_lead_to_places_of_the_page_or_on_the_web(op: str) -> None:
    page = Page(operator_page(OperatorFacts(load_operator(op))))
    places = {f"#{attributes['id']}" for _, attributes in page.elements if "id" in attributes}
    for attributes in page.all("a"):
        target = attributes["href"]
        assert target in places or target.startswith(("https://", "./index.html"))


def test_the_index_leads_to_each_page() -> None:
    page = index_page([OperatorFacts(load_operator(op)) for op in shipped_names()])
    check_safe(page, inline=("style",))
    check_structure(page)
    assert {f"./{op}.html" for op in shipped_names()} <= {a["href"] for a in Page(page).all("a")}


def test_a_page_says_all_of_a_file() -> None:
    text = Page(operator_page(own())).text
    assert [word for word in TEXTS if word not in text] == []
    assert "Then X[k, i] in define.Y.value is X[k, i] + 1" in text


def hostile() -> OperatorFacts:
    """An operator with markup in each place where a file may have any text."""
    text = OWN
    for word in TEXTS:
        text = re.sub(rf" {word}\b", f' "{HOSTILE}"', text)
    return own(text)


def test_hostile_text_is_text() -> None:
    for page in (operator_page(hostile()), index_page([hostile()])):
        check_safe(page, inline=("style",))
        assert HOSTILE in Page(page).text
        assert 'href="javascript' not in page


def test_hostile_text_cannot_command_a_terminal() -> None:
    facts = own(OWN.replace("QUESTION", '"\\e[31mred\\u202e {{ 7 * 7 }}"'))
    lines = list(operator_text(facts, SECTIONS, 80))
    assert all(line.isprintable() for line in lines)
    assert any("\\x1b[31mred" in line for line in lines)
    page = operator_page(facts)
    check_safe(page, inline=("style",))
    assert "{{ 7 * 7 }}" in Page(page).text


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://example.org/a?b=c&d=e#f", True),
        ("http://example.org", True),
        ("HTTPS://example.org", False),
        ("javascript:alert(1)", False),
        ("data:text/html,<script>", False),
        ("//example.org", False),
        ("https:///path", False),
        (" https://example.org", False),
        ("https://[", True),
        ('https://a/"><script>', True),
        ("https://a/\u202eb\x00", True),
    ],
)
def test_only_web_addresses_become_links(url: str, linked: bool) -> None:
    shown = str(link(url, "a text"))
    assert shown.isprintable()
    assert ("<a " in shown) == linked
    assert "<script" not in shown
    assert shown.count('"') in (0, 4)
