"""Proofs that mutants change no output in a part of an operator."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from conformance.audit.difference_conditions import HOLDS_DATA, TAPS, with_differences
from conformance.audit.mutant_states import MutantStates
from conformance.feasible import Feasible, Prover
from conformance.generate.pairs import LIMITS
from conformance.model import Case
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.suite.survivors import Partition

PROOF_MS = 1000
"""How long a check of the solver may take about a mutant: most that it proves take far less."""


def settled(
    spec: OpSpec, faults: Sequence[Mutant], found: Iterable[MutantStates]
) -> list[MutantStates]:
    """What becomes of each mutant in the parts of an operator, with proofs where none is known.

    Without z3 what is not known stays undetermined.
    """
    if importlib.util.find_spec("z3") is None:
        return list(found)
    asked: dict[int, Disprover] = {}
    told = []
    for one in found:
        unseen = one.survivors.undetermined - one.killed
        if unseen:
            if one.partition.rank not in asked:
                asked[one.partition.rank] = Disprover(spec, one.partition.rank, faults)
            one = one.with_inert(asked[one.partition.rank].proven_either_way(one.partition, unseen))
        told.append(one)
    return told


class Disprover:
    """Asks the solver whether any case of a part tells mutants from the reference.

    Raises UsageError if z3 is not installed.
    """

    def __init__(self, spec: OpSpec, rank: int, faults: Sequence[Mutant]) -> None:
        self.spec = spec
        self.rank = rank
        self._altered, self._edges = with_differences(spec, faults)
        self._provers: dict[Partition, Prover] = {}

    def proven(
        self, part: Partition, names: Iterable[str], *, taps: bool = False
    ) -> frozenset[str]:
        """Of some mutants, those that are proven to change nothing in a part; with ``taps`` those
        that are proven so by looking at single taps, which takes longer."""
        profile = [part.profile] if part.profile else []
        known = {edge.name for edge in self._altered.edges}
        asked = {
            name: [
                edge
                for edge in ([f"{TAPS}{name}"] if taps else self._edges.get(name, ()))
                if edge in known
            ]
            for name in sorted(names)
        }
        if taps:  # what the prover was asked before may have led it astray
            self._provers.pop(part, None)
        return frozenset(
            name
            for name, edges in asked.items()
            if any(self._prover(part).excluded([edge, *profile], part.dtype) for edge in edges)
        )

    def proven_either_way(self, part: Partition, names: Iterable[str]) -> frozenset[str]:
        """Of some mutants, those that are proven to change nothing in a part: by what outputs are
        made of, or, where that proves nothing, by looking at single taps."""
        asked = frozenset(names)
        proven = self.proven(part, asked)
        return proven | self.proven(part, asked - proven, taps=True)

    def showing(self, part: Partition, names: Iterable[str]) -> Iterator[Case]:
        """Cases of a part on which mutants change what the outputs are made of, with each pattern:
        whether an output differs depends on the data, too. They are made as they are asked for."""
        also = [HOLDS_DATA, *([part.profile] if part.profile else [])]
        for name in sorted(names):
            answer = self._prover(part).ask([*self._edges.get(name, ())[-1:], *also], part.dtype)
            if isinstance(answer, Feasible):
                for pattern in self.spec.patterns:
                    if self.spec.fills(pattern, part.dtype):
                        yield replace(answer.case, pattern=pattern)

    def _prover(self, part: Partition) -> Prover:
        """A prover for each part: what z3 did for others may lead it far astray."""
        if part not in self._provers:
            self._provers[part] = Prover(self._altered, self.rank, LIMITS, timeout_ms=PROOF_MS)
        return self._provers[part]
