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
    """A stretch of the entries of a container, from ``start`` up to ``stop``."""

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
            [Span(container, 0, container.count) for container in packed.containers]
            if spans is None
            else spans
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
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Listing: ...
    def __getitem__(self, index: int | slice) -> Entry | Listing:
        if isinstance(index, int):
            start = range(len(self))[index]
            return next(iter(self[start : start + 1]))
        start, stop, step = index.indices(len(self))
        if step != 1:
            raise ValueError("a listing is cut into pieces, not thinned out")
        stop = max(start, stop)
        first = bisect_right(self._ends, start)
        spans = []
        for span, end in zip(self.spans[first:], self._ends[first:], strict=True):
            begin = end - len(span)
            if begin >= stop:
                break
            low, high = max(start - begin, 0), min(stop - begin, len(span))
            spans.append(Span(span.container, span.start + low, span.start + high))
        return Listing(self.packed, spans)

    def of(self, ops: Collection[str]) -> Listing:
        """Return the entries of the given operators."""
        return Listing(self.packed, [span for span in self.spans if span.container.op in ops])

    def part(self, number: int, of: int) -> Listing:
        """Return part ``number`` of ``of``, counted from 1: a stretch of every operator and kind.

        Their lengths differ by one at most. So a part reads few containers, and no other.
        """
        spans: list[Span] = []
        before = 0
        for group in self._grouped():
            listing = Listing(self.packed, group)
            # As many as this part would be dealt, were they dealt one by one to all parts in turn.
            ends = [0, *accumulate(_dealt(before, len(listing), part, of) for part in range(of))]
            spans += listing[ends[number - 1] : ends[number]].spans
            before += len(listing)
        order = {container: index for index, container in enumerate(self.packed.containers)}
        return Listing(
            self.packed, sorted(spans, key=lambda span: (order[span.container], span.start))
        )

    def kind_counts(self) -> dict[str, dict[str, int]]:
        """Count the entries of each kind of each operator."""
        counts: dict[str, Counter[str]] = {}
        for span in self.spans:
            counts.setdefault(span.container.op, Counter())[span.container.kind] += len(span)
        return {op: {kind: kinds[kind] for kind in KINDS} for op, kinds in counts.items()}

    def _grouped(self) -> Iterable[list[Span]]:
        groups: dict[tuple[str, str], list[Span]] = {}
        for span in self.spans:
            groups.setdefault((span.container.op, span.container.kind), []).append(span)
        return groups.values()


def _dealt(before: int, count: int, part: int, of: int) -> int:
    """Count the things out of ``count`` that part of ``of`` gets, which ``before`` others had
    begun.
    """
    return (before + count - part + of - 1) // of - (before - part + of - 1) // of
