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
from conformance.run.arranged import arranged
from conformance.run.executor import Executor
from conformance.safe_text import number_of
from conformance.spec.model import OpSpec

TIMES = 2


class Repeated(Executor):
    """An executor whose every call is made :data:`TIMES` times.

    The outcome is the first one that is wrong, if there is one. ``unsteady`` counts vectors whose
    outcomes differ in some bit though all are right. ``specs`` are the specifications of the suite.
    """

    as_specified = True  # outcomes are judged here, so they are converted here

    def __init__(
        self,
        inner: Executor,
        specs: Mapping[str, OpSpec],
        level: str,
        precision: Mapping[str, str],
    ) -> None:
        self._inner = inner
        self._specs, self._level, self._precision = specs, level, precision
        self._asked: list[Vector] = []
        self.unsteady = 0

    @property
    def remark(self) -> str:
        """What a verdict has to say of repeats; empty if nothing."""
        if not self.unsteady:
            return ""
        return (
            f"Repeats: {number_of(self.unsteady, 'vector')} gave other bits in a second call, "
            "all within bounds."
        )

    def __enter__(self) -> Self:
        self._inner.waiting = lambda: self.waiting()
        self._inner.__enter__()
        self.identity = self._inner.identity
        self.ahead = self._inner.ahead // TIMES
        self._asking = arranged(self._inner, self._specs)
        self._asking.probes = lambda: self.probes()
        return self

    def close(self) -> None:
        self._inner.close()

    def submit(self, vector: Vector) -> None:
        self._asked.append(vector)
        for _ in range(TIMES):
            self._asking.submit(vector)

    def take(self) -> Outcome:
        outcomes = [self._asking.take() for _ in range(TIMES)]
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

    def farewell(self) -> tuple[str, ...]:
        return self._inner.farewell()

    def settings(self) -> dict[str, Any]:
        return self._inner.settings()

    def _is_wrong(self, vector: Vector, outcome: Outcome) -> bool:
        verdict = judge(vector, outcome, level=self._level, precision=self._precision)
        return verdict.status in FAILED
