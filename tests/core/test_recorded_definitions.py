"""Recorded cases of definitions give the vectors that were recorded, and kill what is said."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import prod

import pytest
import tiers

from conformance.audit.kills import MutantRunner
from conformance.core.loader import load_operator, shipped_names
from conformance.specification import (
    broken_conditions,
    build,
    level_of,
    mutants_of,
    spec_digest,
    violations,
)
from conformance.suite.evaluation import evaluate_case
from conformance.suite.recorded_cases import (
    RecordedCase,
    RecordedCases,
    read_recorded_cases,
    recorded_cases_file,
)

MAX_ELEMENTS = 2_000
FEW, MANY = 3, 24
"""Cases of an operator that are built once more, spread over all small ones."""


def newest(op: str) -> Iterator[Hashable]:
    """Versions of an operator differ little: the last of the alphabet is the sample."""
    yield op.rpartition("-")[0]


OPERATORS = tiers.sweep(sorted(shipped_names(), reverse=True), newest)


def recorded_of(op: str) -> RecordedCases:
    return read_recorded_cases(recorded_cases_file(op))


def sample(op: str, exhaustive: bool) -> Iterator[RecordedCase]:
    entries = [
        entry
        for entry in recorded_of(op).recorded
        if entry.case.reject is None and sum(map(prod, entry.case.shapes.values())) <= MAX_ELEMENTS
    ]
    yield from entries[:: max(1, len(entries) // (MANY if exhaustive else FEW))]


@pytest.mark.parametrize("op", OPERATORS)
def test_vectors_and_kills_are_those_recorded(op: str, exhaustive: bool) -> None:
    operator = load_operator(op)
    runner = MutantRunner(operator, mutants_of(operator))
    recorded = {name for entry in recorded_of(op).recorded for name in entry.kills}
    assert recorded <= {mutant.id for mutant in runner.mutants}
    for entry in sample(op, exhaustive):
        evaluate_case(operator, entry)  # raises EvaluationDefect where the digest is another
        vector = build(operator, entry.case)
        assert sorted(vector.edges) == sorted(entry.edges), entry.case.id
        kills = runner.restricted_to(entry.kills).kills(vector)
        assert {kill.mutant for kill in kills} == {*entry.kills}, entry.case.id
        excused = {kill.mutant for kill in kills if not kill.at_must}
        assert excused == {*entry.excused}, entry.case.id


@pytest.mark.parametrize("op", sorted(shipped_names()))
def test_all_cases_are_valid_or_break_what_they_are_to(op: str) -> None:
    operator, recorded = load_operator(op), recorded_of(op)
    assert recorded.specification == spec_digest(operator)
    for entry in recorded.recorded:
        broken = violations(operator, entry.case)
        if entry.case.reject is None:
            assert broken == (), entry.case.id
        else:
            assert broken_conditions(operator, entry.case), entry.case.id
            assert level_of(operator, entry.case) == entry.level, entry.case.id
