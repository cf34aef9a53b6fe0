"""The plan of a suite, and what it made of the shipped one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiers

from conformance import parallel
from conformance.audit.trivial_implementations import trivially_passed
from conformance.errors import SpecError
from conformance.generate import candidates, killers, plan
from conformance.generate.condense import SLACK
from conformance.generate.looking import MAX_ELEMENTS, Sight
from conformance.generate.pairs import SMOKE, Effort, Pool
from conformance.generate.pool import draw
from conformance.generate.rank import Ranked, RankTask
from conformance.generate.reject import reject_cases
from conformance.generate.settle import settle
from conformance.generate.suites import twins
from conformance.model import Case, Vector
from conformance.reference.build import build, describe
from conformance.spec.case_table import table_of
from conformance.spec.loader import find_spec, load_spec_text
from conformance.spec.validity import violations
from conformance.suite.store import Suite

MAX = find_spec("AdaptiveMaxPool-8")
FEW = Effort(base=60, aimed=4, children=600, rounds=4, condensing=1, strata=False)


BLOCK = """\
format: 1
op: Block-1
family: pooling
summary: The mean of blocks.
document: {title: No document, url: "https://example.org/block"}
types: {T: [f16, f32]}
attributes:
  block: {type: int, per: axis, required: true, min: 1, draw: {max: 3}}
dims:
  N: {min: 1, draw: {max: 1}}
  C: {min: 1, draw: {max: 2}}
  size: {per: axis, min: 1, draw: {min: block, max: 7}}
inputs:
  - {name: data, type: T, shape: [N, C, size], rank: [3, 3], patterns: [ramp]}
require:
  fits: {that: block <= size, why: There is one block at least.}
rules:
  reduce: mean
  out: size // block
  start: i * block
  taps: block
  divisor: prod(taps)
outputs:
  - {name: result, type: T, holds: value, shape: [N, C, out]}
edges:
  one: {when: all(out == 1), why: One block.}
  several: {when: any(out > 1), why: More than one.}
  channels: {when: C > 1, why: More than one channel.}
  wide: {when: any(block > 1), why: More than one element.}
reject:
  zero-block: {set: {block: 0}, breaks: block.min, why: A block needs an element.}
"""


@pytest.fixture(scope="module")
def suite() -> Suite:
    return tiers.core()


class TestTheShippedSuite:
    """What else it shows, and that it notices every fault: tests/audit/test_committed_suite.py."""

    def test_cases_have_their_ids_are_valid_and_no_larger_than_proofs_suppose(
        self, exhaustive: bool
    ) -> None:
        """Or break the condition that they name. All in one: to read the suite takes longest."""
        for vector in tiers.suite(exhaustive).vectors():
            assert vector.case.id == vector.id
            spec = find_spec(vector.case.op)
            broken = [violation.condition for violation in violations(spec, vector.case)]
            name = vector.case.reject
            assert broken == [one.breaks for one in spec.reject if one.name == name], vector.id
            arrays = [vector.inputs[0], *(answer.expected for answer in vector.answers)]
            assert max(array.size for array in arrays) <= MAX_ELEMENTS, vector.id

    def test_smoke_asks_each_refusal_once(self, suite: Suite) -> None:
        core, smoke_ = suite.manifest, suite.manifest.subset("smoke")
        refused = [(entry.op, entry.reject) for entry in smoke_.vectors if entry.reject]
        assert len(set(refused)) == len(refused)
        assert set(refused) == {(entry.op, entry.reject) for entry in core.vectors if entry.reject}
        assert len(smoke_.vectors) < len(core.vectors) / 5


class TestTwins:
    CASE = Case(
        op=MAX.op,
        types={"T": "f32", "T_SHAPE": "i64"},
        shapes={"data": (1, 1, 4)},
        attributes={"index_element_type": "i32"},
        operands={"output_size": (2,)},
    )

    def test_a_case_of_another_value_is_asked_with_the_twin_too(self) -> None:
        i64 = dataclasses.replace(self.CASE, attributes={"index_element_type": "i64"})
        assert twins(MAX, i64) == [i64, self.CASE]

    def test_the_default_is_another_value(self) -> None:
        default = dataclasses.replace(self.CASE, attributes={})
        assert twins(MAX, default) == [default, self.CASE]

    def test_a_case_of_the_twin_s_value_stands_alone(self) -> None:
        assert twins(MAX, self.CASE) == [self.CASE]

    def test_an_operator_without_them_has_the_case_alone(self) -> None:
        case = Case("AvgPool-1", {"T": "f32"}, {"data": (1, 1, 4)}, {"auto_pad": "valid"})
        assert twins(find_spec("AvgPool-1"), case) == [case]

    def test_every_vector_with_i64_indices_has_its_twin_in_the_shipped_suite(
        self, suite: Suite
    ) -> None:
        cases = [v.case for v in suite.vectors([MAX.op]) if v.case.reject is None]
        ids = {case.id for case in cases}
        found = [
            case for case in cases if case.attributes.get("index_element_type", "i64") == "i64"
        ]
        assert len(found) > 30
        for case in found:
            (twin,) = twins(MAX, case)[1:]
            assert twin.id in ids, case.id


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("block") / "Block-1.yaml"
    file.write_text(BLOCK, encoding="utf-8")
    return file


@pytest.fixture(scope="module", autouse=True)
def short_hunts() -> Iterator[None]:
    """Most mutants that survive are of what no block has; tests/own hunts as long as users do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "CHILDREN", 100)
        patch.setattr(candidates, "ROUNDS", 1)
        patch.setattr(killers, "OFTEN", 1)
        yield


