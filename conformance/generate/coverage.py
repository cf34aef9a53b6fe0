"""The coverage of a suite for a definition: targets and pairs, beside those of drawn cases.

No list of all targets exists: they derive from each case. So what a suite covers is compared with
what a pool of drawn cases shows, as a core suite is selected from such a pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from conformance.core.operator import Operator
from conformance.core.targets import reported_names, targets_of
from conformance.generate.pool import drawn_pool
from conformance.model import Case, Vector

POOL = 1000
"""Drawn cases of an operator that a suite is compared with."""

SEED = 0

Pair = tuple[str, str]


@dataclass
class DefinitionCoverage:
    """Targets and pairs on one rank: those of a suite, and those of drawn cases."""

    op: str
    rank: int
    vectors: int = 0
    targets: set[str] = field(default_factory=set)
    pairs: set[Pair] = field(default_factory=set)
    drawn_targets: set[str] = field(default_factory=set)
    drawn_pairs: set[Pair] = field(default_factory=set)

    @property
    def missing_targets(self) -> list[str]:
        """The targets that drawn cases cover, and the suite does not."""
        return sorted(self.drawn_targets - self.targets)


def coverage_of_definition(
    operator: Operator,
    vectors: Iterable[Vector],
    is_claimed: Callable[[Case], bool] = lambda _case: True,
) -> tuple[list[DefinitionCoverage], list[str]]:
    """Compute the coverage of each rank, and check the targets that vectors list."""
    by_rank: dict[int, DefinitionCoverage] = {}
    wrong: list[str] = []
    for vector in vectors:
        if vector.case.reject is not None:
            continue
        covered = by_rank.setdefault(
            vector.case.rank, DefinitionCoverage(operator.op, vector.case.rank)
        )
        covered.vectors += 1
        named = dict(zip(operator.tensors, vector.arguments, strict=True))
        names = reported_names(targets_of(operator, vector.case, named))
        if names != vector.edges:
            wrong.append(
                f"{vector.id}: lists coverage targets that its inputs and attributes do not meet"
            )
        covered.targets |= set(names)
        covered.pairs |= set(combinations(names, 2))
    for case in _drawn(operator, is_claimed):
        covered = by_rank.setdefault(case.rank, DefinitionCoverage(operator.op, case.rank))
        names = reported_names(targets_of(operator, case))
        covered.drawn_targets |= set(names)
        covered.drawn_pairs |= set(combinations(names, 2))
    return [by_rank[rank] for rank in sorted(by_rank)], wrong


def _drawn(operator: Operator, is_claimed: Callable[[Case], bool]) -> Iterator[Case]:
    return filter(is_claimed, drawn_pool(operator, SEED, POOL))
