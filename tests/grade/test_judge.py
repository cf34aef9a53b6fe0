from __future__ import annotations

import numpy as np
import pytest
from made import answer, indices, values, vector

from conformance.grade.judge import judge
from conformance.grade.outcome import MAX_MESSAGE, Ending, Outcome, describe_exception
from conformance.model import Status


def verdict(asked, returned=None, *, level="must", precision="standard", **observed):
    outcome = Outcome(observed.pop("ending", Ending.RETURNED), returned, **observed)
    return judge(asked, outcome, level=level, precision={"f32": precision, "f64": precision})


def told(result):
    return result.status, result.kind


PLAIN = vector(answer([1, 2]))
RIGHT = values("f32", [1, 2])
WRONG = values("f32", [1, 3])


class TestValues:
    def test_right_outputs_pass(self):
        result = verdict(PLAIN, [RIGHT])
        assert told(result) == (Status.PASS, "")
        assert (result.precision, result.reading, result.witness) == ("exact", None, None)
        assert (result.id, result.op, result.edges) == (PLAIN.id, "AvgPool-1", ("an-edge",))
        assert (result.dtype, result.size) == ("f32", 5)

    def test_wrong_elements_fail_with_the_worst_of_them(self):
        result = verdict(PLAIN, [WRONG])
        assert told(result) == (Status.FAIL, "value")
        assert result.message == "result: 1 of 2 elements are wrong"
        assert (result.witness.index, result.witness.got) == ((1,), "3.0")

    def test_wrong_indices_are_a_kind_of_their_own(self):
        asked = vector(answer([1, 2]), indices([0, 1]))
        assert told(verdict(asked, [RIGHT, np.array([0, 2])])) == (Status.FAIL, "index")

    def test_the_first_wrong_output_gives_the_kind_and_all_are_told(self):
        asked = vector(answer([1, 2]), indices([0, 1]))
        result = verdict(asked, [WRONG, np.array([1, 2])])
        assert told(result) == (Status.FAIL, "value")
        assert result.message.endswith("; indices: 2 of 2 elements are wrong")

    def test_precision_is_chosen_by_dtype(self):
        asked = vector(answer([1], "f32"), answer([1], "f64", name="wide"))
        got = [values("f32", [1.0000001]), values("f64", [1])]
        for precision, status in (("standard", Status.PASS), ("exact", Status.FAIL)):
            outcome = Outcome(Ending.RETURNED, got)
            found = judge(asked, outcome, level="must", precision={"f32": precision})
            assert found.status is status
            assert found.precision == "standard"

    def test_a_bare_array_stands_for_a_single_output(self):
        assert verdict(PLAIN, RIGHT).status is Status.PASS
        assert verdict(PLAIN, (RIGHT,)).status is Status.PASS

    @pytest.mark.parametrize(
        ("returned", "kind"),
        [
            (None, "outputs"),
            ([], "outputs"),
            ([RIGHT, RIGHT], "outputs"),
            ((item for item in [RIGHT]), "outputs"),
            ({"result": RIGHT}, "outputs"),
            ([None], "outputs"),
            ([[1.0, 2.0]], "outputs"),
            ([np.array([1, 2], object)], "dtype"),
            ([RIGHT.astype(np.float64)], "dtype"),
            ([RIGHT.astype(">f4")], "dtype"),
            ([RIGHT[None]], "shape"),
            ([np.broadcast_to(np.float32(1), (10**6, 10**6))], "shape"),
        ],
    )
    def test_wrong_structure_is_an_error(self, returned, kind):
        result = verdict(PLAIN, returned)
        assert told(result) == (Status.ERROR, kind)
        assert result.message

    def test_a_bare_array_does_not_stand_for_two_outputs(self):
        asked = vector(answer([1, 2]), indices([0, 1]))
        assert told(verdict(asked, RIGHT)) == (Status.ERROR, "outputs")

    def test_an_exception_is_an_error(self):
        result = verdict(PLAIN, ending=Ending.RAISED, message="ValueError: no")
        assert told(result) == (Status.ERROR, "raised")
        assert result.message == "ValueError: no"

    def test_an_abort_is_an_error(self):
        assert told(verdict(PLAIN, ending=Ending.ABORTED)) == (Status.ERROR, "aborted")

    def test_unsupported_is_never_a_pass(self):
        result = verdict(PLAIN, ending=Ending.UNSUPPORTED, message="no f32")
        assert told(result) == (Status.UNSUPPORTED, "")
        assert result.message == "no f32"

    def test_a_changed_input_fails_only_right_outputs(self):
        assert told(verdict(PLAIN, [RIGHT], changed=(0,))) == (Status.FAIL, "input-changed")
        assert told(verdict(PLAIN, [WRONG], changed=(0,))) == (Status.FAIL, "value")


