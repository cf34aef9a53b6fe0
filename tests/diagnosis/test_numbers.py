"""One comparison of one number is told where targets say nothing, or only by chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiers

import conformance
from conformance.backends.capabilities import Capabilities
from conformance.diagnosis.numbers import Comparison, best_comparison, case_numbers
from conformance.dtypes import Array
from conformance.model import Case
from conformance.specification import find_spec, outputs

Wrong = Callable[[list[Array], dict[str, Any]], bool]


class Backend:
    """The reference in f32, which is wrong for some inputs and attributes."""

    name, version = "wrong", "1"
    capabilities = Capabilities(dtypes=("f32",))

    def __init__(self, op: str, wrong: Wrong) -> None:
        self.spec, self.wrong = find_spec(op), wrong

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        right = outputs(self.spec, inputs, attributes)
        return [np.full_like(one, 17) for one in right] if self.wrong(inputs, attributes) else right


def test_more_than_16_taps() -> None:
    """A kernel that divides twice above 16 taps, as one of Tenstorrent did."""
    backend = Backend("AvgPool-1", lambda _, given: np.prod(given["kernel"]) > 16)
    run = conformance.check(tiers.core(), backend, ops=["AvgPool-1"])
    sentences = [(one.diagnosis or {}).get("sentence", "") for one in run.findings]
    assert "Fails on exactly the vectors with product of kernel > 16." in sentences


def seen(*values: int) -> list[dict[str, int]]:
    return [{"taps": value} for value in values]


@pytest.mark.parametrize(
    ("failed", "passed", "said"),
    [
        ((17, 20, 64), (1, 2, 15, 16) * 3, "taps > 16"),
        ((18, 20, 64), (1, 2, 15) * 4, "taps > 16"),
        ((1, 2, 3), (4, 5, 9, 20), "taps < 4"),
        ((3, 11, 19, 27), (1, 2, 4, 5, 6, 7, 8, 13, 30), "taps = 3 modulo 8"),
        ((3, 9, 35, 7), (4, 8, 2, 12, 36, 6), "taps = 1 modulo 2"),
    ],
)
def test_the_comparison_that_fewest_passes_meet(
    failed: tuple[int, ...], passed: tuple[int, ...], said: str
) -> None:
    found = best_comparison(seen(*failed), seen(*passed))
    assert found is not None
    assert str(found[1]) == said
    assert found[0].exact


def test_two_failures_and_numbers_in_between_are_not_compared() -> None:
    assert best_comparison(seen(17, 18), seen(1, 2, 3)) is None
    assert best_comparison(seen(1, 16, 31), seen(2, 4, 15, 17, 20)) is None


def test_the_numbers_of_a_case() -> None:
    spec = find_spec("AvgPool-1")
    attributes = {
        "exclude-pad": True,
        "kernel": [2, 3],
        "strides": [1, 1],
        "pads_begin": [0, 3],
        "pads_end": [0, 0],
    }
    found = case_numbers(spec, Case("AvgPool-1", {"T": "f32"}, {"data": (1, 2, 5, 7)}, attributes))
    assert (found["product of kernel"], found["C"], found["product of size"]) == (6, 2, 35)
    assert (found["largest pads_begin"], found["last pads_begin"]) == (3, 3)
    one = Comparison("last kernel", ">", 2)
    assert one.met_by(found)
    assert str(one) == "last kernel > 2"
    assert not Comparison("last kernel", ">", 3).met_by(found)