@pytest.fixture(scope="module", autouse=True)
def ranked_once() -> Iterator[None]:
    """The same work on a rank is done once: the seed says what comes of it."""
    run, done = RankTask.run, {}

    def kept(task: RankTask) -> Ranked:
        key = task.spec.op, task.rank, task.root, task.effort
        if key not in done:
            done[key] = run(task)
        return done[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RankTask, "run", kept)
        yield


@pytest.fixture(scope="module")
def ranked(block: Path) -> Ranked:
    return RankTask(find_spec(str(block)), 3, 0, FEW).run()


def test_a_condition_that_nothing_meets_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "Block-1.yaml"
    file.write_text(BLOCK.replace("that: block <= size", "that: block < size and block > size"))
    work = plan.make(
        [find_spec(str(file))], root=7, processes=1, progress=lambda *_: None, effort=FEW
    )
    with pytest.raises(SpecError, match=r"Block-1.yaml:16:3: no valid case .* 'fits' is broken"):
        list(work)


class TestDraw:
    """Where cases are drawn, and how far others go beyond."""

    def test_cases_beyond_it_are_made_for_a_target_that_drawn_ones_do_not_meet(self) -> None:
        spec = load_spec_text(BLOCK.replace("when: C > 1", "when: C == 6"))
        pool = Pool(spec, 3, 0, FEW)
        pool.fill()
        assert max(case.shapes["data"][1] for case in pool.cases()) == 2
        settle(pool)
        made = [case for case in pool.cases() if case.shapes["data"][1] == 6]
        assert made
        assert all(violations(spec, case) == () for case in pool.cases())

    def test_legal_bounds_are_never_exceeded(self) -> None:
        text = BLOCK.replace("C: {min: 1, draw", "C: {min: 1, max: 5, draw")
        pool = Pool(load_spec_text(text.replace("when: C > 1", "when: C == 6")), 3, 0, FEW)
        pool.fill()
        settle(pool)
        assert pool.proven["channels", "channels"] == ("domain C",)
        assert max(case.shapes["data"][1] for case in pool.cases()) <= 5

    def test_an_aim_replaces_it(self) -> None:
        aim = ", aim: {C: {min: 4, max: 5}}}"
        spec = load_spec_text(
            BLOCK.replace("More than one channel.}", f"More than one channel.{aim}")
        )
        drawn = draw(spec, 3, 40, root=0, aim=spec.aims[0])
        assert {case.shapes["data"][1] for case in drawn} == {4, 5}

    def test_the_minimum_is_drawn_where_the_maximum_is_less(self) -> None:
        spec = load_spec_text(
            BLOCK.replace("draw: {min: block, max: 7}", "draw: {min: block, max: 2}")
        )
        drawn = draw(spec, 3, 60, root=0)
        sizes = {(case.attributes["block"][0], case.shapes["data"][2]) for case in drawn}
        assert sizes == {(1, 1), (1, 2), (2, 2), (3, 3)}


