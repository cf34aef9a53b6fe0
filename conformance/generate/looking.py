"""Coverage and cost of thousands of cases at once.

Most edges are told from the geometry. Those that read the data are told in part: that a case
cannot show them, or may. Where it matters, that case's data are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.audit.partitions import base_type
from conformance.dtypes import DTYPES
from conformance.errors import ConformanceError, EvaluationError
from conformance.generate.crossing import case_of
from conformance.model import Case
from conformance.reference import facts
from conformance.reference.batches import CaseBatch, batch_of
from conformance.reference.values import data_of
from conformance.spec.batch_values import Bools, code, word
from conformance.spec.case_table import Table, joined, table_of
from conformance.spec.expressions import compile_expression
from conformance.spec.model import OpSpec
from conformance.spec.scope import scope_of
from conformance.spec.validity import valid, violations

MAX_ELEMENTS = 1 << 15
"""No vector has more elements, in its data or in an output; proofs hold within this bound."""

MAX_TAPS = 1 << 21
"""No vector has more taps, over all windows and planes; no proof rests on it."""

SLICE = 4000
"""Cases that are evaluated at once, at most: more need memory, fewer time."""

WINDOWS = 1 << 18
"""Windows of all cases that are evaluated at once, at most, unless one case has more."""

FILE = 10_000
"""What one vector less is worth, in bytes."""

TAPS_A_BYTE = 16
"""How many taps are worth a byte: a vector takes time, too, wherever it is run."""


UNUSUAL = 5
"""How many times as much a case costs that most backends cannot run."""

UNCOMMON = 2
"""How many times as much one costs in another element type than the one that nearly all run."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Valid cases, the edges that each shows (cases, edges), and what it costs to keep it.

    ``shows`` are the edges that it certainly shows, ``may`` those that it may. The last column is
    whether no element of it would be graded. ``origin`` is its row in the table that was looked at.
    """

    table: Table
    shows: Bools
    may: Bools
    cost: NDArray[np.int64]
    origin: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cost)

    def take(self, rows: NDArray[np.int64] | Bools) -> Seen:
        shows, may = self.shows[rows], self.may[rows]
        return Seen(self.table.take(rows), shows, may, self.cost[rows], self.origin[rows])

    @property
    def settled(self) -> Bools:
        """Of which cases it is known which targets they cover."""
        return (self.shows == self.may).all(axis=1)


def together(parts: list[Seen]) -> Seen:
    """All of several, one after the other."""
    arrays = zip(*((p.shows, p.may, p.cost, p.origin) for p in parts), strict=True)
    return Seen(joined([part.table for part in parts]), *map(np.concatenate, arrays))


class Sight:
    """Looks at cases of one operator and rank: at the edges that they show, or, without
    ``edges``, at nothing but whether they can be kept."""

    def __init__(self, spec: OpSpec, rank: int, *, edges: bool = True) -> None:
        self.spec, self.rank = spec, rank
        looked_for = spec.edges if edges else ()
        self.edges = tuple(edge.name for edge in looked_for)
        text = "everywhere(open)" if "open" in spec.definitions else "false"
        ungraded = compile_expression(text, scope_of(spec))
        self._asked = [*(edge.when for edge in looked_for), ungraded]
        self._filled = [
            (code(pattern), code(dtype))
            for dtype in spec.types[spec.data.type]
            for pattern in spec.patterns
            if spec.fills(pattern, dtype)
        ]

    def look(self, table: Table, *, patiently: bool = False) -> Seen:
        """The valid cases that are neither empty nor too large, of some.

        Of a few cases it cannot be told in a batch whether they are valid: ``patiently`` they are
        judged alone, otherwise left out.
        """
        found = [
            self._look(table, np.arange(begin, min(begin + SLICE, len(table))), patiently)
            for begin in range(0, max(1, len(table)), SLICE)
        ]
        return together(found)

    def _look(self, table: Table, rows: NDArray[np.int64], patiently: bool) -> Seen:
        table = table.take(rows)
        batch = batch_of(table)
        sound, unsettled = valid(table, batch)
        if patiently:
            for row in np.flatnonzero(unsettled & ~table.odd):
                sound[row] = _valid(self.spec, case_of(table, int(row)))
        sound &= self.fills(table) & self._sized(batch)
        table, rows = table.take(sound), rows[sound]
        windows = batch.parts[sound]
        ends = np.searchsorted(np.cumsum(windows), np.arange(WINDOWS, windows.sum(), WINDOWS))
        borders = np.unique([0, *ends, len(table)])
        parts = [np.arange(*border) for border in pairwise(borders)] or [np.arange(0)]
        return together([self._edges(table.take(part), rows[part]) for part in parts])

    def fills(self, table: Table) -> Bools:
        """Of which cases the pattern can fill the element type."""
        own = table.columns[self.spec.data.type]
        found = np.zeros(len(table), np.bool_)
        for pattern, dtype in self._filled:
            found |= (table.columns["pattern"] == pattern) & (own == dtype)
        return found

    def _sized(self, batch: CaseBatch) -> Bools:
        return np.asarray((batch.smallest > 0) & (batch.largest <= MAX_ELEMENTS))

    def _edges(self, table: Table, origin: NDArray[np.int64]) -> Seen:
        batch = batch_of(table)
        told = [batch.truth(asked) for asked in self._asked]
        shows, may = (np.stack(columns, axis=1) for columns in zip(*told, strict=True))
        cost, taps = self._cost(table, batch)
        fit = (taps <= MAX_TAPS) & ~shows[:, -1]
        return Seen(table, shows, may, cost, origin).take(fit)

    def _cost(self, table: Table, batch: CaseBatch) -> tuple[Any, Any]:
        """About the bytes of a vector, and at least its taps."""
        sizes = np.array(
            [DTYPES[word(n)].numpy.itemsize for n in table.columns[self.spec.data.type]]
        )
        # Of each output there are the exact value and at least three in the type.
        size = batch.data * sizes + batch.results * (8 + 3 * sizes)
        taps = batch.steps
        size = size + batch.listed // TAPS_A_BYTE
        has_twin = np.zeros(len(table), np.bool_)
        for quantity in self.spec.attributes:
            if quantity.twin is not None:
                value = code(str(quantity.twin)) if quantity.type == "enum" else quantity.twin
                has_twin |= table.columns[quantity.key] != value
        cost = (FILE + size) * np.where(has_twin, 2, 1)
        return (cost * rarity(batch)).astype(np.int64), taps

    def settle(self, seen: Seen, rows: NDArray[np.int64]) -> Seen:
        """Some of the cases, with their data evaluated where a target depends on them."""
        seen = seen.take(rows)
        kept = np.ones(len(seen), np.bool_)
        for row in np.flatnonzero(~seen.settled):
            case = case_of(seen.table, int(row))
            env = facts(self.spec, case, data_of(self.spec, case))
            try:
                for edge in np.flatnonzero(seen.may[row] & ~seen.shows[row]):
                    seen.shows[row, edge] = bool(self._asked[edge].evaluate(env))
            except EvaluationError:  # windows too large to be listed
                kept[row] = False
        seen = replace(seen, may=seen.shows)
        return seen.take(kept & ~seen.shows[:, -1])

    def shown(self, cases: list[Case]) -> Bools:
        """Which edges each of some cases shows, its data looked at, (cases, edges); none of a case
        that is not valid, or too large."""
        seen = self.look(table_of(self.spec, cases, self.rank), patiently=True)
        seen = self.settle(seen, np.arange(len(seen)))
        found = np.zeros((len(cases), len(self.edges)), np.bool_)
        found[seen.origin] = seen.shows[:, : len(self.edges)]
        return found


def sound(spec: OpSpec, rank: int, cases: list[Case]) -> list[Case]:
    """Those of some cases of one rank that are valid, neither empty nor too large, and graded."""
    seen = Sight(spec, rank, edges=False).look(table_of(spec, cases, rank), patiently=True)
    return [cases[row] for row in seen.origin]


def askable(spec: OpSpec, case: Case) -> bool:
    """Whether a case from outside can be evaluated: it is valid, or is called a negative test, and
    is not too large."""
    try:
        if case.reject is not None:
            named = case.reject in {one.name for one in spec.reject}
            sizes = (prod(max(1, n) for n in case.shapes[one.name]) for one in spec.tensors)
            return named and max(sizes) <= MAX_ELEMENTS
        return case.pattern in spec.data.patterns and bool(sound(spec, spec.rank_of(case), [case]))
    except (ConformanceError, ValueError, TypeError, KeyError, IndexError):
        return False


def rarity(batch: CaseBatch) -> NDArray[np.int64]:
    """How many times as much each case costs for what it needs, (cases,)."""
    spec = batch.table.spec
    own = batch.table.columns[spec.data.type]
    found = np.where(own == code(base_type(spec)), 1, UNCOMMON)
    for asked, inside in usual(batch):
        found *= np.where(asked & ~inside, UNUSUAL, 1)
    return found


def usual(batch: CaseBatch) -> Iterator[tuple[Bools, Bools]]:
    """Of each profile that most backends have: for which cases it is usual, and which are within
    it, each (cases,)."""
    for profile in batch.table.spec.profiles:
        if profile.usual is not None:
            yield batch.truth(profile.usual)[0], batch.truth(profile.when)[0]


def _valid(spec: OpSpec, case: Case) -> bool:
    try:
        return not violations(spec, case)
    except EvaluationError:
        return False
