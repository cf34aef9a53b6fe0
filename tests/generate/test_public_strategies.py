"""The public strategies: valid cases for tests of one's own, which shrink well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings

import conformance
from conformance import strategies
from conformance.errors import UsageError
from conformance.model import Case
from conformance.specification import find_spec, violations

OPS = ["AvgPool-1", "AdaptiveMaxPool-8", "onnx.MaxPool-22", "torch.lp_pool-2"]
QUICK = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("op", OPS)
def test_cases_are_valid_and_the_reference_answers_them(op: str) -> None:
    @QUICK
    @given(strategies.cases(op))
    def right(case: Case) -> None:
        assert violations(find_spec(op), case) == ()
        inputs = strategies.inputs(case)
        assert inputs[0].shape == case.shapes["data"]
        outputs = conformance.reference(op, inputs, case.attributes)
        assert outputs[0].ndim == inputs[0].ndim

    right()


@QUICK
@given(strategies.cases("AvgPool-1", ranks=[3, 5], dtypes=["f64", "bf16"]))
def test_ranks_and_types_narrow_what_is_drawn(case: Case) -> None:
    assert len(case.shapes["data"]) in (3, 5)
    assert case.types["T"] in ("f64", "bf16")


def smallest(wanted: Callable[[Case], bool]) -> Case:
    found: Case = find(
        strategies.cases("AvgPool-1"),
        wanted,
        settings=settings(max_examples=4000, deadline=None, derandomize=True, database=None),
    )
    return found


class TestShrinking:
    def test_what_anything_shows_is_shown_by_the_smallest_case(self) -> None:
        case = smallest(lambda _: True)
        assert case.shapes["data"] == (1, 1, 1)
        assert case.attributes["kernel"] == [1]
        assert (case.pattern, case.seed) == ("ramp", 0)

    def test_what_is_needed_stays(self) -> None:
        case = smallest(lambda case: sum(case.attributes["kernel"]) >= 4)
        assert sum(case.attributes["kernel"]) == 4
        assert not any(case.attributes["pads_begin"])
        assert np.prod(case.shapes["data"]) <= 4

    def test_a_wrong_divisor_is_found_and_shrinks(self) -> None:
        def wrong(case: Case) -> bool:
            """Whether an average shows that padding is never counted."""
            inputs = strategies.inputs(case)
            right = conformance.reference(case.op, inputs, case.attributes)
            told = {**case.attributes, "exclude-pad": True}
            try:
                found = conformance.reference(case.op, inputs, told)
            except conformance.errors.InvalidCase:
                return False
            return not np.array_equal(right[0], found[0], equal_nan=True)

        case = smallest(wrong)
        assert case.attributes["exclude-pad"] is False
        assert np.prod(case.shapes["data"]) <= 2


def test_a_specification_file(tmp_path: Path) -> None:
    file = tmp_path / "Mine-1.yaml"
    text = Path(find_spec("AvgPool-1").file).read_text(encoding="utf-8")
    file.write_text(text.replace("op: AvgPool-1", "op: Mine-1"), encoding="utf-8")

    @QUICK
    @given(strategies.cases(str(file)))
    def right(case: Case) -> None:
        assert case.op == "Mine-1"
        assert strategies.inputs(case, str(file))[0].shape == case.shapes["data"]

    right()


@pytest.mark.parametrize(
    ("narrowed", "message"),
    [({"ranks": [6]}, "no rank 6"), ({"dtypes": ["f23"]}, "no element type 'f23'")],
)
def test_what_is_not_there_is_refused(narrowed: dict[str, list[int]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        strategies.cases("AvgPool-1", **narrowed)
