"""Runs the audit of a suite in several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conformance import parallel
from conformance.audit.holdout import HeldOutScore, hold_out
from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import MutantStates, mutant_states
from conformance.audit.score import MutationScore
from conformance.grade.precision import match_patterns
from conformance.suite.entries import Entry
from conformance.suite.store import Suite
from conformance.suite.survivors import Partition
from conformance.suite.unreachable import Unreachable

CHUNK = 40
"""Vectors of one task: enough to be worth a process, few enough to share the work evenly."""


@dataclass(frozen=True)
class KillsTask:
    """A task: the kills of one operator's vectors in part of a suite."""

    suite: Suite
    op: str

    @property
    def label(self) -> str:
        return self.op

    def run(self) -> dict[str, tuple[Kill, ...]]:
        specs = self.suite.specs
        vectors = list(self.suite.vectors())
        all_kills = MutantRunner(specs[self.op], specs.faults(self.op)).all_kills(vectors)
        return {vector.id: kills for vector, kills in zip(vectors, all_kills, strict=True)}


def audit(
    suite: Suite,
    ops: Sequence[str],
    *,
    processes: int | parallel.Workers,
    progress: parallel.Progress,
) -> list[MutationScore]:
    """Measure the mutation score of a suite for each of the operators ``ops``.

    The suite has the specification of each.
    """
    work = [chunk for op in ops for chunk in _chunks(suite, op)]
    done = list(parallel.run(work, processes=processes, progress=progress, total=len(work)))
    scores = []
    for op in ops:
        kills_by_vector: dict[str, tuple[Kill, ...]] = {}
        for chunk, kills in zip(work, done, strict=True):
            if chunk.op == op:
                kills_by_vector |= kills
        scores.append(
            without_unkillable(suite, MutationScore(op, suite.specs.faults(op), kills_by_vector))
        )
    return scores


def without_unkillable(suite: Suite, score: MutationScore) -> MutationScore:
    """Leave out the survivors that, by the suite, no vector of any partition can kill.

    The numbers given when a suite is generated leave them out too.
    """
    unreachable = suite.manifest.strength.get(score.op)
    never = unreachable.parts.never_killed if unreachable is not None else frozenset()
    return score.without_mutants({name for name in never if not score.kill_counts[name]})


def suite_mutant_states(suite: Suite, score: MutationScore) -> list[MutantStates]:
    """Classify each mutant of an operator in every partition of it that a suite has.

    The score may be that of some of its vectors.
    """
    survivors = suite.manifest.strength.get(score.op, Unreachable()).parts.survivors
    cases = {
        entry.id: suite.read(entry).case
        for entry in suite.manifest.of([score.op])
        if entry.id in score.kills
    }
    partitions = {Partition(e.dtype, suite.rank_of(e)) for e in _value_entries(suite, score.op)}
    return mutant_states(score.mutants, partitions, cases, score.kills, survivors)


def select_operators(suite: Suite, ops: Sequence[str]) -> list[str]:
    """Return the operators to measure: those requested, some by a pattern, or all.

    Raises UsageError for one that the suite does not have.
    """
    return match_patterns(ops, suite.manifest.ops, "operator of this suite") or list(
        suite.manifest.ops
    )


def holdout(suite: Suite, score: MutationScore) -> list[HeldOutScore]:
    """Run the hold-out experiment on the vectors that a score was measured on."""
    entries = [entry for entry in suite.manifest.of([score.op]) if entry.id in score.kills]
    ranks = {entry.id: suite.read(entry).case.rank for entry in entries}
    return hold_out(score, entries, ranks)


def _chunks(suite: Suite, op: str) -> Iterator[KillsTask]:
    value_entries = _value_entries(suite, op)
    for first in range(0, len(value_entries), CHUNK):
        # Not opened again for each: to read the manifest takes as long as the audit of a chunk.
        listed = tuple(value_entries[first : first + CHUNK])
        yield KillsTask(Suite(suite.path, replace(suite.manifest, listed=listed, strength={})), op)


def _value_entries(suite: Suite, op: str) -> list[Entry]:
    """The vectors of an operator that an audit runs mutants on."""
    measured = (entry for entry in suite.manifest.of([op]) if not entry.is_large)
    return [entry for entry in measured if entry.reject is None]
