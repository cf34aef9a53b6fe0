"""The names that expressions of a specification may use, and their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from conformance.errors import ExpressionError
from conformance.spec.expressions import Expression, compile_expression, reach
from conformance.spec.family import Family
from conformance.spec.kinds import Domain, Kind
from conformance.spec.model import OpSpec, Quantity
from conformance.spec.yaml_source import Path, Source


def kind_of(quantity: Quantity) -> Kind:
    """Return the kind of a quantity's value."""
    values = frozenset(quantity.values) if quantity.type == "enum" else None
    return Kind(quantity.type, per_axis=quantity.per_axis, values=values)


def base_scope(
    family: Family, types: Mapping[str, Iterable[str]], quantities: Mapping[str, Quantity]
) -> dict[str, Kind]:
    """Collect all names but definitions: the family's, types, attributes, dimensions, operands.

    A rule has the kind that the family declares, whatever this file makes of it, since a variant
    may replace it.
    """
    scope = {name: definition.kind for name, definition in family.names.items()}
    scope.update({name: Kind("enum", values=frozenset(dtypes)) for name, dtypes in types.items()})
    scope.update({key: kind_of(quantity) for key, quantity in quantities.items()})
    scope.update({name: rule.kind for name, rule in family.rules.items()})
    return scope


def scope_of(spec: OpSpec) -> dict[str, Kind]:
    """Collect all names that an expression about ``spec`` may use, definitions included."""
    return dict(_scope_of(spec))


@lru_cache(maxsize=64)
def _scope_of(spec: OpSpec) -> Mapping[str, Kind]:
    # Each of the hundreds of mutants of an operator asks for it.
    defined = {name: expression.kind for name, expression in spec.definitions.items()}
    return defined | base_scope(spec.kin, spec.types, spec.quantities)


def case_scope(scope: Mapping[str, Kind]) -> dict[str, Kind]:
    """Collect the names that do not depend on windows."""
    return {name: kind for name, kind in scope.items() if kind.domain is Domain.CASE}


def compile_at(
    source: Source,
    path: Path,
    raw: Any,
    scope: Mapping[str, Kind],
    want: Kind | None = None,
    *,
    repeat: bool = False,
) -> Expression | None:
    """Compile the expression at ``path``; note a problem and return None if it is invalid.

    What speaks of something broken is not judged, and None as well. For ``want`` and ``repeat``
    see :func:`~conformance.spec.expressions.compile_expression`.
    """
    text = str(raw)
    if _words(text) & source.broken:
        return None
    try:
        return compile_expression(text, scope, want=want, repeat=repeat)
    except ExpressionError as error:
        source.problem(
            path, error.message, expected=error.expected, hint=error.hint, offset=error.offset
        )
        return None


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))


MAX_CHAIN = 50
"""How many definitions may build on each other, one on the next."""


class Definition(NamedTuple):
    """The text and position of a definition; for a rule also the kind required."""

    path: Path
    raw: Any
    want: Kind | None = None


class Definitions:
    """The definitions of a file, each compiled after those that it uses.

    ``compiled`` holds those that are sound, ``scope`` the kinds of all names. What is not sound
    is noted once, where it is.
    """

    def __init__(
        self, source: Source, scope: Mapping[str, Kind], texts: Mapping[str, Definition]
    ) -> None:
        self.source = source
        self.scope = dict(scope)
        self.texts = texts
        self.compiled: dict[str, Expression] = {}
        self._active: list[str] = []
        for name in texts:
            self._define(name)

    def _define(self, name: str) -> None:
        if name in self.compiled or name in self.source.broken:
            return
        path, raw, want = self.texts[name]
        if name in self._active:
            circle = self._active[self._active.index(name) :]
            message = f"'{name}' is defined by itself: {' -> '.join([*circle, name])}"
            self.source.problem(path, message)
            self.source.broken.update(circle)
            return
        if len(self._active) == MAX_CHAIN:
            message = f"more than {MAX_CHAIN} definitions build on each other"
            self.source.problem(path, message)
            self.source.broken.update((name, *self._active))
            return
        self._active.append(name)
        for other in sorted(_words(str(raw)) & self.texts.keys()):
            expected_kind = self.texts[other].want
            # The name of a rule that is an enum may also be a member of another: 'ties'.
            if expected_kind is None or expected_kind.type != "enum":
                self._define(other)
        self._active.pop()
        expression = compile_at(self.source, path, raw, self.scope, want, repeat=True)
        if expression is None:
            self.source.broken.add(name)
        elif name not in self.source.broken:
            self.compiled[name] = expression
            self.scope.setdefault(name, expression.kind)

    def reach(
        self, expression: Expression, replaced: Mapping[str, Expression] | None = None
    ) -> frozenset[str]:
        """Collect all names that an expression depends on, directly or not.

        ``replaced`` are definitions that stand in place of the file's own.
        """
        definitions = {**self.compiled, **(replaced or {})}
        return reach(
            expression.names, {name: definition.names for name, definition in definitions.items()}
        )
