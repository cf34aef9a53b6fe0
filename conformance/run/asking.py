"""The pipeline: sends vectors to the backend in order, a bounded number ahead of grading."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from conformance.grade.outcome import Ending, Outcome
from conformance.grade.steadiness import together
from conformance.model import Result, Vector
from conformance.run.executor import Executor


def answered(
    vectors: Iterable[Vector],
    executor: Executor,
    take: Callable[[], Outcome],
    *,
    unasked: Callable[[Vector], Result | None],
    valid_of: Callable[[Vector], Vector | None],
    repeat: int,
) -> Iterator[tuple[Vector, Result | Outcome]]:
    """Each vector in order, with its result where it need not be asked, else with its outcome.

    ``unasked`` gives the result of a vector that is not asked. The others are asked ``repeat``
    times each, and ``take`` waits for the next outcome of ``executor``. ``valid_of`` gives the
    valid vector that a negative test was made from; each is asked once, beside the first test.
    """
    waiting: deque[tuple[Vector, Result | None, Vector | None]] = deque()
    refusals: dict[str, str | None] = {}

    def first() -> tuple[Vector, Result | Outcome]:
        vector, result, valid = waiting.popleft()
        if result is not None:
            return vector, result
        outcome = together([take() for _ in range(repeat)])
        if valid is None:
            return vector, outcome
        if refusals[valid.id] is None:
            refusals[valid.id] = refusal(take())
        return vector, replace(outcome, refuses_valid=refusals[valid.id] or "")

    for vector in vectors:
        result = unasked(vector)
        valid = None if result is not None else valid_of(vector)
        waiting.append((vector, result, valid))
        if result is None:
            for _ in range(repeat):
                executor.submit(vector)
        if valid is not None and valid.id not in refusals:
            refusals[valid.id] = None
            executor.submit(valid)
        del vector, result, valid  # it is not kept in memory while the next one is read
        if len(waiting) > executor.ahead:
            yield first()
    while waiting:
        yield first()


def refusal(outcome: Outcome) -> str:
    """How a valid case was refused; empty where it was accepted."""
    if outcome.ending is Ending.RETURNED:
        return ""
    return outcome.message.partition("\n")[0] or outcome.ending.value
