"""Implementations that are wrong in given ways, of either kind of specification.

Audit, diagnosis and search ask here what an operator with some mutants gives on a case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from conformance.core import mutants as definition_mutants
from conformance.core.implementation import Implementation as ChangedDefinition
from conformance.core.mutant_changes import TextChange
from conformance.core.operator import Operator
from conformance.core.subject import Subject as DefinitionSubject
from conformance.dtypes import Array
from conformance.errors import ConformanceError
from conformance.model import Case
from conformance.reference.subject import Altered
from conformance.reference.subject import Subject as RuleSubject
from conformance.spec import catalogue
from conformance.spec.catalogue import Change, Mutant
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.rule_change import find_cycle
from conformance.specification import Specification

Implementation = Altered | ChangedDefinition
Subject = Any
"""A case prepared for implementations: :class:`conformance.reference.subject.Subject`, or that of
:mod:`conformance.core.subject`, which has the same methods."""


def mutants_of(spec: Specification) -> tuple[Mutant, ...]:
    """Return the mutants of an operator."""
    if isinstance(spec, Operator):
        return definition_mutants.mutants_of(spec)
    return catalogue.mutants_of(spec)


def implementation_of(spec: Specification, changes: Iterable[Change]) -> Implementation:
    """Return the implementation of an operator under changes of the kind that it has."""
    if isinstance(spec, Operator):
        return ChangedDefinition(spec, *changes)  # type: ignore[arg-type]
    return Altered(spec, *changes)  # type: ignore[arg-type]


def changes_of(implementation: Implementation) -> tuple[Change, ...]:
    """Return the changes of an implementation."""
    if isinstance(implementation, Altered):
        return implementation.variants
    return implementation.changes


def accumulators(implementation: Implementation) -> list[str]:
    """List the changes of an implementation that say in what sums are kept."""
    if isinstance(implementation, Altered):
        variants = implementation.variants
        return [change.name for change in variants if "accumulator" in change.replace]
    return list(implementation.accumulators)


def subject_of(
    spec: Specification,
    case: Case,
    inputs: Sequence[Array | None],
    shapes: Collection[tuple[int, ...]] = (),
) -> Subject:
    """Prepare a case with its inputs for implementations.

    ``shapes`` are further output shapes in which outputs are of interest, however large.
    """
    if isinstance(spec, Operator):
        return DefinitionSubject(spec, case, inputs, shapes)
    return RuleSubject(spec, case, [array for array in inputs if array is not None], shapes)


def beside(
    spec: Specification, implementation: Implementation, changes: Sequence[Change]
) -> Implementation | None:
    """Return an implementation with further changes; None where they rule each other out."""
    every = (*changes_of(implementation), *changes)
    return implementation_of(spec, every) if are_compatible(spec, every) else None


def are_compatible(spec: Specification, changes: Sequence[Change]) -> bool:
    """Return whether changes make sense together."""
    if isinstance(spec, OpSpec):
        rules = (change.replace for change in changes if isinstance(change, RuleChange))
        return not any(find_cycle(spec, *rules))
    texts = [change for change in changes if isinstance(change, TextChange)]
    try:
        ChangedDefinition(spec).under(texts)
    except ConformanceError:
        return False
    return True


def may_combine(spec: Specification, mutants: Sequence[Mutant]) -> bool:
    """Return whether one implementation may have mutants: they change different things."""
    touched = [frozenset(_touched(mutant)) for mutant in mutants]
    apart = len(frozenset(chain(*touched))) == sum(map(len, touched))
    return apart and are_compatible(spec, [mutant.change for mutant in mutants])


def _touched(mutant: Mutant) -> Iterable[object]:
    change = mutant.change
    if isinstance(change, RuleChange):
        return change.replace
    if isinstance(change, TextChange):
        return (place for place, _, _ in change.edits)
    return (type(change),)


def interpretation_changes(spec: Specification) -> Mapping[str, Change]:
    """Return what each interpretation of an operator changes, by name."""
    if isinstance(spec, OpSpec):
        return {reading.name: reading for reading in spec.interpretations}
    return {
        reading.name: TextChange(reading.name, _edits(reading.change))
        for reading in spec.interpretations
    }


def _edits(change: Mapping[str, str | Mapping[str, str]]) -> tuple[tuple[str, str, str], ...]:
    edits: list[tuple[str, str, str]] = []
    for place, new in change.items():
        parts = new if isinstance(new, Mapping) else {"": new}
        edits += ((place, part, str(text)) for part, text in parts.items())
    return tuple(edits)
