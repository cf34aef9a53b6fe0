"""What the outputs of a vector with readings say of each question that these answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made import answer, indices, steps, values, vector

from conformance.core.operator_reader import read_operator
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.model import ADOPTED, ALL_OPEN, FOLLOWED, NEITHER, OPEN_BIT, Status


def shows(asked, *outputs, level="must", precision="standard"):
    outcome = Outcome(Ending.RETURNED, returned=list(outputs))
    given = dict.fromkeys(("f16", "f32"), precision)
    return judge(asked, outcome, level=level, precision=given).shows


def wide(numbers):
    """An answer of these values that accepts what lies between 0 and twice them."""
    right = answer(numbers)
    return replace(right, lo=got(*[0.0] * len(numbers)), hi=right.rounded * 2)


def got(*numbers):
    return values("f32", numbers)


BOTH = pytest.mark.parametrize("level", ["must", "should"])


class TestOneReading:
    asked = vector(answer([3, 4]), readings={"clip": (answer([3, 6]),)})

    @BOTH
    @pytest.mark.parametrize(("outputs", "said"), [((3, 4), ADOPTED), ((3, 6), FOLLOWED)])
    def test_what_is_accepted_is_said(self, level, outputs, said):
        assert shows(self.asked, got(*outputs), level=level) == {"clip": (said,)}

    @BOTH
    def test_what_no_reading_accepts_says_nothing(self, level):
        assert shows(self.asked, got(3, 5), level=level) == {}

    def test_without_readings_nothing_is(self):
        assert shows(vector(answer([3, 4])), got(3, 4)) == {}

    def test_an_output_of_another_type_says_nothing(self):
        assert shows(self.asked, values("f64", [3, 4])) == {}
        assert shows(self.asked) == {}

    def test_a_shape_is_an_answer(self):
        asked = vector(answer([3, 4]), readings={"floor": (answer([3]),)})
        assert shows(asked, got(3, 4)) == {"floor": (ADOPTED,)}
        assert shows(asked, got(3)) == {"floor": (FOLLOWED,)}
        assert shows(asked, got(3, 4, 5)) == {}

    def test_an_exception_says_nothing(self):
        outcome = Outcome(Ending.RAISED, message="no")
        result = judge(self.asked, outcome, level="must", precision={})
        assert (result.status, result.shows) == (Status.ERROR, {})


class TestBothAccept:
    """Where base and reading accept the same outputs, only a liberty that is not taken answers."""

    def test_intervals_that_overlap_say_nothing(self):
        near = answer([4], within=2)
        asked = vector(near, readings={"clip": (answer([steps("f32", near.rounded, 3)[0]]),)})
        assert shows(asked, steps("f32", near.rounded, 1)) == {}
        assert shows(asked, steps("f32", near.rounded, -1)) == {"clip": (ADOPTED,)}
        assert shows(asked, steps("f32", near.rounded, 4)) == {"clip": (FOLLOWED,)}

    def test_nor_one_around_another_value_that_holds_the_other_by_chance(self):
        near = answer([4], within=2)
        moved = answer([steps("f32", near.rounded, 1)[0]], within=9)
        asked = vector(near, readings={"clip": (moved,)})
        assert shows(asked, near.rounded) == {}
        assert shows(asked, near.rounded, precision="exact") == {"clip": (ADOPTED,)}

    def test_a_subnormal_that_may_be_zero_is_a_liberty(self):
        tiny = 2.0**-140
        asked = vector(answer([tiny]), readings={"flushes": (wide([tiny]),)})
        assert shows(asked, got(tiny)) == {"flushes": (ADOPTED,)}
        assert shows(asked, got(0)) == {"flushes": (FOLLOWED,)}

    def test_a_wider_interval_for_the_same_value_is_none(self):
        asked = vector(answer([4], within=2), readings={"flushes": (answer([4], within=9),)})
        assert shows(asked, got(4)) == {}
        # Only a zero is what the liberty is for; the width holds what is merely inexact too.
        assert shows(asked, steps("f32", got(4), 5)) == {"flushes": (NEITHER,)}
        zero = vector(answer([4, 5]), readings={"flushes": (wide([4, 5]),)})
        assert shows(zero, got(0, 5)) == {"flushes": (FOLLOWED,)}
        assert shows(zero, got(1, 5)) == {"flushes": (NEITHER,)}

    def test_so_is_one_that_reaches_a_value_the_base_refuses(self):
        tiny = answer([2.0**-140], within=0)
        either = replace(tiny, rounded=got(0), lo=got(0), hi=tiny.rounded)
        asked = vector(tiny, readings={"flushes": (either,)})
        assert shows(asked, tiny.rounded) == {"flushes": (ADOPTED,)}
        assert shows(asked, got(0)) == {"flushes": (FOLLOWED,)}

    def test_so_is_an_open_element(self):
        asked = vector(answer([0, 5]), readings={"open": (answer([0, 5], open_at={0: ALL_OPEN}),)})
        assert shows(asked, got(0, 5)) == {"open": (ADOPTED,)}
        assert shows(asked, got(np.nan, 5)) == {"open": (FOLLOWED,)}

    def test_but_not_one_that_is_open_at_another_precision_alone(self):
        under = answer([0, 5], open_at={0: OPEN_BIT["native"]})
        asked = vector(answer([0, 5]), readings={"open": (under,)})
        assert shows(asked, got(0, 5)) == {}

    def test_so_are_more_indices(self):
        base, under = indices([1, 2]), indices([1, 2], choices=[[1, 4], [2, -1]])
        value = answer([7, 8])
        asked = vector(value, base, readings={"any": (value, under)})
        assert shows(asked, value.rounded, base.expected) == {"any": (ADOPTED,)}
        assert shows(asked, value.rounded, np.array([4, 2])) == {"any": (FOLLOWED,)}
        assert shows(asked, value.rounded, np.array([3, 2])) == {}


class TestCombinations:
    """Two questions, each answered apart: ``a`` changes the first element, ``b`` the second."""

    asked = vector(
        answer([1, 1]),
        readings={
            "a": (answer([2, 1]),),
            "b": (answer([1, 3]),),
            "a+b": (answer([2, 3]),),
        },
    )

    def test_what_two_readings_have_in_common_shows_neither(self):
        asked = vector(answer([1, 1]), readings={"a": (answer([2, 1]),), "b": (answer([2, 1]),)})
        assert shows(asked, got(2, 1)) == {}

    @pytest.mark.parametrize(
        ("outputs", "a", "b"),
        [
            ((1, 1), ADOPTED, ADOPTED),
            ((2, 1), FOLLOWED, ADOPTED),
            ((1, 3), ADOPTED, FOLLOWED),
            ((2, 3), FOLLOWED, FOLLOWED),
        ],
    )
    def test_each_question_has_its_answer(self, outputs, a, b):
        assert shows(self.asked, got(*outputs)) == {"a": (a,), "b": (b,)}

    def test_one_that_is_left_out_as_it_changes_nothing_says_nothing(self):
        """``b`` fills an element that ``a`` does not have, so ``a`` and ``a+b`` are the same."""
        asked = vector(answer([1, 1]), readings={"a": (answer([1]),), "b": (answer([1, 3]),)})
        assert shows(asked, got(1)) == {"a": (FOLLOWED,)}
        assert shows(asked, got(1, 1)) == {"a": (ADOPTED,), "b": (ADOPTED,)}

    def test_readings_that_cannot_be_told_apart_say_nothing(self):
        asked = vector(
            answer([1, 1]),
            readings={"a": (answer([2, 1]),), "b": (answer([2, 1]),), "a+b": (answer([3, 1]),)},
        )
        assert shows(asked, got(2, 1)) == {}


LOW = -(2.0**127)

LARGEST = """
op: own.Largest
types: {T: [f32]}
dims: {K: {}}
inputs: [{name: data, type: T, shape: [K]}]
define:
  result:
    at: {}
    over: {k: K}
    term: "data[k]"
    combine: max
    finish: max(total, lowest(data))
  indices: {at: {}, over: {k: K}, term: "data[k]", combine: first_max, finish: k}
