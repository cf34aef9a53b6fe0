"""What several tests of one operator ask is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from conformance.audit import mutant_states
from conformance.audit.inert import find_inert as worked_out
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.suite.survivors import Partition

Inert = Callable[[OpSpec, Partition, Sequence[Mutant]], frozenset[str]]


@pytest.fixture(scope="session", autouse=True)
def inert() -> Iterator[Inert]:
    """``inert``, also where standings ask it: all parts of an operator take it a second."""
    # With its arguments: while they are kept, nothing else has their identity.
    kept: dict[tuple[int, Partition, int], tuple[OpSpec, Sequence[Mutant], frozenset[str]]] = {}

    def once(spec: OpSpec, part: Partition, faults: Sequence[Mutant]) -> frozenset[str]:
        key = id(spec), part, id(faults)
        if key not in kept:
            kept[key] = spec, faults, worked_out(spec, part, faults)
        return kept[key][2]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutant_states, "find_inert", once)
        yield once
