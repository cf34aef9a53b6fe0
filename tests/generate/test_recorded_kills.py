"""What is recorded of an operator helps a fresh seed: where to look, and what not to prove."""

import pytest

from conformance.generate import killers
from conformance.generate.candidates import Candidates
from conformance.generate.killers import Killers, killable, proven
from conformance.generate.pairs import SMOKE
from conformance.reference.values import data_of
from conformance.spec import loader
from conformance.suite.recorded_cases import current_cases

SPEC = loader.find_spec("AdaptiveMaxPool-8")
RANK = 3


@pytest.fixture
def nothing_found(monkeypatch):
    """No case is drawn or crossed, and the solver is not to be asked."""
    nothing = Candidates.of(SPEC, [], RANK)
    monkeypatch.setattr(killers, "drawn_cases", lambda *_, **__: nothing)
    monkeypatch.setattr(killers, "children", lambda *_, **__: iter(()))
    monkeypatch.setattr(Killers, "_disprover", None)


def test_what_chance_does_not_find_is_killed_by_recorded_cases_with_other_data(nothing_found):
    found = Killers(SPEC, RANK, [])
    found.complete(Candidates.of(SPEC, [], RANK), root=5, effort=SMOKE)
    known = current_cases(SPEC)
    own = {one.case.id for one in known.recorded}
    for part, one in known.parts.survivors.items():
        if part.rank == RANK:
            standing = found.standing(part)
            assert {name for level, name in standing.missing if level == "should"} <= one.mutants
    new = [vector for name, vector in found.vectors.items() if name not in own]
    assert len(new) > len(found.vectors) / 2
    seeds = {one.case.seed for one in known.recorded}
    assert all(vector.case.seed not in seeds for vector in new if data_of(SPEC, vector.case))


def test_the_solver_is_not_asked_what_a_recorded_case_shows(monkeypatch, nothing_found):
    asked = []

    class Solver:
        def proven(self, part, names, **_):
            asked.extend((part, name) for name in names)
            return frozenset()

        def showing(self, *_):
            return ()

    monkeypatch.setattr(Killers, "_disprover", Solver())
    monkeypatch.setattr(Killers, "_refilled", lambda *_: iter(()))
    found = Killers(SPEC, RANK, [], inert={})
    found.complete(Candidates.of(SPEC, [], RANK), root=5, effort=SMOKE)
    known = killable(current_cases(SPEC))
    assert any(name for names in known.values() for name in names)
    assert not [(part, name) for part, name in asked if name in known[part]]


def test_each_mutant_of_a_part_is_killable_inert_or_known_to_survive():
    known = current_cases(SPEC)
    able, inert = killable(known), proven(known)
    for part, one in known.parts.survivors.items():
        assert able[part].isdisjoint(inert[part])
        assert able[part] >= one.excused
        assert able[part] | one.mutants == set(known.faults)
    assert killable(None) == proven(None) == {}
