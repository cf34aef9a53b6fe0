"""Checks, vector by vector, whether a failure equals the outputs of mutants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.grade.returned import unpack_outputs
from conformance.implementations import implementation_of
from conformance.model import Result
from conformance.spec.catalogue import Mutant
from conformance.specification import interpretation_changes
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
        failure, known = self._asked(result), self._known(result.op)
        if failure is None or not {*mutants} <= known.keys():
            return False
        faults = [known[mutant] for mutant in mutants]
        return any(self._agrees(outputs, *faults) for outputs in _ways(failure))

    def could_be(self, result: Result) -> list[str]:
        """Describe single mutants that give exactly the outputs of a failure, a sentence each."""
        failure = self._asked(result)
        if failure is None:
            return []
        for outputs in _ways(failure):
            sentences = [
                fault.description
                for fault in self._known(result.op).values()
                if self._agrees(outputs, fault) is Agreement.EQUAL
            ]
            if sentences:
                return list(dict.fromkeys(sentences))
        return []

    def _agrees(self, failure: ObservedVector, *faults: Mutant) -> Agreement:
        try:
            altered = implementation_of(failure.spec, *(fault.change for fault in faults))
            return failure.agreement(altered, interpretation_changes(failure.spec))
        except Exception:
            # A vector that is no case of the specification; mutants that are circular together.
            # A defect of a mutant costs its name, never the run.
            return Agreement.NONE

    def _known(self, op: str) -> dict[str, Mutant]:
        return {fault.id: fault for fault in self.suite.specs.faults(op)}

    def _asked(self, result: Result) -> ObservedVector | None:
        """The vector with the outputs of a failure; None where there is nothing to compare."""
        outputs = None if result.returned is None else unpack_outputs(result.returned)
        spec = self.suite.specs.get(result.op)
        if outputs is None or spec is None:
            return None
        vector = self.suite.get(result.id)
        if len(outputs) != len(vector.answers):
            return None
        return ObservedVector(spec, vector, outputs, self.precision, self.level)


def _ways(failure: ObservedVector) -> Iterator[ObservedVector]:
    """A failure with all of its outputs, then with those alone that are wrong."""
    yield failure
    if (alone := failure.wrong_outputs_only) is not None:
        yield alone
