"""Compares two runs: vectors and causes that are fixed or broken, and the order they are listed in.

The terminal and the page show what this module gives.
"""

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
from conformance.report.differences import DifferenceRow, run_differences, run_labels

Vector = tuple[str, str]


class CauseChangeKind(StrEnum):
    """The change of a cause from an old run to a new one."""

    NEW = "new"
    STILL = "still there"
    OTHERWISE = "fails differently now"
    WITHDRAWN = "unsupported now"
    FIXED = "fixed"


@dataclass(frozen=True)
class CauseChange:
    """A cause with the number of its vectors in each run, of vectors that both runs tested."""

    kind: CauseChangeKind
    id: str
    title: str
    old: int
    new: int


def cause_changes(
    old: RunLog, new: RunLog, before: Mapping[Vector, Result], after: Mapping[Vector, Result]
) -> tuple[CauseChange, ...]:
    """Return the change of each cause of either run, new ones first.

    ``before`` and ``after`` are the results that were tested. A cause is fixed if all its vectors
    pass now: a vector that now fails for another cause, or under another name, is not fixed.
    """
    common = before.keys() & after.keys()
    old_causes, new_causes = _causes_by_id(old, common), _causes_by_id(new, common)
    changes = []
    for cause_id in dict.fromkeys([*new_causes, *old_causes]):
        old_title, old_vectors = old_causes.get(cause_id, ("", set()))
        new_title, new_vectors = new_causes.get(cause_id, ("", set()))
        if old_vectors or new_vectors:
            kind = _cause_change(old_vectors, new_vectors, before, after)
            title = new_title or old_title
            changes.append(CauseChange(kind, cause_id, title, len(old_vectors), len(new_vectors)))
    order = list(CauseChangeKind)
    return tuple(
        sorted(changes, key=lambda change: (order.index(change.kind), -max(change.old, change.new)))
    )


def cause_identity(cause: Cause) -> str:
    """Return the id of a cause, the same for known and new failures."""
    return cause.id.removeprefix("known-")


def _causes_by_id(run: RunLog, common: set[Vector]) -> dict[str, tuple[str, set[Vector]]]:
    """Return the title and the vectors of each cause, by its id."""
    causes: dict[str, tuple[str, set[Vector]]] = {}
    for cause in run.causes:
        title, vectors = causes.get(cause_identity(cause), (cause.title, set()))
        causes[cause_identity(cause)] = title, vectors | (cause.vectors & common)
    return causes


def _cause_change(
    old_vectors: set[Vector],
    new_vectors: set[Vector],
    before: Mapping[Vector, Result],
    after: Mapping[Vector, Result],
) -> CauseChangeKind:
    if old_vectors and new_vectors:
        return CauseChangeKind.STILL
    if new_vectors:
        failed = all(before[vector].status in FAILED for vector in new_vectors)
        return CauseChangeKind.OTHERWISE if failed else CauseChangeKind.NEW
    statuses = {after[vector].status for vector in old_vectors}
    if statuses == {Status.PASS}:
        return CauseChangeKind.FIXED
    return CauseChangeKind.OTHERWISE if statuses & set(FAILED) else CauseChangeKind.WITHDRAWN


class ChangeKind(StrEnum):
    """The change of a vector from an old run to a new one; ``SAME`` is not reported."""

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


WORSE = (ChangeKind.BROKEN, ChangeKind.LOST)
"""Changes that make a new run worse than the old one."""

ORDER = (
    *(*WORSE, ChangeKind.WRONG, ChangeKind.CHANGED, ChangeKind.FAILING),
    *(
        ChangeKind.WITHDRAWN,
        ChangeKind.FIXED,
        ChangeKind.SUPPORTED,
        ChangeKind.PRECISION,
        ChangeKind.ADDED,
        ChangeKind.REMOVED,
    ),
)
"""Reported changes, worst first."""

