"""The shipped suite proves its own strength: mutants noticed, targets shown, nothing asked twice.

Smoke is audited in full. Core is checked by what its manifest says; what is left out here the
commands ``audit``, ``coverage`` and ``suite lint`` do on all of core. CI runs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from functools import cache

import pytest
import tiers

from conformance.audit.audit_suite import audit, holdout
from conformance.audit.score import MutationScore
from conformance.audit.trivial_implementations import TrivialPassReport
from conformance.generate.coverage import coverage_of_definition
from conformance.model import Case
from conformance.specification import find_spec, mutants_of, ranks_of
from conformance.suite.entries import Entry
from conformance.suite.recorded_cases import recorded_cases_file
from conformance.suite.recordings import Recordings
from conformance.suite.store import Suite, open_suite

OPS = tiers.core().manifest.ops
MAX_SMOKE = 90
MAX_CORE = 2100
MAX_LINE = 450  # bytes of a recorded case, its share of the first line included; 350 on average
OF_CORE = 0.94
"""The share of the mutants that core notices, and smoke does at the least."""

EACH = pytest.mark.parametrize("op", OPS)


def kind(op: str) -> Iterator[Hashable]:
    """What the operator computes: an audit takes seconds, and a sample has one of each kind."""
    yield tuple(definition.combine for definition in find_spec(op).define.values())


AUDITED = pytest.mark.parametrize("op", tiers.sweep(OPS, kind))


def suite(name: str) -> Suite:
    return tiers.core() if name == "core" else tiers.smoke()


@cache
def score(op: str) -> MutationScore:
    """The audit of all vectors of smoke, done once."""
    (found,) = audit(suite("smoke"), [op], processes=1, progress=lambda *_: None)
    return found


def entries(name: str, op: str) -> list[Entry]:
    return [entry for entry in suite(name).manifest.vectors if entry.op == op]


@cache
def cases(op: str) -> tuple[Case, ...]:
    """What each value vector of core asks, as it is recorded."""
    listed = open_suite().manifest.listed
    assert isinstance(listed, Recordings)
    recorded = listed.cases(op).recorded
    return tuple(
        entry.case for entry in recorded if entry.case.reject is None and not entry.is_large
    )


def noticed(name: str, op: str) -> set[str]:
    """The mutants that the manifest says are noticed."""
    return {mutant for entry in entries(name, op) for mutant in entry.kills}


@EACH
class TestSmokeByItsManifest:
    def test_is_small(self, op: str) -> None:
        assert len(entries("smoke", op)) <= MAX_SMOKE

    def test_has_each_type_each_rank_and_each_refusal_of_core(self, op: str) -> None:
        whole, small = entries("core", op), entries("smoke", op)
        assert {one.dtype for one in small} == {one.dtype for one in whole}
        assert {tiers.rank(one) for one in small} == {tiers.rank(one) for one in whole}
        assert {one.reject for one in small} == {one.reject for one in whole}

    def test_notices_nearly_all_that_core_notices(self, op: str) -> None:
        assert len(noticed("smoke", op)) >= OF_CORE * len(noticed("core", op))


@pytest.mark.exhaustive
@AUDITED
class TestSmoke:
    def test_notices_what_the_manifest_says(self, op: str) -> None:
        kills = score(op).kills
        assert kills
        for entry in entries("smoke", op):
            if entry.reject is None:
                found = {kill.mutant: kill.at_must for kill in kills[entry.id]}
                assert found == {m: m not in entry.excused for m in entry.kills}, entry.id

    def test_no_claim_of_the_catalogue_is_refuted(self, op: str) -> None:
        assert score(op).wrongly_equivalent == ()
        assert score(op).wrongly_excused == ()

    def test_indistinguishable_mutants_give_the_same_outputs(self, op: str) -> None:
        """Smoke is a part of core: what all of core answers alike, it does."""
        prints: dict[str, dict[str, bytes]] = {}
        for vector_id, kills in score(op).kills.items():
            for kill in kills:
                prints.setdefault(kill.mutant, {})[vector_id] = kill.fingerprint
        for first, *rest in suite("core").manifest.strength[op].indistinguishable:
            assert all(prints.get(other) == prints.get(first) for other in rest)

    def test_the_experiment_runs_on_it(self, op: str) -> None:
        """Of the mutants of each kind many are noticed by a suite that was chosen without them."""
        found = holdout(suite("smoke"), score(op))
        assert sum(held.mutants for held in found) == 2 * len(score(op).counted)
        assert sum(held.killed for held in found) > 0.9 * sum(held.mutants for held in found)

    def test_no_trivial_implementation_passes_all_of_it(self, op: str) -> None:
        report = TrivialPassReport()
        for vector in suite("smoke").vectors([op]):
            report.check(vector)
        assert [*report.problems] == []


@EACH
class TestCore:
    def test_what_it_does_not_notice_is_stated(self, op: str) -> None:
        stated = suite("core").manifest.strength[op].parts.never_killed
        mutants = mutants_of(find_spec(op))
        counted = {mutant.id for mutant in mutants if not mutant.equivalent}
        assert noticed("core", op) == counted - stated
        assert len(stated) < 0.15 * len(counted)

    def test_is_small(self, op: str) -> None:
        assert len(entries("core", op)) <= MAX_CORE
        assert recorded_cases_file(op).stat().st_size <= MAX_LINE * len(entries("core", op))

    def test_about_a_quarter_are_images_that_nearly_every_backend_runs(self, op: str) -> None:
        images = sum(case.types["T"] == "f32" and case.rank == 4 for case in cases(op))
        assert images >= 0.2 * len(cases(op))

    def test_no_two_vectors_ask_the_same(self, op: str) -> None:
        asked = Counter(map(_question, cases(op)))
        assert [question for question, times in asked.items() if times > 1] == []

    def test_indistinguishable_mutants_are_noticed_ones(self, op: str) -> None:
        groups = suite("core").manifest.strength[op].indistinguishable
        named = [name for group in groups for name in group]
        assert {*named} <= noticed("core", op)
        assert len(named) == len({*named})
        assert all(len(group) > 1 for group in groups)


@pytest.mark.exhaustive
@EACH
def test_the_targets_that_vectors_list_are_those_they_meet(op: str) -> None:
    ranks, wrong = coverage_of_definition(find_spec(op), suite("core").vectors([op]))
    assert wrong == []
    assert [one.rank for one in ranks] == list(ranks_of(find_spec(op)))
    for one in ranks:
        assert len(one.missing_targets) < 0.3 * len(one.drawn_targets)


def _question(case: Case) -> Hashable:
    return (
        tuple(sorted((name, str(value)) for name, value in case.attributes.items())),
        tuple(case.shapes.items()),
        tuple(case.operands.items()),
        tuple(case.types.items()),
        case.pattern,
    )
