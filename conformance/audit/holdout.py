"""Hold-out experiment: does a suite kill mutants for which it was not selected?

One kind of mutants at a time is left out of the catalogue, a suite is selected without it, and the
mutants of that kind that this suite kills are counted. The pool is the core suite itself, of which
a cover is chosen anew, so a vector selected for mutants of that kind alone is dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from conformance.audit.score import MutationScore, kill_levels, kinds
from conformance.audit.set_cover import greedy_cover
from conformance.choices import SHIPPED_SUITES, SuiteName
from conformance.suite.entries import Entry


@dataclass(frozen=True)
class HeldOutScore:
    """Held-out mutants of one kind: how many of them a suite selected without them kills."""

    op: str
    suite: str
    kind: str
    vectors: int
    killed: int
    mutants: int
    missed: tuple[str, ...]


def hold_out(
    score: MutationScore, entries: Sequence[Entry], ranks: dict[str, int]
) -> list[HeldOutScore]:
    """Repeat the experiment for each kind of mutant of one operator, on both suites.

    ``entries`` are the value vectors of its core suite, ``ranks`` their ranks by id.
    """
    results = []
    for suite in SHIPPED_SUITES:
        for kind in kinds(score.counted):
            held = {mutant.id for mutant in score.counted if mutant.kind == kind}
            chosen = {entry.id for entry in _select(suite, score, entries, ranks, held)}
            remaining = score.without_vectors(
                entry.id for entry in entries if entry.id not in chosen
            )
            missed = tuple(sorted(name for name in held if not remaining.kill_counts[name]))
            results.append(
                HeldOutScore(
                    op=score.op,
                    suite=suite,
                    kind=kind,
                    vectors=len(chosen),
                    killed=len(held) - len(missed),
                    mutants=len(held),
                    missed=missed,
                )
            )
    return results


def _select(
    suite: str,
    score: MutationScore,
    entries: Sequence[Entry],
    ranks: dict[str, int],
    held: set[str],
) -> list[Entry]:
    """A cover of what a suite has its vectors for, without some mutants."""

    def shows(entry: Entry) -> Iterator[Hashable]:
        kills = (kill for kill in score.kills[entry.id] if kill.mutant not in held)
        yield from kill_levels(kills)
        if suite == SuiteName.SMOKE:
            yield from entry.edges
            return
        rank = ranks[entry.id]
        yield from ((rank, entry.dtype, target) for target in entry.edges)
        yield from ((rank, *pair) for pair in combinations(sorted(entry.edges), 2))

    return greedy_cover(entries, shows, lambda entry: entry.elements)
