"""Compares the causes of two runs, on vectors that both tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result, Status
from conformance.suite.vector_ids import current

Vector = tuple[str, str]


class CauseTurn(StrEnum):
    """What became of a cause."""

    NEW = "new"
    STILL = "still there"
    OTHERWISE = "fails differently now"
    WITHDRAWN = "unsupported now"
    FIXED = "fixed"


@dataclass(frozen=True)
class CauseChange:
    """A cause with how many vectors that both runs asked show it in each."""

    turn: CauseTurn
    id: str
    title: str
    old: int
    new: int


def cause_changes(
    old: RunLog, new: RunLog, before: Mapping[Vector, Result], after: Mapping[Vector, Result]
) -> tuple[CauseChange, ...]:
    """Each cause of one run or the other, new ones first; the results are those that were asked.

    A cause is fixed where every vector that showed it passes: one that now fails for another cause,
    or under another name of it, is not.
    """
    common = before.keys() & after.keys()
    was, now = _shown(old, common), _shown(new, common)
    found = []
    for name in dict.fromkeys([*now, *was]):
        (cause, there), (other, gone) = now.get(name, (None, set())), was.get(name, (None, set()))
        shown = cause or other
        if shown is None or not (there or gone):
            continue
        turn = _turn(gone, there, before, after)
        found.append(CauseChange(turn, name, shown.title, len(gone), len(there)))
    order = list(CauseTurn)
    return tuple(sorted(found, key=lambda one: (order.index(one.turn), -max(one.old, one.new))))


def identity(cause: Cause) -> str:
    """The id of a cause, whether its failures are known or not."""
    return cause.id.removeprefix("known-")


def _shown(run: RunLog, common: set[Vector]) -> dict[str, tuple[Cause, set[Vector]]]:
    found: dict[str, tuple[Cause, set[Vector]]] = {}
    for cause in run.causes:
        vectors = {(op, current(name)) for op, name in cause.vectors} & common
        first, others = found.get(identity(cause), (cause, set()))
        found[identity(cause)] = first, vectors | others
    return found


def _turn(
    gone: set[Vector],
    there: set[Vector],
    before: Mapping[Vector, Result],
    after: Mapping[Vector, Result],
) -> CauseTurn:
    if gone and there:
        return CauseTurn.STILL
    if there:
        failed = all(before[one].status in FAILED for one in there)
        return CauseTurn.OTHERWISE if failed else CauseTurn.NEW
    statuses = {after[one].status for one in gone}
    if statuses == {Status.PASS}:
        return CauseTurn.FIXED
    return CauseTurn.OTHERWISE if statuses & set(FAILED) else CauseTurn.WITHDRAWN
