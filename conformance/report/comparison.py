"""Two runs side by side: what is fixed, what is broken, and in what the runs themselves differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.errors import LogError
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result, Status
from conformance.report.circumstances import circumstances
from conformance.suite.vector_ids import current


class Turn(StrEnum):
    """What became of a vector from one run to the other; ``SAME`` where nothing is to be told."""

    BROKEN = "broken"
    LOST = "passed, now unsupported"
    FAILING = "still failing"
    CHANGED = "still failing, in another way"
    WITHDRAWN = "failed, now unsupported"
    FIXED = "fixed"
    SUPPORTED = "newly supported, and passes"
    WRONG = "newly supported, and fails"
    PRECISION = "passes with another precision or reading"
    ADDED = "asked in the new run only"
    REMOVED = "asked in the old run only"
    SAME = "same"


WORSE = (Turn.BROKEN, Turn.LOST)
"""What makes a new run worse than the old one."""

ORDER = (
    *(*WORSE, Turn.WRONG, Turn.CHANGED, Turn.FAILING),
    *(Turn.WITHDRAWN, Turn.FIXED, Turn.SUPPORTED, Turn.PRECISION, Turn.ADDED, Turn.REMOVED),
)
"""What is told, worst first."""


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
class Difference:
    """A fact that a result may depend on and that differs; None where a run does not have it."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Comparison:
    """Two whole runs. ``changes`` has one entry a vector, ordered by operator and id."""

    old: RunLog
    new: RunLog
    changes: tuple[Change, ...]
    differences: tuple[Difference, ...]

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

    A vector that a run skipped counts as not asked; one that had another id before is the same.
    Raises :class:`LogError` where the runs have
    no vector in common, and where they are of different shards, or of one and of a whole run: what
    is missing in a part would look as if it had not been asked.
    """
    _check_parts(old, new)
    before, after = _asked(old), _asked(new)
    changes = []
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        changes.append(Change(_turn(was, now), was, now))
    comparison = Comparison(old, new, tuple(changes), tuple(_differences(old, new)))
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
    told = [f"of shard {part[0][:20]!a}" if part[0] else "of a whole run" for part in (was, now)]
    apart = "" if was[0] != now[0] else ", of another suite or selection"
    raise LogError(
        f"the old log is {told[0]} and the new one {told[1]}{apart}",
        hint="join the shards of each run with conformance merge first, and compare the wholes",
    )


def _part(run: RunLog) -> tuple[Any, ...]:
    """Which shard a run is of, or None, and what it is a part of."""
    asked = run.header["options"]
    suite = run.header["suite"]["digest"]
    return asked.get("shard"), suite, asked["ops"], asked["only"]


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
    """What a run asked, by operator and the id that the vector has now."""
    return {(r.op, current(r.id)): r for r in run.results if r.status is not Status.SKIPPED}


def _turn(old: Result | None, new: Result | None) -> Turn:
    if old is None:
        return Turn.ADDED
    if new is None:
        return Turn.REMOVED
    was, now = _rough(old), _rough(new)
    if was != now:
        return _TURNS[was, now]
    if was == FAILS:
        return Turn.FAILING if _way(old) == _way(new) else Turn.CHANGED
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
    """How a vector fails. Addresses differ from run to run."""
    message = re.sub(r"0x[0-9a-fA-F]+", "0x", result.message)
    return result.status, result.kind, message, result.precision


def _how(result: Result) -> tuple[Any, ...]:
    return result.precision, result.reading


def _differences(old: RunLog, new: RunLog) -> Iterator[Difference]:
    before, after = circumstances(old), circumstances(new)
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield Difference(name, before.get(name), after.get(name))
