"""Attributes as documents write them: lists of two halves, defaults that are another attribute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conformance
from conformance.errors import InvalidCase, SpecError
from conformance.generate.reject import reject_cases
from conformance.model import Case
from conformance.spec.case_environment import Environment
from conformance.spec.default_attributes import without_forbidden_defaults
from conformance.spec.lint import untested_conditions
from conformance.spec.loader import find_spec, load_spec_text
from conformance.spec.model import OpSpec
from conformance.spec.validity import violations

TORCH = find_spec("torch.avg_pool-2")

MINE = """
format: 1
op: mine.AveragePool-1
extends: AvgPool-16
document: {title: Mine, url: "https://example.org"}
attributes:
  pads_begin: {written_as: {first_half_of: pads}}
  pads_end: {written_as: {second_half_of: pads}}
reject:
  pads-begin-long:
  pads-end-long:
"""

HALVES = load_spec_text(MINE)


def case(spec: OpSpec, *sizes: int, **attributes: Any) -> Case:
    if spec is HALVES:
        attributes = {"strides": [1] * len(sizes), "exclude-pad": True, **attributes}
    return Case(spec.op, {"T": "f32"}, {"data": (1, 1, *sizes)}, attributes)


def half(spec: OpSpec, key: str) -> Any:
    return spec.quantities[key]


class TestHalves:
    def test_are_read_from_one_list(self) -> None:
        asked = case(HALVES, 5, 5, kernel=[3, 3], pads=[0, 1, 2, 3])
        env = Environment(HALVES, asked)
        assert (env["pads_begin"], env["pads_end"]) == ((0, 1), (2, 3))

    def test_are_written_into_one_list(self) -> None:
        begin, end = half(HALVES, "pads_begin"), half(HALVES, "pads_end")
        assert begin.put({}, (1, 2)) == {"pads": [1, 2, 0, 0]}
        assert end.put({"p": 3}, [1, 2]) == {"p": 3, "pads": [0, 0, 1, 2]}
        assert end.put(begin.put({}, [1, 2]), [3, 4]) == {"pads": [1, 2, 3, 4]}

    def test_are_no_attributes_of_the_document(self) -> None:
        asked = case(HALVES, 5, kernel=[3], pads=[1, 1], pads_begin=[1])
        assert [one.condition for one in violations(HALVES, asked)] == ["attributes"]

    @pytest.mark.parametrize("pads", [[], [1], [1, 1, 1], [1, 1, 1, 1, 1], [0, 1]])
    def test_of_a_list_of_another_length_break_one_condition(self, pads: list[int]) -> None:
        asked = case(HALVES, 5, 5, kernel=[3, 3], pads=pads)
        (broken,) = violations(HALVES, asked)
        assert broken.condition == "pads.length"
        assert broken.message == (
            f"pads has {len(pads)} entries for 2 spatial axes, not a beginning and an end for each"
        )

    def test_of_no_list_break_one_condition(self) -> None:
        (broken,) = violations(HALVES, case(HALVES, 5, kernel=[3], pads=3))
        assert (broken.condition, broken.message) == (
            "pads.type",
            "pads is 3, not a list of integers",
        )

    def test_keep_their_own_conditions(self) -> None:
        asked = case(HALVES, 5, kernel=[3], pads=[0, -1])
        assert [one.condition for one in violations(HALVES, asked)] == ["pads-end-not-negative"]

    def test_lists_of_odd_lengths_are_negative_tests_by_rule(self) -> None:
        spec = HALVES
        assert "pads" not in {key for entry in spec.reject for key in entry.set}
        made = [one for one, level in reject_cases(spec, root=0) if level == "must"]
        lengths = {
            (one.reject, len(one.shapes["data"]) - 2): len(one.attributes["pads"])
            for one in made
            if one.reject in ("pads-short", "pads-long")
        }
        odd = {("pads-short", n): 2 * n - 1 for n in (1, 2, 3)}
        assert lengths == odd | {("pads-long", n): 2 * n + 1 for n in (1, 2, 3)}

    def test_of_ones_own_specification(self) -> None:
        spec = load_spec_text(MINE)
        assert {"pads-short", "pads-long"} <= {entry.name for entry in spec.reject}
        assert "pads.length" not in untested_conditions(spec)
        asked = case(spec, 4, kernel=[2], strides=[2], pads=[1, 0], **{"exclude-pad": True})
        assert violations(spec, asked) == ()

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ("  pads_end: {written_as: {second_half_of: pads}}\n", "", "no list of two halves"),
            ("second_half_of: pads", "second_half_of: padding", "no list of two halves"),
            ("second_half_of", "first_half_of", "no list of two halves"),
            ("  pads-begin-long:\n", "", "'pads_begin' is half of a list, and has no length"),
            ("first_half_of: pads", "first_half_of: pads, second_half_of: pads", "one half"),
            ("pads_begin: {", "pads_begin: {required: false, default: 0, ", "required and the"),
            ("pads_end: {", "auto_pad: {written_as: {first_half_of: p}}\n  pads_end: {", "no half"),
        ],
    )
    def test_that_make_no_list_are_told(self, old: str, new: str, problem: str) -> None:
        assert MINE.count(old) == 1
        with pytest.raises(SpecError, match=problem):
            load_spec_text(MINE.replace(old, new))


class TestForbiddenDefaults:
    @pytest.mark.parametrize(("divisor", "kept"), [(0, {}), (3, {"divisor_override": 3})])
    def test_of_none(self, divisor: int, kept: dict[str, Any]) -> None:
        asked = case(TORCH, 5, 5, divisor_override=divisor)
        assert without_forbidden_defaults(TORCH, asked).attributes == kept


class TestNone:
    def test_is_an_argument_that_is_not_given(self) -> None:
        data = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        given = {"kernel_size": [2, 2], "stride": None, "divisor_override": None}
        (result,) = conformance.reference("torch.avg_pool-2", [data], given)
        assert result[0, 0].tolist() == [[2.5, 4.5], [10.5, 12.5]]

    def test_of_what_is_required_is_missing(self) -> None:
        data = np.zeros((1, 1, 4), np.float32)
        with pytest.raises(InvalidCase, match="kernel_size is required"):
            conformance.reference("torch.max_pool-2", [data], {"kernel_size": None})

    @pytest.mark.parametrize("name", ["torch.avg_pool-2", "torch.max_pool-2"])
    def test_as_a_stride_is_the_kernel(self, name: str) -> None:
        spec = find_spec(name)
        assert half(spec, "strides").of({"kernel_size": [2, 3]}, 2) == [2, 3]
        assert half(spec, "strides").of({"kernel_size": [2, 3], "stride": [1, 1]}, 2) == [1, 1]
        assert half(spec, "strides").of({}, 2) is None

    def test_an_attribute_to_be_like_comes_before(self) -> None:
        text = MINE.replace("attributes:", "attributes:\n  strides: {required: false, default: X}")
        with pytest.raises(SpecError, match="'X' is not a value of 'strides'") as caught:
            load_spec_text(text)
        assert "the name of such an attribute before" in str(caught.value.problems[0].expected)
        load_spec_text(text.replace("X", "kernel"))
