"""Implementations with mutants, and cases evaluated under them, however an operator is stated.

Diagnosis and audit ask through these protocols. Rules of a family have them in
:mod:`conformance.reference.subject`, definitions in :mod:`conformance.core.subject`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar

from conformance.core.implementation import implementation_of as definition_under
from conformance.core.operator import Operator
from conformance.core.subject import Subject as DefinitionSubject
from conformance.dtypes import Array
from conformance.model import Case
from conformance.reference.subject import Altered, Subject
from conformance.spec.catalogue import Change
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.rule_change import find_cycle

Specification = OpSpec | Operator


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


def implementation_of(spec: Specification, *changes: Change) -> Implementation:
    """Return an operator under some changes."""
    if not isinstance(spec, OpSpec):
        stated: Sequence[Any] = changes
        return definition_under(spec, *stated)
    return Altered(spec, *_of_rules(changes))


def subject_of(
    spec: Specification,
    case: Case,
    inputs: Sequence[Array | None],
    shapes: Collection[tuple[int, ...]] = (),
) -> EvaluatedCase[Any]:
    """Prepare a valid case to be evaluated under implementations.

    ``shapes`` are further output shapes in which outputs are of interest, however large.
    """
    if not isinstance(spec, OpSpec):
        return DefinitionSubject(spec, case, inputs, shapes)
    return Subject(spec, case, [array for array in inputs if array is not None], shapes)


def may_be_together(spec: Specification, *changes: Change) -> bool:
    """Return whether changes concern different parts, none of which depends on itself by them."""
    if not isinstance(spec, OpSpec):
        first, *others = changes
        return implementation_of(spec, first).beside(*others) is not None
    replacing = [change.replace for change in _of_rules(changes)]
    rules = list(chain(*replacing))
    return len(set(rules)) == len(rules) and not any(find_cycle(spec, *replacing))


def _of_rules(changes: Sequence[Change]) -> list[RuleChange]:
    rules = [change for change in changes if isinstance(change, RuleChange)]
    assert len(rules) == len(changes)
    return rules
