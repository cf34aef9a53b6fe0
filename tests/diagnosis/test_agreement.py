"""Whether outputs are those of a mutant: in other shapes, beside readings, where sums overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faulty import answered, bank, searched

from conformance.core.answers import answers, readings
from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.dtypes import Array
from conformance.implementations import Implementation, implementation_of, subject_of
from conformance.model import Vector
from conformance.specification import case_from_inputs, find_spec, interpretation_changes

LP, MEAN, MAX = "onnx.LpPool-22", "onnx.AveragePool-22", "MaxPool-14"
NAN = float("nan")


def asked(
    op: str,
    data: Array,
    attributes: dict[str, Any],
    *outputs: Array,
    followed: str | None = None,
) -> ObservedVector:
    """A vector of some data with what came back; with nothing where that passed."""
    spec = find_spec(op)
    case = case_from_inputs(spec, [data], attributes)
    base = answers(spec, case, [data])
    found = readings(spec, case, [data], base)
    vector = Vector(case.id, case, "must", (), "", "by hand", (data,), base, found)
    return ObservedVector(spec, vector, outputs or None, {}, "must", followed)


def altered(op: str, *mutants: str) -> Implementation:
    return implementation_of(find_spec(op), *(bank(op)[one].change for one in mutants))


def interpretations(op: str) -> dict[str, Any]:
    return dict(interpretation_changes(find_spec(op)))


def channels(*rows: list[float], dtype: str = "f4") -> Array:
    return np.array([rows], dtype)


SPREAD = {"kernel_shape": [3], "strides": [3], "dilations": [2], "auto_pad": "SAME_UPPER", "p": 1}


@pytest.mark.parametrize(
    ("followed", "expected"),
    [(None, Agreement.NONE), ("same-pads-for-undilated-kernel", Agreement.EQUAL)],
)
def test_what_passed_may_follow_a_reading_and_have_a_fault(
    followed: str | None, expected: Agreement
) -> None:
    """By the reading all windows hold padding alone, so nothing shows that NaN is left out."""
    one = asked(LP, channels([NAN], [5]), SPREAD, followed=followed)
    assert one.consistency(altered(LP, "nan-left-out-of-mean")) is expected


UNDILATED = "same-forgets-dilations-and-cuts-windows"
ONE_OF_TWO = {"kernel_shape": [2], "strides": [3], "dilations": [2], "auto_pad": "SAME_UPPER"}


@pytest.mark.parametrize(
    ("returned", "expected"), [([np.inf, 2], Agreement.WITHIN), ([np.inf, np.inf], Agreement.NONE)]
)
def test_partial_sums_may_overflow_in_a_faulty_shape(
    returned: list[float], expected: Agreement
) -> None:
    """The mean of 3e38 and 3e38 is a number of f32, and their sum is none; that of 1 and 3 is."""
    data = channels([3e38, 0, 3e38, 0, 0], [1, 0, 3, 0, 0])
    one = asked(MEAN, data, ONE_OF_TWO, np.array([[returned[:1], returned[1:]]], "f4"))
    assert one.agreement(altered(MEAN, UNDILATED), {}) is expected


def test_powers_may_vanish_in_the_shape_of_a_reading() -> None:
    """1e-38 to the fourth is 0 in f32, in the one window that the reading leaves, too."""
    attributes = {"kernel_shape": [2], "strides": [4], "pads": [1, 1], "ceil_mode": 1, "p": 4}
    data = channels([1e-38], [NAN], [2])
    returned = channels([0], [0], [2])
    one = asked(LP, data, attributes, returned)
    found = one.agreement(altered(LP, "nan-left-out-of-mean"), interpretations(LP))
    assert found is Agreement.WITHIN
    returned[0, 2] = 3
    one = asked(LP, data, attributes, returned)
    found = one.agreement(altered(LP, "nan-left-out-of-mean"), interpretations(LP))
    assert found is Agreement.NONE


def test_powers_may_vanish_in_a_shape_that_no_answer_has() -> None:
    data = channels([1e-38, 0, 1e-38, 0, 0], [1, 0, 3, 0, 0])
    attributes = {**ONE_OF_TWO, "p": 4}
    root = (1 + 3**4) ** 0.25
    one = asked(LP, data, attributes, channels([0], [root]))
    assert one.agreement(altered(LP, "same-forgets-dilations"), {}) is Agreement.WITHIN


def test_where_what_is_accepted_cannot_be_worked_out_only_what_is_equal_agrees() -> None:
    """Of 12,800 windows of 3,200 taps the values are worked out, and which maxima tie is not."""
    op = "torch.max_pool-2"
    mutant = altered(op, "out-as-the-document-prints-it")
    data = np.arange(4803, dtype="f4").reshape(1, 1, 1601, 3)
    attributes = {
        "kernel_size": [1600, 2],
        "stride": [800, 1],
        "padding": [800, 1],
        "ceil_mode": True,
    }
    spec = find_spec(op)
    subject = subject_of(
        spec, case_from_inputs(spec, [data], attributes), [data], [(1, 1, 3200, 4)]
    )
    values, indices = subject.under(mutant)
    assert values.shape == (1, 1, 3200, 4)
    assert asked(op, data, attributes, values, indices).agreement(mutant, {}) is Agreement.EQUAL
    values = values.copy()
    values[0, 0, 0, 0] = np.nextafter(values[0, 0, 0, 0], np.float32(0))
    assert asked(op, data, attributes, values, indices).agreement(mutant, {}) is Agreement.NONE


@pytest.mark.exhaustive
def test_two_faults_that_are_equal_alone_need_not_be_equal_together() -> None:
    """Where both act, rounding differs everywhere from what the mutants give together."""
    names = ("nan-left-out-of-mean", "same-forgets-dilations-in-right-shape")
    both, *alone = (altered(LP, *some) for some in (names, names[:1], names[1:]))
    equal = set()

    def made(one: Vector, right: list[Array]) -> list[Array]:
        subject = subject_of(find_spec(LP), one.case, one.inputs)
        outputs = subject.under(both)
        if any(np.array_equal(outputs, subject.under(one), equal_nan=True) for one in alone):
            return outputs
        ((low, _),) = subject.ends(both, "standard")
        low = np.where(np.isfinite(low), low, outputs[0])
        if np.array_equal(low, outputs[0], equal_nan=True):
            equal.add(one.case.id)
        return [low]

    results = [one for one in answered(LP, made) if one.id not in equal]
    found = {one.ids: one for one in searched(LP, results)}
    assert found[names].equal_count == 0
    assert {names, names[:1], names[1:]} == found.keys()


SWAPPED = "pads-begin-and-end-swapped"


@pytest.mark.parametrize(
    ("filler", "indices", "expected"),
    [
        (-np.inf, [2, 0, 1], Agreement.EQUAL),  # -1, in a channel of three
        (0, [2, 0, 1], Agreement.EQUAL),
        (-np.inf, [2, 1, 1], Agreement.NONE),
        (0, [2, 1, 1], Agreement.NONE),
    ],
)
def test_what_a_window_without_data_gives_is_open_of_a_mutant_too(
    filler: float, indices: list[int], expected: Agreement
) -> None:
    """With its padding at the other end, the first window holds none of 5, 7 and 6."""
    attributes = {"kernel": [2], "strides": [2], "pads_begin": [0], "pads_end": [3]}
    returned = channels([filler, 5, 7]), np.array([[indices]], "i8")
    one = asked(MAX, channels([5, 7, 6]), attributes, *returned)
    assert one.agreement(altered(MAX, SWAPPED), {}) is expected
    assert one.quick_agreement(altered(MAX, SWAPPED), {}) is expected


@pytest.mark.parametrize(
    ("filler", "expected"), [(-np.inf, Agreement.EQUAL), (0, Agreement.NONE), (4, Agreement.NONE)]
)
def test_windows_without_data_alone_do_not_agree_with_any_number(
    filler: float, expected: Agreement
) -> None:
    """The one window holds the 5; where pads have changed places it holds padding alone."""
    attributes = {"kernel": [1], "strides": [2], "pads_begin": [0], "pads_end": [1]}
    returned = channels([filler]), np.array([[[7]]], "i8")
    one = asked(MAX, channels([5]), attributes, *returned)
    assert one.quick_agreement(altered(MAX, SWAPPED), {}) is expected
