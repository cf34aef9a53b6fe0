"""Hold-out experiment: does a suite kill mutants for which it was not selected?

One kind of faults at a time is left out of the catalogue, a suite is selected without it, and it is
counted how many of its faults that suite notices all the same. The pool is the core suite itself,
of which a cover is taken anew, so a vector that is there for the faults of that kind alone goes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from conformance.audit.score import MutationScore, kill_levels, kinds
from conformance.audit.set_cover import greedy_cover
from conformance.suite.entries import Entry

SUITES = ("core", "smoke")


@dataclass(frozen=True)
class HeldOutScore:
    """Held-out mutants of one kind: how many of them a suite selected without them kills."""

    op: str
    suite: str
    kind: str
    vectors: int
    noticed: int
    faults: int
    missed: tuple[str, ...]


def hold_out(
    score: MutationScore, entries: Sequence[Entry], ranks: dict[str, int]
) -> list[HeldOutScore]:
    """Repeat the experiment for each kind of mutant of one operator, on both suites.

    ``entries`` are the value vectors of its core suite, ``ranks`` their ranks by id.
    """
    results = []
    for suite in SUITES:
        for kind in kinds(score.counted):
            held = {mutant.id for mutant in score.counted if mutant.kind == kind}
            chosen = {entry.id for entry in _select(suite, score, entries, ranks, held)}
            remaining = score.without(entry.id for entry in entries if entry.id not in chosen)
            missed = tuple(sorted(name for name in held if not remaining.noticed[name]))
            results.append(
                HeldOutScore(
                    op=score.op,
                    suite=suite,
                    kind=kind,
                    vectors=len(chosen),
                    noticed=len(held) - len(missed),
                    faults=len(held),
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
        kills = (kill for kill in score.kills[entry.id] if kill.fault not in held)
        yield from kill_levels(kills)
        if suite == "smoke":
            yield from entry.edges
            return
        rank = ranks[entry.id]
        yield from ((rank, entry.dtype, target) for target in entry.edges)
        yield from ((rank, *pair) for pair in combinations(sorted(entry.edges), 2))

    return greedy_cover(entries, shows, lambda entry: entry.elements)
