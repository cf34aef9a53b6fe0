"""What a vendor requires to be supported: a gate must notice when support is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.grade.selector import (
    CaseOf,
    Listed,
    Selector,
    rank_of,
    read_selector,
    some,
    unknown,
)
from conformance.model import Result, Status
from conformance.spec.source import Source

UNDECLARED = "undeclared-unsupported"
"""The kind of an error that is a backend's Unsupported where its declaration promised support."""


@dataclass(frozen=True)
class Requirements:
    """The entries of a file, in its order. ``file`` is its path as it was given."""

    file: str
    entries: tuple[Selector, ...]


@dataclass
class Met:
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
        """What the entry names and the run did not ask: vectors, types together with ranks."""
        yield from sorted(self.entry.vectors - self.asked)
        for dtype in self.entry.dtypes or (None,):
            for rank in self.entry.ranks or (None,):
                if (dtype, rank) not in self.combinations:
                    ranked = None if rank is None else f"rank {rank}"
                    yield " of ".join(filter(None, (dtype, ranked))) or str(self.entry)


class Inspection:
    """Sees whether the results of a run meet what is required. ``vectors`` are all of the suite."""

    def __init__(self, required: Requirements, vectors: Sequence[Listed], case_of: CaseOf) -> None:
        self._vectors, self._case_of = vectors, case_of
        self.met = [Met(entry) for entry in required.entries]

    def take(self, result: Result) -> None:
        """Count one result; a vector that was not asked at the run's level counts for nothing."""
        if result.status is Status.SKIPPED:
            return
        lost = result.status is Status.UNSUPPORTED or result.kind == UNDECLARED
        for met in self.met:
            if not met.entry.matches(result, self._case_of):
                continue
            met.asked.add(result.id)
            rank = rank_of(self._case_of(result.id)) if met.entry.ranks else None
            met.combinations.add((result.dtype if met.entry.dtypes else None, rank))
            if lost:
                met.unsupported.append(result.id)
                met.reasons[result.message or "no reason given"] += 1

    def summary(self, *, interrupted: bool) -> list[dict[str, Any]]:
        """Each entry with what it met, as JSON data; ``problems`` say in what it is not met."""
        return [
            {
                "entry": met.entry.place,
                "about": str(met.entry),
                "asked": len(met.asked),
                "unsupported": met.unsupported,
                "problems": list(self._problems(met, interrupted)),
            }
            for met in self.met
        ]

    def _problems(self, met: Met, interrupted: bool) -> Iterable[str]:
        if met.unsupported:
            most = [f"{reason} ({count})" for reason, count in met.reasons.most_common()]
            yield f"{len(met.unsupported)} of {len(met.asked)} vectors unsupported: {some(most)}"
        missing = unknown(met.entry, self._vectors)
        if missing:
            yield f"matches nothing: the suite has {missing}"
        elif not interrupted:
            absent = list(met.absent())
            if absent:
                yield f"matches nothing: this run asks no vector of {some(absent)}"


def read_required(source: Source, file: str) -> Requirements:
    """The requirements that a sound source holds; notes in it what else is wrong."""
    entries = []
    for i, raw in enumerate(source.data["require"]):
        path = ("require", i)
        line, _ = source.where(path)
        entries.append(read_selector(source, path, raw, f"{file}:{line}"))
    return Requirements(source.file, tuple(entries))
