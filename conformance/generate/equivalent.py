"""A search for cases that show faults which the catalogue calls equivalent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance import parallel
from conformance.audit.kills import Bank
from conformance.generate.build import build
from conformance.generate.pairs import Effort, Pool
from conformance.generate.values import data_of
from conformance.spec.catalogue import Fault
from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class Search:
    """The search on one rank, among ``count`` drawn cases or a few more."""

    spec: OpSpec
    faults: tuple[Fault, ...] = field(repr=False)
    rank: int
    count: int

    @property
    def label(self) -> str:
        return f"{self.spec.op} rank {self.rank}"

    def run(self) -> dict[str, str]:
        """By fault, a case whose vector notices it."""
        spec = self.spec
        bank = Bank(spec, self.faults)
        half = self.count // 2
        pool = Pool(spec, self.rank, 0, Effort(base=half, aimed=-(-half // max(1, len(spec.aims)))))
        pool.fill()
        found: dict[str, str] = {}
        for case in pool.cases():
            if bank.prints(case, data_of(spec, case)).keys() - found.keys():
                for kill in bank.kills(build(spec, case)):
                    found.setdefault(kill.fault, case.id)
        return found


def showing(
    spec: OpSpec,
    faults: Iterable[Fault],
    count: int,
    *,
    processes: int,
    progress: parallel.Progress,
) -> dict[str, str]:
    """By fault that is called equivalent, one of about ``count`` drawn cases that shows it."""
    equivalent = tuple(fault for fault in faults if fault.equivalent)
    each = -(-count // len(spec.ranks))
    work = [Search(spec, equivalent, rank, each) for rank in spec.ranks]
    found: dict[str, str] = {}
    for part in parallel.run(work, processes=processes, progress=progress, total=len(work)):
        found |= part
    return found
