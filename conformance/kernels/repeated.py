"""Asks each vector several times, and judges each answer by itself.

``--repeat`` of a check demands that all answers are the same, bit for bit. An honest kernel may sum
in the order in which its threads come, so here each answer need only be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from conformance.grade.judge import judge
from conformance.grade.outcome import LOST, Ending, Outcome
from conformance.grade.steadiness import together
from conformance.model import FAILED, Vector
from conformance.run.executor import Executor

TIMES = 2


class Repeated(Executor):
    """An executor whose every call is made :data:`TIMES` times.

    The outcome is the first one that is wrong, if there is one. ``unsteady`` counts vectors whose
    outcomes differ in some bit though all are right.
    """

    def __init__(self, inner: Executor, level: str, precision: Mapping[str, str]) -> None:
        self._inner = inner
        self._level, self._precision = level, precision
        self._asked: list[Vector] = []
        self.unsteady = 0

    def __enter__(self) -> Self:
        self._inner.waiting = lambda: self.waiting()
        self._inner.probes = lambda: self.probes()
        self._inner.__enter__()
        self.identity = self._inner.identity
        self.ahead = self._inner.ahead // TIMES
        return self

    def close(self) -> None:
        self._inner.close()

    def submit(self, vector: Vector) -> None:
        self._asked.append(vector)
        for _ in range(TIMES):
            self._inner.submit(vector)

    def take(self) -> Outcome:
        outcomes = [self._inner.take() for _ in range(TIMES)]
        vector = self._asked.pop(0)
        wrong = [number for number, one in enumerate(outcomes, 1) if self._is_wrong(vector, one)]
        if not wrong:
            self.unsteady += vector.case.reject is None and bool(together(outcomes).unsteady)
            return outcomes[0]
        first = outcomes[wrong[0] - 1]
        if len(wrong) == TIMES:
            return first
        told = f"in call {wrong[0]} of {TIMES} on the same inputs"
        if first.ending in LOST or first.ending is Ending.RAISED:
            return replace(first, message=f"{first.message}\n{told}")
        return replace(first, note=told)

    def allow(self, seconds: float) -> None:
        self._inner.allow(seconds)

    def settings(self) -> dict[str, Any]:
        return self._inner.settings()

    def _is_wrong(self, vector: Vector, outcome: Outcome) -> bool:
        verdict = judge(vector, outcome, level=self._level, precision=self._precision)
        return verdict.status in FAILED
