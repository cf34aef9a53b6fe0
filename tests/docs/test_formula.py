"""Expressions as people write them: the same meaning, and every name still there."""

# ruff: noqa: RUF001 - mathematical signs are meant

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.docs.formula import Branch, branches, readable
from conformance.spec.loader import shipped_specs

TEXTS = sorted({e.text for spec in shipped_specs().values() for e in spec.definitions.values()})
TEXTS += sorted({edge.when.text for spec in shipped_specs().values() for edge in spec.edges})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("span // strides + 1", "⌊span / strides⌋ + 1"),
        ("(a + b) // (c * d)", "⌊(a + b) / (c × d)⌋"),
        ("ceil_div(a + 1, b) - 1", "⌈(a + 1) / b⌉ − 1"),
        ("a - (b - c)", "a − (b − c)"),
        ("(a - b) - c", "a − b − c"),
        ("a * (b + c) % d", "a × (b + c) mod d"),
        ("a * -b", "a × −b"),
        ("-(a + b)", "−(a + b)"),
        ("not (a or b) and c", "not (a or b) and c"),
        ("a and (b or c)", "a and (b or c)"),
        ("not a == b", "not a = b"),
        ("0 <= at < size", "0 ≤ at < size"),
        ("(a < b) == (c < d)", "(a < b) = (c < d)"),
        ("auto_pad in [same_upper, valid] and b", "auto_pad in {same_upper, valid} and b"),
        ("auto_pad not in [valid]", "auto_pad not in {valid}"),
        ("abs(a - b) >= 2", "|a − b| ≥ 2"),
        ("1 + where(a != b, c, d)", "1 + (c if a ≠ b, else d)"),
        ("max(0, min(a, b) - c)", "max(0, min(a, b) − c)"),
        ("true", "true"),
    ],
)
def test_notation(text: str, shown: str) -> None:
    assert readable(text) == shown


def test_the_outermost_choice_is_told_case_by_case() -> None:
    text = "where(p == x, a + 1, where(q, where(r, b, c), (d)))"
    assert branches(text) == (
        Branch("a + 1", "p == x"),
        Branch("where(r, b, c)", "q"),
        Branch("d"),
    )
    assert branches("a + where(p, b, c)") == (Branch("a + where(p, b, c)"),)


def words(text: str) -> list[str]:
    ignored = {"where", "ceil_div", "abs", "if", "else", "mod"}
    return sorted(word for word in re.findall(r"\w+", text) if word not in ignored)


def by_branches(text: str) -> str:
    return " ".join(f"{branch.value} {branch.condition}" for branch in branches(text))


def test_no_name_or_number_is_lost() -> None:
    assert [text for text in TEXTS if words(readable(text)) != words(text)] == []
    assert [text for text in TEXTS if words(by_branches(text)) != words(text)] == []


def sums() -> st.SearchStrategy[str]:
    numbers = st.sampled_from(["2", "3", "5", "7"])
    return st.recursive(
        numbers,
        lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*%"), inner),
        max_leaves=12,
    )


def value(text: str) -> int | None:
    """What whole numbers in Python's notation come to; None for a division by zero."""
    operations = {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.Mod: lambda a, b: a % b,
    }

    def of(node: ast.expr) -> int:
        if isinstance(node, ast.BinOp):
            return operations[type(node.op)](of(node.left), of(node.right))
        assert isinstance(node, ast.Constant)
        return node.value

    try:
        return of(ast.parse(text, mode="eval").body)
    except ZeroDivisionError:
        return None


@given(sums())
def test_brackets_that_are_left_out_change_no_value(text: str) -> None:
    shown = readable(text).replace("−", "-").replace("×", "*").replace("mod", "%")
    assert value(shown) == value(text)
    assert len(shown) <= len(text)
