"""Subsets of a suite: paired cases, and the smoke suite."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from conformance.audit.partitions import base_type
from conformance.audit.score import MutationScore, kill_levels
from conformance.audit.set_cover import greedy_cover
from conformance.model import Case, Vector
from conformance.reference.build import build
from conformance.spec.model import OpSpec


def twins(spec: OpSpec, case: Case) -> list[Case]:
    """The case, and its paired case for each attribute that has another value."""
    found = [case]
    for quantity in spec.attributes:
        if quantity.twin is None:
            continue
        if quantity.of(case.attributes, 0) != quantity.twin:
            found += [
                replace(one, attributes=quantity.put(one.attributes, quantity.twin))
                for one in found
            ]
    return found


def with_twins(spec: OpSpec, vectors: Iterable[Vector]) -> list[Vector]:
    """The vectors and their paired cases, each once."""
    found = {vector.id: vector for vector in vectors}
    for vector in list(found.values()):
        for case in twins(spec, vector.case):
            if case.id not in found:
                found[case.id] = build(spec, case)
    return list(found.values())


def smoke(
    spec: OpSpec, vectors: Iterable[Vector], score: MutationScore
) -> dict[str, tuple[str, ...]]:
    """For each vector of one operator, by id, the suites it belongs to.

    All are core. The few of smoke together show each edge and each must-reject entry, leave each
    attribute out that has a default, notice each fault that the score notices, at either level, and
    ask every rank in the type that everybody has.
    """
    base = base_type(spec)
    optional = {quantity.name for quantity in spec.attributes if not quantity.required}

    def shows(vector: Vector) -> Iterator[Hashable]:
        if vector.case.reject is not None:
            yield "reject", vector.case.reject
        elif vector.case.types[spec.data.type] == base:
            yield "rank", spec.rank_of(vector.case)
        yield from (("edge", edge) for edge in vector.edges)
        if vector.answers:
            yield from (("left out", name) for name in optional - vector.case.attributes.keys())
        yield from kill_levels(score.kills.get(vector.id, ()))

    vectors = list(vectors)
    smallest_first = sorted(vectors, key=lambda vector: (_size(vector), vector.id))
    chosen = {vector.id for vector in greedy_cover(smallest_first, shows, lambda v: 500 + _size(v))}
    return {v.id: ("smoke", "core") if v.id in chosen else ("core",) for v in vectors}


def _size(vector: Vector) -> int:
    return sum(array.size for array in vector.inputs) + sum(a.expected.size for a in vector.answers)


def versions() -> dict[str, str]:
    """What the bytes of a suite depend on besides the specifications and the seed."""
    import platform
    import zlib
    from importlib.metadata import PackageNotFoundError, version

    import hypothesis
    import ml_dtypes
    import numpy as np

    found = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "hypothesis": hypothesis.__version__,
        "ml_dtypes": ml_dtypes.__version__,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
    }
    with contextlib.suppress(PackageNotFoundError):
        found["z3-solver"] = version("z3-solver")
    return found
