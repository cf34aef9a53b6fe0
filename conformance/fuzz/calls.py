"""Runs cases on the backend and grades them as ``check`` does; the timeout follows its speed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from conformance.core.operator import Operator
from conformance.errors import ConformanceError
from conformance.failure_kind import FailureKind
from conformance.model import FAILED, GRADED, Case, Result, Status, Vector
from conformance.run.check_vector import VectorChecker
from conformance.run.executor import Executor
from conformance.specification import build, level_of

MIN_SECONDS = 1.0
"""Seconds that a call may always take."""

TIMES_SLOWEST = 20
"""How many times as long as the slowest call so far another may take."""

MIN_CALLS = 20
"""Calls after which the speed of a backend is known."""

PROBES = 5
"""Passed vectors that are kept, to distinguish a dead backend from one that fails often."""


class Calls:
    """The calls of a backend within its executor's context; ``timeout`` bounds each, in seconds."""

    def __init__(
        self,
        executor: Executor,
        specs: Mapping[str, Operator],
        level: str,
        precision: Mapping[str, str],
        timeout: float,
    ) -> None:
        self._executor, self._specs, self._timeout = executor, specs, timeout
        self._checker = VectorChecker(executor, specs, level, precision)
        self._slowest_seconds, self._call_count = 0.0, 0
        self._passed: deque[Vector] = deque(maxlen=PROBES)
        self._checker.pipeline().probe_with(lambda: tuple(self._passed))
        self.given_up = ""
        """The reason why the backend is not called any more."""

    def run_cases(
        self, cases: Iterable[Case], stop: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[Vector, Result]]:
        """Run cases and yield their results, in order, until ``stop`` returns True."""

        def vectors() -> Iterator[Vector]:
            for case in cases:
                if stop() or self.given_up:
                    return
                vector = self._vector_of(case)
                if vector is not None:
                    yield vector

        for vector, outcome in self._checker.pipeline().run(vectors()):
            if isinstance(outcome, Result):
                result = outcome
            else:
                result = self._checker.grade(vector, outcome)
                if result.status in FAILED and vector.answers:
                    # What is wrong by the specification's own answers may follow an interpretation.
                    vector = build(self._specs[vector.case.op], vector.case, vector.level)
                    result = self._checker.grade(vector, outcome)
            self._learn(vector, result)
            yield vector, result

    def run_case(self, case: Case, *, patiently: bool = False) -> tuple[Vector, Result] | None:
        """Run a case.

        Args:
            patiently: allow the full timeout.

        Returns:
            None if the case has no result.
        """
        if patiently:
            self._executor.allow(self._timeout)
        try:
            return next(self.run_cases([case]), None)
        finally:
            self._adapt_timeout()

    def _vector_of(self, case: Case) -> Vector | None:
        spec = self._specs[case.op]
        try:
            return build(spec, case, level_of(spec, case), interpretations=False)
        except ConformanceError:
            return None  # larger than what is evaluated

    def _learn(self, vector: Vector, result: Result) -> None:
        no_answer = result.kind in (FailureKind.HUNG, FailureKind.ABANDONED)
        if result.kind == FailureKind.ABANDONED:
            self.given_up = result.message
        if result.status is Status.PASS:
            self._passed.append(vector)
        if result.status in GRADED and not no_answer:
            self._call_count += 1
            self._slowest_seconds = max(self._slowest_seconds, result.seconds)
            if self._call_count % MIN_CALLS == 0:
                self._adapt_timeout()

    def _adapt_timeout(self) -> None:
        """Set the timeout that the calls so far suggest."""
        if self._call_count >= MIN_CALLS:
            seconds = max(MIN_SECONDS, TIMES_SLOWEST * self._slowest_seconds)
            self._executor.allow(min(self._timeout, seconds))
