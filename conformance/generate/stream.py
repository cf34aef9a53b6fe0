"""The full suite: vectors generated in pieces, never all in memory."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from conformance import parallel
from conformance.errors import UsageError
from conformance.generate.build import build
from conformance.generate.looking import sound
from conformance.generate.pool import draw_at_edges
from conformance.model import Vector
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of

BARREN = 30
"""Pieces in a row without a new vector after which none is expected any more."""

PIECE = 400
"""Cases that are drawn for one piece; what waits to be written is a few pieces."""


@dataclass(frozen=True)
class Piece:
    """Some vectors of one operator; the same number gives the same ones."""

    spec: OpSpec
    number: int
    root: int

    @property
    def label(self) -> str:
        return f"{self.spec.op} piece {self.number + 1}"

    def run(self) -> list[Vector]:
        spec = self.spec
        rank = spec.ranks[self.number % len(spec.ranks)]
        root = self.root + 1 + self.number
        # Half at large, half at the edges, so that rare ones are not rare here.
        # The first draw of each aim is the simplest one, the same in every piece.
        aims = len(spec.aims) + len(strata_of(spec).aims(root))
        half, aimed = PIECE // 2, max(2, PIECE // (2 * (1 + aims)))
        cases = {case.id: case for case in draw_at_edges(spec, rank, half, aimed, root=root)}
        return [build(spec, case) for case in sound(spec, rank - 2, list(cases.values()))]


def stream(
    spec: OpSpec,
    count: int,
    known: set[str],
    *,
    root: int,
    processes: int,
    progress: parallel.Progress,
) -> Iterator[Vector]:
    """``count`` vectors of one operator that are not ``known`` yet by id, which they then are.

    Raises UsageError where an operator has not so many: where piece after piece has no new one.
    """
    pieces = (Piece(spec, number, root) for number in itertools.count())
    made = parallel.run(
        pieces,
        processes=processes,
        progress=lambda what, _number, _total: progress(what, count - left, count),
        total=count,
        ahead=2 * processes,
    )
    left = count
    barren = 0
    with contextlib.closing(made):
        for vectors in made:
            barren = 0 if any(vector.id not in known for vector in vectors) else barren + 1
            if barren == BARREN:
                raise UsageError(
                    f"{spec.op} has no {count} vectors: "
                    f"only {count - left} different ones were found",
                    hint="ask for fewer with --count, or let the specification draw more",
                )
            for vector in vectors:
                if vector.id not in known:
                    known.add(vector.id)
                    left -= 1
                    yield vector
                    if not left:
                        return
