"""The shipped suite proves its own strength: faults noticed, edges and pairs shown, nothing spare.

Smoke is audited in full. Core is checked by what its manifest says, and that against the vectors
themselves on a part of them, or all where little is asked. What is left out here the commands
``audit``, ``coverage`` and ``suite lint`` do on all of core; CI runs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from functools import cache

import pytest
import tiers

from conformance.audit.audit_suite import audit, holdout
from conformance.audit.coverage import coverage
from conformance.audit.kills import MutantRunner
from conformance.audit.partitions import base_type, cases_within
from conformance.audit.score import MutationScore, kill_levels
from conformance.audit.trivial_implementations import trivially_passed
from conformance.model import Case
from conformance.spec.strata import strata_of
from conformance.specification import find_spec, mutants_of
from conformance.suite.entries import Entry
from conformance.suite.recorded_cases import recorded_cases_file
from conformance.suite.recordings import Recordings
from conformance.suite.store import Suite, open_suite
from conformance.suite.survivors import Partition

OPS = tiers.core().manifest.ops
MAX_SMOKE = 90
MAX_CORE = 2100
MAX_LINE = 350  # bytes of a recorded case, its share of the first line included; 275 on average

EACH = pytest.mark.parametrize("op", OPS)


def kind(op: str) -> Iterator[Hashable]:
    """What the operator computes: an audit takes seconds, and a sample has one of each kind."""
    spec = find_spec(op)
    yield spec.definitions["reduce"].text, *(output.holds for output in spec.outputs)


AUDITED = pytest.mark.parametrize("op", tiers.sweep(OPS, kind))


def suite(name: str) -> Suite:
    return tiers.core() if name == "core" else tiers.smoke()


@cache
def score(name: str, op: str) -> MutationScore:
    """The audit of all vectors of a suite, worked out once."""
    (found,) = audit(suite(name), [op], processes=1, progress=lambda *_: None)
    return found


def entries(name: str, op: str) -> list[Entry]:
    return [entry for entry in suite(name).manifest.vectors if entry.op == op]


@cache
def cases(op: str) -> tuple[Case, ...]:
    """What each value vector of core asks, as it is recorded."""
    recorded = shipped().cases(op).recorded
    return tuple(
        entry.case for entry in recorded if entry.case.reject is None and not entry.is_large
    )


def shipped() -> Recordings:
    listed = open_suite().manifest.listed
    assert isinstance(listed, Recordings)
    return listed


def by_manifest(name: str, op: str) -> dict[str, set[str]]:
    """By vector the faults that the manifest says it notices."""
    return {entry.id: set(entry.kills) for entry in entries(name, op)}


@EACH
class TestSmokeByItsManifest:
    def test_is_small(self, op: str) -> None:
        assert len(entries("smoke", op)) <= MAX_SMOKE

    def test_shows_each_edge_and_each_refusal_of_core(self, op: str) -> None:
        whole, small = entries("core", op), entries("smoke", op)
        assert {e for one in small for e in one.edges} == {e for one in whole for e in one.edges}
        assert {one.reject for one in small} == {one.reject for one in whole}

    def test_notices_every_fault(self, op: str) -> None:
        noticed = {name for kills in by_manifest("smoke", op).values() for name in kills}
        assert noticed == {fault.id for fault in mutants_of(find_spec(op)) if not fault.equivalent}


@AUDITED
class TestSmoke:
    def test_notices_every_fault_at_both_levels(self, op: str) -> None:
        found = score("smoke", op)
        assert found.missed == ()
        assert found.missed_at_must == ()
        assert found.wrongly_equivalent == ()
        assert found.wrongly_excused == ()
        assert found.complete
        assert found.counted

    def test_notices_what_the_manifest_says(self, op: str) -> None:
        stated = by_manifest("smoke", op)
        for vector_id, kills in score("smoke", op).kills.items():
            assert {kill.mutant for kill in kills} == stated[vector_id], vector_id

    def test_each_vector_is_needed(self, op: str) -> None:
        """Without it an edge, a must-reject entry, an attribute that is left out, a rank in the
        usual type, or a fault at one level is lost."""
        kills = score("smoke", op).kills
        optional = {one.name for one in find_spec(op).attributes if one.default is not None}

        def shows(entry: Entry) -> Iterator[Hashable]:
            yield from (("edge", edge) for edge in entry.edges)
            yield from kill_levels(kills.get(entry.id, ()))
            if entry.reject is not None:
                yield "reject", entry.reject
            else:
                case = suite("smoke").read(entry).case
                if entry.dtype == base_type(find_spec(op)):
                    yield "rank", len(case.shapes[find_spec(op).data.name])
                yield from (("left out", name) for name in optional - case.attributes.keys())

        shown = {entry.id: set(shows(entry)) for entry in entries("smoke", op)}
        times = Counter(item for items in shown.values() for item in items)
        for vector_id, items in shown.items():
            assert any(times[item] == 1 for item in items), vector_id


@pytest.mark.parametrize("op", tiers.first(OPS))
def test_shows_all_that_can_be_shown(op: str) -> None:
    ranks, wrong = coverage(find_spec(op), suite("core").manifest, suite("core").vectors([op]))
    assert wrong == []
    assert [one.rank for one in ranks] == list(find_spec(op).ranks)
    for one in ranks:
        assert one.vectors > 0
        assert one.missing_edges == ()
        assert one.disproved == ()
        assert one.missing_types == ()
        assert one.missing_pairs == ()
        assert one.strata is not None
        assert one.strata.met
        assert one.strata.complete
    assert suite("core").manifest.uncovered == ()


@EACH
def test_about_a_quarter_of_core_are_images_that_nearly_every_backend_runs(op: str) -> None:
    spec = find_spec(op)
    part = Partition(base_type(spec), 4)
    # Mutants of sizes are killed in every type and rank, so MaxPool-14 has a bit less.
    assert sum(cases_within(spec, part, cases(op))) >= 0.24 * len(cases(op))


@EACH
class TestCore:
    def test_notices_every_fault_by_its_manifest(self, op: str) -> None:
        noticed = {name for kills in by_manifest("core", op).values() for name in kills}
        assert noticed == {fault.id for fault in mutants_of(find_spec(op)) if not fault.equivalent}

    def test_says_which_faults_nothing_can_show(self, op: str) -> None:
        stated = suite("core").manifest.strength[op].equivalent
        excepted = [fault for fault in mutants_of(find_spec(op)) if fault.equivalent]
        assert stated == {fault.id: fault.equivalent for fault in excepted}

    def test_is_small(self, op: str) -> None:
        assert len(entries("core", op)) <= MAX_CORE
        assert recorded_cases_file(op).stat().st_size <= MAX_LINE * len(entries("core", op))

    def test_notices_what_the_manifest_says(self, op: str, exhaustive: bool) -> None:
        """On some vectors; on all of smoke see above."""
        stated = by_manifest("core", op)
        bank = MutantRunner(find_spec(op), mutants_of(find_spec(op)))
        asked = [one for one in entries("core", op) if one.reject is None]
        assert asked
        for entry in asked[:: 27 if exhaustive else 110]:
            kills = bank.kills(suite("core").read(entry))
            assert {kill.mutant for kill in kills} == stated[entry.id], entry.id

    def test_no_vector_is_vacuous(self, op: str, exhaustive: bool) -> None:
        for entry in entries("core", op)[:: 4 if exhaustive else 12]:
            assert trivially_passed(find_spec(op), suite("core").read(entry)) == (), entry.id

    def test_infeasible_pairs_are_of_edges_and_ranks_that_there_are(self, op: str) -> None:
        """Or of an element type and an edge."""
        spec = find_spec(op)
        strata = strata_of(spec)
        assert suite("core").manifest.strength[op].strata == strata.meaning
        names = {edge.name for edge in strata.whole.edges}
        types = set(spec.types[spec.data.type])
        stated = suite("core").manifest.strength[op].infeasible
        assert set(stated) == set(spec.ranks)
        for pairs in stated.values():
            for first, second in pairs:
                assert second in names
                assert first in types or (first in names and first <= second)

    def test_no_two_vectors_ask_the_same(self, op: str) -> None:
        """Twins ask the same geometry with the other type of index, and nothing else does."""
        asked = Counter(map(_question, cases(op)))
        twice = [question for question, times in asked.items() if times > 1]
        assert twice == []

    def test_indistinguishable_faults_are_counted_ones(self, op: str) -> None:
        counted = {fault.id for fault in mutants_of(find_spec(op)) if not fault.equivalent}
        groups = suite("core").manifest.strength[op].indistinguishable
        named = [name for group in groups for name in group]
        assert set(named) <= counted
        assert len(named) == len(set(named))
        assert all(len(group) > 1 for group in groups)


@AUDITED
class TestPartsOfTheSuite:
    def test_indistinguishable_faults_give_the_same_outputs_on_smoke(self, op: str) -> None:
        """Smoke is a part of core: what all of core answers alike, it does."""
        prints: dict[str, dict[str, bytes]] = {}
        for vector_id, kills in score("smoke", op).kills.items():
            for kill in kills:
                prints.setdefault(kill.mutant, {})[vector_id] = kill.fingerprint
        for first, *rest in suite("core").manifest.strength[op].indistinguishable:
            assert all(prints[other] == prints[first] for other in rest)

    def test_the_experiment_runs_on_it(self, op: str) -> None:
        """Of the faults of each kind many are noticed by a suite that was chosen without them."""
        found = holdout(suite("smoke"), score("smoke", op))
        assert sum(held.mutants for held in found) == 2 * len(score("smoke", op).counted)
        assert sum(held.killed for held in found) > 0.7 * sum(held.mutants for held in found)


def _question(case: Case) -> Hashable:
    return (
        tuple(sorted((name, str(value)) for name, value in case.attributes.items())),
        tuple(case.shapes.items()),
        tuple(case.operands.items()),
        tuple(case.types.items()),
        case.pattern,
    )
