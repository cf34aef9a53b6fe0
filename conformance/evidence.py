"""Strength of the evidence of a run, by part, as a run log holds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

BAR = 95.0
"""Percent of the mutants that the vectors of each part have to kill, if a run asks no other."""


_OF_TARGETS = ("covered", "targets")


class State(StrEnum):
    """What a share is: measured; at least that much; or unknown."""

    MEASURED = "measured"
    AT_LEAST = "at least"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Measured:
    """The strength of one operator in one element type and rank.

    ``killed`` of the ``mutants`` that could show there, at the level of the run, were killed by
    vectors that were graded and passed. ``profile`` is the restriction within which they are
    counted, empty for none. ``why`` says why the share is not measured, where it is not. A part in
    which few mutants can show is judged by coverage targets: ``covered`` of ``targets``; both are 0
    elsewhere.
    """

    op: str
    dtype: str
    rank: int
    killed: int = 0
    mutants: int = 0
    state: State = State.UNKNOWN
    profile: str = ""
    why: str = ""
    covered: int = 0
    targets: int = 0

    def to_json(self) -> dict[str, Any]:
        """As JSON data, for a run log; targets only where they judge."""
        data = asdict(self)
        return data if self.targets else {k: data[k] for k in data if k not in _OF_TARGETS}

    @property
    def done(self) -> int:
        """How many mutants were killed, or targets covered where these judge."""
        return self.covered if self.targets else self.killed

    @property
    def of(self) -> int:
        """How many there are of what :attr:`done` counts."""
        return self.targets or self.mutants

    @property
    def counted(self) -> str:
        """What was killed or covered, in words."""
        what = "coverage targets covered" if self.targets else "mutants killed"
        return f"{self.done} of {self.of} {what}"

    def below(self, bar: float) -> bool:
        """Whether it is known to be weaker than ``bar`` percent."""
        return self.state is State.MEASURED and 100 * self.done < bar * self.of

    def reaches(self, bar: float) -> bool:
        """Whether it is known to have ``bar`` percent."""
        return self.state is not State.UNKNOWN and 100 * self.done >= bar * self.of

    @property
    def ratio(self) -> float:
        """The share killed or covered, 0 to 1; 1 where there is nothing to kill."""
        return self.done / self.of if self.of else 1.0

    @property
    def share(self) -> str:
        """The share in percent, rounded down so that no number reaches a bar that it misses."""
        if self.state is State.UNKNOWN:
            return State.UNKNOWN.value
        tenths = 1000 * self.done // self.of if self.of else 1000
        text = f"{tenths // 10} %" if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10} %"
        return f"at least {text}" if self.state is State.AT_LEAST else text

    @property
    def part(self) -> str:
        """The type and rank in words."""
        within = f", profile {self.profile}" if self.profile else ""
        return f"{self.dtype} of rank {self.rank}{within}"


@dataclass(frozen=True)
class Evidence:
    """The strength of a run in each part that it claims, and the ``bar`` in percent (0: none)."""

    parts: tuple[Measured, ...] = ()
    bar: float = BAR

    def to_json(self) -> dict[str, Any]:
        """As JSON data, for a run log."""
        return {"bar": self.bar, "parts": [one.to_json() for one in self.parts]}

    @cached_property
    def known(self) -> tuple[Measured, ...]:
        """The parts whose strength is known, or known to be enough."""
        enough = self.bar or BAR
        return tuple(
            one for one in self.parts if one.state is State.MEASURED or one.reaches(enough)
        )

    @cached_property
    def unknown(self) -> tuple[Measured, ...]:
        """The parts whose strength is not known."""
        known = {id(one) for one in self.known}
        return tuple(one for one in self.parts if id(one) not in known)

    @property
    def weakest(self) -> Measured | None:
        """The weakest part of those that are known."""
        return min(self.known, key=lambda one: one.ratio, default=None)

    @property
    def short(self) -> tuple[Measured, ...]:
        """The parts that are below the bar."""
        return tuple(one for one in self.parts if one.below(self.bar))

    @property
    def measured(self) -> bool:
        """Whether the strength of all parts is measured, in just what is claimed."""
        return bool(self.parts) and all(
            one.state is State.MEASURED and one.of > 0 for one in self.parts
        )

    @property
    def headline(self) -> str:
        """The strength of the weakest part in a few words, and what is not known."""
        if self.weakest is None:
            return "strength unknown"
        parts = f"{len(self.unknown)} of {len(self.parts)} parts"
        return f"strength {self.weakest.share}" + (f", unknown in {parts}" if self.unknown else "")