class TestRanks:
    """The work on one rank, with few draws."""

    def test_its_vectors_are_of_its_rank_and_not_vacuous(self, ranked: Ranked, block: Path) -> None:
        assert ranked.vectors
        assert {vector.inputs[0].ndim for vector in ranked.vectors} == {3}
        assert all(
            trivially_passed(find_spec(str(block)), vector) == () for vector in ranked.vectors
        )
        assert len({vector.id for vector in ranked.vectors}) == len(ranked.vectors)

    def test_every_pair_is_shown_or_infeasible(self, ranked: Ranked, block: Path) -> None:
        names = sorted(edge.name for edge in find_spec(str(block)).edges)
        asked = {(a, b) for a in names for b in names if a <= b}
        shown = {(a, b) for v in ranked.vectors for a in v.edges for b in v.edges if a <= b}
        assert ranked.infeasible == {("one", "several"): ()}
        assert shown | set(ranked.infeasible) == asked
        assert not shown & set(ranked.infeasible)
        assert ranked.uncovered == ()

    def test_every_edge_is_shown_in_every_type(self, ranked: Ranked, block: Path) -> None:
        shown = {(edge, v.case.types["T"]) for v in ranked.vectors for edge in v.edges}
        types = find_spec(str(block)).types["T"]
        assert shown == {(edge.name, t) for edge in find_spec(str(block)).edges for t in types}

    def test_each_edge_has_a_vector_that_isolates_it(self, ranked: Ranked, block: Path) -> None:
        spec = find_spec(str(block))
        pool = Pool(spec, 3, 0, FEW)
        pool.fill()
        built = [build(spec, case) for case in pool.cases()]
        drawn = [vector.edges for vector in built if not trivially_passed(spec, vector)]
        for edge in spec.edges:
            fewest = min(len(edges) for edges in drawn if edge.name in edges)
            own = min(len(vector.edges) for vector in ranked.vectors if edge.name in vector.edges)
            assert own <= fewest + SLACK


class TestMake:
    def test_ranks_come_first_then_operators_and_progress_is_told(self, block: Path) -> None:
        told: list[tuple[str, int, int]] = []
        (made,) = plan.make(
            [find_spec(str(block))],
            root=0,
            processes=1,
            progress=lambda *what: told.append(what),
            effort=FEW,
        )
        assert told == [("Block-1 rank 3", 0, 2), ("Block-1 faults", 1, 2)]
        assert made.op == "Block-1"
        assert [v.case.reject for v in made.vectors if v.case.reject] == ["zero-block"]
        assert made.vectors[-1].case.reject == "zero-block"
        assert made.suites.keys() == {vector.id for vector in made.vectors}
        assert all("core" in names for names in made.suites.values())
        assert any("smoke" in names for names in made.suites.values())
        assert {"divisor-missing", "strides-ignored"} <= {
            one for of in made.kills.values() for one in of
        }
        assert made.uncovered == ()
        assert made.strength.infeasible == {3: {("one", "several"): ()}}

    def test_smoke_alone_shows_every_edge_and_refusal(self, block: Path) -> None:
        (made,) = plan.make(
            [find_spec(str(block))], root=3, processes=1, progress=lambda *_: None, suite="smoke"
        )
        smoke = [v for v in made.vectors if "smoke" in made.suites[v.id]]
        spec = find_spec(str(block))
        assert {edge for v in smoke for edge in v.edges} == {edge.name for edge in spec.edges}
        assert [v.case.reject for v in smoke if v.case.reject] == ["zero-block"]
        assert made.uncovered == ()
        assert not SMOKE.pairs


class TestCost:
    def test_a_case_with_a_twin_costs_twice(self) -> None:
        cases = [
            dataclasses.replace(TestTwins.CASE, attributes={"index_element_type": t})
            for t in ("i32", "i64")
        ]
        one, other = Sight(MAX, 3).look(table_of(MAX, cases, 3)).cost
        assert other == 2 * one


class TestBuild:
    def test_a_refusal_has_no_answers_and_says_why(self) -> None:
        case, level = reject_cases(MAX, root=0)[0]
        vector = build(MAX, case, level)
        assert vector.answers == ()
        assert vector.edges == ()
        assert "must be rejected: " + MAX.reject[0].why in vector.description

    def test_a_description_names_all_that_is_given(self) -> None:
        vector: Vector = build(MAX, TestTwins.CASE)
        assert vector.description == (
            "AdaptiveMaxPool-8 of f32 1x1x4 (ramp), output_size 2, index_element_type i32."
        )
        assert describe(MAX, TestTwins.CASE) + "." == vector.description


@pytest.mark.parametrize("pairs", [True, False])
def test_the_work_on_one_rank_says_how_far_it_is(
    pairs: bool, block: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without mutants, which take longest."""
    monkeypatch.setattr(killers, "mutants_of", lambda _: ())
    told: list[tuple[str, float]] = []
    effort = dataclasses.replace(FEW, pairs=pairs)
    task = RankTask(find_spec(str(block)), 3, 5, effort)
    list(parallel.run([task], processes=1, progress=lambda *a: told.append(a[:2]), total=1))
    said = [(what.partition(": ")[2], share) for what, share in told]
    if pairs:
        assert said == [
            ("", 0),
            ("drawing cases", 0),
            ("covering pairs of targets", 1 / 9),
            ("selecting cases", 2 / 9),
            ("killing mutants in f32 3D", 1 / 3),
            ("killing mutants in f16 3D", 2 / 3),
        ]
    else:
        assert said == [
            ("", 0),
            ("drawing cases", 0),
            ("covering targets", 1 / 3),
            ("selecting cases", 2 / 3),
        ]
