"""What a suite made by hand says of mutants: none survives in the parts that it has vectors of."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.model import Vector
from conformance.suite.parts import Part, Parts, Survivors
from conformance.suite.strength import Strength


def table_of(vectors: Iterable[Vector]) -> dict[str, Strength]:
    """The strength of each operator of some vectors."""
    found: dict[str, dict[Part, Survivors]] = {}
    for vector in vectors:
        if vector.case.reject is None:
            part = Part(next(iter(vector.case.types.values())), vector.inputs[0].ndim)
            found.setdefault(vector.case.op, {})[part] = Survivors()
    return {op: Strength(parts=Parts(parts)) for op, parts in found.items()}
