"""Runs cases on the backend and judges them as ``check`` does; the timeout follows its speed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from conformance.errors import ConformanceError
from conformance.failure_kind import FailureKind
from conformance.model import FAILED, GRADED, Case, Result, Status, Vector
from conformance.reference.build import build
from conformance.run.check_vector import VectorChecker
from conformance.run.executor import Executor
from conformance.spec.model import OpSpec

LEAST = 1.0
"""Seconds that a call may always take."""

TIMES_SLOWEST = 20
"""How many times as long as the slowest answer so far a call may take."""

SURE = 20
"""Answers after which the speed of a backend is known."""

PROBES = 5
"""Vectors that passed and are kept, to tell a backend that is dead from one that fails often."""


class Calls:
    """The backend within its executor's context; ``timeout`` is the most that a call may take."""

    def __init__(
        self,
        executor: Executor,
        specs: Mapping[str, OpSpec],
        level: str,
        precision: Mapping[str, str],
        timeout: float,
    ) -> None:
        self._executor, self._specs, self._timeout = executor, specs, timeout
        self._checker = VectorChecker(executor, specs, level, precision)
        self._slowest, self._answers = 0.0, 0
        self._passed: deque[Vector] = deque(maxlen=PROBES)
        self._checker.pipeline().probe_with(lambda: tuple(self._passed))
        self.given_up = ""
        """Why the backend is not asked any more."""

    def several(
        self, cases: Iterable[Case], stop: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[Vector, Result]]:
        """The verdicts on some cases, in their order, until ``stop`` says so."""

        def vectors() -> Iterator[Vector]:
            for case in cases:
                if stop() or self.given_up:
                    return
                made = self._made(case)
                if made is not None:
                    yield made

        for vector, seen in self._checker.pipeline().run(vectors()):
            verdict = seen if isinstance(seen, Result) else self._checker.grade(vector, seen)
            if verdict.status in FAILED and vector.answers and not isinstance(seen, Result):
                # What is wrong by the specification's own answers may follow an interpretation.
                vector = build(self._specs[vector.case.op], vector.case, vector.level)
                verdict = self._checker.grade(vector, seen)
            self._learn(vector, verdict)
            yield vector, verdict

    def one(self, case: Case, *, patiently: bool = False) -> tuple[Vector, Result] | None:
        """The verdict on one case; None where none can be had. ``patiently`` it has all the time
        that a call may take."""
        if patiently:
            self._executor.allow(self._timeout)
        try:
            return next(self.several([case]), None)
        finally:
            self._follow()

    def _made(self, case: Case) -> Vector | None:
        spec = self._specs[case.op]
        level = "must"
        if case.reject is not None:
            level = next(one.level for one in spec.reject if one.name == case.reject)
        try:
            return build(spec, case, level, interpretations=False)
        except ConformanceError:
            return None  # larger than what is evaluated

    def _learn(self, vector: Vector, verdict: Result) -> None:
        no_answer = verdict.kind in (FailureKind.HUNG, FailureKind.ABANDONED)
        if verdict.kind == FailureKind.ABANDONED:
            self.given_up = verdict.message
        if verdict.status is Status.PASS:
            self._passed.append(vector)
        if verdict.status in GRADED and not no_answer:
            self._answers += 1
            self._slowest = max(self._slowest, verdict.seconds)
            if self._answers % SURE == 0:
                self._follow()

    def _follow(self) -> None:
        """Let a call take as long as the answers so far suggest."""
        if self._answers >= SURE:
            seconds = max(LEAST, TIMES_SLOWEST * self._slowest)
            self._executor.allow(min(self._timeout, seconds))
