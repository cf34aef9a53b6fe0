"""Selects the window that illustrates a coverage target best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.errors import ConformanceError
from conformance.families.pooling.facts import DataEnvironment
from conformance.families.pooling.picture import described, window
from conformance.model import Case, Vector
from conformance.reference import facts
from conformance.spec.expressions import Expression
from conformance.spec.model import CoverageTarget, OpSpec
from conformance.spec.validity import violations

__all__ = ["Shown", "described", "of_windows", "telling", "window"]

MAX_GRID = 1 << 20
"""No element is picked from larger outputs; the first one is shown."""


SMALL_PLANE = 4
"""In a plane of fewer elements a window covers nearly all, and a picture shows little."""

TRIED = 24
"""Vectors that are looked at for one whose window takes several elements."""

SEVERAL = 2


@dataclass(frozen=True)
class Shown:
    """An output element of a vector that shows an edge: its window as JSON data for a picture."""

    vector: Vector
    index: tuple[int, ...]
    window: dict[str, Any]


def telling(spec: OpSpec, edge: CoverageTarget, vectors: Iterable[Vector]) -> Shown | None:
    """The window that shows ``edge`` best in one of the valid ``vectors``, the smallest first.

    In a vector that is a window on which most of what the edge asks of single windows holds; of
    those, and for an edge that asks nothing of single windows, one with the most taps beside the
    data; of those one with the most taps, and of these the last, since most goes wrong at the end
    of an axis.

    The vector is the first whose window takes several elements of the data, or else one, or else
    the first at all, the plain ones before others. None where there is none: no output element,
    no taps, or vectors of another version of the specification.
    """
    best = None
    for vector in sorted(vectors, key=_plainness)[:TRIED]:
        shown = _shown(spec, edge, vector)
        if shown is not None and (best is None or _taken(shown) > _taken(best)):
            best = shown
        if best is not None and _taken(best) == SEVERAL:
            break
    return best


def _taken(shown: Shown) -> int:
    """How many elements of the data the window takes, up to ``SEVERAL``."""
    return min(prod(map(sum, shown.window["counts"])), SEVERAL)


def _plainness(vector: Vector) -> tuple[bool, bool, int, bool]:
    """Smaller for a vector that a picture shows better.

    That is one whose planes are all filled alike, have more than a few elements and few axes, and
    hold distinct whole numbers, which tell themselves apart.
    """
    spatial, pattern = vector.inputs[0].shape[2:], vector.case.pattern
    return pattern == "mixed", prod(spatial) < SMALL_PLANE, len(spatial), pattern != "ramp"


def _shown(spec: OpSpec, edge: CoverageTarget, vector: Vector) -> Shown | None:
    if not _fits(spec, vector.case):
        return None
    inputs = vector.inputs
    try:
        index = _telling(edge, facts(spec, vector.case, inputs))
        seen = None if index is None else window(spec, vector.case, inputs, index)
    except ConformanceError:
        return None  # windows that cannot be computed, or are too large to be listed
    found = None if seen is None else described(seen, inputs)
    return None if seen is None or found is None else Shown(vector, seen.index, found)


def _fits(spec: OpSpec, case: Case) -> bool:
    """Whether the case is a valid one of this very version of the specification."""
    same = (
        case.types.keys() == spec.types.keys()
        and case.shapes.keys() == {spec.data.name}
        and case.operands.keys() == {operand.name for operand in spec.operands}
    )
    return same and not any(broken.level == "must" for broken in violations(spec, case))


def _telling(edge: CoverageTarget, env: DataEnvironment) -> tuple[int, ...] | None:
    shape = (*env.data.shape[:2], *env.out)
    if not prod(shape):
        return None
    if prod(shape) > MAX_GRID:
        return (0,) * len(shape)
    asked = [np.asarray(part.evaluate(env), np.int64) for part in of_windows(edge)]
    holding = sum(asked, np.zeros((), np.int64))
    taps = _over_axes(env.on_grid(axis, env.along("taps", axis)) for axis in range(len(env.out)))
    beside = taps - _over_axes(env.per_axis("on_data"))
    keys = [np.broadcast_to(key, shape).ravel() for key in (taps, beside, holding)]
    return tuple(int(i) for i in np.unravel_index(np.lexsort(keys)[-1], shape))


def _over_axes(counts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Counts of taps along each axis as those of whole windows."""
    return np.asarray(reduce(np.multiply, counts), np.int64)


def of_windows(edge: CoverageTarget) -> Iterator[Expression]:
    """What the edge asks of single windows: the conditions of its ``somewhere``."""
    for node in edge.when.tree.walk():
        if node.op == "somewhere":
            yield Expression(edge.when.text, node.args[0])
