"""Strength of the evidence of a run: the mutation score of its passing vectors, by part.

A suite that kills every mutant proves little of a backend that is asked a tenth of it. So strength
is measured where it is claimed: for each operator, element type and rank, over the vectors that
were graded there and passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.backends.capabilities import Capabilities
from conformance.dtypes import DTYPES
from conformance.model import GRADED, Result, Status
from conformance.run.claim_text import UNTOLD
from conformance.safe_text import number_of
from conformance.strength import PartitionStrength, StrengthState
from conformance.suite.manifest import Manifest
from conformance.suite.survivors import Partition, Survivors, SurvivorTable

FEWEST = 20
"""Mutants below which their share says nothing, so that coverage targets judge."""


def measured(
    results: Iterable[Result],
    manifest: Manifest,
    *,
    level: str,
    declared: Capabilities | None,
) -> tuple[PartitionStrength, ...]:
    """Measure the strength of a run in each claimed partition, in the manifest's order.

    A partition is one operator, element type and rank. It is claimed if something was graded
    there, or if the backend ``declared`` it and the suite has no vectors for it; an operator
    without any graded vector is not claimed at all. Mutants that cannot show in a partition do not
    count.
    Where the backend left out vectors by predicates, a profile of the suite with the same
    predicates says which mutants can show; without such a profile the share of all is only what is
    proven at least. Mutants that no case was seen to kill do not count, and are stated. Where few
    mutants can show, the targets that the suite covers in the partition, and the declaration leaves
    in, are counted instead.

    Args:
        results: in the order of the manifest.
    """
    seen = _seen(results, manifest, level)
    graded = {op for (op, _, _), tally in seen.items() if tally.graded}
    return tuple(
        strength
        for op in manifest.ops
        if op in graded
        for dtype, rank in _parts(op, seen, manifest)
        if (strength := _one(op, Partition(dtype, rank), seen, manifest, level, declared))
        is not None
    )


@dataclass
class _Seen:
    """What became of the value vectors of a part."""

    graded: int = 0
    unsupported: int = 0
    killed: set[str] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)


_All = Mapping[tuple[str, str, int], _Seen]


def _seen(
    results: Iterable[Result], manifest: Manifest, level: str
) -> dict[tuple[str, str, int], _Seen]:
    tallies: dict[tuple[str, str, int], _Seen] = {}
    results = list(results)
    ops = {result.op for result in results}
    # Where nobody knows what can show, it does not matter what was killed.
    known = any(_known(op, manifest) for op in ops)
    listed = iter(manifest.of(ops) if known else ())
    for result in results:
        if result.reject is not None:
            continue
        at = (result.op, result.id)
        entry = next(entry for entry in listed if (entry.op, entry.id) == at) if known else None
        dtype = result.dtype if entry is None else entry.dtype
        part = tallies.setdefault((result.op, dtype, result.rank), _Seen())
        part.graded += result.status in GRADED
        part.unsupported += result.status is Status.UNSUPPORTED
        if entry is not None and result.status is not Status.UNSUPPORTED:
            part.targets |= {*entry.edges}
        if entry is not None and result.status is Status.PASS:
            part.covered |= {*entry.edges}
            part.killed |= {*entry.kills} - ({*entry.excused} if level == "must" else set())
    return tallies


def _parts(op: str, seen: _All, manifest: Manifest) -> Sequence[tuple[str, int]]:
    """The types and ranks that an operator has by the suite, or in the results."""
    tested = [(dtype, rank) for of, dtype, rank in seen if of == op]
    recorded = [(part.dtype, part.rank) for part in _known(op, manifest).survivors]
    order = {name: place for place, name in enumerate(DTYPES)}
    return sorted({*tested, *recorded}, key=lambda part: (order.get(part[0], len(order)), *part))


def _known(op: str, manifest: Manifest) -> SurvivorTable:
    return manifest.strength[op].parts if op in manifest.strength else SurvivorTable()


def _unseen(survivors: Survivors) -> str:
    """State the mutants that are not counted only because no case was seen to kill them."""
    counts = Counter(survivors.unseen.values())
    return "; ".join(f"{number_of(n, 'mutant')} {why}" for why, n in sorted(counts.items()))


def _one(
    op: str,
    part: Partition,
    seen: _All,
    manifest: Manifest,
    level: str,
    declared: Capabilities | None,
) -> PartitionStrength | None:
    """The strength of one part; None where nothing is claimed."""
    here = seen.get((op, part.dtype, part.rank), _Seen())
    if not here.graded and (
        here.unsupported or declared is None or not declared.declares(op, part.dtype, part.rank)
    ):
        return None
    known, why = _known(op, manifest), ""
    # A suite that was made for a backend leaves nothing of it out, and says only that.
    narrow = here.unsupported or part not in known.survivors
    if narrow and declared is not None and (left := declared.restrictions(op)):
        within = Partition(part.dtype, part.rank, known.profile_without(left))
        if within.profile and within in known.survivors:
            part = within
        else:
            why = f"{UNTOLD} within what the backend declares"
    if part not in known.survivors:
        return PartitionStrength(op, part.dtype, part.rank, why=UNTOLD)
    mutants = manifest.faults[op].keys() - known.survivors[part].unkillable(level)
    state = StrengthState.AT_LEAST if why else StrengthState.MEASURED
    killed, covered, targets = len(mutants & here.killed), 0, 0
    if len(mutants) < FEWEST:
        if why:
            state = StrengthState.UNKNOWN
        elif here.targets:
            why = f"fewer than {FEWEST} mutants can show, so coverage targets are counted"
            covered, targets = len(here.covered), len(here.targets)
    why = why or _unseen(known.survivors[part])
    strength = PartitionStrength(
        op, part.dtype, part.rank, killed, len(mutants), state, part.profile, why
    )
    return replace(strength, covered=covered, targets=targets)
