"""Strength of a run, by partition, as a run log holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import Any

DEFAULT_MIN_STRENGTH = 95.0
"""Percent of the mutants that the vectors of each partition have to kill, unless a run sets it."""

_OF_TARGETS = ("covered", "targets")


class StrengthState(StrEnum):
    """How a strength is known: measured; a lower bound; or unknown."""

    MEASURED = "measured"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class PartitionStrength:
    """The strength of one operator in one element type and rank.

    ``killed`` of the ``mutants`` that can be killed there, at the level of the run, were killed by
    vectors that were graded and passed. ``profile`` is the restriction within which they are
    counted, empty for none. ``why`` says why the share is not measured, where it is not, and how
    many mutants were not seen to show. A
    partition in which few mutants can be killed is judged by coverage targets: ``covered`` of
    ``targets``; both are 0 elsewhere.
    """

    op: str
    dtype: str
    rank: int
    killed: int = 0
    mutants: int = 0
    state: StrengthState = StrengthState.UNKNOWN
    profile: str = ""
    why: str = ""
    covered: int = 0
    targets: int = 0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PartitionStrength:
        """Read what :meth:`to_json` returned, where a schema has checked ``data``."""
        names = [field.name for field in fields(cls)]
        values = {name: data[name] for name in names if name in data}
        return cls(**values | {"state": StrengthState(data["state"])})

    def to_json(self) -> dict[str, Any]:
        """Return JSON data for a run log, with targets only where they are judged."""
        data = asdict(self)
        return data if self.targets else {k: data[k] for k in data if k not in _OF_TARGETS}

    @property
    def done(self) -> int:
        """How many mutants were killed, or targets covered where these are judged."""
        return self.covered if self.targets else self.killed

    @property
    def of(self) -> int:
        """How many there are of what :attr:`done` counts."""
        return self.targets or self.mutants

    @property
    def counted(self) -> str:
        """What was killed or covered, in words."""
        unit = "coverage targets covered" if self.targets else "mutants killed"
        return f"{self.done} of {self.of} {unit}"

    def below(self, bar: float) -> bool:
        """Return whether it is surely weaker than ``bar`` percent."""
        return self.state is StrengthState.MEASURED and 100 * self.done < bar * self.of

    def reaches(self, bar: float) -> bool:
        """Return whether it surely has ``bar`` percent."""
        return self.state is not StrengthState.UNKNOWN and 100 * self.done >= bar * self.of

    @property
    def ratio(self) -> float:
        """The share killed or covered, 0 to 1; 1 where there is nothing to kill."""
        return self.done / self.of if self.of else 1.0

    @property
    def share(self) -> str:
        """The share in percent, rounded down so that no number reaches a bar that it misses."""
        if self.state is StrengthState.UNKNOWN:
            return StrengthState.UNKNOWN.value
        tenths = 1000 * self.done // self.of if self.of else 1000
        text = f"{tenths // 10} %" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10} %"
        return f"at least {text}" if self.state is StrengthState.AT_LEAST else text

    @property
    def part(self) -> str:
        """Element type, rank and profile in words."""
        profile = f", profile {self.profile}" if self.profile else ""
        return f"{self.dtype} of rank {self.rank}{profile}"


@dataclass(frozen=True)
class RunStrength:
    """The strength of a run in each partition that it claims; ``bar`` in percent (0: none)."""

    parts: tuple[PartitionStrength, ...] = ()
    bar: float = DEFAULT_MIN_STRENGTH

    def to_json(self) -> dict[str, Any]:
        """Return JSON data for a run log."""
        return {"bar": self.bar, "parts": [part.to_json() for part in self.parts]}

    @cached_property
    def known(self) -> tuple[PartitionStrength, ...]:
        """The partitions whose strength is measured, or surely enough."""
        enough = self.bar or DEFAULT_MIN_STRENGTH
        return tuple(
            part
            for part in self.parts
            if part.state is StrengthState.MEASURED or part.reaches(enough)
        )

    @cached_property
    def unknown(self) -> tuple[PartitionStrength, ...]:
        """The partitions whose strength is unknown."""
        known_ids = {id(part) for part in self.known}
        return tuple(part for part in self.parts if id(part) not in known_ids)

    @property
    def weakest(self) -> PartitionStrength | None:
        """The weakest partition of those whose strength is known."""
        return min(self.known, key=lambda part: part.ratio, default=None)

    @property
    def short(self) -> tuple[PartitionStrength, ...]:
        """The partitions that are below the bar."""
        return tuple(part for part in self.parts if part.below(self.bar))

    @property
    def measured(self) -> bool:
        """Whether the strength of all partitions is measured, in just what is claimed."""
        return bool(self.parts) and all(
            part.state is StrengthState.MEASURED and part.of > 0 for part in self.parts
        )

    @property
    def headline(self) -> str:
        """The strength of the weakest partition in a few words, and what is unknown."""
        if self.weakest is None:
            return "strength unknown"
        counts = f"{len(self.unknown)} of {len(self.parts)} parts"
        return f"strength {self.weakest.share}" + (f", unknown in {counts}" if self.unknown else "")
