"""What a suite made by hand says of mutants: none survives in the parts that it has vectors of."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.model import Vector
from conformance.suite.survivors import Partition, Survivors, SurvivorTable
from conformance.suite.unreachable import Unreachable


def table_of(vectors: Iterable[Vector]) -> dict[str, Unreachable]:
    """The strength of each operator of some vectors."""
    found: dict[str, dict[Partition, Survivors]] = {}
    for vector in vectors:
        if vector.case.reject is None:
            part = Partition(next(iter(vector.case.types.values())), vector.inputs[0].ndim)
            found.setdefault(vector.case.op, {})[part] = Survivors()
    return {op: Unreachable(parts=SurvivorTable(parts)) for op, parts in found.items()}
