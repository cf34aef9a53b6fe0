"""A search finds what is planted, with a small case, and nothing where nothing is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiers
from mutant_backends import Function, Mutant
from searching import search, until_found

from conformance.audit.kills import MutantRunner
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.numpy import NumPy
from conformance.errors import UsageError
from conformance.fuzz import minimise_case, session
from conformance.fuzz.calls import MIN_SECONDS
from conformance.fuzz.case_batches import LARGE, LIMITS, Batches
from conformance.fuzz.guidance import Guidance
from conformance.fuzz.simpler import simpler_cases
from conformance.generate.cases import MAX_TERMS
from conformance.generate.claim import Claim, claimed
from conformance.generate.pool import most_terms
from conformance.model import Case, Status
from conformance.run.inline import Inline
from conformance.run.limits import Limits
from conformance.run.worker_pool import ProcessExecutor
from conformance.specification import find_spec, mutants_of

PLANTED = [
    ("AvgPool-1", "pads-halved-at-both-ends"),
    ("AvgPool-14", "kernel-1-ignores-pads"),
    ("AdaptiveMaxPool-8", "every-channel-shows-the-first"),
    ("AdaptiveAvgPool-8", "last-column-unwritten"),
    ("onnx.MaxPool-12", "unstrided-index-looked-up-in-output"),
    ("torch.max_pool-2", "strides-axes-reversed"),
    ("onnx.LpPool-18", "same-one-too-few"),
]


class TestPlanted:
    @pytest.mark.parametrize(("op", "mutant"), tiers.first(PLANTED))
    def test_is_found_soon_and_small(self, op: str, mutant: str) -> None:
        found = search(Mutant(op, mutant), op, cases=400, progress=until_found).discoveries
        assert len(found) == 1
        assert mutant in found[0].cause.mutants
        assert found[0].vector.inputs[0].size <= 12
        assert found[0].calls <= 301

    @pytest.mark.exhaustive
    def test_the_minimal_case_cannot_be_made_simpler(self) -> None:
        op = "AvgPool-14"
        backend = Mutant(op, "kernel-1-ignores-pads")
        (found,) = search(backend, op, cases=200, progress=until_found).discoveries
        spec = find_spec(op)
        for case in simpler_cases(spec, lambda _case: True, found.vector.case):
            again = search(backend, op, known={op: [case]}, cases=1)
            assert not again.discoveries or again.discoveries[0].cause.mutants.isdisjoint(
                found.cause.mutants
            )

    def test_two_bugs_are_two_findings(self) -> None:
        op, both = "AvgPool-14", {"kernel-1-ignores-pads", "same-pads-never-counted"}
        found = search(Mutant(op, *both), op, cases=120).discoveries
        assert both <= set().union(*(one.cause.mutants for one in found))
        assert len(found) == 2

    @pytest.mark.exhaustive
    def test_one_bug_is_one_finding_however_often_it_shows(self) -> None:
        op = "AdaptiveMaxPool-8"
        outcome = search(Mutant(op, "every-channel-shows-the-first"), op, cases=300)
        (found,) = outcome.discoveries
        assert found.cause.failures > 20
        assert found.cause.mutants == {"every-channel-shows-the-first"}

    @pytest.mark.exhaustive
    def test_of_an_exception_one_for_each_complaint(self) -> None:
        def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
            if inputs[0].shape[1] == 3:
                raise RuntimeError(f"3 channels of {inputs[0].shape} are too many")
            if inputs[0].shape[0] == 2:
                raise RuntimeError("one image at a time")
            return NumPy().run(op, inputs, attributes)

        op = "AdaptiveAvgPool-8"
        found = search(Function(op, "picky", run), op, cases=300).discoveries
        assert sorted(one.vector.inputs[0].shape for one in found) == [(1, 3, 1), (2, 1, 1)]
        assert {one.result.kind for one in found} == {"raised"}

    def test_what_passed_and_contradicts_the_only_mutant_is_kept(self) -> None:
        op, mutant = "AvgPool-14", "kernel-1-ignores-pads"
        wrong, right = Mutant(op, mutant), Mutant(op)

        def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
            return (wrong if inputs[0].shape[2] < 4 else right).run(op, inputs, attributes)

        backend = Function(op, "narrow", run)
        backend.capabilities = Capabilities(operators=(op,), dtypes=("f32",), ranks=(3,))
        pads = {"pads_begin": [1], "pads_end": [0], "exclude-pad": False}
        attributes = {"kernel": [1], "strides": [1], **pads}
        fails, passes = (
            Case(op, {"T": "f32"}, {"data": (1, 1, size)}, attributes) for size in (3, 8)
        )
        (found,) = search(backend, op, known={op: [fails, passes]}, cases=2).discoveries
        assert mutant in found.cause.mutants
        larger = [one for one in found.controls.values() if one.id == passes.id]
        killed = MutantRunner(find_spec(op), mutants_of(find_spec(op))).all_kills(larger)
        assert found.cause.mutants <= {kill.mutant for kills in killed for kill in kills}

    def test_a_negative_test_that_is_accepted(self) -> None:
        def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
            if len(inputs[1]) != inputs[0].ndim - 2:
                return [inputs[0]]
            return NumPy().run(op, inputs, attributes)

        op = "AdaptiveAvgPool-8"
        found = search(Function(op, "lenient", run), op, cases=100).discoveries
        assert {one.result.kind for one in found} == {"accepted"}
        assert all(one.vector.inputs[0].size <= 2 for one in found)

    def test_a_failure_that_does_not_repeat_is_told_as_that(self) -> None:
        asked = [0]

        def run(op: str, inputs: list[Any], attributes: dict[str, Any]) -> Any:
            asked[0] += 1
            outputs = NumPy().run(op, inputs, attributes)
            return [one + 1 for one in outputs] if asked[0] == 30 else outputs

        op = "AvgPool-1"
        (found,) = search(Function(op, "flaky", run), op, cases=60).discoveries
        assert found.result.kind == "unsteady"


class TestHonest:
    @pytest.mark.exhaustive
    def test_nothing_is_found(self) -> None:
        ops = ("AvgPool-1", "AvgPool-14", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")
        outcome = search(NumPy(), *ops, cases=800)
        assert outcome.discoveries == []
        assert outcome.cases == 800
        assert outcome.ended == "all cases were asked"
        for op in ops:
            covered = outcome.coverage[op]
            assert covered.cases > 100
            assert covered.ranks == (3, 4, 5)
            assert covered.types == ("bf16", "f16", "f32", "f64")
            assert covered.pairs > 500
            assert 0 < covered.mutants <= covered.of_mutants

    def test_only_what_is_declared_is_asked(self) -> None:
        asked: list[tuple[str, int, Any]] = []

        class Narrow(NumPy):
            capabilities = Capabilities(
                operators=("AvgPool-1",),
                dtypes=("f32",),
                ranks=(4,),
                excluding=(Exclusion("no padding", when="any(pads_begin > 0)"),),
            )

            def run(self, op: str, inputs: Any, attributes: Any) -> Any:
                asked.append((inputs[0].dtype.name, inputs[0].ndim, attributes))
                return super().run(op, inputs, attributes)

        outcome = search(Narrow(), "AvgPool-1", "MaxPool-1", cases=100)
        assert outcome.discoveries == []
        assert {one[:2] for one in asked} == {("float32", 4)}
        assert outcome.coverage.keys() == {"AvgPool-1"}
        pads = [one[2].get("pads_begin") or [0] for one in asked]  # negative tests may have none
        valid = [one for one in pads if min(one) >= 0]
        assert sum(max(one) > 0 for one in valid) < len(valid) / 10

    def test_what_nothing_is_declared_of_is_wrong_usage(self) -> None:
        with pytest.raises(UsageError, match="declares none of these operators"):
            search(NumPy(), "MaxPool-1", cases=1)

    @pytest.mark.exhaustive
    def test_larger_sizes_than_specifications_draw(self) -> None:
        sizes: list[int] = []

        class Noting(NumPy):
            def run(self, op: str, inputs: Any, attributes: Any) -> Any:
                sizes.append(max(inputs[0].shape))
                return super().run(op, inputs, attributes)

        search(Noting(), "AdaptiveAvgPool-8", cases=600)
        assert max(sizes) > 100

    @pytest.mark.exhaustive
    def test_it_stops_where_nothing_new_is_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(session, "QUIET", 1 / len(LIMITS))
        op = "onnx.GlobalMaxPool-1"
        outcome = search(Mutant(op), op, cases=20_000)
        assert outcome.ended == "nothing new was found for long"
        assert 100 < outcome.cases < 20_000

    def test_it_stops_when_the_time_is_over(self) -> None:
        outcome = search(NumPy(), "AdaptiveAvgPool-8", cases=10, seconds=0.0)
        assert outcome.ended == "the time was over"
        assert outcome.cases == 0


class TestTheSameSeed:
    @pytest.mark.exhaustive
    @pytest.mark.parametrize("op", ["AvgPool-14", "AdaptiveMaxPool-8"])
    def test_gives_the_same_findings(self, op: str) -> None:
        mutants = [one for of, one in PLANTED if of == op]

        def once(seed: int) -> list[Any]:
            found = search(Mutant(op, *mutants), op, cases=60, seed=seed).discoveries
            return [
                (one.vector.id, one.first.id, one.cases, one.calls, sorted(one.controls))
                for one in found
            ]

        assert once(3) == once(3)
        assert once(3) != once(4)


BROKEN = """
import os, signal, time
from conformance.backends.numpy import NumPy

