"""Failures of an operator without explanation whose wrong elements share a region."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.core.operator import Operator
from conformance.diagnosis.error_regions import (
    IndexLine,
    SharedRegion,
    WrongElements,
    index_lines,
    region_of_most,
    shared_region,
)
from conformance.grade.interpretation_match import deciding_match, match_all
from conformance.grade.returned import unpack_outputs
from conformance.model import Result, Vector
from conformance.specification import dimension_names

MAX_LOCATED_FAILURES = 1_000
"""Failures of an operator that are looked at, the smallest first."""

MAX_COMPARED_PASSES = 300
"""Passed vectors whose outputs' shapes are looked at, the first of the suite."""


@dataclass(frozen=True)
class LocatedFailures:
    """Failures, by id, whose wrong elements all lie in one region.

    Of the passed vectors of the same element types and ranks that were looked at, ``passing`` says
    how many have elements there, and how many there are.
    """

    ids: frozenset[str]
    shared: SharedRegion
    passing: tuple[int, int]


def locate_failures(
    spec: Operator,
    failed: Sequence[Result],
    passed: Sequence[Result],
    *,
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> Iterator[LocatedFailures]:
    """Find the regions of an operator's failures.

    A region of all failures comes first, else regions by element type, then by rank, of the rest;
    in the end one of most of the rest.

    Failures whose elements were not compared, or whose outputs were not kept, have none.
    """
    by_id = {result.id: result for result in failed}
    along = index_lines_of(spec)
    unlocated = dict(wrong_elements(failed, read, precision, level))

    def located(ids: Sequence[str], region: SharedRegion) -> LocatedFailures:
        like = {(by_id[name].dtype, by_id[name].rank) for name in ids}
        compared = [result.id for result in passed if (result.dtype, result.rank) in like]
        compared = compared[:MAX_COMPARED_PASSES]
        passing_count = sum(region.is_in(_shapes(read(name))) for name in compared)
        for name in ids:
            del unlocated[name]
        return LocatedFailures(frozenset(ids), region, (passing_count, len(compared)))

    for alike in (lambda _: "", lambda result: result.dtype, lambda result: result.rank):
        groups: dict[object, list[str]] = defaultdict(list)
        for name in unlocated:
            groups[alike(by_id[name])].append(name)
        for ids in groups.values():
            region = shared_region([unlocated[name] for name in ids], along)
            if region is not None:
                yield located(ids, region)
    most = region_of_most(list(unlocated.values()), along)
    if most is not None:
        region, at = most
        names = list(unlocated)
        yield located([names[number] for number in at], region)


def index_lines_of(spec: Operator) -> list[IndexLine]:
    """List the lines of an operator's outputs."""
    return index_lines(dimension_names(spec, spec.outputs[0]))


def _shapes(vector: Vector) -> Iterable[tuple[int, ...]]:
    return (expected_output.expected.shape for expected_output in vector.answers)


def wrong_elements(
    failed: Iterable[Result],
    read: Callable[[str], Vector],
    precision: Mapping[str, str],
    level: str,
) -> Iterator[tuple[str, WrongElements]]:
    """Yield the wrong elements of failures, by id, if elements were compared and outputs kept."""
    compared = (
        result for result in failed if result.witness is not None and result.returned is not None
    )
    for result in sorted(compared, key=lambda result: (result.size, result.id))[
        :MAX_LOCATED_FAILURES
    ]:
        outputs, vector = unpack_outputs(result.returned or ()), read(result.id)
        if outputs is None or len(outputs) != len(vector.answers):
            continue
        match = deciding_match(match_all(vector, outputs, precision), level)
        masks = tuple(comparison.wrong for comparison in match.comparisons if comparison.count)
        if masks:
            yield result.id, WrongElements(masks)