class TestReadings:
    first = answer([1, 2]), answer([10, 20], name="other")
    clip = answer([3, 4]), answer([30, 40], name="other")
    asked = vector(
        *first,
        readings={
            "clip+full": (answer([3, 2]), first[1]),
            "clip": clip,
            "short": (answer([1]), answer([10], name="other")),
        },
    )

    @staticmethod
    def outputs(*answers):
        return [made.rounded for made in answers]

    def test_a_reading_passes_at_must_and_is_named(self):
        result = verdict(self.asked, self.outputs(*self.clip))
        assert (result.status, result.reading) == (Status.PASS, "clip")

    def test_the_base_goes_before_every_reading(self):
        same = vector(*self.first, readings={"twin": self.first})
        assert verdict(same, self.outputs(*self.first)).reading is None

    def test_fewer_joined_names_go_first(self):
        wide = answer([3, 2], within=10**9)
        asked = vector(answer([9, 9]), readings={"a+b": (wide,), "b": (wide,), "c": (wide,)})
        assert verdict(asked, [wide.rounded]).reading == "b"

    def test_all_outputs_must_follow_the_same_reading(self):
        result = verdict(self.asked, self.outputs(self.clip[0], self.first[1]))
        assert told(result) == (Status.FAIL, "value")

    def test_a_reading_may_have_another_shape(self):
        result = verdict(self.asked, [values("f32", [1]), values("f32", [10])])
        assert (result.status, result.reading) == (Status.PASS, "short")

    def test_at_should_a_reading_fails_and_is_named(self):
        result = verdict(self.asked, self.outputs(*self.clip), level="should")
        assert told(result) == (Status.FAIL, "reading")
        assert result.reading == "clip"
        assert "interpretation clip" in result.message
        assert result.witness.rounded in ("1.0", "2.0")

    def test_at_should_a_reading_of_another_shape_fails_too(self):
        got = [values("f32", [1]), values("f32", [10])]
        assert told(verdict(self.asked, got, level="should")) == (Status.FAIL, "reading")

    def test_at_should_the_base_passes(self):
        assert verdict(self.asked, self.outputs(*self.first), level="should").status is Status.PASS

    def test_a_failure_is_told_against_the_closest_reading(self):
        got = [values("f32", [3, 4]), values("f32", [30, 41])]
        result = verdict(self.asked, got)
        assert result.reading is None
        assert "1 of 2" in result.message
        assert "interpretation clip" in result.message
        assert (result.witness.output, result.witness.got) == ("other", "41.0")

    def test_at_should_a_failure_is_told_against_the_base(self):
        got = [values("f32", [3, 4]), values("f32", [30, 41])]
        assert "reading" not in verdict(self.asked, got, level="should").message

    def test_a_shape_that_no_reading_has_is_told_against_the_base(self):
        got = [values("f32", [1, 2, 3]), values("f32", [1, 2, 3])]
        assert verdict(self.asked, got).message == "result: shape (3,) instead of (2,)"


class TestReject:
    asked = vector(reject="zero-stride")

    def test_an_ordinary_exception_is_the_correct_rejection(self):
        result = verdict(self.asked, ending=Ending.RAISED, message="ValueError: stride")
        assert told(result) == (Status.PASS, "")
        assert (result.reject, result.precision) == ("zero-stride", None)

    @pytest.mark.parametrize("returned", [None, [], [RIGHT]])
    def test_whatever_is_returned_it_was_accepted(self, returned):
        result = verdict(self.asked, returned)
        assert told(result) == (Status.FAIL, "accepted")
        assert "zero-stride" in result.message

    def test_unsupported_stays_unsupported(self):
        assert verdict(self.asked, ending=Ending.UNSUPPORTED).status is Status.UNSUPPORTED

    def test_an_abort_is_no_rejection(self):
        assert told(verdict(self.asked, ending=Ending.ABORTED)) == (Status.ERROR, "aborted")

    def test_a_rejection_that_writes_its_input_fails(self):
        result = verdict(self.asked, ending=Ending.RAISED, changed=(0, 1))
        assert told(result) == (Status.FAIL, "input-changed")
        assert "0, 1" in result.message


class TestLevels:
    asked = vector(answer([1, 2]), level="should")

    def test_a_should_vector_is_skipped_at_must(self):
        assert verdict(self.asked, [WRONG]).status is Status.SKIPPED

    def test_and_graded_at_should(self):
        assert verdict(self.asked, [WRONG], level="should").status is Status.FAIL
        assert verdict(self.asked, [RIGHT], level="should").status is Status.PASS


class TestDescribe:
    def test_the_type_and_all_lines(self):
        assert describe_exception(ValueError("one\n  two\n")) == "ValueError: one two"
        assert describe_exception(ValueError()) == "ValueError"

    def test_long_and_unprintable_text_is_bounded(self):
        text = describe_exception(ValueError("\x1b[31m" + "x" * 10**6))
        assert text.isprintable()
        assert len(text) < MAX_MESSAGE + 20

    def test_of_long_text_both_ends_survive(self):
        """What is wrong stands last, after where it was found: OpenVINO, ONNX Runtime, TVM."""
        where = "Check 'status' failed at src/core/shape_inference.hpp:42: " * 500
        text = describe_exception(
            RuntimeError(where + "Kernel after dilation is larger than the data.")
        )
        assert len(text) < MAX_MESSAGE + 20
        assert text.startswith("RuntimeError: Check 'status' failed at ")
        assert text.endswith("Kernel after dilation is larger than the data.")

    @pytest.mark.parametrize("failure", [RuntimeError, SystemExit])
    def test_a_message_that_cannot_be_made(self, failure):
        class HostileError(Exception):
            def __str__(self):
                raise failure

        assert describe_exception(HostileError()) == "HostileError (its message cannot be shown)"
