"""Searches for cases that kill mutants marked equivalent or impossible to kill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from conformance import parallel
from conformance.audit.kills import MutantRunner
from conformance.audit.mutant_states import stated_reason
from conformance.audit.partitions import partitions_of_rank
from conformance.generate.candidates import Candidates, aims_of
from conformance.generate.pool import draw_fast
from conformance.model import Case
from conformance.reference.build import build
from conformance.reference.values import data_of
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.suite.survivors import Partition


@dataclass(frozen=True)
class Attack:
    """The search on one rank, among ``count`` drawn cases.

    It is for mutants that nothing is said to show; with a part, that nothing shows in that; with
    ``at_must``, that nothing kills there at level must.
    """

    spec: OpSpec
    faults: tuple[Mutant, ...] = field(repr=False)
    rank: int
    count: int
    part: Partition | None = None
    at_must: bool = False

    @property
    def label(self) -> str:
        return f"{self.spec.op} rank {self.rank}"

    def run(self) -> dict[str, str]:
        """By mutant, a case whose vector kills it."""
        bank = MutantRunner(self.spec, self.faults)
        found: dict[str, str] = {}
        for case in self._cases():
            if bank.fingerprints(case, data_of(self.spec, case)).keys() - found.keys():
                for kill in bank.kills(build(self.spec, case)):
                    if kill.at_must or not self.at_must:
                        found.setdefault(kill.mutant, case.id)
        return found

    def _cases(self) -> Iterable[Case]:
        spec, rank, part = self.spec, self.rank, self.part
        within = [{}] if part is None else aims_of(spec, part)
        drawn = draw_fast(spec, rank, self.count, root=0, within=within)
        valid = Candidates.of(spec, drawn, rank).sound()
        return valid if part is None else valid.inside(part)


def refuted(
    spec: OpSpec,
    faults: Sequence[Mutant],
    count: int,
    *,
    processes: int | parallel.Workers,
    progress: parallel.Progress,
) -> Iterator[str]:
    """What the catalogue says and a drawn case refutes, a line each.

    About ``count`` cases are drawn for the mutants that are called equivalent, and as many for each
    part in which others are stated not to show.
    """
    each = -(-count // len(spec.ranks))
    equivalent = tuple(fault for fault in faults if fault.equivalent)
    work = [Attack(spec, equivalent, rank, each) for rank in spec.ranks]
    for rank in spec.ranks:
        for part in partitions_of_rank(spec, rank):
            for level in ("should", "must"):
                stated = tuple(fault for fault in faults if stated_reason(fault, part, level))
                if stated:
                    work.append(Attack(spec, stated, rank, count, part, level == "must"))
    done = parallel.run(work, processes=processes, progress=progress, total=len(work))
    for search, found in zip(work, done, strict=True):
        where = (
            f"marked as impossible to kill in {search.part}" if search.part else "marked equivalent"
        )
        for fault, case in found.items():
            yield f"{where}, but killed by a random case: {fault} ({case})"
