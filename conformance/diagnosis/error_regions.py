"""Regions in which the wrong elements of several failures lie by more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Shape = tuple[int, ...]

GROUPS = (4, 8, 16)
"""Elements that kernels handle at once; what is left over at the end has code of its own."""

UNLIKELY = 0.01
"""The chance that wrong elements lie by themselves in one of the places tried, at most."""

FILLED = 0.5
"""Indices of a place that are wrong, of those that it has, at least; and vectors that are wrong at
the index with which it begins."""

MIN_SHARING = 4
"""Failures that share a place beside others that do not, at least."""

SHARE = 1 / 3
"""Failures that do, of all, at least."""

BEGINNINGS = 3
"""First wrong numbers of a line from which all are taken to be wrong, beside other failures."""


@dataclass(frozen=True)
class IndexLine:
    """A way to number the elements of an output from 0 on.

    The line runs along the dimensions from ``first`` to before ``end``, which count from the end if
    they are negative (an ``end`` of 0 is the end).

    An output has no such line if it would take one of the first ``fixed`` dimensions for an axis.
    """

    name: str
    first: int
    end: int
    fixed: int = 0

    @property
    def single(self) -> bool:
        """True if the line is one dimension."""
        return self.end - self.first == 1

    def along(self, mask: Mask) -> Mask:
        """Return, by number, whether a mask holds anywhere: (n,).

        Returns: an empty array if the output has no such line.
        """
        first, end = self._ends(mask.shape)
        if not self.fixed <= first < end <= mask.ndim:
            return np.zeros(0, np.bool_)
        other_dimensions = (*range(first), *range(end, mask.ndim))
        hits: Mask = mask.any(axis=other_dimensions).reshape(-1)
        return hits

    def length(self, shape: Shape) -> int:
        """Return the line's length in a shape; 0 if it has no such line."""
        first, end = self._ends(shape)
        return prod(shape[first:end]) if self.fixed <= first < end <= len(shape) else 0

    def spread(self, numbers: Mask, shape: Shape) -> Mask:
        """Expand a mask by number to the elements of a shape that has this line."""
        first, end = self._ends(shape)
        line_shape = (*(1,) * first, *shape[first:end], *(1,) * (len(shape) - end))
        return np.broadcast_to(numbers.reshape(line_shape), shape)

    def _ends(self, shape: Shape) -> tuple[int, int]:
        rank = len(shape)
        first = self.first + rank if self.first < 0 else self.first
        return first, self.end + rank if self.end <= 0 else self.end


@dataclass(frozen=True)
class Region:
    """A range of numbers on a line: ``last``, ``first``, ``from`` a number on, or ``tail``.

    A ``tail`` is left over after whole groups of ``number`` elements.
    """

    line: IndexLine
    kind: str
    number: int = 0

    def begins(self, length: int) -> int:
        """Return the region's first number on a line; ``length`` or more without any."""
        match self.kind:
            case "last":
                return length - 1
            case "first":
                return 0
            case "from":
                return self.number
            case _:
                return length - length % self.number

    def size(self, length: int) -> int:
        """Return how many numbers of a line the region has."""
        return min(length, 1) if self.kind == "first" else max(0, length - self.begins(length))

    def elements(self, shape: Shape) -> Mask | None:
        """Mark an output's elements in the region; None if it has none or all."""
        length = self.line.length(shape)
        size = self.size(length) if length else 0
        if not 0 < size < length:
            return None
        numbers = np.zeros(length, np.bool_)
        begin = self.begins(length)
        numbers[begin : begin + size] = True
        return self.line.spread(numbers, shape)

    def holds(self, hit: Mask) -> bool:
        """Return whether there are hits, and all of them lie in the region."""
        begin = self.begins(len(hit))
        end = begin + self.size(len(hit))
        return bool(hit.any()) and not hit[:begin].any() and not hit[end:].any()

    def __str__(self) -> str:
        name = self.line.name
        match self.kind:
            case "last" | "first":
                return f"only at the {self.kind} index of {name}"
            case "from":
                return f"only from index {self.number} of {name} on"
            case _:
                return f"only in the last elements of {name} that fill no group of {self.number}"


@dataclass(frozen=True)
class WrongElements:
    """Masks of the wrong elements of one failure, one per output that has such."""

    masks: tuple[Mask, ...]

    @cached_property
    def count(self) -> int:
        """Number of wrong elements."""
        return sum(int(np.count_nonzero(mask)) for mask in self.masks)


@dataclass(frozen=True)
class SharedRegion:
    """A region in which all wrong ``elements`` of some ``vectors`` lie."""

    region: Region
    vectors: int
    elements: int

    def is_in(self, shapes: Iterable[Shape]) -> bool:
        """Return whether outputs of these shapes have elements in the region."""
        lengths = (self.region.line.length(shape) for shape in shapes)
        return any(length and self.region.size(length) for length in lengths)


AXES = ("the last axis", "the last axis but one", "the last axis but two")


def index_lines(names: Sequence[tuple[str, bool]]) -> list[IndexLine]:
    """List the lines of an output, from the names of its dimensions.

    Each says whether it stands for any number of axes. Dimensions before these are counted from
    the first, those behind them from the last.
    """
    several = [at for at, (_, spread) in enumerate(names) if spread]
    fixed = several[0] if several else len(names)
    behind = names[several[-1] + 1 :] if several else []
    lines = [IndexLine(name, at, at + 1) for at, (name, _) in enumerate(names[:fixed])]
    for at, (name, _) in enumerate(behind, -len(behind)):
        lines.append(IndexLine(name, at, at + 1, fixed))
    if several and not behind:
        lines += [IndexLine(name, -1 - back, -back, fixed) for back, name in enumerate(AXES)]
        lines.append(IndexLine("a plane", fixed, 0))
    return [*lines, IndexLine("an output", 0, 0)]