outputs: [{name: result, type: T}, {name: indices, type: i64}]
interpretations:
  minus-infinity-kept:
    question: largest of minus infinity alone
    adopted: the lowest finite number
    answer: minus infinity
    why: It is the largest.
    change: {define.result.finish: total}
  minus-infinity-unnamed:
    question: index of minus infinity alone, where that is kept
    adopted: the first
    answer: "0"
    why: A search that takes what is more never leaves its start.
    change: {define.result.finish: total, define.indices.finish: 0 * k}
"""


class TestOneThatHoldsAnother:
    """Where minus infinity is kept as the largest, its index is a question of its own."""

    spec = read_operator(LARGEST)

    def asked(self, kept, unnamed):
        """A window of minus infinity alone; the base writes a low number, and index 0."""
        lowest, minus_infinity = (answer([n]) for n in (LOW, -np.inf))
        return vector(
            lowest,
            indices([0]),
            readings={
                "minus-infinity-kept": (minus_infinity, indices([kept])),
                "minus-infinity-unnamed": (minus_infinity, indices([unnamed])),
            },
        )

    def said(self, asked, value, index):
        outcome = Outcome(Ending.RETURNED, returned=[got(value), np.array([index])])
        found = judge(asked, outcome, level="must", precision={}, spec=self.spec)
        assert found.status is Status.PASS
        return found.shows

    def test_where_both_give_one_index_that_of_minus_infinity_is_not_observed(self):
        """The first element is the start of the channel."""
        found = self.said(self.asked(0, 0), -np.inf, 0)
        assert found == {"minus-infinity-kept": (FOLLOWED,)}

    def test_where_they_differ_the_index_tells(self):
        asked = self.asked(3, 0)
        assert self.said(asked, -np.inf, 0) == {"minus-infinity-unnamed": (FOLLOWED,)}
        assert self.said(asked, -np.inf, 3) == {
            "minus-infinity-kept": (FOLLOWED,),
            "minus-infinity-unnamed": (ADOPTED,),
        }

    def test_who_does_not_keep_it_says_nothing_of_its_index(self):
        found = self.said(self.asked(3, 0), LOW, 0)
        assert found == {"minus-infinity-kept": (ADOPTED,)}
