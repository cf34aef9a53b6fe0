"""Requirements: what a vendor requires to be supported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.failure_kind import FailureKind
from conformance.grade.selector import (
    CaseOf,
    Selector,
    VectorFacts,
    first_few,
    parse_selector,
    rank_of,
    unknown_name,
)
from conformance.model import Result, Status
from conformance.spec.model import OpSpec
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
    asked: set[str] = field(default_factory=set)
    combinations: set[tuple[str | None, int | None]] = field(default_factory=set)
    unsupported: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def absent(self) -> Iterator[str]:
        """What the entry names and the run did not test: vectors, types together with ranks."""
        yield from sorted(self.entry.vectors - self.asked)
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
        """Count one result; a vector that was not tested at the run's level counts for nothing."""
        if result.status is Status.SKIPPED:
            return
        lost = result.status is Status.UNSUPPORTED or result.kind == FailureKind.UNDECLARED
        for met in self.met:
            if not met.entry.matches(result, self._case_of):
                continue
            met.asked.add(result.id)
            rank = rank_of(self._case_of(result.id)) if met.entry.ranks else None
            met.combinations.add((result.dtype if met.entry.dtypes else None, rank))
            if lost:
                met.unsupported.append(result.id)
                met.reasons[result.message or "no reason given"] += 1

    def summary(self, *, whole: bool) -> list[dict[str, Any]]:
        """Each entry with what it met, as JSON data with the :func:`problems` that it has."""
        said = [self._facts(met) for met in self.met]
        return [{**facts, "problems": requirement_problems(facts, whole=whole)} for facts in said]

    def _facts(self, met: RequirementUse) -> dict[str, Any]:
        return {
            "entry": met.entry.place,
            "about": str(met.entry),
            "asked": len(met.asked),
            "unsupported": met.unsupported,
            "reasons": dict(met.reasons.most_common(MAX_REASONS)),
            "absent": list(met.absent()),
            "missing": unknown_name(met.entry, self._vectors),
        }


def requirement_problems(facts: Mapping[str, Any], *, whole: bool) -> list[str]:
    """In what an entry is not met, from what it met in a run.

    A run that is not ``whole``, interrupted or one of several, cannot tell what it lacks.
    """
    found = []
    if facts["unsupported"]:
        why = first_few([f"{reason} ({count})" for reason, count in facts["reasons"].items()])
        found.append(f"{len(facts['unsupported'])} of {facts['asked']} vectors unsupported: {why}")
    if facts["missing"]:
        found.append(f"matches nothing: the suite has {facts['missing']}")
    elif whole and facts["absent"]:
        found.append(f"matches nothing: this run has no vector of {first_few(facts['absent'])}")
    return found


def merge_requirements(parts: Sequence[Mapping[str, Any]], *, whole: bool) -> dict[str, Any]:
    """One entry of a run that was made in parts, from what it met in each of them."""
    reasons: Counter[str] = Counter()
    for part in parts:
        reasons.update(part["reasons"])
    facts = {
        **parts[0],
        "asked": sum(part["asked"] for part in parts),
        "unsupported": [vector for part in parts for vector in part["unsupported"]],
        "reasons": dict(reasons.most_common(MAX_REASONS)),
        "absent": [name for name in parts[0]["absent"] if all(name in p["absent"] for p in parts)],
    }
    return {**facts, "problems": requirement_problems(facts, whole=whole)}


def parse_requirements(source: Source, file: str, specs: Mapping[str, OpSpec]) -> Requirements:
    """The requirements that a sound source holds; notes in it what else is wrong."""
    entries = []
    for i, raw in enumerate(source.data["require"]):
        path = ("require", i)
        line, _ = source.where(path)
        entries.append(parse_selector(source, path, raw, f"{file}:{line}", specs))
    return Requirements(source.file, tuple(entries))