class Crashing(NumPy):
    name = "crashing"
    def run(self, op, inputs, attributes):
        if inputs[0].shape[-1] == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run(op, inputs, attributes)

class Hanging(NumPy):
    name = "hanging"
    def run(self, op, inputs, attributes):
        if inputs[0].shape[0] == 2:
            time.sleep(60)
        return super().run(op, inputs, attributes)

class Dead(NumPy):
    name = "dead"
    def run(self, op, inputs, attributes):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN)
    return file


class TestCrashesAndHangs:
    def test_a_crash_is_minimised(self, broken: Path) -> None:
        executor = ProcessExecutor(f"{broken}:Crashing", Limits(10))
        found, *others = search(
            executor, "AdaptiveAvgPool-8", cases=300, progress=until_found
        ).discoveries
        assert {one.result.kind for one in (found, *others)} == {"crashed"}
        assert all(one.vector.case.reject for one in others)
        assert found.vector.inputs[0].shape == (1, 1, 5)

    @pytest.mark.exhaustive
    def test_a_hang_is_minimised(self, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(minimise_case, "SECONDS", 6.0)
        executor = ProcessExecutor(f"{broken}:Hanging", Limits(2))
        found, *others = search(
            executor, "AdaptiveAvgPool-8", cases=40, timeout=2.0, progress=until_found
        ).discoveries
        assert {one.result.kind for one in (found, *others)} == {"hung"}
        assert all(one.vector.inputs[0].shape[0] == 2 for one in (found, *others))
        assert found.vector.inputs[0].size <= 12

    def test_a_backend_that_always_crashes_is_given_up(self, broken: Path) -> None:
        executor = ProcessExecutor(f"{broken}:Dead", Limits(10))
        outcome = search(executor, "AdaptiveAvgPool-8", cases=300)
        assert outcome.ended == "the backend was given up"
        assert outcome.given_up
        assert outcome.discoveries == [] or outcome.discoveries[0].result.status is Status.ERROR


def test_the_timeout_follows_the_speed_of_the_backend() -> None:
    allowed: list[float] = []

    class Timed(Inline):
        def allow(self, seconds: float) -> None:
            allowed.append(seconds)

    search(Timed(NumPy()), "AvgPool-1", cases=100, timeout=7.0)
    assert allowed
    assert all(MIN_SECONDS <= one <= 7.0 for one in allowed)


class TestEarlierFailures:
    def test_come_first_and_are_no_failures_where_they_pass(self) -> None:
        op = "AvgPool-14"
        backend = Mutant(op, "kernel-1-ignores-pads")
        (found,) = search(backend, op, cases=200, progress=until_found).discoveries
        again = search(backend, op, known={op: [found.vector.case]}, cases=1)
        assert again.discoveries[0].vector.id == found.vector.id
        assert again.discoveries[0].cases == 1
        assert search(NumPy(), op, known={op: [found.vector.case]}, cases=1).discoveries == []


def test_some_batches_have_a_case_of_hundreds_of_thousands_of_terms() -> None:
    spec = find_spec("AvgPool-1")
    claim = Claim(("f32",), (3, 4, 5))
    drawing = Batches(spec, claim, claimed(spec, claim), 1, "must")
    guidance = Guidance(spec, "must")
    large = [
        any(most_terms(spec, case) > MAX_TERMS for case in drawing.batch(8, guidance))
        for _ in LIMITS
    ]
    assert large == [limit >= LARGE for limit in LIMITS]
