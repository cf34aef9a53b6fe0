"""What a backend wrote where a vector leaves it free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.dtypes import DTYPES
from conformance.grade.outcome import Ending, Outcome
from conformance.grade.unspecified_values import EXPECTED_VALUE, classify_unspecified
from conformance.model import Case
from conformance.reference import answers
from conformance.spec.model import OpSpec
from conformance.specification import build, find_spec

MAX, AVG = "AdaptiveMaxPool-8", "AvgPool-1"

POOL = {
    "kernel": [2],
    "strides": [4],
    "pads_begin": [0],
    "pads_end": [0],
    "exclude-pad": False,
    "auto_pad": "valid",
    "rounding_type": "ceil",
}


def maximum(data, out, dtype="f32"):
    """A vector of AdaptiveMaxPool-8 over one axis."""
    array = np.array(data, np.float64).astype(DTYPES[dtype].numpy).reshape(1, 1, -1)
    case = Case(
        op=MAX,
        types={"T": dtype, "T_SHAPE": "i64"},
        shapes={"data": array.shape},
        attributes={"index_element_type": "i64"},
        operands={"output_size": (out,)},
    )
    return _with_data(case, array)


def average(data, **attributes):
    """A vector of AvgPool-1 over one axis."""
    array = np.array(data, np.float32).reshape(1, 1, -1)
    case = Case(
        op=AVG, types={"T": "f32"}, shapes={"data": array.shape}, attributes=POOL | attributes
    )
    return _with_data(case, array)


def _with_data(case, array):
    made = build(find_spec(case.op), case, "must")
    inputs = (array, *made.inputs[1:])
    return replace(
        made, inputs=inputs, answers=answers(find_spec(case.op), case, [array]), readings={}
    )


def seen(vector, wrote, spec: OpSpec | None = None):
    """What is observed where the first output is ``wrote``, the others as expected."""
    first = vector.answers[0]
    written = np.array(wrote, np.float64).astype(DTYPES[first.dtype].numpy)
    outputs = [written.reshape(first.expected.shape), *(a.expected for a in vector.answers[1:])]
    outcome = Outcome(Ending.RETURNED, returned=outputs)
    return classify_unspecified(spec or find_spec(vector.case.op), vector, outcome)


nan, inf = np.nan, np.inf


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("wrote", "kind"),
    [
        (nan, "NaN"),
        (0.0, "+0"),
        (-0.0, "-0"),
        (inf, "+infinity"),
        (-inf, "-infinity"),
        ("lowest", "the lowest number"),
        ("largest", "the largest number of its type"),
        (3.0, "another value"),
    ],
)
def test_kinds_of_values(dtype, wrote, kind):
    row = DTYPES[dtype]
    if isinstance(wrote, str):
        end = row.infinity - 1
        wrote = row.from_ordinals(np.array([end if wrote == "largest" else -end]))
    assert seen(maximum([nan], 1, dtype), wrote) == {"nan-only": (kind,)}


class TestNaNInMax:
    def test_first_and_later_are_told_apart(self):
        vector = maximum([nan, 1, 2, nan], 2)
        assert seen(vector, [nan, 2]) == {"nan-first": ("NaN",), "nan-later": (EXPECTED_VALUE,)}
        assert seen(vector, [1, nan]) == {"nan-first": (EXPECTED_VALUE,), "nan-later": ("NaN",)}

    def test_the_expected_number_comes_before_what_it_happens_to_be(self):
        assert seen(maximum([nan, -inf], 1), [-inf]) == {"nan-first": (EXPECTED_VALUE,)}
        assert seen(maximum([nan, 0], 1), [0]) == {"nan-first": (EXPECTED_VALUE,)}

    def test_several_kinds_in_one_vector(self):
        vector = maximum([nan, 1, nan, 2, nan, 3], 3)
        assert seen(vector, [nan, 2, -inf]) == {"nan-first": ("NaN", EXPECTED_VALUE, "-infinity")}


class TestZeros:
    def test_of_a_maximum(self):
        vector = maximum([-0.0, -0.0, -0.0, 0.0, 0.0, -0.0, -1.0, -0.0], 4)
        found = seen(vector, [-0.0, -0.0, 0.0, -0.0])
        assert found == {
            "minus-zeros": ("-0",),
            "minus-zero-first": ("-0",),
            "minus-zero-later": ("+0",),
        }

    def test_of_a_mean(self):
        vector = average([-0.0, -0.0, 1, -1, 5, 5], strides=[2])
        found = seen(vector, [-0.0, 0.0, 5])
        assert found == {"mean-of-minus-zeros": ("-0",), "other-zero-mean": ("+0",)}

    def test_a_number_that_is_not_zero_has_no_sign_to_tell(self):
        assert seen(average([-0.0, -0.0], strides=[2]), [1e-9]) == {}


class TestEmptyWindows:
    def test_padding_that_is_not_counted(self):
        vector = average([1, 2, 3, 4, 5], kernel=[1], strides=[3])
        assert vector.answers[0].expected.shape == (1, 1, 3)
        assert seen(vector, [1, 4, -0.0]) == {"empty-uncounted": ("-0",)}

    def test_beyond_counted_padding(self):
        vector = average([1, 2, 3, 4], auto_pad="explicit", kernel=[1], strides=[6], pads_begin=[1])
        assert vector.answers[0].expected.shape == (1, 1, 2)
        assert seen(vector, [0, nan])["empty-beyond"] == ("NaN",)


class TestNothingToSee:
    vector = maximum([nan], 1)

    def test_settled_elements(self):
        assert seen(maximum([1, 2], 1), [nan]) == {}

    @pytest.mark.parametrize(
        "returned",
        [
            None,
            [],
            "no",
            [None, None],
            [np.zeros((1, 1, 2), np.float32), np.zeros((1, 1, 1), np.int64)],
            [np.zeros((1, 1, 1), np.float64), np.zeros((1, 1, 1), np.int64)],
        ],
    )
    def test_outputs_of_another_structure(self, returned):
        outcome = Outcome(Ending.RETURNED, returned=returned)
        assert classify_unspecified(find_spec(MAX), self.vector, outcome) == {}

    def test_an_exception(self):
        assert (
            classify_unspecified(find_spec(MAX), self.vector, Outcome(Ending.RAISED, message="no"))
            == {}
        )

    def test_a_suite_of_another_version_of_the_specification(self):
        wrong = replace(self.vector, case=replace(self.vector.case, operands={}))
        assert seen(wrong, [nan]) == {}
