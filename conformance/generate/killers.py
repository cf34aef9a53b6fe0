"""Vectors that kill in each part of a rank every mutant that can be killed there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

from conformance.audit.kills import Bank, Kill
from conformance.audit.parts import Part, parts, within
from conformance.audit.standing import Standing, stand
from conformance.generate.hunt import cases_of, hunt
from conformance.generate.pairs import Effort
from conformance.generate.suites import with_twins
from conformance.model import Case, Vector
from conformance.spec.catalogue import faults
from conformance.spec.model import OpSpec


class Killers:
    """The vectors of one rank by id, and what each of them kills."""

    def __init__(self, spec: OpSpec, rank: int, vectors: Sequence[Vector]) -> None:
        self.spec, self.rank = spec, rank
        self.faults = faults(spec)
        self.vectors: dict[str, Vector] = {}
        self.kills: dict[str, tuple[Kill, ...]] = {}
        self._bank = Bank(spec, self.faults)
        self._add(vectors)

    def complete(self, known: Sequence[Case], *, root: int, effort: Effort) -> None:
        """Add few vectors for what is missing in each part, from ``known`` cases first, those of
        the vectors before all others."""
        for part in parts(self.spec, self.rank):
            missing = self.standing(part).missing
            if missing:
                own = [vector.case for vector in self.vectors.values()]
                given = {case.id: case for case in (*own, *known)}
                cases = cases_of(self.spec, part, list(given.values()), root=root, effort=effort)
                self._add(with_twins(self.spec, hunt(self.spec, self.faults, missing, cases)))

    def standing(self, part: Part) -> Standing:
        """What becomes of each mutant in a part."""
        ids = list(self.vectors)
        inside = within(self.spec, part, [self.vectors[one].case for one in ids])
        kills = [self.kills[one] for one in compress(ids, inside)]
        return stand(self.spec, part, self.faults, kills)

    def _add(self, vectors: Iterable[Vector]) -> None:
        new = [vector for vector in vectors if vector.id not in self.vectors]
        self.kills |= zip((one.id for one in new), self._bank.all_kills(new), strict=True)
        self.vectors |= {vector.id: vector for vector in new}
