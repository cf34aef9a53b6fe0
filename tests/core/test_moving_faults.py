"""Known bugs of pooling, restated for its definitions, give the outputs of those of its rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from test_moving_paths import KINDS as KINDS_OF_PATHS

from conformance.core.catalogue import catalogue_mutants, load_catalogue_text
from conformance.core.data import inputs_of
from conformance.core.kills import is_killed
from conformance.core.loader import load_operator
from conformance.core.operator import Operator
from conformance.core.subject import Subject
from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.resources import directory
from conformance.spec import catalogue, loader
from conformance.spec.catalogue import Mutant
from conformance.suite.recorded_cases import (
    RecordedCase,
    read_recorded_cases,
    recorded_cases_file,
)

MOVING = sorted((directory("specs") / "moving").glob("*.yaml"))
FILES = sorted((directory("specs") / "faults" / "moving").glob("*.yaml"))
KINDS = frozenset(path.stem for path in FILES).difference(KINDS_OF_PATHS)
MAX_ELEMENTS = 2000
"""Elements of the data of a case that is compared."""

SAMPLE = 8
"""Cases of an operator that the quick tier compares."""

OF_COUNTS = (
    "definitions count no elements by their value: all negative, all equal, the last of them"
)
OF_ZEROS = "zeros of both signs are one number"
SAME_AS_ANOTHER = "without padding of one number for both ends it is all-pads-at-end"
OF_NORMS = "a norm divides by nothing, and gives windows without data a value"

LEFT_OUT = {
    "last-of-equals-in-row": OF_COUNTS,
    "unstrided-index-looked-up-in-output": OF_COUNTS,
    "storage-order-transposes-indices": "an output has the order of its indices",
    "minus-zero-below-zero": OF_ZEROS,
    "padding-at-begin-only": SAME_AS_ANOTHER,
    "padding-at-end-only": SAME_AS_ANOTHER,
    "divisor-wraps-at-8-bits": OF_NORMS,
    "padding-alone-gives-nan-uncounted": OF_NORMS,
}
"""Mutants of the rules that some definitions do not have, each with the reason."""

FIRST_TAP = "of equal elements the first tap is named, where the rules name the first position"
LAST_DIGIT = "the machine rounds once to bf16, or adds in f64, where the rules' did otherwise"

NOTHING_READ = "the index of a window that reads nothing is that of its first tap, by the rules 0"
TOO_MANY = "4,098 windows of 4,097 elements by 4 others are more terms than are evaluated"
TOO_LARGE = "finite numbers may have an infinite norm, which the rules took for another number"

DIFFERS: dict[str, str] = {
    "negative-sums-beside-padding-become-zero": "by the rules where all elements are negative",
    "negative-positions-wrap": FIRST_TAP,
    "reflected-as-padding": FIRST_TAP,
    "means-of-bf16-truncated": LAST_DIGIT,
    "means-of-f16-truncated": LAST_DIGIT,
    "means-of-f32-truncated": LAST_DIGIT,
    "f32-summed-in-bf16": LAST_DIGIT,
    "f32-summed-in-f16": LAST_DIGIT,
    "f64-summed-in-f32": LAST_DIGIT,
    "f64-clamped-and-summed-in-f32": LAST_DIGIT,
    "bf16-summed-in-f16": LAST_DIGIT,
    "sums-in-own-type": LAST_DIGIT,
    "sums-in-own-type-in-3d": LAST_DIGIT,
    "sums-of-bf16-in-own-type": LAST_DIGIT,
    "sums-of-f16-in-own-type": LAST_DIGIT,
    "i32-averaged-in-f32": "a mean beyond i32 wraps around, as on x86, in place of the largest",
    "root-is-square": "the square root of minus infinity is NaN; by the rules it was itself",
    "first-element-never-read": NOTHING_READ,
    "last-element-never-read": NOTHING_READ,
    "infinities-count-as-zero": TOO_LARGE,
    "signs-kept-and-no-negative-root": TOO_LARGE,
    "f16-read-as-bf16": "the lowest number of bf16 is no -inf, as which the rules had it in f16",
    "subnormals-flushed": "results alone are flushed, and no index follows",
    "float16-ratio": TOO_MANY,
}
"""Mutants whose outputs differ in cases, each with the reason; what they kill is the same."""

KILL_LESS = {
    "means-of-bf16-truncated",
    "infinities-count-as-zero",
    "reflected-as-padding",
    "float16-ratio",
}
"""Those of them that a case may no longer kill, for the same reason; others do."""


@cache
def definition(path: Path) -> Operator:
    return load_operator(str(path))


@cache
def of_rules(op: str) -> dict[str, Mutant]:
    mutants = catalogue.mutants_of(loader.find_spec(op))
    return {mutant.id: mutant for mutant in mutants if mutant.kind in KINDS}


def restated(path: Path) -> dict[str, Mutant]:
    mutants = catalogue_mutants(definition(path))
    return {mutant.id: mutant for mutant in mutants if mutant.kind in KINDS}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_sound(path: Path) -> None:
    text = path.read_text("utf-8")
    mutants = load_catalogue_text(text, path.name, map(definition, MOVING))
    assert {mutant.kind for mutant in mutants} == {path.stem}


@pytest.mark.parametrize("path", MOVING, ids=lambda path: path.stem)
def test_operators_have_the_known_bugs_that_they_had(path: Path) -> None:
    old, new = of_rules(path.stem), restated(path)
    assert {name for name in old.keys() - new.keys() if name not in LEFT_OUT} == set()
    assert new.keys() - old.keys() == set()
    for name in old.keys() & new.keys():
        assert _about(new[name]) == _about(old[name])


def _about(mutant: Mutant) -> tuple[object, ...]:
    return (
        mutant.id,
        mutant.description,
        mutant.threads,
        mutant.excused_by,
        mutant.equivalent,
        mutant.stated_equivalences,
        mutant.cause,
        mutant.fixed,
    )


@pytest.mark.parametrize("path", MOVING, ids=lambda path: path.stem)
def test_outputs_are_those_of_the_rules(path: Path) -> None:
    lines = [
        f"{name}: {entry.case.id}" for entry in sample(path.stem) for name in differing(path, entry)
    ]
    assert not lines, "\n".join(lines)


def sample(op: str) -> Sequence[RecordedCase]:
    """Cases with values, spread over all."""
    entries = [
        entry
        for entry in read_recorded_cases(recorded_cases_file(op)).recorded
        if entry.case.reject is None
        and not entry.is_large
        and 0 < int(np.prod(entry.case.shapes["data"])) <= MAX_ELEMENTS
    ]
    return entries[:: max(1, len(entries) // SAMPLE)]


def differing(path: Path, entry: RecordedCase) -> Iterator[str]:
    """Yield the mutants that a case kills which have other outputs by the definition.

    Those of :data:`DIFFERS` only where the case does not kill them any more.
    """
    rules, operator = loader.find_spec(path.stem), definition(path)
    inputs = inputs_of(operator, entry.case)
    before, after = subject_of(rules, entry.case, inputs), Subject(operator, entry.case, inputs)
    old, new = of_rules(path.stem), restated(path)
    nowhere = before.unspecified(implementation_of(rules))
    for name in sorted({*entry.kills} & old.keys() & new.keys()):
        changed = implementation_of(rules, old[name].change)
        outputs = after.under(implementation_of(operator, new[name].change))  # type: ignore[arg-type]
        theirs, unspecified = before.under(changed), before.unspecified(changed)
        forms = [
            [(a.shape, a.dtype) for a in arrays] for arrays in (outputs, theirs, before.outputs)
        ]
        same = forms[0] == forms[1]
        if same and forms[1] == forms[2]:  # what has another form is wrong whatever it holds
            masks = [a | b for a, b in zip(nowhere, unspecified, strict=True)]
            same = all(map(_is_same, theirs, outputs, masks))
        if same or (name in DIFFERS and (name in KILL_LESS or is_killed(after, new[name]))):
            continue
        yield name


def _is_same(old: Array, new: Array, unspecified: Array) -> bool:
    mask = ~np.broadcast_to(unspecified, old.shape)
    if old.dtype.kind in "iub":
        return np.array_equal(old[mask], new[mask])
    # The mean of a window that reads nothing is 0 / 0; by the rules it was 0.
    mask &= (old != 0) | ~np.isnan(new)
    return np.array_equal(old[mask], new[mask], equal_nan=True)
