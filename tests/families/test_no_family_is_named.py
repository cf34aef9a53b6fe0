"""What is a family's own is nowhere else: its name, its dimensions, the shape of its data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "conformance"
FREE = ("families", "backends")
"""Folders that may take shapes apart: families, and adapters of frameworks that know operators."""

WINDOWED = (
    "probe/designed_cases.py", "diagnosis/numbers.py", "generate/large.py", "core/patterns.py",
)  # fmt: skip
"""Lays windows side by side, compares numbers of windows, draws images, fills their planes; of
operators of families that lack these they ask, compare and draw nothing."""

NAMES = {"pooling", "POOLING"}
TEXTS = {"N", "C", "size", "pooling", "on_data", "taps", "strides", "kernel_shape"}
"""The family, its dimensions, some of its rules and attributes."""

OTHERWISE = {
    "metavar": "N",  # a number, in a help text
    "order": "C",  # of the elements of an array
}
OF_LOGS = {("log/events.py", "size")}
"""A key of logs: how many elements a vector has."""

RANK = re.compile(r"rank|ndim|shape|axes|^index$")
TWO = {2}


def found_in(tree: ast.Module, where: str) -> Iterator[str]:
    """What a module should not know, with its line."""
    allowed = {
        id(one.value)
        for one in ast.walk(tree)
        if isinstance(one, ast.keyword)
        and isinstance(one.value, ast.Constant)
        and OTHERWISE.get(str(one.arg)) == one.value.value
    }
    for node in ast.walk(tree):
        what = ""
        match node:
            case ast.Constant(value=str(text)) if text in TEXTS and id(node) not in allowed:
                what = "" if (where, text) in OF_LOGS else repr(text)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                what = name if NAMES & set(name.split(".")) else ""
            case ast.ImportFrom(module=str(module)) if module.startswith("conformance.families"):
                what = module
            case ast.BinOp(left, ast.Sub() | ast.Add(), ast.Constant(value=2)):
                what = ast.unparse(node) if RANK.search(ast.unparse(left)) else ""
            case ast.Subscript(value, ast.Slice(lower, upper)) if TWO & {
                _number(lower),
                _number(upper),
            }:
                what = ast.unparse(node) if RANK.search(ast.unparse(value)) else ""
        if what:
            yield f"{where}:{getattr(node, 'lineno', 0)}: {what}"


def _number(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def test_nothing_outside_families_and_backends_knows_one() -> None:
    files = [
        one
        for one in PACKAGE.rglob("*.py")
        if one.relative_to(PACKAGE).parts[0] not in FREE
        and one.relative_to(PACKAGE).as_posix() not in WINDOWED
    ]
    assert len(files) > 250
    known = [
        line
        for path in files
        for line in found_in(
            ast.parse(path.read_text("utf-8")), path.relative_to(PACKAGE).as_posix()
        )
    ]
    assert known == []


@pytest.mark.parametrize(
    "text",
    [
        "axes = rank - 2",
        "axes = len(case.shapes[name]) - 2",
        "sizes = data.shape[2:]",
        "plane = output[index[:2]]",
        "batch = table.columns['N']",
        "planes = [columns[name] for name in ('N', 'C')]",
        "from conformance.families.pooling import oracle",
        "from conformance.reference import pooling",
    ],
)
def test_what_knows_one_is_found(text: str) -> None:
    assert list(found_in(ast.parse(text), "made.py"))
