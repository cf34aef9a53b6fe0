"""What becomes of each mutant of an operator in one part of it: killed, or why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conformance.audit.inert import inert
from conformance.audit.kills import Kill
from conformance.audit.parts import Part
from conformance.spec.catalogue import Fault
from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class Standing:
    """The mutants of an operator in one part, by id and by what becomes of them there.

    ``killed`` are those that vectors of the part kill at level should. Of the others, ``inert``
    ones change nothing in the part, by proof; ``stated`` gives the catalogue's reason why nothing
    shows one; ``undetermined`` is everything else. ``excused`` are those that a vector kills at
    should and none at must, though no interpretation excuses them; they are undetermined at must.
    ``refuted`` are killed, though the catalogue states that they cannot be.
    """

    op: str
    part: Part
    killed: frozenset[str] = field(repr=False)
    inert: frozenset[str] = field(repr=False)
    stated: dict[str, str] = field(repr=False)
    undetermined: frozenset[str] = field(repr=False)
    excused: frozenset[str] = frozenset()
    refuted: frozenset[str] = frozenset()

    @property
    def counted(self) -> int:
        """How many mutants could show in the part, as far as is known."""
        return len(self.killed) + len(self.undetermined)

    @property
    def complete(self) -> bool:
        """Whether every mutant that could show is killed, and no statement is wrong."""
        return not (self.undetermined or self.excused or self.refuted)

    @property
    def missing(self) -> frozenset[tuple[str, str]]:
        """What is to be shown: a level, and the mutant to be killed at it."""
        should = {("should", fault) for fault in self.undetermined}
        return frozenset(should | {("must", fault) for fault in self.excused})


def stand(
    spec: OpSpec, part: Part, faults: Sequence[Fault], kills: Iterable[Sequence[Kill]]
) -> Standing:
    """What becomes of each mutant, by what the vectors of a part kill."""
    killed, at_must = set(), set()
    for found in kills:
        for kill in found:
            killed.add(kill.fault)
            if kill.must:
                at_must.add(kill.fault)
    said = {fault.id: _said(fault, part) for fault in faults}
    open_ = [fault for fault in faults if fault.id not in killed]
    never = inert(spec, part, open_)
    stated = {fault.id: said[fault.id] for fault in open_ if said[fault.id]}
    return Standing(
        op=spec.op,
        part=part,
        killed=frozenset(killed),
        inert=never - stated.keys(),
        stated=stated,
        undetermined=frozenset(fault.id for fault in open_) - never - stated.keys(),
        excused=frozenset(f.id for f in faults if f.id in killed - at_must and not f.reading),
        refuted=frozenset(one for one in killed if said[one]),
    )


def _said(fault: Fault, part: Part) -> str:
    """Why the catalogue says that nothing shows a fault in a part; empty if it does not."""
    reasons = (one.why for one in fault.stated if one.holds(part.dtype, part.rank, part.profile))
    return fault.equivalent or next(reasons, "")
