"""The entries of a packed suite in its order, or some of them, without having them in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import overload

from conformance.suite.containers import PackedIndex, open_container
from conformance.suite.entries import KINDS, Container, Entry


@dataclass(frozen=True)
class Span:
    """The entries of a container from one place up to another."""

    container: Container
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


class Listing(Sequence[Entry]):
    """Entries of a packed suite in its order; those of one container are in memory at a time."""

    def __init__(self, packed: PackedIndex, spans: Sequence[Span] | None = None) -> None:
        self.packed = packed
        self.spans = tuple(
            [Span(one, 0, one.count) for one in packed.containers] if spans is None else spans
        )
        self._ends = list(accumulate(map(len, self.spans)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[Entry]:
        for span in self.spans:
            yield from open_container(self.packed.root, span.container).entries[
                span.start : span.stop
            ]

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> Listing: ...
    def __getitem__(self, place: int | slice) -> Entry | Listing:
        if isinstance(place, int):
            start = range(len(self))[place]
            return next(iter(self[start : start + 1]))
        start, stop, step = place.indices(len(self))
        if step != 1:
            raise ValueError("a listing is cut into pieces, not thinned out")
        stop = max(start, stop)
        first = bisect_right(self._ends, start)
        found = []
        for span, end in zip(self.spans[first:], self._ends[first:], strict=True):
            begin = end - len(span)
            if begin >= stop:
                break
            low, high = max(start - begin, 0), min(stop - begin, len(span))
            found.append(Span(span.container, span.start + low, span.start + high))
        return Listing(self.packed, found)

    def of(self, ops: Collection[str]) -> Listing:
        """The entries of some operators."""
        return Listing(self.packed, [span for span in self.spans if span.container.op in ops])

    def part(self, number: int, of: int) -> Listing:
        """One of ``of`` parts, counted from 1, each a stretch of every operator and kind.

        Their lengths differ by one at most. So a part reads few containers, and no other.
        """
        spans: list[Span] = []
        before = 0
        for group in self._grouped():
            own = Listing(self.packed, group)
            # As many as this part would be dealt, were they dealt one by one to all parts in turn.
            ends = [0, *accumulate(_dealt(before, len(own), part, of) for part in range(of))]
            spans += own[ends[number - 1] : ends[number]].spans
            before += len(own)
        return Listing(
            self.packed, sorted(spans, key=lambda one: (one.container.number, one.start))
        )

    def counted(self) -> dict[str, dict[str, int]]:
        """How many entries of each kind each operator has."""
        found: dict[str, Counter[str]] = {}
        for span in self.spans:
            found.setdefault(span.container.op, Counter())[span.container.kind] += len(span)
        return {op: {kind: of[kind] for kind in KINDS} for op, of in found.items()}

    def _grouped(self) -> Iterable[list[Span]]:
        found: dict[tuple[str, str], list[Span]] = {}
        for span in self.spans:
            found.setdefault((span.container.op, span.container.kind), []).append(span)
        return found.values()


def _dealt(before: int, count: int, part: int, of: int) -> int:
    """How many of ``count`` things that part of ``of`` gets, which ``before`` others had begun."""
    return (before + count - part + of - 1) // of - (before - part + of - 1) // of
