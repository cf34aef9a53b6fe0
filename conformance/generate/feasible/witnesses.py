"""Cases that the solver found, tried: which edges they show with their first seed."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from conformance.errors import EvaluationError
from conformance.generate.feasible.answers import Limits
from conformance.generate.values import data_of
from conformance.model import Case
from conformance.reference import facts
from conformance.spec.environment import Environment
from conformance.spec.model import Edge, OpSpec
from conformance.spec.validity import violations

MOST_WORK = 1 << 20
"""Data times windows of what is tried: with large windows over large data, facts take seconds."""


class Witnesses:
    """Valid cases within limits, and the edges that they are seen to show."""

    def __init__(self, spec: OpSpec, limits: Limits) -> None:
        self.spec = spec
        self.limits = limits
        self._shown: dict[str, frozenset[str]] = {}
        self._found: list[tuple[int, Case, frozenset[str]]] = []

    def of(self, edges: Iterable[str]) -> Case | None:
        """The smallest case so far that shows all the edges."""
        wanted = frozenset(edges)
        fitting = [(size, case) for size, case, shown in self._found if wanted <= shown]
        return min(fitting, key=lambda one: one[0])[1] if fitting else None

    def shown(self, case: Case) -> frozenset[str]:
        """The edges that a case shows; none if it is not valid, or too large to try."""
        if case.id not in self._shown:
            self._shown[case.id] = self._try(case)
        return self._shown[case.id]

    def _try(self, case: Case) -> frozenset[str]:
        try:
            if violations(self.spec, case):
                return frozenset()
            shape = case.shapes[self.spec.data.name]
            # Facts about no data are those about one element on an empty axis.
            if prod(max(1, n) for n in shape) > self.limits.elements:
                return frozenset()
            env = facts(self.spec, case, data_of(self.spec, case))
            outputs = prod(shape[:2]) * prod(env.per_axis("out"))
        except EvaluationError:
            return frozenset()
        if outputs > self.limits.elements or prod(shape[2:]) * outputs > MOST_WORK:
            return frozenset()
        shown = frozenset(edge.name for edge in self.spec.edges if _holds(edge, env))
        self._found.append((prod(shape) + outputs, case, shown))
        return shown


def _holds(edge: Edge, env: Environment) -> bool:
    try:
        return bool(edge.when.evaluate(env))
    except EvaluationError:
        return False
