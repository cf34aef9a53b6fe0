"""Collects what a page shows of one operator, from specification, suite and run logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.docs.followers import Follower, followers
from conformance.log.run_log import RunLog
from conformance.model import Vector
from conformance.spec.catalogue import Mutant, mutants_of
from conformance.spec.model import OpSpec
from conformance.suite.store import Suite


@dataclass(frozen=True)
class OperatorFacts:
    """An operator with what shows it.

    ``vectors`` are those of the suite that are about it, the smallest first. ``noticed`` counts
    for each fault the vectors that notice it, ``followers`` are the answers of backends to each
    open question, by its name. ``show`` is the command that shows a vector, without its id.
    """

    spec: OpSpec
    vectors: tuple[Vector, ...]
    faults: tuple[Mutant, ...]
    noticed: Mapping[str, int]
    followers: Mapping[str, Sequence[Follower]]
    show: str = "conformance show"

    def showing(self, edge: str) -> tuple[Vector, ...]:
        """The vectors with values that show an edge, the smallest first."""
        return tuple(v for v in self.vectors if v.case.reject is None and edge in v.edges)

    def rejecting(self, name: str) -> tuple[Vector, ...]:
        """The vectors of a must-reject case, the smallest first."""
        return tuple(v for v in self.vectors if v.case.reject == name)


def account(
    spec: OpSpec, suite: Suite, runs: Iterable[RunLog] = (), show: str = "conformance show"
) -> OperatorFacts:
    """The account of ``spec`` by ``suite``, which may have no vector of it, and by ``runs``.

    Vectors that were made from another specification of the operator show nothing of this one.
    Raises :class:`~conformance.errors.SuiteError` for a vector that is missing, changed or damaged.
    """
    own = suite.specs.made_from(spec)
    entries = suite.manifest.of([spec.op]) if own else ()
    kills = Counter(fault for entry in entries for fault in entry.kills)
    catalogue = suite.specs.faults(spec.op) if own else mutants_of(spec)
    return OperatorFacts(
        spec=spec,
        vectors=tuple(sorted(map(suite.read, entries), key=lambda one: (_elements(one), one.id))),
        faults=catalogue,
        noticed={fault.id: kills[fault.id] for fault in catalogue},
        followers=followers(spec, runs),
        show=show,
    )


def _elements(vector: Vector) -> int:
    """How much there is to look at: the elements of the inputs and outputs."""
    return sum(one.size for one in vector.inputs) + sum(a.expected.size for a in vector.answers)
