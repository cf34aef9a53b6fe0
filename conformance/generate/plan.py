"""The suites of a definition: which cases of a large pool cover what its text gives.

1. *smoke*: every target, in few cases.
2. Targets but of extents in each element type, and with each number of axes.
3. In every configuration pairs of targets, of which one says much; then all pairs of targets.

A configuration is a stratum, which attribute alone departs from its default, or a kind of data:
that is where kernels specialise, and where three and more conditions meet. Pairs are counted in
the partition that people run: f32 (or the first type of floats) with two axes in each group, and
any number of those that broadcast.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np

from conformance.core.binding import Binding
from conformance.core.data import inputs_of
from conformance.core.operator import Operator
from conformance.core.strata import strata_of, strata_with
from conformance.core.targets import Target, TargetKind, reported_names, targets_of
from conformance.errors import ConformanceError
from conformance.generate.cases import groups_beside
from conformance.generate.cover import Goal, Numbers, greedy
from conformance.generate.pool import drawn_large, drawn_pool, main_axes, main_types
from conformance.model import Case

MAX_CASES = 820
"""The most cases that are planned without large ones: at most 900 with what mutants add."""

MAX_LARGE = 8
MAX_FAR = 10
MAX_BY_TYPE = 100
MAX_TWINS = 16
"""The cases of these kinds: large ones, those with elements far apart, those for types and axes,
those that differ from another in an attribute alone."""

LARGE_POOL = 60
SEED_TRIES = 32
FEW = 4
SMOKE, CORE, LARGE = "smoke", "core", "large"

KINDS_BY_TYPE = frozenset(
    kind for kind in TargetKind if kind.is_reported and kind is not TargetKind.EXTENT
)
"""Targets that are covered in each element type and with each number of axes."""

COARSE_KINDS = frozenset({TargetKind.REST, TargetKind.TENSOR, TargetKind.BROADCAST})
FINE_KINDS = COARSE_KINDS | {TargetKind.READ, TargetKind.ATTRIBUTE, TargetKind.AXES}
COARSE_EXTENT = re.compile(r"(?!prod|terms).*( is 1| by 4)$")
FINE_EXTENT = re.compile(r"(?!prod|terms).*( is [123]| by [248]| above (8|16))$")
PAIRS = ((COARSE_KINDS, COARSE_EXTENT, 1.0), (FINE_KINDS, FINE_EXTENT, 0.5))
"""What is paired within configurations, with its weight: kinds of targets, and names of extents.

Few targets that say much come first, since the pairs of all in each configuration are too many.
"""


@dataclass(frozen=True)
class PlannedCase:
    """A selected case, the suites that it belongs to, and the targets that reports list of it."""

    case: Case
    suites: tuple[str, ...]
    targets: tuple[str, ...]


def plan(operator: Operator, seed: int, *, pool: int, suite: str = CORE) -> tuple[PlannedCase, ...]:
    """Select the cases of an operator's suites, from about ``pool`` random ones.

    Of a pool those of ``smoke`` are the same whether the others are selected or not. The same
    arguments give the same cases.
    """
    selection = _Selection(operator, list(drawn_pool(operator, seed, pool)))
    smoke = selection.smoke()
    if suite == SMOKE:
        return tuple(selection.planned(k, (SMOKE, CORE)) for k in smoke)
    core = selection.core(smoke, MAX_CASES)
    larger = _Selection(operator, list(drawn_large(operator, seed, LARGE_POOL)), far=True)
    return (
        *(selection.planned(k, (SMOKE, CORE)) for k in smoke),
        *(selection.planned(k, (CORE,)) for k in core),
        *selection.twins([*smoke, *core]),
        *(larger.planned(k, (LARGE,)) for k in larger.large()),
    )


class Numbering:
    """Numbers for values, in the order in which they are first met."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}

    def of(self, values: Iterable[object]) -> Numbers:
        """Return the numbers of values."""
        numbers = [self._numbers.setdefault(value, len(self._numbers)) for value in values]
        return np.array(sorted(numbers), np.intp)

    def __len__(self) -> int:
        return len(self._numbers)


