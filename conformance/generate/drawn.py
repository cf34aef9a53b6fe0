"""Drawn suites: many cases without selection, in containers that processes make by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance import parallel
from conformance.choices import SuiteName
from conformance.core.negative import negative_tests
from conformance.core.operator import Operator
from conformance.errors import UsageError
from conformance.generate.cases import SEEDS, draw_cases
from conformance.generate.claim import Claim, claimed
from conformance.model import Case, Vector
from conformance.replacement import replacing
from conformance.specification import build
from conformance.suite.containers import MAX_BYTES, MAX_VECTORS
from conformance.suite.lint import inputs_digest
from conformance.suite.packing import Packer, container_file, encode_container
from conformance.suite.writer import encode_entry

BARREN = 30
"""Draws in a row without a new vector after which none is expected any more."""

DRAWS = 1 << 10
"""Draws of one container at most; each has a seed of its own."""

LEAST = 20
"""Cases of one draw at least: of those drawn, a narrow claim keeps few."""

STARTS = 300
"""Valid cases that negative tests start from."""


@dataclass(frozen=True)
class Drawing:
    """One container of an operator: the same number gives the same vectors, none of another's.

    ``count`` are its value vectors; 0 stands for the negative tests. It is written into
    ``folder``, unless an earlier run has done so. ``claim`` restricts the cases.
    """

    spec: Operator
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
        return container_file(self.spec.op, self.number)

    def run(self) -> str:
        """The file, once it is written; an empty text where there are no vectors."""
        if not self.there:
            self.write(self.content())
        return self.file if self.there else ""

    @property
    def there(self) -> bool:
        """Whether an earlier run has written it; it gets its name when it is whole."""
        return (self.folder / self.file).is_file()

    def content(self) -> bytes:
        """The container; empty where there are no vectors: of some operators nothing is refused."""
        vectors = [encode_entry(vector, (SuiteName.DRAWN,)) for vector in self.vectors()]
        return encode_container(vectors) if vectors else b""

    def write(self, content: bytes) -> None:
        """Put the container into the folder, unless it is empty."""
        if not content:
            return
        file = self.folder / self.file
        file.parent.mkdir(exist_ok=True)
        with replacing(file) as new:
            new.write_bytes(content)

    def vectors(self) -> Iterator[Vector]:
        """Its vectors. Raises UsageError where an operator has not so many."""
        if not self.count:
            yield from (build(self.spec, *test) for test in self._negative())
            return
        asked: set[str] = set()
        left, barren = self.count, 0
        for draw in range(DRAWS):
            barren += 1
            for case in self._cases(draw, max(left, LEAST)):
                vector = build(self.spec, case)
                if (given := inputs_digest(vector)) not in asked:
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

    def _negative(self) -> Iterable[tuple[Case, str]]:
        """Its negative tests, with their levels."""
        valid = draw_cases(self.spec, STARTS, seed=self.root)
        return ((test.case, test.level) for test in negative_tests(self.spec, valid))

    def _cases(self, draw: int, count: int) -> list[Case]:
        root = (self.root << 40) + self.number * DRAWS + draw
        part = self.claim or Claim((), ())
        cases = draw_cases(self.spec, count, seed=root, dtypes=part.dtypes, ranks=part.ranks)
        if self.claim is not None:
            cases = list(filter(claimed(self.spec, self.claim), cases))
        # The seed is of the id, so no other container has these cases.
        return [replace(case, seed=self.number * SEEDS + case.seed) for case in cases]


@dataclass(frozen=True)
class Sent:
    """A container that a worker makes which may not see the folder: it is sent, not written."""

    drawing: Drawing

    @property
    def label(self) -> str:
        return self.drawing.label

    def run(self) -> bytes:
        return self.drawing.content()


def pieces(
    spec: Operator, count: int, *, root: int, folder: Path, claim: Claim | None = None
) -> list[Drawing]:
    """The containers of ``count`` value vectors of an operator, and of its negative tests."""
    sizes = [min(MAX_VECTORS, count - first) for first in range(0, count, MAX_VECTORS)]
    # An operator without conditions refuses nothing, and no container is empty.
    if negative_tests(spec, draw_cases(spec, STARTS, seed=root)):
        sizes.append(0)
    return [
        Drawing(spec, number, size, root, folder, claim) for number, size in enumerate(sizes, 1)
    ]


def draw_all(
    work: list[Drawing],
    packer: Packer,
    *,
    processes: int | parallel.Workers,
    progress: parallel.Progress,
) -> None:
    """Makes containers in several processes, and has them listed as they are done.

    Processes of this machine write them. Workers of a cluster send them, as they need not have the
    folder; whoever writes them, each is checked before it is listed.
    """
    asked: Any = {"progress": progress, "ahead": 2 * parallel.number_of(processes)}
    if isinstance(processes, int):
        for file in parallel.run(work, processes=processes, total=len(work), **asked):
            if file:
                packer.add_file(file)
        return
    missing = [Sent(one) for one in work if not one.there]
    sent = parallel.run(missing, processes=processes, total=len(missing), **asked)
    for one in work:
        if not one.there:
            content = next(sent)
            if len(content) > MAX_BYTES:
                raise UsageError(
                    f"{one.file}: a worker sent {len(content)} bytes, at most {MAX_BYTES} are read",
                    hint="look at the workers: they do not run this program",
                )
            one.write(content)
        if one.there:
            packer.add_file(one.file)
