"""Which failures of an operator that nothing explains have their wrong elements in one place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.diagnosis.error_regions import Line, Shared, Wrong, lines, mostly, shared
from conformance.grade.match import decisive, matches
from conformance.grade.returned import unpacked
from conformance.model import Result, Vector
from conformance.spec.model import OpSpec

LOOKED_AT = 1_000
"""Failures of an operator that are looked at, the smallest first."""

PASSED_LOOKED_AT = 300
"""Passed vectors whose outputs' shapes are looked at, the first of the suite."""


@dataclass(frozen=True)
class Placed:
    """Failures, by id, whose wrong elements all lie in one place.

    Of the passed vectors of the same element types and ranks that were looked at, ``passing`` says
    how many have elements there, and how many there are.
    """

    ids: frozenset[str]
    found: Shared
    passing: tuple[int, int]


def placed(
    spec: OpSpec,
    failed: Sequence[Result],
    passed: Sequence[Result],
    *,
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> Iterator[Placed]:
    """The places of failures of one operator: one of all, else one for each element type, else
    for each rank, of what then is left, that has one; in the end one of most that are left.

    Failures whose elements were not compared, or whose outputs were not kept, have none.
    """
    by_id = {one.id: one for one in failed}
    along = lines_of(spec)
    if along is None:
        return
    left = dict(wrong_elements(failed, read, precision, level))

    def told(ids: Sequence[str], found: Shared) -> Placed:
        like = {(by_id[name].dtype, by_id[name].rank) for name in ids}
        seen = [one.id for one in passed if (one.dtype, one.rank) in like]
        seen = seen[:PASSED_LOOKED_AT]
        there = sum(found.is_in(_shapes(read(name))) for name in seen)
        for name in ids:
            del left[name]
        return Placed(frozenset(ids), found, (there, len(seen)))

    for alike in (lambda _: "", lambda one: one.dtype, lambda one: one.rank):
        groups: dict[object, list[str]] = defaultdict(list)
        for name in left:
            groups[alike(by_id[name])].append(name)
        for ids in groups.values():
            found = shared([left[name] for name in ids], along)
            if found is not None:
                yield told(ids, found)
    most = mostly(list(left.values()), along)
    if most is not None:
        found, at = most
        names = list(left)
        yield told([names[number] for number in at], found)


def lines_of(spec: OpSpec) -> list[Line] | None:
    """The lines of an operator's outputs; None where these have different dimensions."""
    names = spec.outputs[0].shape
    if any(output.shape != names for output in spec.outputs):
        return None
    return lines(names, spec.layout.planes, bool(spec.layout.spread))


def _shapes(vector: Vector) -> Iterable[tuple[int, ...]]:
    return (answer.expected.shape for answer in vector.answers)


def wrong_elements(
    failed: Iterable[Result],
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> Iterator[tuple[str, Wrong]]:
    """Which elements are wrong, by id: where elements were compared, and outputs kept."""
    compared = (one for one in failed if one.witness is not None and one.returned is not None)
    for result in sorted(compared, key=lambda one: (one.size, one.id))[:LOOKED_AT]:
        outputs, vector = unpacked(result.returned or ()), read(result.id)
        if outputs is None or len(outputs) != len(vector.answers):
            continue
        told = decisive(matches(vector, outputs, precision), level)
        masks = tuple(one.wrong for one in told.comparisons if one.count)
        if masks:
            yield result.id, Wrong(masks)
