"""What a family tells the solver of the outputs and the data of an unknown case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from conformance.feasible.backend import Truth
from conformance.feasible.values import Value

if TYPE_CHECKING:
    from conformance.feasible.question import Question

Labelled = tuple[str, Truth]
"""A proposition, and the name of what it says."""


class SymbolicElement:
    """Some part of an output, for what is said of single ones; ``facts`` are those in use."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}

    def inside(self) -> Truth:
        """Whether the output has it."""
        return True

    def value(self, _name: str) -> Value | None:
        """What a name stands for that depends on it; None for any other."""
        return None


class Knowledge:
    """Axioms about one question; of a family that has none of its own, about nothing but shapes.

    ``arrays`` are the names that count the elements of each tensor and of an output, ``counted``
    those that are never below 0. ``mixed`` is a pattern that fills planes in different ways, of
    which many seeds would be needed.
    """

    arrays: tuple[tuple[str, ...], ...]
    counted: tuple[str, ...] = ()
    mixed: str = ""

    def __init__(self, question: Question) -> None:
        self.question = question
        spec = question.spec
        known = spec.quantities.keys() | spec.definitions.keys()
        shapes = (*spec.layout.tensors, *(output.shape for output in spec.outputs))
        self.arrays = tuple(shape for shape in shapes if known >= {*shape})

    def element(self) -> Any:
        """A new part of an output."""
        return SymbolicElement()

    def corners(self) -> tuple[Any, ...]:
        """Parts that outputs always have, of which what is said of every one is asked."""
        return ()

    def of_data(self) -> Iterator[Labelled]:
        """What is true of the data."""
        yield from ()

    def of_element(self, _one: Any) -> Iterator[Labelled]:
        """What is true of the facts of one part."""
        yield from ()

    def of_pair(self, _one: Any, _other: Any) -> Iterator[Labelled]:
        """What is true of the facts of two."""
        yield from ()
