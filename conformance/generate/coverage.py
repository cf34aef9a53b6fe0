"""Which edges a case shows."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.dtypes import Array
from conformance.generate.values import data_of
from conformance.model import Case
from conformance.reference import facts
from conformance.spec.environment import Environment
from conformance.spec.model import OpSpec


@dataclass(frozen=True)
class Candidate:
    """A drawn case, the edges that it shows, and what it costs to keep."""

    case: Case
    edges: frozenset[str]
    cost: int
    dtype: str


def edges_of(spec: OpSpec, case: Case, data: Array) -> tuple[str, ...]:
    """The names of the edges that hold for a valid case, in the order of the specification."""
    return _shown(spec, facts(spec, case, data))


def _shown(spec: OpSpec, env: Environment) -> tuple[str, ...]:
    return tuple(edge.name for edge in spec.edges if edge.when.evaluate(env))


def candidate(spec: OpSpec, case: Case) -> Candidate:
    """A case with its edges; its cost is the number of elements it stores, plus a fixed part."""
    data = data_of(spec, case)
    env = facts(spec, case, data)
    outputs = data.shape[0] * data.shape[1]
    for n in env.per_axis("out"):
        outputs *= n
    cost = 100 + data.size + 3 * outputs
    return Candidate(case, frozenset(_shown(spec, env)), cost, case.types[spec.data.type])