VECTOR_PHRASES: Mapping[ChangeKind, str] = {
    ChangeKind.BROKEN: "fails in {new} only",
    ChangeKind.LOST: "passes in {old}, unsupported in {new}",
    ChangeKind.FAILING: "fails in both",
    ChangeKind.CHANGED: "fails in both, in different ways",
    ChangeKind.WITHDRAWN: "fails in {old}, unsupported in {new}",
    ChangeKind.FIXED: "fails in {old} only",
    ChangeKind.SUPPORTED: "passes in {new}, unsupported in {old}",
    ChangeKind.WRONG: "fails in {new}, unsupported in {old}",
    ChangeKind.PRECISION: "passes in both with another precision or interpretation",
    ChangeKind.ADDED: "tested in {new} only",
    ChangeKind.REMOVED: "tested in {old} only",
}
"""Phrases for runs of two backends, of which neither is newer."""

CAUSE_PHRASES: Mapping[CauseChangeKind, str] = {
    CauseChangeKind.NEW: "in {new} only",
    CauseChangeKind.STILL: "in both",
    CauseChangeKind.OTHERWISE: "where the other fails otherwise",
    CauseChangeKind.WITHDRAWN: "in {old}, unsupported in {new}",
    CauseChangeKind.FIXED: "in {old} only",
}
"""Phrases for causes in runs of two backends."""


@dataclass(frozen=True)
class Change:
    """A vector in both runs; None if a run did not test it."""

    kind: ChangeKind
    old: Result | None
    new: Result | None

    @property
    def latest(self) -> Result:
        """The new result, or the old result if there is no new one."""
        result = self.new or self.old
        assert result is not None
        return result


@dataclass(frozen=True)
class Comparison:
    """Two complete runs, and what changed between them.

    Attributes:
        changes: one for each vector, ordered by operator and id.
        causes: the change of each cause.
        labels: distinguish the runs by a difference between their headers.
    """

    old: RunLog
    new: RunLog
    changes: tuple[Change, ...]
    differences: tuple[DifferenceRow, ...]
    causes: tuple[CauseChange, ...]
    labels: tuple[str, str]

    @property
    def is_one_backend(self) -> bool:
        """True if both runs are of the same backend, so that differences are changes."""
        return self.old.start.backend.name == self.new.start.backend.name

    def phrase(self, kind: ChangeKind | CauseChangeKind) -> str:
        """Return the words for a kind of change, or of difference between two backends."""
        if self.is_one_backend:
            return kind.value
        template = (
            CAUSE_PHRASES[kind] if isinstance(kind, CauseChangeKind) else VECTOR_PHRASES[kind]
        )
        return template.format(old=self.labels[0], new=self.labels[1])

    def causes_of(self, kind: CauseChangeKind) -> tuple[CauseChange, ...]:
        """Return the causes with this kind of change."""
        return tuple(cause for cause in self.causes if cause.kind is kind)

    def changes_of(self, kind: ChangeKind) -> tuple[Change, ...]:
        """Return the vectors with this kind of change."""
        return tuple(change for change in self.changes if change.kind is kind)

    @property
    def is_worse(self) -> bool:
        """True if a vector that passed in the old run does not pass in the new one."""
        return any(change.kind in WORSE for change in self.changes)

    @property
    def common_count(self) -> int:
        """The number of vectors that both runs tested."""
        return sum(
            change.kind not in (ChangeKind.ADDED, ChangeKind.REMOVED) for change in self.changes
        )


def compare_runs(old: RunLog, new: RunLog) -> Comparison:
    """Compare two complete runs, as :func:`conformance.log.reader.read_whole` gives them.

    A vector that a run skipped counts as not tested.

    Raises:
        LogError: the runs have no vector in common, or are of different shards, or of a shard and
            of a complete run: the vectors of other shards would look as if they were not tested.
    """
    _check_selections(old, new)
    before, after = _tested(old), _tested(new)
    old_causes, new_causes = _explained(old), _explained(new)
    changes = []
    for vector in sorted(before.keys() | after.keys()):
        old_result, new_result = before.get(vector), after.get(vector)
        same_cause = vector in old_causes and old_causes[vector] == new_causes.get(vector)
        kind = _change_kind(old_result, new_result, same_cause)
        changes.append(Change(kind, old_result, new_result))
    differences = tuple(run_differences((old, new)))
    comparison = Comparison(
        old,
        new,
        tuple(changes),
        differences,
        cause_changes(old, new, before, after),
        run_labels(old, new, differences),
    )
    if not comparison.common_count:
        raise LogError(
            "the runs have no vector in common, so there is nothing to compare",
            hint="compare runs of the same suite and operators",
        )
    return comparison


