"""Known bugs of code paths give definitions the outputs that they give the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.core.binding import Binding
from conformance.core.catalogue import catalogue_mutants
from conformance.core.data import inputs_of
from conformance.core.loader import load_operator
from conformance.core.operator import Operator
from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case
from conformance.resources import directory
from conformance.spec import catalogue
from conformance.spec.catalogue import Mutant
from conformance.spec.loader import find_spec
from conformance.suite.recorded_cases import read_recorded_cases, recorded_cases_file

KINDS = (
    "channel-path",
    "fast-path",
    "path-adaptive",
    "path-divisor",
    "path-global",
    "path-large",
    "path-long",
    "path-maximum",
    "path-padding",
    "path-planes",
    "path-rows",
    "path-window",
    "row-path",
    "special-path",
)
MOVING = (
    "AdaptiveMaxPool-8",
    "AvgPool-14",
    "MaxPool-14",
    "torch.avg_pool-2",
)
"""Operators that are looked at, of each shape of definition."""

MAX_TERMS = 60_000
"""Terms of a case beyond which another one is taken."""

TIES = "-wraps"
"""Part of the names of mutants that read elements in another order.

Of equal ones rules name the first in the data, definitions the first that is read, as kernels do.
"""


@cache
def definition(op: str) -> Operator:
    return load_operator(str(directory("specs") / "moving" / f"{op}.yaml"))


@cache
def mutants_of_rules(op: str) -> dict[str, Mutant]:
    return {m.id: m for m in catalogue.mutants_of(find_spec(op)) if m.kind in KINDS}


@cache
def mutants_of_definition(op: str) -> dict[str, Mutant]:
    mutants = catalogue_mutants(definition(op))
    return {m.id: m for m in mutants if m.kind in KINDS}


def killed(op: str) -> Iterator[tuple[Case, list[str]]]:
    """Cases that kill every mutant that one of at most so many terms kills, and which of them."""
    entries = read_recorded_cases(recorded_cases_file(op)).recorded
    left = {*mutants_of_rules(op)}
    for entry in sorted(entries, key=lambda entry: -len(entry.kills)):
        chosen = sorted(left.intersection(entry.kills))
        if chosen and entry.case.reject is None and terms(op, entry.case) <= MAX_TERMS:
            left -= set(chosen)
            yield entry.case, chosen


def terms(op: str, case: Case) -> int:
    """The most terms that a definition has in a case."""
    operator = definition(op)
    binding = Binding(operator, case.attributes, case.shapes, case.operands)
    extents = ([*d.at.values(), *d.over.values()] for d in operator.define.values())
    return max(prod(binding.flat(nodes)) for nodes in extents)


@pytest.mark.parametrize("op", MOVING)
def test_each_mutant_is_there_and_says_the_same(op: str) -> None:
    old, new = mutants_of_rules(op), mutants_of_definition(op)
    assert (old.keys() - new.keys(), new.keys() - old.keys()) == (set(), set())
    for name, mutant in new.items():
        assert said(mutant) == said(old[name])


def said(mutant: Mutant) -> tuple[object, ...]:
    return (
        mutant.kind,
        mutant.description,
        mutant.where_to_look,
        mutant.threads,
        mutant.excused_by,
        mutant.equivalent,
        mutant.stated_equivalences,
    )


@pytest.mark.parametrize("op", MOVING)
def test_outputs_are_those_of_the_rules(op: str) -> None:
    differences = [
        f"{case.id}: {mutant}"
        for case, mutants in killed(op)
        for mutant in differing(op, case, mutants)
    ]
    assert not differences, "\n".join(differences)


def differing(op: str, case: Case, names: list[str]) -> Iterator[str]:
    """Name the mutants that give a case other outputs by the definition than by the rules."""
    operator, spec = definition(op), find_spec(op)
    inputs = inputs_of(operator, case)
    by_rules, right_shapes = subject_of(spec, case, inputs), subject_of(operator, case, inputs)
    for name in names:
        before = implementation_of(spec, mutants_of_rules(op)[name].change)
        after = implementation_of(operator, mutants_of_definition(op)[name].change)
        outputs = by_rules.under(before)
        shapes = [output.shape for output in outputs]
        is_alike = shapes == [output.shape for output in by_rules.outputs]
        by_definition = right_shapes if is_alike else subject_of(operator, case, inputs, shapes)
        others = by_definition.under(after)
        if [output.shape for output in others] != shapes:
            yield f"{name} has shapes {[output.shape for output in others]}, not {shapes}"
            continue
        pairs = list(zip(outputs, others, strict=True))[: 1 if TIES in name else None]
        if not all(_equal(a, b) for a, b in pairs):
            marks = by_rules.unspecified(before), by_definition.unspecified(after)
            unspecified = [a | b for a, b in zip(*marks, strict=True)]
            if not all(_equal(a, b, c) for (a, b), c in zip(pairs, unspecified, strict=False)):
                yield name


def _equal(a: Array, b: Array, unspecified: Array | bool = False) -> bool:
    """Whether outputs by the rules and by the definition are equal where they are specified.

    A mean of no terms is 0 by rules, which take a divisor of 0 for 1, and NaN by definitions.
    """
    a, b = (x if x.dtype.kind in "iu" else x.astype(np.float64) for x in (a, b))
    same: NDArray[np.bool_] = (a == b) | (b != b) & ((a != a) | (a == 0)) | unspecified
    return bool(same.all())
