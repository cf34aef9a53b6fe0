"""Which faults a vector notices: those whose outputs a judge would refuse, and no others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from handmade import ADAPTIVE, AVG, MAX, adaptive, fault, pooled, row

from conformance.audit.kills import MutantRunner
from conformance.core.loader import load_operator
from conformance.core.mutants import mutants_of as mutants_of_definition
from conformance.families.pooling.oracle import LARGE
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case, Status, Vector
from conformance.specification import build, find_spec, mutants_of

UNDIVIDED = fault("undivided", {"divisor": "1"})
STUCK = fault("stuck", {"strides": "1"})
ONE_MORE = fault("one-more", {"divisor": "original + 1"})
CLIPPED = fault("clipped", {"divisor": "prod(padded_taps)"}, where="counts_pads")
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

    @pytest.mark.parametrize("size", [6, 3 + LARGE])
    def test_a_reading_excuses_a_window_of_any_length(self, size: int) -> None:
        """Outputs of another shape are worked out where a reading has that shape."""
        data = np.arange(1.0, size + 1).reshape(1, 1, -1)
        asked = {"strides": [2], "pads_begin": [0], "pads_end": [0], "auto_pad": "valid"}
        vector = pooled(data, [size - 1], dtype="f64", rounding_type="ceil", **asked)
        floor = fault("floor", {"out": "span // strides + 1"}, where="auto_pad == valid")
        (kill,) = MutantRunner(find_spec(AVG), [floor]).kills(vector)
        assert "valid-is-floor" in vector.readings
        assert not kill.at_must

    def test_without_the_reading_it_is_no_excuse(self) -> None:
        bare = dataclasses.replace(OVERRUN, readings={})
        kills = {kill.mutant: kill for kill in MutantRunner(find_spec(AVG), MADE).kills(bare)}
        assert kills["clipped"].at_must

    def test_a_refusal_notices_nothing(self) -> None:
        case = dataclasses.replace(PLAIN.case, reject="zero-stride")
        assert noticed(dataclasses.replace(PLAIN, case=case, answers=())) == set()

    def test_a_vector_that_an_impostor_passes_does_not_count(self) -> None:
        """The identity is exempt, and a fault on it would be noticed; still it proves nothing."""
        identity = pooled(row(1, 2, 4, 8), [1])
        assert "identity" in identity.edges
        assert MutantRunner(find_spec(AVG), MADE).fingerprints(
            identity.case, identity.inputs
        ).keys() == {"one-more"}
        assert noticed(identity) == set()

    def test_nothing_on_zeros_is_noticed(self) -> None:
        assert noticed(pooled(row(0, 0, 0, 0), [2])) == set()


class TestPrints:
    BEYOND = pooled(row(3, 2, 4), [1], strides=[3], rounding_type="ceil")
    """Two windows, of which the second starts beyond the data and is open."""

    def test_what_is_open_is_not_graded(self) -> None:
        unwritten = {"written": "not empty", "unwritten": "not_a_number"}
        made = fault("open-nan", unwritten)
        bank = MutantRunner(find_spec(AVG), [made])
        assert self.BEYOND.answers[0].open is not None
        assert bank.kills(self.BEYOND) == ()
        assert bank.fingerprints(self.BEYOND.case, self.BEYOND.inputs).keys() == {"open-nan"}

    def test_what_is_open_tells_no_faults_apart(self) -> None:
        more = {"divisor": "original + 1"}
        one, other, third = (
            fault("zero", more),
            fault("nan", {**more, "written": "not empty", "unwritten": "not_a_number"}),
            fault("two-more", {"divisor": "original + 2"}),
        )
        bank = MutantRunner(find_spec(AVG), [one, other, third])
        kills = {kill.mutant: kill.fingerprint for kill in bank.kills(self.BEYOND)}
        prints = bank.fingerprints(self.BEYOND.case, self.BEYOND.inputs)
        assert kills["zero"] == kills["nan"] != kills["two-more"]
        assert prints["zero"] != prints["nan"]

    def test_the_shape_and_the_type_are_part_of_it(self) -> None:
        bank = MutantRunner(
            find_spec(AVG),
            [fault("fewer", {"out": "original - 1"}), fault("more", {"out": "original + 1"})],
        )
        prints = bank.fingerprints(PLAIN.case, PLAIN.inputs)
        assert len(set(prints.values())) == 2

    def test_a_fault_that_changes_nothing_has_none(self) -> None:
        bank = MutantRunner(find_spec(AVG), [fault("reordered", {"divisor": "original * 2 // 2"})])
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
        outputs = subject.under(implementation_of(spec, one.change))
        outcome = Outcome(Ending.RETURNED, outputs)
        passes = {
            level: judge(vector, outcome, level=level, precision={}).status is Status.PASS
            for level in ("should", "must")
        }
        if not passes["should"]:
            refused[one.id] = not passes["must"]
    assert len(refused) > 20
    assert kills == refused


def test_a_mutant_of_a_definition_that_crashes_is_killed() -> None:
    operator = load_operator("onnx.MatMul-13")
    crash = next(m for m in mutants_of_definition(operator) if m.id == "crash-vector-by-vector")
    vectors = Case(operator.op, {"T": "f32"}, {"A": (3,), "B": (3,)}, {}, {}, "whole+whole", 1)
    (kill,) = MutantRunner(operator, [crash]).kills(build(operator, vectors))
    assert (kill.mutant, kill.at_must) == ("crash-vector-by-vector", True)
    matrix = dataclasses.replace(vectors, shapes={"A": (3,), "B": (3, 1)})
    assert MutantRunner(operator, [crash]).kills(build(operator, matrix)) == ()
