"""The suites of a definition: which cases of a large pool cover what its text gives.

1. *smoke*: every target, in few cases.
2. Every target in each element type and with each number of axes.
3. Every target in every configuration: a stratum, or the attributes that depart from their defaults.
4. Pairs of targets, and within configurations every target together with each rest of an extent.

The last is where kernels specialise, and where three and more conditions meet. It, and whatever
counts pairs, looks at the partition that people run: f32 (or the first type of floats) with two
axes in each group, and any number of those that broadcast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conformance.core.binding import Binding
from conformance.core.operator import Operator
from conformance.core.strata import strata_of, strata_with
from conformance.core.targets import Target, TargetKind, reported_names, targets_of
from conformance.generate.definition_cover import Goal, Numbers, greedy
from conformance.generate.definition_pool import MAIN_AXES, drawn_large, drawn_pool, main_types
from conformance.model import Case

MAX_CASES = 900
"""The most cases of a core suite, without large ones."""

MAX_LARGE = 8
LARGE_POOL = 60
MAX_BY_TYPE = 200
PAIRS_WEIGHT = 4
COARSE_EXTENT = re.compile(r"^(?!prod|terms).*( is [123]| by [24]| above (8|16))$")
COARSE_KINDS = (
    TargetKind.REST,
    TargetKind.READ,
    TargetKind.TENSOR,
    TargetKind.BROADCAST,
    TargetKind.AXES,
)
SMOKE, CORE, LARGE = "smoke", "core", "large"
SINGLE_DEPARTURE = 1

KINDS_BY_TYPE = frozenset(
    kind for kind in TargetKind if kind.is_reported and kind is not TargetKind.EXTENT
)
"""Targets that are covered in each element type by each number of axes."""


@dataclass(frozen=True)
class PlannedCase:
    """A selected case, the suites that it belongs to, and the targets that reports list of it."""

    case: Case
    suites: tuple[str, ...]
    targets: tuple[str, ...]


def plan(
    operator: Operator,
    seed: int,
    *,
    pool: int,
    kills: Callable[[Case], frozenset[str]] | None = None,
) -> tuple[PlannedCase, ...]:
    """Select the cases of an operator's suites, from about ``pool`` random ones.

    ``kills`` names the mutants that a case kills. The same arguments give the same cases.
    """
    del kills  # what only cases outside of the selection kill is added by a later step
    selection = _Selection(operator, list(drawn_pool(operator, seed, pool)))
    smoke, core = selection.selected()
    planned = [selection.planned(k, (SMOKE, CORE)) for k in smoke]
    planned += [selection.planned(k, (CORE,)) for k in core]
    larger = _Selection(operator, list(drawn_large(operator, seed, LARGE_POOL)))
    planned += [larger.planned(k, (LARGE,)) for k in larger.large()]
    return tuple(planned)


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

    def __init__(self, operator: Operator, cases: Sequence[Case]) -> None:
        self.operator = operator
        self.cases = cases
        self.targets = [sorted(targets_of(operator, case)) for case in cases]
        self.bindings = [Binding(operator, case.attributes, case.shapes) for case in cases]

    def planned(self, k: int, suites: tuple[str, ...]) -> PlannedCase:
        return PlannedCase(self.cases[k], suites, reported_names(self.targets[k]))

    def selected(self) -> tuple[list[int], list[int]]:
        """The cases of *smoke*, and those of the core beside them."""
        smoke = greedy([self._once(self.main)], MAX_CASES)
        smoke += greedy([self._once()], MAX_CASES, smoke)
        core = greedy([self._by_type()], MAX_BY_TYPE, smoke)
        core += greedy(
            self._by_configuration(), MAX_CASES - len(smoke) - len(core), [*smoke, *core]
        )
        return smoke, core

    def large(self) -> list[int]:
        """A few large cases that cover most targets."""
        return greedy([self._once()], MAX_LARGE)

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
        """Whether a case has two axes in each group that shapes tell of and that does not stretch."""
        stretched = {dim.per for dim in self.operator.dims.values() if dim.broadcast}
        lengths = self.bindings[k].lengths
        return all(n == MAIN_AXES for group, n in lengths.items() if group not in stretched)

    def _by_type(self) -> Goal:
        """Targets but of numbers in each element type, and with each number of axes."""
        numbering, rows = Numbering(), Numbering()
        columns = [numbering.of(_of_kinds(t, KINDS_BY_TYPE)) for t in self.targets]
        return Goal([rows.of(self._type_and_axes(k)) for k in range(len(self.cases))], columns)

    def _type_and_axes(self, k: int) -> tuple[str, str]:
        return str(sorted(self.cases[k].types.items())), str(self.bindings[k].lengths)

    @cached_property
    def configurations(self) -> list[list[str]]:
        """The configurations that each case is in: strata, and departures from defaults."""
        strata = strata_of(self.operator)
        return [
            [
                *(stratum.name for stratum in strata_with(strata, binding)),
                *(
                    t.name
                    for t in targets
                    if t.kind is TargetKind.DEPARTURE and t.name.endswith("departs")
                ),
            ]
            for binding, targets in zip(self.bindings, self.targets, strict=True)
        ]

    def _by_configuration(self) -> list[Goal]:
        """Pairs of coarse targets in each configuration, and all pairs wherever they are."""
        members: dict[str, list[int]] = {}
        for k in self.main:
            for configuration in self.configurations[k]:
                members.setdefault(configuration, []).append(k)
        numbering = Numbering()
        coarse = [numbering.of(filter(_is_coarse, targets)) for targets in self.targets]
        goals = [Goal(coarse, coarse, cases) for cases in members.values()]
        return [*goals, Goal(self.numbers, self.numbers, self.main, PAIRS_WEIGHT)]


def _is_coarse(target: Target) -> bool:
    name, kind = target
    if kind in (TargetKind.EXTENT, TargetKind.BLOCK):
        return COARSE_EXTENT.search(name) is not None
    if kind is TargetKind.ATTRIBUTE:
        return not name.endswith(("is left out", "its default"))
    return kind in COARSE_KINDS


def _of_kinds(targets: Iterable[Target], kinds: Iterable[TargetKind]) -> Iterator[Target]:
    return (target for target in targets if target.kind in kinds)
