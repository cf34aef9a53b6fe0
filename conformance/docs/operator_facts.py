"""Collects what a page says of an operator, from specification, suite and run logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.docs.backend_interpretations import BackendAnswers, backend_answers
from conformance.log.run_log import RunLog
from conformance.model import Vector
from conformance.spec.catalogue import Mutant, mutants_of
from conformance.spec.model import OpSpec
from conformance.suite.store import Suite


@dataclass(frozen=True)
class OperatorFacts:
    """An operator with its vectors, mutants and backends.

    Attributes:
        vectors: those of the suite that are about it, the smallest first.
        kill_counts: by mutant, the number of vectors that kill it.
        backend_answers: the answers of backends to each open question, by its name.
        show: the command that shows a vector, without its id.
    """

    spec: OpSpec
    vectors: tuple[Vector, ...]
    mutants: tuple[Mutant, ...]
    kill_counts: Mapping[str, int]
    backend_answers: Mapping[str, Sequence[BackendAnswers]]
    show: str = "conformance show"

    def covering(self, target: str) -> tuple[Vector, ...]:
        """Return the vectors with values that cover a target, the smallest first."""
        return tuple(v for v in self.vectors if v.case.reject is None and target in v.edges)

    def negative_tests(self, name: str) -> tuple[Vector, ...]:
        """Return the vectors of a negative test, the smallest first."""
        return tuple(v for v in self.vectors if v.case.reject == name)


def collect_facts(
    spec: OpSpec, suite: Suite, runs: Iterable[RunLog] = (), show: str = "conformance show"
) -> OperatorFacts:
    """Collect the facts of an operator from a suite and from run logs.

    Vectors that were made from another specification of the operator are left out.

    Raises:
        SuiteError: a vector is missing, changed or damaged.
    """
    is_current = suite.specs.made_from(spec)
    entries = suite.manifest.of([spec.op]) if is_current else ()
    kills = Counter(mutant for entry in entries for mutant in entry.kills)
    mutants = suite.specs.faults(spec.op) if is_current else mutants_of(spec)
    return OperatorFacts(
        spec=spec,
        vectors=tuple(
            sorted(map(suite.read, entries), key=lambda vector: (_elements(vector), vector.id))
        ),
        mutants=mutants,
        kill_counts={mutant.id: kills[mutant.id] for mutant in mutants},
        backend_answers=backend_answers(spec, runs),
        show=show,
    )


def _elements(vector: Vector) -> int:
    """Count the elements of inputs and outputs: what a reader has to look at."""
    return sum(array.size for array in vector.inputs) + sum(
        output.expected.size for output in vector.answers
    )
