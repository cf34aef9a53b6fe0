"""Smaller relatives of large cases: valid, smaller, and with the same rests."""

from __future__ import annotations

from math import prod

from conformance.generate.smaller import LANES, LARGE, relatives
from conformance.model import Case
from conformance.spec.loader import find_spec
from conformance.spec.validity import violations

SPEC = find_spec("AvgPool-1")
GIVEN = {
    "kernel": (3, 3),
    "strides": (1, 1),
    "pads_begin": (0, 0),
    "pads_end": (0, 0),
    "exclude-pad": True,
}


def case(*shape: int) -> Case:
    return Case(SPEC.op, {"T": "f32"}, {"data": shape}, GIVEN, {}, "ramp", 3)


def test_one_long_axis_at_a_time_fewer_planes_and_shorter_ones() -> None:
    large = case(3, 2, 131, 67)
    found = {one.shapes["data"] for one in relatives(SPEC, [large])}
    assert {(1, 1, 19, 19), (1, 1, 19, 67), (1, 1, 131, 3), (3, 1, 19, 3)} <= found
    for shape in found:
        assert 2 * prod(shape) <= 3 * 2 * 131 * 67
        assert shape[2] % LANES == 131 % LANES
        assert shape[3] % LANES == 67 % LANES


def test_the_rest_of_a_case_stays_and_what_is_not_valid_is_left_out() -> None:
    large = case(1, 1, 130, 70)
    found = relatives(SPEC, [large])
    assert found
    for one in found:
        assert (one.attributes, one.types, one.pattern, one.seed) == (
            large.attributes,
            large.types,
            large.pattern,
            large.seed,
        )
        assert not violations(SPEC, one)
        assert min(one.shapes["data"][2:]) >= 3  # a rest of 2 holds no window of 3


def test_small_cases_have_none_and_known_ones_are_not_made_again() -> None:
    assert relatives(SPEC, [case(1, 1, 20, LARGE // 20 - 1)]) == []
    assert relatives(SPEC, []) == []
    large = case(1, 1, 131, 67)
    known = relatives(SPEC, [large])
    assert relatives(SPEC, [large, *known]) == []
