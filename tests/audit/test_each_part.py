"""Each part of each operator is whole: every mutant that can show there is killed.

By the kills that are recorded. Of the operators in the shipped suite as many of these are worked
out anew as a verdict rests on: of each part, mutant and level one. So this finds what the command
``conformance suite audit --parts`` finds, which works out every kill of every vector, in a third of
the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress, product

import numpy as np
import pytest
import tiers

from conformance.audit.kills import Kill, MutantRunner
from conformance.audit.mutant_states import mutant_states
from conformance.audit.partitions import cases_within, partitions_of_rank
from conformance.generate import recorded
from conformance.generate.attack import refuted
from conformance.generate.disprover import settled
from conformance.spec.loader import shipped_operators
from conformance.specification import find_spec, mutants_of
from conformance.suite.recorded_cases import RecordedCase

SHIPPED = tiers.core().manifest.ops
RECORDED = [op for op in shipped_operators() if op not in SHIPPED]
"""Operators that have recorded cases alone."""


@pytest.mark.parametrize("op", [*tiers.first(RECORDED), *tiers.first(SHIPPED)])
def test_no_mutant_is_undetermined_in_any_part(op: str) -> None:
    spec, known = find_spec(op), recorded.read(op)
    assert known is not None
    known = recorded.small(known)
    assert known is not None
    graded = [one for one in known.recorded if one.case.reject is None]
    found = mutant_states(
        spec,
        mutants_of(spec),
        {one.case.id: one.case for one in graded},
        {
            one.case.id: [Kill(fault, fault not in one.excused, b"") for fault in one.kills]
            for one in graded
        },
        {part: one.inert for part, one in known.parts.survivors.items()},
    )
    assert len(found) == sum(1 for rank in spec.ranks for _ in partitions_of_rank(spec, rank))
    assert all(one.killed for one in found)
    left = {
        str(one.partition): (one.survivors.undetermined, one.refuted)
        for one in settled(spec, mutants_of(spec), found)
        if not one.complete
    }
    assert left == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("op", SHIPPED)
def test_recorded_kills_are_found_again_and_no_claim_is_refuted(op: str) -> None:
    """Of each part, mutant and level one kill; of what is said to be impossible, all vectors."""
    spec, known = find_spec(op), recorded.read(op)
    assert known is not None
    known = recorded.small(known)
    assert known is not None
    bank = MutantRunner(spec, mutants_of(spec))
    graded = {one.case.id: one for one in known.recorded if one.case.reject is None}
    claims = {f.id for f in bank.mutants if f.equivalent or f.stated_equivalences or f.excused_by}
    entries = [entry for entry in tiers.core().manifest.of([op]) if entry.reject is None]
    assert {entry.id for entry in entries} == graded.keys()
    needed = dict(_needed(op, list(graded.values())))
    assert len(needed) > 50
    may = bank.restricted_to(claims).may_differ([graded[entry.id].case for entry in entries])
    claimed = [fault.id for fault in bank.mutants if fault.id in claims]
    for entry, row in zip(entries, may, strict=True):
        one = graded[entry.id]
        assert (entry.kills, entry.excused) == (one.kills, one.excused), entry.id
        asked = {*compress(claimed, row), *needed.get(entry.id, ())}
        if asked:
            among = np.array([fault.id in asked for fault in bank.mutants])
            kills = bank.kills(tiers.core().read(entry), among)
            assert {(kill.mutant, kill.at_must) for kill in kills} == {
                (name, name not in one.excused) for name in asked.intersection(one.kills)
            }, entry.id
        assert claims.isdisjoint(set(one.kills) - {*compress(claimed, row)}), entry.id


def _needed(op: str, graded: list[RecordedCase]) -> Iterator[tuple[str, set[str]]]:
    """By the id of a case mutants that it kills, at a level or in a part where none before did."""
    spec = find_spec(op)
    cases = [one.case for one in graded]
    inside: list[list[object]] = [[] for _ in cases]
    for rank in spec.ranks:
        for part in partitions_of_rank(spec, rank):
            for place in np.flatnonzero(cases_within(spec, part, cases)):
                inside[place].append(part)
    seen: set[object] = set()
    for one, own in zip(graded, inside, strict=True):
        new = set()
        for name in one.kills:
            levels = ("should",) if name in one.excused else ("should", "must")
            shown = set(product(own, levels, (name,))) - seen
            if shown:
                seen |= shown
                new.add(name)
        if new:
            yield one.case.id, new


@pytest.mark.parametrize("op", tiers.first(shipped_operators()))
def test_drawn_cases_do_not_refute_what_is_stated(op: str) -> None:
    spec = find_spec(op)  # `conformance suite audit --draw N` draws more
    found = refuted(spec, mutants_of(spec), 80, processes=1, progress=lambda *_: None)
    assert list(found) == []
