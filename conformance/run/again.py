"""Calls a backend a second time on a vector that failed: chance is no bug of a kernel's rules."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace

from conformance.grade.outcome import Outcome
from conformance.model import Result, Status, Vector
from conformance.run.executor import Executor

CONFIRMED = 20
"""Failures of an operator that are the same twice, after which no more of it are called again."""

PASSED_THEN = "the second of 2 calls on the same inputs passed"


class Again(Executor):
    """The executor ``inner``, within its context, with a call out of turn."""

    def __init__(self, inner: Executor) -> None:
        self.identity, self.ahead = inner.identity, inner.ahead
        self._inner = inner
        self._under_way = 0
        self._early: deque[Outcome] = deque()
        self._confirmed: Counter[str] = Counter()

    def close(self) -> None:
        self._inner.close()

    def submit(self, vector: Vector) -> None:
        self._under_way += 1
        self._inner.submit(vector)

    def take(self) -> Outcome:
        if self._early:
            return self._early.popleft()
        self._under_way -= 1
        return self._inner.take()

    def wanted(self, verdict: Result) -> bool:
        """Whether outputs are wrong, and it is open whether they always are."""
        wrong = verdict.status is Status.FAIL and verdict.reject is None
        return wrong and self._confirmed[verdict.op] < CONFIRMED

    def again(self, vector: Vector) -> Outcome:
        """The outcome of another call on a vector whose outcome was just taken.

        Those that are under way end before it, and are taken later.
        """
        self._inner.submit(vector)
        while self._under_way:
            self._under_way -= 1
            self._early.append(self._inner.take())
        return self._inner.take()

    def settled(self, first: Outcome, then: Result) -> Outcome:
        """What the first call came to, given the verdict of the second."""
        if then.status is Status.PASS:
            return replace(first, unsteady=PASSED_THEN)
        self._confirmed[then.op] += 1
        return first
