"""No two modules import each other, directly or in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "conformance"
LAZY = {"conformance"}
"""The package names its public functions for type checkers; at run time it loads them lazily."""


def module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path): path for path in PACKAGE.rglob("*.py")}


def imported(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports, wherever in it, but for types alone."""
    tree = ast.parse(path.read_text("utf-8"))
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    types = [one for one in conditions if "TYPE_CHECKING" in ast.dump(one.test)]
    skipped = {id(inner) for one in types for inner in ast.walk(one)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                yield inner if inner in MODULES else node.module


def graph() -> dict[str, set[str]]:
    return {
        name: {one for one in imported(path) if one in MODULES} - {name}
        for name, path in MODULES.items()
        if name not in LAZY
    }


def test_there_are_no_circles_between_files():
    found = graph()
    assert sum(map(len, found.values())) > 1000
    assert found["conformance.log.reader"] >= {"conformance.log.run_log", "conformance.errors"}
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(error.args[1])}")


def test_a_circle_is_found():
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"c"}, "c": {"a"}}).prepare()