def shared_region(
    failures: Sequence[WrongElements], along: Sequence[IndexLine]
) -> SharedRegion | None:
    """Find the narrowest region that has all wrong elements of all failures.

    Returns: None if there is none, if it may be chance, or for a single failure.

    Chance is taken to hit, in each failure anew, as many numbers in a row as lie between its first
    and its last, anywhere on the line. So neighbours that are wrong together count once, and a
    failure whose whole line is in the region shows nothing.
    """
    if len(failures) < 2:
        return None
    candidates: list[tuple[float, int, Region]] = []
    for line in along:
        hits = [line.along(mask) for failure in failures for mask in failure.masks]
        # Where an output has no such line, as with fewer axes, nothing is on it.
        if any(not hit.any() for hit in hits):
            continue
        owners = [at for at, failure in enumerate(failures) for _ in failure.masks]
        tried = 2 + len(GROUPS) + (max(map(len, hits)) if line.single else 0)
        for rank, region in enumerate(_regions(line, hits)):
            if all(map(region.holds, hits)) and _filled(region, hits):
                share = sum(region.size(len(hit)) / len(hit) for hit in hits)
                if len(along) * tried * _chance(region, hits, owners) <= UNLIKELY:
                    candidates.append((share, rank, region))
    if not candidates:
        return None
    # One that is wider and surer is no better: the narrower holds as well.
    *_, region = min(candidates, key=lambda candidate: candidate[:2])
    return SharedRegion(region, len(failures), sum(failure.count for failure in failures))


def region_of_most(
    failures: Sequence[WrongElements], along: Sequence[IndexLine]
) -> tuple[SharedRegion, list[int]] | None:
    """Find the region that has all wrong elements of most failures.

    Returns: the region and the indices of these failures; None if there is none, or it may be
    chance.

    A backend with several bugs fails elsewhere, too. A failure whose whole line is in the region
    shows nothing and is none of them. Chance is that of :func:`shared_region`, for any choice
    of as many failures.
    """
    candidates: list[tuple[int, float, int, Region, list[int]]] = []
    for line in along:
        hits = [[line.along(mask) for mask in failure.masks] for failure in failures]
        length = max((len(hit) for failure_hits in hits for hit in failure_hits), default=0)
        tried = 2 + len(GROUPS) + (length if line.single else 0)
        for rank, region in enumerate(_some_regions(line, hits)):
            at = [
                number
                for number, failure_hits in enumerate(hits)
                if failure_hits
                and all(
                    region.holds(hit) and region.size(len(hit)) < len(hit) for hit in failure_hits
                )
            ]
            if len(at) < max(MIN_SHARING, SHARE * len(failures)):
                continue
            region_hits = [hit for number in at for hit in hits[number]]
            owners = [number for number in at for _ in hits[number]]
            chosen = len(along) * tried * comb(len(failures), len(at))
            if (
                _filled(region, region_hits)
                and chosen * _chance(region, region_hits, owners) <= UNLIKELY
            ):
                share = sum(region.size(len(hit)) / len(hit) for hit in region_hits) / len(
                    region_hits
                )
                candidates.append((-len(at), share, rank, region, at))
    if not candidates:
        return None
    *_, region, at = min(candidates, key=lambda candidate: candidate[:3])
    return SharedRegion(region, len(at), sum(failures[number].count for number in at)), at


def _some_regions(line: IndexLine, hits: Sequence[Sequence[Mask]]) -> Iterator[Region]:
    """What may be of some of several failures, the plainest first."""
    yield Region(line, "last")
    yield Region(line, "first")
    if line.single:
        begins = Counter(
            int(hit.argmax()) for failure_hits in hits for hit in failure_hits if hit.any()
        )
        for begin, _ in begins.most_common(BEGINNINGS):
            if begin:
                yield Region(line, "from", begin)
    for group in GROUPS:
        yield Region(line, "tail", group)


def _regions(line: IndexLine, hits: Sequence[Mask]) -> Iterator[Region]:
    """What may be, the plainest first."""
    yield Region(line, "last")
    yield Region(line, "first")
    begin = min(int(hit.argmax()) for hit in hits)
    if begin and line.single:
        yield Region(line, "from", begin)
    for group in GROUPS:
        yield Region(line, "tail", group)


def _filled(region: Region, hits: Sequence[Mask]) -> bool:
    """Whether about all that the region has is wrong, from its beginning on."""
    filled = sum(np.count_nonzero(hit) / region.size(len(hit)) for hit in hits)
    begun = sum(bool(hit[region.begins(len(hit))]) for hit in hits)
    return bool(min(filled, begun) >= FILLED * len(hits))


def _chance(region: Region, hits: Sequence[Mask], owners: Sequence[int]) -> float:
    """Estimate the chance that all hits lie in the region by themselves; see `shared_region`."""
    likely: dict[int, float] = {}
    for owner, hit in zip(owners, hits, strict=True):
        at = np.flatnonzero(hit)
        extent = int(at[-1] - at[0])
        likelihood = (region.size(len(hit)) - extent) / (len(hit) - extent)
        # Outputs of one vector are wrong together: the one that shows least counts.
        likely[owner] = max(likelihood, likely.get(owner, 0.0))
    return prod(likely.values())
