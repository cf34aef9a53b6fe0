"""The names that the expressions of one specification may speak of, and their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.errors import ExpressionError
from conformance.spec.expressions import Expression, compile_expression
from conformance.spec.families import Family
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import Quantity
from conformance.spec.source import Path, Source


def kind_of(quantity: Quantity) -> Kind:
    """The kind of a quantity's value."""
    values = frozenset(quantity.values) if quantity.type == "enum" else None
    return Kind(quantity.type, per_axis=quantity.per_axis, values=values)


def base_scope(
    family: Family, types: Mapping[str, Any], quantities: Mapping[str, Quantity]
) -> dict[str, Kind]:
    """Everything but definitions: the family's names, types, attributes, dimensions, operands."""
    scope = dict(family.names)
    scope.update({name: Kind("enum", values=frozenset(dtypes)) for name, dtypes in types.items()})
    scope.update({key: kind_of(quantity) for key, quantity in quantities.items()})
    scope.update({name: rule.kind for name, rule in family.rules.items() if rule.kind.values})
    return scope


def case_scope(scope: Mapping[str, Kind]) -> dict[str, Kind]:
    """The names that do not depend on windows."""
    return {name: kind for name, kind in scope.items() if kind.domain is Domain.CASE}


class Definitions(dict[str, Kind]):
    """A scope whose definitions are compiled when another one first speaks of them.

    ``compiled`` holds those that are sound; a problem is noted once, where it is.
    """

    def __init__(
        self, source: Source, scope: Mapping[str, Kind], texts: Mapping[str, tuple[Path, Any]]
    ) -> None:
        super().__init__(scope)
        self.source = source
        self.texts = texts
        self.compiled: dict[str, Expression] = {}
        self._active: list[str] = []
        self._failed: set[str] = set()

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        if name in self.texts:
            self.define(str(name))
        return super().__contains__(name)

    def define(self, name: str) -> None:
        """Compile the definition ``name`` and all that it speaks of."""
        if name in self.compiled or name in self._failed:
            return
        path, text = self.texts[name]
        if name in self._active:
            circle = " -> ".join([*self._active[self._active.index(name) :], name])
            self._failed.add(name)
            self.source.problem(path, f"'{name}' is defined by itself: {circle}")
            self[name] = Kind("int")
            return
        self._active.append(name)
        expression = compile_at(self.source, path, text, self)
        self._active.pop()
        if expression is None:
            self._failed.add(name)
            # Others may go on speaking of it; one mistake is one problem.
            self.setdefault(name, Kind("int"))
        elif name not in self._failed:
            self.compiled[name] = expression
            # An enum rule keeps its own kind: all its members, not the one chosen here.
            self.setdefault(name, expression.kind)

    def reach(self, expression: Expression) -> frozenset[str]:
        """All names that an expression depends on, directly or not."""
        found: set[str] = set()
        waiting = list(expression.names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                if name in self.compiled:
                    waiting += self.compiled[name].names
        return frozenset(found)


def compile_at(
    source: Source, path: Path, text: Any, scope: Mapping[str, Kind]
) -> Expression | None:
    """The expression written at ``path``; notes a problem and gives None where it is not sound."""
    try:
        return compile_expression(text_of(text), scope)
    except ExpressionError as error:
        source.problem(
            path, error.message, expected=error.expected, hint=error.hint, offset=error.offset
        )
        return None


def text_of(value: Any) -> str:
    """An expression as text; YAML may have read it as a number or a truth value."""
    return str(value)
