"""Static kinds (types) of expressions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Domain(IntEnum):
    """The dependency of a value, from the least to the most; operands decide."""

    CASE = 0
    """On the question alone: attributes, shapes, types."""
    WINDOW = 1
    """On which window of the output is meant."""
    ELEMENT = 2
    """On which output element is meant: image, channel, window, and the data there."""
    TAP = 3
    """On which tap of a window is meant, on one axis."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The static kind of a value.

    ``type`` is ``int``, ``bool`` or ``enum``, ``values`` the members that an enum can be.
    A ``per_axis`` value has one entry for each spatial axis. A ``joined`` one has entries that
    depend on the windows of other axes too, as in ``where(any(i == 0), start, 0)``.
    """

    type: str
    per_axis: bool = False
    domain: Domain = Domain.CASE
    values: frozenset[str] | None = None
    joined: bool = False

    @property
    def is_case(self) -> bool:
        return self.domain is Domain.CASE

    @property
    def entangled(self) -> bool:
        """True if the value needs the windows of several axes."""
        if self.per_axis:
            return self.joined or self.domain is Domain.ELEMENT
        return not self.is_case

    def __str__(self) -> str:
        if self.type == "enum":
            text = f"one of {listed(self.values)}" if self.values else "an enum value"
        else:
            text = {"int": "a whole number", "bool": "a truth value"}[self.type]
        if self.per_axis:
            text += " per axis"
        return text + _DEPENDS[self.domain]


_DEPENDS = {
    Domain.CASE: "",
    Domain.WINDOW: " for each window",
    Domain.ELEMENT: " for each output element",
    Domain.TAP: " for each tap",
}


def elementwise(type_: str, operands: Iterable[Kind], values: frozenset[str] | None = None) -> Kind:
    """Return the kind of a value that is computed entry by entry from ``operands``."""
    kinds = tuple(operands)
    per_axis = any(kind.per_axis for kind in kinds)
    return Kind(
        type_,
        per_axis,
        max((kind.domain for kind in kinds), default=Domain.CASE),
        values,
        per_axis and any(kind.entangled for kind in kinds),
    )


def listed(names: Iterable[str] | None) -> str:
    """Join sorted names for a message: ``a, b, c``."""
    return ", ".join(sorted(names or ()))
