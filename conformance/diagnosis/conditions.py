"""The fewest conditions that separate vectors that fail from vectors that pass."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from conformance.model import Result

MAX_CONDITIONS = 3
"""Conditions of one conjunction at most, and fewer than failures; more fit anything."""

TOLERATED = 0.1
"""The share of the passing vectors that may meet the conditions too, for them to be told at all."""

CONSIDERED = 40
"""Conditions that are tried several at a time: those that fewest passing vectors meet."""

OMITTED = " omitted"
"""What ends the name of a feature that is an attribute left to its default."""

CHANCE = 0.05
"""The chance that conditions tell vectors that fail at random from others as well, at most, for
them to be more than something that these have in common."""


@dataclass(frozen=True)
class Condition:
    """A feature that a vector has, or lacks if ``holds`` is false.

    ``feature`` is a coverage target, an element type, ``rank 5`` or ``dilations omitted``.
    """

    feature: str
    holds: bool = True

    def met_by(self, features: Collection[str]) -> bool:
        """Return whether a vector with these features meets the condition."""
        return (self.feature in features) == self.holds

    @property
    def omits(self) -> bool:
        """True if the condition is that an attribute is omitted."""
        return self.holds and self.feature.endswith(OMITTED)

    def __str__(self) -> str:
        return self.feature if self.holds else f"not {self.feature}"


@dataclass(frozen=True)
class Separation:
    """Conditions that all ``failing`` vectors meet, and ``meet`` of the ``passing`` ones."""

    conditions: tuple[Condition, ...]
    failing: int
    meet: int
    passing: int

    def by_chance(self, failed: Sequence[Result], passed: Sequence[Result]) -> bool:
        """Return whether conditions would separate as well if vectors failed at random.

        ``failed`` are all that fail alike, also those that other conditions describe: conditions
        that were picked from many for a few of them are met by these alone easily.
        """
        passed_features, failed_features = (
            list(map(_features, passed)),
            list(map(_features, failed)),
        )
        # Others with these features, or without, were tried as well.
        tried = math.comb(
            2 * len(frozenset().union(*passed_features, *failed_features)), len(self.conditions)
        )
        met_count = sum(
            all(condition.met_by(features) for condition in self.conditions)
            for features in failed_features
        )
        return self.is_chance(tried, met_count, len(failed_features))

    def is_chance(self, tried: int, met_count: int, failing: int) -> bool:
        """Apply :meth:`by_chance` to the best of ``tried`` conditions.

        ``met_count`` of all ``failing`` vectors meet it.
        """
        return tried * _tail(met_count, self.meet, failing, self.passing) > CHANCE

    @property
    def exact(self) -> bool:
        """True if the vectors fail exactly where the conditions hold."""
        return self.meet == 0


def find_separation(failed: Sequence[Result], passed: Sequence[Result]) -> Separation | None:
    """Find the fewest conditions that all failures meet and fewest passing vectors do.

    Fewer conditions come first, then those that say what a vector has. One thing that it lacks is
    told where the failures then are exactly those that are described.
    Conditions that are told anyway get no further one that drops few vectors: that may be chance.
    None where nothing is shared that most passing vectors lack, where nothing passed, and of a
    single failure, which is no pattern.
    """
    if len(failed) < 2 or not passed:
        return None
    shared = frozenset.intersection(*map(_features, failed))
    everywhere = frozenset.union(*map(_features, failed))
    passed_features = [_features(result) for result in passed]
    everyone = frozenset.intersection(*passed_features)
    present = [Condition(feature) for feature in sorted(shared - everyone)]
    lacking = sorted(frozenset.union(*passed_features) - everywhere)
    absent = [Condition(feature, holds=False) for feature in lacking]
    met = {condition: _met(condition, passed_features) for condition in (*present, *absent)}
    best: tuple[int, tuple[Condition, ...]] = (len(passed), ())

    def is_worth(met_count: int, tried: int) -> bool:
        """Whether the best of ``tried`` conditions drops more passing vectors than by chance."""
        dropped = best[0] - met_count
        if best[0] > TOLERATED * len(passed):
            return True
        ways = math.comb(len(failed) + best[0], dropped)
        return tried * math.comb(best[0], dropped) <= CHANCE * ways

    for count in range(1, min(MAX_CONDITIONS, len(failed) - 1) + 1):
        candidate = _fewest(_some(present, count, met), met)
        # One more condition has to be worth it, or it describes the suite and not the failures.
        if (
            candidate is not None
            and 2 * candidate[0] <= best[0]
            and is_worth(candidate[0], len(present))
        ):
            best = candidate
        if best[0]:
            beside = product(_some(present, count - 1, met), absent)
            exact = _fewest(
                ((*conditions, absent_condition) for conditions, absent_condition in beside), met
            )
            if exact is not None and exact[0] == 0 and is_worth(0, len(absent)):
                best = exact
        if best[0] == 0:
            break
    if best[0] > TOLERATED * len(passed):
        return None
    return Separation(best[1], len(failed), best[0], len(passed))


def _tail(met_failing: int, meet: int, failing: int, passing: int) -> float:
    """Compute the chance that at least ``met_failing`` of the failures meet conditions.

    They are met by ``meet`` of all ``passing``; which vectors fail is taken to be chance.
    """
    drawn, every = met_failing + meet, failing + passing
    total = _ways(every, drawn)
    return math.fsum(
        math.exp(_ways(failing, many) + _ways(passing, drawn - many) - total)
        for many in range(met_failing, min(drawn, failing) + 1)
        if drawn - many <= passing
    )


def _ways(all_of_them: int, taken: int) -> float:
    """The logarithm of the number of ways to take so many."""
    return (
        math.lgamma(all_of_them + 1) - math.lgamma(taken + 1) - math.lgamma(all_of_them - taken + 1)
    )


def _features(result: Result) -> frozenset[str]:
    features = {*result.edges, result.dtype}
    if result.rank:
        features.add(f"rank {result.rank}")
    if result.reject is not None:
        # Such vectors are few, and what they leave out has nothing to do with what they break.
        features.add(result.reject)
    else:
        features |= {f"{name}{OMITTED}" for name in result.left_out}
    return frozenset(features)


def _met(condition: Condition, feature_sets: Iterable[frozenset[str]]) -> int:
    """The vectors that meet a condition, a bit for each."""
    return sum(1 << bit for bit, features in enumerate(feature_sets) if condition.met_by(features))


def _some(
    conditions: Sequence[Condition], count: int, met: Mapping[Condition, int]
) -> Iterator[tuple[Condition, ...]]:
    """That many of the conditions; of many, those that fewest passing vectors meet."""
    if count >= MAX_CONDITIONS - 1:
        conditions = sorted(conditions, key=lambda condition: met[condition].bit_count())[
            :CONSIDERED
        ]
    return combinations(conditions, count)


def _fewest(
    choices: Iterable[tuple[Condition, ...]], met: Mapping[Condition, int]
) -> tuple[int, tuple[Condition, ...]] | None:
    """The choice of conditions that fewest passing vectors meet all of, and how many do."""
    best = None
    for conditions in choices:
        both = met[conditions[0]]
        for condition in conditions[1:]:
            both &= met[condition]
        if best is None or both.bit_count() < best[0]:
            best = both.bit_count(), conditions
    return best
