"""Drawn suites: many cases without selection, in containers that processes make by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from conformance import parallel
from conformance.errors import UsageError
from conformance.generate.build import build
from conformance.generate.looking import sound
from conformance.generate.narrow import Claim, narrowed
from conformance.generate.pool import draw_fast
from conformance.generate.reject import reject_cases
from conformance.generate.strategies import SEEDS
from conformance.model import Case, Vector
from conformance.replacement import replacing
from conformance.spec.model import OpSpec
from conformance.suite.containers import MOST
from conformance.suite.lint import question
from conformance.suite.packing import Packer, container, file_of
from conformance.suite.writer import listed
from conformance.verdict import DRAWN

BARREN = 30
"""Draws in a row without a new vector after which none is expected any more."""

DRAWS = 1 << 10
"""Draws of one container at most; each has a seed of its own."""


@dataclass(frozen=True)
class Drawing:
    """One container of an operator: the same number gives the same vectors, none of another's.

    ``count`` are its value vectors; 0 stands for the negative tests. It is written into
    ``folder``, unless an earlier run has done so. ``claim`` restricts the cases.
    """

    spec: OpSpec
    number: int
    count: int
    root: int
    folder: Path
    claim: Claim | None = None

    @property
    def label(self) -> str:
        return self.spec.op

    @property
    def file(self) -> str:
        """The container in the folder."""
        return file_of(self.spec.op, self.number)

    def run(self) -> str:
        """The file, once it is written."""
        file = self.folder / self.file
        if not file.exists():  # it gets its name when it is whole
            content = container([listed(vector, (DRAWN,)) for vector in self.vectors()])
            file.parent.mkdir(exist_ok=True)
            with replacing(file) as new:
                new.write_bytes(content)
        return self.file

    def vectors(self) -> Iterator[Vector]:
        """Its vectors. Raises UsageError where an operator has not so many."""
        if not self.count:
            found = reject_cases(self.spec, root=self.root)
            yield from (build(self.spec, case, level) for case, level in found)
            return
        asked: set[str] = set()
        left, barren = self.count, 0
        for draw in range(DRAWS):
            barren += 1
            for case in self._cases(draw, left):
                vector = build(self.spec, case)
                if (given := question(vector)) not in asked:
                    asked.add(given)
                    barren, left = 0, left - 1
                    yield vector
                    if not left:
                        return
            if barren == BARREN:
                break
        raise UsageError(
            f"{self.spec.op} has no {self.count} different vectors on one rank: "
            f"only {self.count - left} were found",
            hint="ask for fewer with --drawn, or let the specification draw more",
        )

    def _cases(self, draw: int, count: int) -> list[Case]:
        spec = self.spec if self.claim is None else narrowed(self.spec, self.claim)
        ranks = spec.ranks if self.claim is None else self.claim.ranks
        rank = ranks[self.number % len(ranks)]
        drawn = draw_fast(spec, rank, count, root=(self.root << 40) + self.number * DRAWS + draw)
        # The seed is of the id, so no other container has these cases.
        first = self.number * SEEDS
        cases = [replace(case, seed=first + case.seed) for case in drawn]
        return sound(spec, rank - 2, cases)


def pieces(
    spec: OpSpec, count: int, *, root: int, folder: Path, claim: Claim | None = None
) -> list[Drawing]:
    """The containers of ``count`` value vectors of an operator, and of its negative tests."""
    sizes = [min(MOST, count - first) for first in range(0, count, MOST)]
    sizes += [0] if spec.reject else []
    return [
        Drawing(spec, number, size, root, folder, claim) for number, size in enumerate(sizes, 1)
    ]


def draw_all(
    work: list[Drawing], packer: Packer, *, processes: int, progress: parallel.Progress
) -> None:
    """Makes containers in several processes, and has them listed as they are done."""
    done = parallel.run(
        work, processes=processes, progress=progress, total=len(work), ahead=2 * processes
    )
    for file in done:
        packer.adopt(file)
