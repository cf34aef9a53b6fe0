"""Normal form of sums of unknown integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

CONSTANT = -1
"""Stands for 1 where the number of a variable is expected."""


@dataclass(frozen=True)
class Term:
    """A sum: the factor of each variable by its number, in order, none of them 0."""

    parts: tuple[tuple[int, int], ...]

    @cached_property
    def constant(self) -> int | None:
        """Its value, if it does not depend on any unknown."""
        if not self.parts:
            return 0
        return self.parts[0][1] if self.parts[-1][0] == CONSTANT else None

    @property
    def variable(self) -> int | None:
        """The number of the variable that it is, if it is just one."""
        lone = len(self.parts) == 1 and self.parts[0][1] == 1 and self.parts[0][0] != CONSTANT
        return self.parts[0][0] if lone else None


def constant(value: int) -> Term:
    """A known number."""
    return Term(((CONSTANT, value),) if value else ())


ZERO, ONE = constant(0), constant(1)


@dataclass(frozen=True)
class Product:
    """``value`` is ``left * right``; products with the same ``role`` are worth comparing."""

    left: Term
    right: Term
    value: Term
    role: object = None


def part(variable: int) -> Term:
    """A variable, or 1, as a term."""
    return ONE if variable == CONSTANT else Term(((variable, 1),))


def sum_of(parts: Mapping[int, int]) -> Term:
    """The sum of variables, each so many times."""
    return Term(tuple(sorted((variable, factor) for variable, factor in parts.items() if factor)))
