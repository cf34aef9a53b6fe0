"""The full suite: as many vectors as are asked for, made in pieces and never all in memory."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from conformance import parallel
from conformance.errors import UsageError
from conformance.generate.build import build
from conformance.generate.pairs import drawn
from conformance.generate.strategies import Aim
from conformance.model import Case, Vector
from conformance.spec.loader import find

BARREN = 30
"""Pieces in a row without a new vector after which none is expected any more."""

PIECE = 400
"""Cases that are drawn for one piece; what waits to be written is a few pieces."""


@dataclass(frozen=True)
class Piece:
    """Some vectors of one operator; the same number gives the same ones."""

    op: str
    number: int
    root: int

    @property
    def label(self) -> str:
        return f"{find(self.op).op} piece {self.number + 1}"

    def run(self) -> list[Vector]:
        spec = find(self.op)
        aims: list[Aim | None] = [None, *(aim for edge in spec.edges for aim in edge.aims)]
        rank = spec.ranks[self.number % len(spec.ranks)]
        root = self.root + 1 + self.number
        found: dict[str, Case] = {}
        # Half at large, half at the edges, so that rare ones are not rare here.
        for aim in aims:
            count = PIECE // 2 if aim is None else max(1, PIECE // (2 * len(aims)))
            for case in drawn(spec, rank, count, root=root, aim=aim):
                found.setdefault(case.id, case)
        return [build(spec, case) for case in found.values()]


def stream(
    op: str,
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
    pieces = (Piece(op, number, root) for number in itertools.count())
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
                    f"{op} has no {count} vectors: only {count - left} different ones were found",
                    hint="ask for fewer with --count, or let the specification draw more",
                )
            for vector in vectors:
                if vector.id not in known:
                    known.add(vector.id)
                    left -= 1
                    yield vector
                    if not left:
                        return
