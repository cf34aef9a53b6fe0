"""Searches for the smallest case that fails with the same cause."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic

from conformance.fuzz.simpler import simpler
from conformance.model import Case, Result, Vector
from conformance.spec.model import OpSpec

CALLS = 300
"""Calls of the backend for one failure, at most."""

SECONDS = 20.0
"""Seconds for one failure, at most."""

SHARE = 0.1
"""Nor does one failure take more than this share of the time that a search has."""

Ask = Callable[[Case], tuple[Vector, Result] | None]
Same = Callable[[Vector, Result], bool]
May = Callable[[list[Case]], list[Case]]
Remake = Callable[[Case], Case | None]


@dataclass(frozen=True)
class Minimal:
    """The smallest case that was found, and how many calls of the backend that took."""

    vector: Vector
    result: Result
    calls: int


def minimised(
    spec: OpSpec,
    start: tuple[Vector, Result],
    ranks: Collection[int],
    *,
    ask: Ask,
    same: Same,
    may: May,
    seconds: float = SECONDS,
    origin: Case | None = None,
    remake: Remake = lambda case: case,
) -> Minimal:
    """The smallest case of some ranks on which the backend fails for the same reason.

    ``ask`` runs a case if it can, ``same`` says whether a failure has the cause, and ``may`` leaves
    out cases that cannot have it. A negative test is made by ``remake`` of the valid case
    ``origin``, which is what gets simpler.
    """
    best, (vector, result) = origin or start[0].case, start
    tried = {best.id}
    calls, begun = 0, monotonic()
    while True:
        for case in may([one for one in simpler(spec, best, ranks) if one.id not in tried]):
            if calls >= CALLS or monotonic() - begun > seconds:
                return Minimal(vector, result, calls)
            tried.add(case.id)
            made = remake(case)
            if made is None:
                continue
            calls += 1
            asked = ask(made)
            if asked is not None and same(*asked):
                best, (vector, result) = case, asked
                break
        else:
            return Minimal(vector, result, calls)
