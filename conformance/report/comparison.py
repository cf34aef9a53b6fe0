"""Compares two runs: what is fixed, what is broken, and how the runs themselves differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.errors import LogError
from conformance.exception_text import without_numbers
from conformance.failure_kind import FailureKind
from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result, Status
from conformance.report.differences import Row, differences, labels

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
        turn = _cause_turn(gone, there, before, after)
        found.append(CauseChange(turn, name, shown.title, len(gone), len(there)))
    order = list(CauseTurn)
    return tuple(sorted(found, key=lambda one: (order.index(one.turn), -max(one.old, one.new))))


def identity(cause: Cause) -> str:
    """The id of a cause, whether its failures are known or not."""
    return cause.id.removeprefix("known-")


def _shown(run: RunLog, common: set[Vector]) -> dict[str, tuple[Cause, set[Vector]]]:
    found: dict[str, tuple[Cause, set[Vector]]] = {}
    for cause in run.causes:
        first, others = found.get(identity(cause), (cause, set()))
        found[identity(cause)] = first, others | (cause.vectors & common)
    return found


def _cause_turn(
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


class Turn(StrEnum):
    """What became of a vector from one run to the other; ``SAME`` where nothing is to be told."""

    BROKEN = "broken"
    LOST = "passed, now unsupported"
    FAILING = "still failing"
    CHANGED = "still failing, in a different way"
    WITHDRAWN = "failed, now unsupported"
    FIXED = "fixed"
    SUPPORTED = "newly supported, and passes"
    WRONG = "newly supported, and fails"
    PRECISION = "passes with another precision or interpretation"
    ADDED = "tested in the new run only"
    REMOVED = "tested in the old run only"
    SAME = "same"


WORSE = (Turn.BROKEN, Turn.LOST)
"""What makes a new run worse than the old one."""

ORDER = (
    *(*WORSE, Turn.WRONG, Turn.CHANGED, Turn.FAILING),
    *(Turn.WITHDRAWN, Turn.FIXED, Turn.SUPPORTED, Turn.PRECISION, Turn.ADDED, Turn.REMOVED),
)
"""What is told, worst first."""


SIDES: Mapping[Turn, str] = {
    Turn.BROKEN: "fails in {other} only",
    Turn.LOST: "passes in {one}, unsupported in {other}",
    Turn.FAILING: "fails in both",
    Turn.CHANGED: "fails in both, in different ways",
    Turn.WITHDRAWN: "fails in {one}, unsupported in {other}",
    Turn.FIXED: "fails in {one} only",
    Turn.SUPPORTED: "passes in {other}, unsupported in {one}",
    Turn.WRONG: "fails in {other}, unsupported in {one}",
    Turn.PRECISION: "passes in both with another precision or interpretation",
    Turn.ADDED: "tested in {other} only",
    Turn.REMOVED: "tested in {one} only",
}
"""The same of two backends, of which none is the newer one."""

CAUSE_SIDES: Mapping[CauseTurn, str] = {
    CauseTurn.NEW: "in {other} only",
    CauseTurn.STILL: "in both",
    CauseTurn.OTHERWISE: "where the other fails otherwise",
    CauseTurn.WITHDRAWN: "in {one}, unsupported in {other}",
    CauseTurn.FIXED: "in {one} only",
}
"""The same of causes."""


@dataclass(frozen=True)
class Change:
    """One vector in both runs; None where a run did not ask it."""

    turn: Turn
    old: Result | None
    new: Result | None

    @property
    def shown(self) -> Result:
        """The result that tells of it: the new one, if there is one."""
        result = self.new or self.old
        assert result is not None
        return result


@dataclass(frozen=True)
class Comparison:
    """Two whole runs. ``changes`` has one entry a vector, ordered by operator and id; ``causes``
    what became of each cause. ``labels`` tell the runs apart by what differs in their headers.
    """

    old: RunLog
    new: RunLog
    changes: tuple[Change, ...]
    differences: tuple[Row, ...]
    causes: tuple[CauseChange, ...]
    labels: tuple[str, str]

    @property
    def one_backend(self) -> bool:
        """Whether the runs are of one backend: then what differs has changed."""
        return self.old.start.backend.name == self.new.start.backend.name

    def said(self, turn: Turn | CauseTurn) -> str:
        """What became of vectors or causes, or how two backends differ in them."""
        if self.one_backend:
            return turn.value
        sides = CAUSE_SIDES[turn] if isinstance(turn, CauseTurn) else SIDES[turn]
        return sides.format(one=self.labels[0], other=self.labels[1])

    def told(self, turn: CauseTurn) -> tuple[CauseChange, ...]:
        """The causes of which that became."""
        return tuple(one for one in self.causes if one.turn is turn)

    def of(self, turn: Turn) -> tuple[Change, ...]:
        """The vectors of which that became."""
        return tuple(change for change in self.changes if change.turn is turn)

    @property
    def worse(self) -> bool:
        """Whether something that passed does not any more."""
        return any(change.turn in WORSE for change in self.changes)

    @property
    def common(self) -> int:
        """How many vectors both runs asked."""
        return sum(change.turn not in (Turn.ADDED, Turn.REMOVED) for change in self.changes)


def compare(old: RunLog, new: RunLog) -> Comparison:
    """Compare two whole runs, as :func:`conformance.log.reader.read_whole` gives them.

    A vector that a run skipped counts as not asked. Raises :class:`LogError` where the runs have
    no vector in common, and where they are of different shards, or of one and of a whole run: what
    is missing in a part would look as if it had not been asked.
    """
    _check_parts(old, new)
    before, after = _asked(old), _asked(new)
    causes = [_explained(run) for run in (old, new)]
    changes = []
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        same = key in causes[0] and causes[0][key] == causes[1].get(key)
        changes.append(Change(_turn(was, now, same), was, now))
    found = tuple(differences((old, new)))
    comparison = Comparison(
        old,
        new,
        tuple(changes),
        found,
        cause_changes(old, new, before, after),
        labels(old, new, found),
    )
    if not comparison.common:
        raise LogError(
            "the runs have no vector in common, so there is nothing to compare",
            hint="compare runs of the same suite and operators",
        )
    return comparison


def _check_parts(old: RunLog, new: RunLog) -> None:
    """Refuse two runs of which one is a part, unless the other is the same part of the same."""
    was, now = _part(old), _part(new)
    if was == now or (was[0] is None and now[0] is None):
        return
    told = [f"of shard {part[0][:20]!a}" if part[0] else "of a complete run" for part in (was, now)]
    apart = "" if was[0] != now[0] else ", of another suite or selection"
    raise LogError(
        f"the old log is {told[0]}, and the new one {told[1]}{apart}",
        hint="merge the shards of each run with conformance merge, then compare",
    )


def _part(run: RunLog) -> tuple[Any, ...]:
    """Which shard a run is of, or None, and what it is a part of."""
    options, suite = run.start.options, run.start.suite.digest
    return options.shard, suite, options.ops, options.only, options.dtypes, options.ranks


def words(change: Change) -> Iterator[str]:
    """What became of a vector, in a few words."""
    result = change.shown
    yield f"{result.op} {result.id}:"
    if change.turn is Turn.PRECISION and change.old and change.new:
        for name in ("precision", "reading"):
            old, new = getattr(change.old, name), getattr(change.new, name)
            if old != new:
                yield f"{name} {old or 'none'} -> {new or 'none'}"
    elif change.turn is Turn.CHANGED and change.old:
        yield f"{change.old.kind}, {change.old.message} -> {result.kind}, {result.message}"
    else:
        yield result.message or result.status.value


def _asked(run: RunLog) -> dict[tuple[str, str], Result]:
    """What a run asked, by operator and id."""
    return {(r.op, r.id): r for r in run.results if r.status is not Status.SKIPPED}


def _explained(run: RunLog) -> dict[tuple[str, str], str]:
    """The cause of each failure that has one, by operator and id."""
    return {
        vector: identity(cause)
        for cause in run.causes
        if cause.explained
        for vector in cause.vectors
    }


def _turn(old: Result | None, new: Result | None, same_cause: bool) -> Turn:
    if old is None:
        return Turn.ADDED
    if new is None:
        return Turn.REMOVED
    was, now = _rough(old), _rough(new)
    if was != now:
        return _TURNS[was, now]
    if was == FAILS:
        same = (same_cause and old.kind == new.kind) or _way(old) == _way(new)
        return Turn.FAILING if same else Turn.CHANGED
    return Turn.SAME if _how(old) == _how(new) else Turn.PRECISION


PASSES, FAILS, UNSUPPORTED = "passes", "fails", "unsupported"

_TURNS = {
    (PASSES, FAILS): Turn.BROKEN,
    (PASSES, UNSUPPORTED): Turn.LOST,
    (FAILS, PASSES): Turn.FIXED,
    (FAILS, UNSUPPORTED): Turn.WITHDRAWN,
    (UNSUPPORTED, PASSES): Turn.SUPPORTED,
    (UNSUPPORTED, FAILS): Turn.WRONG,
}


def _rough(result: Result) -> str:
    if result.status in FAILED:
        return FAILS
    return PASSES if result.status is Status.PASS else UNSUPPORTED


def _way(result: Result) -> tuple[Any, ...]:
    """How a vector fails. Addresses differ from run to run, and an exception may be renamed."""
    message = (
        without_numbers(result.message) if result.kind == FailureKind.RAISED else result.message
    )
    return result.status, result.kind, message, result.precision


def _how(result: Result) -> tuple[Any, ...]:
    return result.precision, result.reading
