"""What becomes of each mutant of an operator in one part of it: killed, or why not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.audit.inert import inert
from conformance.audit.kills import Kill
from conformance.model import Part
from conformance.spec.catalogue import Fault
from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class Standing:
    """The mutants of an operator in one part, by id and by what becomes of them there.

    ``killed`` are those that vectors of the part kill at level should. Of the others, ``inert``
    ones change nothing in the part, by proof; ``stated`` gives the catalogue's reason why nothing
    shows one; ``undetermined`` is everything else. ``excused`` are those that a vector kills at
    should and none at must, though no interpretation excuses them; they are undetermined at must.
    ``refuted`` are killed, though the catalogue or a proof says that they cannot be. ``missing`` is
    what is to be shown: a level, and the mutant to be killed at it.
    """

    op: str
    part: Part
    killed: frozenset[str] = field(repr=False)
    inert: frozenset[str] = field(repr=False)
    stated: Mapping[str, str] = field(repr=False)
    undetermined: frozenset[str] = field(repr=False)
    excused: frozenset[str] = frozenset()
    refuted: frozenset[str] = frozenset()
    missing: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False)

    @property
    def counted(self) -> int:
        """How many mutants could show in the part, as far as is known."""
        return len(self.killed) + len(self.undetermined)

    @property
    def complete(self) -> bool:
        """Whether every mutant that could show is killed, and no statement is wrong."""
        return not (self.undetermined or self.excused or self.refuted)


def stand(
    spec: OpSpec,
    part: Part,
    faults: Sequence[Fault],
    kills: Iterable[Sequence[Kill]],
    proven: Collection[str] = (),
) -> Standing:
    """What becomes of each mutant, by what the vectors of a part kill, and by what is ``proven`` to
    change nothing there besides what is seen at once."""
    killed, at_must = set(), set()
    for found in kills:
        for kill in found:
            killed.add(kill.fault)
            if kill.must:
                at_must.add(kill.fault)
    said = {fault.id: _said(fault, part) for fault in faults}
    open_ = {fault.id: fault for fault in faults if fault.id not in killed}
    stated = {name: said[name] for name in open_ if said[name]}
    never = inert(spec, part, open_.values()).union(open_.keys() & set(proven)) - stated.keys()
    undetermined = open_.keys() - never - stated.keys()
    owed = {fault.id for fault in faults if not fault.reading}
    excused = killed & owed - at_must
    missing = {("should", name) for name in undetermined}
    return Standing(
        op=spec.op,
        part=part,
        killed=frozenset(killed),
        inert=never,
        stated=stated,
        undetermined=frozenset(undetermined),
        excused=frozenset(excused),
        refuted=frozenset(name for name in killed if said[name] or name in proven),
        missing=frozenset(missing | {("must", name) for name in undetermined & owed | excused}),
    )


def _said(fault: Fault, part: Part) -> str:
    """Why the catalogue says that nothing shows a fault in a part; empty if it does not."""
    reasons = (one.why for one in fault.stated if one.holds(part.dtype, part.rank, part.profile))
    return fault.equivalent or next(reasons, "")
