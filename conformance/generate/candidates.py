"""Cases that a hunt looks through: known ones, drawn ones, and what takes after both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from conformance.audit.partitions import profile_of, rows_within
from conformance.generate.chance import Chance
from conformance.generate.crossing import case_of, crossed
from conformance.generate.looking import Sight
from conformance.generate.pairs import Effort
from conformance.generate.pool import draw_fast
from conformance.generate.strategies import Aim
from conformance.model import Case
from conformance.spec.batch_values import Bools, code
from conformance.spec.case_table import Table, joined, table_of
from conformance.spec.model import DrawBounds, OpSpec
from conformance.spec.strata import strata_of
from conformance.suite.survivors import Partition

CHILDREN = 3000
ROUNDS = 4
"""How many children of known cases are looked at on each rank, and how often, at most."""

OTHER = 0x5EED
"""Added to the root, so that the hunt draws other cases than those that were chosen from."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Cases of one rank, in columns. Most are looked at there alone: a case itself is ``made``, of
    its number in ``rows``, when it is asked for."""

    table: Table
    rows: Rows
    made: Callable[[int], Case]

    @classmethod
    def of(cls, spec: OpSpec, cases: Sequence[Case], rank: int) -> Candidates:
        """Some cases whose data have this rank."""
        table = table_of(spec, cases, rank)
        return cls(table, np.arange(len(table)), cases.__getitem__)

    @classmethod
    def spelled(cls, table: Table) -> Candidates:
        """The cases of a table, spelled as drawn ones are."""
        return cls(table, np.arange(len(table)), lambda row: case_of(table, row))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Case]:
        return (self.case(row) for row in range(len(self)))

    def case(self, row: int) -> Case:
        return self.made(int(self.rows[row]))

    def take(self, rows: Rows | Bools) -> Candidates:
        return replace(self, table=self.table.take(rows), rows=self.rows[rows])

    def slices(self, length: int) -> Iterator[Candidates]:
        """All of them, so many at a time."""
        for begin in range(0, len(self), length):
            yield self.take(np.arange(begin, min(begin + length, len(self))))

    def without(self, others: Candidates) -> Candidates:
        """Those that ask another question than each of the others."""
        known = set(others.table.questions())
        fresh = [question not in known for question in self.table.questions()]
        return self.take(np.array(fresh, np.bool_))

    def inside(self, part: Partition) -> Candidates:
        """Those that belong to a part of their rank."""
        return self.take(rows_within(part, self.table))

    def sound(self) -> Candidates:
        """Those that are valid, neither empty nor too large, and graded."""
        sight = Sight(self.table.spec, self._rank, edges=False)
        return self.take(sight.look(self.table, patiently=True).origin)

    def retyped(self, dtype: str) -> Candidates:
        """Those of other element types, in this one; they may not be sound."""
        name = self.table.spec.data.type
        others = self.take(self.table.columns[name] != code(dtype))
        columns = {**others.table.columns, name: np.full(len(others), code(dtype))}

        def made(row: int) -> Case:
            case = self.made(row)
            return replace(case, types={**case.types, name: dtype})

        return Candidates(replace(others.table, columns=columns), others.rows, made)

    @property
    def _rank(self) -> int:
        return self.table.spec.layout.rank(self.table.axes)


def known_cases(part: Partition, known: Candidates) -> Iterator[Candidates]:
    """Sound cases of a part among known ones of its rank, then others of these in its type."""
    yield known.inside(part)
    yield known.retyped(part.dtype).sound().inside(part)


def drawn_cases(spec: OpSpec, part: Partition, *, root: int, effort: Effort) -> Candidates:
    """Sound cases that are drawn for a part, within the aims of its profile."""
    within = aims_of(spec, part)
    return _drawn(spec, part.rank, root=root, effort=effort, within=within).inside(part)


def children(part: Partition, known: Sequence[Candidates], *, root: int) -> Iterator[Candidates]:
    """Sound cases of a part that take after known ones of its rank, two each.

    They are made as they are asked for.
    """
    table = joined([one.table for one in known])
    spec, of_type = table.spec, table.columns[table.spec.data.type] == code(part.dtype)
    sight = Sight(spec, part.rank, edges=False)
    every = Candidates.spelled(table)
    others = every.retyped(part.dtype).table
    parents = joined([table.take(of_type), others.take(sight.fills(others))])
    for number in range(ROUNDS if len(parents) else 0):
        chance = Chance(f"{root}/{spec.op}/{part}/{number}/hunt")
        a, b = (chance.below(len(parents), CHILDREN) for _ in range(2))
        seen = sight.look(crossed(parents, a, b, chance, freely=number % 2 > 0))
        yield Candidates.spelled(seen.table).inside(part)


def any_case(
    spec: OpSpec, known: Sequence[Case], *, root: int, effort: Effort
) -> Iterator[Candidates]:
    """Sound cases of an operator: known ones, then drawn ones, of each rank."""
    for rank in spec.ranks:
        yield Candidates.of(spec, [case for case in known if spec.rank_of(case) == rank], rank)
    for rank in spec.ranks:
        yield _drawn(spec, rank, root=root, effort=effort)


def _drawn(
    spec: OpSpec, rank: int, *, root: int, effort: Effort, within: Sequence[Aim] = ({},)
) -> Candidates:
    """So many that every second has the aim of an edge or a stratum."""
    count = effort.base + 2 * effort.aimed * (len(spec.aims) + len(strata_of(spec).strata))
    drawn = draw_fast(spec, rank, count, root=root + OTHER, within=within)
    return Candidates.of(spec, drawn, rank).sound()


def aims_of(spec: OpSpec, part: Partition) -> list[Aim]:
    """What to draw so that cases belong to a part: its type, and any aim of its profile."""
    of_type = {spec.data.type: DrawBounds(values=(part.dtype,))}
    aims = profile_of(spec, part).aims if part.profile else ()
    return [{**aim, **of_type} for aim in aims or ({},)]
