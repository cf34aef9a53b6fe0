"""Puts vectors to a backend in order, a bounded number of them ahead of the one judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from conformance.grade.outcome import Outcome
from conformance.grade.steadiness import together
from conformance.model import Result, Vector
from conformance.run.executor import Executor


def answered(
    vectors: Iterable[Vector],
    executor: Executor,
    take: Callable[[], Outcome],
    *,
    unasked: Callable[[Vector], Result | None],
    repeat: int,
) -> Iterator[tuple[Vector, Result | Outcome]]:
    """Each vector in order, with its result where it need not be asked, else with its outcome.

    ``unasked`` gives the result of a vector that is not asked. The others are asked ``repeat``
    times each, and ``take`` waits for the next outcome of ``executor``.
    """
    waiting: deque[tuple[Vector, Result | None]] = deque()

    def first() -> tuple[Vector, Result | Outcome]:
        vector, result = waiting.popleft()
        if result is not None:
            return vector, result
        return vector, together([take() for _ in range(repeat)])

    for vector in vectors:
        result = unasked(vector)
        waiting.append((vector, result))
        if result is None:
            for _ in range(repeat):
                executor.submit(vector)
        del vector, result  # it is not kept in memory while the next one is read
        if len(waiting) > executor.ahead:
            yield first()
    while waiting:
        yield first()
