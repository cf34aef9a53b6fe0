"""Assembles the propositions for a set of coverage targets, and the windows in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from conformance.errors import UsageError
from conformance.feasible.backend import Truth
from conformance.feasible.knowledge import Labelled
from conformance.feasible.question import Question
from conformance.feasible.trace import ForAll, Trace
from conformance.feasible.values import Untranslatable


@dataclass(frozen=True)
class SymbolicTarget:
    """A coverage target in symbols: when it holds, and what translating it took."""

    name: str
    truth: Truth
    trace: Trace

    @property
    def label(self) -> str:
        return f"edge {self.name}"


class Assembly:
    """Puts together the conditions of coverage targets; each part is worked out once."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.knowledge = question.knowledge
        self._whens = {edge.name: edge.when for edge in question.spec.edges}
        self._edges: dict[str, SymbolicTarget] = {}
        self._instances: dict[tuple[ForAll, Any], tuple[Truth, Trace]] = {}
        self._facts: dict[tuple[Any, ...], list[Labelled]] = {}
        self._corners: tuple[Any, ...] | None = None

    def edge(self, name: str) -> SymbolicTarget:
        """A coverage target by name. Raises UsageError if the operator has none of this name."""
        if name not in self._whens:
            raise UsageError(f"{self.question.spec.op} has no coverage target '{name}'")
        if name not in self._edges:
            try:
                truth, trace = self.question.statement(self._whens[name])
            except Untranslatable:
                truth, trace = True, Trace()
            self._edges[name] = SymbolicTarget(name, truth, trace)
        return self._edges[name]

    def of(self, edges: Sequence[SymbolicTarget]) -> list[Labelled]:
        """What the edges say together, with what is true of the data of their windows.

        What is said of every window is asked of those that are named, and of the first and last.
        """
        labelled: list[Labelled] = [(edge.label, edge.truth) for edge in edges]
        windows: list[Any] = []
        for edge in edges:
            windows += (window for window in edge.trace.windows if window not in windows)
        foralls = [(edge.label, forall) for edge in edges for forall in edge.trace.foralls]
        if foralls:
            windows += self._ends()
        done = 0
        while done < len(foralls):
            label, forall = foralls[done]
            done += 1
            for window in windows:
                truth, trace = self._instance(forall, window)
                labelled += ((label, side) for side in (truth, *trace.side))
                foralls += ((label, one) for one in trace.foralls if (label, one) not in foralls)
        for window in windows:
            labelled += self._about(window)
        for pair in combinations(windows, 2):
            labelled += self._about(*pair)
        return [(label, truth) for label, truth in labelled if truth is not True]

    def _ends(self) -> tuple[Any, ...]:
        if self._corners is None:
            self._corners = self.knowledge.corners()
        return self._corners

    def _instance(self, forall: ForAll, window: Any) -> tuple[Truth, Trace]:
        key = (forall, window)
        if key not in self._instances:
            with self.question.translator.tracing() as trace:
                truth = self.question.logic.implies(forall.guard, forall.instance(window))
            self._instances[key] = truth, trace
        return self._instances[key]

    def _about(self, *windows: Any) -> list[Labelled]:
        if not all(window.facts for window in windows):
            return []
        if windows not in self._facts:
            about = self.knowledge.of_element if len(windows) == 1 else self.knowledge.of_pair
            self._facts[windows] = list(about(*windows))
        return self._facts[windows]
