"""A pool of many cheap random cases of a definition, of several styles.

What a draw over all attributes seldom shows are three conditions at once that are common in use. So
most draws stay near the defaults, or aim at a stratum; some have one huge extent, as people run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from conformance.core.binding import Binding
from conformance.core.data import SEPARATOR, patterns_of
from conformance.core.negative import broken_conditions
from conformance.core.operator import Attribute, Dimension, Operator
from conformance.core.strata import Stratum, role_visitor, strata_of
from conformance.core.tree import Node
from conformance.dtypes import DTYPES
from conformance.generate.cases import MAX_TERMS, Draw, count_terms, groups_beside
from conformance.model import Case

SMALL = (1, 1, 2, 2, 3, 3, 4, 5)
LARGE = (6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 18, 20, 24, 31, 32, 33, 36, 40)
"""Extents beside the small ones, around blocks."""

LARGER = (48, 63, 64, 65, 66, 100, 127, 128, 129, 130)
"""Extents around large blocks, of single dimensions."""

HUGE = (255, 256, 257, 300, 511, 512, 513, 600, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4096)
"""Extents that people run, with all others of 1 or 2."""

FAR = (65_537, 66_000, 70_001)
"""Extents behind which an offset does not fit 16 bits; those of two axes alike make planes so."""

FAR_PLANE = (257, 259)
MULTIPLES = (1, 1, 2, 3, 4, 8)
MAIN_AXES, MAIN_RANK = 2, 4
"""The axes that people run: of images, not of volumes."""

AXES = 0.75
"""How often a list of axes is given: which they are is most of what an operator with one does."""

FIRST_FLOAT = "f32"
MAX_FAR_TERMS = 1 << 21
MAX_LARGE_TERMS = 1 << 22
"""The most terms of a large case: some seconds of exact evaluation."""

TRIES = 40
"""Draws for each case that is wanted, before a style gives up."""


class Style(NamedTuple):
    """How cases are drawn.

    ``departs`` are chances that an attribute departs from its default, one of which holds for a
    case; ``alike`` is the chance that axes are alike, ``large`` that an extent is around a block.
    """

    departs: tuple[float, ...]
    alike: float
    large: float
    huge: tuple[int, ...] = ()
    extents: tuple[int, ...] = SMALL
    max_terms: int = MAX_TERMS


GENERAL = Style((0.3, 0.6), 0.2, 0.15)
NEAR = Style((0.0, 0.15, 0.4), 0.7, 0.3)
AIMED = Style((0.0, 0.1, 0.3), 0.8, 0.25)
HUGE_STYLE = Style((0.0, 0.2), 0.8, 0.0, huge=HUGE, extents=(1, 1, 2, 3))
FAR_STYLE = Style((0.0,), 0.8, 0.0, huge=FAR, extents=(1, 1, 2, 2, 3), max_terms=MAX_FAR_TERMS)
LARGE_STYLE = Style(
    (0.0, 0.2), 0.9, 0.5, extents=(1, 2, 3, 3, 17, 31, 33, 48, 64, 65), max_terms=MAX_LARGE_TERMS
)


@dataclass
class PoolDraw(Draw):
    """A draw of a style, perhaps aimed at a stratum."""

    chance: Random = field(default_factory=Random)
    style: Style = GENERAL
    stratum: Stratum | None = None
    seen: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.max_terms = self.style.max_terms
        self.departing = self.pick(self.style.departs)
        self.large = self.chance.choice((0.0, self.style.large, 2 * self.style.large))
        self.is_plain = self.chance.random() < 0.8
        dims = tuple(n for n in self.operator.dims if n not in self.operator.list_lengths)
        self.huge_dim = self.pick(dims) if dims else ""

    def happens(self, share: float) -> bool:
        return self.chance.random() < share

    def aims(self, name: str) -> tuple[Node, ...]:
        """The values of a name that the stratum asks for."""
        return () if self.stratum is None else self.stratum.draws.get(name, ())

    def aimed(self, values: tuple[Node, ...]) -> Any:
        """The value of one of several expressions over roles; a small extent if it has none."""
        assert self.stratum is not None
        try:
            return role_visitor(self.named, self.stratum.roles).visit(self.pick(values))
        except KeyError:
            return self.extent()

    def named(self, name: str) -> Any:
        return self.values[name]

    # -- what the steps of a draw choose

    def groups(self) -> None:
        """Mostly two axes: that is what people run."""
        super().groups()
        beside = groups_beside(self.operator)
        for group, axes in self.values.items():
            most = main_axes(self.operator)
            if group not in beside and len(axes) != most and self.happens(0.6):
                self.values[group] = tuple(range(most))

    def pattern(self, patterns: tuple[str, ...]) -> str:
        """Mostly whole numbers: their sums are exact in any order."""
        if self.is_plain or self.style.huge is FAR:
            plain = "signs" if self.happens(0.1) else "whole"
            return plain if plain in patterns else patterns[0]
        return str(self.pick(patterns))

    def departs(self, attribute: Attribute) -> bool:
        """Whether an attribute that has a default is given."""
        if self.aims(attribute.name):
            return not attribute.list or self.happens(0.6)
        return self.happens(AXES if attribute.name in self.operator.axis_lists else self.departing)

    def value(self, attribute: Attribute) -> Any:
        """The value of an attribute that is given, alike on all axes or not."""
        if attribute.name in self.operator.axis_lists:
            return super().value(attribute)
        if attribute.list and self.happens(0.4):
            return self.repeated()
        value = super().value(attribute)
        if isinstance(value, list) and value and self.happens(self.style.alike):
            return [value[0]] * len(value)
        return value

    def entry(self, attribute: Attribute) -> Any:
        values = self.aims(attribute.name)
        if values:
            value = self.aimed(values)
            return value[0] if isinstance(value, tuple) else value
        if attribute.type != "int" or attribute.max is not None or attribute.min is None:
            return super().entry(attribute)
        if self.happens(0.06):
            return attribute.min + self.pick((4, 5, 7, 8))
        return attribute.min + self.pick((0, 0, 1, 1, 1, 2, 3))

    def entries_of(self, entries: Attribute) -> tuple[int, ...]:
        """The entries of a tensor that decides shapes, alike on all axes or not."""
        values = self.aims(entries.name)
        if values:
            return tuple(self.aimed_per(str(entries.per), values))
        return super().entries_of(entries)

    def dimension(self, dim: Dimension) -> Any:
        """The extent of a dimension, or one for each axis, alike or not."""
        values = self.aims(dim.name)
        if values:
            return self.aimed_per(dim.per, values)
        axes = len(self.values[dim.per]) if dim.per else 1
        sizes = [self.extent()] * axes
        if not self.happens(self.style.alike):
            sizes = [self.extent() for _ in range(axes)]
        if self.style.huge and dim.name == self.huge_dim and axes:
            if self.style.huge is FAR and axes == MAIN_AXES and self.happens(0.5):
                sizes = list(FAR_PLANE)
            else:
                sizes[self.pick((0, axes - 1))] = self.pick(self.style.huge)
        self.seen += sizes
        return tuple(sizes) if dim.per else sizes[0]

    def aimed_per(self, group: str | None, values: tuple[Node, ...]) -> Any:
        """One of some values, or one for each axis of a group, alike or not."""
        first = self.aimed(values)
        if not group or isinstance(first, tuple):
            return first
        axes = len(self.values[group])
        if self.happens(self.style.alike):
            return (first,) * axes
        return tuple(self.aimed(values) for _ in range(axes))

    def extent(self) -> int:
        """A small extent, an earlier one or a multiple of it, or one around a block."""
        if self.happens(self.large):
            return int(self.pick(LARGER if self.happens(0.15) else LARGE))
        scalars = [v for v in self.values.values() if isinstance(v, int) and v > 0]
        if scalars and self.happens(0.3):
            return int(self.pick(tuple(scalars)) * self.pick(MULTIPLES))
        if self.seen and self.happens(0.15):
            return int(self.pick(tuple(self.seen)))
        return int(self.pick(self.style.extents))


def main_axes(operator: Operator) -> int:
    """Return how many axes a group mostly has: those of an image, or all of its tensor."""
    return MAIN_AXES if len(operator.inputs[0].shapes[0]) > 1 else MAIN_RANK


def main_types(operator: Operator) -> Mapping[str, str]:
    """Return the element types that pairs are covered in: f32, or the first type of floats."""
    return {variable: _main_type(types) for variable, types in operator.types.items()}


def _main_type(types: tuple[str, ...]) -> str:
    floats = [name for name in types if DTYPES[name].is_float] or list(types)
    return FIRST_FLOAT if FIRST_FLOAT in floats else floats[0]


def drawn_pool(
    operator: Operator, seed: int, count: int, rank: int | None = None
) -> Iterator[Case]:
    """Yield distinct valid cases: about ``count``, fewer where an operator has fewer.

    With a ``rank`` all are of it.
    """
    stream = f"{operator.op} {seed}" if rank is None else f"{operator.op} {seed} rank {rank}"
    chance = Random(stream)  # noqa: S311 - the same with the same seed
    strata = strata_of(operator)
    near = 0.35 if strata else 0.7
    shares: list[tuple[Style, Stratum | None, float]] = [
        (GENERAL, None, 0.25),
        (NEAR, None, near),
        (HUGE_STYLE, None, 0.05),
        *((AIMED, stratum, 0.35 / len(strata)) for stratum in strata),
    ]
    seen = set()
    for style, stratum, share in shares:
        for case in _drawn(operator, chance, style, stratum, round(count * share), rank):
            varying = (case.types, case.shapes, case.attributes, case.operands)
            key = (*map(str, varying), case.pattern)
            if key not in seen:
                seen.add(key)
                yield case


def in_type(operator: Operator, case: Case, dtype: str) -> Case:
    """Return a case with data of an element type, wherever the operator allows it.

    A pattern that the type cannot hold becomes another. Where a condition refuses the types, the
    case stays as it is.
    """
    types = {
        variable: dtype if dtype in allowed else case.types[variable]
        for variable, allowed in operator.types.items()
    }
    patterns = []
    for possible, pattern in zip(
        patterns_of(operator, types), case.pattern.split(SEPARATOR), strict=True
    ):
        patterns.append(pattern if pattern in possible else possible[case.seed % len(possible)])
    other = replace(case, types=types, pattern=SEPARATOR.join(patterns))
    return case if broken_conditions(operator, other) else other


def drawn_large(
    operator: Operator, seed: int, count: int, rank: int | None = None
) -> Iterator[Case]:
    """Yield large cases, of more terms than those of the pool.

    With a ``rank`` all are of it.
    """
    chance = Random(f"{operator.op} {seed} large")  # noqa: S311 - the same with the same seed
    drawn = _drawn(operator, chance, LARGE_STYLE, None, 4 * count, rank)
    yield from islice((case for case in drawn if most_terms(operator, case) > MAX_TERMS), count)
    yield from _drawn(operator, chance, FAR_STYLE, None, 3 * count, rank)


def most_terms(operator: Operator, case: Case) -> int:
    """Return the most terms of a definition of a valid case."""
    binding = Binding(operator, case.attributes, case.shapes, case.operands)
    return max(count_terms(binding, definition) for definition in operator.define.values())


def _drawn(
    operator: Operator,
    chance: Random,
    style: Style,
    stratum: Stratum | None,
    count: int,
    rank: int | None = None,
) -> Iterator[Case]:
    main = tuple(set(main_types(operator).values()))
    for _ in range(count * TRIES):
        if count <= 0:
            return
        dtypes = main if chance.random() < 0.75 else ()
        draw = PoolDraw(operator, chance.randint, chance=chance, style=style, stratum=stratum)
        case = draw.case(dtypes)
        if case is not None and rank in (None, case.rank):
            count -= 1
            yield case
