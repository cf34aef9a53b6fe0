"""Each part of each operator is whole: what its vectors do not kill is stated, and nothing more.

By the kills that are recorded. With ``--exhaustive`` as many of these are computed anew as a
verdict rests on: of each part, mutant and level one. So this finds what the command ``conformance
suite audit --parts`` finds, which computes every kill of every vector, in a third of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
import tiers

from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import MutantStates, mutant_states
from conformance.audit.score import is_always_excused
from conformance.generate import recorded
from conformance.specification import build, find_spec, mutants_of, shipped_operators
from conformance.suite.recorded_cases import RecordedCase, RecordedCases
from conformance.suite.survivors import Partition

OPS = shipped_operators()


def small(op: str) -> RecordedCases:
    known = recorded.read(op)
    assert known is not None
    return recorded.small(known)


def graded(known: RecordedCases) -> dict[str, RecordedCase]:
    return {one.case.id: one for one in known.recorded if one.case.reject is None}


def part_of(one: RecordedCase) -> Partition:
    return Partition(one.case.dtype, one.case.rank)


def states(op: str, known: RecordedCases) -> list[MutantStates]:
    cases = graded(known)
    kills = {
        name: [Kill(mutant, mutant not in one.excused, b"") for mutant in one.kills]
        for name, one in cases.items()
    }
    return mutant_states(
        mutants_of(find_spec(op)),
        {part_of(one) for one in cases.values()},
        {name: one.case for name, one in cases.items()},
        kills,
        known.parts.survivors,
    )


@pytest.mark.parametrize("op", OPS)
def test_survivors_are_those_that_are_stated_and_no_kill_refutes_it(op: str) -> None:
    known = small(op)
    stated = known.parts.survivors
    found = states(op, known)
    assert {one.partition for one in found} == stated.keys()
    other = {
        str(one.partition): one.survivors.mutants ^ stated[one.partition].mutants
        for one in found
        if one.survivors != stated[one.partition]
    }
    refuted = {str(one.partition): one.refuted for one in found if one.refuted}
    assert (other, refuted) == ({}, {})


@pytest.mark.exhaustive
@pytest.mark.parametrize("op", tiers.first(OPS))
def test_recorded_kills_are_found_again_and_no_claim_is_refuted(op: str) -> None:
    """Of each part, mutant and level one kill; of what is said to be impossible, all vectors."""
    spec, known = find_spec(op), small(op)
    bank = MutantRunner(spec, mutants_of(spec))
    impossible = {mutant.id for mutant in bank.mutants if mutant.equivalent}
    impossible |= known.parts.never_killed
    excused = {mutant.id for mutant in bank.mutants if is_always_excused(mutant)}
    cases = graded(known)
    needed = dict(_needed([*cases.values()]))
    assert len(needed) > 20
    for name, one in cases.items():
        asked = impossible | excused | needed.get(name, set())
        among = np.array([mutant.id in asked for mutant in bank.mutants])
        kills = {kill.mutant: kill.at_must for kill in bank.kills(build(spec, one.case), among)}
        assert impossible.isdisjoint(kills), name
        assert not any(kills.get(mutant) for mutant in excused), name
        expected = {mutant: mutant not in one.excused for mutant in needed.get(name, ())}
        assert expected.items() <= kills.items(), name


def _needed(cases: Sequence[RecordedCase]) -> Iterator[tuple[str, set[str]]]:
    """By the id of a case mutants that it kills, at a level or in a part where none before did."""
    seen: set[object] = set()
    for one in cases:
        new = set()
        for name in one.kills:
            levels = ("should",) if name in one.excused else ("should", "must")
            shown = set(product([part_of(one)], levels, (name,))) - seen
            if shown:
                seen |= shown
                new.add(name)
        if new:
            yield one.case.id, new
