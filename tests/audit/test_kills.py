"""Which faults a vector notices: those whose outputs a judge would refuse, and no others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from handmade import ADAPTIVE, AVG, MAX, adaptive, fault, pooled, row

from conformance.audit.kills import MutantRunner
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case, Status, Vector
from conformance.specification import build, find_spec, mutants_of

FINISH = "define.result.finish"
UNDIVIDED = fault("undivided", {FINISH: "total"})
STUCK = fault("stuck", {"define.result.with.start": "i - pad_begin"})
ONE_MORE = fault("one-more", {FINISH: "total / (where(counts_pads, prod(taps), terms) + 1)"})
IN_PADS = "prod(max(0, min(taps, padded_end - start)))"
CLIPPED = fault("clipped", {FINISH: f"total / {IN_PADS}"}, where="counts_pads")
MADE = (UNDIVIDED, STUCK, ONE_MORE, CLIPPED)

PLAIN = pooled(row(1, 2, 4, 8), [2])
STRIDED = pooled(row(1, 2, 4, 8), [2], strides=[2])
OVERRUN = pooled(
    row(1, 2, 4, 8, 16), [3], strides=[2], pads_begin=[1], pads_end=[0], rounding_type="ceil"
)


def noticed(vector: Vector) -> set[str]:
    return {kill.mutant for kill in MutantRunner(find_spec(AVG), MADE).kills(vector)}


class TestKills:
    def test_a_weak_vector_misses_what_it_does_not_ask(self) -> None:
        assert noticed(PLAIN) == {"undivided", "one-more"}
        assert noticed(STRIDED) == {"undivided", "one-more", "stuck"}

    def test_a_reading_excuses_at_must_and_not_at_should(self) -> None:
        kills = {kill.mutant: kill for kill in MutantRunner(find_spec(AVG), MADE).kills(OVERRUN)}
        assert set(kills) == {"undivided", "stuck", "one-more", "clipped"}
        assert not kills["clipped"].at_must
        assert "clip-divisor" in OVERRUN.readings
        assert all(kill.at_must for name, kill in kills.items() if name != "clipped")

    @pytest.mark.parametrize("size", [6, 5000])
    def test_a_reading_excuses_a_window_of_any_length(self, size: int) -> None:
        """Outputs of another shape are worked out where a reading has that shape."""
        data = np.arange(1.0, size + 1).reshape(1, 1, -1)
        asked = {"strides": [2], "pads_begin": [0], "pads_end": [0], "auto_pad": "valid"}
        vector = pooled(data, [size - 1], dtype="f64", rounding_type="ceil", **asked)
        floor = fault("floor", {"let.out": "span // strides + 1"}, where="auto_pad == valid")
        (kill,) = MutantRunner(find_spec(AVG), [floor]).kills(vector)
        assert "valid-is-floor" in vector.readings
        assert not kill.at_must

    def test_without_the_reading_it_is_no_excuse(self) -> None:
        bare = dataclasses.replace(OVERRUN, readings={})
        kills = {kill.mutant: kill for kill in MutantRunner(find_spec(AVG), MADE).kills(bare)}
        assert kills["clipped"].at_must

    def test_a_refusal_notices_nothing(self) -> None:
        case = dataclasses.replace(PLAIN.case, reject="strides.min")
        assert noticed(dataclasses.replace(PLAIN, case=case, answers=())) == set()

    def test_nothing_on_zeros_is_noticed(self) -> None:
        assert noticed(pooled(row(0, 0, 0, 0), [2])) == set()


class TestPrints:
    BEYOND = pooled(row(3, 2, 4), [1], strides=[3], rounding_type="ceil")
    """Two windows, of which the second starts beyond the data and is open."""

    SEVEN = "where(terms == 0, 7, original)"

    def test_what_is_open_is_not_graded(self) -> None:
        bank = MutantRunner(find_spec(AVG), [fault("seven", {FINISH: self.SEVEN})])
        assert self.BEYOND.answers[0].open is not None
        assert bank.kills(self.BEYOND) == ()
        assert bank.fingerprints(self.BEYOND.case, self.BEYOND.inputs).keys() == {"seven"}

    def test_what_is_open_tells_no_faults_apart(self) -> None:
        one, other, third = (
            fault("more", {FINISH: "total / (terms + 1)"}),
            fault("more-and-seven", {FINISH: "where(terms == 0, 7, total / (terms + 1))"}),
            fault("two-more", {FINISH: "total / (terms + 2)"}),
        )
        bank = MutantRunner(find_spec(AVG), [one, other, third])
        kills = {kill.mutant: kill.fingerprint for kill in bank.kills(self.BEYOND)}
        prints = bank.fingerprints(self.BEYOND.case, self.BEYOND.inputs)
        assert kills["more"] == kills["more-and-seven"] != kills["two-more"]
        assert prints["more"] != prints["more-and-seven"]

    def test_the_shape_and_the_type_are_part_of_it(self) -> None:
        bank = MutantRunner(
            find_spec(AVG),
            [
                fault("fewer", {"let.out": "original - 1"}),
                fault("more", {"let.out": "original + 1"}),
            ],
        )
        prints = bank.fingerprints(PLAIN.case, PLAIN.inputs)
        assert len(set(prints.values())) == 2

    def test_a_fault_that_changes_nothing_has_none(self) -> None:
        reordered = fault("reordered", {FINISH: "2 * original / 2"})
        bank = MutantRunner(find_spec(AVG), [reordered])
        assert bank.fingerprints(PLAIN.case, PLAIN.inputs) == {}


IMAGE = np.arange(1, 41, dtype=np.float64).reshape(1, 2, 4, 5) ** 2 % 23
JUDGED = {
    "plane": pooled(IMAGE, [2, 3], strides=[2, 1], pads_begin=[1, 0], rounding_type="ceil"),
    "excluded": pooled(IMAGE, [3, 2], strides=[2, 2], pads_end=[1, 1], exclude_pad=True),
    "same": pooled(IMAGE, [3, 3], strides=[2, 3], auto_pad="same_upper"),
    "overrun": OVERRUN,
    "adaptive": adaptive(ADAPTIVE, IMAGE, [3, 2]),
    "largest": adaptive(MAX, IMAGE % 5, [3, 2]),
}


@pytest.mark.parametrize("name", JUDGED)
def test_every_fault_of_the_catalogue_is_noticed_where_the_judge_refuses_it(name: str) -> None:
    """Each fault as a backend of its own, judged as ``conformance check`` does."""
    vector = JUDGED[name]
    spec = find_spec(vector.case.op)
    catalogue = mutants_of(spec)
    kills = {kill.mutant: kill.at_must for kill in MutantRunner(spec, catalogue).kills(vector)}
    refused: dict[str, bool] = {}
    subject = subject_of(spec, vector.case, vector.inputs)
    for one in catalogue:
        implementation = implementation_of(spec, one.change)
        if not subject.answers(implementation):
            refused[one.id] = True
            continue
        outcome = Outcome(Ending.RETURNED, subject.under(implementation))
        passes = {
            level: judge(vector, outcome, level=level, precision={}).status is Status.PASS
            for level in ("should", "must")
        }
        if not passes["should"]:
            refused[one.id] = not passes["must"]
    assert len(refused) > 20
    assert kills == refused


def test_a_mutant_that_crashes_is_killed() -> None:
    operator = find_spec("onnx.MatMul-13")
    crash = next(m for m in mutants_of(operator) if m.id == "crash-vector-by-vector")
    vectors = Case(operator.op, {"T": "f32"}, {"A": (3,), "B": (3,)}, {}, {}, "whole+whole", 1)
    (kill,) = MutantRunner(operator, [crash]).kills(build(operator, vectors))
    assert (kill.mutant, kill.at_must) == ("crash-vector-by-vector", True)
    matrix = dataclasses.replace(vectors, shapes={"A": (3,), "B": (3, 1)})
    assert MutantRunner(operator, [crash]).kills(build(operator, matrix)) == ()
