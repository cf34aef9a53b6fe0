"""Which edges a case shows, and what it costs to keep."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from math import prod

import numpy as np

from conformance.dtypes import DTYPES, Array
from conformance.generate.values import data_of
from conformance.model import Case
from conformance.reference import facts
from conformance.spec.environment import Environment
from conformance.spec.model import OpSpec

FILE = 10_000
"""What one vector less is worth, in bytes."""

TAPS_A_BYTE = 16
"""How many taps are worth a byte: a vector takes time, too, wherever it is run."""


@dataclass(frozen=True)
class Candidate:
    """A drawn case, the edges that it shows, and what it costs to keep: about its bytes."""

    case: Case
    edges: frozenset[str]
    cost: int
    dtype: str

    @cached_property
    def items(self) -> frozenset[Hashable]:
        """What the core suite asks of the vectors of one rank: each edge in each element type,
        and each pair of edges in any."""
        return frozenset(chain(((self.dtype, edge) for edge in self.edges), pairs(self.edges)))


def pairs(edges: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Every pair of edges, its names in order."""
    return combinations(sorted(edges), 2)


def edges_of(spec: OpSpec, case: Case, data: Array) -> tuple[str, ...]:
    """The names of the edges that hold for a valid case, in the order of the specification."""
    return _shown(spec, facts(spec, case, data))


def _shown(spec: OpSpec, env: Environment) -> tuple[str, ...]:
    return tuple(edge.name for edge in spec.edges if edge.when.evaluate(env))


def candidate(spec: OpSpec, case: Case) -> Candidate | None:
    """A valid case with its edges and its cost; None where no element would be graded."""
    data = data_of(spec, case)
    env = facts(spec, case, data)
    if np.all(env["open"]):
        return None
    outputs = data.shape[0] * data.shape[1] * prod(env.out)
    dtype = DTYPES[case.types[spec.data.type]]
    # Of each output there are the exact value and at least three in the type.
    size = data.nbytes + outputs * (8 + 3 * dtype.numpy.itemsize)
    taps = data.shape[0] * data.shape[1] * prod(window.counted.size for window in env.windows)
    size += taps // TAPS_A_BYTE
    cost = (FILE + size) * (2 if _has_twin(spec, case) else 1)
    return Candidate(case, frozenset(_shown(spec, env)), cost, dtype.name)


def _has_twin(spec: OpSpec, case: Case) -> bool:
    return any(
        quantity.twin is not None and quantity.of(case.attributes, 0) != quantity.twin
        for quantity in spec.attributes
    )
