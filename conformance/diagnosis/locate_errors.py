"""Which failures of an operator that nothing explains have their wrong elements in one place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.diagnosis.error_regions import (
    IndexLine,
    SharedRegion,
    WrongElements,
    index_lines,
    region_of_most,
    shared_region,
)
from conformance.grade.match import decisive, matches
from conformance.grade.returned import unpacked
from conformance.model import Result, Vector
from conformance.spec.model import OpSpec

MAX_LOCATED_FAILURES = 1_000
"""Failures of an operator that are looked at, the smallest first."""

MAX_COMPARED_PASSES = 300
"""Passed vectors whose outputs' shapes are looked at, the first of the suite."""


@dataclass(frozen=True)
class LocatedFailures:
    """Failures, by id, whose wrong elements all lie in one place.

    Of the passed vectors of the same element types and ranks that were looked at, ``passing`` says
    how many have elements there, and how many there are.
    """

    ids: frozenset[str]
    found: SharedRegion
    passing: tuple[int, int]


def locate_failures(
    spec: OpSpec,
    failed: Sequence[Result],
    passed: Sequence[Result],
    *,
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> Iterator[LocatedFailures]:
    """The places of failures of one operator: one of all, else one for each element type, else
    for each rank, of what then is left, that has one; in the end one of most that are left.

    Failures whose elements were not compared, or whose outputs were not kept, have none.
    """
    by_id = {one.id: one for one in failed}
    along = index_lines_of(spec)
    if along is None:
        return
    left = dict(wrong_elements(failed, read, precision, level))

    def told(ids: Sequence[str], found: SharedRegion) -> LocatedFailures:
        like = {(by_id[name].dtype, by_id[name].rank) for name in ids}
        seen = [one.id for one in passed if (one.dtype, one.rank) in like]
        seen = seen[:MAX_COMPARED_PASSES]
        there = sum(found.is_in(_shapes(read(name))) for name in seen)
        for name in ids:
            del left[name]
        return LocatedFailures(frozenset(ids), found, (there, len(seen)))

    for alike in (lambda _: "", lambda one: one.dtype, lambda one: one.rank):
        groups: dict[object, list[str]] = defaultdict(list)
        for name in left:
            groups[alike(by_id[name])].append(name)
        for ids in groups.values():
            found = shared_region([left[name] for name in ids], along)
            if found is not None:
                yield told(ids, found)
    most = region_of_most(list(left.values()), along)
    if most is not None:
        found, at = most
        names = list(left)
        yield told([names[number] for number in at], found)


def index_lines_of(spec: OpSpec) -> list[IndexLine] | None:
    """The lines of an operator's outputs; None where these have different dimensions."""
    names = spec.outputs[0].shape
    if any(output.shape != names for output in spec.outputs):
        return None
    return index_lines(names, spec.layout.planes, bool(spec.layout.spread))


def _shapes(vector: Vector) -> Iterable[tuple[int, ...]]:
    return (answer.expected.shape for answer in vector.answers)


def wrong_elements(
    failed: Iterable[Result],
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> Iterator[tuple[str, WrongElements]]:
    """Which elements are wrong, by id: where elements were compared, and outputs kept."""
    compared = (one for one in failed if one.witness is not None and one.returned is not None)
    for result in sorted(compared, key=lambda one: (one.size, one.id))[:MAX_LOCATED_FAILURES]:
        outputs, vector = unpacked(result.returned or ()), read(result.id)
        if outputs is None or len(outputs) != len(vector.answers):
            continue
        told = decisive(matches(vector, outputs, precision), level)
        masks = tuple(one.wrong for one in told.comparisons if one.count)
        if masks:
            yield result.id, WrongElements(masks)
