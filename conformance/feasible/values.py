"""Symbolic value of an expression: one entry per axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.feasible.backend import Logic, Truth
from conformance.feasible.term import Term


class Untranslatable(Exception):
    """An expression that the prover has no symbols for; nothing is concluded from it."""


@dataclass(frozen=True, eq=False)
class Choice:
    """An enum: when it is which of its members; what is not listed it never is."""

    when: Mapping[str, Truth]

    def is_(self, *members: str) -> tuple[Truth, ...]:
        return tuple(self.when.get(member, False) for member in members)


def member(name: str) -> Choice:
    return Choice({name: True})


@dataclass(frozen=True, eq=False)
class Value:
    """A value, with one entry, or one for each axis if it is ``per_axis``.

    An entry is a :class:`~.algebra.Term`, a proposition or a :class:`Choice`. ``case`` says that
    the value is declared to depend on the case alone, so that it may decide what is evaluated;
    ``array`` when evaluation gives an array over windows, which is empty if there are none.
    """

    entries: tuple[Any, ...]
    per_axis: bool = False
    case: bool = True
    array: Truth = False

    @property
    def single(self) -> Any:
        if self.per_axis:
            raise Untranslatable("one value is wanted, not one an axis")
        return self.entries[0]

    def of(self, type_: type) -> Value:
        """The value itself, if its entries have this type."""
        if not all(isinstance(entry, type_) for entry in self.entries):
            raise Untranslatable(f"a {type_.__name__} is wanted")
        return self

    @property
    def numbers(self) -> tuple[Term, ...]:
        return self.of(Term).entries

    @property
    def truths(self) -> tuple[Truth, ...]:
        if any(isinstance(entry, Term | Choice) for entry in self.entries):
            raise Untranslatable("a truth value is wanted")
        return self.entries


def single(entry: Any) -> Value:
    """A value of the case alone."""
    return Value((entry,))


def elementwise(logic: Logic, operation: Callable[..., Any], *values: Value) -> Value:
    """``operation`` axis by axis; single values meet every axis."""
    axes = {len(value.entries) for value in values if value.per_axis}
    if len(axes) > 1:
        raise Untranslatable("values with different numbers of axes meet")
    count = axes.pop() if axes else 1
    columns = (v.entries if v.per_axis else v.entries * count for v in values)
    return Value(
        tuple(map(operation, *columns)),
        any(value.per_axis for value in values),
        all(value.case for value in values),
        logic.any(value.array for value in values),
    )


def repeated(value: Value, axes: int) -> Value:
    """A single value repeated for each axis; one an axis as it is."""
    if value.per_axis:
        return value
    return Value(value.entries * axes, True, value.case, value.array)
