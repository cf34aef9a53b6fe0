"""Whether a failure is what mutants give: told vector by vector, as results come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.diagnosis.agreement import Asked
from conformance.errors import ConformanceError
from conformance.grade.returned import unpacked
from conformance.model import Result
from conformance.reference.subject import Altered
from conformance.suite.store import Suite


@dataclass(frozen=True)
class Prediction:
    """Predicts the outputs of mutants of a suite's operators; ``level`` and ``precision`` are the
    run's.

    It depends on the vector and its result alone, so that a run says the same of a failure whether
    it is made whole, in shards or resumed.
    """

    suite: Suite
    level: str
    precision: Mapping[str, str]

    def __call__(self, result: Result, mutants: tuple[str, ...]) -> bool:
        """Whether the outputs of a failure are what mutants, by id, together give on its vector."""
        outputs = None if result.returned is None else unpacked(result.returned)
        if outputs is None:
            return False
        try:
            spec = self.suite.specs.get(result.op)
            known = {fault.id: fault.variant for fault in self.suite.specs.faults(result.op)}
            vector = self.suite.get(result.id)
            if (
                spec is None
                or len(outputs) != len(vector.answers)
                or not {*mutants} <= known.keys()
            ):
                return False
            altered = Altered(spec, *(known[mutant] for mutant in mutants))
            readings = {one.name: one for one in spec.interpretations}
            asked = Asked(spec, vector, outputs, self.precision, self.level)
            return bool(asked.agreement(altered, readings))
        except ConformanceError:
            return False  # an old suite, of another version of the specification
