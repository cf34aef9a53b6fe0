"""Code knows no operator: no name of one, of its attributes, nor of its tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from conformance.specification import find_spec, shipped_operators

PACKAGE = Path(__file__).resolve().parents[2] / "conformance"

ASK_OPERATORS = {"backends", "probe"}
"""Packages that build or ask particular operators."""

OF_OTHERS_TOO = {
    *(
        "axes",
        "axis",
        "condition",
        "data",
        "groups",
        "indices",
        "input",
        "kernel",
        "output",
        "result",
    ),
    *("high", "low", "max", "min", "reverse", "shape", "squeezed", "transposed"),
    *("upper", "values"),
}
"""Names that other things have too: a program is a kernel, indices are a kind of output."""


def of_operators() -> set[str]:
    """Names of the shipped operators, of their attributes, tensors and dimensions."""
    names: set[str] = set()
    for operator in map(find_spec, shipped_operators()):
        names |= {operator.op, *operator.attributes, *operator.tensors}
        names |= {output.name for output in operator.outputs}
    return {name for name in names if len(name) > 1} - OF_OTHERS_TOO


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings that are no docstrings."""
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


def test_only_backends_and_probes_know_operators() -> None:
    names = of_operators()
    seen = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if ASK_OPERATORS.isdisjoint(path.relative_to(PACKAGE).parts):
            for node in strings(ast.parse(path.read_text(encoding="utf-8"))):
                if node.value in names:
                    seen.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}")
    assert seen == []
