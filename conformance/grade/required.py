"""Requirements: what a vendor requires to be supported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.core.operator import Operator
from conformance.failure_kind import FailureKind
from conformance.grade.selector import (
    CaseOf,
    Selector,
    VectorFacts,
    first_few,
    parse_selector,
    unknown_name,
)
from conformance.model import Result, Status
from conformance.spec.yaml_source import Source

MAX_REASONS = 10
"""Reasons that are kept of an entry, the most frequent first."""


@dataclass(frozen=True)
class Requirements:
    """The entries of a file, in its order. ``file`` is its path as it was given."""

    file: str
    entries: tuple[Selector, ...]


@dataclass
class RequirementUse:
    """What one entry met in a run.

    ``combinations`` are the pairs of a type and a rank of its vectors, None where the entry gives
    no types or no ranks; ``reasons`` counts why vectors were unsupported.
    """

    entry: Selector
    tested: set[str] = field(default_factory=set)
    combinations: set[tuple[str | None, int | None]] = field(default_factory=set)
    unsupported: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def absent(self) -> Iterator[str]:
        """Yield what the entry names and the run did not test: vectors, types with ranks."""
        yield from sorted(self.entry.vectors - self.tested)
        for dtype in self.entry.dtypes or (None,):
            for rank in self.entry.ranks or (None,):
                if (dtype, rank) not in self.combinations:
                    ranked = None if rank is None else f"rank {rank}"
                    yield " of ".join(filter(None, (dtype, ranked))) or str(self.entry)


class RequirementCheck:
    """Sees whether the results of a run meet what is required. ``vectors`` are all of the suite."""

    def __init__(
        self, required: Requirements, vectors: Sequence[VectorFacts], case_of: CaseOf
    ) -> None:
        self._vectors, self._case_of = vectors, case_of
        self.met = [RequirementUse(entry) for entry in required.entries]

    def take(self, result: Result) -> None:
        """Count a result, unless the run's level left its vector out."""
        if result.status is Status.SKIPPED:
            return
        is_unsupported = (
            result.status is Status.UNSUPPORTED or result.kind == FailureKind.UNDECLARED
        )
        for use in self.met:
            if not use.entry.matches(result, self._case_of):
                continue
            use.tested.add(result.id)
            rank = self._case_of(result.id).rank if use.entry.ranks else None
            use.combinations.add((result.dtype if use.entry.dtypes else None, rank))
            if is_unsupported:
                use.unsupported.append(result.id)
                use.reasons[result.message or "no reason given"] += 1

    def summary(self, *, is_complete: bool) -> list[dict[str, Any]]:
        """Return each entry with its use and :func:`requirement_problems`, as JSON data."""
        uses = [self._facts(use) for use in self.met]
        return [
            {**facts, "problems": requirement_problems(facts, is_complete=is_complete)}
            for facts in uses
        ]

    def _facts(self, use: RequirementUse) -> dict[str, Any]:
        return {
            "entry": use.entry.location,
            "about": str(use.entry),
            "asked": len(use.tested),
            "unsupported": use.unsupported,
            "reasons": dict(use.reasons.most_common(MAX_REASONS)),
            "absent": list(use.absent()),
            "missing": unknown_name(use.entry, self._vectors),
        }


def requirement_problems(facts: Mapping[str, Any], *, is_complete: bool) -> list[str]:
    """Tell in what an entry is not met, by its use in a run.

    A run that is not complete, interrupted or a shard, cannot tell what it lacks.
    """
    problems = []
    if facts["unsupported"]:
        reasons = first_few([f"{reason} ({count})" for reason, count in facts["reasons"].items()])
        problems.append(
            f"{len(facts['unsupported'])} of {facts['asked']} vectors unsupported: {reasons}"
        )
    if facts["missing"]:
        problems.append(f"matches nothing: the suite has {facts['missing']}")
    elif is_complete and facts["absent"]:
        problems.append(f"matches nothing: this run has no vector of {first_few(facts['absent'])}")
    return problems


def merge_requirements(shares: Sequence[Mapping[str, Any]], *, is_complete: bool) -> dict[str, Any]:
    """Merge the uses of one entry in all shards of a run."""
    reasons: Counter[str] = Counter()
    for share in shares:
        reasons.update(share["reasons"])
    facts = {
        **shares[0],
        "asked": sum(share["asked"] for share in shares),
        "unsupported": [vector for share in shares for vector in share["unsupported"]],
        "reasons": dict(reasons.most_common(MAX_REASONS)),
        "absent": [
            name for name in shares[0]["absent"] if all(name in p["absent"] for p in shares)
        ],
    }
    return {**facts, "problems": requirement_problems(facts, is_complete=is_complete)}


def parse_requirements(source: Source, file: str, specs: Mapping[str, Operator]) -> Requirements:
    """Parse the requirements in a valid source; note there what else is wrong."""
    entries = []
    for i, raw in enumerate(source.data["require"]):
        path = ("require", i)
        line, _ = source.where(path)
        entries.append(parse_selector(source, path, raw, f"{file}:{line}", specs))
    return Requirements(source.file, tuple(entries))