class _Selection:
    """A pool with what its cases cover, and the covers of it."""

    def __init__(self, operator: Operator, cases: Sequence[Case], *, far: bool = False) -> None:
        self.operator = operator
        self.cases = cases
        # Cases share most targets: each is kept once, since a million takes much memory.
        kept: dict[Target, Target] = {}
        self.targets = [
            sorted(kept.setdefault(target, target) for target in targets_of(operator, case))
            for case in cases
        ]
        # Of large cases, only what is far apart matters: all else small ones cover.
        self.far = [_far_apart(case) if far else () for case in cases]
        self.bindings = [
            Binding(operator, case.attributes, case.shapes, case.operands) for case in cases
        ]

    def planned(self, k: int, suites: tuple[str, ...]) -> PlannedCase:
        case = telling(self.operator, self.cases[k])
        return PlannedCase(case, suites, reported_names(self.targets[k]))

    def smoke(self) -> list[int]:
        """Few cases that cover every target, where possible in the partition that people run."""
        cases = greedy([self._once(self.main)], MAX_CASES)
        return cases + greedy([self._once()], MAX_CASES - len(cases), cases)

    def core(self, smoke: list[int], most: int) -> list[int]:
        """The cases of the core beside those of *smoke*, with them at most so many."""
        cases = greedy([self._by_type()], min(MAX_BY_TYPE, most - len(smoke)), smoke)
        taken = [*smoke, *cases]
        return cases + greedy(self._by_configuration(), most - len(taken), taken)

    def twins(self, taken: Sequence[int]) -> list[PlannedCase]:
        """Cases that differ from one taken in an attribute alone, and show nothing new besides.

        A kernel may keep what it prepared for the same shapes.
        """
        twins: list[PlannedCase] = []
        mains, shown = set(self.main), set(chain(*(self.targets[k] for k in taken)))
        for k in taken:
            case = self.cases[k]
            if len(twins) == MAX_TWINS or k not in mains or not case.attributes:
                continue
            left_out = tuple(case.attributes)[k % len(case.attributes)]
            attributes = {n: v for n, v in case.attributes.items() if n != left_out}
            twin = telling(self.operator, replace(case, attributes=attributes))
            if not is_valid(self.operator, twin):
                continue
            targets = targets_of(self.operator, twin)
            if targets <= shown:
                twins.append(PlannedCase(twin, (CORE,), reported_names(targets)))
        return twins

    def large(self) -> list[int]:
        """A few large cases: first those with elements far apart, then what covers most targets."""
        numbering = Numbering()
        far = Goal(
            [np.zeros(1, np.intp)] * len(self.cases), [*map(numbering.of, self.far)], self.main
        )
        cases = greedy([far], MAX_FAR)
        return cases + greedy([self._once()], MAX_LARGE, cases)

    def _once(self, members: Sequence[int] | None = None) -> Goal:
        """Every target in some case."""
        return Goal([np.zeros(1, np.intp)] * len(self.cases), self.numbers, members)

    @cached_property
    def numbers(self) -> list[Numbers]:
        """The targets of each case, numbered."""
        numbering = Numbering()
        return [numbering.of(targets) for targets in self.targets]

    @cached_property
    def main(self) -> list[int]:
        """The cases of the partition that people run."""
        types = main_types(self.operator)
        return [k for k, case in enumerate(self.cases) if case.types == types and self._axes(k)]

    def _axes(self, k: int) -> bool:
        """Whether a case has as many axes as most in each group, but those that broadcast."""
        beside = groups_beside(self.operator)
        lengths = self.bindings[k].lengths
        most = main_axes(self.operator)
        return all(n == most for group, n in lengths.items() if group not in beside)

    def _by_type(self) -> Goal:
        """Targets but of numbers in each element type, and with each number of axes."""
        numbering, rows = Numbering(), Numbering()
        columns = [
            numbering.of(t for t in targets if t.kind in KINDS_BY_TYPE) for targets in self.targets
        ]
        return Goal([rows.of(self._type_and_axes(k)) for k in range(len(self.cases))], columns)

    def _type_and_axes(self, k: int) -> tuple[str, str]:
        return str(sorted(self.cases[k].types.items())), str(self.bindings[k].lengths)

    def _configurations(self, k: int) -> list[str]:
        """The configurations that a case is in: strata, an attribute that alone departs, data."""
        strata = strata_with(strata_of(self.operator), self.bindings[k])
        departures = (t.name for t in self.targets[k] if t.kind is TargetKind.DEPARTURE)
        alone = [name for name in departures if name.endswith("departs")]
        data = [t.name for t in self.targets[k] if t.name.endswith(TELLING_DATA)]
        return [*(stratum.name for stratum in strata), *alone, *data]

    def _by_configuration(self) -> list[Goal]:
        """Pairs of chosen targets in each configuration, and pairs of all wherever they are."""
        members: dict[str, list[int]] = {}
        for k in self.main:
            for configuration in self._configurations(k):
                members.setdefault(configuration, []).append(k)
        goals = [Goal(self.numbers, self.numbers, self.main)]
        for kinds, extents, weight in PAIRS:
            numbers = self._chosen(kinds, extents)
            goals += [Goal(numbers, numbers, cases, weight) for cases in members.values()]
        return goals

    def _chosen(self, kinds: frozenset[TargetKind], extents: re.Pattern[str]) -> list[Numbers]:
        """The targets of each case that are of some kinds, or of extents by name, numbered."""
        numbering = Numbering()
        return [
            numbering.of(t for t in targets if t.kind in kinds or extents.match(t.name))
            for targets in self.targets
        ]


TELLING_DATA = ("holds special", "holds binades")
"""Data that show what whole numbers do not: infinities, NaN, and sums that lose digits."""

OFFSET = 1 << 16
"""Elements behind which an offset of 16 bits begins anew."""


def _far_apart(case: Case) -> tuple[tuple[str, int, int], ...]:
    """The dimensions of tensors along which neighbours are too far apart for 16 bits.

    With how many axes behind are longer than 1: a kernel may take rows and planes differently.
    """
    return tuple(
        (name, len(shape) - at, sum(n > 1 for n in shape[at + 1 :]))
        for name, shape in case.shapes.items()
        for at, extent in enumerate(shape)
        if extent > 1 and prod(shape[at + 1 :]) > OFFSET
    )


def is_valid(operator: Operator, case: Case) -> bool:
    """Return whether a case breaks no condition, and has outputs."""
    try:
        binding = Binding(operator, case.attributes, case.shapes, case.operands)
        definitions = operator.define.values()
        extents = [n for d in definitions for n in binding.flat([*d.at.values()])]
        return not binding.violations() and min(extents, default=1) > 0
    except ConformanceError:
        return False


def telling(operator: Operator, case: Case) -> Case:
    """Return a case with the next seed of which no tensor, and no element of few, is zero.

    A bug that reads an element wrongly may not show where the right one is zero.
    """
    for step in range(SEED_TRIES):
        seeded = replace(case, seed=case.seed + step)
        arrays = [array for array in inputs_of(operator, seeded) if array is not None]
        if all(np.count_nonzero(a) >= min(a.size, FEW) for a in arrays):
            return seeded
    return case
