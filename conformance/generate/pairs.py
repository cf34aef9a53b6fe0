"""A pool of cases of one rank: covered and missing coverage targets and pairs."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from conformance.audit.partitions import base_type
from conformance.audit.strata_targets import required_pairs, required_types
from conformance.audit.trivial_implementations import trivially_passed
from conformance.feasible import CaseLimits, Feasible, Infeasible, Prover, Unknown
from conformance.generate.crossing import case_of
from conformance.generate.looking import MAX_ELEMENTS, Seen, Sight, together
from conformance.generate.pool import draw, draw_aimed, draw_at_edges
from conformance.generate.strategies import Aim
from conformance.model import Case
from conformance.reference.build import build
from conformance.spec.batch_values import Bools, code
from conformance.spec.case_table import table_of
from conformance.spec.model import OpSpec
from conformance.spec.strata import Strata, strata_of
from conformance.suite.manifest import UndecidedTarget

LIMITS = CaseLimits(MAX_ELEMENTS)

PATIENT_MS = 30_000
"""How long a check of the solver may take where nothing else has settled a pair."""

Pair = tuple[str, str]


def retyped(spec: OpSpec, cases: Iterable[Case], dtype: str) -> list[Case]:
    """Those of some cases that are of another element type, in this one where it can be filled."""
    name = spec.data.type
    return [
        replace(case, types={**case.types, name: dtype})
        for case in cases
        if case.types[name] != dtype and spec.fills(case.pattern, dtype)
    ]


@dataclass(frozen=True)
class Effort:
    """How many cases are drawn, at large and at each aim of an edge; how many children are crossed
    at most in a round, and in how many rounds; in how many more a smaller cover is sought. Without
    ``pairs`` each edge is to be shown alone, and no remainder in a stratum; without ``strata`` no
    remainder either."""

    base: int = 400
    aimed: int = 6
    children: int = 30_000
    rounds: int = 8
    condensing: int = 3
    pairs: bool = True
    strata: bool = True

    @property
    def of_strata(self) -> bool:
        """Whether remainders are to be met in strata."""
        return self.pairs and self.strata


SMOKE = Effort(base=120, aimed=3, children=8_000, rounds=4, condensing=0, pairs=False)


@dataclass
class Pool:
    """The cases of one rank, what they show, and what is known of pairs that none shows.

    ``infeasible`` gives for each pair that cannot be in the base type (an edge with itself: the
    edge alone, in any type; an element type with an edge: the edge in that type) what contradicts
    it; ``uncovered`` is neither shown nor proven.
    """

    spec: OpSpec
    rank: int
    root: int
    effort: Effort
    infeasible: dict[Pair, tuple[str, ...]] = field(default_factory=dict)
    uncovered: list[UndecidedTarget] = field(default_factory=list)
    strict: bool = False
    answers: dict[Pair, Feasible | Infeasible | Unknown] = field(default_factory=dict)
    _known: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.strata = strata_of(self.spec) if self.effort.of_strata else Strata((), (), self.spec)
        self.sight = Sight(self.strata.whole, self.rank)
        self.edges = self.sight.edges
        self.place = {name: number for number, name in enumerate(self.edges)}
        self.dtypes = self.spec.types[self.spec.data.type]
        self.base = base_type(self.spec)
        self._ask()
        self.seen = self.sight.look(table_of(self.sight.spec, [], self.rank))
        self._recount()

    def _ask(self) -> None:
        """Note what is asked for: ``asked_pairs`` (edges, edges), on the diagonal single edges, and
        ``asked_types`` (types, edges).

        Edges and their pairs, in all types; of strata what
        :mod:`conformance.audit.strata_targets` says.
        """
        count, own = len(self.edges), len(self.spec.edges)
        self.asked_pairs = np.zeros((count, count), np.bool_)
        self.asked_pairs[:own, :own] = np.eye(own, dtype=np.bool_) | self.effort.pairs
        self.asked_types = np.zeros((len(self.dtypes), count), np.bool_)
        self.asked_types[:, :own] = True
        for pair in required_pairs(self.strata, self.rank):
            a, b = (self.place[name] for name in pair)
            self.asked_pairs[a, b] = self.asked_pairs[b, a] = True
        for dtype, edge in required_types(self.spec, self.strata, self.rank):
            self.asked_types[self.dtypes.index(dtype), self.place[edge]] = True

    def __len__(self) -> int:
        return len(self.seen)

    def _recount(self) -> None:
        """Note anew what is shown: ``pairs`` (edges, edges) in the base type, on the diagonal each
        edge in any; ``typed`` (types, edges)."""
        self.pairs = np.zeros_like(self.asked_pairs)
        self.typed = np.zeros_like(self.asked_types)
        self._count(self.seen)

    def _count(self, seen: Seen) -> None:
        """Note what some cases show."""
        shows = seen.shows[:, : len(self.edges)]
        own = seen.table.columns[self.spec.data.type]
        numbers = shows[own == code(self.base)].astype(np.float32)
        single = np.diagonal(self.pairs) | shows.any(axis=0)
        self.pairs |= numbers.T @ numbers > 0
        np.fill_diagonal(self.pairs, single)
        for place, dtype in enumerate(self.dtypes):
            self.typed[place] |= shows[own == code(dtype)].any(axis=0)

    @property
    def shows(self) -> Bools:
        """Which targets each case covers, (cases, edges)."""
        return self.seen.shows[:, : len(self.edges)]

    def cases(self) -> Iterator[Case]:
        """All cases."""
        return (case_of(self.seen.table, row) for row in range(len(self)))

    def case(self, row: int) -> Case:
        return case_of(self.seen.table, row)

    @cached_property
    def prover(self) -> Prover | None:
        """None without the package z3-solver."""
        if importlib.util.find_spec("z3") is None:
            return None
        return Prover(self.sight.spec, self.rank, LIMITS)

    def ask(self, pair: Pair, *, anew: bool = False) -> Feasible | Infeasible | Unknown | None:
        """Whether a case of the base type can show two edges, or any case one, given twice. None
        without z3.

        A pair is asked about once, unless ``anew`` is true: then by a prover that has not heard
        other questions, which may find another case, or a proof; and if it does not, by a patient
        one.
        """
        if anew:
            vars(self).pop("prover", None)
            self.answers.pop(pair, None)
        if pair not in self.answers and self.prover is not None:
            edges = tuple(dict.fromkeys(pair))
            dtype = self.base if len(edges) > 1 else None
            answer = self.prover.ask(edges, dtype)
            if anew and isinstance(answer, Unknown):
                patient = Prover(self.sight.spec, self.rank, LIMITS, timeout_ms=PATIENT_MS)
                answer = patient.ask(edges, dtype)
            self.answers[pair] = answer
        return self.answers.get(pair)

    @property
    def proven(self) -> dict[Pair, tuple[str, ...]]:
        """What contradicts each infeasible pair besides its own targets."""
        return {
            pair: tuple(use for use in uses if use not in {f"edge {edge}" for edge in pair})
            for pair, uses in self.infeasible.items()
        }

    def fill(self) -> None:
        """Draw at large, at each edge, and as much within the profiles; all that is drawn is looked
        at in the base type, too."""
        effort = self.effort
        drawn = draw_at_edges(self.spec, self.rank, effort.base, effort.aimed, root=self.root)
        drawn += draw_aimed(
            self.spec, self.rank, effort.aimed, self.strata.all_aims, root=self.root
        )
        aims = [aim for profile in self.spec.profiles for aim in profile.aims]
        for aim in aims:
            count = -(-effort.base // len(aims))
            drawn += draw(self.spec, self.rank, count, root=self.root, aim=aim)
        self.add([*drawn, *retyped(self.spec, drawn, self.base)])

    def draw(self, count: int, aim: Aim | None = None) -> None:
        """Draw cases and keep those that are valid and small enough."""
        self.add(draw(self.spec, self.rank, count, root=self.root, aim=aim))

    def add(self, cases: list[Case]) -> None:
        """Keep those of some cases that are valid and small enough."""
        seen = self.sight.look(table_of(self.sight.spec, cases, self.rank), patiently=True)
        self.keep(self.sight.settle(seen, np.arange(len(seen))))

    def keep(self, found: Seen) -> None:
        """Keep cases whose coverage is settled, if they are new and not banned."""
        if self.strict:
            found = found.take(self._not_vacuous(found))
        fresh = np.zeros(len(found), np.bool_)
        for row, key in enumerate(found.table.questions()):
            if key not in self._known:
                self._known.add(key)
                fresh[row] = True
        new = found.take(fresh)
        self.seen = together([self.seen, new])
        self._count(new)

    def _not_vacuous(self, found: Seen) -> Bools:
        good = np.ones(len(found), np.bool_)
        for row in range(len(found)):
            good[row] = not trivially_passed(self.spec, build(self.spec, case_of(found.table, row)))
        return good

    def ban(self, rows: Iterable[int]) -> None:
        """Never use some cases again; others have to cover what they cover."""
        left = np.ones(len(self), np.bool_)
        left[list(rows)] = False
        self.seen = self.seen.take(left)

    def reopen(self) -> bool:
        """Count anew what is shown; whether that is less than before, so that more is sought.

        From then on a case is only kept if it is not vacuous.
        """
        before = self.pairs.sum() + self.typed.sum()
        self.strict = True
        self._recount()
        return bool(self.pairs.sum() + self.typed.sum() < before)

    def missing(self) -> list[Pair]:
        """What is wanted, not covered and not proven infeasible: single targets, then pairs."""
        first, second = np.nonzero(np.triu(self.asked_pairs & ~self.pairs))
        open_ = (
            min((self.edges[a], self.edges[b]), (self.edges[b], self.edges[a]))
            for a, b in zip(first, second, strict=True)
        )
        ordered = sorted(open_, key=lambda pair: (pair[0] != pair[1], pair))
        return [pair for pair in ordered if self.lacks(pair)]

    def untyped(self) -> list[tuple[int, int]]:
        """Places of an element type, and of an edge that is shown, but neither shown in that type
        nor known to be infeasible in it."""
        return [
            (int(dtype), int(edge))
            for dtype, edge in np.argwhere(self.asked_types & ~self.typed)
            if (self.pairs[edge, edge] or edge >= len(self.spec.edges))
            and (self.dtypes[dtype], self.edges[edge]) not in self.infeasible
        ]

    def lacks(self, pair: Pair) -> bool:
        """Whether a pair is neither covered nor known to be infeasible."""
        a, b = pair
        if self.pairs[self.place[a], self.place[b]]:
            return False
        if pair not in self.infeasible:
            known = ((a, a), (b, b), *(((self.base, a), (self.base, b)) if a != b else ()))
            alone = [self.infeasible[one] for one in known if one in self.infeasible]
            if alone:
                self.infeasible[pair] = alone[0]
        return pair not in self.infeasible
