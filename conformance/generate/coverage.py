"""Which edges a case shows."""

from __future__ import annotations

from conformance.dtypes import Array
from conformance.model import Case
from conformance.reference import facts
from conformance.spec.model import OpSpec


def edges_of(spec: OpSpec, case: Case, data: Array) -> tuple[str, ...]:
    """The names of the edges that hold for a valid case, in the order of the specification."""
    env = facts(spec, case, data)
    return tuple(edge.name for edge in spec.edges if edge.when.evaluate(env))
