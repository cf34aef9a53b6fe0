"""Changes of an operator's text: a mutant or an interpretation is another text in one place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Any

from conformance.core.evaluate import Evaluation
from conformance.core.operator import Definition, Operator, operator_of
from conformance.errors import ConformanceError, ExpressionError
from conformance.spec.syntax import parse_expression
from conformance.spec.yaml_source import Source

ORIGINAL = "original"
"""A name that stands for what was there."""

Change = Mapping[str, "str | Mapping[str, str]"]
"""By place, as ``define.Y.term``: another text, or other texts of parts of it."""


def changed(operator: Operator, change: Change) -> Operator:
    """Return an operator with another text in some places.

    Raises :class:`~conformance.errors.ExpressionError` where a place, or the part of its text that
    is to be replaced, does not exist, and SpecError where the result makes no sense.
    """
    data = copy.deepcopy(dict(operator.data))
    data.pop("interpretations", None)  # they are changes of the original text
    for path, new in change.items():
        *way, last = path.split(".")
        section: Any = data
        for key in way:
            section = section.get(key) if isinstance(section, dict) else None
        if not isinstance(section, dict):
            raise ExpressionError(f"{operator.op} has no '{path}'", lacks=path)
        old = _text(section.get(last, ORIGINAL))
        if isinstance(new, Mapping):
            for part, other in new.items():
                old = replaced(old, part, _text(other))
            section[last] = old
        else:
            section[last] = replaced(_text(new), ORIGINAL, old, needed=False)
    return operator_of(Source(operator.op, data))


def _text(expression: Any) -> str:
    """An expression as the language spells it, which YAML may have read as a value."""
    return str(expression).lower() if isinstance(expression, bool) else str(expression)


def replaced(text: str, part: str, other: str, *, needed: bool = True) -> str:
    """Return an expression with each sub-expression that is ``part`` replaced.

    Raises :class:`~conformance.errors.ExpressionError` where it is ``needed`` and has none.
    """
    swap = _Replacement(parse_expression(part), parse_expression(other))
    tree = swap.visit(copy.deepcopy(parse_expression(text)))
    if needed and not swap.count:
        raise ExpressionError(f"'{text}' has no '{part}'", lacks=part)
    return ast.unparse(tree)


class _Replacement(ast.NodeTransformer):
    def __init__(self, part: ast.expr, other: ast.expr) -> None:
        self.part = ast.dump(part)
        self.other = other
        self.count = 0

    def visit(self, node: ast.AST) -> Any:
        if ast.dump(node) == self.part:
            self.count += 1
            return self.other
        return self.generic_visit(node)


def unchanged(original: Evaluation, other: Evaluation) -> frozenset[str]:
    """Return the definitions of a changed operator that have the values of the original's.

    They mean the same, and whatever they speak of has the same value in this case.
    """
    same: set[str] = set()
    for name, definition in other.operator.define.items():
        before = original.operator.define.get(name)
        if before is None or not _alike(before, definition):
            continue
        if all(_is_same(used, original, other, same) for used in definition.names):
            same.add(name)
    return frozenset(same)


def _alike(a: Definition, b: Definition) -> bool:
    keys = [
        (d.combine, d.outside if isinstance(d.outside, str) else "", [*d.at], [*d.over])
        for d in (a, b)
    ]
    return keys[0] == keys[1] and [t.key for t in a.trees()] == [t.key for t in b.trees()]


def _is_same(name: str, original: Evaluation, other: Evaluation, same: set[str]) -> bool:
    if name in other.operator.define:
        return name in same
    if name in other.operator.tensors:
        return True
    values = []
    for evaluation in (original, other):
        try:
            values.append(evaluation.binding.value(name))
        except ConformanceError as error:
            # An index or an abbreviation of the definition has no value of the case's own.
            values.append(str(error))
    return bool(values[0] == values[1])
