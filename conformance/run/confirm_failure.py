"""Calls a backend a second time on a vector that failed: chance is no bug of a kernel's rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from conformance.grade.outcome import Outcome
from conformance.model import Result, Status, Vector
from conformance.run.check_vector import VectorChecker
from conformance.run.interruption import Stopped
from conformance.run.pipeline import Pipeline

CONFIRMED = 20
"""Failures of an operator that are the same twice, after which no more of it are called again."""

PASSED_THEN = "the second of 2 calls on the same inputs passed"


def confirmed_results(
    checker: VectorChecker, pipeline: Pipeline, vectors: Iterable[Vector]
) -> Iterator[Result]:
    """Yield the final result of each vector, in order.

    Raises :class:`Stopped` where somebody asks to stop; during a second call that is after the
    result of the first, which is known all the same.
    """
    confirmed: Counter[str] = Counter()
    stopped: Stopped | None = None
    for vector, seen in pipeline.run(vectors):
        result = seen if isinstance(seen, Result) else checker.grade(vector, seen)
        if isinstance(seen, Outcome) and pipeline.repeat == 1 and is_in_doubt(result, confirmed):
            try:
                if checker.grade(vector, pipeline.confirm(vector)).status is Status.PASS:
                    result = checker.grade(vector, replace(seen, unsteady=PASSED_THEN))
                else:
                    confirmed[result.op] += 1
            except Stopped as error:
                stopped = error
        del vector, seen  # the next ones are read before these would be replaced
        yield result
        if stopped is not None:
            raise stopped


def is_in_doubt(result: Result, confirmed: Counter[str]) -> bool:
    """Return whether outputs are wrong, but perhaps not in every call."""
    is_wrong = result.status is Status.FAIL and result.reject is None
    return is_wrong and confirmed[result.op] < CONFIRMED
