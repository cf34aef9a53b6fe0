"""Implementations with mutants, and cases evaluated under them.

Diagnosis and audit ask through these protocols, which :mod:`conformance.core` has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, TypeVar

from conformance.core import implementation, subject
from conformance.core.operator import Operator
from conformance.dtypes import Array
from conformance.model import Case
from conformance.spec.catalogue import Change


class Implementation(Protocol):
    """An operator under some changes, ready to be evaluated on many cases."""

    @property
    def accumulators(self) -> tuple[str, ...]:
        """The names of the changes that say how sums are kept."""

    def beside(self, *changes: Any) -> Implementation | None:
        """Return the implementation with further changes; None where they rule each other out."""


I = TypeVar("I", contravariant=True)  # noqa: E741


class EvaluatedCase(Protocol[I]):
    """A valid case with its inputs; ``outputs`` are the right ones, in the operator's types."""

    outputs: list[Array]

    def under(self, implementation: I, /) -> list[Array]:
        """Return the outputs of an implementation.

        They are ``outputs``, the same list, where its changes have no effect, and where it gives
        none.
        """

    def answers(self, implementation: I, /) -> bool:
        """Return whether an implementation has outputs, with elements."""

    def ends(self, implementation: I, precision: str, /) -> list[tuple[Array, Array]]:
        """Return for each output what is accepted of an implementation that is else honest."""

    def unspecified(self, implementation: I, precision: str | None = None, /) -> list[Array]:
        """Mark for each output the elements that an implementation leaves unspecified."""


def implementation_of(spec: Operator, *changes: Change) -> Implementation:
    """Return an operator under some changes."""
    stated: Sequence[Any] = changes
    return implementation.implementation_of(spec, *stated)


def subject_of(
    spec: Operator,
    case: Case,
    inputs: Sequence[Array | None],
    shapes: Collection[tuple[int, ...]] = (),
) -> EvaluatedCase[Any]:
    """Prepare a valid case to be evaluated under implementations.

    ``shapes`` are further output shapes in which outputs are of interest, however large.
    """
    return subject.Subject(spec, case, inputs, shapes)


def may_be_together(spec: Operator, *changes: Change) -> bool:
    """Return whether changes concern different parts, none of which depends on itself by them."""
    first, *others = changes
    return implementation_of(spec, first).beside(*others) is not None
