"""Searches for the smallest case that fails with the same cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from conformance.model import Case, Result, Vector

MAX_CALLS = 300
"""Calls of the backend for one failure."""

SECONDS = 20.0
"""Seconds for one failure."""

SHARE = 0.1
"""Share of the time of a search that one failure may take."""

Run = Callable[[Case], tuple[Vector, Result] | None]
Same = Callable[[Vector, Result], bool]
MayFail = Callable[[list[Case]], list[Case]]
Remake = Callable[[Case], Case | None]
Simplify = Callable[[Case], list[Case]]


@dataclass(frozen=True)
class Minimal:
    """The smallest failing case, and the number of calls that the search took."""

    vector: Vector
    result: Result
    calls: int


def minimise(
    simplify: Simplify,
    start: tuple[Vector, Result],
    *,
    run: Run,
    same: Same,
    may_fail: MayFail,
    seconds: float = SECONDS,
    origin: Case | None = None,
    remake: Remake = lambda case: case,
) -> Minimal:
    """Search the smallest case that fails for the same reason.

    Args:
        simplify: returns the cases that are one step simpler, simplest first.
        run: runs a case, if it can.
        same: returns whether a failure has the cause.
        may_fail: leaves out cases that cannot have the cause.
        seconds: the time for the search, at most.
        origin: the valid case of a negative test, which is simplified in its place.
        remake: makes the negative test of a valid case.
    """
    best, (vector, result) = origin or start[0].case, start
    tried = {best.id}
    calls, start_time = 0, monotonic()
    while True:
        for case in may_fail([simpler for simpler in simplify(best) if simpler.id not in tried]):
            if calls >= MAX_CALLS or monotonic() - start_time > seconds:
                return Minimal(vector, result, calls)
            tried.add(case.id)
            test = remake(case)
            if test is None:
                continue
            calls += 1
            failure = run(test)
            if failure is not None and same(*failure):
                best, (vector, result) = case, failure
                break
        else:
            return Minimal(vector, result, calls)