def _check_selections(old: RunLog, new: RunLog) -> None:
    """Refuse a shard, unless both runs are of the same shard of the same selection."""
    old_selection, new_selection = _selection(old), _selection(new)
    old_shard, new_shard = old_selection[0], new_selection[0]
    if old_selection == new_selection or (old_shard is None and new_shard is None):
        return
    suffix = "" if old_shard != new_shard else ", of another suite or selection"
    raise LogError(
        f"the old log is {_shard_text(old_shard)}, and the new one "
        f"{_shard_text(new_shard)}{suffix}",
        hint="merge the shards of each run with conformance merge, then compare",
    )


def _selection(run: RunLog) -> tuple[Any, ...]:
    """Return the shard of a run, or None, and the selection that it is a shard of."""
    options, suite = run.start.options, run.start.suite.digest
    return options.shard, suite, options.ops, options.only, options.dtypes, options.ranks


def _shard_text(shard: str | None) -> str:
    return f"of shard {shard[:20]!a}" if shard else "of a complete run"


def describe_change(change: Change) -> str:
    """Return a vector and its change, in a few words."""
    return " ".join(_change_words(change))


def _change_words(change: Change) -> Iterator[str]:
    result = change.latest
    yield f"{result.op} {result.id}:"
    if change.kind is ChangeKind.PRECISION and change.old and change.new:
        for name in ("precision", "reading"):
            old, new = getattr(change.old, name), getattr(change.new, name)
            if old != new:
                yield f"{name} {old or 'none'} -> {new or 'none'}"
    elif change.kind is ChangeKind.CHANGED and change.old:
        yield f"{change.old.kind}, {change.old.message} -> {result.kind}, {result.message}"
    else:
        yield result.message or result.status.value


def _tested(run: RunLog) -> dict[Vector, Result]:
    """Return the results of a run that were tested, by operator and id."""
    return {(r.op, r.id): r for r in run.results if r.status is not Status.SKIPPED}


def _explained(run: RunLog) -> dict[Vector, str]:
    """Return the cause of each failure that has a cause, by operator and id."""
    return {
        vector: cause_identity(cause)
        for cause in run.causes
        if cause.explained
        for vector in cause.vectors
    }


def _change_kind(old: Result | None, new: Result | None, same_cause: bool) -> ChangeKind:
    if old is None:
        return ChangeKind.ADDED
    if new is None:
        return ChangeKind.REMOVED
    old_outcome, new_outcome = _outcome(old), _outcome(new)
    if old_outcome != new_outcome:
        return _CHANGE_KINDS[old_outcome, new_outcome]
    if old_outcome == FAILS:
        same = (same_cause and old.kind == new.kind) or _failure(old) == _failure(new)
        return ChangeKind.FAILING if same else ChangeKind.CHANGED
    same = (old.precision, old.reading) == (new.precision, new.reading)
    return ChangeKind.SAME if same else ChangeKind.PRECISION


PASSES, FAILS, UNSUPPORTED = "passes", "fails", "unsupported"

_CHANGE_KINDS = {
    (PASSES, FAILS): ChangeKind.BROKEN,
    (PASSES, UNSUPPORTED): ChangeKind.LOST,
    (FAILS, PASSES): ChangeKind.FIXED,
    (FAILS, UNSUPPORTED): ChangeKind.WITHDRAWN,
    (UNSUPPORTED, PASSES): ChangeKind.SUPPORTED,
    (UNSUPPORTED, FAILS): ChangeKind.WRONG,
}


def _outcome(result: Result) -> str:
    if result.status in FAILED:
        return FAILS
    return PASSES if result.status is Status.PASS else UNSUPPORTED


def _failure(result: Result) -> tuple[Any, ...]:
    """Return how a vector fails.

    Addresses differ from run to run, and an exception may be renamed.
    """
    message = (
        without_numbers(result.message) if result.kind == FailureKind.RAISED else result.message
    )
    return result.status, result.kind, message, result.precision
