"""Proofs that mutants change nothing in a part of an operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conformance.audit.differs import with_differences
from conformance.generate.feasible import Prover
from conformance.generate.pairs import LIMITS
from conformance.spec.catalogue import Fault
from conformance.spec.model import OpSpec
from conformance.suite.parts import Part

PROOF_MS = 1000
"""How long a check of the solver may take about a mutant: most that it proves take far less."""


class Disprover:
    """Asks the solver whether any case of a part tells mutants from the reference.

    Raises UsageError if z3 is not installed.
    """

    def __init__(self, spec: OpSpec, rank: int, faults: Sequence[Fault]) -> None:
        altered, self._edges = with_differences(spec, faults)
        self._prover = Prover(altered, rank, LIMITS, timeout_ms=PROOF_MS)

    def proven(self, part: Part, names: Iterable[str]) -> frozenset[str]:
        """Of some mutants, those that are proven to change nothing in a part."""
        profile = [part.profile] if part.profile else []
        return frozenset(
            name
            for name in sorted(names)
            if any(
                self._prover.excluded([edge, *profile], part.dtype)
                for edge in self._edges.get(name, ())
            )
        )
