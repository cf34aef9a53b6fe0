"""Expressions and definitions as mathematics, in Unicode and in MathML."""

# ruff: noqa: RUF001 - mathematical signs are meant

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from core_operators import operator

from conformance.core.formula import FORMS, Formula, definition_lines, formula
from conformance.core.functions import FUNCTIONS
from conformance.core.loader import load_operator, shipped_names
from conformance.core.operator import Operator
from conformance.core.parser import parse
from conformance.core.tree import Kind, Node

NAMES = {
    **dict.fromkeys("abcd", Kind("int")),
    "p": Kind("bool"),
    "q": Kind("bool"),
    "size": Kind("int", "axis"),
    "pads": Kind("list", holds="int"),
    "mode": Kind("word", words=frozenset({"same", "valid"})),
    "X": Kind("tensor", holds="real"),
    "B": Kind("tensor", holds="real"),
}
SHAPES = {"X": [None, None], "B": []}


def parsed(text: str) -> Node:
    return parse(text, NAMES, frozenset({"same", "valid"}), SHAPES)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(a + b) // (c * d)", "⌊(a + b) / (c × d)⌋"),
        ("ceil_div(a + 1, b) - 1", "⌈(a + 1) / b⌉ − 1"),
        ("a - (b - c)", "a − (b − c)"),
        ("(a - b) - c", "a − b − c"),
        ("a / b / c", "a / b / c"),
        ("a / (b / c)", "a / (b / c)"),
        ("a * (b / c)", "a × (b / c)"),
        ("a * -b", "a × −b"),
        ("-(a + b)", "−(a + b)"),
        ("(a + b) ** 2", "(a + b)^2"),
        ("a % b == 0 and not (p or q)", "a mod b = 0 and not (p or q)"),
        ("a >= b", "b ≤ a"),
        ("a in pads", "a ∈ pads"),
        ("mode in [same, valid]", "mode = same or mode = valid"),
        ("entry(pads, a) + 0.5", "pads[a] + 0.5"),
        ("1 + where(p, a, where(q, b, c))", "1 + (a if p; b if q; else c)"),
        ("max(0, min(a, b))", "max(0, min(a, b))"),
        ("min(size)", "min(size)"),
        ("floor(a / b) + ceil(a / b) + abs(a - b)", "⌊a / b⌋ + ⌈a / b⌉ + |a − b|"),
        ("X[a, b + 1]", "X[a, b + 1]"),
        ("has(B) and rank_of(X) == 2", "B is given and rank of X = 2"),
        ("true", "true"),
    ],
)
def test_notation(text: str, shown: str) -> None:
    assert formula(parsed(text)).text == shown


def test_an_element_on_a_page() -> None:
    assert formula(parsed("sqrt(X[a, b] / 2)")).page() == (
        '<math displaystyle="true"><msqrt>'
        "<mfrac><mrow><mi>X</mi><mo>[</mo><mrow><mi>a</mi><mo>,</mo><mi>b</mi></mrow>"
        "<mo>]</mo></mrow><mn>2</mn></mfrac></msqrt></math>"
    )


def lines(op: Operator, name: str) -> list[str]:
    return [line.text for line in definition_lines(op.define[name])]


def test_a_convolution() -> None:
    assert lines(load_operator("Convolution-1"), "Y") == [
        "Y[n, m, i] = ∑(c, k) X[n, c, x] × W[m, c, k]",
        "with x = i × strides + k × dilations − pad_begin",
        "for 0 ≤ n < N, 0 ≤ m < M, 0 ≤ i < out per axis",
        "for 0 ≤ c < C, 0 ≤ k < kernel per axis",
        "without the terms that read outside of a tensor",
    ]


def test_a_mean_with_padding() -> None:
    assert lines(operator("AveragePool"), "Y") == [
        "Y[n, c, i] = (∑(k) X[n, c, x]) / number of terms",
        "with x = i × strides + k × dilations − pad_begin",
        "for 0 ≤ n < N, 0 ≤ c < C, 0 ≤ i < out per axis",
        "for 0 ≤ k < kernel per axis",
        "over the terms where all((x < size + pad_end if count_include_pad; "
        "else 0 ≤ x and x < size))",
        "where a read outside of a tensor gives 0",
        "with any value where number of terms = 0",
    ]


def test_an_index_that_is_chosen() -> None:
    assert lines(operator("ArgMax"), "last")[:2] == [
        "k = last arg max(k) X[(k if reduced; else i)]",
        "last[i] = sum(k)",
    ]


def everything() -> list[Operator]:
    files = sorted((Path(__file__).parent / "operators").glob("*.yaml"))
    return [*map(load_operator, shipped_names()), *(operator(file.stem) for file in files)]


@pytest.mark.parametrize("op", everything(), ids=lambda op: op.op)
def test_pages_hold_sound_mathematics_with_every_name(op: Operator) -> None:
    for definition in op.define.values():
        shown = list(definition_lines(definition))
        for line in shown:
            ElementTree.fromstring(line.formula.page())
        text = " ".join(line.text for line in shown)
        assert [name for name in definition.names - {"total", "terms"} if name not in text] == []
    trees = [*op.let.values(), *op.require.values()]
    assert all(ElementTree.fromstring(formula(tree).page()).tag == "math" for tree in trees)


def test_forms_are_of_functions() -> None:
    assert FORMS.keys() <= FUNCTIONS.keys()
    signs = {name for name, row in FUNCTIONS.items() if row.symbol}
    assert signs <= FORMS.keys()


def test_names_are_no_markup() -> None:
    hostile = Node("name", (), Kind("int"), 0, "<b>&")
    assert formula(hostile) == Formula("<b>&", "<mi>&lt;b&gt;&amp;</mi>")
